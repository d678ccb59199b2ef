package bloomline

// A filter that keys can be removed from: a plain filter, which answers, and beside it a
// counter for each of its bits.

import (
	"iter"
	"math/bits"
	"runtime"

	"github.com/bloomline/bloomline/go/internal/format"
)

const (
	// The counters of a line: 4 bits for each of its bits.
	counterBytes = 4 * lineBytes
	// The highest count: as much as that or more.
	mostCount = 15
)

// CountingFilter is a Bloom filter that keys can be removed from, and that estimates how often
// a key was added.
//
// It is a [Filter], which answers at its speed, and for each bit of it a counter of 4 bits,
// which only adding, removing and counting touch. So it takes five times the memory of a
// Filter: about 50 bits per key at 1 % false positives.
//
// A key added n times is present until it has been removed n times.
//
//   - There are no false negatives as long as you remove only keys that are present, in any
//     order and however many there are: a counter that has reached 15 stays there, and its bit
//     stays set until the filter is cleared.
//   - A key that is definitely absent is not removed: [ErrAbsent].
//   - Remove only keys that you added. Any other removal can take bits from other keys, which
//     are then false negatives: an absent key that passes for present, as false positives do,
//     is removed as if it were present. Keys added later are safe from it, as long as what is
//     removed was added later too.
//
// Any number of goroutines may read it at once; adding and removing need it alone.
//
// The zero CountingFilter is a place to unmarshal into. It returns true for every key; nothing
// can be added to it, and nothing removed.
//
// A copy of the struct would share its memory, and go vet reports one: use
// [CountingFilter.Clone]. A nil CountingFilter answers as the zero one does.
type CountingFilter struct {
	_ noCopy
	countingData
}

type countingData struct {
	filter *Filter // nil in the zero CountingFilter; a bit of it is set exactly if its counter is not 0
	// The counter of bit b of line i is in byte 256 i + b / 2, in its high half if b is odd.
	counters []byte
	// Whether lines and counters are in one piece of memory, as they were read.
	together bool
}

// NewCounting returns an empty filter that is sized for so many expected keys at a false-positive
// rate of at most rate: see [New].
func NewCounting(keys int, rate float64, options ...Option) (*CountingFilter, error) {
	params, err := ParamsForRate(keys, rate)
	if params, err = withOptions(params, err, options); err != nil {
		return nil, err
	}
	return NewCountingWithParams(params)
}

// NewCountingWithParams returns an empty filter of a given shape.
//
// Errors: those of [NewWithParams]; [ErrClassic] for a classic shape.
func NewCountingWithParams(params Params) (*CountingFilter, error) {
	if err := params.checkInOneLine(); err != nil {
		return nil, err
	}
	if err := params.checkCounting(); err != nil {
		return nil, err
	}
	filter, err := NewWithParams(params)
	if err != nil {
		return nil, err
	}
	counters, err := newLines(params.LineCount * (counterBytes / lineBytes))
	if err != nil {
		return nil, err
	}
	return &CountingFilter{countingData: countingData{filter: filter, counters: bytesOf(counters)}}, nil
}

// ---- adding ----

// AddHash is [CountingFilter.Add] for the hash of a key, which [CountingFilter.Hash] makes.
func (f *CountingFilter) AddHash(hash uint64) {
	f.mustHaveLines()
	f.filter.AddHash(hash)
	f.countUp(hash)
}

// AddHashIfAbsent is [CountingFilter.AddIfAbsent] for a hash.
func (f *CountingFilter) AddHashIfAbsent(hash uint64) bool {
	f.mustHaveLines()
	if f.filter.ContainsHash(hash) {
		return false
	}
	f.AddHash(hash)
	return true
}

// AddHashes adds the keys of many hashes.
func (f *CountingFilter) AddHashes(hashes []uint64) {
	f.mustHaveLines()
	f.filter.AddHashes(hashes)
	for len(hashes) > 0 {
		part := hashes[:min(touched, len(hashes))]
		f.touch(part)
		for _, hash := range part {
			f.countUp(hash)
		}
		hashes = hashes[len(part):]
	}
}

// addAbsent sets the bits of hashes that were new. out is zero.
func (f *CountingFilter) addAbsent(hashes []uint64, out []uint64) {
	f.mustHaveLines()
	for i, hash := range hashes {
		if i%touched == 0 {
			part := hashes[i:min(i+touched, len(hashes))]
			f.filter.view.touch(part)
			f.touch(part)
		}
		if f.AddHashIfAbsent(hash) {
			out[i/64] |= 1 << (i % 64)
		}
	}
}

func (f *CountingFilter) mustHaveLines() {
	if f == nil || f.filter == nil {
		panic("bloomline: insert into a zero CountingFilter: create it with NewCounting, and do not use it after Detach")
	}
}

func (f *CountingFilter) countUp(hash uint64) {
	counters := f.countersOf(hash)
	for bit := range f.bits(hash) {
		if count := counters.get(bit); count < mostCount {
			counters.set(bit, count+1)
		}
	}
}

// ---- removing ----

// RemoveHash is [CountingFilter.Remove] for the hash of a key.
func (f *CountingFilter) RemoveHash(hash uint64) error {
	if f == nil || f.filter == nil {
		return ErrNoLines
	}
	if !f.filter.ContainsHash(hash) {
		return ErrAbsent
	}
	counters := f.countersOf(hash)
	at := f.filter.view.at(hash)
	for bit := range f.bits(hash) {
		count := counters.get(bit)
		if count == mostCount {
			continue
		}
		counters.set(bit, count-1)
		if count == 1 {
			at[bit/8] &^= 1 << (bit % 8)
		}
	}
	if f.filter.view.keyCount > 0 {
		f.filter.view.keyCount--
	}
	return nil
}

// removeHashes sets the bits of hashes that were removed. out is zero.
func (f *CountingFilter) removeHashes(hashes []uint64, out []uint64) {
	f = orZero(f)
	for word := 0; len(hashes) > 0; word++ {
		part := hashes[:min(touched, len(hashes))]
		orZero(f.filter).view.touch(part)
		f.touch(part)
		for i, hash := range part {
			if f.RemoveHash(hash) == nil {
				out[word] |= 1 << i
			}
		}
		hashes = hashes[len(part):]
	}
}

// ---- counting ----

// Count returns how often a key was added, less removals, at most: 0 to 15, where 15 means 15 or
// more. Other keys
// can make it too high, at about the rate of false positives; only removals of keys that were not in can make
// it too low.
func (f *CountingFilter) Count(key []byte) int {
	return f.CountHash(f.Hash(key))
}

// CountString is [CountingFilter.Count] for a string.
func (f *CountingFilter) CountString(key string) int {
	return f.CountHash(HashString(key, f.seed()))
}

// CountUint64 is [CountingFilter.Count] for an integer: see [HashUint64].
func (f *CountingFilter) CountUint64(key uint64) int {
	return f.CountHash(HashUint64(key, f.seed()))
}

// CountHash is [CountingFilter.Count] for the hash of a key.
func (f *CountingFilter) CountHash(hash uint64) int {
	least := byte(mostCount)
	if f == nil || len(f.counters) == 0 {
		return mostCount
	}
	counters := f.countersOf(hash)
	for bit := range f.bits(hash) {
		least = min(least, counters.get(bit))
	}
	return int(least)
}

// ---- where the counters are ----

// bits yields the bits that a hash sets in its line, by number, 0 to 511.
func (f *CountingFilter) bits(hash uint64) iter.Seq[int] {
	return func(yield func(bit int) bool) {
		for lane, set := range format.Mask(hash, f.filter.view.k) {
			for ; set != 0; set &= set - 1 {
				if !yield(lane*64 + bits.TrailingZeros64(set)) {
					return
				}
			}
		}
	}
}

type lineCounters [counterBytes]byte

func (f *CountingFilter) countersOf(hash uint64) *lineCounters {
	return (*lineCounters)(f.counters[f.filter.view.index(hash)*counterBytes:])
}

func (c *lineCounters) get(bit int) byte {
	return c[bit/2] >> (bit % 2 * 4) & mostCount
}

func (c *lineCounters) set(bit int, count byte) {
	shift := bit % 2 * 4
	c[bit/2] = c[bit/2]&^(mostCount<<shift) | count<<shift
}

// touch reads a byte of each cache line of the hashes' counters: see [lines.touch].
func (f *CountingFilter) touch(hashes []uint64) {
	if len(f.counters) < farFrom*lineBytes {
		return
	}
	sum := byte(0)
	for _, hash := range hashes {
		counters := f.countersOf(hash)
		for at := 0; at < counterBytes; at += lineBytes {
			sum += counters[at]
		}
	}
	runtime.KeepAlive(sum)
}

// agree reports whether the counters that are not 0 are those of the bits that are set. No
// counters agree with all lines.
func agree(lines, counters []byte) bool {
	for ; len(counters) > 0; lines, counters = lines[1:], counters[4:] {
		// The byte's bits, each moved to where the lowest bit of its counter is.
		bits := uint32(lines[0])
		bits = (bits | bits<<12) & 0x000F_000F
		bits = (bits | bits<<6) & 0x0303_0303
		bits = (bits | bits<<3) & 0x1111_1111
		counted := le.Uint32(counters)
		counted |= counted >> 1
		counted |= counted >> 2
		if bits != counted&0x1111_1111 {
			return false
		}
	}
	return true
}

// plain is the filter that answers; nil, which answers as the zero Filter, if there is none.
func (f *CountingFilter) plain() *Filter {
	return orZero(f).filter
}

// ---- whole filters ----

// Union makes this the filter of the keys of both: counts add up.
//
// Errors: [ErrMismatch] unless both have the same Params.
func (f *CountingFilter) Union(other *CountingFilter) error {
	if err := f.plain().Union(other.plain()); err != nil || f == nil {
		return err
	}
	for i, theirs := range orZero(other).counters {
		ours := f.counters[i]
		low := min(ours&mostCount+theirs&mostCount, mostCount)
		high := min(ours>>4+theirs>>4, mostCount)
		f.counters[i] = low | high<<4
	}
	return nil
}

// Clear removes all keys.
func (f *CountingFilter) Clear() {
	if f != nil && f.filter != nil {
		f.filter.Clear()
		clear(f.counters)
	}
}

// Snapshot returns a plain filter of the keys that are present: a copy.
//
// Errors: [ErrNoLines] for the zero CountingFilter; [ErrOutOfMemory].
func (f *CountingFilter) Snapshot() (*Filter, error) {
	if f == nil || f.filter == nil {
		return nil, ErrNoLines
	}
	data, err := f.filter.tryCloned()
	return &Filter{filterData: data}, err
}

// Detach returns the plain filter of the keys that are present, without a copy, and lets the
// counters go: f and its views must not be used any more. It copies the lines of a filter that was read,
// whose counters lie in the same memory. If there is no memory for that, the counters keep theirs.
func (f *CountingFilter) Detach() *Filter {
	filter := orZero(orZero(f).plain())
	if f != nil {
		if f.together {
			if own, err := filter.tryCloned(); err == nil {
				filter.filterData = own
			}
		}
		f.countingData = countingData{}
	}
	return filter
}

// ---- bytes and files ----

// layoutCounting is lines, and behind them a counter of 4 bits for each of their bits.
var layoutCounting = layout{2, func(f footer) (uint64, error) { return f.countingLen() }}

func (f *footer) countingLen() (uint64, error) {
	return f.eachLen(lineBytes+counterBytes, f.params().checkCounting())
}

func (f countingData) encoded() encoded {
	filter := orZero(f.filter)
	return encode(filter.footer(layoutCounting), bytesOf(filter.view.all), f.counters)
}

func (f *CountingFilter) decode(body []byte, footer footer, keep bool) error {
	p, err := footer.parts(body, true)
	if err != nil {
		return err
	}
	filter, err := p.newFilter(keep)
	if err != nil {
		return err
	}
	counters, err := takeLines(p.counters, keep)
	if err != nil {
		return err
	}
	f.countingData = countingData{filter, bytesOf(counters), keep}
	return nil
}

func (f countingData) cloned() countingData {
	if f.filter != nil {
		f.filter = f.filter.Clone()
		f.counters = bytesOf(cloneLines(linesOf(f.counters)))
		f.together = false
	}
	return f
}
