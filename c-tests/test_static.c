/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_static.c - static filters: built at once or by a builder, probed through views one by
 * one and in batches, from mapped files, from damaged bytes.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "check.h"
#include "definition.h"
#include "fenced.h"
#include "files.h"

#include <math.h>

enum { MOST = 20000, ABSENT = 4000 };

static uint64_t hashes[MOST], absent[ABSENT];
static const size_t counts[] = {0, 1, 2, 3, 63, 64, 65, 500, 3000, MOST};
static const double rates[] = {0.5, 0.0625, 0.04, 0.01, 1.0 / 256, 0.001, 1.0 / 65536};
enum { COUNTS = sizeof counts / sizeof *counts, RATES = sizeof rates / sizeof *rates };

/* The encoded filter of some hashes at the end of fenced memory: a byte more would end the test. */
static uint8_t *block_of(fenced room, const uint64_t *of, size_t n, double rate, uint64_t seed, size_t *len)
{
    size_t most = bloomline_static_block_len(n, rate);
    uint8_t *out = malloc(most);
    REQUIRE(out != NULL && most > 0);
    REQUIRE_OK(bloomline_static_block_build(of, n, rate, seed, 1, out, most, len));
    CHECK(*len > 0 && *len <= most);
    uint8_t *block = at_fence(room, 0, *len);
    memcpy(block, out, *len);
    free(out);
    return block;
}

static size_t count_of(const bloomline_view *view, const uint64_t *of, size_t n)
{
    static uint64_t bitmap[MOST / 64 + 1];
    size_t hits = bloomline_view_contains_hashes(view, of, n, bitmap);
    for (size_t i = 0; i < n; i++) {
        bool maybe = bloomline_view_contains_hash(view, of[i]);
        CHECK_WITH(maybe == bit_of(bitmap, i), "hash %zu of %zu", i, n);
        hits -= maybe;
    }
    CHECK_U64(0, hits);
    hits = 0;
    for (size_t i = 0; i < n; i++) hits += bit_of(bitmap, i);
    return hits;
}

static void what_is_built_is_present(void)
{
    fenced room = fenced_new(1 << 20);
    for (size_t i = 0; i < COUNTS; i++) {
        for (size_t j = 0; j < RATES; j++) {
            size_t n = counts[i], len, hits;
            bloomline_view view;
            uint8_t *block = block_of(room, hashes, n, rates[j], 7, &len);
            CHECK_U64(BLOOMLINE_KIND_STATIC, (uint64_t)bloomline_encoded_kind(block, len));
            REQUIRE_OK(bloomline_view_open(block, len, 0, &view));
            CHECK_U64(n, bloomline_view_key_count(&view));
            CHECK_U64(n, count_of(&view, hashes, n));
            hits = count_of(&view, absent, ABSENT);
            /* At most the rate asked for, or 6.25 %: within 6 standard deviations. */
            double most = (rates[j] < 0.0625 ? rates[j] : 0.0625) * ABSENT;
            CHECK_WITH((double)hits <= most + 6 * sqrt(most) + 1, "%zu keys, rate %g: %zu", n, rates[j], hits);
            CHECK(n > 0 || hits == 0);
        }
    }
    fenced_free(room);
}

/* Order and repetitions do not matter, and a builder's blocks are the same. */
static void a_set_has_one_block(void)
{
    fenced room = fenced_new(1 << 20), other = fenced_new(1 << 20);
    uint64_t *turned = malloc(2 * sizeof hashes);
    bloomline_builder *builder = NULL;
    REQUIRE(turned != NULL);
    for (size_t j = 0; j < RATES; j++) {
        size_t n = 3000, len, again;
        uint8_t *block = block_of(room, hashes, n, rates[j], 0, &len);
        for (size_t i = 0; i < n; i++) turned[i] = hashes[n - 1 - i];
        uint8_t *same = block_of(other, turned, n, rates[j], 0, &again);
        CHECK(len == again && memcmp(block, same, len) == 0);

        /* A key that repeats the one before counts once. */
        for (size_t i = 0; i < n; i++) turned[2 * i] = turned[2 * i + 1] = hashes[i];
        REQUIRE_OK(bloomline_builder_new_static(rates[j], 0, &builder));
        for (int round = 0; round < 2; round++) {
            CHECK_OK(bloomline_builder_add_hash(builder, hashes[0]));
            CHECK_OK(bloomline_builder_add_hashes(builder, turned, 2 * n));
            CHECK_U64(n, bloomline_builder_key_count(builder));
            CHECK_U64(bloomline_static_block_len(n, rates[j]), bloomline_builder_block_len(builder));
            CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL,
                         bloomline_builder_finish(builder, same, bloomline_builder_block_len(builder) - 1, &again));
            uint8_t *out = at_fence(other, 0, bloomline_builder_block_len(builder));
            CHECK_OK(bloomline_builder_finish(builder, out, bloomline_builder_block_len(builder), &again));
            CHECK(len == again && memcmp(block, out, len) == 0);
            CHECK_U64(0, bloomline_builder_key_count(builder));
        }
        bloomline_builder_free(builder);
    }
    free(turned);
    fenced_free(room);
    fenced_free(other);
}

static void keys_by_their_bytes(void)
{
    bloomline_builder *builder = NULL;
    bloomline_view view;
    uint8_t block[8192];
    size_t len;
    REQUIRE_OK(bloomline_builder_new_static(0.01, 99, &builder));
    CHECK_OK(bloomline_builder_add(builder, "apple", 5));
    CHECK_OK(bloomline_builder_add(builder, "", 0));
    CHECK_OK(bloomline_builder_finish(builder, block, sizeof block, &len));
    CHECK_OK(bloomline_view_open(block, len, 0, &view));
    CHECK(bloomline_view_contains(&view, "apple", 5) && bloomline_view_contains(&view, "", 0));
    CHECK(bloomline_view_contains_hash(&view, bloomline_hash("apple", 5, 99)));
    CHECK(!bloomline_view_contains_hash(&view, bloomline_hash("apple", 5, 0)));
    CHECK_U64(99, bloomline_hash("", 0, 99) == bloomline_view_hash(&view, "", 0) ? 99 : 0);
    CHECK_OK(bloomline_builder_add(builder, "gone", 4));
    bloomline_builder_clear(builder);
    CHECK_U64(0, bloomline_builder_key_count(builder));
    bloomline_builder_free(builder);
}

/* Hashes of one bit, and hashes that have few bits of all. The histories have other awkward ones. */
static void awkward_hashes(void)
{
    fenced room = fenced_new(1 << 18);
    static uint64_t awkward[1000];
    for (int kind = 0; kind < 2; kind++) {
        for (size_t i = 0; i < 1000; i++) awkward[i] = kind == 0 ? UINT64_C(1) << i % 64 : i << 54 | 5;
        for (size_t j = 0; j < RATES; j++) {
            size_t len;
            bloomline_view view;
            uint8_t *block = block_of(room, awkward, 1000, rates[j], 0, &len);
            REQUIRE_OK(bloomline_view_open(block, len, 0, &view));
            CHECK_U64(1000, count_of(&view, awkward, 1000));
        }
    }
    fenced_free(room);
}

static void what_is_refused(void)
{
    static uint8_t out[1 << 16];
    size_t len = 77;
    bloomline_builder *builder = NULL;
    CHECK_U64(0, bloomline_static_block_len(10, 1e-6));
    CHECK_STATUS(BLOOMLINE_ERR_RATE_TOO_SMALL, bloomline_static_block_build(hashes, 10, 1e-6, 0, 1, out, sizeof out, &len));
    CHECK_STATUS(BLOOMLINE_ERR_RATE_TOO_SMALL, bloomline_builder_new_static(1e-6, 0, &builder));
    size_t needed = bloomline_static_block_len(100, 0.01);
    memset(out, 0xA5, sizeof out);
    CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL,
                 bloomline_static_block_build(hashes, 100, 0.01, 0, 1, out, needed - 1, &len));
    for (size_t i = 0; i < needed; i++) CHECK(out[i] == 0xA5);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_static_block_build(NULL, 100, 0.01, 0, 1, out, sizeof out, &len));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_static_block_build(hashes, 100, 0.01, 0, 1, NULL, sizeof out, &len));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_static_block_build(hashes, 100, 0.01, 0, 1, out, sizeof out, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_builder_new_static(0.01, 0, NULL));
    CHECK(builder == NULL && len == 77);
    CHECK_OK(bloomline_static_block_build(NULL, 0, 0.01, 0, 1, out, sizeof out, &len));
    CHECK(bloomline_static_block_len(SIZE_MAX, 0.01) == 0 || sizeof(size_t) > 4);
}

/* Every length and every bit: refused when verified; otherwise answered from those bytes alone. */
static void damaged_bytes(void)
{
    fenced room = fenced_new(1 << 14), other = fenced_new(1 << 14);
    bloomline_view view;
    size_t len;
    for (size_t j = 0; j < RATES; j++) {
        uint8_t *block = block_of(room, hashes, 300, rates[j], 3, &len);
        for (size_t cut = 0; cut < len; cut++) {
            uint8_t *part = at_fence(other, 0, cut);
            memcpy(part, block + len - cut, cut);
            CHECK(bloomline_view_open(part, cut, 0, &view) != BLOOMLINE_OK);
        }
        uint8_t *copy = at_fence(other, 0, len);
        for (size_t bit = 0; bit < 8 * len; bit += check_fewer() ? 7 : 1) {
            memcpy(copy, block, len);
            copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
            CHECK(bloomline_view_open(copy, len, 0, &view) != BLOOMLINE_OK);
            if (bloomline_view_open(copy, len, BLOOMLINE_VIEW_UNVERIFIED, &view) != BLOOMLINE_OK) continue;
            for (size_t i = 0; i < 20; i++) (void)bloomline_view_contains_hash(&view, hashes[i]);
            uint64_t bitmap[5];
            (void)bloomline_view_contains_hashes(&view, hashes, 300, bitmap);
        }
    }
    fenced_free(room);
    fenced_free(other);
}

/* A block goes to a file, and comes back mapped and read; what is no filter replaces nothing. */
static void files(void)
{
    static const uint32_t flags[] = {0, BLOOMLINE_MAP_UNVERIFIED, BLOOMLINE_MAP_COPY,
                                     BLOOMLINE_MAP_COPY | BLOOMLINE_MAP_UNVERIFIED};
    fenced room = fenced_new(1 << 16);
    file_name temporary = files_begin(), path = files_in(&temporary, "static.bloomline");
    bloomline_map *map = NULL;
    bloomline_view view;
    bloomline_filter *filter = NULL;
    size_t len;
    uint8_t *block = block_of(room, hashes, 3000, 0.001, 0, &len);
    REQUIRE_OK(bloomline_block_save(block, len, path.text));
    for (size_t i = 0; i < 4; i++) {
        REQUIRE_OK(bloomline_map_open(path.text, flags[i], &map));
        REQUIRE_OK(bloomline_map_view(map, &view));
        CHECK_U64(3000, bloomline_view_key_count(&view));
        CHECK_U64(3000, count_of(&view, hashes, 3000));
        bloomline_map_close(map);
        REQUIRE_OK(bloomline_map_bytes(block, len, flags[i], &map));
        REQUIRE_OK(bloomline_map_view(map, &view));
        CHECK_U64(3000, count_of(&view, hashes, 3000));
        bloomline_map_close(map);
    }
    CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_filter_load(path.text, &filter));
    CHECK(filter == NULL);

    /* The buffer rather than the block; a damaged line; NULL; the old file stays. */
    map = NULL;
    uint8_t *longer = calloc(1, len + 64);
    REQUIRE(longer != NULL);
    memcpy(longer, block, len);
    CHECK_STATUS(BLOOMLINE_ERR_NOT_A_FILTER, bloomline_block_save(longer, len + 64, path.text));
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, bloomline_block_save(longer, 63, path.text));
    longer[9] ^= 1;
    CHECK_STATUS(BLOOMLINE_ERR_CHECKSUM, bloomline_block_save(longer, len, path.text));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_block_save(NULL, len, path.text));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_block_save(block, len, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NOT_A_FILE, bloomline_block_save(block, len, temporary.text));
    CHECK_STATUS(BLOOMLINE_ERR_CHECKSUM, bloomline_map_bytes(longer, len, 0, &map));
    CHECK_STATUS(BLOOMLINE_ERR_CHECKSUM, bloomline_map_bytes(longer, len, BLOOMLINE_MAP_COPY, &map));
    CHECK_STATUS(BLOOMLINE_ERR_RESERVED, bloomline_map_bytes(block, len, 4, &map));
    CHECK_STATUS(BLOOMLINE_ERR_RESERVED, bloomline_map_open(path.text, 1u << 31, &map));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_map_bytes(NULL, len, 0, &map));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_map_bytes(block, len, 0, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, bloomline_map_bytes(NULL, 0, 0, &map));
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, bloomline_map_bytes(NULL, 0, BLOOMLINE_MAP_COPY, &map));
    CHECK(map == NULL);
    size_t found = 0;
    uint8_t *file = files_read(path.text, &found);
    CHECK(found == len && memcmp(file, block, len) == 0);
    free(file);

    /* A copy outlives what it was made of. */
    memcpy(longer, block, len);
    REQUIRE_OK(bloomline_map_bytes(longer, len, BLOOMLINE_MAP_COPY, &map));
    memset(longer, 0, len);
    free(longer);
    REQUIRE_OK(bloomline_map_view(map, &view));
    CHECK_U64(3000, count_of(&view, hashes, 3000));
    bloomline_map_close(map);
    CHECK(unlink(path.text) == 0 && rmdir(temporary.text) == 0);
    fenced_free(room);
}

int main(void)
{
    check_begin("test_static");
    fill_hashes(hashes, MOST, 1);
    /* Without the awkward hashes that fill_hashes() begins with: these are absent. */
    uint64_t state = 2;
    for (size_t i = 0; i < ABSENT; i++) absent[i] = next_random(&state);
    RUN(what_is_built_is_present);
    RUN(a_set_has_one_block);
    RUN(keys_by_their_bytes);
    RUN(awkward_hashes);
    RUN(what_is_refused);
    RUN(damaged_bytes);
    RUN(files);
    return check_end();
}
