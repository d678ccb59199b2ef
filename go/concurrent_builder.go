package bloomline

// A filter that goroutines build, and that nobody can ask before it is finished.

import (
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
)

// ConcurrentBuilder is a filter that any number of goroutines build from their columns. It has no probes:
// [ConcurrentBuilder.Finish] returns the [Filter] when all are done. So no row is dropped because it was asked for
// before its key was in. Until then a pointer to the filter is nil, and a [Swap] is empty: both answer "maybe".
//
//	builder, err := bloomline.NewConcurrentBuilder(params)
//	builder.AddUint64s(values, bloomline.Validity{}) // in any goroutine
//	filter, err := builder.Finish()
//
// Columns are hashed and added where they are. The lines are in parts, each behind a lock, which a goroutine
// holds while it adds some hundred keys; where it meets another it goes on with another part first. This needs no
// atomic operation for each key, as [ConcurrentFilter] does. (All of a classic filter is one part.)
//
// The finished filter has the bytes of one to which one goroutine adds the same keys. Adding to a builder that is
// finished panics, as it does to a nil or zero one.
type ConcurrentBuilder struct {
	_ noCopy
	noText
	view  View // of the lines
	shift int  // the number of a line, shifted, is that of its part
	parts []builderPart
	next  atomic.Uint32 // with which part the next goroutine begins
}

// builderPart is some lines, of which each is in one. They are written by who has the lock.
type builderPart struct {
	sync.Mutex
	finished bool
	keys     uint64
	_        [40]byte // no two in a cache line
}

const (
	// Parts for each CPU: where a goroutine meets another, there is a part where nobody is.
	partsEach = 2
	mostParts = 256
	// Lines of a part, at least.
	leastLines = 16
	// Hashes that are sorted at a time.
	builderChunk = 2048
)

// builderRoom is memory for the hashes of a chunk.
type builderRoom struct {
	hashes, sorted [builderChunk]uint64
	ends           [mostParts]int // where the hashes of each part end
	done           [mostParts]bool
	key            [8]byte
}

var builderRooms = sync.Pool{New: func() any { return new(builderRoom) }}

// NewConcurrentBuilder returns a builder of a filter of a given shape. For keys that cannot be counted beforehand,
// make it [Params.Foldable]; for a bound on memory, see [ParamsForRateWithin].
//
// Errors: as [NewWithParams].
func NewConcurrentBuilder(params Params) (*ConcurrentBuilder, error) {
	filter, err := NewWithParams(params)
	if err != nil {
		return nil, err
	}
	count := min(uint64(partsEach*runtime.GOMAXPROCS(0)), mostParts, params.LineCount/leastLines)
	if params.Classic {
		count = 1
	}
	b := &ConcurrentBuilder{view: filter.view}
	b.shift = bits.Len64((params.LineCount - 1) / max(count, 1))
	b.parts = make([]builderPart, (params.LineCount-1)>>b.shift+1)
	return b, nil
}

// Validity says which rows of a column have a value, as in Apache Arrow: row i, if bit (First + i) % 8, from the
// lowest, of byte (First + i) / 8 is set. Rows behind the last byte have none: of empty Bits, no row has a value. If Bits
// is nil, as in the zero Validity, all have.
type Validity struct {
	Bits  []byte
	First int // the bit of the first row
	// Nulls is what probes say of the other rows. Those added have no key, whatever it is.
	Nulls Nulls
}

func (v *Validity) has(row int) bool {
	at := uint(v.First) + uint(row)
	return at/8 < uint(len(v.Bits)) && v.Bits[at/8]>>(at%8)&1 != 0
}

// ---- adding ----

// AddColumn adds the keys of a column of any type. Rows without a value have no key.
func (b *ConcurrentBuilder) AddColumn(column Column) {
	by := hashings.Get().(*hashing)
	defer by.done()
	b.add(column.rows, column.validity, func(_ *builderRoom, first int, out []uint64) {
		by.seed = b.view.seed
		for i := range out {
			out[i] = column.hash(by, first+i)
		}
	})
}

// AddHashes adds the keys of a column of hashes. Rows without a value have no key.
func (b *ConcurrentBuilder) AddHashes(hashes []uint64, validity Validity) {
	b.add(len(hashes), validity, func(room *builderRoom, first int, out []uint64) { copy(out, hashes[first:]) })
}

// AddUint64s adds a column of integers: keys of their 8 bytes, as [HashUint64] hashes them.
func (b *ConcurrentBuilder) AddUint64s(values []uint64, validity Validity) {
	b.add(len(values), validity, func(_ *builderRoom, first int, out []uint64) {
		for i, value := range values[first:][:len(out)] {
			out[i] = HashUint64(value, b.view.seed)
		}
	})
}

// AddUint32s adds a column of integers of 32 bits: keys of their 4 bytes, the lowest first. These are other keys
// than the same numbers of 64 bits.
func (b *ConcurrentBuilder) AddUint32s(values []uint32, validity Validity) {
	b.add(len(values), validity, func(room *builderRoom, first int, out []uint64) {
		for i, value := range values[first:][:len(out)] {
			le.PutUint32(room.key[:], value)
			out[i] = Hash(room.key[:4], b.view.seed)
		}
	})
}

// AddStrings adds a column of strings.
func (b *ConcurrentBuilder) AddStrings(values []string, validity Validity) {
	b.add(len(values), validity, func(_ *builderRoom, first int, out []uint64) {
		for i, value := range values[first:][:len(out)] {
			out[i] = HashString(value, b.view.seed)
		}
	})
}

// AddBytes adds a column of strings or other bytes as Apache Arrow has it: row i is
// data[offsets[i]:offsets[i+1]]. It panics, and has added nothing, if an offset is negative, below the one before
// it, or behind data.
func (b *ConcurrentBuilder) AddBytes(offsets []int32, data []byte, validity Validity) {
	addBytes(b, offsets, data, validity)
}

// AddLargeBytes is [ConcurrentBuilder.AddBytes] for offsets of 64 bits.
func (b *ConcurrentBuilder) AddLargeBytes(offsets []int64, data []byte, validity Validity) {
	addBytes(b, offsets, data, validity)
}

func addBytes[O Offset](b *ConcurrentBuilder, offsets []O, data []byte, validity Validity) {
	checkOffsets(offsets, data)
	b.add(max(len(offsets)-1, 0), validity, func(_ *builderRoom, first int, out []uint64) {
		for i := range out {
			out[i] = Hash(data[offsets[first+i]:offsets[first+i+1]], b.view.seed)
		}
	})
}

// add adds the keys of so many rows. hashesOf writes the hashes of those from first on.
func (b *ConcurrentBuilder) add(rows int, validity Validity, hashesOf func(room *builderRoom, first int, out []uint64)) {
	if b == nil || len(b.parts) == 0 {
		panic("bloomline: insert into a zero ConcurrentBuilder: create it with NewConcurrentBuilder")
	}
	validity.check()
	room := builderRooms.Get().(*builderRoom)
	defer builderRooms.Put(room)
	for first := 0; first < rows; first += builderChunk {
		hashes := room.hashes[:min(rows-first, builderChunk)]
		hashesOf(room, first, hashes)
		if validity.Bits != nil {
			kept := 0
			for i, hash := range hashes {
				hashes[kept] = hash
				if validity.has(first + i) {
					kept++
				}
			}
			hashes = hashes[:kept]
		}
		b.addSorted(b.sort(room, hashes), room)
	}
}

// sort returns hashes by the part that they belong to, and leaves the end of each part in the room.
func (b *ConcurrentBuilder) sort(room *builderRoom, hashes []uint64) []uint64 {
	if len(b.parts) == 1 {
		room.ends[0] = len(hashes)
		return hashes
	}
	ends := room.ends[:len(b.parts)]
	clear(ends)
	for _, hash := range hashes {
		ends[b.view.index(hash)>>b.shift]++
	}
	start := 0
	for part, count := range ends {
		ends[part] = start
		start += count
	}
	for _, hash := range hashes {
		end := &ends[b.view.index(hash)>>b.shift]
		room.sorted[*end] = hash
		*end++
	}
	return room.sorted[:len(hashes)]
}

// addSorted adds sorted hashes, first to the parts that no other goroutine works on.
func (b *ConcurrentBuilder) addSorted(hashes []uint64, room *builderRoom) {
	begin := int(b.next.Add(1) % uint32(len(b.parts))) // first, as an int may have 32 bits
	done := room.done[:len(b.parts)]
	clear(done)
	for _, waits := range []bool{false, true} {
		for i := range b.parts {
			number, start := (begin+i)%len(b.parts), 0
			if number > 0 {
				start = room.ends[number-1]
			}
			own, part := hashes[start:room.ends[number]], &b.parts[number]
			if done[number] || len(own) == 0 || !waits && !part.TryLock() {
				continue
			}
			if waits {
				part.Lock()
			}
			b.addHere(part, own)
			done[number] = true
		}
	}
}

// addHere adds hashes to a part that is locked, and unlocks it.
func (b *ConcurrentBuilder) addHere(part *builderPart, hashes []uint64) {
	defer part.Unlock()
	if part.finished {
		panic("bloomline: insert into a ConcurrentBuilder that is finished")
	}
	b.view.insertInGo(hashes)
	part.keys = saturatingAdd(part.keys, uint64(len(hashes)))
}

// Union adds the keys of a filter, such as one that another process has built.
//
// Errors: [ErrMismatch] unless both have the same Params; nothing is added then.
func (b *ConcurrentBuilder) Union(other *Filter) error {
	if b.Params() != other.Params() {
		return ErrMismatch
	}
	if b.Params().LineCount == 0 {
		return nil
	}
	for i := range b.parts {
		b.unite(i, other)
	}
	return nil
}

// unite adds a part of the lines of a filter of the same shape.
func (b *ConcurrentBuilder) unite(number int, other *Filter) {
	part := &b.parts[number]
	part.Lock()
	defer part.Unlock()
	if part.finished {
		panic("bloomline: insert into a ConcurrentBuilder that is finished")
	}
	first, end := number<<b.shift, min((number+1)<<b.shift, len(b.view.all))
	for i := first; i < end; i++ {
		b.view.all[i].or(&other.view.all[i])
	}
	if number == 0 {
		part.keys = saturatingAdd(part.keys, other.view.keyCount)
	}
}

// ---- the filter ----

// KeyCount returns how many keys were added, repeated ones counted each time, rows without a value not: whether all
// that were to come are there.
func (b *ConcurrentBuilder) KeyCount() (keys uint64) {
	if b == nil {
		return 0
	}
	for i := range b.parts {
		part := &b.parts[i]
		part.Lock()
		keys = saturatingAdd(keys, part.keys)
		part.Unlock()
	}
	return keys
}

// Params returns the shape of the filter.
func (b *ConcurrentBuilder) Params() Params {
	if b == nil {
		return Params{}
	}
	return b.view.shape()
}

// Finish returns the filter, in the same memory.
//
// Errors: [ErrNoLines] for a nil or zero builder, and for one that is finished.
func (b *ConcurrentBuilder) Finish() (*Filter, error) {
	if b == nil || len(b.parts) == 0 {
		return nil, ErrNoLines
	}
	filter := &Filter{filterData: filterData{b.view}}
	for i := range b.parts {
		part := &b.parts[i]
		part.Lock()
		was := part.finished
		part.finished = true
		filter.view.keyCount = saturatingAdd(filter.view.keyCount, part.keys)
		part.Unlock()
		if was {
			return nil, ErrNoLines
		}
	}
	return filter, nil
}

// FinishToRate returns the filter folded as far as its false-positive rate stays at or below rate; it stays larger
// where there is no memory to fold it, and if it is classic. It returns nil, which answers "maybe", if the filter is
// not worth its probes: if its rate, folded or not, is above most.
//
// Errors: [ErrRate] if rate is not between 0 and 1, or most is not from 0 to 1; those of
// [ConcurrentBuilder.Finish].
func (b *ConcurrentBuilder) FinishToRate(rate, most float64) (*Filter, error) {
	if !(rate > 0 && rate < 1 && most >= 0 && most <= 1) {
		return nil, ErrRate
	}
	filter, err := b.Finish()
	if err != nil {
		return nil, err
	}
	// A filter that cannot be folded is as good as it was.
	_, _ = filter.FoldToRate(rate)
	if filter.EstimatedRate() > most {
		return nil, nil
	}
	return filter, nil
}

// UnmarshalText fails: a builder is not written.
func (b *ConcurrentBuilder) UnmarshalText([]byte) error { return errNoText }
