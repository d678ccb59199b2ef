package bench

import (
	"fmt"
	"testing"

	"github.com/bits-and-blooms/bloom/v3"
	bloomline "github.com/bloomline/bloomline/go"
	"github.com/cespare/xxhash/v2"
	pebble "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/zeebo/xxh3"
)

var sink int

// perKey reports the time of an operation on n keys as that of one, which is what is compared.
func perKey(b *testing.B, n int) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
}

// One key of 16 bytes, hashed and asked for. Loops are written out: a call through a func
// value would cost as much as some of the filters.
func BenchmarkContains(b *testing.B) {
	b.Logf("bloomline backend: %s", bloomline.Backend())
	forEach(b, func(b *testing.B, s size, l load) {
		f := filtersOf[s.name]()
		keys := l.keys(s)
		yes := 0
		b.Run("filter=bloomline", func(b *testing.B) {
			for i := range b.N {
				if f.bloomline.Contains(keys[i%asked]) {
					yes++
				}
			}
			b.StopTimer()
			b.ReportMetric(f.rates["bloomline"](), "fp-%")
		})
		b.Run("filter=blobloom+xxh3", func(b *testing.B) {
			for i := range b.N {
				if f.blobXX3.Has(xxh3.Hash(keys[i%asked])) {
					yes++
				}
			}
			b.StopTimer()
			b.ReportMetric(f.rates["blobloom+xxh3"](), "fp-%")
		})
		b.Run("filter=blobloom+xxhash", func(b *testing.B) {
			for i := range b.N {
				if f.blobXX.Has(xxhash.Sum64(keys[i%asked])) {
					yes++
				}
			}
			b.StopTimer()
			b.ReportMetric(f.rates["blobloom+xxhash"](), "fp-%")
		})
		b.Run("filter=bits-and-blooms", func(b *testing.B) {
			for i := range b.N {
				if f.bits.Test(keys[i%asked]) {
					yes++
				}
			}
			b.StopTimer()
			b.ReportMetric(f.rates["bits-and-blooms"](), "fp-%")
		})
		b.Run("filter=pebble", func(b *testing.B) {
			policy := pebble.FilterPolicy(bitsPerKey)
			for i := range b.N {
				if policy.MayContain(sstable.TableFilter, f.pebble, keys[i%asked]) {
					yes++
				}
			}
			b.StopTimer()
			b.ReportMetric(f.rates["pebble"](), "fp-%")
		})
		sink += yes
	})
}

// Hashes that are at hand: a batch in one call against the fastest peer one by one.
func BenchmarkContainsHashes(b *testing.B) {
	forEach(b, func(b *testing.B, s size, l load) {
		f := filtersOf[s.name]()
		hashes := l.hashes(s)
		for _, n := range []int{64, 256, 4096} {
			b.Run(fmt.Sprintf("n=%d/filter=bloomline", n), func(b *testing.B) {
				var out bloomline.Bitmap
				for i := range b.N {
					at := i * n % asked
					out = f.bloomline.ContainsHashes(hashes[at:at+n], out)
				}
				sink += out.Count()
				perKey(b, n)
			})
			b.Run(fmt.Sprintf("n=%d/filter=blobloom", n), func(b *testing.B) {
				yes := 0
				for i := range b.N {
					at := i * n % asked
					for _, hash := range hashes[at : at+n] {
						if f.blobXX3.Has(hash) {
							yes++
						}
					}
				}
				sink += yes
				perKey(b, n)
			})
		}
	})
}

// Keys of 16 bytes: a batch in one call against the peers one by one.
func BenchmarkContainsBatch(b *testing.B) {
	forEach(b, func(b *testing.B, s size, l load) {
		f := filtersOf[s.name]()
		keys := l.keys(s)
		policy := pebble.FilterPolicy(bitsPerKey)
		for _, n := range []int{64, 256, 4096} {
			b.Run(fmt.Sprintf("n=%d/filter=bloomline", n), func(b *testing.B) {
				var out bloomline.Bitmap
				for i := range b.N {
					at := i * n % asked
					out = f.bloomline.ContainsBatch(keys[at:at+n], out)
				}
				sink += out.Count()
				perKey(b, n)
			})
			b.Run(fmt.Sprintf("n=%d/filter=blobloom+xxh3", n), func(b *testing.B) {
				yes := 0
				for i := range b.N {
					at := i * n % asked
					for _, key := range keys[at : at+n] {
						if f.blobXX3.Has(xxh3.Hash(key)) {
							yes++
						}
					}
				}
				sink += yes
				perKey(b, n)
			})
			b.Run(fmt.Sprintf("n=%d/filter=bits-and-blooms", n), func(b *testing.B) {
				yes := 0
				for i := range b.N {
					at := i * n % asked
					for _, key := range keys[at : at+n] {
						if f.bits.Test(key) {
							yes++
						}
					}
				}
				sink += yes
				perKey(b, n)
			})
			b.Run(fmt.Sprintf("n=%d/filter=pebble", n), func(b *testing.B) {
				yes := 0
				for i := range b.N {
					at := i * n % asked
					for _, key := range keys[at : at+n] {
						if policy.MayContain(sstable.TableFilter, f.pebble, key) {
							yes++
						}
					}
				}
				sink += yes
				perKey(b, n)
			})
		}
	})
}

// A whole filter from its keys, memory included.
func BenchmarkBuild(b *testing.B) {
	for _, s := range sizes {
		const most = 1 << 22 // keys at a time, so that they fit in memory
		n := min(s.keys(), most)
		keys := keysOf(0, n)
		each := func(do func(part [][]byte)) {
			for left := s.keys(); left > 0; left -= n {
				do(keys[:min(n, left)])
			}
		}
		b.Run(fmt.Sprintf("size=%s/filter=bloomline", s.name), func(b *testing.B) {
			for range b.N {
				filter := newBloomline(s)
				each(filter.AddBatch)
			}
			perKey(b, s.keys())
		})
		b.Run(fmt.Sprintf("size=%s/filter=blobloom+xxh3", s.name), func(b *testing.B) {
			for range b.N {
				filter := newBlob(s)
				each(func(part [][]byte) {
					for _, key := range part {
						filter.Add(xxh3.Hash(key))
					}
				})
			}
			perKey(b, s.keys())
		})
		b.Run(fmt.Sprintf("size=%s/filter=bits-and-blooms", s.name), func(b *testing.B) {
			for range b.N {
				filter := bloom.New(uint(s.bytes)*8, 7)
				each(func(part [][]byte) {
					for _, key := range part {
						filter.Add(key)
					}
				})
			}
			perKey(b, s.keys())
		})
		b.Run(fmt.Sprintf("size=%s/filter=pebble", s.name), func(b *testing.B) {
			var block []byte
			for range b.N {
				writer := pebble.FilterPolicy(bitsPerKey).NewWriter(sstable.TableFilter)
				each(func(part [][]byte) {
					for _, key := range part {
						writer.AddKey(key)
					}
				})
				block = writer.Finish(block[:0])
			}
			perKey(b, s.keys())
		})
	}
}
