package growing

// A filter that changes: pieces, each a range of prefixes, in a tree by the prefixes' high bits. A piece that
// has too many lines becomes two; so an insert never moves more than the lines of a piece.

import (
	"math/bits"
	"slices"
	"sync"
)

const (
	fan        = 4   // bits of a prefix that a node tells apart
	pieceBytes = 320 // of a piece beside its lines, with its share of the tree, about
)

// node has a piece or a node for each range of 2^span prefixes. A piece of a wider range is there several
// times.
type node struct {
	span uint
	all  [1 << fan]child
}

type child struct {
	piece *piece
	node  *node
}

// Tree is a filter that grows and shrinks. Make it with NewTree.
type Tree struct {
	Shape
	root    node
	lengths Lengths // of what it was made of
}

// NewTree returns a filter of these prefixes.
func NewTree(shape Shape, lengths Lengths, source Source) *Tree {
	t := &Tree{Shape: shape, lengths: lengths}
	span := uint(bits.Len64(t.Prefixes - 1))
	t.root.span = span - fan
	// Some pieces become two even so, and none is built of more than a few lines.
	for lines := t.linesFor(t.Prefixes, keysOf(source)); lines > mostLines*3/4 && span > leastSpan; lines /= 2 {
		span--
	}
	var own []Entry
	first := uint64(0)
	finish := func() {
		last := min(first+1<<span, t.Prefixes) - 1
		length := slices.Max(lengths[t.sixteenth(first) : t.sixteenth(last)+1])
		p := newPiece(t.Shape, first, span, length, keysOf(entries(own)), entries(own))
		t.put(p)
		t.tend(p)
		own, first = own[:0], first+1<<span
	}
	for normal, count := range source {
		for normal>>(t.longer()+t.mixed()) >= first+1<<span {
			finish()
		}
		own = append(own, Entry{normal, count})
	}
	for first < t.Prefixes {
		finish()
	}
	return t
}

// sixteenth is which of all hashes a prefix of the first length belongs to.
func (s *Shape) sixteenth(x uint64) uint64 { return x / (s.Prefixes / Regions) }

func entries(all []Entry) Source {
	return func(yield func(normal, count uint64) bool) {
		for _, entry := range all {
			if !yield(entry.Normal, entry.Count) {
				return
			}
		}
	}
}

// first is the first prefix of a piece, of the first length.
func (p *piece) first() uint64 { return p.set.Regions[0].first >> p.set.Regions[0].length }

// put makes a piece the one of its range, in the place of those that are there.
func (t *Tree) put(p *piece) {
	n := &t.root
	for n.span > p.span {
		at := &n.all[p.first()>>n.span&(1<<fan-1)]
		if at.node == nil {
			*at = child{node: &node{span: n.span - fan}}
		}
		n = at.node
	}
	at := p.first() >> n.span & (1<<fan - 1)
	for i := range uint64(1) << (p.span - n.span) {
		n.all[at+i] = child{piece: p}
	}
}

// find is the piece of a prefix of the first length.
func (t *Tree) find(x uint64) *piece {
	n := &t.root
	for {
		each := &n.all[x>>n.span&(1<<fan-1)]
		if each.piece != nil {
			return each.piece
		}
		n = each.node
	}
}

func (t *Tree) of(hash uint64) *piece {
	x, _ := bits.Mul64(hash, t.Prefixes)
	return t.find(x)
}

// tend builds a piece anew, or as two, and these again, until none is due.
func (t *Tree) tend(p *piece) {
	g := &p.set.Regions[0]
	length := g.length
	if p.newest > p.quota {
		length++
	}
	if g.count() <= mostLines || p.span <= leastSpan {
		if p.isDue() {
			all := gather(p)
			t.put(newPiece(t.Shape, p.first(), p.span, length, p.own, entries(*all)))
			rooms.Put(all)
		}
		return
	}
	gathered := gather(p)
	all := *gathered
	middle := p.first() + 1<<(p.span-1)
	border, _ := find(all, middle<<(t.longer()+t.mixed()))
	var halves [2]*piece
	for i, part := range [2][]Entry{all[:border], all[border:]} {
		first := p.first() + uint64(i)<<(p.span-1)
		if first < t.Prefixes {
			own := mulDiv(p.own, keysOf(entries(part)), max(p.keys, 1)) + 1
			halves[i] = newPiece(t.Shape, first, p.span-1, length, own, entries(part))
		}
	}
	rooms.Put(gathered)
	for _, half := range halves {
		if half != nil {
			t.put(half)
			t.tend(half)
		}
	}
}

// rooms keeps memory for the prefixes of a piece, for use again.
var rooms = sync.Pool{New: func() any { return new([]Entry) }}

// gather returns the prefixes of pieces, in memory of rooms.
func gather(pieces ...*piece) *[]Entry {
	all := rooms.Get().(*[]Entry)
	*all = (*all)[:0]
	for _, p := range pieces {
		for normal, count := range p.set.Runs() {
			*all = append(*all, Entry{normal, count})
		}
	}
	return all
}

// Contains reports whether a key may be present. False: definitely absent.
func (t *Tree) Contains(hash uint64) bool { return t.of(hash).set.Contains(hash) }

// Count is how often the prefixes of a key are there.
func (t *Tree) Count(hash uint64) uint64 { return t.of(hash).set.Count(hash) }

// Insert inserts a key, and reports whether it was new.
func (t *Tree) Insert(hash uint64) bool {
	p := t.of(hash)
	isNew := p.insert(hash)
	if p.isDue() {
		t.tend(p)
	}
	return isNew
}

// Remove removes a key, once. It reports false, and changes nothing, if the key is definitely absent.
func (t *Tree) Remove(hash uint64) bool {
	p := t.of(hash)
	if !p.remove(hash) {
		return false
	}
	if p.isDue() && !t.join(p) {
		t.tend(p)
	}
	return true
}

// join makes one of a piece and its twin if both have few lines, and reports whether it did.
func (t *Tree) join(p *piece) bool {
	first := p.first() ^ 1<<p.span
	if p.set.Regions[0].count() > fewLines || first >= t.Prefixes || p.span == t.root.span+fan {
		return false
	}
	twin := t.find(first)
	if twin.span != p.span || twin.set.Regions[0].count() > fewLines {
		return false
	}
	if first < p.first() {
		p, twin = twin, p
	}
	length := max(p.set.Regions[0].length, twin.set.Regions[0].length)
	all := gather(p, twin)
	t.put(newPiece(t.Shape, p.first(), p.span+1, length, p.own+twin.own, entries(*all)))
	rooms.Put(all)
	return true
}

// Parts is how many parts of a tree there are at most. Once it [Tree.IsParted], goroutines may insert into one each.
const Parts = 1 << fan

// PartOf is the part of a hash.
func (t *Tree) PartOf(hash uint64) int {
	x, _ := bits.Mul64(hash, t.Prefixes)
	return int(x >> t.root.span)
}

// IsParted reports whether no piece is in several parts.
func (t *Tree) IsParted() bool {
	for i := range uint64(Parts) {
		p := t.root.all[i].piece
		if p != nil && p.span > t.root.span {
			return false
		}
	}
	return true
}

// pieces yields all, in order.
func (t *Tree) pieces(yield func(*piece) bool) { t.piecesFrom(0, yield) }

// piecesFrom yields that of a prefix of the first length, and those behind it.
func (t *Tree) piecesFrom(x uint64, yield func(*piece) bool) {
	for x < t.Prefixes {
		p := t.find(x)
		if !yield(p) {
			return
		}
		x = p.first() + 1<<p.span
	}
}

// Runs yields the prefixes in order, and how often each is there.
func (t *Tree) Runs() Source { return t.RunsFrom(0) }

// RunsFrom yields those from one on. It is the first of a [Shape.Family].
func (t *Tree) RunsFrom(from uint64) Source {
	return func(yield func(normal, count uint64) bool) {
		pieces := func(yield func(*piece) bool) { t.piecesFrom(from>>(t.longer()+t.mixed()), yield) }
		for p := range pieces {
			for normal, count := range p.set.RunsFrom(from) {
				if !yield(normal, count) {
					return
				}
			}
		}
	}
}

// LengthsOf are by how many bits the longest prefixes are longer than the first ones, and those that it was made
// of were.
func (t *Tree) LengthsOf() Lengths {
	all := t.lengths
	for normal := range t.Runs() {
		if t.mixed() == 0 {
			break
		}
		length := &all[normal/(t.normals()/Regions)]
		*length = max(*length, t.longer()-uint(bits.TrailingZeros64(normal)))
	}
	return all
}

// Memory is the bytes of its lines and of what is beside them.
func (t *Tree) Memory() (all int) {
	for p := range t.pieces {
		all += cap(p.set.Regions[0].lines) + pieceBytes + entryBytes*(cap(p.set.Stash)+cap(p.set.Copies))
	}
	return all
}

// Clone returns a copy that shares nothing.
func (t *Tree) Clone() *Tree {
	clone := &Tree{Shape: t.Shape, lengths: t.lengths}
	clone.root.span = t.root.span
	for p := range t.pieces {
		clone.put(p.clone())
	}
	return clone
}
