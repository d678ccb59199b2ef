package bloomline

// Filter blocks of other engines.

import (
	"math"

	"github.com/bloomline/bloomline/go/internal/engine"
)

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

// OpenParquet opens the Bloom filter of a column chunk of a Parquet file: the header, and the bits
// behind it. What is behind these is not looked at. Nothing is read but the header, and there is no
// checksum to check. [View.Hash] hashes values in Parquet's plain encoding.
//
// Errors: [ErrTruncated] if bytes are missing, [ErrNotAFilter] for another header, [ErrLayout] if it names
// another algorithm, hash or compression. The View then returns true for every key.
func OpenParquet(data []byte) (View, error) {
	header, bits, state := engine.ReadParquetHeader(data)
	maybe := View{block: engine.ParquetMaybe()}
	switch {
	case state == engine.HeaderCut:
		return maybe, ErrTruncated
	case state == engine.HeaderNone:
		return maybe, ErrNotAFilter
	case state == engine.HeaderUnknown:
		return maybe, ErrLayout
	case bits > len(data)-header:
		return maybe, ErrTruncated
	}
	return OpenParquetBits(data[header : header+bits])
}

// OpenParquetBits opens the bits of such a filter without the header, as other libraries keep them in
// memory: blocks of 32 bytes. No byte says whose they are: those of Kudu, Impala, Doris and Velox would lose
// keys. For these: OpenKudu and OpenVelox of the package parquetfilter.
//
// Errors: [ErrLineCount] for no bits, and for 2 GiB or more; [ErrTruncated] unless they are whole blocks.
// The View then returns true for every key.
func OpenParquetBits(bits []byte) (View, error) {
	if len(bits) == 0 || len(bits) > math.MaxInt32 {
		return View{block: engine.ParquetMaybe()}, ErrLineCount
	}
	if !engine.AreSplitBlocks(len(bits)) {
		return View{block: engine.ParquetMaybe()}, ErrTruncated
	}
	return View{block: engine.OpenParquetBits(bits), encoded: bits}, nil
}
