package bloomline

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/bloomline/bloomline/go/internal/format"
)

func TestWindowGolden(t *testing.T) {
	goldenKind(t, "window/", 40, 40, func(w *Window) []uint64 {
		p, keys := w.Params(), uint64(0)
		for age := range w.Generations() {
			keys = saturatingAdd(keys, w.KeyCount(age))
		}
		return []uint64{p.LineCount, uint64(p.K), p.Seed, keys, uint64(w.Generations()), w.TimeSlice(), w.limit}
	}, nil)
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
}

// Any bytes, as they are and with checksums and a shape that fit: the reader is right by the page, and
// what it accepts has the answers of its lines, and takes keys.
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
		le.PutUint16(footer[format.AtLayout:], layoutWindow.number)
		le.PutUint64(footer[format.AtReserved:], uint64(generations))
		le.PutUint64(footer[format.AtLineCount:], uint64(count))
		le.PutUint32(footer[format.AtK:], le.Uint32(footer[format.AtK:])%16+1)
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
	body := len(data) - footerBytes // the number of keys behind it is a hint
	if again := orPanic(window.MarshalBinary()); !bytes.Equal(again[:body], data[:body]) {
		t.Fatal("encoded again, it is another")
	}
	p, hashes := window.Params(), randomHashes(100, seed)
	in := func(hash uint64) (in bool) {
		for i := range window.Generations() {
			in = in || definitionContains(data[uint64(i)*p.Bytes():][:p.Bytes()], p.K, hash)
		}
		return in
	}
	answers := window.ContainsHashes(hashes, nil)
	for i, hash := range hashes {
		if answers.Has(i) != in(hash) {
			t.Fatalf("hash %x: %v", hash, answers.Has(i))
		}
	}
	window.RotateAfter(0)
	for i, hash := range hashes {
		if isNew := !window.ContainsHash(hash); window.AddHashIfAbsent(hash) != isNew || isNew && answers.Has(i) {
			t.Fatalf("hash %x: new %v", hash, isNew)
		}
	}
	slice := window.TimeSlice()
	window.Rotate()
	if window.ContainsHashes(hashes, nil).Count() != len(hashes) && window.Generations() > 1 {
		t.Fatal("keys of the last slice are lost")
	}
	return window.TimeSlice() == slice+1 || slice == math.MaxUint64
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

// windowOther answers the verbs of histories that no other kind has.
func windowOther(t *testing.T, filter anyKind, words []string) string {
	w, argument := filter.(*Window), func() uint64 { return number(t, words[1], 10) }
	switch words[0] {
	case "key_count":
		return fmt.Sprint(w.KeyCount(int(argument())))
	case "slice":
		return fmt.Sprint(w.TimeSlice())
	case "rotate":
		w.Rotate()
		return "ok"
	case "advance":
		w.AdvanceTo(argument())
		return "ok"
	case "rotate_after":
		w.RotateAfter(argument())
		return "ok"
	}
	return ""
}
