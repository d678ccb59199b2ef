/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * fenced.h - memory between two pages that may not be touched: a byte read or written too far
 * ends the test. Whoever includes it defines _DEFAULT_SOURCE first, for MAP_ANONYMOUS. Uses
 * check.h and the system.
 */
#ifndef FENCED_H
#define FENCED_H

#include "check.h"

#include <sys/mman.h>
#include <unistd.h>

/* Memory between two forbidden pages. */
typedef struct {
    uint8_t *start, *end;
} fenced;

static inline fenced fenced_new(size_t len)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (len + page - 1) / page * page;
    uint8_t *all = mmap(NULL, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(all != MAP_FAILED);
    REQUIRE(mprotect(all + page, room, PROT_READ | PROT_WRITE) == 0);
    fenced f = {all + page, all + page + room};
    return f;
}

static inline void fenced_free(fenced f)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    CHECK(munmap(f.start - page, (size_t)(f.end - f.start) + 2 * page) == 0);
}

/* The two places in it where 'len' bytes touch a fence: the front, then the back. */
static inline uint8_t *at_fence(fenced f, int back, size_t len)
{
    return back ? f.end - len : f.start;
}

/* An array of 64-bit numbers in it, at the front or the back. */
static inline uint64_t *words_at_fence(fenced f, int back, size_t n)
{
    return (uint64_t *)(void *)at_fence(f, back, n * sizeof(uint64_t));
}

#endif
