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

// cloned is a filter of memory of its own: what Clone returns.
func (f filterData) cloned() filterData {
	return orPanic(f.tryCloned())
}

func (f filterData) tryCloned() (_ filterData, err error) {
	f.view.all, err = takeLines(bytesOf(f.view.all), false)
	return f, err
}

func (f concurrentData) cloned() concurrentData {
	f.view.all = orPanic(cloneShared(f.view.all))
	return f
}

func (f countingData) cloned() countingData {
	if f.filter != nil {
		f.filter = f.filter.Clone()
		f.counters = bytesOf(cloneLines(linesOf(f.counters)))
	}
	return f
}

func (f cuckooData) cloned() cuckooData {
	f.view.cuckoo.all = cloneLines(f.view.cuckoo.all)
	return f
}

func (f staticData) cloned() staticData {
	if f.view.encoded != nil {
		f.view.encoded = bytesOf(cloneLines(linesOf(f.view.encoded)))
	}
	return f
}

func (f scalableData) cloned() scalableData {
	f.stages = slices.Clone(f.stages)
	for i := range f.stages {
		f.stages[i].filter = f.stages[i].filter.Clone()
	}
	return f
}

func (w windowData) cloned() windowData {
	w.lines = cloneLines(w.lines)
	orPanic(0, room(8*len(w.cleared)))
	w.cleared = slices.Clone(w.cleared)
	w.generations = slices.Clone(w.generations)
	return w
}

func (f cascadeData) cloned() cascadeData {
	f.layers = slices.Clone(f.layers)
	for i := range f.layers {
		f.layers[i].lines = bytesOf(cloneLines(linesOf(f.layers[i].lines)))
	}
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
