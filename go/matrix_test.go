package bloomline

// The matrix: held to its definition, bit by bit, and to the filters that its columns are.

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bloomline/bloomline/go/internal/avx2"
)

// definitionMatrixBit is bit column of row of a group.
func definitionMatrixBit(groups []byte, columns int, group uint64, row, column int) bool {
	at := (int(group)*512+row)*((columns+63)/64*8) + column/8
	return groups[at]>>(column%8)&1 == 1
}

// definitionMatrixContains is the answer of a column.
func definitionMatrixContains(groups []byte, lines uint64, columns, k, column int, hash uint64) bool {
	group, mask := definitionIndex(hash, lines), definitionMask(hash, k)
	for row := range 512 {
		if mask[row/64]>>(row%64)&1 == 1 && !definitionMatrixBit(groups, columns, group, row, column) {
			return false
		}
	}
	return true
}

// matrixOf is a matrix of filters of some keys each, those filters, and all hashes.
func matrixOf(t testing.TB, params Params, columns int) (*Matrix, []*Filter, []uint64) {
	t.Helper()
	m, err := NewMatrix(params, columns)
	if err != nil {
		t.Fatal(err)
	}
	filters, views, hashes := make([]*Filter, columns), make([]View, columns), []uint64(nil)
	for column := range filters {
		own := randomHashes(4*int(params.LineCount), uint64(column)+1)
		filters[column] = orPanic(NewWithParams(params))
		filters[column].AddHashes(own)
		views[column] = filters[column].View()
		hashes = append(hashes, own[:2]...)
	}
	if err := m.SetColumns(0, views, 1); err != nil {
		t.Fatal(err)
	}
	return m, filters, append(hashes, goldenAwkward...)
}

// withAndWithoutAVX2 runs a test both ways, if the CPU has it.
func withAndWithoutAVX2(t *testing.T, test func(t *testing.T)) {
	was := avx2.Available
	defer func() { avx2.Available = was }()
	t.Run("go", func(t *testing.T) { avx2.Available = false; test(t) })
	if was {
		t.Run("go/avx2", func(t *testing.T) { avx2.Available = true; test(t) })
	}
}

func TestMatrixIsItsDefinition(t *testing.T) {
	withAndWithoutAVX2(t, func(t *testing.T) {
		for _, columns := range []int{1, 2, 63, 64, 65, 128, 200, 256, 300, 1100, 1500, 4200} {
			for _, k := range []int{1, 6, 8, 9, 16} {
				params := Params{LineCount: uint64(columns%5 + 1), K: k, Seed: 7}
				if columns > 300 && k != 6 && k != 9 {
					continue
				}
				m, filters, hashes := matrixOf(t, params, columns)
				checkMatrix(t, m, filters, hashes[len(hashes)-min(len(hashes), 40):])
			}
		}
	})
}

// pairsOf is rows of so many words as pairs.
func pairsOf(rows Bitmap, words int) (pairs []MatrixPair) {
	for bit := range 64 * len(rows) {
		if rows.Has(bit) {
			pairs = append(pairs, MatrixPair{uint32(bit / (64 * words)), uint32(bit % (64 * words))})
		}
	}
	return pairs
}

// checkMatrix holds every way to ask to the filters and to the definition.
func checkMatrix(t *testing.T, m *Matrix, filters []*Filter, hashes []uint64) {
	t.Helper()
	what, columns, params := m.String(), len(filters), m.Params()
	m.SetChecksums(true)
	data := orPanic(m.MarshalBinary())
	view, err := OpenMatrixView(data)
	if err != nil || m.Columns() != columns || view.Shape() != m.Shape() || view.Params() != params {
		t.Fatal(what, err)
	}
	shape, words := m.Shape(), m.Shape().Words()
	among := make(Bitmap, words)
	for i := range among {
		among[i] = 0x9249249249249249 << (i % 3)
	}
	some := view.Among(among)
	read := func(r ByteRange) []byte { return data[r.Offset:r.End()] }
	var all, allLive Bitmap
	var pairs []uint32
	var pairHashes []uint64
	var out Bitmap
	rows := m.ContainsHashes(hashes, slices.Repeat(Bitmap{math.MaxUint64}, words*len(hashes)))
	var pairAnswers []bool
	for j, hash := range hashes {
		want, live := make(Bitmap, words), make(Bitmap, words)
		for column, filter := range filters {
			if filter.ContainsHash(hash) != definitionMatrixContains(data, params.LineCount, columns, params.K, column, hash) {
				t.Fatalf("%s: column %d is not its filter by the definition", what, column)
			}
			if filter.ContainsHash(hash) {
				want[column/64] |= 1 << (column % 64)
				live[column/64] |= 1 << (column % 64) & among[column/64]
			}
		}
		group, from := shape.Range(hash), []byte(nil)
		for i, row := range shape.RowRanges(hash) {
			if row.Offset < group.Offset || row.End() > group.End() || i >= params.K {
				t.Fatalf("%s: row %v of %v", what, row, group)
			}
			from = append(from, read(row)...)
		}
		m.Prefetch(hash)
		inGroup, err := shape.ContainsIn(read(group), hash, nil)
		inRows, err2 := shape.ContainsInRows(from, hash, nil)
		if err := errors.Join(err, err2, shape.VerifyRange(group, read(group), read(shape.ChecksumOf(group)))); err != nil {
			t.Fatal(what, err)
		}
		out = m.ContainsHash(hash, out)
		for _, got := range []Bitmap{
			out, view.ContainsHash(hash, nil), rows[j*words : (j+1)*words], inGroup, inRows,
			view.Among(nil).ContainsHash(hash, nil), view.Among(Bitmap{math.MaxUint64}).ContainsHash(hash, nil),
		} {
			if !slices.Equal(got, want) {
				t.Fatalf("%s: hash %x: %x, want %x", what, hash, got, want)
			}
		}
		if got := some.ContainsHash(hash, out); !slices.Equal(got, live) {
			t.Fatalf("%s: hash %x among some: %x, want %x", what, hash, got, live)
		}
		if same := slices.Clone(among); !slices.Equal(m.View().Among(same).ContainsHash(hash, same[:0]), live) {
			t.Fatalf("%s: hash %x among what is written over: want %x", what, hash, live)
		}
		if m.CountHash(hash) != want.Count() || m.AnyHash(hash) != (want.Count() > 0) ||
			some.CountHash(hash) != live.Count() || some.AnyHash(hash) != (live.Count() > 0) || view.Among(make(Bitmap, words)).AnyHash(hash) {
			t.Fatalf("%s: hash %x: counted as %d", what, hash, m.CountHash(hash))
		}
		all, allLive = append(all, want...), append(allLive, live...)
		for _, column := range []int{j % columns, columns - 1, columns} {
			pairs, pairHashes = append(pairs, uint32(column)), append(pairHashes, hash)
			pairAnswers = append(pairAnswers, column == columns || want.Has(column))
		}
	}
	same := slices.Clone(among)
	// A row of the answers to another batch, which are overwritten.
	answered := view.ContainsHashes(hashes, nil)
	row := answered[len(answered)-words:]
	wanted := view.Among(slices.Clone(row)).ContainsHashes(hashes, nil)
	if got := view.Among(row).ContainsHashes(hashes, answered); !slices.Equal(got, wanted) {
		t.Error("answers written over the columns that count")
	}
	if got := view.Among(same).ContainsHashes(hashes, same[:0]); !slices.Equal(got, allLive) || !slices.Equal(some.ContainsHashes(hashes, out), allLive) {
		t.Fatalf("%s: other rows among some", what)
	}
	if !slices.Equal(m.SelectHashes(hashes, nil), pairsOf(all, words)) || !slices.Equal(some.SelectHashes(hashes, make([]MatrixPair, 3)), pairsOf(allLive, words)) {
		t.Fatalf("%s: other pairs", what)
	}
	answers := m.ContainsPairs(pairs[:len(pairs)-1], pairHashes, nil)
	inSome := some.ContainsPairs(pairs, pairHashes, nil)
	for i, want := range pairAnswers {
		column := int(pairs[i])
		if live := want && (column == columns || among.Has(column)); inSome.Has(i) != live {
			t.Fatalf("%s: pair %d of column %d among some: want %v", what, i, column, live)
		}
		if answers.Has(i) != (want || i == len(pairs)-1) {
			t.Fatalf("%s: pair %d of column %d: want %v", what, i, pairs[i], want)
		}
	}
}

func TestMatrixColumnsAreFilters(t *testing.T) {
	params := Params{LineCount: 300, K: 7, Seed: 3}
	m, filters, _ := matrixOf(t, params, 200)
	same := func(m *Matrix, column int, filter *Filter) {
		t.Helper()
		got, err := m.Column(column)
		if err != nil || !bytes.Equal(bytesOf(got.view.all), bytesOf(filter.view.all)) || got.Params() != filter.Params() {
			t.Errorf("column %d: %v", column, err)
		}
	}
	for column, filter := range filters {
		same(m, column, filter)
	}
	// Runs of any width, on goroutines, in the place of others.
	other, reversed, _ := matrixOf(t, params, 200)
	views := make([]View, 200)
	for i := range views {
		views[i] = filters[199-i].View()
	}
	for _, run := range [][2]int{{0, 200}, {3, 70}, {64, 128}, {100, 101}, {130, 200}, {5, 5}} {
		for _, goroutines := range []int{1, 3, 0} {
			changed := other.Clone()
			if err := changed.SetColumns(run[0], views[run[0]:run[1]], goroutines); err != nil {
				t.Fatal(err)
			}
			for column := range 200 {
				if filter := reversed[column]; column < run[0] || column >= run[1] {
					same(changed, column, filter)
				} else {
					same(changed, column, filters[199-column])
				}
			}
		}
	}
	if err := m.ClearColumn(64); err != nil {
		t.Fatal(err)
	}
	same(m, 64, orPanic(NewWithParams(params)))
	same(m, 63, filters[63])
	same(m, 65, filters[65])
	// Key by key.
	single, several, empty := orPanic(NewMatrix(params, 70)), orPanic(NewMatrix(params, 70)), orPanic(NewMatrix(params, 70))
	for _, column := range []int{0, 33, 64, 69} {
		filter, hashes := orPanic(NewWithParams(params)), randomHashes(500, uint64(column))
		filter.AddHashes(hashes)
		for _, hash := range hashes {
			if err := single.AddHash(column, hash); err != nil {
				t.Fatal(err)
			}
		}
		if err := several.AddHashes(column, hashes); err != nil || !several.Equal(single) {
			t.Error("many hashes are others", err)
		}
		same(single, column, filter)
	}
	keys := map[string]func() error{
		"one":     func() error { return single.AddString(1, "one") },
		"two":     func() error { return single.Add(1, []byte("two")) },
		"\x03abc": func() error { return single.AddBatch(1, [][]byte{[]byte("\x03abc")}) },
		"four":    func() error { return single.AddStrings(1, []string{"four"}) },
		"12345678": func() error {
			return single.AddUint64(1, le.Uint64([]byte("12345678")))
		},
	}
	for key, add := range keys {
		if err := add(); err != nil {
			t.Fatal(err)
		}
		asked := []Bitmap{
			single.ContainsString(key, nil), single.Contains([]byte(key), nil), single.View().ContainsString(key, nil),
			single.ContainsStrings([]string{"x", key}, nil)[2:], single.ContainsBatch([][]byte{nil, []byte(key)}, nil)[2:],
			single.ContainsHash(single.Hash([]byte(key)), nil), single.View().Contains([]byte(key), nil),
		}
		for i, answers := range asked {
			if !answers.Has(1) {
				t.Errorf("%q is missing, asked in way %d", key, i)
			}
		}
	}
	if !single.ContainsUint64(le.Uint64([]byte("12345678")), nil).Has(1) || !single.View().ContainsUint64(le.Uint64([]byte("12345678")), nil).Has(1) {
		t.Error("an integer is missing")
	}
	if single.Clear(); !single.Equal(empty) {
		t.Error("not empty")
	}
}

func TestMatrixFoldsAndRefuses(t *testing.T) {
	params := Params{LineCount: 3, K: 6, Seed: 5}
	m := orPanic(NewMatrix(params, 5))
	with := func(change func(*Params)) Params {
		params := params
		change(&params)
		return params
	}
	filled := func(params Params) *Filter {
		filter := orPanic(NewWithParams(params))
		filter.AddHashes(randomHashes(200, params.LineCount))
		return filter
	}
	for column, times := range []uint64{1, 2, 8, 64} {
		filter := filled(with(func(p *Params) { p.LineCount *= times }))
		if err := m.SetColumn(column, filter.View()); err != nil {
			t.Fatal(err)
		}
		for filter.Params().LineCount > 3 {
			if err := filter.Fold(); err != nil {
				t.Fatal(err)
			}
		}
		if got := orPanic(m.Column(column)); !bytes.Equal(bytesOf(got.view.all), bytesOf(filter.view.all)) {
			t.Errorf("folded from %d times the lines, it is another", times)
		}
	}
	before, fits := m.Clone(), filled(params).View()
	cuckoo := orPanic(NewCuckoo(100, 0.01, WithSeed(5)))
	refused := []View{{}, cuckoo.View(), orPanic(BuildStatic(nil, 0.01)).View()}
	for _, change := range []func(*Params){
		func(p *Params) { p.LineCount = 9 }, func(p *Params) { p.LineCount = 1 }, func(p *Params) { p.LineCount = 4 },
		func(p *Params) { p.K = 7 }, func(p *Params) { p.Seed = 6 }, func(p *Params) { p.Classic = true },
	} {
		refused = append(refused, filled(with(change)).View())
	}
	for _, view := range refused {
		one, run := m.SetColumn(4, view), m.SetColumns(3, []View{fits, view}, 1)
		if !errors.Is(one, ErrColumnShape) || !errors.Is(run, ErrColumnShape) || !strings.Contains(one.Error(), "3 lines, k = 6") {
			t.Errorf("%v: %v, %v", view, one, run)
		}
	}
	for _, of := range []*Matrix{nil, {}, m} {
		if err := of.SetColumns(0, nil, 1); err != nil {
			t.Error("no column of", of, err)
		}
	}
	for _, err := range []error{
		m.SetColumn(5, fits), m.SetColumn(-1, fits), m.SetColumns(4, []View{fits, fits}, 1), m.SetColumns(math.MaxInt, []View{fits}, 1),
		m.SetColumns(0, make([]View, 6), 1), m.ClearColumn(5), m.AddString(5, ""), m.AddHashes(-1, nil), m.AddHashes(5, []uint64{1}),
		second(m.Column(5)), second(m.Column(-1)), m.AddStrings(5, nil), m.AddBatch(5, nil),
	} {
		if !errors.Is(err, ErrColumn) {
			t.Errorf("there is no such column: %v", err)
		}
	}
	if !m.Equal(before) {
		t.Error("what was refused changed it")
	}
	counting := orPanic(NewCountingWithParams(params))
	counting.AddHashes(randomHashes(100, 1))
	if err := m.SetColumn(4, counting.View()); err != nil || !m.ContainsHash(randomHashes(100, 1)[5], nil).Has(4) {
		t.Error("of a counting filter:", err)
	}
	type shapes struct {
		params  Params
		columns int
		want    error
	}
	cases := []shapes{
		{params, 0, ErrColumns}, {params, -1, ErrColumns}, {Params{}, 1, ErrNoLines}, {Params{LineCount: 1}, 1, ErrK},
		{with(func(p *Params) { p.Classic = true }), 1, ErrClassic}, {Params{LineCount: math.MaxInt / 64, K: 6}, 64, ErrLineCount},
	}
	if math.MaxInt > math.MaxUint32 {
		large := uint64(math.MaxUint32)
		cases = append(cases, shapes{params, int(large + 1), ErrColumns}, shapes{Params{LineCount: 1 << 50, K: 6}, 1 << 20, ErrLineCount},
			shapes{Params{LineCount: 1 << 40, K: 6}, 1 << 10, ErrOutOfMemory})
	}
	for _, c := range cases {
		if _, err := NewMatrix(c.params, c.columns); !errors.Is(err, c.want) {
			t.Errorf("%d columns of %v: %v, want %v", c.columns, c.params, err, c.want)
		}
	}
}

func TestMatrixWithColumns(t *testing.T) {
	m, filters, _ := matrixOf(t, Params{LineCount: 3, K: 6}, 100)
	names := make([]uint64, 100)
	for i := range names {
		names[i] = uint64(i * i)
	}
	if err := m.SetNames(names); err != nil || m.SetNames(names[:1]) != ErrColumns {
		t.Error("names", err)
	}
	m.SetChecksums(true)
	for _, columns := range []int{1, 63, 64, 65, 100, 101, 128, 129, 1000} {
		other, err := m.WithColumns(columns)
		if err != nil || other.Columns() != columns || !other.Shape().HasChecksums() || !other.Shape().HasNames() {
			t.Fatal(columns, err)
		}
		for column := range columns {
			filter, want := orPanic(NewWithParams(m.Params())), uint64(0)
			if column < 100 {
				filter, want = filters[column], names[column]
			}
			if got := orPanic(other.Column(column)); !bytes.Equal(bytesOf(got.view.all), bytesOf(filter.view.all)) {
				t.Errorf("column %d of %d is another", column, columns)
			}
			if name, ok := other.Name(column); name != want || !ok {
				t.Errorf("column %d of %d is named %d", column, columns, name)
			}
		}
		if err := new(Matrix).UnmarshalBinary(orPanic(other.MarshalBinary())); err != nil {
			t.Error(columns, err)
		}
	}
	if _, ok := m.Name(100); ok || second(m.WithColumns(0)) != ErrColumns || m.SetNames(nil) != nil {
		t.Error("no columns")
	}
	if _, ok := m.Name(0); ok || m.Shape().HasNames() {
		t.Error("names that were removed")
	}
}

func TestZeroMatrix(t *testing.T) {
	var none *Matrix
	for _, m := range []*Matrix{none, new(Matrix)} {
		view, shape := m.View(), m.Shape()
		answers := append(m.ContainsHash(1, nil), view.Among(Bitmap{1}).ContainsHash(1, nil)...)
		answers = append(answers, m.ContainsHashes([]uint64{1, 2}, nil)...)
		answers = append(answers, m.ContainsStrings([]string{"a"}, nil)...)
		if len(answers) != 0 || !m.AnyHash(1) || !view.Among(Bitmap{0}).AnyHash(1) || m.CountHash(1) != 0 || len(m.SelectHashes([]uint64{1}, nil)) != 0 {
			t.Error("it has columns", answers)
		}
		// That no column has a key is nothing to believe of a shape that was not filled in.
		for _, err := range []error{second(shape.ContainsIn(nil, 1, nil)), second(shape.ContainsInRows(nil, 1, nil)), shape.VerifyRange(shape.Range(1), nil, nil)} {
			if err != ErrNoLines {
				t.Error("the zero shape answers:", err)
			}
		}
		if !m.ContainsPairs([]uint32{0}, []uint64{1}, nil).Has(0) || shape.Ranges([]uint64{1}, 0)[0].Length != 0 {
			t.Error("what is not there says no")
		}
		if _, err := m.MarshalBinary(); !errors.Is(err, ErrNoLines) || m.SetColumn(0, View{}) != ErrColumn || second(m.WithColumns(3)) != ErrNoLines {
			t.Error("it has bytes", err)
		}
		m.SetChecksums(true)
		if m.Shape() != (MatrixShape{}) || !m.Equal(new(Matrix)) || m.Clone().Columns() != 0 || !strings.Contains(fmt.Sprint(m, view), "Matrix{0 columns") {
			t.Error(m, view)
		}
	}
}

// Probing allocates nothing.
func TestMatrixAllocates(t *testing.T) {
	m, _, hashes := matrixOf(t, Params{LineCount: 3, K: 6}, 700)
	out, rows := make(Bitmap, 11), make(Bitmap, 11*len(hashes))
	pairs, among := make([]MatrixPair, 700*len(hashes)), Bitmap{5, 7}
	if n := testing.AllocsPerRun(10, func() {
		m.ContainsHash(hashes[0], out)
		m.View().ContainsHash(hashes[0], out)
		m.ContainsHashes(hashes, rows)
		m.ContainsPairs([]uint32{5}, hashes[:1], out)
		m.View().Among(among).AnyHash(hashes[0])
		m.View().Among(among).ContainsHashes(hashes, rows)
		m.CountHash(hashes[0])
		m.SelectHashes(hashes, pairs)
		m.SelectHashes(hashes[:3], pairs)
		m.ContainsStrings([]string{"key"}, out)
		m.ContainsString("key", out)
	}); n != 0 {
		t.Error(n, "allocations")
	}
}
