package bloomline

// The line of docs/FORMAT.md once more, bit by bit, and what filters do against it: bytes after inserts,
// answers, batches of every length at the seams of the loops. layouts_definition_test.go has other layouts.

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bloomline/bloomline/go/internal/avx2"
)

func definitionIndex(hash, count uint64) uint64 {
	product := new(big.Int).Mul(new(big.Int).SetUint64(hash), new(big.Int).SetUint64(count))
	return product.Rsh(product, 64).Uint64()
}

func definitionMask(hash uint64, k int) (mask [8]uint64) {
	round := func(g uint64, count int) {
		for i := range 8 {
			if (uint64(i)+g>>61)%8 < uint64(count) {
				mask[i] |= 1 << (g >> (13 + 6*i) & 63)
			}
		}
	}
	round(hash*0x9E3779B97F4A7C15, min(k, 8))
	if k > 8 {
		round(hash*0xD6E8FEB86659FD93, k-8)
	}
	return mask
}

// eachByte yields the bytes of a hash's line, and what the hash has in them.
func eachByte(lines []byte, k int, hash uint64, do func(at *byte, bits byte)) {
	line := definitionIndex(hash, uint64(len(lines)/64)) * 64
	for i, lane := range definitionMask(hash, k) {
		for j := range 8 {
			do(&lines[int(line)+8*i+j], byte(lane>>(8*j)))
		}
	}
}

func definitionInsert(lines []byte, k int, hash uint64) {
	eachByte(lines, k, hash, func(at *byte, bits byte) { *at |= bits })
}

func definitionContains(lines []byte, k int, hash uint64) bool {
	in := true
	eachByte(lines, k, hash, func(at *byte, bits byte) { in = in && *at&bits == bits })
	return in
}

// definitionCount is the least counter of a hash.
func definitionCount(counters []byte, k int, hash uint64) int {
	line, least := definitionIndex(hash, uint64(len(counters)/256)), 15
	for lane, bits := range definitionMask(hash, k) {
		for bit := range 64 {
			if bits>>bit&1 == 1 {
				at := int(line)*512 + 64*lane + bit
				least = min(least, int(counters[at/2]>>(at%2*4)&15))
			}
		}
	}
	return least
}

var awkward = []uint64{0, 1, 1 << 63, ^uint64(0), 0xFFFFFFFF, 0xFFFFFFFF << 32, 0x9E3779B97F4A7C15}

func randomHashes(n int, seed uint64) []uint64 {
	random := rand.New(rand.NewPCG(seed, 1))
	hashes := make([]uint64, n)
	for i := range hashes {
		hashes[i] = random.Uint64()
	}
	copy(hashes, awkward)
	return hashes
}

// filterOf makes a filter, and the lines that it ought to have.
func filterOf(t testing.TB, count uint64, k int, hashes []uint64) (*Filter, []byte) {
	t.Helper()
	filter, err := NewWithParams(Params{LineCount: count, K: k})
	if err != nil {
		t.Fatal(err)
	}
	filter.AddHashes(hashes)
	lines := make([]byte, count*64)
	for _, hash := range hashes {
		definitionInsert(lines, k, hash)
	}
	return filter, lines
}

func TestEveryShape(t *testing.T) {
	t.Logf("backend %s", Backend())
	eachWay(t, testEveryShape)
}

// eachWay runs a test with the assembly of this CPU, if it has one, and without.
func eachWay(t *testing.T, test func(*testing.T)) {
	t.Run("as the CPU does", test)
	available := avx2.Available
	avx2.Available = false
	defer func() { avx2.Available = available }()
	t.Run("in Go alone", test)
}

func testEveryShape(t *testing.T) {
	for k := 1; k <= 16; k++ {
		for _, count := range []uint64{1, 2, 3, 7, 64, 1000} {
			hashes := randomHashes(int(count)*30+20, count)
			filter, want := filterOf(t, count, k, hashes)
			if !bytes.Equal(bytesOf(filter.view.all), want) {
				t.Fatalf("k %d, %d lines: other bytes than the definition", k, count)
			}
			one, _ := filterOf(t, count, k, nil)
			for _, hash := range hashes {
				one.AddHash(hash)
			}
			if !bytes.Equal(bytesOf(one.view.all), want) {
				t.Fatalf("k %d, %d lines: other bytes, one by one", k, count)
			}
			asked := append(randomHashes(500, 99), hashes...)
			answers := filter.ContainsHashes(asked, nil)
			yes := 0
			for i, hash := range asked {
				in := definitionContains(want, k, hash)
				if filter.ContainsHash(hash) != in || answers.Has(i) != in {
					t.Fatalf("k %d, %d lines, hash %x: want %v", k, count, hash, in)
				}
				if in {
					yes++
				}
			}
			if answers.Count() != yes {
				t.Fatalf("k %d, %d lines: count %d, want %d", k, count, answers.Count(), yes)
			}
		}
	}
}

// Every length, at the seams of words, of what is touched ahead, of what is hashed ahead, and
// in filters on both sides of the size from which lines are touched.
func TestBatchesOfEveryLength(t *testing.T) {
	eachWay(t, testBatchesOfEveryLength)
}

func testBatchesOfEveryLength(t *testing.T) {
	lengths := []int{511, 512, 513, 575, 576, 577, 1023, 1024, 1025, 3000}
	step := 1
	if testing.Short() {
		step = 13
	}
	for n := 0; n <= 130; n += step {
		lengths = append(lengths, n)
	}
	for _, count := range []uint64{5, farFrom + 3} {
		keys := make([]string, 3000)
		for i := range keys {
			keys[i] = fmt.Sprint("key ", i)
		}
		params := Params{LineCount: count, K: 6, Seed: 42}
		texts := make([][]byte, len(keys))
		hashes := make([]uint64, len(keys))
		for i, key := range keys {
			texts[i], hashes[i] = []byte(key), HashString(key, 42)
		}
		out := make(Bitmap, 0, 50)
		for _, n := range lengths {
			filters := [4]*Filter{}
			for i := range filters {
				filters[i], _ = NewWithParams(params)
			}
			half := n / 2
			filters[0].AddBatch(texts[:half])
			filters[1].AddStrings(keys[:half])
			filters[2].AddHashes(hashes[:half])
			for i, key := range keys[:half] {
				if i%2 == 0 {
					filters[3].AddString(key)
				} else {
					filters[3].Add([]byte(key))
				}
			}
			for i, filter := range filters {
				if filter.KeyCount() != uint64(half) || !bytes.Equal(bytesOf(filter.view.all), bytesOf(filters[0].view.all)) {
					t.Fatalf("%d keys, %d lines: way %d gives another filter", half, count, i)
				}
			}
			filter := filters[0]
			for i := range out[:cap(out)] {
				out[:cap(out)][i] = ^uint64(0) // what was there does not matter
			}
			for way, answers := range []Bitmap{
				filter.ContainsBatch(texts[:n], out), filter.ContainsStrings(keys[:n], nil),
				filter.ContainsHashes(hashes[:n], nil),
			} {
				if len(answers) != (n+63)/64 {
					t.Fatalf("%d keys: %d words", n, len(answers))
				}
				for i := range n {
					if answers.Has(i) != definitionContains(bytesOf(filter.view.all), 6, hashes[i]) {
						t.Fatalf("%d keys, %d lines, way %d: key %d", n, count, way, i)
					}
				}
				if n%64 != 0 && answers[n/64]>>(n%64) != 0 {
					t.Fatalf("%d keys: bits are set past the end", n)
				}
			}
		}
	}
}

// The rate is what the model says, for single keys and in batches.
func TestRates(t *testing.T) {
	for _, rate := range []float64{0.1, 0.01, 0.001} {
		const keys = 100_000
		filter, err := New(keys, rate)
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(keys) {
			filter.AddHash(HashUint64(i, 0))
		}
		asked := make([]uint64, 1_000_000)
		for i := range asked {
			asked[i] = HashUint64(uint64(keys+i), 0)
		}
		measured := float64(filter.ContainsHashes(asked, nil).Count()) / float64(len(asked))
		expected := filter.Params().Rate(keys)
		if expected > rate {
			t.Errorf("asked for %v, promised %v", rate, expected)
		}
		// Six standard deviations of the measurement, and 5 % for the filter itself.
		slack := 6*sqrt(expected/float64(len(asked))) + expected/20
		if measured < expected-slack || measured > expected+slack {
			t.Errorf("rate %v: measured %v, expected %v", rate, measured, expected)
		}
		if now := filter.EstimatedRate(); now < expected-slack || now > expected+slack {
			t.Errorf("rate %v: estimated %v, expected %v", rate, now, expected)
		}
		if n := filter.EstimatedKeys(); n < keys*0.99 || n > keys*1.01 {
			t.Errorf("rate %v: %v keys estimated of %d", rate, n, keys)
		}
	}
}

func TestBitmap(t *testing.T) {
	answers := Bitmap{1<<0 | 1<<63, 0, 1 << 5}
	var seen []string
	for i := range answers.All() {
		seen = append(seen, fmt.Sprint(i))
		if i == 63 {
			break
		}
	}
	if strings.Join(seen, " ") != "0 63" || answers.Count() != 3 || !answers.Has(133) || answers.Has(1) {
		t.Error(seen, answers.Count())
	}
}

// On 32 bits as many answers as this have no room, and their number is no int.
func TestRowsThatMemoryCannotAddress(t *testing.T) {
	defer func() {
		if message, _ := recover().(string); !strings.HasPrefix(message, "bloomline: memory cannot address") {
			t.Errorf("panics with %q", message)
		}
	}()
	Bitmap(nil).sizedRows(math.MaxInt/wordBytes/3+1, 3)
}
