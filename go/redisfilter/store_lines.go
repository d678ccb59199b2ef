package redisfilter

// The lines in plain strings: a shard's string is a file of docs/FORMAT.md, whose lines change
// while its footer stays. An insert is one BITFIELD, a probe one GETRANGE of a line.

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

type linesStore struct{ d description }

var errReply = errors.New("redisfilter: the server's reply has another form than expected")

func (s linesStore) hashesOnly() bool { return true }

// create writes the footer alone: Redis fills what is before it with zeros.
func (s linesStore) create(ctx context.Context, client redis.UniversalClient, key string, d description, _ uint64) (shape, error) {
	end := string(footer{params: d.params}.bytes())
	return d.shape, client.SetRange(ctx, key, d.footerAt(), end).Err()
}

func (s linesStore) add(ctx context.Context, pipe redis.Pipeliner, key string, p *part) reply {
	cmds := make([]*redis.IntSliceCmd, len(p.at))
	var offsets [16]int64
	for i, at := range p.at {
		bits := bitOffsets(offsets[:0], p.hashes[at], s.d.params)
		args := make([]any, 2, 2+4*len(bits))
		args[0], args[1] = "bitfield", key
		for _, bit := range bits {
			args = append(args, "set", "u1", bit, 1)
		}
		cmds[i] = redis.NewIntSliceCmd(ctx, args...)
		_ = pipe.Process(ctx, cmds[i]) // which queues it
	}
	return func(yes func(i int)) error {
		for i, cmd := range cmds {
			before, err := cmd.Result()
			if err != nil {
				return err
			}
			if len(before) == 0 {
				return errReply
			}
			for _, bit := range before {
				if bit == 0 {
					yes(i)
					break
				}
			}
		}
		return nil
	}
}

func (s linesStore) contains(ctx context.Context, pipe redis.Pipeliner, key string, p *part) reply {
	cmds := make([]*redis.StringCmd, len(p.at))
	for i, at := range p.at {
		first := lineOf(p.hashes[at], s.d.params.LineCount) * lineBytes
		cmds[i] = pipe.GetRange(ctx, key, first, first+lineBytes-1)
	}
	return func(yes func(i int)) error {
		for i, cmd := range cmds {
			line, err := cmd.Result()
			switch {
			case err != nil:
				return err
			case len(line) != lineBytes:
				return ErrShardLost
			case lineContains(line, p.hashes[p.at[i]], s.d.params.K):
				yes(i)
			}
		}
		return nil
	}
}

// check reads the footer. A string that an insert made anew, since the shard was gone, has none.
func (s linesStore) check(ctx context.Context, pipe redis.Pipeliner, key string) func() error {
	end := pipe.GetRange(ctx, key, s.d.footerAt(), s.d.footerAt()+footerBytes-1)
	return func() error {
		bytes, err := end.Result()
		if err != nil {
			return lostIf(err)
		}
		if !isFooterOf(bytes, s.d.params) {
			return ErrShardLost
		}
		return nil
	}
}

// sample reads so many lines of each shard, from a random one on.
func (s linesStore) sample(ctx context.Context, client redis.UniversalClient, keys []string, lines, first int64) ([]byte, error) {
	pipe := client.Pipeline()
	cmds := make([]*redis.StringCmd, len(keys))
	for i, key := range keys {
		cmds[i] = pipe.GetRange(ctx, key, first*lineBytes, (first+lines)*lineBytes-1)
	}
	_ = execute(ctx, pipe) // each command has its own error
	var all []byte
	for i, cmd := range cmds {
		part, err := cmd.Result()
		if err == nil && int64(len(part)) != lines*lineBytes {
			err = ErrShardLost
		}
		if err != nil {
			return nil, fmt.Errorf("shard %d: %w", i, err)
		}
		all = append(all, part...)
	}
	return all, nil
}
