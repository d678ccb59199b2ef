package bloomline

// Growing filters built or filled with many hashes at once: as by single inserts, or smaller.

import (
	"bytes"
	"slices"
	"testing"
)

// Many hashes at once are built in with what is there, whatever a file says of its number of keys.
func TestGrowingAddsAtOnce(t *testing.T) {
	hashes := append(randomHashes(5000, 1), slices.Repeat(randomHashes(90, 2), 12)...)
	for _, keys := range []int{1, 20_000} {
		for _, newOne := range []func(int, float64, ...Option) (*GrowingFilter, error){NewGrowing, NewGrowingUnbounded} {
			one, atOnce := orPanic(newOne(keys, 0.01)), orPanic(newOne(keys, 0.01))
			for _, there := range []int{0, 3000} {
				one.AddHashes(randomHashes(there, 3))
				must(atOnce.UnmarshalBinary(orPanic(one.MarshalBinary())))
				atOnce.view.keyCount = 0
				view := atOnce.View()
				atOnce.AddHashes(hashes)
				if atOnce.KeyCount() != uint64(len(hashes)) {
					t.Errorf("%d keys", atOnce.KeyCount())
				}
				for _, hash := range hashes {
					one.AddHash(hash)
				}
				atOnce.view.keyCount = one.KeyCount()
				in := append(randomHashes(there, 3), hashes...)
				if view.ContainsHashes(in, nil).Count() != len(in) || !atOnce.Params().Unbounded && !atOnce.Equal(one) {
					t.Errorf("made for %d, with %d keys: another filter", keys, there)
				}
			}
		}
	}
}

// A filter that is built of hashes has the bytes of one that was united with them, or fewer, and changes as others do.
func TestGrowingBuilt(t *testing.T) {
	for _, size := range []int{0, 1, 2000, 30_000} {
		hashes := randomHashes(size, 7)
		bounded, built := orPanic(NewGrowing(20_000, 0.01, WithSeed(3))), orPanic(BuildGrowingHashes(hashes, 20_000, 0.01, WithSeed(3)))
		bounded.AddHashes(hashes)
		if !bytes.Equal(orPanic(bounded.MarshalBinary()), orPanic(built.MarshalBinary())) {
			t.Errorf("%d hashes: other bytes", size)
		}
		added := orPanic(NewGrowingUnbounded(20, 0.01, WithSeed(3)))
		added.AddHashes(hashes)
		filter := orPanic(BuildGrowingUnboundedHashes(hashes, 20, 0.01, WithSeed(3)))
		if filter.Params() != added.Params() || filter.KeyCount() != uint64(size) || filter.ContainsHashes(hashes, nil).Count() != size {
			t.Errorf("%d hashes: another filter", size)
		}
		smaller, other := len(orPanic(filter.MarshalBinary())), len(orPanic(added.MarshalBinary()))
		if smaller > other || size > 10_000 && smaller > other*9/10 {
			t.Errorf("%d hashes: %d bytes, %d if they are added", size, smaller, other)
		}
		later := randomHashes(60_000, 8)
		filter.AddHashes(later)
		if rate := filter.EstimatedRate(); rate > 0.01 || filter.ContainsHashes(append(later, hashes...), nil).Count() != len(later)+size {
			t.Errorf("%d hashes: rate %v", size, rate)
		}
		if filter.RemoveHashes(append(later, hashes...), nil).Count() != len(later)+size || filter.KeyCount() != 0 {
			t.Errorf("%d hashes: not all are removed", size)
		}
	}
}

// Unbounded filters have in common what both answer "maybe" for, and nothing else. A key of both can be removed as often
// as it is in both.
func TestGrowingIntersectsUnbounded(t *testing.T) {
	// Uniform hashes, and those of one prefix of the first length or a few.
	for _, shift := range []int{0, 12, 20} {
		for _, size := range []int{0, 1, 50, 3000} {
			for _, other := range []int{0, 50, 3000} {
				hashes := randomHashes(4*size+other, 1)
				for i := range hashes {
					hashes[i] >>= shift
				}
				all, rest := append(hashes[:2*size:2*size], hashes[:size]...), hashes[size:]
				one, two := orPanic(NewGrowingUnbounded(20, 0.05)), orPanic(NewGrowingUnbounded(20, 0.05))
				for _, hash := range all {
					one.AddHash(hash)
				}
				for _, hash := range rest {
					two.AddHash(hash)
				}
				both := one.Clone()
				must(both.Intersect(two))
				for _, hash := range append(append(randomHashes(3000, 2), hashes...), all...) {
					if both.ContainsHash(hash) != (one.ContainsHash(hash) && two.ContainsHash(hash)) {
						t.Fatalf("%d and %d, shifted by %d: wrong answer for %#x", size, other, shift, hash)
					}
				}
				for i, hash := range hashes[size : 2*size] {
					if err := both.RemoveHash(hash); err != nil {
						t.Fatalf("%d and %d: a common key is not there: %v", size, other, err)
					}
					if next := size + i + 1; next < 2*size && !both.ContainsHash(hashes[next]) {
						t.Fatalf("%d and %d: a common key was removed with another", size, other)
					}
				}
			}
		}
	}
}
