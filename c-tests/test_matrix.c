/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_matrix.c - bloomline_matrix: answers by the definition, of columns kept here one by one; columns
 * set, filled in batches, folded, cleared and taken out.
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
            if (expected(columns - 1, hashes[key])) CHECK_OK(bloomline_matrix_insert_hash(clone, columns - 1, hashes[key], NULL));
        }
        uint64_t bitmap[WORDS];
        for (size_t key = 0; key < KEYS; key++) {
            bloomline_matrix_contains_hash(clone, hashes[key], NULL, bitmap);
            CHECK(bit_of(bitmap, columns - 1) == expected(columns - 1, hashes[key]));
        }
        CHECK_OK(bloomline_matrix_insert(clone, 0, "apple", 5, NULL));
        bloomline_matrix_contains(clone, "apple", 5, NULL, bitmap);
        CHECK(bit_of(bitmap, 0));
        uint64_t but_one[WORDS];
        memset(but_one, 0xFF, sizeof but_one);
        but_one[0]--;
        bloomline_matrix_contains(clone, "apple", 5, but_one, bitmap);
        CHECK(!bit_of(bitmap, 0));
        bloomline_matrix_contains_hash(clone, bloomline_hash("apple", 5, shape.seed), NULL, bitmap);
        CHECK(bit_of(bitmap, 0));
        CHECK_U64((columns + 63) / 64 * 8 * 512 * LINES, bloomline_matrix_memory(matrix));
        bloomline_matrix_free(clone);
        bloomline_matrix_free(one_by_one);
        bloomline_matrix_free(matrix);
    }
}

/* Keys of batches: text of 0 to 4 bytes, each twice, and one that is not there. */
enum { BATCH = 1100, BROKEN = 600 };
static char texts[BATCH][8];
static bloomline_bytes batch[BATCH];
static uint64_t batch_hashes[BATCH];

static void make_batch(void)
{
    for (size_t i = 0; i < BATCH; i++) {
        snprintf(texts[i], sizeof texts[i], "%zx", i / 2);
        batch[i].data = (const uint8_t *)texts[i];
        batch[i].len = i < 2 ? 0 : strlen(texts[i]);
    }
    bloomline_hash_batch(batch, BATCH, shape.seed, batch_hashes);
}

/* Into a column and into its lines by the definition: the same bits, and the same keys are new. */
static void inserted_in_batches(void)
{
    static const size_t sizes[] = {0, 1, 2, 15, 16, 17, 63, 64, 65, 128, 511, 512, 513, BATCH};
    static uint8_t own[LEN];
    fenced new_ones = fenced_new(8 * (BATCH / 64 + 1));
    for (size_t c = 0; c < COUNTS; c++) {
        size_t columns = counts[c], column = columns / 2;
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            for (unsigned way = 0; way < 6; way++) {
                bloomline_matrix *matrix = new_matrix(columns);
                size_t n = sizes[s], first = (BATCH - n) / 2, bitmap_words = (n + 63) / 64;
                uint64_t *is_new = words_at_fence(new_ones, 1, bitmap_words), *told = way % 2 == 0 ? is_new : NULL;
                memset(is_new, 0xA5, 8 * bitmap_words);
                memset(own, 0, LEN);
                if (way < 2) {
                    CHECK_OK(bloomline_matrix_insert_hashes(matrix, column, batch_hashes + first, n, told));
                } else if (way < 4) {
                    CHECK_OK(bloomline_matrix_insert_keys(matrix, column, batch + first, n, told));
                }
                for (size_t i = 0; i < n; i++) {
                    uint64_t hash = batch_hashes[first + i];
                    bool one = false, expect = !definition_contains(own, LINES, K, hash);
                    if (way == 4) {
                        CHECK_OK(bloomline_matrix_insert_hash(matrix, column, hash, &one));
                    } else if (way == 5) {
                        CHECK_OK(bloomline_matrix_insert(matrix, column, batch[first + i].data, batch[first + i].len, &one));
                    } else {
                        one = way % 2 == 0 ? bit_of(is_new, i) : expect;
                    }
                    CHECK_WITH(one == expect, "key %zu of %zu, way %u", i, n, way);
                    definition_insert(own, LINES, K, hash);
                }
                CHECK(way >= 4 || way % 2 == 1 || n % 64 == 0 || is_new[n / 64] >> (n % 64) == 0);
                check_column(matrix, column, own);
                if (columns > 1) {
                    static const uint8_t none[LEN];
                    check_column(matrix, column - 1, none);
                }
                bloomline_matrix_free(matrix);
            }
        }
    }
    fenced_free(new_ones);
}

static void keys_are_asked_in_batches(void)
{
    static const size_t sizes[] = {0, 1, 2, 15, 16, 17, 511, 512, 513, BATCH};
    static uint64_t one[WORDS];
    fenced rows = fenced_new((size_t)BATCH * WORDS * 8);
    for (size_t c = 0; c < COUNTS; c++) {
        size_t columns = counts[c], words = (columns + 63) / 64;
        bloomline_matrix *matrix = new_matrix(columns);
        for (size_t i = 0; i < BATCH; i += 7) CHECK_OK(bloomline_matrix_insert_hash(matrix, i % columns, batch_hashes[i], NULL));
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            size_t n = sizes[s], first = (BATCH - n) / 2, total = 0;
            uint64_t *answers = words_at_fence(rows, 1, n * words);
            for (int broken = 0; broken < 2; broken++) {
                /* The second time one key is not there, so all columns may have it. */
                batch[BROKEN].data = broken ? NULL : (const uint8_t *)texts[BROKEN];
                memset(answers, 0xA5, 8 * n * words);
                size_t present = bloomline_matrix_contains_keys(matrix, batch + first, n, NULL, answers);
                total = 0;
                for (size_t i = 0; i < n; i++) {
                    bool unknown = broken && first + i == BROKEN;
                    total += unknown ? columns : bloomline_matrix_contains_hash(matrix, batch_hashes[first + i], NULL, one);
                    for (size_t bit = 0; unknown && bit < 64 * words; bit++) CHECK(bit_of(answers + i * words, bit) == (bit < columns));
                    CHECK_WITH(unknown || memcmp(one, answers + i * words, 8 * words) == 0, "key %zu of %zu, %zu columns", i, n, columns);
                }
                CHECK_U64(total, present);
            }
            batch[BROKEN].data = (const uint8_t *)texts[BROKEN];
        }
        bloomline_matrix_free(matrix);
    }
    fenced_free(rows);
    /* What is missing. */
    bloomline_matrix *matrix = new_matrix(70);
    uint64_t bitmaps[5] = {0};
    CHECK_U64(140, bloomline_matrix_contains_keys(matrix, NULL, 2, NULL, bitmaps));
    CHECK(bitmaps[0] == UINT64_MAX && bitmaps[1] == 63 && bitmaps[2] == UINT64_MAX && bitmaps[3] == 63 && bitmaps[4] == 0);
    CHECK_U64(140, bloomline_matrix_contains_keys(matrix, batch, 2, NULL, NULL));
    CHECK_U64(0, bloomline_matrix_contains_keys(matrix, NULL, 0, NULL, NULL));
    CHECK_U64(SIZE_MAX, bloomline_matrix_contains_keys(NULL, batch, 2, NULL, bitmaps));
    /* Nothing is written, and no key is inserted. */
    bool is_new = true;
    bitmaps[0] = 5;
    CHECK_STATUS(BLOOMLINE_ERR_COLUMN, bloomline_matrix_insert_hashes(matrix, 70, batch_hashes, 2, bitmaps));
    CHECK_STATUS(BLOOMLINE_ERR_COLUMN, bloomline_matrix_insert_hashes(matrix, 70, batch_hashes, 2, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_COLUMN, bloomline_matrix_insert_keys(matrix, SIZE_MAX, batch, 2, bitmaps));
    CHECK_STATUS(BLOOMLINE_ERR_COLUMN, bloomline_matrix_insert_keys(matrix, SIZE_MAX, batch, 2, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_COLUMN, bloomline_matrix_insert_hash(matrix, 70, 1, &is_new));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_insert_hashes(matrix, 0, NULL, 2, bitmaps));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_insert_keys(matrix, 0, NULL, 2, bitmaps));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_insert_hashes(matrix, 0, batch_hashes, 2, (uint64_t *)(void *)(texts[0] + 1)));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_insert_hashes(NULL, 0, batch_hashes, 2, bitmaps));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_insert_keys(NULL, 0, batch, 2, NULL));
    CHECK_OK(bloomline_matrix_insert_hashes(matrix, 0, NULL, 0, NULL));
    CHECK_OK(bloomline_matrix_insert_keys(matrix, 0, NULL, 0, NULL));
    CHECK(is_new && bitmaps[0] == 5);
    CHECK_U64(0, bloomline_matrix_contains_keys(matrix, batch, 2, NULL, bitmaps));
    bloomline_matrix_free(matrix);
}

static void cleared(void)
{
    static const uint8_t none[LEN];
    uint64_t names[MOST];
    for (size_t i = 0; i < MOST; i++) names[i] = i + 1;
    for (size_t c = 0; c < COUNTS; c++) {
        bloomline_matrix *matrix = filled(counts[c]);
        CHECK_OK(bloomline_matrix_set_names(matrix, names, counts[c]));
        bloomline_matrix_clear(matrix);
        for (size_t column = 0; column < counts[c]; column += column < 66 ? 1 : 97) check_column(matrix, column, none);
        CHECK_U64(counts[c], bloomline_matrix_name(matrix, counts[c] - 1));
        CHECK_OK(bloomline_matrix_set_columns(matrix, 0, views, counts[c], 1));
        check_answers(matrix, counts[c]);
        bloomline_matrix_free(matrix);
    }
    bloomline_matrix_clear(NULL);
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
    bloomline_matrix_contains_hash(matrix, 5, NULL, &bitmap);
    CHECK((bitmap & 1) == 1);
    bloomline_matrix_contains_hash(matrix, 6, NULL, &bitmap);
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
    CHECK_STATUS(BLOOMLINE_ERR_CLASSIC, bloomline_params_foldable_to(&given, &classic));
    given.line_count = UINT64_C(7) << 54;
    CHECK_STATUS(BLOOMLINE_ERR_LINE_COUNT, bloomline_params_foldable_to(&given, &shape));
    CHECK_U64(UINT64_C(7) << 54, given.line_count);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_params_foldable_to(NULL, &shape));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_params_foldable_to(&given, NULL));
}

/* Columns with keys at both ends and across the middle, and none in the others. */
static void columns_that_16_bits_number(void)
{
    enum { ALL = 65536, WIDE = ALL / 64, FEW = 9, ASKED = FEW + 3 };
    static const uint32_t inside[FEW] = {0, 1, 4095, 32766, 32767, 32768, 65472, 65534, 65535};
    static uint8_t lines[FEW][LEN];
    static uint64_t rows[ASKED * WIDE], among[WIDE], row[WIDE];
    static const uint8_t none[LEN];
    bloomline_view few[FEW];
    bloomline_matrix *matrix = new_matrix(ALL);
    for (size_t i = 0; i < FEW; i++) {
        for (size_t j = i; j < KEYS; j += FEW) definition_insert(lines[i], LINES, K, hashes[j]);
        REQUIRE_OK(bloomline_lines_view(&shape, lines[i], LEN, &few[i]));
        if (inside[i] == 32766 || inside[i] == 32767 || inside[i] == 32768) continue;
        for (size_t j = i; j < KEYS; j += FEW) CHECK_OK(bloomline_matrix_insert_hash(matrix, inside[i], hashes[j], NULL));
    }
    CHECK_OK(bloomline_matrix_set_columns(matrix, 32766, few + 3, 3, 1));
    memset(among, 0xFF, sizeof among);
    among[32767 / 64] &= ~(UINT64_C(1) << 32767 % 64);
    among[65535 / 64] &= ~(UINT64_C(1) << 65535 % 64);
    size_t total = bloomline_matrix_contains_hashes(matrix, hashes, ASKED, NULL, rows), all = 0, all_live = 0;
    for (size_t key = 0; key < ASKED; key++) {
        size_t found = 0, live = 0, set = 0;
        CHECK_U64(bloomline_matrix_count_hash(matrix, hashes[key], NULL), bloomline_matrix_contains_hash(matrix, hashes[key], NULL, row));
        CHECK(memcmp(row, rows + key * WIDE, sizeof row) == 0);
        for (size_t i = 0; i < FEW; i++) {
            bool maybe = definition_contains(lines[i], LINES, K, hashes[key]);
            CHECK_WITH(maybe == bit_of(row, inside[i]), "column %u, key %zu", inside[i], key);
            found += maybe;
            live += maybe && bit_of(among, inside[i]);
        }
        for (size_t column = 0; column < ALL; column++) set += bit_of(row, column);
        CHECK_U64(found, set);
        CHECK_U64(found, bloomline_matrix_count_hash(matrix, hashes[key], NULL));
        CHECK_U64(live, bloomline_matrix_count_hash(matrix, hashes[key], among));
        CHECK(bloomline_matrix_any_hash(matrix, hashes[key], among) == (live > 0));
        CHECK_U64(live, bloomline_matrix_contains_hash(matrix, hashes[key], among, row));
        for (size_t word = 0; word < WIDE; word++) CHECK(row[word] == (rows[key * WIDE + word] & among[word]));
        all += found;
        all_live += live;
    }
    CHECK_U64(all, total);
    check_pairs(matrix, ALL, ASKED, NULL, rows, 5);
    CHECK_U64(all_live, bloomline_matrix_contains_hashes(matrix, hashes, ASKED, among, rows));
    check_pairs(matrix, ALL, ASKED, among, rows, 1);
    for (size_t i = 0; i < FEW; i++) check_column(matrix, inside[i], lines[i]);
    CHECK_OK(bloomline_matrix_clear_column(matrix, 32768));
    CHECK_OK(bloomline_matrix_clear_column(matrix, 65535));
    for (size_t i = 0; i < FEW; i++) check_column(matrix, inside[i], inside[i] == 32768 || inside[i] == 65535 ? none : lines[i]);
    CHECK_STATUS(BLOOMLINE_ERR_COLUMN, bloomline_matrix_clear_column(matrix, ALL));
    bloomline_matrix_free(matrix);
}

static void made_of_nothing(void)
{
    bloomline_matrix *matrix = NULL;
    bloomline_params params = shape;
    CHECK_STATUS(BLOOMLINE_ERR_COLUMNS, bloomline_matrix_new(&shape, 0, &matrix));
    if (SIZE_MAX > UINT32_MAX) CHECK_STATUS(BLOOMLINE_ERR_COLUMNS, bloomline_matrix_new(&shape, (size_t)UINT32_MAX + 1, &matrix));
    params.layout = BLOOMLINE_KIND_CLASSIC;
    CHECK_STATUS(BLOOMLINE_ERR_CLASSIC, bloomline_matrix_new(&params, 1, &matrix));
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
    make_batch();
    RUN(answers_and_columns);
    RUN(inserted_in_batches);
    RUN(keys_are_asked_in_batches);
    RUN(cleared);
    RUN(other_numbers_of_columns);
    RUN(filters_that_fit);
    RUN(columns_that_16_bits_number);
    RUN(made_of_nothing);
    matrix_end();
    return check_end();
}
