package bloomline

// Growing filters whose prefixes have several lengths: a long one may lie in the first half of a short one, and
// then comes before it.

import (
	"math"
	"testing"

	"github.com/bloomline/bloomline/go/internal/format"
	"github.com/bloomline/bloomline/go/internal/growing"
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

// growingUneven is bytes of nobody's filter: the prefixes of one region are 49 bits longer than those of the others.
func growingUneven() []byte {
	const u, short = 1 << 41, 1 << 52
	var lines, records []byte
	region := func(u, r, step, shift uint64) {
		values := make([]int64, 8)
		for i := range values {
			values[i] = int64((uint64(i)*step<<1 + 1) << shift)
		}
		line, _ := growing.Close(values, math.MaxInt64, false, uint(r))
		record := make([]byte, 64)
		le.PutUint64(record, uint64(len(lines)/64))
		le.PutUint64(record[8:], 1<<55/u)
		le.PutUint64(record[16:], u)
		le.PutUint64(record[24:], r|49<<32)
		records = append(records, record...)
		for range 1 << 55 / u {
			lines = append(lines, line[:]...)
		}
	}
	region(u, 38, 1<<38, 0)
	for range 15 {
		region(short, 51, 1, 49)
	}
	count := uint64(len(lines) / 64)
	last := make([]byte, 64)
	for i, word := range []uint64{1024, 10, math.Float64bits(0.01), 0, 0, 50} {
		le.PutUint64(last[8*i:], word)
	}
	records = append(records, last...)
	made := encode(footer{LineCount: count, K: 16, Layout: growing.Layout, Reserved: checksum(records)}, lines, records)
	return orPanic(made.appendTo(nil))
}

// Short prefixes that would become very many are refused when something is to be built of them. Until then they are
// probed.
func TestGrowingShortPrefixesThatWouldBecomeVeryMany(t *testing.T) {
	filter, other := new(GrowingFilter), new(GrowingFilter)
	data := growingUneven()
	must(filter.UnmarshalBinary(data))
	must(other.UnmarshalBinary(data))
	for what, err := range map[string]error{
		"encode": second(filter.MarshalBinary()),
		"unite":  filter.Union(other),
		"split":  second(filter.Split(1)),
		"add":    built(func() { filter.AddHash(1) }),
	} {
		if err != ErrOutOfMemory {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, hash := range randomHashes(1000, 1) {
		if hash>>60 > 0 && !filter.ContainsHash(hash) {
			t.Fatalf("%x is lost", hash)
		}
	}
}
