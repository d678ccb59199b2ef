package bench

// The filters that are measured, each with as many bytes for as many keys, and what they are
// asked: keys of 16 bytes.

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/bits-and-blooms/bloom/v3"
	bloomline "github.com/bloomline/bloomline/go"
	"github.com/cespare/xxhash/v2"
	pebble "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/greatroar/blobloom"
	"github.com/zeebo/xxh3"
)

const (
	bitsPerKey = 10
	keyBytes   = 16
	// More than a branch predictor can learn by heart.
	asked = 1 << 18
)

// size is a filter's size, by name.
type size struct {
	name  string
	bytes int
}

var sizes = []size{{"12KB", 12 << 10}, {"1.2MB", 1200 << 10}, {"120MB", 120_000 << 10}}

func (s size) keys() int { return s.bytes * 8 / bitsPerKey }

// keyNumber makes key i of 2^64.
func keyNumber(i uint64, key []byte) {
	binary.LittleEndian.PutUint64(key, i*0x9E3779B97F4A7C15)
	binary.LittleEndian.PutUint64(key[8:], i)
}

// keysOf makes n keys that lie behind each other in memory, those numbered first and after.
func keysOf(first uint64, n int) [][]byte {
	room := make([]byte, n*keyBytes)
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = room[i*keyBytes : (i+1)*keyBytes : (i+1)*keyBytes]
		keyNumber(first+uint64(i), keys[i])
	}
	return keys
}

// load is what is asked: keys that are not in, or half of each, in random order.
type load struct {
	name string
	half bool
}

var loads = []load{{"miss", false}, {"half", true}}

func (l load) keys(s size) [][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	keys := keysOf(1<<40, asked)
	if l.half {
		for i := range keys {
			if random.IntN(2) == 0 {
				keyNumber(random.Uint64N(uint64(s.keys())), keys[i])
			}
		}
	}
	return keys
}

func (l load) hashes(s size) []uint64 {
	keys := l.keys(s)
	hashes := make([]uint64, len(keys))
	for i, key := range keys {
		hashes[i] = xxh3.Hash(key)
	}
	return hashes
}

// built has the filters of one size, built once.
type built struct {
	bloomline *bloomline.Filter
	blobXX3   *blobloom.Filter // with XXH3, as Bloomline
	blobXX    *blobloom.Filter // with XXH64, as its documentation has it
	bits      *bloom.BloomFilter
	pebble    []byte
	// The false-positive rates, by the names of the benchmarks.
	rates map[string]func() float64
}

var filtersOf = func() map[string]func() *built {
	all := map[string]func() *built{}
	for _, s := range sizes {
		all[s.name] = sync.OnceValue(func() *built { return buildAll(s) })
	}
	return all
}()

func newBlob(s size) *blobloom.Filter {
	config := blobloom.Config{Capacity: uint64(s.keys()), FPRate: 1e-3, MaxBits: uint64(s.bytes) * 8}
	_, hashes := blobloom.Optimize(config)
	return blobloom.New(uint64(s.bytes)*8, hashes)
}

func newBloomline(s size) *bloomline.Filter {
	params, err := bloomline.ParamsForBits(s.keys(), bitsPerKey)
	if err != nil {
		panic(err)
	}
	filter, err := bloomline.NewWithParams(params)
	if err != nil {
		panic(err)
	}
	return filter
}

func buildAll(s size) *built {
	b := &built{
		bloomline: newBloomline(s),
		blobXX3:   newBlob(s),
		blobXX:    newBlob(s),
		bits:      bloom.New(uint(s.bytes)*8, 7),
	}
	writer := pebble.FilterPolicy(bitsPerKey).NewWriter(sstable.TableFilter)
	key := make([]byte, keyBytes)
	for i := range uint64(s.keys()) {
		keyNumber(i, key)
		hash := xxh3.Hash(key)
		b.bloomline.AddHash(hash)
		b.blobXX3.Add(hash)
		b.blobXX.Add(xxhash.Sum64(key))
		b.bits.Add(key)
		writer.AddKey(key)
	}
	b.pebble = writer.Finish(nil)
	policy := pebble.FilterPolicy(bitsPerKey)
	b.rates = map[string]func() float64{
		"bloomline":       rateOf(b.bloomline.Contains),
		"blobloom+xxh3":   rateOf(func(key []byte) bool { return b.blobXX3.Has(xxh3.Hash(key)) }),
		"blobloom+xxhash": rateOf(func(key []byte) bool { return b.blobXX.Has(xxhash.Sum64(key)) }),
		"bits-and-blooms": rateOf(b.bits.Test),
		"pebble": rateOf(func(key []byte) bool {
			return policy.MayContain(sstable.TableFilter, b.pebble, key)
		}),
	}
	return b
}

var notIn = sync.OnceValue(func() [][]byte { return keysOf(1<<50, 1_000_000) })

// rateOf measures the false-positive rate, in per cent, once: a benchmark is run several times.
func rateOf(contains func([]byte) bool) func() float64 {
	return sync.OnceValue(func() float64 {
		yes := 0
		for _, key := range notIn() {
			if contains(key) {
				yes++
			}
		}
		return float64(yes) / float64(len(notIn())) * 100
	})
}

// forEach runs a benchmark for each size and load.
func forEach(b *testing.B, run func(b *testing.B, s size, l load)) {
	for _, s := range sizes {
		for _, l := range loads {
			b.Run(fmt.Sprintf("size=%s/load=%s", s.name, l.name), func(b *testing.B) { run(b, s, l) })
		}
	}
}
