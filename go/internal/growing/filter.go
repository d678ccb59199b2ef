package growing

// A filter as package bloomline has it: what was read stays as it is until it is changed.

import (
	"math/bits"
)

// Filter is a filter that answers, and can be changed. It is a set that was read, or a tree. Make it with [New] or
// [Of].
type Filter struct {
	set  *Set // that was read; nil if it is a tree
	tree *Tree
}

// New returns a filter without prefixes.
func New(shape Shape) *Filter {
	f := new(Filter)
	f.Become(shape, Lengths{}, entries(nil))
	return f
}

// Of returns a filter of what was read.
func Of(set *Set) *Filter { return &Filter{set: set} }

// Become makes it the filter of these prefixes, which may be its own.
func (f *Filter) Become(shape Shape, lengths Lengths, source Source) {
	f.tree = NewTree(shape, lengths, source)
	f.set = nil
}

// Tree is what changes it.
func (f *Filter) Tree() *Tree {
	if f.set != nil {
		f.Become(f.set.Shape, f.set.LengthsOf(), f.set.Runs())
	}
	return f.tree
}

// IsRead reports whether the first change takes memory for all of it.
func (f *Filter) IsRead() bool { return f.set != nil }

// Clone returns a copy that shares nothing that changes.
func (f *Filter) Clone() *Filter {
	if f.set != nil {
		return Of(f.set)
	}
	return &Filter{tree: f.tree.Clone()}
}

// Contains reports whether a key may be present. False: definitely absent.
func (f *Filter) Contains(hash uint64) bool {
	if f.set != nil {
		return f.set.Contains(hash)
	}
	return f.tree.of(hash).set.Contains(hash)
}

// Count is how often the prefixes of a key are there.
func (f *Filter) Count(hash uint64) uint64 {
	if f.set != nil {
		return f.set.Count(hash)
	}
	return f.tree.Count(hash)
}

// Line is the line that is probed for a hash. It is nil if the bytes are damaged.
func (f *Filter) Line(hash uint64) *byte {
	set := f.set
	if set == nil {
		set = &f.tree.of(hash).set
	}
	g := set.region(hash)
	if number := set.prefix(hash, g) / g.u; number < g.count() {
		return &g.lines[number*LineBytes]
	}
	return nil
}

// Shape is what it was made with.
func (f *Filter) Shape() *Shape {
	if f.set != nil {
		return &f.set.Shape
	}
	return &f.tree.Shape
}

// LengthsOf are those of its prefixes.
func (f *Filter) LengthsOf() Lengths {
	if f.set != nil {
		return f.set.LengthsOf()
	}
	return f.tree.LengthsOf()
}

// Runs yields the prefixes in order, and how often each is there.
func (f *Filter) Runs() Source {
	if f.set != nil {
		return f.set.Runs()
	}
	return f.tree.Runs()
}

// RunsFrom yields those from one on. It is the first of a [Shape.Family].
func (f *Filter) RunsFrom(from uint64) Source {
	if f.set != nil {
		return f.set.RunsFrom(from)
	}
	return f.tree.RunsFrom(from)
}

// Set is what has the bytes of the filter.
func (f *Filter) Set() *Set { return f.Shape().Build(f.LengthsOf(), f.Runs()) }

// Memory is the bytes of its lines and of what is beside them.
func (f *Filter) Memory() int {
	if f.set != nil {
		return f.set.Memory()
	}
	return f.tree.Memory()
}

// Memory is the bytes of its lines and of what is beside them.
func (s *Set) Memory() (all int) {
	for i := range s.Regions {
		all += cap(s.Regions[i].lines)
	}
	return all + entryBytes*(cap(s.Stash)+cap(s.Copies))
}

// Fill is the part of what its lines have room for that is there, 0 to 1.
func (f *Filter) Fill() float64 {
	keys, most := 0.0, 0.0
	add := func(s *Set) {
		for i := range s.Regions {
			g := &s.Regions[i]
			for number := range g.count() {
				count, _, _, _ := g.line(number).head(g.r)
				keys += float64(count)
			}
			most += float64(g.homes()) * float64(capacity(g.values(), g.r)*full) / (256 * 256)
		}
	}
	if f.set != nil {
		add(f.set)
	} else {
		for p := range f.tree.pieces {
			add(&p.set)
		}
	}
	return min(keys/max(most, 1), 1)
}

// Measure returns the false-positive rate, 0 to 1, which is the part of all hashes whose prefix is there, and how
// many prefixes there are, each once.
func (f *Filter) Measure() (rate, distinct float64) {
	s := f.Shape()
	var all covered
	for normal := range f.Runs() {
		distinct++
		if normal >= s.normals() || normal == 0 && s.mixed() == 1 {
			continue // of damaged lines
		}
		if s.mixed() == 0 {
			rate++
			continue
		}
		half := uint64(1) << bits.TrailingZeros64(normal)
		all.add(normal-half, 2*half)
	}
	rate += float64(all.sum())
	return min(rate/float64(s.normals()), 1), distinct
}

// covered is how many values prefixes of several lengths cover. Two of them either have no value in common, or one
// is a prefix of the other, which adds nothing to it. A long one comes before the short one if it is in the first
// half of that, else after it.
type covered struct {
	from, count uint64 // of the last prefix that added something: its first value, and how many it has
	// The values of those before, by how many low bits their first value and from differ in: those of a number
	// up to n are in the same 2^n values as from.
	before  [65]uint64
	numbers uint64 // a bit for each number but the first under which there are any
}

// add adds a prefix that covers so many values, a power of two, of which from is a multiple.
func (c *covered) add(from, count uint64) {
	switch end := c.from + c.count; {
	case from >= end:
		number := bits.Len64(from ^ c.from)
		c.before[number] += c.count + c.takeUpTo(number-1)
		c.numbers |= 1 << number >> 1
	case from+count <= end:
		return
	default:
		c.takeUpTo(bits.TrailingZeros64(count))
	}
	c.from, c.count = from, count
}

// takeUpTo takes the values of the numbers up to this one.
func (c *covered) takeUpTo(number int) (sum uint64) {
	for c.numbers != 0 && bits.TrailingZeros64(c.numbers) < number {
		at := bits.TrailingZeros64(c.numbers) + 1
		sum += c.before[at]
		c.before[at] = 0
		c.numbers &= c.numbers - 1
	}
	return sum
}

// sum is all of them.
func (c *covered) sum() uint64 { return c.count + c.takeUpTo(64) }

// Alike reports whether prefixes of two filters mean the same.
func (s *Shape) Alike(other *Shape) bool {
	return s.Prefixes == other.Prefixes && s.Lengths == other.Lengths && max(s.Keys, uint64(s.mixed())) == max(other.Keys, uint64(s.mixed()))
}

// Hashes is the first hash of a prefix as entries have it, and the last.
func (s *Shape) Hashes(normal uint64) (first, last uint64) {
	from, until := normal, normal+1
	if s.mixed() == 1 {
		half := uint64(1) << bits.TrailingZeros64(normal)
		from, until = normal-half, normal+half
	}
	return s.firstHash(from), s.firstHash(until) - 1
}

// Family is the prefixes that a hash can have, as entries have them, and others like them: from the first to the last.
func (s *Shape) Family(hash uint64) (first, last uint64) {
	x, _ := bits.Mul64(hash, s.Prefixes)
	size := uint64(1) << (s.longer() + s.mixed())
	return x * size, x*size + size - 1
}

// firstHash is the first hash of such a prefix of full length, or 0 behind the last.
func (s *Shape) firstHash(y uint64) uint64 {
	if y >= s.normals() {
		return 0
	}
	quotient, remainder := bits.Div64(y, 0, s.normals())
	if remainder > 0 {
		quotient++
	}
	return quotient
}
