package bloomline

// Growing filters whose prefixes have several lengths: a long one may lie in the first half of a short one, and
// then comes before it.

import (
	"testing"

	"github.com/bloomline/bloomline/go/internal/format"
)

// growingNested returns a filter with a short prefix that has longer ones in its first half, and the hashes of all
// keys. There are 1,024 short prefixes; it is the one of this number.
func growingNested(number uint64) (*GrowingFilter, []uint64) {
	const tenth = 1 << 54 / 10
	filter := orPanic(NewGrowingUnbounded(1, 0.5))
	hashes := []uint64{number<<54 + tenth}
	filter.AddHashes(hashes)
	// They are far from it, and make new prefixes longer.
	for i := range uint64(64) {
		hashes = append(hashes, (number+100+i*7)<<54)
	}
	hashes = append(hashes, number<<54+4*tenth)
	filter.AddHashes(hashes[1:])
	return filter, hashes
}

func TestGrowingSplitsNestedPrefixes(t *testing.T) {
	for _, number := range []uint64{341, 511, 682} {
		filter, hashes := growingNested(number)
		for _, parts := range []int{2, 3, 7, 16, 1000, 1023} {
			split := orPanic(filter.Split(parts))
			for _, hash := range hashes {
				if part := format.Index(hash, uint64(parts)); !split[part].ContainsHash(hash) {
					t.Errorf("%x is lost in part %d of %d", hash, part, parts)
				}
			}
		}
	}
}
