package redisfilter

// What a filter does, on real servers: with each store, on one server and on a cluster.

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	bloomline "github.com/bloomline/bloomline/go"
	"github.com/redis/go-redis/v9"
)

// eachStore runs a test with each of the stores, and the arguments of a server for it.
func eachStore(t *testing.T, stores []Store, run func(t *testing.T, store Store, args []string)) {
	for _, store := range stores {
		t.Run(string(store), func(t *testing.T) {
			var args []string
			if store != StoreLines {
				needModule(t)
				args = moduleArgs()
			}
			run(t, store, args)
		})
	}
}

// eachPlace runs a test on one server and on a cluster, with each of the stores.
func eachPlace(t *testing.T, stores []Store, run func(t *testing.T, client redis.UniversalClient, all []Option)) {
	eachStore(t, stores, func(t *testing.T, store Store, args []string) {
		t.Run("server", func(t *testing.T) {
			run(t, connect(t, start(t, args...).addr), []Option{WithStore(store)})
		})
		t.Run("cluster", func(t *testing.T) {
			run(t, startCluster(t, args...).connect(t), []Option{WithStore(store)})
		})
	})
}

var (
	allStores  = []Store{StoreLines, StoreModule, StoreBF}
	fileStores = []Store{StoreLines, StoreModule}
)

func texts(prefix string, count int) []string {
	keys := make([]string, count)
	for i := range keys {
		keys[i] = fmt.Sprint(prefix, i)
	}
	return keys
}

// local is what the library makes of the same keys: a filter for each shard.
func local(t testing.TB, f *Filter) []*bloomline.Filter {
	t.Helper()
	st := f.state.Load()
	filters := make([]*bloomline.Filter, st.shards)
	for i := range filters {
		var err error
		if filters[i], err = bloomline.NewWithParams(st.params); err != nil {
			t.Fatal(err)
		}
	}
	return filters
}

// TestAnswers holds every answer against the library's filters.
func TestAnswers(t *testing.T) {
	eachPlace(t, fileStores, func(t *testing.T, client redis.UniversalClient, all []Option) {
		for _, c := range []struct {
			shards, keys int
			rate         float64
		}{{1, 5000, 0.01}, {7, 20_000, 0.01}, {3, 3000, 0.2}, {2, 3000, 1e-6}} {
			name := fmt.Sprintf("answers-%d-%d", c.shards, c.keys)
			f, err := Reserve(t.Context(), client, name, c.keys, c.rate, append(all, WithShards(c.shards))...)
			if err != nil {
				t.Fatal(err)
			}
			shards := local(t, f)
			seed := f.state.Load().params.Seed
			shard := func(key string) (*bloomline.Filter, uint64) {
				hash := bloomline.HashString(key, seed)
				return shards[bloomline.ShardOf(hash, c.shards)], hash
			}
			keys := append(texts("in-", c.keys), texts("in-", c.keys/2)...)
			added, err := f.AddStrings(t.Context(), keys, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, key := range keys {
				filter, hash := shard(key)
				if want := filter.AddHashIfAbsent(hash); added.Has(i) != want {
					t.Fatalf("%s: %q is new: %v, want %v", name, key, added.Has(i), want)
				}
			}
			other, err := Open(t.Context(), client, name)
			if err != nil {
				t.Fatal(err)
			}
			ask := append(keys, texts("out-", c.keys)...)
			maybe, err := other.ContainsStrings(t.Context(), ask, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, key := range ask {
				filter, hash := shard(key)
				if want := filter.ContainsHash(hash); maybe.Has(i) != want {
					t.Fatalf("%s: %q may be present: %v, want %v", name, key, maybe.Has(i), want)
				}
			}
			paths, err := other.Export(t.Context(), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for i, path := range paths {
				loaded, err := bloomline.Load(path)
				if err != nil {
					t.Fatal(err)
				}
				if other.state.Load().description.store != StoreLines {
					if !sameLines(t, loaded, shards[i]) {
						t.Errorf("%s: other lines than the library's", path)
					}
					continue
				}
				file, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(file, encoded(t, shards[i])) {
					t.Errorf("%s: other bytes than the library's", path)
				}
			}
			info, err := other.Info(t.Context())
			if err != nil || info.Shards != c.shards || info.Capacity != uint64(c.keys) {
				t.Errorf("%+v, %v", info, err)
			}
			if d := float64(info.Keys) / float64(c.keys); d < 0.9 || d > 1.1 {
				t.Errorf("%s: estimated to have %d keys", name, info.Keys)
			}
		}
	})
}

// sameLines compares all but the number of keys.
func sameLines(t testing.TB, a, b *bloomline.Filter) bool {
	return bytes.Equal(encoded(t, a), encoded(t, b))
}

// TestEveryStore adds and probes in each way that there is.
func TestEveryStore(t *testing.T) {
	eachPlace(t, allStores, func(t *testing.T, client redis.UniversalClient, all []Option) {
		ctx := t.Context()
		f, err := Reserve(ctx, client, "seen", 50_000, 0.01, append(all, WithShards(5))...)
		if err != nil {
			t.Fatal(err)
		}
		if added, err := f.Add(ctx, []byte("apple")); err != nil || !added {
			t.Errorf("apple: %v, %v", added, err)
		}
		if added, err := f.AddString(ctx, "apple"); err != nil || added {
			t.Errorf("apple again: %v, %v", added, err)
		}
		if added, err := f.Add(ctx, nil); err != nil || !added {
			t.Errorf("the empty key: %v, %v", added, err)
		}
		if maybe, err := f.Contains(ctx, []byte{}); err != nil || !maybe {
			t.Errorf("the empty key: %v, %v", maybe, err)
		}
		if maybe, err := f.ContainsString(ctx, "plum"); err != nil || maybe {
			t.Errorf("plum: %v, %v", maybe, err)
		}
		keys := texts("k-", 40_000) // more than a pipeline has
		added, err := f.AddStrings(ctx, keys, nil)
		if err != nil || added.Count() < 39_000 {
			t.Errorf("%d of %d are new; %v", added.Count(), len(keys), err)
		}
		maybe, err := f.ContainsStrings(ctx, keys, added)
		if err != nil || maybe.Count() != len(keys) {
			t.Errorf("%d of %d may be present; %v", maybe.Count(), len(keys), err)
		}
		absent := texts("x-", 20_000)
		maybe, err = f.ContainsStrings(ctx, absent, maybe)
		if err != nil || maybe.Count() > 260 || maybe.Count() < 20 {
			t.Errorf("%d of %d absent keys may be present; %v", maybe.Count(), len(absent), err)
		}
		if none, err := f.ContainsStrings(ctx, nil, nil); err != nil || len(none) != 0 {
			t.Errorf("no keys: %v, %v", none, err)
		}
		hashes := []uint64{f.Hash([]byte("apple")), f.Hash([]byte("k-7"))}
		maybe, err = f.ContainsHashes(ctx, hashes, nil)
		if maybe.Count() != 2 || (err == nil) != f.state.Load().store.hashesOnly() {
			t.Errorf("hashes: %v, %v", maybe, err)
		}
		info, err := f.Info(ctx)
		if err != nil || info.Keys < 38_000 || info.Keys > 42_000 {
			t.Errorf("%+v, %v", info, err)
		}
		if err := f.Delete(ctx); err != nil {
			t.Fatal(err)
		}
		if maybe, err := f.ContainsString(ctx, "plum"); err == nil || !maybe {
			t.Errorf("a deleted filter: %v, %v", maybe, err)
		}
		if left := allKeys(t, client); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	})
}

// allKeys are the keys of all servers.
func allKeys(t testing.TB, client redis.UniversalClient) (keys []string) {
	t.Helper()
	read := func(ctx context.Context, client *redis.Client) error {
		some, err := client.Keys(ctx, "*").Result()
		keys = append(keys, some...)
		return err
	}
	var err error
	if cluster, ok := client.(*redis.ClusterClient); ok {
		var mu sync.Mutex
		err = cluster.ForEachMaster(t.Context(), func(ctx context.Context, client *redis.Client) error {
			mu.Lock()
			defer mu.Unlock()
			return read(ctx, client)
		})
	} else {
		err = read(t.Context(), client.(*redis.Client))
	}
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// TestTogether adds and probes from many goroutines.
func TestTogether(t *testing.T) {
	eachPlace(t, allStores, func(t *testing.T, client redis.UniversalClient, all []Option) {
		ctx := t.Context()
		f, err := Reserve(ctx, client, "t", 100_000, 0.01, append(all, WithShards(6))...)
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		for g := range 4 {
			group.Go(func() {
				random := rand.New(rand.NewPCG(uint64(g), 0))
				for round := range 20 {
					keys := texts(fmt.Sprintf("%d-%d-", g, round), 1+random.IntN(500))
					if _, err := f.AddStrings(ctx, keys, nil); err != nil {
						t.Error(err)
					}
					if maybe, err := f.ContainsStrings(ctx, keys, nil); err != nil || maybe.Count() != len(keys) {
						t.Errorf("%d of %d; %v", maybe.Count(), len(keys), err)
					}
				}
			})
		}
		group.Wait()
	})
}

// keepAsking probes for keys that are there until told to stop, and returns how often.
func keepAsking(t *testing.T, f *Filter, keys []string, until *atomic.Bool) (asked int) {
	for ; !until.Load() || asked == 0; asked++ {
		maybe, _ := f.ContainsStrings(t.Context(), keys, nil)
		if maybe.Count() != len(keys) {
			t.Errorf("%d of %d keys are denied", len(keys)-maybe.Count(), len(keys))
			return asked
		}
	}
	return asked
}

// TestLargestShard fills the first and the last line of a shard of 256 MiB.
func TestLargestShard(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes 256 MiB")
	}
	ctx := t.Context()
	client := connect(t, start(t).addr)
	f, err := Reserve(ctx, client, "large", 215_000_000, 0.01, WithStore(StoreLines))
	if err != nil {
		t.Fatal(err)
	}
	st := f.state.Load()
	if st.shards != 1 || st.shardBytes() < MaxShardBytes*99/100 {
		t.Fatalf("%d shards of %d bytes", st.shards, st.shardBytes())
	}
	for _, hash := range []uint64{0, 1, 1 << 63, ^uint64(0), ^uint64(0) - 1<<20} {
		if maybe, err := f.ContainsHashes(ctx, []uint64{hash}, nil); err != nil || maybe.Has(0) {
			t.Errorf("%#x: %v, %v", hash, maybe, err)
		}
		if added, err := f.AddHashes(ctx, []uint64{hash}, nil); err != nil || !added.Has(0) {
			t.Errorf("%#x: %v, %v", hash, added, err)
		}
		if maybe, err := f.ContainsHashes(ctx, []uint64{hash}, nil); err != nil || !maybe.Has(0) {
			t.Errorf("%#x: %v, %v", hash, maybe, err)
		}
	}
	if length, err := client.StrLen(ctx, st.keys[0]).Result(); err != nil || length != st.shardBytes() {
		t.Errorf("%d bytes, %v", length, err)
	}
}

// TestChoosesStore leaves the choice to what the server has.
func TestChoosesStore(t *testing.T) {
	choose := func(t *testing.T, client redis.UniversalClient, want Store) {
		t.Helper()
		f, err := Reserve(t.Context(), client, "f", 1000, 0.01)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.state.Load().description.store; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	t.Run("lines", func(t *testing.T) {
		choose(t, connect(t, start(t).addr), StoreLines)
		choose(t, startCluster(t).connect(t), StoreLines)
	})
	t.Run("bl", func(t *testing.T) {
		needModule(t)
		choose(t, connect(t, start(t, moduleArgs()...).addr), StoreModule)
		choose(t, startCluster(t, moduleArgs()...).connect(t), StoreModule)
	})
}

// TestModuleLayout has lines at every rate, as the description says; a shard that another client made with
// another layout is not taken.
func TestModuleLayout(t *testing.T) {
	needModule(t)
	ctx, client := t.Context(), connect(t, start(t, moduleArgs()...).addr)
	for _, rate := range []float64{0.01, 1e-4, 1e-6, 1e-9} {
		f, err := Reserve(ctx, client, fmt.Sprint(rate), 1000, rate, WithStore(StoreModule))
		if err != nil {
			t.Fatal(err)
		}
		want, _ := bloomline.ParamsForRate(1000, rate)
		if got := f.state.Load().params; got.LineCount != want.LineCount || got.K != want.K {
			t.Errorf("%g: %+v, want %+v", rate, got, want)
		}
	}
	client.Do(ctx, "bl.reserve", "classic", "0.0001", 1000, "nonscaling", "layout", "classic")
	if made, ok := moduleShape(client.Do(ctx, "bl.hashinfo", "classic").Val()); ok {
		t.Errorf("a shard of another layout: %+v", made)
	}
}
