// Package engine reads and builds the filter blocks of RocksDB, Pebble, LevelDB,
// goleveldb and Parquet, in their own bytes, with their own hashes.
//
//	FastLocal   RocksDB from format version 5: lines of 64 bytes | FF 00 k 00 00
//	Legacy      RocksDB before, and Pebble: lines of 64, 128 or 256 bytes | k | line count, u32
//	LevelDB     LevelDB and goleveldb: bits | k
//	SplitBlock  Parquet: header | blocks of 32 bytes
//
// Numbers are little-endian. Bit b of a line, or of LevelDB's bits, is bit b&7 of byte b>>3.
// Neither opening nor probing allocates, and blocks may lie at any address.
package engine

// Opening a block, and asking it. Each layout is in a file of its own.

import (
	"encoding/binary"
	"math"
)

// Layout says how a block has its bits.
type Layout uint8

const (
	Maybe      Layout = iota // no bits to ask: true for every key
	Nothing                  // a filter of no keys: false for every key
	FastLocal                // RocksDB from format version 5
	Legacy                   // RocksDB before, and Pebble
	LevelDB                  // LevelDB and goleveldb
	SplitBlock               // Parquet
)

// hashKind is the hash of an engine's keys. It is apart from the layout because a block
// that says "maybe" has a hash too.
type hashKind uint8

const (
	hashXXPH3 hashKind = iota
	hashLegacy
	hashLevelDB
	hashXXH64
)

const (
	trailerBytes = 5 // behind RocksDB's lines
	lineBytes    = 64
	lineBits     = 8 * lineBytes
)

// Block is what a probe needs to know about a filter block. It refers to the bytes that it
// was opened from. The zero Block answers true.
type Block struct {
	Bits   []byte // without the trailer
	lines  uint32 // of FastLocal and Legacy; of SplitBlock the blocks
	k      uint8
	shift  uint8 // Legacy: a line has 1<<shift bytes
	layout Layout
	hash   hashKind
}

// OpenRocksDB reads a filter block of RocksDB or Pebble. It returns false for one that it
// does not understand, Ribbon or something newer: a Block that answers true. So does one for
// a block whose numbers contradict each other: what cannot be read must not hide a key.
func OpenRocksDB(block []byte) (Block, bool) {
	n := len(block) - trailerBytes
	if n <= 0 {
		// RocksDB's answer for a table without keys, even if part of the trailer is missing.
		return Block{layout: Nothing}, true
	}
	lines, trailer := block[:n], block[n:]
	switch kind := trailer[0]; {
	case kind == 0xFF:
		return openFastLocal(lines, trailer)
	case kind == 0:
		return Block{}, true // how RocksDB writes "always true"
	case kind < 0x80:
		return openLegacy(lines, kind, binary.LittleEndian.Uint32(trailer[1:])), true
	}
	return Block{}, false
}

func openFastLocal(lines, trailer []byte) (Block, bool) {
	// The line size is in the high three bits, 0 for 64 bytes; the other bytes are reserved.
	k := trailer[2]
	if trailer[1] != 0 || trailer[3] != 0 || trailer[4] != 0 || k < 1 || k > maxFastLocalK {
		return Block{}, false
	}
	// Bytes behind the last whole line belong to none. Without a line RocksDB reads past
	// the end; "maybe" is all that can be said.
	count := uint64(len(lines) / lineBytes)
	if count == 0 || count > maxFastLocalBytes/lineBytes {
		return Block{}, true
	}
	return Block{Bits: lines, lines: uint32(count), k: k, layout: FastLocal}, true
}

func openLegacy(lines []byte, k uint8, count uint32) Block {
	// With more bits than that RocksDB makes no filter, and Pebble's bit numbers, of 32 bits,
	// overflow: its bits are elsewhere.
	if count > maxLegacyLines {
		return Block{hash: hashLegacy}
	}
	// The line size is known from the length only. Nobody writes other sizes than these.
	for shift := uint8(6); shift <= 8; shift++ {
		if uint64(count)<<shift == uint64(len(lines)) {
			return Block{Bits: lines, lines: count, k: k, shift: shift, layout: Legacy, hash: hashLegacy}
		}
	}
	return Block{hash: hashLegacy}
}

// OpenLevelDB reads a filter of LevelDB or goleveldb.
func OpenLevelDB(block []byte) (Block, bool) {
	n := len(block) - 1
	if n <= 0 {
		// LevelDB's answer for a stretch of a table without keys.
		return Block{layout: Nothing, hash: hashLevelDB}, true
	}
	k := block[n]
	// No bit to test, or an encoding yet to come: both are "maybe" in LevelDB.
	if k == 0 || k > maxK {
		return Block{hash: hashLevelDB}, true
	}
	return Block{Bits: block[:n], k: k, layout: LevelDB, hash: hashLevelDB}, true
}

// Layout says how the block has its bits.
func (b *Block) Layout() Layout { return b.layout }

// Hash returns the hash of a key, as the block's engine makes it; one of 32 bits is in the
// low half.
func (b *Block) Hash(key []byte) uint64 {
	switch b.hash {
	case hashLegacy:
		return uint64(RocksDBLegacyHash(key))
	case hashLevelDB:
		return uint64(LevelDBHash(key))
	case hashXXH64:
		return XXH64(key)
	}
	return XXPH3(key)
}

// HashNumber is the same for two blocks that make the same hash of each key.
func (b *Block) HashNumber() uint64 { return uint64(b.hash) }

// Contains tells whether a key with this hash may be in the filter: false is certain.
func (b *Block) Contains(hash uint64) bool {
	switch b.layout {
	case FastLocal:
		return fastLocalContains(b.Bits, b.lines, b.k, hash)
	case Legacy:
		if b.shift == 6 {
			return legacy64Contains(b.Bits, b.lines, b.k, uint32(hash))
		}
		return legacyContains(b.Bits, b.lines, b.shift, b.k, uint32(hash))
	case LevelDB:
		return levelDBContains(b.Bits, b.k, uint32(hash))
	case SplitBlock:
		return splitBlockContains(b.Bits, b.lines, hash)
	}
	return b.layout != Nothing
}

// grow makes n more zero bytes at the end of dst, and returns all of it, and these.
func grow(dst []byte, n int) (all, added []byte) {
	need := len(dst) + n
	if need <= cap(dst) {
		all = dst[:need]
		added = all[len(dst):]
		clear(added)
		return all, added
	}
	// Fresh memory is zero already. Room to spare is for those who append again and again.
	all = make([]byte, need, max(need, 2*cap(dst)))
	copy(all, dst)
	added = all[len(dst):]
	if n >= bulkBytes {
		fault(added)
	}
	return all, added
}

// asInt makes a length of it, the largest there is if that is too small.
func asInt(length uint64) int {
	return int(min(length, math.MaxInt))
}

// RocksDBMayContain asks a filter block of RocksDB or Pebble for a key, as [OpenRocksDB] and
// Contains would. It is for engines that hold the block and ask a key at a time.
func RocksDBMayContain(block, key []byte) bool {
	if n := len(block) - trailerBytes; n > 0 {
		k, count := block[n], binary.LittleEndian.Uint32(block[n+1:])
		if k-1 < 127 && uint64(count)*lineBytes == uint64(n) && count <= maxLegacyLines {
			return legacy64Contains(block[:n], count, k, RocksDBLegacyHash(key))
		}
	}
	b, _ := OpenRocksDB(block)
	return b.Contains(b.Hash(key))
}

// LevelDBMayContain asks a filter of LevelDB or goleveldb for a key, as [OpenLevelDB] and
// Contains would.
func LevelDBMayContain(block, key []byte) bool {
	if n := len(block) - 1; n > 0 {
		if k := block[n]; k-1 < maxK {
			return levelDBContains(block[:n], k, LevelDBHash(key))
		}
	}
	b, _ := OpenLevelDB(block)
	return b.Contains(b.Hash(key))
}
