package staticline

// Makes static lines: elimination over the equations of a line, two words each.

import (
	"math/bits"

	"github.com/bloomline/bloomline/go/internal/format"
)

// equation is what a key says of its line: the coefficients, and the fingerprint, which the rows have to
// give. The first word has the first 63 coefficients; the second the others, and above them the
// fingerprint.
//
// The pivot of an equation that is part of a system is its lowest column.
type equation struct {
	first, second uint64
	position      uint8
}

// System is the equations of a line that have a solution together. No equation has the pivot of one that
// came before it.
//
// The tables say what to add to an equation to remove the pivots of three neighbouring columns, by what it
// has in these: one look-up for three columns, with no branch.
type System struct {
	*Rows
	// The equations by their pivots, in the first word or, those that have none there, in the second.
	low, high         [64]equation
	hasLow, hasHigh   uint64 // the columns that are pivots
	lowTables         [ownColumns / 3]lowTable
	highTables        [ownColumns / 3]highTable
	lowUsed, highUsed int // tables that are not all zeros

	lowSums, highSums [16]sums
}

// lowTable has the sums of equations whose pivots are three columns of the first word, by the three bits of
// an equation. Their first word is turned so that these columns are its lowest bits.
type lowTable struct{ first, second [8]uint64 }

// highTable is the same for columns of the second word, which is turned.
type highTable [8]uint64

// turned is a word whose bits from a column on are its lowest.
func turned(word uint64, column int) uint64 {
	return bits.RotateLeft64(word, -column)
}

// reset removes all equations.
func (s *System) reset() {
	clear(s.lowTables[:s.lowUsed])
	clear(s.highTables[:s.highUsed])
	s.hasLow, s.hasHigh, s.lowUsed, s.highUsed = 0, 0, 0, 0
}

// addLow adds an equation whose pivot is in the first word.
func (s *System) addLow(e *equation) {
	pivot := bits.TrailingZeros64(e.first)
	s.low[pivot] = *e
	s.hasLow |= 1 << pivot
	number, bit := pivot/3, pivot%3
	s.lowUsed = max(s.lowUsed, number+1)
	table, first := &s.lowTables[number], turned(e.first, 3*number)
	for i := range table.first {
		has := -((uint64(i) ^ table.first[i]) >> bit & 1)
		table.first[i] ^= first & has
		table.second[i] ^= e.second & has
	}
}

// addHigh adds an equation that has no column in the first word.
func (s *System) addHigh(e *equation) {
	pivot := bits.TrailingZeros64(e.second)
	s.high[pivot] = *e
	s.hasHigh |= 1 << pivot
	number, bit := pivot/3, pivot%3
	s.highUsed = max(s.highUsed, number+1)
	table, second := &s.highTables[number], turned(e.second, 3*number)
	for i := range table {
		table[i] ^= second & -((uint64(i) ^ table[i]) >> bit & 1)
	}
}

// Solve makes the line of these hashes, all that belong to it, in ascending order. It returns how many of
// the hashes it keeps; the line bumps the others.
func (s *System) Solve(hashes []uint64, count uint64, line []byte) (kept int) {
	s.reset()
	threshold := noneBumped
	for at := 0; at < len(hashes) && threshold == noneBumped; at += reduced {
		threshold = s.add(hashes[at:min(at+reduced, len(hashes))], count)
	}
	// All of that position are bumped, so also those that have a pivot already.
	if threshold < noneBumped {
		s.hasLow &^= from(&s.low, s.hasLow, threshold)
		s.hasHigh &^= from(&s.high, s.hasHigh, threshold)
	}
	s.write(line, threshold)
	kept = len(hashes)
	if threshold == noneBumped {
		return kept
	}
	for kept > 0 {
		if _, position := Find(hashes[kept-1], count); int(position) < threshold {
			break
		}
		kept--
	}
	return kept
}

// from is the columns of equations of a position or a higher one.
func from(equations *[64]equation, has uint64, position int) (columns uint64) {
	for left := has; left != 0; left &= left - 1 {
		pivot := bits.TrailingZeros64(left)
		if int(equations[pivot].position) >= position {
			columns |= 1 << pivot
		}
	}
	return columns
}

// reduced is how many equations are reduced at a time: so many stay in registers.
const reduced = 4

// add adds the equations of up to so many hashes. It returns the position of the first that contradicts
// those before it, or that none does.
func (s *System) add(hashes []uint64, count uint64) (threshold int) {
	var all [reduced]equation // those past the hashes are 0 = 0
	for i, hash := range hashes {
		all[i] = s.equation(hash, count)
	}
	s.reduce(&all)
	for i := range hashes {
		e := &all[i]
		// Those of them that come before it have been added since.
		for j := range i {
			before := &all[j]
			first, second := before.first&-before.first, before.second&-before.second&s.others()
			if first != 0 {
				second = 0
			}
			if e.first&first|e.second&second != 0 {
				e.first ^= before.first
				e.second ^= before.second
			}
		}
		switch {
		case e.first != 0:
			s.addLow(e)
		case e.second&s.others() != 0:
			s.addHigh(e)
		case e.second != 0:
			return int(e.position)
		}
	}
	return noneBumped
}

// others is the columns in the second word.
func (r *Rows) others() uint64 {
	return 1<<r.Extra - 1
}

func (r *Rows) equation(hash, count uint64) equation {
	next, fingerprint := NextHash(hash), r.Fingerprint(hash)
	_, position := Find(hash, count)
	return equation{
		first:    next >> 1,
		second:   r.ExtraCoefficients(next) | fingerprint<<r.Extra,
		position: uint8(position),
	}
}

// reduce removes the pivots of the system from equations.
func (s *System) reduce(all *[reduced]equation) {
	a0, a1, a2, a3 := all[0].first, all[1].first, all[2].first, all[3].first
	b0, b1, b2, b3 := all[0].second, all[1].second, all[2].second, all[3].second
	for i := range s.lowTables[:s.lowUsed] {
		table := &s.lowTables[i]
		v := a0 & 7
		a0, b0 = bits.RotateLeft64(a0^table.first[v], -3), b0^table.second[v]
		v = a1 & 7
		a1, b1 = bits.RotateLeft64(a1^table.first[v], -3), b1^table.second[v]
		v = a2 & 7
		a2, b2 = bits.RotateLeft64(a2^table.first[v], -3), b2^table.second[v]
		v = a3 & 7
		a3, b3 = bits.RotateLeft64(a3^table.first[v], -3), b3^table.second[v]
	}
	for i := range s.highTables[:s.highUsed] {
		table := &s.highTables[i]
		b0 = bits.RotateLeft64(b0^table[b0&7], -3)
		b1 = bits.RotateLeft64(b1^table[b1&7], -3)
		b2 = bits.RotateLeft64(b2^table[b2&7], -3)
		b3 = bits.RotateLeft64(b3^table[b3&7], -3)
	}
	back := -3 * s.lowUsed
	a0, a1, a2, a3 = turned(a0, back), turned(a1, back), turned(a2, back), turned(a3, back)
	back = -3 * s.highUsed
	b0, b1, b2, b3 = turned(b0, back), turned(b1, back), turned(b2, back), turned(b3, back)
	all[0].first, all[1].first, all[2].first, all[3].first = a0, a1, a2, a3
	all[0].second, all[1].second, all[2].second, all[3].second = b0, b1, b2, b3
}

// columns is what the rows have in each column, bit j for row j: the solution.
type columns [128]uint16

// sums are the sums of four neighbouring columns, by which of them are added.
type sums [16]uint16

// solution is that of the system whose columns without a pivot are 0. The last column comes first: all that
// an equation has besides its pivot are known then.
func (s *System) solution(values *columns) {
	high := s.highSums[:(s.Extra+3)/4]
	for group := len(high) - 1; group >= 0; group-- {
		known, sums := high[group+1:], &s.highSums[group]
		sums[0] = 0
		for i := 3; i >= 0; i-- {
			value := uint16(0)
			if pivot := 4*group + i; s.hasHigh>>pivot&1 != 0 {
				word := s.high[pivot].second
				value = uint16(word>>s.Extra) ^ sum(word&s.others()>>(4*group+4), known) ^ sums.near(word, pivot)
				values[ownColumns+pivot] = value
			}
			sums.put(value, i)
		}
	}
	for group := len(s.lowSums) - 1; group >= 0; group-- {
		known, sums := s.lowSums[group+1:], &s.lowSums[group]
		sums[0] = 0
		for i := 3; i >= 0; i-- {
			value := uint16(0)
			if pivot := 4*group + i; s.hasLow>>pivot&1 != 0 {
				e := &s.low[pivot]
				value = uint16(e.second>>s.Extra) ^ sum(e.second&s.others(), high) ^
					sum(e.first>>(4*group+4), known) ^ sums.near(e.first, pivot)
				values[pivot] = value
			}
			sums.put(value, i)
		}
	}
}

// sum is the sum of the columns that a word has, four of them to each table.
func sum(word uint64, tables []sums) (value uint16) {
	for i := range tables {
		value ^= tables[i][word&15]
		word >>= 4
	}
	return value
}

// near is the sum of the columns of the four that a word has behind a pivot among them, which alone have
// been put.
func (s *sums) near(word uint64, pivot int) uint16 {
	return s[word>>pivot>>1&(7>>(pivot%4))]
}

// put puts column i of the four, behind which all have been put: it is then the lowest bit that the sums go
// by.
func (s *sums) put(value uint16, i int) {
	for j := 1<<(3-i) - 1; j >= 0; j-- {
		s[2*j&15], s[(2*j+1)&15] = s[j], s[j]^value
	}
}

// write writes the line.
func (s *System) write(line []byte, threshold int) {
	var values columns
	s.solution(&values)
	var lane [2 * format.Lanes]uint64
	for half := 0; half < s.Count; half += 8 {
		// The columns of eight rows, eight at a time.
		for first := 0; first < 64; first += 8 {
			eight := rowsOf(values[first:first+8], half)
			if first == 56 {
				eight &= 0x7F7F7F7F7F7F7F7F // the next column is no bit of the lane
			}
			for j := range min(s.Count-half, 8) {
				lane[half+j] |= eight >> (8 * j) & 0xFF << first
			}
		}
	}
	column := ownColumns
	for i := range s.Fields {
		fields := &s.Fields[i]
		for bit := range fields.Width {
			value := uint64(values[column])
			for row := range s.Count {
				place := fields.Places[row]
				lane[place.Lane] |= value >> row & 1 << (uint(place.Bit) + bit)
			}
			column++
		}
	}
	for i := range format.Lanes {
		lane[i] |= uint64(threshold) >> i & 1 << ownColumns
	}
	for i := range s.LineBytes / 8 {
		le.PutUint64(line[8*i:], lane[i])
	}
}

// rowsOf is eight rows, from one on, of eight columns: a byte for each row, bit i of it for column i.
func rowsOf(values []uint16, first int) uint64 {
	x := uint64(0)
	for i, value := range values {
		x |= uint64(value>>first&0xFF) << (8 * i)
	}
	// A square of 8 by 8 bits turned over its diagonal, by squares of 1, 2 and 4.
	t := (x ^ x>>7) & 0x00AA00AA00AA00AA
	x ^= t ^ t<<7
	t = (x ^ x>>14) & 0x0000CCCC0000CCCC
	x ^= t ^ t<<14
	t = (x ^ x>>28) & 0x00000000F0F0F0F0
	return x ^ t ^ t<<28
}
