/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_status.c - what goes wrong with arguments: the status numbers, parameters out of range, buffers too
 * small, NULL and zero-length rules, outputs untouched on failure, key counts of any number. An unknown backend
 * is in test_backend_choice.c. Data is in test_golden.c and test_whole.c, files in test_status_files.c, answers
 * of doubtful handles in test_doubt.c, failed allocations in test_memory.c and test_alloc.c.
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "probes.h"
#include "definition.h"

#include <limits.h>
#include <math.h>

static const bloomline_params good = {3, 6, 0, 5};

static bloomline_filter *good_filter(void)
{
    bloomline_filter *filter = NULL;
    REQUIRE_OK(bloomline_filter_new(&good, &filter));
    bloomline_filter_insert(filter, "apple", 5);
    return filter;
}

/* Messages that say what to look at. */
static void messages_fit_what_is_wrong(void)
{
    static const struct {
        bloomline_status status;
        const char *word;
    } words[] = {
        {BLOOMLINE_ERR_RATE_TOO_SMALL, "too small"}, {BLOOMLINE_ERR_NO_LINES, "not filled in"},
        {BLOOMLINE_ERR_TRUNCATED, "empty"},       {BLOOMLINE_ERR_MISMATCH, "type"},
        {BLOOMLINE_ERR_NOT_A_FILE, "regular"},    {BLOOMLINE_ERR_KEY_COUNT, "fewer keys"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *text = bloomline_status_message(words[i].status);
        CHECK_WITH(strstr(text, words[i].word) != NULL, "%s", text);
    }
    bloomline_cuckoo_params zeros = {0, 0, 0, 0};
    bloomline_cuckoo *cuckoo = NULL;
    CHECK_STATUS(BLOOMLINE_ERR_NO_LINES, bloomline_cuckoo_new(&zeros, &cuckoo));
    CHECK(cuckoo == NULL);
}

static void every_number_has_a_message_of_its_own(void)
{
    for (bloomline_status i = BLOOMLINE_OK; i <= BLOOMLINE_ERR_LOCKED; i++) {
        const char *text = bloomline_status_message(i);
        CHECK(text != NULL && strlen(text) > 3 && strchr(text, '\n') == NULL);
        CHECK(text == bloomline_status_message(i)); /* static */
        for (bloomline_status j = BLOOMLINE_OK; j < i; j++) CHECK(strcmp(text, bloomline_status_message(j)) != 0);
    }
    static const bloomline_status unknown[] = {-1, BLOOMLINE_ERR_LOCKED + 1, 1000, INT_MIN, INT_MAX};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        const char *text = bloomline_status_message(unknown[i]);
        CHECK(text != NULL && strlen(text) > 3);
        CHECK(strcmp(text, bloomline_status_message(-1)) == 0);
        CHECK(strcmp(text, bloomline_status_message(BLOOMLINE_OK)) != 0);
    }
}

/* Numbers are part of the ABI. */
static void numbers_are_what_they_were(void)
{
    static const bloomline_status in_order[] = {
        BLOOMLINE_OK, BLOOMLINE_ERR_NULL, BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_BITS_PER_KEY,
        BLOOMLINE_ERR_K, BLOOMLINE_ERR_LINE_COUNT, BLOOMLINE_ERR_OUT_OF_MEMORY,
        BLOOMLINE_ERR_BUFFER_TOO_SMALL, BLOOMLINE_ERR_MISMATCH, BLOOMLINE_ERR_ODD_LINE_COUNT,
        BLOOMLINE_ERR_BACKEND, BLOOMLINE_ERR_TRUNCATED, BLOOMLINE_ERR_NOT_A_FILTER,
        BLOOMLINE_ERR_VERSION, BLOOMLINE_ERR_LAYOUT, BLOOMLINE_ERR_CHECKSUM,
        BLOOMLINE_ERR_RESERVED, BLOOMLINE_ERR_IO, BLOOMLINE_ERR_NOT_FOUND,
        BLOOMLINE_ERR_PERMISSION, BLOOMLINE_ERR_INTERNAL,
        BLOOMLINE_ERR_ABSENT, BLOOMLINE_ERR_FULL, BLOOMLINE_ERR_GENERATIONS,
        BLOOMLINE_ERR_KEY_COUNT, BLOOMLINE_ERR_NOT_A_FILE, BLOOMLINE_ERR_OVERLAP,
        BLOOMLINE_ERR_NO_LINES, BLOOMLINE_ERR_RATE_TOO_SMALL, BLOOMLINE_ERR_TOO_FEW_BITS,
        BLOOMLINE_ERR_FINGERPRINT_BITS, BLOOMLINE_ERR_ROWS, BLOOMLINE_ERR_PREFETCH,
        BLOOMLINE_ERR_COLUMNS, BLOOMLINE_ERR_COLUMN, BLOOMLINE_ERR_COLUMN_SHAPE,
        BLOOMLINE_ERR_UNBOUNDED, BLOOMLINE_ERR_SEQUENCE, BLOOMLINE_ERR_LAYERS,
        BLOOMLINE_ERR_CLASSIC, BLOOMLINE_ERR_LOCKED};
    for (int i = 0; i < (int)(sizeof in_order / sizeof in_order[0]); i++) CHECK(in_order[i] == i);
    CHECK(sizeof(bloomline_status) == 4);
}

/* Rates that no filter has, for all that takes one. */
static void no_filter_has_such_a_rate(void)
{
    static const double rates[] = {0, 1, -1, 1.5, 2, 1e300, -0.0, NAN, INFINITY, -INFINITY, 1e-300, 5e-324};
    const uint64_t hashes[2] = {1, 2};
    struct {
        bloomline_params params;
        bloomline_cuckoo_params cuckoo;
        size_t len;
        uint32_t folds;
        uint8_t block[640];
    } before, out;
    bloomline_scalable *scalable = NULL;
    bloomline_window *window = NULL;
    bloomline_builder *builder = NULL;
    bloomline_cascade *cascade = NULL;
    bloomline_filter *filter = good_filter();
    memset(&before, 0x5A, sizeof before);
    memcpy(&out, &before, sizeof out);
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        double rate = rates[i];
        bloomline_status status = no_rate(rate);
        CHECK_STATUS(status, bloomline_params_for_rate(1000, rate, &out.params));
        CHECK_STATUS(status, bloomline_classic_params_for_rate(1000, rate, &out.params));
        CHECK_STATUS(status, bloomline_cuckoo_params_for_rate(1000, rate, &out.cuckoo));
        CHECK_STATUS(status, bloomline_scalable_new(100, rate, 0, &scalable));
        CHECK_STATUS(status, bloomline_window_new(8, 1000, rate, 0, &window));
        CHECK_STATUS(status, bloomline_builder_new_for_rate(rate, 0, &builder));
        CHECK_STATUS(status, bloomline_builder_new_static(rate, 0, &builder));
        CHECK_STATUS(status, bloomline_static_block_build(hashes, 2, rate, 0, 1, out.block, sizeof out.block, &out.len));
        CHECK_U64(0, bloomline_static_block_len(10, rate));
        /* For a cascade 0 means that only the two sets matter. */
        if (rate != 0) CHECK_STATUS(status, bloomline_cascade_new(hashes, 1, hashes + 1, 1, rate, 0, 1, &cascade));
        if (status == BLOOMLINE_ERR_RATE) CHECK_STATUS(status, bloomline_filter_fold_to_rate(filter, rate, &out.folds));
    }
    CHECK(scalable == NULL && window == NULL && builder == NULL && cascade == NULL);
    CHECK(memcmp(&before, &out, sizeof out) == 0);
    bloomline_filter_free(filter);
}

static void bits_out_of_range(void)
{
    bloomline_params before, params;
    memset(&before, 0x5A, sizeof before);
    params = before;
    const double no_bits[] = {0, -1, -0.0, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof no_bits / sizeof no_bits[0]; i++) {
        bloomline_builder *builder = (bloomline_builder *)&before;
        CHECK_STATUS(BLOOMLINE_ERR_BITS_PER_KEY, bloomline_params_for_bits(1000, no_bits[i], &params));
        CHECK_STATUS(BLOOMLINE_ERR_BITS_PER_KEY, bloomline_classic_params_for_bits(1000, no_bits[i], &params));
        CHECK_STATUS(BLOOMLINE_ERR_BITS_PER_KEY, bloomline_builder_new(no_bits[i], 0, &builder));
        CHECK((void *)builder == (void *)&before);
    }
    CHECK_STATUS(BLOOMLINE_ERR_LINE_COUNT, bloomline_params_for_rate(UINT64_MAX, 0.01, &params));
    CHECK_STATUS(BLOOMLINE_ERR_LINE_COUNT, bloomline_params_for_bits(UINT64_MAX, 10, &params));
    CHECK_STATUS(BLOOMLINE_ERR_LINE_COUNT, bloomline_params_for_bits(1000, 1e300, &params));
    CHECK(memcmp(&before, &params, sizeof params) == 0);

    /* Odd, but in range. */
    CHECK_OK(bloomline_params_for_rate(1000, 0.999999, &params));
    CHECK_OK(bloomline_params_for_rate(1000, 1e-12, &params));
    CHECK_OK(bloomline_params_for_bits(1000, 1e-9, &params));
    CHECK_U64(1, params.line_count);
    CHECK_OK(bloomline_params_for_bits(1000, 5e-324, &params));
}

/* Parameters that no function takes, and why. */
static void parameters_out_of_range(void)
{
    static const struct {
        bloomline_params params;
        bloomline_status status;
    } bad[] = {
        {{0, 0, 0, 0}, BLOOMLINE_ERR_NO_LINES}, /* as a call that failed leaves them */
        {{3, 0, 0, 0}, BLOOMLINE_ERR_K},
        {{3, 17, 0, 0}, BLOOMLINE_ERR_K},
        {{3, UINT32_MAX, 0, 0}, BLOOMLINE_ERR_K},
        {{3, 6, 1, 0}, BLOOMLINE_ERR_LAYOUT},
        {{3, 6, UINT32_MAX, 0}, BLOOMLINE_ERR_LAYOUT},
        {{0, 6, 0, 0}, BLOOMLINE_ERR_NO_LINES},
        {{UINT64_MAX, 6, 0, 0}, BLOOMLINE_ERR_LINE_COUNT},
        {{UINT64_MAX / 64, 6, 0, 0}, BLOOMLINE_ERR_LINE_COUNT},
        {{UINT64_MAX / 64 + 1, 6, 0, 0}, BLOOMLINE_ERR_LINE_COUNT}, /* 64 of them are 0 bytes */
        {{UINT64_MAX / 64 + 4, 6, 0, 0}, BLOOMLINE_ERR_LINE_COUNT}, /* and these 192 */
        {{UINT64_MAX / 128 + 1, 6, 0, 0}, BLOOMLINE_ERR_LINE_COUNT},
        {{UINT64_MAX / 128, 6, 0, 0}, BLOOMLINE_ERR_LINE_COUNT}, /* no room for a footer */
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint8_t out[4 * LINE_BYTES], before[4 * LINE_BYTES];
        bloomline_filter *filter = (bloomline_filter *)out;
        uint64_t hash = 1;
        memset(out, 0x5A, sizeof out);
        memset(before, 0x5A, sizeof before);
        CHECK_STATUS(bad[i].status, bloomline_filter_new(&bad[i].params, &filter));
        CHECK((void *)filter == (void *)out);
        CHECK_STATUS(bad[i].status, bloomline_block_build(&bad[i].params, &hash, 1, out, sizeof out));
        CHECK(memcmp(out, before, sizeof out) == 0);
        CHECK_U64(0, bloomline_block_len(&bad[i].params));
        CHECK_NEAR(1, bloomline_params_rate(&bad[i].params, 10), 0);
    }
}

/* Sizes that are numbers, but more than any machine has. */
static void too_large_for_memory(void)
{
    static const uint64_t line_counts[] = {UINT64_C(1) << 42, UINT64_C(1) << 50, UINT64_MAX / 128 - 1};
    for (size_t i = 0; i < 3; i++) {
        bloomline_params params = {line_counts[i], 6, 0, 0};
        bloomline_filter *filter = NULL;
        bloomline_status expected = sizeof(size_t) == 8 ? BLOOMLINE_ERR_OUT_OF_MEMORY : BLOOMLINE_ERR_LINE_COUNT;
        CHECK_STATUS(expected, bloomline_filter_new(&params, &filter));
        CHECK(filter == NULL);
    }
}

static void buffers_too_small_by_one_byte(void)
{
    enum { LEN = 4 * LINE_BYTES };
    bloomline_filter *filter = good_filter();
    bloomline_builder *builder = NULL;
    CHECK_OK(bloomline_builder_new(10, 0, &builder));
    for (uint64_t i = 0; i < 150; i++) CHECK_OK(bloomline_builder_add_hash(builder, bloomline_hash_u64(i, 0)));
    CHECK_U64(LEN, bloomline_filter_encoded_len(filter));
    CHECK_U64(LEN, bloomline_block_len(&good));
    CHECK_U64(LEN, bloomline_builder_block_len(builder));
    for (size_t cap = 0; cap < LEN; cap++) {
        uint8_t *out = malloc(cap + 1); /* exact, for the checkers of memory */
        size_t written = 99, same = 0;
        uint64_t hash = 1;
        REQUIRE(out != NULL);
        memset(out, 0x5A, cap + 1);
        CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL, bloomline_filter_encode(filter, out, cap, &written));
        CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL, bloomline_block_build(&good, &hash, 1, out, cap));
        CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL, bloomline_builder_finish(builder, out, cap, &written));
        while (same <= cap && out[same] == 0x5A) same++;
        CHECK_U64(cap + 1, same);
        CHECK_U64(99, written);
        free(out);
    }
    /* The builder has kept its keys. */
    uint8_t out[LEN];
    bloomline_view view;
    CHECK_U64(150, bloomline_builder_key_count(builder));
    CHECK_OK(bloomline_builder_finish(builder, out, LEN, NULL));
    CHECK_OK(bloomline_view_open(out, LEN, 0, &view));
    for (uint64_t i = 0; i < 150; i++) CHECK(bloomline_view_contains_hash(&view, bloomline_hash_u64(i, 0)));
    bloomline_builder_free(builder);
    bloomline_filter_free(filter);
}

static void filters_that_do_not_match(void)
{
    static const bloomline_params others[] = {{6, 6, 0, 5}, {3, 7, 0, 5}, {3, 6, 0, 4}};
    bloomline_filter *filter = good_filter();
    uint8_t before[4 * LINE_BYTES], after[4 * LINE_BYTES];
    CHECK_OK(bloomline_filter_encode(filter, before, sizeof before, NULL));
    for (size_t i = 0; i < 3; i++) {
        bloomline_filter *from = NULL;
        REQUIRE_OK(bloomline_filter_new(&others[i], &from));
        bloomline_filter_insert(from, "pear", 4);
        CHECK_STATUS(BLOOMLINE_ERR_MISMATCH, bloomline_filter_union(filter, from));
        bloomline_filter_free(from);
    }
    CHECK_STATUS(BLOOMLINE_ERR_ODD_LINE_COUNT, bloomline_filter_fold(filter));
    uint32_t folds = 77;
    CHECK_OK(bloomline_filter_fold_to_rate(filter, 0.5, &folds));
    CHECK_U64(0, folds);
    CHECK_OK(bloomline_filter_encode(filter, after, sizeof after, NULL));
    CHECK(memcmp(before, after, sizeof before) == 0);
    bloomline_filter_free(filter);
}

static void null_where_there_is_a_status(void)
{
    const bloomline_status null = BLOOMLINE_ERR_NULL;
    bloomline_filter *filter = good_filter(), *made = NULL;
    bloomline_builder *builder = NULL;
    bloomline_map *map = NULL;
    bloomline_params params;
    bloomline_view view, untouched;
    uint8_t data[4 * LINE_BYTES];
    size_t written = 99;
    uint64_t hash = 1;
    REQUIRE_OK(bloomline_filter_encode(filter, data, sizeof data, NULL));
    REQUIRE_OK(bloomline_builder_new(10, 0, &builder));
    memset(&view, 0x5A, sizeof view);
    untouched = view;

    CHECK_STATUS(null, bloomline_params_for_rate(1, 0.01, NULL));
    CHECK_STATUS(null, bloomline_params_for_bits(1, 10, NULL));
    CHECK_STATUS(null, bloomline_filter_new(NULL, &made));
    CHECK_STATUS(null, bloomline_filter_new(&good, NULL));
    CHECK_STATUS(null, filter_params(NULL, &params));
    CHECK_STATUS(null, filter_params(filter, NULL));
    CHECK_STATUS(null, bloomline_filter_union(NULL, filter));
    CHECK_STATUS(null, bloomline_filter_union(filter, NULL));
    CHECK_STATUS(null, bloomline_filter_fold(NULL));
    CHECK_STATUS(null, bloomline_filter_fold_to_rate(NULL, 0.01, NULL));
    CHECK_STATUS(null, bloomline_filter_view(NULL, &view));
    CHECK_STATUS(null, bloomline_filter_view(filter, NULL));
    CHECK_STATUS(null, bloomline_view_open(NULL, sizeof data, 0, &view));
    CHECK_STATUS(null, bloomline_view_open(data, sizeof data, 0, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, bloomline_view_open(NULL, 0, 0, &view));
    CHECK_STATUS(null, bloomline_view_open(NULL, sizeof data, BLOOMLINE_VIEW_UNVERIFIED, &view));
    CHECK_STATUS(null, bloomline_view_open(data, sizeof data, BLOOMLINE_VIEW_UNVERIFIED, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, bloomline_view_open(NULL, 0, BLOOMLINE_VIEW_UNVERIFIED, &view));
    CHECK_STATUS(BLOOMLINE_ERR_RESERVED, bloomline_view_open(data, sizeof data, 2, &view));
    CHECK_STATUS(BLOOMLINE_ERR_RESERVED, bloomline_view_open(data, sizeof data, 1u << 31 | BLOOMLINE_VIEW_UNVERIFIED, &view));
    CHECK_STATUS(null, bloomline_view_shape(NULL, &params));
    CHECK_STATUS(null, bloomline_view_shape(&view, NULL));
    CHECK_STATUS(null, bloomline_block_build(NULL, &hash, 1, data, sizeof data));
    CHECK_STATUS(null, bloomline_block_build(&good, NULL, 1, data, sizeof data));
    CHECK_STATUS(null, bloomline_block_build(&good, &hash, 1, NULL, sizeof data));
    CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL, bloomline_block_build(&good, &hash, 1, NULL, 0));
    CHECK_STATUS(null, bloomline_builder_new(10, 0, NULL));
    CHECK_STATUS(null, bloomline_builder_add(NULL, "apple", 5));
    CHECK_STATUS(null, bloomline_builder_add(builder, NULL, 5));
    CHECK_STATUS(null, bloomline_builder_add_hash(NULL, 1));
    CHECK_STATUS(null, bloomline_builder_finish(NULL, data, sizeof data, &written));
    CHECK_STATUS(null, bloomline_builder_finish(builder, NULL, sizeof data, &written));
    CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL, bloomline_builder_finish(builder, NULL, 0, &written));
    CHECK_STATUS(null, bloomline_map_open(NULL, 0, &map));
    CHECK_STATUS(null, bloomline_map_open("nowhere", 0, NULL));
    CHECK_STATUS(null, bloomline_map_open(NULL, BLOOMLINE_MAP_UNVERIFIED, &map));
    CHECK_STATUS(null, bloomline_map_open("nowhere", BLOOMLINE_MAP_UNVERIFIED, NULL));
    CHECK_STATUS(null, bloomline_map_bytes(NULL, sizeof data, 0, &map));
    CHECK_STATUS(null, bloomline_map_bytes(data, sizeof data, 0, NULL));
    CHECK_STATUS(null, bloomline_map_view(NULL, &view));

    CHECK(made == NULL && map == NULL && written == 99);
    CHECK(memcmp(&view, &untouched, sizeof view) == 0);
    CHECK_U64(0, bloomline_builder_key_count(builder));
    CHECK_OK(bloomline_view_open(data, sizeof data, 0, &view)); /* the bytes are as they were */

    /* NULL with a count of 0, and keys of no bytes. */
    CHECK_OK(bloomline_block_build(&good, NULL, 0, data, sizeof data));
    CHECK_OK(bloomline_builder_add(builder, NULL, 0));
    CHECK_U64(1, bloomline_builder_key_count(builder));
    bloomline_builder_free(builder);
    bloomline_filter_free(filter);
}

static void null_where_there_is_no_status(void)
{
    uint64_t hashes[2] = {1, 2}, bitmap[2] = {7, 7};
    bloomline_bytes keys[2] = {{(const uint8_t *)"apple", 5}, {NULL, 0}};
    bloomline_filter *filter = good_filter();

    bloomline_builder_free(NULL);
    bloomline_map_close(NULL);
    bloomline_filter_clear(NULL);
    bloomline_filter_insert(NULL, "apple", 5);
    bloomline_filter_insert_hash(NULL, 1);
    bloomline_filter_insert_hashes(NULL, hashes, 2);
    bloomline_filter_insert_keys(NULL, keys, 2);
    bloomline_filter_insert_hashes(filter, NULL, 2);
    bloomline_filter_insert_keys(filter, NULL, 2);
    bloomline_filter_insert_hashes(filter, NULL, 0);
    bloomline_filter_insert_keys(filter, NULL, 0);
    CHECK_U64(1, filter_key_count(filter));

    CHECK_U64(0, filter_key_count(NULL));
    CHECK_U64(0, bloomline_view_key_count(NULL));
    CHECK_U64(0, bloomline_builder_key_count(NULL));
    CHECK_U64(0, bloomline_builder_block_len(NULL));
    CHECK_U64(0, bloomline_block_len(NULL));
    CHECK_NEAR(1, bloomline_params_rate(NULL, 1), 0);
    CHECK_NEAR(1, filter_fill(NULL), 0);
    CHECK_NEAR(0, filter_estimated_keys(NULL), 0);
    CHECK_NEAR(1, filter_estimated_rate(NULL), 0);

    CHECK_U64(bloomline_hash("", 0, 3), bloomline_hash(NULL, 0, 3));
    CHECK_U64(bloomline_hash("", 0, 3), bloomline_hash(NULL, 5, 3));
    CHECK_U64(bloomline_hash("apple", 5, 0), bloomline_view_hash(NULL, "apple", 5));
    bloomline_hash_u64_batch(NULL, 2, 0, bitmap);
    bloomline_hash_batch(NULL, 2, 0, bitmap);
    CHECK(bitmap[0] == 7 && bitmap[1] == 7);
    bloomline_hash_u64_batch(hashes, 2, 0, NULL);
    bloomline_hash_batch(keys, 2, 0, NULL);
    bloomline_hash_u64_batch(NULL, 0, 0, NULL);
    bloomline_hash_batch(NULL, 0, 0, NULL);

    /* A key that is not there is inserted as the empty key. */
    CHECK(!bloomline_filter_contains(filter, "", 0));
    bloomline_filter_insert(filter, NULL, 5);
    CHECK(bloomline_filter_contains(filter, "", 0));
    bloomline_filter_free(filter);
}

/* A key count is a hint: any will do. */
static void absurd_key_counts(void)
{
    static const uint64_t counts[] = {0, 1, UINT64_MAX};
    for (size_t i = 0; i < 3; i++) {
        uint8_t data[2 * LINE_BYTES] = {0};
        bloomline_view view;
        bloomline_filter *filter = NULL, *more = NULL;
        definition_insert(data, 1, 6, 12345);
        definition_finish(data, 1, 6, 0, counts[i]);
        CHECK_OK(bloomline_view_open(data, sizeof data, 0, &view));
        CHECK_U64(counts[i], bloomline_view_key_count(&view));
        CHECK(bloomline_view_contains_hash(&view, 12345));
        REQUIRE_OK(bloomline_filter_decode(data, sizeof data, &filter));
        REQUIRE_OK(bloomline_filter_decode(data, sizeof data, &more));
        CHECK_U64(counts[i], filter_key_count(filter));
        bloomline_filter_insert_hash(filter, 1); /* no overflow */
        CHECK(filter_key_count(filter) >= counts[i]);
        CHECK_OK(bloomline_filter_union(filter, more));
        CHECK(filter_key_count(filter) >= counts[i]);
        CHECK(bloomline_filter_contains_hash(filter, 12345));
        CHECK_NEAR(1, filter_estimated_keys(more), 0.2);
        bloomline_filter_free(filter);
        bloomline_filter_free(more);
    }
}

int main(void)
{
    check_begin("test_status");
    RUN(messages_fit_what_is_wrong);
    RUN(every_number_has_a_message_of_its_own);
    RUN(numbers_are_what_they_were);
    RUN(no_filter_has_such_a_rate);
    RUN(bits_out_of_range);
    RUN(parameters_out_of_range);
    RUN(too_large_for_memory);
    RUN(buffers_too_small_by_one_byte);
    RUN(filters_that_do_not_match);
    RUN(null_where_there_is_a_status);
    RUN(null_where_there_is_no_status);
    RUN(absurd_key_counts);
    return check_end();
}
