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
    check_all_present(1, bloomline_view_contains_hashes(view, hashes, 1, bitmap), bitmap);
    check_all_present(1, bloomline_view_contains_hashes(view, NULL, 1, bitmap), bitmap);
    CHECK_U64(1, bloomline_view_contains_hashes(view, hashes, 1, NULL));
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

/* Broken keys in batches of every part that is probed at once: their bits, and only those. */
static void keys_of_a_batch(void)
{
    enum { MOST = 9000 };
    static const size_t broken[] = {0, 63, 64, 70, 4095, 4096}, counts[] = {1, 64, 65, 130, 4096, 4097, MOST};
    static bloomline_bytes keys[MOST];
    static uint64_t bitmap[(MOST + 63) / 64];
    bloomline_filter *filter = good_filter();
    for (size_t i = 0; i < MOST; i++) keys[i] = (bloomline_bytes){(const uint8_t *)"plum", 4};
    for (size_t i = 0; i < 6; i++) {
        /* NULL with a length, or a length that no memory has. */
        if (i % 2 == 0) keys[broken[i]].data = NULL;
        else keys[broken[i]].len = SIZE_MAX;
    }
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        size_t expected = 0, n = counts[c];
        size_t count = bloomline_filter_contains_keys(filter, keys, n, bitmap);
        for (size_t i = 0; i < n; i++) {
            bool maybe = expected < 6 && i == broken[expected];
            CHECK(bit_of(bitmap, i) == maybe);
            expected += maybe;
        }
        CHECK_U64(expected, count);
    }
    bloomline_filter_insert(filter, "plum", 4); /* then all are there: none is counted twice */
    CHECK_U64(MOST, bloomline_filter_contains_keys(filter, keys, MOST, bitmap));
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
    /* Half written, and some words off in an array of views. */
    for (size_t by = 1; sizeof(void *) == 8 && by < 8; by++) {
        damaged = view;
        memset(damaged.opaque + by, 0, (8 - by) * sizeof damaged.opaque[0]);
        check_answers_true(&damaged);
        for (size_t i = 0; i < 8; i++) damaged.opaque[i] = view.opaque[(i + by) % 8];
        check_answers_true(&damaged);
    }
    bloomline_filter_free(filter);
}

/* One key in many views: those that cannot know say yes; where one hashes otherwise, all do. */
static void one_of_many_views(void)
{
    enum { MOST = 200 };
    static const size_t counts[] = {1, 2, 8, 63, 64, 65, 130, MOST};
    bloomline_params params = good;
    bloomline_filter *usual = NULL, *other = NULL;
    REQUIRE_OK(bloomline_filter_new(&params, &usual));
    params.seed++;
    REQUIRE_OK(bloomline_filter_new(&params, &other));
    bloomline_view views[MOST], of_usual, of_other;
    REQUIRE_OK(bloomline_filter_view(usual, &of_usual));
    REQUIRE_OK(bloomline_filter_view(other, &of_other));
    uint64_t bitmap[4], hash = bloomline_view_hash(&of_usual, "nowhere", 7);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        size_t n = counts[c], odds[4] = {0, 1, n / 2, n - 1};
        for (size_t i = 0; i < n; i++) views[i] = of_usual;
        CHECK_U64(0, bloomline_views_contain_hash(views, n, hash, bitmap));
        for (size_t o = 0; o < 4 && n > 1; o++) {
            views[odds[o]] = of_other;
            check_all_present(n, bloomline_views_contain_hash(views, n, hash, bitmap), bitmap);
            /* All views of its word and behind: alike in each word, but not in all. */
            size_t word = odds[o] / 64 * 64;
            for (size_t i = word; i < n; i++) views[i] = of_other;
            CHECK_U64(word == 0 ? 0 : n, bloomline_views_contain_hash(views, n, hash, bitmap));
            for (size_t i = 0; i < n; i++) views[i] = of_usual;
        }
        for (size_t i = 0; i < n; i += 3) memset(&views[i], 0, sizeof views[i]);
        CHECK_U64((n + 2) / 3, bloomline_views_contain_hash(views, n, hash, bitmap));
        for (size_t i = 0; i < (n + 63) / 64 * 64; i++) CHECK(bit_of(bitmap, i) == (i < n && i % 3 == 0));
    }
    bloomline_filter_free(usual);
    bloomline_filter_free(other);
}

int main(void)
{
    check_begin("test_doubt");
    RUN(filters);
    RUN(keys_of_a_batch);
    RUN(views);
    RUN(one_of_many_views);
    return check_end();
}
