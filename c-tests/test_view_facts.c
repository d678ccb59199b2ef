/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_view_facts.c - what a view tells besides answers: its lines, its fill ratio, how many keys are
 * present and its parameters; of every handle that has views, of opened bytes, and of none.
 */
#include "check.h"
#include "definition.h"
#include "probes.h"

enum { LINES = 40, KEYS = 1500, ROOM = (LINES + 1) * 320 };

static const bloomline_params params = {LINES, 6, 0, 3};
static const bloomline_cuckoo_params of_cuckoo = {LINES, 12, 0, 3};
static uint64_t hashes[KEYS];
static uint8_t encoded[ROOM];

static double fill_of(const uint8_t *data, size_t len)
{
    uint64_t ones = 0;
    for (size_t i = 0; i < len; i++) {
        for (unsigned bits = data[i]; bits != 0; bits >>= 1) ones += bits & 1;
    }
    return (double)ones / (double)(8 * len);
}

/* The lines of a view are the first bytes of the encoded filter. */
static void check_lines(const bloomline_view *view, size_t len)
{
    size_t found = 99;
    const void *lines = bloomline_view_lines(view, &found);
    CHECK_U64(len, found);
    REQUIRE(lines != NULL && found == len);
    CHECK(memcmp(lines, encoded, len) == 0);
    CHECK(bloomline_view_lines(view, NULL) == lines);
}

static void handles(void)
{
    bloomline_filter *filter = NULL, *snapshot = NULL;
    bloomline_params seen;
    bloomline_view view;
    for (int classic = 0; classic < 2; classic++) {
        REQUIRE_OK(classic ? classic_new(&params, &filter) : bloomline_filter_new(&params, &filter));
        CHECK_NEAR(0, filter_fill(filter), 0);
        CHECK_NEAR(0, filter_estimated_keys(filter), 0);
        bloomline_filter_insert_hashes(filter, hashes, KEYS);
        REQUIRE_OK(bloomline_filter_encode(filter, encoded, sizeof encoded, NULL));
        CHECK_OK(bloomline_filter_view(filter, &view));
        check_lines(&view, LINES * LINE_BYTES);
        CHECK_NEAR(fill_of(encoded, LINES * LINE_BYTES), view_about(&view).fill, 1e-12);
        CHECK_NEAR(KEYS, view_about(&view).estimated_keys, KEYS * 0.04);
        CHECK_OK(bloomline_view_shape(&view, &seen));
        CHECK_U64(classic ? BLOOMLINE_KIND_CLASSIC : 0, seen.layout);
        seen.layout = 0;
        CHECK(memcmp(&seen, &params, sizeof seen) == 0);

        /* Opened where they lie. */
        CHECK_OK(bloomline_view_open(encoded, (LINES + 1) * LINE_BYTES, 0, &view));
        CHECK(bloomline_view_lines(&view, NULL) == encoded);
        check_lines(&view, LINES * LINE_BYTES);

        /* Shared by threads: the same view sees what is inserted later. */
        bloomline_concurrent *shared = NULL;
        REQUIRE_OK(bloomline_concurrent_new(&filter, &shared));
        CHECK_OK(bloomline_concurrent_view(shared, &view));
        check_lines(&view, LINES * LINE_BYTES);
        uint64_t absent = 0;
        while (bloomline_view_contains_hash(&view, bloomline_hash_u64(absent, 9))) absent++;
        double before = view_about(&view).fill, keys_before = view_about(&view).estimated_keys;
        CHECK(bloomline_concurrent_insert_hash(shared, bloomline_hash_u64(absent, 9)));
        CHECK(bloomline_view_contains_hash(&view, bloomline_hash_u64(absent, 9)));
        CHECK(view_about(&view).fill > before && view_about(&view).estimated_keys > keys_before);
        REQUIRE_OK(bloomline_concurrent_snapshot(shared, &snapshot));
        CHECK_NEAR(filter_fill(snapshot), view_about(&view).fill, 1e-12);
        CHECK_NEAR(filter_estimated_keys(snapshot), view_about(&view).estimated_keys, 1e-9);
        CHECK_U64(0, bloomline_view_key_count(&view));
        bloomline_filter_free(snapshot);
        bloomline_concurrent_free(shared);
        filter = NULL;
    }

    bloomline_counting *counting = NULL;
    REQUIRE_OK(bloomline_counting_new(&params, &counting));
    bloomline_counting_insert_hashes(counting, hashes, KEYS, NULL);
    REQUIRE_OK(bloomline_counting_encode(counting, encoded, sizeof encoded, NULL));
    CHECK_OK(counting_view(counting, &view));
    check_lines(&view, LINES * LINE_BYTES); /* not the counters */
    CHECK_NEAR(fill_of(encoded, LINES * LINE_BYTES), view_about(&view).fill, 1e-12);
    bloomline_counting_free(counting);

    bloomline_cuckoo *cuckoo = NULL;
    REQUIRE_OK(bloomline_cuckoo_new(&of_cuckoo, &cuckoo));
    CHECK_OK(bloomline_cuckoo_insert_hashes(cuckoo, hashes, KEYS / 2, NULL));
    REQUIRE_OK(bloomline_cuckoo_encode(cuckoo, encoded, sizeof encoded, NULL));
    CHECK_OK(bloomline_cuckoo_view(cuckoo, &view));
    check_lines(&view, LINES * LINE_BYTES);
    CHECK_NEAR((double)(KEYS / 2) / (LINES * 40), view_about(&view).fill, 1e-12); /* its load factor */
    CHECK_NEAR(KEYS / 2, view_about(&view).estimated_keys, 0);
    CHECK_OK(bloomline_view_shape(&view, &seen));
    CHECK(seen.line_count == of_cuckoo.line_count && seen.k == of_cuckoo.fingerprint_bits &&
          seen.layout == BLOOMLINE_KIND_CUCKOO && seen.seed == of_cuckoo.seed);
    bloomline_cuckoo_free(cuckoo);

    /* Of a static filter at 2^-7: its rows, and the lines of its first level. */
    size_t len = 0, lines_len = 0;
    REQUIRE_OK(bloomline_static_block_build(hashes, KEYS, 0.01, 3, 1, encoded, sizeof encoded, &len));
    REQUIRE_OK(bloomline_view_open(encoded, len, 0, &view));
    CHECK_OK(bloomline_view_shape(&view, &seen));
    CHECK(bloomline_view_lines(&view, &lines_len) != NULL && lines_len <= len);
    CHECK(seen.k == 7 && seen.layout == BLOOMLINE_KIND_STATIC && seen.seed == 3);
    CHECK(seen.line_count > 0 && seen.line_count * LINE_BYTES <= lines_len);
}

static void bytes_at_any_address(void)
{
    uint8_t moved[LINES * LINE_BYTES + 8];
    bloomline_view view;
    memset(moved, 0, sizeof moved);
    for (size_t offset = 0; offset < 8; offset++) {
        memset(moved, 0, sizeof moved);
        CHECK_OK(bloomline_lines_insert_hashes(&params, moved + offset, LINES * LINE_BYTES, hashes, KEYS));
        CHECK_OK(bloomline_lines_view(&params, moved + offset, LINES * LINE_BYTES, &view));
        CHECK(bloomline_view_lines(&view, NULL) == moved + offset);
        CHECK_NEAR(fill_of(moved + offset, LINES * LINE_BYTES), view_about(&view).fill, 1e-12);
        CHECK_NEAR(KEYS, view_about(&view).estimated_keys, KEYS * 0.04);
    }
}

/* Filters of other engines have a fill and an estimate too, and no parameters. */
static void other_engines(void)
{
    size_t len = 0;
    bloomline_view view;
    bloomline_params seen = params;
    static uint8_t block[ROOM];
    for (int leveldb = 0; leveldb < 2; leveldb++) {
        if (leveldb) {
            REQUIRE_OK(bloomline_engine_block_build(BLOOMLINE_ENGINE_LEVELDB, hashes, KEYS, 10, block, sizeof block, &len));
            REQUIRE_OK(bloomline_view_open_engine(BLOOMLINE_ENGINE_LEVELDB, block, len, &view));
        } else {
            REQUIRE_OK(bloomline_engine_block_build(BLOOMLINE_ENGINE_ROCKSDB, hashes, KEYS, 10, block, sizeof block, &len));
            REQUIRE_OK(bloomline_view_open_engine(BLOOMLINE_ENGINE_ROCKSDB, block, len, &view));
        }
        size_t probed = 0;
        CHECK(bloomline_view_lines(&view, &probed) == block);
        CHECK(probed < len && probed + 64 > len);
        CHECK_NEAR(fill_of(block, probed), view_about(&view).fill, 1e-12);
        CHECK_NEAR(KEYS, view_about(&view).estimated_keys, KEYS * 0.06);
        CHECK_STATUS(BLOOMLINE_ERR_LAYOUT, bloomline_view_shape(&view, &seen));
        CHECK(memcmp(&seen, &params, sizeof seen) == 0);
    }
}

static void none(void)
{
    bloomline_view unopened;
    bloomline_params seen = params;
    memset(&unopened, 0, sizeof unopened);
    for (int i = 0; i < 2; i++) {
        const bloomline_view *view = i == 0 ? NULL : &unopened;
        size_t len = 99;
        CHECK(bloomline_view_lines(view, &len) == NULL && bloomline_view_lines(view, NULL) == NULL);
        CHECK_U64(0, len);
        bloomline_status status = i == 0 ? BLOOMLINE_ERR_NULL : BLOOMLINE_ERR_NOT_A_FILTER;
        bloomline_view_facts facts = {2, 3, 4, 5};
        CHECK_STATUS(status, bloomline_view_about(view, &facts));
        CHECK(facts.fill == 2 && facts.estimated_keys == 3 && facts.estimated_rate == 4 && facts.worst_line_rate == 5);
        CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_view_about(view, NULL));
        CHECK_STATUS(status, bloomline_view_shape(view, &seen));
        CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_view_shape(view, NULL));
    }
    CHECK(memcmp(&seen, &params, sizeof seen) == 0);
    bloomline_concurrent *shared = NULL;
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_concurrent_view(NULL, &unopened));
    REQUIRE_OK(concurrent_new(&params, &shared));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_concurrent_view(shared, NULL));
    bloomline_concurrent_free(shared);
}

int main(void)
{
    check_begin("test_view_facts");
    for (size_t i = 0; i < KEYS; i++) hashes[i] = bloomline_hash_u64(i, 3);
    RUN(handles);
    RUN(bytes_at_any_address);
    RUN(other_engines);
    RUN(none);
    return check_end();
}
