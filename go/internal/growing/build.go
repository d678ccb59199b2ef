package growing

// A set is built of all its prefixes, in order, at once: the same set has the same bytes.

import (
	"cmp"
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/bloomline/bloomline/go/internal/format"
)

// Source is prefixes in ascending order, as entries have them, and how often each is there. It can be
// read again.
type Source = iter.Seq2[uint64, uint64]

// Lengths are by how many bits the longest prefixes of each sixteenth of all hashes are longer than the
// first ones.
type Lengths [Regions]uint

// LengthsOf are those of a set.
func (s *Set) LengthsOf() (all Lengths) {
	for i := range all {
		all[i] = s.Regions[i%len(s.Regions)].length
	}
	return all
}

// keysOf is how many places in lines these take.
func keysOf(source Source) (keys uint64) {
	for _, count := range source {
		keys += min(count, mostCopies)
	}
	return keys
}

// mostSpread is for how many keys there are lines, where there were so many before short prefixes became several.
// It is beyond what a filter of a rate up to a half has. Where prefixes cover more, they would become ever more,
// with ever more lines for them: bytes of nobody's filter could take all memory.
func mostSpread(keys uint64) uint64 { return 16*keys + 256 }

// mostChildren is how many prefixes short ones become at most, where there were so many keys. Where each length has no
// more keys than it is to have, they become fewer than 4 for each, at any rate. Bytes of nobody's filter could have some
// thousand short prefixes beside one region of long ones, each of which would become a million.
func mostChildren(keys uint64) uint64 { return 4*keys + 1<<21 }

// Build returns the set of these prefixes. It panics with [format.ErrOutOfMemory] where short ones would become too
// many.
func (s Shape) Build(lengths Lengths, source Source) *Set {
	set := &Set{Shape: s}
	keys := keysOf(source)
	limitOfKeys := mostSpread(keys)
	// Prefixes are too short or not by the widths, and the widths follow from the keys, which are more where
	// one becomes several.
	limit := limits{ofAll: 64}
	for {
		all := s.spread(source, limit, mostChildren(keys))
		set.layOut(lengths, all, limitOfKeys, limit.regions)
		next := limit
		if s.mixed() == 1 {
			next.regions = len(set.Regions) > 1
			for i := range set.Regions {
				g := &set.Regions[i]
				next.ofAll = min(next.ofAll, g.short()+g.r-1)
			}
			if next.regions {
				for i, length := range lengths {
					next.least[i] = s.longer() - length
				}
			}
		}
		// That there are several regions matters only if one has no prefixes as long.
		if next.ofAll == limit.ofAll && (next.regions == limit.regions || slices.Max(next.least[:]) <= next.ofAll) {
			set.fill(all)
			set.capCopies(math.MaxUint64 - keysOf(all))
			return set
		}
		limit = next
	}
}

// limits are by how many bits prefixes may be short.
type limits struct {
	ofAll uint
	// Those of a region with longer prefixes become several, and a region may have no prefixes as long: its own
	// may be so short.
	least   Lengths
	regions bool // whether there are sixteen
}

// capCopies lowers counts of the further copies where all together are more than most: those above a number become
// that number, the highest one with which they are not. What counts state that were read may be any, and bytes of
// a greater sum are no filter's.
func (s *Set) capCopies(most uint64) {
	fits := func(limit uint64) bool {
		all, carry := uint64(0), uint64(0)
		for _, entry := range s.Copies {
			if all, carry = bits.Add64(all, min(entry.Count, limit), 0); carry != 0 {
				return false
			}
		}
		return all <= most
	}
	if fits(math.MaxUint64) {
		return
	}
	limit, above := uint64(1), uint64(math.MaxUint64)
	for above-limit > 1 {
		if middle := limit + (above-limit)/2; fits(middle) {
			limit = middle
		} else {
			above = middle
		}
	}
	for i := range s.Copies {
		s.Copies[i].Count = min(s.Copies[i].Count, limit)
	}
}

// spread yields the prefixes of source. Those that end with more zeros than allowed become those with so many
// that cover the same hashes. It panics with [format.ErrOutOfMemory] if these would be more than most.
func (s *Shape) spread(source Source, allowed limits, most uint64) Source {
	if s.mixed() == 0 || allowed.ofAll >= 64 {
		return source
	}
	sixteenth := s.normals() / Regions
	limitOf := func(normal uint64) uint { return max(allowed.ofAll, allowed.least[normal/sixteenth]) }
	var spread []Entry
	for normal, count := range source {
		short, limit := uint(bits.TrailingZeros64(normal)), limitOf(normal)
		if short <= limit {
			continue
		}
		if uint64(1)<<(short-limit) > most-uint64(len(spread)) {
			panic(format.ErrOutOfMemory)
		}
		first := normal - 1<<short
		for i := range uint64(1) << (short - limit) {
			spread = append(spread, Entry{first + (2*i+1)<<limit, count})
		}
	}
	if spread == nil {
		return source
	}
	slices.SortFunc(spread, func(a, b Entry) int { return cmp.Compare(a.Normal, b.Normal) })
	joined := spread[:1]
	for _, entry := range spread[1:] {
		if last := &joined[len(joined)-1]; last.Normal == entry.Normal {
			last.Count = sum(last.Count, entry.Count)
		} else {
			joined = append(joined, entry)
		}
	}
	return func(yield func(normal, count uint64) bool) {
		rest := joined
		for normal, count := range source {
			if uint(bits.TrailingZeros64(normal)) > limitOf(normal) {
				continue
			}
			for len(rest) > 0 && rest[0].Normal < normal {
				if !yield(rest[0].Normal, rest[0].Count) {
					return
				}
				rest = rest[1:]
			}
			if len(rest) > 0 && rest[0].Normal == normal {
				count, rest = sum(count, rest[0].Count), rest[1:]
			}
			if !yield(normal, count) {
				return
			}
		}
		for _, entry := range rest {
			if !yield(entry.Normal, entry.Count) {
				return
			}
		}
	}
}

// layOut makes the regions for so many prefixes, but for so many keys at most, without lines. They are sixteen, however
// few the prefixes are, if they were before.
func (s *Set) layOut(lengths Lengths, all Source, limit uint64, regions bool) {
	var keys [Regions]uint64
	sixteenth := s.normals() / Regions
	for normal, count := range all {
		keys[normal/sixteenth] += min(count, mostCopies)
	}
	most := uint64(0)
	for _, each := range keys {
		most += each
	}
	if most > limit {
		for i := range keys {
			keys[i] = mulDiv(keys[i], limit, most)
		}
		most = limit
	}
	longest := slices.Max(lengths[:])
	s.Regions = s.Regions[:0]
	add := func(number, regions int, length uint, keys uint64) uint64 {
		g := s.regionOf(number, regions, length)
		g.shape = &s.Shape
		lines := s.linesFor(g.w, keys-mulDiv(keys, fullAtOnce-full, 256))
		g.width, _ = s.widthOf(g.w, lines)
		s.Regions = append(s.Regions, g)
		return lines
	}
	if add(0, 1, longest, most) <= small && !regions {
		return
	}
	s.Regions = s.Regions[:0]
	for i, length := range lengths {
		add(i, Regions, length, keys[i])
	}
}

// fill writes the lines of all regions.
func (s *Set) fill(all Source) {
	s.Stash, s.Copies = nil, nil
	at := 0
	w := writer{g: &s.Regions[0], set: s}
	for normal, count := range all {
		for normal >= w.g.normal(w.g.end()) {
			w.finish()
			at++
			w = writer{g: &s.Regions[at], set: s, values: w.values}
		}
		y := w.g.value(normal)
		for range min(count, mostCopies) {
			w.push(y)
		}
		if count > mostCopies {
			s.Copies = append(s.Copies, Entry{normal, count - mostCopies})
		}
	}
	w.finish()
	for at++; at < len(s.Regions); at++ {
		w = writer{g: &s.Regions[at], set: s}
		w.finish()
	}
}

// finish writes what is left, and the lines that no prefix needed. Behind a line that goes on is another, if only an
// empty one: what is left may be too far behind its home for that.
func (w *writer) finish() {
	w.write(0)
	count := w.g.count()
	if count > 0 && w.g.line(count-1).GoesOn() {
		count++
	}
	if missing := int(max(w.g.homes(), count))*LineBytes - len(w.g.lines); missing > 0 {
		w.g.lines = append(w.g.lines, make([]byte, missing)...)
	}
}

// writer puts ascending values into lines.
type writer struct {
	g      *Region
	set    *Set
	number uint64 // of the next line
	values []uint64
	buffer [mostValues + 1]int64
}

func (w *writer) push(y uint64) {
	if len(w.values) == 8*mostValues {
		w.write(mostValues)
	}
	w.values = append(w.values, y)
}

// write writes all but so many values, behind which more may come into the same line.
func (w *writer) write(least int) {
	g, rest := w.g, w.values
	low, limit := int64(lowest)<<g.r, int64(g.values())
	for len(rest) > least {
		if home := rest[0] / g.values(); home > w.number {
			w.number = home
		}
		start := w.number * g.values()
		tooLow := int64(rest[0]-start) < low
		if tooLow || w.number >= g.homes()+spare {
			if tooLow {
				limit = low
			}
			for len(rest) > 0 && int64(rest[0]-start) < limit {
				w.set.stash(g.normal(rest[0]))
				rest = rest[1:]
			}
			limit = int64(g.values())
			continue
		}
		part := w.buffer[:min(len(rest), len(w.buffer))]
		for i := range part {
			part[i] = int64(rest[i] - start)
		}
		line, took := Close(part, limit, false, g.r)
		rest = rest[took:]
		isLast := w.number+1 >= g.homes()+spare
		if !isLast && len(rest) > 0 && int64(rest[0]-start) < limit {
			line[0] |= 1 << 6
		}
		if missing := int(w.number)*LineBytes - len(g.lines); missing > 0 {
			g.lines = append(g.lines, make([]byte, missing)...)
		}
		g.lines = append(g.lines, line[:]...)
		w.number++
	}
	w.values = w.values[:copy(w.values, rest)]
}

// stash takes a prefix for which no line has room. They come in order.
func (s *Set) stash(normal uint64) {
	if last := len(s.Stash) - 1; last >= 0 && s.Stash[last].Normal == normal {
		s.Stash[last].Count++
	} else {
		s.Stash = append(s.Stash, Entry{normal, 1})
	}
}
