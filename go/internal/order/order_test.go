package order

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestHashes(t *testing.T) {
	descending := make([]uint64, 20_000)
	for i := range descending {
		descending[i] = uint64(len(descending) - i)
	}
	random := make([]uint64, 100_000)
	for i := range random {
		random[i] = rand.Uint64()
	}
	for name, hashes := range map[string][]uint64{
		"none": nil, "one": {7}, "two": {math.MaxUint64, 0}, "random": random,
		"equal": slices.Repeat([]uint64{42}, mostCounted+9), "descending": descending,
		"both": append(slices.Clone(random[:5000]), slices.Repeat([]uint64{5}, 3000)...),
	} {
		want := slices.Sorted(slices.Values(hashes))
		for _, goroutines := range []int{1, 2, 7} {
			out := make([]uint64, len(hashes))
			if Hashes(hashes, out, goroutines); !slices.Equal(out, want) {
				t.Errorf("%s, %d goroutines: not sorted", name, goroutines)
			}
		}
	}
}
