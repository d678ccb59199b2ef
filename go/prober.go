package bloomline

// What all filters can be asked. The methods that all kinds have alike are generated: internal/gen.

// Prober is what can be probed: a filter of any kind, a [View], a [Mapped], and what [Swap.Load]
// returns. Code that only reads takes one:
//
//	func skip(filter bloomline.Prober, key string) bool { return !filter.ContainsString(key) }
//
// False means definitely absent, true means possibly present. Probing allocates nothing, but for a
// [Bitmap] that is too small.
type Prober interface {
	Contains(key []byte) bool
	ContainsString(key string) bool
	ContainsUint64(key uint64) bool
	// ContainsHash probes for a hash that Hash made.
	ContainsHash(hash uint64) bool
	// ContainsBatch probes for many keys. It uses out if that is large enough: see [Bitmap].
	ContainsBatch(keys [][]byte, out Bitmap) Bitmap
	ContainsStrings(keys []string, out Bitmap) Bitmap
	ContainsHashes(hashes []uint64, out Bitmap) Bitmap
	// Hash returns the hash of a key, as the filter makes it.
	Hash(key []byte) uint64
}

//go:generate go run ./internal/gen
