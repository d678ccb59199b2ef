/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_select_column.c - rows of columns that may have nulls: bloomline_view_select_column(), its
 * likes for refining and for numbers of 2 bytes, _mask_column() and _contains_column(), against
 * definition.h and single keys; bloomline_hash_column(). Columns, results and validities end before
 * a forbidden page.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#define _XOPEN_SOURCE 700

#include "columns.h"

static fenced valid_room;

/* The hash of a row, by its bytes. */
static uint64_t hash_of(size_t type, size_t row)
{
    uint8_t key[8];
    size_t len;
    if (type == BLOOMLINE_COLUMN_HASHES) return hashes[row];
    if (type == BLOOMLINE_COLUMN_U64) return u64_key(row, key), with_seed(key, 8);
    if (type == BLOOMLINE_COLUMN_U32) return u32_key(row, key), with_seed(key, 4);
    const uint8_t *string = string_key(row, &len);
    return with_seed(string, len);
}

/* A column as a bloomline_column, without nulls and with: to rows, bytes, bits and hashes. */
static void ask_column(const bloomline_view *view, size_t type, const void *values, const bool *there, size_t n)
{
    for (int way = 0; way < 4; way++) {
        bool nulls = way % 2 == 1, valid[MOST], maybe[MOST];
        size_t first = n % 11, found = 0, bytes = (first + n + 7) / 8, words = (n + 63) / 64;
        uint8_t *validity = at_fence(valid_room, 1, bytes);
        uint64_t state = n + 1;
        for (size_t i = 0; i < bytes; i++) validity[i] = (uint8_t)next_random(&state);
        for (size_t i = 0; i < n; i++) {
            valid[i] = way < 2 || (validity[(first + i) / 8] >> ((first + i) % 8) & 1);
            maybe[i] = valid[i] ? there[i] : nulls;
            found += maybe[i];
        }
        const bloomline_column column = {type, values, data, n, way >= 2 ? validity : NULL, first};
        CHECK_ROWS(uint32_t, maybe, bloomline_view_select_column(view, &column, nulls, out),
                   bloomline_view_refine_column(view, &column, nulls, out, len));
        CHECK_ROWS(uint16_t, maybe, bloomline_view_select16_column(view, &column, nulls, out),
                   bloomline_view_refine16_column(view, &column, nulls, out, len));
        uint8_t *mask = at_fence(out_room, 1, n);
        memset(mask, 9, n);
        CHECK_U64(found, bloomline_view_mask_column(view, &column, nulls, mask));
        for (size_t i = 0; i < n; i++) CHECK(mask[i] == maybe[i]);
        uint64_t *bitmap = (uint64_t *)(void *)at_fence(out_room, 1, words * 8);
        memset(bitmap, 0xFF, words * 8);
        CHECK_U64(found, bloomline_view_contains_column(view, &column, nulls, bitmap));
        for (size_t i = 0; i < 64 * words; i++) CHECK(bit_of(bitmap, i) == (i < n && maybe[i]));
        uint64_t *hashed = (uint64_t *)(void *)at_fence(out_room, 1, n * 8);
        memset(hashed, 9, n * 8);
        CHECK_OK(bloomline_hash_column(&column, SEED, hashed));
        for (size_t i = 0; i < n; i++) CHECK_U64(valid[i] ? hash_of(type, i) : 0, hashed[i]);
    }
}

static void ask(const bloomline_view *view)
{
    for (size_t c = 0; c < COUNTS; c++) {
        size_t n = counts[c];
        ask_column(view, BLOOMLINE_COLUMN_HASHES, copied(hashes, n * 8), hash_there, n);
        ask_column(view, BLOOMLINE_COLUMN_U64, copied(u64s, n * 8), u64_there, n);
        ask_column(view, BLOOMLINE_COLUMN_U32, copied(u32s, n * 4), u32_there, n);
        ask_column(view, BLOOMLINE_COLUMN_STRINGS, copied(offsets, (n + 1) * 4), string_there, n);
        ask_column(view, BLOOMLINE_COLUMN_LARGE_STRINGS, copied(large_offsets, (n + 1) * 8), string_there, n);
    }
}

/* Plain filters. */
static void lines(void)
{
    static uint64_t inserted[3 * INSERTED];
    size_t n = make_hashes(with_seed, inserted);
    const bloomline_params params = {30, 6, 0, SEED};
    bloomline_filter *filter = NULL;
    bloomline_view view;
    REQUIRE_OK(bloomline_filter_new(&params, &filter));
    uint8_t *plain = calloc(30, 64);
    REQUIRE(plain != NULL);
    for (size_t i = 0; i < n; i++) {
        definition_insert(plain, 30, 6, inserted[i]);
        bloomline_filter_insert_hash(filter, inserted[i]);
    }
    REQUIRE_OK(bloomline_filter_view(filter, &view));
    expect_by_definition(plain, &params);
    ask(&view);
    bloomline_filter_free(filter);
    free(plain);
}

static uint64_t of_rocksdb(const void *key, size_t len) { return bloomline_engine_hash(BLOOMLINE_ENGINE_ROCKSDB, key, len); }

/* A filter that hashes in its own way. */
static void engine(void)
{
    static uint64_t inserted[3 * INSERTED];
    uint8_t block[1 << 12];
    size_t n = make_hashes(of_rocksdb, inserted), len;
    bloomline_view view;
    REQUIRE_OK(bloomline_engine_block_build(BLOOMLINE_ENGINE_ROCKSDB, inserted, n, 10, block, sizeof block, &len));
    REQUIRE_OK(bloomline_view_open_engine(BLOOMLINE_ENGINE_ROCKSDB, block, len, &view));
    expect_as_single(&view);
    ask(&view);
}

/* A column that is none: null rows may be present, too. */
static void columns_in_doubt(void)
{
    static const uint8_t none_valid[MOST];
    const bloomline_view *view = NULL;
    bloomline_view opened;
    bloomline_filter *filter = NULL;
    const bloomline_params params = {3, 6, 0, SEED};
    REQUIRE_OK(bloomline_filter_new(&params, &filter));
    REQUIRE_OK(bloomline_filter_view(filter, &opened));
    bool all[MOST];
    memset(all, 1, sizeof all);
    const size_t n = 70;
    const bloomline_column bad[] = {
        {BLOOMLINE_COLUMN_U64, u64s, NULL, n, none_valid, 3}, /* a good one, without a view */
        {BLOOMLINE_COLUMN_U64, NULL, NULL, n, none_valid, 0},
        {BLOOMLINE_COLUMN_HASHES, (uint8_t *)hashes + 1, NULL, n, none_valid, 0},
        {BLOOMLINE_COLUMN_STRINGS, NULL, data, n, none_valid, 0},
        {BLOOMLINE_COLUMN_U64, u64s, NULL, n, none_valid, SIZE_MAX},
        {5, u64s, NULL, n, none_valid, 0},
        {SIZE_MAX, u64s, NULL, n, none_valid, 0},
    };
    uint64_t hashed[70] = {9};
    for (size_t b = 0; b < sizeof bad / sizeof bad[0]; b++, view = &opened) {
        const bloomline_column *column = &bad[b];
        if (b > 0) CHECK_STATUS(b < 5 ? BLOOMLINE_ERR_NULL : BLOOMLINE_ERR_LAYOUT, bloomline_hash_column(column, SEED, hashed));
        CHECK_ROWS(uint32_t, all, bloomline_view_select_column(view, column, false, out),
                   bloomline_view_refine_column(view, column, false, out, len));
        uint64_t bitmap[2];
        uint8_t mask[70] = {0};
        CHECK_U64(n, bloomline_view_contains_column(view, column, false, bitmap));
        CHECK(bitmap[0] == UINT64_MAX && bitmap[1] == 63);
        CHECK_U64(n, bloomline_view_mask_column(view, column, false, mask));
        CHECK(mask[0] == 1 && mask[69] == 1);
    }
    /* Bytes are read up to the last offset only: a string that ends behind it may be present. The bytes end where
     * memory does. */
    static const int32_t behind[] = {0, 1 << 20, 5, 5, 5};
    uint8_t *five = copied("apple", 5);
    const bloomline_column broken = {BLOOMLINE_COLUMN_STRINGS, behind, five, 4, NULL, 0};
    uint32_t may[4];
    CHECK_U64(2, bloomline_view_select_column(&opened, &broken, false, may));
    CHECK(may[0] == 0 && may[1] == 1);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_hash_column(&broken, SEED, hashed));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_hash_column(NULL, SEED, hashed));
    uint32_t rows[] = {5, 70};
    uint16_t narrow[] = {70, 5};
    uint8_t byte = 9;
    const bloomline_column good = {BLOOMLINE_COLUMN_U64, u64s, NULL, n, none_valid, 0};
    const bloomline_column empty = {BLOOMLINE_COLUMN_STRINGS, NULL, NULL, 0, NULL, 0};
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_hash_column(&good, SEED, NULL));
    CHECK_OK(bloomline_hash_column(&empty, SEED, NULL));
    CHECK_U64(9, hashed[0]);
    CHECK_U64(2, bloomline_view_refine_column(view, &good, false, rows, 2)); /* no row 70 */
    CHECK_U64(2, bloomline_view_refine16_column(view, &good, false, narrow, 2));
    CHECK(rows[0] == 5 && rows[1] == 70 && narrow[0] == 70);
    CHECK_U64(2, bloomline_view_refine_column(view, NULL, false, rows, 2));
    CHECK_U64(2, bloomline_view_refine_column(view, &good, false, NULL, 2));
    CHECK_U64(SIZE_MAX, bloomline_view_select_column(view, NULL, false, rows));
    CHECK_U64(SIZE_MAX, bloomline_view_mask_column(view, NULL, false, &byte));
    CHECK_U64(SIZE_MAX, bloomline_view_contains_column(view, NULL, false, NULL));
    CHECK_U64(n, bloomline_view_select_column(view, &good, false, NULL));
    CHECK_U64(n, bloomline_view_mask_column(view, &good, false, NULL));
    CHECK_U64(n, bloomline_view_contains_column(view, &good, false, NULL));
    const bloomline_column many = {BLOOMLINE_COLUMN_U64, u64s, NULL, 65537, NULL, 0};
    CHECK_U64(SIZE_MAX, bloomline_view_select16_column(view, &many, false, narrow));
    CHECK(byte == 9 && narrow[0] == 70);
    bloomline_filter_free(filter);
}

int main(void)
{
    check_begin("test_select_column");
    columns_begin();
    valid_room = fenced_new(MOST / 8 + 3);
    RUN(lines);
    RUN(engine);
    RUN(columns_in_doubt);
    fenced_free(valid_room);
    columns_end();
    return check_end();
}
