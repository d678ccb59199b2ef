/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_rocksdb_c.c - our policy through RocksDB's C interface, the way of C programs and of
 * the bindings of other languages: databases written with one policy and read with the
 * other. Uses bloomline_rocksdb.h, rocksdb/c.h and POSIX.
 */
#define _XOPEN_SOURCE 700

#include "../rocksdb/bloomline_rocksdb.h"

#include <bloomline.h>
#include <rocksdb/c.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEYS 100000
#define BATCH 32

static unsigned long passed, failed;

static void check(int good, const char *what)
{
    printf("  %s  %s\n", good ? "ok    " : "FAILED", what);
    if (good)
        passed++;
    else
        failed++;
}

static void require(char *error)
{
    if (error != NULL) {
        fprintf(stderr, "%s\n", error);
        exit(2);
    }
}

/* Since RocksDB 9.2 this is on by default, and leaves the building of filters to RocksDB; C has
 * the function since 7.10. */
void rocksdb_block_based_options_set_optimize_filters_for_memory(rocksdb_block_based_table_options_t *options,
                                                                 unsigned char on) __attribute__((weak));

static rocksdb_options_t *new_options(int ours)
{
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    if (rocksdb_block_based_options_set_optimize_filters_for_memory != NULL)
        rocksdb_block_based_options_set_optimize_filters_for_memory(table, 0);
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_block_based_options_set_filter_policy(
        table, ours ? bloomline_rocksdb_filterpolicy(10) : rocksdb_filterpolicy_create_bloom_full(10));
    rocksdb_options_set_block_based_table_factory(options, table);
    rocksdb_block_based_options_destroy(table); /* the policy belongs to the options now */
    rocksdb_options_set_create_if_missing(options, 1);
    rocksdb_options_set_write_buffer_size(options, 256 << 20);
    rocksdb_options_enable_statistics(options);
    return options;
}

/* Every second number is a key. */
static size_t key_of(char key[32], unsigned i, int present)
{
    return (size_t)snprintf(key, 32, "user:%08u", 2 * i + (present ? 0 : 1));
}

static void write_all(const char *path, int ours)
{
    char *error = NULL, key[32];
    rocksdb_options_t *options = new_options(ours);
    rocksdb_writeoptions_t *writing = rocksdb_writeoptions_create();
    rocksdb_flushoptions_t *flush = rocksdb_flushoptions_create();
    rocksdb_t *db = rocksdb_open(options, path, &error);
    require(error);
    rocksdb_writeoptions_disable_WAL(writing, 1);
    for (unsigned i = 0; i < KEYS; i++) {
        size_t len = key_of(key, i, 1);
        rocksdb_put(db, writing, key, len, key, len, &error);
        require(error);
    }
    rocksdb_flush(db, flush, &error);
    require(error);
    rocksdb_close(db);
    rocksdb_flushoptions_destroy(flush);
    rocksdb_writeoptions_destroy(writing);
    rocksdb_options_destroy(options);
}

static uint64_t useful(rocksdb_options_t *options)
{
    static const char NAME[] = "rocksdb.bloom.filter.useful COUNT : ";
    char *statistics = rocksdb_options_statistics_get_string(options);
    const char *at = strstr(statistics, NAME);
    uint64_t count = at != NULL ? strtoull(at + sizeof NAME - 1, NULL, 10) : 0;
    free(statistics);
    return count;
}

/* How many keys are found, one by one and by multi_get. */
static uint64_t found(rocksdb_t *db, rocksdb_readoptions_t *reading, int present)
{
    uint64_t count = 0;
    char *error = NULL;
    for (unsigned i = 0; i < KEYS; i++) {
        char key[32];
        size_t len = key_of(key, i, present), value_len;
        char *value = rocksdb_get(db, reading, key, len, &value_len, &error);
        require(error);
        count += value != NULL && value_len == len && memcmp(value, key, len) == 0;
        rocksdb_free(value);
    }
    for (unsigned from = 0; from + BATCH <= KEYS; from += BATCH) {
        char text[BATCH][32];
        const char *keys[BATCH];
        size_t lens[BATCH], value_lens[BATCH];
        char *values[BATCH], *errors[BATCH];
        for (unsigned i = 0; i < BATCH; i++) {
            keys[i] = text[i];
            lens[i] = key_of(text[i], from + i, present);
        }
        rocksdb_multi_get(db, reading, BATCH, keys, lens, values, value_lens, errors);
        for (unsigned i = 0; i < BATCH; i++) {
            require(errors[i]);
            count += values[i] != NULL;
            rocksdb_free(values[i]);
        }
    }
    return count;
}

/* Returns the counter of keys that the filter has spared a look. */
static uint64_t read_all(const char *path, int ours)
{
    char *error = NULL, line[200];
    rocksdb_options_t *options = new_options(ours);
    rocksdb_readoptions_t *reading = rocksdb_readoptions_create();
    rocksdb_t *db = rocksdb_open_for_read_only(options, path, 0, &error);
    require(error);
    uint64_t keys = found(db, reading, 1), others = found(db, reading, 0), count = useful(options);
    snprintf(line, sizeof line, "read with %s: %" PRIu64 " found, %" PRIu64 " of the others, useful %" PRIu64,
             ours ? "ours" : "RocksDB's", keys, others, count);
    check(keys == 2 * KEYS && others == 0 && count > 2 * KEYS * 97 / 100, line);
    rocksdb_close(db);
    rocksdb_readoptions_destroy(reading);
    rocksdb_options_destroy(options);
    return count;
}

static void remove_database(const char *path)
{
    char *error = NULL;
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_destroy_db(options, path, &error);
    require(error);
    rocksdb_options_destroy(options);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("test_rocksdb_c: bloomline %s, backend %s\n", bloomline_version(), bloomline_backend());
    rocksdb_filterpolicy_t *unused = bloomline_rocksdb_filterpolicy(10);
    check(unused != NULL, "a policy can be made, and destroyed unused");
    rocksdb_filterpolicy_destroy(unused);
    unused = bloomline_rocksdb_static_filterpolicy(0.01, -1);
    check(unused != NULL, "one of static filters, too");
    rocksdb_filterpolicy_destroy(unused);

    const char *directory = getenv("TMPDIR");
    uint64_t counts[2][2];
    for (int writer = 0; writer < 2; writer++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/bloomline-XXXXXX", directory != NULL ? directory : "/tmp");
        if (mkdtemp(path) == NULL) {
            perror(path);
            return 2;
        }
        printf("  written with %s\n", writer ? "ours" : "RocksDB's");
        write_all(path, writer);
        for (int reader = 0; reader < 2; reader++)
            counts[writer][reader] = read_all(path, reader);
        remove_database(path);
        rmdir(path);
    }
    check(counts[0][0] == counts[0][1] && counts[0][0] == counts[1][0] && counts[0][0] == counts[1][1],
          "the counters are the same, whoever writes and reads");
    printf("%lu passed, %lu failed\n", passed, failed);
    return failed > 0 || passed == 0;
}
