// Package interoperability compares the Bloom filters of parquetfilter with those of parquet-go: in files that
// it wrote, and with filters made here in their place. It is a module of its own, so that nobody else needs
// parquet-go: `make test-parquet`.
package interoperability

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/bloomline/bloomline/go"
	"github.com/bloomline/bloomline/go/parquetfilter"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
)

// A row has no BOOLEAN: parquet-go hashes packed bytes of such a column, not its values.
type row struct {
	D float64          `parquet:"d"`
	F float32          `parquet:"f"`
	I int32            `parquet:"i"`
	L int64            `parquet:"l"`
	S string           `parquet:"s"`
	T deprecated.Int96 `parquet:"t"`
	U uint64           `parquet:"u"`
	X [16]byte         `parquet:"x"`
}

const rowGroups, rows = 5, 400

// rowOf returns row i of a sequence without pattern. The first ones have the ends of each type.
func rowOf(i int) row {
	n := bloomline.HashUint64(uint64(i), 3)
	r := row{
		D: float64(int64(n)) / 7,
		F: float32(int32(n)) / 3,
		I: int32(n),
		L: int64(n),
		S: fmt.Sprint("s", n%1000003, i),
		T: deprecated.Int96{uint32(n), uint32(n >> 32), uint32(i)},
		U: n,
	}
	binary.LittleEndian.PutUint64(r.X[:], n)
	binary.LittleEndian.PutUint64(r.X[8:], uint64(i))
	switch i {
	case 0:
		r.D, r.F = math.Copysign(0, -1), float32(math.Copysign(0, -1))
		r.I, r.L, r.U, r.S = math.MinInt32, math.MinInt64, 0, ""
	case 1:
		r.D, r.F = math.NaN(), float32(math.NaN())
		r.I, r.L, r.U = math.MaxInt32, math.MaxInt64, math.MaxUint64
	case 2:
		r.D, r.F = math.Inf(-1), float32(math.Inf(1))
	}
	return r
}

// The columns in their order: the hash of a row's value here, and the value as parquet-go has it.
var columns = []struct {
	name string
	hash func(row) uint64
	of   func(row) parquet.Value
}{
	{"d", func(r row) uint64 { return parquetfilter.HashDouble(r.D) }, func(r row) parquet.Value { return parquet.ValueOf(r.D) }},
	{"f", func(r row) uint64 { return parquetfilter.HashFloat(r.F) }, func(r row) parquet.Value { return parquet.ValueOf(r.F) }},
	{"i", func(r row) uint64 { return parquetfilter.HashInt32(r.I) }, func(r row) parquet.Value { return parquet.ValueOf(r.I) }},
	{"l", func(r row) uint64 { return parquetfilter.HashInt64(r.L) }, func(r row) parquet.Value { return parquet.ValueOf(r.L) }},
	{"s", func(r row) uint64 { return parquetfilter.Hash([]byte(r.S)) }, func(r row) parquet.Value { return parquet.ValueOf(r.S) }},
	{"t", func(r row) uint64 { return parquetfilter.Hash(int96(r.T)) }, func(r row) parquet.Value { return parquet.ValueOf(r.T) }},
	{"u", func(r row) uint64 { return parquetfilter.HashInt64(int64(r.U)) }, func(r row) parquet.Value { return parquet.ValueOf(r.U) }},
	{"x", func(r row) uint64 { return parquetfilter.Hash(r.X[:]) }, func(r row) parquet.Value { return parquet.ValueOf(r.X) }},
}

func int96(words deprecated.Int96) (bytes []byte) {
	for _, word := range words {
		bytes = binary.LittleEndian.AppendUint32(bytes, word)
	}
	return bytes
}

// file returns a file of the first rows, with parquet-go's filters.
func file(t *testing.T) []byte {
	t.Helper()
	var filters []parquet.BloomFilterColumn
	for _, column := range columns {
		filters = append(filters, parquet.SplitBlockFilter(10, column.name))
	}
	var out bytes.Buffer
	w := parquet.NewGenericWriter[row](&out, parquet.BloomFilters(filters...), parquet.MaxRowsPerRowGroup(rows))
	for i := range rowGroups * rows {
		if _, err := w.Write([]row{rowOf(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func open(t *testing.T, data []byte) *parquet.File {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.RowGroups()) != rowGroups {
		t.Fatal(len(f.RowGroups()), "row groups")
	}
	return f
}

// made returns a filter of the column's values in so many rows from the first on, header included.
func made(t *testing.T, hash func(row) uint64, first, bits int) []byte {
	t.Helper()
	filter, err := parquetfilter.AppendHeader(nil, bits)
	if err != nil {
		t.Fatal(err)
	}
	filter = append(filter, make([]byte, bits)...)
	hashes := make([]uint64, rows)
	for i := range hashes {
		hashes[i] = hash(rowOf(first + i))
	}
	if err := parquetfilter.AddHashes(filter[len(filter)-bits:], hashes); err != nil {
		t.Fatal(err)
	}
	return filter
}

func TestFiltersAreEqualToTheByte(t *testing.T) {
	data := file(t)
	f := open(t, data)
	for g, group := range f.RowGroups() {
		for c, column := range columns {
			at := f.Metadata().RowGroups[g].Columns[c].MetaData.BloomFilterOffset
			theirs := group.ColumnChunks()[c].BloomFilter()
			header, bits, err := parquetfilter.ReadHeader(data[at:])
			if err != nil || int64(bits) != theirs.Size() {
				t.Fatal(column.name, header, bits, theirs.Size(), err)
			}
			if !bytes.Equal(made(t, column.hash, g*rows, bits), data[at:at+int64(header+bits)]) {
				t.Errorf("%s, row group %d: other bytes", column.name, g)
			}

			view, err := bloomline.OpenParquet(data[at:])
			if err != nil {
				t.Fatal(err)
			}
			absent := 0
			for i := range 3 * rowGroups * rows {
				r := rowOf(i)
				want, err := theirs.Check(column.of(r))
				if err != nil || view.ContainsHash(column.hash(r)) != want {
					t.Fatal(column.name, i, want, err)
				}
				if g*rows <= i && i < (g+1)*rows && !want {
					t.Fatal(column.name, i, "is lost")
				}
				if !want {
					absent++
				}
			}
			if absent < rowGroups*rows {
				t.Error(column.name, "little is absent:", absent)
			}
		}
	}
}

func TestParquetGoReadsFiltersMadeHere(t *testing.T) {
	const others = 10 * rowGroups * rows
	data := file(t)
	f := open(t, data)
	for g := range rowGroups {
		for c, column := range columns {
			at := f.Metadata().RowGroups[g].Columns[c].MetaData.BloomFilterOffset
			_, bits, err := parquetfilter.ReadHeader(data[at:])
			if err != nil {
				t.Fatal(err)
			}
			copy(data[at:], made(t, column.hash, others+g*rows, bits))
		}
	}
	for g, group := range open(t, data).RowGroups() {
		for c, column := range columns {
			theirs, found := group.ColumnChunks()[c].BloomFilter(), 0
			for i := range rows {
				if is, err := theirs.Check(column.of(rowOf(others + g*rows + i))); err != nil || !is {
					t.Fatal(column.name, i, "is lost", err)
				}
				if is, err := theirs.Check(column.of(rowOf(g*rows + i))); err != nil || is {
					found++
				}
			}
			if found > rows/4 {
				t.Error(column.name, found, "of other values are there")
			}
		}
	}
}
