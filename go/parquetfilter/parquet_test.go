package parquetfilter

// The golden files of Parquet: filters that another engine wrote, and headers with what a reader says of each.

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/bloomline/bloomline/go"
)

func golden(t testing.TB, name string) (records [][]string) {
	t.Helper()
	text, err := os.ReadFile("../../golden/parquet/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		records = append(records, strings.Fields(line))
	}
	return records
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	data, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

var statuses = map[string]error{"11": bloomline.ErrTruncated, "12": bloomline.ErrNotAFilter, "14": bloomline.ErrLayout}

func TestHeaders(t *testing.T) {
	seen := map[string]int{}
	for _, record := range golden(t, "headers.txt") {
		data := unhex(t, record[0])
		header, bits, err := ReadHeader(data)
		view, viewErr := bloomline.OpenParquet(data)
		seen[record[1]]++
		if record[1] == "rejected" {
			if !errors.Is(err, statuses[record[2]]) || viewErr != err || !view.ContainsHash(1) {
				t.Errorf("%s: %v, %v, want %v", record[0], err, viewErr, statuses[record[2]])
			}
			continue
		}
		if err != nil || strconv.Itoa(header) != record[2] || strconv.Itoa(bits) != record[3] {
			t.Errorf("%v: %d, %d, %v", record, header, bits, err)
		}
		if !errors.Is(viewErr, bloomline.ErrTruncated) || !view.ContainsHash(1) {
			t.Errorf("%s without bits: %v", record[0], viewErr)
		}
		for n := range header {
			if _, _, err := ReadHeader(data[:n:n]); !errors.Is(err, bloomline.ErrTruncated) {
				t.Errorf("%d bytes of %s: %v", n, record[0], err)
			}
		}
	}
	if seen["accepted"] < 40 || seen["rejected"] < 30 {
		t.Errorf("headers: %v", seen)
	}
}

// What pyarrow wrote, built anew of the same values.
func TestFiltersOfARealEngine(t *testing.T) {
	types := map[string]bool{}
	for _, record := range golden(t, "filters.txt") {
		data := unhex(t, record[2])
		header, bits, err := ReadHeader(data)
		if err != nil || header+bits != len(data) {
			t.Fatalf("%s: %d, %d, %v", record[1], header, bits, err)
		}
		var hashes []uint64
		for _, value := range record[3:] {
			hashes = append(hashes, hashOf(record[1], unhex(t, value)))
		}
		built, err := AppendHeader(nil, bits)
		if err != nil {
			t.Fatal(err)
		}
		built = append(built, make([]byte, bits)...)
		if err := AddHashes(built[header:], hashes); err != nil || !bytes.Equal(built, data) {
			t.Errorf("%s: %x, want %x, %v", record[1], built, data, err)
		}
		view, err := bloomline.OpenParquet(append(data, 1, 2, 3))
		if err != nil {
			t.Fatal(err)
		}
		if answers := view.ContainsHashes(hashes, nil); answers.Count() != len(hashes) {
			t.Errorf("%s: %d of %d", record[1], answers.Count(), len(hashes))
		}
		for _, value := range record[3:] {
			if !view.Contains(unhex(t, value)) {
				t.Errorf("%s: lost %s", record[1], value)
			}
		}
		types[record[1]] = true
	}
	if len(types) != 7 {
		t.Errorf("types: %v", types)
	}
}

// hashOf hashes a value by the function of its type.
func hashOf(kind string, value []byte) uint64 {
	switch kind {
	case "INT32":
		return HashInt32(int32(binary.LittleEndian.Uint32(value)))
	case "INT64":
		return HashInt64(int64(binary.LittleEndian.Uint64(value)))
	case "FLOAT":
		return HashFloat(math.Float32frombits(binary.LittleEndian.Uint32(value)))
	case "DOUBLE":
		return HashDouble(math.Float64frombits(binary.LittleEndian.Uint64(value)))
	}
	return Hash(value)
}

// The plain form of the layout, in words as the page has them.
func plainContains(bits []byte, hash uint64) bool {
	salts := []uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}
	block := int(hash >> 32 * uint64(len(bits)/32) >> 32)
	for i, salt := range salts {
		bit := uint32(hash) * salt >> 27
		if bits[32*block+4*i+int(bit/8)]>>(bit%8)&1 == 0 {
			return false
		}
	}
	return true
}

func TestAnyBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, blocks := range []int{1, 2, 3, 7, 64, 1001} {
		bits, hashes := make([]byte, 32*blocks), make([]uint64, 12*blocks)
		for i := range hashes {
			hashes[i] = random.Uint64()
		}
		if err := AddHashes(bits, hashes); err != nil {
			t.Fatal(err)
		}
		view, err := bloomline.OpenParquetBits(bits)
		if err != nil {
			t.Fatal(err)
		}
		probes := append([]uint64{0, 1, math.MaxUint64, 1 << 63, 1<<32 - 1}, hashes...)
		for range 2000 {
			probes = append(probes, random.Uint64())
		}
		for _, n := range []int{0, 1, 15, 16, 17, 64, 65, len(probes)} {
			answers := view.ContainsHashes(probes[:n], nil)
			for i, hash := range probes[:n] {
				want := plainContains(bits, hash)
				if view.ContainsHash(hash) != want || answers.Has(i) != want {
					t.Fatalf("%d blocks, %#x: want %v", blocks, hash, want)
				}
			}
		}
		for i, hash := range hashes {
			if !plainContains(bits, hash) {
				t.Fatalf("%d blocks: lost %d", blocks, i)
			}
		}
	}
}

func TestFold(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, test := range []struct{ blocks, keys int }{{1024, 100}, {96, 40}, {7, 10}, {64, 3000}, {4096, 0}} {
		hashes := make([]uint64, test.keys)
		for i := range hashes {
			hashes[i] = random.Uint64()
		}
		bits := make([]byte, 32*test.blocks)
		if err := AddHashes(bits, hashes); err != nil {
			t.Fatal(err)
		}
		left, err := Fold(bits, 0.01)
		if err != nil {
			t.Fatal(err)
		}
		plain := make([]byte, len(left))
		if err := AddHashes(plain, hashes); err != nil || !bytes.Equal(left, plain) {
			t.Errorf("%v: not the filter of %d blocks", test, len(left)/32)
		}
		if test.keys <= 100 && test.blocks%2 == 0 && len(left) == len(bits) {
			t.Errorf("%v: not folded", test)
		}
	}
}

func TestSizesAndErrors(t *testing.T) {
	for _, test := range []struct {
		keys int
		rate float64
		bits int
	}{{10, 0.1, 57}, {10, 0.01, 96}, {1000, 0.01, 9681}, {1_000_000, 0.01, 9_681_526}, {1_000_000, 0.001, 14_607_697}} {
		perKey, err := BitsPerKey(test.rate)
		if err != nil || int(float64(test.keys)*perKey) != test.bits {
			t.Errorf("%+v: %v, %v", test, perKey, err)
		}
		length, err := BitsLen(test.keys, perKey)
		if err != nil || length&(length-1) != 0 || length < 32 || length < test.bits/8 || length > max(32, test.bits/4) {
			t.Errorf("%+v: %d bytes, %v", test, length, err)
		}
		built, err := Append([]byte("x"), make([]uint64, test.keys), perKey)
		if header, bits, readErr := ReadHeader(built[1:]); err != nil || readErr != nil || bits != length || len(built) != 1+header+bits {
			t.Errorf("%+v: %d bytes, %v, %v", test, len(built), err, readErr)
		}
	}
	if length, err := BitsLen(math.MaxInt, 1e300); length != MaxBits || err != nil {
		t.Error(length, err)
	}
	for _, rate := range []float64{0, 1, -1, math.NaN(), math.Inf(1)} {
		if _, err := BitsPerKey(rate); err != bloomline.ErrRate {
			t.Error(rate, err)
		}
		if _, err := Fold(make([]byte, 32), rate); err != bloomline.ErrRate {
			t.Error(rate, err)
		}
	}
	for _, perKey := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if out, err := Append([]byte("x"), nil, perKey); err != bloomline.ErrBitsPerKey || string(out) != "x" {
			t.Error(perKey, err)
		}
	}
	if _, err := BitsLen(-1, 1); err != bloomline.ErrKeys {
		t.Error(err)
	}
	for n, want := range map[int]error{0: bloomline.ErrLineCount, 1: bloomline.ErrTruncated, 33: bloomline.ErrTruncated} {
		view, err := bloomline.OpenParquetBits(make([]byte, n))
		if err != want || !view.ContainsHash(1) || AddHashes(make([]byte, n), []uint64{1}) != want {
			t.Error(n, err)
		}
		if out, err := AppendHeader([]byte("x"), n); err != want || string(out) != "x" {
			t.Error(n, err)
		}
	}
	if HashBool(true) != Hash([]byte{1}) || HashBool(false) != Hash([]byte{0}) {
		t.Error("truth values")
	}
	if Hash(nil) != 0xEF46DB3751D8E999 || Hash([]byte("hello")) != 0x26C7827D889F6DA3 {
		t.Error("XXH64")
	}
}

func FuzzHeader(f *testing.F) {
	for _, record := range golden(f, "headers.txt") {
		f.Add(unhex(f, record[0]), uint64(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, hash uint64) {
		header, bits, err := ReadHeader(data)
		view, viewErr := bloomline.OpenParquet(data)
		whole := err == nil && header+bits <= len(data)
		if whole != (viewErr == nil) || header > MaxHeader {
			t.Fatalf("%d, %d, %v, %v", header, bits, err, viewErr)
		}
		want := !whole || plainContains(data[header:header+bits], hash)
		if got := view.ContainsHash(hash); got != want {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}
