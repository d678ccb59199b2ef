/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_scalable.c - bloomline_scalable beside what its histories have: growth to a thousand times the
 * first capacity; what cannot grow; every status; NULL. Failed allocations are in test_alloc.c.
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "probes.h"
#include "definition.h"

enum { AT_CAPACITY = 16, MOST_STAGES = 64 };

static bloomline_scalable *new_scalable(uint64_t first_keys, double rate, uint64_t seed)
{
    bloomline_scalable *filter = NULL;
    REQUIRE_OK(bloomline_scalable_new(first_keys, rate, seed, &filter));
    return filter;
}

/* Batches of more keys than are looked up at once. Emulators get along with it. */
static void a_thousand_times_the_first_capacity(void)
{
    enum { FIRST = 64, MOST = 1000 * FIRST, PROBES = 200000 };
    static uint64_t hashes[MOST], probes[PROBES], bitmap[PROBES / 64 + 1];
    fill_hashes(hashes, MOST, 20);
    fill_hashes(probes, PROBES, 21);
    bloomline_scalable *filter = new_scalable(FIRST, 0.01, 0);
    size_t in = 0;
    for (size_t times = 1; times <= 1000; times *= 10) {
        CHECK_OK(bloomline_scalable_insert_hashes(filter, hashes + in, times * FIRST - in, NULL));
        in = times * FIRST;
        CHECK_U64(in, scalable_contains_hashes(filter, hashes, in, bitmap));
        CHECK(scalable_key_count(filter) <= in && scalable_key_count(filter) > in - in / 50 - 1);
        double rate = (double)scalable_contains_hashes(filter, probes + 10, PROBES - 10, bitmap) / PROBES;
        double expected = scalable_about(filter).expected_rate;
        printf("    %zu times: %zu stages, rate %.5f, expected %.5f\n", times, (size_t)scalable_about(filter).stage_count, rate, expected);
        CHECK(expected < 0.01);
        CHECK(rate < 0.01);
    }
    size_t stages = (size_t)scalable_about(filter).stage_count;
    CHECK_U64(10, stages);
    uint64_t keys = 0;
    for (size_t i = 0; i < stages; i++) {
        const bloomline_filter *stage = bloomline_scalable_stage(filter, i);
        REQUIRE(stage != NULL);
        keys += filter_key_count(stage);
        if (i + 1 < stages) CHECK_U64((uint64_t)FIRST << i, filter_key_count(stage));
        CHECK(filter_fill(stage) > 0.1);
    }
    CHECK(bloomline_scalable_stage(filter, stages) == NULL);
    CHECK_U64(keys, scalable_key_count(filter));
    CHECK(scalable_about(filter).target_rate == 0.01 && scalable_about(filter).seed == 0);
    bloomline_scalable_free(filter);
}

/* Stages of one line each, so many, each for 'capacity' keys and said to have 'key_count'. */
static size_t stages_of_a_line(uint8_t *data, size_t stages, uint64_t capacity, uint64_t key_count, double rate)
{
    size_t table = stages * LINE_BYTES, len = 2 * table + FOOTER_BYTES;
    uint64_t bits;
    memset(data, 0, len);
    memcpy(&bits, &rate, sizeof bits);
    for (size_t i = 0; i < stages; i++) {
        uint8_t *record = data + table + i * LINE_BYTES;
        definition_insert(data + i * LINE_BYTES, 1, 6, i);
        put_le(record + AT_KEY_COUNT, 8, key_count);
        put_le(record + AT_LINE_COUNT, 8, 1);
        put_le(record + AT_CAPACITY, 8, capacity);
        put_le(record + AT_K, 4, 6);
    }
    definition_finish_layout(data, 2 * table, 3, stages, (uint32_t)stages, 0, key_count * stages);
    put_le(data + len - FOOTER_BYTES + AT_RESERVED, 8, bits);
    definition_seal(data, len);
    return len;
}

/* What cannot grow says so, and has the keys all the same. */
static void no_room_to_grow(void)
{
    static uint8_t data[(2 * MOST_STAGES + 1) * LINE_BYTES];
    enum { KEYS = 30 };
    uint64_t hashes[KEYS], bitmap = 0;
    bloomline_scalable *filter = NULL;
    bool is_new = false;
    size_t len = stages_of_a_line(data, MOST_STAGES, 1, 1, 0.5);
    REQUIRE_OK(bloomline_scalable_decode(data, len, &filter));
    fill_hashes(hashes, KEYS, 0);
    CHECK_STATUS(BLOOMLINE_ERR_OUT_OF_MEMORY, bloomline_scalable_insert_hash(filter, 77777777777, &is_new));
    CHECK(is_new && scalable_contains_hash(filter, 77777777777));
    CHECK_OK(bloomline_scalable_insert_hash(filter, 77777777777, &is_new));
    CHECK(!is_new);
    CHECK_STATUS(BLOOMLINE_ERR_OUT_OF_MEMORY, bloomline_scalable_insert_hashes(filter, hashes, KEYS / 2, &bitmap));
    CHECK(bitmap != 0 && bitmap >> (KEYS / 2) == 0);
    CHECK_STATUS(BLOOMLINE_ERR_OUT_OF_MEMORY, bloomline_scalable_insert_hashes(filter, hashes, KEYS, NULL));
    CHECK_U64(KEYS, scalable_contains_hashes(filter, hashes, KEYS, &bitmap));
    CHECK_U64(MOST_STAGES, scalable_about(filter).stage_count);
    bloomline_scalable_free(filter);
}

/* After a stage of one line comes one of 64 KiB at most, whatever the bytes claim. */
static void a_claim_does_not_make_it_large(void)
{
    static const uint64_t claims[] = {(uint64_t)1 << 32, (uint64_t)1 << 52, (uint64_t)1 << 63, UINT64_MAX};
    uint8_t data[3 * LINE_BYTES];
    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
        bloomline_scalable *filter = NULL;
        bool is_new = false;
        size_t len = stages_of_a_line(data, 1, claims[i], claims[i], 0.01);
        REQUIRE_OK(bloomline_scalable_decode(data, len, &filter));
        CHECK_OK(bloomline_scalable_insert_hash(filter, 77777777777, &is_new));
        CHECK(is_new && scalable_contains_hash(filter, 77777777777));
        CHECK_U64(2, scalable_about(filter).stage_count);
        CHECK(bloomline_scalable_encoded_len(filter) < 80000);
        bloomline_scalable_free(filter);
    }
}

static void capacities_and_rates_out_of_range(void)
{
    bloomline_scalable *filter = NULL;
    CHECK_STATUS(BLOOMLINE_ERR_RATE_TOO_SMALL, bloomline_scalable_new(100, 9e-16, 0, &filter));
    CHECK_STATUS(BLOOMLINE_ERR_LINE_COUNT, bloomline_scalable_new(UINT64_MAX, 0.01, 0, &filter));
    CHECK_STATUS(sizeof(size_t) == 8 ? BLOOMLINE_ERR_OUT_OF_MEMORY : BLOOMLINE_ERR_LINE_COUNT,
                 bloomline_scalable_new((uint64_t)1 << 52, 0.01, 0, &filter));
    CHECK(filter == NULL);
    /* No capacity is a small one. */
    filter = new_scalable(0, 1e-15, 0);
    for (uint64_t i = 0; i < 33; i++) CHECK_OK(bloomline_scalable_insert_hash(filter, bloomline_hash_u64(i, 0), NULL));
    CHECK_U64(2, scalable_about(filter).stage_count);
    bloomline_scalable_free(filter);
}

static void null(void)
{
    bloomline_scalable *filter = new_scalable(10, 0.01, 0);
    const uint64_t hashes[3] = {1, 2, 3};
    uint64_t bitmap = 0;
    bloomline_scalable_facts facts;
    bool is_new = false;
    bloomline_bytes broken[3] = {{(const uint8_t *)"pear", 4}, {NULL, 3}, {(const uint8_t *)"plum", SIZE_MAX}};
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_new(10, 0.01, 0, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_insert(NULL, "a", 1, &is_new));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_insert_hash(NULL, 1, &is_new));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_insert_hashes(NULL, hashes, 3, &bitmap));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_insert_hashes(filter, NULL, 3, &bitmap));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_insert_keys(NULL, broken, 3, &bitmap));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_insert_keys(filter, NULL, 3, &bitmap));
    CHECK(!is_new && bitmap == 0);
    CHECK_U64(0, scalable_key_count(filter));
    CHECK_OK(bloomline_scalable_insert_hashes(filter, NULL, 0, NULL));
    CHECK_OK(bloomline_scalable_insert_keys(filter, NULL, 0, NULL));
    /* Keys that are not there are as empty ones. */
    CHECK_OK(bloomline_scalable_insert_keys(filter, broken, 3, &bitmap));
    CHECK_U64(3, bitmap);
    CHECK_OK(bloomline_scalable_insert(filter, NULL, 7, &is_new));
    CHECK(!is_new && scalable_contains(filter, "", 0));

    CHECK(scalable_contains(filter, NULL, 1));
    CHECK_U64(3, scalable_contains_keys(filter, broken, 3, &bitmap));
    CHECK(bloomline_scalable_stage(NULL, 0) == NULL && bloomline_scalable_stage(filter, SIZE_MAX) == NULL);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_about(NULL, &facts));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_about(filter, NULL));
    bloomline_scalable_free(filter);
}

int main(void)
{
    check_begin("test_scalable");
    RUN(a_thousand_times_the_first_capacity);
    RUN(no_room_to_grow);
    RUN(a_claim_does_not_make_it_large);
    RUN(capacities_and_rates_out_of_range);
    RUN(null);
    return check_end();
}
