/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_matrix_ranges.c - parts of an encoded bloomline_matrix, such as an object store returns: the rows of a
 * key, and the ranges of a batch, against the definition and the whole matrix; cut ones; every status. What is
 * read or written lies before forbidden pages.
 */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include "check.h"
#include "definition.h"
#include "encoded.h"
#include "fenced.h"

ENCODED(matrix)

enum { MOST = 513, LINES = 20, LEN = LINES * LINE_BYTES, KEYS = 60, MAX_WORDS = (MOST + 63) / 64 };
static const size_t counts[] = {1, 63, 64, 65, MOST};
enum { COUNTS = sizeof counts / sizeof counts[0] };
static const uint32_t ks[] = {1, 6, 9, 16};
enum { KS = sizeof ks / sizeof ks[0] };

/* The columns by the definition, the matrix of them, and its bytes. */
static uint8_t lines[MOST][LEN];
static uint64_t hashes[KEYS];
static bloomline_params shape = {LINES, 6, 0, 9};
static bloomline_matrix *matrix;
static bloomline_matrix_shape read_shape;
static uint8_t *data;
static size_t len, words, row_len, group_len;
static fenced bytes, output, room;

/* Each key is in some columns. */
static void make(size_t columns, uint32_t k, bool summed, bool named)
{
    bloomline_view views[MOST];
    uint64_t names[MOST];
    shape.k = k;
    memset(lines, 0, sizeof lines);
    for (size_t column = 0; column < columns; column++) {
        for (size_t key = 0; key < KEYS; key++) {
            if ((column * 31 + key * 7) % 11 < 2) definition_insert(lines[column], LINES, k, hashes[key]);
        }
        REQUIRE_OK(bloomline_lines_view(&shape, lines[column], LEN, &views[column]));
        names[column] = column * UINT64_C(0x0123456789ABCDEF) + 1;
    }
    REQUIRE_OK(bloomline_matrix_new(&shape, columns, &matrix));
    REQUIRE_OK(bloomline_matrix_set_columns(matrix, 0, views, columns, 1));
    if (named) REQUIRE_OK(bloomline_matrix_set_names(matrix, names, columns));
    bloomline_matrix_set_checksums(matrix, summed);
    data = encoded(matrix, &len);
    REQUIRE_OK(bloomline_matrix_shape_read(data + len - FOOTER_BYTES, len, &read_shape));
    words = (columns + 63) / 64;
    row_len = 8 * words;
    group_len = 512 * row_len;
}

static void drop(void)
{
    bloomline_matrix_free(matrix);
    free(data);
}

/* The bitmap is that of all columns. */
static void check_bitmap(const uint64_t *bitmap, uint64_t hash)
{
    uint64_t whole[MAX_WORDS];
    size_t columns = (size_t)read_shape.columns;
    bloomline_matrix_contains_hash(matrix, hash, NULL, whole);
    CHECK(memcmp(bitmap, whole, 8 * words) == 0);
    for (size_t column = 0; column < 64 * words; column++) {
        bool maybe = column < columns && definition_contains(lines[column], LINES, shape.k, hash);
        CHECK_WITH(bit_of(bitmap, column) == maybe, "column %zu of %zu", column, columns);
    }
}

static void check_unwritten(const uint64_t *bitmap)
{
    for (size_t word = 0; word < words; word++) CHECK_U64(UINT64_C(0x5A5A5A5A5A5A5A5A), bitmap[word]);
}

/* The rows of a key: where they are, and the answers from their bytes alone. */
static void check_rows(uint64_t hash, size_t *shared_bits)
{
    uint64_t mask[8], start = definition_line_index(hash, LINES) * group_len;
    bloomline_byte_range *ranges = (bloomline_byte_range *)(void *)at_fence(room, 1, shape.k * sizeof *ranges);
    size_t count = 99, expected = 0;
    CHECK_OK(bloomline_matrix_row_ranges(&read_shape, hash, ranges, &count));
    REQUIRE(count >= 1 && count <= shape.k);
    definition_mask(hash, shape.k, mask);
    for (size_t bit = 0; bit < 512; bit++) {
        if ((mask[bit / 64] >> bit % 64 & 1) == 0) continue;
        REQUIRE(expected < count);
        CHECK_U64(start + bit * row_len, ranges[expected].offset);
        CHECK_U64(row_len, ranges[expected].len);
        expected++;
    }
    CHECK_U64(expected, count);
    *shared_bits += shape.k - count;
    /* One behind the other, up to the fence. */
    uint8_t *rows = at_fence(bytes, 1, count * row_len);
    for (size_t i = 0; i < count; i++) memcpy(rows + i * row_len, data + ranges[i].offset, row_len);
    uint64_t *bitmap = words_at_fence(output, 1, words);
    memset(bitmap, 0x5A, row_len);
    const size_t wrong[] = {0, 1, row_len - 1, (count - 1) * row_len, count * row_len - 1, count * row_len + 1,
                            (count + 1) * row_len, group_len};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        uint8_t *cut = at_fence(bytes, 1, wrong[i]);
        CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, bloomline_matrix_contains_in_rows(&read_shape, hash, cut, wrong[i], bitmap));
    }
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_contains_in_rows(&read_shape, hash, NULL, count * row_len, bitmap));
    check_unwritten(bitmap);
    CHECK_OK(bloomline_matrix_contains_in_rows(&read_shape, hash, rows, count * row_len, bitmap));
    check_bitmap(bitmap, hash);
}

static void rows_answer_as_the_whole_matrix(void)
{
    size_t shared_bits = 0;
    for (size_t c = 0; c < COUNTS; c++) {
        for (size_t i = 0; i < KS; i++) {
            make(counts[c], ks[i], false, c % 2 == 1);
            for (size_t key = 0; key < KEYS; key += check_fewer() ? 7 : 1) check_rows(hashes[key], &shared_bits);
            drop();
        }
    }
    /* Both rounds of a mask chose one bit, so a key has fewer rows than k. */
    CHECK(shared_bits > 0);
}

/* Bits of a row behind the last column are no columns. */
static void bits_behind_the_last_column_are_ignored(void)
{
    make(65, 6, false, false);
    bloomline_byte_range ranges[16];
    size_t count;
    CHECK_OK(bloomline_matrix_row_ranges(&read_shape, hashes[20], ranges, &count));
    uint8_t *rows = at_fence(bytes, 1, count * row_len);
    memset(rows, 0xFF, count * row_len);
    uint64_t *bitmap = words_at_fence(output, 1, words);
    CHECK_OK(bloomline_matrix_contains_in_rows(&read_shape, hashes[20], rows, count * row_len, bitmap));
    CHECK(bitmap[0] == UINT64_MAX && bitmap[1] == 1);
    drop();
}

/* The ranges of a batch by its lines: those that are far apart, each as long as it must be. */
static size_t expected_ranges(const uint64_t *asked, size_t n, uint64_t gap, bloomline_byte_range *out)
{
    bool needed[LINES] = {false};
    size_t count = 0;
    for (size_t i = 0; i < n; i++) needed[definition_line_index(asked[i], LINES)] = true;
    for (uint64_t line = 0; line < LINES; line++) {
        if (!needed[line]) continue;
        uint64_t start = line * group_len, end = start + group_len;
        if (count > 0 && start - (out[count - 1].offset + out[count - 1].len) <= gap) {
            out[count - 1].len = end - out[count - 1].offset;
        } else {
            bloomline_byte_range range = {start, group_len};
            out[count++] = range;
        }
    }
    return count;
}

static void check_batch(const uint64_t *asked, size_t n, uint64_t gap)
{
    bloomline_byte_range expected[LINES];
    bloomline_byte_range *ranges = (bloomline_byte_range *)(void *)at_fence(room, 1, n * sizeof *ranges);
    size_t count = 99, wanted = expected_ranges(asked, n, gap, expected);
    CHECK_OK(bloomline_matrix_ranges(&read_shape, asked, n, gap, ranges, &count));
    REQUIRE(count == wanted);
    for (size_t i = 0; i < count; i++) {
        CHECK(ranges[i].offset == expected[i].offset && ranges[i].len == expected[i].len);
    }
    /* Each key is answered from the one that has its range, where the checksum is its own. */
    for (size_t i = 0; i < n; i += n > 20 ? 9 : 1) {
        uint64_t offset, size, sum, *bitmap = words_at_fence(output, 1, words);
        CHECK_OK(bloomline_matrix_range(&read_shape, asked[i], &offset, &size, &sum));
        size_t at = 0;
        while (at < count && offset >= ranges[at].offset + ranges[at].len) at++;
        REQUIRE(at < count && offset >= ranges[at].offset && offset + size <= ranges[at].offset + ranges[at].len);
        uint8_t *group = at_fence(bytes, 1, (size_t)size);
        memcpy(group, data + ranges[at].offset + (offset - ranges[at].offset), (size_t)size);
        CHECK_OK(bloomline_matrix_contains_in(&read_shape, asked[i], group, (size_t)size, sum != 0 ? data + sum : NULL, bitmap));
        check_bitmap(bitmap, asked[i]);
    }
}

static void batches_merge_near_ranges(void)
{
    static const size_t sizes[] = {0, 1, 2, 3, 7, 40, 2 * KEYS};
    for (size_t c = 0; c < COUNTS; c++) {
        make(counts[c], 6, c % 2 == 0, c % 3 == 0);
        const uint64_t gaps[] = {0,         1, group_len - 1, group_len, group_len + 1, 3 * (uint64_t)group_len, len,
                                 UINT64_MAX};
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s += check_fewer() ? 3 : 1) {
            uint64_t asked[2 * KEYS], same[2 * KEYS];
            /* Not in order, some of them twice, many of one line. */
            for (size_t i = 0; i < sizes[s]; i++) asked[i] = hashes[(i * 37 + s) % (i % 4 == 3 ? 5 : KEYS)];
            memcpy(same, asked, 8 * sizes[s]);
            for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++) check_batch(asked, sizes[s], gaps[g]);
            CHECK(memcmp(same, asked, 8 * sizes[s]) == 0);
        }
        /* Keys of one line, and of neighbours. */
        uint64_t one[5], step = UINT64_MAX / LINES;
        for (uint64_t i = 0; i < 5; i++) one[i] = 3 * step + step / 2 + i;
        check_batch(one, 5, 0);
        for (uint64_t i = 0; i < 5; i++) one[i] = (8 - i) * step + step / 2;
        check_batch(one, 5, 0);
        drop();
    }
    /* None of nothing. */
    size_t count = 99;
    CHECK_OK(bloomline_matrix_ranges(&read_shape, NULL, 0, 0, NULL, &count));
    CHECK_U64(0, count);
}

/* Names and checksums, from their ranges. */
static void parts_hold_names_and_checksums(void)
{
    for (size_t c = 0; c < COUNTS; c++) {
        for (unsigned form = 0; form < 4; form++) {
            bool summed = form % 2 == 1, named = form / 2 == 1;
            make(counts[c], 6, summed, named);
            bloomline_byte_range names, sums, again;
            CHECK_OK(bloomline_matrix_parts(&read_shape, &names, &sums));
            CHECK_U64(LINES * group_len, names.offset);
            CHECK_U64(named ? 8 * counts[c] : 0, names.len);
            CHECK_U64(names.offset + names.len, sums.offset);
            CHECK_U64(summed ? 8 * LINES : 0, sums.len);
            CHECK_U64(len - FOOTER_BYTES, sums.offset + sums.len);
            for (size_t column = 0; named && column < counts[c]; column++) {
                CHECK_U64(bloomline_matrix_name(matrix, column), get_le(data + names.offset + 8 * column, 8));
            }
            for (size_t line = 0; summed && line < LINES; line++) {
                CHECK_U64(bloomline_hash(data + line * group_len, group_len, line), get_le(data + sums.offset + 8 * line, 8));
            }
            CHECK_OK(bloomline_matrix_parts(&read_shape, NULL, &again));
            CHECK(memcmp(&again, &sums, sizeof again) == 0);
            CHECK_OK(bloomline_matrix_parts(&read_shape, &again, NULL));
            CHECK(memcmp(&again, &names, sizeof again) == 0);
            drop();
        }
    }
}

/* After an error nothing is written. */
static void what_cannot_be_told(void)
{
    static const bloomline_byte_range as_before = {5, 5};
    static const uint8_t none[512 * 8];
    bloomline_matrix_shape valid = {{LINES, 6, 0, 9}, 64, 0};
    bloomline_byte_range ranges[16], one = as_before;
    uint64_t hash = 1, bitmap = 5;
    size_t count = 5;
    for (size_t i = 0; i < 16; i++) ranges[i] = as_before;
    const struct {
        uint64_t lines, columns, flags;
        uint32_t k;
        bloomline_status status;
    } shapes[] = {{LINES, 0, 0, 6, BLOOMLINE_ERR_COLUMNS},          {LINES, UINT64_MAX, 0, 6, BLOOMLINE_ERR_COLUMNS},
                  {LINES, 64, 4, 6, BLOOMLINE_ERR_RESERVED},        {0, 64, 0, 6, BLOOMLINE_ERR_NO_LINES},
                  {UINT64_MAX, 64, 0, 6, BLOOMLINE_ERR_LINE_COUNT}, {LINES, 64, 0, 17, BLOOMLINE_ERR_K},
                  {LINES, 64, 0, 0, BLOOMLINE_ERR_K}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        bloomline_matrix_shape given = {{shapes[i].lines, shapes[i].k, 0, 9}, shapes[i].columns, shapes[i].flags};
        bloomline_status status = shapes[i].status;
        CHECK_STATUS(status, bloomline_matrix_ranges(&given, &hash, 1, 0, ranges, &count));
        CHECK_STATUS(status, bloomline_matrix_row_ranges(&given, hash, ranges, &count));
        CHECK_STATUS(status, bloomline_matrix_contains_in_rows(&given, hash, none, 6 * 8, &bitmap));
        CHECK_STATUS(status, bloomline_matrix_parts(&given, ranges, &one));
    }
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_ranges(NULL, &hash, 1, 0, ranges, &count));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_ranges(&valid, NULL, 1, 0, ranges, &count));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_ranges(&valid, &hash, 1, 0, NULL, &count));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_ranges(&valid, &hash, 1, 0, ranges, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_ranges(&valid, &hash, SIZE_MAX / 8, 0, ranges, &count));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_row_ranges(NULL, hash, ranges, &count));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_row_ranges(&valid, hash, NULL, &count));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_row_ranges(&valid, hash, ranges, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_contains_in_rows(NULL, hash, none, 6 * 8, &bitmap));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_contains_in_rows(&valid, hash, none, 6 * 8, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, bloomline_matrix_contains_in_rows(&valid, hash, NULL, 0, &bitmap));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_matrix_parts(NULL, ranges, &one));
    CHECK(bitmap == 5 && count == 5 && memcmp(&one, &as_before, sizeof one) == 0);
    for (size_t i = 0; i < 16; i++) CHECK(memcmp(&ranges[i], &as_before, sizeof one) == 0);
}

int main(void)
{
    check_begin("test_matrix_ranges");
    fill_hashes(hashes, KEYS, 3);
    bytes = fenced_new((size_t)MAX_WORDS * 8 * 512);
    output = fenced_new(8 * MAX_WORDS);
    room = fenced_new(2 * KEYS * sizeof(bloomline_byte_range));
    RUN(rows_answer_as_the_whole_matrix);
    RUN(bits_behind_the_last_column_are_ignored);
    RUN(batches_merge_near_ranges);
    RUN(parts_hold_names_and_checksums);
    RUN(what_cannot_be_told);
    fenced_free(bytes);
    fenced_free(output);
    fenced_free(room);
    return check_end();
}
