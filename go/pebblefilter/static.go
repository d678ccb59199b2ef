package pebblefilter

// Static filters: a table never changes, so its filter can be one that takes less memory.

import (
	bloomline "github.com/bloomline/bloomline/go"
	"github.com/cockroachdb/pebble/v2"
)

// StaticFilterPolicy is a pebble.FilterPolicy of this false-positive rate: a static filter for each
// table, a quarter smaller than a Bloom filter and slower to build. Rates are powers of 2, from 0.0625
// to 0.000015; you get the next lower one. 0.01 takes 7.4 bits per key, where FilterPolicy(10) takes 10.
//
// Only this policy reads these filters. A store that is opened without it finds all keys, and looks for
// absent keys in the tables. The reverse holds too: to go on using the filters of older tables, name
// their policy besides.
//
//	opts.Levels[i].FilterPolicy = pebblefilter.StaticFilterPolicy(0.01)
//	older := pebblefilter.FilterPolicy(10)
//	opts.Filters = map[string]pebble.FilterPolicy{older.Name(): older}
//
// A filter that is damaged, or that something else has written, answers "maybe".
type StaticFilterPolicy float64

var _ pebble.FilterPolicy = StaticFilterPolicy(0)

// Name returns the name that filters have in tables.
func (StaticFilterPolicy) Name() string {
	return "bloomline.StaticFilter"
}

// MayContain reports whether a key may be present. False means definitely absent.
func (StaticFilterPolicy) MayContain(kind pebble.FilterType, filter, key []byte) bool {
	// Pebble has verified its checksum of the block.
	return kind != pebble.TableFilter || bloomline.StaticBlockContains(filter, key)
}

// NewWriter returns what makes the filter of a table. It keeps 8 bytes for each key.
//
// It panics if the policy is not a rate: from 0.000016 to below 1.
func (p StaticFilterPolicy) NewWriter(kind pebble.FilterType) pebble.FilterWriter {
	mustBeTable(kind)
	builder, err := bloomline.NewStaticBuilder(float64(p))
	if err != nil {
		panic("pebblefilter: StaticFilterPolicy: " + err.Error())
	}
	return &staticWriter{builder}
}

type staticWriter struct {
	builder *bloomline.StaticBuilder
}

// AddKey adds a key, which may change afterwards. A key equal to the one before counts once.
func (w *staticWriter) AddKey(key []byte) {
	w.builder.Add(key)
}

// Finish appends the filter to buf. The writer can then be used for another table.
func (w *staticWriter) Finish(buf []byte) []byte {
	defer w.builder.Clear()
	filter, err := w.builder.Build()
	if err != nil {
		return buf // no filter: every key may be present
	}
	all, err := filter.AppendBinary(buf)
	if err != nil {
		return buf
	}
	return all
}
