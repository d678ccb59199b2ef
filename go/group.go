package bloomline

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/bloomline/bloomline/go/internal/avx2"
	"github.com/bloomline/bloomline/go/internal/format"
)

// Group is many filters that are probed together many times: those of the tables of an LSM tree, of
// shards, of partitions. It is made once, when the set of filters changes, and takes less than half
// the time of [ViewsContainHash], which is for views that differ from call to call. Any number of
// goroutines probe it; [Swap] publishes the next one.
//
// The filters may be of any kinds, sizes and seeds. Plain filters of one k and one seed are the
// fastest: the bits of a key are computed once for all of them.
//
// A nil or zero Group has no filters.
type Group struct {
	noText
	views []View
	runs  []groupRun
	alike bool // one hash is that of all
	whole bool // the filters are one run
}

// groupRun is filters whose bits of a key are the same, columns of one matrix, or, if k is 0, filters that are
// probed one by one.
type groupRun struct {
	k       int
	columns *groupColumns // if they are columns of one matrix, asked by one probe of its rows
	rows    *avx2.Rows
	members []avx2.Member
	lines   [][]line
	places  []int // which of the views
	view    *View // one of them
}

// NewGroup returns the group of these views, which it copies. The bytes that they are of must not
// change while it is used.
func NewGroup(views []View) *Group {
	g := &Group{views: slices.Clone(views), alike: hashAlike(views)}
	runs := groupRuns{of: map[runKey]*alikeRuns{}}
	for i := range g.views {
		run := runs.runOf(g, &g.views[i])
		run.places = append(run.places, i)
		if run.columns != nil {
			run.columns.add(g.views[i].column.column, i)
		} else if run.k > 0 {
			all := g.views[i].all
			run.lines = append(run.lines, all)
			run.members = append(run.members, avx2.Member{Lines: &all[0][0], Count: uint64(len(all))})
		}
	}
	for i := range g.runs {
		g.runs[i].finish(len(g.views))
	}
	g.whole = len(g.runs) == 1 && g.runs[0].k > 0
	return g
}

// runKey is what the filters of a run have in common.
type runKey struct {
	k      int
	rows   *avx2.Rows
	hash   viewHash
	matrix matrixKey
}

// alikeRuns is the runs of a key: one, or as many as the column has that is there most often.
type alikeRuns struct {
	numbers []int
	seen    []uint32 // by the number of a column: how often it is there
}

// groupRuns finds the runs while a group is made. The last one is the likeliest.
type groupRuns struct {
	of   map[runKey]*alikeRuns
	key  runKey
	last *alikeRuns
}

// runOf is the run for the next view.
func (r *groupRuns) runOf(g *Group, v *View) *groupRun {
	key := runKey{hash: v.hashedBy(), matrix: v.column.matrix()}
	if len(v.all) != 0 && !v.classic {
		key.k, key.rows = v.k, v.rows
	}
	if r.last == nil || r.key != key {
		r.key, r.last = key, r.of[key]
	}
	if r.last == nil {
		r.last = &alikeRuns{seen: make([]uint32, 64*key.matrix.words)}
		r.of[key] = r.last
	}
	number := 0
	if v.column.isThere() {
		number = int(r.last.seen[v.column.column])
		r.last.seen[v.column.column]++
	}
	if number == len(r.last.numbers) {
		run := groupRun{k: key.k, rows: key.rows, view: v}
		if v.column.isThere() {
			run.columns = newGroupColumns(&v.column)
		}
		r.last.numbers = append(r.last.numbers, len(g.runs))
		g.runs = append(g.runs, run)
	}
	return &g.runs[r.last.numbers[number]]
}

// fewestColumns is from how many on it pays to ask columns together.
const fewestColumns = 3

// finish is called once all filters are in, so many in the whole group.
func (r *groupRun) finish(views int) {
	if r.columns == nil {
		return
	}
	if len(r.places) < fewestColumns {
		r.columns = nil
		return
	}
	r.columns.finish(views)
}

// Len returns how many filters there are.
func (g *Group) Len() int {
	if g == nil {
		return 0
	}
	return len(g.views)
}

// Contains probes all filters for a key: bit i of the answers is that of filter i, in out if that is
// large enough, see [Bitmap]. The key is hashed once for all filters that hash alike.
func (g *Group) Contains(key []byte, out Bitmap) Bitmap {
	out = out.sized(g.Len())
	if len(out) == 0 {
		return out
	}
	for i := range g.runs {
		g.runs[i].answer(g, g.runs[i].view.hash(key), out)
	}
	runtime.KeepAlive(g)
	return out
}

// ContainsString is [Group.Contains] for a string.
func (g *Group) ContainsString(key string, out Bitmap) Bitmap {
	return g.Contains(bytesOfKey(key), out)
}

// ContainsUint64 is [Group.Contains] for an integer: see [HashUint64].
func (g *Group) ContainsUint64(key uint64, out Bitmap) Bitmap {
	return g.Contains(le.AppendUint64(nil, key), out)
}

// ContainsHash is [Group.Contains] for the hash of a key. If the filters hash keys differently, by
// another seed or another engine's hash, one hash cannot be that of all: then every answer is true.
func (g *Group) ContainsHash(hash uint64, out Bitmap) Bitmap {
	out = out.sized(g.Len())
	g.answerHash(hash, out)
	runtime.KeepAlive(g)
	return out
}

// ContainsHashes is [Group.ContainsHash] for many hashes. The answers for each begin in a word of
// their own: those for hash j are out[j*words:(j+1)*words], where words is g.Len() divided by 64,
// rounded up.
func (g *Group) ContainsHashes(hashes []uint64, out Bitmap) Bitmap {
	words := (g.Len() + 63) / 64
	out = out.sizedRows(len(hashes), words)
	for j, hash := range hashes {
		g.answerHash(hash, out[j*words:(j+1)*words])
	}
	runtime.KeepAlive(g)
	return out
}

// ContainsHashesByMember is the same, filter by filter: the answers of each begin in a word of their own. Those
// of filter i are out[i*words:(i+1)*words], where words is len(hashes) divided by 64, rounded up. It is for many
// hashes; for columns of one matrix ContainsHashes is faster.
func (g *Group) ContainsHashesByMember(hashes []uint64, out Bitmap) Bitmap {
	words := (len(hashes) + 63) / 64
	out = out.sizedRows(g.Len(), words)
	for i := range g.Len() {
		row := out[i*words : (i+1)*words : (i+1)*words]
		if g.alike {
			g.views[i].ContainsHashes(hashes, row)
		} else {
			row.setFirst(len(hashes))
		}
	}
	runtime.KeepAlive(g)
	return out
}

// ContainsAnyHash probes all filters for any of many keys, by their hashes: bit i of the answers says whether
// filter i may have at least one of them. It is what a query with IN asks of files or partitions. A filter is
// probed for no more than some thousand keys after the first one that it may have.
func (g *Group) ContainsAnyHash(hashes []uint64, out Bitmap) Bitmap {
	out = out.sized(g.Len())
	if len(out) == 0 || len(hashes) == 0 {
		return out
	}
	if !g.alike {
		out.setFirst(g.Len())
		return out
	}
	for i := range g.runs {
		run := &g.runs[i]
		if run.columns != nil || len(hashes) <= fewKeys {
			row := make(Bitmap, len(out))
			for n, hash := range hashes {
				if n%1024 == 1023 && run.allIn(out) {
					break
				}
				run.answer(g, hash, row)
				for i := range row {
					out[i] |= row[i]
					row[i] = 0
				}
			}
			continue
		}
		for _, place := range run.places {
			if g.views[place].containsAny(hashes) {
				out[place/64] |= 1 << (place % 64)
			}
		}
	}
	runtime.KeepAlive(g)
	return out
}

// allIn reports whether the bits of all its filters are set.
func (r *groupRun) allIn(out Bitmap) bool {
	for _, place := range r.places {
		if !out.Has(place) {
			return false
		}
	}
	return true
}

// Up to fewKeys keys are asked of all filters of a run, one after the other.
const fewKeys = 4

// containsAny reports whether any of these keys may be present. Little is asked in vain if one of the first is,
// and the batches are long if none is.
func (v *View) containsAny(hashes []uint64) bool {
	var room [16]uint64
	for most := 64; len(hashes) > 0; most = 64 * len(room) {
		part := hashes[:min(most, len(hashes))]
		if v.ContainsHashes(part, room[:]).Count() > 0 {
			return true
		}
		hashes = hashes[len(part):]
	}
	return false
}

// ContainsPairs probes one filter for each hash: bit i of the answers is that of filter members[i]
// for hashes[i], as that filter hashes keys. Where there is no such filter, or no number for a hash,
// the answer is true. A lookup of many keys asks so, each in its own table. [SelectPairs] returns the rows.
func (g *Group) ContainsPairs(members []uint32, hashes []uint64, out Bitmap) Bitmap {
	out = out.sized(len(hashes))
	for i, hash := range hashes {
		if g.containsPair(members, i, hash) {
			out[i/64] |= 1 << (i % 64)
		}
	}
	runtime.KeepAlive(g)
	return out
}

// containsPair is the answer of filter members[i].
func (g *Group) containsPair(members []uint32, i int, hash uint64) bool {
	return i >= len(members) || int64(members[i]) >= int64(g.Len()) || g.views[members[i]].probe(hash)
}

// answerHash writes a row of answers, which is all 0.
func (g *Group) answerHash(hash uint64, out Bitmap) {
	if len(out) == 0 {
		return
	}
	if !g.alike {
		out.setFirst(g.Len())
		return
	}
	for i := range g.runs {
		g.runs[i].answer(g, hash, out)
	}
}

// answer adds the answers of a run for the hash of a key.
func (r *groupRun) answer(g *Group, hash uint64, out Bitmap) {
	if r.columns != nil {
		r.columns.answer(hash, out)
		return
	}
	if g.whole && r.rows != nil {
		for i := range out {
			members := r.members[64*i:]
			out[i] = avx2.ContainsMembers(&members[0], uint64(min(len(members), 64)), r.rows, hash)
		}
		return
	}
	for first := 0; first < len(r.places); first += 64 {
		places := r.places[first:min(first+64, len(r.places))]
		word := r.word(g, first, len(places), hash)
		for i, place := range places {
			out[place/64] |= (word >> i & 1) << (place % 64)
		}
	}
}

// word is the answers of up to 64 filters of a run, the first in the lowest bit.
func (r *groupRun) word(g *Group, first, count int, hash uint64) uint64 {
	if r.rows != nil {
		return avx2.ContainsMembers(&r.members[first], uint64(count), r.rows, hash)
	}
	word := uint64(0)
	if r.k == 0 {
		for i, place := range r.places[first : first+count] {
			if g.views[place].probe(hash) {
				word |= 1 << i
			}
		}
		return word
	}
	lane, positions := format.Round(hash * c1)
	lane2, positions2 := format.Round(hash * c2)
	for i, all := range r.lines[first : first+count] {
		at := &all[format.Index(hash, uint64(len(all)))]
		answer := allSet(at, lane, positions, min(r.k, 8))
		if r.k > 8 {
			answer &= allSet(at, lane2, positions2, r.k-8)
		}
		word |= answer << i
	}
	return word
}

// String says how many filters there are.
func (g *Group) String() string {
	return fmt.Sprintf("bloomline.Group{%d filters}", g.Len())
}

// UnmarshalText fails: a group is not written.
func (g *Group) UnmarshalText([]byte) error { return errNoText }
