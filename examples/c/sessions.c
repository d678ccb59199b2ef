/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * sessions.c - which of a service's sessions may be open, on servers that do not know how many will be.
 *
 *     cc -O2 -o sessions sessions.c $(pkg-config --cflags --libs bloomline)
 *     ./sessions [LOGINS]                logins on each server, 200000 unless told
 *
 * Each server keeps a filter of its open sessions: a login inserts, a logout removes, and the filter
 * grows and shrinks with them. Every so often it sends the filter as bytes. The gateway merges what it
 * got. It refuses a session that is on no server without asking one, and sends on all others.
 *
 * Exit status: 0; 1 if an open session was refused, or too many were sent on that are not open; 2 if
 * something failed.
 */
#include <bloomline.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SERVERS = 4, FIRST = 1000 };

#define RATE 0.01 /* of each server's filter */

static void check(bloomline_status status, const char *doing)
{
    if (status == BLOOMLINE_OK) return;
    fprintf(stderr, "sessions: %s: %s\n", doing, bloomline_status_message(status));
    exit(2);
}

static uint64_t seed; /* of all filters: only such can be merged */

static uint64_t session(uint64_t server, uint64_t login)
{
    return bloomline_hash_u64(server << 40 | login, seed);
}
/* Two of three log out again. */
static bool is_open(uint64_t login) { return login % 3 == 0; }

/* What a server does: an encoded filter, to be freed. */
static void *serve(uint64_t server, uint64_t logins, size_t *len)
{
    bloomline_growing *filter, *settled;
    bloomline_view view;
    check(bloomline_growing_new_unbounded(FIRST, RATE, seed, &filter), "making a filter");
    check(bloomline_growing_view(filter, &view), "viewing it");
    for (uint64_t i = 0; i < logins; i++) {
        check(bloomline_growing_insert_hash(filter, session(server, i), NULL), "a login");
    }
    const size_t most = bloomline_growing_memory(filter);
    for (uint64_t i = 0; i < logins; i++) {
        if (!is_open(i)) check(bloomline_growing_remove_hash(filter, session(server, i)), "a logout");
    }
    printf("server %" PRIu64 "  %8" PRIu64 " open, %7zu KB; %zu KB with all that logged in\n", server,
           bloomline_view_key_count(&view), bloomline_growing_memory(filter) / 1024, most / 1024);
    /* The copy is as it is encoded, so its length takes no work. */
    check(bloomline_growing_clone(filter, &settled), "a copy");
    *len = bloomline_growing_encoded_len(settled);
    void *bytes = malloc(*len);
    if (bytes == NULL) check(BLOOMLINE_ERR_OUT_OF_MEMORY, "a message");
    check(bloomline_growing_encode(settled, bytes, *len, NULL), "encoding");
    bloomline_growing_free(settled);
    bloomline_growing_free(filter);
    return bytes;
}

int main(int argc, char **argv)
{
    const uint64_t logins = argc > 1 ? strtoull(argv[1], NULL, 10) : 200000;
    bloomline_growing *all = NULL;
    bloomline_view view;
    if (logins == 0) {
        fprintf(stderr, "sessions: usage: sessions [LOGINS]\n");
        return 2;
    }
    check(bloomline_random_seed(&seed), "a seed");
    for (uint64_t server = 0; server < SERVERS; server++) {
        size_t len;
        void *bytes = serve(server, logins, &len);
        bloomline_growing *received;
        check(bloomline_growing_decode(bytes, len, &received), "decoding");
        free(bytes);
        if (all == NULL) {
            all = received;
            continue;
        }
        check(bloomline_growing_union(all, received), "merging");
        bloomline_growing_free(received);
    }
    check(bloomline_growing_view(all, &view), "viewing all");
    uint64_t refused = 0, sent = 0, closed = 0;
    for (uint64_t server = 0; server < SERVERS; server++) {
        for (uint64_t i = 0; i < logins; i++) {
            const bool maybe = bloomline_view_contains_hash(&view, session(server, i));
            if (is_open(i)) refused += !maybe;
            else closed++, sent += maybe;
        }
    }
    const double rate = closed > 0 ? (double)sent / (double)closed : 0;
    printf("refused   %" PRIu64 " open sessions of %" PRIu64 "\n", refused, bloomline_view_key_count(&view));
    printf("sent on   %.2f %% of the closed ones; the rates of unbounded filters add up\n", 100 * rate);
    bloomline_growing_free(all);
    return refused > 0 || rate > 1.5 * SERVERS * RATE;
}
