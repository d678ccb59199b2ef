package bloomline

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bloomline/bloomline/go/internal/avx2"
	"github.com/bloomline/bloomline/go/internal/staticline"
)

// Static filters with AVX2 against plain Go, in turn: the ratio of their times for each number of rows, of keys
// alone and in batches, absent ones and half of them present.
func BenchmarkStaticRows(b *testing.B) {
	if !avx2.Available {
		b.Skip("no AVX2")
	}
	defer func() { avx2.Available = true }()
	for _, n := range []int{100_000, 40_000_000} {
		hashes, absent := splitMix(n, 1), splitMix(1<<16, 2)
		half := slices.Clone(absent)
		for i := 0; i < len(half); i += 2 {
			half[i] = hashes[i*31%n]
		}
		for rows := staticline.MinRows; rows <= staticline.MaxRows; rows++ {
			params, err := StaticParamsForRows(n, rows)
			must(err)
			filter, err := BuildStaticWithParams(params, hashes, 1)
			must(err)
			out := make(Bitmap, len(absent)/64)
			for _, asked := range []struct {
				name   string
				hashes []uint64
			}{{"absent", absent}, {"half", half}} {
				alone := func() {
					for i, hash := range asked.hashes {
						if filter.ContainsHash(hash) {
							out[i/64] |= 1 << (i % 64)
						}
					}
				}
				batch := func() { filter.ContainsHashes(asked.hashes, out) }
				for name, probe := range map[string]func(){"alone": alone, "batch": batch} {
					b.Run(fmt.Sprintf("keys=%d/rows=%d/%s/%s", n, rows, name, asked.name), func(b *testing.B) {
						var ratios []float64
						for b.Loop() {
							avx2.Available = false
							plain := timed(probe)
							avx2.Available = true
							ratios = append(ratios, float64(timed(probe))/float64(plain))
						}
						slices.Sort(ratios)
						b.ReportMetric(ratios[len(ratios)/2], "avx2/plain")
					})
				}
			}
		}
	}
}

func timed(do func()) time.Duration {
	start := time.Now()
	do()
	return time.Since(start)
}
