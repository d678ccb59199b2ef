/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_select.c - rows of columns: bloomline_view_select_...(), _select16_...(), _refine_...() and
 * _refine16_...() against definition.h, and of other kinds of filters against single keys. Columns,
 * results and selections end before a forbidden page.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#define _XOPEN_SOURCE 700

#include "files.h"
#include "golden.h"
#include "kinds.h"

#include "columns.h" /* its columns have names that parameters have, too */

/* A column of one array, by both types of rows. */
#define CHECK_COLUMN(type, name, values, there)                                                     \
    do {                                                                                            \
        const type *column = copied(values, n * sizeof(type));                                      \
        CHECK_ROWS(uint32_t, there, bloomline_view_select_##name(view, column, n, out),             \
                   bloomline_view_refine_##name(view, column, out, len));                           \
        CHECK_ROWS(uint16_t, there, bloomline_view_select16_##name(view, column, n, out),           \
                   bloomline_view_refine16_##name(view, column, out, len));                         \
    } while (0)

/* A column of strings. */
#define CHECK_STRINGS(type, name, values, there)                                                    \
    do {                                                                                            \
        const type *column = copied(values, (n + 1) * sizeof(type));                                \
        CHECK_ROWS(uint32_t, there, bloomline_view_select_##name(view, column, data, n, out),       \
                   bloomline_view_refine_##name(view, column, data, out, len));                     \
        CHECK_ROWS(uint16_t, there, bloomline_view_select16_##name(view, column, data, n, out),     \
                   bloomline_view_refine16_##name(view, column, data, out, len));                   \
    } while (0)

/* All columns, of every length. */
static void ask(const bloomline_view *view)
{
    for (size_t c = 0; c < COUNTS; c++) {
        size_t n = counts[c];
        CHECK_COLUMN(uint64_t, hashes, hashes, hash_there);
        CHECK_COLUMN(uint64_t, u64, u64s, u64_there);
        CHECK_COLUMN(uint32_t, u32, u32s, u32_there);
        CHECK_STRINGS(int32_t, strings, offsets, string_there);
        CHECK_STRINGS(int64_t, large_strings, large_offsets, string_there);
    }
}

/* Filters of every k, in and beyond a line. */
static void lines(void)
{
    uint64_t inserted[3 * INSERTED];
    size_t n = make_hashes(with_seed, inserted);
    for (uint32_t k = 1; k <= MAX_K; k += check_fewer() ? 5 : 1) {
        bloomline_params params = {k % 2 == 0 ? 20 : 1000, k, 0, SEED};
        size_t len = bloomline_block_len(&params);
        uint8_t *block = calloc(1, len);
        bloomline_view view;
        REQUIRE(block != NULL);
        for (size_t i = 0; i < n; i++) definition_insert(block, params.line_count, k, inserted[i]);
        definition_finish(block, params.line_count, k, SEED, n);
        REQUIRE_OK(bloomline_view_open(block, len, 0, &view));
        expect_by_definition(block, &params);
        size_t absent = 0;
        for (size_t at = 0; at < MOST; at++) absent += !u64_there[at];
        CHECK(absent > 0 && absent < MOST);
        ask(&view);
        free(block);
    }
}

/* Every kind that can be asked for keys. */
static void kinds(void)
{
    uint64_t inserted[3 * INSERTED];
    make_hashes(with_seed, inserted);
    EACH_WHOLE(kind) {
        void *filter = NULL;
        if (kind->view == NULL) continue;
        REQUIRE_OK(kind->create(&whole_params, &filter));
        for (size_t i = 0; i < WHOLE_KEYS && kind->add != NULL; i++) {
            kind->add(filter, i % 4 == 3 ? bloomline_hash_u64(i, 1) : inserted[i]);
        }
        bloomline_view view = kind->view(filter);
        expect_as_single(&view);
        size_t there = 0;
        for (size_t at = 0; at < MOST; at++) there += hash_there[at];
        CHECK_WITH(there > 0 && there < MOST, "%s", kind->name);
        ask(&view);
        kind->destroy(filter);
    }
}

/* Filters for threads, static ones, and a column of a matrix. */
static void others(void)
{
    static uint8_t block[1 << 13];
    uint64_t inserted[3 * INSERTED];
    size_t n = make_hashes(with_seed, inserted), len;
    bloomline_concurrent *concurrent = NULL;
    REQUIRE_OK(concurrent_new(&whole_params, &concurrent));
    bloomline_concurrent_insert_hashes(concurrent, inserted, n, NULL);
    bloomline_view view = concurrent_view_of(concurrent);
    expect_as_single(&view);
    ask(&view);
    bloomline_concurrent_free(concurrent);

    REQUIRE_OK(bloomline_static_block_build(inserted, n, 0.01, SEED, 1, block, sizeof block, &len));
    REQUIRE_OK(bloomline_view_open(block, len, 0, &view));
    expect_as_single(&view);
    ask(&view);

    bloomline_matrix *matrix = NULL;
    REQUIRE_OK(bloomline_matrix_new(&whole_params, 70, &matrix));
    for (size_t i = 0; i < n; i++) REQUIRE_OK(bloomline_matrix_insert_hash(matrix, 65, inserted[i], NULL));
    REQUIRE_OK(bloomline_matrix_column_view(matrix, 65, &view));
    expect_as_single(&view);
    ask(&view);
    bloomline_matrix_free(matrix);
}

static uint64_t of_rocksdb(const void *key, size_t len) { return bloomline_engine_hash(BLOOMLINE_ENGINE_ROCKSDB, key, len); }
static uint64_t of_pebble(const void *key, size_t len)
{
    return bloomline_engine_hash(BLOOMLINE_ENGINE_ROCKSDB_LEGACY, key, len);
}
static uint64_t of_leveldb(const void *key, size_t len) { return bloomline_engine_hash(BLOOMLINE_ENGINE_LEVELDB, key, len); }
static uint64_t of_parquet(const void *key, size_t len) { return bloomline_engine_hash(BLOOMLINE_ENGINE_PARQUET, key, len); }

static void engines(void)
{
    static const struct { uint32_t engine; hash_fn hash; } all[] = {
        {BLOOMLINE_ENGINE_ROCKSDB, of_rocksdb},
        {BLOOMLINE_ENGINE_ROCKSDB_LEGACY, of_pebble},
        {BLOOMLINE_ENGINE_LEVELDB, of_leveldb},
        {BLOOMLINE_ENGINE_PARQUET, of_parquet},
    };
    for (size_t e = 0; e < sizeof all / sizeof all[0]; e++) {
        uint8_t block[1 << 12];
        uint64_t inserted[3 * INSERTED];
        size_t n = make_hashes(all[e].hash, inserted), len;
        bloomline_view view;
        REQUIRE_OK(bloomline_engine_block_build(all[e].engine, inserted, n, 10, block, sizeof block, &len));
        REQUIRE_OK(bloomline_view_open_engine(all[e].engine, block, len, &view));
        expect_as_single(&view);
        for (size_t i = 0; i < INSERTED; i++) CHECK(u64_there[2 * i] && u32_there[2 * i] && string_there[2 * i]);
        ask(&view);
    }
}

/* Numbers of 2 bytes reach to row 65,535. */
static void most_rows(void)
{
    enum { ROWS_16 = 65536 };
    static uint64_t values[ROWS_16 + 1];
    static uint16_t out[ROWS_16 + 1];
    bloomline_filter *filter = NULL;
    const bloomline_params params = {3, 6, 0, SEED};
    REQUIRE_OK(bloomline_filter_new(&params, &filter));
    bloomline_filter_insert_hash(filter, bloomline_hash_u64(5, SEED));
    bloomline_view view = filter_view_of(filter);
    values[ROWS_16 - 1] = 5;
    CHECK_U64(1, bloomline_view_select16_u64(&view, values, ROWS_16, out));
    CHECK_U64(ROWS_16 - 1, out[0]);
    CHECK_U64(1, bloomline_view_refine16_u64(&view, values, out, 1));
    CHECK_U64(ROWS_16 - 1, out[0]);
    out[0] = 77;
    CHECK_U64(SIZE_MAX, bloomline_view_select16_u64(&view, values, ROWS_16 + 1, out));
    CHECK_U64(SIZE_MAX, bloomline_view_select16_u64(NULL, NULL, ROWS_16 + 1, out));
    CHECK_U64(77, out[0]);
    bloomline_filter_free(filter);
}

/* Where nothing can be known, all rows may be present. */
static void check_doubt(const bloomline_view *view, const void *column, const void *bytes)
{
    static const size_t some[] = {1, 63, 64, 1000};
    for (size_t c = 0; c < sizeof some / sizeof some[0]; c++) {
        size_t n = some[c];
        bool all[MOST];
        memset(all, 1, sizeof all);
#define DOUBT(name)                                                                                 \
    CHECK_ROWS(uint32_t, all, bloomline_view_select_##name(view, column, n, out),                   \
               bloomline_view_refine_##name(view, column, out, len));                               \
    CHECK_ROWS(uint16_t, all, bloomline_view_select16_##name(view, column, n, out),                 \
               bloomline_view_refine16_##name(view, column, out, len))
#define DOUBT_STRINGS(name)                                                                         \
    CHECK_ROWS(uint32_t, all, bloomline_view_select_##name(view, column, bytes, n, out),            \
               bloomline_view_refine_##name(view, column, bytes, out, len));                        \
    CHECK_ROWS(uint16_t, all, bloomline_view_select16_##name(view, column, bytes, n, out),          \
               bloomline_view_refine16_##name(view, column, bytes, out, len))
        DOUBT(u64);
        DOUBT(u32);
        DOUBT(hashes);
        DOUBT_STRINGS(strings);
        DOUBT_STRINGS(large_strings);
    }
}

static void doubt(void)
{
    bloomline_view zero, view;
    uint32_t at = 7;
    uint8_t *askew = (uint8_t *)hashes + 1;
    memset(&zero, 0, sizeof zero);
    bloomline_filter *filter = NULL;
    const bloomline_params params = {3, 6, 0, SEED};
    REQUIRE_OK(bloomline_filter_new(&params, &filter));
    REQUIRE_OK(bloomline_filter_view(filter, &view));
    check_doubt(NULL, hashes, data);
    check_doubt(&zero, hashes, data);
    check_doubt(&view, NULL, data);
    check_doubt(&view, NULL, NULL);
    check_doubt(&view, askew, data);
    CHECK_U64(5, bloomline_view_select_u64(&view, u64s, 5, NULL));
    CHECK_U64(5, bloomline_view_select16_strings(&view, offsets, data, 5, NULL));
    CHECK_U64(5, bloomline_view_refine_u64(&view, u64s, NULL, 5));
    CHECK_U64(0, bloomline_view_select_u64(&view, NULL, 0, NULL));
    CHECK_U64(0, bloomline_view_select_strings(&view, NULL, NULL, 0, &at));
    CHECK_U64(0, bloomline_view_refine16_hashes(&view, NULL, NULL, 0));
    CHECK_U64(0, bloomline_view_refine_u64(NULL, NULL, &at, 0));
    CHECK_U64(7, at);
    /* A filter without keys has no row; so this view can answer. */
    CHECK_U64(0, bloomline_view_select_u64(&view, u64s, 1, &at));
    bloomline_filter_free(filter);
}

/* Of strings whose offsets are none each row may be present, and only these. */
static void broken_offsets(void)
{
    bloomline_filter *filter = NULL;
    bloomline_view empty;
    const bloomline_view *view = &empty;
    const bloomline_params params = {3, 6, 0, SEED};
    REQUIRE_OK(bloomline_filter_new(&params, &filter));
    REQUIRE_OK(bloomline_filter_view(filter, &empty));
    for (size_t c = 0; c < COUNTS; c++) {
        size_t n = counts[c];
        int32_t askew[MOST + 1];
        int64_t large[MOST + 1];
        bool there[MOST] = {false};
        memcpy(askew, offsets, sizeof askew);
        for (size_t at = 0; at <= n; at++) {
            if (at % 13 == 5) askew[at] = -1;
            if (at % 13 == 9) askew[at] = INT32_MIN;
            if (at % 29 == 20) askew[at] = 0;
            large[at] = askew[at] == INT32_MIN ? INT64_MIN : askew[at];
        }
        for (size_t at = 0; at < n; at++) there[at] = askew[at] < 0 || askew[at + 1] < askew[at];
        CHECK_STRINGS(int32_t, strings, askew, there);
        CHECK_STRINGS(int64_t, large_strings, large, there);
        /* Without bytes, the empty string is still known. */
        for (size_t at = 0; at < n; at++) there[at] = offsets[at] != offsets[at + 1];
        CHECK_ROWS(uint32_t, there, bloomline_view_select_strings(view, offsets, NULL, n, out),
                   bloomline_view_refine_strings(view, offsets, NULL, out, len));
    }
    bloomline_filter_free(filter);
}

/* What integers of 4 bytes hash to. */
static void hashes_of_u32(void)
{
    for (size_t c = 0; c < COUNTS; c++) {
        size_t n = counts[c];
        uint64_t out[MOST + 1];
        out[n] = 99;
        bloomline_hash_u32_batch(u32s, n, SEED, out);
        for (size_t at = 0; at < n; at++) {
            uint8_t key[4];
            u32_key(at, key);
            CHECK_U64(with_seed(key, 4), out[at]);
        }
        CHECK_U64(99, out[n]);
    }
    uint64_t out = 99;
    bloomline_hash_u32_batch(NULL, 1, SEED, &out);
    bloomline_hash_u32_batch(u32s, 1, SEED, NULL);
    CHECK_U64(99, out);
}

int main(void)
{
    check_begin("test_select");
    columns_begin();
    RUN(lines);
    RUN(kinds);
    RUN(others);
    RUN(engines);
    RUN(most_rows);
    RUN(doubt);
    RUN(broken_offsets);
    RUN(hashes_of_u32);
    columns_end();
    return check_end();
}
