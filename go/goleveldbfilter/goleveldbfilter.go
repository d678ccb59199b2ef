// Package goleveldbfilter is goleveldb's Bloom filter, faster: the same name and the same
// bytes in tables, so that a store can change over at any time, in both directions.
//
//	options.Filter = goleveldbfilter.NewBloomFilter(10) // was filter.NewBloomFilter(10)
//
// Tables that are there already are read as before, and what is written can be read, byte for
// byte, by goleveldb's own package.
//
// LevelDB in C++ has the same filters under another name, "leveldb.BuiltinBloomFilter2", so
// neither it nor goleveldb looks at those of the other.
package goleveldbfilter

import (
	"github.com/bloomline/bloomline/go/filterblock"
	"github.com/syndtr/goleveldb/leveldb/filter"
)

// NewBloomFilter returns Bloom filters with so many bits per key. 10 is a good value: one in
// a hundred of the keys that a block does not have is looked for in vain. Readers take every
// filter, whatever it was made with.
func NewBloomFilter(bitsPerKey int) filter.Filter {
	return bloomFilter(bitsPerKey)
}

type bloomFilter int

// Name returns the name that filters have in tables: goleveldb's own.
func (bloomFilter) Name() string {
	return "leveldb.BuiltinBloomFilter"
}

// Contains tells whether a filter allows for the key; false is certain.
func (bloomFilter) Contains(filter, key []byte) bool {
	return filterblock.LevelDBContains(filter, key)
}

// NewGenerator returns what makes the filters of a table.
func (f bloomFilter) NewGenerator() filter.FilterGenerator {
	return &generator{bitsPerKey: float64(f)}
}

// generator keeps the hashes of the keys of a filter: their number decides its size.
type generator struct {
	bitsPerKey float64
	hashes     []uint32
}

// Add adds a key, which may change afterwards.
func (g *generator) Add(key []byte) {
	g.hashes = append(g.hashes, filterblock.LevelDBHash(key))
}

// Generate writes the filter of the keys since the last one.
func (g *generator) Generate(b filter.Buffer) {
	block := b.Alloc(filterblock.LevelDBLen(len(g.hashes), g.bitsPerKey))
	filterblock.PutLevelDB(block, g.hashes, g.bitsPerKey)
	g.hashes = g.hashes[:0]
}
