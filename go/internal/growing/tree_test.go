package growing

// Filters that change, against a map of prefixes.

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/bloomline/bloomline/go/internal/format"
)

// model is how often each prefix is there, by the definition.
type model struct {
	Shape
	counts map[uint64]uint64
}

func (m *model) runs(yield func(normal, count uint64) bool) {
	for _, normal := range slices.Sorted(maps.Keys(m.counts)) {
		if !yield(normal, m.counts[normal]) {
			return
		}
	}
}

func (m *model) remove(normal uint64) bool {
	if m.counts[normal] == 0 {
		return false
	}
	if m.counts[normal]--; m.counts[normal] == 0 {
		delete(m.counts, normal)
	}
	return true
}

// empty is a set without prefixes.
func empty(shape Shape) *Set { return New(shape).Set() }

func shapeFor(t testing.TB, unbounded bool, keys uint64, rate float64) Shape {
	t.Helper()
	of := Bounded
	if unbounded {
		of = Unbounded
	}
	shape, err := of(keys, rate)
	if err != nil {
		t.Fatal(err)
	}
	return shape
}

// sound checks what every piece promises its readers.
func sound(t testing.TB, tree *Tree) {
	t.Helper()
	next := uint64(0)
	for p := range tree.pieces {
		s, keys := &p.set, uint64(0)
		for _, count := range (&Set{Shape: s.Shape, Regions: s.Regions, Stash: s.Stash}).Runs() {
			keys += count
		}
		if p.first() != next || keys != p.keys || !s.areChains() {
			t.Fatalf("piece at %d: %d keys, not %d", next, keys, p.keys)
		}
		next = p.first() + 1<<p.span
	}
}

// sources are hashes: well mixed, few of them, near each other, near the ends.
var sources = map[string]func(r *rand.Rand) uint64{
	"uniform": (*rand.Rand).Uint64,
	"popular": func(r *rand.Rand) uint64 { return r.Uint64N(300) * 0x9e3779b97f4a7c15 },
	"near":    func(r *rand.Rand) uint64 { return 0x7fff<<48 + r.Uint64N(1<<44) },
	"ends":    func(r *rand.Rand) uint64 { return r.Uint64N(1<<50) - 1<<49 },
}

func TestAgainstModel(t *testing.T) {
	rounds := 24_000
	if testing.Short() {
		rounds = 3000
	}
	for name, hashOf := range sources {
		for _, keys := range []uint64{1, 20, 3000, 100_000, 1 << 40} {
			r := rand.New(rand.NewPCG(keys, 1))
			shape := shapeFor(t, false, keys, 0.01)
			tree, m := New(shape).tree, &model{shape, map[uint64]uint64{}}
			for i := range rounds {
				hash := hashOf(r)
				normal := m.Normal(hash, 0)
				// It grows, then shrinks.
				if r.IntN(8) < 6-i/(rounds/3*2)*5 {
					if isNew := tree.Insert(hash); isNew != (m.counts[normal] == 0) {
						t.Fatalf("%s, %d: new: %v", name, keys, isNew)
					}
					m.counts[normal]++
				} else if i%3 == 0 {
					if tree.Remove(hash) != m.remove(normal) {
						t.Fatalf("%s, %d: removal of %x", name, keys, hash)
					}
				}
				asked := hashOf(r)
				if count := m.counts[m.Normal(asked, 0)]; tree.Count(asked) != count || tree.Contains(asked) != (count > 0) {
					t.Fatalf("%s, %d: %x is there %d times", name, keys, asked, count)
				}
				if i%(rounds/4) == rounds/4-1 {
					same(t, tree, m)
				}
			}
			for normal, count := range m.runs {
				// The hash of a prefix: the lowest one.
				hash := firstHash(m.Prefixes, normal)
				for range count {
					if !tree.Remove(hash) {
						t.Fatalf("%s, %d: %d is not there", name, keys, normal)
					}
				}
			}
			m.counts = nil
			same(t, tree, m)
		}
	}
}

// firstHash is the lowest hash with a prefix.
func firstHash(prefixes, prefix uint64) (hash uint64) {
	s := Shape{Prefixes: prefixes}
	for bit := 63; bit >= 0; bit-- {
		if next := hash | 1<<bit; s.Normal(next-1, 0) < prefix {
			hash = next
		}
	}
	return hash
}

// same checks that a filter has the prefixes of a model, and its bytes.
func same(t testing.TB, tree *Tree, m *model) {
	t.Helper()
	sound(t, tree)
	for normal, count := range tree.Runs() {
		if m.counts[normal] != count {
			t.Fatalf("%d is there %d times, not %d", normal, count, m.counts[normal])
		}
	}
	set := (&Filter{tree: tree}).Set()
	got, _ := appended(set, format.Footer{})
	want, _ := appended(m.Build(Lengths{}, m.runs), format.Footer{})
	if got != want {
		t.Fatal("other bytes than the set of the same prefixes")
	}
	other := Of(set).Tree()
	sound(t, other)
	again, _ := appended((&Filter{tree: other}).Set(), format.Footer{})
	if again != want {
		t.Fatal("other bytes when read")
	}
}

// Keys stay, the rate is kept and removals find what was inserted, while prefixes get longer.
func TestUnbounded(t *testing.T) {
	for name, hashOf := range sources {
		r := rand.New(rand.NewPCG(7, 7))
		tree := New(shapeFor(t, true, 100, 0.01)).tree
		var keys []uint64
		most := 60_000
		if testing.Short() {
			most = 8000
		}
		for range most {
			hash := hashOf(r)
			tree.Insert(hash)
			keys = append(keys, hash)
			if asked := keys[r.IntN(len(keys))]; !tree.Contains(asked) {
				t.Fatalf("%s: %x is absent", name, asked)
			}
		}
		sound(t, tree)
		if name == "uniform" {
			wrong := 0
			for range 100_000 {
				if tree.Contains(r.Uint64()) {
					wrong++
				}
			}
			if wrong > 1000 || tree.Memory()*8 > 18*len(keys) {
				t.Errorf("%d of 100,000 absent keys pass, %d bytes", wrong, tree.Memory())
			}
		}
		other := Of((&Filter{tree: tree}).Set()).Tree()
		for i, hash := range keys {
			if !tree.Contains(hash) || !other.Contains(hash) || !tree.Remove(hash) || !other.Remove(hash) {
				t.Fatalf("%s: key %d, %x, is absent", name, i, hash)
			}
		}
	}
}

// The rate is that of the prefixes together: a short one may have longer ones in each half.
func TestTheRateIsExact(t *testing.T) {
	for _, rate := range []float64{0.01, 0.5, 0.9} {
		r := rand.New(rand.NewPCG(8, 8))
		filter := New(shapeFor(t, true, 20, rate))
		for keys := range 5000 {
			filter.Tree().Insert(r.Uint64())
			if keys > 20 && keys%1000 != 999 {
				continue
			}
			s := filter.Shape()
			var all [][2]uint64
			for normal := range filter.Runs() {
				half := normal & -normal
				all = append(all, [2]uint64{normal - half, normal + half})
			}
			slices.SortFunc(all, func(a, b [2]uint64) int { return cmp.Compare(a[0], b[0]) })
			sum, behind := uint64(0), uint64(0)
			for _, each := range all {
				sum += max(each[1], behind) - max(each[0], behind)
				behind = max(behind, each[1])
			}
			exact := float64(sum) / float64(s.normals())
			for what, f := range map[string]*Filter{"tree": filter, "set": Of(filter.Set())} {
				if got, _ := f.Measure(); math.Abs(got-exact) > 1e-12 {
					t.Errorf("%s of %d keys at %v: %v, want %v", what, keys+1, rate, got, exact)
				}
			}
		}
	}
}

// An insert moves the lines of a piece at most, and memory is that of the keys.
func TestPiecesStaySmall(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	tree := New(shapeFor(t, false, 200_000, 0.01)).tree
	var keys []uint64
	for range 200_000 {
		keys = append(keys, r.Uint64())
		tree.Insert(keys[len(keys)-1])
	}
	for p := range tree.pieces {
		if lines := p.set.Regions[0].count(); lines > mostLines*5/4 {
			t.Errorf("a piece of %d lines", lines)
		}
	}
	if bits := float64(tree.Memory()*8) / float64(len(keys)); bits > 11 {
		t.Errorf("%.2f bits per key", bits)
	}
	for _, hash := range keys {
		if !tree.Remove(hash) {
			t.Fatal("a key is absent")
		}
	}
	if memory := tree.Memory(); memory > 4096 {
		t.Errorf("an empty filter takes %d bytes", memory)
	}
}

func FuzzTree(f *testing.F) {
	f.Add(uint64(1000), []byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09"))
	f.Fuzz(func(t *testing.T, keys uint64, script []byte) {
		shape := shapeFor(t, false, keys%(1<<50), 0.01)
		tree, m := New(shape).tree, &model{shape, map[uint64]uint64{}}
		for ; len(script) >= 3; script = script[3:] {
			// Near each other, and some times each.
			hash := uint64(binary.LittleEndian.Uint16(script)) << (script[2] & 48)
			normal := m.Normal(hash, 0)
			for range script[2]&7 + 1 {
				if script[2]&8 == 0 {
					tree.Insert(hash)
					m.counts[normal]++
				} else if tree.Remove(hash) != m.remove(normal) {
					t.Fatal("removed, or not")
				}
			}
			if tree.Count(hash) != m.counts[normal] {
				t.Fatal("count")
			}
		}
		same(t, tree, m)
	})
}

func BenchmarkTree(b *testing.B) {
	shape := shapeFor(b, false, 1_000_000, 0.01)
	tree, r := New(shape).tree, rand.New(rand.NewPCG(5, 5))
	b.Run("insert", func(b *testing.B) {
		for range b.N {
			tree.Insert(r.Uint64())
		}
	})
	b.Run("absent", func(b *testing.B) {
		for range b.N {
			tree.Contains(r.Uint64())
		}
	})
}

// Prefixes that cover all hashes would become as many as there can be: 16 KB, which fill no memory.
func TestPrefixesThatCoverAll(t *testing.T) {
	for _, of := range []struct {
		prefixes uint64
		lengths  uint
	}{{1024, 50}, {1 << 13, 31}} {
		s := &Set{Shape: Shape{Prefixes: of.prefixes, Keys: 1, Rate: 0.5, Lengths: of.lengths}}
		g := s.regionOf(0, 1, s.longer())
		g.shape = &s.Shape
		g.width = width{1 << (s.longer() + 9), s.longer() + 3}
		g.lines = make([]byte, g.homes()*LineBytes)
		s.Regions = []Region{g}
		for i := range of.prefixes {
			s.Stash = append(s.Stash, Entry{(2*i + 1) << s.longer(), 8})
		}
		pieces, footer := s.Body()
		body := bytes.Join(pieces, nil)
		footer.LinesChecksum = xxh3.Hash(body)
		set, err := Open(footer, body, true)
		if err != nil {
			t.Fatal(err)
		}
		built, tree := Of(set).Set(), Of(set).Tree()
		if most := 600 * len(body); built.Memory() > most || tree.Memory() > most {
			t.Errorf("%d prefixes of %d lengths: %d bytes, then %d", of.prefixes, of.lengths, built.Memory(), tree.Memory())
		}
		r := rand.New(rand.NewPCG(3, 3))
		for range 500 {
			hash := r.Uint64()
			if tree.Insert(hash) || tree.Count(hash) < 8 || !built.Contains(hash) || built.Count(hash) < 8 {
				t.Fatalf("%x is absent", hash)
			}
		}
		if most := 600 * len(body); tree.Memory() > most {
			t.Errorf("%d bytes when it has changed", tree.Memory())
		}
	}
}

// What is written is written again with the same bytes, unless short prefixes cover so many hashes that there are not
// lines for all that they become. Those have the same hashes each time.
func TestWrittenAgain(t *testing.T) {
	for _, of := range []struct {
		prefixes uint64
		crowded  bool
	}{{3, false}, {100, false}, {1024, true}} {
		const longer = 8
		shape := Shape{Prefixes: 1024, Keys: 10, Rate: 0.01, Lengths: longer + 1}
		var lengths Lengths
		for i := range lengths {
			lengths[i] = longer
		}
		set := shape.Build(lengths, func(yield func(normal, count uint64) bool) {
			for i := range of.prefixes {
				if !yield(shape.Normal(i<<54, 0), 8) {
					return
				}
			}
		})
		differ := false
		for range 4 {
			before, footer := appended(set, format.Footer{})
			set = shape.Build(set.LengthsOf(), set.Runs())
			after, _ := appended(set, format.Footer{})
			differ = differ || before != after
			if set, err := Open(footer, []byte(before), true); err != nil || !set.Contains(of.prefixes<<54-1) {
				t.Fatalf("%d prefixes: %v", of.prefixes, err)
			}
			for i := range of.prefixes * 64 {
				if !set.Contains(i << 48) {
					t.Fatalf("%d prefixes: hash %x is lost", of.prefixes, i<<48)
				}
			}
		}
		if differ != of.crowded {
			t.Errorf("%d prefixes, written again, differ: %v", of.prefixes, differ)
		}
	}
}
