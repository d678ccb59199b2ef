package bloomline

// Exact answers for two sets of keys: static filters of each other's false positives. docs/format/static-cascade.md of
// the project defines them, and its golden files hold this code to it.

import (
	"math/bits"
	"slices"

	"github.com/bloomline/bloomline/go/internal/staticline"
)

const (
	// Every second layer has a sixteenth of the keys of the one before: chance does not lead to so many.
	maxLayers = 32
	// The rows of a layer behind the first.
	laterRows = staticline.MinRows
)

// Cascade tells the keys of an included set from those of an excluded set, without an error, in a
// fraction of the memory of either. Both are given at once and no longer change.
//
// Contains returns true for each included key and false for each excluded one. For a key of neither set it
// returns true at [Cascade.UnknownRate].
//
// It is a series of static filters, its layers. The first holds the included keys, the second the excluded
// keys that the first passes. The third holds the included keys that the second passes, and so on. With ten
// excluded keys for each included one it takes 7.0 bits per included key, with a hundred 10.5.
//
// Build it by [BuildCascade], [BuildCascadeStrings] or [BuildCascadeHashes]. Any number of goroutines
// may read it at once.
//
// The zero Cascade is a place to unmarshal into. It returns true for every key.
//
// A copy of the struct would share its memory, and go vet reports one: use [Cascade.Clone]. A nil Cascade
// answers as the zero one does.
type Cascade struct {
	_ noCopy
	cascadeData
}

type cascadeData struct {
	layers []cascadeLayer
	seed   uint64
}

type cascadeLayer struct {
	staticLines
	lines    []byte // of all levels
	keyCount uint64
	tested   uint64 // how many keys of the other set it was tested with
}

// layerHash is the hash of a key in a layer: different hashes stay different, and which keys a layer passes
// says nothing about the layers behind it.
func layerHash(hash uint64, layer int) uint64 {
	if layer == 0 {
		return hash
	}
	z := hash + uint64(layer)*c1
	y := (z ^ z>>30) * 0xBF58476D1CE4E5B9
	x := (y ^ y>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// includedBy is the answer for a key that this layer is the first not to pass, or, with the number of
// layers, for one that all pass.
func includedBy(layer int) bool {
	return layer%2 == 1
}

// ---- asking ----

// ContainsHash is [Cascade.Contains] for the hash of a key.
func (f *Cascade) ContainsHash(hash uint64) bool {
	if f == nil || len(f.layers) == 0 {
		return true
	}
	for i := range f.layers {
		layer := &f.layers[i]
		if !layer.contains(layer.lines, layerHash(hash, i)) {
			return includedBy(i)
		}
	}
	return includedBy(len(f.layers))
}

func (f *Cascade) prefetch(hash uint64) {
	if len(f.layers) > 0 {
		f.layers[0].prefetch(f.layers[0].lines, hash)
	}
}

// answer answers hashes, a bit each. out is zero.
func (f *Cascade) answer(hashes []uint64, out []uint64) {
	for at := 0; at < len(hashes); at += hashedAhead {
		f.answerPart(hashes[at:min(at+hashedAhead, len(hashes))], out[at/64:])
	}
}

// answerPart answers at most hashedAhead hashes. Those that a layer passes are gathered, and are a batch of
// their own for the next.
func (f *Cascade) answerPart(hashes []uint64, out []uint64) {
	var left [hashedAhead]uint16 // the places of those that all layers so far pass
	var mapped [hashedAhead]uint64
	for i := range hashes {
		left[i] = uint16(i)
	}
	n := len(hashes)
	set := func(place uint16) { out[place/64] |= 1 << (place % 64) }
	for i := 0; i < len(f.layers) && n > 0; i++ {
		for j, place := range left[:n] {
			mapped[j] = layerHash(hashes[place], i)
		}
		var passed [hashedAhead / 64]uint64
		layer, passing := &f.layers[i], 0
		layer.answer(layer.lines, mapped[:n], passed[:])
		for j, place := range left[:n] {
			if passed[j/64]>>(j%64)&1 == 1 {
				left[passing] = place
				passing++
			} else if includedBy(i) {
				set(place)
			}
		}
		n = passing
	}
	if includedBy(len(f.layers)) || len(f.layers) == 0 {
		for _, place := range left[:n] {
			set(place)
		}
	}
}

// ---- what it is ----

// Seed returns the seed of the hash of keys.
func (f *Cascade) Seed() uint64 {
	return orZero(f).seed
}

// IncludedCount returns how many included keys it was built of, repeated ones counted.
func (f *Cascade) IncludedCount() uint64 {
	if f == nil || len(f.layers) == 0 {
		return 0
	}
	return f.layers[0].keyCount
}

// ExcludedCount returns how many excluded keys it was built of, repeated ones counted.
func (f *Cascade) ExcludedCount() uint64 {
	if f == nil || len(f.layers) == 0 {
		return 0
	}
	return f.layers[0].tested
}

// Layers returns the shape of each layer, the first first. The zero Cascade has none.
func (f *Cascade) Layers() []StaticParams {
	f = orZero(f)
	layers := make([]StaticParams, len(f.layers))
	for i := range f.layers {
		layers[i] = StaticParams{f.layers[i].count, f.layers[i].Count, f.seed}
	}
	return layers
}

// Bytes returns the size of the lines of all layers in bytes. An encoded cascade has 64 bytes more for each
// layer, and 64 for all.
func (f *Cascade) Bytes() uint64 {
	size, f := uint64(0), orZero(f)
	for i := range f.layers {
		size += uint64(len(f.layers[i].lines))
	}
	return size
}

// UnknownRate returns how often a key of neither set is reported as included, 0 to 1, to expect. That of
// the zero Cascade is 1.
func (f *Cascade) UnknownRate() float64 {
	f = orZero(f)
	answer := func(layer int) float64 {
		if includedBy(layer) || len(f.layers) == 0 {
			return 1
		}
		return 0
	}
	rate := answer(len(f.layers))
	for i := len(f.layers) - 1; i >= 0; i-- {
		passes := staticRate(f.layers[i].Count)
		rate = float64(passes*rate) + float64((1-passes)*answer(i))
	}
	return rate
}

// firstRows is the rows of the first layer that make all layers together the smallest: a row more takes
// 1.06 bits for each included key, and saves 4.5 for each excluded one that it no longer passes.
func firstRows(included, excluded uint64) int {
	if included == 0 {
		return staticline.MinRows
	}
	for rows := staticline.MinRows; rows < staticline.MaxRows; rows++ {
		needHigh, need := bits.Mul64(excluded, 17)
		haveHigh, have := bits.Mul64(included, 8<<rows)
		if needHigh < haveHigh || needHigh == haveHigh && need <= have {
			return rows
		}
	}
	return staticline.MaxRows
}

func (f cascadeData) cloned() cascadeData {
	f.layers = slices.Clone(f.layers)
	for i := range f.layers {
		f.layers[i].lines = bytesOf(cloneLines(linesOf(f.layers[i].lines)))
	}
	return f
}
