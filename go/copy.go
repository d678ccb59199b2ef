package bloomline

// What all kinds of filters have as values: what is not there, copies that share nothing, and comparison.

import "bytes"

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
