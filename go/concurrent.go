package bloomline

// A filter that goroutines add to and read at once.

import (
	"encoding/binary"
	"io"
	"math/bits"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// ConcurrentFilter is a filter that any number of goroutines add to and read at once, without
// a lock: no method waits for another. It is for removing duplicates, and for sets that grow
// while they are asked.
//
// A goroutine sees its own adds at once, and all those that happened before, as by a channel
// or a mutex. An add that goes on meanwhile may be seen or not. No key that was added is lost.
//
// It has the lines, and so the bytes, the size and the rate, of a [Filter] of the same
// [Params]. It does not count keys: a number that all goroutines write to would cost more than
// the add.
//
// The zero ConcurrentFilter answers true to every key, and nothing can be added to it.
//
// A copy of the struct would share its memory, and go vet reports one. A nil ConcurrentFilter
// answers as the zero one does.
type ConcurrentFilter struct {
	_ noCopy
	concurrentData
}

type concurrentData struct {
	view View // of lines that are this filter's own; lanes are read and written atomically
}

// NewConcurrent returns an empty filter that will hold keys keys at a false-positive rate of
// at most rate: see [New].
func NewConcurrent(keys int, rate float64, options ...Option) (*ConcurrentFilter, error) {
	filter, err := New(keys, rate, options...)
	if err != nil {
		return nil, err
	}
	return filter.Share(), nil
}

// Share returns a ConcurrentFilter of the keys of a filter, in the same memory: f must not be
// used any more.
func (f *Filter) Share() *ConcurrentFilter {
	shared := &ConcurrentFilter{concurrentData: concurrentData{f.View()}}
	if f != nil {
		f.filterData = filterData{}
	}
	return shared
}

// lanesOf is a line as words in memory.
func lanesOf(at *line) *[lanes]uint64 {
	// All lines of a filter's own are aligned.
	return (*[lanes]uint64)(unsafe.Pointer(at))
}

var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// ---- adding ----

// Add adds a key, and tells whether it was new: false if all its bits were set before, as they
// are for a key that is in, and for false positives. Of several goroutines that add the same
// new key at once at least one is told that it is new, and more may be.
func (f *ConcurrentFilter) Add(key []byte) bool {
	return f.AddHash(Hash(key, f.seed()))
}

// AddString is [ConcurrentFilter.Add] for a string.
func (f *ConcurrentFilter) AddString(key string) bool {
	return f.AddHash(HashString(key, f.seed()))
}

// AddHash is [ConcurrentFilter.Add] for the hash of a key, which [ConcurrentFilter.Hash] makes.
func (f *ConcurrentFilter) AddHash(hash uint64) (isNew bool) {
	if f == nil || len(f.view.all) == 0 {
		panic("bloomline: insert into a zero ConcurrentFilter: create it with NewConcurrent")
	}
	if f.view.classic {
		return f.view.classicAddShared(hash)
	}
	at := lanesOf(f.view.at(hash))
	isNew = sharedSetBits(at, hash*c1, min(f.view.k, 8))
	if f.view.k > 8 {
		isNew = sharedSetBits(at, hash*c2, f.view.k-8) || isNew
	}
	return isNew
}

// sharedSetBits is [setBits], atomically, and reports whether one of the bits was not set.
func sharedSetBits(at *[lanes]uint64, g uint64, count int) (isNew bool) {
	lane, positions := round(g)
	for ; count > 0; count-- {
		word, bit := &at[lane&7], uint64(1)<<(positions&63)
		if bigEndian {
			bit = bits.ReverseBytes64(bit)
		}
		// A lane that has its bit is only read, and stays in the caches of its other readers.
		if atomic.LoadUint64(word)&bit == 0 {
			isNew = atomic.OrUint64(word, bit)&bit == 0 || isNew
		}
		lane, positions = lane+1, positions>>6
	}
	return isNew
}

// AddBatch adds many keys, and tells which were new, in out if that is large enough: see
// [Bitmap]. A key that is there twice is new once.
func (f *ConcurrentFilter) AddBatch(keys [][]byte, out Bitmap) Bitmap {
	return addKeys(f, keys, out)
}

// AddStrings is [ConcurrentFilter.AddBatch] for strings.
func (f *ConcurrentFilter) AddStrings(keys []string, out Bitmap) Bitmap {
	return addKeys(f, keys, out)
}

func addKeys[K bytesOrString](f *ConcurrentFilter, keys []K, out Bitmap) Bitmap {
	out = out.sized(len(keys))
	var ahead [hashedAhead]uint64
	for at := 0; at < len(keys); at += hashedAhead {
		f.addHashes(hashAhead(&orZero(f).view, keys[at:], &ahead), out[at/64:])
	}
	return out
}

// AddHashes is [ConcurrentFilter.AddBatch] for hashes.
func (f *ConcurrentFilter) AddHashes(hashes []uint64, out Bitmap) Bitmap {
	out = out.sized(len(hashes))
	f.addHashes(hashes, out)
	return out
}

func (f *ConcurrentFilter) addHashes(hashes []uint64, out []uint64) {
	for word := 0; len(hashes) > 0; word++ {
		part := hashes[:min(touched, len(hashes))]
		f.touch(part)
		for i, hash := range part {
			if f.AddHash(hash) {
				out[word] |= 1 << i
			}
		}
		hashes = hashes[len(part):]
	}
}

// touch is [lines.touch], atomically.
func (f *ConcurrentFilter) touch(hashes []uint64) {
	if f == nil || len(f.view.all) < farFrom || f.view.classic {
		return
	}
	sum := uint64(0)
	for _, hash := range hashes {
		sum += atomic.LoadUint64(&lanesOf(f.view.at(hash))[0])
	}
	runtime.KeepAlive(sum)
}

// ---- asking ----

// Contains tells whether a key may be in. False means that it was not when this was called.
func (f *ConcurrentFilter) Contains(key []byte) bool {
	return f.ContainsHash(Hash(key, f.seed()))
}

// ContainsString is [ConcurrentFilter.Contains] for a string.
func (f *ConcurrentFilter) ContainsString(key string) bool {
	return f.ContainsHash(HashString(key, f.seed()))
}

// ContainsHash is [ConcurrentFilter.Contains] for the hash of a key.
func (f *ConcurrentFilter) ContainsHash(hash uint64) bool {
	if f == nil || len(f.view.all) == 0 {
		return true
	}
	if f.view.classic {
		return f.view.classicContainsShared(hash)
	}
	at := lanesOf(f.view.at(hash))
	set := sharedAllSet(at, hash*c1, min(f.view.k, 8))
	if f.view.k > 8 {
		set &= sharedAllSet(at, hash*c2, f.view.k-8)
	}
	return set != 0
}

// sharedAllSet is [allSet], atomically, for the bits of one round.
func sharedAllSet(at *[lanes]uint64, g uint64, count int) uint64 {
	lane, positions := round(g)
	set := uint64(1)
	for ; count > 0; count-- {
		word := atomic.LoadUint64(&at[lane&7])
		if bigEndian {
			word = bits.ReverseBytes64(word)
		}
		set &= word >> (positions & 63)
		lane, positions = lane+1, positions>>6
	}
	return set
}

// ContainsBatch answers many keys at once, in out if that is large enough: see [Bitmap].
func (f *ConcurrentFilter) ContainsBatch(keys [][]byte, out Bitmap) Bitmap {
	return sharedContainsKeys(f, keys, out)
}

// ContainsStrings is [ConcurrentFilter.ContainsBatch] for strings.
func (f *ConcurrentFilter) ContainsStrings(keys []string, out Bitmap) Bitmap {
	return sharedContainsKeys(f, keys, out)
}

func sharedContainsKeys[K bytesOrString](f *ConcurrentFilter, keys []K, out Bitmap) Bitmap {
	out = out.sized(len(keys))
	var ahead [hashedAhead]uint64
	for at := 0; at < len(keys); at += hashedAhead {
		orZero(f).answer(hashAhead(&orZero(f).view, keys[at:], &ahead), out[at/64:])
	}
	return out
}

// ContainsHashes answers many hashes at once, in out if that is large enough: see [Bitmap].
func (f *ConcurrentFilter) ContainsHashes(hashes []uint64, out Bitmap) Bitmap {
	out = out.sized(len(hashes))
	orZero(f).answer(hashes, out)
	return out
}

func (f *ConcurrentFilter) answerInGo(hashes []uint64, out []uint64) {
	for word := 0; len(hashes) > 0; word++ {
		part := hashes[:min(touched, len(hashes))]
		f.touch(part)
		for i, hash := range part {
			if f.ContainsHash(hash) {
				out[word] |= 1 << i
			}
		}
		hashes = hashes[len(part):]
	}
}

// Hash returns the hash of a key with this filter's seed.
func (f *ConcurrentFilter) Hash(key []byte) uint64 {
	return Hash(key, f.seed())
}

func (f *ConcurrentFilter) seed() uint64 {
	return orZero(f).view.seed
}

// ---- whole filters ----

// Params returns the shape of the filter.
func (f *ConcurrentFilter) Params() Params {
	return orZero(f).view.shape()
}

// Union adds the keys of a filter, which must not change meanwhile.
//
// Errors: [ErrMismatch] unless both have the same Params, and both or neither are classic;
// nothing is added then.
func (f *ConcurrentFilter) Union(other *Filter) error {
	if f.Params() != other.Params() || orZero(f).view.classic != other.IsClassic() {
		return ErrMismatch
	}
	if f.Params().LineCount == 0 {
		return nil
	}
	for i := range f.view.all {
		from, into := lanesOf(&other.view.all[i]), lanesOf(&f.view.all[i])
		for lane, bits := range from {
			if atomic.LoadUint64(&into[lane])&bits != bits {
				atomic.OrUint64(&into[lane], bits)
			}
		}
	}
	return nil
}

// Snapshot returns a copy as it is now, to be saved, sent or measured while others go on
// adding: it has all keys of adds that happened before, and may have those of adds that go on
// meanwhile. Its key count is 0, which means unknown.
//
// Errors: [ErrLineCount] for the zero ConcurrentFilter.
func (f *ConcurrentFilter) Snapshot() (*Filter, error) {
	if f == nil || len(f.view.all) == 0 {
		return nil, ErrLineCount
	}
	filter := new(Filter)
	filter.view = f.Clone().view
	return filter, nil
}

// EstimatedKeys returns how many different keys are in, as [Filter.EstimatedKeys] does.
func (f *ConcurrentFilter) EstimatedKeys() float64 {
	if f == nil || len(f.view.all) == 0 {
		return 0
	}
	set := 0
	for i := range f.view.all {
		at := lanesOf(&f.view.all[i])
		for lane := range at {
			set += bits.OnesCount64(atomic.LoadUint64(&at[lane]))
		}
	}
	fill := float64(set) / (float64(len(f.view.all)) * lineBits)
	return f.view.keysForFill(fill)
}

// ---- bytes ----

func (f concurrentData) encoded() encoded {
	f.view.all = cloneShared(f.view.all)
	return filterData{f.view}.encoded()
}

// AppendBinary appends the encoded filter, as it is now, to data, as [encoding.BinaryAppender]. It
// is that of a [Filter] of the same keys. The zero ConcurrentFilter has none: [ErrLineCount].
func (f *ConcurrentFilter) AppendBinary(data []byte) ([]byte, error) {
	return orZero(f).encoded().appendTo(data)
}

// MarshalBinary returns the encoded filter, as it is now, as [encoding.BinaryMarshaler].
func (f *ConcurrentFilter) MarshalBinary() ([]byte, error) {
	return f.AppendBinary(nil)
}

// UnmarshalBinary makes this the filter that data encodes, as [Filter.UnmarshalBinary]. Nobody
// else may be using it meanwhile.
func (f *ConcurrentFilter) UnmarshalBinary(data []byte) error {
	return unmarshal(data, f, false)
}

func (*ConcurrentFilter) layouts() []uint16 {
	return (*Filter)(nil).layouts()
}

func (f *ConcurrentFilter) decode(body []byte, footer footer, keep bool) error {
	var filter Filter
	if err := filter.decode(body, footer, keep); err != nil {
		return err
	}
	f.view = filter.view
	f.view.keyCount = 0 // which nobody counts from here on
	return nil
}

// WriteTo writes the encoded filter, as it is now, as [io.WriterTo].
func (f *ConcurrentFilter) WriteTo(w io.Writer) (int64, error) {
	return orZero(f).encoded().writeTo(w)
}

// ReadFrom makes this the filter that r holds, as [io.ReaderFrom]. It reads r to its end, up to a
// limit: see [Filter.ReadFrom].
func (f *ConcurrentFilter) ReadFrom(r io.Reader) (int64, error) {
	return readFrom(r, f)
}
