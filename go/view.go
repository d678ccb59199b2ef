package bloomline

import (
	"fmt"
	"iter"
	"runtime"

	"github.com/bloomline/bloomline/go/internal/engine"
	"github.com/bloomline/bloomline/go/internal/growing"
	"github.com/bloomline/bloomline/go/internal/host"
)

// View is a filter in bytes that belong to the caller: a block of a file, a mapped file, a
// message. It copies nothing and allocates nothing, but for a table of a growing filter, and is made to be
// passed by value. The bytes must not change while it is used.
//
// The zero View returns true for every key: a filter that is not there must not hide one.
type View struct {
	noText
	lines                // of a Bloomline filter; for any other there are none
	cuckoo   cuckooLines // of a cuckoo filter
	static   staticLines // of a static filter
	column   columnLines // of a column of a matrix
	growing  *growing.Filter
	whole    any          // a filter that is made of others: whole.go
	block    engine.Block // of another engine; the zero Block answers true
	encoded  []byte       // that block, as the engine wrote it, or the encoded static filter
	seed     uint64
	keyCount uint64
	owner    *host.Mapping // keeps mapped bytes mapped
}

// OpenView opens the filter that data is: exactly what [Filter.MarshalBinary], [Filter.Save]
// or the C library wrote. It checks all of it, checksums included, and so reads it from end to
// end. Of a [CountingFilter] it is the plain filter of its keys; a [CuckooFilter], and a filter
// of [NewClassic], is probed as what it is. So are a [StaticFilter] and a [GrowingFilter].
//
// Errors: [ErrTruncated], [ErrNotAFilter], [ErrVersion], [ErrLayout], [ErrChecksum],
// [ErrReserved], [ErrK], [ErrLineCount], [ErrRate]. The View is then the zero View.
func OpenView(data []byte) (View, error) {
	return openView(data, true)
}

// OpenViewUnverified is [OpenView] without the checksum of the lines: it looks at the last 64
// bytes only, for bytes that have been verified before. To open and probe takes several times as
// long as to probe, so keep a View where you can. Whatever the bytes are, probing stays within
// them. But if the lines were damaged, it may say no to a key that was added.
func OpenViewUnverified(data []byte) (View, error) {
	return openView(data, false)
}

// Contains reports whether a key may be present. False means definitely absent.
func (v View) Contains(key []byte) bool {
	return v.probe(v.hash(key))
}

// ContainsString is [View.Contains] for a string.
func (v View) ContainsString(key string) bool {
	return v.probe(v.hash(bytesOfKey(key)))
}

// ContainsUint64 is [View.Contains] for an integer: the key of its 8 bytes, the lowest first.
func (v View) ContainsUint64(key uint64) bool {
	return v.probe(v.hashUint64(key))
}

// ContainsHash reports whether the key of a hash, made by [View.Hash], may be present.
func (v View) ContainsHash(hash uint64) bool {
	return v.probe(hash)
}

// Prefetch is [Filter.Prefetch]. For a filter of another engine it does nothing.
func (v View) Prefetch(hash uint64) {
	v.prefetch(hash)
	runtime.KeepAlive(v.owner)
}

// probe is ContainsHash without a copy of the View, as all methods of its pointer are.
func (v *View) probe(hash uint64) bool {
	var in bool
	switch {
	case len(v.all) != 0:
		in = v.lines.contains(hash)
	case len(v.cuckoo.all) != 0:
		in = v.cuckoo.contains(hash)
	case v.static.rowShape != nil:
		in = v.static.contains(v.encoded, hash)
	case v.column.isThere():
		in = v.column.contains(hash)
	case v.growing != nil:
		in = v.growing.Contains(hash)
	case v.whole != nil:
		in = v.probeWhole(hash)
	default:
		in = v.block.Contains(hash)
	}
	runtime.KeepAlive(v.owner)
	return in
}

func containsHashes(v *View, hashes []uint64, out Bitmap) Bitmap {
	if n := len(hashes); 0 < n && n < few && v.short != 0 && cap(out) > 0 {
		out = out[:1]
		out[0] = v.lines.answerWord(hashes)
		runtime.KeepAlive(v.owner)
		return out
	}
	out = out.sized(len(hashes))
	v.answerAny(hashes, out)
	runtime.KeepAlive(v.owner)
	return out
}

// Hash returns the hash of a key as the format of this filter makes it: XXH3-64 with the
// filter's seed, or that of the engine whose block it is.
func (v View) Hash(key []byte) uint64 {
	return v.hash(key)
}

func (v *View) hash(key []byte) uint64 {
	if v.isBlock() {
		return v.block.Hash(key)
	}
	return Hash(key, v.seed)
}

func (v *View) hashUint64(key uint64) uint64 {
	var bytes [8]byte
	le.PutUint64(bytes[:], key)
	return v.hash(bytes[:])
}

// denies reports whether the filter answers false to some keys, so that their hash matters.
func (v *View) denies() bool {
	layout := v.block.Layout()
	return !v.isBlock() || layout != engine.Maybe && layout != engine.Nothing
}

// viewHash is how a filter hashes keys.
type viewHash struct {
	isBlock bool   // another engine's
	number  uint64 // the seed, or which of the engines' hashes
}

func (v *View) hashedBy() viewHash {
	if v.isBlock() {
		return viewHash{true, v.block.HashNumber()}
	}
	return viewHash{false, v.seed}
}

// hashesAs reports whether two filters make the same hash of each key.
func (v *View) hashesAs(other *View) bool { return v.hashedBy() == other.hashedBy() }

// isBlock reports whether the filter is another engine's.
func (v *View) isBlock() bool {
	return len(v.all)|len(v.cuckoo.all)|len(v.column.groups) == 0 && v.static.rowShape == nil && v.growing == nil && v.whole == nil
}

// Params returns the shape of the filter; false if it has none: a cuckoo, static or growing filter, one
// that is made of others, or one of another engine.
func (v View) Params() (Params, bool) {
	if len(v.all) == 0 && !v.column.isThere() {
		return Params{}, false
	}
	return v.shape(), true
}

// shape is that of the lines, whatever they mean.
func (v *View) shape() Params {
	if v.column.isThere() {
		return v.column.params(v.seed)
	}
	return Params{LineCount: uint64(len(v.all)), K: v.k, Classic: v.classic, Seed: v.seed}
}

// CuckooParams returns the shape of a cuckoo filter; false if it is none.
func (v View) CuckooParams() (CuckooParams, bool) {
	if len(v.cuckoo.all) == 0 {
		return CuckooParams{}, false
	}
	return CuckooParams{uint64(len(v.cuckoo.all)), int(v.cuckoo.bits), v.seed}, true
}

// StaticParams returns the shape of a static filter; false if it is none.
func (v View) StaticParams() (StaticParams, bool) {
	if v.static.rowShape == nil {
		return StaticParams{}, false
	}
	return StaticParams{v.static.count, v.static.Count, v.seed}, true
}

// GrowingParams returns what a growing filter was made with; false if it is none.
func (v View) GrowingParams() (GrowingParams, bool) {
	if v.growing == nil {
		return GrowingParams{}, false
	}
	s := v.growing.Shape()
	return GrowingParams{s.Keys, s.Prefixes, s.Rate, s.Lengths > 0, v.seed}, true
}

// Prefixes yields what [GrowingFilter.Prefixes] does, of a growing filter; of any other it yields nothing. Where lines were
// not verified and are damaged, it can yield anything.
func (v View) Prefixes() iter.Seq2[uint64, uint64] {
	return func(yield func(prefix, count uint64) bool) {
		if v.growing == nil {
			return
		}
		for prefix, count := range v.growing.Runs() {
			if !yield(prefix, count) {
				break
			}
		}
		runtime.KeepAlive(v.owner)
	}
}

// String describes the filter in a line, whose bytes fmt would print otherwise.
func (v View) String() string {
	switch {
	case len(v.cuckoo.all) != 0:
		return fmt.Sprintf("bloomline.View{%d keys, %d lines, %d bits}", v.keyCount, len(v.cuckoo.all), v.cuckoo.bits)
	case len(v.all) != 0:
		return fmt.Sprintf("bloomline.View{%d keys, %d lines, k %d}", v.keyCount, len(v.all), v.k)
	case v.static.rowShape != nil:
		return fmt.Sprintf("bloomline.View{%d keys, %d lines, %d rows}", v.keyCount, v.static.count, v.static.Count)
	case v.column.isThere():
		return fmt.Sprintf("bloomline.View{column %d, %d lines, k %d}", v.column.column, v.column.count, v.column.k)
	case v.growing != nil:
		return fmt.Sprintf("bloomline.View{%d keys, growing}", v.keyCount)
	case v.whole != nil:
		return fmt.Sprintf("bloomline.View{%v}", v.whole)
	default:
		return fmt.Sprintf("bloomline.View{block of %d bytes}", len(v.encoded))
	}
}
