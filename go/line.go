package bloomline

// The line, probed and set fast. Package format has its definition in a few lines, and the golden files of the
// project hold this code to it.

import (
	"encoding/binary"

	"github.com/bloomline/bloomline/go/internal/avx2"
	"github.com/bloomline/bloomline/go/internal/format"
)

var le = binary.LittleEndian

const (
	lineBytes = format.LineBytes
	lineBits  = format.LineBits
	lanes     = format.Lanes
	maxK      = format.MaxK
	c1        = format.C1
	c2        = format.C2

	// From so many lines on, 1 MiB, they are taken to be outside of the CPU's own caches.
	farFrom = (1 << 20) / lineBytes
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

// and drops the bits that another line has not.
func (l *line) and(other *line) {
	for i := range lanes {
		le.PutUint64(l[8*i:], l.lane(i)&other.lane(i))
	}
}

// lines is all that a probe needs. A hash belongs to one line, and sets k bits there, each in
// another lane while k is at most 8; or, in a classic filter, anywhere.
type lines struct {
	all     []line
	k       int        // 1 to 16
	short   int        // k if it is 3 to 8, what single probes and inserts are made for; otherwise 0
	classic bool       // the bits of a key lie anywhere: classic.go
	rows    *avx2.Rows // if AVX2 probes and sets these lines; there is at least one then
}

// linesWith returns lines of any of these shapes.
func linesWith(all []line, k int, classic bool) lines {
	l := lines{all: all, k: k, classic: classic}
	if k >= 3 && k <= lanes && !classic && len(all) > 0 {
		l.short = k
	}
	if !classic && len(all) > 0 {
		l.rows = avx2.RowsOf(k)
	}
	return l
}

// index is the number of the line of a hash: the high half of hash * number of lines.
func (l *lines) index(hash uint64) uint64 {
	return format.Index(hash, uint64(len(l.all)))
}

// at is the line of a hash.
func (l *lines) at(hash uint64) *line {
	return &l.all[l.index(hash)]
}

// first is the memory of the lines, for package avx2.
func (l *lines) first() *byte {
	return &l.all[0][0]
}

// insert sets the bits of a hash.
func (l *lines) insert(hash uint64) {
	if l.rows != nil {
		avx2.Insert(l.first(), uint64(len(l.all)), l.rows, hash)
		return
	}
	if l.short > 0 {
		setBits(l.at(hash), hash*c1, l.short)
		return
	}
	l.insertLong(hash)
}

// insertLong is insert for the other k, and for classic filters.
func (l *lines) insertLong(hash uint64) {
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

// setBits sets the first bits of a round. It is written out: a loop takes a quarter longer.
func setBits(at *line, g uint64, count int) {
	lane, positions := format.Round(g)
	at.setTwo(lane, positions, count)
	at.setTwo(lane+2, positions>>12, count-2)
	at.setTwo(lane+4, positions>>24, count-4)
	at.setTwo(lane+6, positions>>36, count-6)
}

// setTwo sets a bit of a lane, and one of the next, if there are so many to set.
func (l *line) setTwo(lane, positions uint64, count int) {
	if count > 0 {
		l.set(lane, positions)
	}
	if count > 1 {
		l.set(lane+1, positions>>6)
	}
}

// set sets a bit of a lane.
func (l *line) set(lane, position uint64) {
	word := l[lane&7*8:]
	le.PutUint64(word, le.Uint64(word)|1<<(position&63))
}

// bit is a bit of a lane, in the lowest bit of the result.
func (l *line) bit(lane, position uint64) uint64 {
	return le.Uint64(l[lane&7*8:]) >> (position & 63)
}

// missing is not 0 if a bit of a lane is not set. To set the bit and compare takes fewer
// instructions than to shift it down.
func (l *line) missing(lane, position uint64) uint64 {
	word := le.Uint64(l[lane&7*8:])
	return (word | 1<<(position&63)) ^ word
}

// contains reports whether all bits of a hash are set.
func (l *lines) contains(hash uint64) bool {
	if l.rows != nil {
		return avx2.Contains(l.first(), uint64(len(l.all)), l.rows, hash)
	}
	return l.containsInGo(hash)
}

// containsInGo is contains without assembly.
//
// Three bits are tested together: after each one a branch would be a coin toss for absent keys,
// and a wrong guess costs more than the other two. Seven in eight absent keys end there. The
// others are written out: a loop takes a sixth longer. Six bits, for 1 %, are twice three.
func (l *lines) containsInGo(hash uint64) bool {
	count := l.short
	if count == 0 {
		return l.containsLong(hash)
	}
	at := l.at(hash)
	lane, positions := format.Round(hash * c1)
	if at.missing(lane, positions)|at.missing(lane+1, positions>>6)|at.missing(lane+2, positions>>12) != 0 {
		return false
	}
	if count == 6 {
		return at.missing(lane+3, positions>>18)|at.missing(lane+4, positions>>24)|at.missing(lane+5, positions>>30) == 0
	}
	return (count < 4 || at.bit(lane+3, positions>>18)&1 != 0) &&
		(count < 5 || at.bit(lane+4, positions>>24)&1 != 0) &&
		(count < 6 || at.bit(lane+5, positions>>30)&1 != 0) &&
		(count < 7 || at.bit(lane+6, positions>>36)&1 != 0) &&
		(count < 8 || at.bit(lane+7, positions>>42)&1 != 0)
}

// containsLong is contains for the other k, for classic filters, and for no lines, which answer true.
func (l *lines) containsLong(hash uint64) bool {
	switch {
	case len(l.all) == 0:
		return true
	case l.classic:
		return l.classicContains(hash)
	}
	return l.answer(hash) != 0
}

// answer is contains as a 1 or a 0, without a branch on what is set, for batches.
func (l *lines) answer(hash uint64) uint64 {
	at := l.at(hash)
	lane, positions := format.Round(hash * c1)
	answer := allSet(at, lane, positions, min(l.k, 8))
	if l.k > 8 {
		answer &= l.second(at, hash)
	}
	return answer
}

// second is the answer of the bits above 8.
func (l *lines) second(at *line, hash uint64) uint64 {
	lane, positions := format.Round(hash * c2)
	return allSet(at, lane, positions, l.k-8)
}

// allSet is 1 if the bits at so many positions are all set, 0 if not. The steps of the loop are
// written out: they do not wait for each other, and each is few instructions.
func allSet(at *line, lane, positions uint64, count int) uint64 {
	set := ^uint64(0)
	switch count {
	case 8:
		set = at.bit(lane+7, positions>>42)
		fallthrough
	case 7:
		set &= at.bit(lane+6, positions>>36)
		fallthrough
	case 6:
		set &= at.bit(lane+5, positions>>30)
		fallthrough
	case 5:
		set &= at.bit(lane+4, positions>>24)
		fallthrough
	case 4:
		set &= at.bit(lane+3, positions>>18)
		fallthrough
	case 3:
		set &= at.bit(lane+2, positions>>12)
		fallthrough
	case 2:
		set &= at.bit(lane+1, positions>>6)
		fallthrough
	case 1:
		set &= at.bit(lane, positions)
	}
	return set & 1
}
