/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * matrix.h - what the tests of bloomline_matrix have in common: columns that are kept one by one, by the
 * definition, and all ways to ask a matrix, held to these. Bitmaps lie before forbidden pages.
 */
#ifndef MATRIX_H
#define MATRIX_H

#include "check.h"
#include "definition.h"
#include "encoded.h"
#include "fenced.h"
#include "files.h"

enum { MOST = 1000, WORDS = (MOST + 63) / 64, LINES = 5, LEN = LINES * LINE_BYTES, KEYS = 60, K = 6 };
static const size_t counts[] = {1, 63, 64, 65, MOST};
enum { COUNTS = sizeof counts / sizeof counts[0] };
static const bloomline_params shape = {LINES, K, 0, 9};

/* The columns by the definition, and views of them, at odd addresses. */
static uint8_t room[MOST][LEN + 1];
static bloomline_view views[MOST];
static uint64_t hashes[KEYS];

static inline uint8_t *column_at(size_t column)
{
    return room[column] + 1;
}

/* Each key is in some columns. */
static inline void make_columns(void)
{
    fill_hashes(hashes, KEYS, 3);
    memset(room, 0, sizeof room);
    for (size_t column = 0; column < MOST; column++) {
        for (size_t key = 0; key < KEYS; key++) {
            if ((column * 31 + key * 7) % 11 < 2) definition_insert(column_at(column), LINES, K, hashes[key]);
        }
        REQUIRE_OK(bloomline_lines_view(&shape, column_at(column), LEN, &views[column]));
    }
}

static inline bool expected(size_t column, uint64_t hash)
{
    return definition_contains(column_at(column), LINES, K, hash);
}

static inline bloomline_matrix *new_matrix(size_t columns)
{
    bloomline_matrix *matrix = NULL;
    REQUIRE_OK(bloomline_matrix_new(&shape, columns, &matrix));
    return matrix;
}

static inline bloomline_matrix *filled(size_t columns)
{
    bloomline_matrix *matrix = new_matrix(columns);
    REQUIRE_OK(bloomline_matrix_set_columns(matrix, 0, views, columns, 2));
    return matrix;
}

ENCODED(matrix)

static fenced output, pair_output;

/* How many pairs there is room for: of a key too few, of some keys enough, of all. */
static const size_t capacities[] = {1, 5, 190, 4000};
enum { CAPACITIES = sizeof capacities / sizeof capacities[0], MOST_PAIRS = 4000 };

/* The bits of 'n' rows as pairs, in parts of 'capacity': all of a key, or none, or as many as there is room for. */
static inline void check_pairs(const bloomline_matrix *matrix, size_t columns, size_t n, const uint64_t *among, const uint64_t *rows,
                               size_t capacity)
{
    size_t words = (columns + 63) / 64, bit = 0, bits = 64 * words * n;
    bloomline_matrix_pair from = {0, 0};
    bloomline_matrix_pair *pairs = (bloomline_matrix_pair *)(void *)at_fence(pair_output, 1, capacity * sizeof *pairs);
    while (from.key < n) {
        size_t written = SIZE_MAX, left = 0;
        REQUIRE_OK(bloomline_matrix_select_hashes(matrix, hashes, n, among, &from, pairs, capacity, &written));
        REQUIRE(written <= capacity && from.key <= n);
        for (size_t i = 0; i < written; i++, bit++) {
            while (bit < bits && !bit_of(rows, bit)) bit++;
            CHECK_U64(bit / (64 * words), pairs[i].key);
            CHECK_U64(bit % (64 * words), pairs[i].column);
        }
        /* Within a key only if it has more than there is room for. */
        CHECK(from.column == 0 || (written == capacity && pairs[0].key == from.key && from.column > pairs[written - 1].column));
        if (from.key == n || from.column != 0) continue;
        for (size_t column = 0; column < columns; column++) left += bit_of(rows + from.key * words, column);
        CHECK(left > capacity - written);
    }
    while (bit < bits && !bit_of(rows, bit)) bit++;
    CHECK_U64(bits, bit);
}

/* All ways to ask, against the definition. */
static inline void check_answers(const bloomline_matrix *matrix, size_t columns)
{
    size_t words = (columns + 63) / 64, total = 0, total_among = 0;
    static uint64_t rows[KEYS * WORDS];
    uint64_t among[WORDS];
    uint64_t *bitmap = words_at_fence(output, 1, words);
    memset(rows, 0xFF, sizeof rows);
    size_t all = bloomline_matrix_contains_hashes(matrix, hashes, KEYS, NULL, rows);
    for (size_t word = 0; word < words; word++) among[word] = UINT64_C(0xF0F0F0F0F0F0F0F0) + word;
    for (size_t key = 0; key < KEYS; key++) {
        size_t found = 0, found_among = 0;
        memset(bitmap, 0xFF, 8 * words);
        size_t present = bloomline_matrix_contains_hash(matrix, hashes[key], NULL, bitmap);
        for (size_t column = 0; column < columns; column++) {
            bool maybe = expected(column, hashes[key]);
            CHECK_WITH(maybe == bit_of(bitmap, column), "column %zu of %zu, key %zu", column, columns, key);
            found += maybe;
            found_among += maybe && bit_of(among, column);
        }
        CHECK_U64(found, present);
        CHECK(columns % 64 == 0 || bitmap[columns / 64] >> (columns % 64) == 0);
        CHECK(memcmp(bitmap, rows + key * words, 8 * words) == 0);
        CHECK_U64(found, bloomline_matrix_count_hash(matrix, hashes[key], NULL));
        CHECK_U64(found_among, bloomline_matrix_count_hash(matrix, hashes[key], among));
        CHECK(bloomline_matrix_any_hash(matrix, hashes[key], NULL) == (found > 0));
        CHECK(bloomline_matrix_any_hash(matrix, hashes[key], among) == (found_among > 0));
        CHECK_U64(found_among, bloomline_matrix_contains_hash(matrix, hashes[key], among, bitmap));
        for (size_t word = 0; word < words; word++) CHECK_U64(rows[key * words + word] & among[word], bitmap[word]);
        total += found;
        total_among += found_among;
    }
    CHECK_U64(total, all);
    /* In batches, of all columns and of some. */
    for (size_t i = 0; i < CAPACITIES; i++) check_pairs(matrix, columns, KEYS, NULL, rows, capacities[i]);
    static uint64_t some[KEYS * WORDS];
    memset(some, 0xFF, sizeof some);
    CHECK_U64(total_among, bloomline_matrix_contains_hashes(matrix, hashes, KEYS, among, some));
    for (size_t i = 0; i < KEYS * words; i++) CHECK_U64(rows[i] & among[i % words], some[i]);
    for (size_t i = 0; i < CAPACITIES; i++) check_pairs(matrix, columns, KEYS, among, some, capacities[i]);
    enum { PAIRS = 130 };
    for (size_t n = 0; n <= PAIRS; n += n < 2 ? 1 : 64) {
        uint32_t numbers[PAIRS];
        uint64_t asked[PAIRS], answers[3] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
        size_t found = 0;
        for (size_t i = 0; i < n; i++) {
            numbers[i] = i % 50 == 49 ? UINT32_MAX - (uint32_t)i : (uint32_t)(i * 31 % (columns + 1));
            asked[i] = hashes[i * 7 % KEYS];
        }
        size_t present = bloomline_matrix_contains_pairs(matrix, numbers, asked, n, answers);
        for (size_t i = 0; i < n; i++) {
            bool maybe = numbers[i] >= columns || expected(numbers[i], asked[i]);
            CHECK(maybe == bit_of(answers, i));
            found += maybe;
        }
        CHECK_U64(found, present);
        CHECK(n % 64 == 0 || answers[n / 64] >> (n % 64) == 0);
    }
}

/* A column taken out is byte for byte the filter. */
static inline void check_column(const bloomline_matrix *matrix, size_t column, const uint8_t *lines)
{
    bloomline_filter *filter = NULL;
    bloomline_view view;
    size_t len;
    REQUIRE_OK(bloomline_matrix_column(matrix, column, &filter));
    REQUIRE_OK(bloomline_filter_view(filter, &view));
    const void *found = bloomline_view_lines(&view, &len);
    CHECK_WITH(len == LEN && memcmp(found, lines, LEN) == 0, "column %zu", column);
    bloomline_filter_free(filter);
}

/* For the functions above, before and behind all tests. */
static inline void matrix_begin(void)
{
    output = fenced_new(8 * WORDS);
    pair_output = fenced_new(MOST_PAIRS * sizeof(bloomline_matrix_pair));
    make_columns();
}

static inline void matrix_end(void)
{
    fenced_free(output);
    fenced_free(pair_output);
}

#endif /* MATRIX_H */
