package bloomline

// The line: the whole algorithm. docs/FORMAT.md of the project defines it, and its golden
// files hold this code to it. Uses the standard library only.

import (
	"encoding/binary"
	"math/bits"
)

var le = binary.LittleEndian

const (
	lineBytes = 64
	lineBits  = 512
	lanes     = 8
	maxK      = 16

	// From so many lines on, 1 MiB, they are taken to be outside of the CPU's own caches.
	farFrom = (1 << 20) / lineBytes

	c1 = 0x9E3779B97F4A7C15 // multiplier of the first round: 2^64 / golden ratio
	c2 = 0xD6E8FEB86659FD93 // of the second, for the bits above 8
)

// line is one cache line: 8 little-endian lanes of 64 bits. Bytes, not words, so that it may
// lie anywhere, and means the same on every CPU.
type line [lineBytes]byte

func (l *line) lane(i int) uint64 {
	return le.Uint64(l[8*i:])
}

// or sets the bits that another line has.
func (l *line) or(other *line) {
	for i := range lanes {
		le.PutUint64(l[8*i:], l.lane(i)|other.lane(i))
	}
}

// lines is all that a probe needs. A hash belongs to one line, and sets k bits there, each in
// another lane while k is at most 8; or, in a classic filter, anywhere.
type lines struct {
	all     []line
	k       int  // 1 to 16
	classic bool // the bits of a key lie anywhere: classic.go
}

// index is the number of the line of a hash: the high half of hash * number of lines.
func (l *lines) index(hash uint64) uint64 {
	index, _ := bits.Mul64(hash, uint64(len(l.all)))
	return index
}

// at is the line of a hash.
func (l *lines) at(hash uint64) *line {
	return &l.all[l.index(hash)]
}

// round is where one round of a hash has its bits: the first lane, 0 to 7, and the bit
// numbers of that lane and those after it, six bits each, lowest first.
func round(g uint64) (lane, positions uint64) {
	// Lane i has its number at bit 13 + 6 i of g, and lane i counts if
	// (i + (g >> 61)) mod 8 < k: so the first that counts is -(g >> 61) mod 8.
	lane = -(g >> 61) & 7
	positions = g << 3 >> 16
	return lane, positions>>(6*lane) | positions<<(48-6*lane)
}

// insert sets the bits of a hash.
func (l *lines) insert(hash uint64) {
	if l.classic {
		l.classicInsert(hash)
		return
	}
	at := l.at(hash)
	setBits(at, hash*c1, min(l.k, 8))
	if l.k > 8 {
		setBits(at, hash*c2, l.k-8)
	}
}

func setBits(at *line, g uint64, count int) {
	lane, positions := round(g)
	for ; count > 0; count-- {
		word := at[lane&7*8:]
		le.PutUint64(word, le.Uint64(word)|1<<(positions&63))
		lane, positions = lane+1, positions>>6
	}
}

// mask is the bits that a hash sets in its line, by lanes.
func (l *lines) mask(hash uint64) (mask [lanes]uint64) {
	set := func(g uint64, count int) {
		lane, positions := round(g)
		for ; count > 0; count-- {
			mask[lane&7] |= 1 << (positions & 63)
			lane, positions = lane+1, positions>>6
		}
	}
	set(hash*c1, min(l.k, 8))
	if l.k > 8 {
		set(hash*c2, l.k-8)
	}
	return mask
}

// contains tells whether all bits of a hash are set.
//
// In the CPU's own caches the bits are tested without a branch: after each one it would be a
// coin toss, and a wrong guess costs more than the other bits. Where lines come from further
// away, a key should take few instructions, so that the CPU has many keys in flight: of those
// that are not in, which filters are asked for most, seven in eight are out after three bits.
func (l *lines) contains(hash uint64) bool {
	if l.classic {
		return l.classicContains(hash)
	}
	at, count := l.at(hash), min(l.k, 8)
	lane, positions := round(hash * c1)
	if count > 3 && len(l.all) >= farFrom {
		set := le.Uint64(at[lane&7*8:]) >> (positions & 63)
		set &= le.Uint64(at[(lane+1)&7*8:]) >> (positions >> 6 & 63)
		set &= le.Uint64(at[(lane+2)&7*8:]) >> (positions >> 12 & 63)
		if set&1 == 0 {
			return false
		}
	}
	set := allSet(at, lane, positions, count)
	if l.k > 8 {
		set &= l.second(at, hash)
	}
	return set != 0
}

// answer is contains as a 1 or a 0, without a branch on what is set, for batches.
func (l *lines) answer(hash uint64) uint64 {
	at := l.at(hash)
	lane, positions := round(hash * c1)
	answer := allSet(at, lane, positions, min(l.k, 8))
	if l.k > 8 {
		answer &= l.second(at, hash)
	}
	return answer
}

// second is the answer of the bits above 8.
func (l *lines) second(at *line, hash uint64) uint64 {
	lane, positions := round(hash * c2)
	return allSet(at, lane, positions, l.k-8)
}

// allSet is 1 if the bits at so many positions are all set, 0 if not. The steps of the loop are
// written out: they do not wait for each other, and each is few instructions.
func allSet(at *line, lane, positions uint64, count int) uint64 {
	set := ^uint64(0)
	switch count {
	case 8:
		set = le.Uint64(at[(lane+7)&7*8:]) >> (positions >> 42 & 63)
		fallthrough
	case 7:
		set &= le.Uint64(at[(lane+6)&7*8:]) >> (positions >> 36 & 63)
		fallthrough
	case 6:
		set &= le.Uint64(at[(lane+5)&7*8:]) >> (positions >> 30 & 63)
		fallthrough
	case 5:
		set &= le.Uint64(at[(lane+4)&7*8:]) >> (positions >> 24 & 63)
		fallthrough
	case 4:
		set &= le.Uint64(at[(lane+3)&7*8:]) >> (positions >> 18 & 63)
		fallthrough
	case 3:
		set &= le.Uint64(at[(lane+2)&7*8:]) >> (positions >> 12 & 63)
		fallthrough
	case 2:
		set &= le.Uint64(at[(lane+1)&7*8:]) >> (positions >> 6 & 63)
		fallthrough
	case 1:
		set &= le.Uint64(at[lane&7*8:]) >> (positions & 63)
	}
	return set & 1
}
