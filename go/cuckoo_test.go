package bloomline

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
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
		fingerprint, first, other := definitionCuckoo(n[0], n[1], int(n[2]))
		if got := [...]uint64{n[0], n[1], n[2], fingerprint, first[0], first[1], other[0], other[1]}; got != n {
			t.Errorf("%v: %v by the definition", row, got)
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

// The same keys in the same order give the same bytes as in the other languages.
func TestGoldenCuckooBuilt(t *testing.T) {
	check := func(bits int, name string, filter *CuckooFilter) {
		t.Helper()
		want := goldenBytes(t, fmt.Sprintf("cuckoo/accepted/bits%02d-%s.bloomline", bits, name))
		encoded, err := filter.MarshalBinary()
		if name == "seed-nine" { // which says that it has that many
			encoded = withKeyCount(encoded, math.MaxUint64)
		}
		if err != nil || !bytes.Equal(encoded, want) {
			t.Errorf("%d bits, %s is another: %v", bits, name, err)
		}
	}
	for _, bits := range fingerprintBits {
		for _, lines := range []uint64{1, 2, 3, 7} {
			filter := cuckooOf(t, lines, bits, 0)
			hashes := splitMix(int(filter.Params().Slots())*8/10, lines)
			if _, err := filter.AddHashes(hashes); err != nil {
				t.Fatal(err)
			}
			for _, hash := range hashes[len(hashes)-len(hashes)/5:] {
				if err := filter.RemoveHash(hash); err != nil {
					t.Fatal(err)
				}
			}
			check(bits, fmt.Sprint("lines", lines), filter)
		}
		check(bits, "empty", cuckooOf(t, 2, bits, 0))
		filter := cuckooOf(t, 5, bits, 0)
		if n, err := filter.AddHashes(goldenAwkward); err != nil {
			t.Error(n, err)
		}
		check(bits, "awkward-hashes", filter)
		// Adds that moved others, and some that moved them back.
		filter = cuckooOf(t, 4, bits, 0)
		refused := 0
		for _, hash := range splitMix(4*64, 77) {
			if filter.AddHash(hash) != nil {
				refused++
			}
		}
		if refused == 0 {
			t.Error("nothing is refused")
		}
		check(bits, "full", filter)
		filter = cuckooOf(t, 2, bits, 9)
		for i := range 30 {
			if err := filter.AddString(fmt.Sprint("key ", i)); err != nil {
				t.Error(err)
			}
		}
		check(bits, "seed-nine", filter)
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

// ---- histories ----

// Whatever is added, and removed rightly, in any way, no key that is in is denied.
func TestCuckooHistories(t *testing.T) {
	histories := uint64(100)
	if testing.Short() {
		histories = 15
	}
	path := filepath.Join(t.TempDir(), "filter")
	for history := range histories {
		random := rand.New(rand.NewPCG(history, 9))
		params := CuckooParams{1 + random.Uint64N(4)*random.Uint64N(8), fingerprintBits[history%3], random.Uint64()}
		filter := cuckooOf(t, params.LineCount, params.FingerprintBits, params.Seed)
		times := map[uint64]int{} // how often each key is in
		key := func() string { return fmt.Sprint(random.IntN(60)) }
		for step := range 20 {
			what := fmt.Sprintf("history %d, step %d", history, step)
			before := bytes.Clone(bytesOf(filter.view.cuckoo.all))
			unchanged := func() bool { return bytes.Equal(before, bytesOf(filter.view.cuckoo.all)) }
			// Those that are in, and whether it was all.
			added := func(hashes []uint64, n int, err error) {
				if err != nil && err != ErrFull || (err == nil) != (n == len(hashes)) || n == 0 && !unchanged() {
					t.Fatalf("%s: %d of %d keys are in: %v", what, n, len(hashes), err)
				}
				for _, hash := range hashes[:n] {
					times[hash]++
				}
			}
			removed := func(hash uint64, err error) {
				if err != nil {
					t.Fatalf("%s: %x cannot be removed: %v", what, hash, err)
				}
				if times[hash]--; times[hash] == 0 {
					delete(times, hash)
				}
			}
			switch random.IntN(9) {
			case 0:
				for range random.IntN(30) {
					text := key()
					err := filter.AddString(text)
					n := 1
					if err != nil {
						n = 0
					}
					added([]uint64{HashString(text, params.Seed)}, n, err)
					before = bytes.Clone(bytesOf(filter.view.cuckoo.all))
				}
			case 1, 2:
				hashes := randomHashes(random.IntN(100), random.Uint64())
				n, err := filter.AddHashes(hashes)
				added(hashes, n, err)
			case 3:
				texts, slices, hashes := make([]string, random.IntN(80)), [][]byte{}, []uint64{}
				for i := range texts {
					texts[i] = key()
					slices = append(slices, []byte(texts[i]))
					hashes = append(hashes, HashString(texts[i], params.Seed))
				}
				n, err := filter.AddStrings(texts)
				added(hashes, n, err)
				before = bytes.Clone(bytesOf(filter.view.cuckoo.all))
				n, err = filter.AddBatch(slices)
				added(hashes, n, err)
			case 4, 5: // some of those that are in
				for _, hash := range slices.Sorted(maps.Keys(times)) {
					for range random.IntN(times[hash] + 1) {
						removed(hash, filter.RemoveHash(hash))
					}
				}
			case 6: // a key that may be in
				for range 30 {
					text := key()
					if hash := HashString(text, params.Seed); times[hash] > 0 {
						removed(hash, filter.RemoveString(text))
					} else if !filter.ContainsHash(hash) {
						before = bytes.Clone(bytesOf(filter.view.cuckoo.all))
						if err := filter.Remove([]byte(text)); err != ErrAbsent || !unchanged() {
							t.Fatalf("%s: %v", what, err)
						}
					}
				}
			case 7:
				data, err := filter.MarshalBinary()
				filter = new(CuckooFilter)
				if err := errors.Join(err, filter.UnmarshalBinary(data)); err != nil {
					t.Fatal(err)
				}
			case 8:
				if err := filter.Save(path); err != nil {
					t.Fatal(err)
				}
				mapped, mapErr := Open(path)
				loaded, err := LoadCuckoo(path)
				if err := errors.Join(mapErr, err); err != nil {
					t.Fatal(err)
				}
				filter = loaded
				if !bytes.Equal(bytesOf(mapped.cuckoo.all), before) || !unchanged() || mapped.KeyCount() != filter.KeyCount() {
					t.Fatalf("%s: the file is another filter", what)
				}
				_ = mapped.Close()
			}
			in, keys := 0, slices.Sorted(maps.Keys(times))
			for _, hash := range keys {
				in += times[hash]
				if !filter.ContainsHash(hash) {
					t.Fatalf("%s: %x is denied", what, hash)
				}
			}
			if filter.ContainsHashes(keys, nil).Count() != len(keys) {
				t.Fatalf("%s: a key is denied in a batch", what)
			}
			taken := definitionTaken(bytesOf(filter.view.cuckoo.all), params.FingerprintBits)
			if filter.KeyCount() != uint64(in) || taken != uint64(in) {
				t.Fatalf("%s: %d keys, %d slots, want %d", what, filter.KeyCount(), taken, in)
			}
		}
	}
}

func TestCuckooRemovalStorms(t *testing.T) {
	for _, bits := range fingerprintBits {
		filter := cuckooOf(t, 20, bits, 0)
		in := filled(t, filter, 1)
		for _, hash := range in {
			if err := filter.RemoveHash(hash); err != nil {
				t.Fatal(err)
			}
		}
		for _, hash := range append(splitMix(5000, 2), in...) {
			if err := filter.RemoveHash(hash); err != ErrAbsent {
				t.Fatal("removed from an empty filter:", err)
			}
		}
		if filter.KeyCount() != 0 || filter.Fill() != 0 || !bytes.Equal(bytesOf(filter.view.cuckoo.all), make([]byte, 20*64)) {
			t.Error("something is left")
		}
	}
}

// A key is in as often as it was added, and at most 8 times.
func TestCuckooDuplicates(t *testing.T) {
	for _, bits := range fingerprintBits {
		filter := cuckooOf(t, 1000, bits, 0)
		others := splitMix(60, 5)
		if _, err := filter.AddHashes(others); err != nil {
			t.Fatal(err)
		}
		key := splitMix(1, 6)[0]
		times := 0
		for filter.AddHash(key) == nil {
			times++
		}
		if times != 8 {
			t.Errorf("%d bits: in %d times", bits, times)
		}
		for range times {
			if !filter.ContainsHash(key) || filter.RemoveHash(key) != nil {
				t.Fatalf("%d bits: lost", bits)
			}
		}
		if filter.ContainsHashes(others, nil).Count() != len(others) {
			t.Errorf("%d bits: others are lost", bits)
		}
	}
}

// ---- full ----

func TestCuckooFull(t *testing.T) {
	for _, bits := range fingerprintBits {
		for _, lines := range []uint64{1, 2, 7, 1000} {
			filter := cuckooOf(t, lines, bits, 0)
			in := filled(t, filter, 3)
			if lines == 1000 && filter.Fill() < 0.95 {
				t.Errorf("%d bits: full at %v", bits, filter.Fill())
			}
			refused := 0
			for _, hash := range randomHashes(200, 4) {
				before := bytes.Clone(bytesOf(filter.view.cuckoo.all))
				if err := filter.AddHash(hash); err == nil {
					in = append(in, hash)
				} else if refused++; err != ErrFull || !bytes.Equal(bytesOf(filter.view.cuckoo.all), before) {
					t.Fatalf("%d bits, %d lines: %v, and something has changed", bits, lines, err)
				}
			}
			if lines < 1000 && refused < 50 || filter.ContainsHashes(in, nil).Count() != len(in) || filter.KeyCount() != uint64(len(in)) {
				t.Errorf("%d bits, %d lines: %d are refused, and keys are lost", bits, lines, refused)
			}
			// Room that is made can be used.
			if err := errors.Join(filter.RemoveHash(in[0]), filter.AddHash(in[0])); err != nil {
				t.Error(err)
			}
		}
	}
}

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

// Batches of keys do as one by one, at the seams of the loops, near and far.
func TestCuckooBatches(t *testing.T) {
	for _, lines := range []uint64{60, farFrom + 3} {
		for _, n := range []int{0, 1, 15, 16, 63, 64, 65, 511, 512, 513, 1500} {
			texts, slices := make([]string, n), make([][]byte, n)
			for i := range texts {
				texts[i] = fmt.Sprint("key ", i)
				slices[i] = []byte(texts[i])
			}
			for _, bits := range fingerprintBits {
				a, b, c := cuckooOf(t, lines, bits, 5), cuckooOf(t, lines, bits, 5), cuckooOf(t, lines, bits, 5)
				na, errA := a.AddStrings(texts[:n/2])
				nb, errB := b.AddBatch(slices[:n/2])
				if na != n/2 || nb != n/2 || errors.Join(errA, errB) != nil {
					t.Fatal(na, errA, nb, errB)
				}
				for _, text := range texts[:n/2] {
					if err := c.AddString(text); err != nil {
						t.Fatal(err)
					}
				}
				want := bytesOf(c.view.cuckoo.all)
				if !bytes.Equal(bytesOf(a.view.cuckoo.all), want) || !bytes.Equal(bytesOf(b.view.cuckoo.all), want) {
					t.Fatalf("%d lines, %d keys: another filter", lines, n)
				}
				answers, others := a.ContainsStrings(texts, nil), a.ContainsBatch(slices, make(Bitmap, 40))
				for i, text := range texts {
					in := definitionCuckooContains(want, bits, HashString(text, 5))
					if answers.Has(i) != in || others.Has(i) != in || c.Contains(slices[i]) != in || c.ContainsString(text) != in {
						t.Fatalf("%d lines, %d keys, %d bits: key %d: want %v", lines, n, bits, i, in)
					}
				}
			}
		}
	}
	// Full in the middle of a batch.
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

func TestCuckooZero(t *testing.T) {
	var filter CuckooFilter
	if !filter.ContainsString("a") || filter.ContainsHashes(make([]uint64, 70), nil).Count() != 70 {
		t.Error("the zero CuckooFilter says no")
	}
	if err := filter.RemoveString("a"); err != ErrLineCount {
		t.Error(err)
	}
	filter.Clear()
	if _, err := filter.MarshalBinary(); err != ErrLineCount || filter.KeyCount() != 0 || filter.Fill() != 0 {
		t.Error(err, filter.KeyCount(), filter.Fill())
	}
	if _, err := filter.WriteTo(io.Discard); err != ErrLineCount {
		t.Error(err)
	}
}

func TestCuckooBadParams(t *testing.T) {
	for name, test := range map[string]struct{ err, want error }{
		"rate 0":        {second(NewCuckoo(1, 0)), ErrRate},
		"rate 1":        {second(NewCuckoo(1, 1)), ErrRate},
		"rate NaN":      {second(NewCuckoo(1, math.NaN())), ErrRate},
		"rate 0.0001":   {second(NewCuckoo(1, 0.0001)), ErrRate},
		"keys -1":       {second(NewCuckoo(-1, 0.1)), ErrKeys},
		"too many keys": {second(NewCuckoo(math.MaxInt, 0.0002)), ErrLineCount},
		"9 bits":        {second(CuckooParamsForBits(1, 9)), ErrK},
		"-8 bits":       {second(NewCuckooWithParams(CuckooParams{1, -8, 0})), ErrK},
		"0 bits":        {second(NewCuckooWithParams(CuckooParams{1, 0, 0})), ErrK},
		"no lines":      {second(NewCuckooWithParams(CuckooParams{0, 8, 0})), ErrLineCount},
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

func TestCuckooBinary(t *testing.T) {
	for _, bits := range fingerprintBits {
		filter := cuckooOf(t, 2, bits, 3)
		in := filled(t, filter, 8)
		data, err := filter.MarshalBinary()
		if err != nil || len(data) != 3*64 {
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
		var back CuckooFilter
		if n, err := back.ReadFrom(&stream); err != nil || n != int64(len(data)) {
			t.Error("read:", n, err)
		}
		if back.String() != filter.String() || back.Params() != filter.Params() || back.ContainsHashes(in, nil).Count() != len(in) {
			t.Error("what was read is another filter:", &back, filter)
		}
		// What the footer says of the number of keys is a hint.
		if err := back.UnmarshalBinary(withKeyCount(data, 1)); err != nil || back.KeyCount() != uint64(len(in)) {
			t.Error(back.KeyCount(), err)
		}
		for offset := range 64 {
			view, err := OpenViewUnverified(append(make([]byte, offset), data...)[offset:])
			if err != nil || view.ContainsHashes(in, nil).Count() != len(in) {
				t.Fatal("offset", offset, err)
			}
			if params, ok := view.CuckooParams(); !ok || params != filter.Params() || view.Hash([]byte("a")) != Hash([]byte("a"), 3) {
				t.Fatal(params, ok)
			}
		}
		for cut := range len(data) {
			if back.UnmarshalBinary(data[:cut]) == nil || back.UnmarshalBinary(data[cut+1:]) == nil {
				t.Fatalf("cut at %d of %d bytes: accepted", cut, len(data))
			}
		}
		for bit := range len(data) * 8 {
			data[bit/8] ^= 1 << (bit % 8)
			if _, err := OpenView(data); err == nil || back.UnmarshalBinary(data) == nil {
				t.Fatalf("bit %d turned: accepted", bit)
			}
			data[bit/8] ^= 1 << (bit % 8)
		}
		if back.ContainsHashes(in, nil).Count() != len(in) {
			t.Error("a failed read has changed the filter")
		}
		back.Clear()
		if back.ContainsHash(in[0]) || back.KeyCount() != 0 {
			t.Error("clear leaves something")
		}
	}
}

// The kinds of filters are not mixed up.
func TestKindsOfFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter")
	plain := mustNew(t, 10, 0.01)
	counting, _ := NewCounting(10, 0.01)
	cuckoo, _ := NewCuckoo(10, 0.01)
	loads := map[string]func() error{
		"plain":    func() error { return second(Load(path)) },
		"counting": func() error { return second(LoadCounting(path)) },
		"cuckoo":   func() error { return second(LoadCuckoo(path)) },
	}
	for kind, save := range map[string]func(string) error{"plain": plain.Save, "counting": counting.Save, "cuckoo": cuckoo.Save} {
		if err := save(path); err != nil {
			t.Fatal(err)
		}
		if mapped, err := Open(path); err != nil || mapped.ContainsString("a") {
			t.Errorf("%s: %v", kind, err)
		}
		for as, load := range loads {
			var want error
			if as != kind && !(as == "plain" && kind == "counting") {
				want = ErrLayout
			}
			if err := load(); !errors.Is(err, want) {
				t.Errorf("%s as %s: %v", kind, as, err)
			}
		}
	}
}

// Lines that no writer wrote: the filter still works, and counts what is there.
func TestCuckooAnyLines(t *testing.T) {
	for _, bits := range fingerprintBits {
		filter := cuckooOf(t, 8, bits, 0)
		lines := bytesOf(filter.view.cuckoo.all)
		for i, hash := range splitMix(len(lines)/8, 8) {
			le.PutUint64(lines[8*i:], hash)
		}
		data, _ := filter.MarshalBinary()
		if err := filter.UnmarshalBinary(data); err != nil {
			t.Fatal(err)
		}
		lines = bytesOf(filter.view.cuckoo.all)
		for _, hash := range splitMix(2000, 9) {
			if filter.ContainsHash(hash) != definitionCuckooContains(lines, bits, hash) {
				t.Fatalf("hash %x", hash)
			}
			_ = filter.AddHash(hash)
			_ = filter.RemoveHash(hash<<7 | hash>>57)
			if filter.KeyCount() != definitionTaken(lines, bits) {
				t.Fatalf("%d keys, want %d", filter.KeyCount(), definitionTaken(lines, bits))
			}
		}
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

func TestCuckooNoAllocations(t *testing.T) {
	filter, _ := NewCuckoo(1000, 0.01)
	key, text := []byte("a key of some length"), "a key of some length"
	keys, texts, hashes := [][]byte{key, key}, []string{text, text}, splitMix(900, 3)
	encoded, _ := filter.MarshalBinary()
	out := make(Bitmap, 40)
	for name, do := range map[string]func(){
		"Add":             func() { _ = filter.Add(key); _ = filter.Remove(key) },
		"AddString":       func() { _ = filter.AddString(text); _ = filter.RemoveString(text) },
		"AddBatch":        func() { _, _ = filter.AddBatch(keys); filter.Clear() },
		"AddStrings":      func() { _, _ = filter.AddStrings(texts); filter.Clear() },
		"AddHashes":       func() { _, _ = filter.AddHashes(hashes); filter.Clear() },
		"Contains":        func() { filter.Contains(key) },
		"ContainsString":  func() { filter.ContainsString(text) },
		"ContainsBatch":   func() { filter.ContainsBatch(keys, out) },
		"ContainsStrings": func() { filter.ContainsStrings(texts, out) },
		"ContainsHashes":  func() { filter.ContainsHashes(hashes, out) },
		"OpenView":        func() { v, _ := OpenView(encoded); v.ContainsString(text) },
	} {
		if n := testing.AllocsPerRun(100, do); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
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
		filled(t, filter, 1)
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
