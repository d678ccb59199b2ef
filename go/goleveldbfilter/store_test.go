package goleveldbfilter_test

// Real stores: written by either filter, read by either, the same in all.

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/bloomline/bloomline/go/goleveldbfilter"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

const storeKeys = 120_000

// counted is a filter that counts its answers; goleveldb keeps no such numbers.
type counted struct {
	filter.Filter
	yes, no atomic.Int64
}

func (c *counted) Contains(filter, key []byte) bool {
	found := c.Filter.Contains(filter, key)
	if found {
		c.yes.Add(1)
	} else {
		c.no.Add(1)
	}
	return found
}

// NewGenerator is that of the filter under test: a table is written by it and nothing else.
func (c *counted) NewGenerator() filter.FilterGenerator { return c.Filter.NewGenerator() }

func open(tb testing.TB, dir string, f filter.Filter) *leveldb.DB {
	tb.Helper()
	db, err := leveldb.OpenFile(dir, &opt.Options{
		Filter:                 f,
		WriteBuffer:            64 << 20,
		OpenFilesCacheCapacity: 100,
		BlockCacheCapacity:     64 << 20,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return db
}

// fill writes keys into tables, all of them.
func fill(tb testing.TB, db *leveldb.DB, keys [][]byte) {
	tb.Helper()
	batch := new(leveldb.Batch)
	for i, key := range keys {
		batch.Put(key, []byte("value"))
		if batch.Len() == 1000 || i == len(keys)-1 {
			if err := db.Write(batch, nil); err != nil {
				tb.Fatal(err)
			}
			batch.Reset()
		}
	}
	if err := db.CompactRange(util.Range{}); err != nil {
		tb.Fatal(err)
	}
}

// ask looks every key up, and returns how many are there.
func ask(tb testing.TB, db *leveldb.DB, keys [][]byte) (found int) {
	tb.Helper()
	for _, key := range keys {
		switch _, err := db.Get(key, nil); err {
		case nil:
			found++
		case leveldb.ErrNotFound:
		default:
			tb.Fatal(err)
		}
	}
	return found
}

// tablesOf are the tables of a store, in the order of their contents.
func tablesOf(t *testing.T, dir string) (tables [][]byte) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.ldb"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no tables in the store: %v", err)
	}
	for _, name := range names {
		table, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, table)
	}
	slices.SortFunc(tables, bytes.Compare)
	return tables
}

func TestStores(t *testing.T) {
	builtin, ours := filter.NewBloomFilter(10), goleveldbfilter.NewBloomFilter(10)
	for _, kind := range keyKinds {
		t.Run(kind.name, func(t *testing.T) {
			present, absent := kind.make(storeKeys, 1), kind.make(storeKeys, 2)
			var tables [][][]byte
			var counts [][2]int64
			for _, writer := range []filter.Filter{builtin, ours} {
				dir := t.TempDir()
				db := open(t, dir, writer)
				fill(t, db, present)
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				// Tables that others have replaced may have been left when it was closed; opening
				// removes them.
				if err := open(t, dir, writer).Close(); err != nil {
					t.Fatal(err)
				}
				tables = append(tables, tablesOf(t, dir))
				for _, reader := range []filter.Filter{builtin, ours} {
					counter := &counted{Filter: reader}
					db := open(t, dir, counter)
					if got := ask(t, db, present); got != len(present) {
						t.Errorf("written with %T, read with %T: %d keys lost", writer, reader, len(present)-got)
					}
					if got := ask(t, db, absent); got != 0 {
						t.Errorf("written with %T, read with %T: %d keys from nowhere", writer, reader, got)
					}
					counts = append(counts, [2]int64{counter.yes.Load(), counter.no.Load()})
					if err := db.Close(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if !slices.EqualFunc(tables[0], tables[1], bytes.Equal) {
				t.Error("other tables than goleveldb's own filter makes")
			}
			for _, count := range counts {
				if count != counts[0] {
					t.Errorf("answers of yes and no: %v, want %v", count, counts[0])
				}
			}
			// Yes to all keys that are there, and to few others.
			yes, no := counts[0][0], counts[0][1]
			if yes < storeKeys || yes > storeKeys*102/100 || no < storeKeys*97/100 {
				t.Errorf("answers of yes and no: %d and %d, of %d keys that are there and %d that are not",
					yes, no, storeKeys, storeKeys)
			}
		})
	}
}

// A store goes on with the other filter, and compactions write its tables anew.
func TestChangeOver(t *testing.T) {
	builtin, ours := filter.NewBloomFilter(10), goleveldbfilter.NewBloomFilter(10)
	for _, filters := range [][2]filter.Filter{{builtin, ours}, {ours, builtin}} {
		dir := t.TempDir()
		first, second := keyKinds[0].make(50_000, 1), keyKinds[0].make(50_000, 3)
		db := open(t, dir, filters[0])
		fill(t, db, first)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		db = open(t, dir, filters[1])
		fill(t, db, second)
		if got := ask(t, db, first) + ask(t, db, second); got != len(first)+len(second) {
			t.Errorf("%T, then %T: %d keys lost", filters[0], filters[1], len(first)+len(second)-got)
		}
		if got := ask(t, db, keyKinds[0].make(10_000, 2)); got != 0 {
			t.Errorf("%T, then %T: %d keys from nowhere", filters[0], filters[1], got)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
