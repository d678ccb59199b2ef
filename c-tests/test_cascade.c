/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_cascade.c - bloomline_cascade: exact for the keys of both sets, one by one and in batches; sets that
 * cannot be told apart; opened where its bytes are, damaged ones among them; every status; NULL.
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "definition.h"
#include "probes.h"
#include "encoded.h"
#include "files.h"

#include <math.h>

enum { MOST = 30000 };

static uint64_t included[MOST], excluded[MOST];

static bloomline_cascade *new_cascade(size_t n, size_t m, double rate)
{
    bloomline_cascade *cascade = NULL;
    REQUIRE_OK(bloomline_cascade_new(included, n, excluded, m, rate, 7, 1, &cascade));
    return cascade;
}

ENCODED(cascade)

static bloomline_cascade_facts about(const bloomline_cascade *cascade)
{
    bloomline_cascade_facts facts;
    REQUIRE_OK(bloomline_cascade_about(cascade, &facts));
    return facts;
}

/* Each key of both sets has its answer, alone and in a batch. */
static void check_exact(const bloomline_cascade *cascade, size_t n, size_t m)
{
    static uint64_t bitmap[MOST / 64 + 1];
    CHECK_U64(n, cascade_contains_hashes(cascade, included, n, bitmap));
    for (size_t i = 0; i < n; i++) {
        CHECK_WITH(bit_of(bitmap, i) && cascade_contains_hash(cascade, included[i]), "%zu of %zu", i, n);
    }
    CHECK_U64(0, cascade_contains_hashes(cascade, excluded, m, bitmap));
    for (size_t i = 0; i < m; i++) {
        CHECK_WITH(!bit_of(bitmap, i) && !cascade_contains_hash(cascade, excluded[i]), "%zu of %zu", i, m);
    }
    const bloomline_cascade_facts facts = about(cascade);
    CHECK_U64(n, facts.included_count);
    CHECK_U64(m, facts.excluded_count);
    CHECK_U64(7, facts.seed);
    CHECK(facts.unknown_rate >= 0 && facts.unknown_rate < 1);
    CHECK_U64(64 * (facts.line_count + facts.layer_count + 1), bloomline_cascade_encoded_len(cascade));
}

/* More keys than the histories have, and what a cascade says of itself. */
static void exact_for_large_sets(void)
{
    static const struct { size_t n, m; double rate; } sets[] = {{0, 0, 0}, {65, 2, 0.01}, {MOST, MOST, 0}, {MOST, 1000, 0.01}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        bloomline_cascade *cascade = new_cascade(sets[i].n, sets[i].m, sets[i].rate);
        check_exact(cascade, sets[i].n, sets[i].m);
        bloomline_cascade_free(cascade);
    }
}

static void what_is_refused(void)
{
    bloomline_cascade *cascade = NULL;
    uint64_t both = excluded[9];
    excluded[9] = included[5];
    CHECK_STATUS(BLOOMLINE_ERR_OVERLAP, bloomline_cascade_new(included, 6, excluded, 10, 0, 7, 1, &cascade));
    CHECK_STATUS(BLOOMLINE_ERR_OVERLAP, bloomline_cascade_new(included, 6, excluded, MOST, 0.01, 7, 1, &cascade));
    CHECK_OK(bloomline_cascade_new(included, 5, excluded, 10, 0, 7, 1, &cascade));
    bloomline_cascade_free(cascade);
    cascade = NULL;
    excluded[9] = both;
    CHECK_STATUS(BLOOMLINE_ERR_RATE_TOO_SMALL, bloomline_cascade_new(included, 5, excluded, 5, 1e-6, 7, 1, &cascade));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_cascade_new(NULL, 1, excluded, 1, 0, 7, 1, &cascade));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_cascade_new(included, 1, NULL, 1, 0, 7, 1, &cascade));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_cascade_new(included, 1, excluded, 1, 0, 7, 1, NULL));
    CHECK(cascade == NULL);
    REQUIRE_OK(bloomline_cascade_new(NULL, 0, NULL, 0, 0, 7, 1, &cascade));
    CHECK(!cascade_contains_hash(cascade, 1) && about(cascade).layer_count == 1);
    bloomline_cascade_free(cascade);
}

static void null(void)
{
    bloomline_cascade *cascade = new_cascade(1, 1, 0);
    bloomline_cascade_facts facts, before;
    memset(&facts, 0x5a, sizeof facts);
    before = facts;
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_cascade_about(NULL, &facts));
    CHECK(memcmp(&facts, &before, sizeof facts) == 0);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_cascade_about(cascade, NULL));
    bloomline_cascade_free(cascade);
}

/* A cascade is probed where its bytes are: the caller's, in a file, at any address. It answers as the handle
   does, for keys of neither set too. */
static void opened_where_it_is(void)
{
    enum { UNKNOWN = 3000 };
    static uint64_t unknown[UNKNOWN], bitmap[MOST / 64 + 1], expected[MOST / 64 + 1];
    static const uint32_t flags[] = {0, BLOOMLINE_MAP_UNVERIFIED, BLOOMLINE_MAP_COPY,
                                     BLOOMLINE_MAP_COPY | BLOOMLINE_MAP_UNVERIFIED};
    static const struct { size_t n, m; double rate; } sets[] = {{0, 0, 0}, {0, 9, 0}, {9, 0, 0}, {1000, MOST, 0}, {MOST, 900, 0.01}};
    file_name place = files_begin(), name = files_in(&place, "cascade");
    uint64_t state = 77;
    for (size_t i = 0; i < UNKNOWN; i++) unknown[i] = next_random(&state);
    for (size_t set = 0; set < sizeof sets / sizeof *sets; set++) {
        const size_t n = sets[set].n, m = sets[set].m;
        bloomline_cascade *cascade = new_cascade(n, m, sets[set].rate);
        bloomline_view handle, view;
        size_t len;
        uint8_t *data = encoded(cascade, &len), *odd = malloc(len + 1);
        REQUIRE(odd != NULL);
        memcpy(odd + 1, data, len);
        REQUIRE_OK(bloomline_cascade_view(cascade, &handle));
        REQUIRE_OK(bloomline_block_save(data, len, name.text));
        for (size_t i = 0; i < 12; i++) {
            bloomline_map *map = NULL;
            REQUIRE_OK(i < 4 ? bloomline_map_open(name.text, flags[i], &map)
                             : bloomline_map_bytes(i < 8 ? data : odd + 1, len, flags[i % 4], &map));
            REQUIRE_OK(bloomline_map_view(map, &view));
            CHECK_U64(n, bloomline_view_contains_hashes(&view, included, n, bitmap));
            CHECK_U64(0, bloomline_view_contains_hashes(&view, excluded, m, bitmap));
            for (size_t j = 0; j < n; j++) CHECK(bloomline_view_contains_hash(&view, included[j]));
            for (size_t j = 0; j < m; j++) CHECK(!bloomline_view_contains_hash(&view, excluded[j]));
            size_t passed = bloomline_view_contains_hashes(&handle, unknown, UNKNOWN, expected);
            CHECK_U64(passed, bloomline_view_contains_hashes(&view, unknown, UNKNOWN, bitmap));
            CHECK(memcmp(bitmap, expected, (UNKNOWN + 63) / 64 * sizeof *bitmap) == 0);
            for (size_t j = 0; j < UNKNOWN; j++) CHECK(bloomline_view_contains_hash(&view, unknown[j]) == bit_of(expected, j));
            /* What else a view tells. */
            CHECK_U64(bloomline_hash("key", 3, 7), bloomline_view_hash(&view, "key", 3));
            CHECK_U64(n, bloomline_view_key_count(&view));
            CHECK(view_about(&view).fill == view_about(&handle).fill);
            CHECK(view_about(&view).estimated_rate == view_about(&handle).estimated_rate);
            CHECK(view_about(&view).worst_line_rate == view_about(&handle).worst_line_rate);
            CHECK(view_about(&view).estimated_keys == view_about(&handle).estimated_keys);
            bloomline_params none;
            size_t lines;
            CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_view_shape(&view, &none));
            CHECK(bloomline_view_lines(&view, &lines) == NULL && lines == 0);
            bloomline_view both[2];
            both[0] = view;
            both[1] = handle;
            for (size_t j = 0; j < 100; j++) {
                size_t hits = bloomline_views_contain_hash(both, 2, unknown[j], bitmap);
                CHECK(hits == 2 * (size_t)bit_of(expected, j));
            }
            bloomline_map_close(map);
        }
        free(odd);
        free(data);
        bloomline_cascade_free(cascade);
    }
    CHECK(unlink(name.text) == 0 && rmdir(place.text) == 0);
}

/* No changed bit or missing byte opens; unverified, none of them leads a probe out of the bytes. */
static void opened_if_damaged(void)
{
    bloomline_cascade *cascade = new_cascade(60, 300, 0);
    bloomline_map *map = NULL;
    bloomline_view view;
    size_t len;
    uint8_t *data = encoded(cascade, &len);
    bloomline_cascade_free(cascade);
    for (size_t bit = 0; bit < 8 * len; bit++) {
        data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        CHECK_WITH(bloomline_map_bytes(data, len, 0, &map) != BLOOMLINE_OK, "bit %zu", bit);
        if (bloomline_map_bytes(data, len, BLOOMLINE_MAP_UNVERIFIED, &map) == BLOOMLINE_OK) {
            REQUIRE_OK(bloomline_map_view(map, &view));
            for (size_t i = 0; i < 60; i++) (void)bloomline_view_contains_hash(&view, included[i]);
            bloomline_map_close(map);
        }
        map = NULL;
        data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t cut = 0; cut < len; cut++) {
        CHECK_WITH(bloomline_map_bytes(data, cut, 0, &map) != BLOOMLINE_OK, "cut to %zu", cut);
        CHECK_WITH(bloomline_map_bytes(data, cut, BLOOMLINE_MAP_UNVERIFIED, &map) != BLOOMLINE_OK, "cut to %zu", cut);
    }
    CHECK(map == NULL);
    free(data);
}

int main(void)
{
    check_begin("test_cascade");
    uint64_t state = 2;
    for (size_t i = 0; i < MOST; i++) included[i] = next_random(&state);
    for (size_t i = 0; i < MOST; i++) excluded[i] = next_random(&state);
    included[0] = 0;
    excluded[0] = UINT64_MAX;
    RUN(exact_for_large_sets);
    RUN(what_is_refused);
    RUN(null);
    RUN(opened_where_it_is);
    RUN(opened_if_damaged);
    return check_end();
}
