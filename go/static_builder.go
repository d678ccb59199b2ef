package bloomline

import (
	"fmt"
	"runtime"
)

// StaticBuilder collects keys, and builds the [StaticFilter] of them once all are known. It keeps 8 bytes
// per key: their hashes. One goroutine at a time may use it. [NewStaticBuilder] makes one; nothing can be
// added to a zero or nil one.
type StaticBuilder struct {
	_ noCopy
	noText
	rows   int
	seed   uint64
	hashes []uint64
	latest [2]uint64 // the two different hashes added last, the newest first
	err    error     // of memory that was refused: a key is missing
}

// NewStaticBuilder returns a builder of filters of a false-positive rate of at most rate.
//
// Errors: [ErrRate]; [ErrRateTooSmall] for rates below 2^-16.
func NewStaticBuilder(rate float64, options ...Option) (*StaticBuilder, error) {
	rows, err := rowsForRate(rate)
	return newStaticBuilder(rows, err, options)
}

// NewStaticBuilderForBits returns a builder of filters of at most so many bits per key: see
// [StaticParamsForBits].
//
// Errors: [ErrBitsPerKey], [ErrTooFewBits].
func NewStaticBuilderForBits(bitsPerKey float64, options ...Option) (*StaticBuilder, error) {
	params, err := StaticParamsForBits(0, bitsPerKey)
	return newStaticBuilder(params.Rows, err, options)
}

func newStaticBuilder(rows int, err error, options []Option) (*StaticBuilder, error) {
	// A static filter has no more of these than the seed.
	chosen, err := withOptions(Params{}, err, options)
	if err != nil {
		return nil, err
	}
	return &StaticBuilder{rows: rows, seed: chosen.Seed}, nil
}

// Add adds a key. A key equal to one of the last two different ones counts once, so sorted keys may each add
// their prefix, too, before or after themselves.
func (b *StaticBuilder) Add(key []byte) {
	b.AddHash(b.Hash(key))
}

// AddString is [StaticBuilder.Add] for a string.
func (b *StaticBuilder) AddString(key string) {
	b.AddHash(HashString(key, orZero(b).seed))
}

// AddUint64 is [StaticBuilder.Add] for an integer: see [HashUint64].
func (b *StaticBuilder) AddUint64(key uint64) {
	b.AddHash(HashUint64(key, orZero(b).seed))
}

// AddHash is [StaticBuilder.Add] for the hash of a key: one that [StaticBuilder.Hash] made, or any other
// that is well mixed over all 64 bits.
func (b *StaticBuilder) AddHash(hash uint64) {
	if b == nil || b.rows == 0 {
		panic("bloomline: insert into a zero StaticBuilder: create it with NewStaticBuilder")
	}
	n, last := len(b.hashes), b.latest[0]
	if n > 0 && hash == last {
		return
	}
	if n == 0 || hash != b.latest[1] {
		if n == cap(b.hashes) && !b.room(n+n/4+64) {
			return
		}
		b.hashes = append(b.hashes, hash)
	}
	if n == 0 {
		last = hash
	}
	b.latest = [2]uint64{hash, last}
}

// AddBatch adds many keys.
func (b *StaticBuilder) AddBatch(keys [][]byte) {
	addToBuilder(b, keys)
}

// AddStrings adds many keys.
func (b *StaticBuilder) AddStrings(keys []string) {
	addToBuilder(b, keys)
}

// AddHashes adds the keys of many hashes.
func (b *StaticBuilder) AddHashes(hashes []uint64) {
	if b != nil && !b.reserve(len(hashes)) {
		return
	}
	for _, hash := range hashes {
		b.AddHash(hash)
	}
}

func addToBuilder[K bytesOrString](b *StaticBuilder, keys []K) {
	if b != nil && !b.reserve(len(keys)) {
		return
	}
	for _, key := range keys {
		b.AddHash(b.Hash(bytesOfKey(key)))
	}
}

// reserve makes room for so many more, and for twice as many as there are: else adding a few at a time
// would copy all each time.
func (b *StaticBuilder) reserve(more int) bool {
	need := len(b.hashes) + more
	return need <= cap(b.hashes) || b.room(max(need, 2*len(b.hashes)))
}

// room makes room for so many. If the system refuses it, keys are missing from now on.
func (b *StaticBuilder) room(count int) bool {
	var err error
	if b.hashes, err = withRoom(b.hashes, count); err != nil {
		b.err = err
	}
	return err == nil
}

// Hash returns the hash of a key with the builder's seed.
func (b *StaticBuilder) Hash(key []byte) uint64 {
	return Hash(key, orZero(b).seed)
}

// KeyCount returns the number of keys added, repetitions of the key before not counted.
func (b *StaticBuilder) KeyCount() uint64 {
	return uint64(len(orZero(b).hashes))
}

// Clear drops the keys added, and keeps their memory.
func (b *StaticBuilder) Clear() {
	if b != nil {
		b.hashes, b.err = b.hashes[:0], nil
	}
}

// Params returns the shape of the filter that would be built now.
//
// Errors: [ErrLineCount]; [ErrRows] for the zero StaticBuilder; [ErrOutOfMemory] if the system refused the
// memory for a key, until [StaticBuilder.Clear].
func (b *StaticBuilder) Params() (StaticParams, error) {
	b = orZero(b)
	if b.err != nil {
		return StaticParams{}, b.err
	}
	params, err := StaticParamsForRows(len(b.hashes), b.rows)
	if err != nil {
		return StaticParams{}, err
	}
	params.Seed = b.seed
	return params, nil
}

// Build returns the filter of all keys added. The keys stay in the builder: [StaticBuilder.Clear] drops
// them.
//
// Errors: those of [StaticBuilder.Params]; [ErrOutOfMemory].
func (b *StaticBuilder) Build() (*StaticFilter, error) {
	return b.BuildParallel(1)
}

// BuildParallel is [StaticBuilder.Build] on up to so many goroutines; 0: on as many as
// [runtime.GOMAXPROCS] says. The filter is the same, bytes included.
func (b *StaticBuilder) BuildParallel(goroutines int) (*StaticFilter, error) {
	params, err := b.Params()
	if err != nil {
		return nil, err
	}
	return BuildStaticWithParams(params, b.hashes, goroutines)
}

// String describes the builder in a line.
func (b *StaticBuilder) String() string {
	return fmt.Sprintf("bloomline.StaticBuilder{%d keys, %d rows}", b.KeyCount(), orZero(b).rows)
}

// UnmarshalText fails: a builder is not written.
func (b *StaticBuilder) UnmarshalText([]byte) error { return errNoText }

// goroutinesOf is how many are meant.
func goroutinesOf(goroutines int) int {
	if goroutines <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return goroutines
}
