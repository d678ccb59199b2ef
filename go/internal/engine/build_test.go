package engine

// Builders against the plain definitions, bit by bit.

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

func randomHashes(n int, seed uint64) []uint64 {
	random := rand.New(rand.NewPCG(seed, 0))
	hashes := make([]uint64, n)
	for i := range hashes {
		hashes[i] = random.Uint64()
	}
	return hashes
}

// plainBlock is the block of a layout with these lines, k and trailer.
func plainBlock(layout Layout, length uint64, k uint8, trailer []byte, hashes []uint64) []byte {
	block := make([]byte, length)
	for _, hash := range hashes {
		for _, place := range plainPlaces(layout, length, 64, int(k), hash) {
			plainSet(block, place)
		}
	}
	return append(block, trailer...)
}

func plainFastLocal(hashes []uint64, length uint64, k uint8) []byte {
	return plainBlock(FastLocal, length, k, []byte{0xFF, 0, k, 0, 0}, hashes)
}

func plainLegacy(hashes []uint64, bitsPerKey int) []byte {
	k := max(1, min(30, uint8(min(255, float64(bitsPerKey)*0.69))))
	lines := uint64(len(hashes)*bitsPerKey+511) / 512
	if lines%2 == 0 && len(hashes) > 0 {
		lines++
	}
	trailer := binary.LittleEndian.AppendUint32([]byte{k}, uint32(lines))
	return plainBlock(Legacy, 64*lines, k, trailer, hashes)
}

func plainLevelDBBlock(hashes []uint64, bitsPerKey int) []byte {
	k := max(1, min(30, uint8(min(255, float64(bitsPerKey)*0.69))))
	length := uint64(max(64, len(hashes)*bitsPerKey)+7) / 8
	return plainBlock(LevelDB, length, k, []byte{k}, hashes)
}

// Counts around groups of keys.
var keyCounts = []int{0, 1, 2, 3, 31, 32, 33, 64, 100, 1000, 2000, 20_000}

func TestFastLocalIsTheDefinition(t *testing.T) {
	for _, test := range []struct {
		bitsPerKey float64
		bits, k    int // bits in thousandths
	}{
		{0.5, 1000, 1}, {1, 1000, 1}, {2.08, 2080, 1}, {2.08055, 2081, 2}, {2.0804, 2080, 1}, {5.5, 5500, 4}, {10, 10000, 6},
		{11.72, 11720, 7}, {16.05, 16050, 9}, {25.501, 25501, 12}, {25.502, 25502, 11}, {30, 30000, 13},
		{50, 50000, 23}, {50.001, 50001, 24}, {99.9999, 100000, 24}, {1e9, 100000, 24},
		{math.Inf(1), 100000, 24}, {math.NaN(), 100000, 24},
	} {
		for _, n := range append(keyCounts[1:], 350_000) {
			if n > 20_000 && test.bitsPerKey != 1e9 {
				continue // the last one makes a filter that is built in bulk
			}
			hashes := randomHashes(n, uint64(n))
			length := (uint64(n)*uint64(test.bits) + 7999) / 8000
			for length%64 != 0 {
				length++
			}
			got := AppendFastLocal(nil, hashes, test.bitsPerKey)
			if want := plainFastLocal(hashes, length, uint8(test.k)); !bytes.Equal(got, want) {
				t.Fatalf("%d keys, %v bits: not the definition's bytes", n, test.bitsPerKey)
			}
			if FastLocalLen(n, test.bitsPerKey) != len(got) {
				t.Fatalf("%d keys, %v bits: length %d", n, test.bitsPerKey, FastLocalLen(n, test.bitsPerKey))
			}
		}
	}
}

// RocksDB's table of k: the last thousandth of a bit per key for each.
func TestFastLocalK(t *testing.T) {
	for _, test := range []struct{ most, k, next int }{
		{2080, 1, 2}, {3580, 2, 3}, {5100, 3, 4}, {6640, 4, 5}, {8300, 5, 6}, {10070, 6, 7},
		{11720, 7, 8}, {14001, 8, 9}, {16050, 9, 10}, {18300, 10, 11}, {22001, 11, 12},
		{25501, 12, 11}, {26000, 11, 12}, {28000, 12, 13}, {48000, 22, 23}, {50000, 23, 24},
	} {
		for i, want := range []int{test.k, test.next} {
			block := AppendFastLocal(nil, []uint64{0}, float64(test.most+i)/1000)
			if got := int(block[len(block)-3]); got != want {
				t.Errorf("%d thousandths of a bit: k %d, want %d", test.most+i, got, want)
			}
		}
	}
}

func TestNoFastLocal(t *testing.T) {
	for _, bitsPerKey := range []float64{0.4999, 0, -1, math.Inf(-1)} {
		if got := AppendFastLocal(nil, randomHashes(10, 1), bitsPerKey); len(got) != 0 || FastLocalLen(10, bitsPerKey) != 0 {
			t.Errorf("%v bits: %d bytes", bitsPerKey, len(got))
		}
	}
	if got := AppendFastLocal([]byte("x"), nil, 10); string(got) != "x" || FastLocalLen(0, 10) != 0 {
		t.Errorf("no keys: %q", got)
	}
}

func TestLegacyIsTheDefinition(t *testing.T) {
	for bitsPerKey := range 51 {
		for _, n := range keyCounts {
			hashes := randomHashes(n, uint64(n))
			got := AppendLegacy(nil, hashes, float64(bitsPerKey))
			if !bytes.Equal(got, plainLegacy(hashes, bitsPerKey)) {
				t.Fatalf("%d keys, %d bits: not the definition's bytes", n, bitsPerKey)
			}
			if LegacyLen(n, float64(bitsPerKey)) != len(got) {
				t.Fatalf("%d keys, %d bits: length %d", n, bitsPerKey, LegacyLen(n, float64(bitsPerKey)))
			}
		}
	}
	hashes := randomHashes(350_000, 1)
	block := AppendLegacy(nil, hashes, 100)
	if len(block) < bulkBytes || !bytes.Equal(block, plainLegacy(hashes, 100)) {
		t.Fatal("large: not the definition's bytes")
	}
}

func TestLegacyInParts(t *testing.T) {
	hashes := randomHashes(350_000, 2)
	halves := make([]uint32, len(hashes))
	for i, hash := range hashes {
		halves[i] = uint32(hash)
	}
	for _, n := range []int{0, 1, 77, 5000, 350_000} {
		_, got := StartLegacy(nil, n, 100)
		rest := halves[:n]
		for part := 1; len(rest) > 0; part = part*3 + 1 {
			AddLegacy(got, rest[:min(part, len(rest))])
			rest = rest[min(part, len(rest)):]
		}
		if !bytes.Equal(got, AppendLegacy(nil, hashes[:n], 100)) {
			t.Fatalf("%d keys: other bytes in parts", n)
		}
	}
}

func TestLevelDBIsTheDefinition(t *testing.T) {
	for bitsPerKey := range 51 {
		for _, n := range keyCounts {
			hashes := randomHashes(n, uint64(n))
			got := AppendLevelDB(nil, hashes, float64(bitsPerKey))
			if !bytes.Equal(got, plainLevelDBBlock(hashes, bitsPerKey)) {
				t.Fatalf("%d keys, %d bits: not the definition's bytes", n, bitsPerKey)
			}
			if LevelDBLen(n, float64(bitsPerKey)) != len(got) {
				t.Fatalf("%d keys, %d bits: length %d", n, bitsPerKey, LevelDBLen(n, float64(bitsPerKey)))
			}
		}
	}
}

func TestOddNumbers(t *testing.T) {
	for _, bitsPerKey := range []float64{math.NaN(), math.Inf(-1), -10, 0} {
		if got := LegacyLen(10, bitsPerKey); got != 64+5 {
			t.Errorf("legacy, %v bits: %d bytes", bitsPerKey, got)
		}
		if got := LevelDBLen(10, bitsPerKey); got != 8+1 {
			t.Errorf("LevelDB, %v bits: %d bytes", bitsPerKey, got)
		}
		block := AppendLegacy(nil, []uint64{1}, bitsPerKey)
		if k := block[64]; k != 1 {
			t.Errorf("legacy, %v bits: k %d", bitsPerKey, k)
		}
	}
	// RocksDB's limits.
	if got, want := LegacyLen(math.MaxInt, math.Inf(1)), 8388481*64+5; got != want {
		t.Errorf("the largest legacy filter: %d, want %d", got, want)
	}
	if got, want := uint64(FastLocalLen(math.MaxInt, 100)), uint64(0xFFFFFFC0+5); got != min(want, math.MaxInt) {
		t.Errorf("the largest FastLocal filter: %d, want %d", got, want)
	}
	if got := LevelDBLen(math.MaxInt, math.MaxFloat64); got < math.MaxInt/8 {
		t.Errorf("the largest LevelDB filter: %d", got)
	}
}

// What is in front stays, and what was behind is not taken for bits.
func TestAppend(t *testing.T) {
	hashes := randomHashes(400, 3)
	for _, test := range []struct {
		name   string
		append func([]byte) []byte
	}{
		{"FastLocal", func(dst []byte) []byte { return AppendFastLocal(dst, hashes, 10) }},
		{"legacy", func(dst []byte) []byte { return AppendLegacy(dst, hashes, 10) }},
		{"LevelDB", func(dst []byte) []byte { return AppendLevelDB(dst, hashes, 10) }},
	} {
		want := append([]byte("front"), test.append(nil)...)
		for _, room := range []int{5, 6, 100, 1 << 12} {
			dst := bytes.Repeat([]byte{0xEE}, room)
			copy(dst, "front")
			if got := test.append(dst[:5]); !bytes.Equal(got, want) {
				t.Errorf("%s, room for %d bytes: other bytes", test.name, room)
			}
		}
	}
}
