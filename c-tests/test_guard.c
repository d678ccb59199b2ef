/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_guard.c - reads and writes nothing outside of what it is given: buffers lie right
 * behind or right before pages that may not be touched, for probe, insert, build, encode,
 * decode and hash, and every batch length from 0 to 130. A byte too far ends the test.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include "check.h"
#include "definition.h"

#include "fenced.h"

enum { MOST = 130 };

static void probes(void)
{
    static const uint64_t line_counts[] = {1, 2, 31, 1000};
    fenced lines = fenced_new(1001 * LINE_BYTES), input = fenced_new(MOST * 8), output = fenced_new(MOST / 8);
    uint64_t hashes[MOST];
    fill_hashes(hashes, MOST, 4);
    for (uint32_t k = 1; k <= MAX_K; k++) {
        bloomline_params params = {line_counts[k % 4], k, 0, 0};
        size_t len = bloomline_block_len(&params);
        for (int back = 0; back < 2; back++) {
            uint8_t *data = at_fence(lines, back, len);
            bloomline_view view;
            CHECK_OK(bloomline_block_build(&params, hashes, MOST / 2, data, len));
            CHECK_OK(bloomline_view_open(data, len, 0, &view));
            for (size_t n = 0; n <= MOST; n++) {
                uint64_t *in = words_at_fence(input, back, n), *out = words_at_fence(output, back, (n + 63) / 64);
                memcpy(in, hashes + (MOST - n), n * sizeof *in);
                bloomline_view_contains_hashes(&view, in, n, out);
                for (size_t i = 0; i < n; i++) {
                    bool expected = definition_contains(data, params.line_count, k, in[i]);
                    CHECK(bit_of(out, i) == expected);
                    CHECK(bloomline_view_contains_hash(&view, in[i]) == expected);
                }
            }
        }
    }
    fenced_free(lines);
    fenced_free(input);
    fenced_free(output);
}

static void probes_and_inserts_by_key(void)
{
    enum { LONGEST = 300 };
    fenced text = fenced_new(LONGEST), list = fenced_new(MOST * sizeof(bloomline_bytes)), output = fenced_new(MOST / 8);
    bloomline_params params = {50, 6, 0, 3};
    bloomline_filter *filter = NULL;
    REQUIRE_OK(bloomline_filter_new(&params, &filter));
    for (uint8_t *at = text.start; at < text.end; at++) *at = (uint8_t)(uintptr_t)at;
    /* Hashing: all lengths up to where XXH3 runs in long strides. */
    for (int back = 0; back < 2; back++) {
        for (size_t len = 0; len <= LONGEST; len++) {
            uint8_t copy[LONGEST], *key = at_fence(text, back, len);
            memcpy(copy, key, len);
            CHECK_U64(bloomline_hash(copy, len, 3), bloomline_hash(key, len, 3));
            bloomline_filter_insert(filter, key, len);
            CHECK(bloomline_filter_contains(filter, key, len));
        }
        for (size_t n = 0; n <= MOST; n++) {
            bloomline_bytes *keys = (bloomline_bytes *)(void *)at_fence(list, back, n * sizeof *keys);
            uint64_t *out = words_at_fence(output, back, (n + 63) / 64);
            uint64_t hashes[MOST + 1];
            for (size_t i = 0; i < n; i++) {
                keys[i].len = (i * 7) % LONGEST;
                keys[i].data = at_fence(text, back, keys[i].len);
            }
            bloomline_filter_clear(filter);
            bloomline_filter_insert_keys(filter, keys, n);
            CHECK_U64(n, bloomline_filter_contains_keys(filter, keys, n, out));
            hashes[n] = 5;
            bloomline_hash_batch(keys, n, 3, hashes);
            CHECK_U64(5, hashes[n]);
            CHECK_U64(n, bloomline_filter_contains_hashes(filter, hashes, n, out));
        }
    }
    bloomline_filter_free(filter);
    fenced_free(text);
    fenced_free(list);
    fenced_free(output);
}

static void inserts_builds_and_encodes(void)
{
    fenced lines = fenced_new(41 * LINE_BYTES), input = fenced_new(MOST * 8);
    uint64_t hashes[MOST];
    fill_hashes(hashes, MOST, 6);
    for (size_t n = 0; n <= MOST; n++) {
        bloomline_params params = {1 + n % 40, 1 + (uint32_t)n % MAX_K, 0, 0};
        uint8_t expected[41 * LINE_BYTES] = {0};
        size_t len = bloomline_block_len(&params);
        for (size_t i = 0; i < n; i++) definition_insert(expected, params.line_count, params.k, hashes[i]);
        definition_finish(expected, params.line_count, params.k, 0, n);
        for (int back = 0; back < 2; back++) {
            uint64_t *in = words_at_fence(input, back, n);
            uint8_t *data = at_fence(lines, back, len);
            memcpy(in, hashes, n * sizeof *in);
            memset(data, 0xFF, len);
            CHECK_OK(bloomline_block_build(&params, in, n, data, len));
            CHECK(memcmp(data, expected, len) == 0);

            bloomline_filter *filter = NULL, *decoded = NULL;
            REQUIRE_OK(bloomline_filter_new(&params, &filter));
            bloomline_filter_insert_hashes(filter, in, n);
            CHECK_OK(bloomline_filter_decode(data, len, &decoded));
            memset(data, 0xFF, len);
            CHECK_OK(bloomline_filter_encode(filter, data, len, NULL));
            CHECK(memcmp(data, expected, len) == 0);
            memset(data, 0xFF, len);
            CHECK_OK(bloomline_filter_encode(decoded, data, len, NULL));
            CHECK(memcmp(data, expected, len) == 0);
            bloomline_filter_free(filter);
            bloomline_filter_free(decoded);
        }
    }
    fenced_free(lines);
    fenced_free(input);
}

static void integers_and_views(void)
{
    fenced input = fenced_new(MOST * 8), output = fenced_new(MOST * 8), list = fenced_new(MOST * sizeof(bloomline_view));
    bloomline_params params = {3, 6, 0, 0};
    bloomline_filter *filter = NULL;
    bloomline_view view;
    REQUIRE_OK(bloomline_filter_new(&params, &filter));
    bloomline_filter_insert_hash(filter, 12345);
    REQUIRE_OK(bloomline_filter_view(filter, &view));
    for (size_t n = 0; n <= MOST; n++) {
        for (int back = 0; back < 2; back++) {
            uint64_t *in = words_at_fence(input, back, n), *out = words_at_fence(output, back, n);
            for (size_t i = 0; i < n; i++) in[i] = i;
            bloomline_hash_u64_batch(in, n, 8, out);
            for (size_t i = 0; i < n; i++) CHECK_U64(bloomline_hash_u64(i, 8), out[i]);

            bloomline_view *views = (bloomline_view *)(void *)at_fence(list, back, n * sizeof *views);
            for (size_t i = 0; i < n; i++) views[i] = view;
            out = words_at_fence(output, back, (n + 63) / 64);
            CHECK_U64(n, bloomline_views_contain_hash(views, n, 12345, out));
        }
    }
    bloomline_filter_free(filter);
    fenced_free(input);
    fenced_free(output);
    fenced_free(list);
}

int main(void)
{
    check_begin("test_guard");
    RUN(probes);
    RUN(probes_and_inserts_by_key);
    RUN(inserts_builds_and_encodes);
    RUN(integers_and_views);
    return check_end();
}
