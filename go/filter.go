package bloomline

import (
	"github.com/bloomline/bloomline/go/internal/avx2"
	"github.com/bloomline/bloomline/go/internal/format"
	"github.com/zeebo/xxh3"
)

// Filter is a Bloom filter in memory. Any number of goroutines may read it at once; adding
// requires exclusive access.
//
// The zero Filter is a place to unmarshal into. It returns true for every key. Adding
// to it panics.
//
// A copy of the struct would share its memory, and go vet reports one: use [Filter.Clone], or
// pass the pointer on. A nil Filter answers as the zero Filter does.
type Filter struct {
	_ noCopy
	filterData
}

// filterData is what a Filter consists of. It is a type of its own, as with the other kinds, so
// that its methods, which take it by value, are there for a Filter that is held by value, too.
type filterData struct {
	view View // of lines that are this filter's own
}

// Option changes what [New] makes.
type Option func(*Params) error

// WithSeed sets the seed of the hash of keys, which is 0 otherwise. Filters that are to be
// united, or probed with the same hash, need the same seed.
func WithSeed(seed uint64) Option {
	return func(p *Params) error {
		p.Seed = seed
		return nil
	}
}

// WithRandomSeed sets a random seed: see [Params.WithRandomSeed].
func WithRandomSeed() Option {
	return func(p *Params) error {
		*p = p.WithRandomSeed()
		return nil
	}
}

// New returns an empty filter that will hold keys keys at a false-positive rate of at most
// rate, such as 0.01.
//
// Errors: those of [ParamsForRate]; [ErrOutOfMemory].
func New(keys int, rate float64, options ...Option) (*Filter, error) {
	params, err := ParamsForRate(keys, rate)
	if params, err = withOptions(params, err, options); err != nil {
		return nil, err
	}
	return NewWithParams(params)
}

// withOptions applies options to a shape, if it could be found.
func withOptions(params Params, err error, options []Option) (Params, error) {
	for _, option := range options {
		if err == nil {
			err = option(&params)
		}
	}
	return params, err
}

// NewWithParams returns an empty filter of a given shape.
//
// Errors: [ErrNoLines], [ErrK], [ErrLineCount], [ErrOutOfMemory].
func NewWithParams(params Params) (*Filter, error) {
	if err := params.check(); err != nil {
		return nil, err
	}
	all, err := newLines(params.LineCount)
	if err != nil {
		return nil, err
	}
	view := View{lines: linesWith(all, params.K, params.Classic), seed: params.Seed}
	return &Filter{filterData: filterData{view}}, nil
}

// ---- adding ----

// Add adds a key.
func (f *Filter) Add(key []byte) {
	if f == nil || f.view.seed != 0 { // one call less without a seed
		f.AddHash(f.Hash(key))
		return
	}
	f.AddHash(xxh3.Hash(key))
}

// AddString adds a key.
func (f *Filter) AddString(key string) {
	if f == nil || f.view.seed != 0 {
		f.AddHash(HashString(key, f.seed()))
		return
	}
	f.AddHash(xxh3.HashString(key))
}

// AddHash adds the key of a hash: one that [Filter.Hash] made, or any other that is well
// mixed over all 64 bits. An integer is not; see [HashUint64].
func (f *Filter) AddHash(hash uint64) {
	if f == nil || f.view.short == 0 {
		f.addLong(hash)
		return
	}
	if n := f.view.keyCount + 1; n != 0 {
		f.view.keyCount = n
	}
	if f.view.rows != nil {
		avx2.Insert(f.view.first(), uint64(len(f.view.all)), f.view.rows, hash)
		return
	}
	// As setBits, whose call would take a sixth longer.
	at, count := f.view.at(hash), f.view.short
	lane, positions := format.Round(hash * c1)
	at.set(lane, positions)
	at.set(lane+1, positions>>6)
	at.setTwo(lane+2, positions>>12, count-2)
	at.setTwo(lane+4, positions>>24, count-4)
	at.setTwo(lane+6, positions>>36, count-6)
}

// addLong is AddHash where one round does not find all bits, or where there is no line.
func (f *Filter) addLong(hash uint64) {
	f.count(1)
	f.view.insert(hash)
}

// AddHashIfAbsent is [Filter.AddIfAbsent] for a hash.
func (f *Filter) AddHashIfAbsent(hash uint64) bool {
	f.count(0)
	if f.view.lines.contains(hash) {
		return false
	}
	f.AddHash(hash)
	return true
}

// AddBatch adds many keys.
func (f *Filter) AddBatch(keys [][]byte) {
	f.count(len(keys))
	eachBatch(f.view.seed, keys, f.view.insertAll)
}

// AddStrings adds many keys.
func (f *Filter) AddStrings(keys []string) {
	f.count(len(keys))
	eachBatch(f.view.seed, keys, f.view.insertAll)
}

// AddHashes adds the keys of many hashes.
func (f *Filter) AddHashes(hashes []uint64) {
	f.count(len(hashes))
	f.view.insertAll(hashes)
}

// addAbsent sets the bits of hashes that were new. out is zero.
func (f *Filter) addAbsent(hashes []uint64, out []uint64) {
	f.count(0)
	for word := 0; len(hashes) > 0; word++ {
		part := hashes[:min(touched, len(hashes))]
		f.view.touch(part)
		for i, hash := range part {
			if f.AddHashIfAbsent(hash) {
				out[word] |= 1 << i
			}
		}
		hashes = hashes[len(part):]
	}
}

// count counts keys, and sees to it that there are lines to add them to.
func (f *Filter) count(keys int) {
	if f == nil || len(f.view.all) == 0 {
		panic("bloomline: insert into a zero Filter: create it with New, and do not use it after Share")
	}
	f.view.keyCount = saturatingAdd(f.view.keyCount, uint64(keys))
}

func saturatingAdd(a, b uint64) uint64 {
	if sum := a + b; sum >= a {
		return sum
	}
	return ^uint64(0)
}

// ---- asking ----

// Contains reports whether a key may be present. False means definitely absent.
func (f *Filter) Contains(key []byte) bool {
	if f == nil || f.view.seed != 0 {
		return f.ContainsHash(f.Hash(key))
	}
	return f.view.lines.contains(xxh3.Hash(key))
}

// ContainsString is [Filter.Contains] for a string.
func (f *Filter) ContainsString(key string) bool {
	if f == nil || f.view.seed != 0 {
		return f == nil || f.ContainsHash(HashString(key, f.view.seed))
	}
	return f.view.lines.contains(xxh3.HashString(key))
}

// ContainsUint64 is [Filter.Contains] for an integer: see [HashUint64].
func (f *Filter) ContainsUint64(key uint64) bool {
	return f == nil || f.ContainsHash(HashUint64(key, f.view.seed))
}

// Prefetch asks for the memory that the probe or insert of a hash will need, and does not wait for
// it. In a filter larger than the CPU's caches, call it some 8 keys before [Filter.ContainsHash] or
// [Filter.AddHash]: they take less than half the time then. It does nothing for classic filters, and on
// CPUs other than amd64 and arm64.
func (f *Filter) Prefetch(hash uint64) {
	if f != nil {
		f.view.lines.prefetch(hash)
	}
}

// ---- whole filters ----

// Union makes this the filter of the keys of both.
//
// Errors: [ErrMismatch] unless both have the same Params.
func (f *Filter) Union(other *Filter) error {
	if err := f.matches(other); err != nil {
		return err
	}
	if f.Params().LineCount == 0 {
		return nil
	}
	for i := range f.view.all {
		f.view.all[i].or(&other.view.all[i])
	}
	f.view.keyCount = saturatingAdd(f.view.keyCount, other.view.keyCount)
	return nil
}

// Intersect keeps what both filters have: a key that is in both stays present. Others are false
// positives at most as often as in either, and more often than in a filter of the common keys
// alone. KeyCount is 0 then, which means unknown; see EstimatedKeys.
//
// Errors: as [Filter.Union].
func (f *Filter) Intersect(other *Filter) error {
	if err := f.matches(other); err != nil {
		return err
	}
	if f.Params().LineCount == 0 || f == other {
		return nil
	}
	for i := range f.view.all {
		f.view.all[i].and(&other.view.all[i])
	}
	f.view.keyCount = 0
	return nil
}

// matches tells whether lines of both can be combined.
func (f *Filter) matches(other *Filter) error {
	if f.Params() != other.Params() {
		return ErrMismatch
	}
	return nil
}

// Clear removes all keys.
func (f *Filter) Clear() {
	if f == nil {
		return
	}
	clear(f.view.all)
	f.view.keyCount = 0
}

// Fold halves the filter: it is then exactly the filter of the same keys with half the lines.
// So a filter whose keys cannot be counted beforehand is made large, of a shape from
// [Params.Foldable], and folded: see [Filter.FoldToRate].
//
// Errors: [ErrOddLineCount]; [ErrClassic] for a filter of [NewClassic]; [ErrNoLines] for the zero
// Filter; [ErrOutOfMemory]. It is unchanged.
func (f *Filter) Fold() error {
	if f.Params().Classic {
		return ErrClassic
	}
	count := len(orZero(f).view.all)
	if count == 0 {
		return ErrNoLines
	}
	if count%2 != 0 {
		return ErrOddLineCount
	}
	half, err := newLines(uint64(count / 2))
	if err != nil {
		return err
	}
	for i := range half {
		half[i] = f.view.all[2*i]
		half[i].or(&f.view.all[2*i+1])
	}
	f.view.all = half
	return nil
}

// FoldToRate folds the filter as often as its false-positive rate stays at or below rate, and as
// its line count is even, and returns how often. A shape from [Params.Foldable] is even often
// enough; others may be odd at once.
//
// Errors: [ErrRate]; [ErrClassic] for a filter of [NewClassic]; [ErrOutOfMemory], after folds that
// were made. Otherwise it is unchanged.
func (f *Filter) FoldToRate(rate float64) (folds int, err error) {
	if f.Params().Classic {
		return 0, ErrClassic
	}
	if !(rate > 0 && rate < 1) {
		return 0, ErrRate
	}
	for count := len(orZero(f).view.all); count > 0 && count%2 == 0 && f.foldedRate() <= rate; count /= 2 {
		if err := f.Fold(); err != nil {
			return folds, err
		}
		folds++
	}
	return folds, nil
}

// foldedRate is what [Filter.EstimatedRate] would be after a fold.
func (f *Filter) foldedRate() float64 {
	sum := 0.0
	for i := 0; i < len(f.view.all); i += 2 {
		both := f.view.all[i]
		both.or(&f.view.all[i+1])
		sum += both.rate(f.view.k)
	}
	return sum / float64(len(f.view.all)/2)
}

// cloned is a filter of memory of its own: what Clone returns.
func (f filterData) cloned() filterData {
	return orPanic(f.tryCloned())
}

func (f filterData) tryCloned() (_ filterData, err error) {
	f.view.all, err = takeLines(bytesOf(f.view.all), false)
	return f, err
}
