// Package filterblock builds and probes the filter blocks of Pebble and goleveldb, in their own
// bytes and with their own hashes. It is for adapters: pebblefilter and goleveldbfilter consist of
// it. To read a block, also of RocksDB, take [bloomline.OpenPebble] and the like.
//
// A builder hashes each key, which may then change, and makes the block when all are known, since
// their number decides its size. Probing takes any bytes: a block that is damaged or of an unknown
// kind answers true to every key. Nothing but a new block allocates.
//
// [bloomline.OpenPebble]: https://pkg.go.dev/github.com/bloomline/bloomline/go#OpenPebble
package filterblock

import "github.com/bloomline/bloomline/go/internal/engine"

// ---- Pebble ----

// PebbleContains probes a filter block of Pebble, or of RocksDB, for a key: false means definitely
// absent.
func PebbleContains(block, key []byte) bool {
	return engine.RocksDBMayContain(block, key)
}

// PebbleHash returns the hash of a key.
func PebbleHash(key []byte) uint32 {
	return engine.RocksDBLegacyHash(key)
}

// StartPebble appends a block for so many keys to dst, and returns all of it, and the block, to
// which [AddPebble] adds keys. A key whose hash is that of the key before it counts once: Pebble
// leaves it out, and makes the block for that many fewer.
func StartPebble(dst []byte, keys int, bitsPerKey float64) (all, block []byte) {
	return engine.StartLegacy(dst, keys, bitsPerKey)
}

// AddPebble adds the keys of many hashes to a block of [StartPebble].
func AddPebble(block []byte, hashes []uint32) {
	engine.AddLegacy(block, hashes)
}

// ---- goleveldb ----

// LevelDBContains probes a filter of goleveldb or LevelDB for a key: false means definitely absent.
func LevelDBContains(block, key []byte) bool {
	return engine.LevelDBMayContain(block, key)
}

// LevelDBHash returns the hash of a key.
func LevelDBHash(key []byte) uint32 {
	return engine.LevelDBHash(key)
}

// LevelDBLen returns the length of the filter of so many keys.
func LevelDBLen(keys int, bitsPerKey float64) int {
	return engine.LevelDBLen(keys, bitsPerKey)
}

// PutLevelDB writes the filter of keys with these hashes to block, which has [LevelDBLen] bytes. What
// was in them is lost.
func PutLevelDB(block []byte, hashes []uint32, bitsPerKey float64) {
	clear(block)
	engine.PutLevelDB(block, hashes, bitsPerKey)
}
