package bloomline

// How a key is probed in a static filter: level after level, row after row.

import (
	"math/bits"

	"github.com/bloomline/bloomline/go/internal/avx2"
	"github.com/bloomline/bloomline/go/internal/prefetch"
	"github.com/bloomline/bloomline/go/internal/staticline"
)

// contains reports whether a key may be present.
func (s *staticLines) contains(lines []byte, hash uint64) bool {
	if s.rowShape == nil {
		return true
	}
	hit, bumped := s.ask(lines, s.count, hash)
	if bumped != 0 {
		return s.containsBumped(lines, staticline.NextHash(hash))
	}
	return hit != 0
}

// containsBumped is contains for a key that the first level bumps, by its next hash.
func (s *staticLines) containsBumped(lines []byte, hash uint64) bool {
	at := s.first(lines)
	for {
		var ok bool
		if at, ok = at.next(); !ok {
			return true // no level rules it out
		}
		if hit, bumped := at.ask(at.lines, at.count, hash); bumped == 0 {
			return hit != 0
		}
		hash = staticline.NextHash(hash)
	}
}

// ask is what a level of so many lines says of a key: 1 if it may contain it, and 1 if it has bumped it,
// which are never both.
//
// Without AVX2, three rows are looked at together: after each one a branch would be a coin toss for absent
// keys, and a wrong guess costs more than the other two. Seven in eight absent keys end there.
func (r *rowShape) ask(lines []byte, count, hash uint64) (hit, bumped uint64) {
	if avx2.Available {
		return avx2.Static(&lines[0], count, &r.Vectors, &hash, 1)
	}
	index, position := staticline.Find(hash, count)
	line, next := lines[index*r.LineBytes:], staticline.NextHash(hash)
	at := (*[lineBytes]byte)(line)
	l0, l1, l2, l3 := le.Uint64(at[0:]), le.Uint64(at[8:]), le.Uint64(at[16:]), le.Uint64(at[24:])
	l4, l5, l6, l7 := le.Uint64(at[32:]), le.Uint64(at[40:]), le.Uint64(at[48:]), le.Uint64(at[56:])
	threshold := l7>>63*2 + l6>>63
	threshold = threshold*2 + l5>>63
	threshold = threshold*2 + l4>>63
	threshold = threshold*2 + l3>>63
	threshold = threshold*2 + l2>>63
	threshold = threshold*2 + l1>>63
	threshold = threshold*2 + l0>>63
	if position >= threshold {
		return 0, 1
	}
	if r.Count != 8 && r.Count != 7 {
		return r.askFields(line, hash, next), 0
	}
	own, more, fingerprint := next>>1, uint64(0), int(r.Fingerprint(hash))
	last := bits.OnesCount64(l7&own) ^ fingerprint>>7
	if r.Count == 7 { // the others share the last lane
		more, last = next*staticline.C3>>(64-9), 0
	}
	wrong := bits.OnesCount64(l0&own^l7&more) ^ fingerprint
	wrong |= bits.OnesCount64(l1&own^l7>>9&more) ^ fingerprint>>1
	wrong |= bits.OnesCount64(l2&own^l7>>18&more) ^ fingerprint>>2
	if wrong&1 != 0 {
		return 0, 0
	}
	wrong = bits.OnesCount64(l3&own^l7>>27&more) ^ fingerprint>>3
	wrong |= bits.OnesCount64(l4&own^l7>>36&more) ^ fingerprint>>4
	wrong |= bits.OnesCount64(l5&own^l7>>45&more) ^ fingerprint>>5
	wrong |= bits.OnesCount64(l6&own^l7>>54&more) ^ fingerprint>>6
	return uint64((wrong|last)&1 ^ 1), 0
}

// askFields is 1 if the line may contain a key that it does not bump, for any number of rows: it looks at
// three, at the first eight, and at the others if there are more, until one rules the key out.
func (r *rowShape) askFields(line []byte, hash, next uint64) (hit uint64) {
	own, more, fingerprint := next>>1, r.ExtraCoefficients(next), r.Fingerprint(hash)
	wrong := bits.OnesCount64(r.row(line, 0, own, more)) ^ int(fingerprint)
	wrong |= bits.OnesCount64(r.row(line, 1, own, more)) ^ int(fingerprint>>1)
	wrong |= bits.OnesCount64(r.row(line, 2, own, more)) ^ int(fingerprint>>2)
	if wrong&1 != 0 {
		return 0
	}
	if (r.eightRows(line, 0, own, more)^fingerprint)&r.Mask&0xFF != 0 {
		return 0
	}
	if r.Count > lanes && (r.eightRows(line, lanes, own, more)^fingerprint>>lanes)&(r.Mask>>lanes) != 0 {
		return 0
	}
	return 1
}

// row is a row, ANDed with the coefficients; the fields lie on the lane of the row, since only the parity of
// all matters.
func (r *rowShape) row(line []byte, row int, own, more uint64) uint64 {
	x := le.Uint64(line[8*row:]) & own
	for i := range r.Fields {
		fields := &r.Fields[i]
		x ^= fields.Places[row].Of(line) & more & fields.Mask
		more >>= fields.Width & 63
	}
	return x
}

// eightRows is the parities of eight rows, and any for rows that there are not.
func (r *rowShape) eightRows(line []byte, first int, own, more uint64) uint64 {
	at := (*[lineBytes]byte)(line[8*first:])
	x0, x1, x2, x3 := le.Uint64(at[0:])&own, le.Uint64(at[8:])&own, le.Uint64(at[16:])&own, le.Uint64(at[24:])&own
	x4, x5, x6, x7 := le.Uint64(at[32:])&own, le.Uint64(at[40:])&own, le.Uint64(at[48:])&own, le.Uint64(at[56:])&own
	for i := range r.Fields {
		fields := &r.Fields[i]
		mask, place := more&fields.Mask, (*[lanes]staticline.Place)(fields.Places[first:])
		x0, x1 = x0^place[0].Of(line)&mask, x1^place[1].Of(line)&mask
		x2, x3 = x2^place[2].Of(line)&mask, x3^place[3].Of(line)&mask
		x4, x5 = x4^place[4].Of(line)&mask, x5^place[5].Of(line)&mask
		x6, x7 = x6^place[6].Of(line)&mask, x7^place[7].Of(line)&mask
		more >>= fields.Width & 63
	}
	return foldLanes(x0, x1, x2, x3, x4, x5, x6, x7)
}

// foldLanes is the parity of each lane: bit i is that of lane i.
//
// Half of each lane is folded onto the other, and two lanes into one; three times.
func foldLanes(x0, x1, x2, x3, x4, x5, x6, x7 uint64) uint64 {
	x0, x1, x2, x3 = fold32(x0, x4), fold32(x1, x5), fold32(x2, x6), fold32(x3, x7)
	x0, x1 = fold16(x0, x2), fold16(x1, x3)
	const low = 0x00FF00FF00FF00FF
	x := (x0^x0>>8)&low | (x1^x1<<8)&^low
	// Byte i is lane i.
	x ^= x >> 4
	x ^= x >> 2
	x ^= x >> 1
	// The lowest bits of all bytes, brought together in the highest byte.
	return x & 0x0101010101010101 * 0x0102040810204080 >> 56
}

func fold32(a, b uint64) uint64 {
	const low = 0x00000000FFFFFFFF
	return (a^a>>32)&low | (b^b<<32)&^low
}

func fold16(a, b uint64) uint64 {
	const low = 0x0000FFFF0000FFFF
	return (a^a>>16)&low | (b^b<<16)&^low
}

// prefetch asks for the line of a hash in the first level.
func (s *staticLines) prefetch(lines []byte, hash uint64) {
	if s.rowShape == nil {
		return
	}
	index, _ := bits.Mul64(hash, s.count)
	prefetch.Line(&lines[index*s.LineBytes])
	prefetch.Line(&lines[index*s.LineBytes+s.LineBytes-1])
}
