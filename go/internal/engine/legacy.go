package engine

// RocksDB's filters before format version 5, with lines of 64 bytes: Pebble's. The remainder
// of the hash by the number of lines picks a line; the hash, then a rotation of it added
// again and again, gives the places of the bits there.

import "encoding/binary"

const (
	maxK           = 30
	maxLegacyBits  = 0xFFFF0000 // RocksDB's limit
	maxLegacyLines = 1 << 32 / lineBits
)

// Hashes are of 32 bits, or of 64 with the hash in the low half.
type Hashes interface{ ~uint32 | ~uint64 }

// LegacyLen returns the length of the filter of so many keys.
func LegacyLen(keys int, bitsPerKey float64) int {
	return asInt(uint64(legacyLines(keys, bitsPerKey))*lineBytes + trailerBytes)
}

// AppendLegacy appends the filter of keys with these hashes to dst. RocksDB and Pebble leave
// out a key that repeats its predecessor's hash, and so should the caller.
func AppendLegacy[H Hashes](dst []byte, hashes []H, bitsPerKey float64) []byte {
	dst, block := StartLegacy(dst, len(hashes), bitsPerKey)
	AddLegacy(block, hashes)
	return dst
}

// StartLegacy appends a filter with no keys yet to dst, and returns all of it, and the
// filter, for [AddLegacy]: AppendLegacy in two steps, for hashes that come in parts.
func StartLegacy(dst []byte, keys int, bitsPerKey float64) (all, block []byte) {
	lines := legacyLines(keys, bitsPerKey)
	n := asInt(uint64(lines) * lineBytes)
	all, block = grow(dst, n+trailerBytes)
	block[n] = legacyK(bitsPerKey)
	binary.LittleEndian.PutUint32(block[n+1:], lines)
	return all, block
}

// AddLegacy adds keys to a filter that [StartLegacy] has made.
func AddLegacy[H Hashes](block []byte, hashes []H) {
	if len(hashes) == 0 {
		return
	}
	n := len(block) - trailerBytes
	addLegacy(block[:n], block[n], hashes)
}

// legacyLines is odd, so that the remainder depends on all of the hash; 0 for no keys.
func legacyLines(keys int, bitsPerKey float64) uint32 {
	if keys <= 0 {
		return 0
	}
	lines := (keyBits(keys, bitsPerKey, maxLegacyBits) + lineBits - 1) / lineBits
	return uint32(lines | 1)
}

// keyBits is keys * bitsPerKey, from 0 to most.
func keyBits(keys int, bitsPerKey float64, most uint64) uint64 {
	bits := float64(keys) * bitsPerKey
	switch {
	case !(bits > 0): // and if it is not a number
		return 0
	case bits >= float64(most):
		return most
	}
	return uint64(bits)
}

// legacyK is LevelDB's rule, and RocksDB's before format version 5.
func legacyK(bitsPerKey float64) uint8 {
	return uint8(max(keyBits(1, bitsPerKey*0.69, maxK), 1))
}

func legacy64Contains(bits []byte, lines uint32, k uint8, h uint32) bool {
	at := uint64(h%lines) * lineBytes
	line := (*[lineBytes]byte)(bits[at:])
	delta := h>>17 | h<<15
	// Three bits at a time: a branch for each would be a coin toss for most absent keys.
	for ; k >= 3; k -= 3 {
		i, j := h+delta, h+2*delta
		set := line[h>>3&63] >> (h & 7)
		set &= line[i>>3&63] >> (i & 7)
		set &= line[j>>3&63] >> (j & 7)
		if set&1 == 0 {
			return false
		}
		h += 3 * delta
	}
	for ; k > 0; k-- {
		if line[h>>3&63]>>(h&7)&1 == 0 {
			return false
		}
		h += delta
	}
	return true
}

// legacyContains is for lines of any size: 1<<shift bytes.
func legacyContains(bits []byte, lines uint32, shift, k uint8, h uint32) bool {
	line := bits[uint64(h%lines)<<shift:]
	mask := uint32(1)<<shift - 1
	delta := h>>17 | h<<15
	for ; k > 0; k-- {
		if line[h>>3&mask]>>(h&7)&1 == 0 {
			return false
		}
		h += delta
	}
	return true
}

func addLegacy[H Hashes](bits []byte, k uint8, hashes []H) {
	lines := newDivisor(uint32(len(bits) / lineBytes))
	var places [bulk]uint64
	for len(hashes) > 0 {
		n := min(bulk, len(hashes))
		at := places[:n]
		for i, hash := range hashes[:n] {
			at[i] = uint64(lines.remainder(uint32(hash))) * lineBytes
		}
		if len(bits) >= bulkBytes {
			touch(bits, at)
		}
		if k == 6 {
			setLegacy6(bits, at, hashes[:n])
		} else {
			setLegacy(bits, at, hashes[:n], k)
		}
		hashes = hashes[n:]
	}
}

func setLegacy[H Hashes](bits []byte, at []uint64, hashes []H, k uint8) {
	for i, hash := range hashes {
		line := (*[lineBytes]byte)(bits[at[i]:])
		h := uint32(hash)
		delta := h>>17 | h<<15
		for range k {
			line[h>>3&63] |= bit[h&7]
			h += delta
		}
	}
}

// setLegacy6 is for 10 bits per key, what most people take: without the loop.
func setLegacy6[H Hashes](bits []byte, at []uint64, hashes []H) {
	for i, hash := range hashes {
		line := (*[lineBytes]byte)(bits[at[i]:])
		h := uint32(hash)
		delta := h>>17 | h<<15
		line[h>>3&63] |= bit[h&7]
		h += delta
		line[h>>3&63] |= bit[h&7]
		h += delta
		line[h>>3&63] |= bit[h&7]
		h += delta
		line[h>>3&63] |= bit[h&7]
		h += delta
		line[h>>3&63] |= bit[h&7]
		h += delta
		line[h>>3&63] |= bit[h&7]
	}
}
