/* A clock that tests can move. Preloaded into a server, it adds to the time of day the number of microseconds
 * that stands in the file named by BLOOMLINE_TEST_CLOCK: 8 bytes, the machine's byte order, mapped, so a change
 * is seen at once. Clocks that measure durations stay as they are. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t shift(void) {
    static volatile int64_t *file;
    static volatile int64_t none;
    if (!file) {
        const char *name = getenv("BLOOMLINE_TEST_CLOCK");
        int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
        void *map = fd >= 0 ? mmap(NULL, 8, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
        if (fd >= 0) close(fd);
        file = map == MAP_FAILED ? &none : map;
    }
    return *file;
}

static void *next(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

int clock_gettime(clockid_t id, struct timespec *out) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))next("clock_gettime");
    int status = real(id, out);
    if (status == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
        int64_t by = shift(), ns = out->tv_nsec + by % 1000000 * 1000 + 1000000000; /* never negative */
        out->tv_sec += by / 1000000 + ns / 1000000000 - 1;
        out->tv_nsec = ns % 1000000000;
    }
    return status;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone) {
    struct timespec now;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    out->tv_sec = now.tv_sec;
    out->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
