package bloomline

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bloomline/bloomline/go/internal/staticline"
)

func staticOf(t testing.TB, rows int, hashes []uint64) *StaticFilter {
	t.Helper()
	params, err := StaticParamsForRows(len(hashes), rows)
	if err != nil {
		t.Fatal(err)
	}
	filter, err := BuildStaticWithParams(params, hashes, 1)
	if err != nil {
		t.Fatal(err)
	}
	return filter
}

func linesOfStatic(f *StaticFilter) []byte { return f.view.encoded[:f.Bytes()] }

// ---- golden files ----

func TestGoldenStatic(t *testing.T) {
	goldenFiles(t, "static/", func() goldenFilter { return new(StaticFilter) })
}

func TestGoldenStaticVectors(t *testing.T) {
	for _, row := range golden(t, "static/vectors.txt") {
		hash, count, rows := number(t, row[0], 16), number(t, row[1], 10), int(number(t, row[2], 10))
		high, low := number(t, row[3][:16], 16), number(t, row[3][16:], 16)
		want := []uint64{low, high, number(t, row[4], 10), number(t, row[5], 10), number(t, row[6], 10), number(t, row[7], 16)}
		shape, next := rowShapeOf(rows), staticline.NextHash(hash)
		index, position := staticline.Find(hash, count)
		first, extra := next>>1, shape.ExtraCoefficients(next)
		got := []uint64{first | extra<<63, extra >> 1, shape.Fingerprint(hash), index, position, next}
		if !slices.Equal(got, want) {
			t.Errorf("%v: %x, want %x", row, got, want)
		}
	}
}

// The same hashes give the same lines as in the other languages.
func TestGoldenStaticBuilt(t *testing.T) {
	var keys, close []uint64
	for i := range 90 {
		keys = append(keys, HashString(fmt.Sprint("key ", i), 9))
	}
	for _, hash := range splitMix(100, 5) {
		close = append(close, hash>>12)
	}
	hashesOf := map[string][]uint64{
		"-empty": nil, "-one-key": {0x0123456789ABCDEF}, "-awkward-hashes": goldenAwkward,
		"-overfull": splitMix(500, 77), "-one-position": close, "-seed-nine": keys, "-most-levels": keys,
	}
	for _, row := range golden(t, "static/MANIFEST") {
		if row[0] != "accepted" {
			continue
		}
		body, f, err := readFooter(goldenBytes(t, "static/"+row[1]))
		if err != nil {
			t.Fatal(err)
		}
		shape := f.static()
		hashes, ok := hashesOf[strings.TrimSuffix(filepath.Base(row[1]), ".bloomline")[6:]]
		if !ok {
			hashes = splitMix(5*shape.Columns()*11/10, uint64(shape.Count))
		}
		if lines := builtWith(shape, hashes); !bytes.Equal(lines, body) {
			t.Errorf("%s is another", row[1])
		}
	}
}

// testdata/static.txt is what the Rust library makes: the sizes of filters, and, as KEYS ROWS BYTES
// CHECKSUM, encoded filters of so many hashes.
func TestStaticAsInRust(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "static.txt"))
	must(err)
	for line := range strings.Lines(string(data)) {
		row := strings.Fields(line)
		switch row[0] {
		case "rate", "bits":
			size := map[string]func(int, float64) (StaticParams, error){"rate": StaticParamsForRate, "bits": StaticParamsForBits}[row[0]]
			value, err := strconv.ParseFloat(row[2], 64)
			must(err)
			params, err := size(int(number(t, row[1], 10)), value)
			if err != nil || params.LineCount != number(t, row[3], 10) || params.Rows != int(number(t, row[4], 10)) {
				t.Errorf("%v: %v, %v", row, params, err)
			}
		default:
			rows := int(number(t, row[1], 10))
			encoded, err := staticOf(t, rows, splitMix(int(number(t, row[0], 10)), uint64(rows))).MarshalBinary()
			if err != nil || uint64(len(encoded)) != number(t, row[2], 10) || checksum(encoded) != number(t, row[3], 16) {
				t.Errorf("%v: another filter, of %d bytes, %v", row, len(encoded), err)
			}
		}
	}
}

// builtWith is the lines of levels of given sizes.
func builtWith(shape staticLines, hashes []uint64) []byte {
	b := orPanic(newLevelBuilder(shape.rowShape, hashes, 1))
	for count, sizes := shape.count, shape.sizes; count > 0; {
		must(b.level(count))
		var share uint64
		share, sizes = sizes.nextShare()
		count = shareOf(count, share)
	}
	return slices.Concat(b.lines...)
}

// Neither order nor repetition nor goroutines matter to the lines.
func TestStaticParallel(t *testing.T) {
	n := 9*leastEach + 77
	if testing.Short() {
		n = 3*leastEach + 77
	}
	hashes := randomHashes(n, 1)
	for _, rows := range []int{5, 8, 13} {
		one := staticOf(t, rows, hashes)
		params := one.Params()
		mixed := append(slices.Clone(hashes), hashes[:n/3]...)
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		for _, goroutines := range []int{-1, 0, 2, 3, 7, 64} {
			filter, err := BuildStaticWithParams(params, mixed, goroutines)
			if err != nil || !bytes.Equal(linesOfStatic(filter), linesOfStatic(one)) {
				t.Fatalf("%d rows, %d goroutines: another filter, %v", rows, goroutines, err)
			}
		}
		if one.ContainsHashes(hashes, nil).Count() != n {
			t.Errorf("%d rows: keys are denied", rows)
		}
	}
}

func TestFoldLanes(t *testing.T) {
	for i := range 8 {
		for bit := range 64 {
			var x [8]uint64
			for j := range x {
				x[j] = 0b11 << 7
			}
			x[i] ^= 1 << bit
			if got := foldLanes(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]); got != 1<<i {
				t.Fatalf("lane %d, bit %d: %b", i, bit, got)
			}
		}
	}
}

// ---- statistics ----

// The rate and the size are what the model says.
func TestStaticRatesAndSizes(t *testing.T) {
	n, asked := 100_000, splitMix(1_000_000, 2)
	if testing.Short() {
		n, asked = 20_000, asked[:200_000]
	}
	hashes := splitMix(n, 1)
	for rows := staticline.MinRows; rows <= staticline.MaxRows; rows++ {
		filter := staticOf(t, rows, hashes)
		if filter.ContainsHashes(hashes, nil).Count() != n {
			t.Fatalf("%d rows: keys are denied", rows)
		}
		expected := filter.Params().Rate()
		measured := float64(filter.ContainsHashes(asked, nil).Count()) / float64(len(asked))
		if math.Abs(measured-expected) > 6*sqrt(expected/float64(len(asked))) || filter.EstimatedRate() != expected {
			t.Errorf("%d rows: measured %v, expected %v", rows, measured, expected)
		}
		bits := float64(8*filter.Bytes()) / float64(n)
		if ratio := bits / staticBits(rows); ratio < 0.98 || ratio > 1.03 {
			t.Errorf("%d rows: %v bits per key, the model says %v", rows, bits, staticBits(rows))
		}
		if filter.Levels() < 3 || filter.Levels() > 8 || filter.EstimatedKeys() != float64(n) {
			t.Errorf("%v: %d levels", filter, filter.Levels())
		}
	}
}

func TestStaticParams(t *testing.T) {
	for rate, rows := range map[float64]int{0.5: 4, 0.0625: 4, 0.01: 7, 0.004: 8, 1.0 / 65536: 16} {
		if params, err := StaticParamsForRate(1000, rate); err != nil || params.Rows != rows || params.Rate() > rate {
			t.Errorf("rate %v: %v, %v", rate, params, err)
		}
	}
	for bits, rows := range map[float64]int{5: 4, 7.5: 7, 8.6: 8, 10: 9, 12.7: 12, 100: 16} {
		if params, err := StaticParamsForBits(1000, bits); err != nil || params.Rows != rows {
			t.Errorf("%v bits: %v, %v", bits, params, err)
		}
	}
	tooMany := second(StaticParamsForRows(math.MaxInt, 8))
	if math.MaxInt > math.MaxInt32 && tooMany != ErrLineCount {
		t.Error(tooMany)
	}
	for name, test := range map[string]struct{ err, want error }{
		"rate 0":          {second(BuildStaticStrings(nil, 0)), ErrRate},
		"rate 0, hashes":  {second(BuildStaticHashes(nil, 0)), ErrRate},
		"rate 1":          {second(BuildStatic(nil, 1)), ErrRate},
		"rate 2^-17":      {second(NewStaticBuilder(1.0 / (1 << 17))), ErrRateTooSmall},
		"keys -1":         {second(StaticParamsForRate(-1, 0.1)), ErrKeys},
		"3 rows":          {second(StaticParamsForRows(1, 3)), ErrRows},
		"17 rows":         {second(BuildStaticWithParams(StaticParams{1, 17, 0}, nil, 1)), ErrRows},
		"no lines":        {second(BuildStaticWithParams(StaticParams{0, 8, 0}, nil, 1)), ErrNoLines},
		"2^48 + 1 lines":  {second(BuildStaticWithParams(StaticParams{1<<48 + 1, 8, 0}, nil, 1)), ErrLineCount},
		"3 bits":          {second(NewStaticBuilderForBits(3)), ErrTooFewBits},
		"infinitely many": {second(StaticParamsForBits(1, math.Inf(1))), ErrBitsPerKey},
		"no bits":         {second(StaticParamsForBits(1, math.NaN())), ErrBitsPerKey},
		"an option":       {second(NewStaticBuilder(0.1, func(*Params) error { return ErrMismatch })), ErrMismatch},
		"zero builder":    {second(new(StaticBuilder).Build()), ErrRows},
	} {
		if test.err != test.want {
			t.Errorf("%s: %v, want %v", name, test.err, test.want)
		}
	}
	if (StaticParams{}).Rate() != 1 || (StaticParams{}).WithRandomSeed().Seed == 0 {
		t.Error("a shape that cannot be")
	}
}

// ---- builders ----

func TestStaticBuilder(t *testing.T) {
	builder, err := NewStaticBuilder(0.001, WithSeed(9))
	must(err)
	texts := make([]string, 1000)
	keys := make([][]byte, len(texts))
	hashes := make([]uint64, len(texts))
	for i := range texts {
		texts[i] = fmt.Sprint("key ", i)
		keys[i] = []byte(texts[i])
		hashes[i] = HashString(texts[i], 9)
	}
	var before *StaticFilter
	for way, add := range []func(){
		func() { builder.AddBatch(keys) },
		func() { builder.AddStrings(texts) },
		func() { builder.AddHashes(hashes) },
		func() {
			for i := range texts {
				builder.Add(keys[i])
				builder.AddString(texts[i]) // the same once more
				builder.AddHash(builder.Hash(keys[i]))
			}
		},
	} {
		add()
		if builder.KeyCount() != 1000 || builder.String() != "bloomline.StaticBuilder{1000 keys, 10 rows}" {
			t.Errorf("way %d: %v", way, builder)
		}
		filter, err := builder.Build()
		if err != nil || before != nil && !filter.Equal(before) || filter.ContainsStrings(texts, nil).Count() != 1000 {
			t.Fatalf("way %d: another filter, %v", way, err)
		}
		before = filter
		params, err := builder.Params()
		if err != nil || params != filter.Params() || params.Seed != 9 || filter.KeyCount() != 1000 {
			t.Errorf("way %d: %v, %v", way, params, err)
		}
		builder.Clear()
	}
	none, err := builder.Build()
	if err != nil || none.ContainsString("key 1") || none.KeyCount() != 0 || none.Bytes() != 128 || none.Levels() != 1 {
		t.Error("a filter of no keys:", none, err)
	}
	built, err := BuildStatic(keys, 0.001, WithSeed(9))
	other, otherErr := BuildStaticStrings(texts, 0.001, WithSeed(9))
	hashed, hashedErr := BuildStaticHashes(hashes, 0.001, WithSeed(9))
	if err != nil || otherErr != nil || hashedErr != nil || !built.Equal(before) || !other.Equal(before) || !hashed.Equal(before) {
		t.Error("BuildStatic makes another filter", err, otherErr, hashedErr)
	}
	for i := range uint64(5) {
		builder.AddUint64(i)
	}
	numbers, err := builder.BuildParallel(0)
	if err != nil || !numbers.ContainsUint64(4) || !numbers.ContainsHash(HashUint64(3, 9)) {
		t.Error(numbers, err)
	}
}

// ---- whole filters ----

// Lines that no writer wrote are probed as the definition does, in a batch as one by one.
func TestStaticAnyLines(t *testing.T) {
	eachWay(t, testStaticAnyLines)
}

func testStaticAnyLines(t *testing.T) {
	for rows := staticline.MinRows; rows <= staticline.MaxRows; rows++ {
		shape := staticLines{rowShapeOf(rows), 5, levelSizes{100, 255, 3}}
		lines := make([]byte, shape.bytes())
		for i, word := range splitMix(len(lines)/8, uint64(rows)) {
			le.PutUint64(lines[8*i:], word)
		}
		data, err := encode(shape.footer(3, 7), lines).appendTo(nil)
		must(err)
		var filter StaticFilter
		must(filter.UnmarshalBinary(data))
		if again, _ := filter.MarshalBinary(); !bytes.Equal(again, data) {
			t.Errorf("%d rows: encoded again, it is another", rows)
		}
		asked := randomHashes(600, 9)
		answers := filter.ContainsHashes(asked, nil)
		for i, hash := range asked {
			want := definitionStaticContains(lines, 5, 100, 255, 3, rows, hash)
			if filter.ContainsHash(hash) != want || answers.Has(i) != want {
				t.Fatalf("%d rows, hash %x: the definition says %v, a batch %v", rows, hash, want, answers.Has(i))
			}
		}
	}
}

// Batches of every length, at the seams of the loops, near and far.
func TestStaticBatches(t *testing.T) {
	for _, keys := range []int{500, 1_200_000} {
		if testing.Short() {
			keys = min(keys, 150_000)
		}
		hashes := splitMix(keys, 7)
		for _, rows := range []int{7, 12} {
			filter := staticOf(t, rows, hashes)
			asked := append(slices.Clone(hashes[:400]), splitMix(2000, 8)...)
			rand.New(rand.NewPCG(1, 3)).Shuffle(len(asked), func(i, j int) { asked[i], asked[j] = asked[j], asked[i] })
			out := make(Bitmap, 40)
			for _, n := range []int{0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 130, 511, 512, 513, 575, 577, 1024, 1025, 2400} {
				for i := range out {
					out[i] = ^uint64(0)
				}
				answers := filter.ContainsHashes(asked[:n], out)
				if len(answers) != (n+63)/64 || n%64 != 0 && answers[n/64]>>(n%64) != 0 {
					t.Fatalf("%d keys: bits are set past the end", n)
				}
				for i := range n {
					if answers.Has(i) != filter.ContainsHash(asked[i]) {
						t.Fatalf("%d rows, %d of %d hashes: another answer alone", rows, i, n)
					}
				}
			}
		}
	}
}

func TestStaticReaders(t *testing.T) {
	hashes := randomHashes(1000, 1)
	filter := staticOf(t, 8, hashes)
	readAtOnce(t, filter, hashes, filter.ContainsHash)
}

// staticMade makes one as a history says: of rows, seed and keys.
func staticMade(t *testing.T, args []string) (anyKind, error) {
	rows, seed := int(number(t, args[0], 10)), number(t, args[1], 10)
	hashes := readHistoryKeys(t, args[2:]).hashed(seed)
	params, err := StaticParamsForRows(len(hashes), rows)
	if err != nil {
		return nil, err
	}
	params.Seed = seed
	return BuildStaticWithParams(params, hashes, 1)
}

// bumpAll makes the first line of a static filter bump all its keys: it changes the threshold.
func bumpAll(lines []byte) {
	for i := range 8 {
		lines[8*i+7] &^= 1 << 7
	}
}
