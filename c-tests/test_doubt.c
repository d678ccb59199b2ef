/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_doubt.c - every function that answers whether a key may be in answers true when it
 * cannot know: for NULL, for keys that are not there, for views that were not opened, were
 * overwritten, or have one bit changed. A false "no" would lose data.
 */
#include "check.h"
#include "definition.h"
#include "probes.h"

static const bloomline_params good = {3, 6, 0, 5};

static bloomline_filter *good_filter(void)
{
    bloomline_filter *filter = NULL;
    REQUIRE_OK(bloomline_filter_new(&good, &filter));
    bloomline_filter_insert(filter, "apple", 5);
    return filter;
}

/* All 'n' answers of a batch that cannot know are yes. */
static void check_all_present(size_t n, size_t count, const uint64_t *bitmap)
{
    CHECK_U64(n, count);
    for (size_t i = 0; i < (n + 63) / 64 * 64; i++) CHECK(bit_of(bitmap, i) == (i < n));
}

static void check_answers_true(const bloomline_view *view)
{
    uint64_t hashes[130], bitmap[3];
    bloomline_bytes keys[130];
    for (size_t i = 0; i < 130; i++) {
        hashes[i] = bloomline_hash_u64(i, 9);
        keys[i].data = (const uint8_t *)&hashes[i];
        keys[i].len = 8;
    }
    CHECK(bloomline_view_contains(view, "plum", 4));
    CHECK(bloomline_view_contains(view, NULL, 0));
    CHECK(bloomline_view_contains_hash(view, 12345));
    check_all_present(130, bloomline_view_contains_hashes(view, hashes, 130, bitmap), bitmap);
    check_all_present(70, bloomline_view_contains_keys(view, keys, 70, bitmap), bitmap);
    CHECK_U64(0, bloomline_view_key_count(view));
    if (view == NULL) return;
    bloomline_params params = good;
    CHECK_STATUS(BLOOMLINE_ERR_NOT_A_FILTER, bloomline_view_shape(view, &params));
    CHECK(memcmp(&params, &good, sizeof params) == 0);
    CHECK_U64(1, bloomline_views_contain_hash(view, 1, 12345, bitmap));
    CHECK_U64(1, bitmap[0]);
    CHECK_U64(bloomline_hash("apple", 5, 0), bloomline_view_hash(view, "apple", 5));
}

static void filters(void)
{
    uint64_t hashes[130] = {0}, bitmap[3];
    bloomline_bytes keys[130] = {{NULL, 0}};
    bloomline_filter *filter = good_filter();

    CHECK(!bloomline_filter_contains(filter, "plum", 4));
    CHECK(bloomline_filter_contains(filter, NULL, 5));
    CHECK(bloomline_filter_contains(NULL, "plum", 4));
    CHECK(bloomline_filter_contains_hash(NULL, 1));
    check_all_present(130, bloomline_filter_contains_hashes(NULL, hashes, 130, bitmap), bitmap);
    check_all_present(64, bloomline_filter_contains_keys(NULL, keys, 64, bitmap), bitmap);
    check_all_present(65, bloomline_filter_contains_hashes(filter, NULL, 65, bitmap), bitmap);
    check_all_present(63, bloomline_filter_contains_keys(filter, NULL, 63, bitmap), bitmap);
    CHECK_U64(130, bloomline_filter_contains_hashes(filter, hashes, 130, NULL));
    CHECK_U64(130, bloomline_filter_contains_keys(filter, keys, 130, NULL));
    CHECK_U64(0, bloomline_filter_contains_hashes(filter, NULL, 0, NULL));
    CHECK_U64(0, bloomline_filter_contains_keys(filter, NULL, 0, NULL));
    CHECK_U64(0, bloomline_filter_contains_hashes(NULL, NULL, 0, NULL));
    check_all_present(130, bloomline_views_contain_hash(NULL, 130, 1, bitmap), bitmap);
    CHECK_U64(130, bloomline_views_contain_hash(NULL, 130, 1, NULL));
    CHECK_U64(0, bloomline_views_contain_hash(NULL, 0, 1, NULL));
    bloomline_filter_free(filter);
}

static void one_key_of_a_batch(void)
{
    uint64_t bitmap[3];
    bloomline_bytes keys[130];
    bloomline_filter *filter = good_filter();
    /* One broken key in a batch: its bit, and only its bit. */
    for (size_t i = 0; i < 130; i++) {
        keys[i].data = (const uint8_t *)"plum";
        keys[i].len = 4;
    }
    keys[70].data = NULL;
    CHECK_U64(1, bloomline_filter_contains_keys(filter, keys, 130, bitmap));
    CHECK(bit_of(bitmap, 70));
    bloomline_filter_free(filter);
}

static void views(void)
{
    uint64_t hashes[130] = {0}, bitmap[3];
    bloomline_bytes keys[130] = {{NULL, 0}};
    bloomline_filter *filter = good_filter();
    bloomline_view view, damaged;
    CHECK_OK(bloomline_filter_view(filter, &view));
    CHECK(!bloomline_view_contains(&view, "plum", 4));
    CHECK(bloomline_view_contains(&view, NULL, 5));
    check_all_present(65, bloomline_view_contains_hashes(&view, NULL, 65, bitmap), bitmap);
    check_all_present(63, bloomline_view_contains_keys(&view, NULL, 63, bitmap), bitmap);
    CHECK_U64(130, bloomline_view_contains_hashes(&view, hashes, 130, NULL));
    CHECK_U64(130, bloomline_view_contains_keys(&view, keys, 130, NULL));
    check_answers_true(NULL);
    for (int byte = 0; byte <= 255; byte++) {
        memset(&damaged, byte, sizeof damaged);
        check_answers_true(&damaged);
    }
    /* With addresses of 32 bits the last 16 bytes are reserved, and not read. */
    for (size_t bit = 0; bit < (sizeof(void *) == 8 ? 8 : 6) * 64; bit++) {
        damaged = view;
        damaged.opaque[bit / 64] ^= (uint64_t)1 << (bit % 64);
        check_answers_true(&damaged);
    }
    bloomline_filter_free(filter);
}

int main(void)
{
    check_begin("test_doubt");
    RUN(filters);
    RUN(one_key_of_a_batch);
    RUN(views);
    return check_end();
}
