package bloomline

// Standard Bloom filters, here called classic: one array of bits, of which a key sets k anywhere.
// They are lines like any other to all but what is here. docs/format/cuckoo-classic.md of the project defines them.

import (
	"math"
	"math/bits"
	"sync/atomic"
)

// NewClassic returns an empty standard Bloom filter: one array of bits, of which a key sets k anywhere. It
// has the lowest rate that so many bits can give: at 10 bits per key 0.82 %, where [New] has 0.97 %. It is
// several times slower: a key is up to k cache lines instead of one.
//
// It is a Filter like any other, but it cannot be folded, is united only with filters of its
// kind, and answers batches in Go also where C answers them.
//
// Errors: those of [ClassicParamsForRate]; [ErrOutOfMemory].
func NewClassic(keys int, rate float64, options ...Option) (*Filter, error) {
	params, err := ClassicParamsForRate(keys, rate)
	if params, err = withOptions(params, err, options); err != nil {
		return nil, err
	}
	return NewWithParams(params)
}

// ---- sizes and rates ----

// ClassicParamsForRate is [ParamsForRate] for [NewClassic], by the standard formula.
//
// Errors: [ErrKeys], [ErrLineCount], [ErrRate]; [ErrRateTooSmall] for rates below about 2e-61.
func ClassicParamsForRate(keys int, rate float64) (Params, error) {
	if !(rate > 0 && rate < 1) {
		return Params{}, ErrRate
	}
	least, best := math.Inf(1), 0
	for k := 1; k <= maxK; k++ {
		if bits := -float64(k) / math.Log1p(-math.Exp(math.Log(rate)/float64(k))); bits < least {
			least, best = bits, k
		}
	}
	if least > maxBits {
		return Params{}, ErrRateTooSmall
	}
	return classicParamsOf(keys, least, best)
}

// ClassicParamsForBits is [ParamsForBits] for [NewClassic].
//
// Errors: [ErrKeys], [ErrBitsPerKey], [ErrLineCount].
func ClassicParamsForBits(keys int, bitsPerKey float64) (Params, error) {
	if !(bitsPerKey > 0) || math.IsInf(bitsPerKey, 0) {
		return Params{}, ErrBitsPerKey
	}
	// The rate has one minimum, at this k were it a fraction.
	k := int(math.Min(math.Max(bitsPerKey*math.Ln2, 1), maxK))
	if above := min(k+1, maxK); classicRate(bitsPerKey, above) < classicRate(bitsPerKey, k) {
		k = above
	}
	return classicParamsOf(keys, bitsPerKey, k)
}

func classicParamsOf(keys int, bitsPerKey float64, k int) (Params, error) {
	params, err := paramsOf(keys, bitsPerKey, k)
	params.Classic = err == nil
	return params, err
}

func classicRate(bitsPerKey float64, k int) float64 {
	return power(1-math.Exp(-float64(k)/bitsPerKey), k)
}

// ---- the bits ----

// positions are the bits of a hash, found by double hashing, with a step that grows.
type positions struct{ at, step, i, bits uint64 }

func (l *lines) positions(hash uint64) positions {
	return positions{at: hash, step: hash * c2, bits: uint64(len(l.all)) * lineBits}
}

// next is the number of the next bit.
func (p *positions) next() uint64 {
	position, _ := bits.Mul64(p.at, p.bits)
	p.at += p.step
	p.i++
	p.step += p.i * c1
	return position
}

func (l *lines) classicInsert(hash uint64) {
	all, at := bytesOf(l.all), l.positions(hash)
	for range l.k {
		position := at.next()
		all[position/8] |= 1 << (position % 8)
	}
}

func (l *lines) classicContains(hash uint64) bool {
	all, at := bytesOf(l.all), l.positions(hash)
	for range l.k {
		if position := at.next(); all[position/8]>>(position%8)&1 == 0 {
			return false
		}
	}
	return true
}

// classicAnswerWord answers at most 64 hashes: a first bit of all of them, by loads that do not
// wait for each other, a second of those that have it, and so on.
func (l *lines) classicAnswerWord(hashes []uint64) (answers uint64) {
	var at [touched]positions
	for i, hash := range hashes {
		at[i] = l.positions(hash)
	}
	all := bytesOf(l.all)
	answers = ^uint64(0) >> (64 - len(hashes))
	for range l.k {
		for left := answers; left != 0; left &= left - 1 {
			i := bits.TrailingZeros64(left)
			position := at[i].next()
			set := uint64(all[position/8]>>(position%8)&1) ^ 1
			answers &^= set << i
		}
	}
	return answers
}

// sharedBit is where bit number position is, for goroutines that share the lines, and its bit
// there.
func (l *lines) sharedBit(position uint64) (at *uint64, bit uint64) {
	bit = 1 << (position % 64)
	if bigEndian {
		bit = bits.ReverseBytes64(bit)
	}
	return &lanesOf(&l.all[position/lineBits])[position%lineBits/64], bit
}

func (l *lines) classicAddShared(hash uint64) (isNew bool) {
	positions := l.positions(hash)
	for range l.k {
		at, bit := l.sharedBit(positions.next())
		if atomic.LoadUint64(at)&bit == 0 {
			isNew = atomic.OrUint64(at, bit)&bit == 0 || isNew
		}
	}
	return isNew
}

func (l *lines) classicContainsShared(hash uint64) bool {
	positions := l.positions(hash)
	for range l.k {
		if at, bit := l.sharedBit(positions.next()); atomic.LoadUint64(at)&bit == 0 {
			return false
		}
	}
	return true
}
