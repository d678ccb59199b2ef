/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_counting.c - bloomline_counting beside what its histories have: batches without a bitmap, a union
 * with itself, the plain filter of it; every status; NULL. Failed allocations are in test_alloc.c.
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "probes.h"
#include "definition.h"
#include "files.h"

enum { KEYS = 1000 };

static uint64_t hashes[KEYS];

static bloomline_counting *new_counting(uint64_t line_count, uint32_t k, uint64_t seed)
{
    bloomline_params params = {line_count, k, 0, seed};
    bloomline_counting *filter = NULL;
    REQUIRE_OK(bloomline_counting_new(&params, &filter));
    return filter;
}

/* More keys than a batch without a bitmap does at once. */
static void many_removals_without_a_bitmap(void)
{
    enum { MANY = 10000 };
    static uint64_t many[MANY];
    bloomline_counting *filter = new_counting(500, 6, 0);
    fill_hashes(many, MANY, 9);
    bloomline_counting_insert_hashes(filter, many, MANY, NULL);
    CHECK_U64(MANY, counting_key_count(filter));
    CHECK_U64(MANY, bloomline_counting_remove_hashes(filter, many, MANY, NULL));
    CHECK_U64(0, counting_key_count(filter));
    CHECK_U64(0, bloomline_counting_remove_hashes(filter, many, MANY, NULL));
    bloomline_counting_free(filter);
}

/* All keys are in once more. */
static void united_with_itself(void)
{
    bloomline_counting *filter = new_counting(3, 6, 0);
    bloomline_counting_insert_hashes(filter, hashes, 50, NULL);
    bloomline_counting_insert_hash(filter, 7);
    CHECK_OK(bloomline_counting_union(filter, filter));
    CHECK_U64(102, counting_key_count(filter));
    for (size_t i = 0; i < 50; i++) CHECK_OK(bloomline_counting_remove_hash(filter, hashes[i]));
    for (size_t i = 0; i < 50; i++) CHECK(bloomline_counting_count_hash(filter, hashes[i]) >= 1);
    bloomline_counting_free(filter);
}

/* Borrowed, cloned, in its file loaded and mapped. */
static void plain_filters_of_it(void)
{
    file_name directory = files_begin(), path = files_in(&directory, "filter");
    bloomline_counting *filter = new_counting(3, 6, 4);
    bloomline_filter *plain[2] = {NULL, NULL};
    bloomline_map *map = NULL;
    bloomline_view view;
    bloomline_counting_insert(filter, "apple", 5);
    const bloomline_filter *borrowed = bloomline_counting_filter(filter);
    CHECK_OK(bloomline_filter_clone(borrowed, &plain[0]));
    CHECK_OK(bloomline_counting_save(filter, path.text));
    CHECK_OK(bloomline_filter_load(path.text, &plain[1]));
    CHECK_OK(bloomline_map_open(path.text, 0, &map));
    CHECK_OK(bloomline_map_view(map, &view));
    CHECK(bloomline_view_contains(&view, "apple", 5) && !bloomline_view_contains(&view, "pear", 4));
    CHECK(bloomline_filter_contains(borrowed, "apple", 5));
    CHECK_OK(bloomline_counting_remove(filter, "apple", 5));
    CHECK(!bloomline_filter_contains(borrowed, "apple", 5)); /* the others are copies */
    for (int i = 0; i < 2; i++) {
        CHECK(bloomline_filter_contains(plain[i], "apple", 5) && !bloomline_filter_contains(plain[i], "pear", 4));
        bloomline_filter_free(plain[i]);
    }
    bloomline_map_close(map);
    bloomline_counting_free(filter);
    CHECK(unlink(path.text) == 0 && rmdir(directory.text) == 0);
}

static void parameters_out_of_range(void)
{
    static const struct {
        bloomline_params params;
        bloomline_status status;
    } cases[] = {
        {{2, 0, 0, 0}, BLOOMLINE_ERR_K},
        {{2, 17, 0, 0}, BLOOMLINE_ERR_K},
        {{0, 6, 0, 0}, BLOOMLINE_ERR_NO_LINES},
        {{UINT64_MAX, 6, 0, 0}, BLOOMLINE_ERR_LINE_COUNT},
        {{UINT64_MAX / 128 - 1, 6, 0, 0}, BLOOMLINE_ERR_LINE_COUNT}, /* that many lines, but not their counters */
        {{UINT64_MAX / 640 + 1, 6, 0, 0}, BLOOMLINE_ERR_LINE_COUNT},
        {{2, 6, 1, 0}, BLOOMLINE_ERR_LAYOUT},
        {{(uint64_t)1 << 50, 6, 0, 0}, sizeof(size_t) == 8 ? BLOOMLINE_ERR_OUT_OF_MEMORY : BLOOMLINE_ERR_LINE_COUNT},
    };
    bloomline_counting *filter = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_STATUS(cases[i].status, bloomline_counting_new(&cases[i].params, &filter));
        CHECK(filter == NULL);
    }
}

static void null(void)
{
    const bloomline_params params = {2, 6, 0, 0};
    bloomline_counting *filter = new_counting(2, 6, 0), *made = NULL;
    bloomline_filter *plain = NULL;
    bloomline_view view;
    uint8_t before[2 * 320 + FOOTER_BYTES], after[sizeof before];
    uint64_t answers[2];
    bloomline_bytes broken[3] = {{(const uint8_t *)"pear", 4}, {NULL, 3}, {(const uint8_t *)"plum", SIZE_MAX}};
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_new(NULL, &made));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_new(&params, NULL));
    bloomline_counting_insert(filter, "apple", 5);
    bloomline_counting_insert(filter, "pear", 4);
    CHECK_OK(bloomline_counting_encode(filter, before, sizeof before, NULL));

    bloomline_counting_insert(NULL, "apple", 5);
    bloomline_counting_insert_hash(NULL, 1);
    bloomline_counting_insert_hashes(NULL, hashes, 3, NULL);
    bloomline_counting_insert_hashes(filter, NULL, 3, NULL);
    bloomline_counting_insert_hashes(filter, NULL, 0, NULL);
    bloomline_counting_insert_keys(NULL, broken, 3, NULL);
    bloomline_counting_insert_keys(filter, NULL, 3, NULL);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_remove(NULL, "apple", 5));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_remove(filter, NULL, 5));
    CHECK_STATUS(BLOOMLINE_ERR_ABSENT, bloomline_counting_remove(filter, NULL, 0)); /* the empty key */
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_remove_hash(NULL, 1));
    CHECK_U64(0, bloomline_counting_remove_hashes(NULL, hashes, 3, NULL));
    answers[0] = answers[1] = UINT64_MAX;
    CHECK_U64(0, bloomline_counting_remove_hashes(NULL, hashes, 3, answers));
    CHECK_U64(0, answers[0]);
    answers[0] = UINT64_MAX;
    CHECK_U64(0, bloomline_counting_remove_hashes(filter, NULL, 70, answers));
    CHECK(answers[0] == 0 && answers[1] == 0);
    CHECK_U64(0, bloomline_counting_remove_hashes(filter, NULL, 0, NULL));
    CHECK_U64(0, bloomline_counting_remove_keys(NULL, broken, 3, answers));
    CHECK_U64(0, bloomline_counting_remove_keys(filter, NULL, 3, answers));
    CHECK_U64(BLOOMLINE_COUNTING_MOST, bloomline_counting_count_hash(NULL, 1));
    CHECK(bloomline_counting_filter(NULL) == NULL);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_filter_clone(bloomline_counting_filter(NULL), &plain));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_filter_clone(bloomline_counting_filter(filter), NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, counting_view(NULL, &view));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_union(NULL, filter));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_union(filter, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_union(NULL, NULL));
    bloomline_counting_clear(NULL);
    CHECK(made == NULL && plain == NULL);
    CHECK_OK(bloomline_counting_encode(filter, after, sizeof after, NULL));
    CHECK(memcmp(before, after, sizeof after) == 0);

    /* Keys that are not there: inserted as if empty, never removed. */
    bloomline_counting_insert(filter, NULL, 3);
    CHECK(counting_contains(filter, "", 0));
    CHECK_U64(1, bloomline_counting_remove_keys(filter, broken, 3, answers));
    CHECK_U64(1, answers[0]);
    CHECK(!counting_contains(filter, "pear", 4) && counting_contains(filter, "", 0));
    CHECK_U64(2, counting_key_count(filter));
    bloomline_counting_free(filter);
}

int main(void)
{
    check_begin("test_counting");
    fill_hashes(hashes, KEYS, 1);
    RUN(many_removals_without_a_bitmap);
    RUN(united_with_itself);
    RUN(plain_filters_of_it);
    RUN(parameters_out_of_range);
    RUN(null);
    return check_end();
}
