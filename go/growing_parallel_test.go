package bloomline

import (
	"bytes"
	"slices"
	"testing"
)

// Any number of goroutines makes the filter that one by one makes, and says the same of which keys are new: bounded and
// unbounded, empty and with keys, uniform hashes, repeated ones and those of one part.
func TestGrowingAddsInParallel(t *testing.T) {
	const many = 2*leastEach + 100
	uniform := randomHashes(many, 1)
	onePart := make([]uint64, many)
	for i, hash := range uniform {
		onePart[i] = 0xA<<60 | hash>>4
	}
	sets := map[string][]uint64{
		"none":     nil,
		"uniform":  uniform,
		"repeated": append(slices.Clone(uniform[:many/2]), uniform[:many/2]...),
		"one part": onePart,
	}
	goroutineCounts, thereBefore := []int{0, 2, 16}, []int{0, 3 * many}
	if testing.Short() {
		goroutineCounts, thereBefore = []int{2}, []int{many / 2}
		delete(sets, "none")
		delete(sets, "uniform")
	}
	for _, newOne := range []func(int, float64, ...Option) (*GrowingFilter, error){NewGrowing, NewGrowingUnbounded} {
		for _, there := range thereBefore {
			for name, hashes := range sets {
				before := orPanic(newOne(5000, 0.01))
				before.AddHashes(randomHashes(there, 3))
				if there > 0 {
					for _, hash := range hashes[:len(hashes)/3] {
						before.AddHash(hash)
					}
				}
				all, absent := before.Clone(), before.Clone()
				for _, hash := range hashes {
					all.AddHash(hash)
				}
				expected := absent.AddHashesIfAbsent(hashes, nil)
				for _, goroutines := range goroutineCounts {
					filter := before.Clone()
					filter.AddHashesParallel(hashes, goroutines)
					sameGrowing(t, name, filter, all)
					filter = before.Clone()
					if got := filter.AddHashesIfAbsentParallel(hashes, nil, goroutines); !slices.Equal(got, expected) {
						t.Errorf("%s, %d goroutines: other keys are new", name, goroutines)
					}
					sameGrowing(t, name, filter, absent)
				}
			}
		}
	}
}

// sameGrowing checks that two filters have the same bytes. Where AddHashes builds a filter anew, one by one may differ.
func sameGrowing(t *testing.T, name string, got, expected *GrowingFilter) {
	t.Helper()
	if got.KeyCount() != expected.KeyCount() {
		t.Errorf("%s: %d keys, not %d", name, got.KeyCount(), expected.KeyCount())
	}
	if !bytes.Equal(orPanic(got.MarshalBinary()), orPanic(expected.MarshalBinary())) {
		t.Errorf("%s: several goroutines make another filter", name)
	}
}

// Keys are hashed by the goroutines; more than are sorted at a time. A journal hears of each.
func TestGrowingAddsKeysInParallel(t *testing.T) {
	n := atOnce + 2*leastEach + 70
	if testing.Short() {
		n = 2*leastEach + 70
	}
	keys, strings := make([][]byte, n), make([]string, n)
	for i := range keys {
		keys[i] = []byte{byte(i), byte(i >> 8), byte(i >> 16 % 13), byte(i % 3)}
		strings[i] = string(keys[i])
	}
	one := orPanic(NewGrowing(n, 0.01))
	var journal, other bytes.Buffer
	must(one.SaveWhole(&journal, 1))
	several, third := one.Clone(), one.Clone()
	must(several.SaveWhole(&other, 1))
	expected := one.AddBatchIfAbsent(keys, nil)
	if got := several.AddBatchIfAbsentParallel(keys, nil, 3); !slices.Equal(got, expected) {
		t.Error("other keys are new")
	}
	if got := third.AddStringsIfAbsentParallel(strings, nil, 0); !slices.Equal(got, expected) {
		t.Error("other strings are new")
	}
	sameGrowing(t, "keys", several, one)
	sameGrowing(t, "strings", third, one)
	must(one.SaveChanged(&journal, 2))
	must(several.SaveChanged(&other, 2))
	if !bytes.Equal(journal.Bytes(), other.Bytes()) {
		t.Error("other keys are in the journal")
	}
}

func TestNothingIsAddedToAZeroGrowingFilterInParallel(t *testing.T) {
	for _, add := range []func(f *GrowingFilter){
		func(f *GrowingFilter) { f.AddHashesParallel(nil, 2) },
		func(f *GrowingFilter) { f.AddHashesIfAbsentParallel(nil, nil, 2) },
		func(f *GrowingFilter) { f.AddBatchIfAbsentParallel(nil, nil, 2) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			add(new(GrowingFilter))
		}()
	}
}

// What is left over when many hashes are added in pieces is added, too.
func TestGrowingAddsTheLastInParallel(t *testing.T) {
	hashes := randomHashes(atOnce+1000, 7)
	f := orPanic(NewGrowingUnbounded(5000, 0.01))
	f.AddHashesParallel(hashes, 2)
	if f.KeyCount() != uint64(len(hashes)) {
		t.Fatal(f.KeyCount(), "keys")
	}
	for i, hash := range hashes {
		if !f.ContainsHash(hash) {
			t.Fatal("hash", i, "is lost")
		}
	}
}
