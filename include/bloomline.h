/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bloomline.h - Bloom filters for storage engines: one key, one 64-byte cache line.
 *
 * A filter answers whether a key may be in a set. "No" is certain; "yes" is wrong at a
 * rate that is chosen when the filter is made, such as 1 % at 10 bits per key. A filter
 * is an array of 64-byte lines. The 64-bit hash of a key picks one line and k bits in it.
 *
 * To use it, one of:
 *
 *   bloomline_filter    grows key by key in memory, and can be saved
 *   bloomline_classic_  makes one with the bits of a key anywhere: fewer false positives,
 *                       and several times slower
 *   bloomline_counting  one from which keys can be removed; takes five times the memory
 *   bloomline_scalable  grows with its keys, where their number is not known beforehand
 *   bloomline_block_    writes the filter of a block straight into the caller's buffer
 *   bloomline_builder   builds the same, from keys that come one by one
 *   bloomline_concurrent is a filter that many threads insert into at once
 *   bloomline_swap      replaces a filter while threads read it
 *   bloomline_lines_    works on lines in memory that the caller owns
 *   bloomline_cuckoo    lets keys be removed again, and can become full
 *   bloomline_window    forgets keys that were not inserted lately
 *   bloomline_view      probes the bytes of one filter where they are, without a copy
 *   bloomline_map       is a file of such bytes in memory
 *
 * The rules, which hold for every function unless its own comment says otherwise:
 *
 * True when in doubt. A bloomline_..._contains...() answers true if it cannot tell: for a
 * NULL handle, a key that is NULL with a length above 0, a view that was not opened. A
 * false "no" would make an engine lose data; a false "yes" costs it a read.
 *
 * Hashes. A hash that the caller brings must be well mixed over all 64 bits: the line
 * is taken from its high bits, the bits from all of it. bloomline_hash() and
 * bloomline_hash_u64() are; an integer as it is, or a hash of 32 bits, is not.
 *
 * Status. A function that can fail returns a bloomline_status: BLOOMLINE_OK (0), or what
 * went wrong. The comments name the errors to expect; besides them any such function
 * may return BLOOMLINE_ERR_NULL and BLOOMLINE_ERR_INTERNAL. There is no errno, no last
 * error, and nothing that belongs to a thread (but for bloomline_swap). Failed allocations
 * are a status too. Compilers warn of a status that is ignored: an insert that failed is a
 * false negative later.
 *
 * Outputs are written only on success. They need not be initialized.
 *
 * Pointers. NULL is never allowed, except where it is said, and for an array or a buffer
 * with a count of 0. A function with a status answers NULL with BLOOMLINE_ERR_NULL. One
 * without does nothing, or says what cannot do harm. A key that is NULL with a length
 * above 0 is inserted and hashed as if it were empty. Keys and encoded filters may have
 * any alignment (lines at multiples of 64 bytes are faster); everything else has that of
 * its type. What a call writes must not overlap anything else that it is given.
 *
 * Threads. A function that takes a handle as const may run in any number of threads at
 * once, on the same handle. One that takes it as non-const needs it for itself. All else
 * that a call reads must stay unchanged while it runs. No function waits for another.
 *
 * First use, fork, environment. There is nothing to initialize, and no lock: a process may
 * fork while its other threads are in the library, and the child may use it. The variables
 * BLOOMLINE_BACKEND and BLOOMLINE_HUGE_PAGES are read when the library is loaded: before
 * main(), or within dlopen(). Set them before the program starts; a later setenv() changes
 * nothing, and races with nothing here. dlopen() must not run at the same time as setenv().
 *
 * Ownership. Who makes a handle by ..._new(), ..._decode(), ..._load() or ..._open(...,
 * bloomline_map **) frees it by ..._free() or ..._close(), once, in any thread. Texts that
 * are returned are static.
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

/* Marks the functions whose status must not be ignored. Define it empty before the include to
 * be rid of the warnings. */
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

#ifdef __cplusplus
extern "C" {
#endif

/* Status -------------------------------------------------------------------------------- */

/**
 * What a function that can fail returns: BLOOMLINE_OK (0), or one of the positive
 * BLOOMLINE_ERR_ numbers. The numbers never change their meaning; later versions
 * may return numbers not listed here, which are errors too.
 */
typedef int32_t bloomline_status;

/** Success. */
#define BLOOMLINE_OK 0

/** A pointer was NULL (or an array misaligned) where that is not allowed. */
#define BLOOMLINE_ERR_NULL 1

/**
 * The false-positive rate asked for is not between 0 and 1, both excluded, or is
 * too small to size for.
 */
#define BLOOMLINE_ERR_RATE 2

/** The bits per key asked for are not a positive finite number. */
#define BLOOMLINE_ERR_BITS_PER_KEY 3

/**
 * k, the number of bits that a key sets, is outside 1 to 16; or the bits of a cuckoo
 * filter's fingerprints are not 8, 12 or 16.
 */
#define BLOOMLINE_ERR_K 4

/**
 * The line count is zero, as in parameters that nobody filled in, or is more than memory can
 * address.
 */
#define BLOOMLINE_ERR_LINE_COUNT 5

/** The system has not got the memory. */
#define BLOOMLINE_ERR_OUT_OF_MEMORY 6

/** The buffer is smaller than what is to be written into it. */
#define BLOOMLINE_ERR_BUFFER_TOO_SMALL 7

/**
 * The two filters differ in line count, k, seed or type: plain and classic filters do not
 * match.
 */
#define BLOOMLINE_ERR_MISMATCH 8

/** A filter with an odd number of lines cannot be folded. */
#define BLOOMLINE_ERR_ODD_LINE_COUNT 9

/**
 * The environment variable BLOOMLINE_BACKEND names a backend that does not exist
 * or that this CPU lacks.
 */
#define BLOOMLINE_ERR_BACKEND 10

/**
 * The data is shorter than any filter, such as an empty file, or has not the length that it
 * states.
 */
#define BLOOMLINE_ERR_TRUNCATED 11

/** The data does not end as a filter ends: it is something else, or was cut off. */
#define BLOOMLINE_ERR_NOT_A_FILTER 12

/** The data was written in a format version that this library does not know. */
#define BLOOMLINE_ERR_VERSION 13

/**
 * The data has a layout of lines that this library does not know, or the filter one that does
 * not allow what is asked for.
 */
#define BLOOMLINE_ERR_LAYOUT 14

/** The data is damaged: a checksum does not match. */
#define BLOOMLINE_ERR_CHECKSUM 15

/** A field that must be zero is not, in the data or in a bloomline_params. */
#define BLOOMLINE_ERR_RESERVED 16

/** The operating system refused to read or write a file. */
#define BLOOMLINE_ERR_IO 17

/** There is no such file or directory. */
#define BLOOMLINE_ERR_NOT_FOUND 18

/** The file may not be read or written by this process. */
#define BLOOMLINE_ERR_PERMISSION 19

/**
 * A bug in the library, caught before it could do harm. A handle that the call was
 * to change is only good for freeing. Please report it.
 */
#define BLOOMLINE_ERR_INTERNAL 20

/** The key is surely not in the filter, and so cannot be removed; nothing was changed. */
#define BLOOMLINE_ERR_ABSENT 21

/** There is no room in the filter for the key; nothing was changed. */
#define BLOOMLINE_ERR_FULL 22

/** A window is to have no generation, or more than 2^32 - 1. */
#define BLOOMLINE_ERR_GENERATIONS 23

/** Fewer keys were given than the filter has; the new filter would deny some of them. */
#define BLOOMLINE_ERR_KEY_COUNT 24

/**
 * The path leads to something other than a regular file: a directory, a pipe, a device. It was
 * neither read nor replaced.
 */
#define BLOOMLINE_ERR_NOT_A_FILE 25

/**
 * bloomline_status_message() returns what 'status' means, as one line of English
 * without a full stop, NUL-terminated. The text is static: it is never freed and
 * never changes. Any number may be given; the result is never NULL.
 */
const char *bloomline_status_message(bloomline_status status);

/* Version and backend ------------------------------------------------------------------- */

/** The version that this header belongs to: major number. */
#define BLOOMLINE_VERSION_MAJOR 0

/** The version that this header belongs to: minor number. */
#define BLOOMLINE_VERSION_MINOR 1

/** The version that this header belongs to: patch number. */
#define BLOOMLINE_VERSION_PATCH 0

/**
 * The binary interface that this header describes: the number in the name of the
 * shared library (libbloomline.so.0). It changes only when a program built against
 * an older header could not run with a newer library.
 */
#define BLOOMLINE_ABI_VERSION 0

/**
 * bloomline_abi_version() returns the BLOOMLINE_ABI_VERSION of the library that is
 * linked or loaded, as opposed to that of the header. A program that loads the
 * library at run time compares the two before it calls anything else.
 */
uint32_t bloomline_abi_version(void);

/**
 * bloomline_abi_0() does nothing. Its name is that of the binary interface, so that a program
 * built against the header of another one does not link: see the end of this header.
 */
void bloomline_abi_0(void);

/**
 * bloomline_version() returns the version of the library that is linked or loaded,
 * such as "0.1.0". The text is static.
 */
const char *bloomline_version(void);

/**
 * bloomline_backend() returns the name of the code that answers probes in this
 * process: "avx512", "avx2", "portable" or "scalar". It is chosen once, by what the
 * CPU can do; all give the same answers and the same bytes. The environment variable
 * BLOOMLINE_BACKEND, set before the library is loaded, forces one of them; empty is as
 * good as unset.
 *
 * If the variable names one that does not exist or that this CPU lacks, the result is
 * "none": then nothing can be made or opened, with BLOOMLINE_ERR_BACKEND. The text is
 * static.
 */
const char *bloomline_backend(void);

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
 * bloomline_random_seed() writes a random number from the operating system to 'out': a seed
 * for a filter whose keys others choose. With a seed that they know, such as 0, an attacker
 * finds false positives, and keys that all fall on one line, in a second.
 *
 * A seed stops keys that were chosen beforehand. It does not stop an attacker who can ask the
 * filter for keys and see the answers, or read its bytes, which hold the seed: XXH3 is not a
 * cryptographic hash. Against that, hash keys by SipHash with a secret key, and use the
 * functions that take hashes.
 *
 * Errors: BLOOMLINE_ERR_IO if the system has no random numbers.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_random_seed(uint64_t *out);

/**
 * bloomline_hash() returns the hash of the 'len' bytes at 'key': XXH3-64 with 'seed'.
 * It is the hash that a filter with that seed uses for its keys, the same on every
 * CPU.
 */
uint64_t bloomline_hash(const void *key, size_t len, uint64_t seed);

/**
 * bloomline_hash_u64() returns the hash of an integer key: that of its 8 bytes in
 * little-endian order, on every CPU. An integer must be hashed before it is given to
 * a function that takes hashes: the line and the bits of a key are taken from all 64
 * bits of its hash, and small integers leave most of them zero.
 */
uint64_t bloomline_hash_u64(uint64_t key, uint64_t seed);

/**
 * bloomline_hash_u64_batch() hashes 'n' integer keys as bloomline_hash_u64() does, and
 * writes 'n' hashes to 'out', in order. 'out' may be 'keys' itself. If either is NULL,
 * nothing is written.
 */
void bloomline_hash_u64_batch(const uint64_t *keys,
                              size_t n,
                              uint64_t seed,
                              uint64_t *out);

/**
 * bloomline_hash_batch() hashes 'n' keys as bloomline_hash() does, and writes 'n'
 * hashes to 'out', in order. If either is NULL, nothing is written.
 */
void bloomline_hash_batch(const bloomline_bytes *keys,
                          size_t n,
                          uint64_t seed,
                          uint64_t *out);

/* Size and shape of a filter ------------------------------------------------------------ */

/**
 * The size and shape of a filter. Made by bloomline_params_for_rate() or
 * bloomline_params_for_bits(), or filled in by hand; every function that is given one
 * checks it.
 */
typedef struct bloomline_params {
    /** How many lines of 64 bytes; any number above 0. */
    uint64_t line_count;
    /** How many bits a key sets in its line, 1 to 16. */
    uint32_t k;
    /** Must be 0. */
    uint32_t reserved;
    /**
     * The seed of the hash of keys. bloomline_params_for_rate() and
     * bloomline_params_for_bits() set it to 0; it may then be set to any number.
     * Where others choose the keys, take it from bloomline_random_seed() and keep it
     * secret.
     */
    uint64_t seed;
} bloomline_params;

/**
 * bloomline_params_for_rate() finds the smallest filter that holds 'keys' keys at a
 * false-positive rate of 'rate' (0.01 is 1 %), and the k that suits it. 'rate' is
 * between 0 and 1, both excluded. With 0 keys the result is one line.
 *
 * The figures are those of a filter made of 64-byte lines, a little larger than the
 * textbook's for one array of bits: 1 % takes about 9.9 bits per key.
 *
 * Errors: BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_LINE_COUNT if it would not fit in memory.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_params_for_rate(uint64_t keys,
                                           double rate,
                                           bloomline_params *out);

/**
 * bloomline_params_for_bits() finds the size of a filter that spends 'bits_per_key'
 * bits on each of 'keys' keys, which need not be a whole number, and the k with the
 * lowest false-positive rate at that size. With 0 keys the result is one line.
 *
 * Errors: BLOOMLINE_ERR_BITS_PER_KEY, BLOOMLINE_ERR_LINE_COUNT if it would not fit in
 * memory.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_params_for_bits(uint64_t keys,
                                           double bits_per_key,
                                           bloomline_params *out);

/**
 * bloomline_params_foldable() rounds the line count up to a multiple of 2 to the power
 * 'folds', so that bloomline_filter_fold() can halve the filter 'folds' times. It is for a
 * filter whose keys cannot be counted beforehand: make it large, then fold it.
 *
 * Errors: BLOOMLINE_ERR_LINE_COUNT if it would not fit in memory, BLOOMLINE_ERR_K and
 * BLOOMLINE_ERR_RESERVED; 'params' is then unchanged.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_params_foldable(bloomline_params *params,
                                           uint32_t folds);

/**
 * bloomline_params_rate() returns the false-positive rate to be expected, from 0 to 1,
 * once 'keys' different keys are in a filter of these parameters. It is a model of the
 * lines, not the textbook formula. If 'params' is NULL or is refused
 * by the other functions, the result is 1.
 */
double bloomline_params_rate(const bloomline_params *params, uint64_t keys);

/* Filters ------------------------------------------------------------------------------- */

/**
 * A filter that can be added to. It is made by bloomline_filter_new(),
 * bloomline_classic_new(), bloomline_filter_decode() or bloomline_filter_load(), and freed by
 * bloomline_filter_free().
 *
 * Any number of threads may call functions that take a const bloomline_filter at once.
 * A function that takes a non-const one needs it for itself alone.
 */
typedef struct bloomline_filter bloomline_filter;

/**
 * bloomline_filter_new() makes an empty filter. It takes 64 bytes of memory for each
 * line, aligned to the line.
 *
 * On Unix, filters of 2 MiB and more, of every kind, get their memory from the system (mmap),
 * not from malloc, and in huge pages where it has them: these waste at most a tenth, and a
 * filter for which they would waste more has small pages at its end. If the environment
 * has BLOOMLINE_HUGE_PAGES=0, all memory is the allocator's.
 *
 * Errors: BLOOMLINE_ERR_K, BLOOMLINE_ERR_LINE_COUNT and BLOOMLINE_ERR_RESERVED for
 * parameters out of range, BLOOMLINE_ERR_OUT_OF_MEMORY, BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_filter_new(const bloomline_params *params,
                                      bloomline_filter **out);

/**
 * bloomline_filter_free() frees a filter. Views of it must not be used any more.
 * NULL is a no-op.
 */
void bloomline_filter_free(bloomline_filter *filter);

/** bloomline_filter_params() tells the size and shape of a filter. */
BLOOMLINE_MUST_USE
bloomline_status bloomline_filter_params(const bloomline_filter *filter,
                                         bloomline_params *out);

/**
 * bloomline_filter_key_count() returns how many keys were inserted, repeated ones
 * counted each time; for a filter that was read, what its writer said. It is a hint,
 * and 0 means unknown or none. NULL has 0.
 */
uint64_t bloomline_filter_key_count(const bloomline_filter *filter);

/** bloomline_filter_insert() adds the key of 'len' bytes at 'key'. */
void bloomline_filter_insert(bloomline_filter *filter,
                             const void *key,
                             size_t len);

/**
 * bloomline_filter_insert_hash() adds a key by its hash: that of bloomline_hash() or
 * bloomline_hash_u64() with the seed of the filter, if the key is also to be asked for
 * by its bytes; else any hash that is well mixed over all 64 bits.
 */
void bloomline_filter_insert_hash(bloomline_filter *filter, uint64_t hash);

/**
 * bloomline_filter_insert_hashes() adds 'n' keys by their hashes. It is faster than
 * adding them one by one: in a large filter their lines are fetched ahead. A NULL
 * 'hashes' adds nothing.
 */
void bloomline_filter_insert_hashes(bloomline_filter *filter,
                                    const uint64_t *hashes,
                                    size_t n);

/**
 * bloomline_filter_insert_keys() adds 'n' keys, faster than one by one. A NULL 'keys'
 * adds nothing.
 */
void bloomline_filter_insert_keys(bloomline_filter *filter,
                                  const bloomline_bytes *keys,
                                  size_t n);

/**
 * bloomline_filter_contains() returns false if the key of 'len' bytes at 'key' was
 * certainly never added, and true if it may have been.
 */
bool bloomline_filter_contains(const bloomline_filter *filter,
                               const void *key,
                               size_t len);

/**
 * bloomline_filter_contains_hash() is bloomline_filter_contains() for a key given by
 * its hash, the one that it was added by.
 */
bool bloomline_filter_contains_hash(const bloomline_filter *filter, uint64_t hash);

/**
 * bloomline_filter_contains_hashes() asks for 'n' keys by their hashes, and returns
 * how many of them may have been added. Bit i % 64 of bitmap[i / 64] is set if key i
 * may have been; unused bits of the last word are zero. 'bitmap' has room for
 * (n + 63) / 64 words, and need not be initialized.
 *
 * If 'filter' or 'hashes' is NULL, all keys may have been added. If 'bitmap' is NULL,
 * nothing is written and the result is 'n'.
 */
size_t bloomline_filter_contains_hashes(const bloomline_filter *filter,
                                        const uint64_t *hashes,
                                        size_t n,
                                        uint64_t *bitmap);

/**
 * bloomline_filter_contains_keys() is bloomline_filter_contains_hashes() for keys given
 * by their bytes.
 */
size_t bloomline_filter_contains_keys(const bloomline_filter *filter,
                                      const bloomline_bytes *keys,
                                      size_t n,
                                      uint64_t *bitmap);

/**
 * bloomline_filter_union() adds all keys of 'from' to 'into'. The two must have the
 * same line count, k and seed, and both or neither be made by bloomline_classic_new().
 *
 * Errors: BLOOMLINE_ERR_MISMATCH; 'into' is then as before.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_filter_union(bloomline_filter *into,
                                        const bloomline_filter *from);

/** bloomline_filter_clear() takes out all keys. Size, k and seed stay. NULL is a no-op. */
void bloomline_filter_clear(bloomline_filter *filter);

/**
 * bloomline_filter_fold() halves the number of lines and keeps all keys: every two
 * neighbours become one. A filter made too large for its keys is thus made smaller,
 * without the keys, at the price of a higher false-positive rate. Views of the filter
 * must not be used any more.
 *
 * Errors: BLOOMLINE_ERR_ODD_LINE_COUNT, BLOOMLINE_ERR_OUT_OF_MEMORY, and
 * BLOOMLINE_ERR_LAYOUT for one of bloomline_classic_new(); the filter is then as before.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_filter_fold(bloomline_filter *filter);

/**
 * bloomline_filter_fold_to_rate() folds for as long as the false-positive rate stays at
 * 'rate' or below and the number of lines is even, which may be not at all, and writes
 * how many times it did to 'folds', unless that is NULL. Make the filter with a line
 * count that is a multiple of a power of two to leave room for folds.
 *
 * Errors: BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_OUT_OF_MEMORY, and BLOOMLINE_ERR_LAYOUT for one
 * of bloomline_classic_new(). The filter holds all its keys in any case.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_filter_fold_to_rate(bloomline_filter *filter,
                                               double rate,
                                               uint32_t *folds);

/**
 * bloomline_filter_fill() returns which part of the bits is set, from 0 to 1. It reads
 * the whole filter. NULL has 1.
 */
double bloomline_filter_fill(const bloomline_filter *filter);

/**
 * bloomline_filter_estimated_keys() estimates from the fill of the lines how many
 * different keys are in the filter. It reads the whole filter. NULL has 0.
 */
double bloomline_filter_estimated_keys(const bloomline_filter *filter);

/**
 * bloomline_filter_estimated_rate() estimates the false-positive rate at the present
 * fill of the lines, from 0 to 1: the sign that a filter is due to be built anew, larger. It
 * reads the whole filter. NULL has 1.
 */
double bloomline_filter_estimated_rate(const bloomline_filter *filter);

/* Classic filters: bits anywhere -------------------------------------------------------- */

/**
 * bloomline_classic_new() makes an empty filter of the textbook's kind: one array of bits, of
 * which a key sets k, anywhere. It has the lowest false-positive rate that so many bits can
 * give (at 10 bits per key 0.82 % where bloomline_filter_new() has 0.97 %), and a key is up
 * to k cache lines instead of one, so that it is several times slower. The bits are those of
 * 'line_count' times 64 bytes.
 *
 * It is a bloomline_filter like any other, and all functions of that take it, but
 * bloomline_filter_fold() and bloomline_filter_fold_to_rate(), which refuse it with
 * BLOOMLINE_ERR_LAYOUT. bloomline_filter_union() unites it with filters of its kind only.
 * What it is saved or encoded as is read as what it is; a view of it has no parameters to
 * tell. Its size and rate are those that bloomline_classic_params_for_rate() and the like
 * tell.
 *
 * Errors: as bloomline_filter_new().
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_classic_new(const bloomline_params *params,
                                       bloomline_filter **out);

/**
 * bloomline_classic_params_for_rate() is bloomline_params_for_rate() for
 * bloomline_classic_new(), by the textbook's formula: 1 % takes 9.6 bits per key.
 *
 * Errors: BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_LINE_COUNT if it would not fit in memory.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_classic_params_for_rate(uint64_t keys,
                                                   double rate,
                                                   bloomline_params *out);

/**
 * bloomline_classic_params_for_bits() is bloomline_params_for_bits() for
 * bloomline_classic_new().
 *
 * Errors: BLOOMLINE_ERR_BITS_PER_KEY, BLOOMLINE_ERR_LINE_COUNT if it would not fit in
 * memory.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_classic_params_for_bits(uint64_t keys,
                                                   double bits_per_key,
                                                   bloomline_params *out);

/**
 * bloomline_classic_params_rate() returns the false-positive rate to be expected, from 0 to
 * 1, once 'keys' different keys are in a filter that bloomline_classic_new() made with these
 * parameters. If 'params' is NULL or is refused by the other functions, the result is 1.
 */
double bloomline_classic_params_rate(const bloomline_params *params,
                                     uint64_t keys);

/* Filters as bytes and as files --------------------------------------------------------- */

/**
 * bloomline_filter_encoded_len() returns how many bytes bloomline_filter_encode()
 * writes: 64 for each line and 64 more. NULL has 0.
 */
size_t bloomline_filter_encoded_len(const bloomline_filter *filter);

/**
 * bloomline_filter_encode() writes the filter to the 'cap' bytes at 'out', in the format
 * that bloomline_view_open() and bloomline_filter_decode() read: the same bytes on every
 * CPU. How many is written to 'written', unless that is NULL; what is left of 'out'
 * stays as it is.
 *
 * Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than
 * bloomline_filter_encoded_len().
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_filter_encode(const bloomline_filter *filter,
                                         void *out,
                                         size_t cap,
                                         size_t *written);

/**
 * bloomline_filter_decode() makes a filter from the 'len' bytes at 'data', as
 * bloomline_filter_encode(), bloomline_block_build() and the like have written them. All
 * is checked, checksums included, and copied: 'data' is not needed afterwards.
 *
 * Errors: BLOOMLINE_ERR_TRUNCATED, BLOOMLINE_ERR_NOT_A_FILTER, BLOOMLINE_ERR_VERSION,
 * BLOOMLINE_ERR_LAYOUT, BLOOMLINE_ERR_CHECKSUM, BLOOMLINE_ERR_RESERVED, BLOOMLINE_ERR_K
 * and BLOOMLINE_ERR_LINE_COUNT for data that is no sound filter;
 * BLOOMLINE_ERR_OUT_OF_MEMORY, BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_filter_decode(const void *data,
                                         size_t len,
                                         bloomline_filter **out);

/**
 * bloomline_filter_save() writes the filter to a file, replacing one of that name. The
 * bytes go to a file beside it first, and to the disk, and then take its name: whoever
 * opens the name finds the old filter or the new one, whole. 'path' is NUL-terminated;
 * on Windows it is UTF-8.
 *
 * On Unix the new file keeps the permissions of the one it replaces and, where the process
 * may set them, its owner and group. If the group cannot be kept, the new group may do what
 * everybody may. Access control lists and extended attributes are not kept. A file that
 * replaces none has the permissions of any new file. A symbolic link is replaced by the file,
 * not followed; the file keeps the permissions of what the link led to. Other hard links
 * keep the old file.
 *
 * Errors: BLOOMLINE_ERR_NOT_A_FILE if 'path' leads to a directory, a pipe, a socket or a
 * device, also through a link: nothing is replaced; BLOOMLINE_ERR_NOT_FOUND if the directory
 * is missing, BLOOMLINE_ERR_PERMISSION, BLOOMLINE_ERR_IO, BLOOMLINE_ERR_OUT_OF_MEMORY; a file
 * of that name is then as before.
 * Only if flushing the directory fails, last of all, is the new file in its place, and
 * may not survive a power failure.
 *
 * A path of 384 bytes or more is copied by the Rust runtime, here and in
 * bloomline_filter_load() and bloomline_map_open(): it alone, if there is no memory for
 * those bytes, ends the process.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_filter_save(const bloomline_filter *filter,
                                       const char *path);

/**
 * bloomline_filter_load() reads a filter from a file into memory, checking all as
 * bloomline_filter_decode() does. The end of the file is read first: one that is no filter is
 * rejected before memory is taken for it, however long it is. To probe a file without reading
 * all of it, see bloomline_map_open().
 *
 * Errors: those of bloomline_filter_decode(); BLOOMLINE_ERR_NOT_FOUND,
 * BLOOMLINE_ERR_PERMISSION, BLOOMLINE_ERR_IO; BLOOMLINE_ERR_NOT_A_FILE if 'path' leads to a
 * directory, a pipe, a socket or a device.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_filter_load(const char *path,
                                       bloomline_filter **out);

/* Views: filters in bytes that belong to the caller ------------------------------------- */

/**
 * A filter in bytes that belong to the caller: a block of a file, a mapped file, a
 * message. It is opened by bloomline_view_open() or bloomline_view_open_unverified(),
 * lives wherever the caller puts it, owns nothing, and needs no closing. It may be
 * copied. The bytes must stay where they are, unchanged, for as long as it is used.
 *
 * A view that was never opened, is all zero or was overwritten is recognized, and says
 * that every key may be present.
 */
typedef struct bloomline_view {
    /** Not for the caller. */
    uint64_t opaque[6];
} bloomline_view;

/**
 * bloomline_view_open() opens the filter in the 'len' bytes at 'data', which are exactly
 * those that bloomline_block_build(), bloomline_builder_finish(), or the encode or save
 * function of a bloomline_filter, bloomline_counting or bloomline_cuckoo wrote. (Scalable
 * filters and windows are several filters: BLOOMLINE_ERR_LAYOUT.) It checks all of them,
 * checksums included, and so reads them from end to end: do it once, or whenever the
 * bytes come from where they may have been damaged. Nothing is copied or allocated.
 *
 * Errors: BLOOMLINE_ERR_TRUNCATED, BLOOMLINE_ERR_NOT_A_FILTER, BLOOMLINE_ERR_VERSION,
 * BLOOMLINE_ERR_LAYOUT, BLOOMLINE_ERR_CHECKSUM, BLOOMLINE_ERR_RESERVED, BLOOMLINE_ERR_K
 * and BLOOMLINE_ERR_LINE_COUNT for data that is no sound filter; BLOOMLINE_ERR_BACKEND.
 * An engine answers any of them by reading the data that the filter stands for.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_view_open(const void *data,
                                     size_t len,
                                     bloomline_view *out);

/**
 * bloomline_view_open_unverified() is bloomline_view_open() without the checksum of the
 * lines: it reads the last 64 bytes only, so that it can be done before each probe of a
 * block that has been verified already. Whatever the bytes are, probing the view reads
 * only those 'len' bytes. But if the lines were damaged, it may say no to a key that was
 * added.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_view_open_unverified(const void *data,
                                                size_t len,
                                                bloomline_view *out);

/**
 * bloomline_filter_view() makes a view of a filter, for bloomline_views_contain_hash(). It
 * may be used until the filter is next changed, or freed.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_filter_view(const bloomline_filter *filter,
                                       bloomline_view *out);

/**
 * bloomline_view_params() tells the size and shape of the filter.
 *
 * Errors: BLOOMLINE_ERR_NOT_A_FILTER if the view was not opened; BLOOMLINE_ERR_LAYOUT if the
 * filter is a classic or cuckoo filter or one of another engine, which have no such parameters.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_view_params(const bloomline_view *view,
                                       bloomline_params *out);

/**
 * bloomline_view_key_count() returns how many keys the writer of the filter says that it
 * holds. It is a hint, and 0 means unknown or none. NULL and a view that was not opened
 * have 0.
 */
uint64_t bloomline_view_key_count(const bloomline_view *view);

/**
 * bloomline_view_estimated_rate() estimates the false-positive rate at the present fill, from 0
 * to 1, as bloomline_filter_estimated_rate() does: so who keeps bare lines, or maps a file,
 * sees when it has become too full. It reads the whole filter. NULL and a view that was not
 * opened have 1.
 */
double bloomline_view_estimated_rate(const bloomline_view *view);

/**
 * bloomline_view_worst_line_rate() returns the false-positive rate of the fullest line, from 0
 * to 1. It shows keys that somebody chose to fall on one line, which hardly change
 * bloomline_view_estimated_rate(): that line's rate is then near 1. By chance the fullest of a
 * million lines reaches some ten times the average. For classic and LevelDB filters it is
 * bloomline_view_estimated_rate(). It reads the whole filter. NULL and a view that was not
 * opened have 1.
 */
double bloomline_view_worst_line_rate(const bloomline_view *view);

/**
 * bloomline_view_contains() returns false if the key of 'len' bytes at 'key' is certainly
 * not in the filter, and true if it may be.
 */
bool bloomline_view_contains(const bloomline_view *view,
                             const void *key,
                             size_t len);

/**
 * bloomline_view_contains_hash() is bloomline_view_contains() for a key given by its hash,
 * that of bloomline_view_hash() or whatever the key was added by.
 */
bool bloomline_view_contains_hash(const bloomline_view *view,
                                  uint64_t hash);

/**
 * bloomline_view_contains_hashes() asks for 'n' keys by their hashes, and returns how many
 * of them may be present. Bit i % 64 of bitmap[i / 64] is set if key i may be; unused bits
 * of the last word are zero. 'bitmap' has room for (n + 63) / 64 words, and need not be
 * initialized.
 *
 * If 'view' is NULL or not opened, or 'hashes' is NULL, all keys may be present. If
 * 'bitmap' is NULL, nothing is written and the result is 'n'.
 */
size_t bloomline_view_contains_hashes(const bloomline_view *view,
                                      const uint64_t *hashes,
                                      size_t n,
                                      uint64_t *bitmap);

/**
 * bloomline_view_hash() returns the hash that this filter uses for the key of 'len' bytes
 * at 'key': made once, it serves all filters that hash alike. A view that was not opened
 * hashes as bloomline_hash() with seed 0.
 */
uint64_t bloomline_view_hash(const bloomline_view *view,
                             const void *key,
                             size_t len);

/* Views asked for several keys, or by a function chosen once ---------------------------- */

/**
 * A function that answers as bloomline_view_contains() does, for views of one kind:
 * bloomline_view_contains_fn() has it.
 */
typedef bool (*bloomline_contains_fn)(const bloomline_view *view,
                                      const void *key,
                                      size_t len);

/**
 * bloomline_view_contains_fn() returns a function to ask this view by, one key at a time,
 * which does not look each time at what kind of filter it is and whether it was opened. It is
 * for engines that keep it beside the view, as an object with a virtual function does, and ask
 * for many keys: of a RocksDB filter in the cache that takes a fifth less time.
 *
 * It takes what bloomline_view_contains() takes and gives the same answers. But it must be
 * given this view or a copy of it, with its bytes still there, and not NULL for a key of
 * more than 0 bytes: none of this is checked.
 *
 * It is never NULL. Where there is nothing to save it is bloomline_view_contains() itself;
 * so it is if 'view' is NULL or was not opened.
 */
bloomline_contains_fn bloomline_view_contains_fn(const bloomline_view *view);

/**
 * bloomline_view_contains_keys() is bloomline_view_contains_hashes() for keys given by
 * their bytes.
 */
size_t bloomline_view_contains_keys(const bloomline_view *view,
                                    const bloomline_bytes *keys,
                                    size_t n,
                                    uint64_t *bitmap);

/**
 * bloomline_view_contains_each() asks for 'n' keys that lie anywhere, such as those of a
 * RocksDB MultiGet: 'keys' is an array of pointers to them. Whether key i may be in the
 * filter is written to place i of 'present'. It is meant for a few keys at a time: each 64
 * are asked for together, their lines before the first is looked at. For many keys
 * bloomline_view_contains_keys() is faster.
 *
 * If 'view' is NULL or not opened, or 'keys' is NULL, all keys may be present; so may a key
 * whose pointer is NULL. If 'present' is NULL, nothing is written.
 */
void bloomline_view_contains_each(const bloomline_view *view,
                                  const bloomline_bytes *const *keys,
                                  size_t n,
                                  bool *present);

/* Several filters at once: one set split over them, one key in each --------------------- */

/**
 * bloomline_shard_of() tells which of 'shards' shards, 0 to shards - 1, the key of a hash
 * belongs to, when one set is split over several filters, files or machines. It does not
 * depend on the line and the bits that the hash has in a filter, so that each shard's filter
 * is as any of so many keys. For 0 shards the result is 0. docs/FORMAT.md has the formula.
 */
uint64_t bloomline_shard_of(uint64_t hash,
                            uint64_t shards);

/**
 * bloomline_shards_contain_hashes() asks for 'n' keys by their hashes, each the filter of its
 * shard: view i is that of shard i of 'n_views'. It returns how many keys may be present,
 * and writes a bit for each to 'bitmap', as bloomline_view_contains_hashes() does. The lines
 * of 64 keys are asked for before the first is looked at, whichever filters they are in.
 *
 * All filters must hash keys alike, with the same seed; their sizes and k may differ. If they
 * do not, all keys may be present, whatever the filters hold. A view that was not
 * opened may have all keys; so may all, if 'views' or 'hashes' is NULL or 'n_views' is 0. If
 * 'bitmap' is NULL, nothing is written and the result is 'n'.
 */
size_t bloomline_shards_contain_hashes(const bloomline_view *views,
                                       size_t n_views,
                                       const uint64_t *hashes,
                                       size_t n,
                                       uint64_t *bitmap);

/**
 * bloomline_views_contain_hash() asks 'n_views' filters for one key, given by its hash: the
 * files of an LSM tree, or the shards of a set. It returns how many of them may have it.
 * Bit i % 64 of bitmap[i / 64] is set if filter i may; unused bits of the last word are
 * zero. 'bitmap' has room for (n_views + 63) / 64 words, and need not be initialized.
 *
 * It is for filters that are not in the cache: the lines are all asked for before the first
 * is looked at, so that they cost little more than one of them. For filters in the cache a
 * loop over bloomline_view_contains_hash() is faster.
 *
 * All filters must hash keys alike, with the same seed; their sizes and k may differ. If they
 * do not, the hash is not the key's in some of them, and all may have the key:
 * bloomline_views_contain() has no such limit.
 *
 * A view that was not opened may have the key; if 'views' is NULL, so may all. If 'bitmap'
 * is NULL, nothing is written and the result is 'n_views'.
 */
size_t bloomline_views_contain_hash(const bloomline_view *views,
                                    size_t n_views,
                                    uint64_t hash,
                                    uint64_t *bitmap);

/**
 * bloomline_views_contain() is bloomline_views_contain_hash() for the key of 'len' bytes at
 * 'key'. The filters may hash it differently, with seeds of their own or as other engines do.
 *
 * If 'key' is NULL and 'len' is not 0, all filters may have the key.
 */
size_t bloomline_views_contain(const bloomline_view *views,
                               size_t n_views,
                               const void *key,
                               size_t len,
                               uint64_t *bitmap);

/* Blocks: filters built into the caller's buffer ---------------------------------------- */

/**
 * Collects the keys of one block after the other, for a writer that meets its keys one by
 * one and knows their number only at the end. It keeps 8 bytes for each key until the
 * block is finished. It is made by bloomline_builder_new() and freed by
 * bloomline_builder_free(); one thread at a time may use it.
 */
typedef struct bloomline_builder bloomline_builder;

/**
 * bloomline_block_len() returns how many bytes bloomline_block_build() writes: 64 for each
 * line and 64 more. If 'params' is NULL or out of range, the result is 0.
 */
size_t bloomline_block_len(const bloomline_params *params);

/**
 * bloomline_block_build() makes a filter of the 'n' keys with these hashes right in the
 * 'cap' bytes at 'out', ready to be written to a file and to be opened by
 * bloomline_view_open(). It allocates nothing. What is left of 'out' stays as it is. An
 * 'out' aligned to 64 bytes is faster.
 *
 * The hashes are those of bloomline_hash() or bloomline_hash_u64() with the seed of
 * 'params', if keys are to be asked for by their bytes.
 *
 * Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than bloomline_block_len();
 * BLOOMLINE_ERR_K, BLOOMLINE_ERR_LINE_COUNT, BLOOMLINE_ERR_RESERVED;
 * BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_block_build(const bloomline_params *params,
                                       const uint64_t *hashes,
                                       size_t n,
                                       void *out,
                                       size_t cap);

/**
 * bloomline_builder_new() makes an empty builder, whose blocks will spend 'bits_per_key'
 * bits on each key, with the best k for that, and hash keys with 'seed'.
 *
 * Errors: BLOOMLINE_ERR_BITS_PER_KEY, BLOOMLINE_ERR_LINE_COUNT if not even one key would fit in
 * memory, BLOOMLINE_ERR_OUT_OF_MEMORY, BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_builder_new(double bits_per_key,
                                       uint64_t seed,
                                       bloomline_builder **out);

/** bloomline_builder_free() frees a builder and the keys in it. NULL is a no-op. */
void bloomline_builder_free(bloomline_builder *builder);

/**
 * bloomline_builder_add() adds the key of 'len' bytes at 'key'. A key that equals the one
 * added before it, as versions of a key in a table do, counts once.
 *
 * Errors: BLOOMLINE_ERR_OUT_OF_MEMORY; the key is then not in the builder, and a block
 * finished from it would say no to the key.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_builder_add(bloomline_builder *builder,
                                       const void *key,
                                       size_t len);

/** bloomline_builder_add_hash() is bloomline_builder_add() for a key given by its hash. */
BLOOMLINE_MUST_USE
bloomline_status bloomline_builder_add_hash(bloomline_builder *builder,
                                            uint64_t hash);

/**
 * bloomline_builder_key_count() returns how many keys are in the builder, neighbours that
 * repeat counted once. NULL has 0.
 */
uint64_t bloomline_builder_key_count(const bloomline_builder *builder);

/**
 * bloomline_builder_block_len() returns how many bytes bloomline_builder_finish() would
 * write now. NULL has 0, and so has a builder with more keys than a block can hold.
 */
size_t bloomline_builder_block_len(const bloomline_builder *builder);

/**
 * bloomline_builder_finish() makes the filter of the keys added since the last block in the
 * 'cap' bytes at 'out', as bloomline_block_build() does. How many bytes it takes is written
 * to 'written', unless that is NULL. The builder is then empty, ready for the next block.
 * Without any key the block is one that says no to every key.
 *
 * Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than
 * bloomline_builder_block_len(), BLOOMLINE_ERR_LINE_COUNT; the builder then keeps its keys.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_builder_finish(bloomline_builder *builder,
                                          void *out,
                                          size_t cap,
                                          size_t *written);

/* Lines: filters that are the caller's own memory --------------------------------------- */

/**
 * bloomline_lines_insert_hashes() inserts the keys of 'n' hashes into the lines at 'lines',
 * 64 bytes for each of the 'line_count' of 'params'; 'len' says how many bytes are there.
 * Lines of zeros are an empty filter. Nothing is allocated, or remembered about them.
 * Lines aligned to 64 bytes are faster.
 *
 * The lines are the first part of an encoded filter, without its footer, which a caller
 * who wants one adds as docs/FORMAT.md describes.
 *
 * Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'len' is less than 64 times the line count;
 * BLOOMLINE_ERR_K, BLOOMLINE_ERR_LINE_COUNT, BLOOMLINE_ERR_RESERVED;
 * BLOOMLINE_ERR_BACKEND. Nothing is inserted then.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_lines_insert_hashes(const bloomline_params *params,
                                               void *lines,
                                               size_t len,
                                               const uint64_t *hashes,
                                               size_t n);

/**
 * bloomline_lines_view() makes a view of the lines at 'lines', as
 * bloomline_lines_insert_hashes() takes them. 'len' may be more than they are. It looks at
 * none of them, so it can be done before each probe.
 *
 * Others may insert into the lines while the view is probed, in other threads or processes,
 * if they set bits in whole lanes: aligned words of 64 bits, by atomic operations. Until they
 * are done, use only the contains functions of the view.
 *
 * Errors: as bloomline_lines_insert_hashes().
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_lines_view(const bloomline_params *params,
                                      const void *lines,
                                      size_t len,
                                      bloomline_view *out);

/* Filters that threads insert into at once ---------------------------------------------- */

/**
 * A filter that any number of threads insert into and probe at once: all functions that take
 * one, but for bloomline_concurrent_free(), may be called in any number of threads at the
 * same time, and none waits for another. It is made by bloomline_concurrent_new() and freed
 * by bloomline_concurrent_free().
 *
 * A thread sees its own inserts at once, and all those that happened before, as by a mutex or
 * a join. An insert that goes on meanwhile may be seen or not. No key that was inserted is
 * ever lost.
 *
 * It does not count keys: a number that all threads write to would cost more than the insert.
 */
typedef struct bloomline_concurrent bloomline_concurrent;

/**
 * bloomline_concurrent_new() makes an empty filter, of the same size and the same bytes as
 * that of bloomline_filter_new().
 *
 * Errors: as bloomline_filter_new().
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_concurrent_new(const bloomline_params *params,
                                          bloomline_concurrent **out);

/** bloomline_concurrent_free() frees a filter that no thread uses any more. NULL is a no-op. */
void bloomline_concurrent_free(bloomline_concurrent *filter);

/** bloomline_concurrent_params() tells the size and shape of a filter. */
BLOOMLINE_MUST_USE
bloomline_status bloomline_concurrent_params(const bloomline_concurrent *filter,
                                             bloomline_params *out);

/**
 * bloomline_concurrent_insert() adds the key of 'len' bytes at 'key'. It returns whether the
 * key was new: false if all its bits were set before, as they are for a key that is in, and
 * for false positives. Of several threads that add the same new key at once, at least one is
 * told that it is new, and more may be. For a NULL filter the result is true.
 */
bool bloomline_concurrent_insert(const bloomline_concurrent *filter,
                                 const void *key,
                                 size_t len);

/**
 * bloomline_concurrent_insert_hash() is bloomline_concurrent_insert() for a key given by its
 * hash, as bloomline_filter_insert_hash() takes it.
 */
bool bloomline_concurrent_insert_hash(const bloomline_concurrent *filter,
                                      uint64_t hash);

/**
 * bloomline_concurrent_insert_hashes() adds 'n' keys by their hashes, and returns how many
 * were new. Bit i % 64 of bitmap[i / 64] is set if key i was, as bloomline_concurrent_insert()
 * says; unused bits of the last word are zero. 'bitmap' has room for (n + 63) / 64 words, and
 * need not be initialized; if it is NULL, nothing is written there, and the keys are added
 * all the same. A NULL 'filter' or 'hashes' adds nothing, and all keys are told to be new.
 */
size_t bloomline_concurrent_insert_hashes(const bloomline_concurrent *filter,
                                          const uint64_t *hashes,
                                          size_t n,
                                          uint64_t *bitmap);

/**
 * bloomline_concurrent_insert_keys() is bloomline_concurrent_insert_hashes() for keys given
 * by their bytes.
 */
size_t bloomline_concurrent_insert_keys(const bloomline_concurrent *filter,
                                        const bloomline_bytes *keys,
                                        size_t n,
                                        uint64_t *bitmap);

/**
 * bloomline_concurrent_contains() returns false if the key of 'len' bytes at 'key' was
 * certainly not in when this was called, and true if it may have been.
 */
bool bloomline_concurrent_contains(const bloomline_concurrent *filter,
                                   const void *key,
                                   size_t len);

/**
 * bloomline_concurrent_contains_hash() is bloomline_concurrent_contains() for a key given by
 * its hash.
 */
bool bloomline_concurrent_contains_hash(const bloomline_concurrent *filter,
                                        uint64_t hash);

/**
 * bloomline_concurrent_contains_hashes() is bloomline_filter_contains_hashes() for a filter
 * that threads insert into.
 */
size_t bloomline_concurrent_contains_hashes(const bloomline_concurrent *filter,
                                            const uint64_t *hashes,
                                            size_t n,
                                            uint64_t *bitmap);

/**
 * bloomline_concurrent_contains_keys() is bloomline_filter_contains_keys() for a filter that
 * threads insert into.
 */
size_t bloomline_concurrent_contains_keys(const bloomline_concurrent *filter,
                                          const bloomline_bytes *keys,
                                          size_t n,
                                          uint64_t *bitmap);

/**
 * bloomline_concurrent_union() adds all keys of 'from' to 'into'. The two must have the same
 * line count, k and seed, and both or neither be classic; 'from' must not change meanwhile.
 *
 * Errors: BLOOMLINE_ERR_MISMATCH; nothing is added then.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_concurrent_union(const bloomline_concurrent *into,
                                            const bloomline_filter *from);

/**
 * bloomline_concurrent_snapshot() makes a filter of its own with all keys that were in when
 * this was called, and perhaps some that were inserted meanwhile: to be saved, encoded or
 * measured while threads go on inserting. Its key count is 0, which means unknown.
 *
 * Errors: BLOOMLINE_ERR_OUT_OF_MEMORY.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_concurrent_snapshot(const bloomline_concurrent *filter,
                                               bloomline_filter **out);

/**
 * bloomline_concurrent_from_filter() makes a filter to be shared of one that is not, which is
 * used up: no copy is made, and 'filter' is set to NULL. So a filter that was loaded or built
 * in one thread goes on growing in many. One of bloomline_classic_new() stays what it is.
 *
 * Errors: BLOOMLINE_ERR_OUT_OF_MEMORY; 'filter' is then as before.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_concurrent_from_filter(bloomline_filter **filter,
                                                  bloomline_concurrent **out);

/**
 * bloomline_concurrent_estimated_keys() estimates how many different keys are in, as
 * bloomline_filter_estimated_keys() does. NULL has 0.
 */
double bloomline_concurrent_estimated_keys(const bloomline_concurrent *filter);

/* Filters that are replaced while threads read them ------------------------------------- */

/**
 * A place for a filter that any number of threads probe, and in which another takes its
 * place at one stroke: built beside, then published. A reader finds the old filter or the new
 * one, whole, and never waits. It is made by bloomline_swap_new() and freed by
 * bloomline_swap_free().
 *
 * Any number of threads may call all functions of a swap at once, but bloomline_swap_free(),
 * which needs it for itself alone.
 *
 * The first call of a thread that asks or publishes makes a record of that thread, of less
 * than 1 KB, which a later thread takes over when it ends. If there is no memory for those
 * bytes, the process is ended; all else that lacks memory is a status.
 */
typedef struct bloomline_swap bloomline_swap;

/**
 * bloomline_swap_new() makes a swap with the filter '*first' in it, which is used up: the swap
 * frees it, and '*first' is set to NULL.
 *
 * Errors: BLOOMLINE_ERR_OUT_OF_MEMORY; '*first' is then as before, and still the caller's.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_swap_new(bloomline_filter **first,
                                    bloomline_swap **out);

/**
 * bloomline_swap_free() frees a swap that no thread uses any more, and its filter; snapshots
 * stay until they are released. NULL is a no-op.
 */
void bloomline_swap_free(bloomline_swap *swap);

/**
 * bloomline_swap_publish() puts the filter '*next' in the place of the one that was there. It
 * is used up: the swap frees it, and '*next' is set to NULL. It may be of any size and kind.
 * A call that begins after this one has returned is answered by it, or by one that is newer.
 * The filter that was there is freed as soon as no call and no snapshot uses it, perhaps in
 * the thread that does so last.
 *
 * To replace a filter while it is in use, make the next one, insert its keys however long
 * that takes, and publish it. Nothing must be inserted into it afterwards.
 *
 * Errors: BLOOMLINE_ERR_OUT_OF_MEMORY; '*next' is then as before, and still the caller's.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_swap_publish(const bloomline_swap *swap,
                                        bloomline_filter **next);

/**
 * bloomline_swap_acquire() takes a snapshot: the filter that is in the swap now, for
 * questions that one filter has to answer, and for all functions that take a const
 * bloomline_filter. It stays as it is, whatever is published, until it is given to
 * bloomline_swap_release(), once, in any thread. It must not be changed or freed. Of a NULL
 * swap it is NULL, which may have every key.
 */
const bloomline_filter *bloomline_swap_acquire(const bloomline_swap *swap);

/**
 * bloomline_swap_release() gives back a snapshot, which must not be used any more. NULL is a
 * no-op.
 */
void bloomline_swap_release(const bloomline_filter *snapshot);

/**
 * bloomline_swap_contains() returns false if the key of 'len' bytes at 'key' is certainly not
 * in the filter that is in the swap now, and true if it may be.
 */
bool bloomline_swap_contains(const bloomline_swap *swap,
                             const void *key,
                             size_t len);

/** bloomline_swap_contains_hash() is bloomline_swap_contains() for a key given by its hash. */
bool bloomline_swap_contains_hash(const bloomline_swap *swap,
                                  uint64_t hash);

/**
 * bloomline_swap_contains_hashes() is bloomline_filter_contains_hashes() for the filter that
 * is in the swap now: one filter answers the whole batch.
 */
size_t bloomline_swap_contains_hashes(const bloomline_swap *swap,
                                      const uint64_t *hashes,
                                      size_t n,
                                      uint64_t *bitmap);

/**
 * bloomline_swap_contains_keys() is bloomline_swap_contains_hashes() for keys given by their
 * bytes.
 */
size_t bloomline_swap_contains_keys(const bloomline_swap *swap,
                                    const bloomline_bytes *keys,
                                    size_t n,
                                    uint64_t *bitmap);

/* Counting filters: keys can be removed ------------------------------------------------- */

/** The highest count: so often, or more often. */
#define BLOOMLINE_COUNTING_MOST 15

/**
 * A filter that keys can be removed from, and that tells about how often a key is in. It
 * is a plain filter, which is what is probed, and a counter of 4 bits for each bit of it:
 * five times the memory of a plain filter, 320 bytes for each line, about 50 bits per key at
 * 1 %.
 *
 * A key that is in is never denied, as long as only keys that are in are removed. A counter
 * that reaches 15 stays there, and so do the keys that need it.
 *
 * Remove only what was inserted. A key that was not, and is surely absent, is refused and
 * nothing changes. But one that passes for a key that is in, a false positive, is removed
 * like one, and other keys may be denied from then on: no filter that forgets its keys can
 * tell the two apart. Keys inserted after that are safe again, as long as the keys removed
 * after it were inserted after it too.
 *
 * It is made by bloomline_counting_new(), bloomline_counting_decode() or
 * bloomline_counting_load(), and freed by bloomline_counting_free().
 */
typedef struct bloomline_counting bloomline_counting;

/**
 * bloomline_counting_new() makes an empty filter, of 320 bytes of memory for each line.
 *
 * Errors: BLOOMLINE_ERR_K, BLOOMLINE_ERR_LINE_COUNT and BLOOMLINE_ERR_RESERVED for
 * parameters out of range, BLOOMLINE_ERR_OUT_OF_MEMORY, BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_counting_new(const bloomline_params *params,
                                        bloomline_counting **out);

/**
 * bloomline_counting_free() frees a filter. Views of it, and what
 * bloomline_counting_filter() returned, must not be used any more. NULL is a no-op.
 */
void bloomline_counting_free(bloomline_counting *filter);

/** bloomline_counting_insert() adds the key of 'len' bytes at 'key': once more, if it is in. */
void bloomline_counting_insert(bloomline_counting *filter,
                               const void *key,
                               size_t len);

/**
 * bloomline_counting_insert_hash() adds a key by its hash, as
 * bloomline_filter_insert_hash() does.
 */
void bloomline_counting_insert_hash(bloomline_counting *filter, uint64_t hash);

/**
 * bloomline_counting_insert_hashes() adds 'n' keys by their hashes, faster than one by one.
 * A NULL 'hashes' adds nothing.
 */
void bloomline_counting_insert_hashes(bloomline_counting *filter,
                                      const uint64_t *hashes,
                                      size_t n);

/**
 * bloomline_counting_insert_keys() adds 'n' keys, faster than one by one. A NULL 'keys'
 * adds nothing.
 */
void bloomline_counting_insert_keys(bloomline_counting *filter,
                                    const bloomline_bytes *keys,
                                    size_t n);

/**
 * bloomline_counting_remove() removes the key of 'len' bytes at 'key': once, if it was
 * added more often. It must have been added: see bloomline_counting.
 *
 * Errors: BLOOMLINE_ERR_ABSENT if the key is surely not in. Nothing has changed then.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_counting_remove(bloomline_counting *filter,
                                           const void *key,
                                           size_t len);

/**
 * bloomline_counting_remove_hash() is bloomline_counting_remove() for a key given by its
 * hash, the one that it was added by.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_counting_remove_hash(bloomline_counting *filter,
                                                uint64_t hash);

/**
 * bloomline_counting_remove_hashes() removes 'n' keys by their hashes, one after the other,
 * and returns how many were refused since they are surely not in. Bit i % 64 of
 * refused[i / 64] is set if key i was one of those; unused bits of the last word are zero.
 * 'refused' has room for (n + 63) / 64 words, and need not be initialized; it may be NULL,
 * if the number is enough.
 *
 * If 'filter' or 'hashes' is NULL, all are refused.
 */
size_t bloomline_counting_remove_hashes(bloomline_counting *filter,
                                        const uint64_t *hashes,
                                        size_t n,
                                        uint64_t *refused);

/**
 * bloomline_counting_remove_keys() is bloomline_counting_remove_hashes() for keys given by
 * their bytes. A key that is NULL with a length above 0 is refused.
 */
size_t bloomline_counting_remove_keys(bloomline_counting *filter,
                                      const bloomline_bytes *keys,
                                      size_t n,
                                      uint64_t *refused);

/**
 * bloomline_counting_count() returns how often the key of 'len' bytes at 'key' is in, at
 * most: 0 if it is surely not, and BLOOMLINE_COUNTING_MOST if it may be as often or more
 * often. Other keys can make it too high, at about the rate of false positives; only
 * removals of keys that were not in can make it too low. If 'filter' or 'key' is NULL it is
 * BLOOMLINE_COUNTING_MOST.
 */
uint32_t bloomline_counting_count(const bloomline_counting *filter,
                                  const void *key,
                                  size_t len);

/**
 * bloomline_counting_count_hash() is bloomline_counting_count() for a key given by its
 * hash.
 */
uint32_t bloomline_counting_count_hash(const bloomline_counting *filter,
                                       uint64_t hash);

/**
 * bloomline_counting_filter() returns the plain filter of the keys that are in, to be
 * probed, encoded, saved, or asked for its fill and rate by any function that takes a const
 * bloomline_filter. It is not copied: it is part of 'filter', shows what is inserted and
 * removed later, and must not be changed or freed. It may be used for as long as 'filter' is
 * there, and while 'filter' is not changed. NULL has NULL.
 */
const bloomline_filter *bloomline_counting_filter(const bloomline_counting *filter);

/**
 * bloomline_counting_to_filter() makes a plain filter of the keys that are in, a copy that is
 * the caller's and freed by bloomline_filter_free().
 *
 * Errors: BLOOMLINE_ERR_OUT_OF_MEMORY.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_counting_to_filter(const bloomline_counting *filter,
                                              bloomline_filter **out);

/**
 * bloomline_counting_view() makes a view of the filter, to probe it, in batches too. It may
 * be used until the filter is next changed or freed.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_counting_view(const bloomline_counting *filter,
                                         bloomline_view *out);

/**
 * bloomline_counting_contains() returns false if the key of 'len' bytes at 'key' is surely
 * not in, and true if it may be.
 */
bool bloomline_counting_contains(const bloomline_counting *filter,
                                 const void *key,
                                 size_t len);

/**
 * bloomline_counting_contains_hash() is bloomline_counting_contains() for a key given by its
 * hash.
 */
bool bloomline_counting_contains_hash(const bloomline_counting *filter,
                                      uint64_t hash);

/** bloomline_counting_params() tells the size and shape of a filter. */
BLOOMLINE_MUST_USE
bloomline_status bloomline_counting_params(const bloomline_counting *filter,
                                           bloomline_params *out);

/**
 * bloomline_counting_key_count() returns how many keys are in: those added less those
 * removed. NULL has 0.
 */
uint64_t bloomline_counting_key_count(const bloomline_counting *filter);

/**
 * bloomline_counting_union() adds all keys of 'from' to 'into', each as often as it is in
 * 'from'. The two must have the same line count, k and seed. They may be one filter, whose
 * keys are then in twice as often.
 *
 * Errors: BLOOMLINE_ERR_MISMATCH; BLOOMLINE_ERR_OUT_OF_MEMORY if they are one filter. 'into'
 * is then as before.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_counting_union(bloomline_counting *into,
                                          const bloomline_counting *from);

/** bloomline_counting_clear() takes out all keys. Size, k and seed stay. NULL is a no-op. */
void bloomline_counting_clear(bloomline_counting *filter);

/* Counting filters as bytes and as files ------------------------------------------------ */

/**
 * bloomline_counting_encoded_len() returns how many bytes bloomline_counting_encode()
 * writes: 320 for each line and 64 more. NULL has 0.
 */
size_t bloomline_counting_encoded_len(const bloomline_counting *filter);

/**
 * bloomline_counting_encode() writes the filter, counters included, to the 'cap' bytes at
 * 'out'. bloomline_counting_decode() reads it; bloomline_view_open() and bloomline_map_open()
 * probe it where it is, and bloomline_filter_decode() makes a plain filter of it. (Without
 * the counters: bloomline_filter_encode() of bloomline_counting_filter().) How many bytes is
 * written to 'written', unless that is NULL.
 *
 * Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than
 * bloomline_counting_encoded_len().
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_counting_encode(const bloomline_counting *filter,
                                           void *out,
                                           size_t cap,
                                           size_t *written);

/**
 * bloomline_counting_decode() makes a filter from the 'len' bytes at 'data', as
 * bloomline_counting_encode() has written them. All is checked and copied.
 *
 * Errors: those of bloomline_filter_decode(); BLOOMLINE_ERR_LAYOUT also for a filter
 * without counters.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_counting_decode(const void *data,
                                           size_t len,
                                           bloomline_counting **out);

/**
 * bloomline_counting_save() writes the filter, counters included, to a file, as
 * bloomline_filter_save() does.
 *
 * Errors: those of bloomline_filter_save().
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_counting_save(const bloomline_counting *filter,
                                         const char *path);

/**
 * bloomline_counting_load() reads a filter from a file, checking all as
 * bloomline_counting_decode() does. While it reads it takes the memory twice.
 *
 * Errors: those of bloomline_counting_decode(); BLOOMLINE_ERR_NOT_FOUND,
 * BLOOMLINE_ERR_PERMISSION, BLOOMLINE_ERR_NOT_A_FILE, BLOOMLINE_ERR_IO.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_counting_load(const char *path,
                                         bloomline_counting **out);

/* Scalable filters: they grow with their keys ------------------------------------------- */

/**
 * A filter for a number of keys that nobody knows beforehand: it starts small, grows with its
 * keys, and stays below its false-positive rate whatever the number becomes. It is a row of
 * plain filters, its stages, each for twice the keys of the one before and at a lower rate. At
 * a thousand times the first number of keys it has 10 of them, and takes 1.8 times the memory
 * of a plain filter for so many keys at 1 %.
 *
 * A key that is in already is not inserted again, and does not make it grow.
 *
 * Where it ought to grow and there is no memory, an insert answers
 * BLOOMLINE_ERR_OUT_OF_MEMORY, **and the key is in all the same**: nothing is lost, but the
 * rate may from then on exceed the one asked for. Each later insert tries to grow again.
 *
 * It is made by bloomline_scalable_new(), bloomline_scalable_decode() or
 * bloomline_scalable_load(), and freed by bloomline_scalable_free().
 */
typedef struct bloomline_scalable bloomline_scalable;

/**
 * bloomline_scalable_new() makes an empty filter. Its first stage is for 'first_keys' keys, or
 * for 32 if that is fewer, 0 included. 'rate' is the false-positive rate that all stages
 * together stay below, from 1e-15 to less than 1; 'seed' is that of the hash of keys.
 *
 * Errors: BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_LINE_COUNT if the first stage cannot be
 * addressed, BLOOMLINE_ERR_OUT_OF_MEMORY, BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_scalable_new(uint64_t first_keys,
                                        double rate,
                                        uint64_t seed,
                                        bloomline_scalable **out);

/**
 * bloomline_scalable_free() frees a filter, and with it what bloomline_scalable_stage()
 * returned. NULL is a no-op.
 */
void bloomline_scalable_free(bloomline_scalable *filter);

/**
 * bloomline_scalable_insert() adds the key of 'len' bytes at 'key'. Whether it was new is
 * written to 'is_new', unless that is NULL: false if it seemed to be in already, which a key
 * that is in always does, and others do at the rate of false positives.
 *
 * Errors: BLOOMLINE_ERR_OUT_OF_MEMORY if the filter ought to grow and cannot. The key was new,
 * it is in, and 'is_new' is written.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_scalable_insert(bloomline_scalable *filter,
                                           const void *key,
                                           size_t len,
                                           bool *is_new);

/**
 * bloomline_scalable_insert_hash() is bloomline_scalable_insert() for a key given by its hash,
 * as bloomline_filter_insert_hash() takes it.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_scalable_insert_hash(bloomline_scalable *filter,
                                                uint64_t hash,
                                                bool *is_new);

/**
 * bloomline_scalable_insert_hashes() adds 'n' keys by their hashes, faster than one by one. Bit
 * i % 64 of bitmap[i / 64] is set if key i was new, as bloomline_scalable_insert() says; a key
 * that is there twice is new once, and unused bits of the last word are zero. 'bitmap' has room
 * for (n + 63) / 64 words, and need not be initialized; it may be NULL.
 *
 * Errors: BLOOMLINE_ERR_OUT_OF_MEMORY if the filter ought to grow and cannot. All keys are in,
 * and 'bitmap' is written.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_scalable_insert_hashes(bloomline_scalable *filter,
                                                  const uint64_t *hashes,
                                                  size_t n,
                                                  uint64_t *bitmap);

/**
 * bloomline_scalable_insert_keys() is bloomline_scalable_insert_hashes() for keys given by
 * their bytes.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_scalable_insert_keys(bloomline_scalable *filter,
                                                const bloomline_bytes *keys,
                                                size_t n,
                                                uint64_t *bitmap);

/**
 * bloomline_scalable_contains() returns false if the key of 'len' bytes at 'key' is certainly
 * not in, and true if it may be. The lines of all stages are asked for before the first is
 * looked at.
 */
bool bloomline_scalable_contains(const bloomline_scalable *filter,
                                 const void *key,
                                 size_t len);

/**
 * bloomline_scalable_contains_hash() is bloomline_scalable_contains() for a key given by its
 * hash.
 */
bool bloomline_scalable_contains_hash(const bloomline_scalable *filter,
                                      uint64_t hash);

/**
 * bloomline_scalable_contains_hashes() is bloomline_filter_contains_hashes() for a filter that
 * grows.
 */
size_t bloomline_scalable_contains_hashes(const bloomline_scalable *filter,
                                          const uint64_t *hashes,
                                          size_t n,
                                          uint64_t *bitmap);

/**
 * bloomline_scalable_contains_keys() is bloomline_filter_contains_keys() for a filter that
 * grows.
 */
size_t bloomline_scalable_contains_keys(const bloomline_scalable *filter,
                                        const bloomline_bytes *keys,
                                        size_t n,
                                        uint64_t *bitmap);

/**
 * bloomline_scalable_stage_count() returns how many stages the filter has: 1 or more. NULL has
 * 0.
 */
size_t bloomline_scalable_stage_count(const bloomline_scalable *filter);

/**
 * bloomline_scalable_stage() returns stage number 'stage', 0 being the oldest, to be asked for
 * its size, its keys, its fill and rate by any function that takes a const bloomline_filter. It
 * is not copied: it is part of 'filter', and must not be changed or freed. It may be used until
 * 'filter' is next changed or freed. A stage that there is not is NULL.
 */
const bloomline_filter *bloomline_scalable_stage(const bloomline_scalable *filter,
                                                 size_t stage);

/**
 * bloomline_scalable_key_count() returns how many keys are in: those that were new when they
 * were added. NULL has 0.
 */
uint64_t bloomline_scalable_key_count(const bloomline_scalable *filter);

/**
 * bloomline_scalable_rate() returns the false-positive rate to expect of all stages together,
 * 0 to 1, with the keys that are in now. It is at most the one asked for, unless the filter
 * could not grow. NULL has 1.
 */
double bloomline_scalable_rate(const bloomline_scalable *filter);

/**
 * bloomline_scalable_plain_params() tells the size and shape of the plain filter for the keys
 * that are in, at the rate that was asked for. Where all keys can be added once more, such a
 * filter takes less memory and is probed faster: make it by bloomline_filter_new(), add all
 * keys, and see to it that bloomline_filter_key_count() is then no less than
 * bloomline_scalable_key_count(): if it is, keys are missing.
 *
 * Errors: BLOOMLINE_ERR_LINE_COUNT if it would not fit in memory.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_scalable_plain_params(const bloomline_scalable *filter,
                                                 bloomline_params *out);

/* Scalable filters as bytes and as files ------------------------------------------------ */

/**
 * bloomline_scalable_encoded_len() returns how many bytes bloomline_scalable_encode()
 * writes: 64 for each line of the stages, for each stage, and for all. NULL has 0.
 */
size_t bloomline_scalable_encoded_len(const bloomline_scalable *filter);

/**
 * bloomline_scalable_encode() writes the filter to the 'cap' bytes at 'out'.
 * bloomline_scalable_decode() reads it, and nothing else does: it is no filter for a
 * bloomline_view. How many bytes is written to 'written', unless that is NULL.
 *
 * Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than
 * bloomline_scalable_encoded_len().
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_scalable_encode(const bloomline_scalable *filter,
                                           void *out,
                                           size_t cap,
                                           size_t *written);

/**
 * bloomline_scalable_decode() makes a filter from the 'len' bytes at 'data', as
 * bloomline_scalable_encode() has written them. All is checked and copied. It grows on as the
 * one that was encoded.
 *
 * Errors: those of bloomline_filter_decode(), of which BLOOMLINE_ERR_LAYOUT is also the one for
 * a filter of another kind; BLOOMLINE_ERR_RATE.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_scalable_decode(const void *data,
                                           size_t len,
                                           bloomline_scalable **out);

/**
 * bloomline_scalable_save() writes the filter to a file, as
 * bloomline_filter_save() does.
 *
 * Errors: those of bloomline_filter_save().
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_scalable_save(const bloomline_scalable *filter,
                                         const char *path);

/**
 * bloomline_scalable_load() reads a filter from a file, checking all as
 * bloomline_scalable_decode() does. While it reads it takes the memory twice.
 *
 * Errors: those of bloomline_scalable_decode(); BLOOMLINE_ERR_NOT_FOUND,
 * BLOOMLINE_ERR_PERMISSION, BLOOMLINE_ERR_NOT_A_FILE, BLOOMLINE_ERR_IO.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_scalable_load(const char *path,
                                         bloomline_scalable **out);

/* Windows: keys that were inserted lately ----------------------------------------------- */

/**
 * A filter that forgets: it tells whether a key was inserted lately, that is in one of the last
 * so many generations. A generation is a slice of time, a day for instance, or a number of keys.
 * Keys go into the newest; bloomline_window_rotate() begins a new one and drops the oldest, in
 * a time that does not depend on their size.
 *
 * With G generations, a key is in for the rest of the one that it was inserted in and for the
 * G - 1 that follow; it is forgotten when the one after those begins. If it is inserted again
 * meanwhile, that counts. So "seen in the last 7 days" takes 8 daily generations: the current
 * day and 7 whole ones before it. A key is then in for at least 7 days and at most 8. As long
 * as it is in it is never denied.
 *
 * The clock is the caller's, who gives the time to bloomline_window_advance_to(). The same calls
 * give the same answers and the same bytes, whenever they are made.
 *
 * It is made by bloomline_window_new(), bloomline_window_decode() or bloomline_window_load(),
 * and freed by bloomline_window_free().
 */
typedef struct bloomline_window bloomline_window;

/**
 * bloomline_window_new() makes an empty window of 'generations' generations, at least one, in
 * slice 0. While none of them has more than 'keys_per_generation' keys, the false-positive rate
 * over all of them is at most 'rate', between 0 and 1. 'seed' is that of the hash of byte keys.
 * Each generation is a plain filter: for 8 generations and 1 % it takes 15 bits
 * for each key and generation.
 *
 * Errors: BLOOMLINE_ERR_GENERATIONS for none; BLOOMLINE_ERR_RATE; BLOOMLINE_ERR_LINE_COUNT if
 * the size is more than memory can address; BLOOMLINE_ERR_OUT_OF_MEMORY;
 * BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_window_new(uint32_t generations,
                                      uint64_t keys_per_generation,
                                      double rate,
                                      uint64_t seed,
                                      bloomline_window **out);

/** bloomline_window_free() frees a window. NULL is a no-op. */
void bloomline_window_free(bloomline_window *window);

/**
 * bloomline_window_rotate() begins a new generation and drops the oldest: the slice after the
 * current one begins. NULL is a no-op.
 */
void bloomline_window_rotate(bloomline_window *window);

/**
 * bloomline_window_advance_to() tells the number of the current slice of time, such as
 * time(NULL) / 86400 for days. For each slice that has begun since the last call a new
 * generation begins and the oldest is dropped: all keys are, if these are as many slices as
 * there are generations. If the slice is the current one, or an earlier one, nothing happens.
 * NULL is a no-op.
 */
void bloomline_window_advance_to(bloomline_window *window,
                                 uint64_t slice);

/**
 * bloomline_window_rotate_after() makes generations of a number of keys: from now on the window
 * rotates by itself when the newest generation has 'keys' keys, before the next one goes in,
 * also in the midst of a batch. With 0, as at the beginning, it rotates only when it is told to.
 * A key that the newest generation has already does not count. NULL is a no-op.
 */
void bloomline_window_rotate_after(bloomline_window *window,
                                   uint64_t keys);

/**
 * bloomline_window_insert() adds the key of 'len' bytes at 'key' to the newest generation, also
 * if an older one has it. It returns whether the key was new: false if it was in the window
 * already, and for false positives. So one call answers "have I seen this lately?" and
 * remembers that it was asked. For a NULL window the result is true.
 */
bool bloomline_window_insert(bloomline_window *window,
                             const void *key,
                             size_t len);

/**
 * bloomline_window_insert_hash() is bloomline_window_insert() for a key given by its hash, as
 * bloomline_filter_insert_hash() takes it.
 */
bool bloomline_window_insert_hash(bloomline_window *window,
                                  uint64_t hash);

/**
 * bloomline_window_insert_hashes() adds 'n' keys by their hashes, and returns how many were
 * new. Bit i % 64 of bitmap[i / 64] is set if key i was, as bloomline_window_insert() says; one
 * that is there twice is new once; unused bits of the last word are zero. 'bitmap' has room for
 * (n + 63) / 64 words, and need not be initialized; if it is NULL, nothing is written there,
 * and the keys are added all the same. A NULL 'window' or 'hashes' adds nothing, and all keys
 * are told to be new.
 */
size_t bloomline_window_insert_hashes(bloomline_window *window,
                                      const uint64_t *hashes,
                                      size_t n,
                                      uint64_t *bitmap);

/**
 * bloomline_window_insert_keys() is bloomline_window_insert_hashes() for keys given by their
 * bytes.
 */
size_t bloomline_window_insert_keys(bloomline_window *window,
                                    const bloomline_bytes *keys,
                                    size_t n,
                                    uint64_t *bitmap);

/**
 * bloomline_window_contains() returns false if the key of 'len' bytes at 'key' is surely in
 * none of the generations, and true if it may be.
 */
bool bloomline_window_contains(const bloomline_window *window,
                               const void *key,
                               size_t len);

/** bloomline_window_contains_hash() is bloomline_window_contains() for a key given by its hash. */
bool bloomline_window_contains_hash(const bloomline_window *window,
                                    uint64_t hash);

/**
 * bloomline_window_contains_hashes() answers 'n' hashes at once, as
 * bloomline_filter_contains_hashes() does.
 */
size_t bloomline_window_contains_hashes(const bloomline_window *window,
                                        const uint64_t *hashes,
                                        size_t n,
                                        uint64_t *bitmap);

/**
 * bloomline_window_contains_keys() answers 'n' keys at once, as
 * bloomline_filter_contains_keys() does.
 */
size_t bloomline_window_contains_keys(const bloomline_window *window,
                                      const bloomline_bytes *keys,
                                      size_t n,
                                      uint64_t *bitmap);

/**
 * bloomline_window_generations() returns how many generations there are, the newest included.
 * NULL has 0.
 */
uint32_t bloomline_window_generations(const bloomline_window *window);

/**
 * bloomline_window_slice() returns the number of the current slice: how often the window was
 * rotated, or the latest that bloomline_window_advance_to() was given. NULL has 0.
 */
uint64_t bloomline_window_slice(const bloomline_window *window);

/** bloomline_window_params() tells the size and shape of each generation. */
BLOOMLINE_MUST_USE
bloomline_status bloomline_window_params(const bloomline_window *window,
                                         bloomline_params *out);

/**
 * bloomline_window_key_count() returns how many different keys are in the generation of 'age'
 * rotations ago, 0 being the newest. A few that passed for others, at the rate of false
 * positives, are not counted. For an age that no generation has, and for NULL, it is 0.
 */
uint64_t bloomline_window_key_count(const bloomline_window *window,
                                    uint32_t age);

/**
 * bloomline_window_estimated_rate() returns the false-positive rate over all generations as
 * full as they are, 0 to 1. It reads them whole. For NULL it is 1.
 */
double bloomline_window_estimated_rate(const bloomline_window *window);

/**
 * bloomline_window_encoded_len() returns how many bytes bloomline_window_encode() writes. NULL
 * has 0.
 */
size_t bloomline_window_encoded_len(const bloomline_window *window);

/**
 * bloomline_window_encode() writes the window, with its slice and what
 * bloomline_window_rotate_after() was told, to the 'cap' bytes at 'out'. How many bytes is
 * written to 'written', unless that is NULL; what is left of 'out' stays as it is.
 *
 * Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than
 * bloomline_window_encoded_len().
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_window_encode(const bloomline_window *window,
                                         void *out,
                                         size_t cap,
                                         size_t *written);

/**
 * bloomline_window_decode() makes a window from the 'len' bytes at 'data', as
 * bloomline_window_encode() has written them: in the same slice, with the same keys. All is
 * checked and copied.
 *
 * Errors: those of bloomline_filter_decode(); BLOOMLINE_ERR_GENERATIONS;
 * BLOOMLINE_ERR_LAYOUT also for a filter that is no window.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_window_decode(const void *data,
                                         size_t len,
                                         bloomline_window **out);

/**
 * bloomline_window_save() writes the window to a file, as bloomline_filter_save() does.
 * While it writes it takes the memory twice.
 *
 * Errors: those of bloomline_filter_save().
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_window_save(const bloomline_window *window,
                                       const char *path);

/**
 * bloomline_window_load() reads a window from a file, checking all as
 * bloomline_window_decode() does. While it reads it takes the memory twice.
 *
 * Errors: those of bloomline_window_decode(); BLOOMLINE_ERR_NOT_FOUND,
 * BLOOMLINE_ERR_PERMISSION, BLOOMLINE_ERR_NOT_A_FILE, BLOOMLINE_ERR_IO.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_window_load(const char *path,
                                       bloomline_window **out);

/* Files mapped into memory -------------------------------------------------------------- */

/**
 * A file that is open as memory. It is made by bloomline_map_open() or
 * bloomline_map_open_unverified(), probed through bloomline_map_view(), and freed by
 * bloomline_map_close().
 */
typedef struct bloomline_map bloomline_map;

/**
 * bloomline_map_open() maps a file that holds a filter, as bloomline_filter_save() has
 * written it, and checks all of it as bloomline_view_open() does: it is read once from
 * end to end. 'path' is NUL-terminated; on Windows it is UTF-8.
 *
 * While a file is mapped nobody may change it in place, in this process or another: the
 * library cannot prevent it, and does not notice. If the file is written to, answers are
 * wrong in either direction: a key that is present can be a false negative. If it is cut
 * short, a probe of a part that is gone kills the process with SIGBUS. To change the filter,
 * write a new file and rename it over the old one, as bloomline_filter_save() does: the map
 * keeps the old file until it is closed. Removing the file does no harm either. Where that
 * cannot be promised, use bloomline_filter_load() or bloomline_cuckoo_load().
 *
 * Errors: those of bloomline_view_open(); BLOOMLINE_ERR_NOT_FOUND,
 * BLOOMLINE_ERR_PERMISSION, BLOOMLINE_ERR_NOT_A_FILE, BLOOMLINE_ERR_IO,
 * BLOOMLINE_ERR_OUT_OF_MEMORY.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_map_open(const char *path,
                                    bloomline_map **out);

/**
 * bloomline_map_open_unverified() is bloomline_map_open() without the checksum of the
 * lines, and so without reading them: see bloomline_view_open_unverified(). The file must not
 * change in place, as for bloomline_map_open().
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_map_open_unverified(const char *path,
                                               bloomline_map **out);

/**
 * bloomline_map_view() makes a view of a mapped filter. The view may be used until the
 * map is closed.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_map_view(const bloomline_map *map,
                                    bloomline_view *out);

/**
 * bloomline_map_close() unmaps a file. Views of it must not be used any more. NULL is a
 * no-op.
 */
void bloomline_map_close(bloomline_map *map);

/* Cuckoo filters: keys can be removed --------------------------------------------------- */

/**
 * A cuckoo filter: keys can be added and removed, and it can become full. It is made by
 * bloomline_cuckoo_new(), bloomline_cuckoo_decode() or bloomline_cuckoo_load(), and freed by
 * bloomline_cuckoo_free().
 *
 * Of each key it keeps a fingerprint, in one of 8 places. When all that could make room is
 * taken, to add the key is refused with BLOOMLINE_ERR_FULL, and nothing that is in is lost.
 * Up to 95 % of bloomline_cuckoo_capacity() keys go in.
 *
 * A key that is added twice is in twice, and has to be removed twice. The same key can be
 * in at most 8 times.
 *
 * Remove only keys that are in. A key that is not may have the fingerprint and the places of
 * one that is; to remove the one takes out the other, for which the filter then says no.
 * BLOOMLINE_ERR_ABSENT tells some such mistakes, and not all.
 *
 * Any number of threads may call functions that take a const bloomline_cuckoo at once.
 * A function that takes a non-const one needs it for itself alone.
 */
typedef struct bloomline_cuckoo bloomline_cuckoo;

/**
 * The size and shape of a cuckoo filter. Made by bloomline_cuckoo_params_for_rate(), or
 * filled in by hand; every function that is given one checks it.
 */
typedef struct bloomline_cuckoo_params {
    /** How many lines of 64 bytes, 1 to 2^32 - 1. */
    uint64_t line_count;
    /**
     * How many bits are kept of each key: 8, of which a line has 64 and which give 2.95 %
     * false positives; 12 (40, 0.186 %); or 16 (32, 0.0116 %).
     */
    uint32_t fingerprint_bits;
    /** Must be 0. */
    uint32_t reserved;
    /**
     * The seed of the hash of keys. Where whoever chooses the keys must not be able to
     * choose false positives, or to fill the filter with few keys, set it to a secret
     * random one.
     */
    uint64_t seed;
} bloomline_cuckoo_params;

/**
 * bloomline_cuckoo_params_for_rate() finds the smallest cuckoo filter that has room for
 * 'keys' keys at a false-positive rate of at most 'rate' (0.01 is 1 %) when they are all
 * in. 'rate' is between 0 and 1, both excluded, and at least 0.000116. The seed is 0.
 *
 * Errors: BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_LINE_COUNT if it would be too large.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_cuckoo_params_for_rate(uint64_t keys,
                                                  double rate,
                                                  bloomline_cuckoo_params *out);

/**
 * bloomline_cuckoo_params_rate() returns the false-positive rate to be expected, from 0 to
 * 1, once 'keys' keys are in a cuckoo filter of these parameters. If 'params' is NULL or is
 * refused by the other functions, the result is 1.
 */
double bloomline_cuckoo_params_rate(const bloomline_cuckoo_params *params,
                                    uint64_t keys);

/**
 * bloomline_cuckoo_new() makes an empty cuckoo filter. It takes 64 bytes of memory for each
 * line, and never grows.
 *
 * Errors: BLOOMLINE_ERR_K, BLOOMLINE_ERR_LINE_COUNT and BLOOMLINE_ERR_RESERVED for
 * parameters out of range, BLOOMLINE_ERR_OUT_OF_MEMORY, BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_cuckoo_new(const bloomline_cuckoo_params *params,
                                      bloomline_cuckoo **out);

/**
 * bloomline_cuckoo_free() frees a cuckoo filter. Views of it must not be used any more.
 * NULL is a no-op.
 */
void bloomline_cuckoo_free(bloomline_cuckoo *filter);

/** bloomline_cuckoo_get_params() tells the size and shape of a cuckoo filter. */
BLOOMLINE_MUST_USE
bloomline_status bloomline_cuckoo_get_params(const bloomline_cuckoo *filter,
                                             bloomline_cuckoo_params *out);

/**
 * bloomline_cuckoo_key_count() returns how many keys are in, repeated ones counted each
 * time. NULL has 0.
 */
uint64_t bloomline_cuckoo_key_count(const bloomline_cuckoo *filter);

/**
 * bloomline_cuckoo_capacity() returns how many keys there are places for, of which about
 * 95 % can be used. NULL has 0.
 */
uint64_t bloomline_cuckoo_capacity(const bloomline_cuckoo *filter);

/**
 * bloomline_cuckoo_fill() returns the load: the fraction of its places that are taken, 0 to
 * 1. NULL has 0.
 */
double bloomline_cuckoo_fill(const bloomline_cuckoo *filter);

/**
 * bloomline_cuckoo_insert() adds the key of 'len' bytes at 'key'.
 *
 * Errors: BLOOMLINE_ERR_FULL if there is no room; the filter is then as before.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_cuckoo_insert(bloomline_cuckoo *filter,
                                         const void *key,
                                         size_t len);

/**
 * bloomline_cuckoo_insert_hash() adds a key by its hash: that of bloomline_hash() or
 * bloomline_hash_u64() with the seed of the filter, if the key is also to be asked for
 * by its bytes; else any hash that is well mixed over all 64 bits.
 *
 * Errors: BLOOMLINE_ERR_FULL if there is no room; the filter is then as before.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_cuckoo_insert_hash(bloomline_cuckoo *filter,
                                              uint64_t hash);

/**
 * bloomline_cuckoo_insert_hashes() adds 'n' keys by their hashes, in order, up to the first
 * for which there is no room. How many were added is written to 'inserted', also with
 * BLOOMLINE_ERR_FULL, unless that is NULL. It is faster than adding them one by one.
 *
 * Errors: BLOOMLINE_ERR_FULL if not all were added.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_cuckoo_insert_hashes(bloomline_cuckoo *filter,
                                                const uint64_t *hashes,
                                                size_t n,
                                                size_t *inserted);

/**
 * bloomline_cuckoo_insert_keys() is bloomline_cuckoo_insert_hashes() for keys given by their
 * bytes.
 *
 * Errors: BLOOMLINE_ERR_FULL if not all were added.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_cuckoo_insert_keys(bloomline_cuckoo *filter,
                                              const bloomline_bytes *keys,
                                              size_t n,
                                              size_t *inserted);

/**
 * bloomline_cuckoo_remove() removes the key of 'len' bytes at 'key', which must be in: see
 * bloomline_cuckoo. Of a key that is in several times it removes one.
 *
 * Errors: BLOOMLINE_ERR_ABSENT if the key is surely not in; the filter is then as before.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_cuckoo_remove(bloomline_cuckoo *filter,
                                         const void *key,
                                         size_t len);

/**
 * bloomline_cuckoo_remove_hash() removes a key by the hash that it was added by.
 *
 * Errors: BLOOMLINE_ERR_ABSENT if the key is surely not in; the filter is then as before.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_cuckoo_remove_hash(bloomline_cuckoo *filter,
                                              uint64_t hash);

/** bloomline_cuckoo_clear() takes out all keys. Size, shape and seed stay. NULL is a no-op. */
void bloomline_cuckoo_clear(bloomline_cuckoo *filter);

/**
 * bloomline_cuckoo_contains() returns false if the key of 'len' bytes at 'key' is certainly
 * not in, and true if it may be.
 */
bool bloomline_cuckoo_contains(const bloomline_cuckoo *filter,
                               const void *key,
                               size_t len);

/**
 * bloomline_cuckoo_contains_hash() is bloomline_cuckoo_contains() for a key given by its
 * hash, the one that it was added by.
 */
bool bloomline_cuckoo_contains_hash(const bloomline_cuckoo *filter, uint64_t hash);

/**
 * bloomline_cuckoo_contains_hashes() asks for 'n' keys by their hashes, as
 * bloomline_filter_contains_hashes() does: bit i % 64 of bitmap[i / 64] is set if key i may
 * be in, and the result is how many may be.
 *
 * If 'filter' or 'hashes' is NULL, all keys may be in. If 'bitmap' is NULL, nothing is
 * written and the result is 'n'.
 */
size_t bloomline_cuckoo_contains_hashes(const bloomline_cuckoo *filter,
                                        const uint64_t *hashes,
                                        size_t n,
                                        uint64_t *bitmap);

/**
 * bloomline_cuckoo_contains_keys() is bloomline_cuckoo_contains_hashes() for keys given by
 * their bytes.
 */
size_t bloomline_cuckoo_contains_keys(const bloomline_cuckoo *filter,
                                      const bloomline_bytes *keys,
                                      size_t n,
                                      uint64_t *bitmap);

/**
 * bloomline_cuckoo_view() makes a view of a cuckoo filter, for the functions of
 * bloomline_view. It may be used until the filter is next changed, or freed.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_cuckoo_view(const bloomline_cuckoo *filter,
                                       bloomline_view *out);

/* Cuckoo filters as bytes and as files -------------------------------------------------- */

/**
 * bloomline_cuckoo_encoded_len() returns how many bytes bloomline_cuckoo_encode() writes: 64
 * for each line and 64 more. NULL has 0.
 */
size_t bloomline_cuckoo_encoded_len(const bloomline_cuckoo *filter);

/**
 * bloomline_cuckoo_encode() writes the cuckoo filter to the 'cap' bytes at 'out', in the
 * format that bloomline_view_open() and bloomline_cuckoo_decode() read. How many is written
 * to 'written', unless that is NULL; what is left of 'out' stays as it is.
 *
 * Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than
 * bloomline_cuckoo_encoded_len().
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_cuckoo_encode(const bloomline_cuckoo *filter,
                                         void *out,
                                         size_t cap,
                                         size_t *written);

/**
 * bloomline_cuckoo_decode() makes a cuckoo filter from the 'len' bytes at 'data', as
 * bloomline_cuckoo_encode() has written them. All is checked, checksums included, and
 * copied: 'data' is not needed afterwards. Keys can be added to it and removed.
 *
 * Errors: those of bloomline_view_open(), of which BLOOMLINE_ERR_LAYOUT is also the one for
 * a filter of another kind; BLOOMLINE_ERR_OUT_OF_MEMORY.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_cuckoo_decode(const void *data,
                                         size_t len,
                                         bloomline_cuckoo **out);

/**
 * bloomline_cuckoo_save() writes the cuckoo filter to a file, whole or not at all, as
 * bloomline_filter_save() does. The file can be mapped by bloomline_map_open().
 *
 * Errors: those of bloomline_filter_save().
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_cuckoo_save(const bloomline_cuckoo *filter,
                                       const char *path);

/**
 * bloomline_cuckoo_load() reads a cuckoo filter from a file into memory, checking all as
 * bloomline_cuckoo_decode() does.
 *
 * Errors: those of bloomline_cuckoo_decode(); BLOOMLINE_ERR_NOT_FOUND,
 * BLOOMLINE_ERR_PERMISSION, BLOOMLINE_ERR_NOT_A_FILE, BLOOMLINE_ERR_IO.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_cuckoo_load(const char *path,
                                       bloomline_cuckoo **out);

/* Filter blocks of other engines -------------------------------------------------------- */

/**
 * bloomline_view_open_rocksdb() opens a filter block of RocksDB in the 'len' bytes at 'data':
 * the contents of a full filter, or of one partition of a partitioned one, without the
 * trailer that every block of a table has. It looks at no more than the last 5 bytes, so
 * that it can be done before each probe. Nothing is copied or allocated.
 *
 * The Bloom filters of all versions can be probed: those of format_version 5 and later, and
 * the older ones, with lines of 64 (Pebble's), 128 or 256 bytes. Use bloomline_view_hash()
 * for the hash of a key; it differs between the two. As in RocksDB, a block of no keys says
 * no to every key, and one that is marked so, or of which no sense can be made, says that
 * every key may be present. Whatever the bytes are, only those 'len' are read.
 *
 * Errors: BLOOMLINE_ERR_LAYOUT for a kind of filter that is not read here, Ribbon or newer.
 * Then, against the rule, 'out' is written: a view that says that every key may be present.
 * BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_view_open_rocksdb(const void *data,
                                             size_t len,
                                             bloomline_view *out);

/**
 * bloomline_view_open_leveldb() opens a filter of LevelDB or goleveldb in the 'len' bytes at
 * 'data': one of those that make up a table's filter block. Like
 * bloomline_view_open_rocksdb() it is cheap enough for each probe. Empty data is the filter
 * of no keys, and says no.
 *
 * Errors: BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_view_open_leveldb(const void *data,
                                             size_t len,
                                             bloomline_view *out);

/**
 * bloomline_leveldb_contains() answers for the filter of LevelDB or goleveldb in the 'len'
 * bytes at 'data' whether it may have the key of 'key_len' bytes at 'key': what
 * bloomline_view_open_leveldb() and bloomline_view_contains() say, in one call. LevelDB has a
 * filter for some tens of keys, and so opens one for each probe.
 *
 * Data or a key that is NULL with a length above 0 may be a match.
 */
bool bloomline_leveldb_contains(const void *data,
                                size_t len,
                                const void *key,
                                size_t key_len);

/**
 * bloomline_rocksdb_hash() returns the hash of the 'len' bytes at 'key' that the filters of
 * RocksDB since format_version 5 (XXPH3, 64 bits) use.
 */
uint64_t bloomline_rocksdb_hash(const void *key,
                                size_t len);

/**
 * bloomline_rocksdb_hash_batch() hashes 'n' keys as bloomline_rocksdb_hash() does, and
 * writes 'n' hashes to 'out', in order. If either is NULL, nothing is written.
 */
void bloomline_rocksdb_hash_batch(const bloomline_bytes *keys, size_t n, uint64_t *out);

/**
 * bloomline_rocksdb_block_len() returns how many bytes bloomline_rocksdb_block_build() writes
 * for 'n' hashes. Bits per key are rounded to thousandths, those from 0.5 to 1 are 1, and
 * above 100 they are 100. It is 0, and so is the block, for no keys. It is also 0 where the
 * build fails: below 0.5 bits, for which RocksDB makes no filter, and for bits that are not
 * finite.
 */
size_t bloomline_rocksdb_block_len(size_t n,
                                   double bits_per_key);

/**
 * bloomline_rocksdb_block_build() builds the Bloom filter that RocksDB writes since
 * format_version 5, byte for byte, from the 'n' hashes at 'hashes', those of
 * bloomline_rocksdb_hash(): with NewBloomFilterPolicy(bits_per_key), and
 * optimize_filters_for_memory off. As RocksDB does, leave out a key that repeats its
 * predecessor. 'out' is 'cap' bytes, at any alignment. How many bytes it takes is written
 * to 'written', unless that is NULL; 0 for no keys.
 *
 * Errors: BLOOMLINE_ERR_BITS_PER_KEY below 0.5 bits or if they are not finite,
 * BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than bloomline_rocksdb_block_len(),
 * BLOOMLINE_ERR_LINE_COUNT, BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_rocksdb_block_build(const uint64_t *hashes,
                                               size_t n,
                                               double bits_per_key,
                                               void *out,
                                               size_t cap,
                                               size_t *written);

/**
 * bloomline_rocksdb_legacy_hash() returns the hash of the 'len' bytes at 'key' that the filters of
 * RocksDB before format_version 5, and of Pebble (32 bits, in the low half of the result) use.
 */
uint64_t bloomline_rocksdb_legacy_hash(const void *key,
                                       size_t len);

/**
 * bloomline_rocksdb_legacy_hash_batch() hashes 'n' keys as bloomline_rocksdb_legacy_hash()
 * does, and writes 'n' hashes to 'out', in order. If either is NULL, nothing is written.
 */
void bloomline_rocksdb_legacy_hash_batch(const bloomline_bytes *keys,
                                         size_t n,
                                         uint64_t *out);

/**
 * bloomline_rocksdb_legacy_block_len() returns how many bytes
 * bloomline_rocksdb_legacy_block_build() writes for 'n' hashes; 0 where the build fails.
 */
size_t bloomline_rocksdb_legacy_block_len(size_t n, double bits_per_key);

/**
 * bloomline_rocksdb_legacy_block_build() builds the Bloom filter that RocksDB wrote before
 * format_version 5 on CPUs with cache lines of 64 bytes, and that Pebble writes and reads,
 * byte for byte, from the 'n' hashes at 'hashes', those of bloomline_rocksdb_legacy_hash(). As
 * they do, leave out a key whose hash is its predecessor's. 'out', 'cap' and 'written' are as
 * in bloomline_rocksdb_block_build(), but there is a filter for no keys too, of 5 bytes.
 *
 * Errors: BLOOMLINE_ERR_BITS_PER_KEY if they are negative or not finite,
 * BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than bloomline_rocksdb_legacy_block_len(),
 * BLOOMLINE_ERR_LINE_COUNT, BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_rocksdb_legacy_block_build(const uint64_t *hashes,
                                                      size_t n,
                                                      double bits_per_key,
                                                      void *out,
                                                      size_t cap,
                                                      size_t *written);

/**
 * bloomline_leveldb_hash() returns the hash of the 'len' bytes at 'key' that the filters of
 * LevelDB and goleveldb (32 bits, in the low half of the result) use.
 */
uint64_t bloomline_leveldb_hash(const void *key,
                                size_t len);

/**
 * bloomline_leveldb_hash_batch() hashes 'n' keys as bloomline_leveldb_hash() does, and
 * writes 'n' hashes to 'out', in order. If either is NULL, nothing is written.
 */
void bloomline_leveldb_hash_batch(const bloomline_bytes *keys, size_t n, uint64_t *out);

/**
 * bloomline_leveldb_block_len() returns how many bytes bloomline_leveldb_block_build() writes
 * for 'n' hashes: at least 9; 0 where the build fails.
 */
size_t bloomline_leveldb_block_len(size_t n,
                                   double bits_per_key);

/**
 * bloomline_leveldb_block_build() builds the filter that LevelDB and goleveldb write, byte for
 * byte, from the 'n' hashes at 'hashes', those of bloomline_leveldb_hash(). All keys count
 * there, also those that repeat their predecessor. 'out', 'cap' and 'written' are as in
 * bloomline_rocksdb_block_build(), but there is a filter for no keys too, of 9 bytes. LevelDB's
 * bits per key are whole numbers.
 *
 * Errors: BLOOMLINE_ERR_BITS_PER_KEY if they are negative or not finite,
 * BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than bloomline_leveldb_block_len(),
 * BLOOMLINE_ERR_LINE_COUNT, BLOOMLINE_ERR_BACKEND.
 */
BLOOMLINE_MUST_USE
bloomline_status bloomline_leveldb_block_build(const uint64_t *hashes,
                                               size_t n,
                                               double bits_per_key,
                                               void *out,
                                               size_t cap,
                                               size_t *written);

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
