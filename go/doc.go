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
// tell what it is. Adding needs it alone. Filters are used by pointer; go vet reports copies. A service that has to replace a filter while others
// read it keeps it in a [Swap]: build the new one beside, then Publish it. Readers keep the
// filter they have loaded.
//
// # Batches
//
// Methods for many keys at once overlap the waits for memory: they are faster for filters beyond
// the CPU's caches, and with C for all. They answer in a [Bitmap], which can be used again for the
// next batch.
//
// # Keys that others choose
//
// An attacker who knows the seed, which is 0 unless you choose one, finds false positives and keys
// that all fall on one line in a second. Where strangers choose the keys, use [WithRandomSeed] or
// [Params.WithRandomSeed], and keep the seed, and the encoded filter that has it, from them.
// [Filter.WorstLineRate] shows a line that was flooded.
//
// # Bytes
//
// All kinds have MarshalBinary and Save, and the readers of these; WriteDelimited and ReadDelimited
// for streams in which more follows, where ReadFrom reads to the end; and a text form, a string in
// JSON. Files can be mapped, and must then not be changed in place: see [Mapped].
//
// There are no false negatives, except: damaged bytes opened without a checksum
// ([OpenViewUnverified], [OpenUnverified], engine blocks), a mapped file overwritten in place,
// removal of keys never added.
//
// What is not there answers "maybe": nil pointers, zero values, a [Swap] before its first Publish,
// and views of different seeds that are probed with one hash.
//
// # Go or C
//
// The package is plain Go. Built with the tag bloomline_cgo it hands batches to the C library,
// which probes with AVX-512, AVX2 or NEON; single keys stay in Go, since a call to C costs
// more than a probe. Bytes and answers are the same. [Backend] tells which it is. The
// environment's BLOOMLINE_BACKEND forces a backend of the C library; plain Go does not read it.
//
// On Linux, filters of 4 MiB or more ask for pages of 2 MiB where they fill them, unless the program
// starts with BLOOMLINE_HUGE_PAGES=0.
package bloomline
