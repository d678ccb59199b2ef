/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_matrix.c - bloomline_matrix: answers by the definition, of columns kept here one by one; columns
 * set, folded, cleared and taken out.
 */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include "matrix.h"

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

int main(void)
{
    check_begin("test_matrix");
    matrix_begin();
    RUN(answers_and_columns);
    RUN(other_numbers_of_columns);
    RUN(filters_that_fit);
    RUN(made_of_nothing);
    matrix_end();
    return check_end();
}
