// Package growing has the lines of growing filters, layout 11 of docs/format/growing.md: a sorted multiset of hash
// prefixes. This file is a line: ascending values, each a bucket, in the header, and a remainder of r bits.
package growing

import (
	"encoding/binary"
	"math/bits"
)

const (
	// LineBytes is the size of a line.
	LineBytes = 64

	mostValues = 63  // of a line
	mostBits   = 54  // of a remainder
	headerAt   = 16  // the first bit of the header
	headerBits = 112 // its bits
	lowest     = -256
	highest    = 255 // bucket of the first value
)

var le = binary.LittleEndian

// Line is a line as it is encoded.
type Line [LineBytes]byte

// Found is what a line says of a value.
type Found int

// A value is absent from all lines, present in this one, or perhaps in the next.
const (
	Absent Found = iota
	Present
	Onward
)

// room is the most values of a line with remainders of r bits.
func room(r uint) int { return min(mostValues, (512-headerAt)/int(r+1)) }

// GoesOn reports whether values of this home or an earlier one may be in the next line.
func (l *Line) GoesOn() bool { return l[0]>>6&1 == 1 }

// head is the number of values and the first bucket, and the header: its first 64 bits and the rest.
func (l *Line) head(r uint) (count, base int, low, high uint64) {
	first, second := le.Uint64(l[:]), le.Uint64(l[8:])
	return min(int(first&63), room(r)), int(int64(first<<48) >> 55), first>>16 | second<<48, second >> 16
}

// remainder is that of value j.
func (l *Line) remainder(j int, r uint) uint64 {
	at := 512 - uint(j+1)*r
	word, shift := at/64, at%64
	all := le.Uint64(l[word*8:]) >> shift
	if shift+r > 64 {
		all |= le.Uint64(l[word*8+8:]) << (64 - shift)
	}
	return all & (1<<r - 1)
}

// selectBit is the number of the 1 behind so many others. There has to be one.
func selectBit(word uint64, others int) int {
	at := 0
	for half := 32; half >= 8; half /= 2 {
		if below := bits.OnesCount64(word & (1<<half - 1)); below <= others {
			word, others, at = word>>half, others-below, at+half
		}
	}
	for ; others > 0; others-- {
		word &= word - 1
	}
	return at + bits.TrailingZeros64(word)
}

// bucket is the range of a bucket's values, and how many the line has.
func (l *Line) bucket(bucket int64, r uint) (from, until, count int) {
	count, base, low, high := l.head(r)
	count = min(count, bits.OnesCount64(low)+bits.OnesCount64(high))
	behind := bucket - int64(base)
	if behind < 0 {
		return 0, 0, count
	}
	if behind > headerBits {
		return count, count, count
	}
	at := 0 // the first bit of the bucket: behind the 0 that ends the one before
	if behind > 0 {
		zeros := bits.OnesCount64(^low)
		if others := int(behind) - 1; others < zeros {
			at = selectBit(^low, others) + 1
		} else {
			at = selectBit(^high, others-zeros) + 65
		}
	}
	var rest uint64
	if at < 64 {
		rest = low>>at | high<<(64-at)
	} else {
		rest = high >> (at - 64)
	}
	from = min(at-int(behind), count)
	// At most 63 values count, and so many bits of the header are in rest.
	return from, min(from+bits.TrailingZeros64(^rest), count), count
}

// Look says where a value is. If prefixes have different lengths, mixed, shorter ones of it do as well.
func (l *Line) Look(value int64, r uint, mixed bool) Found {
	from, until, count := l.bucket(value>>r, r)
	wanted := uint64(value) & (1<<r - 1)
	for j := from; j < until; j++ {
		if covers(l.remainder(j, r), wanted, r, mixed) {
			return Present
		}
	}
	if until == count && l.GoesOn() {
		return Onward
	}
	return Absent
}

// covers reports whether a stored remainder answers for one that is asked for.
func covers(stored, wanted uint64, r uint, mixed bool) bool {
	if !mixed {
		return stored == wanted
	}
	end := r // a remainder of 0 is in no valid line, and rules nothing out
	if stored != 0 {
		end = uint(bits.TrailingZeros64(stored)) + 1
	}
	return stored>>end == wanted>>end
}

// Values are those of a line, ascending, and the number of them.
type Values struct {
	All   [mostValues]int64
	Count int
}

// Open returns what a line holds. Any bytes can be read.
func (l *Line) Open(r uint) (v Values) {
	count, base, low, high := l.head(r)
	for word, first := low, 0; ; word, first = high, 64 {
		for ; word != 0 && v.Count < count; word &= word - 1 {
			bucket := base + first + bits.TrailingZeros64(word) - v.Count
			v.All[v.Count] = int64(bucket)<<r | int64(l.remainder(v.Count, r))
			v.Count++
		}
		if first > 0 {
			return v
		}
	}
}

// below is the number of header bits before so many remainders, which can lie in the header's room.
func below(count int, r uint) uint { return 512 - uint(count)*r - headerAt }

// Last is the highest value of a valid line. It reports false if there is none.
func (l *Line) Last(r uint) (int64, bool) {
	count, base, low, high := l.head(r)
	if count == 0 {
		return 0, false
	}
	low, high = low&^from64(below(count, r), 0), high&^from64(below(count, r), 1)
	header := bits.Len64(low)
	if high != 0 {
		header = 64 + bits.Len64(high)
	}
	return int64(base+header-count)<<r | int64(l.remainder(count-1, r)), true
}

// Insert puts a value between those of a valid line. It reports false, and changes nothing, if there is no
// room or the value would be the first: then the line has to be made anew.
func (l *Line) Insert(value int64, r uint) bool {
	from, until, count := l.bucket(value>>r, r)
	_, base, low, high := l.head(r)
	behind := value>>r - int64(base)
	if count == 0 || behind < 0 || count+1 > room(r) {
		return false
	}
	remainder := uint64(value) & (1<<r - 1)
	j := from
	for j < until && l.remainder(j, r) <= remainder {
		j++
	}
	low, high = low&^from64(below(count, r), 0), high&^from64(below(count, r), 1)
	length := bits.Len64(low)
	if high != 0 {
		length = 64 + bits.Len64(high)
	}
	bit := behind + int64(j)
	header := max(int64(length), bit) + 1
	if j == 0 && behind > 0 || header > headerBits || headerAt+header+int64(count+1)*int64(r) > 512 {
		return false
	}
	if bit < 64 {
		lower := uint64(1)<<bit - 1
		low, high = low&lower|low&^lower<<1|1<<bit, high<<1|low>>63
	} else {
		lower := uint64(1)<<(bit-64) - 1
		high = high&lower | high&^lower<<1 | 1<<(bit-64)
	}
	first := le.Uint64(l[:])
	// Remainders of higher values move down by one.
	bottom, top := 512-uint(count+1)*r, 512-uint(j+1)*r
	var lanes [8]uint64
	above := uint64(0)
	for i := 7; i >= 0; i-- {
		lane := le.Uint64(l[i*8:])
		moves := from64(bottom, i) &^ from64(top, i)
		lanes[i] = lane&^moves | (lane>>r|above<<(64-r))&moves
		above = lane
	}
	at, shift := top/64, top%64
	lanes[at] = lanes[at]&^((1<<r-1)<<shift) | remainder<<shift
	if shift+r > 64 {
		lanes[at+1] = lanes[at+1]&^((1<<r-1)>>(64-shift)) | remainder>>(64-shift)
	}
	// The header ends before the remainders.
	keep := from64(bottom, 0)
	lanes[0] = lanes[0]&keep | (first&0xffff+1|low<<16)&^keep
	keep = from64(bottom, 1)
	lanes[1] = lanes[1]&keep | (low>>48|high<<16)&^keep
	for i, lane := range lanes {
		le.PutUint64(l[i*8:], lane)
	}
	return true
}

// from64 is a mask of the bits of a lane from bit number from of the line on.
func from64(from uint, lane int) uint64 {
	return ^uint64(0) << min(64, max(int(from)-64*lane, 0))
}

// Close makes a line of the first of these ascending values, as many below limit as fit, and returns how
// many it has. The bucket of the first is not below -256.
func Close(values []int64, limit int64, goesOn bool, r uint) (line Line, took int) {
	var lanes [9]uint64 // one more than there are, for the bits of none
	if goesOn {
		lanes[0] = 1 << 6
	}
	most := room(r)
	for took < len(values) && took < most && values[took] < limit {
		base := min(values[0]>>r, highest)
		behind, value := values[took]>>r-base, values[took]
		header := behind + int64(took) + 1
		if base < lowest || header > headerBits || headerAt+header+int64(took+1)*int64(r) > 512 {
			break
		}
		bit := uint(headerAt + header - 1)
		lanes[bit/64] |= 1 << (bit % 64)
		at := 512 - uint(took+1)*r
		remainder := uint64(value) & (1<<r - 1)
		lanes[at/64] |= remainder << (at % 64)
		if at%64+r > 64 {
			lanes[at/64+1] |= remainder >> (64 - at%64)
		}
		took++
	}
	if took > 0 {
		lanes[0] |= uint64(took) | uint64(min(values[0]>>r, highest)&511)<<7
	}
	for i := range LineBytes / 8 {
		le.PutUint64(line[i*8:], lanes[i])
	}
	return line, took
}
