package growing

// The golden files of layout 11: read, probed, written again; the damaged ones refused.

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/bloomline/bloomline/go/internal/format"
)

const goldenFolder = "../../../golden/growing/"

func linesOf(t *testing.T, path string) (all []string) {
	t.Helper()
	file, err := os.Open(goldenFolder + path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	for scanner.Scan() {
		all = append(all, scanner.Text())
	}
	if len(all) == 0 || scanner.Err() != nil {
		t.Fatalf("%s: %v", path, scanner.Err())
	}
	return all
}

// appended are the bytes before the footer, and the footer.
func appended(set *Set, of format.Footer) (string, format.Footer) {
	pieces, footer := set.Body()
	body := bytes.Join(pieces, nil)
	footer.KeyCount, footer.Seed, footer.LinesChecksum = of.KeyCount, of.Seed, xxh3.Hash(body)
	return string(body), footer
}

// decode reads a whole file.
func decode(data []byte, verify bool) (*Set, format.Footer, error) {
	footer, err := format.Read(data)
	if err != nil {
		return nil, footer, err
	}
	if footer.Layout != Layout {
		return nil, footer, errLayout
	}
	set, err := Open(footer, data[:len(data)-format.FooterBytes], verify)
	return set, footer, err
}

var errLayout = errors.New("another layout")

// statuses are the numbers of errors in MANIFEST.
var statuses = map[string]error{
	"2": format.ErrRate, "4": format.ErrK, "5": format.ErrLineCount, "11": format.ErrTruncated, "12": format.ErrNotAFilter, "13": format.ErrVersion,
	"14": errLayout, "15": format.ErrChecksum, "16": format.ErrReserved,
}

func TestGoldenFiles(t *testing.T) {
	for _, line := range linesOf(t, "MANIFEST") {
		fields := strings.Fields(line)
		data, err := os.ReadFile(goldenFolder + fields[1])
		if err != nil {
			t.Fatal(err)
		}
		set, footer, err := decode(data, true)
		if fields[0] == "rejected" {
			want := statuses[fields[2]]
			if math.MaxInt == math.MaxInt32 && strings.Contains(fields[1], "length-most-lines") {
				want = format.ErrLineCount // more than this machine can address
			}
			if want == nil || !errors.Is(err, want) {
				t.Errorf("%s: %v, not %v", fields[1], err, want)
			}
			decode(data, false) // does not panic
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", fields[1], err)
			continue
		}
		for _, probe := range linesOf(t, fields[1]+".probes") {
			var hash uint64
			var want int
			fmt.Sscanf(probe, "%x %d", &hash, &want)
			if set.Contains(hash) != (want == 1) || (set.Count(hash) > 0) != (want == 1) {
				t.Errorf("%s: %x is not %d", fields[1], hash, want)
			}
		}
		keys := uint64(0)
		for _, count := range set.Runs() {
			keys += count
		}
		if set.Lengths == 0 && keys != footer.KeyCount {
			t.Errorf("%s: %d keys in %d", fields[1], keys, footer.KeyCount)
		}
		body := data[:len(data)-format.FooterBytes]
		if again, said := appended(set, footer); again != string(body) || said != footer {
			t.Errorf("%s: its own bytes are others", fields[1])
		}
		built, _ := appended(Of(set).Set(), footer)
		if same := built == string(body); same == strings.Contains(fields[1], "/other-") {
			t.Errorf("%s: same when built: %v", fields[1], same)
		}
	}
}

// Where a hash is.
func TestVectors(t *testing.T) {
	for _, line := range linesOf(t, "vectors.txt") {
		var hash, w, u, region, home, offset uint64
		fmt.Sscanf(line, "%x %d %d %d %d %d", &hash, &w, &u, &region, &home, &offset)
		s := Shape{Prefixes: 16 * w}
		g := s.regionOf(int(hash>>60), Regions, 0)
		x := s.Normal(hash, 0) - g.first
		if hash>>60 != region || x/u != home || x%u != offset {
			t.Fatalf("%s: %d %d", line, x/u, x%u)
		}
	}
}

// Changed lines with valid checksums: what is accepted is sound, and nothing panics.
func TestDamagedLines(t *testing.T) {
	data, err := os.ReadFile(goldenFolder + "accepted/crowded.bloomline")
	if err != nil {
		t.Fatal(err)
	}
	footer, _ := format.Read(data)
	body := data[:len(data)-format.FooterBytes]
	refused := 0
	for i := 0; i < len(body)-2*LineBytes; i += 7 {
		body[i] ^= 1 << (i % 8)
		footer.LinesChecksum = xxh3.Hash(body)
		if _, err := Open(footer, body, true); err != nil {
			refused++
		}
		if set, err := Open(footer, body, false); err == nil {
			for hash := range uint64(64) {
				set.Contains(hash * 0x9e3779b97f4a7c15)
			}
		}
		body[i] ^= 1 << (i % 8)
	}
	if refused < 300 {
		t.Errorf("%d of the damaged filters are refused", refused)
	}
}

// Values ascend from line to line, too.
func TestLinesInOrder(t *testing.T) {
	for _, second := range []int64{5, 9, 12} {
		set := empty(shapeFor(t, false, 1, 0.5))
		g := &set.Regions[0]
		g.width = width{64, 3}
		g.lines = make([]byte, g.homes()*LineBytes)
		*g.line(0), _ = Close([]int64{9}, 64, true, 3)
		*g.line(1), _ = Close([]int64{second - 64}, 64, false, 3)
		if set.areChains() != (second >= 9) {
			t.Errorf("%d behind 9", second)
		}
	}
}
