/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_concurrent.c - bloomline_concurrent: threads insert into one filter, probe it, save it and
 * snapshots of it, all at once; each sees its own inserts, none is lost, and the
 * bytes are those of the definition. So do classic filters, and threads that set bits in lines of
 * their own, by atomics, while others probe bloomline_lines_view(). And one thread alone: unions, NULL,
 * statuses; the histories have its answers. To be run under ThreadSanitizer too.
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "probes.h"
#include "definition.h"
#include "files.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, KEYS = 4000, LINES = 300, BATCH = 100 };

static const bloomline_params params = {LINES, 6, 0, 3};
static const bloomline_concurrent *shared_filter;
static pthread_barrier_t barrier;
static file_name path;
static atomic_ullong inserted[THREADS]; /* how many of its keys each thread has inserted */

/* Threads count what they find wrong; the checks are made when they are done. */
typedef struct {
    pthread_t thread;
    uint64_t number, wrong, checks;
} worker;

/* Key 'i' of a thread. Those of THREADS belong to all. */
static uint64_t hash_of(uint64_t thread, uint64_t i)
{
    return bloomline_hash_u64(thread << 32 | i, 1);
}

/* What reads all lines while others insert. */
static bool rates_are_sound(const bloomline_view *view)
{
    double rate = view_about(view).estimated_rate, worst = view_about(view).worst_line_rate;
    return view_about(view).fill > 0 && rate >= 0 && rate <= 1 && worst >= 0 && worst <= 1;
}

static void *insert_and_probe(void *argument)
{
    worker *me = argument;
    uint64_t bitmap[1], many[BATCH], present[2];
    pthread_barrier_wait(&barrier);
    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t own[2] = {hash_of(me->number, i), hash_of(THREADS, i)};
        if (i % 2 == 0) {
            bloomline_concurrent_insert_hashes(shared_filter, own, 2, i % 4 == 0 ? NULL : bitmap);
        } else {
            bloomline_concurrent_insert_hash(shared_filter, own[0]);
            bloomline_concurrent_insert_hash(shared_filter, own[1]);
        }
        atomic_store(&inserted[me->number], i + 1);
        me->wrong += !concurrent_contains_hash(shared_filter, own[0]);
        me->wrong += concurrent_contains_hashes(shared_filter, own, 2, bitmap) != 2 || bitmap[0] != 3;
        me->wrong += bloomline_concurrent_insert_hash(shared_filter, own[1]); /* not new any more */
        me->wrong += !concurrent_contains_hash(shared_filter, hash_of(me->number, i / 2));
        me->checks += 4;
        if (i >= BATCH && i % 32 == 0) {
            for (uint64_t back = 0; back < BATCH; back++) many[back] = hash_of(me->number, i - back);
            me->wrong += concurrent_contains_hashes(shared_filter, many, BATCH, present) != BATCH;
            bloomline_view view;
            me->wrong += bloomline_concurrent_view(shared_filter, &view) != BLOOMLINE_OK || !rates_are_sound(&view);
            me->checks += 2;
        }
    }
    return NULL;
}

/* It is saved, or a snapshot is, and the file has all keys that were in before. */
static void *save_meanwhile(void *argument)
{
    worker *me = argument;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 20; i++) {
        unsigned long long before[THREADS];
        bloomline_filter *snapshot = NULL, *loaded = NULL;
        for (uint64_t thread = 0; thread < THREADS; thread++) before[thread] = atomic_load(&inserted[thread]);
        if (i % 2 == 0) {
            me->wrong += bloomline_concurrent_save(shared_filter, path.text) != BLOOMLINE_OK;
        } else {
            me->wrong += bloomline_concurrent_snapshot(shared_filter, &snapshot) != BLOOMLINE_OK;
            me->wrong += bloomline_filter_save(snapshot, path.text) != BLOOMLINE_OK;
        }
        me->wrong += bloomline_filter_load(path.text, &loaded) != BLOOMLINE_OK;
        me->wrong += !bloomline_filter_contains_hash(loaded, hash_of(THREADS + 1, 0));
        me->checks += 3;
        for (uint64_t thread = 0; thread < THREADS; thread++) {
            for (uint64_t key = 0; key < before[thread]; key++) {
                me->wrong += !bloomline_filter_contains_hash(loaded, hash_of(thread, key));
                me->checks++;
            }
        }
        bloomline_filter_free(snapshot);
        bloomline_filter_free(loaded);
    }
    return NULL;
}

/* Does 'work' on THREADS threads at once, and 'other', unless it is NULL, on one more; nothing was wrong. */
static void run_threads(void *(*work)(void *), void *(*other)(void *))
{
    worker workers[THREADS + 1];
    const uint64_t count = other == NULL ? THREADS : THREADS + 1;
    REQUIRE(pthread_barrier_init(&barrier, NULL, (unsigned)count) == 0);
    for (uint64_t i = 0; i < count; i++) {
        workers[i] = (worker){.number = i};
        REQUIRE(pthread_create(&workers[i].thread, NULL, i < THREADS ? work : other, &workers[i]) == 0);
    }
    for (uint64_t i = 0; i < count; i++) {
        REQUIRE(pthread_join(workers[i].thread, NULL) == 0);
        CHECK(workers[i].checks > 0);
        CHECK_U64(0, workers[i].wrong);
    }
    pthread_barrier_destroy(&barrier);
}

/* 'expected' is an empty filter of the same shape, which has all keys from one thread afterwards. */
static void threads_insert_into(bloomline_concurrent *filter, bloomline_filter *expected)
{
    file_name directory = files_begin();
    path = files_in(&directory, "snapshot");
    for (int i = 0; i < THREADS; i++) atomic_store(&inserted[i], 0);
    CHECK(bloomline_concurrent_insert_hash(filter, hash_of(THREADS + 1, 0)));
    shared_filter = filter;
    run_threads(insert_and_probe, save_meanwhile);
    CHECK(unlink(path.text) == 0 && rmdir(directory.text) == 0);

    static uint8_t alone[(LINES + 1) * LINE_BYTES], found[(LINES + 1) * LINE_BYTES];
    bloomline_filter_insert_hash(expected, hash_of(THREADS + 1, 0));
    for (uint64_t thread = 0; thread <= THREADS; thread++) {
        for (uint64_t i = 0; i < KEYS; i++) bloomline_filter_insert_hash(expected, hash_of(thread, i));
    }
    bloomline_filter *snapshot = NULL;
    size_t written = 0;
    REQUIRE_OK(bloomline_concurrent_snapshot(filter, &snapshot));
    CHECK_OK(bloomline_filter_encode(snapshot, found, sizeof found, &written));
    CHECK_U64(sizeof found, written);
    CHECK_OK(bloomline_filter_encode(expected, alone, sizeof alone, NULL));
    CHECK(memcmp(alone, found, LINES * LINE_BYTES) == 0);
    CHECK_U64(0, filter_key_count(snapshot));
    bloomline_filter_free(snapshot);
    bloomline_filter_free(expected);
    bloomline_concurrent_free(filter);
}

static void threads_lose_nothing(void)
{
    bloomline_filter *plain = NULL;
    bloomline_concurrent *filter = NULL;
    REQUIRE_OK(bloomline_filter_new(&params, &plain));
    REQUIRE_OK(concurrent_new(&params, &filter));
    threads_insert_into(filter, plain);
}

static void threads_lose_nothing_of_a_classic_filter(void)
{
    bloomline_filter *classic = NULL, *other = NULL;
    bloomline_concurrent *filter = NULL;
    REQUIRE_OK(classic_new(&params, &classic));
    REQUIRE_OK(classic_new(&params, &other));
    REQUIRE_OK(bloomline_concurrent_new(&classic, &filter));
    threads_insert_into(filter, other);
}

static _Alignas(64) atomic_uint_least64_t own_lines[LINES * 8];

/* Sets bits as others must do it: in whole lanes, by atomic operations. */
static void set_bits(uint64_t hash)
{
    uint64_t lanes[8], line = definition_line_index(hash, LINES);
    uint8_t bytes[8];
    definition_mask(hash, params.k, lanes);
    for (unsigned i = 0; i < 8; i++) {
        uint64_t bits;
        put_le(bytes, 8, lanes[i]);
        memcpy(&bits, bytes, 8);
        atomic_fetch_or_explicit(&own_lines[8 * line + i], bits, memory_order_relaxed);
    }
}

static void *set_and_probe(void *argument)
{
    worker *me = argument;
    bloomline_view view;
    uint64_t many[BATCH], present[2];
    me->wrong += bloomline_lines_view(&params, own_lines, sizeof own_lines, &view) != BLOOMLINE_OK;
    pthread_barrier_wait(&barrier);
    for (uint64_t i = 0; i < KEYS; i++) {
        set_bits(hash_of(me->number, i));
        me->wrong += !bloomline_view_contains_hash(&view, hash_of(me->number, i));
        me->wrong += bloomline_view_contains_hashes(&view, many, 0, NULL) != 0;
        bloomline_view_contains_hash(&view, hash_of(me->number + 1, i));
        me->checks += 2;
        if (i < BATCH || i % 32 != 0) continue;
        for (uint64_t back = 0; back < BATCH; back++) many[back] = hash_of(me->number, i - back);
        me->wrong += bloomline_view_contains_hashes(&view, many, BATCH, present) != BATCH;
        me->wrong += bloomline_view_contains_hashes(&view, many, 3, present) != 3;
        me->wrong += !rates_are_sound(&view);
        me->checks += 3;
    }
    return NULL;
}

static void threads_set_bits_in_lines_of_their_own(void)
{
    run_threads(set_and_probe, NULL);
}

static void to_and_from_a_filter(void)
{
    bloomline_filter *plain = NULL, *other = NULL;
    bloomline_concurrent *filter = NULL;
    bloomline_params seen;
    REQUIRE_OK(bloomline_filter_new(&params, &plain));
    REQUIRE_OK(bloomline_filter_new(&params, &other));
    bloomline_filter_insert(plain, "apple", 5);
    bloomline_filter_insert(other, "pear", 4);
    CHECK_OK(bloomline_concurrent_new(&plain, &filter));
    CHECK(plain == NULL);
    CHECK_OK(concurrent_params(filter, &seen));
    CHECK(memcmp(&seen, &params, sizeof seen) == 0);
    CHECK(concurrent_contains(filter, "apple", 5) && !concurrent_contains(filter, "pear", 4));
    CHECK_OK(bloomline_concurrent_union(filter, other));
    CHECK(concurrent_contains(filter, "apple", 5) && concurrent_contains(filter, "pear", 4));

    bloomline_filter *larger = NULL;
    bloomline_params more = params;
    more.line_count++;
    REQUIRE_OK(bloomline_filter_new(&more, &larger));
    CHECK_STATUS(BLOOMLINE_ERR_MISMATCH, bloomline_concurrent_union(filter, larger));
    bloomline_filter_free(larger);
    bloomline_filter_free(other);
    bloomline_concurrent_free(filter);
}

static void null_and_bad_parameters(void)
{
    bloomline_concurrent *filter = NULL, *before;
    bloomline_filter *none = NULL;
    bloomline_params bad = {0, 6, 0, 0};
    uint64_t hashes[70] = {1, 2}, bitmap[2] = {0, 0};
    CHECK_STATUS(BLOOMLINE_ERR_NO_LINES, concurrent_new(&bad, &filter));
    bad = (bloomline_params){1, 17, 0, 0};
    CHECK_STATUS(BLOOMLINE_ERR_K, concurrent_new(&bad, &filter));
    bad = (bloomline_params){(uint64_t)1 << 50, 6, 0, 0};
    CHECK_STATUS(sizeof(size_t) == 8 ? BLOOMLINE_ERR_OUT_OF_MEMORY : BLOOMLINE_ERR_LINE_COUNT,
                 concurrent_new(&bad, &filter));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, concurrent_new(&params, NULL));
    CHECK(filter == NULL);
    CHECK(bloomline_concurrent_insert(NULL, "a", 1) && bloomline_concurrent_insert_hash(NULL, 1));
    CHECK_U64(70, bloomline_concurrent_insert_hashes(NULL, hashes, 70, bitmap));
    CHECK(bitmap[0] == UINT64_MAX && bitmap[1] == 63);
    CHECK_U64(3, bloomline_concurrent_insert_keys(NULL, NULL, 3, bitmap));
    CHECK(concurrent_estimated_keys(NULL) == 0);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_concurrent_snapshot(NULL, &none));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_concurrent_union(NULL, none));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, concurrent_params(NULL, &bad));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_concurrent_new(NULL, &filter));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_concurrent_new(&none, &filter));
    bloomline_concurrent_free(NULL);

    REQUIRE_OK(concurrent_new(&params, &filter));
    before = filter;
    CHECK_U64(3, bloomline_concurrent_insert_hashes(filter, NULL, 3, bitmap));
    CHECK_U64(0, bloomline_concurrent_insert_hashes(filter, NULL, 0, NULL));
    const bloomline_bytes pears[2] = {{(const uint8_t *)"pear", 4}, {(const uint8_t *)"pear", 4}};
    CHECK_U64(1, bloomline_concurrent_insert_keys(filter, pears, 2, NULL)); /* the histories have bitmaps */
    /* A bitmap that can be none is as none: what is new goes in. */
    CHECK_U64(3, bloomline_concurrent_insert_hashes(filter, hashes, 70, (uint64_t *)(void *)((char *)bitmap + 1)));
    CHECK(bloomline_concurrent_insert_hashes(filter, hashes, 70, NULL) == 0);
    CHECK_U64(0, bloomline_concurrent_insert_keys(filter, pears, 2, NULL));
    CHECK(bloomline_concurrent_insert(filter, NULL, 0) && concurrent_contains(filter, "", 0));
    CHECK(filter == before);
    bloomline_concurrent_free(filter);
}

int main(void)
{
    check_begin("test_concurrent");
    RUN(threads_lose_nothing);
    RUN(threads_lose_nothing_of_a_classic_filter);
    RUN(threads_set_bits_in_lines_of_their_own);
    RUN(to_and_from_a_filter);
    RUN(null_and_bad_parameters);
    return check_end();
}
