/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * shard_routing.c - a set that is split over 64 servers, and a router that holds their filters.
 *
 *     cc -O2 -o shard_routing shard_routing.c $(pkg-config --cflags --libs bloomline) -lm
 *     ./shard_routing [KEYS]             keys in the set, 6400000 unless told
 *
 * A key's hash tells its server. Each server makes the filter of its keys and sends it to the
 * router as bytes. The router asks all 64 filters in one call, each for the keys that are its
 * own, and sends on only the keys that may be there. A server whose filter has not come, or came
 * damaged, gets all of its keys: nothing is lost, and only what the filter saves is.
 *
 * Exit status: 0; 1 if a key was not sent to its server, or too many were; 2 if something failed.
 */
#include <bloomline.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SHARDS = 64, BATCH = 1024, DAMAGED = 17 };

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "shard_routing: %s: %s\n", what, why);
    exit(2);
}

static void check(bloomline_status status, const char *doing)
{
    if (status != BLOOMLINE_OK) fail(doing, bloomline_status_message(status));
}

/* What the router has of a server: the bytes that it sent, and its filter in them. */
static struct {
    void *bytes;
    size_t len;
} received[SHARDS];
static bloomline_view views[SHARDS]; /* all zero: every key may be there */

/* What the servers do: keys 0 to count - 1, each to its shard, and each shard's filter. */
static void build(uint64_t count)
{
    bloomline_builder *builders[SHARDS];
    for (int shard = 0; shard < SHARDS; shard++) {
        check(bloomline_builder_new(10.0, 0, &builders[shard]), "making a builder");
    }
    for (uint64_t key = 0; key < count; key++) {
        uint64_t hash = bloomline_hash_u64(key, 0);
        bloomline_builder *shard = builders[bloomline_shard_of(hash, SHARDS)];
        check(bloomline_builder_add_hash(shard, hash), "adding a key");
    }
    for (int shard = 0; shard < SHARDS; shard++) {
        size_t len = bloomline_builder_block_len(builders[shard]);
        received[shard].len = len;
        received[shard].bytes = aligned_alloc(64, len); /* a multiple of 64 */
        if (received[shard].bytes == NULL) fail("a filter", "no memory");
        check(bloomline_builder_finish(builders[shard], received[shard].bytes, len, NULL),
              "building a filter");
        bloomline_builder_free(builders[shard]);
    }
}

/* Opens the filters that are sound. Returns the number of bytes in them. */
static size_t open_views(void)
{
    size_t bytes = 0;
    for (int shard = 0; shard < SHARDS; shard++) {
        bloomline_status status =
            bloomline_view_open(received[shard].bytes, received[shard].len, 0, &views[shard]);
        if (status == BLOOMLINE_OK) bytes += received[shard].len;
        else printf("shard %d   no filter: %s\n", shard, bloomline_status_message(status));
    }
    return bytes;
}

int main(int argc, char **argv)
{
    char *end = "";
    uint64_t count = argc > 1 ? strtoull(argv[1], &end, 10) : 6400000;
    if (argc > 2 || *end != '\0' || count == 0) fail("usage", "shard_routing [KEYS]");

    build(count);
    ((char *)received[DAMAGED].bytes)[5] ^= 1; /* on its way to the router */
    size_t bytes = open_views();

    /* Requests for keys 0 to 2 * count - 1: half of them are there. */
    uint64_t keys[BATCH], hashes[BATCH], maybe[BATCH / 64];
    uint64_t sent[2][SHARDS] = {{0}}, asked[2][SHARDS] = {{0}}; /* absent keys, and present ones */
    double in_call = 0;
    for (uint64_t first = 0; first < 2 * count; first += BATCH) {
        size_t n = 2 * count - first < BATCH ? (size_t)(2 * count - first) : BATCH;
        for (size_t i = 0; i < n; i++) keys[i] = first + i;
        bloomline_hash_u64_batch(keys, n, 0, hashes);

        struct timespec before, after;
        timespec_get(&before, TIME_UTC);
        bloomline_shards_contain_hashes(views, SHARDS, hashes, n, maybe);
        timespec_get(&after, TIME_UTC);
        in_call += difftime(after.tv_sec, before.tv_sec) * 1e9;
        in_call += (double)(after.tv_nsec - before.tv_nsec);

        for (size_t i = 0; i < n; i++) {
            bool is_there = keys[i] < count;
            uint64_t shard = bloomline_shard_of(hashes[i], SHARDS);
            asked[is_there][shard]++;
            sent[is_there][shard] += maybe[i / 64] >> (i % 64) & 1;
        }
    }

    uint64_t lost = 0, absent = 0, in_vain = 0, least = UINT64_MAX, most = 0;
    for (int shard = 0; shard < SHARDS; shard++) {
        uint64_t held = asked[true][shard];
        lost += held - sent[true][shard];
        least = held < least ? held : least;
        most = held > most ? held : most;
        if (shard == DAMAGED) continue;
        absent += asked[false][shard];
        in_vain += sent[false][shard];
    }
    double rate = absent > 0 ? (double)in_vain / (double)absent : 0;
    printf("filters   %d, of %" PRIu64 " to %" PRIu64 " keys, %.2f MB together\n", SHARDS, least,
           most, (double)bytes * 1e-6);
    printf("requests  %" PRIu64 ", half for keys that are there; %.0f ns each in the filters\n",
           2 * count, in_call / (2 * (double)count));
    printf("in vain   %.3f %% of the absent keys were sent on; 0.98 %% expected\n", 100 * rate);
    printf("shard %d   all %" PRIu64 " keys sent on, in vain or not\n", DAMAGED,
           sent[false][DAMAGED] + sent[true][DAMAGED]);
    printf("lost      %" PRIu64 " of %" PRIu64 " keys that are there\n", lost, count);

    bool all = sent[false][DAMAGED] == asked[false][DAMAGED];
    for (int shard = 0; shard < SHARDS; shard++) free(received[shard].bytes);
    return lost == 0 && all && rate < 0.0098 * 1.1 + 5 * sqrt(0.0098 / (double)count) ? 0 : 1;
}
