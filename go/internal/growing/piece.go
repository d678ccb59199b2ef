package growing

// A piece of a filter that changes: the lines of a range of prefixes, few enough to be built anew at once.

import (
	"math"
	"math/bits"
	"slices"
	"sort"
)

const (
	mostLines = 128 // of a piece, unless its range is the least
	fewLines  = 32  // two pieces of so many become one
	leastSpan = 12  // a range has at least 2^12 prefixes
)

type piece struct {
	set     Set // of one region
	span    uint
	keys    uint64 // in lines and in the stash
	own     uint64 // those that came, of which short ones became several
	newest  uint64 // those of full length
	most    uint64 // with more keys it is built anew
	least   uint64 // and with fewer
	quota   uint64 // and with more of full length
	changes uint64 // since it was built
}

// newPiece builds one of the prefixes of source, that are 2^span from first on. It panics as [Shape.Build].
func newPiece(shape Shape, first uint64, span, length uint, own uint64, source Source) *piece {
	p := &piece{set: Set{Shape: shape}, span: span, own: own}
	s := &p.set
	w := min(uint64(1)<<span, shape.Prefixes-first)
	g := Region{shape: &s.Shape, first: first << length, w: w << length, length: length}
	s.Regions = []Region{g}
	for limit := uint(64); ; {
		all := s.spread(source, limits{ofAll: limit}, mostChildren(own))
		p.keys, p.newest = 0, 0
		for normal, count := range all {
			p.keys += min(count, mostCopies)
			if uint(bits.TrailingZeros64(normal)) == g.short() {
				p.newest += min(count, mostCopies)
			}
		}
		lines := s.linesFor(g.w, min(p.keys+p.keys/12+1, mostSpread(own)))
		g.width, p.most = s.widthOf(g.w, lines)
		s.Regions[0].width = g.width
		if least := g.short() + g.r - 1; s.mixed() == 1 && least < limit {
			limit = least
			continue
		}
		s.Regions[0].lines = make([]byte, 0, g.homes()*LineBytes)
		s.fill(all)
		break
	}
	if p.most <= p.keys {
		p.most = math.MaxUint64 // lines are as narrow as can be
	}
	p.least = p.keys / 2
	if high, low := bits.Mul64(shape.quota(length), w); high < shape.Prefixes {
		p.quota, _ = bits.Div64(high, low, shape.Prefixes)
	}
	p.quota = max(p.quota, 1) - 1 // the last of them brings longer prefixes
	if shape.mixed() == 0 || length == shape.longer() {
		p.quota = math.MaxUint64
	}
	return p
}

func (p *piece) clone() *piece {
	q, g := *p, p.set.Regions[0]
	g.shape = &q.set.Shape
	g.lines = append(make([]byte, 0, cap(g.lines)), g.lines...)
	q.set.Regions = []Region{g}
	q.set.Stash, q.set.Copies = slices.Clone(p.set.Stash), slices.Clone(p.set.Copies)
	return &q
}

// isDue reports whether it is to be built anew.
func (p *piece) isDue() bool {
	return p.keys > p.most || p.keys < p.least || p.newest > p.quota || p.changes > p.keys+1024
}

// at is where the home of a hash is, and its value there.
func (p *piece) at(hash uint64) (number uint64, value int64) {
	g := &p.set.Regions[0]
	high, _ := bits.Mul64(hash, p.set.Prefixes<<g.length)
	x := high - g.first
	return x / g.u, int64((x%g.u)<<p.set.mixed()) + int64(p.set.mixed())
}

// insert reports whether a prefix of the hash was new.
func (p *piece) insert(hash uint64) bool {
	g := &p.set.Regions[0]
	number, value := p.at(hash)
	there := p.set.Contains(hash)
	p.changes++
	if there {
		normal := p.set.Normal(hash, g.length)
		if p.copiesOf(number, value)+countOf(p.set.Stash, normal) >= mostCopies {
			p.set.Copies = added(p.set.Copies, normal)
			return false
		}
	}
	p.keys++
	p.own++
	p.newest++
	for number < g.count() && g.line(number).GoesOn() {
		if last, ok := g.line(number).Last(g.r); ok && last > value {
			break
		}
		number, value = number+1, value-int64(g.values())
	}
	if value>>g.r >= lowest && number < g.count() && g.line(number).Insert(value, g.r) {
		return !there
	}
	var first, second [2*mostValues + 2]int64
	first[0] = value
	carried, merged, free := first[:1], second[:], first[:]
	for ; len(carried) > 0; number++ {
		for len(carried) > 0 && (carried[0]>>g.r < lowest || number >= g.homes()+spare || len(carried) > mostValues) {
			p.set.Stash = added(p.set.Stash, g.normal(number*g.values()+uint64(carried[0])))
			carried = carried[1:]
		}
		if len(carried) == 0 {
			break
		}
		if number >= g.count() {
			lines := make([]byte, (number+1)*LineBytes)
			copy(lines, g.lines)
			g.lines = lines
		}
		line := g.line(number)
		all, goesOn := line.Open(g.r), line.GoesOn()
		merged = merged[:all.Count+len(carried)]
		merge(merged, all.All[:all.Count], carried)
		closed, took := Close(merged, math.MaxInt64, goesOn, g.r)
		if carried = merged[took:]; len(carried) > 0 && number+1 < g.homes()+spare {
			closed[0] |= 1 << 6
		}
		*line = closed
		for i := range carried {
			carried[i] -= int64(g.values())
		}
		merged, free = free, merged[:cap(merged)]
	}
	return !there
}

// merge puts the values of two ascending lists into one.
func merge(to, a, b []int64) {
	for i := range to {
		if len(b) == 0 || len(a) > 0 && a[0] <= b[0] {
			to[i], a = a[0], a[1:]
		} else {
			to[i], b = b[0], b[1:]
		}
	}
}

// copiesOf is how often a value of full length is in the lines.
func (p *piece) copiesOf(number uint64, value int64) (count uint64) {
	g := &p.set.Regions[0]
	for ; value>>g.r >= lowest && number < g.count(); number, value = number+1, value-int64(g.values()) {
		line := g.line(number)
		from, until, all := line.bucket(value>>g.r, g.r)
		for j := from; j < until; j++ {
			if line.remainder(j, g.r) == uint64(value)&(1<<g.r-1) {
				count++
			}
		}
		if until < all || !line.GoesOn() {
			break
		}
	}
	return count
}

// remove takes the longest prefix of a hash once, and reports whether there was one.
func (p *piece) remove(hash uint64) bool {
	g := &p.set.Regions[0]
	number, value := p.at(hash)
	best, bestLine, bestAt := uint(65), uint64(0), -1
	for ; value>>g.r >= lowest && number < g.count(); number, value = number+1, value-int64(g.values()) {
		line := g.line(number)
		from, until, all := line.bucket(value>>g.r, g.r)
		for j := from; j < until; j++ {
			stored := line.remainder(j, g.r)
			if !covers(stored, uint64(value)&(1<<g.r-1), g.r, p.set.mixed() == 1) {
				continue
			}
			short := uint(0)
			if p.set.mixed() == 1 {
				short = uint(bits.TrailingZeros64(stored))
			}
			if short < best {
				best, bestLine, bestAt = short, number, j
			}
		}
		if until < all || !line.GoesOn() {
			break
		}
	}
	normal, fromStash := uint64(0), false
	for short := uint(0); short <= g.length; short++ {
		if each := p.set.Normal(hash, g.length-short); short < best && countOf(p.set.Stash, each) > 0 {
			normal, fromStash, best = each, true, short
		}
	}
	if best > 64 {
		return false
	}
	if !fromStash {
		normal = p.set.Normal(hash, g.length-best)
	}
	p.changes++
	if countOf(p.set.Copies, normal) > 0 {
		p.set.Copies = taken(p.set.Copies, normal)
		return true
	}
	if fromStash {
		p.set.Stash = taken(p.set.Stash, normal)
	} else {
		line := g.line(bestLine)
		all := line.Open(g.r)
		copy(all.All[bestAt:], all.All[bestAt+1:all.Count])
		*line, _ = Close(all.All[:all.Count-1], math.MaxInt64, line.GoesOn(), g.r)
	}
	p.keys--
	p.own -= min(p.own, 1)
	if best == 0 {
		p.newest--
	}
	return true
}

func find(list []Entry, normal uint64) (int, bool) {
	at := sort.Search(len(list), func(i int) bool { return list[i].Normal >= normal })
	return at, at < len(list) && list[at].Normal == normal
}

// added is a list with a prefix once more.
func added(list []Entry, normal uint64) []Entry {
	at, found := find(list, normal)
	if !found {
		return slices.Insert(list, at, Entry{normal, 1})
	}
	list[at].Count = sum(list[at].Count, 1)
	return list
}

// taken is a list with a prefix that it has once less.
func taken(list []Entry, normal uint64) []Entry {
	at, _ := find(list, normal)
	if list[at].Count--; list[at].Count == 0 {
		return slices.Delete(list, at, at+1)
	}
	return list
}
