package redisfilter

// What the three stores have in common, and how one is chosen.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	bloomline "github.com/bloomline/bloomline/go"
	"github.com/redis/go-redis/v9"
)

// store is the commands of a [Store].
type store interface {
	// create makes an empty shard for so many keys, and returns its shape.
	create(ctx context.Context, client redis.UniversalClient, key string, d description, keys uint64) (shape, error)
	// add and contains queue the commands for the keys of one shard.
	add(ctx context.Context, pipe redis.Pipeliner, key string, p *part) reply
	contains(ctx context.Context, pipe redis.Pipeliner, key string, p *part) reply
	// check queues a look at whether the shard has the shape that the description says. It follows
	// what it is about: a name of a shard is used once, so a shard that is there now was there before.
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

// clone is a batch of the same keys that shares nothing with the caller's.
func (b *batch) clone() batch {
	copied := batch{hashes: slices.Clone(b.hashes), texts: slices.Clone(b.texts)}
	if b.bytes != nil {
		size := 0
		for _, key := range b.bytes {
			size += len(key)
		}
		all := make([]byte, 0, size)
		copied.bytes = make([][]byte, len(b.bytes))
		for i, key := range b.bytes {
			all = append(all, key...)
			copied.bytes[i] = all[len(all)-len(key) : len(all) : len(all)]
		}
	}
	return copied
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
		return moduleStore{d}
	case StoreBF:
		return bfStore{d}
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
		{StoreBF, []any{"bf.reserve", "bf.insert", "bf.mexists", "bf.info"}},
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

// hasCommands reports whether the server has all of these commands. One that does not say, since
// it has no COMMAND or the user may not call it, has none.
func hasCommands(ctx context.Context, client redis.UniversalClient, commands []any) (bool, error) {
	known, err := client.Do(ctx, append([]any{"command", "info"}, commands...)...).Slice()
	if saysERR(err) || redis.HasErrorPrefix(err, "NOPERM") {
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

// lostIf is ErrShardLost if the server answered with an error that is about the key alone: there
// is none, or it is of another type. Other errors have a word of their own instead of ERR.
func lostIf(err error) error {
	if err = unknownCommand(err); errors.Is(err, ErrModule) {
		return err
	}
	if redis.HasErrorPrefix(err, "WRONGTYPE") || saysERR(err) && !isOfServer(err) {
		return fmt.Errorf("%w: %w", ErrShardLost, err)
	}
	return err
}

// isOfServer reports whether the server is in trouble, and not the key.
func isOfServer(err error) bool {
	var said redis.Error
	return errors.As(err, &said) &&
		(strings.HasPrefix(said.Error(), "ERR out of memory") || strings.HasPrefix(said.Error(), "ERR internal error"))
}

// saysERR reports whether it is a reply of the server that has no word for the kind of error.
func saysERR(err error) bool {
	var said redis.Error
	return errors.As(err, &said) && strings.HasPrefix(said.Error(), "ERR ")
}

// unknownCommand gives the server's error a name if it lacks the command.
func unknownCommand(err error) error {
	if err != nil && strings.HasPrefix(err.Error(), "ERR unknown command") {
		return fmt.Errorf("%w: %w", ErrModule, err)
	}
	return err
}
