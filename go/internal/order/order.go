// Package order sorts hashes, by two passes for uniform ones: into buckets by their highest bits, then each
// bucket within the CPU's cache.
package order

import (
	"math/bits"
	"slices"
	"sync"
)

const (
	// Hashes of a bucket on average, if there are not too many buckets.
	eachBucket = 1024
	// Buckets at most: more cost as many cache misses as hashes.
	mostBuckets = 1 << 12
	// Hashes that are sorted by counting at most; more are compared.
	mostCounted = 1 << 17
)

// Hashes writes hashes to out, in ascending order, on up to so many goroutines.
func Hashes(hashes, out []uint64, goroutines int) {
	buckets := uint64(min(max(len(hashes)/eachBucket, 1), mostBuckets))
	ends := make([]int, buckets)
	for _, hash := range hashes {
		bucket, _ := bits.Mul64(hash, buckets)
		ends[bucket]++
	}
	sum := 0
	for i := range ends {
		sum += ends[i]
		ends[i] = sum
	}
	parts := min(uint64(max(goroutines, 1)), buckets)
	var all sync.WaitGroup
	for part := range parts {
		all.Add(1)
		do := func() {
			defer all.Done()
			fillBuckets(hashes, out, ends, buckets*part/parts, buckets*(part+1)/parts)
		}
		if part+1 == parts {
			do()
		} else {
			go do()
		}
	}
	all.Wait()
}

// fillBuckets takes the hashes of buckets first to end-1 from all, and sorts each.
func fillBuckets(hashes, out []uint64, ends []int, first, end uint64) {
	next := make([]int, end-first)
	for i := range next {
		if bucket := first + uint64(i); bucket > 0 {
			next[i] = ends[bucket-1]
		}
	}
	buckets := uint64(len(ends))
	for _, hash := range hashes {
		bucket, _ := bits.Mul64(hash, buckets)
		if bucket -= first; bucket < uint64(len(next)) {
			out[next[bucket]] = hash
			next[bucket]++
		}
	}
	var room sortRoom
	start := 0
	if first > 0 {
		start = ends[first-1]
	}
	for bucket := first; bucket < end; bucket++ {
		room.sort(out[start:ends[bucket]], bucket, buckets)
		start = ends[bucket]
	}
}

// sortRoom is memory to sort buckets in, as large as the largest so far.
type sortRoom struct {
	hashes []uint64
	starts []uint32
}

// sort sorts the hashes of a bucket.
func (r *sortRoom) sort(hashes []uint64, bucket, buckets uint64) {
	if len(hashes) > mostCounted {
		slices.Sort(hashes)
		return
	}
	if len(hashes) < 2 {
		return
	}
	// By counting into parts of the bucket, about a hash to each.
	parts := uint64(1) << bits.Len(uint(len(hashes)-1))
	if uint64(len(r.starts)) < parts+1 {
		r.hashes, r.starts = make([]uint64, parts), make([]uint32, parts+1)
	}
	starts, sorted := r.starts[:parts+1], r.hashes[:len(hashes)]
	clear(starts)
	all, before := buckets*parts, bucket*parts
	for _, hash := range hashes {
		part, _ := bits.Mul64(hash, all)
		starts[part-before+1]++
	}
	sum := uint32(0)
	for i := range starts {
		sum += starts[i]
		starts[i] = sum
	}
	for _, hash := range hashes {
		part, _ := bits.Mul64(hash, all)
		start := &starts[part-before]
		sorted[*start] = hash
		*start++
	}
	// Those of a part are few, unless hashes are not uniform.
	start := 0
	for _, end := range starts[:parts] {
		sortFew(sorted[start:end])
		start = int(end)
	}
	copy(hashes, sorted)
}

func sortFew(hashes []uint64) {
	switch len(hashes) {
	case 0, 1:
	case 2:
		low, high := hashes[0], hashes[1]
		hashes[0], hashes[1] = min(low, high), max(low, high)
	default:
		slices.Sort(hashes)
	}
}
