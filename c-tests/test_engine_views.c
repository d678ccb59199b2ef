/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_engine_views.c - filter blocks of RocksDB, Pebble, LevelDB and Parquet: what is built and
 * what every probing function answers, against the formats written down once more in plain C; in
 * buffers of exactly their size, between pages that may not be touched.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include "check.h"
#include "engine_blocks.h"
#include "fenced.h"

enum { MOST = 200 };

/* Key i: its 8 bytes repeated, 0 to 39 of them. */
static bloomline_bytes key_of(uint64_t i, uint8_t room[40])
{
    for (size_t j = 0; j < 40; j++) room[j] = (uint8_t)(i * 0x9E3779B97F4A7C15u >> (8 * (j % 8)));
    return (bloomline_bytes){room, (size_t)(i % 40)};
}

/* Asks for keys in every way that there is. */
static void ask(const bloomline_view *view, const block_shape *s, uint64_t (*hash)(const void *, size_t))
{
    static uint8_t rooms[MOST][40];
    bloomline_bytes keys[MOST];
    const bloomline_bytes *pointers[MOST];
    uint64_t hashes[MOST], bits[(MOST + 63) / 64];
    bool expected[MOST], present[MOST];
    bloomline_contains_fn contains = bloomline_view_contains_fn(view);
    for (size_t i = 0; i < MOST; i++) {
        keys[i] = key_of(i, rooms[i]);
        pointers[i] = &keys[i];
        hashes[i] = hash(keys[i].data, keys[i].len);
        expected[i] = block_contains(s, hashes[i]);
        CHECK_U64(hashes[i], bloomline_view_hash(view, keys[i].data, keys[i].len));
        CHECK(bloomline_view_contains(view, keys[i].data, keys[i].len) == expected[i]);
        CHECK(contains(view, keys[i].data, keys[i].len) == expected[i]);
        CHECK(bloomline_view_contains_hash(view, hashes[i]) == expected[i]);
        CHECK_U64(expected[i], bloomline_views_contain_hash(view, 1, hashes[i], bits));
        if (s->line == 0)
            CHECK(bloomline_leveldb_contains(s->bytes, (size_t)s->len + 1, keys[i].data, keys[i].len) ==
                  expected[i]);
    }
    static const size_t counts[] = {0, 1, 7, 8, 31, 32, 63, 64, 65, 130, MOST};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        size_t n = counts[c], want = 0, wrong = 0;
        for (size_t i = 0; i < n; i++) want += expected[i];
        CHECK_U64(want, bloomline_view_contains_hashes(view, hashes, n, bits));
        for (size_t i = 0; i < n; i++) wrong += (bits[i / 64] >> (i % 64) & 1) != expected[i];
        CHECK_U64(want, bloomline_view_contains_keys(view, keys, n, bits));
        for (size_t i = 0; i < n; i++) wrong += (bits[i / 64] >> (i % 64) & 1) != expected[i];
        CHECK_U64(want, bloomline_shards_contain_hashes(view, 1, hashes, n, bits));
        for (size_t i = 0; i < n; i++) wrong += (bits[i / 64] >> (i % 64) & 1) != expected[i];
        bloomline_view_contains_each(view, pointers, n, present);
        for (size_t i = 0; i < n; i++) wrong += present[i] != expected[i];
        CHECK_U64(0, wrong);
    }
}

typedef struct {
    const char *name;
    uint64_t (*hash)(const void *, size_t);
    uint32_t engine;
} format;

#define HASHES(engine, number) \
    static uint64_t engine##_hash(const void *key, size_t len) { return bloomline_engine_hash(number, key, len); }
HASHES(rocksdb, BLOOMLINE_ENGINE_ROCKSDB)
HASHES(rocksdb_legacy, BLOOMLINE_ENGINE_ROCKSDB_LEGACY)
HASHES(leveldb, BLOOMLINE_ENGINE_LEVELDB)
HASHES(parquet, BLOOMLINE_ENGINE_PARQUET)

enum { FORMATS = 4 };
static const format formats[FORMATS] = {
    {"RocksDB", rocksdb_hash, BLOOMLINE_ENGINE_ROCKSDB},
    {"RocksDB before, and Pebble", rocksdb_legacy_hash, BLOOMLINE_ENGINE_ROCKSDB_LEGACY},
    {"LevelDB", leveldb_hash, BLOOMLINE_ENGINE_LEVELDB},
    {"Parquet", parquet_hash, BLOOMLINE_ENGINE_PARQUET},
};

/* What a block says of itself. */
static block_shape shape_of(size_t f, uint8_t *block, size_t len)
{
    if (f == 3) {
        size_t header = 15; /* a number of up to 6 bits is one byte, and 7 bits more are another */
        while (len - header >= (size_t)64 << (7 * (header - 15))) header++;
        return (block_shape){block + header, len - header, 32, 8, PARQUET};
    }
    if (f == 2) return (block_shape){block, len - 1, 0, block[len - 1], LEGACY};
    if (f == 1) return (block_shape){block, len - TRAILER, 64, block[len - 5], LEGACY};
    return (block_shape){block, len - TRAILER, 64, block[len - 3], FAST_LOCAL};
}

/* Up to some thousands of keys, at both fences and in the middle of a cache line. */
static void blocks(void)
{
    static const size_t counts[] = {0, 1, 2, 10, 65, 100, 3000};
    static const double bits[] = {1, 6.5, 10, 20, 44};
    static uint64_t hashes[3000];
    for (size_t f = 0; f < FORMATS; f++) {
        for (size_t i = 0; i < 3000; i++) {
            uint8_t room[40];
            bloomline_bytes key = key_of(i + 100, room);
            hashes[i] = formats[f].hash(key.data, key.len);
        }
        for (size_t c = 0; c < 7 * 5; c++) {
            size_t n = counts[c / 5], written = 7;
            double per_key = bits[c % 5];
            size_t len = bloomline_engine_block_len(formats[f].engine, n, per_key);
            CHECK((len == 0) == (f == 0 && n == 0));
            fenced memory = fenced_new(len + 64);
            uint8_t *copy = calloc(1, len + 1);
            REQUIRE(copy != NULL);
            for (size_t place = 0; place < 3; place++) {
                uint8_t *block = place < 2 ? at_fence(memory, (int)place, len) : memory.start + 24;
                bloomline_view view;
                memset(block, 0xA5, len);
                if (len > 0)
                    CHECK(bloomline_engine_block_build(formats[f].engine, hashes, n, per_key, block, len - 1, NULL) ==
                          BLOOMLINE_ERR_BUFFER_TOO_SMALL);
                REQUIRE_OK(bloomline_engine_block_build(formats[f].engine, hashes, n, per_key, block, len, &written));
                CHECK_U64(len, written);
                REQUIRE_OK(bloomline_view_open_engine(formats[f].engine, block, len, &view));
                if (n == 0) {
                    CHECK(!bloomline_view_contains(&view, "x", 1));
                    continue;
                }
                block_shape s = shape_of(f, block, len), by_hand = s;
                by_hand.bytes = copy;
                memset(copy, 0, len);
                for (size_t i = 0; i < n; i++) block_insert(&by_hand, hashes[i]);
                CHECK(memcmp(copy, s.bytes, (size_t)s.len) == 0);
                ask(&view, &s, formats[f].hash);
            }
            free(copy);
            fenced_free(memory);
        }
    }
}

/* RocksDB's of CPUs with longer cache lines, which nobody here writes. */
static void longer_lines(void)
{
    for (unsigned line = 128; line <= 256; line *= 2) {
        for (uint8_t count = 1; count <= 7; count += 3) {
            size_t len = (size_t)line * count + TRAILER;
            fenced memory = fenced_new(len);
            for (int back = 0; back < 2; back++) {
                uint8_t *block = at_fence(memory, back, len);
                bloomline_view view;
                memset(block, 0, len);
                block[len - 5] = 6;
                block[len - 4] = count;
                block_shape s = {block, len - TRAILER, line, 6, LEGACY};
                for (uint64_t i = 0; i < MOST; i += 2) {
                    uint8_t room[40];
                    bloomline_bytes key = key_of(i, room);
                    block_insert(&s, rocksdb_legacy_hash(key.data, key.len));
                }
                REQUIRE_OK(bloomline_view_open_engine(BLOOMLINE_ENGINE_ROCKSDB, block, len, &view));
                ask(&view, &s, rocksdb_legacy_hash);
            }
            fenced_free(memory);
        }
    }
}

static void hashes_of_no_key(void)
{
    for (size_t f = 0; f < FORMATS; f++) CHECK_U64(formats[f].hash("", 0), formats[f].hash(NULL, 4));
}

/* A batch of hashes is that of single ones, at both ends of the buffers in which they are made; a key that is not
   there is the empty one. */
static void batches_of_hashes(void)
{
    static const size_t counts[] = {0, 1, 63, 64, 65, 128, MOST};
    static uint8_t rooms[MOST][40];
    static bloomline_bytes keys[MOST];
    uint64_t hashes[MOST + 1];
    for (size_t i = 0; i < MOST; i++) keys[i] = key_of(i + 100, rooms[i]);
    keys[7].data = NULL;
    for (size_t f = 0; f <= FORMATS; f++) { /* the last is no engine */
        const uint32_t engine = f < FORMATS ? formats[f].engine : 77;
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            const size_t n = counts[c];
            memset(hashes, 0xA5, sizeof hashes);
            bloomline_engine_hash_batch(engine, keys, n, hashes);
            for (size_t i = 0; i < n; i++) CHECK_U64(bloomline_engine_hash(engine, keys[i].data, keys[i].len), hashes[i]);
            CHECK_U64(UINT64_C(0xA5A5A5A5A5A5A5A5), hashes[n]);
        }
        bloomline_engine_hash_batch(engine, NULL, 2, hashes);
        bloomline_engine_hash_batch(engine, keys, 2, NULL);
        CHECK_U64(bloomline_engine_hash(engine, keys[0].data, keys[0].len), hashes[0]);
    }
}

/* The other numbers are no engines. */
static void other_engines(void)
{
    static const uint32_t numbers[] = {0, FORMATS + 1, UINT32_MAX};
    for (size_t i = 0; i < 3; i++) {
        uint64_t hash = 5;
        uint8_t block[128] = {0};
        size_t written = 7;
        bloomline_view view;
        CHECK_U64(0, bloomline_engine_hash(numbers[i], "plum", 4));
        CHECK_U64(0, bloomline_engine_block_len(numbers[i], 1, 10));
        CHECK_STATUS(BLOOMLINE_ERR_LAYOUT,
                     bloomline_engine_block_build(numbers[i], &hash, 1, 10, block, sizeof block, &written));
        CHECK_U64(7, written);
        CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_view_open_engine(numbers[i], block, sizeof block, &view));
        CHECK(bloomline_view_contains(&view, "plum", 4)); /* nothing is denied */
        CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_view_open_engine(numbers[i], NULL, 1, &view));
        CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_view_open_engine(numbers[i], block, sizeof block, NULL));
    }
}

/* Blocks that are not what they should be: no byte outside of them is read, and where there is
 * no sense in them, every key may be in. RocksDB reads 64 bytes of a line that is not whole. */
static void damaged(void)
{
    static const struct { uint8_t trailer[TRAILER]; bloomline_status status; } ends[] = {
        {{0xFF, 0, 6, 0, 0}, BLOOMLINE_OK},             /* FastLocalBloom */
        {{0xFF, 1, 6, 0, 0}, BLOOMLINE_ERR_LAYOUT},     /* a newer one */
        {{0xFF, 0, 6, 1, 0}, BLOOMLINE_ERR_LAYOUT},     /* reserved bytes */
        {{0xFF, 0, 0, 0, 0}, BLOOMLINE_ERR_LAYOUT},     /* no probes */
        {{0xFF, 0, 0x26, 0, 0}, BLOOMLINE_ERR_LAYOUT},  /* longer lines */
        {{0xFE, 0, 0, 0, 0}, BLOOMLINE_ERR_LAYOUT},     /* Ribbon */
        {{0xFD, 0, 0, 0, 0}, BLOOMLINE_ERR_LAYOUT},     /* newer than Ribbon */
        {{0x80, 1, 0, 0, 0}, BLOOMLINE_ERR_LAYOUT},
        {{0, 0, 0, 0, 0}, BLOOMLINE_OK},                /* "always true" */
        {{6, 0, 0, 0, 0}, BLOOMLINE_OK},                /* no lines */
        {{6, 3, 0, 0, 0}, BLOOMLINE_OK},                /* three lines that are not there */
        {{6, 0xFF, 0xFF, 0xFF, 0xFF}, BLOOMLINE_OK},
    };
    fenced memory = fenced_new(200);
    for (size_t e = 0; e < sizeof ends / sizeof ends[0]; e++) {
        for (size_t data = 1; data < 64; data++) {
            size_t len = data + TRAILER;
            for (int back = 0; back < 2; back++) {
                uint8_t *block = at_fence(memory, back, len);
                const bloomline_bytes key = {(const uint8_t *)"plum", 4}, *pointer = &key;
                bloomline_view view;
                uint64_t bits = 0;
                bool present = false;
                memset(block, 0, data);
                memcpy(block + data, ends[e].trailer, TRAILER);
                CHECK(bloomline_view_open_engine(BLOOMLINE_ENGINE_ROCKSDB, block, len, &view) == ends[e].status);
                CHECK(bloomline_view_contains(&view, "plum", 4));
                CHECK(bloomline_view_contains_fn(&view)(&view, "plum", 4));
                CHECK_U64(1, bloomline_view_contains_keys(&view, &key, 1, &bits));
                bloomline_view_contains_each(&view, &pointer, 1, &present);
                CHECK(present);
            }
        }
    }
    /* LevelDB's: too many probes are "maybe", a byte alone is no filter. */
    for (size_t len = 0; len < 70; len++) {
        for (int back = 0; back < 2; back++) {
            uint8_t *block = at_fence(memory, back, len);
            bloomline_view view;
            memset(block, 0, len);
            for (unsigned k = 1; k < 256; k += 30) {
                if (len > 0) block[len - 1] = (uint8_t)k;
                REQUIRE_OK(bloomline_view_open_engine(BLOOMLINE_ENGINE_LEVELDB, block, len, &view));
                CHECK(bloomline_view_contains(&view, "plum", 4) == (len >= 2 && k > 30));
                CHECK(bloomline_leveldb_contains(block, len, "plum", 4) == (len >= 2 && k > 30));
            }
        }
    }
    fenced_free(memory);
    CHECK(!bloomline_leveldb_contains(NULL, 0, "plum", 4));
    CHECK(bloomline_leveldb_contains(NULL, 1, "plum", 4));
    CHECK(bloomline_leveldb_contains("\0\0\6", 3, NULL, 4));
    CHECK(!bloomline_leveldb_contains("\0\0\6", 3, NULL, 0));
    CHECK(bloomline_leveldb_contains("\0\0\0", 3, "plum", 4)); /* no probes: nothing is denied */
}

int main(void)
{
    check_begin("test_engine_views");
    RUN(blocks);
    RUN(longer_lines);
    RUN(hashes_of_no_key);
    RUN(batches_of_hashes);
    RUN(other_engines);
    RUN(damaged);
    return check_end();
}
