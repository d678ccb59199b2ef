// Package bloomline is a blocked Bloom filter: each key takes one cache line.
//
// A filter reports whether a key may be in a set. False is certain: the key is definitely absent.
// True is wrong at a rate that you choose, such as 1 % at 9.9 bits per key. Put it in front of
// what is slow to ask: a database, a cache, a file on disk.
//
//	filter, err := bloomline.New(1_000_000, 0.01) // expected keys, target false-positive rate
//	filter.AddString("apple")
//	filter.ContainsString("apple") // true
//	filter.ContainsString("plum")  // false; true for 1 % of absent keys
//
// # Which type
//
//   - [Filter]: a set of keys. It can be united with others, folded, and saved.
//   - [ConcurrentFilter]: goroutines add and probe at once, without locks.
//   - [CountingFilter]: keys can be removed and are counted, for five times the memory.
//   - [CuckooFilter]: keys can be removed, in little more memory. It can become full.
//   - [StaticFilter]: all keys are known and never change. It takes a quarter less memory.
//   - [ScalableFilter]: for an unknown number of keys. It grows and keeps its rate.
//   - [GrowingFilter]: grows and shrinks with its keys, which can be removed, counted and merged.
//   - [Window]: keys expire, as in "seen in the last 7 days".
//   - [Cascade]: exact answers for the keys of two known sets, such as revoked and valid
//     certificates.
//   - [Matrix]: thousands of filters of one shape, asked about a key at once, in a bit for each.
//     [MatrixShape] does so from single ranges of one in an object store, [MappedMatrix] from a
//     file: [OpenMatrix].
//   - [View]: reads a filter in a []byte, also a filter block of RocksDB, Pebble, LevelDB or
//     Parquet.
//   - [Mapped]: reads a filter in a file, without a copy: [Open].
//   - [Group]: many of these, prepared once to be probed together: the tables of an LSM tree.
//
// All have the same methods, but for those that their documentation says they lack. Code that
// only probes takes a [Prober].
//
// # Keys
//
// A key is a []byte (Add, Contains), a string (AddString), an integer (AddUint64: its 8 bytes, the
// lowest first) or a hash of one of these (AddHash). Each gives the same filter.
//
// AddIfAbsent returns true if the key was new. Add returns nothing, except in a CuckooFilter,
// which can be full.
//
// # Batches
//
// Methods for many keys at once overlap the waits for memory: they are faster for filters beyond
// the CPU's caches, and with AVX2 or C for all. They answer in a [Bitmap], which can be used again for the
// next batch. [SelectUint64s] and the functions beside it take a column of a query engine, and return the rows
// that may be present.
//
// # Goroutines
//
// Any number of goroutines may read a filter at once; adding requires exclusive access, except in a
// ConcurrentFilter. Pass filters by pointer; go vet reports copies. To replace a filter while
// others read it, keep it in a [Swap]: build the new one beside it, then Publish it. A [ConcurrentBuilder]
// is a filter that many goroutines build, and that none can ask before it is finished.
//
// # Keys that attackers choose
//
// An attacker who knows the seed, which is 0 unless you choose one, finds false positives, and keys
// that all fall on one line, within milliseconds. Where attackers choose keys, use [WithRandomSeed] or
// [Params.WithRandomSeed], and keep the seed, and the encoded filter that contains it, secret.
// WorstLineRate detects a flooded line. An attacker who sees the answers still finds false positives
// one by one, at the filter's rate.
//
// # Files and bytes
//
// All types that hold keys have MarshalBinary and Save, and the readers of these. ReadFrom reads to the end
// of a stream; for streams in which more follows there are WriteDelimited and ReadDelimited. The text form is
// a string in JSON. Never change a mapped file in place: see [Mapped].
//
// Give a filter in a struct a name: "Seen *bloomline.Filter". A struct that embeds one, without a name,
// takes over its methods, as with [time.Time]: in JSON the struct is the filter's string, and its other
// fields are lost. One that has to embed a filter needs MarshalJSON and UnmarshalJSON of its own, with
// "var _ json.Marshaler = Struct{}" beside it, so that the compiler and go vet see that it has: the example
// of Filter, embedded.
//
// There are no false negatives, except: damaged bytes opened without a checksum
// ([OpenViewUnverified], [OpenUnverified], engine blocks), a mapped file overwritten in place,
// removal of keys never added.
//
// Nil pointers, zero values, a [Swap] before its first Publish, and views of different seeds that
// are probed with one hash return true for every key. Adding to a nil or zero filter panics with a
// message, and so does reading into a nil one. MarshalText and GobEncode are methods of values, which a
// nil pointer does not have.
//
// # Go or C
//
// The package needs no C. It is plain Go, with assembly for AVX2 (k up to 8, static filters, and matrices),
// which the build tag purego and the race detector leave out. With the build tag bloomline_cgo, batches run in
// the C library, which uses AVX-512, AVX2 or NEON. Single keys and matrices stay in Go, since a call to C costs
// more than a probe, or is no faster, and so do classic, cuckoo and growing filters, cascades and Parquet's.
// Bytes and answers are the same. [Backend] returns what is in use. The environment's BLOOMLINE_BACKEND selects
// another, such as scalar or avx2.
//
// On Linux, filters of 4 MiB or more ask for huge pages, unless the program starts with
// BLOOMLINE_HUGE_PAGES=0.
package bloomline
