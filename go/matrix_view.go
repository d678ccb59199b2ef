package bloomline

// Probes of matrices.

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

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
	among  Bitmap        // which columns count; those behind its end do
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
	return v.answer(v.Hash(key), out)
}

// ContainsString is [MatrixView.Contains] for a string.
func (v MatrixView) ContainsString(key string, out Bitmap) Bitmap {
	return v.answer(HashString(key, v.shape.params.Seed), out)
}

// ContainsUint64 is [MatrixView.Contains] for an integer: see [HashUint64].
func (v MatrixView) ContainsUint64(key uint64, out Bitmap) Bitmap {
	return v.answer(HashUint64(key, v.shape.params.Seed), out)
}

// ContainsHash is [MatrixView.Contains] for the hash of a key, made by [MatrixView.Hash].
func (v MatrixView) ContainsHash(hash uint64, out Bitmap) Bitmap {
	return v.answer(hash, out)
}

// Among returns a view of the columns whose bit is set in live, such as the tables that are live. In its answers
// the others do not have the key. Columns behind the end of live are probed; nil is for all columns. A second Among
// replaces the first; [MatrixView.ColumnView] does not look at live. Live must not change while the view is used. But
// it may lie in what a call writes its answers to, if the view is then used no more:
//
//	answers = m.View().Among(answers).ContainsHash(hash, answers)
func (v MatrixView) Among(live Bitmap) MatrixView {
	v.among = live
	return v
}

// ContainsHashes is [MatrixView.ContainsHash] for many hashes. The answers for each begin in a word of their
// own: those for hash j are out[j*words:(j+1)*words], where words is [MatrixShape.Words].
func (v MatrixView) ContainsHashes(hashes []uint64, out Bitmap) Bitmap {
	v.among = v.amongApart(out)
	out = out.sizedRows(len(hashes), v.shape.Words())
	v.answers(hashes, out)
	return out
}

// ContainsBatch is [MatrixView.ContainsHashes] for keys.
func (v MatrixView) ContainsBatch(keys [][]byte, out Bitmap) Bitmap {
	return matrixKeys(v, keys, out)
}

// ContainsStrings is [MatrixView.ContainsBatch] for strings.
func (v MatrixView) ContainsStrings(keys []string, out Bitmap) Bitmap {
	return matrixKeys(v, keys, out)
}

func matrixKeys[K bytesOrString](v MatrixView, keys []K, out Bitmap) Bitmap {
	words := v.shape.Words()
	v.among = v.amongApart(out)
	out = out.sizedRows(len(keys), words)
	rest := out
	eachBatch(v.shape.params.Seed, keys, func(hashes []uint64) {
		v.answers(hashes, rest)
		rest = rest[words*len(hashes):]
	})
	return out
}

// MatrixPair is a key that a column may have: the number of the key in its batch, and the number of the column.
type MatrixPair struct{ Key, Column uint32 }

// SelectHashes is [MatrixView.ContainsHashes] with the answers that are true as pairs, in ascending order: by key,
// then by column. It uses the memory of pairs if that is large enough.
//
// It panics if there are more than 2^32 hashes.
func (v MatrixView) SelectHashes(hashes []uint64, pairs []MatrixPair) []MatrixPair {
	return v.selected(hashes, pairs[:0])
}

// ContainsPairs probes one column for each hash: bit i of the answers is that of column columns[i] for
// hashes[i]. Where there is no such column, or no number for a hash, the answer is true.
func (v MatrixView) ContainsPairs(columns []uint32, hashes []uint64, out Bitmap) Bitmap {
	v.among = v.amongApart(out)
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
	return v.any(hash)
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

// amongApart returns which columns count: a copy of them if answers are to be written where they lie.
func (v *MatrixView) amongApart(out Bitmap) Bitmap {
	if len(v.among) == 0 || cap(out) == 0 {
		return v.among
	}
	among, to := uintptr(unsafe.Pointer(&v.among[0])), uintptr(unsafe.Pointer(&out[:1][0]))
	if among < to+wordBytes*uintptr(cap(out)) && to < among+wordBytes*uintptr(len(v.among)) {
		return slices.Clone(v.among)
	}
	return v.among
}

// restrict unsets the bits of columns that do not count, in the words of a row from word first on.
func (among Bitmap) restrict(first int, words []uint64) {
	if first < len(among) {
		for i, word := range among[first:min(len(among), first+len(words))] {
			words[i] &= word
		}
	}
}

// answer answers one hash.
func (v *MatrixView) answer(hash uint64, out Bitmap) Bitmap {
	among := v.amongApart(out)
	out = out.sized(v.shape.columns)
	if len(out) > 0 {
		v.answerRow(hash, out)
		among.restrict(0, out)
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
	v.among.restrict(first, part)
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

func (v *MatrixView) any(hash uint64) bool {
	var rows [maxK]int
	var room [atATime]uint64
	of := v.shape.rowsOf(hash, &rows)
	for first := 0; first < v.shape.Words(); first += atATime {
		for _, word := range v.part(v.groupOf(hash), of, first, &room) {
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
	if column/64 < len(v.among) && !v.among.Has(column) {
		return false
	}
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
