/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_status_data.c - what a reader says of bytes that are no sound filter: each check of
 * docs/FORMAT.md, in its order; and that a key count, being a hint, may be any number.
 */
#include "check.h"
#include "probes.h"
#include "definition.h"

static bloomline_filter *good_filter(void)
{
    const bloomline_params params = {3, 6, 0, 5};
    bloomline_filter *filter = NULL;
    REQUIRE_OK(bloomline_filter_new(&params, &filter));
    bloomline_filter_insert(filter, "apple", 5);
    return filter;
}

/* The checks of a reader, in the order of docs/FORMAT.md. The faults are made from the last
   to the first, and each time the new one is told, as the first that a reader meets. */
static void data_is_checked_in_order(void)
{
    static const struct {
        int at; /* in the footer; -1: the first byte of the lines, -2: the length */
        unsigned bytes;
        uint64_t value;
        bool seal;
        bloomline_status status, unverified;
    } faults[] = {
        {-1, 1, 0xFF, false, BLOOMLINE_ERR_CHECKSUM, BLOOMLINE_OK},
        {AT_LINE_COUNT, 8, 2, true, BLOOMLINE_ERR_TRUNCATED, BLOOMLINE_ERR_TRUNCATED},
        {AT_LINE_COUNT, 8, 4, true, BLOOMLINE_ERR_TRUNCATED, BLOOMLINE_ERR_TRUNCATED},
        {AT_LINE_COUNT, 8, UINT64_MAX / 128 - 1, true, BLOOMLINE_ERR_TRUNCATED, BLOOMLINE_ERR_TRUNCATED},
        {AT_LINE_COUNT, 8, 0, true, BLOOMLINE_ERR_LINE_COUNT, BLOOMLINE_ERR_LINE_COUNT},
        {AT_LINE_COUNT, 8, UINT64_MAX, true, BLOOMLINE_ERR_LINE_COUNT, BLOOMLINE_ERR_LINE_COUNT},
        /* 64 * (count + 1) is the length, if it overflows. */
        {AT_LINE_COUNT, 8, UINT64_MAX / 64 + 4, true, BLOOMLINE_ERR_LINE_COUNT, BLOOMLINE_ERR_LINE_COUNT},
        {AT_K, 4, 17, true, BLOOMLINE_ERR_K, BLOOMLINE_ERR_K},
        {AT_K, 4, UINT32_MAX, true, BLOOMLINE_ERR_K, BLOOMLINE_ERR_K},
        {AT_K, 4, 0, true, BLOOMLINE_ERR_K, BLOOMLINE_ERR_K},
        {AT_RESERVED + 7, 1, 1, true, BLOOMLINE_ERR_RESERVED, BLOOMLINE_ERR_RESERVED},
        {AT_RESERVED, 8, 1, true, BLOOMLINE_ERR_RESERVED, BLOOMLINE_ERR_RESERVED},
        {AT_LAYOUT, 2, 32767, true, BLOOMLINE_ERR_LAYOUT, BLOOMLINE_ERR_LAYOUT},
        {AT_LAYOUT, 2, 0, true, BLOOMLINE_ERR_LAYOUT, BLOOMLINE_ERR_LAYOUT},
        {AT_KEY_COUNT, 8, UINT64_MAX, false, BLOOMLINE_ERR_CHECKSUM, BLOOMLINE_ERR_CHECKSUM},
        {AT_FOOTER_CHECKSUM, 8, 0, false, BLOOMLINE_ERR_CHECKSUM, BLOOMLINE_ERR_CHECKSUM},
        {AT_VERSION, 2, 0, false, BLOOMLINE_ERR_VERSION, BLOOMLINE_ERR_VERSION},
        {AT_VERSION, 2, 257, false, BLOOMLINE_ERR_VERSION, BLOOMLINE_ERR_VERSION},
        {AT_VERSION, 2, 2, true, BLOOMLINE_ERR_VERSION, BLOOMLINE_ERR_VERSION},
        {AT_MAGIC + 7, 1, 0x0D, true, BLOOMLINE_ERR_NOT_A_FILTER, BLOOMLINE_ERR_NOT_A_FILTER},
        {AT_MAGIC, 1, 0, true, BLOOMLINE_ERR_NOT_A_FILTER, BLOOMLINE_ERR_NOT_A_FILTER},
        {-2, 63, 0, false, BLOOMLINE_ERR_TRUNCATED, BLOOMLINE_ERR_TRUNCATED},
        {-2, 1, 0, false, BLOOMLINE_ERR_TRUNCATED, BLOOMLINE_ERR_TRUNCATED},
    };
    bloomline_filter *filter = good_filter(), *made = NULL;
    uint8_t data[4 * LINE_BYTES], *footer = data + 3 * LINE_BYTES;
    bloomline_view view, untouched;
    REQUIRE_OK(bloomline_filter_encode(filter, data, sizeof data, NULL));
    bloomline_filter_free(filter);
    memset(&untouched, 0x5A, sizeof untouched);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        size_t len = sizeof data;
        if (faults[i].at >= 0) put_le(footer + faults[i].at, faults[i].bytes, faults[i].value);
        if (faults[i].at == -1) data[0] ^= (uint8_t)faults[i].value;
        if (faults[i].at == -2) len = faults[i].bytes;
        if (faults[i].seal) definition_seal_footer(data, sizeof data);
        CHECK_STATUS(faults[i].status, bloomline_filter_decode(data, len, &made));
        CHECK(made == NULL);
        view = untouched;
        CHECK_STATUS(faults[i].status, bloomline_view_open(data, len, &view));
        CHECK(memcmp(&view, &untouched, sizeof view) == 0);
        CHECK_STATUS(faults[i].unverified, bloomline_view_open_unverified(data, len, &view));
        if (faults[i].unverified != BLOOMLINE_OK) CHECK(memcmp(&view, &untouched, sizeof view) == 0);
    }
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
        CHECK_OK(bloomline_view_open(data, sizeof data, &view));
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
    check_begin("test_status_data");
    RUN(data_is_checked_in_order);
    RUN(absurd_key_counts);
    return check_end();
}
