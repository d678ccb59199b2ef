package bloomline

import (
	"encoding/binary"
	"fmt"
	"testing"
)

// BenchmarkKinds times a probe or an add of each kind, of absent keys, in the cache and far beyond it. The time of
// a ConcurrentFilter is to be divided by that of a Filter.
func BenchmarkKinds(b *testing.B) {
	for _, size := range []int{10_000, 10_000_000} {
		added, asked := randomHashes(size, 1), randomHashes(1<<12, 2)
		keys := make([][]byte, len(asked))
		for i, hash := range asked {
			keys[i] = binary.LittleEndian.AppendUint64(make([]byte, 8, 16), hash)
		}
		plain := orPanic(New(size, 0.01))
		plain.AddHashes(added)
		counting := orPanic(NewCounting(size, 0.01))
		counting.AddHashes(added)
		cuckoo := orPanic(NewCuckoo(size, 0.002))
		_, _ = cuckoo.AddHashes(added)
		scalable := orPanic(NewScalable(size/16, 0.01))
		scalable.AddHashes(added)
		window := orPanic(NewWindow(4, size, 0.01))
		window.AddHashes(added)
		growing := orPanic(NewGrowing(size, 0.01))
		growing.AddHashes(added)
		unbounded := orPanic(NewGrowingUnbounded(size/16, 0.01))
		unbounded.AddHashes(added)
		for _, kind := range []struct {
			name   string
			filter Prober
		}{
			{"Filter", plain}, {"View", plain.View()}, {"ConcurrentFilter", plain.Clone().Share()}, {"CountingFilter", counting},
			{"CuckooFilter", cuckoo}, {"ScalableFilter", scalable}, {"Window", window},
			{"GrowingFilter", growing}, {"GrowingFilter, unbounded", unbounded}, {"GrowingFilter's View", growing.View()},
		} {
			out := make(Bitmap, len(asked)/64)
			for name, do := range map[string]func(n int){
				"Contains": func(n int) {
					for i := range n {
						kind.filter.Contains(keys[i%len(keys)])
					}
				},
				"ContainsHash": func(n int) {
					for i := range n {
						kind.filter.ContainsHash(asked[i%len(asked)])
					}
				},
				"ContainsBatch": func(n int) {
					for at := 0; at < n; at += len(keys) {
						kind.filter.ContainsBatch(keys, out)
					}
				},
				"ContainsHashes": func(n int) {
					for at := 0; at < n; at += len(asked) {
						kind.filter.ContainsHashes(asked, out)
					}
				},
				"AddHash": func(n int) {
					if adder, ok := kind.filter.(interface{ AddHash(uint64) }); ok {
						for i := range n {
							adder.AddHash(added[i%len(added)])
						}
					}
				},
			} {
				b.Run(fmt.Sprintf("%d/%s/%s", size, kind.name, name), func(b *testing.B) { do(b.N) })
			}
		}
	}
}
