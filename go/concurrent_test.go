package bloomline

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

func concurrentOf(t testing.TB, count uint64, k int) *ConcurrentFilter {
	t.Helper()
	filter, err := NewWithParams(Params{LineCount: count, K: k, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	return filter.Share()
}

func snapshot(t testing.TB, f *ConcurrentFilter) []byte {
	t.Helper()
	filter, err := f.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return bytesOf(filter.view.all)
}

func TestConcurrentAlone(t *testing.T) {
	for k := 1; k <= 16; k++ {
		for _, count := range []uint64{1, 3, 100, farFrom + 1} {
			filter := concurrentOf(t, count, k)
			want := make([]byte, count*64)
			hashes := randomHashes(700, count)
			for i, hash := range hashes {
				isNew := !definitionContains(want, k, hash)
				definitionInsert(want, k, hash)
				if i%2 == 0 && filter.AddHashIfAbsent(hash) != isNew {
					t.Fatalf("k %d, %d lines, hash %x: new %v", k, count, hash, isNew)
				}
				if i%2 == 1 && filter.AddHashesIfAbsent([]uint64{hash}, nil).Has(0) != isNew {
					t.Fatalf("k %d, %d lines, hash %x: new %v in a batch", k, count, hash, isNew)
				}
			}
			if !bytes.Equal(snapshot(t, filter), want) {
				t.Fatalf("k %d, %d lines: other bytes than the definition", k, count)
			}
			asked := append(hashes, randomHashes(1000, 77)...)
			answers := filter.ContainsHashes(asked, nil)
			for i, hash := range asked {
				if in := definitionContains(want, k, hash); answers.Has(i) != in || filter.ContainsHash(hash) != in {
					t.Fatalf("k %d, %d lines, hash %x: want %v", k, count, hash, in)
				}
			}
		}
	}
}

func TestConcurrentBatches(t *testing.T) {
	keys := make([]string, 1500)
	slices := make([][]byte, len(keys))
	for i := range keys {
		keys[i] = fmt.Sprint("key ", i/2) // each twice
		slices[i] = []byte(keys[i])
	}
	for _, n := range []int{0, 1, 15, 16, 63, 64, 65, 511, 512, 513, 1500} {
		a, b, c := concurrentOf(t, 100, 6), concurrentOf(t, 100, 6), concurrentOf(t, 100, 6)
		byStrings, bySlices := a.AddStringsIfAbsent(keys[:n], nil), b.AddBatchIfAbsent(slices[:n], make(Bitmap, 3))
		for i, key := range keys[:n] {
			isNew := c.AddStringIfAbsent(key)
			if byStrings.Has(i) != isNew || bySlices.Has(i) != isNew || c.AddIfAbsent(slices[i]) {
				t.Fatalf("%d keys: key %d is new: %v", n, i, isNew)
			}
		}
		if a.ContainsStrings(keys[:n], nil).Count() != n || a.ContainsBatch(slices[:n], nil).Count() != n {
			t.Fatalf("%d keys: some are lost", n)
		}
		if !bytes.Equal(snapshot(t, a), snapshot(t, c)) || !bytes.Equal(snapshot(t, b), snapshot(t, c)) {
			t.Fatalf("%d keys: other bytes", n)
		}
	}
}

// Goroutines add keys of their own and the same keys to a few lines, read them and take
// snapshots: nothing is lost. For the race detector, too.
func TestConcurrentGoroutines(t *testing.T) {
	const goroutines, keys = 4, 3000
	for round := range uint64(5) {
		filter := concurrentOf(t, 60, 6)
		shared := randomHashes(keys, 100+round)
		want := make([]byte, 60*64)
		var all sync.WaitGroup
		var newShared atomic.Int64
		for g := range uint64(goroutines) {
			own := randomHashes(keys, 10*round+g)
			for i := range keys {
				definitionInsert(want, 6, own[i])
				definitionInsert(want, 6, shared[i])
			}
			all.Add(1)
			go func() {
				defer all.Done()
				var out Bitmap
				for i := range keys {
					if filter.AddHash(own[i]); !filter.ContainsHash(own[i]) {
						t.Error("a goroutine does not see its own add")
					}
					if filter.AddHashIfAbsent(shared[i]) {
						newShared.Add(1)
					}
					if out = filter.ContainsHashes([]uint64{own[i], shared[i]}, out); out.Count() != 2 {
						t.Error("a batch does not see what was added")
					}
					if i%1000 == 0 {
						if got := snapshot(t, filter); !definitionContains(got, 6, own[i]) {
							t.Error("a snapshot lacks what was added before")
						}
					}
				}
			}()
		}
		all.Wait()
		if !bytes.Equal(snapshot(t, filter), want) {
			t.Fatal("something is lost")
		}
		if newShared.Load() == 0 {
			t.Error("no key was new to anybody")
		}
	}
}

// Snapshots are saved while four goroutines add: each file has all that was in before it.
func TestConcurrentSaves(t *testing.T) {
	const goroutines, rounds, keys = 4, 10, 5000
	filter, path := concurrentOf(t, 8000, 6), filepath.Join(t.TempDir(), "snapshot")
	var added [goroutines]atomic.Int64
	for round := range rounds {
		var all sync.WaitGroup
		for g := range added {
			all.Add(1)
			go func() {
				defer all.Done()
				for i := round * keys; i < (round+1)*keys; i++ {
					filter.AddHash(HashUint64(uint64(i), uint64(g)))
					added[g].Store(int64(i + 1))
				}
			}()
		}
		var before [goroutines]int64
		for g := range before {
			before[g] = added[g].Load()
		}
		taken, err := filter.Snapshot()
		if err == nil {
			err = taken.Save(path)
		}
		all.Wait()
		saved, loadErr := Load(path)
		if err != nil || loadErr != nil {
			t.Fatal(err, loadErr)
		}
		for g, before := range before {
			for i := range before {
				if !saved.ContainsHash(HashUint64(uint64(i), uint64(g))) {
					t.Fatalf("round %d: the file lacks key %d of goroutine %d", round, i, g)
				}
			}
		}
		if saved.Fill() > 0.6 {
			t.Fatal("too full to tell")
		}
	}
}

func TestConcurrentWhole(t *testing.T) {
	filter, err := NewConcurrent(1000, 0.01, WithSeed(3))
	if err != nil {
		t.Fatal(err)
	}
	other := mustNew(t, 1000, 0.01, WithSeed(3))
	other.AddString("pear")
	filter.AddString("apple")
	if err := filter.Union(other); err != nil || !filter.ContainsString("pear") || !filter.Contains([]byte("apple")) {
		t.Error("union:", err)
	}
	if err := filter.Union(mustNew(t, 1000, 0.01)); !errors.Is(err, ErrMismatch) {
		t.Error(err)
	}
	if n := filter.EstimatedKeys(); n < 1.5 || n > 2.5 {
		t.Errorf("%v keys estimated", n)
	}
	if _, err := NewConcurrent(1, 2); !errors.Is(err, ErrRate) {
		t.Error(err)
	}
	var zero ConcurrentFilter
	if !zero.ContainsString("a") || zero.ContainsHashes(make([]uint64, 70), nil).Count() != 70 {
		t.Error("the zero ConcurrentFilter says no")
	}
	if _, err := zero.Snapshot(); !errors.Is(err, ErrNoLines) {
		t.Error(err)
	}
	if other.Share(); !other.ContainsString("gone") || other.Params().LineCount != 0 {
		t.Error("a filter that was given away is still there")
	}
}

// Nobody counts the keys of a shared filter, so one that had keys before is the one that got them later.
func TestConcurrentDoesNotCountKeys(t *testing.T) {
	for _, create := range []func(keys int, rate float64, options ...Option) (*Filter, error){New, NewClassic} {
		plain := orPanic(create(1000, 0.01))
		later := plain.Clone().Share()
		plain.AddString("apple")
		before := plain.Share()
		later.AddString("apple")
		if !before.Equal(later) || !bytes.Equal(orPanic(before.MarshalBinary()), orPanic(later.MarshalBinary())) {
			t.Error("a key that was there before makes another filter")
		}
		if n := orPanic(before.Snapshot()).KeyCount(); n != 0 {
			t.Errorf("%d keys are counted", n)
		}
	}
}
