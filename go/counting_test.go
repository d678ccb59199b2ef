package bloomline

import (
	"bytes"
	"fmt"
	"math"
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

func countingOf(t testing.TB, count uint64, k int, seed uint64) *CountingFilter {
	t.Helper()
	filter, err := NewCountingWithParams(Params{LineCount: count, K: k, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return filter
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
	if !filter.ContainsString("quince") || filter.RemoveString("apple") != ErrNoLines {
		t.Error("what was given away is there")
	}
	if err := countingOf(t, 3, 6, 9).Union(countingOf(t, 3, 6, 8)); err != ErrMismatch {
		t.Error(err)
	}
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

// With checksums made right, lines and counters that disagree are found; the filter that should hold them is
// as before.
func TestCountersThatDisagree(t *testing.T) {
	filter := countingOf(t, 2, 6, 3)
	filter.AddStrings([]string{"apple", "pear", "pear"})
	data := orPanic(filter.MarshalBinary())
	for bit := range 2 * 512 {
		data[bit/8] ^= 1 << (bit % 8)
		if err := filter.UnmarshalBinary(repaired(data)); err != ErrChecksum {
			t.Fatalf("bit %d turned in the lines: %v", bit, err)
		}
		data[bit/8] ^= 1 << (bit % 8)
	}
	if filter.CountString("pear") != 2 {
		t.Error("a failed read has changed the filter")
	}
}

func TestCountingReaders(t *testing.T) {
	filter := countingOf(t, 10, 6, 0)
	hashes := splitMix(200, 1)
	filter.AddHashes(hashes)
	readAtOnce(t, filter, hashes, func(hash uint64) bool { return filter.CountHash(hash) > 0 })
}

// countingOther answers the verbs of histories that no other kind has.
func countingOther(t *testing.T, filter anyKind, words []string) string {
	f := filter.(*CountingFilter)
	switch words[0] {
	case "count":
		keys := readHistoryKeys(t, words[1:])
		if !keys.bytes {
			return fmt.Sprint(f.CountHash(keys.hashes[0]))
		}
		if f.Count(keys.slices[0]) != f.CountString(keys.texts[0]) {
			t.Error("as a string it has another count")
		}
		return fmt.Sprint(f.CountString(keys.texts[0]))
	case "plain":
		left := orPanic(f.Clone().Detach().MarshalBinary())
		if saidBytes(left, nil) != saidBytes(orPanic(f.Snapshot()).MarshalBinary()) {
			t.Error("what is left without the counters is another filter")
		}
		return saidBytes(left, nil)
	}
	return ""
}
