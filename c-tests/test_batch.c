/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_batch.c - batches against definition.h: every batch length from 0 to 130 and some
 * long ones, every k, filters of one line up to some megabytes (where lines are fetched
 * ahead), hashes and keys, filters and views, one hash against many views.
 */
#include "check.h"
#include "definition.h"
#include "probes.h"

enum { MOST = 130, LONG = 20000 };

static uint64_t hashes[LONG], bitmap[LONG / 64 + 2], other[LONG / 64 + 2];
static bloomline_bytes keys[LONG];
static uint8_t key_bytes[LONG + 64];

/* A filter whose lines a test also has, by the definition. */
typedef struct {
    bloomline_params params;
    bloomline_filter *filter;
    uint8_t *expected; /* encoded */
    size_t len;
} pair;

static pair pair_new(uint64_t line_count, uint32_t k, uint64_t seed)
{
    pair p = {{line_count, k, 0, seed}, NULL, NULL, (size_t)(line_count + 1) * LINE_BYTES};
    REQUIRE_OK(bloomline_filter_new(&p.params, &p.filter));
    p.expected = calloc(1, p.len);
    REQUIRE(p.expected != NULL);
    return p;
}

static void pair_insert(pair *p, const uint64_t *added, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        definition_insert(p->expected, p->params.line_count, p->params.k, added[i]);
    }
}

/* Whether the filter's bytes are those of the definition. */
static bool pair_same(pair *p)
{
    uint64_t count = filter_key_count(p->filter);
    uint8_t *data = malloc(p->len);
    REQUIRE(data != NULL);
    definition_finish(p->expected, p->params.line_count, p->params.k, p->params.seed, count);
    REQUIRE_OK(bloomline_filter_encode(p->filter, data, p->len, NULL));
    bool same = memcmp(data, p->expected, p->len) == 0;
    free(data);
    return same;
}

static void pair_free(pair *p)
{
    bloomline_filter_free(p->filter);
    free(p->expected);
}

/* Keys of all short lengths, at all alignments, and their hashes. */
static void make_keys(uint64_t seed)
{
    uint64_t state = 8;
    for (size_t i = 0; i < sizeof key_bytes; i++) key_bytes[i] = (uint8_t)next_random(&state);
    for (size_t i = 0; i < LONG; i++) {
        keys[i].data = key_bytes + i;
        keys[i].len = i % 61;
        hashes[i] = bloomline_hash(keys[i].data, keys[i].len, seed);
    }
}

/* Answers of a batch: each bit as the definition has it, the count right, unused bits zero,
   the word behind untouched. */
static void check_answers(const pair *p, size_t n, size_t count, const char *what)
{
    size_t expected = 0, words = (n + 63) / 64;
    for (size_t i = 0; i < n; i++) {
        bool present = definition_contains(p->expected, p->params.line_count, p->params.k, hashes[i]);
        expected += present;
        if (present != bit_of(bitmap, i)) {
            CHECK_WITH(false, "%s: key %zu of %zu, %" PRIu64 " lines, k = %" PRIu32, what, i, n,
                       p->params.line_count, p->params.k);
        }
    }
    CHECK_U64(expected, count);
    for (size_t i = n; i < 64 * words; i++) CHECK_WITH(!bit_of(bitmap, i), "%s: bit %zu", what, i);
    CHECK_U64(UINT64_C(0xD1D1D1D1D1D1D1D1), bitmap[words]);
}

/* All ways to ask for the first 'n' hashes. */
static void probe_all_ways(const pair *p, const bloomline_view *view, size_t n, bool by_key)
{
    size_t words = (n + 63) / 64;
#define PROBE(call)                                     \
    do {                                                \
        memset(bitmap, 0xD1, (words + 1) * sizeof *bitmap); \
        size_t count_ = (call);                         \
        check_answers(p, n, count_, #call);             \
    } while (0)
    PROBE(bloomline_filter_contains_hashes(p->filter, hashes, n, bitmap));
    PROBE(bloomline_view_contains_hashes(view, hashes, n, bitmap));
    if (by_key) {
        PROBE(bloomline_filter_contains_keys(p->filter, keys, n, bitmap));
        PROBE(bloomline_view_contains_keys(view, keys, n, bitmap));
    }
#undef PROBE
    for (size_t i = 0; i < n && i < MOST; i++) {
        CHECK(bloomline_filter_contains_hash(p->filter, hashes[i]) == bit_of(bitmap, i));
        CHECK(bloomline_view_contains_hash(view, hashes[i]) == bit_of(bitmap, i));
        if (by_key) {
            CHECK(bloomline_filter_contains(p->filter, keys[i].data, keys[i].len) == bit_of(bitmap, i));
            CHECK(bloomline_view_contains(view, keys[i].data, keys[i].len) == bit_of(bitmap, i));
        }
    }
}

static bloomline_view view_of(const bloomline_filter *filter)
{
    bloomline_view view;
    REQUIRE_OK(bloomline_filter_view(filter, &view));
    return view;
}

static void inserts_of_every_length(void)
{
    static const uint64_t line_counts[] = {1, 3, 64, 1000};
    for (uint32_t k = 1; k <= MAX_K; k++) {
        pair p = pair_new(line_counts[k % 4], k, k);
        for (size_t n = 0; n <= MOST; n++) {
            fill_hashes(hashes, n, 100 * n + k);
            bloomline_filter_clear(p.filter);
            memset(p.expected, 0, p.len);
            bloomline_filter_insert_hashes(p.filter, hashes, n);
            pair_insert(&p, hashes, n);
            CHECK_U64(n, filter_key_count(p.filter));
            CHECK_WITH(pair_same(&p), "%zu hashes, k = %" PRIu32, n, k);
        }
        make_keys(k);
        for (size_t n = 0; n <= MOST; n += 13) {
            bloomline_filter_clear(p.filter);
            memset(p.expected, 0, p.len);
            bloomline_filter_insert_keys(p.filter, keys, n);
            pair_insert(&p, hashes, n);
            CHECK_WITH(pair_same(&p), "%zu keys, k = %" PRIu32, n, k);
        }
        pair_free(&p);
    }
}

static void probes_of_every_length(void)
{
    for (uint32_t k = 1; k <= MAX_K; k++) {
        pair p = pair_new(17, k, 0);
        fill_hashes(hashes, 80, k);
        bloomline_filter_insert_hashes(p.filter, hashes, 80);
        pair_insert(&p, hashes, 80);
        bloomline_view view = view_of(p.filter);
        /* The awkward hashes are in; every other random one is. */
        fill_hashes(hashes, MOST, k);
        for (size_t i = 10; i < MOST; i += 2) hashes[i] = hashes[i] * 3 + 1;
        for (size_t n = 0; n <= MOST; n++) probe_all_ways(&p, &view, n, false);
        pair_free(&p);
    }
}

static void probes_by_key_of_every_length(void)
{
    for (uint32_t k = 4; k <= 12; k += 4) {
        pair p = pair_new(29, k, 55);
        make_keys(55);
        bloomline_filter_insert_keys(p.filter, keys, 60);
        pair_insert(&p, hashes, 60);
        bloomline_view view = view_of(p.filter);
        for (size_t n = 0; n <= MOST; n++) probe_all_ways(&p, &view, n, true);
        pair_free(&p);
    }
}

static void long_batches_in_large_filters(void)
{
    /* 64 KiB, 1 MiB, and 16 MiB and 5 lines: beyond where lines are fetched ahead. */
    static const uint64_t line_counts[] = {1 << 10, 1 << 14, (1 << 18) + 5};
    for (size_t i = 0; i < 3; i++) {
        for (uint32_t k = 6; k <= 9; k += 3) {
            pair p = pair_new(line_counts[i], k, 3);
            make_keys(3);
            bloomline_filter_insert_keys(p.filter, keys, LONG / 2);
            pair_insert(&p, hashes, LONG / 2);
            bloomline_filter_insert_hashes(p.filter, hashes + LONG / 2, LONG / 4);
            pair_insert(&p, hashes + LONG / 2, LONG / 4);
            CHECK_WITH(pair_same(&p), "%" PRIu64 " lines, k = %" PRIu32, line_counts[i], k);
            bloomline_view view = view_of(p.filter);
            probe_all_ways(&p, &view, LONG, true);
            probe_all_ways(&p, &view, LONG - 77, true);
            pair_free(&p);
        }
    }
}

/* Many keys on one line: what a batch that overlapped its stores would lose. */
static void keys_that_share_a_line(void)
{
    pair p = pair_new(5, 8, 0);
    for (size_t i = 0; i < LONG; i++) hashes[i] = (uint64_t)i * UINT64_C(0x0000000100000001);
    bloomline_filter_insert_hashes(p.filter, hashes, 200);
    pair_insert(&p, hashes, 200);
    CHECK(pair_same(&p));
    bloomline_view view = view_of(p.filter);
    probe_all_ways(&p, &view, MOST, false);
    pair_free(&p);
}

static void one_hash_against_many_views(void)
{
    static bloomline_view views[MOST];
    static pair pairs[MOST];
    uint64_t state = 21;
    for (size_t i = 0; i < MOST; i++) {
        pairs[i] = pair_new(1 + i % 9, 1 + (uint32_t)i % MAX_K, 0);
        for (int j = 0; j < 5; j++) {
            uint64_t hash = next_random(&state);
            bloomline_filter_insert_hash(pairs[i].filter, hash);
            pair_insert(&pairs[i], &hash, 1);
        }
        views[i] = view_of(pairs[i].filter);
    }
    for (size_t n = 0; n <= MOST; n++) {
        for (int round = 0; round < 4; round++) {
            size_t words = (n + 63) / 64, expected = 0;
            uint64_t hash = next_random(&state);
            bloomline_filter_insert_hash(pairs[n % MOST].filter, hash);
            pair_insert(&pairs[n % MOST], &hash, 1);
            views[n % MOST] = view_of(pairs[n % MOST].filter); /* the filter was changed */
            memset(other, 0xD1, sizeof other);
            size_t count = bloomline_views_contain_hash(views, n, hash, other);
            for (size_t i = 0; i < n; i++) {
                const pair *p = &pairs[i];
                bool present = definition_contains(p->expected, p->params.line_count, p->params.k, hash);
                expected += present;
                CHECK_WITH(present == bit_of(other, i), "view %zu of %zu", i, n);
            }
            CHECK_U64(expected, count);
            for (size_t i = n; i < 64 * words; i++) CHECK(!bit_of(other, i));
            CHECK_U64(UINT64_C(0xD1D1D1D1D1D1D1D1), other[words]);
            const bloomline_view *each[MOST + 1];
            for (size_t i = 0; i < n; i++) each[i] = &views[i];
            memset(bitmap, 0xD1, sizeof bitmap);
            CHECK_U64(expected, bloomline_views_contain_hash_each(each, n, hash, bitmap));
            CHECK(memcmp(bitmap, other, (words + 1) * sizeof *other) == 0);
        }
    }
    for (size_t i = 0; i < MOST; i++) pair_free(&pairs[i]);
}

int main(void)
{
    check_begin("test_batch");
    RUN(inserts_of_every_length);
    RUN(probes_of_every_length);
    RUN(probes_by_key_of_every_length);
    RUN(long_batches_in_large_filters);
    RUN(keys_that_share_a_line);
    RUN(one_hash_against_many_views);
    return check_end();
}
