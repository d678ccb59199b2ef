/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_backend_choice.c - BLOOMLINE_BACKEND and BLOOMLINE_PREFETCH, as they were when the program
 * was loaded: empty, or a name that there is not. Then nothing can be made, outputs stay as they
 * are, and every key may be present. Run with each by the Makefile.
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "definition.h"

static const bloomline_params good = {3, 6, 0, 5};

/* Which of the two variables is wrong. */
static bloomline_status nothing(void)
{
    const char *prefetch = getenv("BLOOMLINE_PREFETCH");
    return prefetch != NULL && strcmp(prefetch, "FAR") == 0 ? BLOOMLINE_ERR_PREFETCH : BLOOMLINE_ERR_BACKEND;
}

static void nothing_can_be_made_without_a_backend(void)
{
    const bloomline_status none = nothing();
    bloomline_filter *filter = NULL;
    bloomline_view view;
    uint8_t data[2 * LINE_BYTES] = {0};
    uint64_t hash = 1, bitmap;
    definition_finish(data, 1, 6, 0, 0);
    CHECK(strcmp(bloomline_backend(), "none") == 0);
    CHECK_STATUS(none, bloomline_filter_new(&good, &filter));
    CHECK_STATUS(none, bloomline_filter_decode(data, sizeof data, &filter));
    CHECK(filter == NULL);
    CHECK_STATUS(none, bloomline_view_open(data, sizeof data, 0, &view));
    CHECK_STATUS(none, bloomline_view_open(data, sizeof data, BLOOMLINE_VIEW_UNVERIFIED, &view));
    memset(&view, 0, sizeof view);
    CHECK(bloomline_view_contains(&view, "apple", 5));
    CHECK_U64(1, bloomline_view_contains_hashes(&view, &hash, 1, &bitmap));
    CHECK_U64(1, bloomline_views_contain_hash(&view, 1, 1, &bitmap));
    CHECK_U64(1, bitmap);
}

static void outputs_stay_as_they_are(void)
{
    const bloomline_status none = nothing();
    uint8_t block[4 * LINE_BYTES + 5], before[sizeof block];
    uint64_t hash = 1;
    size_t written = 77;
    memset(block, 0xA5, sizeof block);
    memcpy(before, block, sizeof block);
    CHECK_STATUS(none, bloomline_block_build(&good, &hash, 1, block, sizeof block));
    CHECK_STATUS(none, bloomline_lines_insert_hashes(&good, block, sizeof block, &hash, 1));
    CHECK_STATUS(none, bloomline_engine_block_build(BLOOMLINE_ENGINE_ROCKSDB, &hash, 1, 10, block, sizeof block, &written));
    CHECK_STATUS(none, bloomline_engine_block_build(BLOOMLINE_ENGINE_ROCKSDB_LEGACY, &hash, 1, 10, block, sizeof block, &written));
    CHECK_STATUS(none, bloomline_engine_block_build(BLOOMLINE_ENGINE_LEVELDB, &hash, 1, 10, block, sizeof block, &written));
    CHECK_STATUS(none, bloomline_engine_block_build(BLOOMLINE_ENGINE_PARQUET, &hash, 1, 10, block, sizeof block, &written));
    CHECK_STATUS(none, bloomline_parquet_insert_hashes(block, 64, &hash, 1));
    CHECK(memcmp(block, before, sizeof block) == 0);
    CHECK_U64(77, written);
}

/* An empty variable is as good as none. */
static void all_can_be_made(void)
{
    bloomline_filter *filter = NULL;
    CHECK(strcmp(bloomline_backend(), "none") != 0);
    CHECK_OK(bloomline_filter_new(&good, &filter));
    bloomline_filter_free(filter);
}

/* The environment is read once, when the library is loaded. */
static void what_is_set_later_changes_nothing(void)
{
    const char *backend = bloomline_backend();
    REQUIRE(setenv("BLOOMLINE_BACKEND", "another", 1) == 0 && setenv("BLOOMLINE_PREFETCH", "another", 1) == 0);
    CHECK(bloomline_backend() == backend);
}

int main(void)
{
    const char *asked = getenv("BLOOMLINE_BACKEND"), *prefetch = getenv("BLOOMLINE_PREFETCH");
    REQUIRE(asked != NULL);
    if (prefetch == NULL) prefetch = "";
    printf("BLOOMLINE_BACKEND='%s' BLOOMLINE_PREFETCH='%s': ", asked, prefetch);
    check_begin("test_backend_choice");
    if (*asked == '\0' && strcmp(prefetch, "FAR") != 0) {
        RUN(all_can_be_made);
    } else {
        RUN(nothing_can_be_made_without_a_backend);
        RUN(outputs_stay_as_they_are);
    }
    RUN(what_is_set_later_changes_nothing);
    return check_end();
}
