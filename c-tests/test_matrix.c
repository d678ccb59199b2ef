/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_matrix.c - bloomline_matrix: answers by the definition, of columns kept here one by one; columns
 * set, folded, cleared and taken out; encoded ones where they are; single ranges; every status; NULL.
 * Bitmaps and bytes lie before forbidden pages.
 */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

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

static uint8_t *column_at(size_t column)
{
    return room[column] + 1;
}

/* Each key is in some columns. */
static void make_columns(void)
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

static bool expected(size_t column, uint64_t hash)
{
    return definition_contains(column_at(column), LINES, K, hash);
}

static bloomline_matrix *new_matrix(size_t columns)
{
    bloomline_matrix *matrix = NULL;
    REQUIRE_OK(bloomline_matrix_new(&shape, columns, &matrix));
    return matrix;
}

static bloomline_matrix *filled(size_t columns)
{
    bloomline_matrix *matrix = new_matrix(columns);
    REQUIRE_OK(bloomline_matrix_set_columns(matrix, 0, views, columns, 2));
    return matrix;
}

ENCODED(matrix)

static fenced output;

/* All ways to ask, against the definition. */
static void check_answers(const bloomline_matrix *matrix, size_t columns)
{
    size_t words = (columns + 63) / 64, total = 0;
    static uint64_t rows[KEYS * WORDS];
    uint64_t among[WORDS];
    uint64_t *bitmap = words_at_fence(output, 1, words);
    memset(rows, 0xFF, sizeof rows);
    size_t all = bloomline_matrix_contains_hashes(matrix, hashes, KEYS, rows);
    for (size_t word = 0; word < words; word++) among[word] = UINT64_C(0xF0F0F0F0F0F0F0F0) + word;
    for (size_t key = 0; key < KEYS; key++) {
        size_t found = 0, found_among = 0;
        memset(bitmap, 0xFF, 8 * words);
        size_t present = bloomline_matrix_contains_hash(matrix, hashes[key], bitmap);
        for (size_t column = 0; column < columns; column++) {
            bool maybe = expected(column, hashes[key]);
            CHECK_WITH(maybe == bit_of(bitmap, column), "column %zu of %zu, key %zu", column, columns, key);
            found += maybe;
            found_among += maybe && bit_of(among, column);
        }
        CHECK_U64(found, present);
        CHECK(columns % 64 == 0 || bitmap[columns / 64] >> (columns % 64) == 0);
        CHECK(memcmp(bitmap, rows + key * words, 8 * words) == 0);
        CHECK_U64(found, bloomline_matrix_count_hash(matrix, hashes[key]));
        CHECK(bloomline_matrix_any_hash(matrix, hashes[key], NULL) == (found > 0));
        CHECK(bloomline_matrix_any_hash(matrix, hashes[key], among) == (found_among > 0));
        CHECK_U64(found, bloomline_matrix_contains_hash_among(matrix, hashes[key], NULL, bitmap));
        CHECK_U64(found_among, bloomline_matrix_contains_hash_among(matrix, hashes[key], among, bitmap));
        for (size_t word = 0; word < words; word++) CHECK_U64(rows[key * words + word] & among[word], bitmap[word]);
        total += found;
    }
    CHECK_U64(total, all);
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
static void check_column(const bloomline_matrix *matrix, size_t column, const uint8_t *lines)
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

static void answers_and_columns(void)
{
    static const uint8_t none[LEN];
    for (size_t c = 0; c < COUNTS; c++) {
        size_t columns = counts[c];
        bloomline_matrix *matrix = filled(columns), *one_by_one = new_matrix(columns), *clone = NULL;
        check_answers(matrix, columns);
        for (size_t column = columns; column-- > 0;) {
            CHECK_OK(bloomline_matrix_set_column(one_by_one, column, &views[column]));
        }
        check_answers(one_by_one, columns);
        for (size_t column = 0; column < columns; column += column < 66 ? 1 : 97) check_column(matrix, column, column_at(column));
        REQUIRE_OK(bloomline_matrix_clone(matrix, &clone));
        CHECK_OK(bloomline_matrix_clear_column(clone, columns - 1));
        check_column(clone, columns - 1, none);
        if (columns > 1) check_column(clone, columns - 2, column_at(columns - 2));
        check_answers(matrix, columns);
        /* One by one, by key and by hash. */
        for (size_t key = 0; key < KEYS; key++) {
            if (expected(columns - 1, hashes[key])) CHECK_OK(bloomline_matrix_insert_hash(clone, columns - 1, hashes[key]));
        }
        uint64_t bitmap[WORDS];
        for (size_t key = 0; key < KEYS; key++) {
            bloomline_matrix_contains_hash(clone, hashes[key], bitmap);
            CHECK(bit_of(bitmap, columns - 1) == expected(columns - 1, hashes[key]));
        }
        CHECK_OK(bloomline_matrix_insert(clone, 0, "apple", 5));
        bloomline_matrix_contains(clone, "apple", 5, bitmap);
        CHECK(bit_of(bitmap, 0));
        bloomline_matrix_contains_hash(clone, bloomline_hash("apple", 5, shape.seed), bitmap);
        CHECK(bit_of(bitmap, 0));
        CHECK_U64((columns + 63) / 64 * 8 * 512 * LINES, bloomline_matrix_memory(matrix));
        bloomline_matrix_free(clone);
        bloomline_matrix_free(one_by_one);
        bloomline_matrix_free(matrix);
    }
}

static void other_numbers_of_columns(void)
{
    for (size_t c = 0; c < COUNTS; c++) {
        for (size_t d = 0; d < COUNTS; d++) {
            bloomline_matrix *matrix = filled(counts[c]), *other = NULL;
            REQUIRE_OK(bloomline_matrix_with_columns(matrix, counts[d], &other));
            bloomline_matrix_free(matrix);
            if (counts[d] > counts[c]) {
                CHECK_OK(bloomline_matrix_set_columns(other, counts[c], views + counts[c], counts[d] - counts[c], 1));
            }
            check_answers(other, counts[d]);
            bloomline_matrix_free(other);
        }
    }
}

/* Of twice and eight times the lines, and what does not fit; filters of other kinds. */
static void filters_that_fit(void)
{
    bloomline_matrix *matrix = new_matrix(3);
    uint64_t bitmap;
    for (uint32_t folds = 0; folds < 4; folds++) {
        bloomline_params params = {((uint64_t)LINES << folds) - (folds > 0), 11, 0, 1};
        CHECK_OK(bloomline_params_foldable_to(&params, &shape));
        CHECK(params.line_count == (uint64_t)LINES << folds && params.k == K && params.seed == shape.seed && params.layout == 0);
        bloomline_filter *filter = NULL;
        bloomline_view view;
        REQUIRE_OK(bloomline_filter_new(&params, &filter));
        bloomline_filter_insert_hashes(filter, hashes, KEYS);
        REQUIRE_OK(bloomline_filter_view(filter, &view));
        CHECK_OK(bloomline_matrix_set_column(matrix, 1, &view));
        for (uint32_t i = 0; i < folds; i++) CHECK_OK(bloomline_filter_fold(filter));
        REQUIRE_OK(bloomline_filter_view(filter, &view));
        check_column(matrix, 1, bloomline_view_lines(&view, NULL));
        bloomline_filter_free(filter);
    }
    /* A counting one, and one that threads insert into. */
    bloomline_counting *counting = NULL;
    bloomline_concurrent *concurrent = NULL;
    bloomline_filter *filter = NULL;
    bloomline_view view;
    REQUIRE_OK(bloomline_counting_new(&shape, &counting));
    bloomline_counting_insert_hash(counting, 5);
    REQUIRE_OK(bloomline_filter_view(bloomline_counting_filter(counting), &view));
    CHECK_OK(bloomline_matrix_set_column(matrix, 0, &view));
    REQUIRE_OK(bloomline_filter_new(&shape, &filter));
    REQUIRE_OK(bloomline_concurrent_new(&filter, &concurrent));
    bloomline_concurrent_insert_hash(concurrent, 6);
    REQUIRE_OK(bloomline_concurrent_view(concurrent, &view));
    CHECK_OK(bloomline_matrix_set_column(matrix, 2, &view));
    bloomline_matrix_contains_hash(matrix, 5, &bitmap);
    CHECK((bitmap & 1) == 1);
    bloomline_matrix_contains_hash(matrix, 6, &bitmap);
    CHECK(bitmap >> 2 == 1);
    bloomline_counting_free(counting);
    bloomline_concurrent_free(concurrent);
    /* Others. */
    static const bloomline_params others[] = {{LINES + 1, K, 0, 9}, {3 * LINES, K, 0, 9}, {LINES, K + 1, 0, 9}, {LINES, K, 0, 8},
                                              {LINES, K, BLOOMLINE_KIND_CLASSIC, 9}, {1, K, 0, 9}};
    bloomline_view two[2];
    size_t len;
    uint8_t *before = encoded(matrix, &len), *after;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        REQUIRE_OK(bloomline_filter_new(&others[i], &filter));
        REQUIRE_OK(bloomline_filter_view(filter, &two[1]));
        two[0] = views[7];
        CHECK_STATUS(BLOOMLINE_ERR_COLUMN_SHAPE, bloomline_matrix_set_columns(matrix, 0, two, 2, 1));
        bloomline_filter_free(filter);
    }
    bloomline_cuckoo_params params;
    bloomline_cuckoo *cuckoo = NULL;
    REQUIRE_OK(bloomline_cuckoo_params_for_rate(100, 0.01, &params));
    REQUIRE_OK(bloomline_cuckoo_new(&params, &cuckoo));
    REQUIRE_OK(bloomline_cuckoo_view(cuckoo, &two[1]));
    CHECK_STATUS(BLOOMLINE_ERR_COLUMN_SHAPE, bloomline_matrix_set_columns(matrix, 0, two, 2, 1));
    bloomline_cuckoo_free(cuckoo);
    memset(&two[1], 0, sizeof two[1]);
    CHECK_STATUS(BLOOMLINE_ERR_NOT_A_FILTER, bloomline_matrix_set_columns(matrix, 0, two, 2, 1));
    CHECK_STATUS(BLOOMLINE_ERR_COLUMN, bloomline_matrix_set_columns(matrix, 2, views, 2, 1));
    CHECK_STATUS(BLOOMLINE_ERR_COLUMN, bloomline_matrix_set_columns(matrix, SIZE_MAX, views, 2, 1));
    CHECK_STATUS(BLOOMLINE_ERR_COLUMN, bloomline_matrix_set_column(matrix, 3, views));
    CHECK_OK(bloomline_matrix_set_columns(matrix, 3, NULL, 0, 1));
    after = encoded(matrix, &len);
    CHECK(memcmp(before, after, len) == 0);
    free(before);
    free(after);
    bloomline_matrix_free(matrix);
    /* Parameters. */
    bloomline_params classic = shape, given = shape;
    classic.layout = BLOOMLINE_KIND_CLASSIC;
    CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_params_foldable_to(&given, &classic));
    given.line_count = UINT64_C(7) << 54;
    CHECK_STATUS(BLOOMLINE_ERR_LINE_COUNT, bloomline_params_foldable_to(&given, &shape));
    CHECK_U64(UINT64_C(7) << 54, given.line_count);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_params_foldable_to(NULL, &shape));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_params_foldable_to(&given, NULL));
}

static void made_of_nothing(void)
{
    bloomline_matrix *matrix = NULL;
    bloomline_params params = shape;
    CHECK_STATUS(BLOOMLINE_ERR_COLUMNS, bloomline_matrix_new(&shape, 0, &matrix));
    if (SIZE_MAX > UINT32_MAX) CHECK_STATUS(BLOOMLINE_ERR_COLUMNS, bloomline_matrix_new(&shape, (size_t)UINT32_MAX + 1, &matrix));
    params.layout = BLOOMLINE_KIND_CLASSIC;
    CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_matrix_new(&params, 1, &matrix));
    params = shape;
    params.line_count = UINT64_C(1) << 40;
    CHECK_STATUS(BLOOMLINE_ERR_LINE_COUNT, bloomline_matrix_new(&params, UINT32_MAX, &matrix));
    params.line_count = 0;
    CHECK_STATUS(BLOOMLINE_ERR_NO_LINES, bloomline_matrix_new(&params, 1, &matrix));
    params.line_count = 1;
    params.k = 17;
    CHECK_STATUS(BLOOMLINE_ERR_K, bloomline_matrix_new(&params, 1, &matrix));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_new(NULL, 1, &matrix));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_new(&shape, 1, NULL));
    CHECK(matrix == NULL);
}

/* Encoded, and opened: the caller's bytes at any address, a file, copies of both. */
static void opened_where_it_is(void)
{
    static const uint32_t flags[] = {0, BLOOMLINE_MAP_UNVERIFIED, BLOOMLINE_MAP_COPY,
                                     BLOOMLINE_MAP_COPY | BLOOMLINE_MAP_UNVERIFIED};
    file_name place = files_begin(), name = files_in(&place, "matrix"), again = files_in(&place, "again");
    uint64_t names[MOST];
    for (size_t i = 0; i < MOST; i++) names[i] = i * UINT64_C(0x0123456789ABCDEF) + 1;
    for (size_t c = 0; c < COUNTS; c++) {
        size_t columns = counts[c], len;
        bloomline_matrix *matrix = filled(columns), *other = NULL;
        bloomline_matrix_shape about;
        bool named = c % 2 == 0, summed = c % 3 == 0;
        if (named) CHECK_OK(bloomline_matrix_set_names(matrix, names, columns));
        bloomline_matrix_set_checksums(matrix, summed);
        uint8_t *data = encoded(matrix, &len);
        CHECK_U64(BLOOMLINE_KIND_MATRIX, (uint64_t)bloomline_encoded_kind(data, len));
        CHECK_U64((columns + 63) / 64 * 8 * 512 * LINES + 8 * named * columns + 8 * summed * LINES + FOOTER_BYTES, len);
        fenced bytes = fenced_new(len + 8);
        CHECK_OK(bloomline_matrix_save(matrix, name.text));
        for (size_t i = 0; i < 12; i++) {
            bloomline_map *map = NULL;
            uint8_t *at = at_fence(bytes, i % 2, len) + (i % 2 == 0 ? i % 8 : 0);
            memcpy(at, data, len);
            REQUIRE_OK(i < 4 ? bloomline_map_open(name.text, flags[i], &map) : bloomline_map_bytes(at, len, flags[i % 4], &map));
            const bloomline_matrix *opened = bloomline_map_matrix(map);
            REQUIRE(opened != NULL);
            check_answers(opened, columns);
            check_column(opened, columns - 1, column_at(columns - 1));
            CHECK_OK(bloomline_matrix_about(opened, &about));
            CHECK(memcmp(&about.params, &shape, sizeof shape) == 0 && about.columns == columns);
            CHECK_U64((named ? BLOOMLINE_MATRIX_NAMES : 0) | (summed ? BLOOMLINE_MATRIX_CHECKSUMS : 0), about.flags);
            CHECK_U64(named ? names[columns - 1] : 0, bloomline_matrix_name(opened, columns - 1));
            CHECK_U64(0, bloomline_matrix_name(opened, columns));
            /* It is passed on as it is. */
            size_t len_of_it, len_of_file = 0;
            uint8_t *same = encoded(opened, &len_of_it);
            CHECK(len_of_it == len && memcmp(same, data, len) == 0);
            free(same);
            CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL, bloomline_matrix_encode(opened, at, len - 1, NULL));
            CHECK_OK(bloomline_matrix_save(opened, again.text));
            same = files_read(again.text, &len_of_file);
            CHECK(len_of_file == len && memcmp(same, data, len) == 0);
            free(same);
            /* A clone can be changed. */
            REQUIRE_OK(bloomline_matrix_clone(opened, &other));
            CHECK_OK(bloomline_matrix_clear_column(other, 0));
            CHECK_OK(bloomline_matrix_set_column(other, 0, views));
            check_answers(other, columns);
            bloomline_matrix_free(other);
            REQUIRE_OK(bloomline_matrix_with_columns(opened, columns + 1, &other));
            CHECK_U64(0, bloomline_matrix_name(other, columns));
            CHECK_U64(named ? names[0] : 0, bloomline_matrix_name(other, 0));
            bloomline_matrix_free(other);
            bloomline_view view;
            CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_map_view(map, &view));
            CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_view_open(data, len, &view));
            bloomline_map_close(map);
        }
        REQUIRE_OK(bloomline_matrix_load(name.text, &other));
        check_answers(other, columns);
        CHECK_OK(bloomline_matrix_set_names(other, NULL, 0));
        CHECK_U64(0, bloomline_matrix_name(other, 0));
        bloomline_matrix_free(other);
        bloomline_matrix_free(matrix);
        fenced_free(bytes);
        free(data);
    }
    CHECK(unlink(name.text) == 0 && unlink(again.text) == 0 && rmdir(place.text) == 0);
    CHECK(bloomline_map_matrix(NULL) == NULL);
    /* A map of another kind. */
    uint8_t block[64 * 6];
    bloomline_map *map = NULL;
    REQUIRE_OK(bloomline_block_build(&shape, hashes, KEYS, block, sizeof block));
    REQUIRE_OK(bloomline_map_bytes(block, sizeof block, 0, &map));
    CHECK(bloomline_map_matrix(map) == NULL);
    bloomline_map_close(map);
}

/* No bit can be changed, and no byte be missing, unnoticed; unverified, no probe leaves the bytes. */
static void damaged_bytes(void)
{
    bloomline_params one = {1, K, 0, 9};
    bloomline_matrix *matrix = NULL, *other = NULL;
    bloomline_map *map = NULL;
    REQUIRE_OK(bloomline_matrix_new(&one, 2, &matrix));
    uint64_t names[2] = {1, 2}, bitmap;
    CHECK_OK(bloomline_matrix_set_names(matrix, names, 2));
    bloomline_matrix_set_checksums(matrix, true);
    CHECK_OK(bloomline_matrix_insert_hash(matrix, 1, 77));
    size_t len;
    uint8_t *data = encoded(matrix, &len);
    bloomline_matrix_free(matrix);
    size_t step = check_fewer() ? 11 : 1;
    for (size_t bit = 0; bit < 8 * len; bit += step) {
        data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        CHECK_WITH(bloomline_matrix_decode(data, len, &other) != BLOOMLINE_OK, "bit %zu", bit);
        CHECK_WITH(bloomline_map_bytes(data, len, 0, &map) != BLOOMLINE_OK, "bit %zu", bit);
        if (bloomline_map_bytes(data, len, BLOOMLINE_MAP_UNVERIFIED, &map) == BLOOMLINE_OK) {
            const bloomline_matrix *opened = bloomline_map_matrix(map);
            CHECK(bloomline_matrix_contains_hash(opened, 77, &bitmap) <= 2 && bitmap < 4);
            CHECK(bloomline_matrix_count_hash(opened, 77) <= 2);
            /* What is damaged is not sealed anew. */
            CHECK_STATUS(BLOOMLINE_ERR_CHECKSUM, bloomline_matrix_clone(opened, &other));
            uint8_t *same = encoded(opened, &len);
            CHECK(memcmp(same, data, len) == 0);
            free(same);
            bloomline_map_close(map);
        }
        data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t cut = 0; cut < len; cut++) {
        CHECK_WITH(bloomline_matrix_decode(data, cut, &other) != BLOOMLINE_OK, "cut to %zu", cut);
        CHECK_WITH(bloomline_map_bytes(data, cut, BLOOMLINE_MAP_UNVERIFIED, &map) != BLOOMLINE_OK, "cut to %zu", cut);
    }
    CHECK(other == NULL);
    free(data);
}

/* What an object store has of it: the last bytes, then one range for a key. */
static void single_ranges(void)
{
    for (size_t c = 0; c < COUNTS; c++) {
        size_t columns = counts[c], words = (columns + 63) / 64, len;
        for (int summed = 0; summed < 2; summed++) {
            bloomline_matrix *matrix = filled(columns);
            bloomline_matrix_shape about, read, before;
            bloomline_matrix_set_checksums(matrix, summed == 1);
            CHECK_OK(bloomline_matrix_about(matrix, &about));
            uint8_t *data = encoded(matrix, &len);
            bloomline_matrix_free(matrix);
            CHECK_OK(bloomline_matrix_shape_read(data + len - FOOTER_BYTES, len, &read));
            CHECK(memcmp(&about, &read, sizeof about) == 0);
            fenced bytes = fenced_new(words * 8 * 512);
            uint64_t *bitmap = words_at_fence(output, 1, words), offset, size, sum;
            for (size_t key = 0; key < KEYS; key++) {
                CHECK_OK(bloomline_matrix_range(&read, hashes[key], &offset, &size, &sum));
                REQUIRE(size == words * 8 * 512 && offset == size * definition_line_index(hashes[key], LINES));
                REQUIRE((sum != 0) == (summed == 1) && sum <= len - FOOTER_BYTES);
                uint8_t *range = at_fence(bytes, 1, size), *checksum = summed == 1 ? data + sum : NULL;
                memcpy(range, data + offset, size);
                CHECK_OK(bloomline_matrix_contains_in(&read, hashes[key], range, size, checksum, bitmap));
                for (size_t column = 0; column < columns; column++) {
                    CHECK(bit_of(bitmap, column) == expected(column, hashes[key]));
                }
                CHECK(columns % 64 == 0 || bitmap[columns / 64] >> (columns % 64) == 0);
                memset(bitmap, 0x5A, 8 * words);
                CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, bloomline_matrix_contains_in(&read, hashes[key], range, size - 1, NULL, bitmap));
                range[size / 2] ^= 1;
                if (summed == 1) {
                    CHECK_STATUS(BLOOMLINE_ERR_CHECKSUM, bloomline_matrix_contains_in(&read, hashes[key], range, size, checksum, bitmap));
                }
                for (size_t word = 0; word < words; word++) CHECK_U64(UINT64_C(0x5A5A5A5A5A5A5A5A), bitmap[word]);
            }
            memset(&read, 0x5A, sizeof read);
            before = read;
            CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, bloomline_matrix_shape_read(data + len - FOOTER_BYTES, len - 8, &read));
            CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, bloomline_matrix_shape_read(data + len - FOOTER_BYTES, 9, &read));
            CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_shape_read(NULL, len, &read));
            CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_shape_read(data + len - FOOTER_BYTES, len, NULL));
            data[len - 1] ^= 1;
            CHECK_STATUS(BLOOMLINE_ERR_NOT_A_FILTER, bloomline_matrix_shape_read(data + len - FOOTER_BYTES, len, &read));
            CHECK(memcmp(&read, &before, sizeof read) == 0);
            fenced_free(bytes);
            free(data);
        }
    }
    /* Shapes that are none. */
    bloomline_matrix_shape given = {shape, 64, 0};
    static const uint8_t none[64 * 64];
    uint64_t offset = 5, len = 5, bitmap = 5;
    CHECK_OK(bloomline_matrix_range(&given, 1, &offset, &len, NULL));
    given.flags = 4;
    offset = len = 5;
    CHECK_STATUS(BLOOMLINE_ERR_RESERVED, bloomline_matrix_range(&given, 1, &offset, &len, NULL));
    given.flags = 0;
    given.columns = 0;
    CHECK_STATUS(BLOOMLINE_ERR_COLUMNS, bloomline_matrix_range(&given, 1, &offset, &len, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_COLUMNS, bloomline_matrix_contains_in(&given, 1, none, sizeof none, NULL, &bitmap));
    given.columns = UINT64_MAX;
    CHECK_STATUS(BLOOMLINE_ERR_COLUMNS, bloomline_matrix_range(&given, 1, &offset, &len, NULL));
    given.columns = 64;
    given.params.line_count = 0;
    CHECK_STATUS(BLOOMLINE_ERR_NO_LINES, bloomline_matrix_range(&given, 1, &offset, &len, NULL));
    given.params = shape;
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_range(NULL, 1, &offset, &len, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_range(&given, 1, NULL, &len, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_range(&given, 1, &offset, NULL, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_contains_in(NULL, 1, none, sizeof none, NULL, &bitmap));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_contains_in(&given, 1, NULL, sizeof none, NULL, &bitmap));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_contains_in(&given, 1, none, sizeof none, NULL, NULL));
    CHECK(offset == 5 && len == 5 && bitmap == 5);
}

static void what_cannot_be_answered(void)
{
    bloomline_matrix *matrix = new_matrix(70), *none = NULL;
    bloomline_filter *filter = NULL;
    uint64_t bitmap[140] = {0}, names[70] = {0};
    uint32_t numbers[70] = {0};
    CHECK_U64(70, bloomline_matrix_contains(matrix, NULL, 1, bitmap));
    CHECK(bitmap[0] == UINT64_MAX && bitmap[1] == 63);
    CHECK_U64(0, bloomline_matrix_contains(matrix, NULL, 0, bitmap));
    CHECK_U64(70, bloomline_matrix_contains(matrix, "a", 1, NULL));
    CHECK_U64(70, bloomline_matrix_contains_hash(matrix, 1, NULL));
    CHECK_U64(70, bloomline_matrix_contains_hash_among(matrix, 1, bitmap, NULL));
    CHECK_U64(140, bloomline_matrix_contains_hashes(matrix, NULL, 2, bitmap));
    CHECK(bitmap[2] == UINT64_MAX && bitmap[3] == 63 && bitmap[4] == 0);
    CHECK_U64(140, bloomline_matrix_contains_hashes(matrix, names, 2, NULL));
    CHECK_U64(0, bloomline_matrix_contains_hashes(matrix, NULL, 0, NULL));
    CHECK_U64(70, bloomline_matrix_contains_pairs(matrix, NULL, names, 70, bitmap));
    CHECK_U64(70, bloomline_matrix_contains_pairs(matrix, numbers, NULL, 70, bitmap));
    CHECK_U64(70, bloomline_matrix_contains_pairs(matrix, numbers, names, 70, NULL));
    CHECK_U64(70, bloomline_matrix_contains_pairs(NULL, numbers, names, 70, bitmap));
    CHECK(bitmap[0] == UINT64_MAX && bitmap[1] == 63);
    /* How many columns there are is not known. */
    memset(bitmap, 0, sizeof bitmap);
    CHECK_U64(SIZE_MAX, bloomline_matrix_contains(NULL, "a", 1, bitmap));
    CHECK_U64(SIZE_MAX, bloomline_matrix_contains_hash(NULL, 1, bitmap));
    CHECK_U64(SIZE_MAX, bloomline_matrix_contains_hash_among(NULL, 1, NULL, bitmap));
    CHECK_U64(SIZE_MAX, bloomline_matrix_contains_hashes(NULL, names, 2, bitmap));
    CHECK_U64(SIZE_MAX, bloomline_matrix_count_hash(NULL, 1));
    CHECK(bloomline_matrix_any_hash(NULL, 1, NULL) && bitmap[0] == 0);
    CHECK(!bloomline_matrix_any_hash(matrix, 1, NULL));
    /* Statuses. */
    CHECK_STATUS(BLOOMLINE_ERR_COLUMN, bloomline_matrix_insert(matrix, 70, "a", 1));
    CHECK_STATUS(BLOOMLINE_ERR_COLUMN, bloomline_matrix_insert_hash(matrix, SIZE_MAX, 1));
    CHECK_STATUS(BLOOMLINE_ERR_COLUMN, bloomline_matrix_clear_column(matrix, 70));
    CHECK_STATUS(BLOOMLINE_ERR_COLUMN, bloomline_matrix_column(matrix, 70, &filter));
    CHECK_STATUS(BLOOMLINE_ERR_COLUMNS, bloomline_matrix_set_names(matrix, names, 69));
    CHECK_STATUS(BLOOMLINE_ERR_COLUMNS, bloomline_matrix_with_columns(matrix, 0, &none));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_set_names(matrix, NULL, 70));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_set_names(NULL, names, 70));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_set_columns(matrix, 0, NULL, 1, 1));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_set_column(matrix, 0, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_set_column(NULL, 0, views));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_clear_column(NULL, 0));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_column(NULL, 0, &filter));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_column(matrix, 0, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_with_columns(NULL, 1, &none));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_with_columns(matrix, 1, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_insert(NULL, 0, "a", 1));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_insert_hash(NULL, 0, 1));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_about(matrix, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_about(NULL, (bloomline_matrix_shape *)(void *)bitmap));
    CHECK(none == NULL && filter == NULL && bitmap[0] == 0);
    bloomline_matrix_set_checksums(NULL, true);
    CHECK_U64(0, bloomline_matrix_name(NULL, 0));
    bloomline_matrix_free(matrix);
    bloomline_matrix_free(NULL);
}

int main(void)
{
    check_begin("test_matrix");
    output = fenced_new(8 * WORDS);
    make_columns();
    RUN(answers_and_columns);
    RUN(other_numbers_of_columns);
    RUN(filters_that_fit);
    RUN(made_of_nothing);
    RUN(opened_where_it_is);
    RUN(damaged_bytes);
    RUN(single_ranges);
    RUN(what_cannot_be_answered);
    fenced_free(output);
    return check_end();
}
