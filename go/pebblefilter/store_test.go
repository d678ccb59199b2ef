package pebblefilter_test

// Real stores: written by either policy, read by either, the same in all.

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/bloomline/bloomline/go/pebblefilter"
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
)

const (
	storeKeys = 120_000
	tables    = 4
)

func options(policy pebble.FilterPolicy) *pebble.Options {
	opts := &pebble.Options{
		Cache:                       pebble.NewCache(256 << 20), // less the memtable
		DisableAutomaticCompactions: true,                       // tables stay in level 0, which Get reads through filters
		L0StopWritesThreshold:       1000,
		MemTableSize:                16 << 20,
		Logger:                      quiet{},
	}
	for i := range opts.Levels {
		opts.Levels[i].FilterPolicy = policy
	}
	return opts
}

type quiet struct{ pebble.Logger }

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}

func open(tb testing.TB, dir string, opts *pebble.Options) *pebble.DB {
	tb.Helper()
	db, err := pebble.Open(dir, opts)
	opts.Cache.Unref()
	if err != nil {
		tb.Fatal(err)
	}
	return db
}

// fill writes keys into tables that all reach from the first to the last key.
func fill(tb testing.TB, db *pebble.DB, keys [][]byte) {
	tb.Helper()
	for table := range tables {
		batch := db.NewBatch()
		for i := table; i < len(keys); i += tables {
			if err := batch.Set(keys[i], []byte("value"), nil); err != nil {
				tb.Fatal(err)
			}
		}
		if err := batch.Commit(pebble.NoSync); err != nil {
			tb.Fatal(err)
		}
		if err := db.Flush(); err != nil {
			tb.Fatal(err)
		}
	}
}

// ask looks every key up, and returns how many are there.
func ask(tb testing.TB, db *pebble.DB, keys [][]byte) (found int) {
	tb.Helper()
	for _, key := range keys {
		_, closer, err := db.Get(key)
		switch err {
		case nil:
			found++
			if err := closer.Close(); err != nil {
				tb.Fatal(err)
			}
		case pebble.ErrNotFound:
		default:
			tb.Fatal(err)
		}
	}
	return found
}

// filesOf are the tables of a store, by name.
func filesOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no tables in the store: %v", err)
	}
	files := make(map[string][]byte)
	for _, name := range names {
		if files[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func TestStores(t *testing.T) {
	builtin, ours := bloom.FilterPolicy(10), pebblefilter.FilterPolicy(10)
	for _, kind := range keyKinds {
		t.Run(kind.name, func(t *testing.T) {
			present, absent := kind.make(storeKeys, 1), kind.make(storeKeys, 2)
			var files []map[string][]byte
			var metrics []pebble.FilterMetrics
			for _, writer := range []pebble.FilterPolicy{builtin, ours} {
				dir := t.TempDir()
				db := open(t, dir, options(writer))
				fill(t, db, present)
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				files = append(files, filesOf(t, dir))
				for _, reader := range []pebble.FilterPolicy{builtin, ours} {
					db := open(t, dir, options(reader))
					if got := ask(t, db, present); got != len(present) {
						t.Errorf("written with %T, read with %T: %d keys lost", writer, reader, len(present)-got)
					}
					if got := ask(t, db, absent); got != 0 {
						t.Errorf("written with %T, read with %T: %d keys from nowhere", writer, reader, got)
					}
					metrics = append(metrics, db.Metrics().Filter)
					if err := db.Close(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if len(files[0]) != tables || len(files[1]) != tables {
				t.Fatalf("%d and %d tables, want %d", len(files[0]), len(files[1]), tables)
			}
			for name, file := range files[0] {
				if !bytes.Equal(file, files[1][name]) {
					t.Errorf("%s: other bytes than Pebble's", name)
				}
			}
			for _, m := range metrics {
				if m != metrics[0] {
					t.Errorf("filters' hits and misses: %v, want %v", m, metrics[0])
				}
			}
			// All absent keys in all tables, less the false positives, and some for present keys.
			if least := int64(98 * tables * storeKeys / 100); metrics[0].Hits < least {
				t.Errorf("filters were of use %d times, want %d", metrics[0].Hits, least)
			}
		})
	}
}

// Compactions read with one policy and write with it, to the last level, where filters are
// read by iterators that ask for it.
func TestChangeOver(t *testing.T) {
	builtin, ours := bloom.FilterPolicy(10), pebblefilter.FilterPolicy(10)
	for _, policies := range [][2]pebble.FilterPolicy{{builtin, ours}, {ours, builtin}} {
		before, after := policies[0], policies[1]
		dir := t.TempDir()
		first, second := keyKinds[0].make(50_000, 1), keyKinds[0].make(50_000, 3)
		db := open(t, dir, options(before))
		fill(t, db, first)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		db = open(t, dir, options(after))
		fill(t, db, second)
		for range 2 {
			if got := ask(t, db, first) + ask(t, db, second); got != len(first)+len(second) {
				t.Fatalf("%T, then %T: %d keys lost", before, after, len(first)+len(second)-got)
			}
			// And once more when all are in one level.
			if err := db.Compact(t.Context(), []byte{0}, bytes.Repeat([]byte{0xFF}, 20), false); err != nil {
				t.Fatal(err)
			}
		}
		iter, err := db.NewIter(&pebble.IterOptions{UseL6Filters: true})
		if err != nil {
			t.Fatal(err)
		}
		hits := db.Metrics().Filter.Hits
		for _, key := range first {
			if !iter.SeekPrefixGE(key) {
				t.Fatalf("%T, then %T: an iterator does not find %x", before, after, key)
			}
		}
		for _, key := range keyKinds[0].make(10_000, 2) {
			if iter.SeekPrefixGE(key) {
				t.Fatalf("%T, then %T: an iterator finds %x", before, after, key)
			}
		}
		if hits = db.Metrics().Filter.Hits - hits; hits < 9800 {
			t.Errorf("%T, then %T: filters of the last level were of use %d times", before, after, hits)
		}
		if err := iter.Close(); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
