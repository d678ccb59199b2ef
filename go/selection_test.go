package bloomline

// Rows of columns: held to the definition, and of every kind to single keys.

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
)

var columnSizes = []int{0, 1, 15, 16, 17, 63, 64, 65, 511, 512, 513, 1000, 1100}

type signed64 int64

// columnValues are columns of every type, of as many rows.
type columnValues struct {
	uint64s []uint64
	uint32s []uint32
	int64s  []signed64 // the same bits
	int32s  []int32
	strings []string
	short   []int32
	long    []int64
	data    []byte
}

func columnOf(n int) *columnValues {
	c := &columnValues{data: []byte("not of it")}
	c.short, c.long = []int32{int32(len(c.data))}, []int64{int64(len(c.data))}
	for i, value := range randomHashes(n, 5) {
		text := strings.Repeat(fmt.Sprint(value), i%4)
		c.uint64s, c.uint32s, c.strings = append(c.uint64s, value), append(c.uint32s, uint32(value)), append(c.strings, text)
		c.int64s, c.int32s = append(c.int64s, signed64(value)), append(c.int32s, int32(uint32(value)))
		c.data = append(c.data, text...)
		c.short, c.long = append(c.short, int32(len(c.data))), append(c.long, int64(len(c.data)))
	}
	return c
}

// keys are the rows as bytes, by type.
func (c *columnValues) keys() (of [3][][]byte) {
	for i := range c.uint64s {
		of[0] = append(of[0], binary.LittleEndian.AppendUint64(nil, c.uint64s[i]))
		of[1] = append(of[1], binary.LittleEndian.AppendUint32(nil, c.uint32s[i]))
		of[2] = append(of[2], []byte(c.strings[i]))
	}
	return of
}

// eachHash returns the hashes of keys.
func eachHash(keys [][]byte, hash func([]byte) uint64) []uint64 {
	hashes := make([]uint64, len(keys))
	for i, key := range keys {
		hashes[i] = hash(key)
	}
	return hashes
}

// checkRows asks a filter of which contains says the truth.
func checkRows[R Row](t *testing.T, filter Prober, c *columnValues, contains func(key []byte) bool) {
	t.Helper()
	keys := c.keys()
	hashes := eachHash(keys[0], filter.Hash)
	var there [3][]bool
	for i, keys := range keys {
		for _, key := range keys {
			there[i] = append(there[i], contains(key))
		}
	}
	type way struct {
		there  []bool
		sel    func(rows []R) []R
		refine func(rows []R) []R
	}
	for name, way := range map[string]way{
		"hashes": {there[0], func(rows []R) []R { return SelectHashes(filter, hashes, rows) },
			func(rows []R) []R { return RefineHashes(filter, hashes, rows) }},
		"uint64s": {there[0], func(rows []R) []R { return SelectUint64s(filter, c.uint64s, rows) },
			func(rows []R) []R { return RefineUint64s(filter, c.uint64s, rows) }},
		"uint32s": {there[1], func(rows []R) []R { return SelectUint32s(filter, c.uint32s, rows) },
			func(rows []R) []R { return RefineUint32s(filter, c.uint32s, rows) }},
		"int64s": {there[0], func(rows []R) []R { return SelectUint64s(filter, c.int64s, rows) },
			func(rows []R) []R { return RefineUint64s(filter, c.int64s, rows) }},
		"int32s": {there[1], func(rows []R) []R { return SelectUint32s(filter, c.int32s, rows) },
			func(rows []R) []R { return RefineUint32s(filter, c.int32s, rows) }},
		"strings": {there[2], func(rows []R) []R { return SelectStrings(filter, c.strings, rows) },
			func(rows []R) []R { return RefineStrings(filter, c.strings, rows) }},
		"int32 offsets": {there[2], func(rows []R) []R { return SelectBytes(filter, c.short, c.data, rows) },
			func(rows []R) []R { return RefineBytes(filter, c.short, c.data, rows) }},
		"int64 offsets": {there[2], func(rows []R) []R { return SelectBytes(filter, c.long, c.data, rows) },
			func(rows []R) []R { return RefineBytes(filter, c.long, c.data, rows) }},
	} {
		var want, every, back, left []R
		for row, there := range way.there {
			every = append(every, R(row))
			if there {
				want = append(want, R(row))
			}
		}
		// In no order, with repetitions.
		for i := range way.there {
			row := i * 7 % len(way.there)
			for _, row := range []int{row, row / 2} {
				back = append(back, R(row))
				if way.there[row] {
					left = append(left, R(row))
				}
			}
		}
		room := make([]R, 3, len(way.there)+3)
		got := way.sel(room)
		if !slices.Equal(got, want) {
			t.Fatalf("%s of %d rows: %v, not %v", name, len(way.there), got, want)
		}
		if len(got) > 0 && &got[0] != &room[0] {
			t.Fatalf("%s: other memory", name)
		}
		if got := way.sel(nil); !slices.Equal(got, want) {
			t.Fatalf("%s of %d rows, in new memory", name, len(way.there))
		}
		if got := way.refine(every); !slices.Equal(got, want) {
			t.Fatalf("%s of %d rows, refined: %v, not %v", name, len(way.there), got, want)
		}
		if got := way.refine(back); !slices.Equal(got, left) {
			t.Fatalf("%s of %d rows, in no order: %v, not %v", name, len(way.there), got, left)
		}
	}
}

// someHashes are those of each third row, for a filter, none twice.
func (c *columnValues) someHashes(hash func([]byte) uint64) (hashes []uint64) {
	for _, keys := range c.keys() {
		for i := 0; i < len(keys); i += 3 {
			hashes = append(hashes, hash(keys[i]))
		}
	}
	slices.Sort(hashes)
	return slices.Compact(hashes)
}

func TestSelectRows(t *testing.T) {
	eachWay(t, func(t *testing.T) {
		for _, n := range columnSizes {
			c := columnOf(n)
			for _, k := range []int{6, 12} {
				hash := func(key []byte) uint64 { return Hash(key, 0) }
				filter, lines := filterOf(t, 30, k, c.someHashes(hash))
				contains := func(key []byte) bool { return definitionContains(lines, k, hash(key)) }
				checkRows[uint32](t, filter, c, contains)
				checkRows[uint16](t, filter, c, contains)
			}
		}
	})
}

// otherHash embeds a filter, and hashes in its own way.
type otherHash struct{ *Filter }

func (f otherHash) Hash(key []byte) uint64 { return ^f.Filter.Hash(key) }

func TestSelectRowsOfEveryKind(t *testing.T) {
	c := columnOf(700)
	filters := map[string]Prober{}
	for name, filter := range kindsOf(t) {
		addsOf(filter).(adder).AddHashes(c.someHashes(filter.Hash)[:600])
		filters[name] = filter
		filters[name+", nil"] = nilOf(filter)
	}
	for name, filter := range builtKinds(append(c.someHashes(func(key []byte) uint64 { return Hash(key, 0) }), randomHashes(9, 1)...)) {
		if filter, ok := filter.(Prober); ok {
			filters[name] = filter
		}
	}
	filter := filters["Filter"].(*Filter)
	view := filter.View()
	filters["View"], filters["*View"], filters["zero View"], filters["Mapped"] = view, &view, View{}, &Mapped{View: view}
	hash := func(key []byte) uint64 { return ^Hash(key, 9) }
	other := orPanic(New(1000, 0.01, WithSeed(9)))
	other.AddHashes(c.someHashes(hash))
	filters["another hash"] = otherHash{other}
	matrix := orPanic(NewMatrix(Params{LineCount: 20, K: 6, Seed: 2}, 3))
	if err := matrix.AddHashes(1, c.someHashes(matrix.Hash)); err != nil {
		t.Fatal(err)
	}
	filters["column"] = orPanic(matrix.ColumnView(1))
	// Of no keys in particular.
	bits := bytes.Repeat([]byte{0xEF, 0xFD, 0x7F, 0xFE}, 64)
	filters["RocksDB"] = orPanic(OpenRocksDB(append(slices.Clone(bits), 0xFF, 0, 2, 0, 0)))
	filters["LevelDB"] = orPanic(OpenLevelDB(append(slices.Clone(bits), 2)))
	filters["Parquet"] = orPanic(OpenParquetBits(bits))
	for name, filter := range filters {
		t.Run(name, func(t *testing.T) {
			contains := func(key []byte) bool { return filter.ContainsHash(filter.Hash(key)) }
			checkRows[uint32](t, filter, c, contains)
		})
	}
}

func TestSelectWhatIsRefused(t *testing.T) {
	filter, c := orPanic(New(10, 0.01)), columnOf(100)
	refused := func(says string, call func()) {
		t.Helper()
		defer func() {
			if text := fmt.Sprint(recover()); !strings.Contains(text, says) {
				t.Errorf("%q", text)
			}
		}()
		call()
	}
	long := make([]uint64, 65_537)
	if got := SelectUint64s(View{}, long[1:], []uint16(nil)); len(got) != 65_536 || got[65_535] != 65_535 {
		t.Error(len(got))
	}
	refused("65537 rows of a column, and numbers for 65536", func() { SelectUint64s(filter, long, []uint16(nil)) })
	rows := []uint32{5, 100, 7}
	refused("row 100 of a column of 100", func() { RefineUint64s(filter, c.uint64s, rows) })
	refused("row 100 of a column of 100", func() { RefineHashes(filter, c.uint64s, rows) })
	refused("row 100 of a column of 100", func() { RefineUint32s(filter, c.uint32s, rows) })
	refused("row 100 of a column of 100", func() { RefineStrings(filter, c.strings, rows) })
	refused("row 100 of a column of 100", func() { RefineBytes(filter, c.short, c.data, rows) })
	refused("row 0 of a column of 0", func() { RefineBytes(filter, []int32(nil), nil, []uint16{0}) })
	if !slices.Equal(rows, []uint32{5, 100, 7}) {
		t.Error(rows)
	}
	for _, offsets := range [][]int32{{0, -1}, {-1, 0}, {3, 2}, {0, 99}} {
		refused("slice bounds out of range", func() { SelectBytes(filter, offsets, []byte("12345"), rows) })
		refused("slice bounds out of range", func() { RefineBytes(filter, offsets, []byte("12345"), []uint32{0}) })
	}
	// What was refused leaves nothing behind for the next.
	if got := SelectHashes(filter, c.uint64s, rows); len(got) != 0 {
		t.Error(got)
	}
}

func TestSelectAllocatesNothing(t *testing.T) {
	c, rows, short := columnOf(1100), make([]uint32, 1100), make([]uint16, 1100) // of row 0, which is refined
	filter := orPanic(New(1000, 0.01))
	hashes := eachHash(c.keys()[0], filter.Hash)
	view := Prober(filter.View())
	for _, filter := range []Prober{filter, view} {
		// One by one: the race detector takes memory from pools now and then.
		for i, work := range []func(){
			func() { SelectHashes(filter, hashes, rows) },
			func() { SelectUint64s(filter, c.uint64s, rows) },
			func() { SelectUint32s(filter, c.uint32s, short) },
			func() { SelectStrings(filter, c.strings, rows) },
			func() { SelectBytes(filter, c.short, c.data, short) },
			func() { RefineHashes(filter, hashes, rows) },
			func() { RefineUint64s(filter, c.uint64s, rows) },
			func() { RefineUint32s(filter, c.uint32s, short) },
			func() { RefineStrings(filter, c.strings, rows) },
			func() { RefineBytes(filter, c.long, c.data, rows) },
		} {
			if n := testing.AllocsPerRun(10, work); n != 0 {
				t.Errorf("call %d: %v allocations", i, n)
			}
		}
	}
}

func TestBitmapYieldsBits(t *testing.T) {
	hashes := randomHashes(200, 3)
	for n := range len(hashes) {
		bits := orPanic(New(100, 0.01)).ContainsHashes(hashes[:n], nil)
		var in, out []int
		for i := range n {
			if hashes[i]%3 == 0 {
				bits[i/64] |= 1 << (i % 64)
				in = append(in, i)
			} else {
				out = append(out, i)
			}
		}
		if got := slices.Collect(bits.All()); !slices.Equal(got, in) {
			t.Fatal(n, got)
		}
		if got := slices.Collect(bits.Unset(n)); !slices.Equal(got, out) {
			t.Fatal(n, got)
		}
		for range bits.Unset(n) {
			break
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("bits that are not there")
		}
	}()
	Bitmap{1}.Unset(65)
}
