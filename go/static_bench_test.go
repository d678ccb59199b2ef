package bloomline

import (
	"fmt"
	"testing"
)

// A static filter beside a Filter of the same rate, or the same bits per key: build, and probe.
func BenchmarkStatic(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		hashes, absent := splitMix(n, 1), splitMix(1<<16, 2)
		mixed := make([]uint64, len(absent))
		for i := range mixed {
			mixed[i] = absent[i]
			if i%2 == 0 {
				mixed[i] = hashes[i*31%n]
			}
		}
		type filter struct {
			Prober
			build func()
		}
		filters := map[string]filter{}
		for _, rate := range []float64{0.01, 0.004, 0.0001} {
			plain, err := New(n, rate)
			must(err)
			plain.AddHashes(hashes)
			params, err := StaticParamsForRate(n, rate)
			must(err)
			static, err := BuildStaticWithParams(params, hashes, 1)
			must(err)
			filters[fmt.Sprint("plain,", rate)] = filter{plain, func() {
				plain, _ := New(n, rate)
				plain.AddHashes(hashes)
			}}
			filters[fmt.Sprint("static,", rate)] = filter{static, func() { _, _ = BuildStaticWithParams(params, hashes, 1) }}
		}
		for _, rate := range []float64{0.01, 0.004, 0.0001} {
			for _, kind := range []string{"plain", "static"} {
				f := filters[fmt.Sprintf("%s,%v", kind, rate)]
				run := func(what string, keys int, do func()) {
					b.Run(fmt.Sprintf("%s/keys=%d/rate=%v/%s", what, n, rate, kind), func(b *testing.B) {
						for b.Loop() {
							do()
						}
						b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(keys), "ns/key")
					})
				}
				run("build", n, f.build)
				for name, asked := range map[string][]uint64{"absent": absent, "half": mixed} {
					run("single-"+name, len(asked), func() {
						count := 0
						for _, hash := range asked {
							if f.ContainsHash(hash) {
								count++
							}
						}
					})
					out := make(Bitmap, len(asked)/64)
					run("batch-"+name, len(asked), func() { f.ContainsHashes(asked, out) })
				}
			}
		}
	}
}
