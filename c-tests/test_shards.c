/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_shards.c - one set split over several filters: which shard a hash belongs to, by the
 * formula of docs/FORMAT.md, and a batch over all of them in one call.
 */
#include "check.h"
#include "definition.h"

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

int main(void)
{
    check_begin("test_shards");
    RUN(shards_are_those_of_the_formula);
    RUN(a_batch_asks_each_key_of_its_shard);
    RUN(in_doubt_all_may_be_in);
    return check_end();
}
