/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_shards.c - one set split over several filters: which shard a hash belongs to, by the
 * formula of docs/FORMAT.md, and a batch over all of them in one call; one key in many filters,
 * and filters that hash keys differently, where a hash says nothing and the key does.
 */
#include "check.h"
#include "definition.h"
#include "probes.h"

enum { MOST_SHARDS = 64, KEYS = 2000 };

static uint64_t definition_shard(uint64_t hash, uint64_t shards)
{
    uint64_t mixed = hash * UINT64_C(0xD6E8FEB86659FD93);
    mixed = (mixed ^ (mixed >> 32)) * UINT64_C(0xA0761D6478BD642F);
    return definition_line_index(mixed ^ (mixed >> 29), shards);
}

static void shards_are_those_of_the_formula(void)
{
    static const uint64_t counts[] = {0, 1, 2, 3, 64, 1000, UINT64_C(1) << 40, UINT64_MAX};
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t hash = i < 3 ? i - 1 : bloomline_hash_u64(i, 1);
        for (size_t j = 0; j < sizeof counts / sizeof counts[0]; j++) {
            uint64_t shard = bloomline_shard_of(hash, counts[j]);
            CHECK_U64(definition_shard(hash, counts[j]), shard);
            CHECK(shard < counts[j] || counts[j] == 0);
        }
    }
}

static void a_batch_asks_each_key_of_its_shard(void)
{
    static const size_t counts[] = {1, 2, 3, MOST_SHARDS};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        size_t shards = counts[c];
        bloomline_filter *filters[MOST_SHARDS];
        bloomline_view views[MOST_SHARDS];
        uint64_t hashes[2 * KEYS], bitmap[(2 * KEYS + 63) / 64];
        for (size_t i = 0; i < shards; i++) {
            bloomline_params params = {1 + KEYS / 40 / shards, 6, 0, 0};
            REQUIRE_OK(bloomline_filter_new(&params, &filters[i]));
        }
        for (uint64_t i = 0; i < 2 * KEYS; i++) {
            hashes[i] = bloomline_hash_u64(i, 0);
            if (i < KEYS) bloomline_filter_insert_hash(filters[bloomline_shard_of(hashes[i], shards)], hashes[i]);
        }
        for (size_t i = 0; i < shards; i++) REQUIRE_OK(bloomline_filter_view(filters[i], &views[i]));
        static const size_t lengths[] = {0, 1, 63, 64, 65, 130, 2 * KEYS};
        for (size_t j = 0; j < sizeof lengths / sizeof lengths[0]; j++) {
            size_t n = lengths[j], first = j % 2 == 0 ? 0 : KEYS - n / 2, expected = 0;
            size_t count = bloomline_shards_contain_hashes(views, shards, hashes + first, n, bitmap);
            for (size_t i = 0; i < n; i++) {
                uint64_t hash = hashes[first + i];
                bool in = bloomline_filter_contains_hash(filters[bloomline_shard_of(hash, shards)], hash);
                CHECK(in == bit_of(bitmap, i));
                CHECK(in || first + i >= KEYS);
                expected += in;
            }
            CHECK_U64(expected, count);
            CHECK(n % 64 == 0 || bitmap[n / 64] >> (n % 64) == 0);
        }
        for (size_t i = 0; i < shards; i++) bloomline_filter_free(filters[i]);
    }
}

static void in_doubt_all_may_be_in(void)
{
    bloomline_view views[2];
    uint64_t hashes[70], bitmap[2];
    for (uint64_t i = 0; i < 70; i++) hashes[i] = bloomline_hash_u64(i, 0);
    memset(views, 0, sizeof views);
    CHECK_U64(70, bloomline_shards_contain_hashes(views, 2, hashes, 70, bitmap));
    CHECK(bitmap[0] == UINT64_MAX && bitmap[1] == 63);
    CHECK_U64(70, bloomline_shards_contain_hashes(views, 0, hashes, 70, bitmap));
    CHECK_U64(70, bloomline_shards_contain_hashes(NULL, 2, hashes, 70, bitmap));
    CHECK_U64(70, bloomline_shards_contain_hashes(views, 2, NULL, 70, bitmap));
    CHECK_U64(70, bloomline_shards_contain_hashes(views, 2, hashes, 70, NULL));
    CHECK_U64(0, bloomline_shards_contain_hashes(NULL, 0, NULL, 0, NULL));
}

enum { NATIVE = 70, ENGINES = 5, VIEWS = NATIVE + ENGINES + 1, MIXED_KEYS = 40 };

/* Filters of 40 keys each, filter i with every key but those whose number i divides. */
static struct {
    bloomline_filter *native[NATIVE];
    bloomline_cuckoo *cuckoo;
    uint8_t blocks[3][1024], fixed[8192];
    bloomline_view views[VIEWS];
} mixed;

static bool is_in(size_t filter, uint64_t key)
{
    return key % (filter + 2) != 0;
}

static void make_mixed(void)
{
    static const uint64_t seeds[] = {0, 7, 7, 9, UINT64_MAX};
    uint64_t hashes[4][MIXED_KEYS], counts[4] = {0};
    for (size_t i = 0; i < NATIVE; i++) {
        bloomline_params params = {10 + i, 6, 0, i < 5 ? seeds[i] : i / 8};
        REQUIRE_OK(i % 10 == 9 ? classic_new(&params, &mixed.native[i])
                               : bloomline_filter_new(&params, &mixed.native[i]));
        for (uint64_t key = 0; key < MIXED_KEYS; key++) {
            if (is_in(i, key)) bloomline_filter_insert(mixed.native[i], &key, sizeof key);
        }
        REQUIRE_OK(bloomline_filter_view(mixed.native[i], &mixed.views[i]));
    }
    for (size_t i = 0; i < 3; i++) {
        for (uint64_t key = 0; key < MIXED_KEYS; key++) {
            if (!is_in(NATIVE + i, key)) continue;
            hashes[i][counts[i]++] = bloomline_engine_hash((uint32_t)i + 1, &key, sizeof key);
        }
    }
    size_t len = 0;
    REQUIRE_OK(bloomline_engine_block_build(BLOOMLINE_ENGINE_ROCKSDB, hashes[0], counts[0], 20, mixed.blocks[0], 1024, &len));
    REQUIRE_OK(bloomline_view_open_engine(BLOOMLINE_ENGINE_ROCKSDB, mixed.blocks[0], len, &mixed.views[NATIVE]));
    REQUIRE_OK(bloomline_engine_block_build(BLOOMLINE_ENGINE_ROCKSDB_LEGACY, hashes[1], counts[1], 20, mixed.blocks[1], 1024, &len));
    REQUIRE_OK(bloomline_view_open_engine(BLOOMLINE_ENGINE_ROCKSDB, mixed.blocks[1], len, &mixed.views[NATIVE + 1]));
    REQUIRE_OK(bloomline_engine_block_build(BLOOMLINE_ENGINE_LEVELDB, hashes[2], counts[2], 20, mixed.blocks[2], 1024, &len));
    REQUIRE_OK(bloomline_view_open_engine(BLOOMLINE_ENGINE_LEVELDB, mixed.blocks[2], len, &mixed.views[NATIVE + 2]));
    bloomline_cuckoo_params params;
    REQUIRE_OK(bloomline_cuckoo_params_for_rate(1000, 0.001, &params));
    params.seed = 3;
    REQUIRE_OK(bloomline_cuckoo_new(&params, &mixed.cuckoo));
    for (uint64_t key = 0; key < MIXED_KEYS; key++) {
        if (is_in(NATIVE + 3, key)) REQUIRE_OK(bloomline_cuckoo_insert(mixed.cuckoo, &key, sizeof key));
    }
    REQUIRE_OK(bloomline_cuckoo_view(mixed.cuckoo, &mixed.views[NATIVE + 3]));
    size_t n = 0;
    for (uint64_t key = 0; key < MIXED_KEYS; key++) {
        if (is_in(NATIVE + 4, key)) hashes[3][n++] = bloomline_hash(&key, sizeof key, 11);
    }
    REQUIRE_OK(bloomline_static_block_build(hashes[3], n, 0.001, 11, 1, mixed.fixed, sizeof mixed.fixed, &len));
    REQUIRE_OK(bloomline_view_open(mixed.fixed, len, 0, &mixed.views[NATIVE + 4]));
    memset(&mixed.views[VIEWS - 1], 0, sizeof mixed.views[0]); /* not opened */
}

static void free_mixed(void)
{
    for (size_t i = 0; i < NATIVE; i++) bloomline_filter_free(mixed.native[i]);
    bloomline_cuckoo_free(mixed.cuckoo);
}

/* The same views by their addresses: in turn, from the last on, some of them NULL. */
static void check_each(const bloomline_view *views, size_t n, uint64_t key, const uint64_t *expected, size_t count)
{
    const bloomline_view *each[VIEWS];
    uint64_t bitmap[2] = {UINT64_MAX, UINT64_MAX}, hash = bloomline_view_hash(n == 0 ? NULL : &views[0], &key, sizeof key);
    for (size_t i = 0; i < n; i++) each[i] = &views[n - 1 - i];
    CHECK_U64(count, bloomline_views_contain_each(each, n, &key, sizeof key, bitmap));
    for (size_t i = 0; i < n; i++) CHECK(bit_of(bitmap, i) == bit_of(expected, n - 1 - i));
    CHECK(n % 64 == 0 || bitmap[n / 64] >> (n % 64) == 0);
    CHECK_U64(n, bloomline_views_contain_each(each, n, &key, sizeof key, NULL));
    if (n == 0) return;
    /* By a hash they answer as those in an array. */
    uint64_t alike[2] = {0}, turned[2] = {0};
    for (size_t i = 0; i < n; i++) each[i] = &views[i];
    CHECK_U64(bloomline_views_contain_hash(views, n, hash, alike), bloomline_views_contain_hash_each(each, n, hash, turned));
    CHECK(memcmp(alike, turned, (n + 63) / 64 * sizeof *alike) == 0);
    for (size_t i = 0; i < n; i += 3) each[i] = NULL;
    bloomline_views_contain_each(each, n, &key, sizeof key, bitmap);
    for (size_t i = 0; i < n; i++) CHECK(bit_of(bitmap, i) == (i % 3 == 0 || bit_of(expected, i)));
}

static void a_key_is_asked_of_filters_that_hash_differently(void)
{
    make_mixed();
    static const size_t counts[] = {0, 1, 2, 4, 5, 63, 64, 65, NATIVE, VIEWS};
    size_t denied = 0;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        /* Those at the end too, which are of every kind. */
        for (int end = 0; end < 2; end++) {
            const bloomline_view *views = mixed.views + (end == 1 ? VIEWS - counts[c] : 0);
            for (uint64_t key = 0; key < 2 * MIXED_KEYS; key++) {
                uint64_t bitmap[2] = {UINT64_MAX, UINT64_MAX};
                size_t expected = 0, n = counts[c];
                size_t count = bloomline_views_contain(views, n, &key, sizeof key, bitmap);
                for (size_t i = 0; i < n; i++) {
                    size_t filter = (size_t)(views - mixed.views) + i;
                    bool maybe = bit_of(bitmap, i);
                    CHECK(maybe == bloomline_view_contains(&views[i], &key, sizeof key));
                    CHECK(maybe || key >= MIXED_KEYS || !is_in(filter, key));
                    expected += maybe;
                    denied += !maybe;
                }
                CHECK_U64(expected, count);
                CHECK(n % 64 == 0 || bitmap[n / 64] >> (n % 64) == 0);
                CHECK_U64(n, bloomline_views_contain(views, n, &key, sizeof key, NULL));
                check_each(views, n, key, bitmap, count);
            }
        }
    }
    CHECK(denied > 1000);
    uint64_t bitmap[2], key = 1;
    CHECK_U64(VIEWS, bloomline_views_contain(mixed.views, VIEWS, NULL, 1, bitmap));
    CHECK(bitmap[0] == UINT64_MAX && bitmap[1] == (UINT64_C(1) << (VIEWS - 64)) - 1);
    CHECK_U64(70, bloomline_views_contain(NULL, 70, &key, sizeof key, bitmap));
    CHECK(bitmap[0] == UINT64_MAX && bitmap[1] == 63);
    CHECK_U64(0, bloomline_views_contain(NULL, 0, NULL, 0, NULL));
    const bloomline_view *each[2] = {&mixed.views[1], &mixed.views[2]};
    CHECK_U64(2, bloomline_views_contain_each(each, 2, NULL, 1, bitmap));
    CHECK_U64(70, bloomline_views_contain_each(NULL, 70, &key, sizeof key, bitmap));
    CHECK(bitmap[0] == UINT64_MAX && bitmap[1] == 63);
    CHECK_U64(70, bloomline_views_contain_hash_each(NULL, 70, 1, bitmap));
    CHECK_U64(0, bloomline_views_contain_hash_each(NULL, 0, 1, NULL));
    free_mixed();
}

/* A hash is the key's in the filters that hash alike, and nothing in others: any answer but
 * "maybe" for all would be a false negative for some key. */
static void a_hash_for_filters_that_hash_differently_says_maybe(void)
{
    make_mixed();
    static const size_t counts[] = {2, 4, 5, 63, 64, 65, NATIVE, VIEWS};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        const size_t n = counts[c];
        /* The last two are one filter and a view that was not opened: one way to hash. */
        for (int end = 0; end < (n == 2 ? 1 : 2); end++) {
            const bloomline_view *views = mixed.views + (end == 1 ? VIEWS - n : 0);
            for (uint64_t key = 0; key < MIXED_KEYS; key++) {
                uint64_t bitmap[2] = {0}, hashes[4];
                hashes[0] = bloomline_view_hash(&views[0], &key, sizeof key);
                CHECK_U64(n, bloomline_views_contain_hash(views, n, hashes[0], bitmap));
                for (size_t i = 0; i < n; i++) CHECK(bit_of(bitmap, i));
                for (size_t i = 1; i < 4; i++) hashes[i] = bloomline_view_hash(&views[i % n], &key, sizeof key);
                CHECK_U64(4, bloomline_shards_contain_hashes(views, n, hashes, 4, bitmap));
                CHECK_U64(15, bitmap[0]);
            }
        }
    }
    /* Those of one seed are answered for, among others: filters 1 and 2 have seed 7. */
    size_t denied = 0;
    for (uint64_t key = 0; key < 2 * MIXED_KEYS; key++) {
        uint64_t bitmap = 0, hash = bloomline_hash(&key, sizeof key, 7);
        denied += 2 - bloomline_views_contain_hash(&mixed.views[1], 2, hash, &bitmap);
        for (size_t i = 0; i < 2; i++) {
            CHECK(bit_of(&bitmap, i) == bloomline_view_contains_hash(&mixed.views[1 + i], hash));
        }
    }
    CHECK(denied > 40);
    free_mixed();
}

int main(void)
{
    check_begin("test_shards");
    RUN(shards_are_those_of_the_formula);
    RUN(a_batch_asks_each_key_of_its_shard);
    RUN(in_doubt_all_may_be_in);
    RUN(a_key_is_asked_of_filters_that_hash_differently);
    RUN(a_hash_for_filters_that_hash_differently_says_maybe);
    return check_end();
}
