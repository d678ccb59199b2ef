/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_matrix_columns.c - columns of a bloomline_matrix as views: alone and among other views, in groups in
 * any order, against the definition; where the matrix is opened; what they say of themselves; every status.
 */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include "check.h"
#include "probes.h"
#include "definition.h"
#include "encoded.h"
#include "fenced.h"

enum { MOST = 700, LINES = 3, LEN = LINES * LINE_BYTES, KEYS = 90, WORDS = (2 * MOST + 63) / 64 };
static const uint32_t ks[] = {6, 12};
static bloomline_params shape = {LINES, 6, 0, 9};

/* The columns by the definition, and views of them. */
static uint8_t lines[MOST][LEN];
static bloomline_view views[MOST];
static uint64_t hashes[KEYS];
static bloomline_matrix *matrix;
static fenced output;

static bool expected(size_t column, uint64_t hash)
{
    return definition_contains(lines[column], LINES, shape.k, hash);
}

/* Each key is in some columns. */
static void make(uint32_t k)
{
    shape.k = k;
    fill_hashes(hashes, KEYS, 3);
    memset(lines, 0, sizeof lines);
    for (size_t column = 0; column < MOST; column++) {
        for (size_t key = 0; key < KEYS; key++) {
            if ((column * 31 + key * 7) % 11 < 2) definition_insert(lines[column], LINES, k, hashes[key]);
        }
        REQUIRE_OK(bloomline_lines_view(&shape, lines[column], LEN, &views[column]));
    }
    REQUIRE_OK(bloomline_matrix_new(&shape, MOST, &matrix));
    REQUIRE_OK(bloomline_matrix_set_columns(matrix, 0, views, MOST, 1));
}

ENCODED(matrix)

static bloomline_view view_of(const bloomline_matrix *of, size_t column)
{
    bloomline_view view;
    REQUIRE_OK(bloomline_matrix_column_view(of, column, &view));
    return view;
}

/* All that takes a view. */
static void check_alone(const bloomline_matrix *of)
{
    for (size_t column = 0; column < MOST; column += column < 70 ? 1 : 53) {
        bloomline_view view = view_of(of, column), pair[2] = {view, views[column]};
        uint64_t bitmap[(KEYS + 63) / 64], same[(KEYS + 63) / 64];
        for (size_t key = 0; key < KEYS; key++) {
            bool maybe = expected(column, hashes[key]);
            CHECK_WITH(bloomline_view_contains_hash(&view, hashes[key]) == maybe, "column %zu, key %zu", column, key);
            CHECK(bloomline_views_contain_hash(pair, 2, hashes[key], bitmap) == 2u * maybe);
        }
        for (size_t n = 0; n <= KEYS; n += n < 18 ? 1 : 24) {
            CHECK(bloomline_view_contains_hashes(&view, hashes, n, bitmap) ==
                  bloomline_view_contains_hashes(&views[column], hashes, n, same));
            CHECK(memcmp(bitmap, same, (n + 63) / 64 * 8) == 0);
        }
        bool one, other;
        bloomline_bytes key = {(const uint8_t *)"apple", 5};
        const bloomline_bytes *each = &key;
        bloomline_view_contains_each(&view, &each, 1, &one);
        bloomline_view_contains_each(&views[column], &each, 1, &other);
        CHECK(one == other && bloomline_view_contains(&view, "apple", 5) == one);
        CHECK_U64(bloomline_hash("apple", 5, 9), bloomline_view_hash(&view, "apple", 5));
    }
    bloomline_view last = view_of(of, MOST - 1);
    bloomline_params params;
    size_t len = 1;
    REQUIRE_OK(bloomline_view_shape(&last, &params));
    CHECK(memcmp(&params, &shape, sizeof shape) == 0);
    CHECK(bloomline_view_lines(&last, &len) == NULL && len == 0 && bloomline_view_key_count(&last) == 0);
    CHECK(view_about(&last).fill == view_about(&views[MOST - 1]).fill);
    CHECK(view_about(&last).estimated_keys == view_about(&views[MOST - 1]).estimated_keys);
    CHECK(view_about(&last).estimated_rate == view_about(&views[MOST - 1]).estimated_rate);
    CHECK(view_about(&last).worst_line_rate == view_about(&views[MOST - 1]).worst_line_rate);
}

/* The column that view i is of; views that are not columns are plain filters with the same keys. */
enum { STRAIGHT, BACKWARDS, MIXED, AMONG_OTHERS, TWICE, ORDERS };

static size_t column_of(int order, size_t i)
{
    switch (order) {
    case STRAIGHT: case AMONG_OTHERS: return i;
    case BACKWARDS: return MOST - 1 - i;
    case MIXED: return i * 271 % MOST;
    default: return i % MOST;
    }
}

static void check_group(const bloomline_matrix *of, int order, size_t n)
{
    static bloomline_view all[2 * MOST];
    static uint32_t members[KEYS];
    size_t words = (n + 63) / 64, present;
    bloomline_group *group = NULL;
    for (size_t i = 0; i < n; i++) {
        all[i] = order == AMONG_OTHERS && i % 100 < 7 ? views[i] : view_of(of, column_of(order, i));
    }
    REQUIRE_OK(bloomline_group_new(all, n, &group));
    uint64_t *bitmap = words_at_fence(output, 1, words), pairs[(KEYS + 63) / 64];
    for (size_t key = 0; key < KEYS; key++) {
        memset(bitmap, 0xFF, 8 * words);
        present = 0;
        size_t count = bloomline_group_contains_hash(group, hashes[key], bitmap);
        for (size_t i = 0; i < 64 * words; i++) {
            bool maybe = i < n && expected(column_of(order, i), hashes[key]);
            CHECK_WITH(bit_of(bitmap, i) == maybe, "order %d, view %zu of %zu, key %zu", order, i, n, key);
            present += maybe;
        }
        CHECK_U64(present, count);
        members[key] = (uint32_t)(key * 37 % (n + 1));
    }
    bloomline_group_contains_pairs(group, members, hashes, KEYS, pairs);
    for (size_t key = 0; key < KEYS; key++) {
        bool none = members[key] >= n;
        CHECK(bit_of(pairs, key) == (none || expected(column_of(order, members[key]), hashes[key])));
    }
    bloomline_group_free(group);
}

static void check_all(const bloomline_matrix *of)
{
    static const size_t counts[] = {1, 2, 3, 63, 64, 65, 130, 640, MOST, 2 * MOST};
    check_alone(of);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        for (int order = STRAIGHT; order < ORDERS; order++) {
            if (counts[c] <= MOST || order == TWICE) check_group(of, order, counts[c]);
        }
    }
}

static void columns_answer_by_the_definition(void)
{
    for (size_t i = 0; i < 2; i++) {
        bloomline_map *map = NULL;
        size_t len;
        make(ks[i]);
        check_all(matrix);
        /* Where it is, at any address. */
        uint8_t *data = encoded(matrix, &len);
        fenced bytes = fenced_new(len);
        memcpy(at_fence(bytes, 1, len), data, len);
        REQUIRE_OK(bloomline_map_bytes(at_fence(bytes, 1, len), len, BLOOMLINE_MAP_UNVERIFIED, &map));
        check_all(bloomline_map_matrix(map));
        bloomline_map_close(map);
        fenced_free(bytes);
        free(data);
        bloomline_matrix_free(matrix);
    }
}

/* A column of one becomes one of another, and of itself. */
static void columns_are_set(void)
{
    bloomline_matrix *other = NULL;
    make(6);
    REQUIRE_OK(bloomline_matrix_new(&shape, 2, &other));
    bloomline_view view = view_of(matrix, 77);
    REQUIRE_OK(bloomline_matrix_set_column(other, 1, &view));
    for (size_t key = 0; key < KEYS; key++) {
        uint64_t word;
        bloomline_matrix_contains_hash(other, hashes[key], NULL, &word);
        CHECK_U64(2 * (uint64_t)expected(77, hashes[key]), word);
    }
    bloomline_matrix_free(other);
    bloomline_matrix_free(matrix);
}

static void what_is_no_column(void)
{
    bloomline_view view;
    make(6);
    memset(&view, 0xAB, sizeof view);
    bloomline_view before = view;
    CHECK_STATUS(BLOOMLINE_ERR_COLUMN, bloomline_matrix_column_view(matrix, MOST, &view));
    CHECK_STATUS(BLOOMLINE_ERR_COLUMN, bloomline_matrix_column_view(matrix, SIZE_MAX, &view));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_column_view(NULL, 0, &view));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_column_view(matrix, 0, NULL));
    CHECK(memcmp(&view, &before, sizeof view) == 0);
    /* A view that was overwritten may have every key, alone and in a group. */
    bloomline_view some[4];
    bloomline_group *group = NULL;
    uint64_t word = 0;
    for (size_t i = 0; i < 4; i++) some[i] = view_of(matrix, i);
    some[2].opaque[1] ^= 64;
    CHECK(bloomline_view_contains_hash(&some[2], UINT64_C(0x123456789ABCDEF0)));
    REQUIRE_OK(bloomline_group_new(some, 4, &group));
    bloomline_group_contains_hash(group, UINT64_C(0x123456789ABCDEF0), &word);
    CHECK(bit_of(&word, 2));
    bloomline_group_free(group);
    bloomline_matrix_free(matrix);
}

int main(void)
{
    check_begin("test_matrix_columns");
    output = fenced_new(8 * WORDS);
    RUN(columns_answer_by_the_definition);
    RUN(columns_are_set);
    RUN(what_is_no_column);
    fenced_free(output);
    return check_end();
}
