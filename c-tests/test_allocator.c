/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_allocator.c - bloomline_set_allocator(): lines of every kind come from it, need not be zeroed,
 * and go back to the one they came from with the size that was asked for; an allocator that fails at
 * its n-th call makes a status, loses nothing and no key; NULL restores the default. All memory of a
 * build that grows with its keys comes from it: the functions of the system, which are wrapped, are
 * asked for none.
 */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700

#include "check.h"
#include "files.h"
#include "probes.h"
#include "kinds.h"

/* The largest allocation of the system's while this is watched. */
static struct {
    bool watched;
    size_t largest;
} of_the_system;

static bool fails(size_t size)
{
    if (of_the_system.watched && size > of_the_system.largest) of_the_system.largest = size;
    return false;
}

#include "wrapped.h"

enum { MOST = 4096 };

typedef struct {
    struct {
        void *memory;
        size_t size;
    } live[MOST];
    size_t count, bytes, peak, calls, wrong, fail_at, odd_at; /* 0: never */
} arena;

static void *take(void *context, size_t size, size_t align)
{
    arena *from = context;
    void *memory = NULL;
    from->calls++;
    from->wrong += align != 64 || size == 0 || size % 8 != 0;
    if (from->calls == from->fail_at) return NULL;
    /* Not wrapped: the arena's own. */
    REQUIRE(from->count < MOST && __real_posix_memalign(&memory, 64, size + 64) == 0);
    memset(memory, 0xA5, size + 64);
    if (from->calls == from->odd_at) memory = (char *)memory + 8;
    from->live[from->count].memory = memory;
    from->live[from->count++].size = size;
    from->bytes += size;
    if (from->bytes > from->peak) from->peak = from->bytes;
    return memory;
}

static void give(void *context, void *memory, size_t size)
{
    arena *to = context;
    for (size_t i = 0; i < to->count; i++) {
        if (to->live[i].memory != memory) continue;
        to->wrong += to->live[i].size != size;
        to->bytes -= to->live[i].size;
        to->live[i] = to->live[--to->count];
        /* Nothing was written behind it. */
        if ((uintptr_t)memory % 64 == 0) {
            for (size_t byte = 0; byte < 64; byte++) to->wrong += ((uint8_t *)memory)[size + byte] != 0xA5;
        }
        free((char *)memory - (uintptr_t)memory % 64);
        return;
    }
    to->wrong++; /* it never gave that */
}

static arena mine, other;
static const bloomline_allocator allocator = {take, give, &mine}, second = {take, give, &other};

static void every_kind_is_made_of_it(void)
{
    EACH_WHOLE(kind) {
        void *plain = filled(kind);
        size_t len, len_here;
        uint8_t *expected = encoded_by(kind, plain, &len);
        kind->destroy(plain);
        CHECK_U64(0, mine.calls);

        REQUIRE_OK(bloomline_set_allocator(&allocator));
        void *filter = filled(kind), *copy = NULL, *decoded = NULL;
        REQUIRE(filter != NULL);
        CHECK_WITH(mine.count >= 1 && mine.bytes >= 256, "%s", kind->name);
        /* Growing filters count the tables beside their lines, too, which are of the handle. */
        size_t tables = kind->kind == BLOOMLINE_KIND_GROWING ? kind->memory(filter) - mine.bytes : 0;
        CHECK_WITH(kind->memory(filter) == mine.bytes + tables && tables < 1000, "%s: %zu of %zu", kind->name, kind->memory(filter), mine.bytes);
        uint8_t *here = encoded_by(kind, filter, &len_here);
        CHECK_WITH(len == len_here && memcmp(expected, here, len) == 0, "%s", kind->name);
        size_t before = mine.count;
        REQUIRE_OK(kind->clone(filter, &copy));
        REQUIRE_OK(kind->decode(here, len, &decoded));
        CHECK_WITH(mine.count >= before + 2, "%s", kind->name);
        CHECK_U64(mine.bytes + 3 * tables, kind->memory(filter) + kind->memory(copy) + kind->memory(decoded));
        CHECK_U64(0, kind->memory(NULL));
        /* Back to where it came from, also when another is set; and that is used from then on. */
        REQUIRE_OK(bloomline_set_allocator(&second));
        kind->destroy(filter);
        kind->destroy(copy);
        CHECK(other.count == 0 && mine.count > 0);
        copy = NULL;
        REQUIRE_OK(kind->clone(decoded, &copy));
        CHECK(other.count > 0);
        REQUIRE_OK(bloomline_set_allocator(NULL));
        kind->destroy(decoded);
        CHECK_WITH(mine.count == 0 && mine.bytes == 0, "%s", kind->name);
        size_t calls = other.calls;
        void *third = NULL;
        REQUIRE_OK(kind->clone(copy, &third)); /* the default again */
        CHECK_U64(calls, other.calls);
        kind->destroy(copy);
        kind->destroy(third);
        CHECK_U64(0, other.count);
        CHECK_U64(0, mine.wrong + other.wrong);
        free(expected), free(here);
        mine = other = (arena){0};
    }
}

static void each_failure_is_a_status(void)
{
    file_name directory = files_begin(), path = files_in(&directory, "filter");
    EACH_WHOLE(kind) {
        void *filter = filled(kind);
        size_t len;
        uint8_t *data = encoded_by(kind, filter, &len);
        REQUIRE_OK(kind->save(filter, path.text));
        REQUIRE_OK(bloomline_set_allocator(&allocator));
        for (int how = 0; how < 3; how++) {
            for (int odd = 0; odd < 2; odd++) {
                bloomline_status status = BLOOMLINE_ERR_OUT_OF_MEMORY;
                size_t at = 0;
                while (status != BLOOMLINE_OK && at < 50) {
                    void *made = NULL;
                    mine = (arena){0};
                    *(odd ? &mine.odd_at : &mine.fail_at) = ++at;
                    status = how == 0 ? kind->clone(filter, &made)
                             : how == 1 ? kind->decode(data, len, &made)
                                        : kind->load(path.text, &made);
                    if (status != BLOOMLINE_OK) {
                        CHECK_STATUS(BLOOMLINE_ERR_OUT_OF_MEMORY, status);
                        CHECK(made == NULL && mine.count == 0);
                    } else {
                        REQUIRE(made != NULL);
                        kind->destroy(made);
                    }
                    CHECK_U64(0, mine.count + mine.wrong);
                }
                CHECK_WITH(status == BLOOMLINE_OK && at > 1, "%s", kind->name);
            }
        }
        mine = (arena){0};
        REQUIRE_OK(bloomline_set_allocator(NULL));
        kind->destroy(filter);
        free(data);
    }
    remove(path.text);
    remove(directory.text);
}

/* Pages of the system are counted as they are taken: whole huge pages that waste at most a tenth. */
static void memory_of_large_filters(void)
{
    static const uint64_t lines[] = {1, 100, 1 << 15, (1 << 15) + 1, 1 << 16, 10 * (1 << 15) + 1};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const bloomline_params params = {lines[i], 6, 0, 3};
        bloomline_filter *filter = NULL;
        REQUIRE_OK(bloomline_filter_new(&params, &filter));
        size_t bytes = lines[i] * 64, memory = bloomline_filter_memory(filter);
        CHECK(memory >= bytes && memory <= bytes + bytes / 10 + 65536);
        CHECK(bytes >= 2 << 20 ? memory % 4096 == 0 : memory == bytes);
        bloomline_filter_free(filter);
    }
    /* A cascade and static layers; a scalable filter that grows. */
    uint64_t hashes[2000];
    bloomline_cascade *cascade = NULL;
    bloomline_scalable *scalable = NULL;
    for (uint64_t i = 0; i < 2000; i++) hashes[i] = bloomline_hash_u64(i, 1);
    REQUIRE_OK(bloomline_set_allocator(&allocator));
    REQUIRE_OK(bloomline_cascade_new(hashes, 1000, hashes + 1000, 1000, 0, 1, 1, &cascade));
    CHECK_U64(mine.bytes, bloomline_cascade_memory(cascade));
    bloomline_cascade_facts facts;
    REQUIRE_OK(bloomline_cascade_about(cascade, &facts));
    CHECK_U64(64 * facts.line_count, bloomline_cascade_memory(cascade));
    bloomline_cascade_free(cascade);
    REQUIRE_OK(bloomline_scalable_new(32, 0.01, 3, &scalable));
    for (size_t i = 0; i < 2000; i++) {
        CHECK_OK(bloomline_scalable_insert_hash(scalable, hashes[i], NULL));
        CHECK_U64(mine.bytes, bloomline_scalable_memory(scalable));
    }
    CHECK(scalable_about(scalable).stage_count > 3 && mine.wrong == 0);
    bloomline_scalable_free(scalable);
    CHECK_U64(0, mine.bytes + bloomline_cascade_memory(NULL));
    REQUIRE_OK(bloomline_set_allocator(NULL));
    mine = (arena){0};
}

/* Growing, folding, sharing and publishing: what changes hands stays with its allocator. */
static void what_changes_hands(void)
{
    const bloomline_params params = {1 << 17, 6, 0, 3}; /* 8 MiB, which would be mapped */
    bloomline_filter *filter = NULL;
    bloomline_concurrent *shared = NULL;
    bloomline_swap *swap = NULL;
    REQUIRE_OK(bloomline_set_allocator(&allocator));
    REQUIRE_OK(bloomline_filter_new(&params, &filter));
    CHECK_U64(8 << 20, mine.bytes);
    for (uint64_t i = 0; i < 1000; i++) bloomline_filter_insert_hash(filter, bloomline_hash_u64(i, 1));
    mine.fail_at = mine.calls + 1;
    CHECK_STATUS(BLOOMLINE_ERR_OUT_OF_MEMORY, bloomline_filter_fold(filter));
    CHECK_U64(8 << 20, mine.bytes);
    CHECK_OK(bloomline_filter_fold(filter));
    CHECK_U64(4 << 20, mine.bytes);
    REQUIRE_OK(bloomline_set_allocator(NULL));
    REQUIRE_OK(bloomline_concurrent_new(&filter, &shared));
    CHECK_U64(mine.bytes, bloomline_concurrent_memory(shared));
    CHECK_U64(0, bloomline_concurrent_memory(NULL));
    for (uint64_t i = 0; i < 1000; i++) CHECK(concurrent_contains_hash(shared, bloomline_hash_u64(i, 1)));
    REQUIRE_OK(bloomline_concurrent_snapshot(shared, &filter)); /* by the default */
    CHECK_U64(4 << 20, mine.bytes);
    bloomline_concurrent_free(shared);
    CHECK_U64(0, mine.count);
    REQUIRE_OK(bloomline_swap_new(&filter, &swap));
    bloomline_swap_free(swap);

    bloomline_scalable *scalable = NULL;
    REQUIRE_OK(bloomline_set_allocator(&allocator));
    REQUIRE_OK(bloomline_scalable_new(32, 0.01, 0, &scalable));
    size_t failed = 0;
    for (uint64_t i = 0; i < 2000; i++) {
        if (i % 7 == 0) mine.fail_at = mine.calls + 1;
        bool is_new = false;
        bloomline_status status = bloomline_scalable_insert_hash(scalable, bloomline_hash_u64(i, 1), &is_new);
        CHECK(status == BLOOMLINE_OK || (status == BLOOMLINE_ERR_OUT_OF_MEMORY && is_new));
        failed += status != BLOOMLINE_OK;
    }
    CHECK(failed > 0 && scalable_about(scalable).stage_count > 3);
    for (uint64_t i = 0; i < 2000; i++) CHECK(scalable_contains_hash(scalable, bloomline_hash_u64(i, 1)));
    bloomline_scalable_free(scalable);
    REQUIRE_OK(bloomline_set_allocator(NULL));
    CHECK_U64(0, mine.count + mine.wrong);
    mine = (arena){0};
}

enum { BUILT = 200000 };

static uint64_t built[BUILT];
static uint8_t block[BUILT * 4];

static bloomline_status build_static(size_t threads)
{
    size_t written;
    return bloomline_static_block_build(built, BUILT, 0.01, 3, threads, block, sizeof block, &written);
}

static bloomline_status build_cascade(size_t threads)
{
    bloomline_cascade *cascade = NULL;
    bloomline_status status =
        bloomline_cascade_new(built, BUILT / 2, built + BUILT / 2, BUILT / 2, 0, 3, threads, &cascade);
    CHECK((status == BLOOMLINE_OK) == (cascade != NULL));
    bloomline_cascade_free(cascade);
    return status;
}

static bloomline_status build_by(bloomline_builder *builder)
{
    size_t written;
    bloomline_status status = bloomline_builder_add_hashes(builder, built, BUILT / 2);
    for (size_t i = BUILT / 2; i < BUILT && status == BLOOMLINE_OK; i++) {
        status = bloomline_builder_add_hash(builder, built[i]);
    }
    if (status == BLOOMLINE_OK) status = bloomline_builder_finish(builder, block, sizeof block, &written);
    bloomline_builder_free(builder);
    return status;
}

static bloomline_status build_by_builder(size_t threads)
{
    bloomline_builder *builder = NULL;
    (void)threads;
    REQUIRE_OK(bloomline_builder_new_for_rate(0.01, 3, &builder));
    return build_by(builder);
}

static bloomline_status build_by_static_builder(size_t threads)
{
    bloomline_builder *builder = NULL;
    (void)threads;
    REQUIRE_OK(bloomline_builder_new_static(0.01, 3, &builder));
    return build_by(builder);
}

/* 'least' bytes for each key, at the peak. Each of its allocations fails once. */
static void build(const char *name, bloomline_status (*make)(size_t threads), size_t least)
{
    for (size_t threads = 1; threads <= 3; threads += 2) {
        bloomline_status status = BLOOMLINE_ERR_OUT_OF_MEMORY;
        size_t at = 0;
        REQUIRE_OK(bloomline_set_allocator(&allocator));
        while (status != BLOOMLINE_OK && at < 200) {
            mine = (arena){.fail_at = ++at};
            of_the_system.watched = true;
            of_the_system.largest = 0;
            status = make(threads);
            of_the_system.watched = false;
            CHECK_WITH(status == BLOOMLINE_OK || status == BLOOMLINE_ERR_OUT_OF_MEMORY, "%s: %s", name,
                       bloomline_status_message(status));
            CHECK_WITH(of_the_system.largest < BUILT / 4, "%s: %zu bytes by the system", name, of_the_system.largest);
            CHECK_U64(0, mine.count + mine.bytes + mine.wrong);
        }
        CHECK_WITH(status == BLOOMLINE_OK && at > 2, "%s", name);
        CHECK_WITH(mine.peak >= least * BUILT, "%s: %zu bytes", name, mine.peak);
        REQUIRE_OK(bloomline_set_allocator(NULL));
        mine = (arena){0};
        CHECK_OK(make(threads));
        CHECK_U64(0, mine.calls);
    }
}

static void builds_take_all_memory_from_it(void)
{
    for (size_t i = 0; i < BUILT; i++) built[i] = bloomline_hash_u64(i, 3);
    build("static block", build_static, 8);
    build("cascade", build_cascade, 4); /* 8 for each included key */
    build("builder", build_by_builder, 8);
    build("static builder", build_by_static_builder, 16);
}

static void null_functions_change_nothing(void)
{
    const bloomline_allocator without[] = {{NULL, give, &other}, {take, NULL, &other}, {NULL, NULL, &other}};
    bloomline_filter *filter = NULL;
    REQUIRE_OK(bloomline_set_allocator(&allocator));
    for (size_t i = 0; i < 3; i++) CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_set_allocator(&without[i]));
    REQUIRE_OK(bloomline_filter_new(&whole_params, &filter));
    CHECK(mine.count == 1 && other.calls == 0);
    bloomline_filter_free(filter);
    CHECK_OK(bloomline_set_allocator(NULL));
    CHECK_OK(bloomline_set_allocator(NULL));
    CHECK_U64(0, mine.count + mine.wrong);
    mine = (arena){0};
}

int main(void)
{
    check_begin("test_allocator");
    RUN(every_kind_is_made_of_it);
    RUN(each_failure_is_a_status);
    RUN(memory_of_large_filters);
    RUN(what_changes_hands);
    RUN(builds_take_all_memory_from_it);
    RUN(null_functions_change_nothing);
    return check_end();
}
