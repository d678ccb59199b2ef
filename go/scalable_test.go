package bloomline

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"testing"
)

func mustScalable(t testing.TB, firstKeys int, rate float64, options ...Option) *ScalableFilter {
	t.Helper()
	filter, err := NewScalable(firstKeys, rate, options...)
	if err != nil {
		t.Fatal(err)
	}
	return filter
}

// definitionStages tells whether a key may be in one of the stages of a sound encoded filter.
func definitionStages(data []byte, hash uint64) bool {
	body, footer := data[:len(data)-64], data[len(data)-64:]
	lines := body[:64*le.Uint64(footer[8:])]
	for records := body[len(lines):]; len(records) > 0; records = records[64:] {
		size := 64 * le.Uint64(records[8:])
		if definitionContains(lines[:size], int(records[24]), hash) {
			return true
		}
		lines = lines[size:]
	}
	return false
}

func TestScalableGolden(t *testing.T) {
	goldenKind(t, "scalable/", 9, 50, func(f *ScalableFilter) []uint64 {
		lines := 0
		for _, stage := range f.Stages() {
			lines += len(stage.all)
		}
		return []uint64{uint64(lines), uint64(len(f.Stages())), f.seed, f.KeyCount()}
	}, nil)
}

// Whoever grows a filter in another language gets the same stages.
func TestScalableGoldenStages(t *testing.T) {
	for _, row := range golden(t, "scalable/stages.txt") {
		var rate float64
		fmt.Sscan(row[1], &rate)
		filter := mustScalable(t, int(number(t, row[0], 10)), rate)
		for i := 2; i < len(row); i += 3 {
			if i > 2 && !filter.grow() {
				t.Fatalf("%v: it does not grow", row)
			}
			newest := filter.newest()
			got := []uint64{newest.capacity, uint64(len(newest.filter.view.all)), uint64(newest.filter.view.k)}
			for j, want := range row[i : i+3] {
				if got[j] != number(t, want, 10) {
					t.Errorf("%v: stage %d: %v", row[:2], i/3, got)
				}
			}
		}
	}
}

// Keys one by one and in batches of all lengths: new is what no stage had, the bytes are the
// same, and the answers those of the definition.
func TestScalableBatches(t *testing.T) {
	keys := make([]string, 1500)
	slices := make([][]byte, len(keys))
	hashes := make([]uint64, len(keys))
	for i := range keys {
		keys[i] = fmt.Sprint("key ", i*2/3) // some twice
		slices[i] = []byte(keys[i])
		hashes[i] = HashString(keys[i], 5)
	}
	for _, n := range []int{0, 1, 15, 16, 63, 64, 65, 511, 512, 513, 1500} {
		var filters [4]*ScalableFilter
		for i := range filters {
			filters[i] = mustScalable(t, 40, 0.02, WithSeed(5))
		}
		isNew := [3]Bitmap{filters[0].AddStringsIfAbsent(keys[:n], nil), filters[1].AddBatchIfAbsent(slices[:n], make(Bitmap, 3)), filters[2].AddHashesIfAbsent(hashes[:n], nil)}
		one := filters[3]
		for i, key := range keys[:n] {
			want := one.AddStringIfAbsent(key)
			if isNew[0].Has(i) != want || isNew[1].Has(i) != want || isNew[2].Has(i) != want || one.AddIfAbsent(slices[i]) {
				t.Fatalf("%d keys: key %d is new: %v", n, i, want)
			}
		}
		data, _ := one.MarshalBinary()
		for i, filter := range filters {
			if other, _ := filter.MarshalBinary(); !bytes.Equal(data, other) {
				t.Fatalf("%d keys: filter %d has other bytes", n, i)
			}
		}
		if one.ContainsStrings(keys[:n], nil).Count() != n || one.ContainsBatch(slices[:n], nil).Count() != n {
			t.Fatalf("%d keys: some are lost", n)
		}
		asked := append(randomHashes(700, 3), hashes[:n]...)
		answers := one.ContainsHashes(asked, make(Bitmap, 1))
		for i, hash := range asked {
			if in := definitionStages(data, hash); answers.Has(i) != in || one.ContainsHash(hash) != in {
				t.Fatalf("%d keys: hash %x: want %v", n, hash, in)
			}
		}
	}
}

func TestScalableThousandTimes(t *testing.T) {
	const first, rate = 100, 0.01
	filter := mustScalable(t, first, rate)
	hashes, probes := randomHashes(1000*first, 1), randomHashes(300_000, 2)
	in := 0
	for _, times := range []int{1, 10, 100, 1000} {
		filter.AddHashesIfAbsent(hashes[in:times*first], nil)
		in = times * first
		if filter.ContainsHashes(hashes[:in], nil).Count() != in {
			t.Fatalf("%d times: keys are lost", times)
		}
		measured := float64(filter.ContainsHashes(probes, nil).Count()) / float64(len(probes))
		t.Logf("%d times: %v, measured %.4f", times, filter, measured)
		if measured >= rate || filter.ExpectedRate() >= rate || filter.Overfull() {
			t.Errorf("%d times: rate %v, expected %v", times, measured, filter.ExpectedRate())
		}
	}
	stages := filter.Stages()
	if len(stages) != 10 {
		t.Errorf("%d stages", len(stages))
	}
	for i := range stages[:9] {
		if stages[i].KeyCount() != first<<i {
			t.Errorf("stage %d has %d keys", i, stages[i].KeyCount())
		}
	}
	params, err := filter.PlainParams()
	if want, _ := ParamsForRate(int(filter.KeyCount()), rate); err != nil || params != want {
		t.Errorf("%v, want %v", params, want)
	}
}

func TestScalableBad(t *testing.T) {
	for _, rate := range []float64{0, 1, -1, 9e-16, math.NaN(), math.Inf(1)} {
		if _, err := NewScalable(1, rate); !errors.Is(err, noRate(rate)) {
			t.Errorf("rate %v: %v", rate, err)
		}
	}
	if _, err := NewScalable(-1, 0.1); !errors.Is(err, ErrKeys) {
		t.Error(err)
	}
	if _, err := NewScalable(math.MaxInt, 0.1); !errors.Is(err, ErrLineCount) {
		t.Error(err)
	}
	filter := mustScalable(t, 0, 0.5)
	filter.AddString("apple")
	// It ought to grow, and has as many stages as there can be.
	for len(filter.stages) < maxStages {
		if err := filter.addStage(1); err != nil {
			t.Fatal(err)
		}
	}
	filter.newest().filter.view.keyCount = math.MaxUint64 - 20
	if filter.AddStringsIfAbsent([]string{"pear", "plum", "apple"}, nil).Count() < 1 || !filter.Overfull() || len(filter.stages) != maxStages {
		t.Error("it grew")
	}
	for _, key := range []string{"apple", "pear", "plum"} {
		if !filter.ContainsString(key) {
			t.Error(key, "is lost")
		}
	}
	if filter.ExpectedRate() < 0.9 {
		t.Error(filter.ExpectedRate())
	}
	if _, err := filter.PlainParams(); !errors.Is(err, ErrLineCount) {
		t.Error(err)
	}
	var zero ScalableFilter
	if !zero.ContainsString("a") || zero.ContainsHashes(make([]uint64, 700), nil).Count() != 700 || zero.ExpectedRate() != 1 || zero.Rate() != 0 || zero.Overfull() {
		t.Error("the zero ScalableFilter says no")
	}
	if _, err := zero.MarshalBinary(); !errors.Is(err, ErrNoLines) {
		t.Error(err)
	}
	for _, add := range []func(){func() { zero.AddStringIfAbsent("a") }, func() { zero.AddHashesIfAbsent([]uint64{1}, nil) }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("a key was added to nothing")
				}
			}()
			add()
		}()
	}
}

func TestScalableFiles(t *testing.T) {
	filter := mustScalable(t, 0, 0.01, WithRandomSeed())
	filter.AddHashesIfAbsent(randomHashes(500, 1), nil)
	path := filepath.Join(t.TempDir(), "filter")
	if err := filter.Save(path); err != nil {
		t.Fatal(err)
	}
	loaded, err := LoadScalable(path)
	if err != nil {
		t.Fatal(err)
	}
	// Both grow on in the same way.
	more := randomHashes(2000, 2)
	if filter.AddHashesIfAbsent(more, nil).Count() != loaded.AddHashesIfAbsent(more, nil).Count() {
		t.Error("the one that was loaded is another")
	}
	a, _ := filter.MarshalBinary()
	var b bytes.Buffer
	if _, err := loaded.WriteTo(&b); err != nil || !bytes.Equal(a, b.Bytes()) {
		t.Error("it has grown otherwise:", err)
	}
	var read ScalableFilter
	if n, err := read.ReadFrom(&b); err != nil || n != int64(len(a)) || read.String() != filter.String() {
		t.Error(n, err)
	}
	if _, err := Load(path); !errors.Is(err, ErrLayout) {
		t.Error(err)
	}
	if _, err := LoadScalable(path + "no"); err == nil {
		t.Error("there is no such file")
	}
	for cut := range a {
		if read.UnmarshalBinary(a[:cut]) == nil {
			t.Fatal("cut to", cut)
		}
	}
}

// Any bytes as a growing filter: what is read answers as the definition does, and can be added to.
func FuzzScalable(f *testing.F) {
	addGolden(f, "../golden/scalable/*/*.bloomline")
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		for _, data := range [][]byte{data, repaired(data)} {
			var filter ScalableFilter
			hashes := randomHashes(70, seed)
			err := filter.UnmarshalBinary(data)
			if err != nil {
				if filter.ContainsHashes(hashes, nil).Count() != len(hashes) {
					t.Fatal("what is no filter says no")
				}
				continue
			}
			answers := filter.ContainsHashes(hashes, nil)
			for i, hash := range hashes {
				if in := definitionStages(data, hash); answers.Has(i) != in || filter.ContainsHash(hash) != in {
					t.Fatalf("hash %x: want %v", hash, in)
				}
			}
			if rate := filter.ExpectedRate(); !(rate >= 0 && rate <= 1) {
				t.Fatal("rate", rate)
			}
			if filter.newest().capacity < 1<<20 {
				filter.AddHashesIfAbsent(hashes, nil)
				if filter.ContainsHashes(hashes, nil).Count() != len(hashes) {
					t.Fatal("keys are lost")
				}
				if again, err := filter.MarshalBinary(); err != nil || new(ScalableFilter).UnmarshalBinary(again) != nil {
					t.Fatal("what it is now cannot be read:", err)
				}
			}
		}
	})
}
