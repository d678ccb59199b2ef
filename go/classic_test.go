package bloomline

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"sync"
	"testing"
)

// ---- docs/FORMAT.md once more ----

func definitionPositions(hash uint64, k int, count uint64) (positions []uint64) {
	at, step := hash, hash*0xD6E8FEB86659FD93
	bits := new(big.Int).SetUint64(512 * count)
	for i := range uint64(k) {
		product := new(big.Int).Mul(new(big.Int).SetUint64(at), bits)
		positions = append(positions, product.Rsh(product, 64).Uint64())
		at += step
		step += (i + 1) * 0x9E3779B97F4A7C15
	}
	return positions
}

func definitionClassicInsert(data []byte, k int, hash uint64) {
	for _, position := range definitionPositions(hash, k, uint64(len(data)/64)) {
		data[position/8] |= 1 << (position % 8)
	}
}

func definitionClassicContains(data []byte, k int, hash uint64) bool {
	for _, position := range definitionPositions(hash, k, uint64(len(data)/64)) {
		if data[position/8]>>(position%8)&1 == 0 {
			return false
		}
	}
	return true
}

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

// ---- filters ----

func newClassic(t *testing.T, count uint64, k int, hashes []uint64) (*Filter, []byte) {
	t.Helper()
	filter, err := NewClassicWithParams(Params{LineCount: count, K: k})
	if err != nil {
		t.Fatal(err)
	}
	filter.AddHashes(hashes)
	data := make([]byte, count*64)
	for _, hash := range hashes {
		definitionClassicInsert(data, k, hash)
	}
	return filter, data
}

func TestClassicEveryShape(t *testing.T) {
	for _, k := range []int{1, 2, 3, 7, 16} {
		for _, count := range []uint64{1, 3, 64, farFrom + 3} {
			hashes := randomHashes(int(min(count, 10))*400/k+20, count)
			filter, want := newClassic(t, count, k, hashes)
			one, _ := newClassic(t, count, k, nil)
			for _, hash := range hashes {
				one.AddHash(hash)
			}
			if !bytes.Equal(bytesOf(filter.view.all), want) || !bytes.Equal(bytesOf(one.view.all), want) {
				t.Fatalf("k %d, %d lines: other bytes than the definition", k, count)
			}
			asked := append(randomHashes(300, 98), hashes...)
			shared := one.Share()
			for n := 0; n <= len(asked); n += 1 + n/3 {
				answers, again := filter.ContainsHashes(asked[:n], nil), shared.ContainsHashes(asked[:n], nil)
				for i, hash := range asked[:n] {
					in := definitionClassicContains(want, k, hash)
					if filter.ContainsHash(hash) != in || answers.Has(i) != in || again.Has(i) != in {
						t.Fatalf("k %d, %d lines, hash %x: want %v", k, count, hash, in)
					}
				}
			}
		}
	}
}

func TestClassicWhole(t *testing.T) {
	const keys = 20_000
	filter, err := NewClassic(keys, 0.01, WithSeed(5))
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(keys) {
		filter.AddHash(HashUint64(i, 0))
	}
	expected := filter.Params().ClassicRate(keys)
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
	plain, err := NewWithParams(filter.Params())
	if err != nil {
		t.Fatal(err)
	}
	if err := plain.Union(filter); !errors.Is(err, ErrMismatch) {
		t.Error(err)
	}
	if err := filter.Union(plain); !errors.Is(err, ErrMismatch) {
		t.Error(err)
	}
	if err := filter.Fold(); !errors.Is(err, ErrLayout) {
		t.Error(err)
	}
	view := filter.View()
	if _, ok := view.Params(); ok || !filter.IsClassic() || plain.IsClassic() {
		t.Error("it has parameters of lines")
	}
	data, _ := filter.MarshalBinary()
	var back Filter
	if err := back.UnmarshalBinary(data); err != nil || !back.IsClassic() || back.Union(filter) != nil {
		t.Error(err)
	}
	for name, of := range map[string]interface{ UnmarshalBinary([]byte) error }{"counting": new(CountingFilter), "cuckoo": new(CuckooFilter)} {
		if err := of.UnmarshalBinary(data); !errors.Is(err, ErrLayout) {
			t.Errorf("%s: %v", name, err)
		}
	}
	back.Clear()
	if back.ContainsHash(asked[0]) || !back.IsClassic() {
		t.Error("cleared, it is not empty")
	}
	for name, got := range map[string]error{
		"rate 1":    second(NewClassic(1, 1)),
		"rate tiny": second(ClassicParamsForRate(1, 1e-100)),
		"keys":      second(NewClassic(-1, 0.1)),
		"bits":      second(ClassicParamsForBits(1, math.NaN())),
		"k":         second(NewClassicWithParams(Params{1, 17, 0})),
	} {
		if got == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if (Params{}).ClassicRate(1) != 1 || expected <= 0 || filter.Params().ClassicRate(0) != 0 {
		t.Error("rates of no shape and no keys")
	}
}

func TestClassicShared(t *testing.T) {
	hashes := randomHashes(8000, 6)
	empty, want := newClassic(t, 150, 7, nil)
	for _, hash := range hashes {
		definitionClassicInsert(want, 7, hash)
	}
	shared := empty.Share()
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
	if err != nil || !snapshot.IsClassic() || !bytes.Equal(bytesOf(snapshot.view.all), want) {
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
