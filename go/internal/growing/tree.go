package growing

// A filter that changes: pieces, each a range of prefixes, in a tree by the prefixes' high bits. A piece that
// has too many lines becomes two; so an insert never moves more than the lines of a piece.

import "math/bits"

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
	root node
}

// NewTree returns a filter of what set has.
func NewTree(set *Set) *Tree {
	t := &Tree{Shape: set.Shape}
	span := uint(bits.Len64(t.Prefixes - 1))
	t.root.span = span - fan
	lengths := set.LengthsOf()
	length := uint(0)
	for _, each := range lengths {
		length = max(length, each)
	}
	p := newPiece(t.Shape, 0, span, length, set.Runs())
	t.put(p)
	t.tend(p)
	return t
}

// Empty is a set without prefixes.
func (s Shape) Empty() *Set {
	return s.Build(Lengths{}, func(func(uint64, uint64) bool) {})
}

// first is the first prefix of a piece, of the first length.
func (p *piece) first() uint64 { return p.set.Regions[0].first >> p.set.Regions[0].length }

// put makes a piece the one of its range, in the place of those that are there.
func (t *Tree) put(p *piece) {
	n := &t.root
	for n.span > p.span {
		n = n.all[p.first()>>n.span&(1<<fan-1)].node
	}
	at := p.first() >> n.span & (1<<fan - 1)
	for i := range uint64(1) << (p.span - n.span) {
		n.all[at+i] = child{piece: p}
	}
}

// find is the piece of a prefix of the first length, and the node that has it.
func (t *Tree) find(x uint64) (*node, *piece) {
	n := &t.root
	for {
		each := &n.all[x>>n.span&(1<<fan-1)]
		if each.piece != nil {
			return n, each.piece
		}
		n = each.node
	}
}

func (t *Tree) of(hash uint64) *piece {
	x, _ := bits.Mul64(hash, t.Prefixes)
	_, p := t.find(x)
	return p
}

// tend builds a piece anew, or as two, and these again, until none is due.
func (t *Tree) tend(p *piece) {
	n, _ := t.find(p.first())
	g := &p.set.Regions[0]
	length := g.length
	if p.newest > p.quota {
		length++
	}
	if g.count() <= mostLines || p.span <= leastSpan {
		if p.isDue() {
			t.put(newPiece(t.Shape, p.first(), p.span, length, p.set.Runs()))
		}
		return
	}
	if p.span == n.span {
		below := &node{span: n.span - fan}
		n.all[p.first()>>n.span&(1<<fan-1)] = child{node: below}
	}
	middle := p.first() + 1<<(p.span-1)
	border := middle << (t.longer() + t.mixed())
	for part := range uint64(2) {
		first := p.first() + part<<(p.span-1)
		if first >= t.Prefixes {
			break
		}
		half := newPiece(t.Shape, first, p.span-1, length, func(yield func(uint64, uint64) bool) {
			for normal, count := range p.set.Runs() {
				if (normal >= border) == (part == 1) && !yield(normal, count) {
					return
				}
			}
		})
		t.put(half)
		t.tend(half)
	}
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
	_, twin := t.find(first)
	if twin.span != p.span || twin.set.Regions[0].count() > fewLines {
		return false
	}
	if first < p.first() {
		p, twin = twin, p
	}
	length := max(p.set.Regions[0].length, twin.set.Regions[0].length)
	t.put(newPiece(t.Shape, p.first(), p.span+1, length, func(yield func(uint64, uint64) bool) {
		for _, each := range [2]*piece{p, twin} {
			for normal, count := range each.set.Runs() {
				if !yield(normal, count) {
					return
				}
			}
		}
	}))
	return true
}

// pieces yields all, in order.
func (t *Tree) pieces(yield func(*piece) bool) {
	for x := uint64(0); x < t.Prefixes; {
		_, p := t.find(x)
		if !yield(p) {
			return
		}
		x = p.first() + 1<<p.span
	}
}

// Runs yields the prefixes in order, and how often each is there.
func (t *Tree) Runs() Source {
	return func(yield func(normal, count uint64) bool) {
		for p := range t.pieces {
			for normal, count := range p.set.Runs() {
				if !yield(normal, count) {
					return
				}
			}
		}
	}
}

// Set is what has the bytes of the filter.
func (t *Tree) Set() *Set {
	var lengths Lengths
	for p := range t.pieces {
		g := &p.set.Regions[0]
		last := min(p.first()+1<<p.span, t.Prefixes) - 1
		for i := p.first() / (t.Prefixes / Regions); i <= last/(t.Prefixes/Regions); i++ {
			lengths[i] = max(lengths[i], g.length)
		}
	}
	return t.Build(lengths, t.Runs())
}

// Memory is the bytes of its lines and of what is beside them.
func (t *Tree) Memory() (all int) {
	for p := range t.pieces {
		all += cap(p.set.Regions[0].lines) + pieceBytes + entryBytes*(cap(p.set.Stash)+cap(p.set.Copies))
	}
	return all
}
