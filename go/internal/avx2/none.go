//go:build !gc || !amd64 || purego || race

package avx2

// Another CPU or compiler, or the race detector, which sees no memory that assembly touches.

func supported() bool { return false }

const none = "avx2: RowsOf gave no rows"

// Contains must not be called.
func Contains(*byte, uint64, *Rows, uint64) bool { panic(none) }

// Insert must not be called.
func Insert(*byte, uint64, *Rows, uint64) { panic(none) }

// ContainsWord must not be called.
func ContainsWord(*byte, uint64, *Rows, *uint64, uint64) uint64 { panic(none) }

// ContainsMembers must not be called.
func ContainsMembers(*Member, uint64, *Rows, uint64) uint64 { panic(none) }

// InsertAll must not be called.
func InsertAll(*byte, uint64, *Rows, *uint64, uint64) { panic(none) }

// AndRows must not be called.
func AndRows(*byte, *int, uint64, *uint64, uint64) { panic(none) }

// AndRowsOf must not be called.
func AndRowsOf(*Matrix, *uint64, uint64, *uint64) { panic(none) }

// Prefetch must not be called.
func Prefetch(*byte, uint64, *uint64, uint64) { panic(none) }

// Static must not be called.
func Static(*byte, uint64, *StaticRows, *uint64, uint64) (hits, bumped uint64) { panic(none) }
