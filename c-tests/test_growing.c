/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_growing.c - bloomline_growing beside what its histories have: the filters as sets, listed, split and
 * frozen, held to a count of each prefix; filters for an unknown number of keys; filters built at once; inserts by several
 * threads; NULL; views that see changes.
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "definition.h"
#include "probes.h"

#include <math.h>
#include <stdlib.h>

enum { KEYS = 3000, PREFIXES = 10000, PROBES = 2000, STEP = 20 };

static uint64_t hashes[2 * KEYS];

/* The definition: how often each prefix is there. */
typedef struct {
    uint64_t counts[PREFIXES];
} model;

static uint64_t prefix_of(uint64_t hash)
{
    /* hash * PREFIXES / 2^64, by halves. */
    uint64_t low = (hash & UINT32_MAX) * PREFIXES, high = (hash >> 32) * PREFIXES;
    return (high + (low >> 32)) >> 32;
}

static bloomline_growing *filter_of(const uint64_t *own, size_t n, model *of)
{
    bloomline_growing *filter = NULL;
    bloomline_growing_facts facts;
    REQUIRE_OK(bloomline_growing_new(1000, 0.1, 7, &filter));
    REQUIRE_OK(bloomline_growing_about(filter, &facts));
    CHECK(facts.expected_keys == 1000 && facts.target_rate == 0.1 && facts.seed == 7 && facts.is_unbounded == 0);
    REQUIRE(facts.prefix_count == PREFIXES);
    REQUIRE_OK(bloomline_growing_insert_hashes(filter, own, n, NULL));
    memset(of, 0, sizeof *of);
    for (size_t i = 0; i < n; i++) of->counts[prefix_of(own[i])]++;
    return filter;
}

/* All answers, the list, and the number of keys. */
static void is_as(const bloomline_growing *filter, const model *of)
{
    static uint64_t prefixes[PREFIXES + STEP], counts[PREFIXES + STEP];
    static uint64_t probed[PROBES], bitmap[(PROBES + 63) / 64];
    uint64_t all = 0, next = 0;
    size_t listed = 0;
    for (size_t i = 0; i < PREFIXES; i++) all += of->counts[i];
    CHECK_U64(all, growing_key_count(filter));
    /* A few at a time, so that many a call begins at a prefix that is there. */
    for (size_t got = STEP; got == STEP && listed < PREFIXES;) {
        got = bloomline_growing_prefixes(filter, next, prefixes + listed, counts + listed, STEP);
        listed += got;
        if (got > 0) next = prefixes[listed - 1] + 1;
    }
    size_t at = 0;
    for (uint64_t prefix = 0; prefix < PREFIXES; prefix++) {
        if (of->counts[prefix] == 0) continue;
        CHECK_WITH(at < listed && prefixes[at] == prefix && counts[at] == of->counts[prefix], "prefix %d", (int)prefix);
        at++;
    }
    CHECK_U64(at, listed);
    uint64_t random = 5;
    for (size_t i = 0; i < PROBES; i++) probed[i] = i % 2 ? hashes[i] : next_random(&random);
    growing_contains_hashes(filter, probed, PROBES, bitmap);
    for (size_t i = 0; i < PROBES; i++) {
        uint64_t count = of->counts[prefix_of(probed[i])];
        CHECK(bit_of(bitmap, i) == (count > 0));
        CHECK(growing_contains_hash(filter, probed[i]) == (count > 0));
        CHECK_U64(count, bloomline_growing_count_hash(filter, probed[i]));
    }
}

static model first_model, second_model, expected;

static void sets(void)
{
    for (int verb = 0; verb < 3; verb++) {
        bloomline_growing *first = filter_of(hashes, KEYS, &first_model);
        bloomline_growing *second = filter_of(hashes + KEYS / 2, KEYS, &second_model);
        is_as(first, &first_model);
        for (size_t i = 0; i < PREFIXES; i++) {
            uint64_t a = first_model.counts[i], b = second_model.counts[i];
            expected.counts[i] = verb == 0 ? a + b : verb == 1 ? (a < b ? a : b) : (a > b ? a - b : 0);
        }
        CHECK_OK(verb == 0 ? bloomline_growing_union(first, second) :
                 verb == 1 ? bloomline_growing_intersect(first, second) : bloomline_growing_difference(first, second));
        is_as(first, &expected);
        is_as(second, &second_model);
        /* Of one filter. */
        for (size_t i = 0; i < PREFIXES; i++) second_model.counts[i] *= verb == 0 ? 2 : verb == 1 ? 1 : 0;
        CHECK_OK(verb == 0 ? bloomline_growing_union(second, second) :
                 verb == 1 ? bloomline_growing_intersect(second, second) : bloomline_growing_difference(second, second));
        is_as(second, &second_model);
        bloomline_growing_free(first);
        bloomline_growing_free(second);
    }
}

static void removed(void)
{
    bloomline_growing *filter = filter_of(hashes, KEYS, &first_model);
    static uint64_t bitmap[(2 * KEYS + 63) / 64];
    size_t count = bloomline_growing_remove_hashes(filter, hashes + KEYS / 2, KEYS, bitmap), bits = 0;
    for (size_t i = 0; i < KEYS; i++) {
        uint64_t *there = &first_model.counts[prefix_of(hashes[KEYS / 2 + i])];
        CHECK(bit_of(bitmap, i) == (*there > 0));
        bits += *there > 0;
        if (*there > 0) --*there;
    }
    CHECK_U64(bits, count);
    is_as(filter, &first_model);
    bloomline_growing_clear(filter);
    memset(&first_model, 0, sizeof first_model);
    is_as(filter, &first_model);
    CHECK_STATUS(BLOOMLINE_ERR_ABSENT, bloomline_growing_remove_hash(filter, hashes[0]));
    CHECK_STATUS(BLOOMLINE_ERR_ABSENT, bloomline_growing_remove(filter, "apple", 5));
    bloomline_growing_free(filter);
}

static void split(void)
{
    bloomline_growing *filter = filter_of(hashes, KEYS, &first_model), *parts[7];
    REQUIRE_OK(bloomline_growing_split(filter, 7, parts));
    for (uint64_t part = 0; part < 7; part++) {
        for (uint64_t i = 0; i < PREFIXES; i++) {
            /* The hashes of a prefix start at i / PREFIXES of all and end before i + 1. */
            bool within = (i + 1) * 7 > part * PREFIXES && i * 7 < (part + 1) * PREFIXES;
            expected.counts[i] = within ? first_model.counts[i] : 0;
        }
        is_as(parts[part], &expected);
        bloomline_growing_free(parts[part]);
    }
    CHECK_OK(bloomline_growing_split(filter, 0, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_split(filter, 1, NULL));
    is_as(filter, &first_model);
    bloomline_growing_free(filter);
}

static void frozen(void)
{
    bloomline_growing *filter = filter_of(hashes, KEYS, &first_model);
    size_t cap = bloomline_static_block_len(KEYS, 0.01), written = 99;
    uint8_t *data = malloc(cap);
    bloomline_view view;
    REQUIRE(data != NULL);
    CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL, bloomline_growing_freeze(filter, 0.01, data, 64, &written));
    CHECK_STATUS(BLOOMLINE_ERR_RATE, bloomline_growing_freeze(filter, 2, data, cap, &written));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_freeze(filter, 0.01, data, cap, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_freeze(NULL, 0.01, data, cap, &written));
    CHECK_U64(99, written);
    REQUIRE_OK(bloomline_growing_freeze(filter, 0.01, data, cap, &written));
    bloomline_growing_free(filter);
    REQUIRE_OK(bloomline_view_open(data, written, 0, &view));
    for (size_t i = 0; i < KEYS; i++) {
        uint64_t hash = bloomline_growing_frozen_hash(PREFIXES, hashes[i]);
        CHECK(bloomline_view_contains_hash(&view, hash));
        CHECK_U64(bloomline_hash_u64(prefix_of(hashes[i]), 0), hash);
    }
    size_t wrong = 0, absent = 0;
    uint64_t random = 5;
    for (size_t i = 0; i < PROBES; i++) {
        uint64_t hash = next_random(&random);
        if (first_model.counts[prefix_of(hash)] > 0) continue;
        absent++;
        wrong += bloomline_view_contains_hash(&view, bloomline_growing_frozen_hash(PREFIXES, hash));
    }
    CHECK_WITH(absent > PROBES / 2 && wrong < absent / 20, "%zu of %zu", wrong, absent);
    free(data);
}

static void unbounded(void)
{
    bloomline_growing *filter = NULL, *other = NULL, *bounded = NULL, *copy = NULL;
    bloomline_growing_facts facts;
    uint8_t data[64];
    size_t written;
    REQUIRE_OK(bloomline_growing_new_unbounded(10, 0.01, 7, &filter));
    REQUIRE_OK(bloomline_growing_new_unbounded(10, 0.01, 7, &other));
    REQUIRE_OK(bloomline_growing_new(10, 0.01, 7, &bounded));
    REQUIRE_OK(bloomline_growing_about(filter, &facts));
    CHECK(facts.is_unbounded == 1 && facts.expected_keys == 10);
    REQUIRE_OK(bloomline_growing_insert_hashes(filter, hashes, KEYS, NULL));
    REQUIRE_OK(bloomline_growing_insert_hashes(other, hashes + KEYS, KEYS, NULL));
    CHECK(growing_estimated_rate(filter) <= 0.01);
    CHECK_STATUS(BLOOMLINE_ERR_UNBOUNDED, bloomline_growing_difference(filter, other));
    CHECK_STATUS(BLOOMLINE_ERR_UNBOUNDED, bloomline_growing_freeze(filter, 0.01, data, sizeof data, &written));
    CHECK_STATUS(BLOOMLINE_ERR_MISMATCH, bloomline_growing_union(filter, bounded));
    CHECK_STATUS(BLOOMLINE_ERR_MISMATCH, bloomline_growing_intersect(filter, bounded));
    CHECK_U64(KEYS, growing_key_count(filter));
    /* The common ones answer "maybe" where both do. */
    REQUIRE_OK(bloomline_growing_clone(filter, &copy));
    REQUIRE_OK(bloomline_growing_insert_hashes(copy, hashes + KEYS, KEYS / 2, NULL));
    CHECK_OK(bloomline_growing_intersect(copy, other));
    CHECK(growing_key_count(copy) >= KEYS / 2 && growing_key_count(copy) < KEYS);
    for (size_t i = 0; i < 2 * KEYS; i++) {
        bool in_copy = growing_contains_hash(copy, hashes[i]), in_other = growing_contains_hash(other, hashes[i]);
        CHECK(i < KEYS ? in_copy == in_other : in_copy || i >= KEYS + KEYS / 2);
    }
    bloomline_growing_free(copy);
    CHECK_OK(bloomline_growing_union(filter, other));
    CHECK_U64(2 * KEYS, growing_key_count(filter));
    CHECK_OK(bloomline_growing_clone(filter, &copy));
    for (size_t i = 0; i < 2 * KEYS; i++) {
        CHECK(growing_contains_hash(filter, hashes[i]) && growing_contains_hash(copy, hashes[i]));
        CHECK(bloomline_growing_count_hash(filter, hashes[i]) > 0);
    }
    CHECK(growing_estimated_rate(filter) <= 0.02);
    for (size_t i = 0; i < 2 * KEYS; i++) CHECK_OK(bloomline_growing_remove_hash(filter, hashes[i]));
    CHECK_U64(0, growing_key_count(filter));
    bloomline_growing_free(filter), bloomline_growing_free(other);
    bloomline_growing_free(bounded), bloomline_growing_free(copy);
}

/* A bounded one is as after inserts, an unbounded one smaller. */
static void built(void)
{
    for (size_t n = 0; n <= 2 * KEYS; n += KEYS) {
        bloomline_growing *inserted = filter_of(hashes, n, &first_model), *filter = NULL, *by_inserts = NULL;
        bloomline_growing_facts facts;
        REQUIRE_OK(bloomline_growing_build(1000, 0.1, 7, hashes, n, &filter));
        is_as(filter, &first_model);
        CHECK_U64(bloomline_growing_encoded_len(inserted), bloomline_growing_encoded_len(filter));
        bloomline_growing_free(inserted), bloomline_growing_free(filter);

        REQUIRE_OK(bloomline_growing_build_unbounded(10, 0.01, 7, hashes, n, &filter));
        REQUIRE_OK(bloomline_growing_new_unbounded(10, 0.01, 7, &by_inserts));
        REQUIRE_OK(bloomline_growing_insert_hashes(by_inserts, hashes, n, NULL));
        REQUIRE_OK(bloomline_growing_about(filter, &facts));
        CHECK(facts.is_unbounded == 1 && facts.expected_keys == 10 && facts.seed == 7 && growing_key_count(filter) == n);
        CHECK(bloomline_growing_encoded_len(filter) < bloomline_growing_encoded_len(by_inserts) + (n == 0));
        CHECK_OK(bloomline_growing_insert_hashes(filter, hashes, 2 * KEYS, NULL));
        for (size_t i = 0; i < 2 * KEYS; i++) CHECK(growing_contains_hash(filter, hashes[i]));
        CHECK(growing_estimated_rate(filter) <= 0.01);
        bloomline_growing_free(filter), bloomline_growing_free(by_inserts);
    }
    bloomline_growing *filter = (bloomline_growing *)hashes;
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_build(10, 0.01, 0, NULL, 1, &filter));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_build_unbounded(10, 0.01, 0, hashes, 1, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_RATE, bloomline_growing_build(10, 0, 0, hashes, 1, &filter));
    CHECK_STATUS(BLOOMLINE_ERR_RATE, bloomline_growing_build_unbounded(10, 1, 0, hashes, 1, &filter));
    CHECK(filter == (bloomline_growing *)hashes);
}

/* By several threads: the prefixes and answers of inserts one by one. */
static void parallel(void)
{
    enum { MANY = 70000 };
    const size_t threads[] = {0, 1, 2, 16};
    uint64_t *many = malloc(MANY * sizeof *many), random = 3;
    bloomline_bytes *keys = malloc(MANY * sizeof *keys);
    static uint64_t expected_new[(MANY + 63) / 64], is_new[(MANY + 63) / 64];
    bloomline_growing *one = NULL, *filter = NULL;
    REQUIRE(many != NULL && keys != NULL);
    for (size_t i = 0; i < MANY; i++) {
        many[i] = i == 0 || i % 5 != 0 ? next_random(&random) : many[i / 2];
        keys[i] = (bloomline_bytes){(const uint8_t *)&many[i], sizeof *many};
    }
    for (int by_keys = 0; by_keys < 2; by_keys++) {
        REQUIRE_OK(bloomline_growing_new(100000, 0.01, 7, &one));
        REQUIRE_OK(by_keys ? bloomline_growing_insert_keys(one, keys, MANY, expected_new) :
                             bloomline_growing_insert_hashes(one, many, MANY, expected_new));
        size_t len = bloomline_growing_encoded_len(one), other_len;
        uint8_t *bytes = malloc(len), *others = malloc(len);
        REQUIRE(bytes != NULL && others != NULL);
        REQUIRE_OK(bloomline_growing_encode(one, bytes, len, &len));
        for (size_t i = 0; i < 2 * sizeof threads / sizeof threads[0]; i++) {
            uint64_t *bitmap = i % 2 ? is_new : NULL;
            size_t number = threads[i / 2];
            memset(is_new, i % 2 ? 0xAA : 0, sizeof is_new);
            REQUIRE_OK(bloomline_growing_new(100000, 0.01, 7, &filter));
            CHECK_OK(by_keys ? bloomline_growing_insert_keys_parallel(filter, keys, MANY, number, bitmap) :
                               bloomline_growing_insert_hashes_parallel(filter, many, MANY, number, bitmap));
            CHECK(bitmap == NULL || memcmp(is_new, expected_new, sizeof is_new) == 0);
            CHECK_OK(bloomline_growing_encode(filter, others, len, &other_len));
            CHECK_WITH(other_len == len && memcmp(bytes, others, len) == 0, "%zu threads", number);
            bloomline_growing_free(filter);
        }
        free(bytes), free(others);
        bloomline_growing_free(one);
    }
    REQUIRE_OK(bloomline_growing_new(10, 0.01, 0, &filter));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_insert_hashes_parallel(NULL, many, MANY, 2, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_insert_hashes_parallel(filter, NULL, 1, 2, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_insert_keys_parallel(NULL, keys, MANY, 2, is_new));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_insert_keys_parallel(filter, NULL, 1, 2, is_new));
    CHECK_OK(bloomline_growing_insert_hashes_parallel(filter, NULL, 0, 2, NULL));
    CHECK_U64(0, growing_key_count(filter));
    bloomline_growing_free(filter);
    free(many), free(keys);
}

/* A view, and a group of two, made of an empty filter. */
static void views_see_changes(void)
{
    bloomline_growing *filter = NULL;
    bloomline_filter *plain = NULL;
    bloomline_view views[2];
    bloomline_group *group = NULL;
    uint64_t word;
    REQUIRE_OK(bloomline_growing_new(1000, 0.001, 3, &filter));
    REQUIRE_OK(bloomline_filter_new(&(bloomline_params){100, 6, 0, 3}, &plain));
    REQUIRE_OK(bloomline_growing_view(filter, &views[0]));
    REQUIRE_OK(bloomline_filter_view(plain, &views[1]));
    for (size_t i = 0; i < 2 * KEYS; i++) CHECK_OK(bloomline_growing_insert_hash(filter, hashes[i], NULL));
    REQUIRE_OK(bloomline_group_new(views, 2, &group));
    for (size_t i = 0; i < 2 * KEYS; i++) {
        CHECK(bloomline_view_contains_hash(&views[0], hashes[i]));
        CHECK_U64(1, bloomline_group_contains_hash(group, hashes[i], &word));
        CHECK_U64(1, word);
    }
    CHECK_U64(2 * KEYS, bloomline_view_key_count(&views[0]));
    CHECK(view_about(&views[0]).estimated_rate < 0.01 && view_about(&views[0]).fill > 0.5);
    bloomline_growing_clear(filter);
    for (size_t i = 0; i < 2 * KEYS; i++) CHECK(!bloomline_view_contains_hash(&views[0], hashes[i]));
    bloomline_group_free(group);
    bloomline_growing_free(filter);
    bloomline_filter_free(plain);
}

static void bad_input(void)
{
    bloomline_growing *filter = (bloomline_growing *)hashes, *made = NULL;
    bool is_new = false;
    uint64_t word = 5;
    const double rates[] = {0, 1, -1, 2, (double)NAN};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        CHECK_STATUS(BLOOMLINE_ERR_RATE, bloomline_growing_new(10, rates[i], 0, &filter));
        CHECK_STATUS(BLOOMLINE_ERR_RATE, bloomline_growing_new_unbounded(10, rates[i], 0, &filter));
    }
    CHECK_STATUS(BLOOMLINE_ERR_RATE_TOO_SMALL, bloomline_growing_new(UINT64_MAX, 0.5, 0, &filter));
    CHECK(filter == (bloomline_growing *)hashes);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_new(10, 0.01, 0, NULL));
    REQUIRE_OK(bloomline_growing_new(10, 0.01, 0, &made));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_insert_hash(NULL, 1, &is_new));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_insert_hashes(NULL, hashes, 1, &word));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_insert_hashes(made, NULL, 1, &word));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_insert_keys(made, NULL, 1, &word));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_remove_hash(NULL, 1));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_remove(made, NULL, 1));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_union(made, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_intersect(NULL, made));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_view(NULL, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_about(made, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_growing_split(NULL, 1, &filter));
    CHECK_U64(UINT64_MAX, bloomline_growing_count_hash(NULL, 1));
    CHECK_U64(0, bloomline_growing_prefixes(NULL, 0, &word, NULL, 1));
    CHECK_U64(0, bloomline_growing_prefixes(made, 0, NULL, NULL, 1));
    CHECK_U64(0, bloomline_growing_remove_hashes(NULL, hashes, 1, &word));
    CHECK_U64(0, bloomline_growing_remove_hashes(made, NULL, 1, &word));
    /* A key of NULL with a length is broken: nothing is removed for it, the others are. */
    const bloomline_bytes keys[] = {{(const uint8_t *)"a", 1}, {NULL, 1}, {(const uint8_t *)"b", 1}};
    CHECK_OK(bloomline_growing_insert(made, "b", 1, &is_new));
    CHECK(is_new);
    CHECK_U64(1, bloomline_growing_remove_keys(made, keys, 3, &word));
    CHECK_U64(4, word);
    bloomline_growing_clear(NULL);
    bloomline_growing_free(NULL);
    bloomline_growing_free(made);
}

int main(void)
{
    check_begin("test_growing");
    uint64_t random = 1;
    for (size_t i = 0; i < 2 * KEYS; i++) hashes[i] = next_random(&random);
    RUN(sets);
    RUN(removed);
    RUN(split);
    RUN(frozen);
    RUN(unbounded);
    RUN(built);
    RUN(parallel);
    RUN(views_see_changes);
    RUN(bad_input);
    return check_end();
}
