package bloomline

import "fmt"

// Filter is a Bloom filter in memory. Any number of goroutines may read it at once; adding
// needs it alone.
//
// The zero Filter is a place to unmarshal into. It answers true to every key, and nothing can
// be added to it.
type Filter struct {
	view View // of lines that are this filter's own
}

// Option changes what [New] makes.
type Option func(*Params) error

// WithSeed sets the seed of the hash of keys, which is 0 otherwise. Filters that are to be
// united, or asked for the same hash, need the same seed.
func WithSeed(seed uint64) Option {
	return func(p *Params) error {
		p.Seed = seed
		return nil
	}
}

// WithRandomSeed sets a seed that nobody can foretell: for filters of keys that an adversary
// chooses, who could otherwise pick keys that are all false positives.
func WithRandomSeed() Option {
	return func(p *Params) error {
		seed, err := randomSeed()
		p.Seed = seed
		return err
	}
}

// New returns an empty filter that will hold keys keys at a false-positive rate of at most
// rate, such as 0.01.
//
// Errors: [ErrKeys], [ErrRate], [ErrLineCount].
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
// Errors: [ErrK], [ErrLineCount]. As with all of Go's memory, a size that the system turns out
// not to have ends the program.
func NewWithParams(params Params) (*Filter, error) {
	if err := params.check(); err != nil {
		return nil, err
	}
	all, err := newLines(params.LineCount)
	if err != nil {
		return nil, err
	}
	return &Filter{View{lines: lines{all: all, k: params.K}, seed: params.Seed}}, nil
}

// ---- adding ----

// Add adds a key.
func (f *Filter) Add(key []byte) {
	f.AddHash(Hash(key, f.view.seed))
}

// AddString adds a key.
func (f *Filter) AddString(key string) {
	f.AddHash(HashString(key, f.view.seed))
}

// AddHash adds the key of a hash: one that [Filter.Hash] made, or any other that is well
// mixed over all 64 bits. An integer is not; see [HashUint64].
func (f *Filter) AddHash(hash uint64) {
	f.count(1)
	f.view.insert(hash)
}

// AddBatch adds many keys.
func (f *Filter) AddBatch(keys [][]byte) {
	f.count(len(keys))
	insertKeys(&f.view, keys)
}

// AddStrings adds many keys.
func (f *Filter) AddStrings(keys []string) {
	f.count(len(keys))
	insertKeys(&f.view, keys)
}

// AddHashes adds the keys of many hashes.
func (f *Filter) AddHashes(hashes []uint64) {
	f.count(len(hashes))
	f.view.insertAll(hashes)
}

// count counts keys, and sees to it that there are lines to add them to.
func (f *Filter) count(keys int) {
	if len(f.view.all) == 0 {
		panic("bloomline: keys added to the zero Filter, which New did not make")
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

// Contains tells whether a key may be in. False means that it is not.
func (f *Filter) Contains(key []byte) bool {
	return f.ContainsHash(Hash(key, f.view.seed))
}

// ContainsString is [Filter.Contains] for a string.
func (f *Filter) ContainsString(key string) bool {
	return f.ContainsHash(HashString(key, f.view.seed))
}

// ContainsHash tells whether the key of a hash, made by [Filter.Hash], may be in.
func (f *Filter) ContainsHash(hash uint64) bool {
	return len(f.view.all) == 0 || f.view.lines.contains(hash)
}

// ContainsBatch answers many keys at once, in out if that is large enough: see [Bitmap].
func (f *Filter) ContainsBatch(keys [][]byte, out Bitmap) Bitmap {
	return f.view.ContainsBatch(keys, out)
}

// ContainsStrings is [Filter.ContainsBatch] for strings.
func (f *Filter) ContainsStrings(keys []string, out Bitmap) Bitmap {
	return f.view.ContainsStrings(keys, out)
}

// ContainsHashes answers many hashes at once, in out if that is large enough: see [Bitmap].
func (f *Filter) ContainsHashes(hashes []uint64, out Bitmap) Bitmap {
	return f.view.ContainsHashes(hashes, out)
}

// Hash returns the hash of a key with this filter's seed.
func (f *Filter) Hash(key []byte) uint64 {
	return Hash(key, f.view.seed)
}

// ---- what it is ----

// View returns the filter to read: cheap to pass on. It sees what is added later, and must not
// be used while something is.
func (f *Filter) View() View {
	return f.view
}

// Params returns the shape of the filter.
func (f *Filter) Params() Params {
	return f.view.shape()
}

// KeyCount returns how many keys were added, repeated ones counted each time, those of
// filters united with this one included.
func (f *Filter) KeyCount() uint64 {
	return f.view.keyCount
}

// String describes the filter in a line.
func (f *Filter) String() string {
	p := f.Params()
	return fmt.Sprintf("bloomline.Filter{%d keys, %d lines, k %d}", f.KeyCount(), p.LineCount, p.K)
}

// ---- whole filters ----

// Union makes this the filter of the keys of both.
//
// Errors: [ErrMismatch] unless both have the same Params, and both or neither are classic.
func (f *Filter) Union(other *Filter) error {
	if f.Params() != other.Params() || f.view.classic != other.view.classic {
		return ErrMismatch
	}
	for i := range f.view.all {
		f.view.all[i].or(&other.view.all[i])
	}
	f.view.keyCount = saturatingAdd(f.view.keyCount, other.view.keyCount)
	return nil
}

// Clear forgets all keys.
func (f *Filter) Clear() {
	clear(f.view.all)
	f.view.keyCount = 0
}

// Fold halves the filter: it is then exactly the filter of the same keys with half the lines.
// So a filter whose keys cannot be counted beforehand is made large, and folded while
// [Filter.EstimatedRate] allows.
//
// Errors: [ErrOddLineCount]; [ErrLayout] for a filter of [NewClassic]. It is as before.
func (f *Filter) Fold() error {
	if f.view.classic {
		return ErrLayout
	}
	count := len(f.view.all)
	if count == 0 || count%2 != 0 {
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
