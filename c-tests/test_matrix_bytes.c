/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_matrix_bytes.c - the bytes of a bloomline_matrix: encoded ones where they are, damaged ones, single
 * ranges; every status; NULL. Bytes lie before forbidden pages.
 */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include "matrix.h"

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
            CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_view_open(data, len, 0, &view));
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
    CHECK_OK(bloomline_matrix_insert_hash(matrix, 1, 77, NULL));
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
            CHECK(bloomline_matrix_contains_hash(opened, 77, NULL, &bitmap) <= 2 && bitmap < 4);
            CHECK(bloomline_matrix_count_hash(opened, 77, NULL) <= 2);
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
    static const uint64_t among[2] = {5, 0x60};
    uint32_t numbers[70] = {0};
    CHECK_U64(70, bloomline_matrix_contains(matrix, NULL, 1, NULL, bitmap));
    CHECK(bitmap[0] == UINT64_MAX && bitmap[1] == 63);
    CHECK_U64(0, bloomline_matrix_contains(matrix, NULL, 0, NULL, bitmap));
    CHECK_U64(70, bloomline_matrix_contains(matrix, "a", 1, NULL, NULL));
    CHECK_U64(70, bloomline_matrix_contains_hash(matrix, 1, NULL, NULL));
    CHECK_U64(70, bloomline_matrix_contains_hash(matrix, 1, bitmap, NULL));
    /* Of a key that is not there, among some. */
    CHECK_U64(3, bloomline_matrix_contains(matrix, NULL, 1, among, bitmap));
    CHECK(bitmap[0] == 5 && bitmap[1] == 32);
    CHECK_U64(6, bloomline_matrix_contains_hashes(matrix, NULL, 2, among, bitmap));
    CHECK(bitmap[2] == 5 && bitmap[3] == 32);
    CHECK_U64(140, bloomline_matrix_contains_hashes(matrix, NULL, 2, NULL, bitmap));
    CHECK(bitmap[2] == UINT64_MAX && bitmap[3] == 63 && bitmap[4] == 0);
    CHECK_U64(140, bloomline_matrix_contains_hashes(matrix, names, 2, NULL, NULL));
    CHECK_U64(0, bloomline_matrix_contains_hashes(matrix, NULL, 0, NULL, NULL));
    CHECK_U64(70, bloomline_matrix_contains_pairs(matrix, NULL, names, 70, bitmap));
    CHECK_U64(70, bloomline_matrix_contains_pairs(matrix, numbers, NULL, 70, bitmap));
    CHECK_U64(70, bloomline_matrix_contains_pairs(matrix, numbers, names, 70, NULL));
    CHECK_U64(70, bloomline_matrix_contains_pairs(NULL, numbers, names, 70, bitmap));
    CHECK(bitmap[0] == UINT64_MAX && bitmap[1] == 63);
    /* How many columns there are is not known. */
    memset(bitmap, 0, sizeof bitmap);
    CHECK_U64(SIZE_MAX, bloomline_matrix_contains(NULL, "a", 1, NULL, bitmap));
    CHECK_U64(SIZE_MAX, bloomline_matrix_contains_hash(NULL, 1, NULL, bitmap));
    CHECK_U64(SIZE_MAX, bloomline_matrix_contains_hash(NULL, 1, among, bitmap));
    CHECK_U64(SIZE_MAX, bloomline_matrix_contains_hashes(NULL, names, 2, NULL, bitmap));
    CHECK_U64(SIZE_MAX, bloomline_matrix_count_hash(NULL, 1, NULL));
    CHECK(bloomline_matrix_any_hash(NULL, 1, NULL) && bitmap[0] == 0);
    CHECK(!bloomline_matrix_any_hash(matrix, 1, NULL));
    /* Pairs: nothing is written. */
    bloomline_matrix_pair from = {1, 2}, pairs[4] = {{7, 7}};
    size_t written = 7;
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_select_hashes(NULL, names, 2, NULL, &from, pairs, 4, &written));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_select_hashes(matrix, NULL, 2, NULL, &from, pairs, 4, &written));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_select_hashes(matrix, names, 2, NULL, NULL, pairs, 4, &written));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_select_hashes(matrix, names, 2, NULL, &from, NULL, 4, &written));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_select_hashes(matrix, names, 2, NULL, &from, pairs, 4, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL, bloomline_matrix_select_hashes(matrix, names, 2, NULL, &from, pairs, 0, &written));
    CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL, bloomline_matrix_select_hashes(matrix, names, 2, NULL, &from, NULL, 0, &written));
#if SIZE_MAX > UINT32_MAX
    CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL,
                 bloomline_matrix_select_hashes(matrix, names, (size_t)UINT32_MAX + 1, NULL, &from, pairs, 4, &written));
#endif
    CHECK(from.key == 1 && from.column == 2 && written == 7 && pairs[0].key == 7 && pairs[0].column == 7);
    /* From behind the last column, behind the last key, and of no keys. */
    bloomline_matrix_pair ends[] = {{0, 70}, {1, UINT32_MAX}, {2, 0}, {UINT32_MAX, UINT32_MAX}};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        CHECK_OK(bloomline_matrix_select_hashes(matrix, names, 2, NULL, &ends[i], pairs, 4, &written));
        CHECK(ends[i].key == 2 && ends[i].column == 0 && written == 0);
    }
    from.key = 0;
    CHECK_OK(bloomline_matrix_select_hashes(matrix, NULL, 0, NULL, &from, pairs, 4, &written));
    CHECK(from.key == 0 && from.column == 0 && written == 0);
    /* Statuses. */
    CHECK_STATUS(BLOOMLINE_ERR_COLUMN, bloomline_matrix_insert(matrix, 70, "a", 1, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_COLUMN, bloomline_matrix_insert_hash(matrix, SIZE_MAX, 1, NULL));
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
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_insert(NULL, 0, "a", 1, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_insert_hash(NULL, 0, 1, NULL));
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
    check_begin("test_matrix_bytes");
    matrix_begin();
    RUN(opened_where_it_is);
    RUN(damaged_bytes);
    RUN(single_ranges);
    RUN(what_cannot_be_answered);
    matrix_end();
    return check_end();
}
