package bloomline

// The lines and levels of a static filter. docs/FORMAT.md of the project defines them, and
// its golden files hold this code to it.
//
// A line stores the solution of a linear system over GF(2). A key may be present if each row of its
// line, ANDed with the key's coefficients, has the parity of one bit of the key's fingerprint. Keys
// past the line's threshold are bumped: they are keys of the next level, by another hash.

import (
	"math/bits"

	"github.com/bloomline/bloomline/go/internal/avx2"
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
	vectors   avx2.StaticRows
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
	shape := rowShape{rows: rows, lineBytes: lineBytes, mask: 1<<rows - 1, vectors: avx2.NewStaticRows(rows)}
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
		shape.vectors.AddField(width, func(row int) (lane, bit uint8) {
			place := fields.places[min(row, rows-1)]
			return place.lane, place.bit
		})
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
