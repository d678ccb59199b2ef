/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * check.h - the harness of the C tests. A test program is
 *
 *     static void name_of_a_test(void) { CHECK(1 + 1 == 2); }
 *     int main(void) { check_begin("test_x"); RUN(name_of_a_test); return check_end(); }
 *
 * and prints each test with the number of its checks, and at the end
 * "N passed, N failed"; it exits with 1 if any failed, or if none ran.
 *
 * A check that fails is told and the test goes on, so that one run shows all that is
 * wrong; REQUIRE is for what the rest cannot do without. Checks are made by one thread.
 * Uses bloomline.h (for the names of statuses) and the C library.
 */
#ifndef CHECK_H
#define CHECK_H

#include <bloomline.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A loop that fails fails often: of each test so many failures are told. */
#define CHECK_TOLD 10

static struct {
    unsigned long tests_passed, tests_failed;
    unsigned long checks, failures; /* of the test that runs */
} check_state;

/* Whether a checker makes the tests many times as slow: fewer cases then. */
static inline int check_fewer(void)
{
    return getenv("BLOOMLINE_FEWER_CASES") != NULL;
}

static inline void check_begin(const char *program)
{
    /* What a crash has to say must not be lost in a pipe. */
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("%s: bloomline %s, backend %s\n", program, bloomline_version(), bloomline_backend());
}

static inline int check_end(void)
{
    printf("%lu passed, %lu failed\n", check_state.tests_passed, check_state.tests_failed);
    return check_state.tests_failed > 0 || check_state.tests_passed == 0;
}

static inline void check_run(void (*test)(void), const char *name)
{
    check_state.checks = check_state.failures = 0;
    test();
    if (check_state.checks == 0) {
        printf("  FAILED  %s: it checked nothing\n", name);
        check_state.tests_failed++;
    } else if (check_state.failures > 0) {
        printf("  FAILED  %s: %lu of %lu checks\n", name, check_state.failures, check_state.checks);
        check_state.tests_failed++;
    } else {
        printf("  ok      %s (%lu checks)\n", name, check_state.checks);
        check_state.tests_passed++;
    }
}
#define RUN(test) check_run(test, #test)

/* Counts a check; true if this failure is to be told. */
static inline bool check_failed(bool ok)
{
    check_state.checks++;
    if (ok) return false;
    check_state.failures++;
    if (check_state.failures == CHECK_TOLD + 1) printf("    and so on\n");
    return check_state.failures <= CHECK_TOLD;
}

#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
static inline void check_that(bool ok, const char *file, int line, const char *text,
                              const char *format, ...)
{
    if (!check_failed(ok)) return;
    printf("    %s:%d: %s", file, line, text);
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

static inline void check_u64(uint64_t expected, uint64_t actual, const char *file, int line,
                             const char *text)
{
    if (!check_failed(expected == actual)) return;
    printf("    %s:%d: %s is %" PRIu64 " (0x%" PRIx64 "), not %" PRIu64 " (0x%" PRIx64 ")\n", file,
           line, text, actual, actual, expected, expected);
}

static inline void check_status(bloomline_status expected, bloomline_status actual,
                                const char *file, int line, const char *text)
{
    if (!check_failed(expected == actual)) return;
    printf("    %s:%d: %s is %d (%s), not %d (%s)\n", file, line, text, (int)actual,
           bloomline_status_message(actual), (int)expected, bloomline_status_message(expected));
}

/* The error for a rate that no filter can be made for. */
static inline bloomline_status no_rate(double rate)
{
    return rate > 0 && rate < 1 ? BLOOMLINE_ERR_RATE_TOO_SMALL : BLOOMLINE_ERR_RATE;
}

static inline void check_near(double expected, double actual, double tolerance, const char *file,
                              int line, const char *text)
{
    double distance = actual > expected ? actual - expected : expected - actual;
    /* Written so that NaN fails. */
    if (!check_failed(distance <= tolerance)) return;
    printf("    %s:%d: %s is %.9g, not %.9g\n", file, line, text, actual, expected);
}

/* CHECK_WITH also tells what a printf format and its arguments say: which round it was. */
#define CHECK(condition) check_that((condition) ? true : false, __FILE__, __LINE__, #condition, "%s", "")
#define CHECK_WITH(condition, ...) \
    check_that((condition) ? true : false, __FILE__, __LINE__, #condition ": ", __VA_ARGS__)
#define CHECK_U64(expected, actual) check_u64((expected), (actual), __FILE__, __LINE__, #actual)
#define CHECK_STATUS(expected, call) check_status((expected), (call), __FILE__, __LINE__, #call)
#define CHECK_NEAR(expected, actual, tolerance) \
    check_near((expected), (actual), (tolerance), __FILE__, __LINE__, #actual)
#define CHECK_OK(call) CHECK_STATUS(BLOOMLINE_OK, call)

#define REQUIRE(condition)                                                                  \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            printf("    %s:%d: %s, and the rest needs it\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)
#define REQUIRE_OK(call)                                                                       \
    do {                                                                                       \
        bloomline_status status_ = (call);                                                     \
        if (status_ != BLOOMLINE_OK) {                                                         \
            printf("    %s:%d: %s is %d (%s), and the rest needs it\n", __FILE__, __LINE__, #call, \
                   (int)status_, bloomline_status_message(status_));                           \
            exit(1);                                                                           \
        }                                                                                      \
    } while (0)

#endif /* CHECK_H */
