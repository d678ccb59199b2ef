/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_swap.c - bloomline_swap: threads read while filters are published, each answer that of
 * one whole filter, never an older one than before; who owns what, after a success and after a
 * failure; NULL. To be run under ThreadSanitizer and AddressSanitizer too.
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "probes.h"
#include "definition.h"

#include <pthread.h>
#include <sched.h>

enum { READERS = 4, KEYS = 40, FILTERS = 1500 };

static const bloomline_params params = {8, 7, 0, 3};
static bloomline_swap *swap;
static pthread_barrier_t barrier;
static uint64_t last_published; /* under this lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Threads count what they find wrong; the checks are made when they are done. */
typedef struct {
    pthread_t thread;
    uint64_t number, wrong, checks;
} worker;

/* Key 'i' of filter 'number'. Those of number 0 are in all filters. */
static uint64_t hash_of(uint64_t number, uint64_t i)
{
    return bloomline_hash_u64(number << 32 | i, 1);
}

/* Filter 'number' has the keys of 0 and of its number; its count of keys tells the number. */
static bloomline_filter *make(uint64_t number)
{
    bloomline_filter *filter = NULL;
    REQUIRE_OK(number % 2 == 0 ? bloomline_filter_new(&params, &filter) : classic_new(&params, &filter));
    for (uint64_t i = 0; i < KEYS; i++) {
        bloomline_filter_insert_hash(filter, hash_of(0, i));
        bloomline_filter_insert_hash(filter, hash_of(number, i));
    }
    for (uint64_t i = 0; i < number; i++) bloomline_filter_insert_hash(filter, hash_of(number, 0));
    return filter;
}

static uint64_t number_of(const bloomline_filter *snapshot)
{
    return filter_key_count(snapshot) - 2 * KEYS;
}

/* Whether a snapshot has all of its keys, and hardly any of its neighbours'. */
static bool is_whole(const bloomline_filter *snapshot)
{
    uint64_t number = number_of(snapshot), before = number == 1 ? FILTERS + 9 : number - 1, others = 0, bitmap[1];
    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t four[4] = {hash_of(0, i), hash_of(number, i), hash_of(number + 1, i), hash_of(before, i)};
        size_t present = bloomline_filter_contains_hashes(snapshot, four, 4, bitmap);
        if ((bitmap[0] & 3) != 3) return false;
        others += present - 2;
    }
    return number <= FILTERS && others < KEYS / 4;
}

static void *read_it(void *argument)
{
    worker *me = argument;
    uint64_t newest = 0;
    pthread_barrier_wait(&barrier);
    while (newest < FILTERS) {
        pthread_mutex_lock(&lock);
        uint64_t published = last_published;
        pthread_mutex_unlock(&lock);
        /* What is in all filters is in whichever answers, and one answers for a batch. */
        uint64_t hashes[3] = {hash_of(0, me->checks % KEYS), hash_of(published, 1), hash_of(published, 2)}, bitmap[1];
        me->wrong += !swap_contains_hash(swap, hashes[0]);
        swap_contains_hashes(swap, hashes, 3, bitmap);
        me->wrong += (bitmap[0] & 1) == 0;
        const bloomline_filter *snapshot = bloomline_swap_acquire(swap);
        uint64_t number = number_of(snapshot);
        me->wrong += number < newest || number < published || !is_whole(snapshot);
        newest = number;
        me->checks += 3;
        bloomline_swap_release(snapshot);
        sched_yield(); /* under valgrind one thread runs at a time, and need not let go */
    }
    return NULL;
}

static void readers_find_one_whole_filter(void)
{
    worker readers[READERS];
    const bloomline_filter *kept[FILTERS / 100];
    size_t n = 0;
    bloomline_filter *filter = make(1);
    REQUIRE_OK(bloomline_swap_new(&filter, &swap));
    last_published = 1;
    REQUIRE(pthread_barrier_init(&barrier, NULL, READERS + 1) == 0);
    for (uint64_t i = 0; i < READERS; i++) {
        readers[i] = (worker){.number = i};
        REQUIRE(pthread_create(&readers[i].thread, NULL, read_it, &readers[i]) == 0);
    }
    pthread_barrier_wait(&barrier);
    for (uint64_t number = 2; number <= FILTERS; number++) {
        filter = make(number);
        CHECK_OK(bloomline_swap_publish(swap, &filter));
        CHECK(filter == NULL);
        pthread_mutex_lock(&lock);
        last_published = number;
        pthread_mutex_unlock(&lock);
        if (number % 100 == 0) kept[n++] = bloomline_swap_acquire(swap);
    }
    for (size_t i = 0; i < READERS; i++) {
        REQUIRE(pthread_join(readers[i].thread, NULL) == 0);
        CHECK_U64(0, readers[i].wrong);
        CHECK(readers[i].checks > 0);
    }
    bloomline_swap_free(swap);
    for (size_t i = 0; i < n; i++) {
        CHECK(is_whole(kept[i]) && number_of(kept[i]) == 100 * (i + 1));
        bloomline_swap_release(kept[i]);
    }
    pthread_barrier_destroy(&barrier);
}

static void snapshots_outlive_all(void)
{
    bloomline_filter *filter = make(1);
    bloomline_view view;
    uint64_t hash = hash_of(1, 5), bitmap[3], many[130];
    bloomline_bytes keys[2] = {{(const uint8_t *)"a", 1}, {NULL, 4}};
    REQUIRE_OK(bloomline_swap_new(&filter, &swap));
    CHECK(filter == NULL);
    const bloomline_filter *first = bloomline_swap_acquire(swap), *again = bloomline_swap_acquire(swap);
    CHECK(first == again && is_whole(first));
    CHECK_OK(bloomline_filter_view(first, &view));
    bloomline_swap_release(again);
    filter = make(2);
    CHECK_OK(bloomline_swap_publish(swap, &filter));
    for (size_t i = 0; i < 130; i++) many[i] = hash_of(2, i);
    CHECK(!swap_contains_hash(swap, hash) && bloomline_view_contains_hash(&view, hash));
    CHECK(swap_contains_hashes(swap, many, 130, bitmap) < 60);
    for (size_t i = 0; i < KEYS; i++) CHECK(bit_of(bitmap, i));
    CHECK(!swap_contains(swap, "a", 1));
    CHECK_U64(1, swap_contains_keys(swap, keys, 2, bitmap)); /* a key in doubt */
    CHECK_U64(2, bitmap[0]);
    bloomline_swap_free(swap);
    CHECK(is_whole(first) && bloomline_view_contains_hash(&view, hash));
    bloomline_swap_release(first);
}

static void null_and_failures(void)
{
    bloomline_filter *filter = make(1), *none = NULL, *before = filter;
    bloomline_swap *made = NULL;
    uint64_t hashes[70] = {1, 2}, bitmap[2] = {0, 0};
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_swap_new(&none, &made));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_swap_new(NULL, &made));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_swap_new(&filter, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_swap_publish(NULL, &filter));
    CHECK(made == NULL && filter == before && bloomline_filter_contains_hash(filter, hash_of(1, 1)));
    REQUIRE_OK(bloomline_swap_new(&filter, &made));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_swap_publish(made, &none));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_swap_publish(made, NULL));
    CHECK(swap_contains_hash(made, hash_of(1, 1)));
    CHECK(swap_contains(made, NULL, 4) && !swap_contains(made, NULL, 0));
    CHECK_U64(3, swap_contains_hashes(made, NULL, 3, bitmap));
    CHECK_U64(2, swap_contains_hashes(made, hashes, 2, NULL));
    CHECK_U64(2, swap_contains_keys(made, NULL, 2, bitmap));
    bloomline_swap_free(made);

    CHECK(swap_contains(NULL, "a", 1) && swap_contains_hash(NULL, 1));
    CHECK_U64(70, swap_contains_hashes(NULL, hashes, 70, bitmap));
    CHECK(bitmap[0] == UINT64_MAX && bitmap[1] == 63);
    CHECK(bloomline_swap_acquire(NULL) == NULL && bloomline_filter_contains(bloomline_swap_acquire(NULL), "a", 1));
    bloomline_swap_release(NULL);
    bloomline_swap_free(NULL);
}

int main(void)
{
    check_begin("test_swap");
    RUN(readers_find_one_whole_filter);
    RUN(snapshots_outlive_all);
    RUN(null_and_failures);
    return check_end();
}
