package bloomline

import (
	"errors"
	"fmt"
	"math"
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
}

// What is read grows on in the same way.
func TestScalableGrowsOn(t *testing.T) {
	filter, read := mustScalable(t, 0, 0.01, WithRandomSeed()), new(ScalableFilter)
	filter.AddHashesIfAbsent(randomHashes(500, 1), nil)
	must(read.UnmarshalBinary(orPanic(filter.MarshalBinary())))
	more := randomHashes(2000, 2)
	if filter.AddHashesIfAbsent(more, nil).Count() != read.AddHashesIfAbsent(more, nil).Count() || !read.Equal(filter) || read.String() != filter.String() {
		t.Error("it has grown otherwise")
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

// scalableOther answers the verbs of histories that no other kind has.
func scalableOther(_ *testing.T, filter anyKind, words []string) string {
	if words[0] != "stages" {
		return ""
	}
	return fmt.Sprint(len(filter.(*ScalableFilter).Stages()))
}
