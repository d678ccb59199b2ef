package bloomline

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
)

func sqrt(x float64) float64 { return math.Sqrt(x) }

func mustNew(t testing.TB, keys int, rate float64, options ...Option) *Filter {
	t.Helper()
	filter, err := New(keys, rate, options...)
	if err != nil {
		t.Fatal(err)
	}
	return filter
}

func TestBadParams(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		want error
	}{
		{"rate 0", second(ParamsForRate(1, 0)), ErrRate},
		{"rate 1", second(ParamsForRate(1, 1)), ErrRate},
		{"rate -1", second(ParamsForRate(1, -1)), ErrRate},
		{"rate NaN", second(ParamsForRate(1, math.NaN())), ErrRate},
		{"rate 1e-300", second(ParamsForRate(1, 1e-300)), ErrRateTooSmall},
		{"keys -1", second(ParamsForRate(-1, 0.1)), ErrKeys},
		{"bits 0", second(ParamsForBits(1, 0)), ErrBitsPerKey},
		{"bits -1", second(ParamsForBits(1, -1)), ErrBitsPerKey},
		{"bits NaN", second(ParamsForBits(1, math.NaN())), ErrBitsPerKey},
		{"bits inf", second(ParamsForBits(1, math.Inf(1))), ErrBitsPerKey},
		{"keys -2", second(ParamsForBits(-2, 1)), ErrKeys},
		{"too many", second(ParamsForBits(math.MaxInt, 1000)), ErrLineCount},
		{"New", second(New(10, 2)), ErrRate},
		{"k 0", second(NewWithParams(Params{LineCount: 1, K: 0, Seed: 0})), ErrK},
		{"k 17", second(NewWithParams(Params{LineCount: 1, K: 17, Seed: 0})), ErrK},
		{"no lines", second(NewWithParams(Params{LineCount: 0, K: 6, Seed: 0})), ErrNoLines},
		{"all lines", second(NewWithParams(Params{LineCount: math.MaxUint64, K: 6, Seed: 0})), ErrLineCount},
		{"2^58 lines", second(NewWithParams(Params{LineCount: 1 << 58, K: 6, Seed: 0})), ErrLineCount},
	} {
		if !errors.Is(test.err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, test.err, test.want)
		}
	}
	if rate := (Params{}).Rate(5); rate != 1 {
		t.Errorf("the rate of no shape is %v", rate)
	}
	if rate := (Params{LineCount: 1, K: 6}).Rate(0); rate != 0 {
		t.Errorf("the rate of no keys is %v", rate)
	}
}

func second[T any](_ T, err error) error { return err }

func TestOptions(t *testing.T) {
	filter := mustNew(t, 10, 0.01, WithSeed(7))
	filter.AddString("apple")
	if filter.Params().Seed != 7 || filter.Hash([]byte("apple")) != Hash([]byte("apple"), 7) {
		t.Error("the seed is not the one asked for")
	}
	if !filter.ContainsHash(Hash([]byte("apple"), 7)) || filter.ContainsHash(Hash([]byte("apple"), 0)) {
		t.Error("the seed is not used")
	}
	a, b := mustNew(t, 10, 0.01, WithRandomSeed()), mustNew(t, 10, 0.01, WithRandomSeed())
	if a.Params().Seed == b.Params().Seed {
		t.Error("two random seeds are one")
	}
}

// The bits of both, so the keys of both.
func TestIntersect(t *testing.T) {
	hashes := randomHashes(600, 8)
	a, _ := filterOf(t, 12, 6, hashes[:400])
	before, expected := filterOf(t, 12, 6, hashes[:400])
	b, other := filterOf(t, 12, 6, hashes[200:])
	for i := range expected {
		expected[i] &= other[i]
	}
	if err := a.Intersect(b); err != nil || !bytes.Equal(bytesOf(a.view.all), expected) || a.KeyCount() != 0 {
		t.Errorf("intersection: %v", err)
	}
	if a.ContainsHashes(hashes[200:400], nil).Count() != 200 {
		t.Error("a key of both is gone")
	}
	for _, hash := range randomHashes(20000, 9) {
		if a.ContainsHash(hash) && !(before.ContainsHash(hash) && b.ContainsHash(hash)) {
			t.Fatal("a key that was in neither")
		}
	}
	if err := before.Intersect(before); err != nil || before.KeyCount() != 400 {
		t.Errorf("with itself: %v", err)
	}
	for _, other := range []Params{{LineCount: 13, K: 6}, {LineCount: 12, K: 7}, {LineCount: 12, K: 6, Seed: 1}, {LineCount: 12, K: 6, Classic: true}} {
		filter, err := NewWithParams(other)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Intersect(filter); !errors.Is(err, ErrMismatch) || !bytes.Equal(bytesOf(a.view.all), expected) {
			t.Errorf("with %v: %v", other, err)
		}
	}
}

func TestUnionClearFold(t *testing.T) {
	hashes := randomHashes(600, 8)
	all, lines := filterOf(t, 12, 6, hashes)
	a, _ := filterOf(t, 12, 6, hashes[:300])
	b, _ := filterOf(t, 12, 6, hashes[300:])
	if err := a.Union(b); err != nil || !bytes.Equal(bytesOf(a.view.all), lines) || a.KeyCount() != 600 {
		t.Errorf("union: %v", err)
	}
	for _, other := range []Params{{LineCount: 13, K: 6, Seed: 0}, {LineCount: 12, K: 7, Seed: 0}, {LineCount: 12, K: 6, Seed: 1}} {
		filter, err := NewWithParams(other)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Union(filter); !errors.Is(err, ErrMismatch) {
			t.Errorf("union with %v: %v", other, err)
		}
	}
	for _, count := range []uint64{6, 3} {
		_, lines := filterOf(t, count, 6, hashes)
		if err := all.Fold(); err != nil || !bytes.Equal(bytesOf(all.view.all), lines) || all.Params().LineCount != count {
			t.Errorf("fold to %d: %v", count, err)
		}
	}
	if err := all.Fold(); !errors.Is(err, ErrOddLineCount) || all.Params().LineCount != 3 {
		t.Errorf("fold of 3 lines: %v", err)
	}
	all.Clear()
	if all.Fill() != 0 || all.KeyCount() != 0 || all.ContainsHash(hashes[0]) {
		t.Error("clear leaves something")
	}
}

// Many readers, and a writer that swaps: for the race detector.
func TestReadersAndSwaps(t *testing.T) {
	const keys = 2000
	var current Swap[Filter]
	build := func(generation uint64) *Filter {
		filter := mustNew(t, keys+100, 0.01, WithSeed(generation))
		batch := make([]string, keys)
		for i := range batch {
			batch[i] = string(rune('a'+i%26)) + strings.Repeat("x", i%40)
		}
		filter.AddStrings(batch)
		return filter
	}
	if !current.Load().ContainsString("a") || current.Publish(build(0)) != nil {
		t.Error("the zero Swap has something in it")
	}
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			var out Bitmap
			texts := []string{"a", "bx", "cxx", "dxxx"}
			for {
				select {
				case <-stop:
					return
				default:
				}
				filter := current.Load()
				out = filter.ContainsStrings(texts, out)
				if out.Count() != 4 || !filter.ContainsString("a") {
					t.Error("a key is gone")
					return
				}
			}
		}()
	}
	for generation := range uint64(30) {
		if old := current.Load(); current.Publish(build(generation)) != old {
			t.Error("another filter was there")
		}
	}
	close(stop)
	readers.Wait()
}

// filterOther answers the verbs of histories that no other kind has.
func filterOther(_ *testing.T, filter anyKind, words []string) string {
	if words[0] != "fold" {
		return ""
	}
	return saidStatus(filter.(*Filter).Fold())
}
