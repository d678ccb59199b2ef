package growing

// How many prefixes there are, how many lines a region has, how wide a line is: integers only, so that
// all languages come to the same.

import (
	"math"
	"math/bits"

	"github.com/bloomline/bloomline/go/internal/format"
)

const (
	// Regions is how many there are, unless the filter is small.
	Regions = 16

	fewestPrefixes = 1024
	mostPrefixes   = 1 << 59
	fewestOfLine   = 64
	mostCopies     = 8   // of a prefix in lines
	small          = 256 // lines of one region
	spare          = 4   // lines behind the homes
	full           = 241 // of 256 parts of a line's capacity
	fullAtOnce     = 245 // the same where prefixes come in order

	whole = 24 // parts of an unbounded filter's rate, of which the first lengths have one each
)

// Shape is what a filter was made with: the record of the filter without the lists' lengths.
type Shape struct {
	Prefixes uint64 // of all regions together, of the first length
	Keys     uint64
	Rate     float64
	Lengths  uint // how many lengths prefixes can have; 0: all have one
}

// Bounded is the shape of a filter that is to have rate with so many keys.
func Bounded(keys uint64, rate float64) (Shape, error) {
	prefixes, err := prefixesFor(keys, rate)
	return Shape{Prefixes: prefixes, Keys: keys, Rate: rate}, err
}

// Unbounded is the shape of a filter that keeps below rate, up to 10^16 keys times rate.
func Unbounded(firstKeys uint64, rate float64) (Shape, error) {
	if !(rate > 0 && rate < 1) {
		return Shape{}, format.ErrRate
	}
	prefixes, err := prefixesFor(firstKeys, rate/whole)
	if err != nil {
		return Shape{}, format.ErrRateTooSmall // of the rate that was given, not of a length's share
	}
	longer := bits.Len64(mostPrefixes/prefixes) - 1
	return Shape{Prefixes: prefixes, Keys: firstKeys, Rate: rate, Lengths: uint(longer) + 1}, nil
}

func prefixesFor(keys uint64, rate float64) (uint64, error) {
	if !(rate > 0 && rate < 1) {
		return 0, format.ErrRate
	}
	wanted := max(math.Ceil(float64(max(keys, 1))/rate), fewestPrefixes)
	if wanted > mostPrefixes {
		return 0, format.ErrRateTooSmall
	}
	return (uint64(wanted) + Regions - 1) / Regions * Regions, nil
}

// mixed is 1 if prefixes have different lengths, else 0.
func (s *Shape) mixed() uint { return min(s.Lengths, 1) }

// longer is by how many bits prefixes can be longer than the first ones.
func (s *Shape) longer() uint { return s.Lengths - s.mixed() }

// normals is how many there are: all prefixes as entries have them are below it.
func (s *Shape) normals() uint64 { return s.Prefixes << (s.longer() + s.mixed()) }

// Normal is the prefix of a hash, longer by so many bits than the first ones, as entries have it:
// prefixes of all lengths compare.
func (s *Shape) Normal(hash uint64, length uint) uint64 {
	high, _ := bits.Mul64(hash, s.Prefixes<<length)
	return (high<<s.mixed() + uint64(s.mixed())) << (s.longer() - length)
}

// width is what the lines of a region are the home of.
type width struct {
	u uint64 // prefixes of a line
	r uint   // bits of a remainder
}

// capacity is the most values of a line, in 256ths.
func capacity(values uint64, r uint) uint64 {
	if values>>r > 128 {
		return 0
	}
	high, low := bits.Mul64(values, 256)
	buckets := low >> r
	if r > 0 {
		buckets |= high << (64 - r)
	}
	if buckets > 32768 {
		return 0
	}
	byBits := (max(496*256, buckets) - buckets) / uint64(r+1)
	return min(byBits, max(headerBits*256, buckets)-buckets, mostValues*256)
}

// widthOf is that of w prefixes in about so many lines, and the keys with which they are full.
func (s *Shape) widthOf(w, lines uint64) (width, uint64) {
	u := max((w+lines-1)/lines, fewestOfLine)
	values := u << s.mixed()
	top := uint(bits.Len64(values)) - 1
	r, best := uint(0), uint64(0)
	for each := max(top, 9) - 8; each <= min(top, mostBits); each++ {
		if most := capacity(values, each); most > best || r == 0 {
			r, best = each, most
		}
	}
	if s.mixed() == 1 {
		u = (u + 1<<(r-1) - 1) >> (r - 1) << (r - 1)
	}
	high, low := bits.Mul64((w+u-1)/u, capacity(u<<s.mixed(), r)*full)
	if high>>16 != 0 {
		return width{u, r}, math.MaxUint64
	}
	return width{u, r}, max(low>>16|high<<48, 1)
}

// linesFor is the fewest lines that have room for so many keys, or the most that there can be.
func (s *Shape) linesFor(w, keys uint64) uint64 {
	low, high := uint64(1), min(max(w/fewestOfLine, 1), max(keys, 1))
	for low < high {
		middle := low + (high-low)/2
		if _, most := s.widthOf(w, middle); most >= keys {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// quota is how many keys may have prefixes of a length, of all prefixes together. The first twenty lengths
// cost the same part of the rate, each further one four fifths of the one before.
func (s *Shape) quota(length uint) uint64 {
	part := uint64(1) << 32
	for i := uint(20); i <= length; i++ {
		part = part * 4 / 5
	}
	high, low := bits.Mul64(max(s.Keys, 1)<<length, part)
	if high>>32 != 0 {
		return math.MaxUint64
	}
	return max(high<<32|low>>32, 1)
}

// LengthAtOnce is the length of prefixes for so many keys that come at once: they may spend what all lengths up to
// theirs may. Some of that is left for keys that come before a piece is built anew.
func (s *Shape) LengthAtOnce(keys uint64) uint {
	most := uint64(0)
	for length := range s.longer() {
		quota := s.quota(length)
		if most > (math.MaxUint64-quota)/2 {
			return length
		}
		if most = 2*most + quota; keys <= mulDiv(most, 27, 32) {
			return length
		}
	}
	return s.longer()
}

// mulDiv is a * b / c, rounded down, where that fits.
func mulDiv(a, b, c uint64) uint64 {
	high, low := bits.Mul64(a, b)
	quotient, _ := bits.Div64(high, low, c)
	return quotient
}
