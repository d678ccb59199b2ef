package bloomline

// A filter that goroutines add to and read at once.

import (
	"encoding/binary"
	"math/bits"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/bloomline/bloomline/go/internal/avx2"
	"github.com/bloomline/bloomline/go/internal/format"
)

// ConcurrentFilter is a filter that any number of goroutines add to and read at once, without
// a lock: no method waits for another. It is for removing duplicates, and for sets that grow
// while they are asked.
//
// A goroutine sees its own adds at once, and all those that happened before, as by a channel
// or a mutex. An add that goes on meanwhile may be seen or not. No key that was added is lost.
//
// It has the lines, and so the bytes, the size and the rate, of a [Filter] of the same
// [Params]. It has no KeyCount: a counter that all goroutines write to would cost more than the
// add. It has no View, whose probes are not atomic: see [ConcurrentFilter.Snapshot].
//
// An add takes 1.5 to 2.8 times as long as to a Filter, since it sets each bit by an atomic operation. A probe
// takes as long with AVX2, and 1.1 to 2 times as long without.
//
// The zero ConcurrentFilter returns true for every key, and nothing can be added to it.
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

// NewConcurrentWithParams returns an empty filter of a given shape: see [NewWithParams].
func NewConcurrentWithParams(params Params) (*ConcurrentFilter, error) {
	filter, err := NewWithParams(params)
	if err != nil {
		return nil, err
	}
	return filter.Share(), nil
}

// Share returns a ConcurrentFilter of the keys of a filter, in the same memory: f must not be
// used any more.
func (f *Filter) Share() *ConcurrentFilter {
	shared := &ConcurrentFilter{concurrentData: concurrentData{f.View()}}
	shared.view.keyCount = 0 // which nobody counts from here on
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

// AddHashIfAbsent is [ConcurrentFilter.AddIfAbsent] for a hash.
func (f *ConcurrentFilter) AddHashIfAbsent(hash uint64) (isNew bool) {
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
	lane, positions := format.Round(g)
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

// addAbsent adds hashes, and sets the bits of those that were new. out is zero, or nil.
func (f *ConcurrentFilter) addAbsent(hashes []uint64, out []uint64) {
	for word := 0; len(hashes) > 0; word++ {
		part := hashes[:min(touched, len(hashes))]
		f.touch(part)
		for i, hash := range part {
			if f.AddHashIfAbsent(hash) && out != nil {
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

// ContainsHash is [ConcurrentFilter.Contains] for the hash of a key.
func (f *ConcurrentFilter) ContainsHash(hash uint64) bool {
	if f == nil || len(f.view.all) == 0 {
		return true
	}
	if f.view.rows != nil { // bits are only ever set, so it does not matter how much it loads at once
		return avx2.Contains(f.view.first(), uint64(len(f.view.all)), f.view.rows, hash)
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

func (f *ConcurrentFilter) prefetch(hash uint64) {
	f.view.lines.prefetch(hash)
}

// sharedAllSet is [allSet], atomically, for the bits of one round.
func sharedAllSet(at *[lanes]uint64, g uint64, count int) uint64 {
	lane, positions := format.Round(g)
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

// answerInGo answers hashes without C, a bit each. out is zero.
func (f *ConcurrentFilter) answerInGo(hashes []uint64, out []uint64) {
	if f.view.rows != nil { // as ContainsHash
		f.view.answerInGo(hashes, out)
		return
	}
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

// ---- whole filters ----

// Clear removes all keys. Keys that others add meanwhile may be lost.
func (f *ConcurrentFilter) Clear() {
	for i := range orZero(f).view.all {
		at := lanesOf(&f.view.all[i])
		for lane := range at {
			atomic.StoreUint64(&at[lane], 0)
		}
	}
}

// Union adds the keys of a filter, which must not change meanwhile.
//
// Errors: [ErrMismatch] unless both have the same Params; nothing is added then.
func (f *ConcurrentFilter) Union(other *Filter) error {
	if f.Params() != other.Params() {
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

// Snapshot returns a copy as it is now, to be saved, sent or measured while others go on adding. It has all
// keys of adds that happened before, and may have those of adds that go on meanwhile. Its key count is 0,
// which means unknown.
//
// Errors: [ErrNoLines] for the zero ConcurrentFilter; [ErrOutOfMemory].
func (f *ConcurrentFilter) Snapshot() (*Filter, error) {
	if f == nil || len(f.view.all) == 0 {
		return nil, ErrNoLines
	}
	all, err := cloneShared(f.view.all)
	if err != nil {
		return nil, err
	}
	filter := new(Filter)
	filter.view = f.view
	filter.view.all = all
	return filter, nil
}

// usages is that of the lines as they are now, copied a few at a time.
func (f *ConcurrentFilter) usages(rated bool) []usage {
	u, copied := f.view.unused(rated), [64]line{}
	for all := f.view.all; len(all) > 0; {
		part := all[:min(len(copied), len(all))]
		for i := range part {
			from := lanesOf(&part[i])
			for lane := range from {
				// As memory has it, whatever the CPU's order.
				binary.NativeEndian.PutUint64(copied[i][8*lane:], atomic.LoadUint64(&from[lane]))
			}
		}
		u.add(copied[:len(part)])
		all = all[len(part):]
	}
	return []usage{u}
}

// EstimatedKeys is [Filter.EstimatedKeys], as the filter is now.
func (f *ConcurrentFilter) EstimatedKeys() float64 {
	if f == nil || len(f.view.all) == 0 {
		return 0
	}
	return f.view.keysForFill(f.Fill())
}

// ---- bytes and files ----

func (f concurrentData) encoded() encoded {
	all, err := cloneShared(f.view.all)
	if err != nil {
		return encoded{err: err}
	}
	f.view.all = all
	return filterData{f.view}.encoded()
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

func (f concurrentData) cloned() concurrentData {
	f.view.all = orPanic(cloneShared(f.view.all))
	return f
}

func cloneShared(all []line) ([]line, error) {
	if len(all) == 0 {
		return nil, nil
	}
	copied, err := newLines(uint64(len(all)))
	if err != nil {
		return nil, err
	}
	for i := range all {
		from, into := lanesOf(&all[i]), lanesOf(&copied[i])
		for lane := range into {
			into[lane] = atomic.LoadUint64(&from[lane])
		}
	}
	return copied, nil
}
