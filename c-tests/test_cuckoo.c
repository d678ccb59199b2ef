/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_cuckoo.c - bloomline_cuckoo_*: keys go in and come out again, a full filter loses
 * nothing, answers are those of docs/FORMAT.md (written down here once more), bytes and files
 * are read back, and what is refused changes nothing.
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "probes.h"
#include "definition.h"
#include "files.h"
#include "golden.h"

#include <math.h>

enum { LINES = 20, SEED = 7 };

static const uint32_t all_bits[] = {8, 12, 16};

static bloomline_cuckoo *make(uint64_t line_count, uint32_t bits)
{
    const bloomline_cuckoo_params params = {line_count, bits, 0, SEED};
    bloomline_cuckoo *filter = NULL;
    REQUIRE_OK(bloomline_cuckoo_new(&params, &filter));
    return filter;
}

/* ---- layout 7, from docs/FORMAT.md ---- */

static bool bucket_has(const uint8_t *lines, uint64_t line, uint64_t bucket, uint32_t bits,
                       uint64_t fingerprint)
{
    uint64_t word = get_le(lines + 64 * line + bucket * bits / 2, bits / 2);
    for (unsigned slot = 0; slot < 4; slot++) {
        if (((word >> (slot * bits)) & ((UINT64_C(1) << bits) - 1)) == fingerprint) return true;
    }
    return false;
}

static bool defined_contains(const uint8_t *lines, uint64_t line_count, uint32_t bits, uint64_t hash)
{
    uint64_t buckets = 128 / bits;
    uint64_t f = hash & ((UINT64_C(1) << bits) - 1);
    if (f == 0) f = 1;
    uint64_t line = definition_line_index(hash, line_count);
    uint64_t bucket = ((hash >> 16 & 0xFFFF) * buckets) >> 16;
    uint64_t m = (f * 0x9E3779B1) & 0xFFFFFFFF;
    /* The page of 64 lines, the last with what is left over; or all lines. */
    uint64_t last = line_count < 64 ? 0 : (line_count / 64 - 1) * 64;
    uint64_t start = line / 64 * 64 < last ? line / 64 * 64 : last;
    uint64_t range = start == last ? line_count - last : 64;
    if (f % 8 == 0) start = 0, range = line_count;
    uint64_t other_line = start + (((m * range) >> 32) + range - (line - start)) % range;
    uint64_t other_bucket = ((((m & 0xFFFF) * buckets) >> 16) + buckets - bucket) % buckets;
    return bucket_has(lines, line, bucket, bits, f) || bucket_has(lines, other_line, other_bucket, bits, f);
}

static void answers_are_those_of_the_definition(void)
{
    for (size_t b = 0; b < 3; b++) {
        for (uint64_t line_count = 1; line_count <= 298; line_count += 99) {
            uint32_t bits = all_bits[b];
            bloomline_cuckoo *filter = make(line_count, bits);
            uint64_t capacity = bloomline_cuckoo_capacity(filter);
            CHECK_U64(line_count * (128 / bits) * 4, capacity);
            for (uint64_t i = 0; i < capacity * 8 / 10; i++) {
                CHECK_OK(bloomline_cuckoo_insert_hash(filter, bloomline_hash_u64(i, SEED)));
            }
            static uint8_t bytes[301 * 64];
            size_t written = 0;
            REQUIRE_OK(bloomline_cuckoo_encode(filter, bytes, sizeof bytes, &written));
            CHECK_U64((line_count + 1) * 64, written);
            uint64_t hashes[1000], bitmap[16], of_view[16];
            for (uint64_t i = 0; i < 1000; i++) hashes[i] = bloomline_hash_u64(i * 3, SEED);
            bloomline_view view;
            CHECK_OK(bloomline_view_open(bytes, written, &view));
            size_t count = cuckoo_contains_hashes(filter, hashes, 1000, bitmap), expected = 0;
            CHECK_U64(count, bloomline_view_contains_hashes(&view, hashes, 1000, of_view));
            CHECK(memcmp(bitmap, of_view, sizeof bitmap) == 0);
            for (size_t i = 0; i < 1000; i++) {
                bool in = defined_contains(bytes, line_count, bits, hashes[i]);
                CHECK(in == (bitmap[i / 64] >> i % 64 & 1));
                CHECK(in == cuckoo_contains_hash(filter, hashes[i]));
                CHECK(in == bloomline_view_contains_hash(&view, hashes[i]));
                expected += in;
            }
            CHECK_U64(expected, count);
            bloomline_cuckoo_free(filter);
        }
    }
}

static void keys_go_in_and_come_out(void)
{
    bloomline_cuckoo *filter = make(LINES, 12);
    CHECK(!cuckoo_contains(filter, "apple", 5));
    CHECK_STATUS(BLOOMLINE_ERR_ABSENT, bloomline_cuckoo_remove(filter, "apple", 5));
    CHECK_OK(bloomline_cuckoo_insert(filter, "apple", 5));
    CHECK_OK(bloomline_cuckoo_insert(filter, "apple", 5));
    CHECK_OK(bloomline_cuckoo_insert_hash(filter, bloomline_hash("pear", 4, SEED)));
    CHECK_U64(3, bloomline_cuckoo_key_count(filter));
    CHECK_NEAR(3.0 / 800, cuckoo_fill(filter), 1e-12);
    CHECK(cuckoo_contains(filter, "pear", 4));
    CHECK_OK(bloomline_cuckoo_remove(filter, "apple", 5));
    CHECK(cuckoo_contains(filter, "apple", 5));
    CHECK_OK(bloomline_cuckoo_remove(filter, "apple", 5));
    CHECK(!cuckoo_contains(filter, "apple", 5));
    CHECK_OK(bloomline_cuckoo_remove_hash(filter, bloomline_hash("pear", 4, SEED)));
    CHECK_STATUS(BLOOMLINE_ERR_ABSENT, bloomline_cuckoo_remove_hash(filter, bloomline_hash("pear", 4, SEED)));
    CHECK_U64(0, bloomline_cuckoo_key_count(filter));

    bloomline_bytes keys[100];
    char text[100][8];
    for (int i = 0; i < 100; i++) {
        keys[i].data = (const uint8_t *)text[i];
        keys[i].len = (size_t)snprintf(text[i], sizeof text[i], "key %d", i);
    }
    size_t inserted = 0;
    uint64_t bitmap[2];
    CHECK_OK(bloomline_cuckoo_insert_keys(filter, keys, 100, &inserted));
    CHECK_U64(100, inserted);
    CHECK_U64(100, cuckoo_contains_keys(filter, keys, 100, bitmap));
    bloomline_view view;
    CHECK_OK(bloomline_cuckoo_view(filter, &view));
    CHECK_U64(100, bloomline_view_contains_keys(&view, keys, 100, bitmap));
    CHECK_U64(100, bloomline_view_key_count(&view));
    bloomline_params none;
    CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_view_params(&view, &none));
    bloomline_cuckoo_params params;
    CHECK_OK(bloomline_view_cuckoo_params(&view, &params));
    CHECK(params.line_count == LINES && params.fingerprint_bits == 12 && params.seed == SEED);
    bloomline_cuckoo_clear(filter);
    CHECK_U64(0, bloomline_cuckoo_key_count(filter));
    CHECK(!cuckoo_contains(filter, "key 1", 5));
    bloomline_cuckoo_free(filter);
}

static void full_loses_nothing(void)
{
    static uint64_t hashes[LINES * 64];
    static uint8_t before[(LINES + 1) * 64], after[(LINES + 1) * 64];
    for (uint64_t i = 0; i < LINES * 64; i++) hashes[i] = bloomline_hash_u64(i, 1);
    for (size_t b = 0; b < 3; b++) {
        bloomline_cuckoo *filter = make(LINES, all_bits[b]);
        size_t capacity = (size_t)bloomline_cuckoo_capacity(filter), inserted = 0;
        CHECK_STATUS(BLOOMLINE_ERR_FULL, bloomline_cuckoo_insert_hashes(filter, hashes, capacity, &inserted));
        CHECK(inserted > capacity * 9 / 10 && inserted < capacity);
        CHECK_U64(inserted, bloomline_cuckoo_key_count(filter));
        REQUIRE_OK(bloomline_cuckoo_encode(filter, before, sizeof before, NULL));
        /* The same one again: it is still refused, and nothing has changed. */
        CHECK_STATUS(BLOOMLINE_ERR_FULL, bloomline_cuckoo_insert_hash(filter, hashes[inserted]));
        REQUIRE_OK(bloomline_cuckoo_encode(filter, after, sizeof after, NULL));
        CHECK(memcmp(before, after, sizeof before) == 0);
        for (size_t i = 0; i < inserted; i++) CHECK(cuckoo_contains_hash(filter, hashes[i]));
        CHECK_OK(bloomline_cuckoo_remove_hash(filter, hashes[0]));
        CHECK_OK(bloomline_cuckoo_insert_hash(filter, hashes[0]));
        bloomline_cuckoo_free(filter);
    }
}

/* A full filter takes and refuses what it does in the other languages, and has the same lines. */
static void full_filters_refuse_as_the_definition_says(void)
{
    static uint8_t bytes[4 * 64];
    bloomline_cuckoo *filter = NULL;
    size_t rows = 0, written = 0;
    golden_text text;
    for (golden_open(&text, "cuckoo/", "refused", ".txt"); golden_line(&text); rows++) {
        const char *what = text.words[0];
        if (strcmp(what, "filter") == 0) {
            bloomline_cuckoo_free(filter);
            filter = make(golden_number(text.words[2], 10), (uint32_t)golden_number(text.words[1], 10));
        } else if (strcmp(what, "insert") == 0) {
            bool full = strcmp(text.words[2], "0") == 0;
            CHECK_STATUS(full ? BLOOMLINE_ERR_FULL : BLOOMLINE_OK,
                         bloomline_cuckoo_insert_hash(filter, golden_number(text.words[1], 16)));
        } else if (strcmp(what, "remove") == 0) {
            CHECK_OK(bloomline_cuckoo_remove_hash(filter, golden_number(text.words[1], 16)));
        } else {
            REQUIRE_OK(bloomline_cuckoo_encode(filter, bytes, sizeof bytes, &written));
            REQUIRE(strlen(text.words[1]) == 2 * (written - 64));
            for (size_t i = 0; i < written - 64; i++) {
                char hex[3] = {text.words[1][2 * i], text.words[1][2 * i + 1], 0};
                CHECK_U64(golden_number(hex, 16), bytes[i]);
            }
        }
    }
    CHECK(rows > 800);
    bloomline_cuckoo_free(filter);
}

/* A full filter under removals of everything: what is surely absent is refused, and changes
   nothing; of the rest no more go than are in. */
static void removal_storms(void)
{
    static uint8_t before[(LINES + 1) * 64], after[(LINES + 1) * 64];
    for (size_t b = 0; b < 3; b++) {
        bloomline_cuckoo *filter = make(LINES, all_bits[b]);
        uint64_t in = 0;
        while (bloomline_cuckoo_insert_hash(filter, bloomline_hash_u64(in, 1)) == BLOOMLINE_OK) in++;
        REQUIRE_OK(bloomline_cuckoo_encode(filter, before, sizeof before, NULL));
        for (uint64_t i = 0; i < 20000; i++) {
            uint64_t hash = bloomline_hash_u64(i, 2);
            if (cuckoo_contains_hash(filter, hash)) continue;
            CHECK_STATUS(BLOOMLINE_ERR_ABSENT, bloomline_cuckoo_remove_hash(filter, hash));
        }
        REQUIRE_OK(bloomline_cuckoo_encode(filter, after, sizeof after, NULL));
        CHECK(memcmp(before, after, sizeof before) == 0);
        uint64_t left = in;
        for (uint64_t i = 0; i < 20000 + in; i++) {
            uint64_t hash = i < 20000 ? bloomline_hash_u64(i, 2) : bloomline_hash_u64(i - 20000, 1);
            left -= bloomline_cuckoo_remove_hash(filter, hash) == BLOOMLINE_OK;
            CHECK_U64(left, bloomline_cuckoo_key_count(filter));
        }
        CHECK_U64(0, left); /* all that were in have been asked for */
        for (uint64_t i = 0; i < in; i++) CHECK_OK(bloomline_cuckoo_insert_hash(filter, bloomline_hash_u64(i, 1)));
        for (uint64_t i = 0; i < in; i++) CHECK(cuckoo_contains_hash(filter, bloomline_hash_u64(i, 1)));
        bloomline_cuckoo_free(filter);
    }
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
    const double no_rates[] = {0, 1, -1, 1.5, -0.0, (double)NAN, (double)INFINITY, -(double)INFINITY, 1e-5, 1e-300};
    for (size_t i = 0; i < sizeof no_rates / sizeof no_rates[0]; i++) {
        CHECK_STATUS(BLOOMLINE_ERR_RATE, bloomline_cuckoo_params_for_rate(1000, no_rates[i], &params));
    }
    CHECK_STATUS(BLOOMLINE_ERR_LINE_COUNT, bloomline_cuckoo_params_for_rate(UINT64_MAX, 0.01, &params));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_cuckoo_params_for_rate(1000, 0.01, NULL));
    CHECK(memcmp(&params, &same, sizeof same) == 0);
    CHECK(bloomline_cuckoo_params_rate(NULL, 1) == 1);
    CHECK(bloomline_cuckoo_params_rate(&same, 1) == 1);
    CHECK_OK(bloomline_cuckoo_params_for_rate(0, 0.01, &params)); /* no keys: a line */
    CHECK_U64(1, params.line_count);
}

static void bytes_and_files_are_read_back(void)
{
    bloomline_cuckoo *filter = make(LINES, 16), *again = NULL;
    for (uint64_t i = 0; i < 300; i++) CHECK_OK(bloomline_cuckoo_insert_hash(filter, bloomline_hash_u64(i, 0)));
    uint8_t bytes[(LINES + 1) * 64], second[(LINES + 1) * 64];
    CHECK_U64(sizeof bytes, bloomline_cuckoo_encoded_len(filter));
    CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL, bloomline_cuckoo_encode(filter, bytes, sizeof bytes - 1, NULL));
    REQUIRE_OK(bloomline_cuckoo_encode(filter, bytes, sizeof bytes, NULL));
    file_name directory = files_begin(), path = files_in(&directory, "cuckoo");
    CHECK_OK(bloomline_cuckoo_save(filter, path.text));
    bloomline_cuckoo_free(filter);

    for (size_t len = 0; len < sizeof bytes; len++) {
        CHECK(bloomline_cuckoo_decode(bytes, len, &again) != BLOOMLINE_OK);
        bytes[len] ^= 4;
        CHECK(bloomline_cuckoo_decode(bytes, sizeof bytes, &again) != BLOOMLINE_OK);
        bytes[len] ^= 4;
        CHECK(again == NULL);
    }
    bloomline_filter *plain = NULL;
    CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_filter_decode(bytes, sizeof bytes, &plain));
    for (int file = 0; file < 2; file++) {
        REQUIRE_OK(file ? bloomline_cuckoo_load(path.text, &again)
                        : bloomline_cuckoo_decode(bytes, sizeof bytes, &again));
        CHECK_U64(300, bloomline_cuckoo_key_count(again));
        REQUIRE_OK(bloomline_cuckoo_encode(again, second, sizeof second, NULL));
        CHECK(memcmp(bytes, second, sizeof bytes) == 0);
        for (uint64_t i = 0; i < 300; i++) CHECK_OK(bloomline_cuckoo_remove_hash(again, bloomline_hash_u64(i, 0)));
        bloomline_cuckoo_free(again);
        again = NULL;
    }
    bloomline_map *map = NULL;
    bloomline_view view;
    REQUIRE_OK(bloomline_map_open(path.text, &map));
    CHECK_OK(bloomline_map_view(map, &view));
    for (uint64_t i = 0; i < 300; i++) CHECK(bloomline_view_contains_hash(&view, bloomline_hash_u64(i, 0)));
    bloomline_map_close(map);
    remove(path.text);
    CHECK_STATUS(BLOOMLINE_ERR_NOT_FOUND, bloomline_cuckoo_load(path.text, &again));
    CHECK(again == NULL);
    CHECK(rmdir(directory.text) == 0);
}

static void what_is_refused_changes_nothing(void)
{
    static const struct {
        bloomline_cuckoo_params params;
        bloomline_status status;
    } cases[] = {
        {{0, 8, 0, 0}, BLOOMLINE_ERR_LINE_COUNT},
        {{UINT64_C(1) << 32, 8, 0, 0}, BLOOMLINE_ERR_LINE_COUNT},
        {{UINT64_MAX, 8, 0, 0}, BLOOMLINE_ERR_LINE_COUNT},
        {{1, 0, 0, 0}, BLOOMLINE_ERR_K},
        {{1, 10, 0, 0}, BLOOMLINE_ERR_K},
        {{1, 17, 0, 0}, BLOOMLINE_ERR_K},
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
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_cuckoo_encode(NULL, NULL, 0, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_cuckoo_decode(NULL, 1, &filter));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_cuckoo_save(NULL, "x"));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_cuckoo_load(NULL, &filter));
    CHECK(cuckoo_contains(NULL, "a", 1));
    CHECK(cuckoo_contains_hash(NULL, 1));
    CHECK_U64(0, bloomline_cuckoo_key_count(NULL));
    CHECK_U64(0, bloomline_cuckoo_capacity(NULL));
    CHECK_U64(0, bloomline_cuckoo_encoded_len(NULL));
    CHECK(cuckoo_fill(NULL) == 1);
    bloomline_cuckoo_clear(NULL);
    bloomline_cuckoo_free(NULL);

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
    CHECK_U64(0, bloomline_cuckoo_key_count(filter));
    bloomline_cuckoo_free(filter);
}

int main(int argc, char **argv)
{
    golden_begin(argc, argv);
    check_begin("test_cuckoo");
    RUN(answers_are_those_of_the_definition);
    RUN(keys_go_in_and_come_out);
    RUN(full_loses_nothing);
    RUN(full_filters_refuse_as_the_definition_says);
    RUN(removal_storms);
    RUN(sizes_are_for_the_rate);
    RUN(bytes_and_files_are_read_back);
    RUN(what_is_refused_changes_nothing);
    return check_end();
}
