package redisfilter

// Merging: every key of another filter is added, by the OR of the lines.

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"
)

// Merge adds all keys of another filter on the same servers. It has the same store, shards, line
// count, k and seed. Where both have a shard in one slot, as filters of one {tag} do, the server
// does it alone; else the lines are sent through this client.
//
// Each shard is merged atomically, not all at once: if it fails, some shards may have the keys,
// and repeating it is right. The server is busy with a shard for as long as it takes to read and
// write its memory, and takes as much more meanwhile; the module takes no more where it merges by
// itself.
//
// The keys do not go to a staged filter.
//
// Errors: [ErrMismatch], [ErrUnsupported] with [StoreBF], [ErrShardLost].
func (f *Filter) Merge(ctx context.Context, other *Filter) error {
	return boundedError(ctx, func() error { return f.merge(ctx, other) })
}

func (f *Filter) merge(ctx context.Context, other *Filter) error {
	st, err := f.latest(ctx)
	if err != nil {
		return err
	}
	from, err := other.latest(ctx)
	if err != nil {
		return err
	}
	if !st.sameShape(from.description) {
		return ErrMismatch
	}
	source, err := filesOf(from)
	if err != nil {
		return err
	}
	return eachShard(ctx, st.shards, func(ctx context.Context, i int) error {
		if f.client == other.client && f.together(st.keys[i], from.keys[i]) {
			return f.uniteHere(ctx, st, st.keys[i], from.keys[i])
		}
		return f.throughHere(ctx, st, i, func(to fileStore, key string) error {
			at := int64(0)
			last, err := source.download(ctx, other.client, from.keys[i], func(chunk []byte) error {
				err := to.upload(ctx, f.client, key, at, st.shardBytes(), chunk)
				at += int64(len(chunk))
				return err
			})
			if err != nil {
				return err
			}
			return to.upload(ctx, f.client, key, at, st.shardBytes(), last)
		})
	})
}

// MergeFiles adds all keys of files, one for each shard, as [Import] takes them: partial filters
// that were built apart.
//
// Errors: those of [Filter.Merge] and [StageFiles].
func (f *Filter) MergeFiles(ctx context.Context, files []string) error {
	files = slices.Clone(files)
	return boundedError(ctx, func() error { return f.mergeFiles(ctx, files) })
}

func (f *Filter) mergeFiles(ctx context.Context, files []string) error {
	st, err := f.latest(ctx)
	if err != nil {
		return err
	}
	if _, err := filesOf(st); err != nil {
		return err
	}
	if len(files) != st.shards {
		return fmt.Errorf("%w: %d files for %d shards", ErrMismatch, len(files), st.shards)
	}
	for _, path := range files {
		if end, err := footerOf(path); err != nil || end.params != st.params {
			return errOr(err, fmt.Errorf("%w: %s", ErrMismatch, path))
		}
	}
	return eachShard(ctx, st.shards, func(ctx context.Context, i int) error {
		return f.throughHere(ctx, st, i, func(to fileStore, key string) error {
			return uploadFile(ctx, f.client, to, st.description, key, files[i])
		})
	})
}

func errOr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// together reports whether one server has both keys, and takes commands of both.
func (f *Filter) together(a, b string) bool {
	_, single := f.client.(*redis.Client)
	return single || tagOf(a) == tagOf(b)
}

// throughHere unites a shard with one that upload puts beside it, under a key that is deleted.
func (f *Filter) throughHere(ctx context.Context, st *state, shard int, upload func(to fileStore, key string) error) error {
	to, err := filesOf(st)
	if err != nil {
		return err
	}
	if lines, ok := to.(linesStore); ok {
		to = withoutFooter{lines}
	}
	beside := st.keys[shard] + ":merge-" + newGeneration()
	defer f.unlinkSoon(ctx, beside)
	if err := upload(to, beside); err != nil {
		return err
	}
	return f.unite(ctx, st, st.keys[shard], beside)
}

// withoutFooter leaves zeros for the footer. The OR with such lines keeps the footer that a shard
// has, and makes none where the shard is gone.
type withoutFooter struct{ linesStore }

func (s withoutFooter) upload(ctx context.Context, client redis.UniversalClient, key string, at, length int64, chunk []byte) error {
	if at >= s.d.footerAt() {
		return nil
	}
	return s.linesStore.upload(ctx, client, key, at, length, chunk)
}

// uniteHere adds the keys of another filter's shard in the same slot.
func (f *Filter) uniteHere(ctx context.Context, st *state, to, from string) error {
	if st.description.store != StoreLines {
		return f.unite(ctx, st, to, from)
	}
	beside := to + ":merge-" + newGeneration()
	defer f.unlinkSoon(ctx, beside)
	if err := f.client.BitOpOr(ctx, beside, from).Err(); err != nil { // a copy
		return err
	}
	end, err := f.client.GetRange(ctx, beside, st.footerAt(), st.footerAt()+footerBytes-1).Result()
	if err != nil {
		return err
	}
	if !isFooterOf(end, st.params) {
		return ErrShardLost
	}
	if err := f.client.SetRange(ctx, beside, st.footerAt(), string(make([]byte, footerBytes))).Err(); err != nil {
		return err
	}
	return f.unite(ctx, st, to, beside)
}

// unite adds the keys of another key of the same slot: with StoreLines one without a footer.
func (f *Filter) unite(ctx context.Context, st *state, to, from string) error {
	if st.description.store == StoreModule {
		return f.uniteModule(ctx, st, to, from)
	}
	pipe := f.client.Pipeline()
	or := pipe.BitOpOr(ctx, to, to, from)
	check := st.store.check(ctx, pipe, to)
	_ = execute(ctx, pipe) // each command has its own error
	err := check()
	if err == nil {
		return or.Err()
	}
	var said redis.Error // which says nothing of what the key has: it may be a proxy's
	if errors.Is(err, ErrShardLost) && !errors.As(err, &said) && or.Err() == nil {
		f.unlinkSoon(ctx, to) // what the OR made of a shard that is gone
	}
	return err
}

// uniteModule merges only while the shard is there: BL.MERGE would make it anew, with the keys of
// the other alone.
func (f *Filter) uniteModule(ctx context.Context, st *state, to, from string) error {
	for attempt := 0; ; attempt++ {
		err := f.client.Watch(ctx, func(tx *redis.Tx) error {
			pipe := tx.Pipeline()
			check := st.store.check(ctx, pipe, to)
			err := execute(ctx, pipe)
			if err == nil {
				err = check()
			}
			if err != nil {
				return err
			}
			_, err = tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
				pipe.Do(ctx, "bl.mergeforce", to, from)
				return nil
			})
			return lostIf(err)
		}, to)
		// Inserts came between.
		if !errors.Is(err, redis.TxFailedErr) || attempt == mergeAttempts {
			return err
		}
	}
}

// mergeAttempts is how often a merge is tried again while others insert.
const mergeAttempts = 1000
