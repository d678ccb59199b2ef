package bloomline

// What all kinds of filters have as values: copies that share nothing, and comparison.

import (
	"bytes"
	"slices"
	"sync/atomic"
)

// noCopy is for go vet, which reports copies of structs that have one.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// orZero is a pointer, or one to a zero value if it is nil: what is not there answers as the zero
// value does.
func orZero[T any](p *T) *T {
	if p == nil {
		return new(T)
	}
	return p
}

// orPanic is the value. Where a method returns no error, memory that is refused is a panic with
// [ErrOutOfMemory], which can be caught.
func orPanic[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// cloneLines returns lines of one's own.
func cloneLines(all []line) []line {
	return orPanic(takeLines(bytesOf(all), false))
}

// Clone returns a filter of the same keys that shares no memory with f. That of nil is the zero
// Filter. It panics with [ErrOutOfMemory] if the system refuses the memory, as the Clone of every kind.
func (f *Filter) Clone() *Filter {
	return orPanic(f.tryClone())
}

func (f *Filter) tryClone() (*Filter, error) {
	clone := new(Filter)
	clone.view = f.View()
	var err error
	clone.view.all, err = takeLines(bytesOf(clone.view.all), false)
	return clone, err
}

// Clone returns a filter of the keys that are in now, which shares no memory with f. Others may
// go on adding, as with [ConcurrentFilter.Snapshot].
func (f *ConcurrentFilter) Clone() *ConcurrentFilter {
	clone := new(ConcurrentFilter)
	clone.view = orZero(f).view
	clone.view.all = orPanic(cloneShared(clone.view.all))
	return clone
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

// Clone returns a filter of the same keys, and counts, that shares no memory with f.
func (f *CountingFilter) Clone() *CountingFilter {
	clone := new(CountingFilter)
	if f != nil && f.filter != nil {
		clone.filter = f.filter.Clone()
		clone.counters = bytesOf(cloneLines(linesOf(f.counters)))
	}
	return clone
}

// Clone returns a filter of the same keys that shares no memory with f.
func (f *CuckooFilter) Clone() *CuckooFilter {
	clone := new(CuckooFilter)
	clone.cuckooData = orZero(f).cuckooData
	clone.view.cuckoo.all = cloneLines(clone.view.cuckoo.all)
	return clone
}

// Clone returns a filter of the same keys that shares no memory with f.
func (f *StaticFilter) Clone() *StaticFilter {
	clone := new(StaticFilter)
	clone.view = f.View()
	if clone.view.encoded != nil {
		clone.view.encoded = bytesOf(cloneLines(linesOf(clone.view.encoded)))
	}
	return clone
}

// Clone returns a filter of the same keys that shares no memory with f, and grows as f would.
func (f *ScalableFilter) Clone() *ScalableFilter {
	clone := new(ScalableFilter)
	clone.scalableData = orZero(f).scalableData
	clone.stages = slices.Clone(clone.stages)
	for i := range clone.stages {
		clone.stages[i].filter = clone.stages[i].filter.Clone()
	}
	return clone
}

// Clone returns a window of the same keys, in the same slice, that shares no memory with w.
func (w *Window) Clone() *Window {
	clone := new(Window)
	clone.windowData = orZero(w).windowData
	clone.lines = cloneLines(clone.lines)
	orPanic(0, room(8*len(clone.cleared)))
	clone.cleared = slices.Clone(clone.cleared)
	clone.generations = slices.Clone(clone.generations)
	return clone
}

// equal compares all bytes, wherever the pieces are cut.
func (e encoded) equal(other encoded) bool {
	for _, err := range []error{e.err, other.err} {
		if err == ErrOutOfMemory {
			panic(err)
		}
	}
	var a, b []byte
	for {
		for len(a) == 0 && len(e.pieces) > 0 {
			a, e.pieces = e.pieces[0], e.pieces[1:]
		}
		for len(b) == 0 && len(other.pieces) > 0 {
			b, other.pieces = other.pieces[0], other.pieces[1:]
		}
		n := min(len(a), len(b))
		if n == 0 {
			return len(a) == len(b)
		}
		if !bytes.Equal(a[:n], b[:n]) {
			return false
		}
		a, b = a[n:], b[n:]
	}
}
