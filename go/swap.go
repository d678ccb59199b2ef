package bloomline

import "sync/atomic"

// Swap holds a filter that goroutines read, and replaces it atomically by another: built beside,
// then published. A reader finds the old filter or the new one, whole, never waits, and keeps what it has
// loaded for as long as it likes.
//
//	current := bloomline.NewSwap(filter)
//	current.Load().ContainsString("apple") // in any goroutine
//
//	next, err := bloomline.New(len(keys), 0.01)
//	next.AddStrings(keys) // nobody else has it yet
//	current.Publish(next)
//
// T is [Filter] or any other: what belongs together is published together, such as the filters
// of all shards in a Swap[[]*Filter].
//
// A nil Swap answers as an empty one does; nothing can be published to it.
//
// A Swap must not be copied; go vet reports it. It has no text or JSON form: write the filter that
// is in it.
type Swap[T any] struct {
	noText
	current atomic.Pointer[T]
}

// NewSwap returns a place with first in it.
func NewSwap[T any](first *T) *Swap[T] {
	s := new(Swap[T])
	s.current.Store(first)
	return s
}

// Load returns what is in it now. It must not be changed. To probe one filter several times, load
// it once.
//
// Before the first Publish it returns a zero T: all filters' zero values answer true.
func (s *Swap[T]) Load() *T {
	if s == nil {
		return new(T)
	}
	if current := s.current.Load(); current != nil {
		return current
	}
	return new(T)
}

// Publish puts next in its place, which must not be changed from then on, and returns what was
// there, which readers may have still; nil the first time.
func (s *Swap[T]) Publish(next *T) (old *T) {
	if s == nil {
		panic("bloomline: publish to a nil Swap: create it with NewSwap")
	}
	return s.current.Swap(next)
}

// UnmarshalText fails: see [Swap].
func (s *Swap[T]) UnmarshalText([]byte) error { return errNoText }
