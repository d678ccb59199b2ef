/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_builder.c - bloomline_builder by rate and in batches: its blocks are those of
 * bloomline_block_build() and of keys added one by one, neighbours count once, and what is refused
 * or cleared is not in the block.
 */
#include "check.h"
#include "definition.h"

enum { KEYS = 500, ROOM = 1 << 16, SEED = 5 };

static uint64_t hashes[KEYS];
static char texts[KEYS][8];
static bloomline_bytes keys[KEYS];
static uint8_t block[ROOM], expected[ROOM];

/* What a builder writes now; it is empty afterwards. */
static size_t finish(bloomline_builder *builder)
{
    size_t len = bloomline_builder_block_len(builder), written = 0;
    REQUIRE(len > 0 && len <= sizeof block);
    REQUIRE_OK(bloomline_builder_finish(builder, block, sizeof block, &written));
    CHECK_U64(len, written);
    CHECK_U64(0, bloomline_builder_key_count(builder));
    return len;
}

static void sizes_are_those_of_the_rate(void)
{
    static const double rates[] = {0.5, 0.1, 0.01, 0.0001};
    for (size_t i = 0; i < 4; i++) {
        bloomline_builder *builder = NULL;
        REQUIRE_OK(bloomline_builder_new_for_rate(rates[i], SEED, &builder));
        for (size_t n = 0; n <= KEYS; n += 100) {
            bloomline_params params;
            REQUIRE_OK(bloomline_params_for_rate(n, rates[i], &params));
            params.seed = SEED;
            for (size_t j = 0; j < n; j++) CHECK_OK(bloomline_builder_add_hash(builder, hashes[j]));
            CHECK_OK(bloomline_block_build(&params, hashes, n, expected, sizeof expected));
            CHECK_U64(bloomline_block_len(&params), finish(builder));
            CHECK(memcmp(block, expected, bloomline_block_len(&params)) == 0);
        }
        bloomline_builder_free(builder);
    }
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_builder_new_for_rate(0.01, 0, NULL));
}

static void batches_are_keys_one_by_one(void)
{
    bloomline_builder *one = NULL, *many = NULL;
    REQUIRE_OK(bloomline_builder_new(10, SEED, &one));
    REQUIRE_OK(bloomline_builder_new(10, SEED, &many));
    for (size_t n = 0; n <= KEYS; n += 50) {
        /* Keys and hashes, in two batches, of which the second begins with a repeated one. */
        for (int by_key = 0; by_key < 2; by_key++) {
            for (size_t i = 0; i < n; i++) {
                CHECK_OK(by_key ? bloomline_builder_add(one, keys[i].data, keys[i].len)
                                : bloomline_builder_add_hash(one, bloomline_hash(keys[i].data, keys[i].len, SEED)));
            }
            size_t half = n / 2, from = half > 0 ? half - 1 : 0;
            if (by_key) {
                CHECK_OK(bloomline_builder_add_keys(many, keys, half));
                CHECK_OK(bloomline_builder_add_keys(many, keys + from, n - from));
            } else {
                uint64_t of_keys[KEYS];
                bloomline_hash_batch(keys, n, SEED, of_keys);
                CHECK_OK(bloomline_builder_add_hashes(many, of_keys, half));
                CHECK_OK(bloomline_builder_add_hashes(many, of_keys + from, n - from));
            }
            CHECK_U64(bloomline_builder_key_count(one), bloomline_builder_key_count(many));
            CHECK_U64((n + 1) / 2, bloomline_builder_key_count(many)); /* each key is there twice */
            size_t len = finish(one);
            memcpy(expected, block, len);
            CHECK_U64(len, finish(many));
            CHECK(memcmp(block, expected, len) == 0);
        }
    }
    bloomline_builder_free(one);
    bloomline_builder_free(many);
}

/* Whole keys and their prefix by turns, the prefix before or after its key, each key twice (two
 * versions): the block is that of the different ones. */
static void whole_keys_and_prefixes_by_turns_count_once(void)
{
    enum { PREFIXES = 20, EACH = 10 };
    for (int prefix_first = 0; prefix_first < 2; prefix_first++) {
        bloomline_builder *builder = NULL;
        size_t distinct = 0;
        REQUIRE_OK(bloomline_builder_new(10, SEED, &builder));
        for (size_t i = 0; i < PREFIXES * EACH; i++) {
            uint64_t key = bloomline_hash_u64(i, SEED), prefix = bloomline_hash_u64(1000 + i / EACH, SEED);
            distinct += 1 + (i % EACH == 0);
            for (int version = 0; version < 2; version++) {
                CHECK_OK(bloomline_builder_add_hash(builder, prefix_first ? prefix : key));
                CHECK_OK(bloomline_builder_add_hash(builder, prefix_first ? key : prefix));
            }
            CHECK_U64(distinct, bloomline_builder_key_count(builder));
        }
        bloomline_params params;
        REQUIRE_OK(bloomline_params_for_bits(PREFIXES * (EACH + 1), 10, &params));
        CHECK_U64(bloomline_block_len(&params), finish(builder));
        /* What came before does not make the first key of the next block a repetition. */
        CHECK_OK(bloomline_builder_add_hash(builder, bloomline_hash_u64(PREFIXES * EACH - 1, SEED)));
        CHECK_OK(bloomline_builder_add_hash(builder, 0));
        CHECK_U64(2, bloomline_builder_key_count(builder));
        bloomline_builder_free(builder);
    }
}

static void refused_and_cleared_keys_are_not_in(void)
{
    const bloomline_bytes broken[3] = {{(const uint8_t *)"a", 1}, {NULL, 4}, {NULL, 0}};
    bloomline_builder *builder = NULL;
    bloomline_view view;
    REQUIRE_OK(bloomline_builder_new_for_rate(0.001, 0, &builder));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_builder_add_keys(builder, broken, 3));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_builder_add_keys(builder, NULL, 3));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_builder_add_hashes(builder, NULL, 3));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_builder_add_keys(NULL, keys, 3));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_builder_add_hashes(NULL, hashes, 3));
    CHECK_U64(0, bloomline_builder_key_count(builder));
    CHECK_OK(bloomline_builder_add_keys(builder, NULL, 0));
    CHECK_OK(bloomline_builder_add_hashes(builder, NULL, 0));
    CHECK_OK(bloomline_builder_add_keys(builder, broken + 2, 1)); /* the empty key */
    CHECK_U64(1, bloomline_builder_key_count(builder));
    CHECK_OK(bloomline_builder_add(builder, "gone", 4));
    bloomline_builder_clear(builder);
    bloomline_builder_clear(NULL);
    CHECK_U64(0, bloomline_builder_key_count(builder));
    CHECK_OK(bloomline_builder_add(builder, "there", 5));
    size_t len = finish(builder);
    CHECK_OK(bloomline_view_open(block, len, 0, &view));
    CHECK(bloomline_view_contains(&view, "there", 5) && !bloomline_view_contains(&view, "gone", 4));
    CHECK(!bloomline_view_contains(&view, "", 0));
    CHECK_U64(1, bloomline_view_key_count(&view));
    bloomline_builder_free(builder);
}

int main(void)
{
    check_begin("test_builder");
    fill_hashes(hashes, KEYS, 1);
    for (size_t i = 0; i < KEYS; i++) {
        int len = snprintf(texts[i], sizeof texts[i], "%zu", i / 2); /* each twice */
        keys[i] = (bloomline_bytes){(const uint8_t *)texts[i], (size_t)len};
    }
    RUN(sizes_are_those_of_the_rate);
    RUN(batches_are_keys_one_by_one);
    RUN(whole_keys_and_prefixes_by_turns_count_once);
    RUN(refused_and_cleared_keys_are_not_in);
    return check_end();
}
