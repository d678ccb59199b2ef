/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_memory.c - when the system has no more memory, that is a status: under a limit on
 * the address space (setrlimit), large filters cannot be made, decoded, loaded, mapped or
 * folded, a builder cannot grow; and the process goes on, with what it had. Linux.
 *
 * Not for AddressSanitizer and valgrind, which need address space of their own; the
 * allocations are failed one by one, also for those, in test_alloc.c.
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "definition.h"
#include "files.h"
#include "probes.h"

#include <sys/resource.h>

#define MIB ((size_t)1 << 20)

static const bloomline_params of_64_mib = {MIB, 6, 0, 0};
enum { KEYS = 1000 };

/* Leaves the process so many bytes of address space more than it has. */
static void leave(size_t bytes)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    REQUIRE(file != NULL && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    struct rlimit limit;
    REQUIRE(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = (rlim_t)(pages * (unsigned long)sysconf(_SC_PAGESIZE) + bytes);
    REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
}

static void leave_all(void)
{
    struct rlimit limit;
    REQUIRE(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = limit.rlim_max;
    REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
}

static void check_keys(const bloomline_filter *filter)
{
    for (uint64_t i = 0; i < KEYS; i++) CHECK(bloomline_filter_contains_hash(filter, bloomline_hash_u64(i, 0)));
}

static bloomline_filter *large_filter(void)
{
    bloomline_filter *filter = NULL;
    REQUIRE_OK(bloomline_filter_new(&of_64_mib, &filter));
    for (uint64_t i = 0; i < KEYS; i++) bloomline_filter_insert_hash(filter, bloomline_hash_u64(i, 0));
    return filter;
}

static void a_large_filter_cannot_be_made(void)
{
    bloomline_filter *filter = NULL;
    leave(32 * MIB);
    CHECK_STATUS(BLOOMLINE_ERR_OUT_OF_MEMORY, bloomline_filter_new(&of_64_mib, &filter));
    CHECK(filter == NULL);
    bloomline_params small = {100, 6, 0, 0};
    CHECK_OK(bloomline_filter_new(&small, &filter)); /* the process lives on */
    bloomline_filter_insert(filter, "apple", 5);
    CHECK(bloomline_filter_contains(filter, "apple", 5));
    bloomline_filter_free(filter);
    leave_all();
    filter = large_filter();
    check_keys(filter);
    bloomline_filter_free(filter);
}

/* Of the size that comes from malloc, until there is no more; then all is given back. */
static void many_small_filters(void)
{
    enum { MOST = 1000 };
    static bloomline_filter *filters[MOST];
    const bloomline_params of_half_a_mib = {1 << 13, 6, 0, 0};
    bloomline_status status = BLOOMLINE_OK;
    size_t made = 0;
    leave(32 * MIB);
    while (made < MOST && (status = bloomline_filter_new(&of_half_a_mib, &filters[made])) == BLOOMLINE_OK) made++;
    CHECK_STATUS(BLOOMLINE_ERR_OUT_OF_MEMORY, status);
    CHECK(made > 8 && made < 100);
    for (size_t i = 0; i < made; i++) {
        bloomline_filter_insert_hash(filters[i], 12345);
        CHECK(bloomline_filter_contains_hash(filters[i], 12345));
        CHECK(!bloomline_filter_contains_hash(filters[i], 1));
        bloomline_filter_free(filters[i]);
    }
    CHECK_OK(bloomline_filter_new(&of_half_a_mib, &filters[0]));
    bloomline_filter_free(filters[0]);
    leave_all();
}

static void a_large_filter_cannot_be_read(void)
{
    file_name directory = files_begin(), path = files_in(&directory, "filter");
    bloomline_filter *filter = large_filter(), *made = NULL;
    bloomline_map *map = NULL;
    bloomline_view view;
    size_t len = bloomline_filter_encoded_len(filter);
    uint8_t *data = malloc(len);
    REQUIRE(data != NULL);
    CHECK_OK(bloomline_filter_encode(filter, data, len, NULL));
    leave(16 * MIB);
    /* To save takes no second filter's worth of memory. */
    CHECK_OK(bloomline_filter_save(filter, path.text));
    CHECK_STATUS(BLOOMLINE_ERR_OUT_OF_MEMORY, bloomline_filter_decode(data, len, &made));
    CHECK_STATUS(BLOOMLINE_ERR_OUT_OF_MEMORY, bloomline_filter_load(path.text, &made));
    CHECK_STATUS(BLOOMLINE_ERR_OUT_OF_MEMORY, bloomline_map_open(path.text, 0, &map));
    CHECK_STATUS(BLOOMLINE_ERR_OUT_OF_MEMORY, bloomline_map_open(path.text, BLOOMLINE_MAP_UNVERIFIED, &map));
    CHECK_STATUS(BLOOMLINE_ERR_OUT_OF_MEMORY, bloomline_map_open(path.text, BLOOMLINE_MAP_COPY, &map));
    CHECK_STATUS(BLOOMLINE_ERR_OUT_OF_MEMORY, bloomline_map_bytes(data, len, BLOOMLINE_MAP_COPY, &map));
    CHECK(made == NULL && map == NULL);
    /* A view takes none. */
    CHECK_OK(bloomline_view_open(data, len, 0, &view));
    for (uint64_t i = 0; i < KEYS; i++) CHECK(bloomline_view_contains_hash(&view, bloomline_hash_u64(i, 0)));
    check_keys(filter);
    leave_all();
    CHECK_OK(bloomline_filter_load(path.text, &made));
    check_keys(made);
    CHECK_OK(bloomline_map_open(path.text, 0, &map));
    bloomline_map_close(map);
    bloomline_filter_free(made);
    bloomline_filter_free(filter);
    free(data);
    CHECK(unlink(path.text) == 0 && rmdir(directory.text) == 0);
}

static void a_large_filter_cannot_be_folded(void)
{
    bloomline_filter *filter = large_filter();
    bloomline_params params;
    leave(16 * MIB);
    CHECK_STATUS(BLOOMLINE_ERR_OUT_OF_MEMORY, bloomline_filter_fold(filter));
    CHECK_OK(filter_params(filter, &params));
    CHECK_U64(of_64_mib.line_count, params.line_count);
    CHECK_U64(KEYS, filter_key_count(filter));
    check_keys(filter);
    uint32_t folds = 77;
    CHECK_STATUS(BLOOMLINE_ERR_OUT_OF_MEMORY, bloomline_filter_fold_to_rate(filter, 0.01, &folds));
    CHECK_U64(77, folds);
    check_keys(filter);
    leave_all();
    CHECK_OK(bloomline_filter_fold(filter));
    check_keys(filter);
    bloomline_filter_free(filter);
}

static void a_builder_keeps_what_it_has(void)
{
    enum { ROOM = 64 << 20 };
    uint8_t *block = malloc(ROOM);
    bloomline_builder *builder = NULL;
    bloomline_view view;
    REQUIRE(block != NULL);
    REQUIRE_OK(bloomline_builder_new(10, 0, &builder));
    leave(96 * MIB);
    uint64_t keys = 0;
    bloomline_status status = BLOOMLINE_OK;
    while (keys < 100000000 && (status = bloomline_builder_add_hash(builder, bloomline_hash_u64(keys, 0))) == BLOOMLINE_OK) {
        keys++;
    }
    CHECK_STATUS(BLOOMLINE_ERR_OUT_OF_MEMORY, status);
    CHECK(keys > 1000000);
    CHECK_STATUS(BLOOMLINE_ERR_OUT_OF_MEMORY, bloomline_builder_add(builder, "apple", 5));
    CHECK_U64(keys, bloomline_builder_key_count(builder));
    size_t len = bloomline_builder_block_len(builder);
    REQUIRE(len <= ROOM);
    CHECK_OK(bloomline_builder_finish(builder, block, ROOM, NULL));
    CHECK_OK(bloomline_view_open(block, len, 0, &view));
    uint64_t lost = 0;
    for (uint64_t i = 0; i < keys; i++) lost += !bloomline_view_contains_hash(&view, bloomline_hash_u64(i, 0));
    CHECK_U64(0, lost);
    /* Empty, and ready for more. */
    CHECK_OK(bloomline_builder_add(builder, "apple", 5));
    CHECK_U64(1, bloomline_builder_key_count(builder));
    bloomline_builder_free(builder);
    leave_all();
    free(block);
}

int main(void)
{
    check_begin("test_memory");
    RUN(a_large_filter_cannot_be_made);
    RUN(many_small_filters);
    RUN(a_large_filter_cannot_be_read);
    RUN(a_large_filter_cannot_be_folded);
    RUN(a_builder_keeps_what_it_has);
    return check_end();
}
