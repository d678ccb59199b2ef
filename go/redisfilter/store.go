package redisfilter

// What the three stores have in common, and how one is chosen.

import (
	"context"
	"errors"
	"fmt"
	"strings"

	bloomline "github.com/bloomline/bloomline/go"
	"github.com/redis/go-redis/v9"
)

// store is the commands of a [Store].
type store interface {
	// create makes an empty shard for so many keys, and returns its shape.
	create(ctx context.Context, client redis.UniversalClient, key string, d description, keys uint64) (bloomline.Params, error)
	// add and contains queue the commands for the keys of one shard.
	add(ctx context.Context, pipe redis.Pipeliner, key string, p *part) reply
	contains(ctx context.Context, pipe redis.Pipeliner, key string, p *part) reply
	// check queues a look at whether the shard is what was stored. It follows what it is about:
	// a name of a shard is used once, so a shard that is there now was there before.
	check(ctx context.Context, pipe redis.Pipeliner, key string) func() error
	// hashesOnly reports whether the store does without the keys themselves.
	hashesOnly() bool
}

// reply calls yes with the number in its part of each key that was new, or may be present. It
// fails if there is no answer for some of them.
type reply func(yes func(i int)) error

// part is the keys of a batch that belong to one shard.
type part struct {
	shard int
	at    []int // their numbers in the batch
	batch *batch
	// The hashes of the whole batch.
	hashes []uint64
}

// batch is keys of any type.
type batch struct {
	hashes []uint64 // if the caller made them
	bytes  [][]byte
	texts  []string
}

func (b *batch) len() int {
	return max(len(b.hashes), len(b.bytes), len(b.texts))
}

// slice is some keys of the batch.
func (b *batch) slice(first, end int) batch {
	switch {
	case b.hashes != nil:
		return batch{hashes: b.hashes[first:end]}
	case b.bytes != nil:
		return batch{bytes: b.bytes[first:end]}
	}
	return batch{texts: b.texts[first:end]}
}

// hash is the hash of a key.
func (b *batch) hash(i int, seed uint64) uint64 {
	switch {
	case b.hashes != nil:
		return b.hashes[i]
	case b.bytes != nil:
		return bloomline.Hash(b.bytes[i], seed)
	}
	return bloomline.HashString(b.texts[i], seed)
}

// key is a key as an argument of a command.
func (b *batch) key(i int) any {
	if b.bytes != nil {
		return b.bytes[i]
	}
	return b.texts[i]
}

// keys are those of the part, as arguments.
func (p *part) keys() []any {
	keys := make([]any, len(p.at))
	for i, at := range p.at {
		keys[i] = p.batch.key(at)
	}
	return keys
}

// storeOf returns the commands of a store.
func storeOf(d description) store {
	switch d.store {
	case StoreModule:
		return moduleStore{}
	case StoreBF:
		return bfStore{}
	}
	return linesStore{d}
}

// chooseStore asks the server which commands it has.
func chooseStore(ctx context.Context, client redis.UniversalClient) (Store, error) {
	for _, choice := range []struct {
		store    Store
		commands []any
	}{
		{StoreModule, []any{"bl.reserve", "bl.maddhash", "bl.mexistshash", "bl.hashinfo"}},
		{StoreBF, []any{"bf.reserve", "bf.insert", "bf.mexists"}},
	} {
		switch has, err := hasCommands(ctx, client, choice.commands); {
		case err != nil:
			return "", err
		case has:
			return choice.store, nil
		}
	}
	return StoreLines, nil
}

// hasCommands reports whether the server has all of these commands. One that does not tell, since
// it hides COMMAND, has none.
func hasCommands(ctx context.Context, client redis.UniversalClient, commands []any) (bool, error) {
	known, err := client.Do(ctx, append([]any{"command", "info"}, commands...)...).Slice()
	var said redis.Error
	if errors.As(err, &said) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("redisfilter: asking the server for its commands: %w", err)
	}
	for _, info := range known {
		if info == nil {
			return false, nil
		}
	}
	return len(known) == len(commands), nil
}

// checkModule queues the check of a shard that is of a module's type.
func checkModule(ctx context.Context, pipe redis.Pipeliner, key string) func() error {
	kind := pipe.Type(ctx, key)
	return func() error {
		name, err := kind.Result()
		switch {
		case err != nil:
			return err
		case strings.Contains(" none string list set zset hash stream ", " "+name+" "):
			return ErrShardLost
		}
		return nil
	}
}

// unknownCommand gives the server's error a name if it lacks the command.
func unknownCommand(err error) error {
	if err != nil && strings.HasPrefix(err.Error(), "ERR unknown command") {
		return fmt.Errorf("%w: %w", ErrModule, err)
	}
	return err
}
