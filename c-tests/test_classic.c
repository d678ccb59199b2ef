/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_classic.c - bloomline_classic_*: every function of a filter takes one, and none takes it for a
 * filter of lines. The histories have bytes and answers,
 * test_whole.c its files.
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "probes.h"
#include "definition.h"
#include "encoded.h"

enum { KEYS = 300, SEED = 7 };

static uint64_t hashes[KEYS];

static bloomline_filter *make(uint64_t line_count, uint32_t k)
{
    const bloomline_params params = {line_count, k, BLOOMLINE_KIND_CLASSIC, SEED};
    bloomline_filter *filter = NULL;
    REQUIRE_OK(bloomline_filter_new(&params, &filter));
    return filter;
}

ENCODED(filter)

static void sizes_and_rates(void)
{
    bloomline_params params = {0, 0, 1, 1}, lines = {0, 0, 1, 1};
    CHECK_OK(bloomline_classic_params_for_rate(1000000, 0.01, &params));
    CHECK_OK(bloomline_params_for_rate(1000000, 0.01, &lines));
    CHECK_U64(7, params.k);
    CHECK(params.line_count < lines.line_count && params.layout == BLOOMLINE_KIND_CLASSIC && lines.layout == 0 && params.seed == 0);
    CHECK_NEAR(0.01, bloomline_params_rate(&params, 1000000), 1e-5);
    CHECK_OK(bloomline_classic_params_for_bits(1000, 10, &params));
    CHECK_U64(20, params.line_count);
    CHECK_OK(bloomline_classic_params_for_rate(0, 0.01, &lines)); /* no keys: a line */
    CHECK_U64(1, lines.line_count);
    CHECK_NEAR(0.0, bloomline_params_rate(&params, 0), 0.0);

    bloomline_params before = params;
    CHECK_STATUS(BLOOMLINE_ERR_LINE_COUNT, bloomline_classic_params_for_rate(UINT64_MAX, 0.01, &params));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_classic_params_for_rate(10, 0.1, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_classic_params_for_bits(10, 8, NULL));
    CHECK(memcmp(&before, &params, sizeof params) == 0);
    params.k = 17;
    CHECK_NEAR(1.0, bloomline_params_rate(&params, 10), 0.0);
    CHECK_NEAR(1.0, bloomline_params_rate(NULL, 10), 0.0);
    bloomline_filter *filter = NULL;
    CHECK_STATUS(BLOOMLINE_ERR_K, classic_new(&params, &filter));
    CHECK(filter == NULL);
}

/* A layout is one of two: what is not made of the other's lines is refused, with nothing made. */
static void layouts(void)
{
    uint8_t out[9 * 64], lines[8 * 64];
    const uint32_t unknown[] = {BLOOMLINE_KIND_FILTER, BLOOMLINE_KIND_COUNTING, BLOOMLINE_KIND_CUCKOO,
                                BLOOMLINE_KIND_STATIC, 5, 10, 1u << 16, UINT32_MAX};
    bloomline_filter *filter = NULL;
    bloomline_concurrent *shared = NULL;
    bloomline_counting *counting = NULL;
    bloomline_view view;
    memset(out, 0xAA, sizeof out);
    memset(lines, 0, sizeof lines);
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        bloomline_params params = {8, 7, unknown[i], SEED};
        const bloomline_params before = params;
        CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_filter_new(&params, &filter));
        CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, concurrent_new(&params, &shared));
        CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_counting_new(&params, &counting));
        CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_block_build(&params, hashes, KEYS, out, sizeof out));
        CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_lines_insert_hashes(&params, lines, sizeof lines, hashes, KEYS));
        CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_lines_view(&params, lines, sizeof lines, &view));
        CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_params_foldable(&params, 1));
        CHECK_NEAR(1.0, bloomline_params_rate(&params, 10), 0.0);
        CHECK_U64(0, bloomline_block_len(&params));
        CHECK(memcmp(&params, &before, sizeof params) == 0);
    }
    const bloomline_params classic = {8, 7, BLOOMLINE_KIND_CLASSIC, SEED};
    CHECK_STATUS(BLOOMLINE_ERR_CLASSIC, bloomline_counting_new(&classic, &counting));
    CHECK(filter == NULL && shared == NULL && counting == NULL && out[0] == 0xAA && lines[0] == 0);

    /* Blocks and the caller's lines have the bits of the filter. */
    filter = make(8, 7);
    bloomline_filter_insert_hashes(filter, hashes, KEYS);
    CHECK_OK(bloomline_block_build(&classic, hashes, KEYS, out, sizeof out));
    CHECK_OK(bloomline_lines_insert_hashes(&classic, lines, sizeof lines, hashes, KEYS));
    CHECK(memcmp(out, lines, sizeof lines) == 0);
    size_t len;
    uint8_t *bytes = encoded(filter, &len);
    CHECK(len == sizeof out && memcmp(bytes, out, sizeof out) == 0);
    CHECK_OK(bloomline_lines_view(&classic, lines, sizeof lines, &view));
    for (size_t i = 0; i < KEYS; i++) CHECK(bloomline_view_contains_hash(&view, hashes[i]));
    bloomline_params seen;
    CHECK_OK(bloomline_view_shape(&view, &seen));
    CHECK(memcmp(&seen, &classic, sizeof seen) == 0);
    free(bytes);
    bloomline_filter_free(filter);
}

static void layouts_are_kept_apart(void)
{
    const bloomline_params params = {8, 7, 0, SEED};
    bloomline_filter *classic = make(8, 7), *plain = NULL, *again = NULL;
    bloomline_concurrent *shared = NULL;
    bloomline_params seen = {0, 0, 0, 0};
    bloomline_view view;
    REQUIRE_OK(bloomline_filter_new(&params, &plain));
    bloomline_filter_insert_hashes(classic, hashes, KEYS);
    size_t len, len_after;
    uint8_t *before = encoded(classic, &len);
    CHECK_STATUS(BLOOMLINE_ERR_MISMATCH, bloomline_filter_union(classic, plain));
    CHECK_STATUS(BLOOMLINE_ERR_MISMATCH, bloomline_filter_union(plain, classic));
    CHECK_STATUS(BLOOMLINE_ERR_CLASSIC, bloomline_filter_fold(classic));
    CHECK_STATUS(BLOOMLINE_ERR_CLASSIC, bloomline_filter_fold_to_rate(classic, 0.5, NULL));
    CHECK_OK(bloomline_filter_view(classic, &view));
    CHECK_OK(bloomline_view_shape(&view, &seen));
    CHECK_U64(BLOOMLINE_KIND_CLASSIC, seen.layout);
    CHECK_NEAR(KEYS, filter_estimated_keys(classic), KEYS / 10.0);
    CHECK_NEAR(bloomline_params_rate(&seen, KEYS), filter_estimated_rate(classic), 0.01);
    seen.layout = 0;
    CHECK(memcmp(&seen, &params, sizeof seen) == 0);

    /* Shared by threads and back, it is what it was; the count of keys is not kept. */
    REQUIRE_OK(bloomline_concurrent_new(&classic, &shared));
    CHECK_STATUS(BLOOMLINE_ERR_MISMATCH, bloomline_concurrent_union(shared, plain));
    for (size_t i = 0; i < KEYS; i++) {
        CHECK(concurrent_contains_hash(shared, hashes[i]));
        CHECK(!bloomline_concurrent_insert_hash(shared, hashes[i]));
    }
    REQUIRE_OK(bloomline_concurrent_snapshot(shared, &again));
    uint8_t *after = encoded(again, &len_after);
    CHECK(len == len_after && memcmp(before, after, len - FOOTER_BYTES) == 0);
    CHECK_U64(6, get_le(after + len - FOOTER_BYTES + AT_LAYOUT, 2));
    CHECK_OK(bloomline_filter_union(again, again));
    bloomline_filter_clear(again);
    CHECK(!bloomline_filter_contains_hash(again, hashes[0]));
    CHECK_STATUS(BLOOMLINE_ERR_MISMATCH, bloomline_filter_union(again, plain));
    free(before);
    free(after);
    bloomline_concurrent_free(shared);
    bloomline_filter_free(plain);
    bloomline_filter_free(again);
}

int main(void)
{
    check_begin("test_classic");
    fill_hashes(hashes, KEYS, 1);
    RUN(sizes_and_rates);
    RUN(layouts);
    RUN(layouts_are_kept_apart);
    return check_end();
}
