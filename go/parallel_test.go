package bloomline

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// Any number of goroutines makes the filter that one by one makes.
func TestAddHashesParallel(t *testing.T) {
	const many = 7*leastEach + 100
	random := rand.New(rand.NewPCG(1, 2))
	for _, lineCount := range []uint64{1, 2, 5, 4000} {
		params := Params{LineCount: lineCount, K: 7, Seed: 3}
		sets := map[string][]uint64{"none": nil, "one": {^uint64(0)}, "one line": make([]uint64, many)}
		uniform, bounds := make([]uint64, many), make([]uint64, many)
		for i := range many {
			uniform[i] = random.Uint64()
			bounds[i] = lowestHash(uint64(i/3)%lineCount, lineCount) + uint64(i%3) - 1
		}
		sets["uniform"], sets["bounds of lines"] = uniform, bounds
		for name, hashes := range sets {
			expected := newForTest(t, params)
			for _, hash := range hashes {
				expected.AddHash(hash)
			}
			for _, goroutines := range []int{-1, 0, 1, 2, 3, 7, 64} {
				filter := newForTest(t, params)
				filter.AddHashesParallel(hashes, goroutines)
				if !bytes.Equal(encodedForTest(t, filter), encodedForTest(t, expected)) {
					t.Errorf("%s, %d lines, %d goroutines: not the filter that one makes", name, lineCount, goroutines)
				}
			}
		}
	}
}

// Each hash is in one part, with its line.
func TestPartsOfLines(t *testing.T) {
	for _, count := range []int{1, 2, 5, 64, 1001} {
		l := linesWith(make([]line, count), 6, false)
		for _, parts := range []int{1, 2, 3, 7, 64} {
			next, seen := uint64(0), uint64(0)
			for part := range parts {
				low, high, ok := l.bounds(part, parts)
				if !ok {
					continue
				}
				if low != next || l.index(low) != seen {
					t.Fatalf("%d lines, part %d of %d begins at hash %#x", count, part, parts, low)
				}
				next, seen = high+1, l.index(high)+1
			}
			if next != 0 || seen != uint64(count) {
				t.Fatalf("%d lines in %d parts end at hash %#x, line %d", count, parts, next, seen)
			}
		}
	}
}

func TestAddHashesParallelToAClassicFilter(t *testing.T) {
	hashes := make([]uint64, 3*leastEach)
	for i := range hashes {
		hashes[i] = HashUint64(uint64(i), 0)
	}
	params, err := ClassicParamsForRate(len(hashes), 0.01)
	if err != nil {
		t.Fatal(err)
	}
	one, err := newClassicWithParams(params)
	if err != nil {
		t.Fatal(err)
	}
	several, err := newClassicWithParams(params)
	if err != nil {
		t.Fatal(err)
	}
	one.AddHashes(hashes)
	several.AddHashesParallel(hashes, 7)
	if !bytes.Equal(encodedForTest(t, one), encodedForTest(t, several)) {
		t.Error("several goroutines make another filter")
	}
}

func BenchmarkAddHashesParallel(b *testing.B) {
	hashes := make([]uint64, 4_000_000)
	for i := range hashes {
		hashes[i] = HashUint64(uint64(i), 0)
	}
	for _, goroutines := range []int{1, 2, 4} {
		b.Run(map[int]string{1: "one", 2: "two", 4: "four"}[goroutines], func(b *testing.B) {
			filter, err := New(len(hashes), 0.01)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				filter.AddHashesParallel(hashes, goroutines)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(hashes)), "ns/key")
		})
	}
}

func newForTest(t *testing.T, params Params) *Filter {
	t.Helper()
	filter, err := NewWithParams(params)
	if err != nil {
		t.Fatal(err)
	}
	return filter
}

func encodedForTest(t *testing.T, filter *Filter) []byte {
	t.Helper()
	encoded, err := filter.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}
