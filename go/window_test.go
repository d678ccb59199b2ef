package bloomline

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"
)

// definitionWindow is a window by the page: the lines of its generations, by place.
type definitionWindow struct {
	k            int
	seed         uint64
	slice, limit uint64
	lines        [][]byte
	keyCounts    []uint64
}

func newDefinitionWindow(generations int, params Params) *definitionWindow {
	d := &definitionWindow{k: params.K, seed: params.Seed, keyCounts: make([]uint64, generations)}
	for range generations {
		d.lines = append(d.lines, make([]byte, params.Bytes()))
	}
	return d
}

func (d *definitionWindow) place() int {
	return int(d.slice % uint64(len(d.lines)))
}

func (d *definitionWindow) rotate() {
	if d.slice < math.MaxUint64 {
		d.slice++
		clear(d.lines[d.place()])
		d.keyCounts[d.place()] = 0
	}
}

func (d *definitionWindow) advanceTo(slice uint64) {
	if count := uint64(len(d.lines)); slice > d.slice && slice-d.slice > count {
		d.slice = slice - count
	}
	for d.slice < slice {
		d.rotate()
	}
}

func (d *definitionWindow) contains(hash uint64) bool {
	for _, lines := range d.lines {
		if definitionContains(lines, d.k, hash) {
			return true
		}
	}
	return false
}

func (d *definitionWindow) add(hash uint64) (isNew bool) {
	if d.limit > 0 && d.keyCounts[d.place()] >= d.limit {
		d.rotate()
	}
	isNew = !d.contains(hash)
	if lines := d.lines[d.place()]; !definitionContains(lines, d.k, hash) {
		definitionInsert(lines, d.k, hash)
		d.keyCounts[d.place()] = saturatingAdd(d.keyCounts[d.place()], 1)
	}
	return isNew
}

// windowOf reads a sound encoded window as the page says.
func windowOf(data []byte) *definitionWindow {
	footer := data[len(data)-64:]
	d := newDefinitionWindow(int(le.Uint64(footer[32:])), Params{
		LineCount: le.Uint64(footer[8:]), K: int(le.Uint32(footer[24:])), Seed: le.Uint64(footer[16:])})
	for _, lines := range d.lines {
		data = data[copy(lines, data):]
	}
	d.slice, d.limit = le.Uint64(data), le.Uint64(data[8:])
	for i := range d.keyCounts {
		d.keyCounts[i] = le.Uint64(data[16+8*i:])
	}
	return d
}

// check compares all that can be seen of a window, but for its answers.
func (d *definitionWindow) check(t *testing.T, w *Window) {
	t.Helper()
	data, err := w.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data[:len(d.lines)*len(d.lines[0])], bytes.Join(d.lines, nil)) {
		t.Fatal("other lines than the definition")
	}
	read := windowOf(data)
	if read.slice != d.slice || read.limit != d.limit || w.TimeSlice() != d.slice {
		t.Fatalf("slice %d, limit %d; want %d and %d", read.slice, read.limit, d.slice, d.limit)
	}
	for age := range d.keyCounts {
		place := (d.place() - age + len(d.lines)) % len(d.lines)
		if read.keyCounts[place] != d.keyCounts[place] || w.KeyCount(age) != d.keyCounts[place] {
			t.Fatalf("%d keys at age %d, want %d", w.KeyCount(age), age, d.keyCounts[place])
		}
	}
}

func TestWindowGolden(t *testing.T) {
	goldenKind(t, "window/", 40, 40, func(w *Window) []uint64 {
		p, keys := w.Params(), uint64(0)
		for age := range w.Generations() {
			keys = saturatingAdd(keys, w.KeyCount(age))
		}
		return []uint64{p.LineCount, uint64(p.K), p.Seed, keys, uint64(w.Generations()), w.TimeSlice(), w.limit}
	}, func(window *Window, data []byte, hashes []uint64) {
		path := filepath.Join(t.TempDir(), "window")
		if err := window.Save(path); err != nil {
			t.Fatal(err)
		}
		if loaded, err := LoadWindow(path); err != nil || loaded.TimeSlice() != window.TimeSlice() {
			t.Errorf("%v: saved and loaded: %v", window, err)
		}
		// And it goes on from there as the definition does.
		definition := windowOf(data)
		for _, hash := range hashes {
			if window.AddHashIfAbsent(hash) != definition.add(hash) {
				t.Errorf("%v: hash %x: new or not", window, hash)
			}
		}
		definition.check(t, window)
	})
}

// Histories of all that changes a window, against the definition and against the slice that each
// key was last added in.
func TestWindowHistories(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 12
	}
	for round := range rounds {
		random := rand.New(rand.NewPCG(uint64(round), 3))
		generations := 1 + random.IntN(9)
		params := Params{uint64(1 + random.IntN(140)), 1 + random.IntN(16), random.Uint64()}
		window, err := NewWindowWithParams(generations, params)
		if err != nil {
			t.Fatal(err)
		}
		definition := newDefinitionWindow(generations, params)
		last := map[uint64]uint64{}
		add := func(hash uint64) bool {
			isNew := definition.add(hash)
			last[hash] = definition.slice
			return isNew
		}
		for range 30 {
			keys := make([]string, random.IntN(1200))
			slices, hashes := make([][]byte, len(keys)), make([]uint64, len(keys))
			for i := range keys {
				slices[i] = []byte{byte(random.IntN(20)), byte(random.IntN(256))}
				keys[i] = string(slices[i])
				hashes[i] = window.Hash(slices[i])
			}
			var isNew Bitmap
			switch random.IntN(10) {
			case 0:
				isNew = window.AddBatchIfAbsent(slices, nil)
			case 1, 2:
				isNew = window.AddStringsIfAbsent(keys, nil)
			case 3, 4:
				isNew = window.AddHashesIfAbsent(hashes, nil)
			case 5:
				for i, key := range keys {
					if i%2 == 0 && window.AddStringIfAbsent(key) != add(hashes[i]) || i%2 == 1 && window.AddIfAbsent(slices[i]) != add(hashes[i]) {
						t.Fatal("new or not")
					}
				}
			case 6:
				window.Rotate()
				definition.rotate()
			case 7:
				slice := definition.slice + random.Uint64N(6)
				window.AdvanceTo(slice)
				window.AdvanceTo(slice / 2)
				definition.advanceTo(slice)
			case 8:
				definition.limit = random.Uint64N(3) * random.Uint64N(100)
				window.RotateAfter(definition.limit)
			case 9:
				var buffer bytes.Buffer
				var read Window
				n, err := window.WriteTo(&buffer)
				if m, read := read.ReadFrom(&buffer); err != nil || read != nil || n != m {
					t.Fatal(err, read)
				}
				window = &read
			}
			if isNew != nil {
				for i, hash := range hashes {
					if isNew.Has(i) != add(hash) {
						t.Fatalf("key %d: new or not", i)
					}
				}
			}
			definition.check(t, window)
			for hash, slice := range last {
				if definition.slice-slice < uint64(generations) && !window.ContainsHash(hash) {
					t.Fatalf("%x of slice %d is denied in slice %d", hash, slice, definition.slice)
				}
			}
			hashes = append(hashes, randomHashes(70, uint64(round))...)
			answers := window.ContainsHashes(hashes, nil)
			for i, hash := range hashes {
				if in := definition.contains(hash); answers.Has(i) != in || window.ContainsHash(hash) != in {
					t.Fatalf("%x: want %v", hash, in)
				}
			}
			if batch := window.ContainsBatch(slices, nil); !bytes.Equal(bitmapBytes(batch), bitmapBytes(window.ContainsStrings(keys, nil))) {
				t.Fatal("strings are not answered as slices")
			}
		}
	}
}

func bitmapBytes(b Bitmap) (data []byte) {
	for _, word := range b {
		data = le.AppendUint64(data, word)
	}
	return data
}

// "Seen in the last 7 days": when a key is forgotten, to the slice; and the rate over all.
func TestWindowDays(t *testing.T) {
	window, err := NewWindow(8, 20_000, 0.01, WithSeed(7))
	if err != nil {
		t.Fatal(err)
	}
	window.AdvanceTo(20_000)
	if !window.AddStringIfAbsent("key") || window.AddStringIfAbsent("key") {
		t.Error("new, and then not")
	}
	for day := uint64(20_001); day <= 20_007; day++ {
		window.AdvanceTo(day)
		if !window.ContainsString("key") {
			t.Errorf("denied on day %d", day)
		}
	}
	window.AdvanceTo(20_008)
	if window.ContainsString("key") {
		t.Error("not forgotten")
	}
	for day := range uint64(8) {
		window.AdvanceTo(21_000 + day)
		window.AddHashesIfAbsent(randomHashes(20_000, day), nil)
	}
	const others = 1 << 18
	rate := float64(window.ContainsHashes(randomHashes(others, 99), nil).Count()) / others
	if rate < 0.009 || rate > 0.0107 {
		t.Errorf("rate %f", rate)
	}
}

func TestWindowLimits(t *testing.T) {
	for _, c := range []struct {
		generations, keys int
		rate              float64
		want              error
	}{
		{0, 10, 0.01, ErrGenerations}, {-1, 10, 0.01, ErrGenerations}, {8, -1, 0.01, ErrKeys},
		{8, 10, 0, ErrRate}, {8, 10, 1, ErrRate}, {8, 10, 2, ErrRate}, {8, 10, -1, ErrRate},
		{8, 10, math.NaN(), ErrRate}, {8, math.MaxInt, 0.01, ErrLineCount},
		{8, 0, 0.01, nil},
	} {
		if window, err := NewWindow(c.generations, c.keys, c.rate); !errors.Is(err, c.want) || (window == nil) != (c.want != nil) {
			t.Errorf("%v: %v", c, err)
		}
	}
	for _, c := range []struct{ generations, lines uint64 }{{2, maxLines}, {9, maxLines / 8}} {
		if _, err := NewWindowWithParams(int(c.generations), Params{LineCount: c.lines, K: 6}); err != ErrLineCount {
			t.Errorf("%v: %v", c, err)
		}
	}
	var zero Window
	zero.Rotate()
	zero.AdvanceTo(5)
	if !zero.ContainsString("a") || zero.ContainsStrings([]string{"a", "b"}, nil).Count() != 2 || zero.KeyCount(0) != 0 {
		t.Error("the zero Window says no")
	}
	if _, err := zero.MarshalBinary(); err != ErrLineCount {
		t.Error(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("something was added to the zero Window")
		}
	}()
	zero.AddString("a")
}

// Any bytes, as they are and with checksums and a shape that fit: the reader is right by the
// page, and what it accepts goes on as the definition does.
func FuzzWindow(f *testing.F) {
	addGolden(f, "../golden/window/*/*.bloomline")
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		checkWindow(t, data, seed)
		data = repaired(data)
		if len(data) < 64 {
			return
		}
		checkWindow(t, data, seed)
		generations := 1 + int(seed%8)
		count := ((len(data)-80)/generations - 8) / 64
		if count < 1 {
			return
		}
		data = data[len(data)-generations*(count*64+8)-80:]
		footer := data[len(data)-64:]
		le.PutUint16(footer[atLayout:], layoutWindow)
		le.PutUint64(footer[atReserved:], uint64(generations))
		le.PutUint64(footer[atLineCount:], uint64(count))
		le.PutUint32(footer[atK:], le.Uint32(footer[atK:])%16+1)
		if !checkWindow(t, repaired(data), seed) {
			t.Fatal("a sound window is rejected")
		}
	})
}

func checkWindow(t *testing.T, data []byte, seed uint64) bool {
	var window Window
	if err := window.UnmarshalBinary(data); err != nil {
		if !window.ContainsHash(seed) {
			t.Fatal("what is no window says no")
		}
		return false
	}
	definition := windowOf(data)
	definition.check(t, &window)
	hashes := randomHashes(100, seed)
	answers := window.ContainsHashes(hashes, nil)
	for i, hash := range hashes {
		if answers.Has(i) != definition.contains(hash) {
			t.Fatalf("hash %x: %v", hash, answers.Has(i))
		}
	}
	isNew := window.AddHashesIfAbsent(hashes, nil)
	for i, hash := range hashes {
		if isNew.Has(i) != definition.add(hash) {
			t.Fatalf("hash %x: new %v", hash, isNew.Has(i))
		}
	}
	window.Rotate()
	definition.rotate()
	definition.check(t, &window)
	return true
}

// Lines of older generations, which count as empty, are zeros in the encoded window, however few are there.
func TestWindowEncodesNoOlderKeys(t *testing.T) {
	for _, lineCount := range []uint64{1, 63, 64, 65, 1500, 5000} {
		window := orPanic(NewWindowWithParams(3, Params{LineCount: lineCount, K: 6}))
		for round := range 7 {
			for key := range 300 + round%3/2*20_000 {
				window.AddUint64(uint64(round*1_000_000 + key))
			}
			plain := window.Clone()
			chunks, count := chunksOf(plain.params), int(lineCount)
			for place, generation := range plain.generations {
				for chunk := range chunks {
					if cleared := &plain.cleared[place*chunks+chunk]; *cleared != generation.slice {
						first := chunk * chunkLines
						clear(plain.lines[place*count+first : place*count+min(first+chunkLines, count)])
						*cleared = generation.slice
					}
				}
			}
			encoded := orPanic(window.MarshalBinary())
			if !bytes.Equal(encoded, orPanic(plain.MarshalBinary())) || !window.Equal(plain) {
				t.Errorf("%d lines, round %d: other bytes", lineCount, round)
			}
			if err := new(Window).UnmarshalBinary(encoded); err != nil {
				t.Errorf("%d lines, round %d: %v", lineCount, round, err)
			}
			window.Rotate()
		}
	}
}
