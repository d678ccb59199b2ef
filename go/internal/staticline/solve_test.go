package staticline

import (
	"math/rand/v2"
	"testing"
)

func TestRowsOf(t *testing.T) {
	for range 1000 {
		var values [8]uint16
		for i := range values {
			values[i] = uint16(rand.Uint32())
		}
		for _, first := range []int{0, 8} {
			rows := rowsOf(values[:], first)
			for row := range 8 {
				for i, value := range values {
					if rows>>(8*row+i)&1 != uint64(value>>(first+row)&1) {
						t.Fatalf("%x from %d: row %d, column %d", values, first, row, i)
					}
				}
			}
		}
	}
}
