// Package staticline has the lines of a static filter: where their rows lie, which docs/format/static-cascade.md of
// the project defines, and the solutions that they store. Its golden files hold package bloomline, which probes them, to the page.
package staticline

import (
	"encoding/binary"
	"math/bits"

	"github.com/bloomline/bloomline/go/internal/avx2"
	"github.com/bloomline/bloomline/go/internal/format"
)

var le = binary.LittleEndian

const (
	// MinRows and MaxRows are the fewest rows and the most.
	MinRows = 4
	MaxRows = 16
	// Columns of a row in its own lane. The bit above them is one of the threshold.
	ownColumns = 63
	// The threshold of a line that bumps no key: no position is as high.
	noneBumped  = 255
	maxPosition = 254

	// C3 is the multiplier of the coefficients past the first 63.
	C3 = 0xA0761D6478BD642F
)

// Rows is what follows from the number of rows.
type Rows struct {
	Count     int
	LineBytes uint64  // 64 with up to 8 rows, else 128
	Extra     uint    // columns besides those in the lane of the row
	Mask      uint64  // the bits of a fingerprint
	Fields    []Field // where the other columns are
	Vectors   avx2.StaticRows
}

// Field is one field of each row: its width, and where it lies.
type Field struct {
	Width  uint
	Mask   uint64 // so many bits
	Places [MaxRows]Place
}

// Place is the lane that has a field, and its lowest bit there.
type Place struct{ Lane, Bit uint8 }

// Of is the bits of a line from a place on.
func (p *Place) Of(line []byte) uint64 {
	return le.Uint64(line[p.Lane*8:]) >> (p.Bit & 63)
}

// extraFields are the widths of the fields of a row, for each number of rows from 4 on.
var extraFields = [...][]uint{
	{60}, {31, 6}, {21}, {9}, {}, {21, 21, 7}, {31, 6}, {21, 7}, {21}, {9, 4}, {9}, {4}, {},
}

// NewRows is the shape of so many rows. It shares out the lanes that are left over: the first field of each row in turn, then the
// second of each. A field that does not fit into a lane begins the next.
func NewRows(rows int) Rows {
	shape := Rows{Count: rows, LineBytes: format.LineBytes, Mask: 1<<rows - 1, Vectors: avx2.NewStaticRows(rows)}
	if rows > format.Lanes {
		shape.LineBytes = 2 * format.LineBytes
	}
	lane, bit := rows, uint(0)
	for _, width := range extraFields[rows-MinRows] {
		fields := Field{Width: width, Mask: 1<<width - 1}
		for row := range rows {
			if bit+width > ownColumns {
				lane, bit = lane+1, 0
			}
			fields.Places[row] = Place{uint8(lane), uint8(bit)}
			bit += width
		}
		shape.Vectors.AddField(width, func(row int) (lane, bit uint8) {
			place := fields.Places[min(row, rows-1)]
			return place.Lane, place.Bit
		})
		shape.Fields = append(shape.Fields, fields)
		shape.Extra += width
	}
	return shape
}

// Columns is how many columns a row has: the keys of a line at most.
func (r *Rows) Columns() int {
	return ownColumns + int(r.Extra)
}

// NextHash is the hash of a key for the next level, which gives its coefficients in this one.
func NextHash(hash uint64) uint64 {
	g := hash*format.C1 + format.C2
	return (g ^ g>>32) * format.C2
}

// ExtraCoefficients are those past the first 63, in the lowest bits. The first are bits 1 to 63 of the
// next hash.
func (r *Rows) ExtraCoefficients(next uint64) uint64 {
	return next * C3 >> 1 >> (ownColumns - r.Extra)
}

// Fingerprint is what is kept of a hash. Its lowest bit is always 1, so that a line without keys
// contains none.
func (r *Rows) Fingerprint(hash uint64) uint64 {
	return hash&r.Mask | 1
}

// Find is the line of a hash among so many, and its position there, 0 to 254.
func Find(hash, count uint64) (index, position uint64) {
	index, low := bits.Mul64(hash, count)
	return index, min(low>>56, maxPosition)
}
