package bloomline

// Columns of a query engine: the rows that may be present, as a selection.

import (
	"fmt"
	"math/bits"
	"runtime"
	"sync"

	"github.com/bloomline/bloomline/go/internal/engine"
)

// Row is the number of a row in a selection.
type Row interface{ ~uint16 | ~uint32 }

// Integer64 is an integer of 64 bits, with or without a sign. Its bytes are the key: -1 is the largest uint64.
type Integer64 interface{ ~int64 | ~uint64 }

// Integer32 is an integer of 32 bits, with or without a sign: see [Integer64].
type Integer32 interface{ ~int32 | ~uint32 }

// Offset is where a string begins or ends, in a column as Apache Arrow has it.
type Offset interface{ ~int32 | ~int64 }

// SelectHashes returns the numbers of the rows of a column of hashes that may be present, in ascending
// order. It uses the memory of rows if that is large enough for all rows of the column, and allocates
// nothing then:
//
//	rows = bloomline.SelectHashes(filter, hashes, rows)
//
// filter is of any kind. A column of millions of rows is best probed in parts of 1,024 to 4,096 rows, with
// what comes next done for each part. For columns with nulls, see [SelectColumn].
//
// It panics if R cannot count the rows.
func SelectHashes[R Row](filter Prober, hashes []uint64, rows []R) []R {
	return selectRows(filter, len(hashes), rows, func(_ *hashing, first int, room []uint64) []uint64 {
		return hashes[first:][:len(room)]
	})
}

// SelectUint64s is [SelectHashes] for integers: for keys of their 8 bytes, as [HashUint64] hashes them.
func SelectUint64s[R Row, V Integer64](filter Prober, values []V, rows []R) []R {
	return selectRows(filter, len(values), rows, func(by *hashing, first int, room []uint64) []uint64 {
		for i, value := range values[first:][:len(room)] {
			room[i] = by.uint64(uint64(value))
		}
		return room
	})
}

// SelectUint32s is [SelectHashes] for integers of 32 bits: for keys of their 4 bytes, the lowest first. These
// are other keys than the same numbers of 64 bits.
func SelectUint32s[R Row, V Integer32](filter Prober, values []V, rows []R) []R {
	return selectRows(filter, len(values), rows, func(by *hashing, first int, room []uint64) []uint64 {
		for i, value := range values[first:][:len(room)] {
			room[i] = by.uint32(uint32(value))
		}
		return room
	})
}

// SelectStrings is [SelectHashes] for strings.
func SelectStrings[R Row](filter Prober, values []string, rows []R) []R {
	return selectRows(filter, len(values), rows, func(by *hashing, first int, room []uint64) []uint64 {
		for i, value := range values[first:][:len(room)] {
			room[i] = by.string(value)
		}
		return room
	})
}

// SelectBytes is [SelectHashes] for a column of strings or other bytes as Apache Arrow has it: row i is
// data[offsets[i]:offsets[i+1]]. It panics if an offset is negative, below the one before it, or behind data.
func SelectBytes[R Row, O Offset](filter Prober, offsets []O, data []byte, rows []R) []R {
	data = data[:len(data):len(data)]
	return selectRows(filter, max(len(offsets)-1, 0), rows, func(by *hashing, first int, room []uint64) []uint64 {
		for i := range room {
			room[i] = by.hash(data[offsets[first+i]:offsets[first+i+1]])
		}
		return room
	})
}

// SelectPairs returns the numbers of the rows of a column that may be present as [Group.ContainsPairs] answers for
// them: row i in filter members[i] of the group, by hashes[i]. So a join whose build side is in partitions asks for
// each row the filter of its own partition. For rows and what it panics for see [SelectHashes].
func SelectPairs[R Row](group *Group, members []uint32, hashes []uint64, rows []R) []R {
	rows = roomForRows(len(hashes), rows)
	count := 0
	for i, hash := range hashes {
		rows[count] = R(i)
		if group.containsPair(members, i, hash) {
			count++
		}
	}
	runtime.KeepAlive(group)
	return rows[:count]
}

// RefinePairs returns those rows of a selection that may be present, in their order and in the memory of rows: see
// [SelectPairs].
//
// It panics, with rows unchanged, if there is no hash for one of them.
func RefinePairs[R Row](group *Group, members []uint32, hashes []uint64, rows []R) []R {
	checkRowsOf(len(hashes), rows)
	count := 0
	for _, row := range rows {
		rows[count] = row
		if group.containsPair(members, int(row), hashes[row]) {
			count++
		}
	}
	runtime.KeepAlive(group)
	return rows[:count]
}

// RefineHashes returns those rows of a selection that may be present, in their order and in the memory of
// rows, where row i has hash i.
//
// It panics, with rows unchanged, if one of them is not a row of the column.
func RefineHashes[R Row](filter Prober, hashes []uint64, rows []R) []R {
	return refineRows(filter, len(hashes), rows, func(_ *hashing, row int) uint64 { return hashes[row] })
}

// RefineUint64s is [RefineHashes] for integers: see [SelectUint64s].
func RefineUint64s[R Row, V Integer64](filter Prober, values []V, rows []R) []R {
	return refineRows(filter, len(values), rows, func(by *hashing, row int) uint64 { return by.uint64(uint64(values[row])) })
}

// RefineUint32s is [RefineHashes] for integers of 32 bits: see [SelectUint32s].
func RefineUint32s[R Row, V Integer32](filter Prober, values []V, rows []R) []R {
	return refineRows(filter, len(values), rows, func(by *hashing, row int) uint64 { return by.uint32(uint32(values[row])) })
}

// RefineStrings is [RefineHashes] for strings.
func RefineStrings[R Row](filter Prober, values []string, rows []R) []R {
	return refineRows(filter, len(values), rows, func(by *hashing, row int) uint64 { return by.string(values[row]) })
}

// RefineBytes is [RefineHashes] for strings by their offsets: see [SelectBytes]. If it panics for an offset,
// some rows may be gone.
func RefineBytes[R Row, O Offset](filter Prober, offsets []O, data []byte, rows []R) []R {
	data = data[:len(data):len(data)]
	return refineRows(filter, max(len(offsets)-1, 0), rows, func(by *hashing, row int) uint64 {
		return by.hash(data[offsets[row]:offsets[row+1]])
	})
}

// ---- both ----

// hashing is how a filter hashes keys, and memory for a run of rows. Memory that a filter of the caller's own
// is handed cannot be on the stack.
type hashing struct {
	other  Prober // asked for each hash, if set
	block  engine.Block
	engine bool // block is asked
	seed   uint64
	key    [8]byte
	hashes [hashedAhead]uint64
	words  [hashedAhead / 64]uint64
}

var hashings = sync.Pool{New: func() any { return new(hashing) }}

// hashingOf returns how a filter hashes. It must be given back by done.
func hashingOf(filter Prober) *hashing {
	by := hashings.Get().(*hashing)
	switch f := filter.(type) {
	case View:
		by.ofView(&f)
	case *View:
		by.ofView(f)
	case *Mapped:
		by.ofView(&orZero(f).View)
	case interface{ hashedWith() (any, uint64) }:
		self, seed := f.hashedWith()
		by.seed = seed
		// A type that embeds a filter may hash in its own way.
		if self != any(filter) {
			by.other = filter
		}
	default:
		by.other = filter
	}
	return by
}

func (h *hashing) ofView(v *View) {
	h.seed, h.engine = v.seed, v.isBlock()
	if h.engine {
		h.block = v.block
	}
}

func (h *hashing) done() {
	h.other, h.block, h.engine = nil, engine.Block{}, false
	hashings.Put(h)
}

func (h *hashing) hash(key []byte) uint64 {
	switch {
	case h.other != nil:
		return h.other.Hash(key)
	case h.engine:
		return h.block.Hash(key)
	}
	return Hash(key, h.seed)
}

func (h *hashing) string(key string) uint64 {
	if h.other != nil {
		return h.other.Hash([]byte(key)) // a copy: it is not ours, and may keep or change the bytes
	}
	return h.hash(bytesOfKey(key))
}

func (h *hashing) uint64(key uint64) uint64 {
	if h.other == nil && !h.engine {
		return HashUint64(key, h.seed)
	}
	le.PutUint64(h.key[:], key)
	return h.hash(h.key[:])
}

func (h *hashing) uint32(key uint32) uint64 {
	le.PutUint32(h.key[:], key)
	return h.hash(h.key[:4])
}

// roomForRows returns room for the numbers of n rows.
func roomForRows[R Row](n int, rows []R) []R {
	if most := uint64(^R(0)) + 1; uint64(n) > most {
		panic(fmt.Sprintf("bloomline: %d rows of a column, and numbers for %d", n, most))
	}
	if cap(rows) < n {
		rows = make([]R, n)
	}
	return rows[:n]
}

// selectRows selects of n rows. hashesOf returns the hashes of those from first on, as many as there is room
// for, in room or elsewhere.
func selectRows[R Row](filter Prober, n int, rows []R, hashesOf func(by *hashing, first int, room []uint64) []uint64) []R {
	rows = roomForRows(n, rows)
	by := hashingOf(filter)
	defer by.done()
	count := 0
	for first := 0; first < n; first += hashedAhead {
		hashes := hashesOf(by, first, by.hashes[:min(n-first, hashedAhead)])
		for i, word := range filter.ContainsHashes(hashes, by.words[:0]) {
			for ; word != 0; word &= word - 1 {
				rows[count] = R(first + i*64 + bits.TrailingZeros64(word))
				count++
			}
		}
	}
	return rows[:count]
}

// checkRowsOf panics if a row of a selection is not one of n.
func checkRowsOf[R Row](n int, rows []R) {
	for _, row := range rows {
		if uint64(row) >= uint64(n) {
			panic(fmt.Sprintf("bloomline: row %d of a column of %d", row, n))
		}
	}
}

// refineRows keeps those rows of a column of n rows that may be present.
func refineRows[R Row](filter Prober, n int, rows []R, hashOf func(by *hashing, row int) uint64) []R {
	checkRowsOf(n, rows)
	by := hashingOf(filter)
	defer by.done()
	count := 0
	for first := 0; first < len(rows); first += hashedAhead {
		part := rows[first:min(first+hashedAhead, len(rows))]
		for i, row := range part {
			by.hashes[i] = hashOf(by, int(row))
		}
		for i, word := range filter.ContainsHashes(by.hashes[:len(part)], by.words[:0]) {
			for ; word != 0; word &= word - 1 {
				rows[count] = part[i*64+bits.TrailingZeros64(word)]
				count++
			}
		}
	}
	return rows[:count]
}
