package goleveldbfilter_test

// goleveldb's own filter and ours, with the same keys in the same run.
//
//	go test -run '^$' -bench . -count 10 | tee new.txt && benchstat -col /filter new.txt

import (
	"fmt"
	"testing"

	"github.com/bloomline/bloomline/go/goleveldbfilter"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"
)

var filters = []struct {
	name   string
	filter filter.Filter
}{
	{"builtin", filter.NewBloomFilter(10)},
	{"ours", goleveldbfilter.NewBloomFilter(10)},
}

// perFilter is how many keys a filter has: those of a block, or of the 1 << FilterBaseLg
// bytes of a table for which there is a filter.
var perFilter = []int{40, 1000}

// buildAll makes the filters of a table.
func buildAll(g filter.FilterGenerator, keys [][]byte, each int, buf *util.Buffer) {
	buf.Reset()
	for i, key := range keys {
		g.Add(key)
		if (i+1)%each == 0 || i == len(keys)-1 {
			g.Generate(buf)
		}
	}
}

// The filters of a table, from the first key to the last byte.
func BenchmarkBuild(b *testing.B) {
	for _, kind := range keyKinds {
		keys := kind.make(20_000, 1)
		for _, each := range perFilter {
			for _, f := range filters {
				b.Run(fmt.Sprintf("keys=%s/each=%d/filter=%s", kind.name, each, f.name), func(b *testing.B) {
					g := f.filter.NewGenerator()
					var buf util.Buffer
					for range b.N {
						buildAll(g, keys, each, &buf)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(keys)), "ns/key")
				})
			}
		}
	}
}

// questions are filters, and for each place a filter and a key to ask it for.
func questions(kind int, each int, absent bool) (bits [][]byte, keys [][]byte) {
	present := keyKinds[kind].make(16_000, 1)
	keys = sample(keyKinds[kind].make(16_000, 2), 16_000)
	if !absent {
		keys = present
	}
	for i := 0; i < len(present); i += each {
		block := build(filter.NewBloomFilter(10), present[i:min(i+each, len(present))])
		for range min(each, len(present)-i) {
			bits = append(bits, block)
		}
	}
	return bits, keys
}

// A question to a filter that is at hand, of keys that are absent or present.
func BenchmarkMayContain(b *testing.B) {
	for kind := range keyKinds {
		for _, each := range perFilter {
			for _, ask := range []string{"absent", "present"} {
				bits, keys := questions(kind, each, ask == "absent")
				for _, f := range filters {
					name := fmt.Sprintf("keys=%s/each=%d/ask=%s/filter=%s", keyKinds[kind].name, each, ask, f.name)
					b.Run(name, func(b *testing.B) {
						found := 0
						for i := range b.N {
							if f.filter.Contains(bits[i%len(bits)], keys[i%len(bits)]) {
								found++
							}
						}
						if ask == "absent" {
							b.ReportMetric(100*float64(found)/float64(b.N), "fp%")
						}
					})
				}
			}
		}
	}
}

// A Get that finds nothing.
func BenchmarkPointMiss(b *testing.B) {
	for _, kind := range keyKinds {
		present, absent := kind.make(400_000, 1), sample(kind.make(1<<15, 2), 1<<15)
		for _, f := range filters {
			counter := &counted{Filter: f.filter}
			db := open(b, b.TempDir(), counter)
			fill(b, db, present)
			ask(b, db, absent) // into the cache
			b.Run(fmt.Sprintf("keys=%s/filter=%s", kind.name, f.name), func(b *testing.B) {
				yes, no := counter.yes.Load(), counter.no.Load()
				for i := range b.N {
					if _, err := db.Get(absent[i%len(absent)], nil); err != leveldb.ErrNotFound {
						b.Fatal(err)
					}
				}
				yes, no = counter.yes.Load()-yes, counter.no.Load()-no
				b.ReportMetric(100*float64(yes)/float64(max(1, yes+no)), "fp%")
			})
			if err := db.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
