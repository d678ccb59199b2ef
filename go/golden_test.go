package bloomline

// The golden files of the project: what every reader and writer of the format is held to, in
// any language. golden/README.md says what is in them.

import (
	"bytes"
	"encoding"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The errors by the numbers of the C interface, which the manifest has.
var byNumber = map[int]error{
	2: ErrRate, 4: ErrK, 5: ErrLineCount, 11: ErrTruncated, 12: ErrNotAFilter, 13: ErrVersion,
	14: ErrLayout, 15: ErrChecksum, 16: ErrReserved, 23: ErrGenerations,
}

// golden returns the fields of each line of a golden file.
func golden(t *testing.T, name string) (rows [][]string) {
	for line := range strings.Lines(string(goldenBytes(t, name))) {
		rows = append(rows, strings.Fields(line))
	}
	if len(rows) == 0 {
		t.Fatalf("golden/%s is empty", name)
	}
	return rows
}

// goldenBytes reads a golden file. A copy of the module alone has none.
func goldenBytes(t *testing.T, name string) []byte {
	data, err := os.ReadFile(filepath.Join("..", "golden", name))
	if errors.Is(err, os.ErrNotExist) && os.Getenv("BLOOMLINE_REQUIRE_GOLDEN") == "" {
		t.Skip("SKIPPED: the golden files are in the project's repository, not in the Go module")
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func number(t *testing.T, text string, base int) uint64 {
	value, err := strconv.ParseUint(text, base, 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// goldenFilter is what all filters have that can be read and written.
type goldenFilter interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
	Contains(key []byte) bool
	ContainsHash(hash uint64) bool
	KeyCount() uint64
}

func TestGoldenFiles(t *testing.T) {
	goldenFiles(t, "", func() goldenFilter { return new(Filter) })
}

// The files of a directory below golden, read as views and as the filters they are.
func goldenFiles(t *testing.T, directory string, empty func() goldenFilter) {
	accepted, rejected := 0, 0
	for _, row := range golden(t, directory+"MANIFEST") {
		name, data, filter := row[1], goldenBytes(t, directory+row[1]), empty()
		view, err := OpenView(data)
		decoded := filter.UnmarshalBinary(data)
		if row[0] == "rejected" {
			rejected++
			want := byNumber[int(number(t, row[2], 10))]
			if want == ErrTruncated && len(data) >= footerBytes && le.Uint64(data[len(data)-footerBytes+atLineCount:]) > maxLines {
				want = ErrLineCount // more than this machine can address
			}
			if want == nil || !errors.Is(err, want) || !errors.Is(decoded, want) {
				t.Errorf("%s: %v and %v, want %v", name, err, decoded, want)
			}
			if !view.Contains([]byte("any")) || !filter.Contains([]byte("any")) {
				t.Errorf("%s: what was rejected says no", name)
			}
			_, err = OpenViewUnverified(data)
			verifiedOnly := strings.Contains(name, "/lines-") || strings.Contains(name, "/counters-")
			if verifiedOnly && err != nil {
				t.Errorf("%s: unverified: %v", name, err)
			} else if !verifiedOnly && !errors.Is(err, want) {
				t.Errorf("%s: unverified: %v, want %v", name, err, want)
			}
			continue
		}
		accepted++
		if err != nil || decoded != nil {
			t.Errorf("%s: %v, %v", name, err, decoded)
			continue
		}
		want := Params{number(t, row[2], 10), int(number(t, row[3], 10)), number(t, row[4], 10)}
		params, bloom := view.Params()
		cuckooParams, cuckoo := view.CuckooParams()
		if cuckoo {
			params = Params{cuckooParams.LineCount, cuckooParams.FingerprintBits, cuckooParams.Seed}
		}
		classicParams, classic := view.ClassicParams()
		if classic {
			params = classicParams
			bloom = !bloom
		}
		staticParams, static := view.StaticParams()
		if static {
			params = Params{staticParams.LineCount, staticParams.Rows, staticParams.Seed}
			bloom = !bloom
		}
		if bloom == cuckoo || static != (directory == "static/") || classic != (directory == "classic/") || params != want || view.KeyCount() != number(t, row[5], 10) {
			t.Errorf("%s: %v, %d keys, want %v", name, params, view.KeyCount(), row[2:])
		}
		var hashes []uint64
		probes := golden(t, directory+name+".probes")
		for _, probe := range probes {
			hashes = append(hashes, number(t, probe[0], 16))
		}
		answers := view.ContainsHashes(hashes, nil)
		for i, probe := range probes {
			count := int(number(t, probe[1], 10)) // or 0 and 1
			want := count > 0
			if view.ContainsHash(hashes[i]) != want || answers.Has(i) != want || filter.ContainsHash(hashes[i]) != want {
				t.Errorf("%s: hash %s: want %v", name, probe[0], want)
			}
			if counting, ok := filter.(*CountingFilter); ok && counting.CountHash(hashes[i]) != count {
				t.Errorf("%s: hash %s: count %d, want %d", name, probe[0], counting.CountHash(hashes[i]), count)
			}
		}
		encoded, err := filter.MarshalBinary()
		if cuckoo { // whose keys are counted, whatever the writer said
			encoded = withKeyCount(encoded, view.KeyCount())
		}
		if err != nil || !bytes.Equal(encoded, data) {
			t.Errorf("%s: encoded again, it is another: %v", name, err)
		}
	}
	if accepted < 20 || rejected < 25 {
		t.Errorf("%d accepted and %d rejected files: too few", accepted, rejected)
	}
}

func withKeyCount(data []byte, count uint64) []byte {
	data = bytes.Clone(data)
	le.PutUint64(data[len(data)-footerBytes+atKeyCount:], count)
	return repaired(data)
}

// splitMix is the hashes that the golden files are made of.
func splitMix(count int, state uint64) []uint64 {
	hashes := make([]uint64, count)
	for i := range hashes {
		state += 0x9E3779B97F4A7C15
		z := (state ^ state>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		hashes[i] = z ^ z>>31
	}
	return hashes
}

// goldenAwkward are hashes with no bit set, all, one, half.
var goldenAwkward = []uint64{
	0, math.MaxUint64, 1, 1 << 63, math.MaxInt64, math.MaxUint32, math.MaxUint32 << 32,
	0x1234567812345678, 0x8000000080000000, 0x5555555555555555, 0xAAAAAAAAAAAAAAAA,
	0xF1DE83E19937733D, 0x0E217C1E66C88CC3, 0xCFEE444D8B59A89B, 0x3011BBB274A65765, 2,
}

func TestGoldenVectors(t *testing.T) {
	for _, row := range golden(t, "vectors.txt") {
		hash, k := number(t, row[0], 16), int(number(t, row[2], 10))
		// The index is tried where memory can hold so many lines.
		if count := number(t, row[1], 10); count <= 1000 {
			l := linesWith(make([]line, count), k, false)
			if l.at(hash) != &l.all[number(t, row[3], 10)] {
				t.Errorf("%v: another line", row[:4])
			}
		}
		one := linesWith(make([]line, 1), k, false)
		one.insert(hash)
		mask := ""
		for lane := range lanes {
			mask += fmt.Sprintf(" %016x", one.all[0].lane(lane))
		}
		if want := " " + strings.Join(row[4:], " "); mask != want {
			t.Errorf("%v: mask %s", row, mask)
		}
	}
}

func TestGoldenKeys(t *testing.T) {
	for _, row := range golden(t, "keys.txt") {
		key, err := hex.DecodeString(strings.TrimPrefix(row[0], "-"))
		if err != nil {
			t.Fatal(err)
		}
		seed, want := number(t, row[1], 10), number(t, row[2], 16)
		if Hash(key, seed) != want || HashString(string(key), seed) != want {
			t.Errorf("%v: %x", row, Hash(key, seed))
		}
		if len(key) == 8 && HashUint64(le.Uint64(key), seed) != want {
			t.Errorf("%v: as an integer: %x", row, HashUint64(le.Uint64(key), seed))
		}
	}
}

// Who asks for the same in another language gets the same shape.
func TestGoldenSizes(t *testing.T) {
	goldenSizes(t, "sizes.txt", ParamsForRate, ParamsForBits)
}

func goldenSizes(t *testing.T, name string, forRate, forBits func(int, float64) (Params, error)) {
	for _, row := range golden(t, name) {
		keys, err := strconv.Atoi(row[1])
		if err != nil {
			t.Fatal(err)
		}
		value, err := strconv.ParseFloat(row[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		size := map[string]func(int, float64) (Params, error){"rate": forRate, "bits": forBits}[row[0]]
		params, err := size(keys, value)
		if err == ErrLineCount && number(t, row[3], 10) > maxLines {
			continue // more than this machine can address
		}
		if err != nil || params.LineCount != number(t, row[3], 10) || params.K != int(number(t, row[4], 10)) {
			t.Errorf("%v: %v, %v", row, params, err)
		}
	}
}
