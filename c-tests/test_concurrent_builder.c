/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_concurrent_builder.c - bloomline_concurrent_builder: what threads build of columns of every type has the
 * bytes of the definition; nulls are no keys; what is refused inserts nothing; before it is finished, what asks says
 * "maybe". To be run under ThreadSanitizer too.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "definition.h"
#include "fenced.h"
#include "probes.h"

#include <pthread.h>

enum { MOST = 5000, THREADS = 4, MOST_BYTES = 20, SEED = 3, FIRST_BIT = 5 };

/* Columns of one length for each thread, and the hashes of their keys. */
typedef struct {
    pthread_t thread;
    size_t n;
    uint64_t hashes[MOST], u64s[MOST];
    uint32_t u32s[MOST];
    int32_t offsets[MOST + 1];
    int64_t large_offsets[MOST + 1];
    uint8_t data[MOST * MOST_BYTES], validity[MOST / 8 + 2];
    bloomline_column columns[10];
    bloomline_status status;
} worker;

static worker workers[THREADS];
static const bloomline_concurrent_builder *shared;
static pthread_barrier_t barrier;

static bool has(const worker *of, size_t row)
{
    return of->validity[(FIRST_BIT + row) / 8] >> ((FIRST_BIT + row) % 8) & 1;
}

static void make_columns(worker *of, size_t n, uint64_t seed)
{
    uint64_t state = seed;
    of->n = n;
    of->offsets[0] = of->large_offsets[0] = 7;
    for (size_t i = 0; i < sizeof of->data; i++) of->data[i] = (uint8_t)next_random(&state);
    for (size_t i = 0; i < n; i++) {
        of->hashes[i] = next_random(&state);
        of->u64s[i] = next_random(&state) % 20000;
        of->u32s[i] = (uint32_t)next_random(&state) % 20000;
        of->offsets[i + 1] = of->offsets[i] + (int32_t)(next_random(&state) % (MOST_BYTES - 1));
        of->large_offsets[i + 1] = of->offsets[i + 1];
    }
    /* None of a whole chunk, all of some words, and any. */
    for (size_t i = 0; i < sizeof of->validity; i++) {
        of->validity[i] = i < 160 ? 0 : i < 200 ? 0xFF : (uint8_t)next_random(&state);
    }
    const void *arrays[] = {of->hashes, of->u64s, of->u32s, of->offsets, of->large_offsets};
    for (size_t type = 0; type < 5; type++) {
        bloomline_column column = {type, arrays[type], type < 3 ? NULL : of->data, n, NULL, 0};
        of->columns[type] = column;
        column.validity = of->validity;
        column.first_bit = FIRST_BIT;
        of->columns[5 + type] = column;
    }
}

/* The hash of a row of a column of this type. */
static uint64_t hash_of(const worker *of, size_t type, size_t row)
{
    uint8_t key[8];
    switch (type) {
    case BLOOMLINE_COLUMN_HASHES: return of->hashes[row];
    case BLOOMLINE_COLUMN_U64: put_le(key, 8, of->u64s[row]); return bloomline_hash(key, 8, SEED);
    case BLOOMLINE_COLUMN_U32: put_le(key, 4, of->u32s[row]); return bloomline_hash(key, 4, SEED);
    default:
        return bloomline_hash(of->data + of->offsets[row], (size_t)(of->offsets[row + 1] - of->offsets[row]), SEED);
    }
}

/* Inserts all keys by the definition; returns how many they are. */
static uint64_t define(const worker *of, uint8_t *lines, const bloomline_params *params)
{
    uint64_t count = 0;
    for (size_t c = 0; c < 10; c++) {
        for (size_t row = 0; row < of->n; row++) {
            if (c >= 5 && !has(of, row)) continue;
            definition_insert(lines, params->line_count, params->k, hash_of(of, c % 5, row));
            count++;
        }
    }
    return count;
}

static void *insert_all(void *argument)
{
    worker *me = argument;
    pthread_barrier_wait(&barrier);
    /* Several columns in one call, and one by one. */
    me->status = bloomline_concurrent_builder_insert(shared, me->columns, 4);
    for (size_t c = 4; c < 10 && me->status == BLOOMLINE_OK; c++) {
        me->status = bloomline_concurrent_builder_insert(shared, &me->columns[c], 1);
    }
    return NULL;
}

/* Compares an encoded filter with the lines and the count of the definition. */
static void check_bytes(const bloomline_filter *filter, uint8_t *expected, const bloomline_params *params, uint64_t count)
{
    size_t len = bloomline_block_len(params);
    uint8_t *bytes = malloc(len);
    REQUIRE(bytes != NULL);
    definition_finish(expected, params->line_count, params->k, SEED, count);
    CHECK_OK(bloomline_filter_encode(filter, bytes, len, NULL));
    CHECK(memcmp(bytes, expected, len) == 0);
    free(bytes);
}

static void threads_build_one_filter(void)
{
    static const uint64_t line_counts[] = {1, 40, 3000, 100000};
    for (size_t l = 0; l < (check_fewer() ? 3 : 4); l++) {
        const bloomline_params params = {line_counts[l], l == 1 ? 11 : 6, 0, SEED};
        bloomline_concurrent_builder *builder = NULL;
        bloomline_filter *filter = NULL;
        uint8_t *expected = calloc(1, bloomline_block_len(&params));
        REQUIRE(expected != NULL);
        REQUIRE_OK(bloomline_concurrent_builder_new(&params, &builder));
        shared = builder;
        uint64_t count = 0;
        for (size_t t = 0; t < THREADS; t++) {
            make_columns(&workers[t], check_fewer() ? 2000 : MOST - t, l * THREADS + t);
            count += define(&workers[t], expected, &params);
        }
        for (size_t t = 0; t < THREADS; t++) REQUIRE(pthread_create(&workers[t].thread, NULL, insert_all, &workers[t]) == 0);
        for (size_t t = 0; t < THREADS; t++) {
            REQUIRE(pthread_join(workers[t].thread, NULL) == 0);
            CHECK_OK(workers[t].status);
        }
        CHECK_U64(count, bloomline_concurrent_builder_key_count(builder));
        REQUIRE_OK(bloomline_concurrent_builder_finish(&builder, &filter));
        CHECK(builder == NULL);
        check_bytes(filter, expected, &params, count);
        bloomline_filter_free(filter);
        free(expected);
    }
}

/* Arrays that end before a page that may not be touched. */
static void nothing_behind_is_read(void)
{
    fenced values = fenced_new(MOST * 8), bits = fenced_new(MOST / 8 + 2);
    const bloomline_params params = {50, 6, 0, SEED};
    static const size_t counts[] = {0, 1, 7, 8, 63, 64, 65, 1024, 1025, 4097};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        size_t n = counts[c], bytes = (FIRST_BIT + n + 7) / 8;
        bloomline_concurrent_builder *builder = NULL;
        bloomline_filter *filter = NULL;
        uint8_t expected[51 * LINE_BYTES] = {0};
        make_columns(workers, n, c);
        uint64_t *hashes = (uint64_t *)(void *)at_fence(values, 1, n * 8);
        uint8_t *validity = at_fence(bits, 1, bytes);
        memcpy(hashes, workers->hashes, n * 8);
        memset(validity, 0xA5, bytes);
        uint64_t count = 0;
        for (size_t i = 0; i < n; i++) {
            if (!(0xA5 >> ((FIRST_BIT + i) % 8) & 1)) continue;
            definition_insert(expected, 50, 6, hashes[i]);
            count++;
        }
        bloomline_column column = {BLOOMLINE_COLUMN_HASHES, hashes, NULL, n, validity, FIRST_BIT};
        REQUIRE_OK(bloomline_concurrent_builder_new(&params, &builder));
        CHECK_OK(bloomline_concurrent_builder_insert(builder, &column, 1));
        REQUIRE_OK(bloomline_concurrent_builder_finish(&builder, &filter));
        check_bytes(filter, expected, &params, count);
        bloomline_filter_free(filter);
    }
    fenced_free(values);
    fenced_free(bits);
}

static void unions_and_rates(void)
{
    static uint64_t hashes[20000];
    fill_hashes(hashes, 20000, 1);
    bloomline_params params, other = {100, 6, 0, SEED};
    REQUIRE_OK(bloomline_params_for_rate(20000, 0.01, &params));
    REQUIRE_OK(bloomline_params_foldable(&params, 6));
    params.seed = SEED;
    for (size_t keys = 0; keys <= 20000; keys += 10000) {
        bloomline_filter *part = NULL, *whole = NULL, *differs = NULL, *made = NULL;
        REQUIRE_OK(bloomline_filter_new(&params, &part));
        REQUIRE_OK(bloomline_filter_new(&params, &whole));
        REQUIRE_OK(bloomline_filter_new(&other, &differs));
        bloomline_filter_insert_hashes(part, hashes, keys / 2);
        bloomline_filter_insert_hashes(whole, hashes, keys);
        uint32_t folds = 0;
        REQUIRE_OK(bloomline_filter_fold_to_rate(whole, 0.01, &folds));
        CHECK(keys == 20000 || folds > 0);
        static const double most[] = {0, 0.3, 1};
        for (int m = 0; m < 3; m++) {
            bloomline_concurrent_builder *builder = NULL;
            const bloomline_column column = {BLOOMLINE_COLUMN_HASHES, hashes + keys / 2, NULL, keys - keys / 2, NULL, 0};
            REQUIRE_OK(bloomline_concurrent_builder_new(&params, &builder));
            CHECK_OK(bloomline_concurrent_builder_insert(builder, &column, 1));
            CHECK_STATUS(BLOOMLINE_ERR_MISMATCH, bloomline_concurrent_builder_union(builder, differs));
            CHECK_OK(bloomline_concurrent_builder_union(builder, part));
            CHECK_U64(keys, bloomline_concurrent_builder_key_count(builder));
            CHECK_OK(bloomline_concurrent_builder_finish_to_rate(&builder, 0.01, most[m], &made));
            CHECK(builder == NULL && (made == NULL) == (keys > 0 && m == 0));
            if (made == NULL) {
                CHECK(bloomline_filter_contains_hash(made, 1));
                continue;
            }
            size_t len = bloomline_filter_encoded_len(whole);
            uint8_t *a = malloc(len), *b = malloc(len);
            CHECK_U64(len, bloomline_filter_encoded_len(made));
            CHECK_OK(bloomline_filter_encode(whole, a, len, NULL));
            CHECK_OK(bloomline_filter_encode(made, b, len, NULL));
            CHECK(memcmp(a, b, len) == 0);
            free(a);
            free(b);
            bloomline_filter_free(made);
            made = NULL;
        }
        bloomline_filter_free(part);
        bloomline_filter_free(whole);
        bloomline_filter_free(differs);
    }
}

static void what_is_refused(void)
{
    const bloomline_params params = {100, 6, 0, SEED}, none = {0, 6, 0, 0};
    bloomline_concurrent_builder *builder = NULL, *nothing = NULL;
    bloomline_filter *filter = NULL;
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_concurrent_builder_new(NULL, &builder));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_concurrent_builder_new(&params, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NO_LINES, bloomline_concurrent_builder_new(&none, &builder));
    REQUIRE_OK(bloomline_concurrent_builder_new(&params, &builder));

    const uint64_t one = 1;
    const int32_t negative[] = {-1, 2}, descends[] = {0, 3, 2}, bytes[] = {0, 3};
    const int64_t large[] = {INT64_MIN, 2};
    const uint8_t bit = 1;
    const bloomline_column good = {BLOOMLINE_COLUMN_HASHES, &one, NULL, 1, NULL, 0};
    const struct { bloomline_status status; bloomline_column column; } wrong[] = {
        {BLOOMLINE_ERR_NULL, {BLOOMLINE_COLUMN_HASHES, NULL, NULL, 1, NULL, 0}},
        {BLOOMLINE_ERR_NULL, {BLOOMLINE_COLUMN_U64, (const uint8_t *)&one + 1, NULL, 1, NULL, 0}},
        {BLOOMLINE_ERR_NULL, {BLOOMLINE_COLUMN_U32, &one, NULL, SIZE_MAX, NULL, 0}},
        {BLOOMLINE_ERR_NULL, {BLOOMLINE_COLUMN_STRINGS, bytes, "abc", SIZE_MAX, NULL, 0}},
        {BLOOMLINE_ERR_NULL, {BLOOMLINE_COLUMN_STRINGS, bytes, NULL, 1, NULL, 0}},
        {BLOOMLINE_ERR_NULL, {BLOOMLINE_COLUMN_STRINGS, negative, "abc", 1, NULL, 0}},
        {BLOOMLINE_ERR_NULL, {BLOOMLINE_COLUMN_STRINGS, descends, "abc", 2, NULL, 0}},
        {BLOOMLINE_ERR_NULL, {BLOOMLINE_COLUMN_LARGE_STRINGS, large, "abc", 1, NULL, 0}},
        {BLOOMLINE_ERR_NULL, {BLOOMLINE_COLUMN_HASHES, &one, NULL, 1, &bit, SIZE_MAX}},
        {BLOOMLINE_ERR_LAYOUT, {5, &one, NULL, 1, NULL, 0}},
        {BLOOMLINE_ERR_LAYOUT, {SIZE_MAX, &one, NULL, 1, NULL, 0}},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        /* What is good before it is not inserted either. */
        const bloomline_column columns[] = {good, wrong[i].column};
        CHECK_STATUS(wrong[i].status, bloomline_concurrent_builder_insert(builder, columns, 2));
        CHECK_U64(0, bloomline_concurrent_builder_key_count(builder));
    }
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_concurrent_builder_insert(NULL, &good, 1));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_concurrent_builder_insert(builder, NULL, 1));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_concurrent_builder_union(NULL, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_concurrent_builder_union(builder, NULL));
    CHECK_U64(0, bloomline_concurrent_builder_key_count(NULL));
    /* Columns of nothing. */
    const bloomline_column empty[] = {
        {0}, {BLOOMLINE_COLUMN_STRINGS, bytes, NULL, 0, NULL, 0}, {BLOOMLINE_COLUMN_STRINGS, NULL, NULL, 0, NULL, 0}};
    CHECK_OK(bloomline_concurrent_builder_insert(builder, NULL, 0));
    CHECK_OK(bloomline_concurrent_builder_insert(builder, empty, 3));
    CHECK_U64(0, bloomline_concurrent_builder_key_count(builder));

    /* A builder that is not finished stays as it is, and what asks says "maybe". */
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_concurrent_builder_finish(NULL, &filter));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_concurrent_builder_finish(&nothing, &filter));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_concurrent_builder_finish(&builder, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_concurrent_builder_finish_to_rate(&nothing, 0.1, 1, &filter));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_concurrent_builder_finish_to_rate(&builder, 0.1, 1, NULL));
    static const double rates[][2] = {{0, 0.5}, {1, 0.5}, {-1, 0.5}, {0.1, -0.1}, {0.1, 1.1}};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        CHECK_STATUS(BLOOMLINE_ERR_RATE,
                     bloomline_concurrent_builder_finish_to_rate(&builder, rates[i][0], rates[i][1], &filter));
    }
    CHECK(builder != NULL && filter == NULL);
    uint32_t row = 9;
    bloomline_view view = {0};
    CHECK(bloomline_filter_contains_hash(filter, 1) && bloomline_view_contains_hash(&view, 1));
    CHECK_U64(1, bloomline_view_select_u64(&view, &one, 1, &row));
    CHECK_U64(0, row);
    CHECK_OK(bloomline_concurrent_builder_insert(builder, &good, 1));
    REQUIRE_OK(bloomline_concurrent_builder_finish(&builder, &filter));
    CHECK(bloomline_filter_contains_hash(filter, 1));
    bloomline_filter_free(filter);
    bloomline_concurrent_builder_free(NULL);
    REQUIRE_OK(bloomline_concurrent_builder_new(&params, &builder));
    bloomline_concurrent_builder_free(builder);
}

static void sizes_within_a_bound(void)
{
    bloomline_params whole, within;
    REQUIRE_OK(bloomline_params_for_rate(1000000, 0.01, &whole));
    CHECK_OK(bloomline_params_for_rate_within(1000000, 0.01, (size_t)whole.line_count * LINE_BYTES, &within));
    CHECK(memcmp(&whole, &within, sizeof whole) == 0);
    CHECK_OK(bloomline_params_for_rate_within(1000000, 0.01, 1 << 19, &within));
    CHECK_U64(1 << 13, within.line_count);
    double rate = bloomline_params_rate(&within, 1000000);
    CHECK(rate > 0.01 && rate < 0.2);
    CHECK_OK(bloomline_params_for_rate_within(UINT64_MAX, 0.01, 0, &within));
    CHECK_U64(1, within.line_count);
    CHECK(bloomline_params_rate(&within, UINT64_MAX) > 0.99);
    CHECK_STATUS(BLOOMLINE_ERR_RATE, bloomline_params_for_rate_within(1, 0, 64, &within));
    CHECK_STATUS(BLOOMLINE_ERR_RATE_TOO_SMALL, bloomline_params_for_rate_within(1, 1e-30, 64, &within));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_params_for_rate_within(1, 0.1, 64, NULL));
}

int main(void)
{
    check_begin("test_concurrent_builder");
    REQUIRE(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
    RUN(threads_build_one_filter);
    RUN(nothing_behind_is_read);
    RUN(unions_and_rates);
    RUN(what_is_refused);
    RUN(sizes_within_a_bound);
    return check_end();
}
