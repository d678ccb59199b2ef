package redisfilter

// Batches: hashed here, grouped by shard, sent in one pipeline, and what is done about shards
// that are not there.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	bloomline "github.com/bloomline/bloomline/go"
	"github.com/redis/go-redis/v9"
)

// maxBatch is how many keys go into a pipeline. More are sent one pipeline after the other.
const maxBatch = 1 << 14

// Add adds a key, and returns true if it was new. A new key passes for present at the
// false-positive rate, and when the client had to repeat the command after a lost connection.
func (f *Filter) Add(ctx context.Context, key []byte) (bool, error) {
	return single(f.run(ctx, batch{bytes: [][]byte{key}}, nil, true))
}

// AddString is [Filter.Add] for a string.
func (f *Filter) AddString(ctx context.Context, key string) (bool, error) {
	return single(f.run(ctx, batch{texts: []string{key}}, nil, true))
}

// AddBatch adds many keys: bit i of the result is set if key i was new. It uses out if that is
// large enough: see [bloomline.Bitmap].
//
// Errors: [PartialError]: the others were added, or none if it is [ErrNotFound], when the name was evicted or
// deleted: make the filter again, and add all keys to it; [ErrReplicas], alone or joined to it: those that
// were added may be lost, so add the whole batch again.
func (f *Filter) AddBatch(ctx context.Context, keys [][]byte, out bloomline.Bitmap) (bloomline.Bitmap, error) {
	return f.run(ctx, batch{bytes: keys}, out, true)
}

// AddStrings is [Filter.AddBatch] for strings.
func (f *Filter) AddStrings(ctx context.Context, keys []string, out bloomline.Bitmap) (bloomline.Bitmap, error) {
	return f.run(ctx, batch{texts: keys}, out, true)
}

// AddHashes is [Filter.AddBatch] for hashes that [Filter.Hash] made.
//
// Errors: also [ErrUnsupported], with [StoreBF]; [ErrMismatch] if a filter of another seed is staged
// or has been published. Hashes are then of no use: see [Filter.Hash].
func (f *Filter) AddHashes(ctx context.Context, hashes []uint64, out bloomline.Bitmap) (bloomline.Bitmap, error) {
	return f.run(ctx, batch{hashes: hashes}, out, true)
}

// Contains reports whether a key may be present. False means definitely absent. It returns true
// with every error.
func (f *Filter) Contains(ctx context.Context, key []byte) (bool, error) {
	return single(f.run(ctx, batch{bytes: [][]byte{key}}, nil, false))
}

// ContainsString is [Filter.Contains] for a string.
func (f *Filter) ContainsString(ctx context.Context, key string) (bool, error) {
	return single(f.run(ctx, batch{texts: []string{key}}, nil, false))
}

// ContainsBatch probes for many keys: bit i of the result is set if key i may be present. It uses
// out if that is large enough: see [bloomline.Bitmap].
//
// Errors: [PartialError]: the others have their answers.
func (f *Filter) ContainsBatch(ctx context.Context, keys [][]byte, out bloomline.Bitmap) (bloomline.Bitmap, error) {
	return f.run(ctx, batch{bytes: keys}, out, false)
}

// ContainsStrings is [Filter.ContainsBatch] for strings.
func (f *Filter) ContainsStrings(ctx context.Context, keys []string, out bloomline.Bitmap) (bloomline.Bitmap, error) {
	return f.run(ctx, batch{texts: keys}, out, false)
}

// ContainsHashes is [Filter.ContainsBatch] for hashes that [Filter.Hash] made.
//
// Errors: also [ErrUnsupported], with [StoreBF]; [ErrMismatch] if a filter of another seed has been
// published: see [Filter.Hash].
func (f *Filter) ContainsHashes(ctx context.Context, hashes []uint64, out bloomline.Bitmap) (bloomline.Bitmap, error) {
	return f.run(ctx, batch{hashes: hashes}, out, false)
}

// Hash returns the hash of a key for this Filter, with the seed of the filter that was there when it
// was opened. Filters of one name may have different seeds, if [WithSeed] or files set them. Once one
// of another seed has been published, calls that take hashes return [ErrMismatch] for good: [Open] the
// filter again and hash the keys again. Calls that take keys go on.
func (f *Filter) Hash(key []byte) uint64 {
	return bloomline.Hash(key, f.seed)
}

func single(out bloomline.Bitmap, err error) (bool, error) {
	return out.Has(0), err
}

// run adds or probes for a batch.
func (f *Filter) run(ctx context.Context, b batch, out bloomline.Bitmap, add bool) (bloomline.Bitmap, error) {
	count := b.len()
	words := (count + 63) / 64
	if cap(out) < words {
		out = make(bloomline.Bitmap, words)
	} else {
		out = out[:words]
		clear(out)
	}
	if ctx.Done() != nil {
		b = b.clone() // which may be in use when this has returned
	}
	answers, err := bounded(ctx, func() (bloomline.Bitmap, error) { return f.runAll(ctx, &b, add) })
	copy(out, answers)
	if answers == nil && count > 0 {
		failed := PartialError{Err: err}
		for i := range count {
			failed.Keys = append(failed.Keys, i)
			if !add {
				out[i/64] |= 1 << (i % 64)
			}
		}
		return out, &failed
	}
	return out, err
}

// runAll is run, without a bound. It returns nil if it was not called.
func (f *Filter) runAll(ctx context.Context, b *batch, add bool) (bloomline.Bitmap, error) {
	count := b.len()
	out := make(bloomline.Bitmap, (count+63)/64)
	var failed PartialError
	var unconfirmed error
	for first := 0; first < count; first += maxBatch {
		some := call{batch: b.slice(first, min(first+maxBatch, count)), out: out[first/64:], add: add}
		f.runSome(ctx, &some)
		if unconfirmed == nil { // a key without an answer says nothing of the others
			unconfirmed = f.confirm(ctx, some.written)
		}
		for _, i := range some.failed.Keys {
			failed.add([]int{first + i}, some.failed.Err)
		}
	}
	slices.Sort(failed.Keys)
	failed.Keys = slices.Compact(failed.Keys)
	if !add {
		for _, i := range failed.Keys {
			out[i/64] |= 1 << (i % 64)
		}
	}
	if len(failed.Keys) == 0 && unconfirmed == nil {
		return out, nil
	}
	f.lookAgain(ctx)
	if len(failed.Keys) == 0 {
		return out, unconfirmed
	}
	failed.Err = withDeadline(ctx, failed.Err)
	if unconfirmed == nil {
		return out, &failed
	}
	return out, errors.Join(&failed, unconfirmed)
}

// lookAgain lets the client of a cluster ask who has the slots now. By itself go-redis asks when a
// node says that a slot has moved, which one that is down does not, and once a minute.
func (f *Filter) lookAgain(ctx context.Context) {
	if cluster, ok := f.client.(*redis.ClusterClient); ok {
		cluster.ReloadState(ctx)
	}
}

// patience is how long to wait for a generation that is about to take the place of this one.
var patience = []time.Duration{5 * time.Millisecond, 20 * time.Millisecond, 75 * time.Millisecond}

// call is one pipeline's keys, and what is known of them.
type call struct {
	batch
	out     bloomline.Bitmap
	add     bool
	failed  PartialError
	written []written // what replicas have to confirm
}

// written is keys that a shard of a generation got.
type written struct {
	st *state
	*part
}

// runSome adds or probes for one pipeline's keys. Those whose shard is gone are sent again to the
// generation that has taken its place.
func (f *Filter) runSome(ctx context.Context, c *call) {
	pending := make([]int, c.len())
	for i := range pending {
		pending[i] = i
	}
	for attempt := 0; ; {
		st := f.state.Load()
		if c.hashes != nil && st.params.Seed != f.seed {
			c.failed.add(pending, errSeed)
			return
		}
		lost, others, err := f.send(ctx, st, c, pending, c.out, c.add && !f.staged.Load())
		if errors.Is(err, errMoved) {
			for _, at := range pending {
				c.out[at/64] &^= 1 << (at % 64)
			}
			c.failed.drop(pending) // which are sent again
			continue
		}
		for _, other := range others {
			if err == nil {
				var more []int
				more, _, err = f.send(ctx, other, c, pending, make(bloomline.Bitmap, len(c.out)), false)
				lost = append(lost, more...)
			}
		}
		if err != nil {
			c.failed.add(pending, err)
			return
		}
		if len(lost) == 0 {
			return
		}
		slices.Sort(lost)
		pending = slices.Compact(lost)
		if attempt == len(patience) || f.staged.Load() {
			c.failed.add(pending, ErrShardLost)
			return
		}
		if err := f.follow(ctx, st, attempt); err != nil {
			c.failed.add(pending, err)
			return
		}
		attempt++
	}
}

// errMoved: there is another generation in use, which must have all keys.
var errMoved = errors.New("redisfilter: another generation is in use")

var errSeed = fmt.Errorf("%w: another filter, with another seed, takes the place of the one that Hash is for", ErrMismatch)

func (e *PartialError) add(keys []int, err error) {
	e.Keys = append(e.Keys, keys...)
	if e.Err == nil {
		e.Err = err
	}
}

// drop removes keys, whose numbers are in order.
func (e *PartialError) drop(keys []int) {
	e.Keys = slices.DeleteFunc(e.Keys, func(key int) bool {
		_, found := slices.BinarySearch(keys, key)
		return found
	})
	if len(e.Keys) == 0 {
		e.Err = nil
	}
}

// send sends one pipeline to a generation. It returns the keys whose shards are gone and, if asked
// for, which other generations have to have the keys: as of a moment after the call began.
func (f *Filter) send(ctx context.Context, st *state, c *call, pending []int, out bloomline.Bitmap, ask bool) (lost []int, others []*state, err error) {
	if c.hashes != nil && !st.store.hashesOnly() {
		return nil, nil, fmt.Errorf("%w: hashes with store %q", ErrUnsupported, st.description.store)
	}
	parts := group(st, &c.batch, pending)
	pipe := f.client.Pipeline()
	replies := make([]reply, len(parts))
	checks := make([]func() error, len(parts))
	for i := range parts {
		key := st.keys[parts[i].shard]
		if c.add {
			replies[i] = st.store.add(ctx, pipe, key, &parts[i])
		} else {
			replies[i] = st.store.contains(ctx, pipe, key, &parts[i])
		}
		checks[i] = st.store.check(ctx, pipe, key)
	}
	var fields *redis.SliceCmd
	if ask {
		fields = pipe.HMGet(ctx, f.name, fieldCurrent, fieldNext, fieldBuilding)
	}
	_ = execute(ctx, pipe) // each command has its own error
	var garbage []string
	for i := range parts {
		p := &parts[i]
		err := checks[i]()
		if err == nil {
			err = replies[i](func(key int) {
				at := p.at[key]
				out[at/64] |= 1 << (at % 64)
			})
		}
		switch {
		case errors.Is(err, ErrShardLost):
			lost = append(lost, p.at...)
			// An error says nothing of what the key has: it may be a proxy's.
			var said redis.Error
			if !errors.As(err, &said) {
				garbage = append(garbage, st.keys[p.shard])
			}
			for _, at := range p.at {
				out[at/64] &^= 1 << (at % 64)
			}
		case err != nil:
			c.failed.add(p.at, err)
		case c.add && f.replicas > 0:
			c.written = append(c.written, written{st, p})
		}
	}
	if c.add && len(garbage) > 0 && st.description.store == StoreLines {
		// Inserts made strings where shards had been. No shard's name is used twice, so these
		// are nobody's; what is left of them takes memory, and is never taken for a shard.
		f.unlinkSoon(ctx, garbage...)
	}
	if ask {
		others, err = f.others(st, c, fields)
	}
	return lost, others, err
}

// others are the generations besides st that the name has.
func (f *Filter) others(st *state, c *call, fields *redis.SliceCmd) (others []*state, err error) {
	values, err := fields.Result()
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", f.name, err)
	}
	for i, value := range values {
		text, ok := value.(string)
		if !ok && i == 0 {
			// Who makes a filter of this name does not know of this one.
			return nil, ErrNotFound
		}
		if !ok || text == st.text {
			continue
		}
		other := f.other.Load()
		if other == nil || other.text != text {
			d, err := parseDescription(text)
			if err != nil {
				return nil, err
			}
			other = newState(f.name, d)
			f.other.Store(other)
		}
		if i == 0 {
			f.state.Store(other)
			return nil, errMoved
		}
		if c.hashes != nil && other.params.Seed != f.seed {
			return nil, errSeed
		}
		others = append(others, other)
	}
	return others, nil
}

// group sorts keys by shard.
func group(st *state, b *batch, pending []int) []part {
	hashes := make([]uint64, b.len())
	var parts []part
	var counts []int
	partOf := make([]int32, len(pending)) // of a key
	index := make(map[int]int32, min(len(pending), st.shards))
	for i, at := range pending {
		hashes[at] = b.hash(at, st.params.Seed)
		shard := bloomline.ShardOf(hashes[at], st.shards)
		number, found := index[shard]
		if !found {
			number = int32(len(parts))
			index[shard] = number
			parts = append(parts, part{shard: shard, batch: b, hashes: hashes})
			counts = append(counts, 0)
		}
		partOf[i] = number
		counts[number]++
	}
	// All parts share one array.
	all := make([]int, len(pending))
	for i := range parts {
		parts[i].at, all = all[:0:counts[i]], all[counts[i]:]
	}
	for i, at := range pending {
		p := &parts[partOf[i]]
		p.at = append(p.at, at)
	}
	return parts
}

// follow finds out which generation there is now.
func (f *Filter) follow(ctx context.Context, old *state, attempt int) error {
	err := f.refresh(ctx)
	if err != nil || f.state.Load().text != old.text {
		return err
	}
	// A generation may be about to take its place: whoever does that may also have stopped.
	if attempt == len(patience)-1 {
		if err := f.finish(ctx); err != nil {
			return err
		}
		return f.refresh(ctx)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(patience[attempt]):
	}
	return f.refresh(ctx)
}

// confirm waits until enough replicas of each master have the keys.
func (f *Filter) confirm(ctx context.Context, parts []written) error {
	masters := make(map[*redis.Client][]written)
	for _, w := range parts {
		switch client := f.client.(type) {
		case *redis.Client:
			masters[client] = append(masters[client], w)
		case *redis.ClusterClient:
			master, err := client.MasterForKey(ctx, w.key())
			if err != nil {
				return fmt.Errorf("%w: %w", ErrReplicas, err)
			}
			masters[master] = append(masters[master], w)
		}
	}
	results := make(chan error, len(masters))
	for master, some := range masters {
		go func() { results <- f.confirmOn(ctx, master, some) }()
	}
	var first error
	for range masters {
		if err := <-results; err != nil && first == nil {
			first = fmt.Errorf("%w: %w", ErrReplicas, err)
		}
	}
	return first
}

var errTakenOver = errors.New("another server has taken over the shard, without the keys")

// confirmOn waits for one master. It may have taken over since the keys were added, as a replica
// that lacked them: so it is asked for them first.
//
// WAIT is about the writes of its own connection, so there is one, which follows the keys in the
// stream to the replicas.
func (f *Filter) confirmOn(ctx context.Context, master *redis.Client, parts []written) error {
	conn := master.Conn()
	defer conn.Close()
	pipe := conn.Pipeline()
	replies := make([]reply, len(parts))
	checks := make([]func() error, len(parts))
	for i, w := range parts {
		replies[i] = w.st.store.contains(ctx, pipe, w.key(), w.part)
		checks[i] = w.st.store.check(ctx, pipe, w.key())
	}
	set := pipe.Set(ctx, parts[0].key()+":wait", "", time.Minute)
	_ = execute(ctx, pipe) // each command has its own error
	for i, w := range parts {
		err := checks[i]()
		if errors.Is(err, ErrShardLost) {
			continue // which denies no key
		}
		present := 0
		if err == nil {
			err = replies[i](func(int) { present++ })
		}
		if err == nil && present < len(w.at) {
			err = errTakenOver
		}
		if err != nil {
			return err
		}
	}
	if err := set.Err(); err != nil {
		return err
	}
	confirmed, err := conn.Wait(ctx, f.replicas, f.replicaTimeout).Result()
	if err == nil && confirmed < int64(f.replicas) {
		err = fmt.Errorf("%d of %d", confirmed, f.replicas)
	}
	return err
}

// key is that of the shard.
func (w written) key() string { return w.st.keys[w.shard] }
