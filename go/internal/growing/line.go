// Package growing has the lines of growing filters, layout 11 of docs/FORMAT.md: a sorted multiset of hash
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
	count, bucket, low, high := l.head(r)
	for at := 0; at < headerBits && v.Count < count; at++ {
		word := low >> (at % 64)
		if at >= 64 {
			word = high >> (at - 64)
		}
		if word&1 == 0 {
			bucket++
			continue
		}
		v.All[v.Count] = int64(bucket)<<r | int64(l.remainder(v.Count, r))
		v.Count++
	}
	return v
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
