package bloomline

// Columns of any type, also with nulls: to selections, to bytes and to bits.

import (
	"fmt"
	"math/bits"
	"unsafe"
)

// Column is a column of keys, of which some rows may be null. It refers to the memory that it was made of. The zero
// Column has no rows.
//
//	column := bloomline.Uint64sColumn(ids, bloomline.Validity{Bits: valid})
//	rows = bloomline.SelectColumn(filter, column, rows)
type Column struct {
	noText
	rows     int
	hashes   []uint64
	uint64s  []uint64
	uint32s  []uint32
	strings  []string
	short    []int32 // offsets into data
	long     []int64
	data     []byte
	validity Validity
}

// Nulls is what a probe says of a row without a value.
type Nulls uint8

const (
	// NullsAbsent: no such row may be present, as in a join, where NULL equals nothing.
	NullsAbsent Nulls = iota
	// NullsPresent: every such row may be present.
	NullsPresent
)

// HashesColumn returns a column of hashes. For no nulls, pass Validity{}. It panics if the first bit of the validity
// is negative.
func HashesColumn(hashes []uint64, validity Validity) Column {
	return Column{rows: len(hashes), hashes: hashes}.with(validity)
}

// Uint64sColumn is [HashesColumn] for integers: for keys of their 8 bytes, as [HashUint64] hashes them.
func Uint64sColumn[V Integer64](values []V, validity Validity) Column {
	return Column{rows: len(values), uint64s: withoutSign[uint64](values)}.with(validity)
}

// Uint32sColumn is [HashesColumn] for integers of 32 bits: for keys of their 4 bytes, the lowest first.
func Uint32sColumn[V Integer32](values []V, validity Validity) Column {
	return Column{rows: len(values), uint32s: withoutSign[uint32](values)}.with(validity)
}

// StringsColumn is [HashesColumn] for strings.
func StringsColumn(values []string, validity Validity) Column {
	return Column{rows: len(values), strings: values}.with(validity)
}

// BytesColumn is [HashesColumn] for strings or other bytes as Apache Arrow has them: row i is
// data[offsets[i]:offsets[i+1]]. It panics, too, if an offset is negative, below the one before it, or behind data.
func BytesColumn(offsets []int32, data []byte, validity Validity) Column {
	checkOffsets(offsets, data)
	return Column{rows: max(len(offsets)-1, 0), short: offsets, data: data}.with(validity)
}

// LargeBytesColumn is [BytesColumn] for offsets of 64 bits.
func LargeBytesColumn(offsets []int64, data []byte, validity Validity) Column {
	checkOffsets(offsets, data)
	return Column{rows: max(len(offsets)-1, 0), long: offsets, data: data}.with(validity)
}

// withoutSign is the same integers as U, which is as wide as they are.
func withoutSign[U uint32 | uint64, V Integer32 | Integer64](values []V) []U {
	return unsafe.Slice((*U)(unsafe.Pointer(unsafe.SliceData(values))), len(values))
}

func (c Column) with(validity Validity) Column {
	validity.check()
	c.validity = validity
	return c
}

// Len returns how many rows there are.
func (c Column) Len() int { return c.rows }

// SelectColumn returns the numbers of the rows that may be present: see [SelectHashes].
func SelectColumn[R Row](filter Prober, column Column, rows []R) []R {
	rows = roomForRows(column.rows, rows)
	count := 0
	column.answer(filter, func(first int, word uint64) {
		for ; word != 0; word &= word - 1 {
			rows[count] = R(first + bits.TrailingZeros64(word))
			count++
		}
	})
	return rows[:count]
}

// RefineColumn returns those rows of a selection that may be present, in their order and in the memory of rows.
//
// It panics, with rows unchanged, if one of them is not a row of the column.
func RefineColumn[R Row](filter Prober, column Column, rows []R) []R {
	checkRowsOf(column.rows, rows)
	by := hashingOf(filter)
	defer by.done()
	validity, count := &column.validity, 0
	for first := 0; first < len(rows); first += hashedAhead {
		part := rows[first:min(first+hashedAhead, len(rows))]
		for i, row := range part {
			by.hashes[i] = column.hash(by, int(row))
		}
		answers := filter.ContainsHashes(by.hashes[:len(part)], by.words[:0])
		for i, row := range part {
			maybe := answers.Has(i)
			if validity.Bits != nil && !validity.has(int(row)) {
				maybe = validity.Nulls == NullsPresent
			}
			rows[count] = row
			if maybe {
				count++
			}
		}
	}
	return rows[:count]
}

// MaskColumn returns a byte for each row: 1 if it may be present, 0 if it is definitely absent. It uses the memory
// of out if that is large enough.
func MaskColumn(filter Prober, column Column, out []byte) []byte {
	if cap(out) < column.rows {
		out = make([]byte, column.rows)
	}
	out = out[:column.rows]
	column.answer(filter, func(first int, word uint64) {
		for i := range out[first:min(first+64, len(out))] {
			out[first+i] = byte(word >> i & 1)
		}
	})
	return out
}

// ContainsColumn returns a bit for each row, which is set if it may be present. It uses the memory of out if that is
// large enough: see [Bitmap].
func ContainsColumn(filter Prober, column Column, out Bitmap) Bitmap {
	out = out.sized(column.rows)
	column.answer(filter, func(first int, word uint64) { out[first/64] = word })
	return out
}

// HashColumn returns the hashes of the rows of a column, in their order: those of [Hash]. It uses the memory of out if
// that is large enough. So one column is hashed once for several filters of one seed.
//
// The hash of a row that is null is 0, whatever lies in its place. Probe these hashes as a [HashesColumn] with the same
// validity, which says whether a null may be present.
func HashColumn(column Column, seed uint64, out []uint64) []uint64 {
	if cap(out) < column.rows {
		out = make([]uint64, column.rows)
	}
	out = out[:column.rows]
	by := hashings.Get().(*hashing)
	defer by.done()
	by.seed = seed
	for i := range out {
		if column.validity.Bits != nil && !column.validity.has(i) {
			out[i] = 0
			continue
		}
		out[i] = column.hash(by, i)
	}
	return out
}

// answer calls do with the answers about up to 64 rows, from first on, until all are done.
func (c *Column) answer(filter Prober, do func(first int, word uint64)) {
	by := hashingOf(filter)
	defer by.done()
	for first := 0; first < c.rows; first += hashedAhead {
		hashes := c.hashRun(by, first, by.hashes[:min(c.rows-first, hashedAhead)])
		for i, word := range filter.ContainsHashes(hashes, by.words[:0]) {
			at := first + 64*i
			do(at, c.validity.settle(word, at, min(c.rows-at, 64)))
		}
	}
}

// hashRun returns the hashes of rows from first on, as many as there is room for, in room or elsewhere.
func (c *Column) hashRun(by *hashing, first int, room []uint64) []uint64 {
	if c.hashes != nil {
		return c.hashes[first:][:len(room)]
	}
	for i := range room {
		room[i] = c.hash(by, first+i)
	}
	return room
}

// hash returns the hash of a row.
func (c *Column) hash(by *hashing, row int) uint64 {
	switch {
	case c.hashes != nil:
		return c.hashes[row]
	case c.uint64s != nil:
		return by.uint64(c.uint64s[row])
	case c.uint32s != nil:
		return by.uint32(c.uint32s[row])
	case c.strings != nil:
		return by.string(c.strings[row])
	case c.short != nil:
		return by.hash(c.data[c.short[row]:c.short[row+1]])
	}
	return by.hash(c.data[c.long[row]:c.long[row+1]])
}

// ---- what columns and builders share ----

func (v *Validity) check() {
	if v.First < 0 {
		panic(fmt.Sprintf("bloomline: the first row of a column at bit %d", v.First))
	}
}

// settle returns the answers about n rows from first on, with those about nulls.
func (v *Validity) settle(word uint64, first, n int) uint64 {
	if v.Bits == nil {
		return word
	}
	valid := uint64(0)
	for i := range n {
		if v.has(first + i) {
			valid |= 1 << i
		}
	}
	if v.Nulls == NullsPresent {
		return word | ^valid&(^uint64(0)>>(64-n))
	}
	return word & valid
}

// checkOffsets panics unless they ascend within the data.
func checkOffsets[O Offset](offsets []O, data []byte) {
	before := O(0)
	for i, offset := range offsets {
		if offset < before || uint64(offset) > uint64(len(data)) {
			panic(fmt.Sprintf("bloomline: offset %d of a column is %d, after %d, of %d bytes", i, offset, before, len(data)))
		}
		before = offset
	}
}
