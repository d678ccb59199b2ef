package bloomline

// Probes of matrices.

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"

	"github.com/bloomline/bloomline/go/internal/host"
	"github.com/bloomline/bloomline/go/internal/prefetch"
)

// MatrixView is a [Matrix] in bytes that belong to the caller. It copies nothing and allocates nothing, and
// is made to be passed by value. The bytes must not change while it is used.
//
// The zero MatrixView has no columns.
type MatrixView struct {
	noText
	shape  MatrixShape
	groups []byte
	names  []byte        // 8 bytes for each column, or none
	owner  *host.Mapping // keeps mapped bytes mapped
}

// OpenMatrixView opens the matrix that data is: exactly what [Matrix.MarshalBinary], [Matrix.Save] or the C
// library wrote. It checks all of it, all checksums included, and so reads it from end to end.
//
// Errors: [ErrTruncated], [ErrNotAFilter], [ErrVersion], [ErrLayout], [ErrChecksum], [ErrReserved], [ErrK],
// [ErrLineCount], [ErrColumns]. The view is then the zero MatrixView.
func OpenMatrixView(data []byte) (MatrixView, error) {
	return openMatrixView(data, true)
}

// OpenMatrixViewUnverified is [OpenMatrixView] without the checksum of the groups: it looks at the last 64
// bytes only, for bytes that have been verified before. Whatever the bytes are, probing stays within them.
// But if the groups were damaged, it may say no to a key that was added.
func OpenMatrixViewUnverified(data []byte) (MatrixView, error) {
	return openMatrixView(data, false)
}

func openMatrixView(data []byte, verify bool) (MatrixView, error) {
	body, f, err := readFooter(data)
	if err == nil {
		err = f.check(uint64(len(body)), (*Matrix)(nil).layouts())
	}
	if err != nil {
		return MatrixView{}, err
	}
	return f.matrixView(body, verify)
}

// matrixView is the matrix of a body whose footer has been checked.
func (f *footer) matrixView(body []byte, verify bool) (MatrixView, error) {
	shape, err := f.matrixShape()
	if err != nil {
		return MatrixView{}, err
	}
	names, sums := shape.NameBytes(), shape.ChecksumBytes()
	v := MatrixView{shape: shape, groups: body[:names.Offset], names: body[names.Offset:names.End()]}
	if verify && (f.LinesChecksum != checksum(body) || !shape.isPadded(v.groups) ||
		!bytes.Equal(shape.checksums(v.groups), body[sums.Offset:])) {
		return MatrixView{}, ErrChecksum
	}
	return v, nil
}

// ---- asking ----

// Contains probes all columns for a key: bit c of the answers is that of column c, in out if that is large
// enough, see [Bitmap]. False means definitely absent from the column.
func (v MatrixView) Contains(key []byte, out Bitmap) Bitmap {
	return v.answer(v.Hash(key), nil, out)
}

// ContainsString is [MatrixView.Contains] for a string.
func (v MatrixView) ContainsString(key string, out Bitmap) Bitmap {
	return v.answer(HashString(key, v.shape.params.Seed), nil, out)
}

// ContainsUint64 is [MatrixView.Contains] for an integer: see [HashUint64].
func (v MatrixView) ContainsUint64(key uint64, out Bitmap) Bitmap {
	return v.answer(HashUint64(key, v.shape.params.Seed), nil, out)
}

// ContainsHash is [MatrixView.Contains] for the hash of a key, made by [MatrixView.Hash].
func (v MatrixView) ContainsHash(hash uint64, out Bitmap) Bitmap {
	return v.answer(hash, nil, out)
}

// ContainsHashAmong is [MatrixView.ContainsHash] only for the columns whose bit is set in among, such as the
// tables that are live. The answers of the others are false. Columns behind the end of among are probed. Out
// may be among, but not another part of its words.
func (v MatrixView) ContainsHashAmong(hash uint64, among, out Bitmap) Bitmap {
	return v.answer(hash, among, out)
}

// ContainsHashes is [MatrixView.ContainsHash] for many hashes. The answers for each begin in a word of their
// own: those for hash j are out[j*words:(j+1)*words], where words is [MatrixShape.Words].
func (v MatrixView) ContainsHashes(hashes []uint64, out Bitmap) Bitmap {
	out = out.sized(64 * v.shape.Words() * len(hashes))
	v.answers(hashes, out)
	return out
}

// ContainsBatch is [MatrixView.ContainsHashes] for keys.
func (v MatrixView) ContainsBatch(keys [][]byte, out Bitmap) Bitmap {
	return matrixKeys(&v, keys, out)
}

// ContainsStrings is [MatrixView.ContainsBatch] for strings.
func (v MatrixView) ContainsStrings(keys []string, out Bitmap) Bitmap {
	return matrixKeys(&v, keys, out)
}

func matrixKeys[K bytesOrString](v *MatrixView, keys []K, out Bitmap) Bitmap {
	words := v.shape.Words()
	out = out.sized(64 * words * len(keys))
	rest := out
	eachBatch(v.shape.params.Seed, keys, func(hashes []uint64) {
		v.answers(hashes, rest)
		rest = rest[words*len(hashes):]
	})
	return out
}

// ContainsPairs probes one column for each hash: bit i of the answers is that of column columns[i] for
// hashes[i]. Where there is no such column, or no number for a hash, the answer is true.
func (v MatrixView) ContainsPairs(columns []uint32, hashes []uint64, out Bitmap) Bitmap {
	out = out.sized(len(hashes))
	for i, hash := range hashes {
		if i >= len(columns) || uint64(columns[i]) >= uint64(v.shape.columns) || v.one(hash, int(columns[i])) {
			out[i/64] |= 1 << (i % 64)
		}
	}
	return out
}

// CountHash returns how many columns may have the key of a hash.
func (v MatrixView) CountHash(hash uint64) int {
	return v.count(hash)
}

// AnyHash reports whether any column may have the key of a hash. It reads no more than it needs. That of the
// zero MatrixView is true.
func (v MatrixView) AnyHash(hash uint64) bool {
	return v.any(hash, nil)
}

// AnyHashAmong is [MatrixView.AnyHash] only for the columns whose bit is set in among. Columns behind the end
// of among are probed.
func (v MatrixView) AnyHashAmong(hash uint64, among Bitmap) bool {
	return v.any(hash, among)
}

// Prefetch asks for the rows that a probe for a hash reads, or their beginning, and does not wait for them.
func (v MatrixView) Prefetch(hash uint64) {
	v.prefetch(hash)
}

// Hash returns the hash of a key with the seed of the matrix.
func (v MatrixView) Hash(key []byte) uint64 {
	return Hash(key, v.shape.params.Seed)
}

// ---- what it is ----

// Shape returns the shape of the matrix, which is what a reader of single ranges needs.
func (v MatrixView) Shape() MatrixShape { return v.shape }

// Params returns line count, k and seed of the columns.
func (v MatrixView) Params() Params { return v.shape.params }

// Columns returns the number of columns.
func (v MatrixView) Columns() int { return v.shape.columns }

// Name returns the name of a column; false if it has none.
func (v MatrixView) Name(column int) (uint64, bool) {
	if column < 0 || column >= len(v.names)/wordBytes {
		return 0, false
	}
	name := le.Uint64(v.names[column*wordBytes:])
	runtime.KeepAlive(v.owner)
	return name, true
}

// String describes the matrix in a line, whose bytes fmt would print otherwise.
func (v MatrixView) String() string {
	return fmt.Sprintf("bloomline.MatrixView{%d columns, %d lines, k %d}", v.shape.columns, v.shape.params.LineCount, v.shape.params.K)
}

// ---- rows ----

// answer answers one hash. Columns behind the end of among count.
func (v *MatrixView) answer(hash uint64, among, out Bitmap) Bitmap {
	if len(among) > 0 && cap(out) > 0 && &among[0] == &out[:1][0] {
		among = slices.Clone(among)
	}
	out = out.sized(v.shape.columns)
	if len(out) > 0 {
		v.answerRow(hash, out)
		for i, word := range among[:min(len(among), len(out))] {
			out[i] &= word
		}
	}
	runtime.KeepAlive(v.owner)
	return out
}

// atATime is how many words of a row are combined before they are looked at, where only some may be needed.
const atATime = 64

// part is the answers about the hash of these rows, from word first on.
func (v *MatrixView) part(group []byte, rows []int, first int, room *[atATime]uint64) []uint64 {
	words := v.shape.Words()
	part := room[:min(words-first, atATime)]
	andRows(group[wordBytes*first:], rows, part)
	if first+len(part) == words {
		part[len(part)-1] &= v.shape.lastWord()
	}
	return part
}

func (v *MatrixView) count(hash uint64) (count int) {
	var rows [maxK]int
	var room [atATime]uint64
	of := v.shape.rowsOf(hash, &rows)
	for first := 0; first < v.shape.Words(); first += atATime {
		count += Bitmap(v.part(v.groupOf(hash), of, first, &room)).Count()
	}
	runtime.KeepAlive(v.owner)
	return count
}

func (v *MatrixView) any(hash uint64, among Bitmap) bool {
	var rows [maxK]int
	var room [atATime]uint64
	of := v.shape.rowsOf(hash, &rows)
	for first := 0; first < v.shape.Words(); first += atATime {
		for i, word := range v.part(v.groupOf(hash), of, first, &room) {
			if first+i < len(among) {
				word &= among[first+i]
			}
			if word != 0 {
				return true
			}
		}
	}
	runtime.KeepAlive(v.owner)
	return v.shape.columns == 0
}

// one is the answer of a column.
func (v *MatrixView) one(hash uint64, column int) bool {
	var rows [maxK]int
	group, set := v.groupOf(hash)[column/8:], byte(255)
	for _, row := range v.shape.rowsOf(hash, &rows) {
		set &= group[row]
	}
	runtime.KeepAlive(v.owner)
	return set>>(column%8)&1 != 0
}

func (v *MatrixView) prefetch(hash uint64) {
	if v.shape.columns == 0 {
		return
	}
	var rows [maxK]int
	group := v.groupOf(hash)
	for _, row := range v.shape.rowsOf(hash, &rows) {
		prefetch.Line(&group[row])
	}
	runtime.KeepAlive(v.owner)
}
