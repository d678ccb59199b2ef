package bloomline

// What two unbounded growing filters have in common: the longer of each two prefixes of which one begins with the
// other. internal/growing says how prefixes are numbers.

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/bloomline/bloomline/go/internal/growing"
)

// shared is a prefix, and how often it is in both filters.
type shared struct{ prefix, inA, inB uint64 }

// half is how many values a prefix covers below it, and above.
func (s shared) half() uint64 { return 1 << bits.TrailingZeros64(s.prefix) }

// inCommon yields the common prefixes in order, and how often each is there.
func inCommon(a, b *growing.Filter) growing.Source {
	shape := a.Shape()
	return func(yield func(prefix, count uint64) bool) {
		var family []shared
		var found []growing.Entry
		number := uint64(0)
		flush := func() bool {
			found = commonOf(family, found[:0])
			family = family[:0]
			for _, entry := range found {
				if !yield(entry.Normal, entry.Count) {
					return false
				}
			}
			return true
		}
		// Prefixes of which one begins with another begin with one of the first length, and come together.
		goesOn := true
		both(a.Runs(), b.Runs(), func(prefix, inA, inB uint64) bool {
			if own := prefix >> (shape.Lengths); own != number {
				goesOn = flush()
				number = own
			}
			family = append(family, shared{prefix, inA, inB})
			return goesOn
		})
		if goesOn {
			flush()
		}
	}
}

// commonOf adds the common ones of a family to found, in order.
func commonOf(family []shared, found []growing.Entry) []growing.Entry {
	// Each before those that begin with it.
	slices.SortFunc(family, func(a, b shared) int {
		return cmp.Or(cmp.Compare(a.prefix-a.half(), b.prefix-b.half()), cmp.Compare(b.half(), a.half()))
	})
	// Those that the next one begins with: where they end, and how often they and those before are in both.
	var around [65]shared
	n := 0
	for _, each := range family {
		for n > 0 && around[n].prefix <= each.prefix {
			n--
		}
		// It is the longer one for keys that have it in one filter, and a shorter one in the other.
		longerInA, longerInB := min(each.inA, around[n].inB), min(each.inB, around[n].inA)
		alike := min(each.inA-longerInA, each.inB-longerInB)
		if count := saturatingAdd(saturatingAdd(longerInA, longerInB), alike); count > 0 {
			found = append(found, growing.Entry{Normal: each.prefix, Count: count})
		}
		around[n+1] = shared{
			each.prefix + each.half(), saturatingAdd(around[n].inA, each.inA), saturatingAdd(around[n].inB, each.inB),
		}
		n++
	}
	slices.SortFunc(found, func(a, b growing.Entry) int { return cmp.Compare(a.Normal, b.Normal) })
	return found
}
