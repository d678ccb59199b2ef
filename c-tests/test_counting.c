/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_counting.c - bloomline_counting: inserts, removals and counts against the definition,
 * byte for byte; what is answers; bytes and files; every status; NULL. Failed allocations are
 * in test_alloc.c.
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "probes.h"
#include "definition.h"
#include "files.h"

enum { KEYS = 1000, WORDS = (KEYS + 63) / 64, MOST_LINES = 21, MOST_BYTES = MOST_LINES * 320 + FOOTER_BYTES };

static uint64_t hashes[KEYS];

static bloomline_counting *new_counting(uint64_t line_count, uint32_t k, uint64_t seed)
{
    bloomline_params params = {line_count, k, 0, seed};
    bloomline_counting *filter = NULL;
    REQUIRE_OK(bloomline_counting_new(&params, &filter));
    return filter;
}

/* Whether the filter is these bytes, to which the footer is written here. */
static void check_bytes(const bloomline_counting *filter, uint8_t *expected, uint64_t line_count, uint32_t k,
                        uint64_t seed)
{
    static uint8_t bytes[MOST_BYTES + 8];
    size_t len = line_count * 320 + FOOTER_BYTES, written = 0;
    definition_finish_counting(expected, line_count, k, seed, bloomline_counting_key_count(filter));
    memset(bytes, 0xA5, sizeof bytes);
    CHECK_U64(len, bloomline_counting_encoded_len(filter));
    CHECK_OK(bloomline_counting_encode(filter, bytes, len + 8, &written));
    CHECK_U64(len, written);
    CHECK_WITH(memcmp(bytes, expected, len) == 0, "%d lines, k = %d", (int)line_count, (int)k);
    for (size_t i = len; i < len + 8; i++) CHECK(bytes[i] == 0xA5);
}

/* Everything that changes a filter, by hash and by key, one by one and many at once. Keys are
   in up to 30 times, so that counters stick. */
static void histories_are_those_of_the_definition(void)
{
    static uint8_t expected[MOST_BYTES];
    uint64_t random = 5;
    for (uint64_t line_count = 1; line_count <= MOST_LINES; line_count += 5) {
        for (uint32_t k = 1; k <= MAX_K; k += check_fewer() ? 3 : 1) {
            const uint64_t seed = 11;
            bloomline_counting *filter = new_counting(line_count, k, seed);
            uint8_t *counters = expected + line_count * LINE_BYTES;
            uint64_t key_count = 0;
            memset(expected, 0, sizeof expected);
            for (int round = 0; round < 24; round++) {
                uint64_t batch[100], answers[2];
                bloomline_bytes keys[100];
                char texts[100][8];
                size_t n = next_random(&random) % 100;
                for (size_t i = 0; i < n; i++) {
                    unsigned number = (unsigned)(next_random(&random) % (30 * line_count));
                    keys[i].len = (size_t)snprintf(texts[i], sizeof texts[i], "k%u", number);
                    keys[i].data = (const uint8_t *)texts[i];
                }
                bloomline_hash_batch(keys, n, seed, batch);
                unsigned action = next_random(&random) % 8;
                if (action < 4) {
                    for (size_t i = 0; i < n; i++) definition_count_up(expected, counters, line_count, k, batch[i]);
                    key_count += n;
                    if (action == 0) bloomline_counting_insert_keys(filter, keys, n);
                    if (action == 1) bloomline_counting_insert_hashes(filter, batch, n);
                    for (size_t i = 0; i < n; i++) {
                        if (action == 2) bloomline_counting_insert(filter, keys[i].data, keys[i].len);
                        if (action == 3) bloomline_counting_insert_hash(filter, batch[i]);
                    }
                } else {
                    uint64_t expected_bits[2] = {0, 0};
                    size_t removed_count = 0;
                    for (size_t i = 0; i < n; i++) {
                        bool removed = definition_remove(expected, counters, line_count, k, batch[i]);
                        bloomline_status status = removed ? BLOOMLINE_OK : BLOOMLINE_ERR_ABSENT;
                        key_count -= removed && key_count > 0;
                        removed_count += removed;
                        expected_bits[i / 64] |= (uint64_t)removed << i % 64;
                        if (action == 4) CHECK_STATUS(status, bloomline_counting_remove(filter, keys[i].data, keys[i].len));
                        if (action == 5) CHECK_STATUS(status, bloomline_counting_remove_hash(filter, batch[i]));
                    }
                    bool tell = round % 3 > 0;
                    uint64_t *out = tell ? answers : NULL;
                    memset(answers, 0xA5, sizeof answers);
                    if (action == 6) CHECK_U64(removed_count, bloomline_counting_remove_keys(filter, keys, n, out));
                    if (action == 7) CHECK_U64(removed_count, bloomline_counting_remove_hashes(filter, batch, n, out));
                    if (action >= 6 && tell) CHECK(memcmp(answers, expected_bits, (n + 63) / 64 * 8) == 0);
                }
                CHECK_U64(key_count, bloomline_counting_key_count(filter));
                for (size_t i = 0; i < n; i++) {
                    unsigned count = definition_count(counters, line_count, k, batch[i]);
                    CHECK_U64(count, bloomline_counting_count_hash(filter, batch[i]));
                    CHECK_U64(count, bloomline_counting_count(filter, keys[i].data, keys[i].len));
                    CHECK((count > 0) == counting_contains_hash(filter, batch[i]));
                    CHECK((count > 0) == counting_contains(filter, keys[i].data, keys[i].len));
                }
            }
            check_bytes(filter, expected, line_count, k, seed);
            bloomline_counting_free(filter);
        }
    }
}

/* More keys than a batch without a bitmap does at once. */
static void many_removals_without_a_bitmap(void)
{
    enum { MANY = 10000 };
    static uint64_t many[MANY];
    bloomline_counting *filter = new_counting(500, 6, 0);
    fill_hashes(many, MANY, 9);
    bloomline_counting_insert_hashes(filter, many, MANY);
    CHECK_U64(MANY, bloomline_counting_key_count(filter));
    CHECK_U64(MANY, bloomline_counting_remove_hashes(filter, many, MANY, NULL));
    CHECK_U64(0, bloomline_counting_key_count(filter));
    CHECK_U64(0, bloomline_counting_remove_hashes(filter, many, MANY, NULL));
    bloomline_counting_free(filter);
}

/* The plain filter of it: as a view, as a borrowed handle, as a copy, out of its bytes. */
static void plain_filters_of_it(void)
{
    static uint8_t lines[20 * LINE_BYTES + FOOTER_BYTES], bytes[20 * LINE_BYTES + FOOTER_BYTES];
    static uint8_t encoded[20 * 320 + FOOTER_BYTES];
    const bloomline_params params = {20, 7, 0, 3};
    bloomline_params seen;
    bloomline_counting *filter = new_counting(20, 7, 3);
    bloomline_counting_insert_hashes(filter, hashes, KEYS / 2);
    for (size_t i = 0; i < KEYS / 2; i++) definition_insert(lines, 20, 7, hashes[i]);
    definition_finish(lines, 20, 7, 3, KEYS / 2);
    CHECK_OK(bloomline_counting_params(filter, &seen));
    CHECK(memcmp(&params, &seen, sizeof params) == 0);

    const bloomline_filter *borrowed = bloomline_counting_filter(filter);
    CHECK_OK(bloomline_filter_encode(borrowed, bytes, sizeof bytes, NULL));
    CHECK(memcmp(bytes, lines, sizeof bytes) == 0);
    CHECK(filter_fill(borrowed) > 0.1 && filter_estimated_rate(borrowed) < 0.1);
    bloomline_filter *made[2] = {NULL, NULL};
    CHECK_OK(bloomline_filter_clone(borrowed, &made[0]));
    CHECK_OK(bloomline_counting_encode(filter, encoded, sizeof encoded, NULL));
    CHECK_OK(bloomline_filter_decode(encoded, sizeof encoded, &made[1]));
    bloomline_view views[3];
    CHECK_OK(bloomline_counting_view(filter, &views[0]));
    CHECK_OK(bloomline_view_open(encoded, sizeof encoded, &views[1]));
    CHECK_OK(bloomline_view_open_unverified(encoded, sizeof encoded, &views[2]));
    for (int i = 0; i < 2; i++) {
        memset(bytes, 0, sizeof bytes);
        CHECK_OK(bloomline_filter_encode(made[i], bytes, sizeof bytes, NULL));
        CHECK(memcmp(bytes, lines, sizeof bytes) == 0);
        bloomline_filter_free(made[i]);
    }
    for (int i = 0; i < 3; i++) {
        uint64_t bitmap[WORDS];
        bloomline_view_contains_hashes(&views[i], hashes, KEYS, bitmap);
        for (size_t j = 0; j < KEYS; j++) CHECK(definition_contains(lines, 20, 7, hashes[j]) == bit_of(bitmap, j));
        CHECK_U64(KEYS / 2, bloomline_view_key_count(&views[i]));
        CHECK_OK(bloomline_view_params(&views[i], &seen));
        CHECK(memcmp(&params, &seen, sizeof params) == 0);
    }
    bloomline_counting_clear(filter);
    CHECK_U64(0, bloomline_filter_key_count(bloomline_counting_filter(filter)));
    CHECK_U64(0, bloomline_counting_key_count(filter));
    CHECK(!counting_contains_hash(filter, hashes[0]));
    bloomline_counting_free(filter);
}

static void unions(void)
{
    static uint8_t expected[3 * 320 + FOOTER_BYTES];
    bloomline_counting *into = new_counting(3, 6, 0), *from = new_counting(3, 6, 0);
    for (size_t i = 0; i < 200; i++) definition_count_up(expected, expected + 3 * LINE_BYTES, 3, 6, hashes[i % 150]);
    bloomline_counting_insert_hashes(into, hashes, 150);
    bloomline_counting_insert_hashes(from, hashes, 50);
    CHECK_OK(bloomline_counting_union(into, from));
    CHECK_U64(200, bloomline_counting_key_count(into));
    CHECK_U64(50, bloomline_counting_key_count(from));
    check_bytes(into, expected, 3, 6, 0);

    /* With itself: all keys are in once more. */
    for (size_t i = 0; i < 200; i++) definition_count_up(expected, expected + 3 * LINE_BYTES, 3, 6, hashes[i % 150]);
    CHECK_OK(bloomline_counting_union(into, into));
    CHECK_U64(400, bloomline_counting_key_count(into));
    check_bytes(into, expected, 3, 6, 0);

    bloomline_counting *others[] = {new_counting(4, 6, 0), new_counting(3, 7, 0), new_counting(3, 6, 1)};
    for (size_t i = 0; i < 3; i++) {
        CHECK_STATUS(BLOOMLINE_ERR_MISMATCH, bloomline_counting_union(into, others[i]));
        bloomline_counting_free(others[i]);
    }
    check_bytes(into, expected, 3, 6, 0);
    bloomline_counting_free(into);
    bloomline_counting_free(from);
}

static void files_and_bytes(void)
{
    file_name directory = files_begin(), path = files_in(&directory, "filter"), missing = files_in(&directory, "no/filter");
    static uint8_t bytes[3 * 320 + FOOTER_BYTES], again[3 * 320 + FOOTER_BYTES], plain[4 * LINE_BYTES];
    bloomline_counting *filter = new_counting(3, 6, 4), *loaded = NULL;
    bloomline_filter *plain_loaded = NULL;
    bloomline_map *map = NULL;
    bloomline_view view;
    bloomline_counting_insert(filter, "apple", 5);
    bloomline_counting_insert(filter, "apple", 5);
    CHECK_OK(bloomline_counting_encode(filter, bytes, sizeof bytes, NULL));
    CHECK_OK(bloomline_counting_save(filter, path.text));
    CHECK_OK(bloomline_counting_load(path.text, &loaded));
    CHECK_U64(2, bloomline_counting_count(loaded, "apple", 5));
    CHECK_OK(bloomline_counting_encode(loaded, again, sizeof again, NULL));
    CHECK(memcmp(bytes, again, sizeof bytes) == 0);
    CHECK_OK(bloomline_map_open(path.text, &map));
    CHECK_OK(bloomline_map_view(map, &view));
    CHECK(bloomline_view_contains(&view, "apple", 5) && !bloomline_view_contains(&view, "pear", 4));
    CHECK_OK(bloomline_filter_load(path.text, &plain_loaded));
    CHECK(bloomline_filter_contains(plain_loaded, "apple", 5));
    CHECK_OK(bloomline_filter_encode(plain_loaded, plain, sizeof plain, NULL));
    bloomline_counting_free(loaded);
    loaded = NULL;

    static const size_t caps[] = {0, 64, sizeof bytes - 1};
    for (size_t i = 0; i < 3; i++) {
        size_t written = 77;
        memset(again, 0xA5, sizeof again);
        CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL, bloomline_counting_encode(filter, again, caps[i], &written));
        CHECK_U64(77, written);
        for (size_t j = 0; j < sizeof again; j++) CHECK(again[j] == 0xA5);
    }

    /* What is not a counting filter. */
    static const struct {
        unsigned at, size;
        uint64_t value;
        bloomline_status status;
    } fields[] = {
        {AT_LAYOUT, 2, 1, BLOOMLINE_ERR_LAYOUT},
        {AT_LAYOUT, 2, 999, BLOOMLINE_ERR_LAYOUT},
        {AT_VERSION, 2, 2, BLOOMLINE_ERR_VERSION},
        {AT_RESERVED, 8, 1, BLOOMLINE_ERR_RESERVED},
        {AT_K, 4, 0, BLOOMLINE_ERR_K},
        {AT_K, 4, 17, BLOOMLINE_ERR_K},
        {AT_LINE_COUNT, 8, 0, BLOOMLINE_ERR_LINE_COUNT},
        {AT_LINE_COUNT, 8, UINT64_MAX / 320, BLOOMLINE_ERR_LINE_COUNT},
        {AT_LINE_COUNT, 8, 15, BLOOMLINE_ERR_TRUNCATED},
        {AT_MAGIC, 8, 0, BLOOMLINE_ERR_NOT_A_FILTER},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        memcpy(again, bytes, sizeof bytes);
        put_le(again + sizeof again - FOOTER_BYTES + fields[i].at, fields[i].size, fields[i].value);
        definition_seal(again, sizeof again);
        CHECK_STATUS(fields[i].status, bloomline_counting_decode(again, sizeof again, &loaded));
        files_write(path.text, again, sizeof again);
        CHECK_STATUS(fields[i].status, bloomline_counting_load(path.text, &loaded));
    }
    CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_counting_decode(plain, sizeof plain, &loaded));
    /* Damage, and counters that do not go with the lines under checksums that do. */
    for (size_t i = 0; i < 2 * (sizeof bytes - FOOTER_BYTES); i++) {
        memcpy(again, bytes, sizeof bytes);
        again[i / 2] ^= i % 2 == 0 ? 0x02 : 0x20; /* a counter of 0 becomes 2, and one of 2 becomes 0 */
        CHECK_STATUS(BLOOMLINE_ERR_CHECKSUM, bloomline_counting_decode(again, sizeof again, &loaded));
        CHECK_STATUS(BLOOMLINE_ERR_CHECKSUM, bloomline_view_open(again, sizeof again, &view));
        definition_seal(again, sizeof again);
        CHECK_STATUS(BLOOMLINE_ERR_CHECKSUM, bloomline_counting_decode(again, sizeof again, &loaded));
        CHECK_STATUS(BLOOMLINE_ERR_CHECKSUM, bloomline_view_open(again, sizeof again, &view));
    }
    for (size_t len = 0; len < sizeof bytes; len++) {
        bloomline_status status = len < FOOTER_BYTES ? BLOOMLINE_ERR_TRUNCATED : BLOOMLINE_ERR_NOT_A_FILTER;
        CHECK_STATUS(status, bloomline_counting_decode(bytes, len, &loaded));
    }
    CHECK(loaded == NULL);
    CHECK_STATUS(BLOOMLINE_ERR_NOT_FOUND, bloomline_counting_save(filter, missing.text));
    CHECK_STATUS(BLOOMLINE_ERR_NOT_FOUND, bloomline_counting_load(missing.text, &loaded));
    bloomline_map_close(map);
    bloomline_filter_free(plain_loaded);
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
        {{0, 6, 0, 0}, BLOOMLINE_ERR_LINE_COUNT},
        {{UINT64_MAX, 6, 0, 0}, BLOOMLINE_ERR_LINE_COUNT},
        {{UINT64_MAX / 128 - 1, 6, 0, 0}, BLOOMLINE_ERR_LINE_COUNT}, /* that many lines, but not their counters */
        {{UINT64_MAX / 640 + 1, 6, 0, 0}, BLOOMLINE_ERR_LINE_COUNT},
        {{2, 6, 1, 0}, BLOOMLINE_ERR_RESERVED},
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
    bloomline_params seen;
    bloomline_counting *filter = new_counting(2, 6, 0), *made = NULL;
    bloomline_filter *plain = NULL;
    bloomline_view view;
    uint8_t bytes[2 * 320 + FOOTER_BYTES], before[sizeof bytes], after[sizeof bytes];
    uint64_t answers[2];
    bloomline_bytes broken[3] = {{(const uint8_t *)"pear", 4}, {NULL, 3}, {(const uint8_t *)"plum", SIZE_MAX}};
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_new(NULL, &made));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_new(&params, NULL));
    bloomline_counting_insert(filter, "apple", 5);
    bloomline_counting_insert(filter, "pear", 4);
    CHECK_OK(bloomline_counting_encode(filter, before, sizeof before, NULL));

    bloomline_counting_insert(NULL, "apple", 5);
    bloomline_counting_insert_hash(NULL, 1);
    bloomline_counting_insert_hashes(NULL, hashes, 3);
    bloomline_counting_insert_hashes(filter, NULL, 3);
    bloomline_counting_insert_hashes(filter, NULL, 0);
    bloomline_counting_insert_keys(NULL, broken, 3);
    bloomline_counting_insert_keys(filter, NULL, 3);
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
    CHECK_U64(BLOOMLINE_COUNTING_MOST, bloomline_counting_count(NULL, "apple", 5));
    CHECK_U64(BLOOMLINE_COUNTING_MOST, bloomline_counting_count(filter, NULL, 5));
    CHECK_U64(BLOOMLINE_COUNTING_MOST, bloomline_counting_count_hash(NULL, 1));
    CHECK(counting_contains(NULL, "plum", 4) && counting_contains(filter, NULL, 4));
    CHECK(counting_contains_hash(NULL, 1));
    CHECK(bloomline_counting_filter(NULL) == NULL);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_filter_clone(bloomline_counting_filter(NULL), &plain));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_filter_clone(bloomline_counting_filter(filter), NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_view(NULL, &view));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_view(filter, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_params(NULL, &seen));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_params(filter, NULL));
    CHECK_U64(0, bloomline_counting_key_count(NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_union(NULL, filter));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_union(filter, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_union(NULL, NULL));
    bloomline_counting_clear(NULL);
    CHECK_U64(0, bloomline_counting_encoded_len(NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_encode(NULL, bytes, sizeof bytes, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_encode(filter, NULL, sizeof bytes, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_decode(NULL, 5, &made));
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, bloomline_counting_decode(NULL, 0, &made));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_decode(before, sizeof before, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_save(NULL, "x"));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_save(filter, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_load(NULL, &made));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_counting_load("x", NULL));
    bloomline_counting_free(NULL);
    CHECK(made == NULL && plain == NULL);
    CHECK_OK(bloomline_counting_encode(filter, after, sizeof after, NULL));
    CHECK(memcmp(before, after, sizeof after) == 0);

    /* Keys that are not there: inserted as if empty, never removed. */
    bloomline_counting_insert(filter, NULL, 3);
    CHECK(counting_contains(filter, "", 0));
    CHECK_U64(1, bloomline_counting_remove_keys(filter, broken, 3, answers));
    CHECK_U64(1, answers[0]);
    CHECK(!counting_contains(filter, "pear", 4) && counting_contains(filter, "", 0));
    CHECK_U64(2, bloomline_counting_key_count(filter));
    bloomline_counting_free(filter);
}

int main(void)
{
    check_begin("test_counting");
    fill_hashes(hashes, KEYS, 1);
    RUN(histories_are_those_of_the_definition);
    RUN(many_removals_without_a_bitmap);
    RUN(plain_filters_of_it);
    RUN(unions);
    RUN(files_and_bytes);
    RUN(parameters_out_of_range);
    RUN(null);
    return check_end();
}
