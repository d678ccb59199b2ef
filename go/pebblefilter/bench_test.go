package pebblefilter_test

// Pebble's own filter and ours, with the same keys in the same run.
//
//	go test -run '^$' -bench . -count 10 | tee new.txt && benchstat -col /filter new.txt

import (
	"fmt"
	"testing"

	"github.com/bloomline/bloomline/go/pebblefilter"
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

var policies = []struct {
	name   string
	policy pebble.FilterPolicy
}{
	{"builtin", bloom.FilterPolicy(10)},
	{"ours", pebblefilter.FilterPolicy(10)},
	{"static", pebblefilter.StaticFilterPolicy(0.01)},
}

// A filter of a table, from the first key to the last byte.
func BenchmarkBuild(b *testing.B) {
	for _, kind := range keyKinds {
		for _, count := range []int{1000, 100_000, 1_000_000} {
			keys := kind.make(count, 1)
			for _, p := range policies {
				b.Run(fmt.Sprintf("keys=%s/count=%d/filter=%s", kind.name, count, p.name), func(b *testing.B) {
					for range b.N {
						build(p.policy, keys, nil)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(count), "ns/key")
				})
			}
		}
	}
}

// A question to a filter that is at hand, of keys that are absent or present.
func BenchmarkMayContain(b *testing.B) {
	for _, kind := range keyKinds {
		for _, count := range []int{10_000, 1_000_000} {
			present := kind.make(count, 1)
			for _, ask := range []struct {
				name string
				keys [][]byte
			}{
				{"absent", sample(kind.make(1<<14, 2), 1<<14)},
				{"present", sample(present, 1<<14)},
			} {
				for _, p := range policies {
					filter := build(p.policy, present, nil)
					name := fmt.Sprintf("keys=%s/count=%d/ask=%s/filter=%s", kind.name, count, ask.name, p.name)
					b.Run(name, func(b *testing.B) {
						found := 0
						for i := range b.N {
							if p.policy.MayContain(pebble.TableFilter, filter, ask.keys[i%len(ask.keys)]) {
								found++
							}
						}
						if ask.name == "absent" {
							b.ReportMetric(100*float64(found)/float64(b.N), "fp%")
						}
					})
				}
			}
		}
	}
}

// Writing keys to tables in memory, four times a flush, with all that Pebble does for them.
func BenchmarkFlush(b *testing.B) {
	for _, kind := range keyKinds {
		keys := kind.make(400_000, 1)
		for _, p := range policies {
			b.Run(fmt.Sprintf("keys=%s/filter=%s", kind.name, p.name), func(b *testing.B) {
				for range b.N {
					opts := options(p.policy)
					opts.FS = vfs.NewMem()
					db := open(b, "store", opts)
					fill(b, db, keys)
					if err := db.Close(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(keys)), "ns/key")
			})
		}
	}
}

// filterBytes is how much memory the filters of all tables take.
func filterBytes(b *testing.B, db *pebble.DB) (sum uint64) {
	levels, err := db.SSTables(pebble.WithProperties())
	if err != nil {
		b.Fatal(err)
	}
	for _, tables := range levels {
		for _, table := range tables {
			sum += table.Properties.FilterSize
		}
	}
	return sum
}

// A Get that finds nothing, of a store with four tables that may have the key.
func BenchmarkPointMiss(b *testing.B) {
	for _, kind := range keyKinds {
		present, absent := kind.make(400_000, 1), sample(kind.make(1<<16, 2), 1<<16)
		for _, p := range policies {
			opts := options(p.policy)
			opts.FS = vfs.NewMem()
			db := open(b, "store", opts)
			fill(b, db, present)
			ask(b, db, absent) // into the cache
			bits := 8 * float64(filterBytes(b, db)) / float64(len(present))
			b.Run(fmt.Sprintf("keys=%s/filter=%s", kind.name, p.name), func(b *testing.B) {
				before := db.Metrics().Filter
				for i := range b.N {
					if _, _, err := db.Get(absent[i%len(absent)]); err != pebble.ErrNotFound {
						b.Fatal(err)
					}
				}
				after := db.Metrics().Filter
				misses, hits := after.Misses-before.Misses, after.Hits-before.Hits
				b.ReportMetric(100*float64(misses)/float64(max(1, misses+hits)), "fp%")
				b.ReportMetric(bits, "bits/key")
			})
			if err := db.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
