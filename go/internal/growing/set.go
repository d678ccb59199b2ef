package growing

// A filter as it is encoded: the lines of its regions, and what has no room there.

import (
	"iter"
	"math/bits"
	"sort"
)

// Entry is a prefix beside the lines, as [Shape.Normal] has it, and how often it is there.
type Entry struct{ Normal, Count uint64 }

// Region is a range of all hashes, and its lines.
type Region struct {
	width
	shape  *Shape
	first  uint64 // its first prefix
	w      uint64 // its prefixes
	length uint   // by how many bits its longest prefixes are longer than the first ones
	lines  []byte
}

func (s *Shape) regionOf(number, regions int, length uint) Region {
	w := s.Prefixes << length / uint64(regions)
	return Region{shape: s, first: w * uint64(number), w: w, length: length}
}

func (g *Region) line(number uint64) *Line { return (*Line)(g.lines[number*LineBytes:]) }

// count is how many lines there are, homes how many are the home of a prefix.
func (g *Region) count() uint64 { return uint64(len(g.lines) / LineBytes) }
func (g *Region) homes() uint64 { return (g.w + g.u - 1) / g.u }

// values is how many a line is the home of.
func (g *Region) values() uint64 { return g.u << g.shape.mixed() }

// end is behind the highest value, counted from the region's first prefix.
func (g *Region) end() uint64 { return g.w << g.shape.mixed() }

// short is by how many bits values are shorter than normal prefixes.
func (g *Region) short() uint { return g.shape.longer() - g.length }

// normal is a value, counted from the region's first prefix, as entries have it.
func (g *Region) normal(y uint64) uint64 { return (g.first<<g.shape.mixed() + y) << g.short() }

// value is the opposite.
func (g *Region) value(normal uint64) uint64 {
	return normal>>g.short() - g.first<<g.shape.mixed()
}

// Set is a multiset of prefixes. Its lines may be those of a mapped file: it does not change them.
type Set struct {
	Shape
	Regions []Region
	Stash   []Entry // for which no line has room
	Copies  []Entry // further ones of what lines or the stash have
}

// region is that of a hash.
func (s *Set) region(hash uint64) *Region {
	return &s.Regions[int(hash>>60)&(len(s.Regions)-1)]
}

// prefix is that of a hash, counted from the first of its region.
func (s *Set) prefix(hash uint64, g *Region) uint64 {
	high, _ := bits.Mul64(hash, s.Prefixes<<g.length)
	return high - g.first
}

// Contains reports whether a key may be present. False: definitely absent.
func (s *Set) Contains(hash uint64) bool {
	g := s.region(hash)
	x := s.prefix(hash, g)
	number, mixed := x/g.u, s.mixed() == 1
	value := int64((x%g.u)<<s.mixed()) + int64(s.mixed())
	values := int64(g.values())
	for value>>g.r >= lowest {
		if number >= g.count() {
			return true // damaged: nothing rules it out
		}
		switch g.line(number).Look(value, g.r, mixed) {
		case Present:
			return true
		case Absent:
			return len(s.Stash) > 0 && s.inStash(hash, g.length)
		}
		number, value = number+1, value-values
	}
	return s.inStash(hash, g.length)
}

func (s *Set) inStash(hash uint64, longest uint) bool {
	for length := range longest + 1 {
		if countOf(s.Stash, s.Normal(hash, length)) > 0 {
			return true
		}
	}
	return false
}

// countOf is that of a prefix in an ascending list.
func countOf(list []Entry, normal uint64) uint64 {
	if rest := listFrom(list, normal); len(rest) > 0 && rest[0].Normal == normal {
		return rest[0].Count
	}
	return 0
}

// listFrom is an ascending list from a prefix on.
func listFrom(list []Entry, normal uint64) []Entry {
	return list[sort.Search(len(list), func(i int) bool { return list[i].Normal >= normal }):]
}

// Runs yields the prefixes in order, and how often each is there.
func (s *Set) Runs() iter.Seq2[uint64, uint64] { return s.RunsFrom(0) }

// RunsFrom yields those from one on. It is the first of a [Shape.Family].
func (s *Set) RunsFrom(from uint64) iter.Seq2[uint64, uint64] {
	return func(yield func(normal, count uint64) bool) {
		stash, copies := listFrom(s.Stash, from), listFrom(s.Copies, from)
		flush := func(normal, count uint64) bool {
			if len(stash) > 0 && stash[0].Normal == normal {
				count, stash = sum(count, stash[0].Count), stash[1:]
			}
			if len(copies) > 0 && copies[0].Normal == normal {
				count, copies = sum(count, copies[0].Count), copies[1:]
			}
			return count == 0 || yield(normal, count)
		}
		last, count := uint64(0), uint64(0)
		for normal := range s.inLines(from) {
			if normal == last {
				count++
				continue
			}
			if !flush(last, count) {
				return
			}
			for len(stash) > 0 && stash[0].Normal < normal {
				if !flush(stash[0].Normal, 0) {
					return
				}
			}
			last, count = normal, 1
		}
		if !flush(last, count) {
			return
		}
		for len(stash) > 0 {
			if !flush(stash[0].Normal, 0) {
				return
			}
		}
	}
}

// sum is that of two counts, or the highest number.
func sum(a, b uint64) uint64 {
	all, carry := bits.Add64(a, b, 0)
	return all | -carry
}

// inLines yields what the lines have from a prefix on, in order.
func (s *Set) inLines(from uint64) iter.Seq[uint64] {
	return func(yield func(normal uint64) bool) {
		for i := range s.Regions {
			g := &s.Regions[i]
			if from >= g.normal(g.end()) {
				continue
			}
			number := uint64(0)
			if from > g.normal(0) {
				number = g.value(from) / g.values()
			}
			for ; number < g.count(); number++ {
				all := g.line(number).Open(g.r)
				for _, value := range all.All[:all.Count] {
					normal := g.normal(number*g.values() + uint64(value))
					if normal >= from && !yield(normal) {
						return
					}
				}
			}
		}
	}
}

// Count is how often the prefixes of a key are there.
func (s *Set) Count(hash uint64) (count uint64) {
	g := s.region(hash)
	x := s.prefix(hash, g)
	number := x / g.u
	value := int64((x%g.u)<<s.mixed()) + int64(s.mixed())
	for value>>g.r >= lowest && number < g.count() {
		line := g.line(number)
		from, until, all := line.bucket(value>>g.r, g.r)
		for j := from; j < until; j++ {
			if covers(line.remainder(j, g.r), uint64(value)&(1<<g.r-1), g.r, s.mixed() == 1) {
				count++
			}
		}
		if until < all || !line.GoesOn() {
			break
		}
		number, value = number+1, value-int64(g.values())
	}
	for length := range g.length + 1 {
		normal := s.Normal(hash, length)
		count = sum(count, sum(countOf(s.Stash, normal), countOf(s.Copies, normal)))
	}
	return count
}
