/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bloomline.h - Bloom filters for storage engines: one key, one 64-byte cache line.
 *
 * A filter reports whether a key may be present in a set. "Absent" is certain; "present" is wrong
 * at a false-positive rate you choose, such as 1 % at 9.9 bits per key. A filter is an array of
 * lines of 64 bytes, each one cache line. The 64-bit hash of a key picks one line and k bits in
 * it.
 *
 * A function is named after what it works on. Start with bloomline_filter, sized by
 * bloomline_params_for_rate().
 *
 * Filters in memory, and what keeps or replaces one:
 *
 *   bloomline_filter      insert, probe, save, load; can be combined and made smaller
 *   bloomline_classic_    the same as a standard Bloom filter: smaller, several times slower
 *   bloomline_cascade     exact answers for the keys of two sets that no longer change
 *   bloomline_concurrent  many threads insert at once
 *   bloomline_concurrent_builder threads insert columns; probed once finished
 *   bloomline_counting    keys can be removed; five times the memory
 *   bloomline_cuckoo      keys can be removed; can become full
 *   bloomline_growing     grows with its keys; they can be removed, counted, merged
 *   bloomline_journal     a growing filter in a file that survives a crash
 *   bloomline_scalable    grows with its keys, for an unknown number of them
 *   bloomline_swap        replaced atomically while threads read it
 *   bloomline_window      keys expire
 *   bloomline_static_     for a set that no longer changes: a quarter less memory; probed by a view
 *
 * Filters in the caller's memory:
 *
 *   bloomline_block_      writes an encoded filter into the caller's buffer
 *   bloomline_builder     the same, from keys that come one by one
 *   bloomline_lines_      works on caller-owned lines
 *
 * Probes of encoded filters, and of many filters at once:
 *
 *   bloomline_view        an encoded filter in place, without a copy, or the lines of any handle
 *   bloomline_map         an encoded filter in a file, mapped or read; a cascade or matrix in bytes
 *   bloomline_group       many views, prepared once to be probed together
 *   bloomline_matrix      up to thousands of filters of one shape, asked for one key at once
 *   bloomline_engine_     the filter blocks of RocksDB, Pebble, LevelDB and Parquet, in their bytes
 *   bloomline_parquet_    the parts of Parquet's filters: header, bits, hashes of columns
 *   bloomline_kudu_view   the split blocks of Kudu, Impala and Doris
 *   bloomline_velox_view  those of Velox
 *
 * A comment documents all functions under it, up to the next empty line. These rules hold for
 * every function unless its comment says otherwise:
 *
 * In doubt, true. A bloomline_..._contains...() returns true if it cannot answer: for a NULL
 * handle, a key that is NULL with a length above 0, a view that was not opened. A false negative
 * would make an engine lose data; a false positive costs it a read.
 *
 * Hashes. A hash from the caller must be uniform over all 64 bits: its high bits choose the line,
 * all bits choose the bits in it. bloomline_hash() and bloomline_hash_u64() return such hashes. A
 * plain integer, a hash of 32 bits, FNV-1a of short keys and C++'s std hash of integers are none.
 * One of 64 bits becomes uniform by bloomline_hash_u64(hash, 0), for inserts and probes alike. To
 * probe for a key by its bytes, insert it by its bytes, or by bloomline_hash() with the filter's
 * seed.
 *
 * Bitmaps. Bit i % 64 of word i / 64 is that of key, or filter, number i; unused bits of the last
 * word are zero. A bitmap of n bits has (n + 63) / 64 words, and need not be initialized. A probe
 * sets the bit of a key that may be present. An insert sets the bit of a key that was new; a key
 * that is given twice is new once. If the handle or the array of keys is NULL, all bits are set,
 * and nothing is inserted. The bitmap of an insert or a removal may be NULL. A probe whose bitmap
 * is NULL returns the number of its keys, or filters, as if all might be present.
 *
 * Status. A function that can fail returns a bloomline_status: BLOOMLINE_OK (0), or an error. The
 * comments name the errors to expect; any such function may also return BLOOMLINE_ERR_NULL and
 * BLOOMLINE_ERR_INTERNAL. There is no errno, no last error, and no state kept for a thread,
 * except by bloomline_swap. A failed allocation is a status too. Compilers warn of an ignored
 * status: an insert that failed is a false negative later.
 *
 * Outputs are written only on success. They need not be initialized.
 *
 * Pointers. NULL is never allowed, except where a comment says so, and for an array or a buffer
 * with a count of 0. For NULL, a function that returns a status returns BLOOMLINE_ERR_NULL. Other
 * functions do nothing, also those that free; they return 0, or a value that does no harm. A key
 * that is NULL with a length above 0 is inserted and hashed as if it were empty. All its bytes
 * count: if a key is a struct with padding, copy its members side by side first. Keys and encoded
 * filters may have any alignment (lines at multiples of 64 bytes are faster); everything else
 * must be aligned as its type. What a call writes must not overlap anything else that it is
 * given.
 *
 * Threads. Any number of threads may call functions that take a handle as const, on the same
 * handle, at once. A function that takes it as non-const requires exclusive access. All else that
 * a call reads must stay unchanged while it runs. No function waits for another. Those called
 * ..._parallel(), and others that take 'threads', start threads, which end before they return.
 *
 * First use, fork, environment. There is nothing to initialize, and no lock: a process may fork
 * while its other threads are in the library, and the child may use it. The library reads
 * BLOOMLINE_BACKEND, BLOOMLINE_PREFETCH and BLOOMLINE_HUGE_PAGES when it is loaded: before main(),
 * or within dlopen(). Set them before the program starts; a later setenv() changes nothing, and
 * races with nothing here. dlopen() must not run at the same time as setenv().
 *
 * Ownership. A function that writes the address of a handle to 'out' gives it to the caller, who
 * frees it by its ..._free(), a map by bloomline_map_close(), once, in any thread. A handle that is
 * returned is part of another, or has to be released: its comment says which. Returned texts are
 * static.
 *
 * No exception or panic ever leaves the library.
 *
 * This file is generated from the sources of the library by `make header`.
 */
#ifndef BLOOMLINE_H
#define BLOOMLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The version of this header as one number, for comparisons: 1.2.3 is 10203. */
#define BLOOMLINE_VERSION \
    (BLOOMLINE_VERSION_MAJOR * 10000 + BLOOMLINE_VERSION_MINOR * 100 + BLOOMLINE_VERSION_PATCH)

/* Marks all functions. On Windows, define BLOOMLINE_SHARED before the include to link the DLL. */
#ifndef BLOOMLINE_API
#if defined(_WIN32)
#if defined(BLOOMLINE_SHARED)
#define BLOOMLINE_API __declspec(dllimport)
#else
#define BLOOMLINE_API
#endif
#elif defined(__GNUC__)
#define BLOOMLINE_API __attribute__((visibility("default")))
#else
#define BLOOMLINE_API
#endif
#endif

/* BLOOMLINE_CHECKED marks the functions whose status must not be ignored. Define BLOOMLINE_MUST_USE
 * empty before the include to turn off the warnings. */
#ifndef BLOOMLINE_MUST_USE
#if (defined(__cplusplus) && __cplusplus >= 201703L) || \
    (defined(_MSVC_LANG) && _MSVC_LANG >= 201703L) || \
    (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define BLOOMLINE_MUST_USE [[nodiscard]]
#elif defined(__GNUC__)
#define BLOOMLINE_MUST_USE __attribute__((warn_unused_result))
#else
#define BLOOMLINE_MUST_USE
#endif
#endif
#define BLOOMLINE_CHECKED BLOOMLINE_MUST_USE BLOOMLINE_API

#ifdef __cplusplus
extern "C" {
#endif

/* Status -------------------------------------------------------------------------------- */

/**
 * What a function that can fail returns: BLOOMLINE_OK (0), or a positive BLOOMLINE_ERR_ number.
 * The numbers never change their meaning; later versions may return others, which are errors too.
 */
typedef int32_t bloomline_status;

/** Success. */
#define BLOOMLINE_OK 0

/** A pointer was NULL (or an array misaligned) where that is not allowed. */
#define BLOOMLINE_ERR_NULL 1

/** The target false-positive rate is not between 0 and 1, both excluded. */
#define BLOOMLINE_ERR_RATE 2

/** The bits per key are not a positive finite number. */
#define BLOOMLINE_ERR_BITS_PER_KEY 3

/**
 * k, the number of bits that a key sets, is outside 1 to 16. Functions that read data also return
 * it for other types of filters, if their fingerprint bits, their rows or the number of their
 * parts is out of range.
 */
#define BLOOMLINE_ERR_K 4

/**
 * The line count is more than the type of filter, or memory, can have. Functions that read data
 * also return it for a line count of 0.
 */
#define BLOOMLINE_ERR_LINE_COUNT 5

/** Out of memory. */
#define BLOOMLINE_ERR_OUT_OF_MEMORY 6

/** The buffer is too small for the result. */
#define BLOOMLINE_ERR_BUFFER_TOO_SMALL 7

/** The two filters differ in line count, k, seed or type (plain or classic). */
#define BLOOMLINE_ERR_MISMATCH 8

/** A filter with an odd number of lines cannot be folded. */
#define BLOOMLINE_ERR_ODD_LINE_COUNT 9

/** BLOOMLINE_BACKEND names a backend that this CPU does not have, or that does not exist. */
#define BLOOMLINE_ERR_BACKEND 10

/** The data is shorter than any filter, or its length is not the one that it states. */
#define BLOOMLINE_ERR_TRUNCATED 11

/** The data does not end as a filter does: it is something else, or was cut off. */
#define BLOOMLINE_ERR_NOT_A_FILTER 12

/** The data has an unknown format version. */
#define BLOOMLINE_ERR_VERSION 13

/** The layout of the data, or of parameters, is unknown, or another than the operation takes. */
#define BLOOMLINE_ERR_LAYOUT 14

/** The data is damaged: a checksum does not match. */
#define BLOOMLINE_ERR_CHECKSUM 15

/** A field that must be zero is not, in the data or in a bloomline_params. */
#define BLOOMLINE_ERR_RESERVED 16

/** Reading or writing failed. */
#define BLOOMLINE_ERR_IO 17

/** There is no such file or directory. */
#define BLOOMLINE_ERR_NOT_FOUND 18

/** The file may not be read or written by this process. */
#define BLOOMLINE_ERR_PERMISSION 19

/**
 * A bug in the library, caught before it could do harm. Free the handle that the call was to
 * change, and please report the bug.
 */
#define BLOOMLINE_ERR_INTERNAL 20

/** The key is definitely absent, and so cannot be removed; nothing changed. */
#define BLOOMLINE_ERR_ABSENT 21

/** The filter is full; nothing changed. */
#define BLOOMLINE_ERR_FULL 22

/** A window needs 1 to 2^32 - 1 generations. */
#define BLOOMLINE_ERR_GENERATIONS 23

/** Fewer keys were given than the filter has: some would be false negatives. */
#define BLOOMLINE_ERR_KEY_COUNT 24

/** The path leads to something other than a regular file, which was neither read nor replaced. */
#define BLOOMLINE_ERR_NOT_A_FILE 25

/**
 * Both sets of a cascade have a key of one hash: the same key, or two keys that another seed tells
 * apart.
 */
#define BLOOMLINE_ERR_OVERLAP 26

/** The parameters are not filled in: their line count is 0. */
#define BLOOMLINE_ERR_NO_LINES 27

/** The target false-positive rate is between 0 and 1, but less than this type of filter reaches. */
#define BLOOMLINE_ERR_RATE_TOO_SMALL 28

/** The bits per key are fewer than this type of filter takes. */
#define BLOOMLINE_ERR_TOO_FEW_BITS 29

/** The bits of a cuckoo filter's fingerprints are not 8, 12 or 16. */
#define BLOOMLINE_ERR_FINGERPRINT_BITS 30

/** The rows of a static filter are outside 4 to 16. */
#define BLOOMLINE_ERR_ROWS 31

/** The value of BLOOMLINE_PREFETCH is unknown. */
#define BLOOMLINE_ERR_PREFETCH 32

/** A matrix needs 1 to 2^32 - 1 columns. */
#define BLOOMLINE_ERR_COLUMNS 33

/** The matrix has no column of this number. */
#define BLOOMLINE_ERR_COLUMN 34

/**
 * The filter cannot be a column of the matrix: it is not plain, or its line count, k or seed do not
 * fit. bloomline_params_foldable_to() makes parameters that do.
 */
#define BLOOMLINE_ERR_COLUMN_SHAPE 35

/** A growing filter made for an unknown number of keys cannot be frozen or subtracted from. */
#define BLOOMLINE_ERR_UNBOUNDED 36

/** A record of a journal does not follow on the last one, or is of another filter. */
#define BLOOMLINE_ERR_SEQUENCE 37

/** 32 layers of a cascade do not tell its two sets apart: somebody chose the hashes for that. */
#define BLOOMLINE_ERR_LAYERS 38

/**
 * The filter, or its parameters, are those of a standard Bloom filter, and the operation needs all
 * bits of a key in one line.
 */
#define BLOOMLINE_ERR_CLASSIC 39

/** The journal is open elsewhere, and has one writer. */
#define BLOOMLINE_ERR_LOCKED 40

/**
 * bloomline_status_message() returns what 'status' means: one line of English without a full stop.
 * The text is static. Accepts any number, and never returns NULL.
 */
BLOOMLINE_API const char *bloomline_status_message(bloomline_status status);

/* Version and backend ------------------------------------------------------------------- */

/** The version of this header: major number. */
#define BLOOMLINE_VERSION_MAJOR 0

/** The version of this header: minor number. */
#define BLOOMLINE_VERSION_MINOR 1

/** The version of this header: patch number. */
#define BLOOMLINE_VERSION_PATCH 0

/**
 * The binary interface of this header: the number in the name of the shared library
 * (libbloomline.so.0). It changes only if programs built with an older header cannot run with a
 * newer library.
 */
#define BLOOMLINE_ABI_VERSION 0

/**
 * bloomline_abi_version() returns the BLOOMLINE_ABI_VERSION of the library. A program that loads
 * the library at run time compares it with the header's before it calls anything else.
 */
BLOOMLINE_API uint32_t bloomline_abi_version(void);

/**
 * bloomline_abi_0() does nothing. Its name is that of the binary interface, so that a program
 * built with the header of another one does not link: see the end of this header.
 */
BLOOMLINE_API void bloomline_abi_0(void);

/** bloomline_version() returns the version of the library, such as "0.1.0". The text is static. */
BLOOMLINE_API const char *bloomline_version(void);

/**
 * bloomline_backend() returns the name of the backend that answers probes in this process, such as
 * "avx2" or "scalar". It is chosen once, by the CPU; all give the same answers and bytes. The
 * environment variable BLOOMLINE_BACKEND, set before the library is loaded, forces one; empty is
 * as good as unset. The text is static.
 *
 * Batches prefetch what suits the size of the filter and of the CPU's caches. For experiments,
 * BLOOMLINE_PREFETCH forces one prefetch for all: "none", "far" (into L2, far ahead) or "near"
 * (far, and near ahead into L1).
 *
 * Returns "none" if this CPU does not have the backend, or BLOOMLINE_PREFETCH has another value.
 * Then nothing can be made or opened: BLOOMLINE_ERR_BACKEND, BLOOMLINE_ERR_PREFETCH.
 */
BLOOMLINE_API const char *bloomline_backend(void);

/* Memory -------------------------------------------------------------------------------- */

/** Functions that lines are allocated by, such as those of an engine's arena. */
typedef struct bloomline_allocator {
    /**
     * Returns 'size' bytes at a multiple of 'align', which is 64, or NULL. They need not be
     * zeroed.
     */
    void *(*alloc)(void *context, size_t size, size_t align);
    /** Frees what 'alloc' returned for this 'size'. */
    void (*free)(void *context, void *memory, size_t size);
    /** Passed to both. */
    void *context;
} bloomline_allocator;

/**
 * bloomline_set_allocator() makes 'allocator' the source of the memory of all lines and counters
 * made from now on, of filters of all kinds. The memory to build them in comes from it, too: the
 * keys in a bloomline_builder, and what bloomline_static_block_build() and bloomline_cascade_new()
 * take for each hash. NULL restores the default. Handles, of some hundred bytes, and file names
 * stay with malloc(). With an allocator, no huge pages are mapped.
 *
 * Memory is freed by the allocator that it came from. So keep '*allocator' in place, unchanged,
 * until all filters and builders made with it are freed: best make it static.
 *
 * Any thread may call this at any time; a filter made meanwhile has the old allocator or the new.
 * 'alloc' and 'free' are called by whichever thread makes, grows or frees a filter, by several at
 * once. They must not call this library, and must return normally: no exception, no longjmp(). If
 * 'alloc' returns NULL or an address that is no multiple of 64, the call that needed it returns
 * BLOOMLINE_ERR_OUT_OF_MEMORY.
 *
 * There is one allocator for the process, and none for each filter: the functions called
 * bloomline_..._memory() tell what each takes of it.
 *
 * Errors: BLOOMLINE_ERR_NULL if 'alloc' or 'free' is NULL; nothing changes.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_set_allocator(const bloomline_allocator *allocator);

/* Hashes of keys ------------------------------------------------------------------------ */

/**
 * One key of a batch: 'len' bytes at 'data'. The empty key is allowed; its 'data' may
 * be NULL.
 */
typedef struct bloomline_bytes {
    /** Where the bytes are; any alignment. */
    const uint8_t *data;
    /** How many bytes. */
    size_t len;
} bloomline_bytes;

/**
 * bloomline_random_seed() writes a random number of the operating system to 'out': a seed for a
 * filter whose keys an attacker can choose. With a known seed, such as 0, an attacker finds false
 * positives, and keys that all fall on one line, within milliseconds.
 *
 * A seed stops keys chosen beforehand. It does not stop an attacker who can probe the filter and
 * see the answers, or read its bytes, which hold the seed: XXH3 is not a cryptographic hash.
 * Against that, hash keys by SipHash with a secret key, and use the functions that take hashes.
 *
 * Errors: BLOOMLINE_ERR_IO if the system has no random numbers.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_random_seed(uint64_t *out);

/**
 * bloomline_hash() returns the hash of the 'len' bytes at 'key': XXH3-64 with 'seed', on every
 * CPU. A filter with that seed uses it for its keys.
 */
BLOOMLINE_API uint64_t bloomline_hash(const void *key, size_t len, uint64_t seed);

/**
 * bloomline_hash_u64() returns the hash of an integer key: that of its 8 bytes in little-endian
 * order, on every CPU. Hash integers before you pass them to functions that take hashes: the line
 * and bits of a key depend on all 64 bits of its hash. Small integers leave most of them zero.
 */
BLOOMLINE_API uint64_t bloomline_hash_u64(uint64_t key, uint64_t seed);

/**
 * bloomline_hash_batch() writes the hashes of 'n' keys to 'out', in order: those of
 * bloomline_hash(). bloomline_hash_u64_batch() does so for integers as bloomline_hash_u64(); 'out'
 * may then be the array of integers itself. bloomline_hash_u32_batch() hashes integers by their 4
 * bytes in little-endian order, so a number has another hash there than as 8 bytes. They do
 * nothing if either array is NULL.
 */
BLOOMLINE_API void bloomline_hash_batch(const bloomline_bytes *keys, size_t n, uint64_t seed,
    uint64_t *out);
BLOOMLINE_API void bloomline_hash_u64_batch(const uint64_t *keys, size_t n, uint64_t seed,
    uint64_t *out);
BLOOMLINE_API void bloomline_hash_u32_batch(const uint32_t *keys, size_t n, uint64_t seed,
    uint64_t *out);

/* Size and shape of a filter ------------------------------------------------------------ */

/**
 * The size and shape of a filter. Made by bloomline_params_for_rate() or
 * bloomline_params_for_bits(), or filled in by hand; every function checks it.
 */
typedef struct bloomline_params {
    /** How many lines of 64 bytes, at least 1. */
    uint64_t line_count;
    /** How many bits a key sets, 1 to 16. */
    uint32_t k;
    /**
     * Where these bits are. 0: in one line. BLOOMLINE_KIND_CLASSIC: anywhere in all lines, a
     * standard Bloom filter; bloomline_classic_params_for_rate() says when.
     */
    uint32_t layout;
    /**
     * The seed of the hash of keys: any number. bloomline_params_for_rate() and
     * bloomline_params_for_bits() set it to 0. If an attacker can choose keys, take it from
     * bloomline_random_seed() and keep it secret.
     */
    uint64_t seed;
} bloomline_params;

/**
 * The size and shape of a cuckoo filter. Made by bloomline_cuckoo_params_for_rate(), or filled in
 * by hand; every function checks it.
 */
typedef struct bloomline_cuckoo_params {
    /** How many lines of 64 bytes, 1 to 2^32 - 1. */
    uint64_t line_count;
    /**
     * Bits kept of each key: 8 (64 slots per line, 2.95 % false positives), 12 (40, 0.186 %) or 16
     * (32, 0.0116 %).
     */
    uint32_t fingerprint_bits;
    /** Must be 0. */
    uint32_t reserved;
    /**
     * The seed of the hash of keys. If an attacker can choose keys, take it from
     * bloomline_random_seed() and keep it secret: with a known seed one can choose nine keys that
     * share 8 slots, so the ninth fails as full in a filter of any size.
     */
    uint64_t seed;
} bloomline_cuckoo_params;

/**
 * bloomline_params_for_rate() writes to 'out' the smallest filter for 'keys' keys at a
 * false-positive rate of 'rate' (0.01 is 1 %), and the k that suits it. 'rate' is between 0 and 1,
 * both excluded. 1 % takes about 9.9 bits per key, a little more than a standard Bloom filter.
 * bloomline_params_for_bits() writes a filter of 'bits_per_key' bits for each key, which may be a
 * fraction. It takes the k with the lowest false-positive rate at that size. 0 keys take one line.
 *
 * bloomline_params_for_rate_within() does the same as bloomline_params_for_rate(), but the filter
 * takes at most 'bytes' bytes of lines (or one line). If 'rate' needs more, the filter takes all
 * of these bytes, and the k that is best for them. bloomline_params_rate() then returns the rate,
 * by which you decide whether the filter is worth its probes.
 *
 * Errors: BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_RATE_TOO_SMALL, BLOOMLINE_ERR_BITS_PER_KEY;
 * BLOOMLINE_ERR_LINE_COUNT if it would not fit in memory.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_params_for_rate(uint64_t keys, double rate,
    bloomline_params *out);
BLOOMLINE_CHECKED bloomline_status bloomline_params_for_bits(uint64_t keys, double bits_per_key,
    bloomline_params *out);
BLOOMLINE_CHECKED bloomline_status bloomline_params_for_rate_within(uint64_t keys, double rate,
    size_t bytes, bloomline_params *out);

/**
 * bloomline_classic_params_for_rate() and bloomline_classic_params_for_bits() do the same for a
 * standard Bloom filter. Its 'layout' is BLOOMLINE_KIND_CLASSIC: one array of 'line_count' * 64
 * bytes, in which a key sets k bits anywhere. 1 % takes 9.6 bits per key instead of 9.9; 10 bits
 * per key give 0.82 % instead of 0.97 %. But a probe reads up to k cache lines, and is several
 * times slower.
 *
 * All functions of bloomline_filter, bloomline_concurrent, bloomline_concurrent_builder and
 * caller-owned lines accept these parameters, but folding returns BLOOMLINE_ERR_CLASSIC. So does a
 * function that makes another kind of filter of them.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_classic_params_for_rate(uint64_t keys, double rate,
    bloomline_params *out);
BLOOMLINE_CHECKED bloomline_status bloomline_classic_params_for_bits(uint64_t keys,
    double bits_per_key, bloomline_params *out);

/**
 * bloomline_params_foldable() rounds the line count up to a multiple of 2 to the power 'folds', so
 * that bloomline_filter_fold() can halve the filter 'folds' times. For keys that cannot be counted
 * beforehand: size the filter for too many, then fold it.
 *
 * bloomline_params_foldable_to() makes 'params' those of a filter that can be a column of a
 * bloomline_matrix of 'shape'. They get its k and seed. Their line count is that of 'shape' times
 * the smallest power of two that gives no fewer lines than 'params' has. A column is the filter,
 * folded to the line count of 'shape', which leaves fewer bits per key. So let 'shape' be that of
 * the largest column.
 *
 * Errors: BLOOMLINE_ERR_LINE_COUNT if it would not fit in memory, BLOOMLINE_ERR_K and
 * BLOOMLINE_ERR_LAYOUT; BLOOMLINE_ERR_CLASSIC if 'shape' is that of a standard Bloom filter.
 * 'params' is unchanged.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_params_foldable(bloomline_params *params,
    uint32_t folds);
BLOOMLINE_CHECKED bloomline_status bloomline_params_foldable_to(bloomline_params *params,
    const bloomline_params *shape);

/**
 * bloomline_params_rate() returns the expected false-positive rate, from 0 to 1, of a filter of
 * these parameters with 'keys' different keys. It models the lines, for which the standard formula
 * is too low; of a standard Bloom filter it is that formula. Returns 1 if 'params' is NULL or out
 * of range.
 */
BLOOMLINE_API double bloomline_params_rate(const bloomline_params *params, uint64_t keys);

/**
 * bloomline_cuckoo_params_for_rate() writes to 'out' the smallest cuckoo filter for 'keys' keys
 * with a false-positive rate of at most 'rate' (0.01 is 1 %) when all are present. 'rate' is at
 * least 0.000116, and less than 1. The seed is 0.
 *
 * Errors: BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_RATE_TOO_SMALL, BLOOMLINE_ERR_LINE_COUNT if it would
 * be too large.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_cuckoo_params_for_rate(uint64_t keys, double rate,
    bloomline_cuckoo_params *out);

/**
 * bloomline_cuckoo_params_rate() returns the expected false-positive rate, from 0 to 1, of a
 * cuckoo filter of these parameters with 'keys' keys. Returns 1 if 'params' is NULL or out of
 * range.
 */
BLOOMLINE_API double bloomline_cuckoo_params_rate(const bloomline_cuckoo_params *params,
    uint64_t keys);

/* Encoded filters: their kinds, and how they are written -------------------------------- */

/**
 * Writes the next 'len' bytes at 'data' somewhere and returns true, or false on failure: the
 * callback of bloomline_filter_write() and the like, which pass 'context' on. It must return
 * normally: no exception, no longjmp().
 */
typedef bool (*bloomline_write_fn)(void *context, const void *data, size_t len);

/**
 * bloomline_encoded_kind() returns the kind of the encoded filter in the 'len' bytes at 'bytes':
 * one of the BLOOMLINE_KIND_ numbers, each of which is defined beside the functions of its kind; 0
 * if the bytes are no encoded filter. Later versions may return other numbers. It reads and checks
 * the last 64 bytes only: decoding can still fail.
 *
 * Returns 0 if 'bytes' is NULL.
 */
BLOOMLINE_API int32_t bloomline_encoded_kind(const void *bytes, size_t len);

/* Filters ------------------------------------------------------------------------------- */

/** What bloomline_encoded_kind() returns for a filter that bloomline_filter_decode() reads. */
#define BLOOMLINE_KIND_FILTER 1

/**
 * What bloomline_encoded_kind() returns for a classic filter, which bloomline_filter_decode()
 * reads, too.
 */
#define BLOOMLINE_KIND_CLASSIC 6

/**
 * A filter that keys are inserted into. Made by bloomline_filter_new(),
 * bloomline_filter_clone(), bloomline_filter_decode() or bloomline_filter_load(); freed by
 * bloomline_filter_free().
 */
typedef struct bloomline_filter bloomline_filter;

/**
 * bloomline_filter_new() creates an empty filter, of 64 bytes of memory for each line, aligned to
 * the line.
 *
 * On Unix, filters of 2 MiB and more get their memory from the system (mmap), in huge pages where
 * it has them. Growing filters do so piece by piece, from 8 MiB on, and their pages become huge
 * later. Huge pages waste at most a tenth: a filter for which they would waste more has small pages
 * at its end. With BLOOMLINE_HUGE_PAGES=0 in the environment all memory is the allocator's. See
 * also bloomline_set_allocator().
 *
 * Errors: BLOOMLINE_ERR_NO_LINES, BLOOMLINE_ERR_K, BLOOMLINE_ERR_LINE_COUNT and
 * BLOOMLINE_ERR_LAYOUT for parameters out of range; BLOOMLINE_ERR_OUT_OF_MEMORY;
 * BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_filter_new(const bloomline_params *params,
    bloomline_filter **out);

/**
 * bloomline_filter_clone() creates a copy, of the same keys, key count and type.
 *
 * Errors: BLOOMLINE_ERR_OUT_OF_MEMORY.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_filter_clone(const bloomline_filter *filter,
    bloomline_filter **out);

/** bloomline_filter_free() frees a filter. Do not use its views afterwards. */
BLOOMLINE_API void bloomline_filter_free(bloomline_filter *filter);

/**
 * bloomline_filter_memory() returns how many bytes of memory the lines of the filter take,
 * including the unused end of huge pages. If bloomline_set_allocator() has set an allocator, that
 * is what the allocator was asked for. The handle itself, of some hundred bytes, is not counted.
 */
BLOOMLINE_API size_t bloomline_filter_memory(const bloomline_filter *filter);

/**
 * bloomline_filter_insert() inserts the key of 'len' bytes at 'key',
 * bloomline_filter_insert_hash() a key by its hash. Returns true if the key was new, and false if
 * it was already present, or a false positive. Returns true for a NULL filter.
 */
BLOOMLINE_API bool bloomline_filter_insert(bloomline_filter *filter, const void *key, size_t len);
BLOOMLINE_API bool bloomline_filter_insert_hash(bloomline_filter *filter, uint64_t hash);

/**
 * bloomline_filter_insert_hashes() inserts 'n' keys by their hashes,
 * bloomline_filter_insert_keys() by their bytes, faster than one by one: in a large filter their
 * lines are prefetched. Does nothing if 'filter' or the array is NULL.
 */
BLOOMLINE_API void bloomline_filter_insert_hashes(bloomline_filter *filter, const uint64_t *hashes,
    size_t n);
BLOOMLINE_API void bloomline_filter_insert_keys(bloomline_filter *filter,
    const bloomline_bytes *keys, size_t n);

/**
 * bloomline_filter_insert_hashes_parallel() and bloomline_filter_insert_keys_parallel() do the
 * same on up to 'threads' threads, the caller's among them; 0: on as many as there are CPUs. The
 * filter's bytes are the same for any number.
 *
 * Each thread has a range of lines, so no atomics are needed. The functions use fewer threads if
 * there are few keys (another thread for each 32,768) or if the system starts no more, and one
 * thread for a classic filter. bloomline_filter_insert_keys_parallel() also keeps up to 10 MiB of
 * hashes; without the memory for them it takes one thread.
 */
BLOOMLINE_API void bloomline_filter_insert_hashes_parallel(bloomline_filter *filter,
    const uint64_t *hashes, size_t n, size_t threads);
BLOOMLINE_API void bloomline_filter_insert_keys_parallel(bloomline_filter *filter,
    const bloomline_bytes *keys, size_t n, size_t threads);

/**
 * bloomline_filter_insert_new_hashes() inserts 'n' keys by their hashes,
 * bloomline_filter_insert_new_keys() by their bytes, in order, and returns how many were new. If
 * 'bitmap' is NULL, one thread does the work.
 *
 * For 'threads' and memory see bloomline_filter_insert_keys_parallel(); answers take another 128
 * KiB for each thread. Bytes and answers are the same for any number of threads.
 */
BLOOMLINE_API size_t bloomline_filter_insert_new_hashes(bloomline_filter *filter,
    const uint64_t *hashes, size_t n, size_t threads, uint64_t *bitmap);
BLOOMLINE_API size_t bloomline_filter_insert_new_keys(bloomline_filter *filter,
    const bloomline_bytes *keys, size_t n, size_t threads, uint64_t *bitmap);

/**
 * bloomline_filter_union() inserts all keys of 'from' into 'into'. bloomline_filter_intersect()
 * keeps in 'into' what both filters have: a key that is in both stays present. Others are false
 * positives at most as often as in either, and more often than in a filter of the common keys
 * alone. The key count becomes 0, which means unknown: bloomline_view_about() estimates
 * it. Line count, k, seed and type (plain or classic) must be equal.
 *
 * Errors: BLOOMLINE_ERR_MISMATCH; 'into' is unchanged.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_filter_union(bloomline_filter *into,
    const bloomline_filter *from);
BLOOMLINE_CHECKED bloomline_status bloomline_filter_intersect(bloomline_filter *into,
    const bloomline_filter *from);

/** bloomline_filter_clear() removes all keys. Size, k and seed stay. */
BLOOMLINE_API void bloomline_filter_clear(bloomline_filter *filter);

/**
 * bloomline_filter_fold() halves the number of lines and keeps all keys: every two neighbours
 * become one. Shrinks a filter that is too large, without rereading its keys; the false-positive
 * rate rises. Do not use views of the filter afterwards.
 *
 * Errors: BLOOMLINE_ERR_ODD_LINE_COUNT, BLOOMLINE_ERR_OUT_OF_MEMORY; BLOOMLINE_ERR_CLASSIC for a
 * classic filter. The filter is unchanged.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_filter_fold(bloomline_filter *filter);

/**
 * bloomline_filter_fold_to_rate() folds while the false-positive rate stays at 'rate' or below and
 * the line count is even, which may be not at all. It writes how many times to 'folds', unless
 * that is NULL. Size the filter with bloomline_params_foldable(): other line counts may be odd at
 * once.
 *
 * Errors: BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_OUT_OF_MEMORY; BLOOMLINE_ERR_CLASSIC for a classic
 * filter. The filter holds all its keys in any case.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_filter_fold_to_rate(bloomline_filter *filter,
    double rate, uint32_t *folds);

/**
 * bloomline_filter_encoded_len() returns how many bytes bloomline_filter_encode() writes: 64 for
 * each line and 64 more.
 */
BLOOMLINE_API size_t bloomline_filter_encoded_len(const bloomline_filter *filter);

/**
 * bloomline_filter_encode() writes the filter to the 'cap' bytes at 'out', for
 * bloomline_view_open() and bloomline_filter_decode(): the same bytes on every CPU. It writes
 * their number to 'written', unless that is NULL. The rest of 'out' is unchanged.
 *
 * Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than bloomline_filter_encoded_len().
 */
BLOOMLINE_CHECKED bloomline_status bloomline_filter_encode(const bloomline_filter *filter,
    void *out, size_t cap, size_t *written);

/**
 * bloomline_filter_write() passes the same bytes to 'write', part by part in order, with
 * 'context'.
 *
 * Errors: BLOOMLINE_ERR_IO as soon as 'write' returns false; BLOOMLINE_ERR_OUT_OF_MEMORY.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_filter_write(const bloomline_filter *filter,
    bloomline_write_fn write, void *context);

/**
 * bloomline_filter_decode() creates a filter from the 'len' bytes at 'data', which
 * bloomline_filter_encode(), bloomline_block_build() or the like wrote. It checks all of them,
 * checksums included, and copies the lines.
 *
 * Errors: BLOOMLINE_ERR_TRUNCATED, BLOOMLINE_ERR_NOT_A_FILTER, BLOOMLINE_ERR_VERSION,
 * BLOOMLINE_ERR_LAYOUT, BLOOMLINE_ERR_CHECKSUM, BLOOMLINE_ERR_RESERVED, BLOOMLINE_ERR_K and
 * BLOOMLINE_ERR_LINE_COUNT for data that is no valid filter, BLOOMLINE_ERR_LAYOUT also for one of
 * another kind; BLOOMLINE_ERR_OUT_OF_MEMORY, BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_filter_decode(const void *data, size_t len,
    bloomline_filter **out);

/**
 * bloomline_filter_save() writes the filter to a file and atomically replaces one of that name. It
 * first writes the bytes to another file in the same directory, flushes that to the disk, and then
 * renames it. Whoever opens the name finds the whole old filter or the whole new one. 'path' is
 * NUL-terminated, on Windows in UTF-8.
 *
 * On Unix the new file keeps the permissions of the old one and, where the process may set them,
 * its owner and group. If the group cannot be kept, the new group gets the permissions of
 * everybody. Access control lists and extended attributes are not kept. A file that replaces none
 * has the permissions of any new file. A symbolic link is replaced, not followed; the file keeps
 * the permissions of its target. Other hard links keep the old file.
 *
 * Errors: BLOOMLINE_ERR_NOT_A_FILE if 'path' leads to a directory, a pipe, a socket or a device,
 * also through a link; BLOOMLINE_ERR_NOT_FOUND if the directory is missing;
 * BLOOMLINE_ERR_PERMISSION, BLOOMLINE_ERR_IO, BLOOMLINE_ERR_OUT_OF_MEMORY. The old file is then
 * unchanged, with one exception: if flushing the directory fails, last of all, the new file is in
 * place, and may not survive a power failure.
 *
 * The Rust runtime copies a path of 384 bytes or more. If there is no memory for that copy, it
 * aborts the process. This holds for every function that takes a path.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_filter_save(const bloomline_filter *filter,
    const char *path);

/**
 * bloomline_filter_load() reads a filter from a file into memory, and checks it as
 * bloomline_filter_decode(). It reads the end of the file first: one that is no filter is rejected
 * before memory is taken for it. To probe a file without reading all of it, use
 * bloomline_map_open().
 *
 * Errors: those of bloomline_filter_decode(); BLOOMLINE_ERR_NOT_FOUND, BLOOMLINE_ERR_PERMISSION,
 * BLOOMLINE_ERR_IO, BLOOMLINE_ERR_NOT_A_FILE.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_filter_load(const char *path, bloomline_filter **out);

/* Filters: probes ----------------------------------------------------------------------- */

/**
 * bloomline_filter_contains() returns false if the key of 'len' bytes at 'key' is definitely
 * absent, and true if it may be present; bloomline_filter_contains_hash() for the hash of a key.
 */
BLOOMLINE_API bool bloomline_filter_contains(const bloomline_filter *filter, const void *key,
    size_t len);
BLOOMLINE_API bool bloomline_filter_contains_hash(const bloomline_filter *filter, uint64_t hash);

/**
 * bloomline_filter_contains_hashes() probes for 'n' keys by their hashes,
 * bloomline_filter_contains_keys() by their bytes, and returns how many may be present.
 */
BLOOMLINE_API size_t bloomline_filter_contains_hashes(const bloomline_filter *filter,
    const uint64_t *hashes, size_t n, uint64_t *bitmap);
BLOOMLINE_API size_t bloomline_filter_contains_keys(const bloomline_filter *filter,
    const bloomline_bytes *keys, size_t n, uint64_t *bitmap);

/* Views: filters in caller-owned bytes -------------------------------------------------- */

/**
 * bloomline_view_open(): no checksum of the lines. It reads the last 64 bytes only, for blocks
 * already verified. To open and probe takes three to four times as long as to probe, so keep a
 * view where you can. Whatever the bytes are, probes read only those 'len'. But if the lines are
 * damaged, an inserted key can be a false negative.
 */
#define BLOOMLINE_VIEW_UNVERIFIED 1

/**
 * A filter in caller-owned bytes: a block of a file, a mapped file, a message, a handle's lines.
 * It owns nothing, needs no closing, and may be copied. The bytes must stay in place, unchanged,
 * as long as it is used. A view that was never opened, is all zero or was overwritten is
 * recognized: it reports every key as present.
 */
typedef struct bloomline_view {
    /** Not for the caller. */
    uint64_t opaque[8];
} bloomline_view;

/**
 * bloomline_view_open() opens the encoded filter in the 'len' bytes at 'data', of a
 * bloomline_filter, bloomline_counting, bloomline_cuckoo or bloomline_builder. It copies and
 * allocates nothing. Other kinds have several parts, and it returns BLOOMLINE_ERR_LAYOUT for them:
 * for scalable and growing filters, windows, cascades and matrices. Decode these and probe their
 * handles; bloomline_map_bytes() opens growing filters, cascades and matrices in place.
 *
 * 'flags' is 0 or BLOOMLINE_VIEW_UNVERIFIED. With 0 it checks all bytes, checksums included, and
 * reads them from end to end. Do it once, or whenever they may have been damaged.
 *
 * Errors: those of bloomline_filter_decode(), without BLOOMLINE_ERR_OUT_OF_MEMORY;
 * BLOOMLINE_ERR_RESERVED for other flags. After any error, regard every key as present: read the
 * data for which the filter was made.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_view_open(const void *data, size_t len, uint32_t flags,
    bloomline_view *out);

/**
 * bloomline_view_contains() returns false if the key of 'len' bytes at 'key' is definitely absent,
 * and true if it may be present. bloomline_view_contains_hash() does so for the hash of a key:
 * that of bloomline_view_hash(), or whatever it was inserted by.
 */
BLOOMLINE_API bool bloomline_view_contains(const bloomline_view *view, const void *key, size_t len);
BLOOMLINE_API bool bloomline_view_contains_hash(const bloomline_view *view, uint64_t hash);

/**
 * bloomline_view_contains_hashes() is bloomline_filter_contains_hashes() for a view. If it is not
 * opened, all keys may be present.
 */
BLOOMLINE_API size_t bloomline_view_contains_hashes(const bloomline_view *view,
    const uint64_t *hashes, size_t n, uint64_t *bitmap);

/**
 * bloomline_view_hash() returns the hash that this filter uses for the key of 'len' bytes at
 * 'key'. One hash serves for all filters that hash keys in the same way and with the same seed. A
 * view that was not opened hashes as bloomline_hash() with seed 0.
 */
BLOOMLINE_API uint64_t bloomline_view_hash(const bloomline_view *view, const void *key, size_t len);

/* Views of filters ---------------------------------------------------------------------- */

/**
 * bloomline_filter_view() writes a view of the filter to 'out': for batches over several filters,
 * its fill, its expected false-positive rate, its lines. Valid until the filter is changed or
 * freed.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_filter_view(const bloomline_filter *filter,
    bloomline_view *out);

/* Views: their parameters, lines and rates ---------------------------------------------- */

/** What bloomline_view_about() writes. */
typedef struct bloomline_view_facts {
    /**
     * The fill ratio, 0 to 1: the fraction of bits that are set; of a cuckoo filter its load
     * factor.
     */
    double fill;
    /** How many different keys are present, estimated from the fill. */
    double estimated_keys;
    /**
     * The estimated false-positive rate, 0 to 1, at the present fill. If it is above the target,
     * build the filter anew, larger. Of several filters it is that of all together; of a cascade
     * the 'unknown_rate' of bloomline_cascade_about().
     */
    double estimated_rate;
    /**
     * The false-positive rate, 0 to 1, of the fullest line. Near 1 it shows keys that an attacker
     * chose to fall on one line; they hardly change 'estimated_rate'. By chance the fullest of a
     * million lines stays below 0.1 at an average of 1 %. For classic and LevelDB filters it is
     * 'estimated_rate'.
     */
    double worst_line_rate;
} bloomline_view_facts;

/**
 * bloomline_view_shape() writes line count, k, layout and seed of a view's filter to 'out'. For a
 * filter that was made with a bloomline_params, these are its parameters. A cuckoo filter has the
 * layout BLOOMLINE_KIND_CUCKOO, and its fingerprint bits in place of k. A static filter has the
 * layout BLOOMLINE_KIND_STATIC, the lines of its first level, and its rows in place of k. (No
 * function makes a filter of the parameters of these two.)
 *
 * Errors: BLOOMLINE_ERR_NOT_A_FILTER if the view was not opened; BLOOMLINE_ERR_LAYOUT for filters
 * of other engines, scalable and growing filters, windows and cascades.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_view_shape(const bloomline_view *view,
    bloomline_params *out);

/**
 * bloomline_view_lines() returns the address of the lines, and writes their length in bytes to
 * 'len', unless that is NULL. The lines are the first part of an encoded filter, whose kind
 * bloomline_encoded_kind() returns. For filters of other engines it returns the bytes that probes
 * read.
 *
 * If 'view' is NULL or not opened, or of a scalable or growing filter, a window, a cascade or a
 * column of a matrix, returns NULL and writes 0.
 */
BLOOMLINE_API const void *bloomline_view_lines(const bloomline_view *view, size_t *len);

/**
 * bloomline_view_key_count() returns how many keys the writer of the filter counted. A scalable
 * filter counts those that were new, a window those of each of its generations, a cascade the
 * included ones. It is a hint: 0 means unknown or none. Returns 0 if 'view' is NULL or not opened.
 */
BLOOMLINE_API uint64_t bloomline_view_key_count(const bloomline_view *view);

/**
 * bloomline_view_about() writes to 'out' how full a view's filter is. It reads the whole filter.
 *
 * Errors: BLOOMLINE_ERR_NOT_A_FILTER if the view was not opened.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_view_about(const bloomline_view *view,
    bloomline_view_facts *out);

/* Views: several keys, and a function chosen once --------------------------------------- */

/**
 * A function that answers as bloomline_view_contains(), for views of one kind: from
 * bloomline_view_contains_fn().
 */
typedef bool (*bloomline_contains_fn)(const bloomline_view *view, const void *key, size_t len);

/**
 * bloomline_view_contains_fn() returns a function that answers as bloomline_view_contains() for
 * this view, without the checks of each call: a cached RocksDB filter takes a fifth less time.
 * Pass it only this view or a copy, while its bytes are valid, and a NULL key only if 'len' is 0.
 * It checks none of that.
 *
 * Never returns NULL. If 'view' is NULL or not opened, or nothing is saved, returns
 * bloomline_view_contains().
 */
BLOOMLINE_API bloomline_contains_fn bloomline_view_contains_fn(const bloomline_view *view);

/** bloomline_view_contains_keys() is bloomline_view_contains_hashes() for keys by their bytes. */
BLOOMLINE_API size_t bloomline_view_contains_keys(const bloomline_view *view,
    const bloomline_bytes *keys, size_t n, uint64_t *bitmap);

/**
 * bloomline_view_contains_each() probes for 'n' keys that lie anywhere, such as those of a RocksDB
 * MultiGet: 'keys' is an array of pointers to them. It writes whether key i may be present to
 * present[i]. One or two keys are probed one by one. Of more keys, up to 64 at a time have their
 * lines prefetched together. If the filter is in the cache, a loop of bloomline_view_contains()
 * takes less time for up to 2 keys, and for up to 7 keys of at most 16 bytes. For many keys
 * bloomline_view_contains_keys() is faster.
 *
 * If 'view' is NULL or not opened, or 'keys' is NULL, all keys may be present; so may a key whose
 * pointer is NULL. If 'present' is NULL, nothing is written.
 */
BLOOMLINE_API void bloomline_view_contains_each(const bloomline_view *view,
    const bloomline_bytes *const *keys, size_t n, bool *present);

/**
 * bloomline_view_fewest_each() returns from how many keys on bloomline_view_contains_each() is
 * faster than a loop of the function that bloomline_view_contains_fn() returns. It was measured
 * with this backend for filters of this size, with keys of up to some 16 bytes. SIZE_MAX if the
 * loop does not take longer. An engine asks once, when it opens the filter.
 *
 * Returns SIZE_MAX if 'view' is NULL or not opened.
 */
BLOOMLINE_API size_t bloomline_view_fewest_each(const bloomline_view *view);

/* Views: columns, and the rows that may be present -------------------------------------- */

/**
 * bloomline_view_select_u64() probes for the integers of a column of 'n' rows. It writes the
 * numbers of the rows that may be present to 'out', in ascending order, and returns how many there
 * are. The others select rows of a column of
 *
 * - hashes: those of bloomline_view_hash(), or whatever the keys were inserted by;
 * - 8-byte and 4-byte integers, hashed as the bytes of their own width in little-endian order on
 *   every CPU: bloomline_hash_u64_batch() and bloomline_hash_u32_batch() do so with a seed;
 * - strings, as Apache Arrow has them: that of row i is the bytes of 'data' from offsets[i] to
 *   offsets[i + 1]. There are n + 1 offsets; of large strings they have 8 bytes. The caller
 *   promises that 'data' has these bytes: the function does not know its length.
 *
 * 'out' has room for 'n' numbers. What is behind those returned is of no use. Rows are best
 * selected from 1,024 to 4,096 at a time, each part used while it is in the cache.
 *
 * If 'view' is NULL or not opened, or an array is NULL, all rows may be present; so may a string
 * whose offsets are negative or descend, or whose 'data' is NULL. If 'out' is NULL, returns 'n'. If
 * 'n' rows cannot be counted by the type of 'out', writes nothing and returns SIZE_MAX.
 */
BLOOMLINE_API size_t bloomline_view_select_u64(const bloomline_view *view, const uint64_t *values,
    size_t n, uint32_t *out);
BLOOMLINE_API size_t bloomline_view_select_u32(const bloomline_view *view, const uint32_t *values,
    size_t n, uint32_t *out);
BLOOMLINE_API size_t bloomline_view_select_hashes(const bloomline_view *view,
    const uint64_t *hashes, size_t n, uint32_t *out);
BLOOMLINE_API size_t bloomline_view_select_strings(const bloomline_view *view,
    const int32_t *offsets, const void *data, size_t n, uint32_t *out);
BLOOMLINE_API size_t bloomline_view_select_large_strings(const bloomline_view *view,
    const int64_t *offsets, const void *data, size_t n, uint32_t *out);

/**
 * bloomline_view_select16_u64() and those below do so for at most 65,536 rows, whose numbers have
 * 2 bytes.
 */
BLOOMLINE_API size_t bloomline_view_select16_u64(const bloomline_view *view, const uint64_t *values,
    size_t n, uint16_t *out);
BLOOMLINE_API size_t bloomline_view_select16_u32(const bloomline_view *view, const uint32_t *values,
    size_t n, uint16_t *out);
BLOOMLINE_API size_t bloomline_view_select16_hashes(const bloomline_view *view,
    const uint64_t *hashes, size_t n, uint16_t *out);
BLOOMLINE_API size_t bloomline_view_select16_strings(const bloomline_view *view,
    const int32_t *offsets, const void *data, size_t n, uint16_t *out);
BLOOMLINE_API size_t bloomline_view_select16_large_strings(const bloomline_view *view,
    const int64_t *offsets, const void *data, size_t n, uint16_t *out);

/**
 * bloomline_view_refine_u64() takes the 'n' rows of a selection. It keeps those that may be
 * present, in their order, at the front of 'selection', and returns how many there are. What is
 * behind these is of no use. The others refine by columns as above.
 *
 * The caller promises that the column has all rows of the selection. The functions do not know its
 * length: for a row beyond it they read memory beyond the array.
 *
 * To leave out rows that are null, pass a selection of the rows that are not. If all rows may be
 * present, for example because 'view' was not opened, the selection stays as it is. If 'selection'
 * is NULL, returns 'n'.
 */
BLOOMLINE_API size_t bloomline_view_refine_u64(const bloomline_view *view, const uint64_t *values,
    uint32_t *selection, size_t n);
BLOOMLINE_API size_t bloomline_view_refine_u32(const bloomline_view *view, const uint32_t *values,
    uint32_t *selection, size_t n);
BLOOMLINE_API size_t bloomline_view_refine_hashes(const bloomline_view *view,
    const uint64_t *hashes, uint32_t *selection, size_t n);
BLOOMLINE_API size_t bloomline_view_refine_strings(const bloomline_view *view,
    const int32_t *offsets, const void *data, uint32_t *selection, size_t n);
BLOOMLINE_API size_t bloomline_view_refine_large_strings(const bloomline_view *view,
    const int64_t *offsets, const void *data, uint32_t *selection, size_t n);

/** bloomline_view_refine16_u64() and those below do so for numbers of rows that have 2 bytes. */
BLOOMLINE_API size_t bloomline_view_refine16_u64(const bloomline_view *view, const uint64_t *values,
    uint16_t *selection, size_t n);
BLOOMLINE_API size_t bloomline_view_refine16_u32(const bloomline_view *view, const uint32_t *values,
    uint16_t *selection, size_t n);
BLOOMLINE_API size_t bloomline_view_refine16_hashes(const bloomline_view *view,
    const uint64_t *hashes, uint16_t *selection, size_t n);
BLOOMLINE_API size_t bloomline_view_refine16_strings(const bloomline_view *view,
    const int32_t *offsets, const void *data, uint16_t *selection, size_t n);
BLOOMLINE_API size_t bloomline_view_refine16_large_strings(const bloomline_view *view,
    const int64_t *offsets, const void *data, uint16_t *selection, size_t n);

/* Views: columns of any type, also with nulls ------------------------------------------- */

/** bloomline_column: hashes, of 8 bytes. */
#define BLOOMLINE_COLUMN_HASHES 0

/** bloomline_column: integers of 8 bytes, hashed as bloomline_hash_u64() does. */
#define BLOOMLINE_COLUMN_U64 1

/** bloomline_column: integers of 4 bytes, hashed as bloomline_hash_u32_batch() does. */
#define BLOOMLINE_COLUMN_U32 2

/** bloomline_column: strings, by offsets of 4 bytes. */
#define BLOOMLINE_COLUMN_STRINGS 3

/** bloomline_column: strings, by offsets of 8 bytes. */
#define BLOOMLINE_COLUMN_LARGE_STRINGS 4

/**
 * A column of keys, as bloomline_view_select_u64() describes columns: 'n' rows, some of which may
 * be null. Signed integers are cast to unsigned ones.
 */
typedef struct bloomline_column {
    /** A BLOOMLINE_COLUMN_ number. */
    size_t type;
    /**
     * 'n' hashes or integers; of strings their 'n' + 1 offsets, of 4 or 8 bytes and signed. If 'n'
     * is 0, it may be NULL.
     */
    const void *values;
    /** The bytes of strings, as many as the last offset says. Unused otherwise. */
    const void *data;
    /** How many rows. */
    size_t n;
    /**
     * NULL, or a bit for each row, the lowest of a byte first, as Apache Arrow has them: a row
     * whose bit is 0 is null, and has no key.
     */
    const uint8_t *validity;
    /** Which bit is that of the first row. */
    size_t first_bit;
} bloomline_column;

/**
 * bloomline_hash_column() writes the hashes of a column of any type to 'out', in the order of its
 * rows. They are those of bloomline_hash() with 'seed'; a column of hashes is copied. Strings are
 * hashed where they are. 'out' has room for a hash for each row, apart from the column's arrays.
 *
 * The hash of a row that is null is 0, whatever lies in its place. Probe these hashes as
 * BLOOMLINE_COLUMN_HASHES with the same 'validity': then 'nulls' says whether it may be present.
 *
 * Errors: those of bloomline_concurrent_builder_insert(); BLOOMLINE_ERR_NULL also if 'column' or
 * 'out' is NULL. Nothing is written.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_hash_column(const bloomline_column *column,
    uint64_t seed, uint64_t *out);

/**
 * bloomline_view_select_column() selects rows of a column of any type, also of one with nulls, as
 * bloomline_view_select_u64() does. If 'nulls' is true, every row that is null may be present; if
 * it is false, none is, as in a join, where NULL equals nothing. bloomline_view_select16_column()
 * is for at most 65,536 rows, whose numbers have 2 bytes.
 *
 * bloomline_view_refine_column() refines the 'n' rows of a selection, as
 * bloomline_view_refine_u64() does, and so does bloomline_view_refine16_column() where row numbers
 * have 2 bytes. If a selected row is not below the 'n' of the column, the whole selection stays as
 * it is.
 *
 * bloomline_view_mask_column() writes a byte for each row to 'out': 1 if it may be present, 0 if
 * it is definitely absent. bloomline_view_contains_column() writes a bit for each row, as
 * bloomline_view_contains_hashes() does.
 *
 * All return how many rows may be present. If 'view' is NULL or not opened, the type is unknown,
 * or 'values' is NULL, all may, null ones too. A string, unless its row is null, may be present if
 * its offsets are negative, descend, or end behind the last one, or if it has bytes and 'data' is
 * NULL. If 'out' or 'bitmap' is NULL, the result is the number of rows. If 'column' is NULL, or a
 * column to select from has more rows than the type of 'out' can count, nothing is written and the
 * result is SIZE_MAX; a selection to refine stays as it is, and the result is 'n'.
 */
BLOOMLINE_API size_t bloomline_view_select_column(const bloomline_view *view,
    const bloomline_column *column, bool nulls, uint32_t *out);
BLOOMLINE_API size_t bloomline_view_select16_column(const bloomline_view *view,
    const bloomline_column *column, bool nulls, uint16_t *out);
BLOOMLINE_API size_t bloomline_view_refine_column(const bloomline_view *view,
    const bloomline_column *column, bool nulls, uint32_t *selection, size_t n);
BLOOMLINE_API size_t bloomline_view_refine16_column(const bloomline_view *view,
    const bloomline_column *column, bool nulls, uint16_t *selection, size_t n);
BLOOMLINE_API size_t bloomline_view_mask_column(const bloomline_view *view,
    const bloomline_column *column, bool nulls, uint8_t *out);
BLOOMLINE_API size_t bloomline_view_contains_column(const bloomline_view *view,
    const bloomline_column *column, bool nulls, uint64_t *bitmap);

/* Several filters at once: one set split over them -------------------------------------- */

/**
 * bloomline_shard_of() returns which of 'shards' shards, 0 to shards - 1, the key of a hash
 * belongs to, for a set split over several filters, files or machines. It is independent of the
 * line and bits of the hash in a filter. docs/FORMAT.md has the formula. Returns 0 for 0 shards.
 */
BLOOMLINE_API uint64_t bloomline_shard_of(uint64_t hash, uint64_t shards);

/**
 * bloomline_shards_contain_hashes() probes for each of 'n' keys, by their hashes, the filter of
 * its shard: view i is that of shard i of 'n_views'. It returns how many keys may be present, and
 * writes a bit for each to 'bitmap', as bloomline_view_contains_hashes(). In large filters, the
 * lines of many keys are prefetched.
 *
 * All filters must hash keys alike, with the same seed; sizes and k may differ. If they do not, or
 * 'n_views' is 0, all keys may be present. A view that was not opened may have all its keys.
 */
BLOOMLINE_API size_t bloomline_shards_contain_hashes(const bloomline_view *views, size_t n_views,
    const uint64_t *hashes, size_t n, uint64_t *bitmap);

/* Several filters at once: one key in each ---------------------------------------------- */

/**
 * bloomline_views_contain_hash() probes 'n_views' filters for one key, by its hash: the files of
 * an LSM tree, or the shards of a set. It returns how many may have it. The bit of a filter in
 * 'bitmap' is set if it may. If there are 16 large filters or more, it first prefetches the lines
 * of all, on CPUs where that pays. With fewer filters the cache misses overlap by themselves.
 *
 * All filters must hash keys alike, with the same seed; sizes and k may differ. If they do not,
 * all may have the key: bloomline_views_contain() has no such limit. A view that was not opened
 * may have the key.
 */
BLOOMLINE_API size_t bloomline_views_contain_hash(const bloomline_view *views, size_t n_views,
    uint64_t hash, uint64_t *bitmap);

/**
 * bloomline_views_contain() is bloomline_views_contain_hash() for the key of 'len' bytes at 'key'.
 * The filters may hash it differently, with seeds of their own or as other engines do. If 'key' is
 * NULL and 'len' is not 0, all filters may have the key.
 */
BLOOMLINE_API size_t bloomline_views_contain(const bloomline_view *views, size_t n_views,
    const void *key, size_t len, uint64_t *bitmap);

/**
 * bloomline_views_contain_hash_each() and bloomline_views_contain_each() do the same for views
 * that lie anywhere, by an array of pointers to them. Where a pointer is NULL, the key may be
 * present. Views of one kind in an array, as bloomline_views_contain_hash() takes them, are probed
 * in half the time.
 */
BLOOMLINE_API size_t bloomline_views_contain_hash_each(const bloomline_view *const *views,
    size_t n_views, uint64_t hash, uint64_t *bitmap);
BLOOMLINE_API size_t bloomline_views_contain_each(const bloomline_view *const *views,
    size_t n_views, const void *key, size_t len, uint64_t *bitmap);

/* Several filters at once: prepared ----------------------------------------------------- */

/**
 * Filters that are asked together many times: those of the tables of an LSM tree, of shards, of
 * partitions. Make a group once, and a new one when the set of filters changes. A probe then takes
 * about half the time of bloomline_views_contain_hash(), which is for views that differ from call
 * to call. Any number of threads may probe a group.
 *
 * The filters may be of any kinds, sizes and seeds. Plain filters of one k and one seed are the
 * fastest, and filters of RocksDB of one k: the bits of a key are computed once for all of them.
 * Faster still are columns of one matrix, which a few cache lines answer for all:
 * bloomline_matrix_column_view().
 *
 * Made by bloomline_group_new(); freed by bloomline_group_free().
 */
typedef struct bloomline_group bloomline_group;

/**
 * bloomline_group_new() makes a group of 'n' views. It copies the views. The filters that the
 * views are of must stay as long as the group is used. A view that was not opened may have every
 * key.
 *
 * Errors: BLOOMLINE_ERR_OUT_OF_MEMORY.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_group_new(const bloomline_view *views, size_t n,
    bloomline_group **out);

/** bloomline_group_free() frees a group, not the filters. */
BLOOMLINE_API void bloomline_group_free(bloomline_group *group);

/** bloomline_group_view_count() returns how many filters the group has; 0 for NULL. */
BLOOMLINE_API size_t bloomline_group_view_count(const bloomline_group *group);

/**
 * bloomline_group_contains_hash() probes all filters of 'group' for one key, by its hash, as
 * bloomline_views_contain_hash(). bloomline_group_contains() probes for the key of 'len' bytes at
 * 'key', as bloomline_views_contain(). If 'group' is NULL, they write nothing and return SIZE_MAX.
 */
BLOOMLINE_API size_t bloomline_group_contains_hash(const bloomline_group *group, uint64_t hash,
    uint64_t *bitmap);
BLOOMLINE_API size_t bloomline_group_contains(const bloomline_group *group, const void *key,
    size_t len, uint64_t *bitmap);

/**
 * bloomline_group_contains_hashes() is bloomline_group_contains_hash() for 'n' keys. The answers
 * about each begin in a word of their own: those about key j begin at bitmaps[j * words], where
 * 'words' is the number of filters divided by 64, rounded up. 'bitmaps' has room for n * words.
 * Returns how many bits are set.
 */
BLOOMLINE_API size_t bloomline_group_contains_hashes(const bloomline_group *group,
    const uint64_t *hashes, size_t n, uint64_t *bitmaps);

/**
 * bloomline_group_contains_hashes_by_member() is the same, filter by filter: the answers of each
 * filter begin in a word of their own. Those of filter i begin at bitmaps[i * words], where 'words'
 * is 'n' divided by 64, rounded up. 'bitmaps' has room for so many words for each filter. It is for
 * many keys: each filter is probed for all of them as by bloomline_view_contains_hashes(), but
 * memory is prefetched by the size of all filters together. For columns of one matrix
 * bloomline_group_contains_hashes() is faster.
 */
BLOOMLINE_API size_t bloomline_group_contains_hashes_by_member(const bloomline_group *group,
    const uint64_t *hashes, size_t n, uint64_t *bitmaps);

/**
 * bloomline_group_contains_any_hash() probes all filters of 'group' for any of 'n' keys, by their
 * hashes: bit i of 'bitmap' is set if at least one of the keys may be present in filter i. It
 * returns how many bits are set. It is what a query with IN asks of files or partitions. A filter
 * is probed for no more than some thousand keys after the first one that may be present. If
 * 'group' is NULL, it writes nothing and returns SIZE_MAX.
 */
BLOOMLINE_API size_t bloomline_group_contains_any_hash(const bloomline_group *group,
    const uint64_t *hashes, size_t n, uint64_t *bitmap);

/**
 * bloomline_group_contains_pairs() probes one filter for each of 'n' keys: filter members[i] for
 * the key of hashes[i]. That hash is the one that this filter uses. It is for looking up many
 * keys, each in its own table. It returns how many keys may be present. If members[i] is not below
 * the number of filters, the key may be present.
 */
BLOOMLINE_API size_t bloomline_group_contains_pairs(const bloomline_group *group,
    const uint32_t *members, const uint64_t *hashes, size_t n, uint64_t *bitmap);

/**
 * bloomline_group_select_pairs() does so for a column of 'n' rows. It writes the numbers of the
 * rows that may be present to 'out', as bloomline_view_select_hashes() does for one filter, and
 * returns how many there are: a join whose build side is in partitions asks for each row the
 * filter of its own partition. bloomline_group_select16_pairs() does so for at most 65,536 rows,
 * whose numbers have 2 bytes.
 *
 * If 'group', 'members' or 'hashes' is NULL, all rows may be present. If 'out' is NULL, returns
 * 'n'. If 'n' rows cannot be counted by the type of 'out', writes nothing and returns SIZE_MAX.
 */
BLOOMLINE_API size_t bloomline_group_select_pairs(const bloomline_group *group,
    const uint32_t *members, const uint64_t *hashes, size_t n, uint32_t *out);
BLOOMLINE_API size_t bloomline_group_select16_pairs(const bloomline_group *group,
    const uint32_t *members, const uint64_t *hashes, size_t n, uint16_t *out);

/**
 * bloomline_group_refine_pairs() takes the 'n' rows of a selection, and keeps those that may be
 * present, as bloomline_view_refine_hashes() does for one filter: row i is probed in filter
 * members[i], by hashes[i]. bloomline_group_refine16_pairs() does so for numbers of rows that have
 * 2 bytes.
 *
 * The caller promises that both arrays have all rows of the selection. If 'group', 'members' or
 * 'hashes' is NULL, the selection stays as it is. If 'selection' is NULL, returns 'n'.
 */
BLOOMLINE_API size_t bloomline_group_refine_pairs(const bloomline_group *group,
    const uint32_t *members, const uint64_t *hashes, uint32_t *selection, size_t n);
BLOOMLINE_API size_t bloomline_group_refine16_pairs(const bloomline_group *group,
    const uint32_t *members, const uint64_t *hashes, uint16_t *selection, size_t n);

/* Several filters at once: one shape, side by side -------------------------------------- */

/**
 * What bloomline_encoded_kind() returns for a matrix: bloomline_matrix_decode() reads it, and
 * bloomline_map_open() opens it.
 */
#define BLOOMLINE_KIND_MATRIX 10

/**
 * Many plain filters of one line count, k and seed, its columns: those of the tables of an LSM
 * tree, of shards, of the segments of a log. Their lines lie side by side, bit by bit, so one key
 * in 512 columns takes little more than in one. The answer is a bitmap of columns.
 *
 * Rates and memory are those of the single filters: a column is, byte for byte, a
 * bloomline_filter. Columns are padded to a multiple of 64. For filters of any kinds and sizes
 * there is bloomline_group.
 */
typedef struct bloomline_matrix bloomline_matrix;

/**
 * bloomline_matrix_new() creates a matrix of 'columns' empty columns of these parameters. It
 * takes 64 bytes for each line of a column, with 'columns' rounded up to a multiple of 64.
 *
 * Errors: BLOOMLINE_ERR_COLUMNS if 'columns' is 0 or more than 2^32 - 1; BLOOMLINE_ERR_CLASSIC for
 * a classic filter; otherwise as bloomline_filter_new().
 */
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_new(const bloomline_params *shape,
    size_t columns, bloomline_matrix **out);

/**
 * bloomline_matrix_clone() and the functions under it are those of bloomline_filter, for all
 * columns together, with their names. bloomline_map_matrix() probes an encoded matrix where it is.
 * bloomline_matrix_clone() of that matrix makes one in memory, which can be changed; it checks the
 * bytes as bloomline_matrix_decode() does.
 *
 * Errors: as there; in reading, also BLOOMLINE_ERR_COLUMNS, and BLOOMLINE_ERR_LAYOUT for a filter
 * of another kind.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_clone(const bloomline_matrix *matrix,
    bloomline_matrix **out);
BLOOMLINE_API void bloomline_matrix_free(bloomline_matrix *matrix);
BLOOMLINE_API size_t bloomline_matrix_memory(const bloomline_matrix *matrix);
BLOOMLINE_API size_t bloomline_matrix_encoded_len(const bloomline_matrix *matrix);
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_encode(const bloomline_matrix *matrix,
    void *out, size_t cap, size_t *written);
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_write(const bloomline_matrix *matrix,
    bloomline_write_fn write, void *context);
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_decode(const void *data, size_t len,
    bloomline_matrix **out);
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_save(const bloomline_matrix *matrix,
    const char *path);
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_load(const char *path, bloomline_matrix **out);

/**
 * bloomline_matrix_set_columns() makes the filters of 'n' views the columns from 'first' on, in
 * the place of what was there; bloomline_matrix_set_column() one of them. They are copied. Each
 * filter must be a plain or a counting one, with the matrix's k and seed. Its line count must be
 * the matrix's, or that times 2, 4, 8 and so on: then the column is the filter, folded.
 * bloomline_params_foldable_to() makes such parameters.
 *
 * Set runs of 64, from a multiple of 64 on. A column set alone takes fifty times as long as one in
 * such a run, since all rows of the matrix are read and written for a bit of each.
 * bloomline_matrix_set_columns() runs on up to 'threads' threads, the caller's among them; 0: on
 * as many as there are CPUs.
 *
 * Errors: BLOOMLINE_ERR_COLUMN if there are not so many columns; BLOOMLINE_ERR_COLUMN_SHAPE if a
 * filter does not fit; BLOOMLINE_ERR_NOT_A_FILTER if a view was not opened;
 * BLOOMLINE_ERR_OUT_OF_MEMORY. The matrix is unchanged.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_set_columns(bloomline_matrix *matrix,
    size_t first, const bloomline_view *views, size_t n, size_t threads);
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_set_column(bloomline_matrix *matrix,
    size_t column, const bloomline_view *view);

/**
 * bloomline_matrix_clear_column() empties a column, bloomline_matrix_clear() all columns. Names
 * stay.
 *
 * Errors: BLOOMLINE_ERR_COLUMN if there is no such column.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_clear_column(bloomline_matrix *matrix,
    size_t column);
BLOOMLINE_API void bloomline_matrix_clear(bloomline_matrix *matrix);

/**
 * bloomline_matrix_column() creates a copy of a column as a filter, whose key count is unknown.
 *
 * Errors: BLOOMLINE_ERR_COLUMN if there is no such column; BLOOMLINE_ERR_OUT_OF_MEMORY,
 * BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_column(const bloomline_matrix *matrix,
    size_t column, bloomline_filter **out);

/**
 * bloomline_matrix_column_view() writes a view of a column to 'out': it is probed as any other
 * filter, also in a group. A group probes all its columns of one matrix at once, whatever their
 * order in the group. bloomline_view_about() of such a view reads the rows of all columns. Valid
 * until the matrix is changed or freed.
 *
 * Errors: BLOOMLINE_ERR_COLUMN if there is no such column; BLOOMLINE_ERR_COLUMNS if there are more
 * than 2^28; BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_column_view(const bloomline_matrix *matrix,
    size_t column, bloomline_view *out);

/**
 * bloomline_matrix_with_columns() creates a copy with another number of columns: the first ones
 * of 'matrix', with their names, and empty ones behind them, named 0.
 *
 * Errors: as bloomline_matrix_new().
 */
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_with_columns(const bloomline_matrix *matrix,
    size_t columns, bloomline_matrix **out);

/**
 * bloomline_matrix_insert() inserts the key of 'len' bytes at 'key' into a column,
 * bloomline_matrix_insert_hash() a key by its hash. It writes to 'is_new', unless that is NULL,
 * whether the key was new in the column: false if it is already present, or a false positive. To
 * fill a column from nothing, fill a bloomline_filter and set it.
 *
 * Errors: BLOOMLINE_ERR_COLUMN if there is no such column.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_insert(bloomline_matrix *matrix, size_t column,
    const void *key, size_t len, bool *is_new);
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_insert_hash(bloomline_matrix *matrix,
    size_t column, uint64_t hash, bool *is_new);

/**
 * bloomline_matrix_set_names() gives each of the 'n' columns a name of 8 bytes, the caller's own,
 * such as the number of a file. They are encoded with the matrix. 0 names remove them.
 * bloomline_matrix_name() returns that of a column; 0 if it has none, if there is no such column,
 * and for NULL.
 *
 * Errors: BLOOMLINE_ERR_COLUMNS if there are neither as many names as columns nor none;
 * BLOOMLINE_ERR_OUT_OF_MEMORY. The names are unchanged.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_set_names(bloomline_matrix *matrix,
    const uint64_t *names, size_t n);
BLOOMLINE_API uint64_t bloomline_matrix_name(const bloomline_matrix *matrix, size_t column);

/**
 * bloomline_matrix_set_checksums() sets whether the encoded matrix has a checksum for each line of
 * its columns. With them bloomline_matrix_contains_in() can verify what it is given. They cost 8
 * bytes each, and the time to read the matrix once more when it is encoded. At first it has none.
 */
BLOOMLINE_API void bloomline_matrix_set_checksums(bloomline_matrix *matrix, bool checksums);

/* Matrices: probes ---------------------------------------------------------------------- */

/**
 * A key that a column may have, as bloomline_matrix_select_hashes() writes it: the number of its
 * hash, and the number of the column.
 */
typedef struct bloomline_matrix_pair {
    /** The number of the key's hash, counted from 0. */
    uint32_t key;
    /** The number of the column. */
    uint32_t column;
} bloomline_matrix_pair;

/**
 * bloomline_matrix_contains_hash() probes all columns for one key, by its hash, and returns how
 * many may have it. The bit of a column in 'bitmap' is set if it may. bloomline_matrix_contains()
 * probes for the key of 'len' bytes at 'key'.
 *
 * If 'among' is not NULL, it is a bitmap with a bit for each column, other than 'bitmap'. Only the
 * columns whose bit is set in it count, such as the tables that are live; the others do not have
 * the key. All functions below that take 'among' treat it in this way.
 *
 * If 'bitmap' is NULL, nothing is written and the result is the number of columns. If 'matrix' is
 * NULL, nothing is written and the result is SIZE_MAX.
 */
BLOOMLINE_API size_t bloomline_matrix_contains_hash(const bloomline_matrix *matrix, uint64_t hash,
    const uint64_t *among, uint64_t *bitmap);
BLOOMLINE_API size_t bloomline_matrix_contains(const bloomline_matrix *matrix, const void *key,
    size_t len, const uint64_t *among, uint64_t *bitmap);

/**
 * bloomline_matrix_contains_hashes() is bloomline_matrix_contains_hash() for 'n' keys. The
 * answers about each begin in a word of their own: those about key j begin at bitmaps[j * words],
 * where 'words' is the number of columns divided by 64, rounded up. 'bitmaps' has room for n *
 * words. Returns how many bits are set. If 'hashes' is NULL, all columns may have all keys.
 */
BLOOMLINE_API size_t bloomline_matrix_contains_hashes(const bloomline_matrix *matrix,
    const uint64_t *hashes, size_t n, const uint64_t *among, uint64_t *bitmaps);

/**
 * bloomline_matrix_select_hashes() probes columns for 'n' keys, too, and writes a pair for each
 * column that may have a key, in ascending order: by key, then by column. It writes up to
 * 'capacity' pairs to 'pairs', and their number to 'written'. It begins with the pair '*from'. Set
 * that to {0, 0} before the first call; each call sets it to where the next one goes on. Call
 * until from->key is 'n': then all pairs are written.
 *
 * A call writes all pairs of a key or none of them. Only if a key by itself has more than
 * 'capacity' are they written by several calls: as many as there is room for, and the next ones.
 *
 * Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'capacity' is 0, or if 'n' is more than 2^32 - 1,
 * which a pair cannot number. Nothing is written, and every column may have every key; so it is if
 * 'matrix' or 'hashes' is NULL.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_select_hashes(const bloomline_matrix *matrix,
    const uint64_t *hashes, size_t n, const uint64_t *among, bloomline_matrix_pair *from,
    bloomline_matrix_pair *pairs, size_t capacity, size_t *written);

/**
 * bloomline_matrix_contains_pairs() probes one column for each of 'n' keys: column columns[i] for
 * the key of hashes[i]. It returns how many keys may be present. The bit of a key in 'bitmap' is
 * set if it may be.
 *
 * Where there is no column columns[i], the key may be present. If 'matrix', 'columns' or 'hashes'
 * is NULL, all may. If 'bitmap' is NULL, nothing is written and the result is 'n'.
 */
BLOOMLINE_API size_t bloomline_matrix_contains_pairs(const bloomline_matrix *matrix,
    const uint32_t *columns, const uint64_t *hashes, size_t n, uint64_t *bitmap);

/**
 * bloomline_matrix_count_hash() returns how many columns may have the key of a hash, without
 * writing which; SIZE_MAX if 'matrix' is NULL. bloomline_matrix_any_hash() returns true if one may
 * have it. It reads no more than it needs.
 */
BLOOMLINE_API size_t bloomline_matrix_count_hash(const bloomline_matrix *matrix, uint64_t hash,
    const uint64_t *among);
BLOOMLINE_API bool bloomline_matrix_any_hash(const bloomline_matrix *matrix, uint64_t hash,
    const uint64_t *among);

/* Matrices: batches of keys ------------------------------------------------------------- */

/**
 * bloomline_matrix_contains_keys() is bloomline_matrix_contains_hashes() for 'n' keys by their
 * bytes. If the 'data' of a key is NULL with a length above 0, all columns may have that key. If
 * 'keys' is NULL, all columns may have all keys.
 */
BLOOMLINE_API size_t bloomline_matrix_contains_keys(const bloomline_matrix *matrix,
    const bloomline_bytes *keys, size_t n, const uint64_t *among, uint64_t *bitmaps);

/**
 * bloomline_matrix_insert_hashes() inserts 'n' keys into a column by their hashes,
 * bloomline_matrix_insert_keys() by their bytes, in order, faster than one by one. Unless 'bitmap'
 * is NULL, the bit of each key that was new in the column is set there, of the others it is clear.
 *
 * Errors: BLOOMLINE_ERR_COLUMN if there is no such column. No bitmap is written.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_insert_hashes(bloomline_matrix *matrix,
    size_t column, const uint64_t *hashes, size_t n, uint64_t *bitmap);
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_insert_keys(bloomline_matrix *matrix,
    size_t column, const bloomline_bytes *keys, size_t n, uint64_t *bitmap);

/* Matrices: their shape, and single ranges of encoded ones ------------------------------ */

/** bloomline_matrix_shape, 'flags': each column has a name. */
#define BLOOMLINE_MATRIX_NAMES 1

/** bloomline_matrix_shape, 'flags': each line of the columns has a checksum. */
#define BLOOMLINE_MATRIX_CHECKSUMS 2

/**
 * What a matrix is, and all that a reader of single ranges needs to know. Written by
 * bloomline_matrix_about() and bloomline_matrix_shape_read(); every function checks it.
 */
typedef struct bloomline_matrix_shape {
    /** Line count, k and seed of each column. */
    bloomline_params params;
    /** How many columns there are. */
    uint64_t columns;
    /** A sum of BLOOMLINE_MATRIX_ numbers. */
    uint64_t flags;
} bloomline_matrix_shape;

/** Some bytes of an encoded matrix: 'len' of them, at 'offset'. */
typedef struct bloomline_byte_range {
    /** How many bytes are before them. */
    uint64_t offset;
    /** How many they are. */
    uint64_t len;
} bloomline_byte_range;

/**
 * bloomline_matrix_about() writes parameters and number of the columns, and whether they have
 * names and checksums, to 'out'.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_about(const bloomline_matrix *matrix,
    bloomline_matrix_shape *out);

/**
 * bloomline_matrix_shape_read() reads the shape of an encoded matrix of 'encoded_len' bytes from
 * its last 64, at 'footer', and writes it to 'out'. With it a lookup in a matrix that lies
 * elsewhere, such as in an object store, reads one range: 64 bytes for each column.
 *
 * Errors: those of bloomline_view_open(); BLOOMLINE_ERR_COLUMNS.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_shape_read(const void *footer,
    uint64_t encoded_len, bloomline_matrix_shape *out);

/**
 * bloomline_matrix_range() writes which bytes of the encoded matrix hold the answers about the
 * key of a hash: 'len' bytes at 'offset'. Their checksum is 8 bytes at 'checksum', which may be
 * NULL; 0 is written there if the matrix has none. The hash of a key is bloomline_hash() with the
 * seed of the shape.
 *
 * Errors: those of bloomline_matrix_new() and BLOOMLINE_ERR_RESERVED for a shape out of range.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_range(const bloomline_matrix_shape *shape,
    uint64_t hash, uint64_t *offset, uint64_t *len, uint64_t *checksum);

/**
 * bloomline_matrix_contains_in() probes all columns for the key of a hash, in the 'len' bytes at
 * 'data', which are those of its bloomline_matrix_range(). The bit of a column in 'bitmap' is set
 * if it may have the key. If 'checksum' is not NULL, it is the 8 bytes of the range's checksum,
 * by which 'data' is verified first.
 *
 * Errors: BLOOMLINE_ERR_TRUNCATED if 'len' is not that of the range; BLOOMLINE_ERR_CHECKSUM;
 * those of bloomline_matrix_range(); BLOOMLINE_ERR_BACKEND. No bitmap is written: all columns may
 * have the key.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_contains_in(const bloomline_matrix_shape *shape,
    uint64_t hash, const void *data, size_t len, const void *checksum, uint64_t *bitmap);

/**
 * bloomline_matrix_ranges() writes which bytes to read for 'n' keys, by their hashes: ranges to
 * 'out', in ascending order, and how many to 'count'. It joins equal ranges, and ranges with a gap
 * of at most 'gap' bytes between them. Let 'gap' be as many bytes as the store sends in the time
 * that a request takes. 'out' has room for 'n' ranges. The bloomline_matrix_range() of each key
 * lies within one of them. It allocates nothing.
 *
 * Errors: those of bloomline_matrix_range().
 */
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_ranges(const bloomline_matrix_shape *shape,
    const uint64_t *hashes, size_t n, uint64_t gap, bloomline_byte_range *out, size_t *count);

/**
 * bloomline_matrix_row_ranges() writes which bytes are the rows that the key of a hash reads: up
 * to k ranges of a bit for each column, to 'out', in ascending order, and how many to 'count'.
 * They lie within its bloomline_matrix_range(). Read them instead of that range if there are many
 * columns and a request costs little. They have no checksum. 'out' has room for k ranges, which is
 * at most 16.
 *
 * Errors: those of bloomline_matrix_range().
 */
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_row_ranges(const bloomline_matrix_shape *shape,
    uint64_t hash, bloomline_byte_range *out, size_t *count);

/**
 * bloomline_matrix_contains_in_rows() is bloomline_matrix_contains_in() for the 'len' bytes at
 * 'data' of the bloomline_matrix_row_ranges() of the hash, one row behind the other.
 *
 * Errors: BLOOMLINE_ERR_TRUNCATED if 'len' is not that of all rows; those of
 * bloomline_matrix_range(). No bitmap is written: all columns may have the key.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_contains_in_rows(
    const bloomline_matrix_shape *shape, uint64_t hash, const void *data, size_t len,
    uint64_t *bitmap);

/**
 * bloomline_matrix_parts() writes which bytes of the encoded matrix are the names of the columns
 * to 'names', and which are the checksums of all lines to 'checksums': 8 bytes each, in the order
 * of the columns and of the lines, the lowest byte first. A 'len' of 0: it has none. Either may be
 * NULL.
 *
 * Errors: those of bloomline_matrix_range().
 */
BLOOMLINE_CHECKED bloomline_status bloomline_matrix_parts(const bloomline_matrix_shape *shape,
    bloomline_byte_range *names, bloomline_byte_range *checksums);

/* Blocks: filters built into the caller's buffer ---------------------------------------- */

/**
 * What bloomline_encoded_kind() returns for a static filter: bloomline_view_open() and
 * bloomline_map_open() open it.
 */
#define BLOOMLINE_KIND_STATIC 8

/**
 * Collects the keys of one block after the other, for a writer that learns their number at the
 * end. It keeps 8 bytes for each key until the block is finished, and has room for up to as many
 * more. While the room grows, the old one is there, too. Made by bloomline_builder_new(),
 * bloomline_builder_new_for_rate() or bloomline_builder_new_static(); freed by
 * bloomline_builder_free(). One thread at a time may use it.
 */
typedef struct bloomline_builder bloomline_builder;

/**
 * bloomline_block_len() returns how many bytes bloomline_block_build() writes: 64 for each line
 * and 64 more. Returns 0 if 'params' is NULL or out of range.
 */
BLOOMLINE_API size_t bloomline_block_len(const bloomline_params *params);

/**
 * bloomline_block_build() builds an encoded filter of the 'n' keys with these hashes in the 'cap'
 * bytes at 'out', for bloomline_view_open(). It allocates nothing. The rest of 'out' is unchanged.
 * An 'out' aligned to 64 bytes is faster. To probe for keys by their bytes, use the hashes of
 * bloomline_hash() or bloomline_hash_u64() with the seed of 'params'.
 *
 * Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than bloomline_block_len(); those of
 * bloomline_filter_new().
 */
BLOOMLINE_CHECKED bloomline_status bloomline_block_build(const bloomline_params *params,
    const uint64_t *hashes, size_t n, void *out, size_t cap);

/**
 * bloomline_static_block_len() returns how many bytes bloomline_static_block_build() writes at
 * most for 'n' hashes: an upper bound, about 15 % above what large sets need. Returns 0 if 'rate'
 * is not from 2^-16 to below 1.
 */
BLOOMLINE_API size_t bloomline_static_block_len(size_t n, double rate);

/**
 * bloomline_static_block_build() builds an encoded static filter of the 'n' keys with these hashes
 * in the 'cap' bytes at 'out', for bloomline_view_open(). It takes 30 to 40 % less memory than a
 * filter of bloomline_block_build() at the same rate, and keys cannot be added later. The rate
 * is 'rate' or the next lower power of 2, and at most 6.25 %. The hashes are those of
 * bloomline_hash() with 'seed', in any order. Give each once: the filter is sized for 'n' of them,
 * and bloomline_view_key_count() returns 'n', also if some are equal.
 *
 * It writes the filter's length to 'written'. The bytes of 'out' after that are undefined, and
 * after an error all are. During the build it takes 8 bytes for each hash; the rest of its work is
 * in 'out'. It takes tens of nanoseconds per hash.
 *
 * It runs on up to 'threads' threads, the caller's among them. 1: on the caller's alone; 0: on as
 * many as there are CPUs. The bytes do not depend on 'threads'. It takes fewer threads for few
 * keys, another for each 32,768. Each takes some 2 MB.
 *
 * Errors: BLOOMLINE_ERR_RATE unless 'rate' is between 0 and 1, BLOOMLINE_ERR_RATE_TOO_SMALL if it
 * is below 2^-16; BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than
 * bloomline_static_block_len(); BLOOMLINE_ERR_LINE_COUNT, BLOOMLINE_ERR_OUT_OF_MEMORY,
 * BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_static_block_build(const uint64_t *hashes, size_t n,
    double rate, uint64_t seed, size_t threads, void *out, size_t cap, size_t *written);

/**
 * bloomline_block_save() saves the encoded filter in the 'len' bytes at 'data', of any kind, as
 * bloomline_filter_save() saves a filter, atomically. First it checks the bytes, checksums
 * included. bloomline_map_open() opens such a file. If a handle of its kind exists,
 * bloomline_filter_load() or the like loads it.
 *
 * Errors: those of bloomline_filter_save(); those of bloomline_view_open() for bytes that are no
 * encoded filter, for example if 'len' is the length of a buffer that is longer than the filter.
 * The old file is unchanged.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_block_save(const void *data, size_t len,
    const char *path);

/**
 * bloomline_builder_new() creates an empty builder of blocks with 'bits_per_key' bits for each key
 * and the best k for that. It hashes keys with 'seed'. bloomline_builder_new_for_rate() takes a
 * false-positive rate instead, as bloomline_params_for_rate() does. bloomline_builder_new_static()
 * creates one of static filters: see bloomline_static_block_build().
 *
 * Errors: BLOOMLINE_ERR_BITS_PER_KEY, BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_RATE_TOO_SMALL;
 * BLOOMLINE_ERR_LINE_COUNT if not even one key would fit in memory; BLOOMLINE_ERR_OUT_OF_MEMORY,
 * BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_builder_new(double bits_per_key, uint64_t seed,
    bloomline_builder **out);
BLOOMLINE_CHECKED bloomline_status bloomline_builder_new_for_rate(double rate, uint64_t seed,
    bloomline_builder **out);
BLOOMLINE_CHECKED bloomline_status bloomline_builder_new_static(double rate, uint64_t seed,
    bloomline_builder **out);

/** bloomline_builder_free() frees a builder and its keys. */
BLOOMLINE_API void bloomline_builder_free(bloomline_builder *builder);

/**
 * bloomline_builder_add() adds the key of 'len' bytes at 'key', bloomline_builder_add_hash() a key
 * by its hash, the others 'n' keys. A key that equals one of the last two different keys is not
 * counted again. So several versions of a key count once, and so does the prefix that sorted keys
 * share if you add it with each of them.
 *
 * Errors: BLOOMLINE_ERR_OUT_OF_MEMORY, and BLOOMLINE_ERR_NULL also for a key that is NULL with a
 * length above 0. After an error the call has added no key: a block without these keys would have
 * false negatives.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_builder_add(bloomline_builder *builder,
    const void *key, size_t len);
BLOOMLINE_CHECKED bloomline_status bloomline_builder_add_hash(bloomline_builder *builder,
    uint64_t hash);
BLOOMLINE_CHECKED bloomline_status bloomline_builder_add_hashes(bloomline_builder *builder,
    const uint64_t *hashes, size_t n);
BLOOMLINE_CHECKED bloomline_status bloomline_builder_add_keys(bloomline_builder *builder,
    const bloomline_bytes *keys, size_t n);

/** bloomline_builder_clear() drops the keys added since the last block. */
BLOOMLINE_API void bloomline_builder_clear(bloomline_builder *builder);

/**
 * bloomline_builder_key_count() returns how many keys were added since the last block, without the
 * repetitions that bloomline_builder_add() leaves out.
 */
BLOOMLINE_API uint64_t bloomline_builder_key_count(const bloomline_builder *builder);

/**
 * bloomline_builder_block_len() returns how many bytes bloomline_builder_finish() would write now;
 * of a static filter, how many at most. Returns 0 for NULL, and if the keys are more than a block
 * can hold.
 */
BLOOMLINE_API size_t bloomline_builder_block_len(const bloomline_builder *builder);

/**
 * bloomline_builder_finish() builds the filter of the keys added since the last block in the 'cap'
 * bytes at 'out', as bloomline_block_build(). It writes its length to 'written', unless that is
 * NULL: a static filter is shorter than bloomline_builder_block_len(). The builder is then empty,
 * for the next block. Without keys the block says that every key is absent.
 *
 * Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than bloomline_builder_block_len(),
 * BLOOMLINE_ERR_LINE_COUNT; the builder keeps its keys.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_builder_finish(bloomline_builder *builder, void *out,
    size_t cap, size_t *written);

/* Lines: filters in the caller's own memory --------------------------------------------- */

/**
 * bloomline_lines_insert_hashes() inserts the keys of 'n' hashes into the lines at 'lines'. The
 * lines take 64 times the 'line_count' of 'params' in bytes; 'len' is how many bytes there are.
 * Lines of zeros are an empty filter. It allocates nothing and keeps no state. Lines aligned to 64
 * bytes are faster.
 *
 * The lines are the first part of an encoded filter. docs/FORMAT.md describes the footer after
 * them.
 *
 * Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'len' is less than the lines; those of
 * bloomline_filter_new(). Nothing is inserted.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_lines_insert_hashes(const bloomline_params *params,
    void *lines, size_t len, const uint64_t *hashes, size_t n);

/**
 * bloomline_lines_union() adds all keys of the lines at 'from' to those at 'lines';
 * bloomline_lines_intersect() keeps only what both have, as bloomline_filter_intersect(). Both
 * have the line count, k and seed of 'params': the caller has to know, since lines do not say it.
 * 'from' may be the lines of a view of the same parameters, from bloomline_view_lines(), but must
 * not overlap 'lines'. It allocates nothing.
 *
 * Errors: as bloomline_lines_insert_hashes(), 'from_len' included; nothing is changed.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_lines_union(const bloomline_params *params,
    void *lines, size_t len, const void *from, size_t from_len);
BLOOMLINE_CHECKED bloomline_status bloomline_lines_intersect(const bloomline_params *params,
    void *lines, size_t len, const void *from, size_t from_len);

/**
 * bloomline_lines_view() writes to 'out' a view of the first 'line_count' lines at 'lines'. It
 * reads none of them: cheap enough for each probe.
 *
 * Other threads or processes may insert into the lines while the view is probed, if they set bits
 * in whole lanes: aligned words of 64 bits, by atomic operations. Until they are done, use only
 * the contains functions of the view and bloomline_view_about(). Keys inserted before are present:
 * bits are only set, and a probe that reads a vector reads each aligned lane as a whole.
 *
 * Errors: as bloomline_lines_insert_hashes().
 */
BLOOMLINE_CHECKED bloomline_status bloomline_lines_view(const bloomline_params *params,
    const void *lines, size_t len, bloomline_view *out);

/* bloomline_cascade: exact answers for the keys of two sets that no longer change ------- */

/**
 * What bloomline_encoded_kind() returns for a filter that bloomline_cascade_decode() reads, and
 * bloomline_map_open() opens.
 */
#define BLOOMLINE_KIND_CASCADE 9

/**
 * Tells for every key of two sets, the included and the excluded one, which of the two it is in.
 * It is never wrong for these keys, and takes a fraction of the memory of either set. Both sets
 * are given at once and no longer change. Probes, through bloomline_cascade_view(), return true
 * for each included key and false for each excluded one; for a key of neither set, true at the
 * 'unknown_rate' of bloomline_cascade_about(). It is a series of static filters, its layers. Each
 * holds the keys for which the layer before wrongly answers true.
 */
typedef struct bloomline_cascade bloomline_cascade;

/** What bloomline_cascade_about() writes. */
typedef struct bloomline_cascade_facts {
    /** How many included keys it was built of, repeated ones counted. */
    uint64_t included_count;
    /** How many excluded keys it was built of, repeated ones counted. */
    uint64_t excluded_count;
    /** How many layers it has, 1 or more. */
    uint64_t layer_count;
    /** How many lines of 64 bytes all layers have. */
    uint64_t line_count;
    /** The seed of the hash of keys. */
    uint64_t seed;
    /** How often a key of neither set is reported as included, 0 to 1, to expect. */
    double unknown_rate;
} bloomline_cascade_facts;

/**
 * bloomline_cascade_new() builds the cascade of 'n' included and 'm' excluded keys by their
 * hashes, in any order; repeated ones change no answer. 'rate' is 0 for the smallest cascade, or
 * the rate at which keys of neither set may be reported as included, 2^-16 or more; 'seed' is
 * that of the hash of keys. Meanwhile it takes 8 bytes for each included key, 8 for each
 * excluded one that the first layer passes, and twice the cascade.
 *
 * It runs on up to 'threads' threads, as bloomline_static_block_build(): 1: on the caller's alone;
 * 0: on as many as there are CPUs. The cascade does not depend on 'threads'.
 *
 * With ten excluded keys for each included one the smallest takes 7.0 bits per included key,
 * with a hundred 10.5.
 *
 * Errors: BLOOMLINE_ERR_OVERLAP if a hash is in both arrays; BLOOMLINE_ERR_LAYERS if 32 layers
 * do not tell the sets apart, which happens only if somebody chose the hashes for it;
 * BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_RATE_TOO_SMALL; BLOOMLINE_ERR_LINE_COUNT if it would not fit
 * in memory; BLOOMLINE_ERR_OUT_OF_MEMORY, BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_cascade_new(const uint64_t *included, size_t n,
    const uint64_t *excluded, size_t m, double rate, uint64_t seed, size_t threads,
    bloomline_cascade **out);

/**
 * bloomline_cascade_clone() and the functions under it are those of bloomline_filter, for all
 * layers together. Encoded it takes 64 bytes for each line, 64 for each layer, and 64 more.
 * bloomline_map_bytes() probes these bytes where they are.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_cascade_clone(const bloomline_cascade *filter,
    bloomline_cascade **out);
BLOOMLINE_API void bloomline_cascade_free(bloomline_cascade *filter);
BLOOMLINE_API size_t bloomline_cascade_memory(const bloomline_cascade *filter);
BLOOMLINE_API size_t bloomline_cascade_encoded_len(const bloomline_cascade *filter);
BLOOMLINE_CHECKED bloomline_status bloomline_cascade_encode(const bloomline_cascade *filter,
    void *out, size_t cap, size_t *written);
BLOOMLINE_CHECKED bloomline_status bloomline_cascade_write(const bloomline_cascade *filter,
    bloomline_write_fn write, void *context);
BLOOMLINE_CHECKED bloomline_status bloomline_cascade_decode(const void *data, size_t len,
    bloomline_cascade **out);
BLOOMLINE_CHECKED bloomline_status bloomline_cascade_save(const bloomline_cascade *filter,
    const char *path);
BLOOMLINE_CHECKED bloomline_status bloomline_cascade_load(const char *path,
    bloomline_cascade **out);

/**
 * bloomline_cascade_view() writes a view of the cascade to 'out', to probe it: contains functions
 * return true for each included key and false for each excluded one. Valid until the cascade is
 * freed.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_cascade_view(const bloomline_cascade *filter,
    bloomline_view *out);

/** bloomline_cascade_about() writes key counts, size, seed and rate of the cascade to 'out'. */
BLOOMLINE_CHECKED bloomline_status bloomline_cascade_about(const bloomline_cascade *filter,
    bloomline_cascade_facts *out);

/* bloomline_concurrent: many threads insert at once ------------------------------------- */

/**
 * A filter that any number of threads insert into and probe at once. All its functions except
 * bloomline_concurrent_clear() and bloomline_concurrent_free() may run in any number of threads,
 * and none waits for another. Probed through bloomline_concurrent_view().
 *
 * A thread sees its own inserts at once. It sees those of another thread after anything that
 * orders the two, such as a mutex or a join. It may see an insert that is under way or not. No
 * inserted key is ever lost. It keeps no key count.
 *
 * All accesses are relaxed atomic ones, except reads of vectors: no language has an atomic load of
 * a vector, see the comment on bloomline_lines_view(). For ThreadSanitizer, if it instruments the
 * library, there is share/bloomline/tsan.supp.
 */
typedef struct bloomline_concurrent bloomline_concurrent;

/**
 * bloomline_concurrent_new() takes ownership of '*filter', empty or not, for threads to share,
 * without a copy, and sets it to NULL. A classic filter stays one.
 *
 * Errors: BLOOMLINE_ERR_OUT_OF_MEMORY; '*filter' is unchanged, and still the caller's.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_concurrent_new(bloomline_filter **filter,
    bloomline_concurrent **out);

/**
 * bloomline_concurrent_free() frees a filter that no thread uses any more. Do not use its views
 * afterwards. bloomline_concurrent_memory() is bloomline_filter_memory() for it.
 */
BLOOMLINE_API void bloomline_concurrent_free(bloomline_concurrent *filter);
BLOOMLINE_API size_t bloomline_concurrent_memory(const bloomline_concurrent *filter);

/**
 * bloomline_concurrent_clone() and the functions under it are those of bloomline_filter. Copies,
 * bytes and files have all keys present at the call, and perhaps some inserted meanwhile. The
 * bytes are those of a bloomline_filter: its functions read them, and the ones here read those of
 * a bloomline_filter. Encoding takes no memory for a snapshot.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_concurrent_clone(const bloomline_concurrent *filter,
    bloomline_concurrent **out);
BLOOMLINE_API size_t bloomline_concurrent_encoded_len(const bloomline_concurrent *filter);
BLOOMLINE_CHECKED bloomline_status bloomline_concurrent_encode(const bloomline_concurrent *filter,
    void *out, size_t cap, size_t *written);
BLOOMLINE_CHECKED bloomline_status bloomline_concurrent_write(const bloomline_concurrent *filter,
    bloomline_write_fn write, void *context);
BLOOMLINE_CHECKED bloomline_status bloomline_concurrent_decode(const void *data, size_t len,
    bloomline_concurrent **out);
BLOOMLINE_CHECKED bloomline_status bloomline_concurrent_save(const bloomline_concurrent *filter,
    const char *path);
BLOOMLINE_CHECKED bloomline_status bloomline_concurrent_load(const char *path,
    bloomline_concurrent **out);

/**
 * bloomline_concurrent_view() writes a view of the filter to 'out', which sees all later inserts.
 * Valid until the filter is freed. While threads insert, use it for the contains functions and
 * bloomline_view_about() only; for all else take a snapshot.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_concurrent_view(const bloomline_concurrent *filter,
    bloomline_view *out);

/**
 * bloomline_concurrent_insert() inserts the key of 'len' bytes at 'key',
 * bloomline_concurrent_insert_hash() a key by its hash. Returns true if the key was new, and false
 * if it was already present, or a false positive. If several threads insert the same new key at
 * once, at least one gets true, and more may. Returns true for a NULL filter.
 */
BLOOMLINE_API bool bloomline_concurrent_insert(const bloomline_concurrent *filter, const void *key,
    size_t len);
BLOOMLINE_API bool bloomline_concurrent_insert_hash(const bloomline_concurrent *filter,
    uint64_t hash);

/**
 * bloomline_concurrent_insert_hashes() inserts 'n' keys by their hashes,
 * bloomline_concurrent_insert_keys() by their bytes, and returns how many were new.
 */
BLOOMLINE_API size_t bloomline_concurrent_insert_hashes(const bloomline_concurrent *filter,
    const uint64_t *hashes, size_t n, uint64_t *bitmap);
BLOOMLINE_API size_t bloomline_concurrent_insert_keys(const bloomline_concurrent *filter,
    const bloomline_bytes *keys, size_t n, uint64_t *bitmap);

/**
 * bloomline_concurrent_union() inserts all keys of 'from', which must not change meanwhile, into
 * 'into'. Line count, k, seed and type (plain or classic) must be equal.
 *
 * Errors: BLOOMLINE_ERR_MISMATCH; nothing is inserted.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_concurrent_union(const bloomline_concurrent *into,
    const bloomline_filter *from);

/**
 * bloomline_concurrent_clear() removes all keys. Size, k and seed stay. No thread may use the
 * filter meanwhile: a key that one inserts could be lost.
 */
BLOOMLINE_API void bloomline_concurrent_clear(bloomline_concurrent *filter);

/**
 * bloomline_concurrent_snapshot() creates a filter of all keys present at the call, and perhaps
 * some inserted meanwhile: to measure or change it while threads go on inserting. Its key count is
 * 0: unknown.
 *
 * Errors: BLOOMLINE_ERR_OUT_OF_MEMORY.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_concurrent_snapshot(const bloomline_concurrent *filter,
    bloomline_filter **out);

/* bloomline_concurrent_builder: threads insert columns; probed once finished ------------ */

/**
 * Builds a filter: any number of threads insert columns into the builder, and finishing it returns
 * the filter. No function probes a builder. Until it is finished, keep NULL as the pointer to the
 * filter, or zeros as its bloomline_view: probes of both return true. So no row is dropped because
 * its key had not been inserted yet.
 *
 * Threads wait for each other, in turn, while one inserts some hundred keys into a part of the
 * lines. So do not use a builder in a child process that was forked meanwhile. All of a classic
 * filter is one part.
 */
typedef struct bloomline_concurrent_builder bloomline_concurrent_builder;

/**
 * bloomline_concurrent_builder_new() creates a builder of a filter of these parameters. For keys
 * that cannot be counted beforehand take those of bloomline_params_foldable(), for a bound on
 * memory those of bloomline_params_for_rate_within().
 *
 * Errors: those of bloomline_filter_new().
 */
BLOOMLINE_CHECKED bloomline_status bloomline_concurrent_builder_new(const bloomline_params *params,
    bloomline_concurrent_builder **out);

/** bloomline_concurrent_builder_free() frees a builder that was not finished. */
BLOOMLINE_API void bloomline_concurrent_builder_free(bloomline_concurrent_builder *builder);

/**
 * bloomline_concurrent_builder_insert() inserts the keys of 'count' columns. It may run in any
 * number of threads. It copies only some thousands of hashes at a time, onto the thread's stack,
 * of which it takes 80 KiB. It allocates nothing.
 *
 * Errors: BLOOMLINE_ERR_NULL for a column whose array is NULL, and for strings whose offsets are
 * negative or descend, or that have bytes and whose 'data' is NULL; BLOOMLINE_ERR_LAYOUT for a
 * 'type' that is unknown. After an error no key of any column is inserted.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_concurrent_builder_insert(
    const bloomline_concurrent_builder *builder, const bloomline_column *columns, size_t count);

/**
 * bloomline_concurrent_builder_union() adds the keys of 'from', such as those that another process
 * has inserted, in any number of threads. Line count, k, seed and type (plain or classic) must be
 * equal.
 *
 * Errors: BLOOMLINE_ERR_MISMATCH; nothing is added.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_concurrent_builder_union(
    const bloomline_concurrent_builder *builder, const bloomline_filter *from);

/**
 * bloomline_concurrent_builder_key_count() returns how many keys were inserted. Repeated keys
 * count each time, rows that are null do not. The number shows whether all keys that you expect
 * have come. Returns 0 for NULL.
 */
BLOOMLINE_API uint64_t bloomline_concurrent_builder_key_count(
    const bloomline_concurrent_builder *builder);

/**
 * bloomline_concurrent_builder_finish() writes the filter to 'out', in the same memory, frees
 * '*builder', which no thread uses any more, and sets it to NULL. The filter has the bytes of one
 * into which the same keys were inserted by one thread.
 *
 * bloomline_concurrent_builder_finish_to_rate() folds it as bloomline_filter_fold_to_rate() does
 * to 'rate', unless it is classic or there is no memory for that. If its false-positive rate is
 * above 'most', from 0 to 1, it is not worth its probes: the function frees it and writes NULL to
 * 'out'; probes of NULL return true.
 *
 * Errors: BLOOMLINE_ERR_OUT_OF_MEMORY; BLOOMLINE_ERR_RATE for rates out of range. '*builder' is
 * unchanged, and still the caller's.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_concurrent_builder_finish(
    bloomline_concurrent_builder **builder, bloomline_filter **out);
BLOOMLINE_CHECKED bloomline_status bloomline_concurrent_builder_finish_to_rate(
    bloomline_concurrent_builder **builder, double rate, double most, bloomline_filter **out);

/* bloomline_counting: keys can be removed; five times the memory ------------------------ */

/** What bloomline_encoded_kind() returns for a filter that bloomline_counting_decode() reads. */
#define BLOOMLINE_KIND_COUNTING 2

/** The highest count, which means 15 times or more. */
#define BLOOMLINE_COUNTING_MOST 15

/**
 * A filter that keys can be removed from, and that reports about how often a key is present. It is
 * a plain filter, which is probed through bloomline_counting_filter(), and a counter of 4 bits for
 * each bit of it: 320 bytes for each line, about 50 bits per key at 1 %.
 *
 * Remove only keys you inserted. A key that is definitely absent is rejected, and nothing changes.
 * A false positive is removed like a present key: other keys can then be false negatives. After
 * such a mistake, only keys inserted later are safe, and only while no key inserted before it is
 * removed. A counter that reaches 15 stays there, and so do the keys that need it.
 */
typedef struct bloomline_counting bloomline_counting;

/**
 * bloomline_counting_new() creates an empty filter, of 320 bytes of memory for each line.
 *
 * Errors: as bloomline_filter_new().
 */
BLOOMLINE_CHECKED bloomline_status bloomline_counting_new(const bloomline_params *params,
    bloomline_counting **out);

/**
 * bloomline_counting_clone() and the functions under it are those of bloomline_filter, for the
 * lines and counters of a counting filter. Encoded it takes 320 bytes for each line and 64 more.
 * After bloomline_counting_free(), do not use its views or what bloomline_counting_filter()
 * returned. bloomline_view_open() and bloomline_filter_decode() read its bytes too: its plain
 * filter. To write that alone, encode bloomline_counting_filter().
 */
BLOOMLINE_CHECKED bloomline_status bloomline_counting_clone(const bloomline_counting *filter,
    bloomline_counting **out);
BLOOMLINE_API void bloomline_counting_free(bloomline_counting *filter);
BLOOMLINE_API size_t bloomline_counting_memory(const bloomline_counting *filter);
BLOOMLINE_API size_t bloomline_counting_encoded_len(const bloomline_counting *filter);
BLOOMLINE_CHECKED bloomline_status bloomline_counting_encode(const bloomline_counting *filter,
    void *out, size_t cap, size_t *written);
BLOOMLINE_CHECKED bloomline_status bloomline_counting_write(const bloomline_counting *filter,
    bloomline_write_fn write, void *context);
BLOOMLINE_CHECKED bloomline_status bloomline_counting_decode(const void *data, size_t len,
    bloomline_counting **out);
BLOOMLINE_CHECKED bloomline_status bloomline_counting_save(const bloomline_counting *filter,
    const char *path);
BLOOMLINE_CHECKED bloomline_status bloomline_counting_load(const char *path,
    bloomline_counting **out);

/**
 * bloomline_counting_insert() inserts the key of 'len' bytes at 'key': once more, if it is
 * present. Returns whether the key was new. bloomline_counting_insert_hash() does so by its hash.
 */
BLOOMLINE_API bool bloomline_counting_insert(bloomline_counting *filter, const void *key,
    size_t len);
BLOOMLINE_API bool bloomline_counting_insert_hash(bloomline_counting *filter, uint64_t hash);

/**
 * bloomline_counting_insert_hashes() inserts 'n' keys by their hashes,
 * bloomline_counting_insert_keys() by their bytes, and returns how many were new.
 */
BLOOMLINE_API size_t bloomline_counting_insert_hashes(bloomline_counting *filter,
    const uint64_t *hashes, size_t n, uint64_t *bitmap);
BLOOMLINE_API size_t bloomline_counting_insert_keys(bloomline_counting *filter,
    const bloomline_bytes *keys, size_t n, uint64_t *bitmap);

/**
 * bloomline_counting_remove() removes the key of 'len' bytes at 'key',
 * bloomline_counting_remove_hash() a key by its hash, once if it was inserted more often. Remove
 * only keys you inserted: see bloomline_counting.
 *
 * Errors: BLOOMLINE_ERR_ABSENT if the key is definitely absent; nothing changes.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_counting_remove(bloomline_counting *filter,
    const void *key, size_t len);
BLOOMLINE_CHECKED bloomline_status bloomline_counting_remove_hash(bloomline_counting *filter,
    uint64_t hash);

/**
 * bloomline_counting_remove_hashes() removes 'n' keys by their hashes,
 * bloomline_counting_remove_keys() by their bytes, one after the other, and returns how many were
 * removed. The bit of a key in 'removed' is set if it was, clear if it was definitely absent, or
 * NULL with a length above 0. If 'filter' or the array is NULL, none is removed.
 */
BLOOMLINE_API size_t bloomline_counting_remove_hashes(bloomline_counting *filter,
    const uint64_t *hashes, size_t n, uint64_t *removed);
BLOOMLINE_API size_t bloomline_counting_remove_keys(bloomline_counting *filter,
    const bloomline_bytes *keys, size_t n, uint64_t *removed);

/**
 * bloomline_counting_count_hash() returns how often the key of a hash is present, at most: 0 if it
 * is definitely absent, BLOOMLINE_COUNTING_MOST for so often or more, and for a NULL filter. Other
 * keys can make it too high, at about the false-positive rate; only removals of keys never
 * inserted make it too low.
 */
BLOOMLINE_API uint32_t bloomline_counting_count_hash(const bloomline_counting *filter,
    uint64_t hash);

/**
 * bloomline_counting_filter() returns the plain filter of the keys now present, for any function
 * that takes a const bloomline_filter. It is part of 'filter', not a copy:
 * bloomline_filter_clone() makes one, bloomline_filter_view() a view of it. Do not change or free
 * it. Valid while 'filter' is alive and is not being changed.
 *
 * Returns NULL for NULL.
 */
BLOOMLINE_API const bloomline_filter *bloomline_counting_filter(const bloomline_counting *filter);

/**
 * bloomline_counting_union() inserts all keys of 'from' into 'into', each as often as it is
 * present in 'from'. Line count, k and seed must be equal. They may be one filter, whose keys are
 * then present twice as often.
 *
 * Errors: BLOOMLINE_ERR_MISMATCH; BLOOMLINE_ERR_OUT_OF_MEMORY if they are one filter. 'into' is
 * unchanged.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_counting_union(bloomline_counting *into,
    const bloomline_counting *from);

/** bloomline_counting_clear() removes all keys. Size, k and seed stay. */
BLOOMLINE_API void bloomline_counting_clear(bloomline_counting *filter);

/* bloomline_cuckoo: keys can be removed; can become full -------------------------------- */

/** What bloomline_encoded_kind() returns for a filter that bloomline_cuckoo_decode() reads. */
#define BLOOMLINE_KIND_CUCKOO 7

/**
 * A cuckoo filter: keys can be inserted and removed, and it can become full. Probed through
 * bloomline_cuckoo_view().
 *
 * It keeps a fingerprint of each key, in one of 8 slots. If relocating others makes no room,
 * inserting returns BLOOMLINE_ERR_FULL, and loses no key. About 95 % of the slots can be used:
 * bloomline_cuckoo_params says how many there are. A key that is inserted twice is present twice,
 * and has to be removed twice; it can be present 8 times at most.
 *
 * A full filter fails fast. An insert relocates up to 2,048 fingerprints to make room. After 16
 * searches that found no room, an insert relocates only 8. Each key that is inserted after that
 * allows later inserts 8 relocations more, each key that is removed 2,048. A clone has the same
 * allowance, a decoded filter a new one.
 *
 * Remove only keys you inserted. Any other removal can delete an inserted key's fingerprint; that
 * key is then a false negative. BLOOMLINE_ERR_ABSENT reports some such mistakes, not all.
 */
typedef struct bloomline_cuckoo bloomline_cuckoo;

/**
 * bloomline_cuckoo_new() creates an empty cuckoo filter, of 64 bytes of memory for each line. It
 * never grows.
 *
 * Errors: as bloomline_filter_new().
 */
BLOOMLINE_CHECKED bloomline_status bloomline_cuckoo_new(const bloomline_cuckoo_params *params,
    bloomline_cuckoo **out);

/**
 * bloomline_cuckoo_clone() and the functions under it are those of bloomline_filter, for a cuckoo
 * filter. Encoded it takes 64 bytes for each line and 64 more, which bloomline_view_open() and
 * bloomline_map_open() read, too.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_cuckoo_clone(const bloomline_cuckoo *filter,
    bloomline_cuckoo **out);
BLOOMLINE_API void bloomline_cuckoo_free(bloomline_cuckoo *filter);
BLOOMLINE_API size_t bloomline_cuckoo_memory(const bloomline_cuckoo *filter);
BLOOMLINE_API size_t bloomline_cuckoo_encoded_len(const bloomline_cuckoo *filter);
BLOOMLINE_CHECKED bloomline_status bloomline_cuckoo_encode(const bloomline_cuckoo *filter,
    void *out, size_t cap, size_t *written);
BLOOMLINE_CHECKED bloomline_status bloomline_cuckoo_write(const bloomline_cuckoo *filter,
    bloomline_write_fn write, void *context);
BLOOMLINE_CHECKED bloomline_status bloomline_cuckoo_decode(const void *data, size_t len,
    bloomline_cuckoo **out);
BLOOMLINE_CHECKED bloomline_status bloomline_cuckoo_save(const bloomline_cuckoo *filter,
    const char *path);
BLOOMLINE_CHECKED bloomline_status bloomline_cuckoo_load(const char *path, bloomline_cuckoo **out);

/**
 * bloomline_cuckoo_view() writes a view of the cuckoo filter to 'out': to probe it, for its
 * parameters and its load factor. Valid until the filter is changed or freed.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_cuckoo_view(const bloomline_cuckoo *filter,
    bloomline_view *out);

/**
 * bloomline_cuckoo_insert() inserts the key of 'len' bytes at 'key',
 * bloomline_cuckoo_insert_hash() a key by its hash.
 *
 * Errors: BLOOMLINE_ERR_FULL if there is no room; the filter is unchanged.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_cuckoo_insert(bloomline_cuckoo *filter,
    const void *key, size_t len);
BLOOMLINE_CHECKED bloomline_status bloomline_cuckoo_insert_hash(bloomline_cuckoo *filter,
    uint64_t hash);

/**
 * bloomline_cuckoo_insert_hashes() inserts 'n' keys by their hashes,
 * bloomline_cuckoo_insert_keys() by their bytes, in order, up to the first for which there is no
 * room; faster than one by one. It writes how many to 'inserted', also with BLOOMLINE_ERR_FULL,
 * unless that is NULL.
 *
 * Errors: BLOOMLINE_ERR_FULL if not all were inserted.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_cuckoo_insert_hashes(bloomline_cuckoo *filter,
    const uint64_t *hashes, size_t n, size_t *inserted);
BLOOMLINE_CHECKED bloomline_status bloomline_cuckoo_insert_keys(bloomline_cuckoo *filter,
    const bloomline_bytes *keys, size_t n, size_t *inserted);

/**
 * bloomline_cuckoo_remove() removes the key of 'len' bytes at 'key',
 * bloomline_cuckoo_remove_hash() a key by its hash, once if it was inserted more often. Remove
 * only keys you inserted: see bloomline_cuckoo.
 *
 * Errors: BLOOMLINE_ERR_ABSENT if the key is definitely absent; the filter is unchanged.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_cuckoo_remove(bloomline_cuckoo *filter,
    const void *key, size_t len);
BLOOMLINE_CHECKED bloomline_status bloomline_cuckoo_remove_hash(bloomline_cuckoo *filter,
    uint64_t hash);

/**
 * bloomline_cuckoo_remove_hashes() and bloomline_cuckoo_remove_keys() are those of
 * bloomline_counting.
 */
BLOOMLINE_API size_t bloomline_cuckoo_remove_hashes(bloomline_cuckoo *filter,
    const uint64_t *hashes, size_t n, uint64_t *removed);
BLOOMLINE_API size_t bloomline_cuckoo_remove_keys(bloomline_cuckoo *filter,
    const bloomline_bytes *keys, size_t n, uint64_t *removed);

/** bloomline_cuckoo_clear() removes all keys. Size, shape and seed stay. */
BLOOMLINE_API void bloomline_cuckoo_clear(bloomline_cuckoo *filter);

/* bloomline_growing: grows with its keys; they can be removed, counted, merged ---------- */

/**
 * What bloomline_encoded_kind() returns for a filter that bloomline_growing_decode() reads, and
 * bloomline_map_open() opens.
 */
#define BLOOMLINE_KIND_GROWING 11

/**
 * A filter that grows and shrinks with its keys, from which keys can be removed, that counts them
 * and that is merged with others. For each key it keeps a prefix of its hash, in order. Probed
 * through bloomline_growing_view().
 *
 * bloomline_growing_new() is told the most keys that may come. With fewer its false-positive rate
 * is lower in proportion, with more it is higher. At 1 % it takes some 10 bits per key once it has
 * all of these keys. bloomline_growing_new_unbounded() is told the first number of keys only. Its
 * rate stays below the one asked for, up to 10^16 keys times the rate (10^14 at 1 %). At 1 % it
 * takes 15 to 16.5 bits per key on average, at most 18 from 65,536 keys on, and at most 22.5 from
 * 4,000 keys on.
 *
 * A key that is inserted twice is present twice, and is removed twice. Remove only keys you
 * inserted. Any other removal can take the prefix of an inserted key, which is then a false
 * negative. BLOOMLINE_ERR_ABSENT reports most such mistakes, not all. A call that fails changes
 * nothing, unless it says otherwise.
 */
typedef struct bloomline_growing bloomline_growing;

/** What bloomline_growing_about() writes. */
typedef struct bloomline_growing_facts {
    /** The most keys that a bounded filter was made for, the first keys of an unbounded one. */
    uint64_t expected_keys;
    /** How many different prefixes there can be; in an unbounded filter, of the first length. */
    uint64_t prefix_count;
    /** The false-positive rate that it was made for, 0 to 1. */
    double target_rate;
    /** The seed of the hash of keys. */
    uint64_t seed;
    /** Whether it was made for an unknown number of keys: 1 or 0. */
    uint64_t is_unbounded;
} bloomline_growing_facts;

/**
 * bloomline_growing_new() creates an empty filter for up to 'most_keys' keys: with so many its
 * false-positive rate is 'rate'. bloomline_growing_new_unbounded() creates one whose rate stays
 * below 'rate', up to 10^16 keys times 'rate'. With fewer than 'first_keys' it takes more memory
 * per key than later. 'seed' is that of the hash of keys.
 *
 * Errors: BLOOMLINE_ERR_RATE; BLOOMLINE_ERR_RATE_TOO_SMALL if keys / rate is above 2^59;
 * BLOOMLINE_ERR_OUT_OF_MEMORY, BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_growing_new(uint64_t most_keys, double rate,
    uint64_t seed, bloomline_growing **out);
BLOOMLINE_CHECKED bloomline_status bloomline_growing_new_unbounded(uint64_t first_keys, double rate,
    uint64_t seed, bloomline_growing **out);

/**
 * bloomline_growing_build() and bloomline_growing_build_unbounded() create the filter of
 * bloomline_growing_new() and bloomline_growing_new_unbounded() with 'n' keys in it, given by
 * their hashes. That takes a small part of the time of inserts. A bounded filter is 4 % smaller
 * than after inserts; an unbounded one takes 1 to 4 bits per key less if 'n' is many times
 * 'first_keys'. Later inserts make it grow as any other. If the hashes do not ascend, the build
 * also takes 8 bytes of memory for each.
 *
 * Errors: those of bloomline_growing_new().
 */
BLOOMLINE_CHECKED bloomline_status bloomline_growing_build(uint64_t most_keys, double rate,
    uint64_t seed, const uint64_t *hashes, size_t n, bloomline_growing **out);
BLOOMLINE_CHECKED bloomline_status bloomline_growing_build_unbounded(uint64_t first_keys,
    double rate, uint64_t seed, const uint64_t *hashes, size_t n, bloomline_growing **out);

/**
 * bloomline_growing_clone() and the functions under it are those of bloomline_filter, for a
 * growing filter. It is encoded as if it were built at once of the prefixes that it has. So
 * bounded filters that were made with the same numbers and seed, and have the same keys, have the
 * same bytes.
 *
 * If the filter has changed since it was made, read or copied, bloomline_growing_encoded_len() and
 * each function that encodes first build a copy of it, which takes a few nanoseconds per key. So
 * if you ask for the length and then encode, do both with a bloomline_growing_clone(), whose bytes
 * need no other copy. Without memory for the copy bloomline_growing_encoded_len() returns SIZE_MAX.
 *
 * bloomline_map_open() and bloomline_map_bytes() open the bytes, too; bloomline_view_open() does
 * not. bloomline_growing_memory() also counts the tables beside the lines, whose memory does not
 * come from the allocator of bloomline_set_allocator().
 *
 * Errors: as there; in encoding and saving, also BLOOMLINE_ERR_OUT_OF_MEMORY; in reading, also
 * BLOOMLINE_ERR_RATE.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_growing_clone(const bloomline_growing *filter,
    bloomline_growing **out);
BLOOMLINE_API void bloomline_growing_free(bloomline_growing *filter);
BLOOMLINE_API size_t bloomline_growing_memory(const bloomline_growing *filter);
BLOOMLINE_API size_t bloomline_growing_encoded_len(const bloomline_growing *filter);
BLOOMLINE_CHECKED bloomline_status bloomline_growing_encode(const bloomline_growing *filter,
    void *out, size_t cap, size_t *written);
BLOOMLINE_CHECKED bloomline_status bloomline_growing_write(const bloomline_growing *filter,
    bloomline_write_fn write, void *context);
BLOOMLINE_CHECKED bloomline_status bloomline_growing_decode(const void *data, size_t len,
    bloomline_growing **out);
BLOOMLINE_CHECKED bloomline_status bloomline_growing_save(const bloomline_growing *filter,
    const char *path);
BLOOMLINE_CHECKED bloomline_status bloomline_growing_load(const char *path,
    bloomline_growing **out);

/**
 * bloomline_growing_view() writes a view of the filter to 'out': to probe it, for its key count,
 * its fill and its rate. It leads to the filter and sees all later changes. Valid until the filter
 * is freed. No thread may change the filter while another uses it.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_growing_view(const bloomline_growing *filter,
    bloomline_view *out);

/** bloomline_growing_about() writes what the filter was made with to 'out'. */
BLOOMLINE_CHECKED bloomline_status bloomline_growing_about(const bloomline_growing *filter,
    bloomline_growing_facts *out);

/**
 * bloomline_growing_insert() inserts the key of 'len' bytes at 'key',
 * bloomline_growing_insert_hash() a key by its hash: once more, if it is present. It writes to
 * 'is_new', unless that is NULL, whether the key was new: false if it is already present, or a
 * false positive.
 *
 * Many hashes take several times as long in ascending order as in any other: those next to each
 * other crowd in a few lines before there is room. bloomline_growing_build() takes them best in
 * order; shuffle others.
 *
 * Errors: BLOOMLINE_ERR_OUT_OF_MEMORY; the filter is unchanged.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_growing_insert(bloomline_growing *filter,
    const void *key, size_t len, bool *is_new);
BLOOMLINE_CHECKED bloomline_status bloomline_growing_insert_hash(bloomline_growing *filter,
    uint64_t hash, bool *is_new);

/**
 * bloomline_growing_insert_hashes() inserts 'n' keys by their hashes,
 * bloomline_growing_insert_keys() by their bytes, in order, faster than one by one. Unless
 * 'bitmap' is NULL, the bit of each key that was new is set there, of the others it is clear.
 *
 * If 'bitmap' is NULL and a bounded filter gets 4,096 hashes or more, and an eighth as many as it
 * has keys, it is built anew with them, which takes less time. Meanwhile it takes the memory of a
 * copy and, unless the hashes ascend, 8 bytes for each. Without that memory they are inserted one
 * by one.
 *
 * Errors: BLOOMLINE_ERR_OUT_OF_MEMORY at the first key for which there is no room. Those before it
 * are inserted, and 'bitmap' tells of them: bloomline_view_key_count() has grown by their number.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_growing_insert_hashes(bloomline_growing *filter,
    const uint64_t *hashes, size_t n, uint64_t *bitmap);
BLOOMLINE_CHECKED bloomline_status bloomline_growing_insert_keys(bloomline_growing *filter,
    const bloomline_bytes *keys, size_t n, uint64_t *bitmap);

/**
 * bloomline_growing_insert_hashes_parallel() and bloomline_growing_insert_keys_parallel() do the
 * same on up to 'threads' threads, the caller's among them; 0: on as many as there are CPUs. The
 * filter has 16 regions, each a range of hashes, and one thread at a time inserts into a region.
 * So at most 16 threads take part. The functions use fewer if there are few keys (another thread
 * for each 32,768) or if the system starts no more.
 *
 * Prefixes and answers are the same for any number of threads. In a bounded filter they are also
 * those of inserts one by one. In an unbounded one other keys may get longer prefixes. The calls
 * take 8 MiB at most, for 'bitmap' 4 MiB more and for keys 8 MiB more; and the new lines of each
 * region that grows meanwhile, a sixteenth of the filter each. Without the memory for that one
 * thread does the work.
 *
 * Errors: BLOOMLINE_ERR_OUT_OF_MEMORY. In each region, the keys before the first for which there
 * is no room are inserted, and bloomline_view_key_count() has grown by their number. If two regions
 * are due to grow and there is not even a little memory to bring one to its end, keys would be
 * lost: the process is aborted.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_growing_insert_hashes_parallel(
    bloomline_growing *filter, const uint64_t *hashes, size_t n, size_t threads, uint64_t *bitmap);
BLOOMLINE_CHECKED bloomline_status bloomline_growing_insert_keys_parallel(bloomline_growing *filter,
    const bloomline_bytes *keys, size_t n, size_t threads, uint64_t *bitmap);

/**
 * bloomline_growing_remove() removes the key of 'len' bytes at 'key',
 * bloomline_growing_remove_hash() a key by its hash, once if it was inserted more often. Remove
 * only keys you inserted: see bloomline_growing.
 *
 * Errors: BLOOMLINE_ERR_ABSENT if the key is definitely absent; nothing changes.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_growing_remove(bloomline_growing *filter,
    const void *key, size_t len);
BLOOMLINE_CHECKED bloomline_status bloomline_growing_remove_hash(bloomline_growing *filter,
    uint64_t hash);

/**
 * bloomline_growing_remove_hashes() and bloomline_growing_remove_keys() are those of
 * bloomline_counting.
 */
BLOOMLINE_API size_t bloomline_growing_remove_hashes(bloomline_growing *filter,
    const uint64_t *hashes, size_t n, uint64_t *removed);
BLOOMLINE_API size_t bloomline_growing_remove_keys(bloomline_growing *filter,
    const bloomline_bytes *keys, size_t n, uint64_t *removed);

/**
 * bloomline_growing_count_hash() returns how often the key of a hash is present, at most: 0 if it
 * is definitely absent, UINT64_MAX for a NULL filter. Keys of the same prefix count, too.
 */
BLOOMLINE_API uint64_t bloomline_growing_count_hash(const bloomline_growing *filter, uint64_t hash);

/** bloomline_growing_clear() removes all keys. */
BLOOMLINE_API void bloomline_growing_clear(bloomline_growing *filter);

/**
 * bloomline_growing_union() inserts all keys of 'from' into 'into', each as often as it is present
 * in 'from'. bloomline_growing_intersect() keeps in 'into' the keys that may be in 'with', too:
 * each as often as in the filter that has it less often, in unbounded filters now and then more
 * often. bloomline_growing_difference() removes the keys of 'from' from 'into', each as often as
 * it is present in 'from'. Use it only if 'into' has all of them, as with any removal.
 *
 * Both filters must be made with the same numbers and seed. They may have any number of keys, and
 * may be one filter.
 *
 * Errors: BLOOMLINE_ERR_MISMATCH, BLOOMLINE_ERR_OUT_OF_MEMORY. bloomline_growing_difference() also
 * BLOOMLINE_ERR_UNBOUNDED, if the filters are unbounded: there a prefix may be of other keys, too.
 * Remove keys one by one instead.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_growing_union(bloomline_growing *into,
    const bloomline_growing *from);
BLOOMLINE_CHECKED bloomline_status bloomline_growing_intersect(bloomline_growing *into,
    const bloomline_growing *with);
BLOOMLINE_CHECKED bloomline_status bloomline_growing_difference(bloomline_growing *into,
    const bloomline_growing *from);

/**
 * bloomline_growing_split() makes 'parts' filters of the filter, one for each range of hashes, and
 * writes their handles to the array 'out': the key of hash h is in filter number
 * h * parts / 2^64, rounded down. A prefix on the border of two is in both. It reads the filter a
 * few times, as long as there are no more parts than prefixes of the first length.
 * bloomline_growing_free() frees each.
 *
 * Errors: BLOOMLINE_ERR_OUT_OF_MEMORY.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_growing_split(const bloomline_growing *filter,
    size_t parts, bloomline_growing **out);

/**
 * bloomline_growing_prefixes() lists the prefixes from 'first' on, in order. It writes up to 'cap'
 * of them to 'prefixes' and, unless that is NULL, how often each is there to 'counts', and returns
 * how many it wrote. To list all, begin with 0, and go on from the last prefix plus 1 until it
 * returns less than 'cap'. Each call reads the filter from its start, so take large arrays.
 *
 * Of a bounded filter the prefix of a hash h is h * prefix_count / 2^64, rounded down. Of an
 * unbounded one it is the bits of the prefix, then a 1, then zeros.
 *
 * Returns 0 if 'filter' or 'prefixes' is NULL.
 */
BLOOMLINE_API size_t bloomline_growing_prefixes(const bloomline_growing *filter, uint64_t first,
    uint64_t *prefixes, uint64_t *counts, size_t cap);

/**
 * bloomline_growing_freeze() builds an encoded static filter of the filter's prefixes in the 'cap'
 * bytes at 'out', as bloomline_static_block_build() does of hashes, and writes its length to
 * 'written'. bloomline_static_block_len() of the number of prefixes says how large the buffer must
 * be: the estimated_keys of bloomline_view_about() for the filter's view, which is exact. The
 * static filter takes a quarter less memory. Its false positives are its own, at 'rate', and those
 * of the growing filter.
 *
 * It is probed by other hashes than the growing filter. For the key of 'hash',
 * bloomline_growing_frozen_hash() returns the hash to probe for. Its 'prefix_count' is that of
 * bloomline_growing_about(): keep it beside the static filter.
 *
 * Errors: those of bloomline_static_block_build(); BLOOMLINE_ERR_UNBOUNDED.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_growing_freeze(const bloomline_growing *filter,
    double rate, void *out, size_t cap, size_t *written);
BLOOMLINE_API uint64_t bloomline_growing_frozen_hash(uint64_t prefix_count, uint64_t hash);

/* bloomline_journal: a growing filter in a file that survives a crash ------------------- */

/**
 * A file that begins with a whole growing filter and takes what changes in it, so that after a
 * crash the filter is as it was when it was last saved.
 *
 * Each record has a sequence number of yours: of a block, of a log record. It says up to where the
 * filter has your data. From there on you insert again what your own log has.
 *
 * A journal has one writer: it locks the file, where the system has locks. Anybody may read it
 * meanwhile, but on Windows, where nobody else can read a locked file. It does not hold the filter,
 * which is a handle of its own and may be freed before or after.
 */
typedef struct bloomline_journal bloomline_journal;

/**
 * bloomline_journal_create() begins a journal at 'path', a NUL-terminated string, on Windows in
 * UTF-8, with the whole of 'filter'. A file that is there is replaced atomically, as by
 * bloomline_growing_save(). If several programs begin one where there is none, one of them does,
 * where the file system has locks and hard links.
 *
 * Errors: those of bloomline_growing_save(); BLOOMLINE_ERR_LOCKED if the file is a journal that is
 * open. BLOOMLINE_ERR_PERMISSION also if the process may not write to the file, since it then
 * cannot tell whether the file is an open journal.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_journal_create(const char *path,
    bloomline_growing *filter, uint64_t sequence, bloomline_journal **out);

/**
 * bloomline_journal_open() opens the journal at 'path', and writes to 'filter' a new handle of the
 * filter as it was at the last whole record. What follows that, a record that was being written
 * when the program ended, is cut off; the others are on the disk. bloomline_growing_free() frees
 * the filter.
 *
 * Errors: those of bloomline_growing_replay(), of bloomline_growing_load() for the file;
 * BLOOMLINE_ERR_LOCKED if it is open already, here or in another process.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_journal_open(const char *path, bloomline_journal **out,
    bloomline_growing **filter);

/**
 * bloomline_journal_save_changed() appends what changed in the filter since the last record, and
 * flushes it to the disk. Once it has returned BLOOMLINE_OK, 'sequence' may be acknowledged. A
 * filter that is not the one of the last record is written whole:
 * bloomline_growing_save_changed() says when.
 *
 * Errors: BLOOMLINE_ERR_SEQUENCE if 'sequence' is not above that of the last record;
 * BLOOMLINE_ERR_IO, such as a full disk; BLOOMLINE_ERR_OUT_OF_MEMORY. The journal is as before, and
 * the filter knows what changed: try again. BLOOMLINE_ERR_NOT_FOUND if the path leads to another
 * file or to none by now, which is seen on Unix only: bloomline_journal_restart() writes a new one.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_journal_save_changed(bloomline_journal *journal,
    bloomline_growing *filter, uint64_t sequence);

/**
 * bloomline_journal_restart() replaces the file atomically by one that has the whole filter and no
 * other record, which is as short as it can be. 'sequence' may be the one it has.
 *
 * Errors: those of bloomline_journal_create(); BLOOMLINE_ERR_SEQUENCE if 'sequence' is below that
 * of the last record. The journal is as before. If only the last step failed, flushing the
 * directory, the new file is in place and has the whole filter. Then
 * bloomline_journal_save_changed() fails until a bloomline_journal_restart() succeeds.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_journal_restart(bloomline_journal *journal,
    bloomline_growing *filter, uint64_t sequence);

/**
 * bloomline_journal_apply_patch() brings a copy of another filter up to date, and its journal. It
 * appends the records of the patch of 'len' bytes at 'patch' that the filter lacks, flushes them to
 * the disk, applies them as bloomline_growing_apply_patch() does, and writes the sequence number of
 * the last record to 'sequence', unless that is NULL. If the patch has a whole filter, a new file
 * replaces the journal atomically.
 *
 * 'filter' must be as the last record of the journal says. The journal begins as a copy of the file
 * or of the records of the other filter, which bloomline_journal_open() opens. One that
 * bloomline_journal_create() or bloomline_journal_restart() wrote is of a filter of its own: then
 * only a patch that begins with a whole filter fits.
 *
 * Errors: those of bloomline_growing_apply_patch() and bloomline_journal_save_changed();
 * BLOOMLINE_ERR_SEQUENCE also if the filter is not that of the last record. Both are as before.
 * Except if there is no memory once the patch is on the disk: then both have the records before the
 * one that had none. If only flushing the directory failed, bloomline_journal_restart() says how it
 * is.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_journal_apply_patch(bloomline_journal *journal,
    bloomline_growing *filter, const void *patch, size_t len, uint64_t *sequence);

/**
 * bloomline_journal_sequence() returns the sequence number of the last record,
 * bloomline_journal_file_len() the bytes of the file. Restart it when that is a few times
 * bloomline_growing_encoded_len(). Both return 0 for NULL.
 */
BLOOMLINE_API uint64_t bloomline_journal_sequence(const bloomline_journal *journal);
BLOOMLINE_API uint64_t bloomline_journal_file_len(const bloomline_journal *journal);

/** bloomline_journal_free() closes the file. What was not saved is not in it. */
BLOOMLINE_API void bloomline_journal_free(bloomline_journal *journal);

/**
 * bloomline_growing_save_whole() passes the whole filter to 'write', as the first record of a
 * journal in bytes of your own: in another store, in a message. bloomline_growing_save_changed()
 * passes what changed since the last record of this filter. At 1 % that is 88 bytes, and some 20
 * bits for each key inserted or removed if one key in 1,000 was.
 *
 * It passes the whole filter instead if the filter does not know what changed. That is so if it
 * was not saved, replayed or patched before, or was united, intersected, subtracted from or cleared
 * since, or if the changes are more than an eighth of its keys plus 4,096.
 *
 * Flush what was written, then acknowledge 'sequence'. After an error cut the journal off where the
 * record began, and try again: the changes are still there.
 *
 * Errors: BLOOMLINE_ERR_SEQUENCE if 'sequence' is not above that of the last record, of
 * bloomline_growing_save_changed() only; BLOOMLINE_ERR_IO if 'write' fails;
 * BLOOMLINE_ERR_OUT_OF_MEMORY.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_growing_save_whole(bloomline_growing *filter,
    bloomline_write_fn write, void *context, uint64_t sequence);
BLOOMLINE_CHECKED bloomline_status bloomline_growing_save_changed(bloomline_growing *filter,
    bloomline_write_fn write, void *context, uint64_t sequence);

/**
 * bloomline_growing_replay() makes a filter of the journal of 'len' bytes at 'journal': as it was
 * at the last whole record. It writes the number of that record to 'sequence', and to 'whole_len'
 * how many bytes the whole records take. If these are fewer than 'len', the last record was not
 * written to its end: cut the journal off there before you write to it again. Both may be NULL.
 *
 * Errors: BLOOMLINE_ERR_TRUNCATED if there is no whole record; BLOOMLINE_ERR_NOT_A_FILTER if it
 * does not begin as a journal; BLOOMLINE_ERR_VERSION; BLOOMLINE_ERR_CHECKSUM if bytes were altered;
 * BLOOMLINE_ERR_RESERVED; BLOOMLINE_ERR_SEQUENCE if a record does not follow on the one before;
 * those of bloomline_growing_decode().
 */
BLOOMLINE_CHECKED bloomline_status bloomline_growing_replay(const void *journal, size_t len,
    bloomline_growing **out, uint64_t *sequence, size_t *whole_len);

/**
 * bloomline_growing_patch_since() finds the patch that brings a filter of 'sequence' up to date
 * with the journal of 'len' bytes at 'journal'. The patch is the journal's end, from the offset
 * that is written to 'start'; it is empty if nothing came after. Only the headers of records are
 * read.
 *
 * Errors: BLOOMLINE_ERR_SEQUENCE if no record has this number, and the journal begins later;
 * those of bloomline_growing_replay(), BLOOMLINE_ERR_TRUNCATED also for a record that was not
 * written to its end.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_growing_patch_since(const void *journal, size_t len,
    uint64_t sequence, size_t *start);

/**
 * bloomline_growing_apply_patch() brings the filter up to date by the patch of 'len' bytes at
 * 'patch', and writes the sequence number of its last record to 'sequence', unless that is NULL.
 * Records that the filter has are skipped. The filter must come from bloomline_growing_replay() or
 * bloomline_journal_open(), or have been patched before. Nothing else may have changed or saved it
 * since: bloomline_journal_apply_patch() keeps it on the disk, too. A patch that begins with a
 * whole filter also fits an empty filter that was never saved.
 *
 * Errors: BLOOMLINE_ERR_SEQUENCE if a record does not follow on what the filter has, or the filter
 * has changed by itself;
 * BLOOMLINE_ERR_MISMATCH if the patch has a whole filter of another seed: views of this filter
 * would go on with the old seed, so make a new filter of the patch by bloomline_growing_replay().
 * Also the errors of that function, BLOOMLINE_ERR_TRUNCATED also for a record that is not all
 * there. The records before the one that is wrong are applied.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_growing_apply_patch(bloomline_growing *filter,
    const void *patch, size_t len, uint64_t *sequence);

/**
 * bloomline_growing_saved_sequence() writes the sequence number of the record that the filter was
 * last saved, replayed or patched by to 'sequence', unless that is NULL. Returns false, and writes
 * nothing, if there is none or the filter does not know what changed since, and if it is NULL.
 */
BLOOMLINE_API bool bloomline_growing_saved_sequence(const bloomline_growing *filter,
    uint64_t *sequence);

/* bloomline_scalable: grows with its keys, for an unknown number of them ---------------- */

/** What bloomline_encoded_kind() returns for a filter that bloomline_scalable_decode() reads. */
#define BLOOMLINE_KIND_SCALABLE 3

/**
 * A filter for an unknown number of keys: it grows with them, and stays below its false-positive
 * rate. It is a series of plain filters, its stages, each for twice the keys of the one before and
 * at a lower rate. At a thousand times the first number of keys it has 10 stages, and takes 1.9
 * times the memory of a plain filter for so many keys at 1 %. A key that is already present is not
 * inserted again. Probed through bloomline_scalable_view().
 *
 * bloomline_growing_new_unbounded() makes a filter that keeps its rate in less memory once it has
 * grown, and can remove keys. Take a bloomline_scalable if inserts must be fast: those of a
 * bloomline_growing take several times as long.
 *
 * If it has to grow and there is no memory, an insert returns BLOOMLINE_ERR_OUT_OF_MEMORY, **and
 * the key is inserted all the same**: no key is lost, but the rate may then exceed the target.
 * Each later insert tries to grow again.
 */
typedef struct bloomline_scalable bloomline_scalable;

/** What bloomline_scalable_about() writes. */
typedef struct bloomline_scalable_facts {
    /** How many stages it has, 1 or more. */
    uint64_t stage_count;
    /** The target false-positive rate, 0 to 1, of all stages together. */
    double target_rate;
    /**
     * The rate to expect with the keys now present. It is at most the target, unless the filter
     * could not grow.
     */
    double expected_rate;
    /** The seed of the hash of keys. */
    uint64_t seed;
} bloomline_scalable_facts;

/**
 * bloomline_scalable_new() creates an empty filter. Its first stage is sized for 'first_keys'
 * keys, at least 32. 'rate' is the target false-positive rate of all stages together, from 1e-15
 * to less than 1; 'seed' that of the hash of keys.
 *
 * Errors: BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_RATE_TOO_SMALL; BLOOMLINE_ERR_LINE_COUNT if the first
 * stage would not fit in memory; BLOOMLINE_ERR_OUT_OF_MEMORY, BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_scalable_new(uint64_t first_keys, double rate,
    uint64_t seed, bloomline_scalable **out);

/**
 * bloomline_scalable_clone() and the functions under it are those of bloomline_filter, for all
 * stages together. A copy grows on as 'filter' would. Encoded it takes 64 bytes for each line of
 * the stages, 64 for each stage, and 64 more. Only bloomline_scalable_decode() and
 * bloomline_scalable_load() read these bytes; no view can be opened of them. After
 * bloomline_scalable_free(), do not use what bloomline_scalable_stage() returned.
 *
 * Errors: as there; in reading, also BLOOMLINE_ERR_RATE.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_scalable_clone(const bloomline_scalable *filter,
    bloomline_scalable **out);
BLOOMLINE_API void bloomline_scalable_free(bloomline_scalable *filter);
BLOOMLINE_API size_t bloomline_scalable_memory(const bloomline_scalable *filter);
BLOOMLINE_API size_t bloomline_scalable_encoded_len(const bloomline_scalable *filter);
BLOOMLINE_CHECKED bloomline_status bloomline_scalable_encode(const bloomline_scalable *filter,
    void *out, size_t cap, size_t *written);
BLOOMLINE_CHECKED bloomline_status bloomline_scalable_write(const bloomline_scalable *filter,
    bloomline_write_fn write, void *context);
BLOOMLINE_CHECKED bloomline_status bloomline_scalable_decode(const void *data, size_t len,
    bloomline_scalable **out);
BLOOMLINE_CHECKED bloomline_status bloomline_scalable_save(const bloomline_scalable *filter,
    const char *path);
BLOOMLINE_CHECKED bloomline_status bloomline_scalable_load(const char *path,
    bloomline_scalable **out);

/**
 * bloomline_scalable_insert() inserts the key of 'len' bytes at 'key',
 * bloomline_scalable_insert_hash() a key by its hash. It writes to 'is_new', unless that is NULL,
 * whether the key was new: false if it is already present, or a false positive.
 *
 * Errors: BLOOMLINE_ERR_OUT_OF_MEMORY if the filter has to grow and cannot. The key is inserted,
 * and 'is_new' is written: true.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_scalable_insert(bloomline_scalable *filter,
    const void *key, size_t len, bool *is_new);
BLOOMLINE_CHECKED bloomline_status bloomline_scalable_insert_hash(bloomline_scalable *filter,
    uint64_t hash, bool *is_new);

/**
 * bloomline_scalable_insert_hashes() inserts 'n' keys by their hashes,
 * bloomline_scalable_insert_keys() by their bytes, faster than one by one.
 *
 * Errors: BLOOMLINE_ERR_OUT_OF_MEMORY if the filter has to grow and cannot. All keys are inserted,
 * and 'bitmap' is written.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_scalable_insert_hashes(bloomline_scalable *filter,
    const uint64_t *hashes, size_t n, uint64_t *bitmap);
BLOOMLINE_CHECKED bloomline_status bloomline_scalable_insert_keys(bloomline_scalable *filter,
    const bloomline_bytes *keys, size_t n, uint64_t *bitmap);

/**
 * bloomline_scalable_clear() removes all keys, and all stages but the first. Rate and seed stay.
 * Do not use what bloomline_scalable_stage() returned afterwards.
 */
BLOOMLINE_API void bloomline_scalable_clear(bloomline_scalable *filter);

/**
 * bloomline_scalable_view() writes a view of all stages together to 'out': to probe the filter,
 * for its key count, its fill and its rate. It leads to the filter and sees all later inserts.
 * Valid until the filter is freed. No thread may insert while another uses it.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_scalable_view(const bloomline_scalable *filter,
    bloomline_view *out);

/**
 * bloomline_scalable_about() writes the number of stages, rates and seed of the filter to 'out'.
 * If you can insert all keys again, a plain filter for bloomline_view_key_count() keys at the
 * target rate is smaller and faster. Then compare key counts: if the plain filter's is lower, keys
 * are missing.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_scalable_about(const bloomline_scalable *filter,
    bloomline_scalable_facts *out);

/**
 * bloomline_scalable_stage() returns stage number 'stage', 0 being the oldest, for any function
 * that takes a const bloomline_filter. It is part of 'filter': do not change or free it. Valid
 * until 'filter' is changed or freed.
 *
 * Returns NULL if 'stage' is out of range, or 'filter' is NULL.
 */
BLOOMLINE_API const bloomline_filter *bloomline_scalable_stage(const bloomline_scalable *filter,
    size_t stage);

/* bloomline_swap: replaced atomically while threads read it ----------------------------- */

/**
 * A place for a filter that threads read while it is atomically replaced. A reader takes a
 * snapshot by bloomline_swap_acquire(), the old filter or the new one, whole, and never waits.
 * Made by bloomline_swap_new(); freed by bloomline_swap_free(), which requires exclusive access:
 * all other functions may run in any number of threads.
 *
 * The first call in a thread makes a record of that thread, of less than 1 KB, which a later
 * thread takes over. If there is no memory for that record, it aborts the process.
 */
typedef struct bloomline_swap bloomline_swap;

/**
 * bloomline_swap_new() creates a swap, takes ownership of the filter '*first' in it, and sets
 * '*first' to NULL.
 *
 * Errors: BLOOMLINE_ERR_OUT_OF_MEMORY; '*first' is unchanged, and still the caller's.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_swap_new(bloomline_filter **first,
    bloomline_swap **out);

/**
 * bloomline_swap_free() frees a swap that no thread uses any more, and its filter. Snapshots stay
 * until they are released.
 */
BLOOMLINE_API void bloomline_swap_free(bloomline_swap *swap);

/**
 * bloomline_swap_publish() atomically replaces the filter in 'swap' by '*next', of any size and
 * type, takes ownership of it, and sets '*next' to NULL. A later bloomline_swap_acquire() returns
 * it, or a newer one. The old filter is freed when its last snapshot is released, perhaps by that
 * thread. Insert all keys into '*next' before: it must not change afterwards.
 *
 * Errors: BLOOMLINE_ERR_OUT_OF_MEMORY; '*next' is unchanged, and still the caller's.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_swap_publish(const bloomline_swap *swap,
    bloomline_filter **next);

/**
 * bloomline_swap_acquire() returns a snapshot: the filter now in 'swap', for any function that
 * takes a const bloomline_filter. Publishing does not affect it. Do not change or free it; pass
 * it to bloomline_swap_release() exactly once, from any thread.
 *
 * Returns NULL if 'swap' is NULL; probes of NULL return true.
 */
BLOOMLINE_API const bloomline_filter *bloomline_swap_acquire(const bloomline_swap *swap);

/** bloomline_swap_release() releases a snapshot. Do not use it afterwards. */
BLOOMLINE_API void bloomline_swap_release(const bloomline_filter *snapshot);

/* bloomline_window: keys expire --------------------------------------------------------- */

/** What bloomline_encoded_kind() returns for a filter that bloomline_window_decode() reads. */
#define BLOOMLINE_KIND_WINDOW 4

/**
 * A sliding-window filter: whether a key was inserted in one of the last generations. A generation
 * is a time slice, such as a day, or a number of keys. Keys go into the newest;
 * bloomline_window_rotate() starts a new one and drops the oldest, in constant time.
 *
 * With G generations, a key is present for the rest of its generation and the G - 1 that follow,
 * then it expires. Inserting it again renews it. So "seen in the last 7 days" takes 8 daily
 * generations: the current day and the 7 whole ones before it. A present key is never a false
 * negative.
 *
 * Probed through bloomline_window_view(). The caller passes the time to
 * bloomline_window_advance_to(). The same calls give the same answers and bytes, whenever they are
 * made.
 */
typedef struct bloomline_window bloomline_window;

/** What bloomline_window_about() writes. */
typedef struct bloomline_window_facts {
    /** How many generations there are, the newest included. */
    uint64_t generations;
    /**
     * The number of the current time slice: how often the window rotated, or what
     * bloomline_window_advance_to() set.
     */
    uint64_t time_slice;
    /** Line count, k and seed of each generation. */
    bloomline_params params;
} bloomline_window_facts;

/**
 * bloomline_window_new() creates an empty window of 'generations' generations in slice 0. While
 * none has more than 'keys_per_generation' keys, the false-positive rate over all is at most
 * 'rate', between 0 and 1. 'seed' is that of the hash of keys. Each generation is a plain filter:
 * 8 of them at 1 % take 15 bits for each key and generation.
 *
 * Errors: BLOOMLINE_ERR_GENERATIONS for none; BLOOMLINE_ERR_RATE,
 * BLOOMLINE_ERR_RATE_TOO_SMALL; BLOOMLINE_ERR_LINE_COUNT if it would not fit in memory;
 * BLOOMLINE_ERR_OUT_OF_MEMORY; BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_window_new(uint32_t generations,
    uint64_t keys_per_generation, double rate, uint64_t seed, bloomline_window **out);

/**
 * bloomline_window_clone() and the functions under it are those of bloomline_filter, for all
 * generations together, with the slice and what bloomline_window_rotate_after() set.
 * bloomline_window_memory() counts the lines, and the notes of when each part of them was last
 * cleared. Only bloomline_window_decode() and bloomline_window_load() read its bytes.
 *
 * Errors: as there; in reading, also BLOOMLINE_ERR_GENERATIONS.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_window_clone(const bloomline_window *window,
    bloomline_window **out);
BLOOMLINE_API void bloomline_window_free(bloomline_window *window);
BLOOMLINE_API size_t bloomline_window_memory(const bloomline_window *window);
BLOOMLINE_API size_t bloomline_window_encoded_len(const bloomline_window *window);
BLOOMLINE_CHECKED bloomline_status bloomline_window_encode(const bloomline_window *window,
    void *out, size_t cap, size_t *written);
BLOOMLINE_CHECKED bloomline_status bloomline_window_write(const bloomline_window *window,
    bloomline_write_fn write, void *context);
BLOOMLINE_CHECKED bloomline_status bloomline_window_decode(const void *data, size_t len,
    bloomline_window **out);
BLOOMLINE_CHECKED bloomline_status bloomline_window_save(const bloomline_window *window,
    const char *path);
BLOOMLINE_CHECKED bloomline_status bloomline_window_load(const char *path, bloomline_window **out);

/** bloomline_window_rotate() starts the next slice: a new generation, and drops the oldest. */
BLOOMLINE_API void bloomline_window_rotate(bloomline_window *window);

/**
 * bloomline_window_advance_to() sets the current time slice, such as time(NULL) / 86400 for days.
 * Each slice begun since the last call starts a generation and drops the oldest; as many slices as
 * generations drop all keys. So call it before the first insert, too: a new window is in slice 0.
 * Does nothing if 'slice' is not later, or 'window' is NULL.
 */
BLOOMLINE_API void bloomline_window_advance_to(bloomline_window *window, uint64_t slice);

/**
 * bloomline_window_rotate_after() makes generations of 'keys' keys: from now on the window rotates
 * by itself when the newest has so many, before the next key goes in, also within a batch. A key
 * that the newest already has does not count. 0, as at the start, turns this off.
 */
BLOOMLINE_API void bloomline_window_rotate_after(bloomline_window *window, uint64_t keys);

/**
 * bloomline_window_insert() inserts the key of 'len' bytes at 'key',
 * bloomline_window_insert_hash() a key by its hash, into the newest generation. Returns true if
 * the key was new, and false if the window already had it, or for a false positive. So one call
 * answers "have I seen this lately?", and remembers the key. Returns true for a NULL window.
 */
BLOOMLINE_API bool bloomline_window_insert(bloomline_window *window, const void *key, size_t len);
BLOOMLINE_API bool bloomline_window_insert_hash(bloomline_window *window, uint64_t hash);

/**
 * bloomline_window_insert_hashes() inserts 'n' keys by their hashes,
 * bloomline_window_insert_keys() by their bytes, and returns how many were new.
 */
BLOOMLINE_API size_t bloomline_window_insert_hashes(bloomline_window *window,
    const uint64_t *hashes, size_t n, uint64_t *bitmap);
BLOOMLINE_API size_t bloomline_window_insert_keys(bloomline_window *window,
    const bloomline_bytes *keys, size_t n, uint64_t *bitmap);

/**
 * bloomline_window_clear() removes all keys of all generations. The slice, and what
 * bloomline_window_rotate_after() set, stay.
 */
BLOOMLINE_API void bloomline_window_clear(bloomline_window *window);

/**
 * bloomline_window_view() writes a view of all generations together to 'out': to probe the window,
 * for its fill and its rate. It leads to the window and sees all later inserts and rotations.
 * Valid until the window is freed. No thread may change the window while another uses it.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_window_view(const bloomline_window *window,
    bloomline_view *out);

/**
 * bloomline_window_about() writes generations, time slice and parameters of the window to 'out'.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_window_about(const bloomline_window *window,
    bloomline_window_facts *out);

/**
 * bloomline_window_key_count() returns how many different keys are in the generation of 'age'
 * rotations ago, 0 being the newest. It misses some, at the false-positive rate. Returns 0 if
 * 'age' is out of range, and for NULL.
 */
BLOOMLINE_API uint64_t bloomline_window_key_count(const bloomline_window *window, uint32_t age);

/* Encoded filters that are opened: files, and bytes ------------------------------------- */

/**
 * bloomline_map_open(), bloomline_map_bytes(): checks all but the lines, as
 * BLOOMLINE_VIEW_UNVERIFIED, and so does not read them.
 */
#define BLOOMLINE_MAP_UNVERIFIED 1

/**
 * bloomline_map_open(): reads the file into memory of its own, and does not map it.
 * bloomline_map_bytes(): copies the bytes. The memory is that of bloomline_set_allocator().
 */
#define BLOOMLINE_MAP_COPY 2

/**
 * An encoded filter that was opened, in a file or in the caller's bytes: of any kind that
 * bloomline_view_open() opens, a cascade, a growing filter or a matrix. Made by
 * bloomline_map_open() or bloomline_map_bytes(); probed through bloomline_map_view() or
 * bloomline_map_matrix(); freed by bloomline_map_close().
 */
typedef struct bloomline_map bloomline_map;

/**
 * bloomline_map_open() maps a file that holds an encoded filter: of any kind that
 * bloomline_view_open() opens, a block of bloomline_block_save() among them, or a cascade, a
 * growing filter or a matrix. 'flags' is 0 or a sum of BLOOMLINE_MAP_ numbers. With 0 it checks
 * all of the file, and so reads it once from end to end. 'path' is NUL-terminated, on Windows in
 * UTF-8.
 *
 * While a file is mapped, nobody may change it in place, in this process or another: the library
 * cannot prevent or notice it. If the file is written to, answers are wrong in either direction: a
 * present key can be a false negative. If it is cut short, a probe of a missing part kills the
 * process with SIGBUS. To change the filter, write a new file and rename it over the old one, as
 * bloomline_filter_save() does: the map keeps the old file. Removing the file does no harm. If you
 * cannot rule out changes, or the file system maps no files, take BLOOMLINE_MAP_COPY.
 *
 * Errors: those of bloomline_filter_load(); BLOOMLINE_ERR_RESERVED for other flags.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_map_open(const char *path, uint32_t flags,
    bloomline_map **out);

/**
 * bloomline_map_bytes() is bloomline_map_open() for the 'len' bytes at 'data', which must stay in
 * place, unchanged, until bloomline_map_close(), unless copied. It is how a cascade, a
 * growing filter or a matrix is probed where its bytes are; bloomline_view_open() opens other kinds
 * without a handle.
 *
 * Errors: those of bloomline_filter_decode(); BLOOMLINE_ERR_RESERVED for other flags.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_map_bytes(const void *data, size_t len, uint32_t flags,
    bloomline_map **out);

/**
 * bloomline_map_view() writes a view of the filter to 'out'. Valid until bloomline_map_close().
 *
 * Errors: BLOOMLINE_ERR_LAYOUT for a matrix.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_map_view(const bloomline_map *map,
    bloomline_view *out);

/**
 * bloomline_map_matrix() returns the matrix, for any function that takes a const bloomline_matrix.
 * It is part of 'map': do not free it. Valid until bloomline_map_close(). Returns NULL if 'map' is
 * NULL or has a filter of another kind.
 */
BLOOMLINE_API const bloomline_matrix *bloomline_map_matrix(const bloomline_map *map);

/** bloomline_map_close() unmaps the file, or frees the copy. Do not use its views afterwards. */
BLOOMLINE_API void bloomline_map_close(bloomline_map *map);

/* Filter blocks of other engines -------------------------------------------------------- */

/**
 * Engines whose filter blocks are read and written, for the functions that take an 'engine'.
 * RocksDB since format_version 5.
 */
#define BLOOMLINE_ENGINE_ROCKSDB 1

/** Pebble, and RocksDB before format_version 5. */
#define BLOOMLINE_ENGINE_ROCKSDB_LEGACY 2

/** LevelDB and goleveldb. */
#define BLOOMLINE_ENGINE_LEVELDB 3

/** Parquet. */
#define BLOOMLINE_ENGINE_PARQUET 4

/**
 * bloomline_view_open_engine() opens a filter of an engine in the 'len' bytes at 'data'. It copies
 * and allocates nothing, and is cheap enough for each probe. Whatever the bytes are, only those
 * 'len' are read.
 *
 * Of RocksDB, 'data' is a full filter, or one partition of a partitioned one, without the trailer
 * of the block; only the last 5 bytes are read. It reads Bloom filters of all versions, whether
 * 'engine' is BLOOMLINE_ENGINE_ROCKSDB or BLOOMLINE_ENGINE_ROCKSDB_LEGACY. Filters older than
 * format_version 5 have lines of 64 (Pebble's), 128 or 256 bytes, and another hash than newer
 * ones: use bloomline_view_hash(). As in RocksDB, a block of no keys reports every key as absent.
 * A block that RocksDB has marked as "always true", or that makes no sense, reports every key as
 * present. Of LevelDB, 'data' is one of the filters in a table's filter block; empty data is the
 * filter of no keys. Of Parquet, 'data' is the filter of a column chunk, header included; what is
 * behind it is not looked at.
 *
 * Errors: BLOOMLINE_ERR_LAYOUT for another number than those of engines, and for a kind of filter
 * that it cannot read: Ribbon or newer, or of Parquet another algorithm, hash or compression.
 * Then, against the rule, 'out' is written: a view that reports every key as present. Of Parquet,
 * BLOOMLINE_ERR_TRUNCATED if bytes are missing, and BLOOMLINE_ERR_NOT_A_FILTER if they do not begin
 * with a header that bloomline_parquet_read_header() reads. BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_view_open_engine(uint32_t engine, const void *data,
    size_t len, bloomline_view *out);

/**
 * bloomline_engine_hash() returns the hash of the 'len' bytes at 'key' for the filters of an
 * engine: of RocksDB 64 bits (XXPH3), of Parquet 64 (XXH64), of the others 32, in the low half.
 * Returns 0 for another number than those of engines. Values of Parquet are hashed in its plain
 * encoding: numbers little-endian, byte arrays without a length.
 */
BLOOMLINE_API uint64_t bloomline_engine_hash(uint32_t engine, const void *key, size_t len);

/**
 * bloomline_engine_hash_batch() writes the hashes of 'n' keys to 'out', in order: those of
 * bloomline_engine_hash(), faster than one by one. It does nothing if either array is NULL.
 */
BLOOMLINE_API void bloomline_engine_hash_batch(uint32_t engine, const bloomline_bytes *keys,
    size_t n, uint64_t *out);

/**
 * bloomline_engine_block_len() returns how many bytes bloomline_engine_block_build() writes for
 * 'n' hashes; 0 if the build fails, and for no keys of RocksDB. A block of Pebble has at least 5
 * bytes, of LevelDB 9, of Parquet 47.
 */
BLOOMLINE_API size_t bloomline_engine_block_len(uint32_t engine, size_t n, double bits_per_key);

/**
 * bloomline_engine_block_build() builds, byte for byte, the Bloom filter that an engine writes,
 * from the 'n' hashes at 'hashes', those of bloomline_engine_hash(). 'out' is 'cap' bytes, at any
 * alignment. It writes its length to 'written', unless that is NULL.
 *
 * * RocksDB, since format_version 5, with NewBloomFilterPolicy(bits_per_key) and
 *   optimize_filters_for_memory off. As RocksDB does, leave out a key equal to its predecessor.
 *   Bits per key are rounded to thousandths; those from 0.5 to 1 are 1, and those above 100 are
 *   100; below 0.5 RocksDB makes no filter. No keys take 0 bytes.
 * * ROCKSDB_LEGACY: what Pebble writes and reads, and RocksDB before format_version 5 wrote on
 *   CPUs with cache lines of 64 bytes. As they do, leave out a key whose hash is its
 *   predecessor's. Any bits per key from 0 will do. No keys take 5 bytes.
 * * LevelDB and goleveldb: all keys count, also those equal to their predecessor. Bits per key
 *   are whole numbers, from 0. No keys take 9 bytes.
 * * Parquet: header and bits, whose size is a power of two from 32 bytes to 128 MiB.
 *   bloomline_parquet_bits_per_key() has the bits per key of a rate.
 *
 * Errors: BLOOMLINE_ERR_BITS_PER_KEY if they are negative or not finite,
 * BLOOMLINE_ERR_TOO_FEW_BITS for fewer; BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than
 * bloomline_engine_block_len(); BLOOMLINE_ERR_LAYOUT for another number than those of engines;
 * BLOOMLINE_ERR_LINE_COUNT, BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_engine_block_build(uint32_t engine,
    const uint64_t *hashes, size_t n, double bits_per_key, void *out, size_t cap, size_t *written);

/**
 * bloomline_leveldb_contains() is bloomline_view_open_engine() and bloomline_view_contains() in
 * one call, for the key of 'key_len' bytes at 'key'. LevelDB has a filter for some tens of keys,
 * so it opens one for each probe. Returns true if 'data' or 'key' is NULL with a length above 0.
 */
BLOOMLINE_API bool bloomline_leveldb_contains(const void *data, size_t len, const void *key,
    size_t key_len);

/* Filters of Parquet: header and bits --------------------------------------------------- */

/** The most bytes that a header of a Parquet filter may have; reading a longer one fails. */
#define BLOOMLINE_PARQUET_MAX_HEADER_LEN 1024

/**
 * bloomline_view_open_parquet_bits() opens the 'len' bytes of bits at 'data' of a Parquet filter,
 * without the header, as other libraries keep them in memory: blocks of 32 bytes. With the header:
 * bloomline_view_open_engine(). No byte says whose bits they are: read as Parquet's, those of
 * Kudu, Impala, Doris and Velox would lose keys. For these: bloomline_kudu_view_open(),
 * bloomline_velox_view_open().
 *
 * Errors: BLOOMLINE_ERR_LINE_COUNT if 'len' is 0 or above 2^31 - 1, BLOOMLINE_ERR_TRUNCATED unless
 * it is a multiple of 32; BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_view_open_parquet_bits(const void *data, size_t len,
    bloomline_view *out);

/**
 * bloomline_parquet_read_header() reads the header of a Parquet filter at the start of the 'len'
 * bytes at 'data', and writes its length and that of the bits behind it. The bits need not be
 * there. If the file does not state the length of a filter, read BLOOMLINE_PARQUET_MAX_HEADER_LEN
 * bytes, or what the file has.
 *
 * Errors: BLOOMLINE_ERR_TRUNCATED if the header goes on behind the end; BLOOMLINE_ERR_NOT_A_FILTER
 * if it is none, or states a length of bits that is negative, 0 or no multiple of 32;
 * BLOOMLINE_ERR_LAYOUT if it names another algorithm, hash or compression. At any error, treat
 * every key as present.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_parquet_read_header(const void *data, size_t len,
    size_t *header_len, size_t *bits_len);

/**
 * bloomline_parquet_write_header() writes the header of 'bits_len' bytes of bits to the 'cap' bytes
 * at 'out', and its length to 'written', unless that is NULL. 19 bytes are enough.
 *
 * Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL; BLOOMLINE_ERR_LINE_COUNT and BLOOMLINE_ERR_TRUNCATED for
 * a length that bloomline_view_open_parquet_bits() refuses.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_parquet_write_header(size_t bits_len, void *out,
    size_t cap, size_t *written);

/**
 * bloomline_parquet_bits_per_key() returns the bits per key that give a false-positive rate, by
 * Parquet's own advice; 0 unless 'rate' is between 0 and 1. bloomline_parquet_bits_len() returns
 * how many bytes of bits so many different keys take: a power of two, from 32 to 128 MiB; 0 unless
 * the bits per key are positive and finite.
 */
BLOOMLINE_API double bloomline_parquet_bits_per_key(double rate);
BLOOMLINE_API size_t bloomline_parquet_bits_len(uint64_t keys, double bits_per_key);

/**
 * bloomline_parquet_hash_fixed() hashes 'n' values of 'width' bytes each, which lie side by side at
 * 'values' as in a page of Parquet's plain encoding, and writes 'n' hashes to 'out', in order.
 * INT32 and FLOAT have 4 bytes, INT64 and DOUBLE 8, INT96 12, little-endian, as memory has them on
 * most CPUs; a FIXED_LEN_BYTE_ARRAY has as many as its column says. A BOOLEAN is hashed as one
 * byte, 0 or 1. For a BYTE_ARRAY: bloomline_engine_hash(). Does nothing if 'values' or 'out' is
 * NULL.
 */
BLOOMLINE_API void bloomline_parquet_hash_fixed(const void *values, size_t width, size_t n,
    uint64_t *out);

/**
 * bloomline_parquet_insert_hashes() inserts the keys of 'n' hashes into the 'len' bytes of bits at
 * 'bits': zeroed, or those of another filter, in any number of blocks of 32 bytes.
 *
 * Errors: BLOOMLINE_ERR_LINE_COUNT and BLOOMLINE_ERR_TRUNCATED for a length that
 * bloomline_view_open_parquet_bits() refuses; BLOOMLINE_ERR_BACKEND. Nothing is inserted.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_parquet_insert_hashes(void *bits, size_t len,
    const uint64_t *hashes, size_t n);

/**
 * bloomline_parquet_fold() folds bits to a half, a quarter and so on, for as long as their
 * false-positive rate stays at 'rate' or below. It writes to 'folded_len' how many bytes are left,
 * which are the first ones. The bytes behind them are undefined. All keys stay. If the rate is
 * above 'rate' already, or the number of blocks is odd, nothing changes.
 *
 * Errors: BLOOMLINE_ERR_RATE unless it is between 0 and 1; BLOOMLINE_ERR_LINE_COUNT and
 * BLOOMLINE_ERR_TRUNCATED for a length that bloomline_view_open_parquet_bits() refuses. Nothing is
 * changed.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_parquet_fold(void *bits, size_t len, double rate,
    size_t *folded_len);

/* Split blocks of Kudu, Impala, Doris and Velox ----------------------------------------- */

/**
 * A view of the split blocks of Kudu, Impala or Doris. As a bloomline_view, it owns nothing and may
 * be copied, the bytes stay in place, and one that was not opened reports every key as present.
 */
typedef struct bloomline_kudu_view {
    /** Private. Probed as a bloomline_view it would give false negatives. */
    bloomline_view opaque;
} bloomline_kudu_view;

/** A view of Velox' split blocks, in memory of the caller. It may be copied. */
typedef struct bloomline_velox_view {
    /** Private. */
    bloomline_view opaque;
} bloomline_velox_view;

/**
 * bloomline_kudu_view_open() opens the 'len' bytes of a split-block filter of Kudu, Impala or Doris
 * at 'bits': those of the directory of their BlockBloomFilter. Only the length is looked at.
 * Opened so, bits of Parquet or Velox would lose keys.
 *
 * Errors: BLOOMLINE_ERR_TRUNCATED unless 'len' is a multiple of 32; BLOOMLINE_ERR_LINE_COUNT unless
 * 'len' / 32 is a power of two, and 'len' below 2 GiB; BLOOMLINE_ERR_BACKEND. At any error, treat
 * every key as present.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_kudu_view_open(const void *bits, size_t len,
    bloomline_kudu_view *out);

/**
 * bloomline_kudu_view_contains_hash32() returns false if the key of a hash is definitely absent,
 * and true if it may be present. The hash is that of 32 bits by which the other program inserted
 * the key. bloomline_kudu_view_contains_hashes32() answers for 'n' hashes, as
 * bloomline_view_contains_hashes() does.
 */
BLOOMLINE_API bool bloomline_kudu_view_contains_hash32(const bloomline_kudu_view *view,
    uint32_t hash);
BLOOMLINE_API size_t bloomline_kudu_view_contains_hashes32(const bloomline_kudu_view *view,
    const uint32_t *hashes, size_t n, uint64_t *bitmap);

/**
 * bloomline_velox_view_open() opens a split-block filter of Velox: the 'len' bytes at 'blocks'. A
 * block has 'block_len' bytes: the size of a Block of SplitBlockBloomFilter in the program that
 * made it. The blocks are copied to the 'len' bytes at 'copy', apart from 'blocks'. Keep these in
 * place, unchanged, as long as the view is used. If 'copy' is a multiple of 64, probes are faster.
 * Opened so, blocks of Parquet or Kudu would lose keys.
 *
 * Errors: BLOOMLINE_ERR_LAYOUT unless 'block_len' is 32, as it is where a register has 8 words of
 * 32 bits; BLOOMLINE_ERR_LINE_COUNT if 'len' is 0 or above 2^31 - 1, BLOOMLINE_ERR_TRUNCATED unless
 * it is a multiple of 32; BLOOMLINE_ERR_BACKEND. At any error, treat every key as present.
 */
BLOOMLINE_CHECKED bloomline_status bloomline_velox_view_open(const void *blocks, size_t len,
    size_t block_len, void *copy, bloomline_velox_view *out);

/**
 * bloomline_velox_view_contains_hash() returns false if the key of a hash is definitely absent, and
 * true if it may be present. bloomline_velox_view_contains_hashes() answers for 'n' hashes, as
 * bloomline_view_contains_hashes() does.
 */
BLOOMLINE_API bool bloomline_velox_view_contains_hash(const bloomline_velox_view *view,
    uint64_t hash);
BLOOMLINE_API size_t bloomline_velox_view_contains_hashes(const bloomline_velox_view *view,
    const uint64_t *hashes, size_t n, uint64_t *bitmap);

/* Each file that includes this header refers to bloomline_abi_N, N being the header's
 * BLOOMLINE_ABI_VERSION: with a library of another N the program does not link or, linked
 * already, is not loaded. A program that loads the library itself defines BLOOMLINE_NO_ABI_CHECK
 * before the include, and compares bloomline_abi_version(). */
#ifndef BLOOMLINE_NO_ABI_CHECK
#define BLOOMLINE_ABI_PASTE_(name, number) name##number
#define BLOOMLINE_ABI_NAME_(name, number) BLOOMLINE_ABI_PASTE_(name, number)
#if defined(__GNUC__)
/* 'retain' keeps the reference where a linker drops unused sections; compilers whose linker has
 * no such mark warn of it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"
#if defined(__has_attribute)
#if __has_attribute(retain)
#define BLOOMLINE_ABI_KEEP_ __attribute__((used, retain))
#endif
#endif
#ifndef BLOOMLINE_ABI_KEEP_
#define BLOOMLINE_ABI_KEEP_ __attribute__((used))
#endif
BLOOMLINE_ABI_KEEP_ static void (*const bloomline_abi_check)(void) =
    BLOOMLINE_ABI_NAME_(bloomline_abi_, BLOOMLINE_ABI_VERSION);
#pragma GCC diagnostic pop
#elif defined(_MSC_VER)
#define BLOOMLINE_ABI_TEXT_(text) #text
#define BLOOMLINE_ABI_QUOTE_(text) BLOOMLINE_ABI_TEXT_(text)
#if defined(_M_IX86)
#define BLOOMLINE_ABI_SYMBOL_ BLOOMLINE_ABI_NAME_(_bloomline_abi_, BLOOMLINE_ABI_VERSION)
#else
#define BLOOMLINE_ABI_SYMBOL_ BLOOMLINE_ABI_NAME_(bloomline_abi_, BLOOMLINE_ABI_VERSION)
#endif
#pragma comment(linker, "/include:" BLOOMLINE_ABI_QUOTE_(BLOOMLINE_ABI_SYMBOL_))
#else
static void (*const bloomline_abi_check)(void) =
    BLOOMLINE_ABI_NAME_(bloomline_abi_, BLOOMLINE_ABI_VERSION);
#endif
#endif

#ifdef __cplusplus
}
#endif

#endif /* BLOOMLINE_H */
