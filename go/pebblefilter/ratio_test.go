package pebblefilter_test

// Both filters in turn, many times: the median of the rounds' ratios, which other work on the
// machine disturbs little.
//
//	go test -run '^$' -bench Ratio

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
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
	for _, kind := range keyKinds {
		for _, count := range []int{1000, 100_000, 1_000_000} {
			keys := kind.make(count, 1)
			run := func(policy pebble.FilterPolicy) func() {
				return func() {
					for range max(1, 100_000/count) {
						build(policy, keys, nil)
					}
				}
			}
			ratio(b, fmt.Sprintf("build/keys=%s/count=%d", kind.name, count), max(count, 100_000),
				run(policies[0].policy), run(policies[1].policy))
		}
		for _, count := range []int{10_000, 1_000_000} {
			present := kind.make(count, 1)
			filter := build(bloom.FilterPolicy(10), present, nil)
			for _, ask := range []struct {
				name string
				keys [][]byte
			}{
				{"absent", sample(kind.make(1<<14, 2), 1<<14)},
				{"present", sample(present, 1<<14)},
			} {
				run := func(policy pebble.FilterPolicy) func() {
					return func() {
						for _, key := range ask.keys {
							if policy.MayContain(pebble.TableFilter, filter, key) {
								found++
							}
						}
					}
				}
				ratio(b, fmt.Sprintf("maycontain/keys=%s/count=%d/ask=%s", kind.name, count, ask.name), len(ask.keys),
					run(policies[0].policy), run(policies[1].policy))
			}
		}
		absent := sample(kind.make(1<<14, 2), 1<<12)
		var runs []func()
		for _, p := range policies {
			opts := options(p.policy)
			opts.FS = vfs.NewMem()
			db := open(b, "store", opts)
			defer db.Close()
			fill(b, db, kind.make(400_000, 1))
			runs = append(runs, func() { ask(b, db, absent) })
		}
		ratio(b, "pointmiss/keys="+kind.name, len(absent), runs[0], runs[1])
	}
}

// found keeps answers in use.
var found int
