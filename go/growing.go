package bloomline

import (
	"iter"

	"github.com/bloomline/bloomline/go/internal/format"
	"github.com/bloomline/bloomline/go/internal/growing"
)

// GrowingFilter is a filter that grows and shrinks with its keys, from which keys can be removed, that counts
// them, and that is merged with others. For each key it keeps a prefix of its hash, and nothing else: a key may
// be present if its prefix is there. It lists the prefixes in order.
//
//   - [NewGrowing] is told the most keys that may come. With fewer, the false-positive rate is lower in
//     proportion, with more it is higher: nothing else happens there. At 1 % it takes 11 bits per key in
//     the end, encoded 9.5.
//   - [NewGrowingUnbounded] is told the first number of keys only. Its rate stays below the one asked for,
//     up to 10^16 keys times the rate (10^14 at 1 %): new keys get longer prefixes. At 1 % it takes 15 to 17 bits per key.
//   - A key that was added twice is present until it has been removed twice. Remove only keys that you added.
//     Any other removal can take the prefix of a key that was added; that key is then a false negative.
//     Removing a key that is definitely absent returns [ErrAbsent].
//   - An add moves up to some hundred lines, and takes a few KB now and then. As with all small memory in Go,
//     the program ends if the system refuses it.
//   - Of a bounded filter, the same keys give the same bytes, whatever the order of adds and removals. To
//     encode one, a copy is built: it takes the memory of the filter once more.
//   - If an attacker can choose keys, take [WithRandomSeed]: keys that all belong into one line make the
//     filter slow.
//
// Any number of goroutines may read it at once; adding and removing need it alone. What was read is probed as
// it is; the first change builds it anew, in a time that grows with its size. It panics with [ErrOutOfMemory] if the
// system refuses the memory.
//
// The zero GrowingFilter is a place to unmarshal into. It returns true for every key; nothing can be
// added to it, and nothing removed.
//
// A copy of the struct would share its memory, and go vet reports one: use [GrowingFilter.Clone].
// A nil GrowingFilter answers as the zero one does.
type GrowingFilter struct {
	_ noCopy
	growingData
}

type growingData struct {
	view    View           // of a filter that is this one's own
	changes growingChanges // since it was saved in a journal
}

// GrowingParams is what a [GrowingFilter] was made with.
type GrowingParams struct {
	// ExpectedKeys is the most keys that a bounded filter was made for, the first keys of an unbounded one.
	ExpectedKeys uint64 `json:"expected_keys"`
	// PrefixCount is how many different prefixes there can be; in an unbounded filter, of the first length.
	PrefixCount uint64 `json:"prefix_count"`
	// Rate is the false-positive rate that it was made for.
	Rate float64 `json:"rate"`
	// Unbounded is whether it was made for an unknown number of keys.
	Unbounded bool `json:"unbounded"`
	// Seed is the seed of the hash of keys.
	Seed uint64 `json:"seed"`
}

// NewGrowing returns an empty filter for up to mostKeys keys: with so many its false-positive rate is rate (0.01
// is 1 %), with fewer it is lower.
//
// Errors: [ErrKeys], [ErrRate]; [ErrRateTooSmall] if mostKeys / rate is above 2^59.
func NewGrowing(mostKeys int, rate float64, options ...Option) (*GrowingFilter, error) {
	return newGrowing(growing.Bounded, mostKeys, rate, options)
}

// NewGrowingUnbounded returns an empty filter whose false-positive rate stays below rate, up to 10^16 keys
// times rate. With fewer than firstKeys keys it takes more memory per key than later.
//
// Errors: those of [NewGrowing].
func NewGrowingUnbounded(firstKeys int, rate float64, options ...Option) (*GrowingFilter, error) {
	return newGrowing(growing.Unbounded, firstKeys, rate, options)
}

func newGrowing(shapeOf func(uint64, float64) (growing.Shape, error), keys int, rate float64, options []Option) (*GrowingFilter, error) {
	if keys < 0 {
		return nil, ErrKeys
	}
	shape, err := shapeOf(uint64(keys), rate)
	// It has no more of these than the seed.
	chosen, err := withOptions(Params{}, err, options)
	if err != nil {
		return nil, err
	}
	return growingOf(growing.New(shape), chosen.Seed, 0), nil
}

func growingOf(filter *growing.Filter, seed, keys uint64) *GrowingFilter {
	return &GrowingFilter{growingData: growingData{view: View{growing: filter, seed: seed, keyCount: keys}}}
}

// ---- adding and removing ----

// tree is what is changed. The filter is not zero.
func (f *GrowingFilter) tree() *growing.Tree {
	if f.view.growing.IsRead() {
		orPanic(0, room(2*f.memory()))
	}
	return f.view.growing.Tree()
}

// built calls make, which builds filters of prefixes. It returns [ErrOutOfMemory] where short ones would become too many.
func built(make func()) (err error) {
	defer func() {
		if failed := recover(); failed == ErrOutOfMemory {
			err = ErrOutOfMemory
		} else if failed != nil {
			panic(failed)
		}
	}()
	make()
	return nil
}

func (f *GrowingFilter) mustBeMade() {
	if f == nil || f.view.growing == nil {
		panic("bloomline: insert into a zero GrowingFilter: create it with NewGrowing")
	}
}

// AddHash is [GrowingFilter.Add] for the hash of a key: one that [GrowingFilter.Hash] made, or any other that is
// well mixed over all 64 bits.
func (f *GrowingFilter) AddHash(hash uint64) {
	f.mustBeMade()
	f.add(f.tree(), hash)
}

func (f *GrowingFilter) add(tree *growing.Tree, hash uint64) {
	tree.Insert(hash)
	f.view.keyCount = saturatingAdd(f.view.keyCount, 1)
	f.changes.add(hash)
}

// AddHashes is [GrowingFilter.AddBatch] for hashes. A bounded filter that gets 4,096 or more, and half as many as it
// has, is built anew with them: in less than a tenth of the time, and with the memory of a copy meanwhile.
func (f *GrowingFilter) AddHashes(hashes []uint64) {
	f.mustBeMade()
	if f.builtWith(hashes) {
		return
	}
	tree := f.tree()
	for i, hash := range hashes {
		if i%touched == 0 {
			f.view.touchGrowing(hashes[i:min(i+touched, len(hashes))])
		}
		f.add(tree, hash)
	}
}

// AddHashIfAbsent is [GrowingFilter.AddIfAbsent] for a hash.
func (f *GrowingFilter) AddHashIfAbsent(hash uint64) bool {
	f.mustBeMade()
	if f.view.growing.Contains(hash) {
		return false
	}
	f.add(f.tree(), hash)
	return true
}

// addAbsent sets the bits of hashes that were new. out is zero.
func (f *GrowingFilter) addAbsent(hashes []uint64, out []uint64) {
	f.mustBeMade()
	for i, hash := range hashes {
		if i%touched == 0 {
			f.view.touchGrowing(hashes[i:min(i+touched, len(hashes))])
		}
		if f.AddHashIfAbsent(hash) {
			out[i/64] |= 1 << (i % 64)
		}
	}
}

// RemoveHash is [GrowingFilter.Remove] for the hash of a key.
func (f *GrowingFilter) RemoveHash(hash uint64) error {
	if f == nil || f.view.growing == nil {
		return ErrNoLines
	}
	if !f.view.growing.Contains(hash) || !f.tree().Remove(hash) {
		return ErrAbsent
	}
	f.view.keyCount -= min(f.view.keyCount, 1)
	f.changes.remove(hash)
	return nil
}

// removeHashes sets the bits of hashes that were removed. out is zero.
func (f *GrowingFilter) removeHashes(hashes []uint64, out []uint64) {
	f = orZero(f)
	for i, hash := range hashes {
		if i%touched == 0 {
			f.view.touchGrowing(hashes[i:min(i+touched, len(hashes))])
		}
		if f.RemoveHash(hash) == nil {
			out[i/64] |= 1 << (i % 64)
		}
	}
}

// ---- counting and listing ----

// Count returns how often a key is present, at most: keys of the same prefix count, too. That of the zero
// GrowingFilter is the highest number.
func (f *GrowingFilter) Count(key []byte) uint64 { return f.CountHash(f.Hash(key)) }

// CountString is [GrowingFilter.Count] for a string.
func (f *GrowingFilter) CountString(key string) uint64 { return f.CountHash(HashString(key, f.seed())) }

// CountUint64 is [GrowingFilter.Count] for an integer: see [HashUint64].
func (f *GrowingFilter) CountUint64(key uint64) uint64 { return f.CountHash(HashUint64(key, f.seed())) }

// CountHash is [GrowingFilter.Count] for the hash of a key.
func (f *GrowingFilter) CountHash(hash uint64) uint64 {
	if f == nil || f.view.growing == nil {
		return ^uint64(0)
	}
	return f.view.growing.Count(hash)
}

// Prefixes yields the prefixes that are there, ascending, and how often each is. Of a bounded filter the prefix
// of a hash h is h * PrefixCount / 2^64, rounded down; of an unbounded one each is the prefix, a 1, and zeros up to
// the longest that there can be. The filter must not be changed meanwhile.
func (f *GrowingFilter) Prefixes() iter.Seq2[uint64, uint64] {
	return orZero(f).view.Prefixes()
}

// Clear removes all keys.
func (f *GrowingFilter) Clear() {
	if f != nil && f.view.growing != nil {
		f.become(func(func(uint64, uint64) bool) {}, growing.Lengths{}, 0)
		f.changes.forget()
	}
}

// become makes it the filter of these prefixes.
func (f *GrowingFilter) become(source growing.Source, lengths growing.Lengths, keys uint64) {
	f.view.growing.Become(*f.view.growing.Shape(), lengths, source)
	f.view.keyCount = keys
}

// memory is that of all lines.
func (f *growingData) memory() int {
	if f.view.growing == nil {
		return 0
	}
	return f.view.growing.Memory() + f.changes.memory()
}

// ---- bytes ----

// layoutGrowing is lines of prefixes in order, what is beside them, and records.
var layoutGrowing = layout{growing.Layout, func(f footer) (uint64, error) { return growing.BodyLen(format.Footer(f)) }}

func (f growingData) encoded() encoded {
	if f.view.growing == nil {
		return encoded{err: ErrNoLines}
	}
	if err := room(2 * f.memory()); err != nil {
		return encoded{err: err}
	}
	var set *growing.Set
	if err := built(func() { set = f.view.growing.Set() }); err != nil {
		return encoded{err: err}
	}
	body, said := set.Body()
	said.KeyCount, said.Seed = f.view.keyCount, f.view.seed
	return encode(footer(said), body...)
}

func (f *GrowingFilter) decode(body []byte, footer footer, keep bool) error {
	if !keep {
		own, err := newBytes(len(body))
		if err != nil {
			return err
		}
		body = own[:copy(own, body)]
	}
	set, err := growing.Open(format.Footer(footer), body, true)
	if err != nil {
		return err
	}
	f.growingData = growingOf(growing.Of(set), footer.Seed, footer.KeyCount).growingData
	return nil
}

func (f growingData) cloned() growingData {
	if f.view.growing != nil {
		orPanic(0, room(f.memory()))
		f.view.growing = f.view.growing.Clone()
	}
	f.changes = growingChanges{} // a copy is another filter
	return f
}
