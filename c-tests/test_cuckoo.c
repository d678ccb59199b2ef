/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_cuckoo.c - bloomline_cuckoo_* beside what its histories have: sizes, what is refused, NULL.
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "probes.h"
#include "definition.h"

enum { SEED = 7 };

static bloomline_cuckoo *make(uint64_t line_count, uint32_t bits)
{
    const bloomline_cuckoo_params params = {line_count, bits, 0, SEED};
    bloomline_cuckoo *filter = NULL;
    REQUIRE_OK(bloomline_cuckoo_new(&params, &filter));
    return filter;
}

static void sizes_are_for_the_rate(void)
{
    static const struct {
        double rate;
        uint32_t bits;
    } rows[] = {{0.03, 8}, {0.01, 12}, {0.001, 16}};
    for (size_t i = 0; i < 3; i++) {
        bloomline_cuckoo_params params;
        CHECK_OK(bloomline_cuckoo_params_for_rate(1000, rows[i].rate, &params));
        CHECK(params.fingerprint_bits == rows[i].bits && params.reserved == 0 && params.seed == 0);
        CHECK(bloomline_cuckoo_params_rate(&params, 1000) <= rows[i].rate);
        CHECK(bloomline_cuckoo_params_rate(&params, 0) == 0);
        bloomline_cuckoo *filter = NULL;
        REQUIRE_OK(bloomline_cuckoo_new(&params, &filter));
        for (uint64_t key = 0; key < 1000; key++) {
            CHECK_OK(bloomline_cuckoo_insert_hash(filter, bloomline_hash_u64(key, 0)));
        }
        bloomline_cuckoo_free(filter);
    }
    bloomline_cuckoo_params same = {1, 2, 3, 4}, params = same;
    CHECK_STATUS(BLOOMLINE_ERR_RATE_TOO_SMALL, bloomline_cuckoo_params_for_rate(1000, 1e-5, &params));
    CHECK_STATUS(BLOOMLINE_ERR_LINE_COUNT, bloomline_cuckoo_params_for_rate(UINT64_MAX, 0.01, &params));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_cuckoo_params_for_rate(1000, 0.01, NULL));
    CHECK(memcmp(&params, &same, sizeof same) == 0);
    CHECK(bloomline_cuckoo_params_rate(NULL, 1) == 1);
    CHECK(bloomline_cuckoo_params_rate(&same, 1) == 1);
    CHECK_OK(bloomline_cuckoo_params_for_rate(0, 0.01, &params)); /* no keys: a line */
    CHECK_U64(1, params.line_count);
}

static void what_is_refused_changes_nothing(void)
{
    static const struct {
        bloomline_cuckoo_params params;
        bloomline_status status;
    } cases[] = {
        {{0, 8, 0, 0}, BLOOMLINE_ERR_NO_LINES},
        {{UINT64_C(1) << 32, 8, 0, 0}, BLOOMLINE_ERR_LINE_COUNT},
        {{UINT64_MAX, 8, 0, 0}, BLOOMLINE_ERR_LINE_COUNT},
        {{1, 0, 0, 0}, BLOOMLINE_ERR_FINGERPRINT_BITS},
        {{1, 10, 0, 0}, BLOOMLINE_ERR_FINGERPRINT_BITS},
        {{1, 17, 0, 0}, BLOOMLINE_ERR_FINGERPRINT_BITS},
        {{1, 8, 1, 0}, BLOOMLINE_ERR_RESERVED},
    };
    bloomline_cuckoo *filter = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_STATUS(cases[i].status, bloomline_cuckoo_new(&cases[i].params, &filter));
        CHECK(filter == NULL);
    }
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_cuckoo_new(NULL, &filter));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_cuckoo_new(&cases[6].params, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_cuckoo_insert(NULL, "a", 1));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_cuckoo_insert_hash(NULL, 1));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_cuckoo_remove(NULL, "a", 1));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_cuckoo_remove_hash(NULL, 1));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_cuckoo_view(NULL, NULL));
    CHECK(cuckoo_contains(NULL, "a", 1));
    CHECK(cuckoo_contains_hash(NULL, 1));
    CHECK_U64(0, cuckoo_key_count(NULL));
    CHECK(cuckoo_fill(NULL) == 1);
    bloomline_cuckoo_clear(NULL);

    filter = make(1, 8);
    size_t inserted = 99;
    uint64_t bitmap[2] = {0, 0}, hashes[2] = {1, 2};
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_cuckoo_insert_hashes(filter, NULL, 2, &inserted));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_cuckoo_insert_keys(filter, NULL, 2, &inserted));
    CHECK_U64(99, inserted);
    CHECK_OK(bloomline_cuckoo_insert_hashes(filter, NULL, 0, &inserted));
    CHECK_U64(0, inserted);
    CHECK(cuckoo_contains(filter, NULL, 1));
    CHECK_U64(2, cuckoo_contains_hashes(filter, hashes, 2, NULL));
    CHECK_U64(70, cuckoo_contains_hashes(filter, NULL, 70, bitmap));
    CHECK(bitmap[0] == UINT64_MAX && bitmap[1] == 63);
    CHECK_U64(0, cuckoo_contains_hashes(filter, hashes, 2, bitmap));
    CHECK_U64(0, cuckoo_key_count(filter));
    bloomline_cuckoo_free(filter);
}

int main(void)
{
    check_begin("test_cuckoo");
    RUN(sizes_are_for_the_rate);
    RUN(what_is_refused_changes_nothing);
    return check_end();
}
