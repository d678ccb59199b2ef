package engine

// The 32-bit hash of LevelDB's filters and of RocksDB's old ones. It is the same in both but
// for the last one to three bytes of a key: LevelDB takes them as they are, RocksDB, and
// Pebble after it, as signed numbers. Keys that end in bytes above 127 have two hashes.

import "encoding/binary"

const (
	hashSeed = 0xBC9F1D34
	hashMul  = 0xC6A4A793
)

// RocksDBLegacyHash is RocksDB's hash before format version 5, and Pebble's.
func RocksDBLegacyHash(key []byte) uint32 { return hash32(key, 0x808080) }

// LevelDBHash is LevelDB's and goleveldb's.
func LevelDBHash(key []byte) uint32 { return hash32(key, 0) }

// hash32 is the hash; signs are the sign bits of the last one to three bytes, or none.
func hash32(key []byte, signs uint32) uint32 {
	n := len(key)
	h := hashSeed ^ uint32(n)*hashMul
	if n < 4 {
		return hashShort(h, key, signs)
	}
	last := binary.LittleEndian.Uint32(key[n-4:])
	for len(key) >= 16 {
		a := binary.LittleEndian.Uint64(key)
		b := binary.LittleEndian.Uint64(key[8:])
		h = hashWord(hashWord(h, uint32(a)), uint32(a>>32))
		h = hashWord(hashWord(h, uint32(b)), uint32(b>>32))
		key = key[16:]
	}
	if len(key) >= 8 {
		a := binary.LittleEndian.Uint64(key)
		h = hashWord(hashWord(h, uint32(a)), uint32(a>>32))
		key = key[8:]
	}
	if len(key) >= 4 {
		h = hashWord(h, binary.LittleEndian.Uint32(key))
	}
	if n&3 == 0 {
		return h
	}
	// The end of the last four bytes is quicker than those that are left one by one.
	return hashTail(h, last>>(32-8*(n&3)), signs)
}

func hashShort(h uint32, key []byte, signs uint32) uint32 {
	if len(key) == 0 {
		return h
	}
	var tail uint32
	for i := len(key) - 1; i >= 0; i-- {
		tail = tail<<8 | uint32(key[i])
	}
	return hashTail(h, tail, signs)
}

func hashWord(h, word uint32) uint32 {
	h = (h + word) * hashMul
	return h ^ h>>16
}

func hashTail(h, tail, signs uint32) uint32 {
	// A byte b above 127, as a signed number, is b - 256.
	h = (h + tail - tail&signs<<1) * hashMul
	return h ^ h>>24
}
