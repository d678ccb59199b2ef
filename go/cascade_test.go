package bloomline

// Cascades: exact for both sets, the golden files, and the bytes that the Rust library makes.

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// checkCascade holds a cascade to both sets, one by one and in batches, and returns its bytes.
func checkCascade(t *testing.T, f *Cascade, included, excluded []uint64) []byte {
	t.Helper()
	for _, set := range []struct {
		hashes []uint64
		want   bool
	}{{included, true}, {excluded, false}} {
		answers := f.ContainsHashes(set.hashes, nil)
		for i, hash := range set.hashes {
			if f.ContainsHash(hash) != set.want || answers.Has(i) != set.want {
				t.Fatalf("hash %#x: not %v", hash, set.want)
			}
		}
	}
	if f.IncludedCount() != uint64(len(included)) || f.ExcludedCount() != uint64(len(excluded)) {
		t.Errorf("%v of %d and %d keys", f, len(included), len(excluded))
	}
	data, err := f.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestCascadeIsExact(t *testing.T) {
	for _, size := range [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {3000, 0}, {0, 3000}, {2000, 20000}, {9000, 300}} {
		included, excluded := splitMix(size[0], 1), splitMix(size[1], 2)
		if size[0] > 1 && size[1] > 1 {
			included[0], excluded[0] = 0, 1<<64-1
		}
		for _, rate := range []float64{0, 0.001} {
			f, err := BuildCascadeHashes(included, excluded, rate, 5, 1)
			if err != nil {
				t.Fatal(err)
			}
			data := checkCascade(t, f, included, excluded)
			var again Cascade
			if err := again.UnmarshalBinary(data); err != nil || !again.Equal(f) || again.Seed() != 5 {
				t.Errorf("%v: %v", size, err)
			}
			if !bytes.Equal(checkCascade(t, f.Clone(), included, excluded), data) {
				t.Errorf("%v: the copy is another", size)
			}
			parallel, err := BuildCascadeHashes(included, excluded, rate, 5, 4)
			if err != nil || !parallel.Equal(f) {
				t.Errorf("%v: on four goroutines it is another: %v", size, err)
			}
		}
	}
}

func TestCascadeOfKeys(t *testing.T) {
	blocked, allowed := []string{"a", "b", "b"}, []string{"c", "d"}
	f, err := BuildCascadeStrings(blocked, allowed, WithSeed(9))
	if err != nil {
		t.Fatal(err)
	}
	if !f.ContainsString("a") || !f.Contains([]byte("b")) || f.ContainsString("c") || f.Seed() != 9 {
		t.Error("keys have other answers")
	}
	answers := f.ContainsStrings([]string{"a", "c", "b", "d"}, nil)
	if !answers.Has(0) || answers.Has(1) || !answers.Has(2) || answers.Has(3) {
		t.Error("a batch has other answers")
	}
	if _, err := BuildCascade([][]byte{{1}, {2}}, [][]byte{{3}, {2}}); !errors.Is(err, ErrOverlap) {
		t.Errorf("a key of both sets: %v", err)
	}
	included, excluded := splitMix(500, 3), splitMix(9000, 4)
	both := append(slices.Clone(excluded), included[17])
	if _, err := BuildCascadeHashes(included, both, 0, 0, 1); !errors.Is(err, ErrOverlap) {
		t.Errorf("a hash of both sets: %v", err)
	}
	for _, rate := range []float64{-1, 1, 1e-6} {
		if _, err := BuildCascadeHashes(included, excluded, rate, 0, 1); !errors.Is(err, noRate(rate)) {
			t.Errorf("rate %v: %v", rate, err)
		}
	}
}

func TestGoldenCascades(t *testing.T) {
	goldenKind(t, "cascade/", 10, 40, func(f *Cascade) []uint64 {
		return []uint64{f.Bytes() / lineBytes, uint64(len(f.Layers())), f.Seed(), f.IncludedCount(), f.ExcludedCount()}
	}, nil)
	for _, row := range golden(t, "cascade/vectors.txt") {
		if got := layerHash(number(t, row[0], 16), int(number(t, row[1], 10))); got != number(t, row[2], 16) {
			t.Errorf("%v: %#x", row, got)
		}
	}
}

// TestCascadeBytes holds the builder to the checksums of what the Rust library builds.
func TestCascadeBytes(t *testing.T) {
	for _, row := range golden(t, "cascade/built.txt") {
		n, m := int(number(t, row[0], 10)), int(number(t, row[1], 10))
		f, err := BuildCascadeHashes(splitMix(n, 1), splitMix(m, 2), 0, number(t, row[2], 10), 1)
		if err != nil {
			t.Fatal(err)
		}
		data, err := f.MarshalBinary()
		if err != nil || len(data) != int(number(t, row[3], 10)) || Hash(data, 0) != number(t, row[4], 16) {
			t.Errorf("%v: %d bytes of other content: %v", row, len(data), err)
		}
	}
}

// cascadeMade makes one as a history says: of rate, seed and two sets.
func cascadeMade(t *testing.T, args []string) (anyKind, error) {
	seed := number(t, args[1], 10)
	included, excluded := readHistoryKeys(t, args[2:3]).hashed(seed), readHistoryKeys(t, args[3:4]).hashed(seed)
	return BuildCascadeHashes(included, excluded, float(args[0]), seed, 1)
}

// cascadeOther answers the verbs of histories that no other kind has.
func cascadeOther(_ *testing.T, filter anyKind, words []string) string {
	f := filter.(*Cascade)
	return fmt.Sprint(map[string]uint64{"key_count": f.IncludedCount(), "layers": uint64(len(f.Layers()))}[words[0]])
}
