/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * control_race.c - breaks the thread rule: two threads insert into one filter. Not a test of
 * the library but of the checker: ThreadSanitizer must report it, or its silence about
 * test_threads.c means nothing.
 */
#include <bloomline.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static bloomline_filter *filter;
static atomic_int inserts[2];

/* Each goes on until both have done their share, so that they do run at the same time. The
   counts are relaxed: they order nothing else. */
static bool done(int who)
{
    return atomic_load_explicit(&inserts[who], memory_order_relaxed) >= 300000;
}

static void *insert(void *argument)
{
    int me = *(int *)argument;
    for (uint64_t i = 0; !done(me) || !done(!me); i++) {
        bloomline_filter_insert_hash(filter, bloomline_hash_u64(i, 0));
        atomic_fetch_add_explicit(&inserts[me], 1, memory_order_relaxed);
    }
    return NULL;
}

int main(void)
{
    const bloomline_params params = {10, 6, 0, 0};
    int numbers[2] = {0, 1};
    pthread_t threads[2];
    if (bloomline_filter_new(&params, &filter) != BLOOMLINE_OK) return 1;
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&threads[i], NULL, insert, &numbers[i]) != 0) return 1;
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    bloomline_filter_free(filter);
    puts("nobody stopped the race");
    return 0;
}
