/* A system without huge pages: preloaded into a server, it refuses to advise them, and says so once. */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int madvise(void *start, size_t size, int advice) {
    static const char said[] = "no huge pages here\n";
    static int times;
    if (advice != MADV_HUGEPAGE) return (int)syscall(SYS_madvise, start, size, advice);
    if (times++ == 0 && write(2, said, sizeof said - 1) < 0) return -1;
    errno = EINVAL;
    return -1;
}
