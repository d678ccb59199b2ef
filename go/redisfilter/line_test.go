package redisfilter

// Lines and footers against package bloomline. No server.

import (
	"bytes"
	"math/rand/v2"
	"testing"

	bloomline "github.com/bloomline/bloomline/go"
)

// setBit sets a bit as Redis numbers them.
func setBit(bytes []byte, bit int64) { bytes[bit/8] |= 0x80 >> (bit % 8) }

// encoded is the file that the library writes of a filter, as if it did not know how many keys
// there are.
func encoded(t testing.TB, filter *bloomline.Filter) []byte {
	t.Helper()
	file, err := filter.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	end, err := readFooter(file[len(file)-footerBytes:])
	if err != nil {
		t.Fatal(err)
	}
	if end.params != filter.Params() || end.keyCount != filter.KeyCount() {
		t.Fatalf("the footer of %v is read as %+v", filter, end)
	}
	if !bytes.Equal(end.bytes(), file[len(file)-footerBytes:]) {
		t.Fatalf("the footer of %v is written as %x", filter, end.bytes())
	}
	end.keyCount = 0
	return append(file[:len(file)-footerBytes], end.bytes()...)
}

func TestLinesAreThoseOfTheLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for k := 1; k <= 16; k++ {
		for _, lines := range []uint64{1, 2, 7, 1000} {
			params := bloomline.Params{LineCount: lines, K: k, Seed: random.Uint64()}
			filter, err := bloomline.NewWithParams(params)
			if err != nil {
				t.Fatal(err)
			}
			body := make([]byte, lines*lineBytes)
			for range 3 * lines {
				hash := random.Uint64()
				filter.AddHash(hash)
				for _, bit := range bitOffsets(nil, hash, params) {
					setBit(body, bit)
				}
			}
			if file := encoded(t, filter); !bytes.Equal(body, file[:len(body)]) {
				t.Fatalf("k %d, %d lines: other bytes than the library's", k, lines)
			}
			yes := 0
			for range 1000 {
				hash := random.Uint64()
				at := lineOf(hash, lines) * lineBytes
				got := lineContains(string(body[at:at+lineBytes]), hash, k)
				if got != filter.ContainsHash(hash) {
					t.Fatalf("k %d, %d lines: hash %#x: %v", k, lines, hash, got)
				}
				if got {
					yes++
				}
			}
			if yes == 1000 {
				t.Errorf("k %d, %d lines: every answer is yes", k, lines)
			}
		}
	}
}

func TestFooterRejectsEveryChange(t *testing.T) {
	params := bloomline.Params{LineCount: 77, K: 6, Seed: 5}
	end := footer{params: params, keyCount: 3, linesChecksum: 9}.bytes()
	if !isFooterOf(string(end), params) {
		t.Fatal("the footer itself is rejected")
	}
	for i := range end {
		changed := bytes.Clone(end)
		changed[i] ^= 1
		if isFooterOf(string(changed), params) {
			t.Errorf("byte %d changed, and accepted", i)
		}
	}
	for _, other := range []bloomline.Params{{LineCount: 78, K: 6, Seed: 5}, {LineCount: 77, K: 7, Seed: 5}, {LineCount: 77, K: 6}} {
		if isFooterOf(string(end), other) {
			t.Errorf("accepted for %+v", other)
		}
	}
	if isFooterOf("", params) || isFooterOf(string(make([]byte, footerBytes)), params) || isFooterOf(string(end[:63]), params) {
		t.Error("no footer is accepted")
	}
}
