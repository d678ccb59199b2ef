package engine

// RocksDB's filters of format version 5 and later. The low half of a hash picks a line; the
// high half, times powers of a constant, gives the places of the bits there: the top nine
// bits of each product.

const (
	maxFastLocalK     = 30
	maxFastLocalBytes = 0xFFFFFFC0

	step  = 0x9E3779B9
	step2 = step * step & 0xFFFFFFFF
	step3 = step2 * step & 0xFFFFFFFF
)

// FastLocalLen returns the length of the filter of so many keys, 0 for no filter. Bits per
// key are rounded to thousandths, and at most 100; RocksDB makes no filter with less than
// half a bit per key.
func FastLocalLen(keys int, bitsPerKey float64) int {
	bytes := fastLocalBytes(keys, millibits(bitsPerKey))
	if bytes == 0 {
		return 0
	}
	return asInt(bytes + trailerBytes)
}

// AppendFastLocal appends the filter of keys with these hashes to dst. RocksDB leaves out a
// key that repeats its predecessor, and so should the caller.
func AppendFastLocal(dst []byte, hashes []uint64, bitsPerKey float64) []byte {
	millibits := millibits(bitsPerKey)
	bytes := fastLocalBytes(len(hashes), millibits)
	if bytes == 0 {
		return dst
	}
	n := asInt(bytes)
	dst, block := grow(dst, n+trailerBytes)
	k := fastLocalK(millibits)
	addFastLocal(block[:n], k, hashes)
	block[n] = 0xFF
	block[n+2] = k
	return dst
}

// millibits is RocksDB's measure: thousandths of a bit per key; 0 for no filter.
func millibits(bitsPerKey float64) uint64 {
	switch {
	case bitsPerKey < 0.5:
		return 0
	case bitsPerKey < 1:
		return 1000
	case bitsPerKey < 100:
		return uint64(bitsPerKey*1000 + 0.500001)
	}
	return 100_000 // and if it is not a number
}

// fastLocalK is RocksDB's choice for so many thousandths of a bit per key.
func fastLocalK(millibits uint64) uint8 {
	// The most for 1, 2, ... bits.
	for i, most := range [...]uint16{
		2080, 3580, 5100, 6640, 8300, 10070, 11720, 14001, 16050, 18300, 22001, 25501,
	} {
		if millibits <= uint64(most) {
			return uint8(i + 1)
		}
	}
	if millibits > 50_000 {
		return 24
	}
	return uint8((millibits-1)/2000 - 1)
}

// fastLocalBytes is the length of the lines; 0 for no filter.
func fastLocalBytes(keys int, millibits uint64) uint64 {
	if keys <= 0 || millibits == 0 {
		return 0
	}
	// With a bit per key or more; so the product below does not overflow.
	if uint64(keys) >= 8*maxFastLocalBytes {
		return maxFastLocalBytes
	}
	bytes := min((uint64(keys)*millibits+7999)/8000, maxFastLocalBytes)
	return (bytes + lineBytes - 1) &^ (lineBytes - 1)
}

func fastLocalContains(bits []byte, lines uint32, k uint8, hash uint64) bool {
	at := uint64(uint32(hash)) * uint64(lines) >> 32 * lineBytes
	line := (*[lineBytes]byte)(bits[at:])
	x := uint32(hash >> 32)
	// Three bits at a time: a branch for each would be a coin toss for most absent keys.
	for ; k >= 3; k -= 3 {
		y, z := x*step, x*step2
		set := line[x>>26] >> (x >> 23 & 7)
		set &= line[y>>26] >> (y >> 23 & 7)
		set &= line[z>>26] >> (z >> 23 & 7)
		if set&1 == 0 {
			return false
		}
		x *= step3
	}
	for ; k > 0; k-- {
		if line[x>>26]>>(x>>23&7)&1 == 0 {
			return false
		}
		x *= step
	}
	return true
}

func addFastLocal(bits []byte, k uint8, hashes []uint64) {
	lines := uint64(len(bits) / lineBytes)
	var places [bulk]uint64
	for len(hashes) > 0 {
		n := min(bulk, len(hashes))
		at := places[:n]
		for i, hash := range hashes[:n] {
			at[i] = uint64(uint32(hash)) * lines >> 32 * lineBytes
		}
		if len(bits) >= bulkBytes {
			touch(bits, at)
		}
		if k == 6 {
			setFastLocal6(bits, at, hashes[:n])
		} else {
			setFastLocal(bits, at, hashes[:n], k)
		}
		hashes = hashes[n:]
	}
}

func setFastLocal(bits []byte, at, hashes []uint64, k uint8) {
	for i, hash := range hashes {
		line := (*[lineBytes]byte)(bits[at[i]:])
		x := uint32(hash >> 32)
		for range k {
			line[x>>26] |= bit[x>>23&7]
			x *= step
		}
	}
}

// setFastLocal6 is for 10 bits per key, what most people take: without the loop.
func setFastLocal6(bits []byte, at, hashes []uint64) {
	for i, hash := range hashes {
		line := (*[lineBytes]byte)(bits[at[i]:])
		x := uint32(hash >> 32)
		y, z := x*step, x*step2
		line[x>>26] |= bit[x>>23&7]
		line[y>>26] |= bit[y>>23&7]
		line[z>>26] |= bit[z>>23&7]
		x, y, z = x*step3, y*step3, z*step3
		line[x>>26] |= bit[x>>23&7]
		line[y>>26] |= bit[y>>23&7]
		line[z>>26] |= bit[z>>23&7]
	}
}
