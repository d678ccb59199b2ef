package bloomline

// Batches of keys in matrices: at every seam of their loops, held to the definition.

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/bloomline/bloomline/go/internal/avx2"
)

// definitionMatrixRow is the answers of all columns, from any bytes.
func definitionMatrixRow(groups []byte, lines uint64, columns, k int, hash uint64) []uint64 {
	var rows []int
	for lane, set := range definitionMask(hash, k) {
		for bit := range 64 {
			if set>>bit&1 == 1 {
				rows = append(rows, 64*lane+bit)
			}
		}
	}
	answers, group := make([]uint64, (columns+63)/64), definitionIndex(hash, lines)
	for column := range columns {
		if !slices.ContainsFunc(rows, func(row int) bool { return !definitionMatrixBit(groups, columns, group, row, column) }) {
			answers[column/64] |= 1 << (column % 64)
		}
	}
	return answers
}

// anyMatrix is a matrix of any bytes, three in four bits of them set, also where no column is.
func anyMatrix(t testing.TB, groups []byte, params Params, columns int) MatrixView {
	t.Helper()
	shape, err := NewMatrixShape(params, columns)
	if err != nil {
		t.Fatal(err)
	}
	if groups == nil {
		groups = make([]byte, shape.Bytes())
	}
	for i, word := range randomHashes(2*len(groups)/8, uint64(columns)) {
		at := groups[i/2*8:]
		le.PutUint64(at, le.Uint64(at)|word)
	}
	return MatrixView{shape: shape, groups: groups}
}

func TestMatrixBatches(t *testing.T) {
	withAndWithoutAVX2(t, func(t *testing.T) {
		for _, columns := range []int{1, 64, 65, 190, 256, 257, 512, 600, 1000, 1100, 1600, 5000} {
			for _, far := range []bool{false, true} {
				lines := uint64(3)
				if far {
					lines = farFrom/uint64((columns+63)/64*64) + 1
				}
				for _, k := range []int{1, 2, 3, 6, 7, 8, 9, 16} {
					if far && k != 6 && k != 9 || columns > 1000 && k < 6 {
						continue
					}
					v := anyMatrix(t, nil, Params{LineCount: lines, K: k}, columns)
					if v.isFar() != far {
						t.Fatal(v, far)
					}
					checkMatrixBatches(t, v, v.groups)
				}
			}
		}
	})
}

// checkMatrixBatches asks for batches of many lengths, and looks for words written behind them.
func checkMatrixBatches(t *testing.T, v MatrixView, groups []byte) {
	t.Helper()
	const most, behind = 35, 0x5A5A5A5A5A5A5A5A
	params, words := v.Params(), v.Shape().Words()
	hashes := append([]uint64{0, math.MaxUint64}, randomHashes(most-2, uint64(params.K))...)
	var want []uint64
	for _, hash := range hashes {
		want = append(want, definitionMatrixRow(groups, params.LineCount, v.Columns(), params.K, hash)...)
	}
	room := make(Bitmap, most*words+1)
	for _, n := range []int{0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 18, most} {
		for i := range room {
			room[i] = behind
		}
		first := (most - n) / 2
		got := v.ContainsHashes(hashes[first:first+n], room[:0:n*words])
		if !slices.Equal(got, want[first*words:(first+n)*words]) {
			t.Fatalf("%v: a batch of %d hashes has other answers", v, n)
		}
		if i := slices.IndexFunc(room[n*words:], func(word uint64) bool { return word != behind }); i >= 0 {
			t.Fatalf("%v: a batch of %d hashes writes behind its answers", v, n)
		}
	}
	// As pairs; of every other column.
	if got := v.SelectHashes(hashes, nil); !slices.Equal(got, pairsOf(want, words)) {
		t.Fatalf("%v: other pairs", v)
	}
	live := slices.Repeat(Bitmap{0x5555555555555555}, words)
	some := slices.Clone(want)
	for i := range some {
		some[i] &= 0x5555555555555555
	}
	if got := v.Among(live).ContainsHashes(hashes, nil); !slices.Equal(got, some) {
		t.Fatalf("%v: other rows of every other column", v)
	}
	if got := v.Among(live).SelectHashes(hashes, nil); !slices.Equal(got, pairsOf(some, words)) {
		t.Fatalf("%v: other pairs of every other column", v)
	}
	var single Bitmap
	for i, hash := range hashes {
		if single = v.ContainsHash(hash, single); !slices.Equal(single, want[i*words:(i+1)*words]) {
			t.Fatalf("%v: hash %x has other answers", v, hash)
		}
	}
}

// As many columns as 16 bits number, and more, whose pairs are made of parts of a row: with keys at both ends and in
// the middle.
func TestWideMatrix(t *testing.T) {
	withAndWithoutAVX2(t, func(t *testing.T) {
		for _, columns := range []int{1 << 16, 1<<16 + 1} {
			params := Params{LineCount: 2, K: 6, Seed: 7}
			m, inside := orPanic(NewMatrix(params, columns)), []int{0, 4095, 32766, 32767, 32768, 65472, 65535, columns - 1}
			hashes := randomHashes(len(inside)+3, 9)
			for i, column := range inside {
				filter := orPanic(NewWithParams(params))
				filter.AddHash(hashes[i])
				if column == 32767 {
					if err := m.SetColumn(column, filter.View()); err != nil {
						t.Fatal(err)
					}
				} else if err := m.AddHash(column, hashes[i]); err != nil {
					t.Fatal(err)
				}
			}
			var want Bitmap
			for _, hash := range hashes {
				row := definitionMatrixRow(m.view.groups, params.LineCount, columns, params.K, hash)
				if got := m.ContainsHash(hash, nil); !slices.Equal(got, row) || m.CountHash(hash) != Bitmap(row).Count() {
					t.Fatalf("%d columns: hash %x has other answers", columns, hash)
				}
				want = append(want, row...)
			}
			words := m.Shape().Words()
			for i, column := range inside {
				if !want.Has(64*words*i + column) {
					t.Fatalf("column %d lacks its key", column)
				}
			}
			if !slices.Equal(m.ContainsHashes(hashes, nil), want) || !slices.Equal(m.SelectHashes(hashes, nil), pairsOf(want, words)) {
				t.Fatalf("%d columns: a batch has other answers", columns)
			}
			live := slices.Repeat(Bitmap{math.MaxUint64}, words)
			for _, column := range []int{32767, columns - 1} {
				live[column/64] &^= 1 << (column % 64)
			}
			some := slices.Clone(want)
			for i := range some {
				some[i] &= live[i%words]
			}
			view := m.View().Among(live)
			if !slices.Equal(view.ContainsHashes(hashes, nil), some) || !slices.Equal(view.SelectHashes(hashes, nil), pairsOf(some, words)) {
				t.Fatalf("%d columns: a batch has other answers among some", columns)
			}
			for i, column := range inside[:7] {
				filter := orPanic(NewWithParams(params))
				filter.AddHash(hashes[i])
				if column == columns-1 {
					filter.AddHash(hashes[7])
				}
				if got := orPanic(m.Column(column)); !slices.Equal(bytesOf(got.view.all), bytesOf(filter.view.all)) {
					t.Errorf("column %d of %d is another", column, columns)
				}
			}
			for _, column := range []int{32768, columns - 1} {
				if err := m.ClearColumn(column); err != nil || m.ContainsHash(hashes[4], nil).Has(column) {
					t.Error(column, err)
				}
			}
			if m.ClearColumn(columns) != ErrColumn || !m.ContainsHash(hashes[3], nil).Has(32767) || m.ContainsHash(hashes[7], nil).Has(columns-1) {
				t.Error("other columns were cleared")
			}
		}
	})
}

func BenchmarkMatrixBatch(b *testing.B) {
	for _, size := range []struct{ columns, lines int }{{64, 1 << 4}, {64, 1 << 14}, {512, 1 << 4}, {512, 1 << 13}, {4096, 1 << 4}, {4096, 1 << 9}} {
		v := anyMatrix(b, nil, Params{LineCount: uint64(size.lines), K: 6}, size.columns)
		many, out := randomHashes(1<<15, 9), make(Bitmap, 1000*v.Shape().Words())
		ask := func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				v.ContainsHashes(many[i%32*1000:][:1000], out)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/hash")
		}
		name := fmt.Sprintf("%d of %d lines", size.columns, size.lines)
		b.Run(name, ask)
		was := avx2.Available
		avx2.Available = false
		b.Run(name+", plain Go", ask)
		avx2.Available = was
	}
}
