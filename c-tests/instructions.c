/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * instructions.c - runs each call on the same keys, for instructions.sh, which counts the
 * instructions under callgrind. Each operation asks valgrind for a dump named
 * "NAME COUNT", COUNT being the keys (or keys times views) that its instructions are shared by.
 *
 * All data is fixed, and the filter is so small that no CPU's cache size matters: 64 KiB, 10 bits
 * per key, of half the probed keys. Uses bloomline.h and valgrind's header.
 */
#include <bloomline.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

enum { LINES = 1024, KEYS = 4096, KEY_BYTES = 16, VIEWS = 8, MOST_WORDS = (KEYS + 63) / 64 };

static bloomline_filter *filter, *others[VIEWS];
static bloomline_group *groups[VIEWS + 1]; /* of so many of the views */
static bloomline_matrix *narrow, *wide;    /* of 64 and of 512 columns */
static bloomline_group *of_narrow, *of_wide; /* of all their columns */
static bloomline_view column;              /* of the wide one */
static uint32_t members[KEYS];
static bloomline_view view, views[VIEWS], static_view, static_wide_view, cuckoo_view, growing_view, scalable_view,
    window_view, cascade_view;
static bloomline_growing *growing;
static uint64_t hashes[KEYS], bitmap[MOST_WORDS];
static uint8_t bytes[KEYS][KEY_BYTES];
static bloomline_bytes keys[KEYS];
static const bloomline_bytes *each[KEYS];
static bool present[KEYS];
static size_t yes; /* what came out, so that it is not optimized away */

/* One key in a call. */
#define ONE(name, call)                                                \
    static void name(size_t n)                                         \
    {                                                                  \
        (void)n;                                                       \
        for (size_t i = 0; i < KEYS; i++) call;                        \
    }
/* n keys in a call. */
#define SOME(name, call)                                               \
    static void name(size_t n)                                         \
    {                                                                  \
        for (size_t i = 0; i < KEYS; i += n) call;                     \
    }
ONE(filter_contains_hash, yes += bloomline_filter_contains_hash(filter, hashes[i]))
ONE(filter_contains, yes += bloomline_filter_contains(filter, bytes[i], KEY_BYTES))
ONE(filter_insert_hash, bloomline_filter_insert_hash(filter, hashes[i]))
ONE(filter_insert, bloomline_filter_insert(filter, bytes[i], KEY_BYTES))
ONE(view_contains_hash, yes += bloomline_view_contains_hash(&view, hashes[i]))
ONE(view_contains, yes += bloomline_view_contains(&view, bytes[i], KEY_BYTES))
SOME(filter_contains_hashes, yes += bloomline_filter_contains_hashes(filter, &hashes[i], n, bitmap))
SOME(filter_contains_keys, yes += bloomline_filter_contains_keys(filter, &keys[i], n, bitmap))
SOME(filter_insert_hashes, bloomline_filter_insert_hashes(filter, &hashes[i], n))
SOME(filter_insert_keys, bloomline_filter_insert_keys(filter, &keys[i], n))
SOME(view_contains_hashes, yes += bloomline_view_contains_hashes(&view, &hashes[i], n, bitmap))
SOME(view_contains_keys, yes += bloomline_view_contains_keys(&view, &keys[i], n, bitmap))
SOME(view_contains_each, bloomline_view_contains_each(&view, &each[i], n, present))

/* Of 8 rows, of 16, and fingerprints of 12 bits. */
ONE(static_contains_hash, yes += bloomline_view_contains_hash(&static_view, hashes[i]))
ONE(static_wide_contains_hash, yes += bloomline_view_contains_hash(&static_wide_view, hashes[i]))
ONE(growing_contains_hash, yes += bloomline_view_contains_hash(&growing_view, hashes[i]))
ONE(growing_insert_hash, yes += bloomline_growing_insert_hash(growing, hashes[i], NULL) == BLOOMLINE_OK)
ONE(cuckoo_contains_hash, yes += bloomline_view_contains_hash(&cuckoo_view, hashes[i]))
SOME(static_contains_hashes, yes += bloomline_view_contains_hashes(&static_view, &hashes[i], n, bitmap))
SOME(cuckoo_contains_hashes, yes += bloomline_view_contains_hashes(&cuckoo_view, &hashes[i], n, bitmap))
SOME(growing_contains_hashes, yes += bloomline_view_contains_hashes(&growing_view, &hashes[i], n, bitmap))
/* Of 4 stages, of 4 generations, and a cascade. */
ONE(scalable_contains_hash, yes += bloomline_view_contains_hash(&scalable_view, hashes[i]))
ONE(window_contains_hash, yes += bloomline_view_contains_hash(&window_view, hashes[i]))
ONE(cascade_contains_hash, yes += bloomline_view_contains_hash(&cascade_view, hashes[i]))
SOME(scalable_contains_hashes, yes += bloomline_view_contains_hashes(&scalable_view, &hashes[i], n, bitmap))
SOME(window_contains_hashes, yes += bloomline_view_contains_hashes(&window_view, &hashes[i], n, bitmap))
SOME(cascade_contains_hashes, yes += bloomline_view_contains_hashes(&cascade_view, &hashes[i], n, bitmap))
SOME(growing_insert_hashes, yes += bloomline_growing_insert_hashes(growing, &hashes[i], n, NULL) == BLOOMLINE_OK)

/* One key in n filters. */
static void views_contain_hash(size_t n)
{
    for (size_t i = 0; i < KEYS; i += n) yes += bloomline_views_contain_hash(views, n, hashes[i], bitmap);
}

/* The same of a group of so many. */
static void group_contains_hash(size_t n)
{
    for (size_t i = 0; i < KEYS; i += n) yes += bloomline_group_contains_hash(groups[n], hashes[i], bitmap);
}

/* One key in 64 and in 512 columns, and n in a call. */
ONE(matrix_64_contains_hash, yes += bloomline_matrix_contains_hash(narrow, hashes[i], NULL, bitmap))
ONE(matrix_512_contains_hash, yes += bloomline_matrix_contains_hash(wide, hashes[i], NULL, bitmap))
ONE(matrix_512_any_hash, yes += bloomline_matrix_any_hash(wide, hashes[i], NULL))
SOME(matrix_64_contains_hashes, yes += bloomline_matrix_contains_hashes(narrow, &hashes[i], n, NULL, bitmap))

/* The same as members of a group, and one of them alone. */
ONE(group_64_columns_contains_hash, yes += bloomline_group_contains_hash(of_narrow, hashes[i], bitmap))
ONE(group_512_columns_contains_hash, yes += bloomline_group_contains_hash(of_wide, hashes[i], bitmap))
ONE(column_contains_hash, yes += bloomline_view_contains_hash(&column, hashes[i]))
SOME(column_contains_hashes, yes += bloomline_view_contains_hashes(&column, &hashes[i], n, bitmap))
static void group_512_columns_contains_pairs(size_t n)
{
    for (size_t i = 0; i < KEYS; i += n)
        yes += bloomline_group_contains_pairs(of_wide, &members[i], &hashes[i], n, bitmap);
}

/* n keys, each in a filter of its own. */
static void group_contains_pairs(size_t n)
{
    for (size_t i = 0; i < KEYS; i += n)
        yes += bloomline_group_contains_pairs(groups[VIEWS], &members[i], &hashes[i], n, bitmap);
}

/* n keys, each in the filter of its shard. */
static void shards_contain_hashes(size_t n)
{
    for (size_t i = 0; i < KEYS; i += n)
        yes += bloomline_shards_contain_hashes(views, VIEWS, &hashes[i], n, bitmap);
}

static const struct {
    const char *name;
    void (*run)(size_t n);
    size_t n;
} operations[] = {
#define N(name, n) {#name, name, n}
    N(filter_contains_hash, 1), N(filter_contains, 1), N(filter_insert_hash, 1), N(filter_insert, 1),
    N(view_contains_hash, 1), N(view_contains, 1),
    N(filter_contains_hashes, 1), N(filter_contains_hashes, 4), N(filter_contains_hashes, 16),
    N(filter_contains_hashes, KEYS),
    N(filter_contains_keys, 1), N(filter_contains_keys, 4), N(filter_contains_keys, 16),
    N(filter_contains_keys, KEYS),
    N(filter_insert_hashes, 1), N(filter_insert_hashes, 4), N(filter_insert_hashes, 16),
    N(filter_insert_hashes, KEYS),
    N(filter_insert_keys, 1), N(filter_insert_keys, 4), N(filter_insert_keys, 16),
    N(filter_insert_keys, KEYS),
    N(view_contains_hashes, 1), N(view_contains_hashes, 4), N(view_contains_hashes, 16),
    N(view_contains_hashes, KEYS),
    N(view_contains_keys, 1), N(view_contains_keys, 4), N(view_contains_keys, 16),
    N(view_contains_keys, KEYS),
    N(view_contains_each, 1), N(view_contains_each, 2), N(view_contains_each, 4), N(view_contains_each, 16),
    N(views_contain_hash, 1), N(views_contain_hash, 4), N(views_contain_hash, VIEWS),
    N(group_contains_hash, 1), N(group_contains_hash, 4), N(group_contains_hash, VIEWS),
    N(group_contains_pairs, 1), N(group_contains_pairs, 16), N(group_contains_pairs, KEYS),
    N(matrix_64_contains_hash, 1), N(matrix_512_contains_hash, 1), N(matrix_512_any_hash, 1),
    N(matrix_64_contains_hashes, 16),
    N(group_64_columns_contains_hash, 1), N(group_512_columns_contains_hash, 1),
    N(group_512_columns_contains_pairs, 16), N(column_contains_hash, 1), N(column_contains_hashes, 16),
    N(static_contains_hash, 1), N(static_wide_contains_hash, 1), N(static_contains_hashes, 2),
    N(static_contains_hashes, 4),
    N(static_contains_hashes, 16), N(cuckoo_contains_hash, 1), N(cuckoo_contains_hashes, 2),
    N(cuckoo_contains_hashes, 4),
    N(cuckoo_contains_hashes, 16),
    N(growing_contains_hash, 1), N(growing_contains_hashes, 4), N(growing_contains_hashes, 16),
    N(growing_contains_hashes, KEYS), N(growing_insert_hash, 1), N(growing_insert_hashes, 16),
    N(scalable_contains_hash, 1), N(scalable_contains_hashes, 4), N(scalable_contains_hashes, 16),
    N(window_contains_hash, 1), N(window_contains_hashes, 4), N(window_contains_hashes, 16),
    N(cascade_contains_hash, 1), N(cascade_contains_hashes, 4), N(cascade_contains_hashes, 16),
    N(shards_contain_hashes, 1), N(shards_contain_hashes, 16), N(shards_contain_hashes, KEYS),
};

/* A matrix of 16 lines. Each key is in one of its columns. */
static bloomline_matrix *made_matrix(size_t columns)
{
    bloomline_params params;
    bloomline_matrix *made;
    memset(&params, 0, sizeof params);
    params.line_count = 16;
    params.k = 6;
    if (bloomline_matrix_new(&params, columns, &made) != BLOOMLINE_OK) exit(2);
    for (size_t i = 0; i < KEYS; i++)
        if (bloomline_matrix_insert_hash(made, i * 7 % columns, hashes[i], NULL) != BLOOMLINE_OK) exit(2);
    return made;
}

/* A group of all columns of a matrix. 'last' becomes the view of the last one. */
static bloomline_group *group_of(const bloomline_matrix *matrix, size_t columns, bloomline_view *last)
{
    static bloomline_view all[512];
    bloomline_group *made;
    for (size_t i = 0; i < columns; i++)
        if (bloomline_matrix_column_view(matrix, i, &all[i]) != BLOOMLINE_OK) exit(2);
    if (bloomline_group_new(all, columns, &made) != BLOOMLINE_OK) exit(2);
    *last = all[columns - 1];
    return made;
}

static bloomline_filter *made(uint32_t k)
{
    bloomline_params params;
    bloomline_filter *made;
    memset(&params, 0, sizeof params);
    params.line_count = LINES;
    params.k = k;
    if (bloomline_filter_new(&params, &made) != BLOOMLINE_OK) exit(2);
    return made;
}

/* A static filter of these keys, and a view of it. */
static void view_static(const uint64_t *own, size_t n, double rate, bloomline_view *out)
{
    size_t len = bloomline_static_block_len(n, rate);
    void *block = malloc(len);
    if (block == NULL ||
        bloomline_static_block_build(own, n, rate, 0, 1, block, len, &len) != BLOOMLINE_OK ||
        bloomline_view_open(block, len, 0, out) != BLOOMLINE_OK)
        exit(2);
}

static void view_cuckoo(const uint64_t *own, size_t n, bloomline_view *out)
{
    bloomline_cuckoo_params params;
    bloomline_cuckoo *cuckoo;
    if (bloomline_cuckoo_params_for_rate(n, 0.002, &params) != BLOOMLINE_OK ||
        bloomline_cuckoo_new(&params, &cuckoo) != BLOOMLINE_OK)
        exit(2);
    for (size_t i = 0; i < n; i++)
        if (bloomline_cuckoo_insert_hash(cuckoo, own[i]) != BLOOMLINE_OK) exit(2);
    if (bloomline_cuckoo_view(cuckoo, out) != BLOOMLINE_OK) exit(2);
}

static void view_growing(const uint64_t *own, size_t n)
{
    if (bloomline_growing_new(n, 0.01, 0, &growing) != BLOOMLINE_OK ||
        bloomline_growing_insert_hashes(growing, own, n, NULL) != BLOOMLINE_OK ||
        bloomline_growing_view(growing, &growing_view) != BLOOMLINE_OK)
        exit(2);
}

/* Filters that are made of others: a scalable one of 4 stages, a window of 4 generations, and a cascade that
   tells half of the keys from the other half. */
static void view_wholes(const uint64_t *own, size_t n)
{
    static uint64_t excluded[KEYS / 2];
    bloomline_scalable *scalable;
    bloomline_scalable_facts facts;
    bloomline_window *window;
    bloomline_cascade *cascade;
    if (bloomline_scalable_new(n / 15 + 1, 0.01, 0, &scalable) != BLOOMLINE_OK ||
        bloomline_window_new(4, n / 4 + 1, 0.01, 0, &window) != BLOOMLINE_OK)
        exit(2);
    bloomline_window_rotate_after(window, n / 4 + 1);
    for (size_t i = 0; i < n; i++) {
        if (bloomline_scalable_insert_hash(scalable, own[i], NULL) != BLOOMLINE_OK) exit(2);
        bloomline_window_insert_hash(window, own[i]);
    }
    for (size_t i = 0; i < KEYS / 2; i++) excluded[i] = hashes[2 * i + 1];
    if (bloomline_cascade_new(own, n, excluded, KEYS / 2, 0, 0, 1, &cascade) != BLOOMLINE_OK ||
        bloomline_scalable_about(scalable, &facts) != BLOOMLINE_OK || facts.stage_count != 4 ||
        bloomline_scalable_view(scalable, &scalable_view) != BLOOMLINE_OK ||
        bloomline_window_view(window, &window_view) != BLOOMLINE_OK ||
        bloomline_cascade_view(cascade, &cascade_view) != BLOOMLINE_OK)
        exit(2);
}

int main(void)
{
    static uint64_t own[LINES * 512 / 10 + KEYS];
    size_t owned = 0;
    /* Keys that an xorshift makes; every other one is inserted, and as many more. */
    uint64_t x = UINT64_C(88172645463325252);
    filter = made(6);
    for (size_t i = 0; i < VIEWS; i++) {
        others[i] = made(6);
        if (bloomline_filter_view(others[i], &views[i]) != BLOOMLINE_OK) return 2;
    }
    for (size_t i = 1; i <= VIEWS; i++) {
        if (bloomline_group_new(views, i, &groups[i]) != BLOOMLINE_OK) return 2;
    }
    for (size_t i = 0; i < KEYS; i++) members[i] = (uint32_t)(i * 7 % VIEWS);
    for (size_t i = 0; i < LINES * 512 / 10 + KEYS; i++) {
        uint8_t key[KEY_BYTES];
        uint64_t hash;
        for (size_t at = 0; at < KEY_BYTES; at++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            key[at] = (uint8_t)(x >> 32);
        }
        hash = bloomline_hash(key, KEY_BYTES, 0);
        if (i < KEYS) {
            memcpy(bytes[i], key, KEY_BYTES);
            keys[i].data = bytes[i];
            keys[i].len = KEY_BYTES;
            each[i] = &keys[i];
            hashes[i] = hash;
        }
        if (i >= KEYS || i % 2 == 0) {
            bloomline_filter_insert_hash(filter, hash);
            own[owned++] = hash;
        }
        bloomline_filter_insert_hash(others[i % VIEWS], hash);
    }
    narrow = made_matrix(64);
    wide = made_matrix(512);
    of_narrow = group_of(narrow, 64, &column);
    of_wide = group_of(wide, 512, &column);
    if (bloomline_filter_view(filter, &view) != BLOOMLINE_OK) return 2;
    view_static(own, owned, 1.0 / 255, &static_view);
    view_static(own, owned, 1.0 / 65000, &static_wide_view);
    view_cuckoo(own, owned, &cuckoo_view);
    view_growing(own, owned);
    view_wholes(own, owned);

    for (size_t pass = 0; pass < 2; pass++) /* inserts come last, since they change the answers */
        for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
            char name[80];
            if ((strstr(operations[i].name, "insert") != NULL) != (pass == 1)) continue;
            snprintf(name, sizeof name, "%s/%zu %d", operations[i].name, operations[i].n, KEYS);
            operations[i].run(operations[i].n); /* what is found out once is not counted */
            CALLGRIND_ZERO_STATS;
            operations[i].run(operations[i].n);
            CALLGRIND_DUMP_STATS_AT(name);
        }
    printf("%zu\n", yes);
    return yes == 0;
}
