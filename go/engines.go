package bloomline

// Filter blocks of other engines.

import "github.com/bloomline/bloomline/go/internal/engine"

// OpenRocksDB opens a filter block of RocksDB: what it stores in a table as a full filter, or
// as one partition of a filter, without the block's own trailer. It takes a few nanoseconds
// whatever the size; there is no checksum to check.
//
// FastLocalBloom (format version 5 and later) and the older Bloom filters, with lines of 64,
// 128 or 256 bytes, are probed. A block that RocksDB takes for "always true", or of which it
// cannot make sense, returns true for every key, and one of no keys false.
//
// Errors: [ErrLayout] for a kind of filter that is not read here, Ribbon or newer; the View
// then returns true for every key.
func OpenRocksDB(block []byte) (View, error) {
	return opened(block)(engine.OpenRocksDB(block))
}

// OpenPebble opens a filter block of Pebble: it is RocksDB's, of the older kind with lines of
// 64 bytes. See [OpenRocksDB].
func OpenPebble(block []byte) (View, error) {
	return OpenRocksDB(block)
}

// OpenLevelDB opens a filter of LevelDB or goleveldb: one of those that make up a table's
// filter block. An empty one is that of no keys. One of an encoding yet to come returns true for
// every key. There is no checksum to check, and the error is always nil.
func OpenLevelDB(block []byte) (View, error) {
	return opened(block)(engine.OpenLevelDB(block))
}

func opened(encoded []byte) func(engine.Block, bool) (View, error) {
	return func(block engine.Block, known bool) (View, error) {
		if !known {
			return View{block: block}, ErrLayout
		}
		return View{block: block, encoded: encoded}, nil
	}
}
