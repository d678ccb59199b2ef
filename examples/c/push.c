/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * push.c - push messages: what a user has had is not sent to him again within 7 days.
 *
 *     cc -O2 -o push push.c $(pkg-config --cflags --libs bloomline) -lm
 *     ./push [USERS]                     20000 unless told
 *
 * Campaigns ask for messages to be sent, 10 a day for each user, and the same one again and again.
 * A window of 8 daily generations remembers what was sent: today and the 7 days before. Only what
 * it denies is sent, and only what is sent goes in, so that asking again does not put off the day
 * on which a message may be sent again. Half-way the service is restarted: the window goes on from
 * its bytes. The clock is given, so that each run does the same.
 *
 * Exit status: 0; 1 if a message was sent twice within 7 days, or too many were withheld that
 * should have been sent; 2 if something failed.
 */
#include <bloomline.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WITHIN = 7, DAYS = 28, A_DAY = 10, MESSAGES = 500, BATCH = 1024 };

static const double rate = 0.001; /* of what should be sent, withheld by mistake */

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "push: %s: %s\n", what, why);
    exit(2);
}

static void check(bloomline_status status, const char *doing)
{
    if (status != BLOOMLINE_OK) fail(doing, bloomline_status_message(status));
}

/* The same window, as another process finds it. */
static bloomline_window *restart(bloomline_window *window)
{
    size_t len = bloomline_window_encoded_len(window);
    void *bytes = malloc(len);
    if (bytes == NULL) fail("the window", "no memory");
    check(bloomline_window_encode(window, bytes, len, NULL), "writing the window");
    bloomline_window_free(window);
    check(bloomline_window_decode(bytes, len, &window), "reading the window");
    free(bytes);
    return window;
}

/* What came of the requests that are for a message which may be sent. */
typedef struct {
    uint64_t sent, withheld;
} outcome;

static double withheld_share(outcome of)
{
    return of.sent + of.withheld > 0 ? (double)of.withheld / (double)(of.sent + of.withheld) : 0;
}

static bool near_rate(outcome of)
{
    double noise = 5 * sqrt(rate / ((double)(of.sent + of.withheld) + 1));
    return of.sent > 0 && withheld_share(of) <= rate + noise && withheld_share(of) >= rate / 2 - noise;
}

int main(int argc, char **argv)
{
    char *end = "";
    uint64_t users = argc > 1 ? strtoull(argv[1], &end, 10) : 20000;
    if (argc > 2 || *end != '\0' || users == 0 || users > 10000000) fail("usage", "push [USERS]");

    /* To check with: the day, from 1 on, on which each user was last sent each message. */
    uint8_t *last = calloc(users, MESSAGES);
    if (last == NULL) fail("the table to check with", "no memory");
    bloomline_window *window = NULL;
    /* A tenth of the requests is for what was sent already. */
    uint64_t sent_a_day = (A_DAY * users * 9 + 9) / 10;
    check(bloomline_window_new(WITHIN + 1, sent_a_day, rate, 0, &window), "making the window");

    outcome first = {0, 0}, again = {0, 0}; /* never sent before, or more than 7 days ago */
    uint64_t repeats = 0, right = 0, requests = 0;
    double in_window = 0;
    for (uint8_t day = 1; day <= DAYS; day++) {
        bloomline_window_advance_to(window, day); /* of a real clock: seconds / 86400 */
        if (day == DAYS / 2) window = restart(window);
        for (uint64_t done = 0; done < A_DAY * users; done += BATCH) {
            size_t n = A_DAY * users - done < BATCH ? (size_t)(A_DAY * users - done) : BATCH;
            uint64_t ids[BATCH], hashes[BATCH], maybe[BATCH / 64];
            for (size_t i = 0; i < n; i++) {
                uint64_t random = bloomline_hash_u64(requests++, 1);
                ids[i] = (random >> 32) % users << 32 | (random & 0xFFFFFFFF) % MESSAGES;
            }
            bloomline_hash_u64_batch(ids, n, 0, hashes);

            struct timespec before, after;
            timespec_get(&before, TIME_UTC);
            bloomline_view view;
            check(bloomline_window_view(window, &view), "probing the window");
            bloomline_view_contains_hashes(&view, hashes, n, maybe);
            /* One that is there twice is new once. */
            for (size_t i = 0; i < n; i++) {
                bool known = maybe[i / 64] >> (i % 64) & 1;
                if (!known && !bloomline_window_insert_hash(window, hashes[i]))
                    maybe[i / 64] |= UINT64_C(1) << (i % 64);
            }
            timespec_get(&after, TIME_UTC);
            in_window += difftime(after.tv_sec, before.tv_sec) * 1e9;
            in_window += (double)(after.tv_nsec - before.tv_nsec);

            for (size_t i = 0; i < n; i++) {
                uint8_t *at = &last[(ids[i] >> 32) * MESSAGES + (ids[i] & 0xFFFFFFFF)];
                bool send = !(maybe[i / 64] >> (i % 64) & 1), may = *at == 0 || day - *at > WITHIN;
                if (!may) {
                    repeats += send;
                    right += !send;
                } else if (day > WITHIN + 1) { /* all generations are as full as they get */
                    outcome *of = *at == 0 ? &first : &again;
                    of->sent += send;
                    of->withheld += !send;
                }
                if (send) *at = day;
            }
        }
    }
    printf("requests  %" PRIu64 " in %d days, %.0f ns each in the window\n", requests, DAYS,
           in_window / (double)requests);
    printf("window    %d generations, %.2f MB\n", WITHIN + 1, (double)bloomline_window_encoded_len(window) * 1e-6);
    printf("repeated  %" PRIu64 " messages within %d days, %" PRIu64 " withheld\n", repeats, WITHIN, right);
    printf("new       %" PRIu64 " sent, %.3f %% withheld by mistake; up to %.1f %% expected\n", first.sent,
           100 * withheld_share(first), 100 * rate);
    printf("again     %" PRIu64 " sent once more, after %d days; %.3f %% withheld by mistake\n", again.sent, WITHIN,
           100 * withheld_share(again));
    bloomline_window_free(window);
    free(last);
    return repeats == 0 && right > 0 && near_rate(first) && near_rate(again) ? 0 : 1;
}
