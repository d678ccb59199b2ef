package bloomline

// Columns with nulls: every answer held to single keys and single bits of the validity.

import (
	"fmt"
	"slices"
	"testing"
)

// columnsOf are the columns of every type, with the keys of each.
func (c *columnValues) columnsOf(filter Prober, validity Validity) map[string]struct {
	column Column
	keys   [][]byte
} {
	keys := c.keys()
	hashes := eachHash(keys[0], filter.Hash)
	return map[string]struct {
		column Column
		keys   [][]byte
	}{
		"hashes":        {HashesColumn(hashes, validity), keys[0]},
		"uint64s":       {Uint64sColumn(c.uint64s, validity), keys[0]},
		"uint32s":       {Uint32sColumn(c.uint32s, validity), keys[1]},
		"int64s":        {Uint64sColumn(c.int64s, validity), keys[0]},
		"int32s":        {Uint32sColumn(c.int32s, validity), keys[1]},
		"strings":       {StringsColumn(c.strings, validity), keys[2]},
		"int32 offsets": {BytesColumn(c.short, c.data, validity), keys[2]},
		"int64 offsets": {LargeBytesColumn(c.long, c.data, validity), keys[2]},
	}
}

func checkNullable[R Row](t *testing.T, filter Prober, c *columnValues, validity Validity) {
	t.Helper()
	for name, of := range c.columnsOf(filter, validity) {
		what := fmt.Sprintf("%s of %d rows, %+v", name, len(of.keys), validity)
		there, mask := []R(nil), []byte(nil)
		var left, back []R
		for row, key := range of.keys {
			at := validity.First + row
			maybe := filter.Contains(key)
			if validity.Bits != nil && (at/8 >= len(validity.Bits) || validity.Bits[at/8]>>(at%8)&1 == 0) {
				maybe = validity.Nulls == NullsPresent
			}
			mask = append(mask, 0)
			if maybe {
				there, mask[row] = append(there, R(row)), 1
			}
		}
		for i := range of.keys {
			row := i * 7 % len(of.keys)
			back = append(back, R(row))
			if mask[row] == 1 {
				left = append(left, R(row))
			}
		}
		if got := SelectColumn(filter, of.column, []R{9}); !slices.Equal(got, there) {
			t.Fatalf("%s: %v, not %v", what, got, there)
		}
		if got := RefineColumn(filter, of.column, back); !slices.Equal(got, left) {
			t.Fatalf("%s, refined: %v, not %v", what, got, left)
		}
		if got := MaskColumn(filter, of.column, []byte{7}); !slices.Equal(got, mask) {
			t.Fatalf("%s: mask %v, not %v", what, got, mask)
		}
		answers := ContainsColumn(filter, of.column, Bitmap{^uint64(0)})
		if got := slices.Collect(answers.All()); len(got) != len(there) || of.column.Len() != len(of.keys) {
			t.Fatalf("%s: bits %v, not %v", what, got, there)
		}
		for _, row := range there {
			if !answers.Has(int(row)) {
				t.Fatalf("%s: no bit %d", what, row)
			}
		}
		hashes := HashColumn(of.column, 5, []uint64{9})
		for row, key := range of.keys {
			want := Hash(key, 5)
			if name == "hashes" {
				want = filter.Hash(key)
			}
			if at := validity.First + row; validity.Bits != nil && (at/8 >= len(validity.Bits) || validity.Bits[at/8]>>(at%8)&1 == 0) {
				want = 0
			}
			if hashes[row] != want {
				t.Fatalf("%s: hash %d is %x, not %x", what, row, hashes[row], want)
			}
		}
		if len(hashes) != len(of.keys) {
			t.Fatalf("%s: %d hashes", what, len(hashes))
		}
	}
}

func TestNullableColumns(t *testing.T) {
	eachWay(t, func(t *testing.T) {
		valid := make([]byte, 140)
		for i := range valid {
			valid[i] = byte(i * 0x9D)
		}
		for _, n := range columnSizes {
			c := columnOf(n)
			filter, _ := filterOf(t, 30, 6, c.someHashes(func(key []byte) uint64 { return Hash(key, 0) }))
			view := filter.View()
			for _, nulls := range []Nulls{NullsAbsent, NullsPresent} {
				for _, bits := range [][]byte{nil, {}, valid, valid[:min(n/16, len(valid))]} {
					checkNullable[uint32](t, filter, c, Validity{Bits: bits, Nulls: nulls})
					checkNullable[uint16](t, &view, c, Validity{Bits: bits, First: 3, Nulls: nulls})
				}
			}
		}
	})
}

// Of a filter that is not there every row may be present, but those that are null.
func TestColumnsOfNothing(t *testing.T) {
	column := Uint64sColumn([]uint64{1, 2}, Validity{Bits: []byte{2}})
	if rows := SelectColumn[uint32]((*Filter)(nil), column, nil); !slices.Equal(rows, []uint32{1}) {
		t.Errorf("rows %v", rows)
	}
	for _, empty := range []Column{{}, HashesColumn(nil, Validity{}), BytesColumn(nil, nil, Validity{}), StringsColumn(nil, Validity{})} {
		filter := mustNew(t, 10, 0.01)
		if rows := SelectColumn[uint16](filter, empty, nil); len(rows) != 0 || len(MaskColumn(filter, empty, nil)) != 0 || len(HashColumn(empty, 0, nil)) != 0 {
			t.Errorf("rows %v", rows)
		}
	}
}

func TestBadColumns(t *testing.T) {
	filter, one := mustNew(t, 10, 0.01), []uint64{7}
	filter.AddUint64(7)
	mustPanic(t, "a negative bit", func() { HashesColumn(one, Validity{Bits: []byte{1}, First: -1}) })
	for _, offsets := range [][]int32{{-1, 0}, {3, 2}, {0, 4}} {
		mustPanic(t, fmt.Sprint(offsets), func() { BytesColumn(offsets, []byte("abc"), Validity{}) })
		long := []int64{int64(offsets[0]), int64(offsets[1])}
		mustPanic(t, fmt.Sprint(long), func() { LargeBytesColumn(long, []byte("abc"), Validity{}) })
	}
	rows := []uint32{0, 1}
	mustPanic(t, "a row behind the column", func() { RefineColumn(filter, Uint64sColumn(one, Validity{}), rows) })
	if !slices.Equal(rows, []uint32{0, 1}) {
		t.Errorf("rows changed: %v", rows)
	}
	mustPanic(t, "numbers of 2 bytes", func() { SelectColumn[uint16](filter, HashesColumn(make([]uint64, 65_537), Validity{}), nil) })
}

func TestColumnsDoNotAllocate(t *testing.T) {
	filter, values := mustNew(t, 10, 0.01), make([]uint64, 1000)
	rows, bytes, bits := make([]uint32, 1000), make([]byte, 1000), make(Bitmap, 16)
	var prober Prober = filter
	if n := testing.AllocsPerRun(10, func() {
		column := Uint64sColumn(values, Validity{Bits: bytes})
		rows = SelectColumn(prober, column, rows)
		rows = RefineColumn(prober, column, rows)
		bytes = MaskColumn(prober, column, bytes)
		bits = ContainsColumn(prober, column, bits)
		values = HashColumn(column, 0, values)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
