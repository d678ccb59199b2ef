// Package format is what the bytes of a plain filter mean, for all packages of this project: which bits a hash has
// in which line, and the footer behind the lines. docs/FORMAT.md defines both.
package format

import "math/bits"

const (
	// LineBytes and LineBits are the size of a line: one cache line.
	LineBytes = 64
	LineBits  = 8 * LineBytes
	// Lanes is how many words of 64 bits a line has, each with its lowest byte first.
	Lanes = 8
	// MaxK is the most bits that a hash has in its line.
	MaxK = 16

	// C1 is the multiplier of the first round, 2^64 / golden ratio.
	C1 = 0x9E3779B97F4A7C15
	// C2 is that of the second round, for the bits above 8.
	C2 = 0xD6E8FEB86659FD93
)

// Index is the number of the line of a hash: the high half of hash * number of lines.
func Index(hash, lineCount uint64) uint64 {
	index, _ := bits.Mul64(hash, lineCount)
	return index
}

// Round is where one round of a hash has its bits: the first lane, 0 to 7, and the bit numbers of that
// lane and those after it, six bits each, lowest first.
func Round(g uint64) (lane, positions uint64) {
	// Lane i has its number at bit 13 + 6 i of g, and lane i counts if (i + (g >> 61)) mod 8 < k: so the first
	// that counts is -(g >> 61) mod 8.
	turn := g >> 61
	// The 48 bits of all numbers, turned left by 6 turn.
	high, low := bits.Mul64(g>>13<<16, turns[turn])
	return -turn & 7, high | low>>16
}

// turns[i] is 2^(6i).
var turns = [Lanes]uint64{1, 1 << 6, 1 << 12, 1 << 18, 1 << 24, 1 << 30, 1 << 36, 1 << 42}

// Mask is the bits that a hash has in its line, by lanes: each in another one while k is at most 8.
func Mask(hash uint64, k int) (mask [Lanes]uint64) {
	set := func(g uint64, count int) {
		lane, positions := Round(g)
		for ; count > 0; count-- {
			mask[lane&7] |= 1 << (positions & 63)
			lane, positions = lane+1, positions>>6
		}
	}
	set(hash*C1, min(k, Lanes))
	if k > Lanes {
		set(hash*C2, k-Lanes)
	}
	return mask
}
