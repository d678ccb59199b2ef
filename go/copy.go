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

// cloneLines returns lines of one's own.
func cloneLines(all []line) []line {
	copied, err := takeLines(bytesOf(all), false)
	if err != nil {
		panic(err) // as many can be addressed, for there they are
	}
	return copied
}

// Clone returns a filter of the same keys that shares no memory with f. That of nil is the zero
// Filter.
func (f *Filter) Clone() *Filter {
	clone := new(Filter)
	clone.view = f.View()
	clone.view.all = cloneLines(clone.view.all)
	return clone
}

// Clone returns a filter of the keys that are in now, which shares no memory with f. Others may
// go on adding, as with [ConcurrentFilter.Snapshot].
func (f *ConcurrentFilter) Clone() *ConcurrentFilter {
	clone := new(ConcurrentFilter)
	clone.view = orZero(f).view
	clone.view.all = cloneShared(clone.view.all)
	return clone
}

func cloneShared(all []line) []line {
	if len(all) == 0 {
		return nil
	}
	copied, err := newLines(uint64(len(all)))
	if err != nil {
		panic(err) // as many can be addressed, for there they are
	}
	for i := range all {
		from, into := lanesOf(&all[i]), lanesOf(&copied[i])
		for lane := range into {
			into[lane] = atomic.LoadUint64(&from[lane])
		}
	}
	return copied
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
	clone.cleared = slices.Clone(clone.cleared)
	clone.generations = slices.Clone(clone.generations)
	return clone
}

// Equal reports whether both filters are encoded as the same bytes: the same shape, seed, bits and
// key count. Two zero Filters are equal.
func (f *Filter) Equal(other *Filter) bool {
	return orZero(f).encoded().equal(orZero(other).encoded())
}

// Equal reports whether both filters have the same shape, seed and bits.
func (f *ConcurrentFilter) Equal(other *ConcurrentFilter) bool {
	return orZero(f).encoded().equal(orZero(other).encoded())
}

// Equal reports whether both filters are encoded as the same bytes: the same shape, seed, counters
// and key count.
func (f *CountingFilter) Equal(other *CountingFilter) bool {
	return orZero(f).encoded().equal(orZero(other).encoded())
}

// Equal reports whether both filters are encoded as the same bytes: the same shape, seed and
// fingerprints, each in the same place. Other orders of the same keys can give other places.
func (f *CuckooFilter) Equal(other *CuckooFilter) bool {
	return orZero(f).encoded().equal(orZero(other).encoded())
}

// Equal reports whether both filters are encoded as the same bytes: the same shape, seed and key count,
// and the same distinct keys.
func (f *StaticFilter) Equal(other *StaticFilter) bool {
	return orZero(f).encoded().equal(orZero(other).encoded())
}

// Equal reports whether both filters are encoded as the same bytes: the same rate, seed and stages.
func (f *ScalableFilter) Equal(other *ScalableFilter) bool {
	return orZero(f).encoded().equal(orZero(other).encoded())
}

// Equal reports whether both windows are encoded as the same bytes: the same shape, seed, slice and
// generations.
func (w *Window) Equal(other *Window) bool {
	return orZero(w).encoded().equal(orZero(other).encoded())
}

// equal compares pieces, which filters of one shape have cut at the same places.
func (e encoded) equal(other encoded) bool {
	return slices.EqualFunc(e, other, bytes.Equal)
}
