package bench

// Single probes and adds beside blobloom with the same hash, as a ratio: short rounds of both
// take turns, so that whatever else the machine does slows both down.

import (
	"slices"
	"testing"
	"time"

	"github.com/zeebo/xxh3"
)

// BenchmarkRatio reports the median time of blobloom divided by that of Bloomline: above 1,
// Bloomline is faster. Both hash with XXH3. Run it with -benchtime=1x.
func BenchmarkRatio(b *testing.B) {
	forEach(b, func(b *testing.B, s size, l load) {
		f := filtersOf[s.name]()
		keys, hashes := l.keys(s), l.hashes(s)
		ratio(b, "op=Contains", func(at, n int) {
			for _, key := range keys[at : at+n] {
				if f.bloomline.Contains(key) {
					sink++
				}
			}
		}, func(at, n int) {
			for _, key := range keys[at : at+n] {
				if f.blobXX3.Has(xxh3.Hash(key)) {
					sink++
				}
			}
		})
		ratio(b, "op=ContainsHash", func(at, n int) {
			for _, hash := range hashes[at : at+n] {
				if f.bloomline.ContainsHash(hash) {
					sink++
				}
			}
		}, func(at, n int) {
			for _, hash := range hashes[at : at+n] {
				if f.blobXX3.Has(hash) {
					sink++
				}
			}
		})
		ours, theirs := newBloomline(s), newBlob(s)
		ratio(b, "op=Add", func(at, n int) {
			for _, key := range keys[at : at+n] {
				ours.Add(key)
			}
		}, func(at, n int) {
			for _, key := range keys[at : at+n] {
				theirs.Add(xxh3.Hash(key))
			}
		})
		ratio(b, "op=AddHash", func(at, n int) {
			for _, hash := range hashes[at : at+n] {
				ours.AddHash(hash)
			}
		}, func(at, n int) {
			for _, hash := range hashes[at : at+n] {
				theirs.Add(hash)
			}
		})
	})
}

// ratio times ours and theirs in turn, on the same items.
func ratio(b *testing.B, name string, ours, theirs func(at, n int)) {
	b.Run(name, func(b *testing.B) {
		const n, rounds = 1 << 12, 256
		var times [2][]float64
		for range b.N {
			for round := range rounds {
				at := round * n % asked
				for turn := range 2 {
					which := (turn + round) % 2
					start := time.Now()
					if which == 0 {
						ours(at, n)
					} else {
						theirs(at, n)
					}
					times[which] = append(times[which], float64(time.Since(start).Nanoseconds())/n)
				}
			}
		}
		slices.Sort(times[0])
		slices.Sort(times[1])
		mine, other := times[0][len(times[0])/2], times[1][len(times[1])/2]
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(mine, "ns/key")
		b.ReportMetric(other/mine, "ratio")
	})
}
