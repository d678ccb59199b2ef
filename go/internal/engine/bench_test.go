package engine

// Probes of absent keys and builds, by size. Hashes are given: see BenchmarkHash for theirs.

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

var sink int

func BenchmarkContains(b *testing.B) {
	for _, keys := range []int{10_000, 1_000_000, 50_000_000} {
		added, absent := randomHashes(keys, 1), randomHashes(1<<16, 2)
		for _, test := range []struct {
			name string
			data []byte
		}{
			{"fastlocal", AppendFastLocal(make([]byte, 1), added, 10)[1:]},
			{"legacy", AppendLegacy(make([]byte, 1), added, 10)[1:]},
		} {
			block, _ := OpenRocksDB(test.data)
			b.Run(fmt.Sprintf("%s/keys=%d", test.name, keys), func(b *testing.B) {
				found := 0
				for i := range b.N {
					if block.Contains(absent[i%len(absent)]) {
						found++
					}
				}
				b.ReportMetric(100*float64(found)/float64(b.N), "fp%")
			})
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, keys := range []int{1000, 100_000, 1_000_000, 10_000_000} {
		hashes := randomHashes(keys, 1)
		for _, test := range []struct {
			name string
			run  func(dst []byte) []byte
		}{
			{"fastlocal", func(dst []byte) []byte { return AppendFastLocal(dst, hashes, 10) }},
			{"legacy", func(dst []byte) []byte { return AppendLegacy(dst, hashes, 10) }},
		} {
			b.Run(fmt.Sprintf("%s/keys=%d", test.name, keys), func(b *testing.B) {
				var block []byte
				for range b.N {
					block = test.run(block[:0])
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(keys), "ns/key")
			})
		}
	}
}

func BenchmarkHash(b *testing.B) {
	for _, n := range []int{4, 8, 16, 24, 100, 1000} {
		keys := make([][]byte, 1024)
		random := rand.NewChaCha8([32]byte{1})
		for i := range keys {
			keys[i] = make([]byte, n)
			_, _ = random.Read(keys[i])
		}
		b.Run(fmt.Sprintf("xxph3/bytes=%d", n), func(b *testing.B) {
			for i := range b.N {
				sink += int(XXPH3(keys[i%1024]))
			}
		})
		b.Run(fmt.Sprintf("legacy/bytes=%d", n), func(b *testing.B) {
			for i := range b.N {
				sink += int(RocksDBLegacyHash(keys[i%1024]))
			}
		})
	}
}
