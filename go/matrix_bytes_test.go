package bloomline

// Matrices as bytes: files, damage, and single ranges.

import (
	"bytes"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// matrixForms are matrices with and without names and checksums.
func matrixForms(t testing.TB) (forms []*Matrix) {
	for _, size := range [][2]int{{1, 1}, {70, 3}, {128, 2}} {
		for form := range 4 {
			m, _, _ := matrixOf(t, Params{LineCount: uint64(size[1]), K: 6, Seed: 4}, size[0])
			if form&1 != 0 {
				if err := m.SetNames(randomHashes(size[0], 3)); err != nil {
					t.Fatal(err)
				}
			}
			m.SetChecksums(form&2 != 0)
			forms = append(forms, m)
		}
	}
	return forms
}

func TestMatrixBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "matrix")
	for _, m := range matrixForms(t) {
		data := orPanic(m.MarshalBinary())
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		loaded, err := LoadMatrix(path)
		if err != nil || !loaded.Equal(m) || loaded.Shape() != m.Shape() {
			t.Error(m, err)
		}
		var read Matrix
		if n, err := read.ReadFrom(bytes.NewBuffer(data)); err != nil || n != int64(len(data)) || !read.Equal(m) {
			t.Error(m, err)
		}
		shape, err := ReadMatrixShape(data[len(data)-64:], int64(len(data)))
		if err != nil || shape != m.Shape() || shape.EncodedLen() != int64(len(data)) || !strings.Contains(shape.String(), "lines, k 6") {
			t.Error(shape, err)
		}
		if _, err := OpenView(data); !errors.Is(err, ErrLayout) {
			t.Error("as the view of a filter:", err)
		}
		for i := range len(data) {
			if len(data) > 10_000 && i%97 != 0 && i < len(data)-64 {
				continue
			}
			damaged := bytes.Clone(data)
			damaged[i] ^= 0x10
			_, err := OpenMatrixView(damaged)
			if decoded := new(Matrix).UnmarshalBinary(damaged); err == nil || decoded == nil {
				t.Fatalf("%v: damage at %d was not found", m, i)
			}
		}
		for _, cut := range [][]byte{data[:len(data)-1], data[1:], data[4096:], append([]byte{0}, data...), nil} {
			if _, err := OpenMatrixView(cut); err == nil {
				t.Errorf("%v: %d of %d bytes", m, len(cut), len(data))
			}
			if _, err := ReadMatrixShape(data[len(data)-64:], int64(len(cut))); !errors.Is(err, ErrTruncated) {
				t.Errorf("%v: the footer of %d bytes: %v", m, len(cut), err)
			}
		}
	}
}

// Damage with checksums that match: what no writer wrote is an error of its own.
func TestMatrixHostileBytes(t *testing.T) {
	m, _, _ := matrixOf(t, Params{LineCount: 3, K: 6}, 70)
	m.SetChecksums(true)
	data := orPanic(m.MarshalBinary())
	footerOf := func(data []byte) []byte { return data[len(data)-64:] }
	for what, c := range map[string]struct {
		change func(data []byte)
		want   error
	}{
		"no columns":            {func(data []byte) { le.PutUint32(footerOf(data)[32:], 0) }, ErrColumns},
		"columns of more bytes": {func(data []byte) { le.PutUint32(footerOf(data)[32:], 129) }, ErrTruncated},
		"many columns":          {func(data []byte) { le.PutUint32(footerOf(data)[32:], math.MaxUint32) }, ErrTruncated},
		"another flag":          {func(data []byte) { footerOf(data)[37] |= 1 }, ErrReserved},
		"names that are not":    {func(data []byte) { footerOf(data)[36] |= 1 }, ErrTruncated},
		"k":                     {func(data []byte) { footerOf(data)[24] = 17 }, ErrK},
		"lines":                 {func(data []byte) { le.PutUint64(footerOf(data)[8:], 4) }, ErrTruncated},
		"no lines":              {func(data []byte) { le.PutUint64(footerOf(data)[8:], 0) }, ErrLineCount},
		"all lines":             {func(data []byte) { le.PutUint64(footerOf(data)[8:], math.MaxUint64) }, ErrLineCount},
		"another layout":        {func(data []byte) { footerOf(data)[28] = 9 }, ErrLayout},
		"a column behind":       {func(data []byte) { data[8] |= 1 << 6 }, ErrChecksum},
		"a group's checksum":    {func(data []byte) { data[len(data)-65] ^= 1 }, ErrChecksum},
	} {
		damaged := bytes.Clone(data)
		c.change(damaged)
		damaged = repaired(damaged)
		want := c.want
		if math.MaxInt == math.MaxInt32 && what == "many columns" {
			want = ErrLineCount
		}
		_, err := OpenMatrixView(damaged)
		if decoded := new(Matrix).UnmarshalBinary(damaged); !errors.Is(err, want) || !errors.Is(decoded, want) {
			t.Errorf("%s: %v and %v, want %v", what, err, decoded, want)
		}
		_, err = ReadMatrixShape(footerOf(damaged), int64(len(damaged)))
		_, loose := OpenMatrixViewUnverified(damaged)
		if want == ErrChecksum {
			want = nil
		}
		if !errors.Is(err, want) || !errors.Is(loose, want) {
			t.Errorf("%s: the footer alone: %v and %v, want %v", what, err, loose, want)
		}
	}
	// A group in the place of another.
	shape, size := m.Shape(), 4096*2
	range0, range1 := shape.groupRange(0), shape.groupRange(1)
	if err := shape.VerifyRange(range1, data[:size], data[shape.ChecksumOf(range0).Offset:][:8]); !errors.Is(err, ErrChecksum) {
		t.Error("a group in the place of another:", err)
	}
	for _, err := range []error{
		shape.VerifyRange(range0, data[:size-1], nil), shape.VerifyRange(range0, data[:size], nil),
		second(shape.ContainsIn(data[:size-1], 1, nil)), second(shape.ContainsInRows(data[:16], 1, nil)),
	} {
		if !errors.Is(err, ErrTruncated) {
			t.Error("a range that was cut:", err)
		}
	}
	if answers, _ := shape.ContainsIn(nil, 1, nil); answers.Count() != 70 {
		t.Error("a range that was cut says no:", answers)
	}
	if answers, _ := shape.ContainsInRows(nil, 1, nil); answers.Count() != 70 {
		t.Error("rows that were cut say no:", answers)
	}
	m.SetChecksums(false)
	if err := m.Shape().VerifyRange(range0, data[:size], nil); err != nil || m.Shape().ChecksumOf(range1).Length != 0 {
		t.Error("no checksums:", err)
	}
}

func TestMatrixRanges(t *testing.T) {
	shape := orPanic(NewMatrixShape(Params{LineCount: 1000, K: 6}, 65))
	hashes := randomHashes(300, 5)
	for _, gap := range []int64{0, 8192, 100_000, math.MaxInt64} {
		ranges, inside := shape.Ranges(hashes, gap), 0
		for i, r := range ranges {
			if i > 0 && r.Offset-ranges[i-1].End() <= gap {
				t.Errorf("gap %d: %v follows %v", gap, r, ranges[i-1])
			}
		}
		for _, hash := range hashes {
			own := shape.Range(hash)
			if slices.ContainsFunc(ranges, func(r ByteRange) bool { return r.Offset <= own.Offset && own.End() <= r.End() }) {
				inside++
			}
		}
		if inside != len(hashes) || gap == math.MaxInt64 && len(ranges) != 1 {
			t.Errorf("gap %d: %d of %d keys in %d ranges", gap, inside, len(hashes), len(ranges))
		}
	}
	if len(shape.Ranges(nil, 0)) != 0 {
		t.Error("ranges of no keys")
	}
}

func TestGoldenMatrices(t *testing.T) {
	goldenEach(t, "matrix/", 20, 45, func(name string, data []byte, numbers []uint64, want error) {
		var m Matrix
		view, err := OpenMatrixView(data)
		if strings.Contains(name, "/length-most-") && math.MaxInt == math.MaxInt32 {
			want = ErrLineCount // more than this machine can address
		}
		if decoded := m.UnmarshalBinary(data); !errors.Is(err, want) || !errors.Is(decoded, want) {
			t.Errorf("%s: %v and %v, want %v", name, err, decoded, want)
		}
		if want != nil {
			verified := strings.Contains(name, "/lines-") || strings.Contains(name, "/groups-")
			if _, err := OpenMatrixViewUnverified(data); verified && err != nil || !verified && !errors.Is(err, want) {
				t.Errorf("%s: unverified: %v, want %v", name, err, want)
			}
			if m.Columns()+view.Columns() != 0 {
				t.Errorf("%s: what was rejected is in %v", name, &m)
			}
			return
		}
		shape, keyCount := m.view.shape.footer(), numbers[3]
		if got := []uint64{shape.LineCount, uint64(shape.K), shape.Seed, keyCount, shape.Reserved}; !slices.Equal(got, numbers) {
			t.Errorf("%s: %v, want %v", name, got, numbers)
		}
		if again := orPanic(m.MarshalBinary()); !bytes.Equal(again, data) != (keyCount != 0) { // which is not kept
			t.Errorf("%s: encoded again, it is another", name)
		}
		for _, probe := range golden(t, "matrix/"+name+".probes") {
			var want Bitmap
			for _, word := range probe[1:] {
				want = append(want, number(t, word, 16))
			}
			hash := number(t, probe[0], 16)
			group := m.Shape().Range(hash)
			in, err := m.Shape().ContainsIn(data[group.Offset:group.End()], hash, nil)
			if !slices.Equal(m.ContainsHash(hash, nil), want) || !slices.Equal(view.ContainsHash(hash, nil), want) || !slices.Equal(in, want) || err != nil {
				t.Errorf("%s: hash %x: want %x", name, hash, want)
			}
		}
	})
	for _, row := range golden(t, "matrix/columns.txt") {
		m, column := new(Matrix), int(number(t, row[1], 10))
		if err := m.UnmarshalBinary(goldenBytes(t, "matrix/"+row[0])); err != nil {
			t.Fatal(err)
		}
		filter := orPanic(m.Column(column))
		name, named := m.Name(column)
		if checksum(bytesOf(filter.view.all)) != number(t, row[2], 16) || named != (row[3] != "-") || named && name != number(t, row[3], 16) {
			t.Errorf("%v: another column", row)
		}
	}
	for _, row := range golden(t, "matrix/vectors.txt") {
		var want []int64
		for _, field := range row[1:] {
			want = append(want, int64(number(t, field, 10)))
		}
		shape, err := NewMatrixShape(Params{LineCount: uint64(want[0]), K: int(want[2])}, int(want[1]))
		if errors.Is(err, ErrLineCount) && math.MaxInt == math.MaxInt32 {
			continue // more than this machine can address
		}
		hash := number(t, row[0], 16)
		got := shape.Range(hash)
		rows := []int64{want[0], want[1], want[2], got.Offset, got.Length}
		for _, row := range shape.RowRanges(hash) {
			rows = append(rows, (row.Offset-got.Offset)/row.Length)
		}
		if err != nil || !slices.Equal(rows, want) {
			t.Errorf("%v: %v, %v", row, rows, err)
		}
	}
}

// FuzzMatrix reads any bytes as a matrix: what is accepted is written as the same bytes, and answers by the
// definition in every way.
func FuzzMatrix(f *testing.F) {
	for _, m := range matrixForms(f)[:8] {
		data := orPanic(m.MarshalBinary())
		f.Add(data, uint64(7))
		f.Add(data[4096:], uint64(1))
	}
	addGolden(f, "../golden/matrix/*/*.bloomline")
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		checkMatrixReader(t, data, seed)
		checkMatrixReader(t, repaired(data), seed)
	})
}

func checkMatrixReader(t *testing.T, data []byte, seed uint64) {
	view, err := OpenMatrixView(data)
	loose, looseErr := OpenMatrixViewUnverified(data)
	shape, shapeErr := ReadMatrixShape(data[max(0, len(data)-64):], int64(len(data)))
	var m Matrix
	if decoded := m.UnmarshalBinary(data); decoded != err || looseErr != shapeErr || err == nil && looseErr != nil {
		t.Fatalf("decoded: %v; verified: %v; not verified: %v; the footer: %v", decoded, err, looseErr, shapeErr)
	}
	if looseErr != nil {
		return
	}
	if loose.Shape() != shape || err == nil && (view.Shape() != shape || m.Shape() != shape) {
		t.Fatal("another shape", shape, loose, view)
	}
	if again, _ := m.MarshalBinary(); err == nil && !bytes.Equal(again, data) {
		// The key count, which a matrix does not have.
		if footer := data[len(data)-64:]; le.Uint64(footer) == 0 {
			t.Fatal("encoded again, it is another")
		}
	}
	for _, hash := range randomHashes(20, seed) {
		answers, params := loose.ContainsHash(hash, nil), shape.Params()
		group := shape.Range(hash)
		in, inErr := shape.ContainsIn(data[group.Offset:group.End()], hash, nil)
		if inErr != nil || !slices.Equal(in, answers) || loose.CountHash(hash) != answers.Count() || loose.AnyHash(hash) != (answers.Count() > 0) {
			t.Fatalf("hash %x: %x and %x, %v", hash, answers, in, inErr)
		}
		for column := range shape.Columns() {
			if answers.Has(column) != definitionMatrixContains(data, params.LineCount, shape.Columns(), params.K, column, hash) {
				t.Fatalf("hash %x: column %d: %v", hash, column, answers.Has(column))
			}
		}
	}
}
