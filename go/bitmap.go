package bloomline

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
)

// Bitmap holds the answers for a batch: bit i%64 of word i/64 is that for key i. Bits past
// the last key are 0.
//
// The methods that fill one take a Bitmap to use again, which may be nil, and return the
// result, as append does:
//
//	answers = filter.ContainsHashes(hashes, answers)
type Bitmap []uint64

// Has reports whether bit i is set: whether key i may be present, was new, or was removed.
func (b Bitmap) Has(i int) bool {
	return b[i/64]>>(i%64)&1 != 0
}

// Count returns how many bits are set.
func (b Bitmap) Count() int {
	count := 0
	for _, word := range b {
		count += bits.OnesCount64(word)
	}
	return count
}

// All yields the numbers of the bits that are set, in ascending order.
func (b Bitmap) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range b {
			for ; word != 0; word &= word - 1 {
				if !yield(i*64 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// Unset yields the numbers of the bits that are not set, in ascending order, of answers for n keys: of keys
// that are definitely absent, or were not new. It panics if b has fewer bits.
func (b Bitmap) Unset(n int) iter.Seq[int] {
	words := b[:(n+63)/64]
	return func(yield func(int) bool) {
		for i, word := range words {
			for word = ^word; word != 0; word &= word - 1 {
				at := i*64 + bits.TrailingZeros64(word)
				if at >= n || !yield(at) {
					return
				}
			}
		}
	}
}

// sized returns a bitmap for n answers, all 0, in the memory of b if that is enough.
func (b Bitmap) sized(n int) Bitmap {
	return b.sizedRows(1, n/64+(n%64+63)/64)
}

// sizedRows returns a bitmap of so many rows of words, all 0, in the memory of b if that is enough.
func (b Bitmap) sizedRows(rows, words int) Bitmap {
	if words != 0 && rows > math.MaxInt/wordBytes/words {
		panic(fmt.Sprintf("bloomline: memory cannot address %d rows of %d words of answers", rows, words))
	}
	words *= rows
	if cap(b) < words {
		return make(Bitmap, words)
	}
	b = b[:words]
	clear(b)
	return b
}

// setFirst sets the first n bits.
func (b Bitmap) setFirst(n int) {
	for i := range n {
		b[i/64] |= 1 << (i % 64)
	}
}
