package bloomline

// The lines of a static filter: how a key is probed. docs/FORMAT.md of the project defines them, and
// its golden files hold this code to it.
//
// A line stores the solution of a linear system over GF(2). A key may be present if each row of its
// line, ANDed with the key's coefficients, has the parity of one bit of the key's fingerprint. Keys
// past the line's threshold are bumped: they are keys of the next level, by another hash.

import (
	"math/bits"
	"runtime"

	"github.com/bloomline/bloomline/go/internal/prefetch"
)

const (
	minRows = 4
	maxRows = 16
	// Columns of a row in its own lane. The bit above them is one of the threshold.
	ownColumns = 63
	// The threshold of a line that bumps no key: no position is as high.
	noneBumped  = 255
	maxPosition = 254

	c3 = 0xA0761D6478BD642F // multiplier of the coefficients past the first 63
)

// staticLines is the shape of a static filter. Its lines, those of all levels, are the first bytes of
// the view's encoded filter.
type staticLines struct {
	*rowShape        // nil: there is no filter
	count     uint64 // lines of the first level
	sizes     levelSizes
}

// rowShape is what follows from the number of rows.
type rowShape struct {
	rows      int
	lineBytes uint64      // 64 with up to 8 rows, else 128
	extra     uint        // columns besides those in the lane of the row
	mask      uint64      // the bits of a fingerprint
	fields    []rowFields // where the other columns are
}

// rowFields is one field of each row: its width, and where it lies.
type rowFields struct {
	width  uint
	mask   uint64 // so many bits
	places [maxRows]fieldPlace
}

// fieldPlace is the lane that has a field, and its lowest bit there.
type fieldPlace struct{ lane, bit uint8 }

// extraFields are the widths of the fields of a row, for each number of rows from 4 on.
var extraFields = [...][]uint{
	{60}, {31, 6}, {21}, {9}, {}, {21, 21, 7}, {31, 6}, {21, 7}, {21}, {9, 4}, {9}, {4}, {},
}

var rowShapes = func() (all [maxRows - minRows + 1]rowShape) {
	for i := range all {
		all[i] = newRowShape(minRows + i)
	}
	return all
}()

// rowShapeOf is nil if there cannot be so many rows.
func rowShapeOf(rows int) *rowShape {
	if rows < minRows || rows > maxRows {
		return nil
	}
	return &rowShapes[rows-minRows]
}

// newRowShape shares out the lanes that are left over: the first field of each row in turn, then the
// second of each. A field that does not fit into a lane begins the next.
func newRowShape(rows int) rowShape {
	shape := rowShape{rows: rows, lineBytes: lineBytes, mask: 1<<rows - 1}
	if rows > lanes {
		shape.lineBytes = 2 * lineBytes
	}
	lane, bit := rows, uint(0)
	for _, width := range extraFields[rows-minRows] {
		fields := rowFields{width: width, mask: 1<<width - 1}
		for row := range rows {
			if bit+width > ownColumns {
				lane, bit = lane+1, 0
			}
			fields.places[row] = fieldPlace{uint8(lane), uint8(bit)}
			bit += width
		}
		shape.fields = append(shape.fields, fields)
		shape.extra += width
	}
	return shape
}

// columns is how many columns a row has: the keys of a line at most.
func (r *rowShape) columns() int {
	return ownColumns + int(r.extra)
}

// nextHash is the hash of a key for the next level, which gives its coefficients in this one.
func nextHash(hash uint64) uint64 {
	g := hash*c1 + c2
	return (g ^ g>>32) * c2
}

// extraCoefficients are those past the first 63, in the lowest bits. The first are bits 1 to 63 of the
// next hash.
func (r *rowShape) extraCoefficients(next uint64) uint64 {
	return next * c3 >> 1 >> (ownColumns - r.extra)
}

// fingerprint is what is kept of a hash. Its lowest bit is always 1, so that a line without keys
// contains none.
func (r *rowShape) fingerprint(hash uint64) uint64 {
	return hash&r.mask | 1
}

// staticPlace is the line of a hash among so many, and its position there, 0 to 254.
func staticPlace(hash, count uint64) (index, position uint64) {
	index, low := bits.Mul64(hash, count)
	return index, min(low>>56, maxPosition)
}

// ---- levels ----

// levelSizes is how many lines the levels after the first have: the second and the third so many 256ths
// of the one before, 0 if there is none, and each of the others a sixteenth.
type levelSizes struct {
	second, third, tail uint8
}

// nextShare is how many 256ths of the lines of a level the next has, 0 if there is none, and the sizes
// of those behind that one.
func (s levelSizes) nextShare() (share uint64, behind levelSizes) {
	behind.second = s.third
	if s.tail > 0 {
		behind.third, behind.tail = 16, s.tail-1
	}
	return uint64(s.second), behind
}

// shareOf is so many 256ths of lines, rounded up.
func shareOf(count, share uint64) uint64 {
	return (count*share + 255) >> 8
}

// allLines is the lines of all levels.
func (s levelSizes) allLines(count uint64) (sum uint64) {
	for {
		sum += count
		share, behind := s.nextShare()
		if share == 0 {
			return sum
		}
		count, s = shareOf(count, share), behind
	}
}

// bytes is the length of the lines of all levels.
func (s *staticLines) bytes() uint64 {
	return s.sizes.allLines(s.count) * s.lineBytes
}

// level is one level to be probed: it, and those behind it.
type level struct {
	*rowShape
	lines []byte // of it, and of those behind
	count uint64
	sizes levelSizes // of those behind
}

func (s *staticLines) first(lines []byte) level {
	return level{s.rowShape, lines, s.count, s.sizes}
}

// next is the level behind, if there is one.
func (l *level) next() (next level, ok bool) {
	share, behind := l.sizes.nextShare()
	if share == 0 {
		return level{}, false
	}
	return level{l.rowShape, l.lines[l.count*l.lineBytes:], shareOf(l.count, share), behind}, true
}

// ---- asking ----

// contains reports whether a key may be present.
func (s *staticLines) contains(lines []byte, hash uint64) bool {
	if s.rowShape == nil {
		return true
	}
	index, position := staticPlace(hash, s.count)
	next := nextHash(hash)
	hit, bumped := s.ask(lines[index*s.lineBytes:], position, hash, next)
	return hit != 0 || bumped != 0 && s.containsBumped(lines, next)
}

// containsBumped is contains for a key that the first level bumps, by its next hash.
func (s *staticLines) containsBumped(lines []byte, hash uint64) bool {
	at := s.first(lines)
	for {
		var ok bool
		if at, ok = at.next(); !ok {
			return true // no level rules it out
		}
		index, position := staticPlace(hash, at.count)
		next := nextHash(hash)
		if hit, bumped := at.ask(at.lines[index*at.lineBytes:], position, hash, next); bumped == 0 {
			return hit != 0
		}
		hash = next
	}
}

// ask is what a line says of a key: 1 if it may contain it, and 1 if it has bumped it, which are never
// both.
//
// Three rows are looked at together: after each one a branch would be a coin toss for absent keys, and a
// wrong guess costs more than the other two. Seven in eight absent keys end there.
func (r *rowShape) ask(line []byte, position, hash, next uint64) (hit, bumped uint64) {
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
	if r.rows != 8 && r.rows != 7 {
		return r.askFields(line, hash, next), 0
	}
	own, more, fingerprint := next>>1, uint64(0), int(r.fingerprint(hash))
	last := bits.OnesCount64(l7&own) ^ fingerprint>>7
	if r.rows == 7 { // the others share the last lane
		more, last = next*c3>>(64-9), 0
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
	own, more, fingerprint := next>>1, r.extraCoefficients(next), r.fingerprint(hash)
	wrong := bits.OnesCount64(r.row(line, 0, own, more)) ^ int(fingerprint)
	wrong |= bits.OnesCount64(r.row(line, 1, own, more)) ^ int(fingerprint>>1)
	wrong |= bits.OnesCount64(r.row(line, 2, own, more)) ^ int(fingerprint>>2)
	if wrong&1 != 0 {
		return 0
	}
	if (r.eightRows(line, 0, own, more)^fingerprint)&r.mask&0xFF != 0 {
		return 0
	}
	if r.rows > lanes && (r.eightRows(line, lanes, own, more)^fingerprint>>lanes)&(r.mask>>lanes) != 0 {
		return 0
	}
	return 1
}

// row is a row, ANDed with the coefficients; the fields lie on the lane of the row, since only the parity of
// all matters.
func (r *rowShape) row(line []byte, row int, own, more uint64) uint64 {
	x := le.Uint64(line[8*row:]) & own
	for i := range r.fields {
		fields := &r.fields[i]
		x ^= fields.places[row].of(line) & more & fields.mask
		more >>= fields.width & 63
	}
	return x
}

// eightRows is the parities of eight rows, and any for rows that there are not.
func (r *rowShape) eightRows(line []byte, first int, own, more uint64) uint64 {
	at := (*[lineBytes]byte)(line[8*first:])
	x0, x1, x2, x3 := le.Uint64(at[0:])&own, le.Uint64(at[8:])&own, le.Uint64(at[16:])&own, le.Uint64(at[24:])&own
	x4, x5, x6, x7 := le.Uint64(at[32:])&own, le.Uint64(at[40:])&own, le.Uint64(at[48:])&own, le.Uint64(at[56:])&own
	for i := range r.fields {
		fields := &r.fields[i]
		mask, place := more&fields.mask, (*[lanes]fieldPlace)(fields.places[first:])
		x0, x1 = x0^place[0].of(line)&mask, x1^place[1].of(line)&mask
		x2, x3 = x2^place[2].of(line)&mask, x3^place[3].of(line)&mask
		x4, x5 = x4^place[4].of(line)&mask, x5^place[5].of(line)&mask
		x6, x7 = x6^place[6].of(line)&mask, x7^place[7].of(line)&mask
		more >>= fields.width & 63
	}
	return foldLanes(x0, x1, x2, x3, x4, x5, x6, x7)
}

// of is the bits of a line from a place on.
func (p *fieldPlace) of(line []byte) uint64 {
	return le.Uint64(line[p.lane*8:]) >> (p.bit & 63)
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
	prefetch.Line(&lines[index*s.lineBytes])
	prefetch.Line(&lines[index*s.lineBytes+s.lineBytes-1])
}

// ---- batches ----

// bumpedKeys are keys of a batch that are left for the next level: their hashes there, and which they
// are in the batch.
type bumpedKeys struct {
	hashes [hashedAhead]uint64
	places [hashedAhead]uint16
}

// answer answers hashes, a bit each. out is zero. What the first level bumps is gathered, and is a batch
// of its own for the next.
func (s *staticLines) answer(lines []byte, hashes []uint64, out []uint64) {
	if len(hashes) < few {
		for i, hash := range hashes {
			if s.contains(lines, hash) {
				out[0] |= 1 << i
			}
		}
		return
	}
	var left bumpedKeys
	for len(hashes) > 0 {
		part := hashes[:min(hashedAhead, len(hashes))]
		s.answerPart(lines, part, out, &left)
		hashes, out = hashes[len(part):], out[(len(part)+63)/64:]
	}
}

// answerPart answers as many hashes as can be left, all of them.
func (s *staticLines) answerPart(lines []byte, hashes []uint64, out []uint64, left *bumpedKeys) {
	at, n := s.first(lines), 0
	for word := 0; word*touched < len(hashes); word++ {
		part := hashes[word*touched : min((word+1)*touched, len(hashes))]
		hits, bumped := at.answerWord(part)
		out[word] = hits
		for ; bumped != 0; bumped &= bumped - 1 {
			i := bits.TrailingZeros64(bumped)
			left.hashes[n], left.places[n] = nextHash(part[i]), uint16(word*touched+i)
			n++
		}
	}
	for n > 0 {
		var ok bool
		if at, ok = at.next(); !ok {
			for _, place := range left.places[:n] { // no level rules them out
				out[place/64] |= 1 << (place % 64)
			}
			return
		}
		n = at.answerBumped(left, n, out)
	}
}

// answerBumped answers the first n that are left, and returns how many are left for the next level.
func (l *level) answerBumped(left *bumpedKeys, n int, out []uint64) (kept int) {
	for first := 0; first < n; first += touched {
		end := min(first+touched, n)
		hits, bumped := l.answerWord(left.hashes[first:end])
		for ; hits != 0; hits &= hits - 1 {
			place := left.places[first+bits.TrailingZeros64(hits)]
			out[place/64] |= 1 << (place % 64)
		}
		// They move to the front, where all have been asked.
		for ; bumped != 0; bumped &= bumped - 1 {
			i := first + bits.TrailingZeros64(bumped)
			left.hashes[kept], left.places[kept] = nextHash(left.hashes[i]), left.places[i]
			kept++
		}
	}
	return kept
}

// answerWord answers at most 64 hashes by one level: a bit for each that it may contain, and for each
// that it has bumped.
func (l *level) answerWord(hashes []uint64) (hits, bumped uint64) {
	l.touch(hashes)
	for i, hash := range hashes {
		index, position := staticPlace(hash, l.count)
		hit, over := l.ask(l.lines[index*l.lineBytes:], position, hash, nextHash(hash))
		hits |= hit << i
		bumped |= over << i
	}
	return hits, bumped
}

// touch reads a byte of each cache line of at most 64 hashes, if they are far: see [lines.touch].
func (l *level) touch(hashes []uint64) {
	if l.count*l.lineBytes < farFrom*lineBytes {
		return
	}
	sum := byte(0)
	for _, hash := range hashes {
		index, _ := bits.Mul64(hash, l.count)
		sum += l.lines[index*l.lineBytes] + l.lines[index*l.lineBytes+l.lineBytes-1]
	}
	runtime.KeepAlive(sum)
}
