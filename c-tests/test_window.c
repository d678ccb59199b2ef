/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_window.c - bloomline_window beside what its histories have: long batches, every status,
 * NULL. Failed allocations are in test_alloc.c.
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "definition.h"
#include "probes.h"

static bloomline_window *new_window(uint32_t generations, uint64_t keys, double rate, uint64_t seed)
{
    bloomline_window *window = NULL;
    REQUIRE_OK(bloomline_window_new(generations, keys, rate, seed, &window));
    return window;
}

/* More keys than go through one generation at once, and than a call without a bitmap does. */
static void long_batches(void)
{
    enum { MANY = 20000 };
    static uint64_t hashes[MANY], bitmap[(MANY + 63) / 64];
    bloomline_window *window = new_window(4, MANY, 0.001, 0);
    fill_hashes(hashes, MANY, 9);
    size_t fresh = bloomline_window_insert_hashes(window, hashes, MANY, NULL);
    CHECK(fresh > MANY - 20 && fresh <= MANY);
    CHECK_U64(MANY, window_contains_hashes(window, hashes, MANY, bitmap));
    bloomline_window_rotate(window);
    CHECK_U64(0, bloomline_window_insert_hashes(window, hashes, MANY, bitmap));
    bloomline_window_advance_to(window, 4);
    CHECK_U64(MANY, window_contains_hashes(window, hashes, MANY, bitmap));
    bloomline_window_rotate(window);
    CHECK_U64(0, window_contains_hashes(window, hashes, MANY, bitmap));
    CHECK(window_estimated_rate(window) == 0);
    bloomline_window_free(window);
    /* One key at a time where the lines of all generations are prefetched. */
    window = new_window(5, 500000, 0.01, 0);
    for (size_t i = 0; i < 1000; i++) CHECK(bloomline_window_insert_hash(window, hashes[i]));
    for (size_t i = 0; i < 1000; i++) CHECK(window_contains_hash(window, hashes[i]));
    bloomline_window_free(window);
}

static void parameters_out_of_range(void)
{
    static const struct {
        uint32_t generations;
        uint64_t keys;
        double rate;
        bloomline_status status;
    } cases[] = {
        {0, 1000, 0.01, BLOOMLINE_ERR_GENERATIONS},
        {8, UINT64_MAX, 0.01, BLOOMLINE_ERR_LINE_COUNT},
        {UINT32_MAX, UINT64_C(1) << 40, 0.01, BLOOMLINE_ERR_LINE_COUNT},
        {8, UINT64_C(1) << 50, 0.01, sizeof(size_t) == 8 ? BLOOMLINE_ERR_OUT_OF_MEMORY : BLOOMLINE_ERR_LINE_COUNT},
    };
    bloomline_window *window = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_STATUS(cases[i].status, bloomline_window_new(cases[i].generations, cases[i].keys, cases[i].rate, 0, &window));
        CHECK(window == NULL);
    }
    CHECK_OK(bloomline_window_new(8, 0, 0.01, 0, &window)); /* no keys: a line each */
    CHECK(bloomline_window_insert(window, "key", 3) && window_contains(window, "key", 3));
    bloomline_window_free(window);
}

static void null(void)
{
    static const uint64_t hashes[3] = {1, 2, 3};
    bloomline_window *window = new_window(2, 100, 0.01, 0);
    bloomline_window_facts facts;
    uint8_t before[1000], after[1000];
    uint64_t bitmap[2];
    bloomline_bytes broken[3] = {{(const uint8_t *)"pear", 4}, {NULL, 3}, {(const uint8_t *)"plum", SIZE_MAX}};
    size_t len = bloomline_window_encoded_len(window);
    REQUIRE(len <= sizeof before);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_window_new(2, 100, 0.01, 0, NULL));
    bloomline_window_insert(window, "apple", 5);
    CHECK_OK(bloomline_window_encode(window, before, len, NULL));

    bloomline_window_rotate(NULL);
    bloomline_window_advance_to(NULL, 9);
    bloomline_window_rotate_after(NULL, 9);
    CHECK(bloomline_window_insert(NULL, "apple", 5) && bloomline_window_insert_hash(NULL, 1));
    CHECK_U64(3, bloomline_window_insert_hashes(NULL, hashes, 3, NULL));
    CHECK_U64(3, bloomline_window_insert_hashes(NULL, hashes, 3, bitmap));
    CHECK_U64(7, bitmap[0]);
    CHECK_U64(70, bloomline_window_insert_hashes(window, NULL, 70, bitmap));
    CHECK(bitmap[0] == UINT64_MAX && bitmap[1] == 63);
    CHECK_U64(0, bloomline_window_insert_hashes(window, NULL, 0, NULL));
    CHECK_U64(3, bloomline_window_insert_keys(NULL, broken, 3, bitmap));
    CHECK_U64(3, bloomline_window_insert_keys(window, NULL, 3, NULL));
    CHECK(window_contains(window, NULL, 4));
    CHECK_U64(2, window_contains_keys(window, broken, 3, bitmap));
    CHECK_U64(6, bitmap[0]);
    CHECK_U64(0, bloomline_window_key_count(NULL, 0));
    CHECK_U64(0, bloomline_window_key_count(window, 2));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_window_about(NULL, &facts));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_window_about(window, NULL));
    CHECK_OK(bloomline_window_encode(window, after, len, NULL));
    CHECK(memcmp(before, after, len) == 0);

    /* Keys that are not there are inserted as if empty. */
    CHECK(bloomline_window_insert(window, NULL, 3));
    CHECK(window_contains(window, "", 0));
    CHECK_U64(1, bloomline_window_insert_keys(window, broken, 3, bitmap));
    CHECK_U64(1, bitmap[0]);
    bloomline_window_free(window);
}

int main(void)
{
    check_begin("test_window");
    RUN(long_batches);
    RUN(parameters_out_of_range);
    RUN(null);
    return check_end();
}
