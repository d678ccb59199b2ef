/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_threads.c - the thread rule: functions that take a const handle run in any number of
 * threads at once, here all of them against one filter, each answer checked; and threads
 * with handles of their own do not meet. The first call of the library is made by all
 * threads at the same time. To be run under ThreadSanitizer or helgrind too.
 */
#define _XOPEN_SOURCE 700

#include "check.h"
#include "probes.h"
#include "definition.h"

#include <pthread.h>

enum { THREADS = 8, KEYS = 3000, ROUNDS = 6 };

static uint64_t hashes[2 * KEYS]; /* the first half is in */
static const bloomline_params params = {400, 6, 0, 3};
static const bloomline_filter *shared_filter;
static bloomline_view shared_view;
static uint8_t expected[401 * LINE_BYTES];
static pthread_barrier_t barrier;

/* Threads count what they find wrong; the checks are made when they are done. */
typedef struct {
    pthread_t thread;
    uint64_t number, wrong, answers;
} worker;

static void *call_first(void *argument)
{
    worker *me = argument;
    bloomline_filter *filter = NULL;
    pthread_barrier_wait(&barrier);
    const char *backend = bloomline_backend();
    me->wrong += bloomline_filter_new(&params, &filter) != BLOOMLINE_OK;
    bloomline_filter_insert_hash(filter, me->number);
    me->wrong += !bloomline_filter_contains_hash(filter, me->number);
    me->wrong += strcmp(backend, bloomline_backend()) != 0;
    me->answers += 1;
    bloomline_filter_free(filter);
    return NULL;
}

static void count_wrong(worker *me, size_t first, size_t n, const uint64_t *bitmap)
{
    for (size_t i = 0; i < n; i++) {
        bool is = definition_contains(expected, params.line_count, params.k, hashes[first + i]);
        me->wrong += is != bit_of(bitmap, i);
        me->answers++;
    }
}

static void *probe_shared(void *argument)
{
    worker *me = argument;
    uint64_t state = me->number, bitmap[(2 * KEYS + 63) / 64];
    bloomline_bytes keys[64];
    pthread_barrier_wait(&barrier);
    for (int round = 0; round < ROUNDS; round++) {
        size_t first = next_random(&state) % KEYS, n = next_random(&state) % KEYS;
        bloomline_filter_contains_hashes(shared_filter, hashes + first, n, bitmap);
        count_wrong(me, first, n, bitmap);
        bloomline_view_contains_hashes(&shared_view, hashes + first, n, bitmap);
        count_wrong(me, first, n, bitmap);
        for (size_t i = 0; i < 64; i++) {
            uint64_t bit = bloomline_filter_contains_hash(shared_filter, hashes[first + i]);
            count_wrong(me, first + i, 1, &bit);
            bit = bloomline_view_contains_hash(&shared_view, hashes[first + i]);
            count_wrong(me, first + i, 1, &bit);
            keys[i].data = (const uint8_t *)&hashes[first + i];
            keys[i].len = 8;
        }
        uint64_t by_filter, by_view;
        bloomline_filter_contains_keys(shared_filter, keys, 64, &by_filter);
        bloomline_view_contains_keys(&shared_view, keys, 64, &by_view);
        me->wrong += by_filter != by_view;

        /* The rest of the const functions, on the same filter. */
        bloomline_filter *copy = NULL;
        bloomline_view view;
        size_t len = bloomline_filter_encoded_len(shared_filter);
        uint8_t *data = malloc(len);
        me->wrong += bloomline_filter_encode(shared_filter, data, len, NULL) != BLOOMLINE_OK;
        me->wrong += memcmp(data, expected, len) != 0;
        me->wrong += bloomline_filter_decode(data, len, &copy) != BLOOMLINE_OK;
        me->wrong += bloomline_filter_view(shared_filter, &view) != BLOOMLINE_OK;
        me->wrong += !bloomline_view_contains_hash(&view, hashes[0]);
        me->wrong += filter_fill(shared_filter) != filter_fill(copy);
        me->wrong += filter_estimated_rate(shared_filter) != filter_estimated_rate(copy);
        /* And one that writes, on a filter of this thread's own. */
        bloomline_filter_insert_hashes(copy, hashes + first, n);
        me->wrong += bloomline_filter_contains_hashes(copy, hashes + first, n, bitmap) != n;
        bloomline_filter_free(copy);
        free(data);
    }
    return NULL;
}

static void run_threads(void *(*body)(void *))
{
    worker workers[THREADS];
    memset(workers, 0, sizeof workers);
    REQUIRE(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
    for (size_t i = 0; i < THREADS; i++) {
        workers[i].number = i + 1;
        REQUIRE(pthread_create(&workers[i].thread, NULL, body, &workers[i]) == 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        REQUIRE(pthread_join(workers[i].thread, NULL) == 0);
        CHECK_U64(0, workers[i].wrong);
        CHECK(workers[i].answers > 0);
    }
    REQUIRE(pthread_barrier_destroy(&barrier) == 0);
}

static void the_first_call_is_made_by_many(void)
{
    run_threads(call_first);
}

static void one_filter_is_probed_by_many(void)
{
    bloomline_filter *filter = NULL;
    fill_hashes(hashes, 2 * KEYS, 11);
    REQUIRE_OK(bloomline_filter_new(&params, &filter));
    bloomline_filter_insert_hashes(filter, hashes, KEYS);
    for (size_t i = 0; i < KEYS; i++) definition_insert(expected, params.line_count, params.k, hashes[i]);
    definition_finish(expected, params.line_count, params.k, params.seed, KEYS);
    shared_filter = filter;
    REQUIRE_OK(bloomline_view_open(expected, sizeof expected, 0, &shared_view));
    run_threads(probe_shared);
    bloomline_filter_free(filter);
}

static void *build(void *argument)
{
    worker *me = argument;
    uint8_t block[64 * LINE_BYTES];
    bloomline_builder *builder = NULL;
    bloomline_view view;
    pthread_barrier_wait(&barrier);
    me->wrong += bloomline_builder_new(10, me->number, &builder) != BLOOMLINE_OK;
    for (int round = 0; round < ROUNDS; round++) {
        size_t len = 0;
        for (uint64_t i = 0; i < 2000; i++) {
            uint64_t key = i * THREADS + me->number;
            me->wrong += bloomline_builder_add(builder, &key, sizeof key) != BLOOMLINE_OK;
        }
        me->wrong += bloomline_builder_finish(builder, block, sizeof block, &len) != BLOOMLINE_OK;
        me->wrong += bloomline_view_open(block, len, 0, &view) != BLOOMLINE_OK;
        for (uint64_t i = 0; i < 2000; i++) {
            uint64_t key = i * THREADS + me->number;
            me->wrong += !bloomline_view_contains(&view, &key, sizeof key);
            me->answers++;
        }
    }
    bloomline_builder_free(builder);
    return NULL;
}

static void each_thread_has_its_own_builder(void)
{
    run_threads(build);
}

/* By several threads of the library's own: the bytes of the definition, for any number. */
static void several_threads_insert_into_one_filter(void)
{
    enum { MANY = 3 * 32768 + 5 };
    static uint64_t many[MANY];
    static bloomline_bytes keys[MANY];
    static const uint64_t line_counts[] = {1, 2, 5, 400};
    static const size_t numbers[] = {0, 1, 2, 3, 64};
    const size_t step = check_fewer() ? 2 : 1;
    fill_hashes(many, MANY, 12);
    for (size_t i = 0; i < MANY; i++) {
        keys[i].data = (const uint8_t *)&many[i];
        keys[i].len = sizeof many[i];
    }
    for (size_t i = step - 1; i < sizeof line_counts / sizeof *line_counts; i += step) {
        const bloomline_params shape = {line_counts[i], 7, 0, 3};
        size_t lines = (size_t)shape.line_count;
        memset(expected, 0, sizeof expected);
        for (size_t j = 0; j < MANY; j++) definition_insert(expected, shape.line_count, shape.k, many[j]);
        definition_finish(expected, shape.line_count, shape.k, shape.seed, MANY);
        for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j += step) {
            static uint8_t data[sizeof expected], by_keys[sizeof expected];
            bloomline_filter *filter = NULL, *single = NULL;
            REQUIRE_OK(bloomline_filter_new(&shape, &filter));
            REQUIRE_OK(bloomline_filter_new(&shape, &single));
            bloomline_filter_insert_hashes_parallel(filter, many, MANY, numbers[j]);
            CHECK_OK(bloomline_filter_encode(filter, data, sizeof data, NULL));
            CHECK(memcmp(data, expected, (lines + 1) * LINE_BYTES) == 0);
            bloomline_filter_clear(filter);
            bloomline_filter_insert_keys_parallel(filter, keys, MANY, numbers[j]);
            bloomline_filter_insert_keys(single, keys, MANY);
            CHECK_OK(bloomline_filter_encode(filter, data, sizeof data, NULL));
            CHECK_OK(bloomline_filter_encode(single, by_keys, sizeof by_keys, NULL));
            CHECK(memcmp(data, by_keys, (lines + 1) * LINE_BYTES) == 0);
            /* Nothing to insert, or nothing to insert into. */
            bloomline_filter_insert_hashes_parallel(filter, NULL, 5, numbers[j]);
            bloomline_filter_insert_hashes_parallel(NULL, many, MANY, numbers[j]);
            bloomline_filter_insert_keys_parallel(filter, NULL, 5, numbers[j]);
            bloomline_filter_insert_keys_parallel(NULL, keys, MANY, numbers[j]);
            CHECK_U64(MANY, filter_key_count(filter));
            bloomline_filter_free(filter);
            bloomline_filter_free(single);
        }
    }
}

/* Which keys are new: the answers of the definition one by one, for any number of threads, with
 * keys that repeat next to each other and far apart. */
static void several_threads_say_which_keys_are_new(void)
{
    enum { MANY = 3 * 32768 + 5, WORDS = (MANY + 63) / 64, LINES = 500, SEED = 3 };
    static uint64_t hashed[MANY], numbers[MANY], alone[WORDS], bitmap[WORDS];
    static uint8_t lines[LINES * LINE_BYTES];
    static bloomline_bytes keys[MANY];
    const bloomline_params shape = {LINES, 7, 0, SEED};
    size_t new_keys = 0;
    for (size_t i = 0; i < MANY; i++) {
        numbers[i] = i % 3 == 1 ? numbers[i - 1] : i % 5 == 4 && i > 50000 ? numbers[i - 50000] : i;
        keys[i].data = (const uint8_t *)&numbers[i];
        keys[i].len = sizeof numbers[i];
        hashed[i] = bloomline_hash(keys[i].data, keys[i].len, SEED);
        if (definition_contains(lines, LINES, shape.k, hashed[i])) continue;
        definition_insert(lines, LINES, shape.k, hashed[i]);
        alone[i / 64] |= UINT64_C(1) << i % 64;
        new_keys++;
    }
    for (size_t threads = 0; threads <= 8; threads += check_fewer() ? 4 : 1) {
        bloomline_filter *filter = NULL;
        bloomline_view view;
        REQUIRE_OK(bloomline_filter_new(&shape, &filter));
        memset(bitmap, 0xFF, sizeof bitmap);
        CHECK_U64(new_keys, bloomline_filter_insert_new_hashes(filter, hashed, MANY, threads, bitmap));
        CHECK(memcmp(bitmap, alone, sizeof bitmap) == 0);
        CHECK_U64(0, bloomline_filter_insert_new_keys(filter, keys, MANY, threads, bitmap));
        CHECK_U64(2 * MANY, filter_key_count(filter));
        CHECK_OK(bloomline_filter_view(filter, &view));
        CHECK(memcmp(bloomline_view_lines(&view, NULL), lines, sizeof lines) == 0);
        bloomline_filter_clear(filter);
        CHECK_U64(new_keys, bloomline_filter_insert_new_keys(filter, keys, MANY, threads, bitmap));
        CHECK(memcmp(bitmap, alone, sizeof bitmap) == 0);
        /* Without a bitmap, without keys, without a filter. */
        bloomline_filter_clear(filter);
        CHECK_U64(new_keys, bloomline_filter_insert_new_hashes(filter, hashed, MANY, threads, NULL));
        CHECK_U64(0, bloomline_filter_insert_new_hashes(filter, NULL, 0, threads, NULL));
        CHECK_U64(5, bloomline_filter_insert_new_hashes(filter, NULL, 5, threads, bitmap));
        CHECK_U64(0x1F, bitmap[0]);
        CHECK_U64(70, bloomline_filter_insert_new_keys(NULL, keys, 70, threads, bitmap));
        CHECK_U64(0x3F, bitmap[1]);
        CHECK_U64(MANY, filter_key_count(filter));
        bloomline_filter_free(filter);
    }
}

/* The same for filters of sets that no longer change: the bytes are those of one thread, every key
 * is in. */
static void several_threads_build_of_a_fixed_set(void)
{
    enum { MANY = 3 * 32768 + 5, INCLUDED = 2 * 32768, ROOM = MANY * 2 };
    static uint64_t many[MANY], bitmap[MANY / 64 + 1];
    static uint8_t alone[ROOM], data[ROOM];
    static const size_t numbers[] = {0, 2, 3, 64};
    fill_hashes(many, MANY, 13);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i += check_fewer() ? 3 : 1) {
        size_t len = 0, other_len = 0;
        bloomline_view view;
        REQUIRE_OK(bloomline_static_block_build(many, MANY, 0.01, 3, 1, alone, ROOM, &len));
        REQUIRE_OK(bloomline_static_block_build(many, MANY, 0.01, 3, numbers[i], data, ROOM, &other_len));
        CHECK_U64(len, other_len);
        CHECK(memcmp(data, alone, len) == 0);
        REQUIRE_OK(bloomline_view_open(data, len, 0, &view));
        CHECK_U64(MANY, bloomline_view_contains_hashes(&view, many, MANY, bitmap));
        for (double rate = 0; rate < 0.02; rate += 0.01) {
            bloomline_cascade *one = NULL, *cascade = NULL;
            const uint64_t *excluded = many + INCLUDED;
            REQUIRE_OK(bloomline_cascade_new(many, INCLUDED, excluded, MANY - INCLUDED, rate, 3, 1, &one));
            REQUIRE_OK(bloomline_cascade_new(many, INCLUDED, excluded, MANY - INCLUDED, rate, 3, numbers[i], &cascade));
            REQUIRE_OK(bloomline_cascade_encode(one, alone, ROOM, &len));
            REQUIRE_OK(bloomline_cascade_encode(cascade, data, ROOM, &other_len));
            CHECK_U64(len, other_len);
            CHECK(memcmp(data, alone, len) == 0);
            CHECK_U64(INCLUDED, cascade_contains_hashes(cascade, many, INCLUDED, bitmap));
            CHECK_U64(0, cascade_contains_hashes(cascade, excluded, MANY - INCLUDED, bitmap));
            bloomline_cascade_free(one);
            bloomline_cascade_free(cascade);
        }
    }
    size_t len = 77;
    bloomline_cascade *cascade = NULL;
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_static_block_build(NULL, 1, 0.01, 3, 2, data, ROOM, &len));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_static_block_build(many, 1, 0.01, 3, 2, data, ROOM, NULL));
    CHECK_STATUS(BLOOMLINE_ERR_RATE, bloomline_static_block_build(many, 1, 1, 3, 2, data, ROOM, &len));
    CHECK_STATUS(BLOOMLINE_ERR_OVERLAP, bloomline_cascade_new(many, MANY, many, MANY, 0, 3, 2, &cascade));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, bloomline_cascade_new(many, 1, NULL, 1, 0, 3, 2, &cascade));
    CHECK(len == 77 && cascade == NULL);
}

int main(void)
{
    /* Before anything else has called the library. */
    setvbuf(stdout, NULL, _IOLBF, 0);
    RUN(the_first_call_is_made_by_many);
    check_begin("test_threads");
    RUN(one_filter_is_probed_by_many);
    RUN(each_thread_has_its_own_builder);
    RUN(several_threads_insert_into_one_filter);
    RUN(several_threads_say_which_keys_are_new);
    RUN(several_threads_build_of_a_fixed_set);
    return check_end();
}
