/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_window.c - bloomline_window: what is in, what is new and what is forgotten, against the
 * definition, byte for byte; bytes; every status; NULL. Failed allocations are in test_alloc.c.
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "definition.h"
#include "files.h"

#include <math.h>

enum { MOST_GENERATIONS = 9, MOST_LINES = 160, MOST_BYTES = MOST_GENERATIONS * (MOST_LINES * LINE_BYTES + 8) + 80 };

/* A window by the page: the lines of its generations, by place. */
typedef struct {
    bloomline_params params;
    uint32_t generations;
    uint64_t slice, limit, key_counts[MOST_GENERATIONS];
    uint8_t bytes[MOST_BYTES];
} definition;

static uint8_t *lines_of(definition *def, uint64_t place)
{
    return def->bytes + place * def->params.line_count * LINE_BYTES;
}

static void rotate(definition *def)
{
    def->slice++;
    memset(lines_of(def, def->slice % def->generations), 0, (size_t)def->params.line_count * LINE_BYTES);
    def->key_counts[def->slice % def->generations] = 0;
}

static bool contains(definition *def, uint64_t hash)
{
    for (uint32_t i = 0; i < def->generations; i++) {
        if (definition_contains(lines_of(def, i), def->params.line_count, def->params.k, hash)) return true;
    }
    return false;
}

/* Whether it was new. */
static bool insert(definition *def, uint64_t hash)
{
    if (def->limit > 0 && def->key_counts[def->slice % def->generations] >= def->limit) rotate(def);
    bool is_new = !contains(def, hash);
    uint64_t place = def->slice % def->generations;
    if (!definition_contains(lines_of(def, place), def->params.line_count, def->params.k, hash)) {
        definition_insert(lines_of(def, place), def->params.line_count, def->params.k, hash);
        def->key_counts[place]++;
    }
    return is_new;
}

static bloomline_window *new_window(uint32_t generations, uint64_t keys, double rate, uint64_t seed)
{
    bloomline_window *window = NULL;
    REQUIRE_OK(bloomline_window_new(generations, keys, rate, seed, &window));
    return window;
}

static void check_bytes(const bloomline_window *window, definition *def)
{
    static uint8_t bytes[MOST_BYTES + 8];
    size_t len = (size_t)def->generations * ((size_t)def->params.line_count * LINE_BYTES + 8) + 80, written = 0;
    definition_finish_window(def->bytes, def->generations, def->params.line_count, def->params.k, def->params.seed,
                             def->slice, def->limit, def->key_counts);
    memset(bytes, 0xA5, sizeof bytes);
    CHECK_U64(len, bloomline_window_encoded_len(window));
    CHECK_OK(bloomline_window_encode(window, bytes, len + 8, &written));
    CHECK_U64(len, written);
    CHECK_WITH(memcmp(bytes, def->bytes, len) == 0, "%d generations of %d lines", (int)def->generations,
               (int)def->params.line_count);
    for (size_t i = len; i < len + 8; i++) CHECK(bytes[i] == 0xA5);
}

/* Everything that changes a window, by hash and by key, one by one and many at once. */
static void histories_are_those_of_the_definition(void)
{
    static definition def;
    static const struct {
        uint32_t generations;
        uint64_t keys;
        double rate;
    } shapes[] = {{1, 50, 0.1}, {2, 1, 0.5}, {3, 400, 0.001}, {8, 100, 0.01}, {9, 2000, 0.2}};
    uint64_t random = 5;
    for (size_t shape = 0; shape < sizeof shapes / sizeof shapes[0]; shape++) {
        bloomline_window *window = new_window(shapes[shape].generations, shapes[shape].keys, shapes[shape].rate, 11);
        memset(&def, 0, sizeof def);
        def.generations = shapes[shape].generations;
        CHECK_OK(bloomline_window_params(window, &def.params));
        REQUIRE(def.params.line_count <= MOST_LINES);
        CHECK_U64(11, def.params.seed);
        CHECK_U64(def.generations, bloomline_window_generations(window));
        double each = bloomline_params_rate(&def.params, shapes[shape].keys);
        CHECK(1 - pow(1 - each, def.generations) <= shapes[shape].rate * (1 + 1e-9));
        for (int round = 0; round < 60; round++) {
            uint64_t batch[100], bitmap[2], expected[2] = {0, 0};
            bloomline_bytes keys[100];
            char texts[100][8];
            size_t n = next_random(&random) % 100, count = 0;
            for (size_t i = 0; i < n; i++) {
                keys[i].len = (size_t)snprintf(texts[i], sizeof texts[i], "k%u", (unsigned)(next_random(&random) % 3000));
                keys[i].data = (const uint8_t *)texts[i];
            }
            bloomline_hash_batch(keys, n, 11, batch);
            unsigned action = next_random(&random) % 10;
            if (action < 6) {
                for (size_t i = 0; i < n; i++) {
                    bool is_new = insert(&def, batch[i]);
                    expected[i / 64] |= (uint64_t)is_new << i % 64;
                    count += is_new;
                    if (action == 0) CHECK(is_new == bloomline_window_insert(window, keys[i].data, keys[i].len));
                    if (action == 1) CHECK(is_new == bloomline_window_insert_hash(window, batch[i]));
                }
                bool tell = round % 3 > 0;
                uint64_t *out = tell ? bitmap : NULL;
                memset(bitmap, 0xA5, sizeof bitmap);
                if (action == 2 || action == 3) CHECK_U64(count, bloomline_window_insert_keys(window, keys, n, out));
                if (action == 4 || action == 5) CHECK_U64(count, bloomline_window_insert_hashes(window, batch, n, out));
                if (action >= 2 && tell) CHECK(memcmp(bitmap, expected, (n + 63) / 64 * 8) == 0);
            } else if (action == 6) {
                rotate(&def);
                bloomline_window_rotate(window);
            } else if (action == 7) {
                uint64_t slice = def.slice + next_random(&random) % 4;
                while (def.slice < slice) rotate(&def);
                bloomline_window_advance_to(window, slice);
                bloomline_window_advance_to(window, slice / 2);
            } else if (action == 8) {
                def.limit = round % 2 == 0 ? 1 + next_random(&random) % 40 : 0;
                bloomline_window_rotate_after(window, def.limit);
            } else {
                bloomline_window *decoded = NULL;
                check_bytes(window, &def);
                CHECK_OK(bloomline_window_decode(def.bytes, bloomline_window_encoded_len(window), &decoded));
                bloomline_window_free(window);
                window = decoded;
            }
            CHECK_U64(def.slice, bloomline_window_time_slice(window));
            for (uint32_t age = 0; age < def.generations && age <= def.slice; age++)
                CHECK_U64(def.key_counts[(def.slice - age) % def.generations], bloomline_window_key_count(window, age));
            count = 0;
            for (size_t i = 0; i < n; i++) {
                bool in = contains(&def, batch[i]);
                count += in;
                CHECK(in == bloomline_window_contains_hash(window, batch[i]));
                CHECK(in == bloomline_window_contains(window, keys[i].data, keys[i].len));
            }
            CHECK_U64(count, bloomline_window_contains_hashes(window, batch, n, bitmap));
            for (size_t i = 0; i < n; i++) CHECK(contains(&def, batch[i]) == bit_of(bitmap, i));
            CHECK_U64(count, bloomline_window_contains_keys(window, keys, n, bitmap));
            for (size_t i = 0; i < n; i++) CHECK(contains(&def, batch[i]) == bit_of(bitmap, i));
        }
        check_bytes(window, &def);
        double rate = bloomline_window_estimated_rate(window);
        CHECK(rate >= 0 && rate <= 1);
        bloomline_window_free(window);
    }
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
    CHECK_U64(MANY, bloomline_window_contains_hashes(window, hashes, MANY, bitmap));
    bloomline_window_rotate(window);
    CHECK_U64(0, bloomline_window_insert_hashes(window, hashes, MANY, bitmap));
    bloomline_window_advance_to(window, 4);
    CHECK_U64(MANY, bloomline_window_contains_hashes(window, hashes, MANY, bitmap));
    bloomline_window_rotate(window);
    CHECK_U64(0, bloomline_window_contains_hashes(window, hashes, MANY, bitmap));
    CHECK(bloomline_window_estimated_rate(window) == 0);
    bloomline_window_free(window);
}

static void bytes_and_damage(void)
{
    bloomline_window *window = new_window(3, 10, 0.01, 4), *decoded = NULL;
    bloomline_params params;
    bloomline_view view;
    bloomline_filter *plain = NULL;
    uint8_t bytes[1000], again[1000];
    size_t len = bloomline_window_encoded_len(window);
    REQUIRE(len <= sizeof bytes);
    bloomline_window_insert(window, "apple", 5);
    bloomline_window_rotate(window);
    bloomline_window_insert(window, "pear", 4);
    CHECK_OK(bloomline_window_encode(window, bytes, len, NULL));
    CHECK_OK(bloomline_window_params(window, &params));
    const size_t caps[] = {0, 64, len - 1};
    for (size_t i = 0; i < 3; i++) {
        size_t written = 77;
        memset(again, 0xA5, sizeof again);
        CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL, bloomline_window_encode(window, again, caps[i], &written));
        CHECK_U64(77, written);
        for (size_t j = 0; j < sizeof again; j++) CHECK(again[j] == 0xA5);
    }
    const struct {
        unsigned at, size;
        uint64_t value;
        bloomline_status status;
    } fields[] = {
        {AT_LAYOUT, 2, 1, BLOOMLINE_ERR_LAYOUT},
        {AT_LAYOUT, 2, 999, BLOOMLINE_ERR_LAYOUT},
        {AT_VERSION, 2, 2, BLOOMLINE_ERR_VERSION},
        {AT_RESERVED, 8, 0, BLOOMLINE_ERR_GENERATIONS},
        {AT_RESERVED, 8, UINT64_MAX, BLOOMLINE_ERR_GENERATIONS},
        {AT_RESERVED, 8, (UINT64_C(1) << 32) + 3, BLOOMLINE_ERR_GENERATIONS},
        {AT_RESERVED, 8, 2, BLOOMLINE_ERR_TRUNCATED},
        {AT_K, 4, 0, BLOOMLINE_ERR_K},
        {AT_K, 4, 17, BLOOMLINE_ERR_K},
        {AT_LINE_COUNT, 8, 0, BLOOMLINE_ERR_LINE_COUNT},
        {AT_LINE_COUNT, 8, UINT64_MAX / 192, BLOOMLINE_ERR_LINE_COUNT},
        {AT_LINE_COUNT, 8, params.line_count + 1, BLOOMLINE_ERR_TRUNCATED},
        {AT_MAGIC, 8, 0, BLOOMLINE_ERR_NOT_A_FILTER},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        memcpy(again, bytes, len);
        put_le(again + len - FOOTER_BYTES + fields[i].at, fields[i].size, fields[i].value);
        definition_seal(again, len);
        CHECK_STATUS(fields[i].status, bloomline_window_decode(again, len, &decoded));
    }
    for (size_t i = 0; i < len; i++) {
        memcpy(again, bytes, len);
        again[i] ^= 0x10;
        CHECK(bloomline_window_decode(again, len, &decoded) != BLOOMLINE_OK);
        if (i < len - FOOTER_BYTES) CHECK_STATUS(BLOOMLINE_ERR_CHECKSUM, bloomline_window_decode(again, len, &decoded));
        bloomline_status status = i < FOOTER_BYTES ? BLOOMLINE_ERR_TRUNCATED : BLOOMLINE_ERR_NOT_A_FILTER;
        CHECK_STATUS(status, bloomline_window_decode(bytes, i, &decoded));
    }
    CHECK(decoded == NULL);
    CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_view_open(bytes, len, &view));
    CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_filter_decode(bytes, len, &plain));
    CHECK_OK(bloomline_window_decode(bytes, len, &decoded));
    CHECK(bloomline_window_contains(decoded, "apple", 5) && bloomline_window_contains(decoded, "pear", 4));
    bloomline_window_advance_to(decoded, 3);
    CHECK(!bloomline_window_contains(decoded, "apple", 5) && bloomline_window_contains(decoded, "pear", 4));
    bloomline_window_free(decoded);
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
        {8, 1000, 0, BLOOMLINE_ERR_RATE},
        {8, 1000, 1, BLOOMLINE_ERR_RATE},
        {8, 1000, -0.5, BLOOMLINE_ERR_RATE},
        {8, 1000, 1.5, BLOOMLINE_ERR_RATE},
        {8, 1000, 1e-300, BLOOMLINE_ERR_RATE},
        {8, UINT64_MAX, 0.01, BLOOMLINE_ERR_LINE_COUNT},
        {UINT32_MAX, UINT64_C(1) << 40, 0.01, BLOOMLINE_ERR_LINE_COUNT},
        {8, UINT64_C(1) << 50, 0.01, sizeof(size_t) == 8 ? BLOOMLINE_ERR_OUT_OF_MEMORY : BLOOMLINE_ERR_LINE_COUNT},
    };
    bloomline_window *window = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_STATUS(cases[i].status, bloomline_window_new(cases[i].generations, cases[i].keys, cases[i].rate, 0, &window));
        CHECK(window == NULL);
    }
    const double no_rates[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    for (size_t i = 0; i < 3; i++) CHECK_STATUS(BLOOMLINE_ERR_RATE, bloomline_window_new(8, 10, no_rates[i], 0, &window));
    CHECK_OK(bloomline_window_new(8, 0, 0.01, 0, &window)); /* no keys: a line each */
    CHECK(bloomline_window_insert(window, "key", 3) && bloomline_window_contains(window, "key", 3));
    bloomline_window_free(window);
}

static void files(void)
{
    file_name temporary = files_begin(), path = files_in(&temporary, "window"), missing = files_in(&temporary, "no/window");
    bloomline_window *window = new_window(3, 100, 0.01, 4), *loaded = NULL;
    bloomline_filter *filter = NULL;
    bloomline_window_insert(window, "apple", 5);
    bloomline_window_rotate(window);
    CHECK_OK(bloomline_window_save(window, path.text));
    CHECK_OK(bloomline_window_load(path.text, &loaded));
    CHECK(bloomline_window_contains(loaded, "apple", 5));
    CHECK_U64(1, bloomline_window_time_slice(loaded));
    bloomline_window_free(loaded);
    loaded = NULL;
    CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_filter_load(path.text, &filter));
    CHECK_STATUS(BLOOMLINE_ERR_NOT_FOUND, bloomline_window_save(window, missing.text));
    CHECK_STATUS(BLOOMLINE_ERR_NOT_FOUND, bloomline_window_load(missing.text, &loaded));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_window_save(NULL, path.text));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_window_save(window, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_window_load(NULL, &loaded));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_window_load(path.text, NULL));
    CHECK(loaded == NULL && filter == NULL);
    bloomline_window_free(window);
    CHECK(unlink(path.text) == 0 && rmdir(temporary.text) == 0);
}

static void null(void)
{
    static const uint64_t hashes[3] = {1, 2, 3};
    bloomline_window *window = new_window(2, 100, 0.01, 0), *made = NULL;
    bloomline_params params;
    uint8_t bytes[1000], before[1000], after[1000];
    uint64_t bitmap[2];
    bloomline_bytes broken[3] = {{(const uint8_t *)"pear", 4}, {NULL, 3}, {(const uint8_t *)"plum", SIZE_MAX}};
    size_t len = bloomline_window_encoded_len(window);
    REQUIRE(len <= sizeof bytes);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_window_new(2, 100, 0.01, 0, NULL));
    bloomline_window_insert(window, "apple", 5);
    CHECK_OK(bloomline_window_encode(window, before, len, NULL));

    bloomline_window_free(NULL);
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
    CHECK(bloomline_window_contains(NULL, "plum", 4) && bloomline_window_contains(window, NULL, 4));
    CHECK(bloomline_window_contains_hash(NULL, 1));
    CHECK_U64(3, bloomline_window_contains_hashes(NULL, hashes, 3, bitmap));
    CHECK_U64(3, bloomline_window_contains_hashes(window, NULL, 3, bitmap));
    CHECK_U64(7, bitmap[0]);
    CHECK_U64(3, bloomline_window_contains_hashes(window, hashes, 3, NULL));
    CHECK_U64(3, bloomline_window_contains_keys(NULL, broken, 3, bitmap));
    CHECK_U64(2, bloomline_window_contains_keys(window, broken, 3, bitmap));
    CHECK_U64(6, bitmap[0]);
    CHECK_U64(0, bloomline_window_generations(NULL));
    CHECK_U64(0, bloomline_window_time_slice(NULL));
    CHECK_U64(0, bloomline_window_key_count(NULL, 0));
    CHECK_U64(0, bloomline_window_key_count(window, 2));
    CHECK(bloomline_window_estimated_rate(NULL) == 1);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_window_params(NULL, &params));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_window_params(window, NULL));
    CHECK_U64(0, bloomline_window_encoded_len(NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_window_encode(NULL, bytes, sizeof bytes, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_window_encode(window, NULL, sizeof bytes, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_window_decode(NULL, 5, &made));
    CHECK_STATUS(BLOOMLINE_ERR_TRUNCATED, bloomline_window_decode(NULL, 0, &made));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_window_decode(before, len, NULL));
    CHECK(made == NULL);
    CHECK_OK(bloomline_window_encode(window, after, len, NULL));
    CHECK(memcmp(before, after, len) == 0);

    /* Keys that are not there are inserted as if empty. */
    CHECK(bloomline_window_insert(window, NULL, 3));
    CHECK(bloomline_window_contains(window, "", 0));
    CHECK_U64(1, bloomline_window_insert_keys(window, broken, 3, bitmap));
    CHECK_U64(1, bitmap[0]);
    bloomline_window_free(window);
}

int main(void)
{
    check_begin("test_window");
    RUN(histories_are_those_of_the_definition);
    RUN(long_batches);
    RUN(bytes_and_damage);
    RUN(parameters_out_of_range);
    RUN(files);
    RUN(null);
    return check_end();
}
