package bloomline

// The levels of a static filter, whose lines internal/staticline has. docs/format/static-cascade.md of the project
// defines them, and its golden files hold this code to it.
//
// A line stores the solution of a linear system over GF(2). A key may be present if each row of its
// line, ANDed with the key's coefficients, has the parity of one bit of the key's fingerprint. Keys
// past the line's threshold are bumped: they are keys of the next level, by another hash.

import "github.com/bloomline/bloomline/go/internal/staticline"

// staticLines is the shape of a static filter. Its lines, those of all levels, are the first bytes of
// the view's encoded filter.
type staticLines struct {
	*rowShape        // nil: there is no filter
	count     uint64 // lines of the first level
	sizes     levelSizes
}

// rowShape is how the rows of a line lie in it.
type rowShape struct{ staticline.Rows }

var rowShapes = func() (all [staticline.MaxRows - staticline.MinRows + 1]rowShape) {
	for i := range all {
		all[i].Rows = staticline.NewRows(staticline.MinRows + i)
	}
	return all
}()

// rowShapeOf is nil if there cannot be so many rows.
func rowShapeOf(rows int) *rowShape {
	if rows < staticline.MinRows || rows > staticline.MaxRows {
		return nil
	}
	return &rowShapes[rows-staticline.MinRows]
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
	return s.sizes.allLines(s.count) * s.LineBytes
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
	return level{l.rowShape, l.lines[l.count*l.LineBytes:], shareOf(l.count, share), behind}, true
}
