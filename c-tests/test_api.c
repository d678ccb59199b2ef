/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_api.c - every function of bloomline.h does what its comment says, on small data.
 * What goes wrong is in test_status.c, batches of all sizes in test_batch.c.
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "probes.h"
#include "definition.h"
#include "encoded.h"
#include "files.h"

/* An empty filter of so many lines. */
static bloomline_filter *new_filter(uint64_t line_count, uint32_t k, uint64_t seed)
{
    bloomline_params params = {line_count, k, 0, seed};
    bloomline_filter *filter = NULL;
    REQUIRE_OK(bloomline_filter_new(&params, &filter));
    return filter;
}

ENCODED(filter)

static bool same_bytes(const bloomline_filter *a, const bloomline_filter *b)
{
    size_t a_len, b_len;
    uint8_t *a_data = encoded(a, &a_len), *b_data = encoded(b, &b_len);
    bool same = a_len == b_len && memcmp(a_data, b_data, a_len) == 0;
    free(a_data);
    free(b_data);
    return same;
}

static void version_and_backend(void)
{
    char text[64];
    snprintf(text, sizeof text, "%d.%d.%d", (int)BLOOMLINE_VERSION_MAJOR,
             (int)BLOOMLINE_VERSION_MINOR, (int)BLOOMLINE_VERSION_PATCH);
    CHECK(strcmp(bloomline_version(), text) == 0);
    CHECK_U64(BLOOMLINE_ABI_VERSION, bloomline_abi_version());
    const char *backend = bloomline_backend();
    CHECK(strcmp(backend, "none") != 0);
    const char *forced = getenv("BLOOMLINE_BACKEND");
    if (forced != NULL && forced[0] != '\0') CHECK(strcmp(backend, forced) == 0);
}

/* XXH3-64 as the C library of its author (libxxhash 0.8.1) gives it, on both sides of each
   length at which the algorithm changes its ways. The key: bytes i * 37 + 11 mod 256. */
static void hashes_are_xxh3(void)
{
    static const struct {
        size_t len;
        uint64_t seed0, seed42;
    } known[] = {
        {0, UINT64_C(0x2D06800538D394C2), UINT64_C(0xB029411FF43D84D2)},
        {1, UINT64_C(0x4A4139CAF4136257), UINT64_C(0x84A5580E6BAE8897)},
        {3, UINT64_C(0x505118C313121C0E), UINT64_C(0xE3C5A02EDA1F2E64)},
        {4, UINT64_C(0x3F6889EF166B4AD1), UINT64_C(0x5C7799F3C0159C94)},
        {8, UINT64_C(0x93F1200F9BE82671), UINT64_C(0x27C5122D83B26F57)},
        {9, UINT64_C(0x05B2FD4D97EDCDAE), UINT64_C(0xD6DC3ADC88505837)},
        {16, UINT64_C(0x2E4359E2A04A5E32), UINT64_C(0xAF22795EE30D31EF)},
        {17, UINT64_C(0xF60C53684BBC489D), UINT64_C(0x5D7A90519EE71A28)},
        {32, UINT64_C(0x664864DF0876EFC6), UINT64_C(0xDBC1036D48E16447)},
        {128, UINT64_C(0x5C6AB7B5B2360539), UINT64_C(0xAABB28EB1600FC1C)},
        {129, UINT64_C(0x45FABBD183DE7649), UINT64_C(0x0758A7607A741B64)},
        {240, UINT64_C(0xC0796428068CD12E), UINT64_C(0x6A4C7F16AFD8E873)},
        {241, UINT64_C(0x859DC8AB6DD85C7C), UINT64_C(0x1830EF693027587B)},
        {256, UINT64_C(0x2998C04A18028D12), UINT64_C(0x2EB2D58AC359E33A)},
        {512, UINT64_C(0xD02220E4B3BFACE7), UINT64_C(0xEA5B60DDB8BBFFB7)},
        {1000, UINT64_C(0x35B90186550DBB50), UINT64_C(0x2CA03CDB05C95F0F)},
        {1024, UINT64_C(0x7DF7F049C0C1AD73), UINT64_C(0xDA718A724F88E36F)},
    };
    uint8_t key[1024];
    for (size_t i = 0; i < sizeof key; i++) key[i] = (uint8_t)(i * 37 + 11);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        CHECK_U64(known[i].seed0, bloomline_hash(key, known[i].len, 0));
        CHECK_U64(known[i].seed42, bloomline_hash(key, known[i].len, 42));
    }
}

static void hash_of_an_integer_is_that_of_its_little_endian_bytes(void)
{
    uint64_t state = 1;
    for (int i = 0; i < 100; i++) {
        uint64_t key = i < 10 ? (uint64_t)i : next_random(&state), seed = i % 3 ? next_random(&state) : 0;
        uint8_t bytes[8];
        put_le(bytes, 8, key);
        CHECK_U64(bloomline_hash(bytes, 8, seed), bloomline_hash_u64(key, seed));
    }
}

static void batches_of_hashes(void)
{
    enum { MOST = 130 };
    uint64_t integers[MOST], out[MOST + 1], state = 2;
    uint8_t text[MOST + 1];
    bloomline_bytes keys[MOST];
    for (size_t i = 0; i < MOST; i++) {
        integers[i] = next_random(&state);
        text[i] = (uint8_t)next_random(&state);
        keys[i].data = text;
        keys[i].len = i;
    }
    for (size_t n = 0; n <= MOST; n++) {
        memset(out, 0xA5, sizeof out);
        bloomline_hash_u64_batch(integers, n, 7, out);
        for (size_t i = 0; i < n; i++) CHECK_U64(bloomline_hash_u64(integers[i], 7), out[i]);
        CHECK_U64(UINT64_C(0xA5A5A5A5A5A5A5A5), out[n]);
        memset(out, 0xA5, sizeof out);
        bloomline_hash_batch(keys, n, 9, out);
        for (size_t i = 0; i < n; i++) CHECK_U64(bloomline_hash(keys[i].data, keys[i].len, 9), out[i]);
        CHECK_U64(UINT64_C(0xA5A5A5A5A5A5A5A5), out[n]);
    }
    /* In place, as the header allows. */
    memcpy(out, integers, sizeof integers);
    bloomline_hash_u64_batch(out, MOST, 3, out);
    for (size_t i = 0; i < MOST; i++) CHECK_U64(bloomline_hash_u64(integers[i], 3), out[i]);
}

static void sizing(void)
{
    bloomline_params params;
    CHECK_OK(bloomline_params_for_rate(1000000, 0.01, &params));
    CHECK_U64(0, params.seed);
    CHECK_U64(0, params.layout);
    double bits = (double)params.line_count * 512 / 1e6;
    CHECK(bits > 9.8 && bits < 10.1);
    double rate = bloomline_params_rate(&params, 1000000);
    CHECK(rate > 0.0099 && rate <= 0.01);
    /* The smallest: one line less does not reach the rate. */
    params.line_count -= 20;
    CHECK(bloomline_params_rate(&params, 1000000) > 0.01);

    /* The table of the design: bits per key, best k, rate. */
    static const struct {
        double bits;
        uint32_t k;
        double rate;
    } rows[] = {{8, 5, 0.02344}, {10, 6, 0.00978}, {12, 7, 0.00421}, {16, 9, 0.000868}, {20, 11, 0.000206}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_OK(bloomline_params_for_bits(512000000, rows[i].bits, &params));
        CHECK_U64(rows[i].k, params.k);
        CHECK_NEAR((double)(uint64_t)(rows[i].bits * 1e6), (double)params.line_count, 1);
        CHECK_NEAR(rows[i].rate, bloomline_params_rate(&params, 512000000), rows[i].rate * 0.005);
    }
    CHECK_OK(bloomline_params_for_bits(1024, 9.5, &params));
    CHECK_U64(19, params.line_count);

    /* No keys: one line, which says no to everything. */
    CHECK_OK(bloomline_params_for_rate(0, 0.01, &params));
    CHECK_U64(1, params.line_count);
    CHECK_OK(bloomline_params_for_bits(0, 10, &params));
    CHECK_U64(1, params.line_count);
    CHECK_NEAR(0, bloomline_params_rate(&params, 0), 0);
    CHECK_NEAR(1, bloomline_params_rate(&params, UINT64_MAX), 1e-6);
}

static void one_key_at_a_time(void)
{
    bloomline_filter *filter = new_filter(3, 6, 77);
    bloomline_params params;
    CHECK_OK(filter_params(filter, &params));
    CHECK(params.line_count == 3 && params.k == 6 && params.layout == 0 && params.seed == 77);
    CHECK_U64(0, filter_key_count(filter));
    CHECK(!bloomline_filter_contains(filter, "apple", 5));
    CHECK(!bloomline_filter_contains(filter, NULL, 0));

    bloomline_filter_insert(filter, "apple", 5);
    bloomline_filter_insert(filter, "", 0);
    bloomline_filter_insert(filter, "with\0zero", 9);
    bloomline_filter_insert_hash(filter, bloomline_hash("pear", 4, 77));
    CHECK_U64(4, filter_key_count(filter));
    CHECK(bloomline_filter_contains(filter, "apple", 5));
    CHECK(bloomline_filter_contains(filter, NULL, 0));
    CHECK(bloomline_filter_contains(filter, "with\0zero", 9));
    CHECK(bloomline_filter_contains(filter, "pear", 4));
    CHECK(bloomline_filter_contains_hash(filter, bloomline_hash("apple", 5, 77)));
    /* Certain for these bytes, since the format fixes them. */
    CHECK(!bloomline_filter_contains(filter, "with", 4));
    CHECK(!bloomline_filter_contains(filter, "plum", 4));
    bloomline_filter_free(filter);
}

static bloomline_filter *new_classic(uint64_t line_count, uint32_t k, uint64_t seed)
{
    bloomline_params params = {line_count, k, BLOOMLINE_KIND_CLASSIC, seed};
    bloomline_filter *filter = NULL;
    REQUIRE_OK(bloomline_filter_new(&params, &filter));
    return filter;
}

static void intersection_has_the_bits_of_both(void)
{
    enum { LEN = 40 * 64 };
    bloomline_filter *(*const make[])(uint64_t, uint32_t, uint64_t) = {new_filter, new_classic};
    for (size_t type = 0; type < 2; type++) {
        bloomline_filter *a = make[type](40, 7, 5), *b = make[type](40, 7, 5), *other = make[1 - type](40, 7, 5);
        bloomline_view view;
        uint8_t expected[LEN], of_b[LEN];
        size_t len;
        uint64_t state = 3;
        for (int i = 0; i < 900; i++) {
            uint64_t hash = next_random(&state);
            if (i % 3 != 1) bloomline_filter_insert_hash(a, hash);
            if (i % 3 != 2) bloomline_filter_insert_hash(b, hash);
        }
        REQUIRE_OK(bloomline_filter_view(a, &view));
        memcpy(expected, bloomline_view_lines(&view, &len), LEN);
        REQUIRE_OK(bloomline_filter_view(b, &view));
        for (size_t i = 0; i < LEN; i++) expected[i] &= ((const uint8_t *)bloomline_view_lines(&view, &len))[i];
        CHECK_OK(bloomline_filter_intersect(a, b));
        REQUIRE_OK(bloomline_filter_view(a, &view));
        CHECK(memcmp(bloomline_view_lines(&view, &len), expected, LEN) == 0);
        CHECK_U64(0, filter_key_count(a)); /* unknown */
        CHECK_U64(600, filter_key_count(b));
        state = 3;
        for (int i = 0; i < 900; i++) {
            uint64_t hash = next_random(&state);
            if (i % 3 == 0) CHECK(bloomline_filter_contains_hash(a, hash));
            if (bloomline_filter_contains_hash(a, hash)) CHECK(bloomline_filter_contains_hash(b, hash));
        }
        CHECK_OK(bloomline_filter_intersect(b, b)); /* with itself: nothing changes */
        CHECK_U64(600, filter_key_count(b));
        REQUIRE_OK(bloomline_filter_view(b, &view));
        memcpy(of_b, bloomline_view_lines(&view, &len), LEN);
        CHECK_OK(bloomline_filter_union(b, b)); /* nor here */
        CHECK_U64(600, filter_key_count(b));
        REQUIRE_OK(bloomline_filter_view(b, &view));
        CHECK(memcmp(bloomline_view_lines(&view, &len), of_b, LEN) == 0);
        bloomline_filter *seeded = make[type](40, 7, 6), *shorter = make[type](39, 7, 5), *fewer = make[type](40, 6, 5);
        CHECK_STATUS(BLOOMLINE_ERR_MISMATCH, bloomline_filter_intersect(a, seeded));
        CHECK_STATUS(BLOOMLINE_ERR_MISMATCH, bloomline_filter_intersect(a, shorter));
        CHECK_STATUS(BLOOMLINE_ERR_MISMATCH, bloomline_filter_intersect(a, fewer));
        CHECK_STATUS(BLOOMLINE_ERR_MISMATCH, bloomline_filter_intersect(a, other));
        CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_filter_intersect(NULL, a));
        CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_filter_intersect(a, NULL));
        REQUIRE_OK(bloomline_filter_view(a, &view));
        CHECK(memcmp(bloomline_view_lines(&view, &len), expected, LEN) == 0);
        bloomline_filter_free(a);
        bloomline_filter_free(b);
        bloomline_filter_free(other);
        bloomline_filter_free(seeded);
        bloomline_filter_free(shorter);
        bloomline_filter_free(fewer);
    }
}

static void fold_to_a_rate(void)
{
    uint64_t state = 4;
    /* 2^14 lines for 2000 keys: room for some folds, at a rate that is kept. */
    uint32_t folds = 99;
    bloomline_filter *filter = new_filter(1 << 14, 6, 5);
    for (int i = 0; i < 2000; i++) bloomline_filter_insert_hash(filter, next_random(&state));
    CHECK_OK(bloomline_filter_fold_to_rate(filter, 0.01, &folds));
    bloomline_params params;
    CHECK_OK(filter_params(filter, &params));
    CHECK(folds > 0 && folds < 14);
    CHECK_U64(1 << 14, params.line_count << folds);
    CHECK(filter_estimated_rate(filter) <= 0.01);
    CHECK_OK(bloomline_filter_fold_to_rate(filter, 0.01, NULL)); /* none left */
    CHECK_OK(bloomline_filter_fold(filter));
    CHECK(filter_estimated_rate(filter) > 0.01);
    bloomline_view view;
    CHECK_OK(bloomline_filter_view(filter, &view));
    CHECK(view_about(&view).estimated_rate == filter_estimated_rate(filter));
    memset(&view, 0, sizeof view);
    CHECK(view_about(&view).estimated_rate == 1 && view_about(NULL).estimated_rate == 1);
    bloomline_filter_free(filter);
}

static void statistics_follow_the_keys(void)
{
    enum { KEYS = 20000 };
    bloomline_params params;
    bloomline_filter *filter;
    CHECK_OK(bloomline_params_for_bits(KEYS, 10, &params));
    REQUIRE_OK(bloomline_filter_new(&params, &filter));
    CHECK_NEAR(0, filter_fill(filter), 0);
    CHECK_NEAR(0, filter_estimated_keys(filter), 0);
    CHECK_NEAR(0, filter_estimated_rate(filter), 0);
    for (uint64_t i = 0; i < KEYS; i++) bloomline_filter_insert_hash(filter, bloomline_hash_u64(i, 0));
    /* Set bits, counted in the bytes. */
    size_t len;
    uint8_t *data = encoded(filter, &len);
    uint64_t ones = 0;
    for (size_t i = 0; i < len - FOOTER_BYTES; i++) {
        for (unsigned bits = data[i]; bits != 0; bits >>= 1) ones += bits & 1;
    }
    CHECK_NEAR((double)ones / ((double)(len - FOOTER_BYTES) * 8), filter_fill(filter), 1e-12);
    CHECK_NEAR(KEYS, filter_estimated_keys(filter), KEYS * 0.03);
    CHECK_NEAR(bloomline_params_rate(&params, KEYS), filter_estimated_rate(filter), 0.001);
    uint64_t wrong = 0;
    for (uint64_t i = KEYS; i < 6 * KEYS; i++) wrong += bloomline_filter_contains_hash(filter, bloomline_hash_u64(i, 0));
    CHECK_NEAR(bloomline_params_rate(&params, KEYS), (double)wrong / (5 * KEYS), 0.0015);
    free(data);
    bloomline_filter_free(filter);
}

static void encode_writes_its_length_and_no_more(void)
{
    bloomline_filter *filter = new_filter(2, 6, 0);
    uint8_t out[3 * LINE_BYTES + 1];
    memset(out, 0xEE, sizeof out);
    CHECK_OK(bloomline_filter_encode(filter, out, sizeof out, NULL));
    CHECK_U64(0xEE, out[3 * LINE_BYTES]);
    bloomline_view view;
    CHECK_OK(bloomline_view_open(out, 3 * LINE_BYTES, 0, &view));
    bloomline_filter_free(filter);
}

/* What every way to a view of the filter with "apple" in it must give. */
static void check_view(const bloomline_view *view, const bloomline_params *params)
{
    bloomline_params seen;
    CHECK_OK(bloomline_view_shape(view, &seen));
    CHECK(seen.line_count == params->line_count && seen.k == params->k && seen.layout == 0 &&
          seen.seed == params->seed);
    CHECK_U64(1, bloomline_view_key_count(view));
    CHECK_U64(bloomline_hash("apple", 5, params->seed), bloomline_view_hash(view, "apple", 5));
    CHECK(bloomline_view_contains(view, "apple", 5));
    CHECK(bloomline_view_contains_hash(view, bloomline_view_hash(view, "apple", 5)));
    CHECK(!bloomline_view_contains(view, "plum", 4));
    CHECK(!bloomline_view_contains_hash(view, bloomline_view_hash(view, "plum", 4)));
    bloomline_view copy = *view; /* a plain value */
    CHECK(bloomline_view_contains(&copy, "apple", 5));
    CHECK(!bloomline_view_contains(&copy, "plum", 4));
}

static void views(void)
{
    bloomline_params params = {9, 6, 0, 31};
    bloomline_filter *filter = new_filter(9, 6, 31);
    bloomline_filter_insert(filter, "apple", 5);
    size_t len;
    uint8_t *data = encoded(filter, &len);
    bloomline_view view;
    CHECK_OK(bloomline_view_open(data, len, 0, &view));
    check_view(&view, &params);
    CHECK_OK(bloomline_view_open(data, len, BLOOMLINE_VIEW_UNVERIFIED, &view));
    check_view(&view, &params);
    CHECK_OK(bloomline_filter_view(filter, &view));
    check_view(&view, &params);
    free(data);
    bloomline_filter_free(filter);
}

static void files(void)
{
    bloomline_params params = {9, 6, 0, 31};
    bloomline_filter *filter = new_filter(9, 6, 31), *back = NULL;
    file_name directory = files_begin(), path = files_in(&directory, "a filter");
    files_write(path.text, "old", 3); /* to be replaced */
    bloomline_filter_insert(filter, "apple", 5);
    CHECK_OK(bloomline_filter_save(filter, path.text));

    size_t data_len, file_len;
    uint8_t *data = encoded(filter, &data_len), *file = files_read(path.text, &file_len);
    CHECK(file != NULL && file_len == data_len && memcmp(file, data, data_len) == 0);
    free(data);
    free(file);

    CHECK_OK(bloomline_filter_load(path.text, &back));
    CHECK(same_bytes(filter, back));
    bloomline_filter_free(back);

    bloomline_map *map = NULL, *unverified = NULL;
    bloomline_view view;
    CHECK_OK(bloomline_map_open(path.text, 0, &map));
    CHECK_OK(bloomline_map_open(path.text, BLOOMLINE_MAP_UNVERIFIED, &unverified));
    /* A map keeps what it mapped, whatever then takes the name. */
    bloomline_filter_clear(filter);
    CHECK_OK(bloomline_filter_save(filter, path.text));
    CHECK_OK(bloomline_map_view(map, &view));
    check_view(&view, &params);
    CHECK_OK(bloomline_map_view(unverified, &view));
    CHECK(unlink(path.text) == 0);
    check_view(&view, &params);
    bloomline_map_close(map);
    bloomline_map_close(unverified);
    bloomline_filter_free(filter);
    CHECK(rmdir(directory.text) == 0); /* no file was left beside */
}

static void block_is_the_filter_of_its_hashes(void)
{
    for (size_t n = 0; n <= 200; n += 40) {
        bloomline_params params = {11, 8, 0, 4};
        uint64_t hashes[200];
        fill_hashes(hashes, n, 5);
        bloomline_filter *filter = new_filter(11, 8, 4);
        bloomline_filter_insert_hashes(filter, hashes, n);
        size_t len, block_len = bloomline_block_len(&params);
        uint8_t *data = encoded(filter, &len), *block = malloc(len + 1);
        CHECK_U64(len, block_len);
        memset(block, 0xEE, len + 1); /* what was there does not matter */
        CHECK_OK(bloomline_block_build(&params, hashes, n, block, len + 1));
        CHECK(memcmp(data, block, len) == 0);
        CHECK_U64(0xEE, block[len]);
        free(data);
        free(block);
        bloomline_filter_free(filter);
    }
}

static void builder_makes_one_block_after_the_other(void)
{
    bloomline_builder *builder = NULL;
    CHECK_OK(bloomline_builder_new(12.5, 99, &builder));
    for (int round = 0; round < 3; round++) {
        int keys = round == 1 ? 0 : 300;
        CHECK_U64(0, bloomline_builder_key_count(builder));
        uint64_t hashes[300];
        for (int i = 0; i < keys; i++) {
            char key[32];
            int length = snprintf(key, sizeof key, "key %d of %d", i, round);
            hashes[i] = bloomline_hash(key, (size_t)length, 99);
            CHECK_OK(i % 2 ? bloomline_builder_add(builder, key, (size_t)length)
                           : bloomline_builder_add_hash(builder, hashes[i]));
            /* A neighbour that repeats counts once. */
            CHECK_OK(bloomline_builder_add(builder, key, (size_t)length));
        }
        CHECK_U64((uint64_t)keys, bloomline_builder_key_count(builder));

        bloomline_params params;
        CHECK_OK(bloomline_params_for_bits((uint64_t)keys, 12.5, &params));
        params.seed = 99;
        size_t len = bloomline_builder_block_len(builder), written = 0;
        CHECK_U64(bloomline_block_len(&params), len);
        uint8_t *expected = malloc(len), *block = malloc(len + 1);
        CHECK_OK(bloomline_block_build(&params, hashes, (size_t)keys, expected, len));
        block[len] = 0xEE;
        CHECK_OK(bloomline_builder_finish(builder, block, len + 1, round == 0 ? NULL : &written));
        if (round > 0) CHECK_U64(len, written);
        CHECK(memcmp(expected, block, len) == 0);
        CHECK_U64(0xEE, block[len]);
        free(expected);
        free(block);
    }
    CHECK_OK(bloomline_builder_add(builder, "", 0)); /* freed with a key in it */
    CHECK_U64(1, bloomline_builder_key_count(builder));
    bloomline_builder_free(builder);
}

int main(void)
{
    check_begin("test_api");
    RUN(version_and_backend);
    RUN(hashes_are_xxh3);
    RUN(hash_of_an_integer_is_that_of_its_little_endian_bytes);
    RUN(batches_of_hashes);
    RUN(sizing);
    RUN(one_key_at_a_time);
    RUN(intersection_has_the_bits_of_both);
    RUN(fold_to_a_rate);
    RUN(statistics_follow_the_keys);
    RUN(encode_writes_its_length_and_no_more);
    RUN(views);
    RUN(files);
    RUN(block_is_the_filter_of_its_hashes);
    RUN(builder_makes_one_block_after_the_other);
    return check_end();
}
