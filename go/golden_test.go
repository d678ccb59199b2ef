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
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bloomline/bloomline/go/internal/format"
)

// The errors by the numbers of the C interface, which the manifest has.
var byNumber = map[int]error{
	2: ErrRate, 4: ErrK, 5: ErrLineCount, 11: ErrTruncated, 12: ErrNotAFilter, 13: ErrVersion,
	14: ErrLayout, 15: ErrChecksum, 16: ErrReserved, 23: ErrGenerations,
	33: ErrColumns,
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
	Prober
}

func TestGoldenFiles(t *testing.T) {
	goldenFiles(t, "", func() goldenFilter { return new(Filter) })
}

// goldenEach calls check for each file of a directory below golden, with the numbers that the manifest has
// of an accepted one, or with the error of a rejected one.
func goldenEach(t *testing.T, directory string, accepted, rejected int, check func(name string, data []byte, numbers []uint64, want error)) {
	for _, row := range golden(t, directory+"MANIFEST") {
		name, data := row[1], goldenBytes(t, directory+row[1])
		var numbers []uint64
		for _, field := range row[2:] {
			numbers = append(numbers, number(t, field, 10))
		}
		if row[0] == "accepted" {
			accepted--
			check(name, data, numbers, nil)
			continue
		}
		rejected--
		want := byNumber[int(numbers[0])]
		if want == ErrTruncated && len(data) >= footerBytes && le.Uint64(data[len(data)-footerBytes+format.AtLineCount:]) > maxLines {
			want = ErrLineCount // more than this machine can address
		}
		if row[0] != "rejected" || want == nil {
			t.Fatalf("%s: %v", name, row)
		}
		check(name, data, nil, want)
	}
	if accepted > 0 || rejected > 0 {
		t.Errorf("%d accepted and %d rejected files are missing", accepted, rejected)
	}
}

// goldenProbes holds the answers of a filter to the probes of a file, and returns their hashes and counts,
// which are 0 or 1 if keys are not counted.
func goldenProbes(t *testing.T, name string, filter Prober) (hashes []uint64, counts []int) {
	for _, probe := range golden(t, name+".probes") {
		hashes = append(hashes, number(t, probe[0], 16))
		counts = append(counts, int(number(t, probe[1], 10)))
	}
	answers := filter.ContainsHashes(hashes, nil)
	for i, hash := range hashes {
		if want := counts[i] > 0; filter.ContainsHash(hash) != want || answers.Has(i) != want {
			t.Errorf("%s: hash %x: want %v", name, hash, want)
		}
	}
	return hashes, counts
}

// goldenKind reads the files of a directory below golden as filters of a kind that has no view. shape is
// what the manifest has of one. It calls further, if there is one, with the hashes that have been probed.
func goldenKind[F any, P interface {
	*F
	goldenFilter
}](t *testing.T, directory string, accepted, rejected int, shape func(P) []uint64, further func(P, []byte, []uint64)) {
	goldenEach(t, directory, accepted, rejected, func(name string, data []byte, numbers []uint64, want error) {
		filter := P(new(F))
		if err := filter.UnmarshalBinary(data); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
			return
		}
		if _, err := OpenView(data); err == nil || want == nil && !errors.Is(err, ErrLayout) {
			t.Errorf("%s: as a view: %v", name, err)
		}
		if want != nil {
			if !reflect.ValueOf(filter).Elem().IsZero() || !filter.ContainsHash(1) {
				t.Errorf("%s: what was rejected is in %v", name, filter)
			}
			return
		}
		if got := shape(filter); !slices.Equal(got, numbers) {
			t.Errorf("%s: %v, want %v", name, got, numbers)
		}
		if again, err := filter.MarshalBinary(); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%s: encoded again, it is another: %v", name, err)
		}
		if hashes, _ := goldenProbes(t, directory+name, filter); further != nil {
			further(filter, data, hashes)
		}
	})
}

// The files of a directory below golden, read as views and as the filters they are.
func goldenFiles(t *testing.T, directory string, empty func() goldenFilter) {
	goldenEach(t, directory, 20, 25, func(name string, data []byte, numbers []uint64, want error) {
		filter := empty()
		view, err := OpenView(data)
		decoded := filter.UnmarshalBinary(data)
		if !errors.Is(err, want) || !errors.Is(decoded, want) {
			t.Errorf("%s: %v and %v, want %v", name, err, decoded, want)
			return
		}
		if want != nil {
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
			return
		}
		shape := Params{LineCount: numbers[0], K: int(numbers[1]), Classic: directory == "classic/", Seed: numbers[2]}
		params, bloom := view.Params()
		cuckooParams, cuckoo := view.CuckooParams()
		if cuckoo {
			params = Params{LineCount: cuckooParams.LineCount, K: cuckooParams.FingerprintBits, Seed: cuckooParams.Seed}
		}
		staticParams, static := view.StaticParams()
		if static {
			params = Params{LineCount: staticParams.LineCount, K: staticParams.Rows, Seed: staticParams.Seed}
			bloom = !bloom
		}
		if bloom == cuckoo || static != (directory == "static/") || params != shape || view.KeyCount() != numbers[3] {
			t.Errorf("%s: %v, %d keys, want %v", name, params, view.KeyCount(), numbers)
		}
		goldenProbes(t, directory+name, view)
		hashes, counts := goldenProbes(t, directory+name, filter)
		if counting, ok := filter.(*CountingFilter); ok {
			for i, hash := range hashes {
				if count := counting.CountHash(hash); count != counts[i] {
					t.Errorf("%s: hash %x: count %d, want %d", name, hash, count, counts[i])
				}
			}
		}
		encoded, err := filter.MarshalBinary()
		if cuckoo { // whose keys are counted, whatever the writer said
			encoded = withKeyCount(encoded, view.KeyCount())
		}
		if err != nil || !bytes.Equal(encoded, data) {
			t.Errorf("%s: encoded again, it is another: %v", name, err)
		}
	})
}

func withKeyCount(data []byte, count uint64) []byte {
	data = bytes.Clone(data)
	le.PutUint64(data[len(data)-footerBytes+format.AtKeyCount:], count)
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
