/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bloomline_leveldb.h - the Bloom filter of LevelDB, made and read by bloomline: a filter
 * policy for leveldb_options_set_filter_policy().
 *
 *     leveldb_filterpolicy_t *policy = bloomline_leveldb_filterpolicy(10);
 *     leveldb_options_set_filter_policy(options, policy);
 *
 * It has the name of LevelDB's own policy, "leveldb.BuiltinBloomFilter2", writes the same
 * bytes and reads them: a database goes from one to the other, and back, as it is.
 *
 * Compile bloomline_leveldb.c with the program, and link with bloomline and leveldb. C11.
 */
#ifndef BLOOMLINE_LEVELDB_H
#define BLOOMLINE_LEVELDB_H

#include <leveldb/c.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * bloomline_leveldb_filterpolicy() returns a policy, as
 * leveldb_filterpolicy_create_bloom(bits_per_key) does, or NULL if the system has not got
 * the memory. It is freed by leveldb_filterpolicy_destroy(), after the databases that use
 * it are closed. It may be used by many threads and databases at once. Bits per key below 1
 * are taken for 0: the smallest filters that LevelDB makes. If BLOOMLINE_BACKEND names a
 * backend that there is not, it is LevelDB's own policy.
 */
leveldb_filterpolicy_t *bloomline_leveldb_filterpolicy(int bits_per_key);

/*
 * The functions behind it, for those who call leveldb_filterpolicy_create() themselves, as
 * bindings of other languages do. 'state' points at an int, the bits per key, which must
 * stay while the policy is used. If bloomline_backend() is "none", or there is no memory, the
 * filters match every key.
 */

/**
 * bloomline_leveldb_create_filter() makes the filter of 'num_keys' keys, and sets
 * '*filter_length' to its length. The caller frees it with free(). If the system has not
 * got the memory, it is a filter of two bytes that says that every key may be present: the
 * table is read more slowly, and loses no key. If there are not even two bytes, the process
 * is aborted, since LevelDB takes no filter at all for one of no keys.
 */
char *bloomline_leveldb_create_filter(void *state,
                                      const char *const *keys,
                                      const size_t *key_lengths,
                                      int num_keys,
                                      size_t *filter_length);

/** bloomline_leveldb_key_may_match() is 0 if the key is not among those of the filter. */
uint8_t bloomline_leveldb_key_may_match(void *state,
                                        const char *key,
                                        size_t key_length,
                                        const char *filter,
                                        size_t filter_length);

/** bloomline_leveldb_name() returns "leveldb.BuiltinBloomFilter2". */
const char *bloomline_leveldb_name(void *state);

#ifdef __cplusplus
}
#endif

#endif
