package redisfilter

// Replacing one generation of a filter by another, so that no client denies a key meanwhile.
//
//  1. `building` names the new generation. From now on inserts go to it, too.
//  2. The new generation is complete. `next` names it instead.
//  3. The shards of the old one are deleted. Whoever probes them finds none, and looks at the
//     name again: it cannot deny keys that others have already added to the new one alone.
//  4. `current` names the new one.
//
// Whoever does this may stop anywhere. From step 2 on any client that misses a shard can do the
// rest, so nothing is lost.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Publish puts a staged filter into the place of the one of its name, or makes it the first.
// Clients that have the old one open go over to this one. If it fails, it can be called again.
//
// Errors: [ErrPublished], [ErrConflict], those of the server.
func (f *Filter) Publish(ctx context.Context) error {
	if !f.staged.Load() {
		return ErrPublished
	}
	return boundedError(ctx, func() error { return f.publish(ctx, true) })
}

func (f *Filter) publish(ctx context.Context, replace bool) error {
	// A shard that was evicted since is better noticed now.
	if err := f.checkShards(ctx, f.state.Load()); err != nil {
		return err
	}
	text := f.state.Load().text
	for {
		err := f.announceNext(ctx, text, replace)
		if errors.Is(err, errUnfinished) {
			err = f.finish(ctx) // what somebody else began
			if err == nil {
				continue
			}
		}
		if err == nil {
			err = f.finish(ctx)
		}
		current, readErr := f.client.HGet(ctx, f.name, fieldCurrent).Result()
		switch {
		case readErr == nil && current == text:
			f.staged.Store(false) // even if the confirmation was lost
			return nil
		case err == nil:
			err = errors.Join(ErrConflict, readErr)
		}
		return err
	}
}

var errUnfinished = errors.New("redisfilter: another generation is about to take its place")

// announceBuilding does step 1. A generation that was built there before is given up.
func (f *Filter) announceBuilding(ctx context.Context) error {
	text := f.state.Load().text
	var before any
	err := f.change(ctx, func(fields map[string]any) (map[string]any, error) {
		before = fields[fieldBuilding]
		return map[string]any{fieldBuilding: text}, nil
	})
	if err != nil {
		f.giveUp(ctx, err)
		return err
	}
	if old, err := f.shardsOf(before); err == nil && before != text {
		f.unlinkSoon(ctx, old...)
	}
	return nil
}

// announceNext does step 2, or makes the generation the first one.
func (f *Filter) announceNext(ctx context.Context, text string, replace bool) error {
	return f.change(ctx, func(fields map[string]any) (map[string]any, error) {
		switch current, next := fields[fieldCurrent], fields[fieldNext]; {
		case current == text || next == text:
			return nil, nil
		case replace && fields[fieldBuilding] != text:
			return nil, ErrConflict
		case next != nil:
			return nil, errUnfinished
		case current == nil && replace:
			return map[string]any{fieldCurrent: text, fieldBuilding: nil}, nil
		case current == nil:
			return map[string]any{fieldCurrent: text}, nil
		case !replace:
			return nil, ErrExists
		}
		return map[string]any{fieldNext: text, fieldBuilding: nil}, nil
	})
}

// change changes the fields at the name, unless somebody else does at the same time: then it
// looks again. No value, nil, deletes a field.
func (f *Filter) change(ctx context.Context, to func(fields map[string]any) (map[string]any, error)) error {
	for attempt := 0; ; attempt++ {
		err := f.client.Watch(ctx, func(tx *redis.Tx) error {
			names := []string{fieldCurrent, fieldNext, fieldBuilding}
			values, err := tx.HMGet(ctx, f.name, names...).Result()
			if err != nil {
				return err
			}
			fields := make(map[string]any)
			for i, name := range names {
				fields[name] = values[i]
			}
			changes, err := to(fields)
			if err != nil || len(changes) == 0 {
				return err
			}
			_, err = tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
				for name, value := range changes {
					if value == nil {
						pipe.HDel(ctx, f.name, name)
					} else {
						pipe.HSet(ctx, f.name, name, value)
					}
				}
				return nil
			})
			return err
		}, f.name)
		switch {
		case errors.Is(err, redis.TxFailedErr) && attempt < 10:
			continue
		case errors.Is(err, redis.TxFailedErr):
			return fmt.Errorf("%w: %w", ErrConflict, err)
		case err != nil:
			return notHash(err)
		}
		return nil
	}
}

// finish does steps 3 and 4, if there is a `next`.
func (f *Filter) finish(ctx context.Context) error {
	fields, err := f.client.HMGet(ctx, f.name, fieldCurrent, fieldNext).Result()
	if err != nil {
		return err
	}
	current, next := fields[0], fields[1]
	if next == nil {
		return nil
	}
	if text, ok := current.(string); ok {
		old, err := parseDescription(text)
		if err != nil {
			return err
		}
		if err := unlink(ctx, f.client, shardKeys(f.name, old)); err != nil {
			return fmt.Errorf("redisfilter: deleting the shards of the old generation: %w", err)
		}
	}
	return f.change(ctx, func(now map[string]any) (map[string]any, error) {
		if now[fieldCurrent] != current || now[fieldNext] != next {
			return nil, nil // somebody else has done it
		}
		return map[string]any{fieldCurrent: next, fieldNext: nil}, nil
	})
}

// Delete removes the filter, and one of its name that is staged; or gives this one up, if it is staged. If the
// key of the name was evicted or deleted, it removes the shards that are left, which no other program may know.
//
// Errors: [ErrConflict] for a staged one whose [Filter.Publish] failed so late that any client may
// complete it, and if another filter takes the name meanwhile, which keeps it.
func (f *Filter) Delete(ctx context.Context) error {
	return boundedError(ctx, func() error { return f.delete(ctx) })
}

func (f *Filter) delete(ctx context.Context) error {
	if f.staged.Load() {
		st := f.state.Load()
		err := f.change(ctx, func(fields map[string]any) (map[string]any, error) {
			switch st.text {
			case fields[fieldCurrent], fields[fieldNext]:
				return nil, ErrConflict
			case fields[fieldBuilding]:
				return map[string]any{fieldBuilding: nil}, nil
			}
			return nil, nil
		})
		if err != nil {
			return err
		}
		return unlink(ctx, f.client, st.keys)
	}
	if err := f.finish(ctx); err != nil {
		return err
	}
	switch err := f.refresh(ctx); {
	case errors.Is(err, ErrNotFound):
		// The name is nobody's, or another's: the shards that are left are known here alone.
		return unlink(ctx, f.client, f.state.Load().keys)
	case err != nil:
		return err
	}
	st := f.state.Load()
	fields, err := f.client.HMGet(ctx, f.name, fieldBuilding).Result()
	if err != nil {
		return err
	}
	// Of one that is staged nobody knows without the name.
	building := fields[0]
	staged, err := f.shardsOf(building)
	if err != nil {
		return err
	}
	// First the shards: who finds none looks at the name.
	if err := unlink(ctx, f.client, slices.Concat(st.keys, staged)); err != nil {
		return err
	}
	return f.change(ctx, func(fields map[string]any) (map[string]any, error) {
		switch current := fields[fieldCurrent]; {
		case current == nil:
			return nil, nil // somebody else has done it
		case current != st.text || fields[fieldNext] != nil || fields[fieldBuilding] != building:
			return nil, ErrConflict
		}
		return map[string]any{fieldCurrent: nil, fieldBuilding: nil}, nil
	})
}

// shardsOf are the keys of the shards that a field describes; none if there is no such field.
func (f *Filter) shardsOf(field any) ([]string, error) {
	text, ok := field.(string)
	if !ok {
		return nil, nil
	}
	d, err := parseDescription(text)
	if err != nil {
		return nil, err
	}
	return shardKeys(f.name, d), nil
}

// dropPatience is how long to try to delete what is of no use any more.
const dropPatience = 10 * time.Second

// giveUp deletes a generation that could not be announced because of err. The name may have it all
// the same: a server whose reply was lost may have done what it was told. So first the name is taken
// back. Where that fails, or the generation is in use, its shards stay: without them every insert
// would fail.
func (f *Filter) giveUp(ctx context.Context, err error) {
	if errors.Is(err, ErrMetadata) || redis.HasErrorPrefix(err, "NOPERM") {
		f.dropStaged(ctx) // such a name was never changed, nor can it be
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropPatience)
	defer cancel()
	_ = f.delete(ctx) // the first error is what matters
}

// dropStaged deletes what was made of a generation that nobody knows of.
func (f *Filter) dropStaged(ctx context.Context) {
	f.unlinkSoon(ctx, f.state.Load().keys...)
}

// unlinkSoon deletes keys that nobody uses, whatever happened to the context. What it cannot delete
// takes memory.
func (f *Filter) unlinkSoon(ctx context.Context, keys ...string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropPatience)
	defer cancel()
	_ = unlink(ctx, f.client, keys) // the first error is what matters
}

// unlink deletes keys of any slots.
func unlink(ctx context.Context, client redis.UniversalClient, keys []string) error {
	_, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, key := range keys {
			pipe.Unlink(ctx, key)
		}
		return nil
	})
	return err
}

// workers is how many shards are made, read or written at once.
const workers = 4

// eachShard calls do for every shard, some at once, and returns the first error.
func eachShard(ctx context.Context, shards int, do func(ctx context.Context, shard int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var all sync.WaitGroup
	for range min(workers, shards) {
		all.Go(func() {
			for shard := range next {
				if err := do(ctx, shard); err != nil {
					cancel(fmt.Errorf("shard %d: %w", shard, err))
				}
			}
		})
	}
	for shard := 0; shard < shards && ctx.Err() == nil; shard++ {
		select {
		case next <- shard:
		case <-ctx.Done():
		}
	}
	close(next)
	all.Wait()
	return context.Cause(ctx)
}
