package bloomline

// Makes static lines: elimination over the equations of a line, two words each.

import "math/bits"

// equation is what a key says of its line: the coefficients, and the fingerprint, which the rows have to
// give. The first word has the first 63 coefficients; the second the others, and above them the
// fingerprint.
//
// An equation that is part of a system has a pivot, its lowest column.
type equation struct {
	first, second uint64
	pivot         uint8 // in its word
	position      uint8
}

// system is the equations of a line that have a solution together, in the order of their keys: first
// those whose pivot is in the first word, then those that have none there. No equation has the pivot of
// one before it. At most as many as columns have a pivot.
type system struct {
	*rowShape
	low, high   [64]equation
	lows, highs int
}

// solve makes the line of these hashes, all that belong to it, in ascending order. It returns how many of
// the hashes it keeps; the line bumps the others.
func (s *system) solve(hashes []uint64, count uint64, line []byte) (kept int) {
	s.lows, s.highs = 0, 0
	threshold := noneBumped
	for at := 0; at < len(hashes) && threshold == noneBumped; at += reduced {
		threshold = s.add(hashes[at:min(at+reduced, len(hashes))], count)
	}
	// All of that position are bumped, so also those that have a pivot already.
	for s.lows > 0 && int(s.low[s.lows-1].position) >= threshold {
		s.lows--
	}
	for s.highs > 0 && int(s.high[s.highs-1].position) >= threshold {
		s.highs--
	}
	s.write(line, threshold)
	kept = len(hashes)
	if threshold == noneBumped {
		return kept
	}
	for kept > 0 {
		if _, position := staticPlace(hashes[kept-1], count); int(position) < threshold {
			break
		}
		kept--
	}
	return kept
}

// reduced is how many equations are reduced at a time: so many stay in registers.
const reduced = 4

// add adds the equations of up to so many hashes. It returns the position of the first that contradicts
// those before it, or that none does.
func (s *system) add(hashes []uint64, count uint64) (threshold int) {
	var all [reduced]equation // those past the hashes are 0 = 0
	for i, hash := range hashes {
		all[i] = s.equation(hash, count)
	}
	s.reduce(&all)
	lows, highs := s.lows, s.highs // those behind have not been added
	for i := range hashes {
		e := &all[i]
		for j := lows; j < s.lows; j++ {
			p := &s.low[j]
			has := -(e.first >> (p.pivot & 63) & 1)
			e.first ^= p.first & has
			e.second ^= p.second & has
		}
		if e.first != 0 {
			e.pivot = uint8(bits.TrailingZeros64(e.first))
			s.low[s.lows] = *e
			s.lows++
			continue
		}
		for j := highs; j < s.highs; j++ {
			p := &s.high[j]
			has := -(e.second >> (p.pivot & 63) & 1)
			e.second ^= p.second & has
		}
		switch {
		case e.second&(1<<s.extra-1) != 0:
			e.pivot = uint8(bits.TrailingZeros64(e.second))
			s.high[s.highs] = *e
			s.highs++
		case e.second != 0:
			return int(e.position)
		}
	}
	return noneBumped
}

func (r *rowShape) equation(hash, count uint64) equation {
	next, fingerprint := nextHash(hash), r.fingerprint(hash)
	_, position := staticPlace(hash, count)
	return equation{
		first:    next >> 1,
		second:   r.extraCoefficients(next) | fingerprint<<r.extra,
		position: uint8(position),
	}
}

// reduce removes the pivots of the system from equations.
func (s *system) reduce(all *[reduced]equation) {
	a0, a1, a2, a3 := all[0].first, all[1].first, all[2].first, all[3].first
	b0, b1, b2, b3 := all[0].second, all[1].second, all[2].second, all[3].second
	for i := range s.low[:s.lows] {
		p := &s.low[i]
		first, second, pivot := p.first, p.second, p.pivot&63
		has := -(a0 >> pivot & 1)
		a0, b0 = a0^first&has, b0^second&has
		has = -(a1 >> pivot & 1)
		a1, b1 = a1^first&has, b1^second&has
		has = -(a2 >> pivot & 1)
		a2, b2 = a2^first&has, b2^second&has
		has = -(a3 >> pivot & 1)
		a3, b3 = a3^first&has, b3^second&has
	}
	for i := range s.high[:s.highs] {
		p := &s.high[i]
		second, pivot := p.second, p.pivot&63
		b0 ^= second & -(b0 >> pivot & 1)
		b1 ^= second & -(b1 >> pivot & 1)
		b2 ^= second & -(b2 >> pivot & 1)
		b3 ^= second & -(b3 >> pivot & 1)
	}
	all[0].first, all[1].first, all[2].first, all[3].first = a0, a1, a2, a3
	all[0].second, all[1].second, all[2].second, all[3].second = b0, b1, b2, b3
}

// columns is what the rows have in each column, bit j for row j: the solution.
type columns [128]uint16

// solution is that of the system whose columns without a pivot are 0. The last equation comes first: all
// its columns but the pivot are known then.
func (s *system) solution(values *columns) {
	others := uint64(1)<<s.extra - 1
	for i := s.highs - 1; i >= 0; i-- {
		e := &s.high[i]
		value := uint16(e.second >> s.extra)
		for left := e.second & others; left != 0; left &= left - 1 {
			value ^= values[ownColumns+bits.TrailingZeros64(left)]
		}
		values[ownColumns+e.pivot] = value
	}
	for i := s.lows - 1; i >= 0; i-- {
		e := &s.low[i]
		value := uint16(e.second >> s.extra)
		for left := e.first; left != 0; left &= left - 1 {
			value ^= values[bits.TrailingZeros64(left)]
		}
		for left := e.second & others; left != 0; left &= left - 1 {
			value ^= values[ownColumns+bits.TrailingZeros64(left)]
		}
		values[e.pivot] = value
	}
}

// write writes the line.
func (s *system) write(line []byte, threshold int) {
	var values columns
	s.solution(&values)
	var lane [2 * lanes]uint64
	for half := 0; half < s.rows; half += 8 {
		// The columns of eight rows, eight at a time.
		for first := 0; first < 64; first += 8 {
			eight := rowsOf(values[first:first+8], half)
			if first == 56 {
				eight &= 0x7F7F7F7F7F7F7F7F // the next column is no bit of the lane
			}
			for j := range min(s.rows-half, 8) {
				lane[half+j] |= eight >> (8 * j) & 0xFF << first
			}
		}
	}
	column := ownColumns
	for i := range s.fields {
		fields := &s.fields[i]
		for bit := range fields.width {
			value := uint64(values[column])
			for row := range s.rows {
				place := fields.places[row]
				lane[place.lane] |= value >> row & 1 << (uint(place.bit) + bit)
			}
			column++
		}
	}
	for i := range lanes {
		lane[i] |= uint64(threshold) >> i & 1 << ownColumns
	}
	for i := range s.lineBytes / 8 {
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
