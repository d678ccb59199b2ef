package redisfilter

// The stores of modules: Bloomline's own, which takes hashes, and those that have the BF commands,
// which take keys.

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	bloomline "github.com/bloomline/bloomline/go"
	"github.com/redis/go-redis/v9"
)

type moduleStore struct{ d description }

func (moduleStore) hashesOnly() bool { return true }

func (moduleStore) create(ctx context.Context, client redis.UniversalClient, key string, d description, keys uint64) (shape, error) {
	err := client.Do(ctx, "bl.reserve", key, d.rate, max(keys, 1), "nonscaling", "seed",
		strconv.FormatUint(d.params.Seed, 10), "layout", "lines").Err()
	if err != nil && !isRepeated(err) {
		return shape{}, unknownCommand(err)
	}
	reply, err := client.Do(ctx, "bl.hashinfo", key).Result()
	if err != nil {
		return shape{}, unknownCommand(err)
	}
	made, ok := moduleShape(reply)
	if !ok {
		return shape{}, fmt.Errorf("%w: bl.hashinfo: %v", errReply, reply)
	}
	return made, nil
}

// isRepeated reports whether the server has made the key already. go-redis repeats a command whose reply was
// lost; it is nobody else's key, since no name of a shard is used twice.
func isRepeated(err error) bool {
	var said redis.Error
	return errors.As(err, &said) && strings.HasSuffix(said.Error(), "item exists")
}

// check asks for the shape, which another filter in the place of the shard does not have.
func (s moduleStore) check(ctx context.Context, pipe redis.Pipeliner, key string) func() error {
	return checkShape(ctx, pipe, "bl.hashinfo", key, func(reply any) bool {
		now, ok := moduleShape(reply)
		return ok && now == s.d.shape
	})
}

// checkShape queues a command that describes a module's key, and checks the reply with same.
func checkShape(ctx context.Context, pipe redis.Pipeliner, command, key string, same func(reply any) bool) func() error {
	cmd := pipe.Do(ctx, command, key)
	return func() error {
		reply, err := cmd.Result()
		switch {
		case err != nil:
			return lostIf(err)
		case !same(reply):
			return ErrShardLost
		}
		return nil
	}
}

// moduleShape is the shape of a shard in a reply of BL.HASHINFO, if that is one plain filter.
func moduleShape(reply any) (shape, bool) {
	info := pairs(reply)
	seed, err := strconv.ParseUint(fmt.Sprint(info["seed"]), 10, 64)
	links, ok := info["links"].([]any)
	// What a server without layouts makes has lines.
	layout, named := info["layout"]
	if err != nil || !ok || info["kind"] != "bloom" || info["hash"] != "xxh3-64" || len(links) != 1 ||
		(named && layout != "lines") {
		return shape{}, false
	}
	link, _ := links[0].([]any)
	if len(link) < 2 {
		return shape{}, false
	}
	lines, ok := link[0].(int64)
	k, isK := link[1].(int64)
	if !ok || !isK || lines < 1 || k < 1 {
		return shape{}, false
	}
	return shape{params: bloomline.Params{LineCount: uint64(lines), K: int(k), Seed: seed}}, true
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

type bfStore struct{ d description }

func (bfStore) hashesOnly() bool { return false }

// create also notes the capacity that the server reports, which is all that tells this shard from
// another BF filter.
func (bfStore) create(ctx context.Context, client redis.UniversalClient, key string, d description, keys uint64) (shape, error) {
	made := shape{params: bloomline.Params{Seed: d.params.Seed}}
	err := client.BFReserveNonScaling(ctx, key, d.rate, int64(max(keys, 1))).Err()
	if err != nil && !isRepeated(err) {
		return made, unknownCommand(err)
	}
	reply, err := client.Do(ctx, "bf.info", key).Result()
	made.capacity, _ = bfCapacity(reply)
	return made, unknownCommand(err)
}

// check compares the capacity, and that the filter has not grown and cannot.
func (s bfStore) check(ctx context.Context, pipe redis.Pipeliner, key string) func() error {
	return checkShape(ctx, pipe, "bf.info", key, func(reply any) bool {
		capacity, ok := bfCapacity(reply)
		return s.d.capacity == 0 || ok && capacity == s.d.capacity
	})
}

// bfCapacity is the capacity in a reply of BF.INFO, if that is one filter which does not scale.
func bfCapacity(reply any) (uint64, bool) {
	info := pairs(reply)
	capacity, ok := info["Capacity"].(int64)
	if !ok || capacity < 1 || info["Number of filters"] != int64(1) || info["Expansion rate"] != nil {
		return 0, false
	}
	return uint64(capacity), true
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
