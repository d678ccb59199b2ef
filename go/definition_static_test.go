package bloomline

// docs/FORMAT.md once more for static filters, bit by bit: what the fast ways are held to.

import "slices"

// definitionWidths are the extra fields of a row by the number of rows.
var definitionWidths = map[int][]int{
	4: {60}, 5: {31, 6}, 10: {31, 6}, 6: {21}, 12: {21}, 7: {9}, 14: {9}, 8: {}, 16: {},
	9: {21, 21, 7}, 11: {21, 7}, 13: {9, 4}, 15: {4},
}

// A row, or the coefficients of a key: a value for each column, and for those that there are not false.
type definitionBits [128]bool

func (a definitionBits) parity(b definitionBits) (odd bool) {
	for i := range a {
		odd = odd != (a[i] && b[i])
	}
	return odd
}

func definitionNext(hash uint64) uint64 {
	g := hash*0x9E3779B97F4A7C15 + 0xD6E8FEB86659FD93
	return (g ^ g/(1<<32)) * 0xD6E8FEB86659FD93
}

func definitionCoefficients(hash uint64, rows int) (bits definitionBits) {
	next, extra := definitionNext(hash), 0
	for _, width := range definitionWidths[rows] {
		extra += width
	}
	for i := range 63 {
		bits[i] = next>>(i+1)&1 != 0
	}
	for i := range extra { // the highest bits of the product, the lowest of them first
		bits[63+i] = next*0xA0761D6478BD642F>>(64-extra+i)&1 != 0
	}
	return bits
}

// definitionFingerprint is bit j of the fingerprint.
func definitionFingerprint(hash uint64, j int) bool {
	return j == 0 || hash>>j&1 != 0
}

func definitionPlace(hash, count uint64) (line, position uint64) {
	return definitionIndex(hash, count), min(hash*count>>56, 254)
}

// definitionLine is a line taken apart.
type definitionLine struct {
	rows      []definitionBits
	threshold uint64
}

func definitionLineBytes(rows int) int {
	if rows <= 8 {
		return 64
	}
	return 128
}

// eachBit yields where the bits of the rows are in the line: row, column, bit of the line.
func (l *definitionLine) eachBit(do func(row, column, bit int)) {
	rows := len(l.rows)
	lane, bit, column := rows, 0, 63
	for row := range rows {
		for i := range 63 {
			do(row, i, 64*row+i)
		}
	}
	for _, width := range definitionWidths[rows] {
		for row := range rows {
			if bit+width > 63 {
				lane, bit = lane+1, 0
			}
			for i := range width {
				do(row, column+i, 64*lane+bit+i)
			}
			bit += width
		}
		column += width
	}
}

func definitionReadLine(bytes []byte, rows int) *definitionLine {
	line := &definitionLine{rows: make([]definitionBits, rows)}
	line.eachBit(func(row, column, bit int) {
		line.rows[row][column] = bytes[bit/8]>>(bit%8)&1 != 0
	})
	for i := range 8 {
		line.threshold |= uint64(bytes[8*i+7]) >> 7 << i
	}
	return line
}

func (l *definitionLine) bytes() []byte {
	bytes := make([]byte, definitionLineBytes(len(l.rows)))
	l.eachBit(func(row, column, bit int) {
		if l.rows[row][column] {
			bytes[bit/8] |= 1 << (bit % 8)
		}
	})
	for i := range 8 {
		bytes[8*i+7] |= byte(l.threshold>>i&1) << 7
	}
	return bytes
}

// definitionCounts are the lines of each level.
func definitionCounts(count uint64, sizes levelSizes) []uint64 {
	counts := []uint64{count}
	if sizes.second == 0 {
		return counts
	}
	counts = append(counts, (count*uint64(sizes.second)+255)/256)
	if sizes.third == 0 {
		return counts
	}
	counts = append(counts, (counts[1]*uint64(sizes.third)+255)/256)
	for range sizes.tail {
		counts = append(counts, (counts[len(counts)-1]*16+255)/256)
	}
	return counts
}

func definitionStaticContains(lines []byte, rows int, count uint64, sizes levelSizes, hash uint64) bool {
	size := uint64(definitionLineBytes(rows))
	for _, count := range definitionCounts(count, sizes) {
		index, position := definitionPlace(hash, count)
		line := definitionReadLine(lines[index*size:][:size], rows)
		if position < line.threshold {
			for j, row := range line.rows {
				if row.parity(definitionCoefficients(hash, rows)) != definitionFingerprint(hash, j) {
					return false
				}
			}
			return true
		}
		hash = definitionNext(hash)
		lines = lines[count*size:]
	}
	return true
}

// An equation for each row: the same coefficients, and what each has to give.
type definitionEquation struct {
	bits     definitionBits
	right    [16]bool
	position uint64
}

func (e *definitionEquation) pivot() int { return slices.Index(e.bits[:], true) }

// definitionSolve makes the line of sorted hashes.
func definitionSolve(hashes []uint64, count uint64, rows int) *definitionLine {
	var all []definitionEquation
	line := &definitionLine{rows: make([]definitionBits, rows), threshold: 255}
	for _, hash := range hashes {
		e := definitionEquation{bits: definitionCoefficients(hash, rows)}
		for j := range rows {
			e.right[j] = definitionFingerprint(hash, j)
		}
		_, e.position = definitionPlace(hash, count)
		for _, before := range all {
			if !e.bits[before.pivot()] {
				continue
			}
			for i := range e.bits {
				e.bits[i] = e.bits[i] != before.bits[i]
			}
			for j := range e.right {
				e.right[j] = e.right[j] != before.right[j]
			}
		}
		if e.pivot() >= 0 {
			all = append(all, e)
		} else if e.right != [16]bool{} {
			line.threshold = e.position
			break
		}
	}
	for _, e := range slices.Backward(all) {
		for j := range rows {
			if e.position < line.threshold && line.rows[j].parity(e.bits) != e.right[j] {
				line.rows[j][e.pivot()] = true
			}
		}
	}
	return line
}

// definitionBuild makes the lines of all levels.
func definitionBuild(hashes []uint64, rows int, count uint64, sizes levelSizes) (lines []byte) {
	for _, count := range definitionCounts(count, sizes) {
		hashes = slices.Compact(slices.Sorted(slices.Values(hashes)))
		var bumped []uint64
		for index := range count {
			var own []uint64
			for _, hash := range hashes {
				if of, _ := definitionPlace(hash, count); of == index {
					own = append(own, hash)
				}
			}
			line := definitionSolve(own, count, rows)
			lines = append(lines, line.bytes()...)
			for _, hash := range own {
				if _, position := definitionPlace(hash, count); position >= line.threshold {
					bumped = append(bumped, definitionNext(hash))
				}
			}
		}
		hashes = bumped
	}
	return lines
}
