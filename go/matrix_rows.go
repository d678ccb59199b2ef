package bloomline

// The rows of matrices: where those of a key begin, and their AND, of one key and of many.

import (
	"fmt"
	"iter"
	"math/bits"
	"runtime"
	"slices"

	"github.com/bloomline/bloomline/go/internal/avx2"
	"github.com/bloomline/bloomline/go/internal/format"
	"github.com/bloomline/bloomline/go/internal/prefetch"
)

// rowsOf is where the rows of a hash begin in their group. Those of the second round may be among those of
// the first.
func (s *MatrixShape) rowsOf(hash uint64, rows *[maxK]int) []int {
	return matrixRowsOf(hash, s.params.K, s.rowBytes(), rows)
}

// matrixRowsOf is the same of so many rows of so many bytes.
func matrixRowsOf(hash uint64, k, size int, rows *[maxK]int) []int {
	rowsOfRound(hash*c1, size, rows[:min(k, lanes)])
	if k > lanes {
		rowsOfRound(hash*c2, size, rows[lanes:k])
	}
	return rows[:k]
}

// rowsOfRound is the same of so many bits of a round as there is room for.
func rowsOfRound(g uint64, size int, rows []int) {
	lane, positions := format.Round(g)
	for i := range rows {
		rows[i] = int((lane&7)<<6|positions&63) * size
		lane, positions = lane+1, positions>>6
	}
}

// groupOf is the group of a hash. There is at least one column.
func (v *MatrixView) groupOf(hash uint64) []byte {
	size := v.shape.groupBytes()
	return v.groups[int(v.shape.group(hash))*size:][:size]
}

// ---- one key ----

// answerRow writes the answers about one hash. There is at least one column.
func (v *MatrixView) answerRow(hash uint64, out []uint64) {
	if len(out) == 1 {
		v.answerWords([]uint64{hash}, out)
		return
	}
	var rows [maxK]int
	andRows(v.groupOf(hash), v.shape.rowsOf(hash, &rows), out)
	out[len(out)-1] &= v.shape.lastWord()
}

// answerWords answers hashes where a row is one word.
func (v *MatrixView) answerWords(hashes, out []uint64) {
	count, k, last := v.shape.params.LineCount, v.shape.params.K, v.shape.lastWord()
	for i, hash := range hashes {
		group := (*[matrixRows * wordBytes]byte)(v.groups[int(format.Index(hash, count))*(matrixRows*wordBytes):])
		word := last & andWords(group, hash*c1, min(k, lanes))
		if k > lanes {
			word &= andWords(group, hash*c2, k-lanes)
		}
		out[i] = word
	}
}

// andWords is the AND of the words that so many bits of a round read.
func andWords(group *[matrixRows * wordBytes]byte, g uint64, count int) uint64 {
	lane, positions := format.Round(g)
	word := ^uint64(0)
	for ; count > 0; count-- {
		word &= le.Uint64(group[((lane&7)<<6|positions&63)*wordBytes:])
		lane, positions = lane+1, positions>>6
	}
	return word
}

// fewWords is how many words Go combines sooner than assembly is called.
const fewWords = 4

// andRows writes the AND of the rows that begin at these bytes, as many words as out has.
func andRows(group []byte, rows []int, out []uint64) {
	if avx2.Available && len(out) >= fewWords && len(rows) > 0 {
		for _, row := range rows {
			_ = group[row:][:wordBytes*len(out)]
		}
		avx2.AndRows(&group[0], &rows[0], uint64(len(rows)), &out[0], uint64(len(out)))
		return
	}
	andRowsInGo(group, rows, out)
}

// andRowsInGo is andRows without assembly.
func andRowsInGo(group []byte, rows []int, out []uint64) {
	if whole := len(out) &^ 15; whole > 0 && len(rows) > 0 {
		// A row twice is no other.
		last, unset := len(rows)-1, ^uint64(0)
		for i := 0; i <= last; i += 3 {
			andThree(out[:whole], unset, group[rows[i]:], group[rows[min(i+1, last)]:], group[rows[min(i+2, last)]:])
			unset = 0
		}
		out, group = out[whole:], group[wordBytes*whole:]
	}
	for len(out) >= 4 {
		a, b, c, d := ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)
		for _, row := range rows {
			at := (*[32]byte)(group[row:])
			a &= le.Uint64(at[0:])
			b &= le.Uint64(at[8:])
			c &= le.Uint64(at[16:])
			d &= le.Uint64(at[24:])
		}
		to := (*[4]uint64)(out)
		to[0], to[1], to[2], to[3] = a, b, c, d
		out, group = out[4:], group[32:]
	}
	for i := range out {
		word := ^uint64(0)
		for _, row := range rows {
			word &= le.Uint64(group[row+wordBytes*i:])
		}
		out[i] = word
	}
}

// andThree ANDs the words of three rows to those that out has, a multiple of 16, after it has set the bits of
// unset. Three rows at a time leave the compiler enough registers: with more, or with the words of a row kept in
// them, it stores and loads some at each step.
func andThree(out []uint64, unset uint64, a, b, c []byte) {
	for len(out) >= 16 {
		to, x, y, z := (*[16]uint64)(out), (*[128]byte)(a), (*[128]byte)(b), (*[128]byte)(c)
		to[0] = (to[0] | unset) & le.Uint64(x[0:]) & le.Uint64(y[0:]) & le.Uint64(z[0:])
		to[1] = (to[1] | unset) & le.Uint64(x[8:]) & le.Uint64(y[8:]) & le.Uint64(z[8:])
		to[2] = (to[2] | unset) & le.Uint64(x[16:]) & le.Uint64(y[16:]) & le.Uint64(z[16:])
		to[3] = (to[3] | unset) & le.Uint64(x[24:]) & le.Uint64(y[24:]) & le.Uint64(z[24:])
		to[4] = (to[4] | unset) & le.Uint64(x[32:]) & le.Uint64(y[32:]) & le.Uint64(z[32:])
		to[5] = (to[5] | unset) & le.Uint64(x[40:]) & le.Uint64(y[40:]) & le.Uint64(z[40:])
		to[6] = (to[6] | unset) & le.Uint64(x[48:]) & le.Uint64(y[48:]) & le.Uint64(z[48:])
		to[7] = (to[7] | unset) & le.Uint64(x[56:]) & le.Uint64(y[56:]) & le.Uint64(z[56:])
		to[8] = (to[8] | unset) & le.Uint64(x[64:]) & le.Uint64(y[64:]) & le.Uint64(z[64:])
		to[9] = (to[9] | unset) & le.Uint64(x[72:]) & le.Uint64(y[72:]) & le.Uint64(z[72:])
		to[10] = (to[10] | unset) & le.Uint64(x[80:]) & le.Uint64(y[80:]) & le.Uint64(z[80:])
		to[11] = (to[11] | unset) & le.Uint64(x[88:]) & le.Uint64(y[88:]) & le.Uint64(z[88:])
		to[12] = (to[12] | unset) & le.Uint64(x[96:]) & le.Uint64(y[96:]) & le.Uint64(z[96:])
		to[13] = (to[13] | unset) & le.Uint64(x[104:]) & le.Uint64(y[104:]) & le.Uint64(z[104:])
		to[14] = (to[14] | unset) & le.Uint64(x[112:]) & le.Uint64(y[112:]) & le.Uint64(z[112:])
		to[15] = (to[15] | unset) & le.Uint64(x[120:]) & le.Uint64(y[120:]) & le.Uint64(z[120:])
		out, a, b, c = out[16:], a[128:], b[128:], c[128:]
	}
}

// ---- many keys ----

const (
	// keysAhead is how many keys lie between the one at work and the one whose rows are asked for.
	keysAhead = 8
	// mostAhead is how many bytes of a row AVX2 asks for: of a longer one, the CPU itself brings what follows. Go
	// asks for the first only, since each takes a call.
	mostAhead = 512
	// hashesInACall is how many hashes a call of assembly takes, of long rows fewer: until it ends, nobody can stop the
	// world.
	hashesInACall = 512
	// wordsInACall is how many words of answers it writes at most.
	wordsInACall = 64 * hashesInACall
)

// calls splits hashes into those of a call of assembly each.
func calls(hashes []uint64, words int) iter.Seq[[]uint64] {
	return slices.Chunk(hashes, min(hashesInACall, max(1, wordsInACall/words)))
}

// answers writes a row of answers for each hash.
func (v *MatrixView) answers(hashes []uint64, out []uint64) {
	words := v.shape.Words()
	if words == 0 || len(hashes) == 0 {
		return
	}
	out = out[:words*len(hashes)]
	switch {
	case avx2.Available:
		var matrix avx2.Matrix
		v.forAVX2(&matrix)
		rest := out
		for some := range calls(hashes, words) {
			avx2.AndRowsOf(&matrix, &some[0], uint64(len(some)), &rest[0])
			rest = rest[min(words*len(some), len(rest)-1):]
		}
	case words == 1:
		v.answerWords(hashes, out)
	default:
		v.answersInGo(hashes, out)
	}
	runtime.KeepAlive(v.owner)
	if len(v.among) > 0 {
		for ; len(out) > 0; out = out[words:] {
			v.among.restrict(0, out[:words])
		}
	}
}

const (
	// wordsSelected is how many words of answers are there at once, where pairs are made of them: they stay in the
	// cache of the CPU next to it.
	wordsSelected = 1024
	// fewSelected take less time to zero.
	fewSelected = 64
)

// selected appends the pairs of a batch.
func (v *MatrixView) selected(hashes []uint64, pairs []MatrixPair) []MatrixPair {
	if most := uint64(1) << 32; uint64(len(hashes)) > most {
		panic(fmt.Sprintf("bloomline: %d hashes, and numbers for %d", len(hashes), most))
	}
	words := v.shape.Words()
	switch {
	case words == 0:
		return pairs
	case words <= fewSelected && len(hashes) <= fewSelected/words:
		var room [fewSelected]uint64
		return v.selectedOfRows(hashes, pairs, room[:])
	case words <= wordsSelected:
		var room [wordsSelected]uint64
		return v.selectedOfRows(hashes, pairs, room[:])
	}
	return v.selectedOfParts(hashes, pairs)
}

// selectedOfRows is selected, where whole rows have room.
func (v *MatrixView) selectedOfRows(hashes []uint64, pairs []MatrixPair, room []uint64) []MatrixPair {
	words, key := v.shape.Words(), uint32(0)
	for some := range slices.Chunk(hashes, len(room)/words) {
		rows := room[:words*len(some)]
		v.answers(some, rows)
		for ; len(rows) > 0; rows = rows[words:] {
			pairs = appendPairs(pairs, key, 0, rows[:words])
			key++
		}
	}
	return pairs
}

// selectedOfParts is selected for wider rows.
func (v *MatrixView) selectedOfParts(hashes []uint64, pairs []MatrixPair) []MatrixPair {
	var rows [maxK]int
	var room [atATime]uint64
	for key, hash := range hashes {
		group, of := v.groupOf(hash), v.shape.rowsOf(hash, &rows)
		for first := 0; first < v.shape.Words(); first += atATime {
			pairs = appendPairs(pairs, uint32(key), first, v.part(group, of, first, &room))
		}
	}
	runtime.KeepAlive(v.owner)
	return pairs
}

// appendPairs appends the columns whose bit is set in some words of a key's row, from word first on.
func appendPairs(pairs []MatrixPair, key uint32, first int, words []uint64) []MatrixPair {
	for i, word := range words {
		for ; word != 0; word &= word - 1 {
			pairs = append(pairs, MatrixPair{key, uint32(64*(first+i) + bits.TrailingZeros64(word))})
		}
	}
	return pairs
}

// isFar reports whether groups are taken to be outside of the CPU's own caches.
func (v *MatrixView) isFar() bool { return len(v.groups) >= farFrom*lineBytes }

// forAVX2 is the matrix as package avx2 has it. There is at least one column.
func (v *MatrixView) forAVX2(matrix *avx2.Matrix) {
	shape := &v.shape
	words := uint64(shape.Words())
	ahead := uint64(0)
	if v.isFar() {
		ahead = min(wordBytes*words, mostAhead)
	}
	matrix.First = &v.groups[:shape.Bytes()][0]
	matrix.Lines = shape.params.LineCount
	matrix.GroupBytes = matrixRows * wordBytes * words
	matrix.RowBytes = wordBytes * words
	matrix.Words = words
	matrix.K = uint64(shape.params.K)
	matrix.Last = shape.lastWord()
	matrix.Ahead = ahead
}

// answersInGo is answers without assembly, for rows of any length.
func (v *MatrixView) answersInGo(hashes, out []uint64) {
	words, last, far := v.shape.Words(), v.shape.lastWord(), v.isFar()
	var groups [keysAhead][]byte
	var rows [keysAhead][maxK]int
	for i := range len(hashes) + keysAhead {
		at := i % keysAhead
		if i >= keysAhead {
			row := out[:words]
			andRowsInGo(groups[at], rows[at][:v.shape.params.K], row)
			row[words-1] &= last
			out = out[words:]
		}
		if i < len(hashes) {
			groups[at] = v.groupOf(hashes[i])
			of := v.shape.rowsOf(hashes[i], &rows[at])
			if far {
				for _, row := range of {
					prefetch.Line(&groups[at][row])
				}
			}
		}
	}
}
