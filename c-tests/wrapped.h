/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * wrapped.h - what the library allocates by the functions of the system, in a program that is linked
 * with the linker's --wrap for them. Before it is included, fails() is defined: it sees the size of
 * each allocation, and says whether that fails.
 */
#ifndef WRAPPED_H
#define WRAPPED_H

#include <errno.h>
#include <sys/mman.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
int __real_posix_memalign(void **out, size_t align, size_t size);
void *__real_mmap(void *at, size_t len, int protection, int flags, int file, off_t offset);
void *__real_mmap64(void *at, size_t len, int protection, int flags, int file, off_t offset);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
int __wrap_posix_memalign(void **out, size_t align, size_t size);
void *__wrap_mmap(void *at, size_t len, int protection, int flags, int file, off_t offset);
void *__wrap_mmap64(void *at, size_t len, int protection, int flags, int file, off_t offset);

void *__wrap_malloc(size_t size)
{
    return fails(size) ? NULL : __real_malloc(size);
}
void *__wrap_calloc(size_t n, size_t size)
{
    return fails(n * size) ? NULL : __real_calloc(n, size);
}
void *__wrap_realloc(void *memory, size_t size)
{
    return fails(size) ? NULL : __real_realloc(memory, size);
}
void *__wrap_aligned_alloc(size_t align, size_t size)
{
    return fails(size) ? NULL : __real_aligned_alloc(align, size);
}
int __wrap_posix_memalign(void **out, size_t align, size_t size)
{
    return fails(size) ? ENOMEM : __real_posix_memalign(out, align, size);
}
void *__wrap_mmap(void *at, size_t len, int protection, int flags, int file, off_t offset)
{
    return fails(len) ? MAP_FAILED : __real_mmap(at, len, protection, flags, file, offset);
}
void *__wrap_mmap64(void *at, size_t len, int protection, int flags, int file, off_t offset)
{
    return fails(len) ? MAP_FAILED : __real_mmap64(at, len, protection, flags, file, offset);
}

#endif
