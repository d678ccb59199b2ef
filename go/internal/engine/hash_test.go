package engine

// The hashes, against values that the engines' own tests and functions give, and against the
// plain definitions for all lengths.

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

func TestXXPH3Goldens(t *testing.T) {
	// Short: RocksDB's tests. Long: what RocksDB 7.8.3 gives for the bytes 7 * i.
	sevens := make([]byte, 5000)
	for i := range sevens {
		sevens[i] = byte(7 * i)
	}
	for _, test := range []struct {
		key  []byte
		want uint64
	}{
		{nil, 5999572062939766020},
		{[]byte("\x08"), 583283813901344696},
		{[]byte("\x91\xf7"), 14199427467559720719},
		{[]byte("\x30\x46\x0b"), 11404699285340020889},
		{[]byte("\x67\x53\x81\x1c"), 9010661983527562386},
		{sevens[:1024], 9730857423823763792},
		{sevens[:1025], 9950953954571384860},
		{sevens[:1088], 8800999200841199253},
		{sevens[:2048], 1235769489278778782},
		{sevens, 13201169915860574358},
	} {
		if got := XXPH3(test.key); got != test.want {
			t.Errorf("of %d bytes: %d, want %d", len(test.key), got, test.want)
		}
		if got := plainXXPH3(test.key); got != test.want {
			t.Errorf("definition, of %d bytes: %d, want %d", len(test.key), got, test.want)
		}
	}
}

func TestHash32Goldens(t *testing.T) {
	// From the table in RocksDB's tests, several of each length that has a rule of its own.
	for _, test := range []struct {
		key  string
		want uint32
	}{
		{"", 3164544308},
		{"\x08", 422599524},
		{"\x9a", 3195034349},
		{"\x4d\x76", 2447836956},
		{"\x91\xf7", 31066776},
		{"\x30\x46\x0b", 3808221797},
		{"\x6a\xb5\xf4", 2469105222},
		{"\x67\x53\x81\x1c", 118283265},
		{"\xd0\x7a\x6e\xea\x56", 4255445370},
		{"\x6c\xa8\xbc\xe5\x99", 2177978500},
		{"\x42\xfb\xf2\x52\xb4\x10", 3655585422},
		{"\x16\x82\x39\x49\x88\x2b\x36", 3056033698},
		{"\x31\x1b\x98\x75\x96\x22\xd3\x9a", 469635402},
		{"\x8e\x4a\xc3\x18\x20\x2f\x06\xe6\x3c", 1534654151},
		{"\x06\x92\x5c\xf4\x88\x0e\x7e\x68\x38\x3e", 1152407945},
	} {
		if got := RocksDBLegacyHash([]byte(test.key)); got != test.want {
			t.Errorf("RocksDB's of %q: %d, want %d", test.key, got, test.want)
		}
		if got := plainHash32([]byte(test.key), true); got != test.want {
			t.Errorf("definition of %q: %d, want %d", test.key, got, test.want)
		}
	}
	if got := LevelDBHash([]byte("\x9a")); got != 0x6317ED30 {
		t.Errorf("LevelDB's: %#x", got)
	}
}

func TestHashesOfAllLengths(t *testing.T) {
	random := rand.NewChaCha8([32]byte{1})
	for n := range 2300 {
		key := make([]byte, n)
		for range 4 {
			_, _ = random.Read(key)
			if got, want := XXPH3(key), plainXXPH3(key); got != want {
				t.Fatalf("XXPH3 of %x: %#x, want %#x", key, got, want)
			}
			if got, want := RocksDBLegacyHash(key), plainHash32(key, true); got != want {
				t.Fatalf("RocksDBLegacyHash of %x: %#x, want %#x", key, got, want)
			}
			if got, want := LevelDBHash(key), plainHash32(key, false); got != want {
				t.Fatalf("LevelDBHash of %x: %#x, want %#x", key, got, want)
			}
		}
	}
}

func TestXXH64OfIntegers(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 1000 {
		value := random.Uint64() >> (i % 64)
		bytes := binary.LittleEndian.AppendUint64(nil, value)
		if got, want := XXH64Uint64(value), XXH64(bytes); got != want {
			t.Fatalf("of 8 bytes, %#x: %#x, want %#x", value, got, want)
		}
		if got, want := XXH64Uint32(uint32(value)), XXH64(bytes[:4]); got != want {
			t.Fatalf("of 4 bytes, %#x: %#x, want %#x", uint32(value), got, want)
		}
	}
}

func TestRemainder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	edges := []uint32{0, 1, 2, 3, 5, 63, 64, 65, 511, 513, 1<<16 - 1, 1 << 16, 1<<16 + 1,
		8388481, 1<<31 - 1, 1 << 31, 1<<31 + 1, 1<<32 - 2, 1<<32 - 1}
	check := func(n, by uint32) {
		if by == 0 {
			return
		}
		if got := newDivisor(by).remainder(n); got != n%by {
			t.Fatalf("%d %% %d: %d", n, by, got)
		}
	}
	for _, n := range edges {
		for _, by := range edges {
			check(n, by)
		}
	}
	for range 2_000_000 {
		n, by := random.Uint32(), random.Uint32()>>random.IntN(32)
		check(n, by)
		if by > 0 {
			check(n/by*by, by)
			check(n/by*by-1, by)
		}
	}
}
