// Package avx2 probes and sets the bits of hashes in their lines with AVX2, all lanes at once. The
// definitions are in line.go of package bloomline and in internal/staticline; the tests of package bloomline hold
// these functions to them.
//
// A package of its own, since one that uses cgo may have no assembly.
package avx2

import "os"

// Rows are the lanes that count for one k of at most 8, for each number in the top bits of the product
// that a round begins with.
type Rows struct {
	// A one for each lane, in the order in which a probe packs them: 0, 1, 4, 5, 2, 3, 6, 7.
	probe [8][8]uint32
	// A one for each lane.
	insert [8][8]uint64
}

// Member is the lines of one of several filters: the first, and how many there are.
type Member struct {
	Lines *byte
	Count uint64
}

// Matrix is the groups of a matrix. There is at least one, and k and all sizes are at least 1.
type Matrix struct {
	First      *byte
	Lines      uint64 // how many groups there are
	GroupBytes uint64
	RowBytes   uint64
	Words      uint64 // of a row
	K          uint64
	Last       uint64 // the bits of the last word that stand for columns
	// Ahead is how many bytes of each row to ask for some hashes ahead; 0 where caches hold the groups.
	Ahead uint64
}

// rowsOf[k-1] are those of k.
var rowsOf = func() (all [8]Rows) {
	packed := [8]int{0, 1, 4, 5, 2, 3, 6, 7}
	for k := range all {
		for turn := range 8 {
			for lane := range 8 {
				if (lane+turn)%8 <= k {
					all[k].insert[turn][lane] = 1
				}
			}
			for i, lane := range packed {
				all[k].probe[turn][i] = uint32(all[k].insert[turn][lane])
			}
		}
	}
	return all
}()

// RowsOf returns the rows of k; nil if k is not 1 to 8, the CPU has no AVX2, or BLOOMLINE_BACKEND
// in the environment names another backend. The other functions need rows, at least one line, and the
// memory of all lines.
func RowsOf(k int) *Rows {
	if !Available || k < 1 || k > 8 {
		return nil
	}
	return &rowsOf[k-1]
}

// Available says whether RowsOf returns rows. Tests change it.
var Available = wanted() && supported()

func wanted() bool {
	switch os.Getenv("BLOOMLINE_BACKEND") {
	case "", "avx2", "avx512":
		return true
	}
	return false
}
