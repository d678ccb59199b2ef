// Package bloomline is a Bloom filter in which each key costs one cache line.
//
// A filter tells whether a key may be in a set. "No" is certain; "yes" is wrong at a rate
// that is chosen when the filter is made, such as 1 % at 10 bits per key. It stands in front
// of what is slow to ask: a database, a cache, a file on disk.
//
//	filter, err := bloomline.New(1_000_000, 0.01)
//	filter.AddString("apple")
//	filter.ContainsString("apple") // true
//	filter.ContainsString("plum")  // false, at 99 %
//
// # Which type
//
// [Filter] grows key by key in memory. [View] probes a filter that lies in a []byte, without
// a copy: Bloomline's own format, or a filter block of RocksDB, Pebble or LevelDB. [Open] maps
// a file. [ConcurrentFilter] is one that goroutines add to and read at once.
//
// Keys can be removed from two more. A [CountingFilter] tells how often a key is in and is
// read as fast as a Filter, for five times the memory. A [CuckooFilter] takes not much more
// memory than a Filter, two cache lines for each key, and can become full. A View probes the
// bytes of all of them.
//
// A [ScalableFilter] is for a number of keys that nobody knows beforehand: it grows, and keeps its
// rate.
//
// A [Window] forgets keys that were not added lately: "seen in the last 7 days".
//
// # Goroutines
//
// Any number of goroutines may read a [Filter] at once: all Contains methods, and those that
// tell what it is. Adding needs it alone. A service that has to replace a filter while others
// read it keeps it in a [Swap]: build the new one beside, then Publish it. Readers keep the
// filter they have loaded.
//
// # Batches
//
// Methods for many keys at once are faster for each: the waits for memory overlap. They
// answer in a [Bitmap], which can be used again for the next batch.
//
// # Go or C
//
// The package is plain Go. Built with the tag bloomline_cgo it hands batches to the C library,
// which probes with AVX-512, AVX2 or NEON; single keys stay in Go, since a call to C costs
// more than a probe. Bytes and answers are the same. [Backend] tells which it is.
package bloomline
