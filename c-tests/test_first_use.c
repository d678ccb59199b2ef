/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * test_first_use.c - the first call of a process may come while others fork, change the
 * environment, or come first too. Each round is a process that has not used the library: a child
 * of this one, which uses it only when all rounds are over. A child that hangs is ended by its
 * alarm, and fails.
 */
#define _POSIX_C_SOURCE 200809L /* fork, setenv */
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 500
#define HANGS_AFTER 20 /* seconds; a round takes a millisecond */

/* How a child ended. */
enum { RIGHT, WRONG, HUNG, CRASHED, ENDS };

static const char *const names[] = {"right", "wrong", "hung", "crashed"};

/* What the first call may be, and then a filter that is used. */
static int uses_the_library(void)
{
    if (strcmp(bloomline_backend(), "none") == 0) return WRONG;
    const bloomline_params params = {100, 6, 0, 7};
    bloomline_filter *filter;
    if (bloomline_filter_new(&params, &filter) != BLOOMLINE_OK) return WRONG;
    bloomline_filter_insert(filter, "apple", 5);
    const bool right = bloomline_filter_contains(filter, "apple", 5) && !bloomline_filter_contains(filter, "plum", 4);
    bloomline_filter_free(filter);
    return right ? RIGHT : WRONG;
}

static int end_of(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return CRASHED;
    }
    if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGALRM ? HUNG : CRASHED;
    return WEXITSTATUS(status) < ENDS ? WEXITSTATUS(status) : CRASHED;
}

/* Runs 'scene' in a child. */
static int in_a_child(int (*scene)(unsigned round), unsigned round)
{
    const pid_t child = fork();
    if (child < 0) return CRASHED;
    if (child == 0) {
        alarm(HANGS_AFTER);
        _exit(scene(round));
    }
    return end_of(child);
}

static atomic_uint waiting;

/* Returns in all 'count' threads at about the same time. */
static void meet(unsigned count)
{
    atomic_fetch_add(&waiting, 1);
    while (atomic_load(&waiting) < count) {
        if (count > 2) sched_yield();
    }
}

static void linger(unsigned turns)
{
    for (volatile unsigned turn = 0; turn < turns; turn++) {}
}

static void *comes_first(void *count)
{
    meet(*(unsigned *)count);
    return (void *)(intptr_t)uses_the_library();
}

static int result_of(pthread_t thread)
{
    void *result;
    return pthread_join(thread, &result) == 0 ? (int)(intptr_t)result : WRONG;
}

static int grandchild(unsigned round)
{
    (void)round;
    return uses_the_library();
}

/* A thread makes the first call, and meanwhile the process forks: the child makes it too. */
static int forks(unsigned round)
{
    unsigned two = 2;
    pthread_t first;
    if (pthread_create(&first, NULL, comes_first, &two) != 0) return CRASHED;
    meet(two);
    linger(round % 50 * 40);
    const int child = in_a_child(grandchild, round);
    const int thread = result_of(first);
    return child != RIGHT ? child : thread;
}

static void *changes_the_environment(void *count)
{
    char name[32], value[64];
    memset(value, 'x', sizeof value);
    value[sizeof value - 1] = 0;
    meet(*(unsigned *)count);
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "BLOOMLINE_TEST_%d", i);
        if (setenv(name, value, 1) != 0) return (void *)(intptr_t)WRONG;
        /* Not a variable of the program any more: what it says comes too late. */
        if (i % 8 == 0 && setenv("BLOOMLINE_BACKEND", "abacus", 1) != 0) return (void *)(intptr_t)WRONG;
    }
    return (void *)(intptr_t)RIGHT;
}

/* A thread makes the environment longer, which moves it, and meanwhile comes the first call. */
static int sets_variables(unsigned round)
{
    unsigned two = 2;
    pthread_t setter;
    if (pthread_create(&setter, NULL, changes_the_environment, &two) != 0) return CRASHED;
    meet(two);
    linger(round * 37 % 500 * 20);
    const int first = uses_the_library();
    const int other = result_of(setter);
    return first != RIGHT ? first : other;
}

/* Eight threads make the first call at once. */
static int all_at_once(unsigned round)
{
    (void)round;
    unsigned eight = 8;
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) {
        if (pthread_create(&threads[i], NULL, comes_first, &eight) != 0) return CRASHED;
    }
    int end = RIGHT;
    for (int i = 0; i < 8; i++) {
        const int result = result_of(threads[i]);
        if (result != RIGHT) end = result;
    }
    return end;
}

static struct {
    const char *name;
    int (*scene)(unsigned round);
    unsigned rounds, ends[ENDS];
} scenes[] = {
    {"a fork during the first call", forks, ROUNDS, {0}},
    {"setenv during the first call", sets_variables, ROUNDS, {0}},
    {"eight first calls", all_at_once, ROUNDS / 5, {0}},
};

static void first_calls(void)
{
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        for (int end = RIGHT; end < ENDS; end++) {
            CHECK_WITH(scenes[i].ends[end] == (end == RIGHT ? scenes[i].rounds : 0), "%s: %u of %u children %s",
                       scenes[i].name, scenes[i].ends[end], scenes[i].rounds, names[end]);
        }
    }
}

int main(void)
{
    /* Before the first use in this process. */
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        if (check_fewer()) scenes[i].rounds /= 5;
        for (unsigned round = 0; round < scenes[i].rounds; round++) {
            scenes[i].ends[in_a_child(scenes[i].scene, round)]++;
            /* One that hangs is enough: each takes as long as its alarm. */
            if (scenes[i].ends[HUNG] > 0) break;
        }
    }
    check_begin("test_first_use");
    RUN(first_calls);
    return check_end();
}
