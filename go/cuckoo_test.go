package bloomline

import (
	"bytes"
	"fmt"
	"math"
	"testing"
)

var fingerprintBits = []int{8, 12, 16}

func cuckooOf(t testing.TB, count uint64, bits int, seed uint64) *CuckooFilter {
	t.Helper()
	filter, err := NewCuckooWithParams(CuckooParams{count, bits, seed})
	if err != nil {
		t.Fatal(err)
	}
	return filter
}

// filled adds keys until there is no room for one, and returns those that are in.
func filled(t testing.TB, filter *CuckooFilter, seed uint64) []uint64 {
	t.Helper()
	hashes := splitMix(int(filter.Params().Slots())+1, seed)
	n, err := filter.AddHashes(hashes)
	if err != ErrFull {
		t.Fatalf("%d keys are in: %v", n, err)
	}
	return hashes[:n]
}

// ---- golden files ----

func TestGoldenCuckoo(t *testing.T) {
	goldenFiles(t, "cuckoo/", func() goldenFilter { return new(CuckooFilter) })
}

func TestGoldenCuckooVectors(t *testing.T) {
	for _, row := range golden(t, "cuckoo/vectors.txt") {
		var n [8]uint64 // hash, lines, bits, fingerprint, line, bucket, other line, other bucket
		n[0] = number(t, row[0], 16)
		for i := 1; i < len(n); i++ {
			n[i] = number(t, row[i], 10)
		}
		// What memory can hold so many lines of.
		if n[1] > 1000 {
			continue
		}
		lines := cuckooOf(t, n[1], int(n[2]), 0).view.cuckoo
		a := lines.first(n[0])
		b := lines.other(a, n[3])
		if lines.fingerprint(n[0]) != n[3] || a != (bucket{n[4], n[5]}) || b != (bucket{n[6], n[7]}) || lines.other(b, n[3]) != a {
			t.Errorf("%v: %v, %v", row, a, b)
		}
	}
}

// A full filter takes, refuses and moves what it does in the other languages.
func TestGoldenCuckooRefused(t *testing.T) {
	var filter *CuckooFilter
	for _, row := range golden(t, "cuckoo/refused.txt") {
		switch row[0] {
		case "filter":
			filter = cuckooOf(t, number(t, row[2], 10), int(number(t, row[1], 10)), 0)
		case "insert":
			before := filter.kicks
			err := filter.AddHash(number(t, row[1], 16))
			if (err == nil) != (row[2] == "1") || err != nil && err != ErrFull {
				t.Fatalf("%v: %v", row, err)
			}
			if kicks := filter.kicks - before; kicks != number(t, row[3], 10) {
				t.Fatalf("%v: %d moves", row, kicks)
			}
		case "remove":
			if err := filter.RemoveHash(number(t, row[1], 16)); err != nil {
				t.Fatalf("%v: %v", row, err)
			}
		case "lines":
			if got := fmt.Sprintf("%x", bytesOf(filter.view.cuckoo.all)); got != row[1] {
				t.Errorf("lines %s instead of %s", got, row[1])
			}
		}
	}
}

// ---- full ----

// Filters hold the keys that they are sized for, at the rate that was asked for.
func TestCuckooSizes(t *testing.T) {
	for _, bits := range fingerprintBits {
		for _, keys := range []int{0, 1, 5, 20, 50, 100, 300, 1000} {
			params, err := CuckooParamsForBits(keys, bits)
			if err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(30) {
				filter, _ := NewCuckooWithParams(params)
				if n, err := filter.AddHashes(splitMix(keys, seed<<32|uint64(keys))); err != nil {
					t.Fatalf("%d bits, seed %d: %d of %d keys: %v", bits, seed, n, keys, err)
				}
			}
		}
	}
	const keys = 100_000
	for rate, bits := range map[float64]int{0.9: 8, 0.03: 8, 0.029: 12, 0.002: 12, 0.0018: 16, 0.00012: 16} {
		filter, err := NewCuckoo(keys, rate)
		if err != nil || filter.Params().FingerprintBits != bits {
			t.Fatalf("rate %v: %v, %v", rate, filter, err)
		}
		if n, err := filter.AddHashes(splitMix(keys, 1)); err != nil {
			t.Fatal(n, err)
		}
		expected := filter.Params().Rate(keys)
		asked := splitMix(500_000, 2)
		measured := float64(filter.ContainsHashes(asked, nil).Count()) / float64(len(asked))
		if slack := 6*sqrt(expected/float64(len(asked))) + expected/20; expected > rate || math.Abs(measured-expected) > slack {
			t.Errorf("rate %v: measured %v, expected %v", rate, measured, expected)
		}
	}
}

// Full in the middle of a batch.
func TestCuckooFullInABatch(t *testing.T) {
	filter, other := cuckooOf(t, 10, 8, 0), cuckooOf(t, 10, 8, 0)
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = fmt.Sprint("key ", i)
	}
	n, err := filter.AddStrings(texts)
	if err != ErrFull || n < 512 || n > 640 || filter.KeyCount() != uint64(n) || filter.ContainsStrings(texts[:n], nil).Count() != n {
		t.Error(n, err, filter)
	}
	if again, err := other.AddStrings(texts[:n]); again != n || err != nil || !bytes.Equal(bytesOf(other.view.cuckoo.all), bytesOf(filter.view.cuckoo.all)) {
		t.Error("keys past the last one have changed something:", again, err)
	}
}

// ---- whole filters ----

func TestCuckooBadParams(t *testing.T) {
	for name, test := range map[string]struct{ err, want error }{
		"rate 0":        {second(NewCuckoo(1, 0)), ErrRate},
		"rate 1":        {second(NewCuckoo(1, 1)), ErrRate},
		"rate NaN":      {second(NewCuckoo(1, math.NaN())), ErrRate},
		"rate 0.0001":   {second(NewCuckoo(1, 0.0001)), ErrRateTooSmall},
		"keys -1":       {second(NewCuckoo(-1, 0.1)), ErrKeys},
		"too many keys": {second(NewCuckoo(math.MaxInt, 0.0002)), ErrLineCount},
		"9 bits":        {second(CuckooParamsForBits(1, 9)), ErrFingerprintBits},
		"-8 bits":       {second(NewCuckooWithParams(CuckooParams{1, -8, 0})), ErrFingerprintBits},
		"0 bits":        {second(NewCuckooWithParams(CuckooParams{1, 0, 0})), ErrFingerprintBits},
		"no lines":      {second(NewCuckooWithParams(CuckooParams{0, 8, 0})), ErrNoLines},
		"2^32 lines":    {second(NewCuckooWithParams(CuckooParams{1 << 32, 8, 0})), ErrLineCount},
		"2^64 lines":    {second(NewCuckooWithParams(CuckooParams{math.MaxUint64, 8, 0})), ErrLineCount},
		"an option":     {second(NewCuckoo(1, 0.1, func(*Params) error { return ErrMismatch })), ErrMismatch},
	} {
		if test.err != test.want {
			t.Errorf("%s: %v, want %v", name, test.err, test.want)
		}
	}
	if filter, err := NewCuckoo(0, 0.03, WithSeed(4)); err != nil || filter.Params() != (CuckooParams{1, 8, 4}) {
		t.Error("no keys:", filter, err)
	}
	if p := (CuckooParams{1, 9, 0}); p.Slots() != 0 || p.Rate(5) != 1 {
		t.Error("a shape that cannot be has slots, and a rate")
	}
	if p := (CuckooParams{10, 12, 0}); p.Slots() != 400 || p.Bytes() != 640 || p.Rate(0) != 0 || p.Rate(-1) != 0 || p.Rate(400) != p.Rate(500) {
		t.Error(p.Slots(), p.Bytes(), p.Rate(0))
	}
}

// ---- bytes ----

// What the footer says of the number of keys is a hint.
func TestCuckooKeyCount(t *testing.T) {
	filter := cuckooOf(t, 2, 12, 3)
	in := filled(t, filter, 8)
	var back CuckooFilter
	if err := back.UnmarshalBinary(withKeyCount(orPanic(filter.MarshalBinary()), 1)); err != nil || back.KeyCount() != uint64(len(in)) {
		t.Error(back.KeyCount(), err)
	}
}

func TestCuckooReaders(t *testing.T) {
	filter := cuckooOf(t, 10, 12, 0)
	readAtOnce(t, filter, filled(t, filter, 1), filter.ContainsHash)
}

func TestViewsEstimateTheirRate(t *testing.T) {
	cuckoo, _ := NewCuckoo(5000, 0.01)
	filter, _ := New(5000, 0.01)
	for _, hash := range splitMix(5000, 1) {
		_ = cuckoo.AddHash(hash)
		filter.AddHash(hash)
	}
	probes := splitMix(200_000, 2)
	out := make(Bitmap, len(probes)/64)
	var none View
	encoded, _ := cuckoo.MarshalBinary()
	view, err := OpenView(encoded)
	if err != nil || none.EstimatedRate() != 1 {
		t.Fatal(err, none.EstimatedRate())
	}
	for _, view := range []View{view, filter.View()} {
		measured := float64(view.ContainsHashes(probes, out).Count()) / float64(len(probes))
		if ratio := measured / view.EstimatedRate(); ratio < 0.9 || ratio > 1.1 {
			t.Errorf("measured %v, estimated %v", measured, view.EstimatedRate())
		}
	}
}

// No move makes room for a ninth copy, so none is tried. Inserts that fail cost no more than the
// budget allows; a clone has it, and a filter that is read has not.
func TestCuckooRefusedCostsLittle(t *testing.T) {
	for _, bits := range fingerprintBits {
		filter := cuckooOf(t, 1000, bits, 0)
		for range 10_000 {
			filter.AddHash(77)
		}
		if filter.KeyCount() != 8 || filter.kicks != 0 {
			t.Errorf("%d bits: %d copies, %d moves", bits, filter.KeyCount(), filter.kicks)
		}
		filter = cuckooOf(t, 300, bits, 0)
		if filled(t, filter, 1); filter.Fill() < 0.95 {
			t.Errorf("%d bits: full at %v", bits, filter.Fill())
		}
		refused, wasted := 0, uint64(0)
		for _, hash := range splitMix(100_000, 2) {
			before := filter.kicks
			if filter.AddHash(hash) != nil {
				refused++
				wasted += filter.kicks - before
			}
		}
		if refused < 99_000 || wasted > maxWaste+100_000*leastKicks {
			t.Errorf("%d bits: %d refused, %d moves", bits, refused, wasted)
		}
		most := func(f *CuckooFilter) uint32 { return f.budget.kicks(f.KeyCount()) }
		again, err := new(CuckooFilter), error(nil)
		if data, failed := filter.MarshalBinary(); failed != nil {
			t.Error(failed)
		} else if err = again.UnmarshalBinary(data); err != nil {
			t.Error(err)
		}
		if most(filter) != leastKicks || most(filter.Clone()) != leastKicks || most(again) != maxKicks {
			t.Errorf("%d, %d, %d", most(filter), most(filter.Clone()), most(again))
		}
		if filter.Clear(); most(filter) != maxKicks {
			t.Error(most(filter), "after Clear")
		}
	}
}

// cuckooOther answers the verbs of histories that no other kind has.
func cuckooOther(_ *testing.T, filter anyKind, words []string) string {
	if words[0] != "params" {
		return ""
	}
	p := filter.(*CuckooFilter).Params()
	return fmt.Sprint(p.LineCount, p.FingerprintBits, p.Seed)
}
