package redisfilter

// Seeds: hashes that clients have made, when a filter of the same seed or of another takes the place
// of the one they were made for.

import (
	"context"
	"errors"
	"testing"

	bloomline "github.com/bloomline/bloomline/go"
	"github.com/redis/go-redis/v9"
)

// replace publishes another filter of the name, with these keys.
func replace(t *testing.T, client redis.UniversalClient, keys []string, all ...Option) *Filter {
	t.Helper()
	next, err := Stage(t.Context(), client, "f", 2000, 0.001, all...)
	if err == nil {
		_, err = next.AddStrings(t.Context(), keys, nil)
	}
	if err == nil {
		err = next.Publish(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// TestHashesOfAnotherSeed keeps hashes for longer than the filter they were made for. Each call says
// so, not the first one alone, and no key is denied.
func TestHashesOfAnotherSeed(t *testing.T) {
	ctx := t.Context()
	client := connect(t, start(t).addr)
	if _, err := Reserve(ctx, client, "f", 1000, 0.001, WithStore(StoreLines), WithSeed(1)); err != nil {
		t.Fatal(err)
	}
	keys := texts("k-", 100)
	open := func() (*Filter, []uint64) {
		f, err := Open(ctx, client, "f")
		if err != nil {
			t.Fatal(err)
		}
		hashes := make([]uint64, len(keys))
		for i, key := range keys {
			hashes[i] = f.Hash([]byte(key))
		}
		return f, hashes
	}
	type call = func(ctx context.Context, f *Filter, hashes []uint64) (bloomline.Bitmap, error)
	probe := func(ctx context.Context, f *Filter, hashes []uint64) (bloomline.Bitmap, error) {
		return f.ContainsHashes(ctx, hashes, nil)
	}
	add := func(ctx context.Context, f *Filter, hashes []uint64) (bloomline.Bitmap, error) {
		return f.AddHashes(ctx, hashes, nil)
	}
	clients := map[string]call{"probes": probe, "inserts": add}
	filters, hashes := map[string]*Filter{}, []uint64(nil)
	for what := range clients {
		filters[what], hashes = open()
	}
	next := replace(t, client, keys, WithStore(StoreLines), WithSeed(2))
	for what, call := range clients {
		f := filters[what]
		for attempt := range 3 {
			out, err := call(ctx, f, hashes)
			var partial *PartialError
			if !errors.Is(err, ErrMismatch) || !errors.As(err, &partial) || len(partial.Keys) != len(keys) {
				t.Errorf("%s, attempt %d: %v", what, attempt, err)
			}
			if what == "probes" && out.Count() != len(keys) {
				t.Errorf("attempt %d: %d of %d", attempt, out.Count(), len(keys))
			}
		}
		if f.state.Load().generation != next.state.Load().generation {
			t.Errorf("%s: the new filter is not followed", what)
		}
		if f.Hash([]byte(keys[0])) != hashes[0] {
			t.Errorf("%s: the hash of a key has changed", what)
		}
		if maybe, err := f.ContainsStrings(ctx, keys, nil); err != nil || maybe.Count() != len(keys) {
			t.Errorf("%s: %d of %d keys; %v", what, maybe.Count(), len(keys), err)
		}
	}
	f, hashes := open()
	if _, err := f.AddHashes(ctx, hashes, nil); err != nil {
		t.Errorf("opened again: %v", err)
	}
	if maybe, err := f.ContainsHashes(ctx, hashes, nil); err != nil || maybe.Count() != len(keys) {
		t.Errorf("opened again: %d of %d; %v", maybe.Count(), len(keys), err)
	}
}

// TestStageKeepsTheSeed resizes a filter whose clients have hashes, which go on.
func TestStageKeepsTheSeed(t *testing.T) {
	ctx := t.Context()
	client := connect(t, start(t).addr)
	f, err := Reserve(ctx, client, "f", 1000, 0.001, WithStore(StoreLines))
	if err != nil {
		t.Fatal(err)
	}
	hash := []uint64{f.Hash([]byte("apple"))}
	for round := range 3 {
		if _, err := f.AddHashes(ctx, hash, nil); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		replace(t, client, []string{"apple"}, WithStore(StoreLines))
		if maybe, err := f.ContainsHashes(ctx, hash, nil); err != nil || !maybe.Has(0) {
			t.Errorf("round %d: %v, %v", round, maybe.Has(0), err)
		}
	}
	// One that is about to take its place has the seed of the next, too.
	other, err := Stage(ctx, client, "f", 1000, 0.001, WithSeed(77))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.AddHashes(ctx, hash, nil); !errors.Is(err, ErrMismatch) {
		t.Errorf("another seed is staged: %v", err)
	}
	if err := other.announceNext(ctx, other.state.Load().text, true); err != nil {
		t.Fatal(err)
	}
	last, err := Stage(ctx, client, "f", 1000, 0.001)
	if err != nil || last.state.Load().params.Seed != 77 {
		t.Errorf("%+v, %v", last, err)
	}
	// And one that nothing is to be replaced by has a seed of its own.
	first, err := Stage(ctx, client, "new", 1000, 0.001)
	if err != nil || first.state.Load().params.Seed == 77 {
		t.Errorf("%+v, %v", first, err)
	}
}
