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

// The same keys give the same bytes as in the other languages.
func TestGoldenCountingBuilt(t *testing.T) {
	repeated := func(count int, state uint64, times func(i int) int) (hashes []uint64) {
		for i, hash := range splitMix(count, state) {
			hashes = append(hashes, slices.Repeat([]uint64{hash}, times(i))...)
		}
		return hashes
	}
	check := func(name string, filter *CountingFilter) {
		encoded, err := filter.MarshalBinary()
		if err != nil || !bytes.Equal(encoded, goldenBytes(t, "counting/accepted/"+name+".bloomline")) {
			t.Errorf("%s is another: %v", name, err)
		}
	}
	for k := 1; k <= 16; k++ {
		filter := countingOf(t, 2, k, 0)
		filter.AddHashes(repeated(60, uint64(k)+200, func(i int) int {
			if i%5 == 0 {
				return 2
			}
			return 1
		}))
		check(fmt.Sprintf("k%02d", k), filter)
	}
	for _, lines := range []uint64{1, 3, 5, 8} {
		filter := countingOf(t, lines, 6, 0)
		filter.AddHashes(splitMix(int(lines)*40, lines+300))
		check(fmt.Sprintf("lines%03d", lines), filter)
	}
	often := repeated(20, 310, func(i int) int { return i + 1 })
	filter := countingOf(t, 2, 6, 0)
	filter.AddHashes(often)
	check("saturated", filter)
	if filter.RemoveHashes(often, nil).Count() != len(often) {
		t.Error("a key that is in cannot be removed")
	}
	check("stuck", filter)
	filter.Clear()
	check("empty", filter)
	filter = countingOf(t, 2, 6, math.MaxUint64)
	for i := range 60 {
		filter.AddString(fmt.Sprint("key ", i))
	}
	check("seed-max", filter)
}

// ---- histories ----

func countingOf(t testing.TB, count uint64, k int, seed uint64) *CountingFilter {
	t.Helper()
	filter, err := NewCountingWithParams(Params{count, k, seed})
	if err != nil {
		t.Fatal(err)
	}
	return filter
}

// countingModel says how often each key is in, and has the counters by the rules of the page,
// one byte for each.
type countingModel struct {
	times     map[uint64]int
	counters  []byte
	k         int
	saturated bool // whether a counter has ever reached 15
}

func newCountingModel(p Params) *countingModel {
	return &countingModel{times: map[uint64]int{}, counters: make([]byte, p.LineCount*512), k: p.K}
}

// bits are the counters of a hash, by number.
func (m *countingModel) bits(hash uint64) (bits []int) {
	line := int(definitionIndex(hash, uint64(len(m.counters)/512)))
	for lane, set := range definitionMask(hash, m.k) {
		for i := range 64 {
			if set>>i&1 == 1 {
				bits = append(bits, line*512+lane*64+i)
			}
		}
	}
	return bits
}

func (m *countingModel) add(hash uint64) {
	for _, bit := range m.bits(hash) {
		m.counters[bit] = min(m.counters[bit]+1, 15)
		m.saturated = m.saturated || m.counters[bit] == 15
	}
	m.times[hash]++
}

// count is the least counter of a hash.
func (m *countingModel) count(hash uint64) int {
	least := 15
	for _, bit := range m.bits(hash) {
		least = min(least, int(m.counters[bit]))
	}
	return least
}

// remove removes what need not be in, and tells whether that is allowed.
func (m *countingModel) remove(hash uint64) bool {
	if m.count(hash) == 0 {
		return false
	}
	for _, bit := range m.bits(hash) {
		if m.counters[bit] < 15 {
			m.counters[bit]--
		}
	}
	if m.times[hash]--; m.times[hash] <= 0 {
		delete(m.times, hash)
	}
	return true
}

func (m *countingModel) keys() []uint64 {
	return slices.Sorted(maps.Keys(m.times))
}

func (m *countingModel) check(t *testing.T, filter *CountingFilter, what string) {
	t.Helper()
	lines, counters := make([]byte, len(m.counters)/8), make([]byte, len(m.counters)/2)
	for bit, count := range m.counters {
		if count > 0 {
			lines[bit/8] |= 1 << (bit % 8)
		}
		counters[bit/2] |= count << (bit % 2 * 4)
	}
	if !bytes.Equal(bytesOf(filter.filter.view.all), lines) || !bytes.Equal(filter.counters, counters) {
		t.Fatalf("%s: other bytes than the model's", what)
	}
	keys := m.keys()
	if filter.ContainsHashes(keys, nil).Count() != len(keys) {
		t.Fatalf("%s: a key is denied", what)
	}
	for _, hash := range keys {
		if count := filter.CountHash(hash); count != m.count(hash) || count < min(m.times[hash], 15) {
			t.Fatalf("%s: %x is in %d times: count %d", what, hash, m.times[hash], count)
		}
	}
	if !m.saturated {
		plain, _ := NewWithParams(filter.Params())
		plain.AddHashes(keys)
		if !bytes.Equal(bytesOf(plain.view.all), lines) {
			t.Fatalf("%s: not the plain filter of what is left", what)
		}
	}
}

// Whatever is added, and removed rightly, in any way, no key that is in is denied.
func TestCountingHistories(t *testing.T) {
	histories := uint64(100)
	if testing.Short() {
		histories = 20
	}
	path := filepath.Join(t.TempDir(), "filter")
	for history := range histories {
		random := rand.New(rand.NewPCG(history, 7))
		params := Params{1 + random.Uint64N(5), 1 + random.IntN(16), random.Uint64()}
		filter := countingOf(t, params.LineCount, params.K, params.Seed)
		model := newCountingModel(params)
		// Keys of few kinds, so that they come again.
		key := func() string { return fmt.Sprint(random.IntN(200)) }
		for step := range 15 {
			what := fmt.Sprintf("history %d, step %d", history, step)
			switch random.IntN(10) {
			case 0: // one by one, some of them often
				for range random.IntN(40) {
					text, one := key(), random.Uint64()
					for range 1 + random.IntN(20)*random.IntN(2) {
						filter.AddString(text)
						model.add(HashString(text, params.Seed))
						filter.AddHash(one)
						model.add(one)
					}
				}
			case 1:
				hashes := randomHashes(random.IntN(200), random.Uint64())
				filter.AddHashes(hashes)
				for _, hash := range hashes {
					model.add(hash)
				}
			case 2:
				texts, slices := make([]string, random.IntN(150)), [][]byte{}
				for i := range texts {
					texts[i] = key()
					slices = append(slices, []byte(texts[i]))
				}
				filter.AddStrings(texts)
				filter.AddBatch(slices)
				for _, text := range append(texts, texts...) {
					model.add(HashString(text, params.Seed))
				}
			case 3, 4: // some of those that are in
				for _, hash := range model.keys() {
					if random.IntN(2) == 0 {
						for range 1 + random.IntN(model.times[hash]) {
							if err := filter.RemoveHash(hash); err != nil || !model.remove(hash) {
								t.Fatalf("%s: %v", what, err)
							}
						}
					}
				}
			case 5:
				var removed []uint64
				for _, hash := range model.keys() {
					if random.IntN(2) == 0 && model.remove(hash) {
						removed = append(removed, hash)
					}
				}
				if filter.RemoveHashes(removed, nil).Count() != len(removed) {
					t.Fatalf("%s: a key that is in cannot be removed", what)
				}
			case 6: // what is surely not in
				var absent []uint64
				for _, hash := range randomHashes(100, random.Uint64()) {
					if model.count(hash) == 0 {
						absent = append(absent, hash)
						if err := filter.RemoveHash(hash); err != ErrAbsent || filter.CountHash(hash) != 0 {
							t.Fatalf("%s: %v", what, err)
						}
					}
				}
				if filter.RemoveHashes(absent, nil).Count() != 0 {
					t.Fatalf("%s: a key that is not in is removed", what)
				}
			case 7:
				other := countingOf(t, params.LineCount, params.K, params.Seed)
				hashes := randomHashes(random.IntN(60), random.Uint64())
				other.AddHashes(hashes)
				if err := filter.Union(other); err != nil {
					t.Fatal(err)
				}
				for _, hash := range hashes {
					model.add(hash)
				}
			case 8: // written and read
				data, err := filter.MarshalBinary()
				filter = new(CountingFilter)
				if err := errors.Join(err, filter.UnmarshalBinary(data)); err != nil {
					t.Fatal(err)
				}
			case 9:
				if err := filter.Save(path); err != nil {
					t.Fatal(err)
				}
				mapped, mapErr := Open(path)
				plain, plainErr := Load(path)
				loaded, err := LoadCounting(path)
				if err := errors.Join(mapErr, plainErr, err); err != nil {
					t.Fatal(err)
				}
				filter = loaded
				if !bytes.Equal(bytesOf(mapped.all), bytesOf(plain.view.all)) || mapped.KeyCount() != filter.KeyCount() {
					t.Fatalf("%s: views of the file are others", what)
				}
				_ = mapped.Close()
			}
			model.check(t, filter, what)
			in := 0
			for _, times := range model.times {
				in += times
			}
			if filter.KeyCount() != uint64(in) {
				t.Fatalf("%s: %d keys, want %d", what, filter.KeyCount(), in)
			}
		}
	}
}

// Removals of anything, in or not, do no harm to keys that come later and are rightly treated.
func TestCountingWrongRemovals(t *testing.T) {
	for round := range uint64(50) {
		params := Params{1 + round%3, 1 + int(round%16), 0}
		filter, wrong := countingOf(t, params.LineCount, params.K, 0), newCountingModel(params)
		for _, hash := range splitMix(200, round) {
			filter.AddHash(hash)
			wrong.add(hash)
		}
		storm := splitMix(400, round+100)
		taken := filter.RemoveHashes(storm, nil)
		for i, hash := range storm {
			if wrong.remove(hash) != taken.Has(i) {
				t.Fatalf("round %d, hash %x: removed %v", round, hash, taken.Has(i))
			}
		}
		later := splitMix(100, round+200)
		filter.AddHashes(later)
		if filter.RemoveHashes(later[:50], nil).Count() != 50 || filter.ContainsHashes(later[50:], nil).Count() != 50 {
			t.Fatalf("round %d: keys that came later are lost", round)
		}
	}
}

// A full filter under removals of everything: of keys that are not in, then of all that are.
func TestCountingRemovalStorms(t *testing.T) {
	const keys = 5000
	filter, err := NewCounting(keys, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	in := splitMix(keys, 3)
	filter.AddHashes(in)
	before, _ := filter.MarshalBinary()
	var absent []uint64
	for _, hash := range splitMix(10*keys, 4) {
		if !filter.ContainsHash(hash) {
			absent = append(absent, hash)
		}
	}
	if len(absent) < 98*keys/10 || filter.RemoveHashes(absent, nil).Count() != 0 {
		t.Error("keys that are not in are removed")
	}
	if after, _ := filter.MarshalBinary(); !bytes.Equal(after, before) {
		t.Error("what is refused changes something")
	}
	slices.Reverse(in)
	if filter.RemoveHashes(in, nil).Count() != len(in) || filter.KeyCount() != 0 || filter.Fill() != 0 {
		t.Error("something is left")
	}
	if filter.RemoveHashes(in, nil).Count() != 0 || filter.KeyCount() != 0 {
		t.Error("keys are removed twice")
	}
}

func TestCountersStick(t *testing.T) {
	for times, want := range map[int]int{1: 1, 14: 14, 15: 15, 16: 15, 1000: 15} {
		filter := countingOf(t, 1, 6, 0)
		for range times {
			filter.Add([]byte("often"))
		}
		if count := filter.Count([]byte("often")); count != want || filter.CountString("often") != want {
			t.Errorf("%d times: count %d", times, count)
		}
		for range times {
			if err := filter.Remove([]byte("often")); err != nil {
				t.Fatal(err)
			}
		}
		if stuck := times >= 15; filter.ContainsString("often") != stuck || (filter.RemoveString("often") == nil) != stuck {
			t.Errorf("%d times, and removed: still in: %v", times, !stuck)
		}
		if filter.KeyCount() != 0 {
			t.Errorf("%d keys", filter.KeyCount())
		}
	}
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
	if err := filter.RemoveString("a"); err != ErrLineCount || filter.RemoveStrings([]string{"a", "b"}, nil).Count() != 0 {
		t.Error(err)
	}
	_, err := filter.MarshalBinary()
	_, writeErr := filter.WriteTo(io.Discard)
	_, copyErr := filter.Snapshot()
	if err != ErrLineCount || writeErr != ErrLineCount || copyErr != ErrLineCount {
		t.Error(err, writeErr, copyErr)
	}
	filter.Clear()
}

func TestCountingBadParams(t *testing.T) {
	for name, test := range map[string]struct{ err, want error }{
		"rate 0":     {second(NewCounting(1, 0)), ErrRate},
		"rate NaN":   {second(NewCounting(1, math.NaN())), ErrRate},
		"keys -1":    {second(NewCounting(-1, 0.1)), ErrKeys},
		"no lines":   {second(NewCountingWithParams(Params{0, 6, 0})), ErrLineCount},
		"too many":   {second(NewCountingWithParams(Params{maxCountingLines + 1, 6, 0})), ErrLineCount},
		"2^64 lines": {second(NewCountingWithParams(Params{math.MaxUint64, 6, 0})), ErrLineCount},
		"k 17":       {second(NewCountingWithParams(Params{1, 17, 0})), ErrK},
	} {
		if test.err != test.want {
			t.Errorf("%s: %v, want %v", name, test.err, test.want)
		}
	}
	if filter, err := NewCounting(0, 0.01, WithSeed(4)); err != nil || filter.Params() != (Params{1, 6, 4}) {
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
	// What is cut off or altered is found; the filter that should hold it is as before.
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
		// And with the checksums made right, if lines and counters then disagree.
		if _, err := OpenView(repaired(data)); bit < 2*512 && err != ErrChecksum {
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
	if err := new(CountingFilter).Save(path); !errors.Is(err, ErrLineCount) {
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
