package engine

// Blocks: the bytes that the engines' own tests fix, builders and readers against the plain
// definitions, and bytes that are no filter.

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// integers are RocksDB's test keys: four bytes, the lowest first.
func integers(from, to uint32, hash func([]byte) uint64) (hashes []uint64) {
	for i := from; i < to; i++ {
		hashes = append(hashes, hash(binary.LittleEndian.AppendUint32(nil, i)))
	}
	return hashes
}

func legacyHash(key []byte) uint64  { return uint64(RocksDBLegacyHash(key)) }
func levelDBHash(key []byte) uint64 { return uint64(LevelDBHash(key)) }

func TestRocksDBGoldens(t *testing.T) {
	// RocksDB's tests fix the hash of whole blocks, by the hash of the old filters.
	for _, test := range []struct {
		from, to   uint32
		bitsPerKey float64
		fastLocal  uint32
		legacy     uint32 // 0 if RocksDB does not say
	}{
		{0, 87, 5, 4130687756, 0},
		{0, 2087, 2, 3817481309, 1567096579},
		{0, 2087, 3, 2807269961, 2707206547},
		{0, 2087, 5, 204628445, 515748486},
		{0, 2087, 8, 355564975, 1302145999},
		{0, 2087, 9, 2137566013, 2092755149},
		{0, 2087, 11, 2561502687, 3755609649},
		{0, 2087, 14, 3709876890, 178861123},
		{0, 2087, 16, 1087138490, 1129406313},
		{0, 2087, 10, 2498541272, 1478976371},
		{1, 2087, 10, 2058382345, 4205696321},
		{1, 2088, 10, 23699164, 2885052954},
		{1, 2088, 9.5, 3166884174, 0},
		{1, 2088, 10.499, 4098502778, 0},
	} {
		name := fmt.Sprintf("keys %d to %d, %v bits", test.from, test.to, test.bitsPerKey)
		block := AppendFastLocal(nil, integers(test.from, test.to, XXPH3), test.bitsPerKey)
		if got := RocksDBLegacyHash(block); got != test.fastLocal {
			t.Errorf("FastLocal, %s: %d, want %d", name, got, test.fastLocal)
		}
		block = AppendLegacy(nil, integers(test.from, test.to, legacyHash), test.bitsPerKey)
		if got := RocksDBLegacyHash(block); got != test.legacy && test.legacy != 0 {
			t.Errorf("legacy, %s: %d, want %d", name, got, test.legacy)
		}
	}
}

func TestTwoWords(t *testing.T) {
	hello, world := []byte("hello"), []byte("world")
	for _, test := range []struct {
		layout Layout
		block  []byte
		want   string
	}{
		{
			FastLocal, AppendFastLocal(nil, []uint64{XXPH3(hello), XXPH3(world)}, 10),
			"0000000100410000000000000200000200020000800000000000000000000000" +
				"0000000000000000020800000000400000000000000040000000080000000000" + "ff00060000",
		},
		{
			// As RocksDB's and Pebble's tests draw it.
			Legacy, AppendLegacy(nil, []uint64{legacyHash(hello), legacyHash(world)}, 10),
			"0000000100000000004000400000000010000000000000000000000000000010" +
				"0000000004000000010000000000400000000000001000000100000044000000" + "0601000000",
		},
	} {
		if got := hex.EncodeToString(test.block); got != test.want {
			t.Errorf("layout %d: %s, want %s", test.layout, got, test.want)
		}
		block, ok := OpenRocksDB(test.block)
		if !ok || block.Layout() != test.layout {
			t.Fatalf("layout %d, %v, want %d", block.Layout(), ok, test.layout)
		}
		for key, want := range map[string]bool{"hello": true, "world": true, "x": false, "foo": false} {
			if got := block.Contains(block.Hash([]byte(key))); got != want {
				t.Errorf("layout %d, %s: %v", test.layout, key, got)
			}
		}
	}
}

// RocksDB's tests fix the answers of raw bytes with three quarters of the bits set, to 64 keys.
func TestRawGoldens(t *testing.T) {
	// The bytes are the end of an array of 3,000.
	fill := make([]byte, 256)
	for i := range fill {
		fill[i] = byte(uint32(0x7B7B) >> ((3000 - 5 - 256 + i) % 7))
	}
	for _, test := range []struct {
		trailer []byte
		want    uint64
	}{
		{[]byte{2, 1, 0, 0, 0}, 11384799501900898790},
		{[]byte{2, 2, 0, 0, 0}, 10157853359773492589},
		{[]byte{2, 4, 0, 0, 0}, 7123594913907464682},
		{[]byte{0xFF, 0, 2, 0, 0}, 9957045189927952471},
	} {
		block, ok := OpenRocksDB(append(bytes.Clone(fill), test.trailer...))
		if !ok {
			t.Fatalf("trailer %v: not understood", test.trailer)
		}
		var got uint64
		for i, hash := range integers(12345, 12345+64, block.Hash) {
			if block.Contains(hash) {
				got |= 1 << i
			}
		}
		if got != test.want {
			t.Errorf("trailer %v: %d, want %d", test.trailer, got, test.want)
		}
	}
}

// The table of RocksDB's tests of damaged filters, and the rules behind it.
func TestOddRocksDBBlocks(t *testing.T) {
	const (
		no   = iota // false for all
		bits        // true if the bits are set
		yes         // true for all
		what        // the same, and not understood
	)
	for _, test := range []struct {
		length  int
		trailer []byte
		want    int
	}{
		{64, []byte{6, 1, 0, 0, 0}, bits},
		{64 * 3, []byte{6, 3, 0, 0, 0}, bits},
		{128 * 3, []byte{6, 3, 0, 0, 0}, bits},
		{256 * 3, []byte{6, 3, 0, 0, 0}, bits},
		{64, []byte{30, 1, 0, 0, 0}, bits},
		{64, []byte{31, 1, 0, 0, 0}, bits},
		{64, []byte{127, 1, 0, 0, 0}, bits},
		{64, []byte{1, 1, 0, 0, 0}, bits},
		{64, []byte{0, 1, 0, 0, 0}, yes},
		{1, []byte{0, 0, 0, 0, 0}, yes}, // "always true" as RocksDB writes it
		{0, []byte{6, 0, 0, 0, 0}, no},
		{0, []byte{6, 37, 0, 0, 0}, no},
		{0, []byte{0, 0, 0, 0, 0}, no},
		{0, []byte{0xFF, 0, 6, 0, 0}, no},
		{0, []byte{6, 3, 0, 0}, no},
		{0, nil, no},
		{64, []byte{6, 0, 0, 0, 0}, yes},
		{4, []byte{6, 3, 0, 0, 0}, yes},
		{97 * 3, []byte{6, 3, 0, 0, 0}, yes},
		{65 * 3, []byte{6, 3, 0, 0, 0}, yes},
		{64, []byte{6, 1, 0, 0, 4}, yes}, // 64 * (1 + 1<<26), in 32 bits, is 64
		{64, []byte{128, 1, 0, 0, 0}, what},
		{64, []byte{253, 1, 0, 0, 0}, what},
		{64, []byte{0xFF, 0, 6, 0, 0}, bits},
		{64, []byte{0xFF, 0, 30, 0, 0}, bits},
		{64*3 + 63, []byte{0xFF, 0, 6, 0, 0}, bits},
		{64, []byte{0xFF, 1, 6, 0, 0}, what},
		{64, []byte{0xFF, 0, 6, 1, 0}, what},
		{64, []byte{0xFF, 0, 6, 0, 1}, what},
		{64, []byte{0xFF, 0, 0, 0, 0}, what},
		{64, []byte{0xFF, 0, 31, 0, 0}, what},
		{64, []byte{0xFF, 0, 33, 0, 0}, what},
		{64, []byte{0xFF, 0, 66, 0, 0}, what},
		{64, []byte{0xFF, 0, 130, 0, 0}, what},
		{1, []byte{0xFF, 0, 6, 0, 0}, yes}, // less than a line
		{63, []byte{0xFF, 0, 6, 0, 0}, yes},
		{128, []byte{0xFE, 123, 2, 0, 0}, what}, // Ribbon
	} {
		for _, full := range []bool{false, true} {
			data := make([]byte, test.length, test.length+5)
			if full {
				for i := range data {
					data[i] = 0xFF
				}
			}
			block, ok := OpenRocksDB(append(data, test.trailer...))
			if ok != (test.want != what) {
				t.Errorf("%d bytes, trailer %v: understood %v", test.length, test.trailer, ok)
			}
			want := test.want >= yes || test.want == bits && full
			for _, key := range []string{"", "hello", "world"} {
				if got := block.Contains(block.Hash([]byte(key))); got != want {
					t.Errorf("%d bytes, trailer %v, full %v: %v of %q", test.length, test.trailer, full, got, key)
				}
				if got := RocksDBMayContain(data[:len(data)+len(test.trailer)], []byte(key)); got != want {
					t.Errorf("%d bytes, trailer %v, full %v: may contain %q: %v", test.length, test.trailer, full, key, got)
				}
			}
		}
	}
}

// A filter of 512 MiB is the last whose bits Pebble can number.
func TestLargestLegacyBlock(t *testing.T) {
	for count, want := range map[uint32]Layout{1 << 23: Legacy, 1<<23 + 1: Maybe} {
		data := make([]byte, uint64(count)*64+5)
		data[len(data)-5] = 6
		binary.LittleEndian.PutUint32(data[len(data)-4:], count)
		block, ok := OpenRocksDB(data)
		if !ok || block.Layout() != want {
			t.Errorf("%d lines: layout %d, %v", count, block.Layout(), ok)
		}
		if got := RocksDBMayContain(data, []byte("key")); got != (want == Maybe) {
			t.Errorf("%d lines: %v", count, got)
		}
	}
}

func TestOddLevelDBBlocks(t *testing.T) {
	for _, test := range []struct {
		block []byte
		want  Layout
	}{
		{nil, Nothing},
		{[]byte{6}, Nothing},
		{[]byte{1, 0}, Maybe},
		{[]byte{1, 31}, Maybe},
		{[]byte{1, 255}, Maybe},
		{[]byte{1, 30}, LevelDB},
		{[]byte{1, 1}, LevelDB},
	} {
		block, ok := OpenLevelDB(test.block)
		if !ok || block.Layout() != test.want {
			t.Errorf("%v: layout %d, %v", test.block, block.Layout(), ok)
		}
		for _, key := range []string{"", "hello", "world"} {
			if got, want := LevelDBMayContain(test.block, []byte(key)), block.Contains(block.Hash([]byte(key))); got != want {
				t.Errorf("%v, %q: %v, want %v", test.block, key, got, want)
			}
		}
	}
}

func TestZeroBlock(t *testing.T) {
	var block Block
	if block.Layout() != Maybe || !block.Contains(block.Hash([]byte("key"))) {
		t.Error("the zero Block must answer true")
	}
}

// Readers against the definitions: all k, few and many lines, all sizes of them, half full.
func TestReadersAreTheDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	probes := append(randomHashes(300, 9), 0, 1, math.MaxUint64, 1<<63, 1<<32-1, (1<<32-1)<<32)
	check := func(name string, data []byte, open func([]byte) (Block, bool), want func([]byte, uint64) bool) {
		t.Helper()
		// At another address, and not a byte to read behind the end.
		offset := random.IntN(64)
		moved := append(make([]byte, offset, offset+len(data)), data...)[offset:]
		block, ok := open(moved[:len(data):len(data)])
		if !ok {
			t.Fatalf("%s: not understood", name)
		}
		for _, hash := range probes {
			if got, want := block.Contains(hash), want(data, hash); got != want {
				t.Fatalf("%s, hash %#x: %v, want %v", name, hash, got, want)
			}
		}
	}
	rocksDB := func(data []byte, hash uint64) bool {
		maybe, _ := plainRocksDB(data, hash)
		return maybe
	}
	// Three quarters of the bits are set, so that the later ones count as well.
	fill := func(n int, trailer ...byte) []byte {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(random.Uint32() | random.Uint32())
		}
		return append(data, trailer...)
	}
	for _, lines := range []int{1, 2, 3, 7, 64, 1001} {
		for k := byte(1); k <= 127; k++ {
			if k <= 30 {
				check("FastLocal", fill(64*lines+int(k)%3, 0xFF, 0, k, 0, 0), OpenRocksDB, rocksDB)
				check("LevelDB", fill(lines, k), OpenLevelDB, plainLevelDB)
			}
			trailer := binary.LittleEndian.AppendUint32([]byte{k}, uint32(lines))
			for _, size := range []int{64, 128, 256} {
				check(fmt.Sprintf("legacy %d", size), fill(size*lines, trailer...), OpenRocksDB, rocksDB)
			}
		}
	}
}

// Damage of the trailer or of the length may make a filter useless, but no reader panics,
// and more bits set never hide a key.
func TestDamage(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	hashes := randomHashes(200, 4)
	for _, test := range []struct {
		data []byte
		open func([]byte) (Block, bool)
	}{
		{AppendFastLocal(nil, hashes, 10), OpenRocksDB},
		{AppendLegacy(nil, hashes, 10), OpenRocksDB},
		{AppendLevelDB(nil, hashes, 10), OpenLevelDB},
	} {
		for n := range test.data {
			for _, part := range [][]byte{test.data[:n], test.data[n:]} {
				block, _ := test.open(part)
				for _, hash := range hashes {
					block.Contains(hash)
				}
			}
		}
		for range 2000 {
			data := bytes.Clone(test.data)
			data[random.IntN(len(data))] ^= byte(random.Uint32())
			block, _ := test.open(data)
			for _, hash := range hashes {
				block.Contains(hash)
			}
		}
		whole, _ := test.open(test.data)
		end := len(whole.Bits)
		for range 500 {
			data := bytes.Clone(test.data)
			data[random.IntN(end)] |= byte(random.Uint32())
			block, _ := test.open(data)
			for _, hash := range hashes {
				if !block.Contains(hash) {
					t.Fatalf("hash %#x is lost", hash)
				}
			}
		}
	}
}

func TestNoAllocation(t *testing.T) {
	key := []byte("a key of some length")
	rocksDB := AppendFastLocal(nil, randomHashes(100, 5), 10)
	pebble := AppendLegacy(nil, randomHashes(100, 5), 10)
	levelDB := AppendLevelDB(nil, randomHashes(100, 5), 10)
	if n := testing.AllocsPerRun(100, func() {
		for _, data := range [][]byte{rocksDB, pebble} {
			block, _ := OpenRocksDB(data)
			block.Contains(block.Hash(key))
		}
		block, _ := OpenLevelDB(levelDB)
		block.Contains(block.Hash(key))
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
