package engine

// LevelDB's and goleveldb's filters: one array of bits, of some tens of keys. The remainders
// of the hash, and of it with a rotation added again and again, are the places of the bits.

import "math"

// LevelDBLen returns the length of the filter of so many keys.
func LevelDBLen(keys int, bitsPerKey float64) int {
	return asInt(levelDBBytes(keys, bitsPerKey) + 1)
}

// AppendLevelDB appends the filter of keys with these hashes to dst.
func AppendLevelDB[H Hashes](dst []byte, hashes []H, bitsPerKey float64) []byte {
	dst, block := grow(dst, LevelDBLen(len(hashes), bitsPerKey))
	PutLevelDB(block, hashes, bitsPerKey)
	return dst
}

// PutLevelDB makes the filter in block, [LevelDBLen] bytes that are zero.
func PutLevelDB[H Hashes](block []byte, hashes []H, bitsPerKey float64) {
	n := len(block) - 1
	block[n] = legacyK(bitsPerKey)
	addLevelDB(block[:n], block[n], hashes)
}

// levelDBBytes is the length of the bits: 8 or more, below which false positives abound.
func levelDBBytes(keys int, bitsPerKey float64) uint64 {
	return (max(keyBits(keys, bitsPerKey, math.MaxInt64), 64) + 7) / 8
}

func levelDBContains(bits []byte, k uint8, h uint32) bool {
	count := uint64(len(bits)) * 8
	delta := h>>17 | h<<15
	if count > math.MaxUint32 {
		// A remainder that changes nothing.
		for ; k > 0; k-- {
			if bits[h>>3]>>(h&7)&1 == 0 {
				return false
			}
			h += delta
		}
		return true
	}
	n := uint32(count)
	// Three bits at a time: a branch for each would be a coin toss for most absent keys.
	for ; k >= 3; k -= 3 {
		x, y, z := h%n, (h+delta)%n, (h+2*delta)%n
		set := bits[x>>3] >> (x & 7)
		set &= bits[y>>3] >> (y & 7)
		set &= bits[z>>3] >> (z & 7)
		if set&1 == 0 {
			return false
		}
		h += 3 * delta
	}
	for ; k > 0; k-- {
		x := h % n
		if bits[x>>3]>>(x&7)&1 == 0 {
			return false
		}
		h += delta
	}
	return true
}

func addLevelDB[H Hashes](bits []byte, k uint8, hashes []H) {
	count := uint64(len(bits)) * 8
	if count > math.MaxUint32 {
		for _, hash := range hashes {
			h := uint32(hash)
			delta := h>>17 | h<<15
			for range k {
				bits[h>>3] |= 1 << (h & 7)
				h += delta
			}
		}
		return
	}
	n := newDivisor(uint32(count))
	for _, hash := range hashes {
		h := uint32(hash)
		delta := h>>17 | h<<15
		for range k {
			x := n.remainder(h)
			bits[x>>3] |= 1 << (x & 7)
			h += delta
		}
	}
}
