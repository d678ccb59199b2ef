/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_lines.c - bloomline_lines_*: lines that are the caller's own memory, at any alignment,
 * against the definition; and what is refused. Guards around the lines show that nothing else
 * is touched.
 */
#include "check.h"
#include "definition.h"
#include "probes.h"

enum { MOST_LINES = 40, KEYS = 700, GUARD = 128 };

static uint64_t hashes[2 * KEYS]; /* the first half goes in */

static void make_hashes(void)
{
    for (uint64_t i = 0; i < 2 * KEYS; i++) hashes[i] = bloomline_hash_u64(i, 3);
}

static void lines_are_those_of_the_definition(void)
{
    static uint8_t expected[MOST_LINES * LINE_BYTES], room[GUARD + MOST_LINES * LINE_BYTES + GUARD];
    for (uint64_t count = 1; count <= MOST_LINES; count += 3) {
        for (uint32_t k = 1; k <= MAX_K; k++) {
            bloomline_params params = {count, k, 0, 9};
            size_t len = count * LINE_BYTES;
            uint8_t *lines = room + GUARD - (count * k) % 64; /* every alignment has its turn */
            memset(room, 0xA5, sizeof room);
            memset(lines, 0, len);
            memset(expected, 0, len);
            for (size_t i = 0; i < KEYS; i++) definition_insert(expected, count, k, hashes[i]);

            /* In two goes: what is in stays. The second is told of more room than needed. */
            CHECK_OK(bloomline_lines_insert_hashes(&params, lines, len, hashes, KEYS / 3));
            CHECK_OK(bloomline_lines_insert_hashes(&params, lines, len + 5, hashes + KEYS / 3, KEYS - KEYS / 3));
            CHECK(memcmp(lines, expected, len) == 0);
            for (uint8_t *at = room; at < room + sizeof room; at++) {
                if (at < lines || at >= lines + len) CHECK(*at == 0xA5);
            }

            bloomline_view view;
            bloomline_params seen;
            CHECK_OK(bloomline_lines_view(&params, lines, len + 5, &view));
            CHECK_OK(bloomline_view_shape(&view, &seen));
            CHECK(memcmp(&params, &seen, sizeof params) == 0);
            CHECK_U64(0, bloomline_view_key_count(&view));
            CHECK_U64(bloomline_hash("apple", 5, 9), bloomline_view_hash(&view, "apple", 5));
            uint64_t bitmap[(2 * KEYS + 63) / 64];
            bloomline_view_contains_hashes(&view, hashes, 2 * KEYS, bitmap);
            for (size_t i = 0; i < 2 * KEYS; i++) {
                bool in = definition_contains(expected, count, k, hashes[i]);
                CHECK(in == (bitmap[i / 64] >> i % 64 & 1));
                CHECK(in || i >= KEYS);
            }
        }
    }
}

/* Halves built apart and united are the whole, at every alignment; what is refused changes nothing. */
static void united_lines_have_the_keys_of_both(void)
{
    enum { COUNT = 7, LEN = COUNT * LINE_BYTES };
    static uint8_t expected[LEN], into_room[LEN + 64], from_room[LEN + 64];
    bloomline_params params = {COUNT, 6, 0, 9};
    for (size_t shift = 0; shift < 64; shift += 9) {
        uint8_t *into = into_room + shift, *from = from_room + 63 - shift;
        memset(expected, 0, LEN);
        memset(into_room, 0, sizeof into_room);
        memset(from_room, 0, sizeof from_room);
        for (size_t i = 0; i < KEYS; i++) definition_insert(expected, COUNT, 6, hashes[i]);
        CHECK_OK(bloomline_lines_insert_hashes(&params, into, LEN, hashes, KEYS / 2));
        CHECK_OK(bloomline_lines_insert_hashes(&params, from, LEN, hashes + KEYS / 2, KEYS - KEYS / 2));
        CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL, bloomline_lines_union(&params, into, LEN - 1, from, LEN));
        CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL, bloomline_lines_union(&params, into, LEN, from, LEN - 1));
        CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_lines_union(NULL, into, LEN, from, LEN));
        CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_lines_union(&params, NULL, LEN, from, LEN));
        CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_lines_union(&params, into, LEN, NULL, LEN));
        bloomline_params bad = params;
        bad.k = 0;
        CHECK_STATUS(BLOOMLINE_ERR_K, bloomline_lines_union(&bad, into, LEN, from, LEN));
        CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL, bloomline_lines_intersect(&params, into, LEN - 1, from, LEN));
        CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL, bloomline_lines_intersect(&params, into, LEN, from, LEN - 1));
        CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_lines_intersect(NULL, into, LEN, from, LEN));
        CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_lines_intersect(&params, NULL, LEN, from, LEN));
        CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_lines_intersect(&params, into, LEN, NULL, LEN));
        CHECK_STATUS(BLOOMLINE_ERR_K, bloomline_lines_intersect(&bad, into, LEN, from, LEN));
        CHECK_OK(bloomline_lines_union(&params, into, LEN, from, LEN + 1));
        CHECK(memcmp(into, expected, LEN) == 0);
        for (size_t i = 0; i < LEN; i++) expected[i] = from[i] &= (uint8_t)(i | 0x55);
        CHECK_OK(bloomline_lines_intersect(&params, into, LEN, from, LEN + 1)); /* which is a part of it */
        CHECK(memcmp(into, expected, LEN) == 0);
    }
}

static void no_hashes_no_change(void)
{
    bloomline_params params = {1, 6, 0, 0};
    uint8_t lines[LINE_BYTES] = {0}, zeros[LINE_BYTES] = {0};
    CHECK_OK(bloomline_lines_insert_hashes(&params, lines, sizeof lines, NULL, 0));
    CHECK(memcmp(lines, zeros, sizeof lines) == 0);
}

static void what_is_refused_changes_nothing(void)
{
    static const struct {
        bloomline_params params;
        size_t len;
        bloomline_status status;
    } cases[] = {
        {{2, 6, 0, 0}, 127, BLOOMLINE_ERR_BUFFER_TOO_SMALL},
        {{2, 6, 0, 0}, 0, BLOOMLINE_ERR_BUFFER_TOO_SMALL},
        {{2, 0, 0, 0}, 128, BLOOMLINE_ERR_K},
        {{2, 17, 0, 0}, 128, BLOOMLINE_ERR_K},
        {{0, 6, 0, 0}, 128, BLOOMLINE_ERR_NO_LINES},
        {{UINT64_MAX, 6, 0, 0}, 128, BLOOMLINE_ERR_LINE_COUNT},
        {{(uint64_t)1 << 58, 6, 0, 0}, 128, BLOOMLINE_ERR_LINE_COUNT},
        {{2, 6, 1, 0}, 128, BLOOMLINE_ERR_LAYOUT},
    };
    uint8_t lines[128] = {0}, zeros[128] = {0};
    bloomline_view view, before;
    memset(&view, 0x5A, sizeof view);
    before = view;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_STATUS(cases[i].status, bloomline_lines_insert_hashes(&cases[i].params, lines, cases[i].len, hashes, 5));
        CHECK_STATUS(cases[i].status, bloomline_lines_view(&cases[i].params, lines, cases[i].len, &view));
    }
    bloomline_params good = {2, 6, 0, 0};
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_lines_insert_hashes(NULL, lines, 128, hashes, 5));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_lines_insert_hashes(&good, NULL, 128, hashes, 5));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_lines_insert_hashes(&good, lines, 128, NULL, 5));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_lines_view(NULL, lines, 128, &view));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_lines_view(&good, NULL, 128, &view));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_lines_view(&good, lines, 128, NULL));
    CHECK(memcmp(lines, zeros, sizeof lines) == 0);
    CHECK(memcmp(&before, &view, sizeof view) == 0);
}

int main(void)
{
    check_begin("test_lines");
    make_hashes();
    RUN(lines_are_those_of_the_definition);
    RUN(united_lines_have_the_keys_of_both);
    RUN(no_hashes_no_change);
    RUN(what_is_refused_changes_nothing);
    return check_end();
}
