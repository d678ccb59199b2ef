package goleveldbfilter_test

// Both filters in turn, many times: the median of the rounds' ratios, which other work on the
// machine disturbs little.
//
//	go test -run '^$' -bench Ratio

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// ratio runs both in turn, each for so many keys.
func ratio(b *testing.B, name string, keys int, builtin, ours func()) {
	b.Run(name, func(b *testing.B) {
		var times [2][]float64
		var ratios []float64
		for range b.N {
			start := time.Now()
			builtin()
			middle := time.Now()
			ours()
			end := time.Now()
			times[0] = append(times[0], float64(middle.Sub(start).Nanoseconds())/float64(keys))
			times[1] = append(times[1], float64(end.Sub(middle).Nanoseconds())/float64(keys))
			ratios = append(ratios, float64(middle.Sub(start))/float64(end.Sub(middle)))
		}
		for _, list := range [][]float64{times[0], times[1], ratios} {
			slices.Sort(list)
		}
		b.ReportMetric(times[0][b.N/2], "builtin-ns/key")
		b.ReportMetric(times[1][b.N/2], "ours-ns/key")
		b.ReportMetric(ratios[b.N/2], "x-faster")
	})
}

func BenchmarkRatio(b *testing.B) {
	for kind := range keyKinds {
		name := keyKinds[kind].name
		for _, each := range perFilter {
			keys := keyKinds[kind].make(20_000, 1)
			build := func(f filter.Filter) func() {
				g := f.NewGenerator()
				var buf util.Buffer
				return func() { buildAll(g, keys, each, &buf) }
			}
			ratio(b, fmt.Sprintf("build/keys=%s/each=%d", name, each), len(keys),
				build(filters[0].filter), build(filters[1].filter))
			for _, ask := range []string{"absent", "present"} {
				bits, keys := questions(kind, each, ask == "absent")
				run := func(f filter.Filter) func() {
					return func() {
						for i, key := range keys {
							if f.Contains(bits[i], key) {
								found++
							}
						}
					}
				}
				ratio(b, fmt.Sprintf("maycontain/keys=%s/each=%d/ask=%s", name, each, ask), len(keys),
					run(filters[0].filter), run(filters[1].filter))
			}
		}
		absent := sample(keyKinds[kind].make(1<<12, 2), 1<<12)
		var runs []func()
		for _, f := range filters {
			db := open(b, b.TempDir(), f.filter)
			defer db.Close()
			fill(b, db, keyKinds[kind].make(400_000, 1))
			runs = append(runs, func() { ask(b, db, absent) })
		}
		ratio(b, "pointmiss/keys="+name, len(absent), runs[0], runs[1])
	}
}

// found keeps answers in use.
var found int
