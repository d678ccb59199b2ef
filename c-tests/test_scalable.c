/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_scalable.c DIRECTORY - bloomline_scalable: inserts and probes against the definition,
 * stage by stage; growth to a thousand times the first capacity; what cannot grow; bytes and
 * files, the golden ones of DIRECTORY/scalable among them; every status; NULL. Failed
 * allocations are in test_alloc.c.
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "probes.h"
#include "definition.h"
#include "encoded.h"
#include "golden.h"

#include <math.h>

enum { AT_CAPACITY = 16, MOST_STAGES = 64 };

static bloomline_scalable *new_scalable(uint64_t first_keys, double rate, uint64_t seed)
{
    bloomline_scalable *filter = NULL;
    REQUIRE_OK(bloomline_scalable_new(first_keys, rate, seed, &filter));
    return filter;
}

/* Whether a key may be in one of the stages of these bytes, which are sound. */
static bool stages_contain(const uint8_t *data, size_t len, uint64_t hash)
{
    const uint8_t *footer = data + len - FOOTER_BYTES;
    const uint8_t *record = data + get_le(footer + AT_LINE_COUNT, 8) * LINE_BYTES;
    for (; record < footer; record += LINE_BYTES) {
        uint64_t line_count = get_le(record + AT_LINE_COUNT, 8);
        if (definition_contains(data, line_count, (unsigned)get_le(record + AT_K, 4), hash)) return true;
        data += line_count * LINE_BYTES;
    }
    return false;
}

ENCODED(scalable)

/* One by one, in batches, by hash and by key: each key is new if no stage had it, which the
   bytes of before tell for all but those of the same batch. */
static void inserts_are_those_of_the_definition(void)
{
    enum { KEYS = 200, WORDS = (KEYS + 63) / 64 };
    uint64_t random = 3;
    bloomline_scalable *filter = new_scalable(50, 0.02, 9), *one_by_one = new_scalable(50, 0.02, 9);
    for (int round = 0; round < 40; round++) {
        uint64_t hashes[KEYS], bitmap[WORDS];
        bloomline_bytes keys[KEYS];
        char texts[KEYS][12];
        size_t n = next_random(&random) % KEYS, len, other_len;
        for (size_t i = 0; i < n; i++) {
            keys[i].len = (size_t)snprintf(texts[i], sizeof texts[i], "k%u", (unsigned)(next_random(&random) % 5000));
            keys[i].data = (const uint8_t *)texts[i];
        }
        bloomline_hash_batch(keys, n, 9, hashes);
        memset(bitmap, 0xA5, sizeof bitmap);
        bool tell = round % 4 != 3;
        if (round % 2 == 0) CHECK_OK(bloomline_scalable_insert_hashes(filter, hashes, n, tell ? bitmap : NULL));
        else CHECK_OK(bloomline_scalable_insert_keys(filter, keys, n, tell ? bitmap : NULL));
        for (size_t i = 0; i < n; i++) {
            bool is_new = round % 3 == 0;
            uint8_t *data = encoded(one_by_one, &len);
            bool expected = !stages_contain(data, len, hashes[i]);
            free(data);
            if (i % 3 == 0) CHECK_OK(bloomline_scalable_insert(one_by_one, keys[i].data, keys[i].len, &is_new));
            if (i % 3 == 1) CHECK_OK(bloomline_scalable_insert_hash(one_by_one, hashes[i], &is_new));
            if (i % 3 == 2) CHECK_OK(bloomline_scalable_insert_hash(one_by_one, hashes[i], NULL));
            if (i % 3 != 2) CHECK(is_new == expected);
            if (tell) CHECK(bit_of(bitmap, i) == expected);
        }
        if (tell && n % 64 != 0) CHECK_U64(0, bitmap[n / 64] >> (n % 64));

        uint8_t *data = encoded(filter, &len), *other = encoded(one_by_one, &other_len);
        CHECK(len == other_len && memcmp(data, other, len) == 0);
        /* And the answers, about keys that are in and others. */
        for (size_t i = n; i < KEYS; i++) hashes[i] = next_random(&random);
        size_t present = 0;
        for (size_t i = 0; i < KEYS; i++) {
            bool answer = stages_contain(data, len, hashes[i]);
            CHECK(bloomline_scalable_contains_hash(filter, hashes[i]) == answer);
            CHECK(i >= n || answer);
            present += answer;
        }
        CHECK_U64(present, bloomline_scalable_contains_hashes(filter, hashes, KEYS, bitmap));
        for (size_t i = 0; i < KEYS; i++) CHECK(bit_of(bitmap, i) == stages_contain(data, len, hashes[i]));
        CHECK_U64(n, bloomline_scalable_contains_keys(filter, keys, n, bitmap));
        if (n > 0) CHECK(bloomline_scalable_contains(filter, keys[0].data, keys[0].len));
        free(data);
        free(other);
    }
    CHECK(bloomline_scalable_stage_count(filter) > 4);
    bloomline_scalable_free(filter);
    bloomline_scalable_free(one_by_one);
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
        CHECK_U64(in, bloomline_scalable_contains_hashes(filter, hashes, in, bitmap));
        CHECK(bloomline_scalable_key_count(filter) <= in && bloomline_scalable_key_count(filter) > in - in / 50 - 1);
        double rate = (double)bloomline_scalable_contains_hashes(filter, probes + 10, PROBES - 10, bitmap) / PROBES;
        double expected = bloomline_scalable_expected_rate(filter);
        printf("    %zu times: %zu stages, rate %.5f, expected %.5f\n", times, bloomline_scalable_stage_count(filter), rate, expected);
        CHECK(expected < 0.01);
        CHECK(rate < 0.01);
    }
    size_t stages = bloomline_scalable_stage_count(filter);
    CHECK_U64(10, stages);
    uint64_t keys = 0;
    for (size_t i = 0; i < stages; i++) {
        const bloomline_filter *stage = bloomline_scalable_stage(filter, i);
        REQUIRE(stage != NULL);
        keys += bloomline_filter_key_count(stage);
        if (i + 1 < stages) CHECK_U64((uint64_t)FIRST << i, bloomline_filter_key_count(stage));
        CHECK(filter_fill(stage) > 0.1);
    }
    CHECK(bloomline_scalable_stage(filter, stages) == NULL);
    CHECK_U64(keys, bloomline_scalable_key_count(filter));

    /* Folded, since the keys can be had once more. */
    bloomline_params params, same;
    bloomline_filter *plain = NULL;
    CHECK_OK(bloomline_scalable_plain_params(filter, &params));
    CHECK_OK(bloomline_params_for_rate(keys, 0.01, &same));
    CHECK(memcmp(&params, &same, sizeof params) == 0);
    REQUIRE_OK(bloomline_filter_new(&params, &plain));
    bloomline_filter_insert_hashes(plain, hashes, MOST);
    CHECK(bloomline_filter_key_count(plain) >= keys);
    CHECK(bloomline_filter_encoded_len(plain) < bloomline_scalable_encoded_len(filter));
    bloomline_filter_free(plain);
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
    CHECK(is_new && bloomline_scalable_contains_hash(filter, 77777777777));
    CHECK_OK(bloomline_scalable_insert_hash(filter, 77777777777, &is_new));
    CHECK(!is_new);
    CHECK_STATUS(BLOOMLINE_ERR_OUT_OF_MEMORY, bloomline_scalable_insert_hashes(filter, hashes, KEYS / 2, &bitmap));
    CHECK(bitmap != 0 && bitmap >> (KEYS / 2) == 0);
    CHECK_STATUS(BLOOMLINE_ERR_OUT_OF_MEMORY, bloomline_scalable_insert_hashes(filter, hashes, KEYS, NULL));
    CHECK_U64(KEYS, bloomline_scalable_contains_hashes(filter, hashes, KEYS, &bitmap));
    CHECK_U64(MOST_STAGES, bloomline_scalable_stage_count(filter));
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
        CHECK(is_new && bloomline_scalable_contains_hash(filter, 77777777777));
        CHECK_U64(2, bloomline_scalable_stage_count(filter));
        CHECK(bloomline_scalable_encoded_len(filter) < 80000);
        bloomline_scalable_free(filter);
    }
}

static void bytes_and_files(void)
{
    file_name temporary = files_begin(), path = files_in(&temporary, "filter"), missing = files_in(&temporary, "no/filter");
    bloomline_scalable *filter = new_scalable(0, 0.01, 4), *loaded = NULL;
    bloomline_view view;
    bloomline_map *map = NULL;
    bloomline_filter *plain = NULL;
    uint64_t hashes[100];
    size_t len, again_len, written = 77;
    fill_hashes(hashes, 100, 5);
    CHECK_OK(bloomline_scalable_insert_hashes(filter, hashes, 100, NULL));
    CHECK_OK(bloomline_scalable_insert(filter, "apple", 5, NULL));
    uint8_t *bytes = encoded(filter, &len);
    CHECK_OK(bloomline_scalable_save(filter, path.text));
    CHECK_OK(bloomline_scalable_load(path.text, &loaded));
    CHECK(bloomline_scalable_contains(loaded, "apple", 5));
    uint8_t *again = encoded(loaded, &again_len);
    CHECK(len == again_len && memcmp(bytes, again, len) == 0);
    /* It grows on as the first one. */
    for (uint64_t i = 0; i < 1000; i++) {
        CHECK_OK(bloomline_scalable_insert_hash(filter, i << 54, NULL));
        CHECK_OK(bloomline_scalable_insert_hash(loaded, i << 54, NULL));
    }
    CHECK_U64(bloomline_scalable_stage_count(filter), bloomline_scalable_stage_count(loaded));
    CHECK_U64(bloomline_scalable_encoded_len(filter), bloomline_scalable_encoded_len(loaded));
    bloomline_scalable_free(loaded);
    loaded = NULL;

    /* It is no filter of another kind, and no other is one. */
    CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_view_open(bytes, len, &view));
    CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_view_open_unverified(bytes, len, &view));
    CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_filter_decode(bytes, len, &plain));
    CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_map_open(path.text, &map));
    definition_finish(again, 1, 6, 0, 0);
    CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_scalable_decode(again, 2 * LINE_BYTES, &loaded));

    size_t caps[] = {0, 64, len - 1};
    for (size_t i = 0; i < 3; i++) {
        memset(again, 0xA5, len);
        CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL, bloomline_scalable_encode(filter, again, caps[i], &written));
        CHECK_U64(77, written);
        for (size_t j = 0; j < len; j++) CHECK(again[j] == 0xA5);
    }
    /* Cut anywhere, altered anywhere. */
    for (size_t cut = 0; cut < len; cut++) {
        bloomline_status status = cut < FOOTER_BYTES ? BLOOMLINE_ERR_TRUNCATED : BLOOMLINE_ERR_NOT_A_FILTER;
        CHECK_STATUS(status, bloomline_scalable_decode(bytes, cut, &loaded));
    }
    memcpy(again, bytes, len);
    for (size_t i = 0; i < len; i++) {
        again[i] ^= 0x10;
        CHECK(bloomline_scalable_decode(again, len, &loaded) != BLOOMLINE_OK);
        again[i] ^= 0x10;
    }
    again[0] ^= 1;
    files_write(path.text, again, len);
    CHECK_STATUS(BLOOMLINE_ERR_CHECKSUM, bloomline_scalable_load(path.text, &loaded));
    CHECK(loaded == NULL);
    CHECK_STATUS(BLOOMLINE_ERR_NOT_FOUND, bloomline_scalable_save(filter, missing.text));
    CHECK_STATUS(BLOOMLINE_ERR_NOT_FOUND, bloomline_scalable_load(missing.text, &loaded));
    free(bytes);
    free(again);
    bloomline_scalable_free(filter);
    CHECK(unlink(path.text) == 0 && rmdir(temporary.text) == 0);
}

/* The numbers of an accepted file: lines, stages, seed, keys. */
static void golden_scalables(void)
{
    golden_files files;
    uint64_t hash, answer;
    golden_files_open(&files, "scalable/");
    while (golden_next(&files)) {
        bloomline_scalable *filter = NULL;
        bloomline_params params;
        size_t len;
        CHECK_WITH(bloomline_scalable_decode(files.data, files.len, &filter) == files.status, "%s", files.name);
        CHECK((filter != NULL) == (files.status == BLOOMLINE_OK));
        if (files.status != BLOOMLINE_OK) continue;
        REQUIRE(files.count == 4);
        CHECK_U64(files.numbers[1], bloomline_scalable_stage_count(filter));
        CHECK_U64(files.numbers[3], bloomline_scalable_key_count(filter));
        CHECK_OK(bloomline_filter_params(bloomline_scalable_stage(filter, 0), &params));
        CHECK_U64(files.numbers[2], params.seed);
        uint8_t *again = encoded(filter, &len);
        CHECK_WITH(len == files.len && memcmp(files.data, again, len) == 0, "%s", files.name);
        free(again);
        while (golden_probe(&files, &hash, &answer)) {
            CHECK_WITH(bloomline_scalable_contains_hash(filter, hash) == (answer == 1), "%s: %" PRIx64, files.name, hash);
            CHECK(stages_contain(files.data, files.len, hash) == (answer == 1));
        }
        bloomline_scalable_free(filter);
    }
    golden_files_end(&files, 9, 41);
}

static void capacities_and_rates_out_of_range(void)
{
    const double no_rates[] = {0, 1, -1, 1.5, -0.0, NAN, INFINITY, -INFINITY, 9e-16, 5e-324};
    bloomline_scalable *filter = NULL;
    for (size_t i = 0; i < sizeof no_rates / sizeof no_rates[0]; i++) {
        CHECK_STATUS(BLOOMLINE_ERR_RATE, bloomline_scalable_new(100, no_rates[i], 0, &filter));
    }
    CHECK_STATUS(BLOOMLINE_ERR_LINE_COUNT, bloomline_scalable_new(UINT64_MAX, 0.01, 0, &filter));
    CHECK_STATUS(sizeof(size_t) == 8 ? BLOOMLINE_ERR_OUT_OF_MEMORY : BLOOMLINE_ERR_LINE_COUNT,
                 bloomline_scalable_new((uint64_t)1 << 52, 0.01, 0, &filter));
    CHECK(filter == NULL);
    /* No capacity is a small one. */
    filter = new_scalable(0, 1e-15, 0);
    for (uint64_t i = 0; i < 33; i++) CHECK_OK(bloomline_scalable_insert_hash(filter, bloomline_hash_u64(i, 0), NULL));
    CHECK_U64(2, bloomline_scalable_stage_count(filter));
    bloomline_scalable_free(filter);
}

static void null(void)
{
    bloomline_scalable *filter = new_scalable(10, 0.01, 0), *made = NULL;
    const uint64_t hashes[3] = {1, 2, 3};
    uint64_t bitmap = 0;
    bloomline_params params;
    bool is_new = false;
    uint8_t bytes[512];
    bloomline_bytes broken[3] = {{(const uint8_t *)"pear", 4}, {NULL, 3}, {(const uint8_t *)"plum", SIZE_MAX}};
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_new(10, 0.01, 0, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_insert(NULL, "a", 1, &is_new));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_insert_hash(NULL, 1, &is_new));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_insert_hashes(NULL, hashes, 3, &bitmap));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_insert_hashes(filter, NULL, 3, &bitmap));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_insert_keys(NULL, broken, 3, &bitmap));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_insert_keys(filter, NULL, 3, &bitmap));
    CHECK(!is_new && bitmap == 0);
    CHECK_U64(0, bloomline_scalable_key_count(filter));
    CHECK_OK(bloomline_scalable_insert_hashes(filter, NULL, 0, NULL));
    CHECK_OK(bloomline_scalable_insert_keys(filter, NULL, 0, NULL));
    /* Keys that are not there are as empty ones. */
    CHECK_OK(bloomline_scalable_insert_keys(filter, broken, 3, &bitmap));
    CHECK_U64(3, bitmap);
    CHECK_OK(bloomline_scalable_insert(filter, NULL, 7, &is_new));
    CHECK(!is_new && bloomline_scalable_contains(filter, "", 0));

    CHECK(bloomline_scalable_contains(NULL, "a", 1) && bloomline_scalable_contains(filter, NULL, 1));
    CHECK(bloomline_scalable_contains_hash(NULL, 1));
    CHECK_U64(3, bloomline_scalable_contains_hashes(NULL, hashes, 3, &bitmap));
    CHECK_U64(7, bitmap);
    CHECK_U64(3, bloomline_scalable_contains_hashes(filter, NULL, 3, &bitmap));
    CHECK_U64(3, bloomline_scalable_contains_hashes(filter, hashes, 3, NULL));
    CHECK_U64(3, bloomline_scalable_contains_keys(NULL, broken, 3, &bitmap));
    CHECK_U64(3, bloomline_scalable_contains_keys(filter, broken, 3, &bitmap));
    CHECK_U64(0, bloomline_scalable_stage_count(NULL));
    CHECK_U64(0, bloomline_scalable_key_count(NULL));
    CHECK(bloomline_scalable_stage(NULL, 0) == NULL && bloomline_scalable_stage(filter, SIZE_MAX) == NULL);
    CHECK(bloomline_scalable_expected_rate(NULL) == 1);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_plain_params(NULL, &params));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_plain_params(filter, NULL));
    CHECK_U64(0, bloomline_scalable_encoded_len(NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_encode(NULL, bytes, sizeof bytes, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_encode(filter, NULL, 512, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_decode(NULL, 512, &made));
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, bloomline_scalable_decode(NULL, 0, &made));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_decode(bytes, 64, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_save(NULL, "x"));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_save(filter, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_scalable_load(NULL, &made));
    CHECK(made == NULL);
    bloomline_scalable_free(filter);
    bloomline_scalable_free(NULL);
}

int main(int argc, char **argv)
{
    golden_begin(argc, argv);
    check_begin("test_scalable");
    RUN(inserts_are_those_of_the_definition);
    RUN(a_thousand_times_the_first_capacity);
    RUN(no_room_to_grow);
    RUN(a_claim_does_not_make_it_large);
    RUN(bytes_and_files);
    RUN(golden_scalables);
    RUN(capacities_and_rates_out_of_range);
    RUN(null);
    return check_end();
}
