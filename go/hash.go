package bloomline

// Keys to hashes: XXH3-64.

import "github.com/zeebo/xxh3"

// Hash returns the hash of a key: XXH3-64 with a seed.
//
// Filters work on hashes, and each seed makes another one. A hash that is made once can be
// added to, and looked up in, all filters of its seed.
func Hash(key []byte, seed uint64) uint64 {
	if seed == 0 {
		return xxh3.Hash(key)
	}
	return xxh3.HashSeed(key, seed)
}

// HashString is [Hash] for a string.
func HashString(key string, seed uint64) uint64 {
	if seed == 0 {
		return xxh3.HashString(key)
	}
	return xxh3.HashStringSeed(key, seed)
}

// HashUint64 returns the hash of an integer: that of its 8 bytes, the lowest first.
//
// An integer itself is no hash: hashes must be well mixed over all 64 bits.
func HashUint64(key, seed uint64) uint64 {
	var bytes [8]byte
	le.PutUint64(bytes[:], key)
	return Hash(bytes[:], seed)
}

// checksumOf is the checksum of bytes that are in several pieces.
func checksumOf(pieces [][]byte) uint64 {
	if len(pieces) == 1 {
		return checksum(pieces[0])
	}
	hasher := xxh3.New()
	for _, piece := range pieces {
		_, _ = hasher.Write(piece) // which cannot fail
	}
	return hasher.Sum64()
}
