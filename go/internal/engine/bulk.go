package engine

// What makes builders fast: remainders without a division, and lines fetched ahead.

import "math/bits"

const (
	// bulk is how many keys are added together: as many lines as a core can wait for, and
	// some more.
	bulk = 32
	// bulkBytes is the size of a filter from which on it pays to fetch lines ahead. Below, a
	// core hides the time itself: its own cache, and a part of the shared one, hold the lines.
	bulkBytes = 4 << 20
)

// bit is a table because a variable shift takes most CPUs longer than a load.
var bit = [8]byte{1, 2, 4, 8, 16, 32, 64, 128}

// touch loads the lines at these places, one load after the other without waiting. The bits
// are set next, by when the lines are there. A line may begin anywhere in the CPU's.
//
// The result means nothing; it keeps the loads from being left out as useless.
//
//go:noinline
func touch(lines []byte, at []uint64) (sum byte) {
	for _, at := range at {
		line := (*[lineBytes]byte)(lines[at:])
		sum += line[0] ^ line[lineBytes-1]
	}
	return sum
}

// fault writes to each page of zeros that are fresh from the system. Otherwise touch, which
// reads, and the bits set after it would interrupt the program for a page twice, at random.
func fault(zero []byte) {
	for i := 0; i < len(zero); i += 4096 {
		zero[i] = 0
	}
}

// divisor gives remainders by a number: the fraction of a quotient, in 64 bits, times the
// divisor. This is exact for all numbers of 32 bits (Lemire, Kaser, Kurz 2019).
type divisor struct {
	inverse uint64 // 2^64 / by, rounded up; for 1 it wraps to 0, which serves
	by      uint64
}

func newDivisor(by uint32) divisor {
	return divisor{^uint64(0)/uint64(by) + 1, uint64(by)}
}

func (d divisor) remainder(n uint32) uint32 {
	high, _ := bits.Mul64(d.inverse*uint64(n), d.by)
	return uint32(high)
}
