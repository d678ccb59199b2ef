package redisfilter

// Names that are evicted or deleted, whose shards are left.

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
)

// first is each way to make the first filter of a name.
func first(t *testing.T, client redis.UniversalClient, name string, files []string, all []Option) map[string]func() (*Filter, error) {
	ctx := t.Context()
	ways := map[string]func() (*Filter, error){
		"Reserve": func() (*Filter, error) { return Reserve(ctx, client, name, 1000, 0.01, all...) },
		"Stage": func() (*Filter, error) {
			f, err := Stage(ctx, client, name, 1000, 0.01, all...)
			if err != nil {
				return nil, err
			}
			return f, f.Publish(ctx)
		},
	}
	if files != nil {
		ways["Import"] = func() (*Filter, error) { return Import(ctx, client, name, files, all...) }
	}
	return ways
}

// TestNameLost deletes the key of the name, as an eviction does. Who still probes the shards never denies
// a key of the filter that takes the name, and who inserts is told.
func TestNameLost(t *testing.T) {
	for _, name := range []string{"f", `*?[f]\x{a*}^`} {
		eachPlace(t, allStores, func(t *testing.T, client redis.UniversalClient, all []Option) {
			ctx := t.Context()
			all = append(all, WithShards(1))
			keys := texts("k-", 300)
			reader, err := Reserve(ctx, client, name, 1000, 0.01, all...)
			if err != nil {
				t.Fatal(err)
			}
			var files []string
			if reader.state.Load().description.store != StoreBF {
				files = []string{writeShard(t, reader)}
			}
			// Keys that are much the same stay.
			for _, other := range []string{name + ":0", "{f}", "x{f}", "{f}:0123456789abcdef", "{f}x"} {
				if _, err := Reserve(ctx, client, other, 100, 0.01, all...); err != nil {
					t.Fatalf("%s: %v", other, err)
				}
			}
			for _, other := range []string{"{f:0}:lock", "{f:0}:0123456789abcdef:lock", "{f:x}:0123456789abcdef", "{f:}:0123456789abcdef"} {
				if err := client.Set(ctx, other, "x", 0).Err(); err != nil {
					t.Fatal(err)
				}
			}
			before := len(allKeys(t, client))
			for way, make := range first(t, client, name, files, all) {
				what := fmt.Sprintf("%s, %q", way, name)
				if _, err := reader.AddStrings(ctx, keys, nil); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if err := client.Unlink(ctx, name).Err(); err != nil {
					t.Fatal(err)
				}
				_, err := reader.AddString(ctx, "lost")
				var partial *PartialError
				if !errors.Is(err, ErrNotFound) || !errors.As(err, &partial) {
					t.Errorf("%s: added to a filter without a name: %v", what, err)
				}
				if maybe, err := reader.ContainsStrings(ctx, keys, nil); err != nil || maybe.Count() != len(keys) {
					t.Errorf("%s: %d of %d; %v", what, maybe.Count(), len(keys), err)
				}
				f, err := make()
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				plums := texts("plum-", 50)
				if _, err := f.AddStrings(ctx, plums, nil); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if maybe, err := reader.ContainsStrings(ctx, plums, nil); err != nil || maybe.Count() != len(plums) {
					t.Errorf("%s: %d of %d; %v", what, maybe.Count(), len(plums), err)
				}
				if left := allKeys(t, client); len(left) != before {
					t.Errorf("%s: %d keys, want %d: %q", what, len(left), before, left)
				}
			}
		})
	}
}

// TestFirstStoppedMidway stops after step 2 of a first filter: the next that opens it does the rest. What
// is announced meanwhile keeps its shards.
func TestFirstStoppedMidway(t *testing.T) {
	client := connect(t, start(t).addr)
	ctx := t.Context()
	f, err := Stage(ctx, client, "f", 1000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.announceNext(ctx, f.state.Load().text, true); err != nil {
		t.Fatal(err)
	}
	if _, err := Reserve(ctx, client, "f", 1000, 0.01); !errors.Is(err, ErrExists) {
		t.Errorf("reserved again: %v", err)
	}
	larger, err := Stage(ctx, client, "f", 2000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := Open(ctx, client, "f")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := opened.AddString(ctx, "key"); err != nil {
		t.Error(err)
	}
	if err := larger.Publish(ctx); err != nil {
		t.Error(err)
	}
	if maybe, err := opened.ContainsString(ctx, "key"); err != nil || !maybe {
		t.Errorf("%v, %v", maybe, err)
	}
	if left := allKeys(t, client); len(left) != 2 {
		t.Errorf("left behind: %q", left)
	}
}

// TestFirstOfMany makes the first filter of a name several times at once: one succeeds, all others are
// told that there is one, and can open it.
func TestFirstOfMany(t *testing.T) {
	eachStore(t, allStores, func(t *testing.T, store Store, args []string) {
		server := start(t, args...)
		ctx := t.Context()
		for round := range 20 {
			name := fmt.Sprint("f", round)
			errs := make([]error, 3)
			var all sync.WaitGroup
			for i := range errs {
				client := connect(t, server.addr)
				all.Go(func() {
					var f *Filter
					f, errs[i] = Reserve(ctx, client, name, 1000, 0.01, WithStore(store), WithShards(3))
					if errors.Is(errs[i], ErrExists) {
						var err error
						if f, err = Open(ctx, client, name); err != nil {
							t.Error(err)
							return
						}
					}
					if f == nil {
						return
					}
					if _, err := f.AddStrings(ctx, texts("k-", 100), nil); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			made := slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return errors.Is(err, ErrExists) })
			if len(made) != 1 || made[0] != nil {
				t.Errorf("%v", errs)
			}
			client := connect(t, server.addr)
			if left := allKeys(t, client); len(left) != 4*(round+1) {
				t.Fatalf("left behind: %q", left)
			}
		}
	})
}

// TestFirstMayNotScan makes a filter where SCAN is not allowed: nothing is left behind.
func TestFirstMayNotScan(t *testing.T) {
	client := connect(t, start(t).addr)
	ctx := t.Context()
	if err := client.Do(ctx, "acl", "setuser", "modest", "on", ">secret", "~*", "+@all", "-scan").Err(); err != nil {
		t.Fatal(err)
	}
	options := *client.Options()
	options.Username, options.Password = "modest", "secret"
	modest := redis.NewClient(&options)
	defer modest.Close()
	if _, err := Reserve(ctx, modest, "f", 1000, 0.01); !redis.HasErrorPrefix(err, "NOPERM") {
		t.Errorf("%v", err)
	}
	if left := allKeys(t, client); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestFirstStaged stages a first filter whose program ends: another takes its place.
func TestFirstStaged(t *testing.T) {
	client := connect(t, start(t).addr)
	ctx := t.Context()
	if _, err := Stage(ctx, client, "f", 1000, 0.01); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, client, "f"); !errors.Is(err, ErrNotFound) {
		t.Errorf("opened: %v", err)
	}
	if _, err := Reserve(ctx, client, "f", 1000, 0.01); err != nil {
		t.Fatal(err)
	}
	if left := allKeys(t, client); len(left) != 2 {
		t.Errorf("left behind: %q", left)
	}
	// A hash that is no filter stays as it is.
	if err := client.HSet(ctx, "hash", "field", "x").Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := Reserve(ctx, client, "hash", 1000, 0.01); !errors.Is(err, ErrExists) {
		t.Errorf("over a hash: %v", err)
	}
}
