package bloomline

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"testing"
)

// ---- golden files ----

func TestGoldenCounting(t *testing.T) {
	goldenFiles(t, "counting/", func() goldenFilter { return new(CountingFilter) })
	// As plain filters they are those of their lines.
	for _, row := range golden(t, "counting/MANIFEST") {
		data := goldenBytes(t, "counting/"+row[1])
		var plain Filter
		err := plain.UnmarshalBinary(data)
		if _, viewed := OpenView(data); err != viewed {
			t.Errorf("%s: %v, as a view %v", row[1], err, viewed)
		}
		if row[0] == "accepted" && !bytes.Equal(bytesOf(plain.view.all), data[:len(plain.view.all)*64]) {
			t.Errorf("%s: other lines", row[1])
		}
	}
}

// ---- histories ----

func countingOf(t testing.TB, count uint64, k int, seed uint64) *CountingFilter {
	t.Helper()
	filter, err := NewCountingWithParams(Params{LineCount: count, K: k, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return filter
}

// Batches of keys do as one by one, at the seams of the loops, near and far.
func TestCountingBatches(t *testing.T) {
	lines := []uint64{40, farFrom + 3}
	for _, count := range lines {
		for _, n := range []int{0, 1, 15, 16, 63, 64, 65, 511, 512, 513, 1500} {
			texts, slices := make([]string, n), make([][]byte, n)
			for i := range texts {
				texts[i] = fmt.Sprint("key ", i*2/3) // some twice
				slices[i] = []byte(texts[i])
			}
			a, b, c := countingOf(t, count, 6, 5), countingOf(t, count, 6, 5), countingOf(t, count, 6, 5)
			a.AddStrings(texts[:n/2])
			b.AddBatch(slices[:n/2])
			for _, text := range texts[:n/2] {
				c.AddString(text)
			}
			same := func(what string) {
				for _, filter := range []*CountingFilter{a, b} {
					if !bytes.Equal(filter.counters, c.counters) || !bytes.Equal(bytesOf(filter.filter.view.all), bytesOf(c.filter.view.all)) {
						t.Fatalf("%d lines, %d keys: %s: another filter", count, n, what)
					}
				}
			}
			same("added")
			answers, others := a.ContainsStrings(texts, nil), a.ContainsBatch(slices, nil)
			for i, text := range texts {
				if in := c.ContainsString(text); answers.Has(i) != in || others.Has(i) != in || !c.Contains(slices[i]) && i < n/2 {
					t.Fatalf("%d lines, %d keys: key %d", count, n, i)
				}
			}
			removed, others := a.RemoveStrings(texts, nil), b.RemoveBatch(slices, make(Bitmap, 30))
			for i, text := range texts {
				if want := c.RemoveString(text) == nil; removed.Has(i) != want || others.Has(i) != want {
					t.Fatalf("%d lines, %d keys: key %d is removed: %v", count, n, i, want)
				}
			}
			same("removed")
		}
	}
}

func TestCountingCounts(t *testing.T) {
	const keys = 10_000
	filter, err := NewCounting(keys, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	hashes, exact := splitMix(keys, 2), 0
	for i, hash := range hashes {
		for range i % 5 {
			filter.AddHash(hash)
		}
	}
	for i, hash := range hashes {
		count := filter.CountHash(hash)
		if count < i%5 {
			t.Fatalf("key %d is in %d times: count %d", i, i%5, count)
		}
		if count == i%5 {
			exact++
		}
	}
	if exact < 9700 {
		t.Errorf("%d of %d counts are exact", exact, keys)
	}
	if n := filter.EstimatedKeys(); n < 7900 || n > 8100 {
		t.Errorf("%v keys estimated of 8000", n)
	}
	if rate := filter.EstimatedRate(); rate > 0.01 || rate < 0.001 {
		t.Errorf("rate %v", rate)
	}
}

// ---- whole filters ----

func TestCountingPlain(t *testing.T) {
	filter := countingOf(t, 3, 6, 9)
	filter.AddStrings([]string{"apple", "pear", "plum"})
	view := filter.View()
	if err := filter.RemoveString("plum"); err != nil || view.ContainsString("plum") || !view.ContainsString("pear") {
		t.Error("the view is not the filter's:", err)
	}
	copied, err := filter.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	want, _ := NewWithParams(filter.Params())
	want.AddStrings([]string{"apple", "pear"})
	if !bytes.Equal(bytesOf(copied.view.all), bytesOf(want.view.all)) || copied.KeyCount() != 2 {
		t.Error("the copy is another filter")
	}
	copied.AddString("plum")
	if filter.ContainsString("plum") || filter.String() != "bloomline.CountingFilter{2 keys, 3 lines, k 6}" {
		t.Error("the copy is no copy:", filter)
	}
	plain := filter.Detach()
	if plain.KeyCount() != 2 || !plain.ContainsString("apple") || &plain.view.all[0] != &view.all[0] {
		t.Error("what is left without the counters is another filter")
	}
	zeroCounting(t, filter) // what was given away is not there any more
	if err := countingOf(t, 3, 6, 9).Union(countingOf(t, 3, 6, 8)); err != ErrMismatch {
		t.Error(err)
	}
}

func TestCountingZero(t *testing.T) {
	zeroCounting(t, new(CountingFilter))
	defer func() {
		if recover() == nil {
			t.Error("a key is added to the zero CountingFilter")
		}
	}()
	new(CountingFilter).AddString("a")
}

func zeroCounting(t *testing.T, filter *CountingFilter) {
	t.Helper()
	if !filter.ContainsString("a") || filter.ContainsHashes(make([]uint64, 70), nil).Count() != 70 || filter.CountString("a") != 15 {
		t.Error("the zero CountingFilter says no")
	}
	if err := filter.RemoveString("a"); err != ErrNoLines || filter.RemoveStrings([]string{"a", "b"}, nil).Count() != 0 {
		t.Error(err)
	}
	_, err := filter.MarshalBinary()
	_, writeErr := filter.WriteTo(io.Discard)
	_, copyErr := filter.Snapshot()
	if err != ErrNoLines || writeErr != ErrNoLines || copyErr != ErrNoLines {
		t.Error(err, writeErr, copyErr)
	}
	filter.Clear()
}

func TestCountingBadParams(t *testing.T) {
	for name, test := range map[string]struct{ err, want error }{
		"rate 0":     {second(NewCounting(1, 0)), ErrRate},
		"rate NaN":   {second(NewCounting(1, math.NaN())), ErrRate},
		"keys -1":    {second(NewCounting(-1, 0.1)), ErrKeys},
		"no lines":   {second(NewCountingWithParams(Params{LineCount: 0, K: 6, Seed: 0})), ErrNoLines},
		"too many":   {second(NewCountingWithParams(Params{LineCount: maxCountingLines + 1, K: 6, Seed: 0})), ErrLineCount},
		"2^64 lines": {second(NewCountingWithParams(Params{LineCount: math.MaxUint64, K: 6, Seed: 0})), ErrLineCount},
		"k 17":       {second(NewCountingWithParams(Params{LineCount: 1, K: 17, Seed: 0})), ErrK},
	} {
		if test.err != test.want {
			t.Errorf("%s: %v, want %v", name, test.err, test.want)
		}
	}
	if filter, err := NewCounting(0, 0.01, WithSeed(4)); err != nil || filter.Params() != (Params{LineCount: 1, K: 6, Seed: 4}) {
		t.Error("no keys:", err)
	}
}

// ---- bytes ----

func TestCountingBinary(t *testing.T) {
	filter := countingOf(t, 2, 6, 3)
	filter.AddStrings([]string{"apple", "pear", "pear"})
	data, err := filter.MarshalBinary()
	if err != nil || len(data) != 2*320+64 {
		t.Fatal(len(data), err)
	}
	appended, err := filter.AppendBinary([]byte("before"))
	if err != nil || string(appended) != "before"+string(data) {
		t.Error("append:", err)
	}
	var stream bytes.Buffer
	if n, err := filter.WriteTo(&stream); err != nil || n != int64(len(data)) || !bytes.Equal(stream.Bytes(), data) {
		t.Error("write:", n, err)
	}
	var back CountingFilter
	if n, err := back.ReadFrom(&stream); err != nil || n != int64(len(data)) {
		t.Error("read:", n, err)
	}
	if back.KeyCount() != 3 || back.CountString("pear") != 2 || back.Params() != filter.Params() {
		t.Error("what was read is another filter")
	}
	if _, err := filter.WriteTo(failing{}); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
	// With checksums made right, lines and counters that disagree are found; the filter that should hold
	// them is as before.
	for bit := range 2 * 512 {
		data[bit/8] ^= 1 << (bit % 8)
		if err := back.UnmarshalBinary(repaired(data)); err != ErrChecksum {
			t.Fatalf("bit %d turned in the lines: %v", bit, err)
		}
		data[bit/8] ^= 1 << (bit % 8)
	}
	if back.CountString("pear") != 2 {
		t.Error("a failed read has changed the filter")
	}
	plain, _ := back.Detach().MarshalBinary()
	if err := filter.UnmarshalBinary(plain); err != ErrLayout {
		t.Error("a filter without counters:", err)
	}
}

func TestCountingFileErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter")
	if _, err := LoadCounting(path); err == nil {
		t.Error("a file that is not there is loaded")
	}
	if err := mustNew(t, 10, 0.01).Save(path); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadCounting(path); !errors.Is(err, ErrLayout) {
		t.Error(err)
	}
	if err := new(CountingFilter).Save(path); !errors.Is(err, ErrNoLines) {
		t.Error(err)
	}
}

func TestCountingReaders(t *testing.T) {
	filter := countingOf(t, 10, 6, 0)
	hashes := splitMix(200, 1)
	filter.AddHashes(hashes)
	readAtOnce(t, filter, hashes, func(hash uint64) bool { return filter.CountHash(hash) > 0 })
}

func TestCountingNoAllocations(t *testing.T) {
	filter, _ := NewCounting(1000, 0.01)
	key, text := []byte("a key of some length"), "a key of some length"
	keys, texts, hashes := [][]byte{key, key}, []string{text, text}, make([]uint64, 2000)
	out := make(Bitmap, 40)
	for name, do := range map[string]func(){
		"Add":           func() { filter.Add(key) },
		"AddBatch":      func() { filter.AddBatch(keys) },
		"AddStrings":    func() { filter.AddStrings(texts) },
		"AddHashes":     func() { filter.AddHashes(hashes) },
		"Remove":        func() { _ = filter.Remove(key) },
		"RemoveBatch":   func() { filter.RemoveBatch(keys, out) },
		"RemoveStrings": func() { filter.RemoveStrings(texts, out) },
		"RemoveHashes":  func() { filter.RemoveHashes(hashes, out) },
		"Count":         func() { filter.Count(key) },
		"ContainsBatch": func() { filter.ContainsBatch(keys, out) },
	} {
		if n := testing.AllocsPerRun(100, do); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}
