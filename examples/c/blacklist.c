/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * blacklist.c - a list of blocked ids, exact and on disk, and a filter in front of it.
 *
 *     cc -O2 -o blacklist blacklist.c $(pkg-config --cflags --libs bloomline) -lm
 *     ./blacklist [IDS]             ids on the list, 10000000 unless told: 80 MB of disk
 *
 * The list is a sorted file: to look an id up takes some 20 reads. The filter tells for nearly
 * every id that is not on it that it is not, without a read. The few that it lets through by
 * mistake are looked up like those on the list, so that nobody is ever blocked by mistake.
 *
 * Exit status: 0; 1 if a listed id was missed or the filter is wrong more often than it should
 * be; 2 if something failed. C11 and POSIX.
 */
#define _POSIX_C_SOURCE 200809L

#include <bloomline.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 1024, QUERIES = 1000 * BATCH };

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "blacklist: %s: %s\n", what, why);
    exit(2);
}

static void check(bloomline_status status, const char *doing)
{
    if (status != BLOOMLINE_OK) fail(doing, bloomline_status_message(status));
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The next number of a sequence that looks random. */
static uint64_t next_random(void)
{
    static uint64_t count;
    return bloomline_hash_u64(count++, 20240501);
}

/* ---- the exact list: ids in ascending order, 8 bytes each ---- */

static int list_file;
static uint64_t list_count, reads;

static uint64_t listed_id(uint64_t i)
{
    uint64_t id;
    reads++;
    if (pread(list_file, &id, sizeof id, (off_t)(i * sizeof id)) != sizeof id) {
        perror("blacklist: reading the list");
        exit(2);
    }
    return id;
}

static bool is_listed(uint64_t id)
{
    uint64_t low = 0, high = list_count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (listed_id(middle) < id) low = middle + 1;
        else high = middle;
    }
    return low < list_count && listed_id(low) == id;
}

int main(int argc, char **argv)
{
    char *end = "";
    list_count = argc > 1 ? strtoull(argv[1], &end, 10) : 10000000;
    if (argc > 2 || *end != '\0' || list_count == 0) fail("usage", "blacklist [IDS]");

    bloomline_params params;
    bloomline_filter *filter;
    check(bloomline_params_for_rate(list_count, 0.001, &params), "sizing the filter");
    check(bloomline_filter_new(&params, &filter), "making the filter");

    /* The list, about one id in a hundred, and the filter of it. */
    FILE *list = tmpfile();
    if (list == NULL) fail("temporary file", "cannot be made");
    uint64_t ids[BATCH], hashes[BATCH], maybe[BATCH / 64], last = 0;
    for (uint64_t done = 0; done < list_count;) {
        size_t n = list_count - done < BATCH ? (size_t)(list_count - done) : BATCH;
        for (size_t i = 0; i < n; i++) ids[i] = last += 1 + next_random() % 199;
        if (fwrite(ids, sizeof *ids, n, list) != n) fail("temporary file", "cannot be written");
        bloomline_hash_u64_batch(ids, n, params.seed, hashes);
        bloomline_filter_insert_hashes(filter, hashes, n);
        done += n;
    }
    if (fflush(list) != 0) fail("temporary file", "cannot be written");
    list_file = fileno(list);

    /* What a service does all day: a batch of ids, the filter, and the list for the rest. */
    uint64_t blocked = 0, mistakes = 0;
    double in_filter = 0, in_list = 0;
    for (uint64_t done = 0; done < QUERIES; done += BATCH) {
        for (size_t i = 0; i < BATCH; i++) ids[i] = 1 + next_random() % last;
        double start = seconds();
        bloomline_hash_u64_batch(ids, BATCH, params.seed, hashes);
        bloomline_filter_contains_hashes(filter, hashes, BATCH, maybe);
        double middle = seconds();
        for (size_t i = 0; i < BATCH; i++) {
            if ((maybe[i / 64] >> (i % 64) & 1) == 0) continue; /* certainly not listed */
            if (is_listed(ids[i])) blocked++;
            else mistakes++;
        }
        in_filter += middle - start;
        in_list += seconds() - middle;
    }
    uint64_t looked_up = blocked + mistakes, others = QUERIES - blocked;
    double expected = bloomline_params_rate(&params, list_count);
    double measured = (double)mistakes / (double)others;
    printf("list      %" PRIu64 " ids, %.2f MB on disk\n", list_count, (double)list_count * 8e-6);
    printf("filter    %.2f MB in memory, %.0f ns per id\n", (double)params.line_count * 64e-6,
           in_filter / QUERIES * 1e9);
    printf("queries   %d, of which %" PRIu64 " are on the list\n", QUERIES, blocked);
    printf("look-ups  %" PRIu64 " in the list, %.1f reads and %.0f ns each\n", looked_up,
           (double)reads / (double)looked_up, in_list / (double)looked_up * 1e9);
    printf("saved     %" PRIu64 " look-ups, %.2f %% of them\n", QUERIES - looked_up,
           100.0 * (double)(QUERIES - looked_up) / QUERIES);
    printf("mistakes  %" PRIu64 ", %.3f %% of the ids not listed; %.3f %% expected\n", mistakes,
           100 * measured, 100 * expected);

    /* Every id of the list must get through. */
    uint64_t missed = 0;
    rewind(list);
    for (size_t n; (n = fread(ids, sizeof *ids, BATCH, list)) > 0;) {
        bloomline_hash_u64_batch(ids, n, params.seed, hashes);
        missed += n - bloomline_filter_contains_hashes(filter, hashes, n, maybe);
    }
    if (ferror(list)) fail("temporary file", "cannot be read");
    printf("missed    %" PRIu64 " of the %" PRIu64 " on the list\n", missed, list_count);
    bloomline_filter_free(filter);
    fclose(list);
    /* Five standard deviations of so many queries, and a tenth for a filter of few lines. */
    double allowed = 1.1 * expected + 5 * sqrt(expected / (double)others);
    return missed == 0 && measured <= allowed ? 0 : 1;
}
