// Package pebblefilter is Pebble's Bloom filter, faster. Filters have the same name and the
// same bytes in tables, so a store can change over at any time, in both directions:
//
//	opts.Levels[i].FilterPolicy = pebblefilter.FilterPolicy(10) // was bloom.FilterPolicy(10)
//
// Tables that are there are read as before. New ones can be read, byte for byte, by Pebble's
// own package.
//
// A filter that is damaged answers "maybe", where Pebble's package may panic or hide keys. So
// does one of a kind that is not known, such as RocksDB's Ribbon; RocksDB's Bloom filters, of
// all its format versions, are read.
//
// This is for the filter interface of Pebble v2.1. The one that Pebble's main branch has, not
// yet released, splits it into TableFilterPolicy and TableFilterDecoder; the bytes stay.
package pebblefilter

import (
	"github.com/bloomline/bloomline/go/filterblock"
	"github.com/cockroachdb/pebble/v2"
)

// FilterPolicy is a pebble.FilterPolicy: a Bloom filter for each table, with so many bits per key. 10 is a
// good value: of the keys that a table does not have, one in a hundred is looked for in vain. Readers take
// every filter, whatever it was made with.
type FilterPolicy int

var _ pebble.FilterPolicy = FilterPolicy(0)

// Name returns the name that filters have in tables: Pebble's own, and RocksDB's.
func (FilterPolicy) Name() string {
	return "rocksdb.BuiltinBloomFilter"
}

// MayContain reports whether a key may be present. False means definitely absent.
func (FilterPolicy) MayContain(kind pebble.FilterType, filter, key []byte) bool {
	return kind != pebble.TableFilter || filterblock.PebbleContains(filter, key)
}

// NewWriter returns what makes the filter of a table.
func (p FilterPolicy) NewWriter(kind pebble.FilterType) pebble.FilterWriter {
	mustBeTable(kind)
	return &writer{bitsPerKey: int(p), last: none}
}

// mustBeTable panics unless a filter is one of a table, the only type there is.
func mustBeTable(kind pebble.FilterType) {
	if kind != pebble.TableFilter {
		panic("pebblefilter: unknown filter type: " + kind.String())
	}
}
