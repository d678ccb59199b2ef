/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * failing.h - a call whose allocations fail, one after the other, each in a process of its own.
 *
 * The program is linked with the static library and the linker's --wrap for the functions of wrapped.h,
 * so that the library's calls to them arrive there.
 */
#ifndef FAILING_H
#define FAILING_H

#include "check.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    bool armed, all_after;
    unsigned long count, fail_at; /* 0: none */
    size_t *first_failed;         /* its size, in memory shared with the child processes */
} allocations;

/* Sizes of allocations that may end the process, as the header says of long paths; a file
   name is the only thing of such a size here. */
static struct {
    size_t from, to;
    unsigned long seen;
} documented;

static bool fails(size_t size)
{
    if (!allocations.armed) return false;
    allocations.count++;
    bool fail = allocations.count == allocations.fail_at ||
                (allocations.all_after && allocations.fail_at != 0 && allocations.count > allocations.fail_at);
    if (allocations.count == allocations.fail_at) *allocations.first_failed = size;
    if (fail) errno = ENOMEM;
    return fail;
}

#include "wrapped.h"

/* Makes one call, and says how it went. */
typedef bloomline_status (*call)(void);

/* What a child process says of one call. */
enum { RIGHT, WRONG, NO_SUCH_ALLOCATION };

/* Some allocations are for threads, without which a call does the work alone. */
static bool may_succeed;

/* Makes the call with its allocation number 'n' failing, in a process of its own: one that
   ends the process is then told like any other failure. */
static int fail_one(const char *name, unsigned long n, bool all_after, call make, void (*undo)(void))
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        /* The Rust runtime says why it ends the process, at length. */
        if (documented.to > 0 && freopen("/dev/null", "w", stderr) == NULL) exit(WRONG);
        check_state.failures = 0;
        allocations.all_after = all_after;
        allocations.count = 0;
        allocations.fail_at = n;
        allocations.armed = true;
        bloomline_status status = make();
        allocations.armed = false;
        bool reached = allocations.count >= n;
        CHECK_WITH(status == (reached ? BLOOMLINE_ERR_OUT_OF_MEMORY : BLOOMLINE_OK) ||
                       (may_succeed && status == BLOOMLINE_OK),
                   "%s, allocation %lu failed: %s", name, n, bloomline_status_message(status));
        if (status == BLOOMLINE_OK) undo();
        /* Again, with memory. */
        status = make();
        CHECK_OK(status);
        if (status == BLOOMLINE_OK) undo();
        /* Not _exit: LeakSanitizer looks for leaks at the end. */
        exit(check_state.failures > 0 ? WRONG : reached ? RIGHT : NO_SUCH_ALLOCATION);
    }
    int status = 0;
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    size_t size = *allocations.first_failed;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && size >= documented.from && size < documented.to) {
        documented.seen++;
        return RIGHT;
    }
    CHECK_WITH(WIFEXITED(status), "%s, allocation %lu failed: the process was ended by signal %d", name, n,
               WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : WRONG;
}

/* Fails the allocations of a call one after the other. 'undo' takes back a success. Returns
   how many allocations there are. */
static inline unsigned long fail_each(const char *name, call make, void (*undo)(void))
{
    unsigned long n = 0;
    for (int all_after = 0; all_after < 2; all_after++) {
        int result = RIGHT;
        for (n = 0; result != NO_SUCH_ALLOCATION && n < 100; n++) {
            result = fail_one(name, n + 1, all_after, make, undo);
            CHECK_WITH(result == RIGHT || result == NO_SUCH_ALLOCATION, "%s, allocation %lu", name, n + 1);
        }
    }
    printf("    %s: %lu allocations failed\n", name, n - 1);
    return n - 1;
}

#endif /* FAILING_H */
