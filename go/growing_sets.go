package bloomline

// Growing filters as sets: built of hashes, united, intersected, subtracted, split, frozen.

import (
	"iter"
	"math/bits"

	"github.com/bloomline/bloomline/go/internal/format"
	"github.com/bloomline/bloomline/go/internal/growing"
	"github.com/bloomline/bloomline/go/internal/order"
)

// leastAtOnce is from how many hashes on it pays to sort them, and to build the filter anew.
const leastAtOnce = 1 << 12

// builtWith builds the filter anew with hashes, and reports whether it did: if they are so many that it pays.
func (f *GrowingFilter) builtWith(hashes []uint64) bool {
	return len(hashes) >= leastAtOnce && uint64(len(hashes)) >= f.view.keyCount/2 && f.addAtOnce(hashes)
}

// addAtOnce builds the filter of its prefixes and those of hashes, in order. It reports false, and adds
// none, if prefixes have several lengths, of which each piece has its own, or if there is no memory.
func (f *GrowingFilter) addAtOnce(hashes []uint64) bool {
	shape := f.view.growing.Shape()
	if shape.Lengths > 0 || roomFor(24*uint64(len(hashes))+2*uint64(f.memory())) != nil {
		return false
	}
	source := united(prefixesOf(shape, hashes, 0), f.view.growing.Runs(), saturatingAdd)
	f.become(source, growing.Lengths{}, saturatingAdd(f.view.keyCount, uint64(len(hashes))))
	f.changes.add(hashes...)
	return true
}

// prefixesOf yields the prefixes of hashes, longer by so many bits than the first ones, in order.
func prefixesOf(shape *growing.Shape, hashes []uint64, length uint) growing.Source {
	sorted := make([]uint64, len(hashes))
	order.Hashes(hashes, sorted, 1)
	return func(yield func(prefix, count uint64) bool) {
		for at := 0; at < len(sorted); {
			prefix, first := shape.Normal(sorted[at], length), at
			for at < len(sorted) && shape.Normal(sorted[at], length) == prefix {
				at++
			}
			if !yield(prefix, uint64(at-first)) {
				return
			}
		}
	}
}

// BuildGrowingHashes returns the filter of [NewGrowing] with keys in it, given by their hashes: of [Hash] with the
// seed among the options, or any others that are well mixed over all 64 bits. Until it is changed, it takes 9.5 bits
// per key at 1 %. It takes 24 bytes per key meanwhile.
//
// Errors: those of [NewGrowing]; [ErrOutOfMemory].
func BuildGrowingHashes(hashes []uint64, mostKeys int, rate float64, options ...Option) (*GrowingFilter, error) {
	return buildGrowing(growing.Bounded, hashes, mostKeys, rate, options)
}

// BuildGrowingUnboundedHashes is [BuildGrowingHashes] for the filter of [NewGrowingUnbounded]. With many times
// firstKeys keys it takes 1 to 4 bits per key less than one to which they were added. Its rate stays below rate,
// up to 10^16 keys times rate.
func BuildGrowingUnboundedHashes(hashes []uint64, firstKeys int, rate float64, options ...Option) (*GrowingFilter, error) {
	return buildGrowing(growing.Unbounded, hashes, firstKeys, rate, options)
}

func buildGrowing(shapeOf func(uint64, float64) (growing.Shape, error), hashes []uint64, keys int, rate float64, options []Option) (*GrowingFilter, error) {
	filter, err := newGrowing(shapeOf, keys, rate, options)
	if err == nil {
		err = roomFor(24 * uint64(len(hashes)))
	}
	if err != nil {
		return nil, err
	}
	shape := filter.view.growing.Shape()
	length := shape.LengthAtOnce(uint64(len(hashes)))
	var lengths growing.Lengths
	for i := range lengths {
		lengths[i] = length
	}
	set := shape.Build(lengths, prefixesOf(shape, hashes, length))
	return growingOf(growing.Of(set), filter.view.seed, uint64(len(hashes))), nil
}

// both yields the prefixes of two filters in order, and how often each is in both.
func both(a, b growing.Source, yield func(prefix, inA, inB uint64) bool) {
	next, stop := iter.Pull2(b)
	defer stop()
	other, inB, ok := next()
	for prefix, inA := range a {
		for ok && other < prefix {
			if !yield(other, 0, inB) {
				return
			}
			other, inB, ok = next()
		}
		count := uint64(0)
		if ok && other == prefix {
			count = inB
			other, inB, ok = next()
		}
		if !yield(prefix, inA, count) {
			return
		}
	}
	for ok && yield(other, 0, inB) {
		other, inB, ok = next()
	}
}

// united yields the prefixes of two filters in order, each as often as of says.
func united(a, b growing.Source, of func(inA, inB uint64) uint64) growing.Source {
	return func(yield func(prefix, count uint64) bool) {
		both(a, b, func(prefix, inA, inB uint64) bool {
			count := of(inA, inB)
			return count == 0 || yield(prefix, count)
		})
	}
}

// combine makes it the filter of the prefixes that of returns: of those of both, which have lengths up to the longer
// ones of the two. keysOf returns how many keys it then has.
func (f *GrowingFilter) combine(other *GrowingFilter, of func(a, b *growing.Filter) (growing.Source, error), keysOf func(growing.Source) uint64) error {
	f, other = orZero(f), orZero(other)
	a, b := f.view.growing, other.view.growing
	if a == nil && b == nil {
		return nil
	}
	if a == nil || b == nil || f.view.seed != other.view.seed || !a.Shape().Alike(b.Shape()) {
		return ErrMismatch
	}
	source, err := of(a, b)
	if err == nil {
		err = room(2 * (a.Memory() + b.Memory()))
	}
	if err != nil {
		return err
	}
	lengths := a.LengthsOf()
	for i, length := range b.LengthsOf() {
		lengths[i] = max(lengths[i], length)
	}
	keys := keysOf(source)
	if err := built(func() { f.become(source, lengths, keys) }); err != nil {
		return err
	}
	f.changes.forget()
	return nil
}

// allOf is how many keys these are.
func allOf(source growing.Source) (keys uint64) {
	for _, count := range source {
		keys = saturatingAdd(keys, count)
	}
	return keys
}

// Union adds the keys of other: each is there as often as in both together. Both must be made with the same
// numbers and seed, and may have any number of keys. Of a bounded filter the rate rises with the keys; the rates of
// unbounded ones add up.
//
// Errors: [ErrMismatch], [ErrOutOfMemory]. The filter is unchanged.
func (f *GrowingFilter) Union(other *GrowingFilter) error {
	return f.combine(other, func(a, b *growing.Filter) (growing.Source, error) {
		return united(a.Runs(), b.Runs(), saturatingAdd), nil
	}, func(growing.Source) uint64 { return saturatingAdd(f.view.keyCount, other.view.keyCount) })
}

// Intersect keeps the keys that may be in other, too, each as often as in the filter that has it less often. It then
// returns "maybe" where both filters do, and nowhere else. An unbounded filter may keep a key more often.
//
// Errors: [ErrMismatch], [ErrOutOfMemory]. The filter is unchanged.
func (f *GrowingFilter) Intersect(other *GrowingFilter) error {
	return f.combine(other, func(a, b *growing.Filter) (growing.Source, error) {
		if a.Shape().Lengths > 0 {
			return inCommon(a, b), nil
		}
		return united(a.Runs(), b.Runs(), func(a, b uint64) uint64 { return min(a, b) }), nil
	}, allOf)
}

// Difference removes the keys of other, each as often as it is there. As with any removal, use it only if f has
// all of them.
//
// Errors: those of [GrowingFilter.Intersect]; [ErrUnbounded] if the filters are: there a prefix can be that of several
// keys, and most of those that a short one has become are no key's. Remove keys one by one.
func (f *GrowingFilter) Difference(other *GrowingFilter) error {
	return f.combine(other, func(a, b *growing.Filter) (growing.Source, error) {
		if a.Shape().Lengths > 0 {
			return nil, ErrUnbounded
		}
		return united(a.Runs(), b.Runs(), func(a, b uint64) uint64 { return a - min(a, b) }), nil
	}, allOf)
}

// Split returns so many filters, one for each range of hashes: the key of hash h is in filter number h * parts /
// 2^64, rounded down. A prefix on the border of two is in both. It reads the filter a few times, as long as there
// are no more parts than prefixes of the first length.
//
// Errors: [ErrNoLines] for the zero GrowingFilter; [ErrOutOfMemory].
func (f *GrowingFilter) Split(parts int) ([]*GrowingFilter, error) {
	f = orZero(f)
	if f.view.growing == nil {
		return nil, ErrNoLines
	}
	if err := room(2 * f.view.growing.Memory()); err != nil {
		return nil, err
	}
	shape, lengths := f.view.growing.Shape(), f.view.growing.LengthsOf()
	all := make([]*GrowingFilter, max(parts, 0))
	// firstHash is that of a part, or 0 behind the last.
	firstHash := func(part int) uint64 {
		if part == parts {
			return 0
		}
		quotient, remainder := bits.Div64(uint64(part), 0, uint64(parts))
		return quotient + min(remainder, 1)
	}
	for part := range all {
		lowest, highest := firstHash(part), firstHash(part+1)-1
		from, _ := shape.Family(lowest)
		_, until := shape.Family(highest)
		keys := uint64(0)
		source := func(yield func(prefix, count uint64) bool) {
			keys = 0
			for prefix, count := range f.view.growing.RunsFrom(from) {
				if prefix > until {
					return
				}
				// A prefix in the first half of a shorter one comes before it, and may begin behind the border that
				// the shorter one is on.
				first, last := shape.Hashes(prefix)
				if first > highest || last < lowest {
					continue
				}
				keys = saturatingAdd(keys, count)
				if !yield(prefix, count) {
					return
				}
			}
		}
		filter := new(growing.Filter)
		if err := built(func() { filter.Become(*shape, lengths, source) }); err != nil {
			return nil, err
		}
		all[part] = growingOf(filter, f.view.seed, keys)
	}
	return all, nil
}

// Freeze returns a static filter of the prefixes, which takes a quarter less memory. Its false positives are its
// own, at rate, and those of f. It is probed by other hashes than f: those of [FrozenHash].
//
// Errors: [ErrUnbounded] if the filter is; [ErrNoLines] for the zero GrowingFilter; those of
// [StaticParamsForRate] and [BuildStaticWithParams].
func (f *GrowingFilter) Freeze(rate float64) (*StaticFilter, error) {
	f = orZero(f)
	if f.view.growing == nil {
		return nil, ErrNoLines
	}
	if f.view.growing.Shape().Lengths > 0 {
		return nil, ErrUnbounded
	}
	_, distinct := f.view.growing.Measure()
	params, err := StaticParamsForRate(int(distinct), rate)
	if err != nil {
		return nil, err
	}
	params.Seed = f.view.seed
	hashes, err := newSlice[uint64](int(distinct))
	if err != nil {
		return nil, err
	}
	at := 0
	for prefix := range f.Prefixes() {
		hashes[at] = HashUint64(prefix, 0)
		at++
	}
	return BuildStaticWithParams(params, hashes, 0)
}

// FrozenHash returns the hash by which a filter of [GrowingFilter.Freeze] knows the key of a hash, which
// [GrowingFilter.Hash] made. prefixCount is that of [GrowingFilter.Params]: keep it beside the static filter.
func FrozenHash(prefixCount, hash uint64) uint64 {
	return HashUint64(format.Index(hash, prefixCount), 0)
}
