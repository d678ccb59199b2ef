/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_inline.c - bloomline_inline.h against the library: the same answers and bytes, for every k
 * and kind of filter, at any alignment; true in doubt. The Makefile compiles it for the CPU's
 * baseline, for AVX2, and for AVX-512 where the CPU has it.
 */
#define _DEFAULT_SOURCE
#include "check.h"
#include "fenced.h"
#include "probes.h"
#include <bloomline_inline.h>

#include <stdlib.h>

#if defined(__AVX512VL__)
#define COMPILED_FOR "AVX-512"
#elif defined(__AVX2__)
#define COMPILED_FOR "AVX2"
#else
#define COMPILED_FOR "the baseline"
#endif

static const uint64_t line_counts[] = {1, 2, 3, 7, 64, 1000};
#define COUNTS (sizeof line_counts / sizeof line_counts[0])

/* Hashes of all sorts, the extremes among them. */
static uint64_t hash_of(uint64_t i)
{
    static const uint64_t extremes[] = {0, UINT64_MAX, 1, UINT64_C(1) << 63, UINT32_MAX};
    return i < 5 ? extremes[i] : bloomline_hash_u64(i, 77);
}

/* Whether the functions of the header do the work, with the backend that is in use. */
static bool is_inline(void)
{
    const char *name = bloomline_backend();
    return BLOOMLINE_INLINE_ && strcmp(name, "scalar") != 0 && strcmp(name, "portable") != 0;
}

static void same_answers_and_bytes(void)
{
    for (uint32_t k = 1; k <= 16; k++) {
        for (size_t c = 0; c < COUNTS; c++) {
            const bloomline_params params = {line_counts[c], k, 0, 3};
            const size_t len = (size_t)line_counts[c] * 64;
            bloomline_filter *filter = NULL;
            bloomline_view view, own;
            uint8_t *lines = calloc(len + 1, 1); /* one byte off, so not aligned */
            REQUIRE(lines != NULL);
            REQUIRE_OK(bloomline_filter_new(&params, &filter));
            REQUIRE_OK(bloomline_lines_view(&params, lines + 1, len, &own));
            const bloomline_inline to = bloomline_inline_of(&own);
            CHECK((to.rounds != 0) == is_inline());
            for (uint64_t i = 0; i < line_counts[c] * 20 + 5; i++) {
                bloomline_filter_insert_hash(filter, hash_of(i));
                CHECK(bloomline_inline_insert_hash(to, hash_of(i)));
            }
            REQUIRE_OK(bloomline_filter_view(filter, &view));
            CHECK(memcmp(bloomline_view_lines(&view, NULL), lines + 1, len) == 0);
            const bloomline_inline of = bloomline_inline_of(&view);
            size_t absent = 0;
            for (uint64_t i = 0; i < line_counts[c] * 40 + 5; i++) {
                const bool expected = bloomline_view_contains_hash(&view, hash_of(i));
                bloomline_inline_prefetch_hash(of, hash_of(i + 8));
                CHECK(bloomline_inline_contains_hash(of, hash_of(i)) == expected);
                CHECK(bloomline_inline_contains_hash(to, hash_of(i)) == expected);
                absent += !expected;
            }
            CHECK(absent > 0);
            bloomline_filter_free(filter);
            free(lines);
        }
    }
}

/* A bit of the definition changed: the answer turns. So the test above can fail. */
static void every_bit_counts(void)
{
    for (uint32_t k = 1; k <= 16; k++) {
        const bloomline_params params = {3, k, 0, 0};
        for (uint64_t i = 0; i < 40; i++) {
            uint8_t lines[3 * 64] = {0};
            bloomline_view view;
            REQUIRE_OK(bloomline_lines_view(&params, lines, sizeof lines, &view));
            const bloomline_inline of = bloomline_inline_of(&view);
            CHECK(!bloomline_inline_contains_hash(of, hash_of(i)));
            CHECK(bloomline_inline_insert_hash(of, hash_of(i)));
            CHECK(bloomline_inline_contains_hash(of, hash_of(i)));
            for (size_t bit = 0; bit < sizeof lines * 8; bit++) {
                const uint8_t mask = (uint8_t)(1u << (bit % 8));
                if ((lines[bit / 8] & mask) == 0) continue;
                lines[bit / 8] = (uint8_t)(lines[bit / 8] & ~mask);
                CHECK(!bloomline_inline_contains_hash(of, hash_of(i)));
                lines[bit / 8] = (uint8_t)(lines[bit / 8] | mask);
            }
        }
    }
}

static void other_kinds_go_to_the_library(void)
{
    const bloomline_params params = {5, 6, 0, 3};
    bloomline_filter *classic = NULL;
    bloomline_view view;
    uint8_t block[1000];
    uint64_t hashes[300];
    size_t len = 0;
    REQUIRE_OK(classic_new(&params, &classic));
    for (uint64_t i = 0; i < 300; i++) {
        hashes[i] = hash_of(i);
        bloomline_filter_insert_hash(classic, hashes[i]);
    }
    REQUIRE_OK(bloomline_engine_block_build(BLOOMLINE_ENGINE_ROCKSDB, hashes, 300, 10, block, sizeof block, &len));
    for (int kind = 0; kind < 2; kind++) {
        if (kind == 0) {
            REQUIRE_OK(bloomline_filter_view(classic, &view));
        } else {
            REQUIRE_OK(bloomline_view_open_engine(BLOOMLINE_ENGINE_ROCKSDB, block, len, &view));
        }
        const bloomline_inline of = bloomline_inline_of(&view);
        for (uint64_t i = 0; i < 1000; i++) {
            bloomline_inline_prefetch_hash(of, hash_of(i));
            CHECK(bloomline_inline_contains_hash(of, hash_of(i)) ==
                bloomline_view_contains_hash(&view, hash_of(i)));
        }
        /* What has parameters can be inserted into. */
        CHECK(bloomline_inline_insert_hash(of, 12345) == (kind == 0));
        CHECK(kind != 0 || bloomline_view_contains_hash(&view, 12345));
    }
    bloomline_filter_free(classic);
}

/* Neither a probe nor a hint leaves the words that were checked. */
static void in_doubt_true(void)
{
    const bloomline_params params = {3, 6, 0, 5};
    bloomline_filter *filter = NULL;
    bloomline_view view, damaged;
    REQUIRE_OK(bloomline_filter_new(&params, &filter));
    REQUIRE_OK(bloomline_filter_view(filter, &view));
    CHECK(!bloomline_inline_contains_hash(bloomline_inline_of(&view), 12345));
    CHECK(bloomline_inline_contains_hash(bloomline_inline_of(NULL), 12345));
    CHECK(!bloomline_inline_insert_hash(bloomline_inline_of(NULL), 12345));
    bloomline_inline_prefetch_hash(bloomline_inline_of(NULL), 12345);
    for (size_t i = 0; i < 256 + (sizeof(void *) == 8 ? 512 : 384); i++) {
        damaged = view;
        if (i < 256) {
            memset(&damaged, (int)i, sizeof damaged);
        } else {
            damaged.opaque[(i - 256) / 64] ^= UINT64_C(1) << (i % 64);
        }
        const bloomline_inline of = bloomline_inline_of(&damaged);
        CHECK(bloomline_inline_contains_hash(of, 12345));
        CHECK(!bloomline_inline_insert_hash(of, 12345));
        bloomline_inline_prefetch_hash(of, 12345);
    }
    CHECK(!bloomline_inline_contains_hash(bloomline_inline_of(&view), 12345));
    bloomline_filter_free(filter);
}

/* Memory between two pages that cannot be read. */
static void within_the_lines(void)
{
    const bloomline_params params = {3, 13, 0, 5};
    fenced lines = fenced_new(3 * 64);
    for (int back = 0; back < 2; back++) {
        bloomline_view view;
        REQUIRE_OK(bloomline_lines_view(&params, at_fence(lines, back, 3 * 64), 3 * 64, &view));
        const bloomline_inline of = bloomline_inline_of(&view);
        for (uint64_t i = 0; i < 1000; i++) {
            bloomline_inline_prefetch_hash(of, hash_of(i));
            CHECK(bloomline_inline_insert_hash(of, hash_of(i)));
            CHECK(bloomline_inline_contains_hash(of, hash_of(i)));
        }
    }
    fenced_free(lines);
}

int main(void)
{
    check_begin("test_inline, for " COMPILED_FOR);
    RUN(same_answers_and_bytes);
    RUN(every_bit_counts);
    RUN(other_kinds_go_to_the_library);
    RUN(in_doubt_true);
    RUN(within_the_lines);
    return check_end();
}
