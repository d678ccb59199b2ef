package redisfilter

// Generations: filters that are replaced, lost, or half replaced, while others use them.

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	bloomline "github.com/bloomline/bloomline/go"
	"github.com/redis/go-redis/v9"
)

// TestReplaceUnderLoad resizes a filter again and again. Keys that all of them have are never
// denied, nor are those that a client adds after a replacement.
func TestReplaceUnderLoad(t *testing.T) {
	eachPlace(t, allStores, func(t *testing.T, client redis.UniversalClient, all []Option) {
		ctx := t.Context()
		stable := texts("stable-", 300)
		f, err := Reserve(ctx, client, "f", 1000, 0.01, append(all, WithShards(2))...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.AddStrings(ctx, stable, nil); err != nil {
			t.Fatal(err)
		}
		stale, err := Open(ctx, client, "f")
		if err != nil {
			t.Fatal(err)
		}
		var until atomic.Bool
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() { keepAsking(t, stale, stable, &until) })
		}
		for round := range 10 {
			next, err := Stage(ctx, client, "f", 1000*(round+2), 0.01, append(all, WithShards(round%4+1))...)
			if err != nil {
				t.Fatal(err)
			}
			if maybe, err := stale.ContainsString(ctx, "only-next"); maybe && round == 0 {
				t.Errorf("a staged filter is probed: %v", err)
			}
			if _, err := next.AddStrings(ctx, append(slices.Clone(stable), "only-next"), nil); err != nil {
				t.Fatal(err)
			}
			if err := next.Publish(ctx); err != nil {
				t.Fatal(err)
			}
			late := texts("late-", 20)
			if _, err := next.AddStrings(ctx, late, nil); err != nil {
				t.Fatal(err)
			}
			if maybe, err := stale.ContainsStrings(ctx, late, nil); err != nil || maybe.Count() != len(late) {
				t.Fatalf("round %d: %d of %d late keys; %v", round, maybe.Count(), len(late), err)
			}
		}
		until.Store(true)
		group.Wait()
		info, err := stale.Info(ctx)
		if err != nil || info.Shards != 2 || info.Capacity != 11_000 {
			t.Errorf("%+v, %v", info, err)
		}
		if keys := allKeys(t, client); len(keys) != 3 {
			t.Errorf("left behind: %q", keys)
		}
	})
}

// TestAddFollows adds to a generation that is gone, through a client that does not know.
func TestAddFollows(t *testing.T) {
	eachPlace(t, allStores, func(t *testing.T, client redis.UniversalClient, all []Option) {
		ctx := t.Context()
		stale, err := Reserve(ctx, client, "f", 1000, 0.01, append(all, WithShards(3))...)
		if err != nil {
			t.Fatal(err)
		}
		next, err := Stage(ctx, client, "f", 5000, 0.01, append(all, WithShards(4))...)
		if err != nil {
			t.Fatal(err)
		}
		if err := next.Publish(ctx); err != nil {
			t.Fatal(err)
		}
		keys := texts("k-", 500)
		if added, err := stale.AddStrings(ctx, keys, nil); err != nil || added.Count() < 490 {
			t.Errorf("%d of %d are new; %v", added.Count(), len(keys), err)
		}
		if maybe, err := next.ContainsStrings(ctx, keys, nil); err != nil || maybe.Count() != len(keys) {
			t.Errorf("%d of %d may be present; %v", maybe.Count(), len(keys), err)
		}
		if keys := allKeys(t, client); len(keys) != 5 {
			t.Errorf("inserts made strings anew: %q", keys)
		}
	})
}

// TestShardLost deletes and overwrites a shard.
func TestShardLost(t *testing.T) {
	eachPlace(t, allStores, func(t *testing.T, client redis.UniversalClient, all []Option) {
		ctx := t.Context()
		f, err := Reserve(ctx, client, "f", 1000, 0.01, append(all, WithShards(3))...)
		if err != nil {
			t.Fatal(err)
		}
		st := f.state.Load()
		keys := texts("k-", 300)
		if _, err := f.AddStrings(ctx, keys, nil); err != nil {
			t.Fatal(err)
		}
		var gone []int
		for i, key := range keys {
			if bloomline.ShardOf(bloomline.HashString(key, st.params.Seed), 3) == 1 {
				gone = append(gone, i)
			}
		}
		for what, spoil := range spoilt(st) {
			if err := client.Unlink(ctx, st.keys[1]).Err(); err != nil {
				t.Fatal(err)
			}
			for _, command := range spoil {
				if err := client.Do(ctx, command...).Err(); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			}
			maybe, err := f.ContainsStrings(ctx, keys, nil)
			var partial *PartialError
			if maybe.Count() != len(keys) || !errors.Is(err, ErrShardLost) || !errors.As(err, &partial) {
				t.Fatalf("%s: %d of %d; %v", what, maybe.Count(), len(keys), err)
			}
			if slices.Sort(partial.Keys); !slices.Equal(partial.Keys, gone) {
				t.Errorf("%s: no answer for %v, want %v", what, partial.Keys, gone)
			}
			_, err = f.AddStrings(ctx, texts("other-", 100), nil)
			if !errors.Is(err, ErrShardLost) {
				t.Errorf("%s: added: %v", what, err)
			}
			if maybe, err := f.ContainsStrings(ctx, keys, nil); maybe.Count() != len(keys) || err == nil {
				t.Errorf("%s, after inserts: %d of %d; %v", what, maybe.Count(), len(keys), err)
			}
			if _, err := f.Info(ctx); !errors.Is(err, ErrShardLost) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

// spoilt is what somebody may put into the place of shard 1: by name, the commands for it.
func spoilt(st *state) map[string][][]any {
	key := st.keys[1]
	other := st.params
	other.Seed++
	larger := st.params
	larger.LineCount++
	lines := func(p bloomline.Params) [][]any {
		return [][]any{{"setrange", key, p.LineCount * lineBytes, footer{params: p}.bytes()}}
	}
	all := map[string][][]any{
		"nothing":       nil,
		"a text":        {{"set", key, "x"}},
		"zeros":         {{"set", key, make([]byte, 100_000)}},
		"a list":        {{"rpush", key, "x"}},
		"another seed":  lines(other),
		"another shape": lines(larger),
	}
	if st.description.store == StoreLines {
		return all
	}
	all["BF.ADD"] = [][]any{{"bf.add", key, "x"}}
	all["CF.ADD"] = [][]any{{"cf.add", key, "x"}}
	// As large as the shard or larger, growing or not, and with the shard's seed or another.
	size := keysPerShard(int(st.description.keys), st.shards)
	reserve, seed := "bf.reserve", []any(nil)
	if st.description.store == StoreModule {
		reserve, seed = "bl.reserve", []any{"seed", st.params.Seed}
		all["another seed of its size"] = [][]any{{reserve, key, st.rate, size, "nonscaling", "seed", other.Seed}}
	}
	all["another capacity"] = [][]any{append([]any{reserve, key, st.rate, size + 100, "nonscaling"}, seed...)}
	all["one of its size that grows"] = [][]any{append([]any{reserve, key, st.rate, size}, seed...)}
	all["one that grew"] = [][]any{append([]any{reserve, key, st.rate, 3}, seed...),
		{"bf.madd", key, "1", "2", "3", "4", "5", "6"}}
	return all
}

// TestStoppedMidway stops a replacement at every step. Whoever comes next does the rest.
func TestStoppedMidway(t *testing.T) {
	for _, deleted := range []int{0, 1, 3} {
		client := connect(t, start(t).addr)
		ctx := t.Context()
		keys := texts("k-", 300)
		f, err := Reserve(ctx, client, "f", 1000, 0.01, WithShards(3))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.AddStrings(ctx, keys, nil); err != nil {
			t.Fatal(err)
		}
		next, err := Stage(ctx, client, "f", 2000, 0.01, WithShards(2))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := next.AddStrings(ctx, keys, nil); err != nil {
			t.Fatal(err)
		}
		if err := next.announceNext(ctx, next.state.Load().text, true); err != nil {
			t.Fatal(err)
		}
		if err := unlink(ctx, client, f.state.Load().keys[:deleted]); err != nil {
			t.Fatal(err)
		}
		maybe, err := f.ContainsStrings(ctx, keys, nil)
		if err != nil || maybe.Count() != len(keys) {
			t.Errorf("%d deleted: %d of %d; %v", deleted, maybe.Count(), len(keys), err)
		}
		followed := f.state.Load().generation == next.state.Load().generation
		if followed != (deleted > 0) {
			t.Errorf("%d deleted: followed: %v", deleted, followed)
		}
		// A third replacement does the second's rest first.
		third, err := Stage(ctx, client, "f", 3000, 0.01)
		if err != nil {
			t.Fatal(err)
		}
		if err := third.Publish(ctx); err != nil {
			t.Errorf("%d deleted: %v", deleted, err)
		}
		// The one that had stopped finds that it has been replaced.
		if err := next.Publish(ctx); err == nil {
			t.Errorf("%d deleted: a generation that is gone is published", deleted)
		}
		if left := allKeys(t, client); len(left) != 2 {
			t.Errorf("%d deleted: left behind: %q", deleted, left)
		}
	}
}

// TestInsertsGoToBoth builds a filter from a database to which other clients go on adding keys.
// What they had acknowledged is in the new filter, whether the scan found it or they added it.
func TestInsertsGoToBoth(t *testing.T) {
	eachPlace(t, allStores, func(t *testing.T, client redis.UniversalClient, all []Option) {
		ctx := t.Context()
		f, err := Reserve(ctx, client, "f", 1000, 0.01, append(all, WithShards(2))...)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var database []string // what is committed
		var acknowledged []string
		var until atomic.Bool
		var group sync.WaitGroup
		for g := range 3 {
			group.Go(func() {
				writer, err := Open(ctx, client, "f")
				if err != nil {
					t.Error(err)
					return
				}
				for i := 0; !until.Load(); i++ {
					key := fmt.Sprint(g, "-", i)
					mu.Lock()
					database = append(database, key)
					mu.Unlock()
					if _, err := writer.AddString(ctx, key); err != nil {
						t.Errorf("%s: %v", key, err)
						return
					}
					mu.Lock()
					acknowledged = append(acknowledged, key)
					mu.Unlock()
				}
			})
		}
		for round := range 8 {
			// The clients get on with it, however slow the machine is.
			for added := 0; added < 20*(round+1); time.Sleep(time.Millisecond) {
				mu.Lock()
				added = len(acknowledged)
				mu.Unlock()
				if ctx.Err() != nil || t.Failed() {
					t.Fatal("no keys are added")
				}
			}
			next, err := Stage(ctx, client, "f", 20_000, 0.01, append(all, WithShards(round%3+1))...)
			if err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			scanned := slices.Clone(database)
			mu.Unlock()
			if _, err := next.AddStrings(ctx, scanned, nil); err != nil {
				t.Fatal(err)
			}
			if err := next.Publish(ctx); err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			keys := slices.Clone(acknowledged)
			mu.Unlock()
			for _, filter := range []*Filter{f, next} {
				if maybe, err := filter.ContainsStrings(ctx, keys, nil); err != nil || maybe.Count() != len(keys) {
					t.Errorf("round %d: %d of %d; %v", round, maybe.Count(), len(keys), err)
				}
			}
		}
		until.Store(true)
		group.Wait()
	})
}

// TestDeleteStaged deletes a filter while another is to take its place: both are gone.
func TestDeleteStaged(t *testing.T) {
	client := connect(t, start(t).addr)
	ctx := t.Context()
	f, err := Reserve(ctx, client, "f", 1000, 0.01, WithShards(2))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Stage(ctx, client, "f", 5000, 0.01, WithShards(4)); err != nil {
		t.Fatal(err)
	}
	if err := f.Delete(ctx); err != nil {
		t.Fatal(err)
	}
	if left := allKeys(t, client); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
	if maybe, err := f.ContainsString(ctx, "key"); !maybe || !errors.Is(err, ErrNotFound) {
		t.Errorf("%v, %v", maybe, err)
	}
}

// TestGivenUp stages two filters: the second takes the place of the first, which cannot be
// published any more.
func TestGivenUp(t *testing.T) {
	client := connect(t, start(t).addr)
	ctx := t.Context()
	f, err := Reserve(ctx, client, "f", 1000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	first, err := Stage(ctx, client, "f", 1000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Stage(ctx, client, "f", 1000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Publish(ctx); err == nil {
		t.Error("the first is published")
	}
	if _, err := f.AddString(ctx, "key"); err != nil {
		t.Error(err)
	}
	if maybe, err := second.ContainsString(ctx, "key"); err != nil || !maybe {
		t.Errorf("the second: %v, %v", maybe, err)
	}
	if err := second.Delete(ctx); err != nil {
		t.Error(err)
	}
	if _, err := f.AddString(ctx, "other key"); err != nil {
		t.Error(err)
	}
	if left := allKeys(t, client); len(left) != 2 {
		t.Errorf("left behind: %q", left)
	}
}
