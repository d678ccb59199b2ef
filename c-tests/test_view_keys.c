/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_view_keys.c - bloomline_view_contains_each() and the function of
 * bloomline_view_contains_fn(), of RocksDB's filters against what the format says bit by bit,
 * of others against single keys; and what they do where they cannot know.
 */
#include "check.h"
#include "engine_blocks.h"

/* More than a block of 64, and not a multiple of it. */
#define MOST 150

static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Key i: 0 to 40 bytes, and the bytes somewhere. */
static bloomline_bytes key_of(uint64_t i, uint8_t room[48])
{
    uint64_t state = i;
    bloomline_bytes key;
    for (size_t j = 0; j < 48; j += 8) {
        uint64_t word = next(&state);
        memcpy(room + j, &word, 8);
    }
    key.data = room + i % 7;
    key.len = (size_t)(i % 41);
    return key;
}

/* Asks for MOST keys from one on in all ways: of RocksDB's present filters as the format says. */
static void ask(const bloomline_view *view, const block_shape *rocksdb, uint64_t from)
{
    static uint8_t rooms[MOST][48];
    bloomline_bytes keys[MOST];
    const bloomline_bytes *pointers[MOST];
    bool expected[MOST];
    bool present[MOST + 1];
    bloomline_contains_fn contains = bloomline_view_contains_fn(view);
    for (size_t i = 0; i < MOST; i++) {
        keys[i] = key_of(from + i, rooms[i]);
        pointers[i] = &keys[i];
        expected[i] = rocksdb != NULL ?
                          block_contains(rocksdb, bloomline_engine_hash(BLOOMLINE_ENGINE_ROCKSDB, keys[i].data, keys[i].len)) :
                          bloomline_view_contains(view, keys[i].data, keys[i].len);
        CHECK(contains(view, keys[i].data, keys[i].len) == expected[i]);
        if (keys[i].len == 0) CHECK(contains(view, NULL, 0) == expected[i]);
    }
    for (size_t n = 0; n <= MOST; n += n < 70 ? 1 : 16) {
        memset(present, 7, sizeof present);
        bloomline_view_contains_each(view, pointers, n, present);
        size_t wrong = 0;
        for (size_t i = 0; i < n; i++) wrong += present[i] != expected[i];
        CHECK_U64(0, wrong);
        unsigned char after;
        memcpy(&after, present + n, 1);
        CHECK_U64(7, after);
    }
    /* Of keys that are not there nothing is known; the others are what they were. */
    bloomline_bytes broken = {NULL, 3}, endless = {keys[0].data, SIZE_MAX}, empty = {NULL, 0};
    size_t counts[] = {40, MOST};
    for (size_t j = 0; j < 2; j++) {
        pointers[3] = NULL;
        pointers[5] = &broken;
        pointers[8] = &endless;
        pointers[9] = &empty;
        bloomline_view_contains_each(view, pointers, counts[j], present);
        CHECK(present[3] && present[5] && present[8]);
        CHECK(present[9] == bloomline_view_contains(view, "", 0));
        size_t wrong = 0;
        for (size_t i = 10; i < counts[j]; i++) wrong += present[i] != expected[i];
        CHECK_U64(0, wrong);
    }
}

/* RocksDB's filters, in cache and larger, at a line's start and not, k to 24. */
static void rocksdb(void)
{
    static const struct { size_t keys; double bits; unsigned k; } shapes[] = {
        {1, 10, 6}, {100, 10, 6}, {100, 1, 1}, {100, 28, 12}, {100, 40, 18}, {100, 60, 24},
        {300000, 10, 6}, {60000, 60, 24},
    };
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        size_t n = shapes[s].keys, len = bloomline_engine_block_len(BLOOMLINE_ENGINE_ROCKSDB, n, shapes[s].bits), written;
        uint64_t *hashes = malloc(n * sizeof *hashes);
        uint8_t *memory = malloc(len + 128);
        REQUIRE(hashes != NULL && memory != NULL);
        for (size_t i = 0; i < n; i++) {
            uint8_t room[48];
            bloomline_bytes key = key_of(i, room);
            hashes[i] = bloomline_engine_hash(BLOOMLINE_ENGINE_ROCKSDB, key.data, key.len);
        }
        for (size_t offset = 0; offset < 64; offset += 24) {
            uint8_t *data = memory + (64 - (uintptr_t)memory % 64) + offset;
            bloomline_view view;
            REQUIRE_OK(bloomline_engine_block_build(BLOOMLINE_ENGINE_ROCKSDB, hashes, n, shapes[s].bits, data, len, &written));
            CHECK_U64(shapes[s].k, data[len - 3]);
            REQUIRE_OK(bloomline_view_open_engine(BLOOMLINE_ENGINE_ROCKSDB, data, len, &view));
            const block_shape shape = {data, len - TRAILER, 64, shapes[s].k, FAST_LOCAL};
            ask(&view, &shape, 0);
            ask(&view, &shape, 1000000);
            bloomline_view copy = view;
            ask(&copy, &shape, 2000000);
        }
        free(memory);
        free(hashes);
    }
}

/* Filters larger than caches, of half the bits set: those of no keys in particular. */
static void large(void)
{
    size_t len = (16u << 20) + 64 + TRAILER;
    uint8_t *memory = malloc(len + 128);
    REQUIRE(memory != NULL);
    for (size_t offset = 0; offset < 64; offset += 40) {
        uint8_t *data = memory + (64 - (uintptr_t)memory % 64) + offset;
        uint64_t state = offset;
        for (size_t at = 0; at + 8 < len; at += 8) {
            uint64_t word = next(&state);
            memcpy(data + at, &word, 8);
        }
        for (unsigned k = 1; k <= 17; k += 8) {
            const uint8_t trailer[TRAILER] = {0xFF, 0, (uint8_t)k, 0, 0};
            const block_shape shape = {data, len - TRAILER, 64, k, FAST_LOCAL};
            bloomline_view view;
            memcpy(data + len - TRAILER, trailer, TRAILER);
            REQUIRE_OK(bloomline_view_open_engine(BLOOMLINE_ENGINE_ROCKSDB, data, len, &view));
            ask(&view, &shape, k);
            CHECK_U64(strcmp(bloomline_backend(), "avx512") == 0 ? 8 : 4, bloomline_view_fewest_each(&view));
        }
    }
    free(memory);
}

/* From how many keys on probing them together pays: of small filters never, of static ones always. */
static void fewest(void)
{
    static uint8_t data[1 << 12];
    uint64_t hashes[100];
    size_t len;
    bloomline_view view;
    memset(&view, 0, sizeof view);
    CHECK_U64(SIZE_MAX, bloomline_view_fewest_each(NULL));
    CHECK_U64(SIZE_MAX, bloomline_view_fewest_each(&view));
    for (size_t i = 0; i < 100; i++) hashes[i] = bloomline_hash_u64(i, 0);
    REQUIRE_OK(bloomline_engine_block_build(BLOOMLINE_ENGINE_ROCKSDB, hashes, 100, 10, data, sizeof data, &len));
    REQUIRE_OK(bloomline_view_open_engine(BLOOMLINE_ENGINE_ROCKSDB, data, len, &view));
    CHECK_U64(SIZE_MAX, bloomline_view_fewest_each(&view));
    REQUIRE_OK(bloomline_static_block_build(hashes, 100, 0.01, 0, 1, data, sizeof data, &len));
    REQUIRE_OK(bloomline_view_open(data, len, 0, &view));
    CHECK_U64(4, bloomline_view_fewest_each(&view));
}

/* Filters of other kinds. */
static void others(void)
{
    bloomline_params params;
    bloomline_filter *filter = NULL;
    bloomline_view view;
    REQUIRE_OK(bloomline_params_for_bits(100, 10, &params));
    REQUIRE_OK(bloomline_filter_new(&params, &filter));
    for (uint64_t i = 0; i < 100; i++) {
        uint8_t room[48];
        bloomline_bytes key = key_of(i, room);
        bloomline_filter_insert(filter, key.data, key.len);
    }
    REQUIRE_OK(bloomline_filter_view(filter, &view));
    CHECK(bloomline_view_contains_fn(&view) == bloomline_view_contains);
    ask(&view, NULL, 0);
    bloomline_filter_free(filter);

    uint64_t hashes[100];
    uint8_t block[256];
    size_t written;
    for (uint64_t i = 0; i < 100; i++) {
        uint8_t room[48];
        bloomline_bytes key = key_of(i, room);
        hashes[i] = bloomline_engine_hash(BLOOMLINE_ENGINE_LEVELDB, key.data, key.len);
    }
    REQUIRE_OK(bloomline_engine_block_build(BLOOMLINE_ENGINE_LEVELDB, hashes, 100, 10, block, sizeof block, &written));
    REQUIRE_OK(bloomline_view_open_engine(BLOOMLINE_ENGINE_LEVELDB, block, written, &view));
    ask(&view, NULL, 0);
    /* RocksDB's of no keys, and of what cannot be read. */
    REQUIRE_OK(bloomline_view_open_engine(BLOOMLINE_ENGINE_ROCKSDB, "", 0, &view));
    ask(&view, NULL, 0);
    REQUIRE_OK(bloomline_view_open_engine(BLOOMLINE_ENGINE_ROCKSDB, "\0\0\0\0\0\0", 6, &view));
    ask(&view, NULL, 0);
}

static void doubt(void)
{
    bloomline_view zero, view;
    bloomline_bytes key = {(const uint8_t *)"plum", 4};
    const bloomline_bytes *keys[MOST];
    bool present[MOST];
    for (size_t i = 0; i < MOST; i++) keys[i] = &key;
    memset(&zero, 0, sizeof zero);
    CHECK(bloomline_view_contains_fn(NULL) == bloomline_view_contains);
    CHECK(bloomline_view_contains_fn(&zero) == bloomline_view_contains);
    REQUIRE_OK(bloomline_view_open_engine(BLOOMLINE_ENGINE_ROCKSDB, "", 0, &view));
    const struct { const bloomline_view *view; const bloomline_bytes *const *keys; } cases[] = {
        {NULL, keys}, {&zero, keys}, {&view, NULL},
    };
    for (size_t c = 0; c < 3; c++)
        for (size_t n = 1; n <= MOST; n += 37) {
            memset(present, 0, sizeof present);
            bloomline_view_contains_each(cases[c].view, cases[c].keys, n, present);
            for (size_t i = 0; i < MOST; i++) CHECK(present[i] == (i < n));
        }
    bloomline_view_contains_each(&view, keys, 3, NULL);
    bloomline_view_contains_each(&view, NULL, 0, NULL);
    bloomline_view_contains_each(&view, keys, 3, present);
    CHECK(!present[0] && !present[1] && !present[2]);
}

int main(void)
{
    check_begin("test_view_keys");
    RUN(rocksdb);
    RUN(large);
    RUN(fewest);
    RUN(others);
    RUN(doubt);
    return check_end();
}
