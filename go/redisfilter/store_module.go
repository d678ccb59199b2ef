package redisfilter

// The stores of modules: Bloomline's own, which takes hashes, and those that have the BF commands,
// which take keys.

import (
	"context"
	"fmt"
	"strconv"

	bloomline "github.com/bloomline/bloomline/go"
	"github.com/redis/go-redis/v9"
)

type moduleStore struct{}

func (moduleStore) hashesOnly() bool { return true }

func (moduleStore) create(ctx context.Context, client redis.UniversalClient, key string, d description, keys uint64) (bloomline.Params, error) {
	err := client.Do(ctx, "bl.reserve", key, d.rate, max(keys, 1), "nonscaling", "seed",
		strconv.FormatUint(d.params.Seed, 10), "layout", "lines").Err()
	if err != nil {
		return bloomline.Params{}, unknownCommand(err)
	}
	return moduleParams(ctx, client, key)
}

// moduleParams asks for the shape of a shard that is one plain filter.
func moduleParams(ctx context.Context, client redis.UniversalClient, key string) (bloomline.Params, error) {
	reply, err := client.Do(ctx, "bl.hashinfo", key).Result()
	if err != nil {
		return bloomline.Params{}, unknownCommand(err)
	}
	info := pairs(reply)
	seed, err := strconv.ParseUint(fmt.Sprint(info["seed"]), 10, 64)
	links, ok := info["links"].([]any)
	if err != nil || !ok || info["kind"] != "bloom" || info["hash"] != "xxh3-64" {
		return bloomline.Params{}, fmt.Errorf("%w: bl.hashinfo: %v", errReply, reply)
	}
	// What a server without layouts makes has lines.
	if layout, ok := info["layout"]; ok && layout != "lines" {
		return bloomline.Params{}, fmt.Errorf("%w: the shard's layout is %v", ErrUnsupported, layout)
	}
	if len(links) != 1 {
		return bloomline.Params{}, fmt.Errorf("%w: the shard is a series of filters", ErrUnsupported)
	}
	link, _ := links[0].([]any)
	if len(link) < 2 {
		return bloomline.Params{}, fmt.Errorf("%w: bl.hashinfo: %v", errReply, reply)
	}
	lines, ok := link[0].(int64)
	k, isK := link[1].(int64)
	if !ok || !isK || lines < 1 || k < 1 {
		return bloomline.Params{}, fmt.Errorf("%w: bl.hashinfo: %v", errReply, reply)
	}
	return bloomline.Params{LineCount: uint64(lines), K: int(k), Seed: seed}, nil
}

// pairs reads a map of RESP3, or the array that RESP2 has for it.
func pairs(reply any) map[string]any {
	all := make(map[string]any)
	switch reply := reply.(type) {
	case map[any]any:
		for name, value := range reply {
			all[fmt.Sprint(name)] = value
		}
	case []any:
		for i := 0; i+1 < len(reply); i += 2 {
			all[fmt.Sprint(reply[i])] = reply[i+1]
		}
	}
	return all
}

func (moduleStore) add(ctx context.Context, pipe redis.Pipeliner, key string, p *part) reply {
	return bitmapReply(ctx, pipe, "bl.maddhash", key, p)
}

func (moduleStore) contains(ctx context.Context, pipe redis.Pipeliner, key string, p *part) reply {
	return bitmapReply(ctx, pipe, "bl.mexistshash", key, p)
}

// bitmapReply queues a command that takes hashes, and returns a bit for each.
func bitmapReply(ctx context.Context, pipe redis.Pipeliner, command, key string, p *part) reply {
	hashes := make([]byte, 0, 8*len(p.at))
	for _, at := range p.at {
		hashes = le.AppendUint64(hashes, p.hashes[at])
	}
	cmd := redis.NewStringCmd(ctx, command, key, hashes)
	_ = pipe.Process(ctx, cmd) // which queues it
	return func(yes func(i int)) error {
		bits, err := cmd.Result()
		if err != nil {
			return unknownCommand(err)
		}
		if len(bits) < (len(p.at)+7)/8 {
			return errReply
		}
		for i := range p.at {
			if bits[i/8]>>(i%8)&1 != 0 {
				yes(i)
			}
		}
		return nil
	}
}

func (moduleStore) check(ctx context.Context, pipe redis.Pipeliner, key string) func() error {
	return checkModule(ctx, pipe, key)
}

type bfStore struct{}

func (bfStore) hashesOnly() bool { return false }

func (bfStore) create(ctx context.Context, client redis.UniversalClient, key string, d description, keys uint64) (bloomline.Params, error) {
	err := client.BFReserveNonScaling(ctx, key, d.rate, int64(max(keys, 1))).Err()
	return bloomline.Params{Seed: d.params.Seed}, unknownCommand(err)
}

// add uses BF.INSERT, which does not make a key that is not there, as BF.MADD would.
func (bfStore) add(ctx context.Context, pipe redis.Pipeliner, key string, p *part) reply {
	args := append([]any{"bf.insert", key, "nocreate", "items"}, p.keys()...)
	return boolReply(ctx, pipe, args, p)
}

func (bfStore) contains(ctx context.Context, pipe redis.Pipeliner, key string, p *part) reply {
	args := append([]any{"bf.mexists", key}, p.keys()...)
	return boolReply(ctx, pipe, args, p)
}

// boolReply queues a command that returns an answer for each key.
func boolReply(ctx context.Context, pipe redis.Pipeliner, args []any, p *part) reply {
	cmd := redis.NewBoolSliceCmd(ctx, args...)
	_ = pipe.Process(ctx, cmd) // which queues it
	return func(yes func(i int)) error {
		answers, err := cmd.Result()
		if err != nil {
			return unknownCommand(err)
		}
		if len(answers) != len(p.at) {
			return errReply // an error ends the array
		}
		for i, answer := range answers {
			if answer {
				yes(i)
			}
		}
		return nil
	}
}

func (bfStore) check(ctx context.Context, pipe redis.Pipeliner, key string) func() error {
	return checkModule(ctx, pipe, key)
}
