//go:build gc && !purego && !race

package avx2

import "github.com/klauspost/cpuid/v2"

func supported() bool {
	return cpuid.CPU.Supports(cpuid.AVX2, cpuid.BMI2)
}

// Contains reports whether all bits of a hash are set, in the line of it among count lines.
//
//go:noescape
func Contains(lines *byte, count uint64, rows *Rows, hash uint64) bool

// Insert sets the bits of a hash.
//
//go:noescape
func Insert(lines *byte, count uint64, rows *Rows, hash uint64)

// ContainsWord is Contains for 1 to 64 hashes: bit i is the answer for hash i.
//
//go:noescape
func ContainsWord(lines *byte, count uint64, rows *Rows, hashes *uint64, n uint64) uint64

// ContainsMembers is Contains for one hash in 1 to 64 filters: bit i is the answer of filter i.
//
//go:noescape
func ContainsMembers(members *Member, count uint64, rows *Rows, hash uint64) uint64

// InsertAll is Insert for n hashes, at least one.
//
//go:noescape
func InsertAll(lines *byte, count uint64, rows *Rows, hashes *uint64, n uint64)

// AndRows writes the AND of k rows, at least one, each of so many words, at least one. rows has where in a group
// each begins.
//
//go:noescape
func AndRows(group *byte, rows *int, k uint64, out *uint64, words uint64)

// AndRowsOf is AndRows for the rows of n hashes, at least one: the answers to one hash behind those to another.
//
//go:noescape
func AndRowsOf(matrix *Matrix, hashes *uint64, n uint64, out *uint64)

// Prefetch asks for the lines of n hashes, at least one, and does not wait for them.
//
//go:noescape
func Prefetch(lines *byte, count uint64, hashes *uint64, n uint64)

// Static is what the lines of one level of a static filter say of 1 to 64 hashes: bit i of hits if the line
// of hash i may contain it, and bit i of bumped if the next level says it.
//
//go:noescape
func Static(lines *byte, count uint64, rows *StaticRows, hashes *uint64, n uint64) (hits, bumped uint64)
