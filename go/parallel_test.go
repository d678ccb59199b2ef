package bloomline

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// Any number of goroutines makes the filter that one by one makes.
func TestAddHashesParallel(t *testing.T) {
	const many = 7*leastEach + 100
	random := rand.New(rand.NewPCG(1, 2))
	lineCounts, goroutineCounts := []uint64{1, 2, 5, 4000}, []int{-1, 0, 1, 2, 3, 7, 64}
	if testing.Short() {
		lineCounts, goroutineCounts = []uint64{5, 4000}, []int{0, 7}
	}
	for _, lineCount := range lineCounts {
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
			for _, goroutines := range goroutineCounts {
				filter := newForTest(t, params)
				filter.AddHashesParallel(hashes, goroutines)
				if !bytes.Equal(encodedForTest(t, filter), encodedForTest(t, expected)) {
					t.Errorf("%s, %d lines, %d goroutines: not the filter that one makes", name, lineCount, goroutines)
				}
			}
		}
	}
}

// Which keys are new does not depend on the number of goroutines, with keys that repeat next to each
// other and far apart. The expected answers are those of one by one.
func TestAddIfAbsentParallel(t *testing.T) {
	const many = atOnce + 2*leastEach + 70
	keys, bytes := make([]string, many), make([][]byte, many)
	for i := range many {
		switch {
		case i%3 == 1:
			keys[i] = keys[i-1]
		case i%5 == 4 && i > 70_000:
			keys[i] = keys[i-70_000]
		default:
			keys[i] = "key " + strconv.Itoa(i)
		}
		bytes[i] = []byte(keys[i])
	}
	lineCounts, goroutineCounts := []uint64{1, 3, 20_000}, []int{0, 1, 3}
	if testing.Short() {
		lineCounts, goroutineCounts = []uint64{3, 20_000}, []int{3}
	}
	for _, lineCount := range lineCounts {
		params := Params{LineCount: lineCount, K: 7, Seed: 3}
		for _, n := range []int{100, 2*leastEach - 1, 3*leastEach + 63, many} {
			if n == many && lineCount < 20_000 {
				continue
			}
			one, expected, hashes := newForTest(t, params), Bitmap(nil).sized(n), make([]uint64, n)
			for i, key := range keys[:n] {
				hashes[i] = HashString(key, params.Seed)
				if one.AddHashIfAbsent(hashes[i]) {
					expected[i/64] |= 1 << (i % 64)
				}
			}
			for _, goroutines := range goroutineCounts {
				for name, add := range map[string]func(f *Filter) Bitmap{
					"hashes":  func(f *Filter) Bitmap { return f.AddHashesIfAbsentParallel(hashes, nil, goroutines) },
					"strings": func(f *Filter) Bitmap { return f.AddStringsIfAbsentParallel(keys[:n], nil, goroutines) },
					"bytes":   func(f *Filter) Bitmap { return f.AddBatchIfAbsentParallel(bytes[:n], nil, goroutines) },
				} {
					filter := newForTest(t, params)
					if got := add(filter); !slices.Equal(got, expected) {
						t.Errorf("%d %s, %d lines, %d goroutines: other keys are new", n, name, lineCount, goroutines)
					}
					if !slices.Equal(encodedForTest(t, filter), encodedForTest(t, one)) {
						t.Errorf("%d %s, %d lines, %d goroutines: another filter", n, name, lineCount, goroutines)
					}
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

func BenchmarkAddStringsIfAbsentParallel(b *testing.B) {
	keys := make([]string, 4_000_000)
	for i := range keys {
		keys[i] = "https://www.example.org/articles/page?id=" + strconv.Itoa(i/2)
	}
	for _, goroutines := range []int{1, 2} {
		b.Run(strconv.Itoa(goroutines), func(b *testing.B) {
			out := Bitmap(nil)
			for b.Loop() {
				filter, err := New(len(keys), 0.01)
				if err != nil {
					b.Fatal(err)
				}
				out = filter.AddStringsIfAbsentParallel(keys, out, goroutines)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(keys)), "ns/key")
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
