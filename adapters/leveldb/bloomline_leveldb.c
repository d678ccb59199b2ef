/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bloomline_leveldb.c - LevelDB's filter policy on top of bloomline.h. Uses bloomline.h,
 * leveldb/c.h and the C library.
 *
 * LevelDB makes a filter of the keys of each 2 KiB of a table, some tens of them, so that
 * the hashes are put on the stack; only very short keys need more room.
 */
#include "bloomline_leveldb.h"

#include <bloomline.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ON_STACK 256

/* A filter with this many probes, which none has, is a match for every key. */
#define MATCH_ALL_PROBES 31

static char *match_all(size_t *filter_length)
{
    char *filter = malloc(2);
    if (filter == NULL) {
        fputs("bloomline: no memory for a filter of LevelDB\n", stderr);
        abort();
    }
    filter[0] = 0;
    filter[1] = MATCH_ALL_PROBES;
    *filter_length = 2;
    return filter;
}

char *bloomline_leveldb_create_filter(void *state,
                                      const char *const *keys,
                                      const size_t *key_lengths,
                                      int num_keys,
                                      size_t *filter_length)
{
    const int bits_per_key = *(const int *)state;
    const double bits = bits_per_key > 0 ? bits_per_key : 0;
    const size_t n = num_keys > 0 ? (size_t)num_keys : 0;
    uint64_t on_stack[ON_STACK];
    uint64_t *hashes = n <= ON_STACK ? on_stack : malloc(n * sizeof *hashes);
    const size_t len = bloomline_engine_block_len(BLOOMLINE_ENGINE_LEVELDB, n, bits);
    char *filter = len > 0 ? malloc(len) : NULL;

    if (hashes != NULL && filter != NULL) {
        /* A key that repeats its predecessor counts, as it does in LevelDB. */
        for (size_t i = 0; i < n; i++)
            hashes[i] = bloomline_engine_hash(BLOOMLINE_ENGINE_LEVELDB, keys[i], key_lengths[i]);
        if (bloomline_engine_block_build(BLOOMLINE_ENGINE_LEVELDB, hashes, n, bits, filter, len, filter_length) !=
            BLOOMLINE_OK) {
            free(filter);
            filter = NULL;
        }
    } else {
        free(filter);
        filter = NULL;
    }
    if (hashes != on_stack)
        free(hashes);
    return filter != NULL ? filter : match_all(filter_length);
}

uint8_t bloomline_leveldb_key_may_match(void *state,
                                        const char *key,
                                        size_t key_length,
                                        const char *filter,
                                        size_t filter_length)
{
    (void)state;
    /* LevelDB asks also where there are no keys, and then the pointer means nothing. */
    return filter_length >= 2 && bloomline_leveldb_contains(filter, filter_length, key, key_length);
}

const char *bloomline_leveldb_name(void *state)
{
    (void)state;
    return "leveldb.BuiltinBloomFilter2";
}

leveldb_filterpolicy_t *bloomline_leveldb_filterpolicy(int bits_per_key)
{
    /* If BLOOMLINE_BACKEND is wrong, LevelDB's own: filters that match every key would stay in
     * their files when it has long been put right. */
    if (strcmp(bloomline_backend(), "none") == 0)
        return leveldb_filterpolicy_create_bloom(bits_per_key);
    int *state = malloc(sizeof *state);
    if (state == NULL)
        return NULL;
    *state = bits_per_key;
    return leveldb_filterpolicy_create(state, free, bloomline_leveldb_create_filter,
                                       bloomline_leveldb_key_may_match, bloomline_leveldb_name);
}
