package bloomline

import (
	"bytes"
	"errors"
	"math"
	"sync"
	"testing"
)

func TestGoldenClassic(t *testing.T) {
	goldenFiles(t, "classic/", func() goldenFilter { return new(Filter) })
	goldenSizes(t, "classic/sizes.txt", ClassicParamsForRate, ClassicParamsForBits)
}

func TestGoldenClassicVectors(t *testing.T) {
	for _, row := range golden(t, "classic/vectors.txt") {
		hash, count := number(t, row[0], 16), number(t, row[1], 10)
		at := positions{at: hash, step: hash * c2, bits: 512 * count}
		for i, want := range row[2:] {
			if position := at.next(); position != number(t, want, 10) {
				t.Errorf("%v: position %d is %d", row[:2], i, position)
			}
		}
	}
}

// newClassicWithParams makes a filter of line count, k and seed whose bits lie anywhere.
func newClassicWithParams(params Params) (*Filter, error) {
	params.Classic = true
	return NewWithParams(params)
}

// ---- filters ----

func TestClassicWhole(t *testing.T) {
	const keys = 20_000
	filter, err := NewClassic(keys, 0.01, WithSeed(5))
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(keys) {
		filter.AddHash(HashUint64(i, 0))
	}
	expected := filter.Params().Rate(keys)
	if expected > 0.01 || filter.Params().Seed != 5 || filter.Params().K != 7 {
		t.Errorf("%v: %v", filter, expected)
	}
	asked := make([]uint64, 500_000)
	for i := range asked {
		asked[i] = HashUint64(uint64(keys+i), 0)
	}
	measured := float64(filter.ContainsHashes(asked, nil).Count()) / float64(len(asked))
	for _, rate := range []float64{measured, filter.EstimatedRate()} {
		if math.Abs(rate/expected-1) > 0.1 {
			t.Errorf("rate %v, expected %v", rate, expected)
		}
	}
	if n := filter.EstimatedKeys(); n < keys*0.99 || n > keys*1.01 {
		t.Errorf("%v keys estimated of %d", n, keys)
	}

	// A filter of lines is another, whatever it has in common.
	ofLines := filter.Params()
	ofLines.Classic = false
	plain, err := NewWithParams(ofLines)
	if err != nil {
		t.Fatal(err)
	}
	_, counting := NewCountingWithParams(filter.Params())
	_, window := NewWindowWithParams(3, filter.Params())
	if counting != ErrClassic || window != ErrClassic {
		t.Error("made of bits anywhere:", counting, window)
	}
	if foldable, err := filter.Params().Foldable(2); err != nil || !foldable.Classic {
		t.Error(foldable, err)
	}
	if err := plain.Union(filter); !errors.Is(err, ErrMismatch) {
		t.Error(err)
	}
	if err := filter.Union(plain); !errors.Is(err, ErrMismatch) {
		t.Error(err)
	}
	if err := filter.Intersect(plain); !errors.Is(err, ErrMismatch) {
		t.Error(err)
	}
	if err := filter.Fold(); !errors.Is(err, ErrClassic) {
		t.Error(err)
	}
	view := filter.View()
	if params, ok := view.Params(); !ok || params != filter.Params() || !params.Classic || plain.Params().Classic {
		t.Error("it has parameters of lines")
	}
	data, _ := filter.MarshalBinary()
	var back Filter
	if err := back.UnmarshalBinary(data); err != nil || !back.Params().Classic || back.Union(filter) != nil {
		t.Error(err)
	}
	for name, of := range map[string]interface{ UnmarshalBinary([]byte) error }{"counting": new(CountingFilter), "cuckoo": new(CuckooFilter)} {
		if err := of.UnmarshalBinary(data); !errors.Is(err, ErrLayout) {
			t.Errorf("%s: %v", name, err)
		}
	}
	back.Clear()
	if back.ContainsHash(asked[0]) || !back.Params().Classic {
		t.Error("cleared, it is not empty")
	}
	for name, got := range map[string]error{
		"rate 1":    second(NewClassic(1, 1)),
		"rate tiny": second(ClassicParamsForRate(1, 1e-100)),
		"keys":      second(NewClassic(-1, 0.1)),
		"bits":      second(ClassicParamsForBits(1, math.NaN())),
		"k":         second(newClassicWithParams(Params{LineCount: 1, K: 17, Seed: 0})),
	} {
		if got == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if (Params{}).Rate(1) != 1 || expected <= 0 || filter.Params().Rate(0) != 0 {
		t.Error("rates of no shape and no keys")
	}
}

func TestClassicShared(t *testing.T) {
	hashes := randomHashes(8000, 6)
	want := orPanic(newClassicWithParams(Params{LineCount: 150, K: 7}))
	shared := want.Clone().Share()
	want.AddHashes(hashes)
	var all sync.WaitGroup
	for i := range 4 {
		all.Add(1)
		go func() {
			defer all.Done()
			part := hashes[i*2000 : i*2000+2000]
			shared.AddHashesIfAbsent(part, nil)
			for _, hash := range part {
				if !shared.ContainsHash(hash) || shared.AddHashIfAbsent(hash) {
					t.Errorf("hash %x is not in", hash)
				}
			}
		}()
	}
	all.Wait()
	snapshot, err := shared.Snapshot()
	if err != nil || !snapshot.Params().Classic || !bytes.Equal(bytesOf(snapshot.view.all), bytesOf(want.view.all)) {
		t.Fatal("another filter", err)
	}
	if n := shared.EstimatedKeys(); n != snapshot.EstimatedKeys() {
		t.Error(n)
	}
	plain, _ := filterOf(t, 150, 7, nil)
	if err := shared.Union(plain); !errors.Is(err, ErrMismatch) {
		t.Error(err)
	}
	if err := shared.Union(snapshot); err != nil {
		t.Error(err)
	}
}
