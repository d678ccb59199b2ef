/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * huge.h - huge pages for the contenders in C++, where the system grants them: this library's filters ask
 * for them by themselves.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace lab {

constexpr uintptr_t kHugePage = uintptr_t{2} << 20;

inline void AskForHugePages(void *start, size_t bytes)
{
#if defined(__linux__)
    const uintptr_t at = reinterpret_cast<uintptr_t>(start);
    const uintptr_t from = (at + kHugePage - 1) / kHugePage * kHugePage, to = (at + bytes) / kHugePage * kHugePage;
    if (from >= to)
        return;
    madvise(reinterpret_cast<void *>(from), to - from, MADV_HUGEPAGE);
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
    /* The pages may be there already. Old systems do not know it, and collapse them in time. */
    madvise(reinterpret_cast<void *>(from), to - from, MADV_COLLAPSE);
#else
    (void)start, (void)bytes;
#endif
}

}  // namespace lab
