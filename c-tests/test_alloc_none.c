/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_alloc_none.c - what is said to allocate nothing allocates nothing: it works where every
 * allocation fails.
 */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700

#include "check.h"
#include "definition.h"
#include "failing.h"

#include <sys/mman.h>

static const bloomline_params small_params = {10, 6, 0, 0};

static void what_allocates_nothing(void)
{
    enum { KEYS = 300 };
    uint8_t data[11 * LINE_BYTES], block[100 * LINE_BYTES];
    uint64_t hashes[KEYS], bitmap[(KEYS + 63) / 64];
    bloomline_bytes keys[KEYS];
    const bloomline_bytes *pointers[KEYS];
    bool present[KEYS];
    size_t len = 0;
    bloomline_filter *filter = NULL, *other = NULL;
    bloomline_builder *builder = NULL;
    bloomline_view view;
    bloomline_params params;
    fill_hashes(hashes, KEYS, 3);
    for (size_t i = 0; i < KEYS; i++) {
        keys[i].data = (const uint8_t *)&hashes[i];
        keys[i].len = 8;
        pointers[i] = &keys[i];
    }
    REQUIRE_OK(bloomline_filter_new(&small_params, &filter));
    REQUIRE_OK(bloomline_filter_new(&small_params, &other));
    REQUIRE_OK(bloomline_builder_new(10, 0, &builder));
    for (size_t i = 0; i < KEYS; i++) REQUIRE_OK(bloomline_builder_add_hash(builder, hashes[i]));

    allocations.all_after = true;
    allocations.fail_at = 1;
    allocations.count = 0;
    allocations.armed = true;
    bloomline_status statuses[] = {
        bloomline_params_for_rate(1000, 0.01, &params),
        bloomline_block_build(&small_params, hashes, KEYS, block, sizeof block),
        bloomline_builder_finish(builder, block, sizeof block, NULL),
        bloomline_filter_union(filter, other),
        bloomline_filter_encode(filter, data, sizeof data, NULL),
        bloomline_view_open(data, sizeof data, 0, &view),
        bloomline_view_open(data, sizeof data, BLOOMLINE_VIEW_UNVERIFIED, &view),
        bloomline_filter_view(filter, &view),
    };
    bloomline_filter_insert(filter, "apple", 5);
    bloomline_filter_insert_hash(filter, 1);
    bloomline_filter_insert_hashes(filter, hashes, KEYS);
    bloomline_filter_insert_keys(filter, keys, KEYS);
    size_t found = bloomline_filter_contains(filter, "apple", 5);
    found += bloomline_filter_contains_hashes(filter, hashes, KEYS, bitmap);
    found += bloomline_filter_contains_keys(filter, keys, KEYS, bitmap);
    found += bloomline_view_contains_hashes(&view, hashes, KEYS, bitmap);
    found += bloomline_view_contains_keys(&view, keys, KEYS, bitmap);
    found += bloomline_views_contain_hash(&view, 1, hashes[0], bitmap);
    bloomline_hash_batch(keys, KEYS, 0, hashes);
    bloomline_hash_u64_batch(hashes, KEYS, 0, hashes);
    /* Other engines' filters are built, opened and asked for as often. */
    bloomline_status engines[] = {
        bloomline_engine_block_build(BLOOMLINE_ENGINE_ROCKSDB, hashes, KEYS, 10, block, sizeof block, &len),
        bloomline_view_open_engine(BLOOMLINE_ENGINE_ROCKSDB, block, len, &view),
    };
    found += bloomline_view_contains_hashes(&view, hashes, KEYS, bitmap);
    found += bloomline_engine_hash(BLOOMLINE_ENGINE_ROCKSDB, "apple", 5) == 0;
    found += bloomline_view_contains_keys(&view, keys, KEYS, bitmap) <= KEYS;
    bloomline_view_contains_each(&view, pointers, KEYS, present);
    (void)bloomline_view_contains_fn(&view)(&view, "apple", 5);
    bloomline_status older[] = {
        bloomline_engine_block_build(BLOOMLINE_ENGINE_LEVELDB, hashes, KEYS, 10, block, sizeof block, &len),
        bloomline_view_open_engine(BLOOMLINE_ENGINE_LEVELDB, block, len, &view),
    };
    found += bloomline_view_contains_hashes(&view, hashes, KEYS, bitmap);
    size_t bits = 0, left = 0;
    bloomline_status columns[] = {
        bloomline_engine_block_build(BLOOMLINE_ENGINE_PARQUET, hashes, KEYS, 10, block, sizeof block, &len),
        bloomline_view_open_engine(BLOOMLINE_ENGINE_PARQUET, block, len, &view),
        bloomline_parquet_read_header(block, len, &len, &bits),
        bloomline_parquet_insert_hashes(block + len, bits, hashes, KEYS),
        bloomline_parquet_fold(block + len, bits, 0.9, &left),
        bloomline_parquet_write_header(left, data, sizeof data, &len),
        bloomline_view_open_parquet_bits(block + len, left, &view),
    };
    found += bloomline_view_contains_hashes(&view, hashes, KEYS, bitmap);
    bloomline_parquet_hash_fixed(block, 8, KEYS, hashes);
    allocations.armed = false;

    CHECK_U64(0, allocations.count);
    CHECK_U64(1 + 4 * KEYS + 1 + 3 * KEYS + 1, found);
    for (size_t i = 0; i < 2; i++) CHECK(engines[i] == BLOOMLINE_OK && older[i] == BLOOMLINE_OK);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) CHECK_OK(columns[i]);
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) CHECK_OK(statuses[i]);
    bloomline_filter_free(filter);
    bloomline_filter_free(other);
    bloomline_builder_free(builder);
}

int main(void)
{
    check_begin("test_alloc_none");
    allocations.first_failed = mmap(NULL, sizeof(size_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(allocations.first_failed != MAP_FAILED);
    RUN(what_allocates_nothing);
    return check_end();
}
