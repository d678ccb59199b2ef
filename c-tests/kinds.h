/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kinds.h - the kinds of filters as rows of functions: what test_histories.c and test_golden.c do is
 * written once for all of them.
 *
 * C. Uses probes.h, definition.h, history.h and whole.h; include it after _XOPEN_SOURCE is set.
 */
#ifndef KINDS_H
#define KINDS_H

#include "check.h"
#include "probes.h"
#include "definition.h"
#include "history.h"
#include "whole.h"

/* What a handle can do; NULL: not this kind. */
typedef struct {
    const char *name;
    const char *golden; /* its directory there, or NULL */
    bloomline_status (*make)(char **args, size_t count, void **out);
    STORED_FIELDS;
    bool (*contains)(const void *handle, size_t i);
    size_t (*contains_all)(const void *handle, uint64_t *bitmap);
    bloomline_status (*insert)(void *handle, bool *is_new);
    bloomline_status (*insert_all)(void *handle, uint64_t *is_new, size_t *count);
    bloomline_status (*remove)(void *handle, size_t i);
    size_t (*remove_all)(void *handle, uint64_t *removed);
    bloomline_status (*unite)(void *into, const void *from);
    void (*other)(char *answer, void *handle, char **words);
} row;

static history_keys keys; /* of a line */

#define PROBED(kind, prefix)                                                                              \
    static bool kind##_has(const void *handle, size_t i)                                                  \
    {                                                                                                     \
        const bloomline_##kind *filter = (const bloomline_##kind *)handle;                                \
        return keys.bytes ? prefix##_contains(filter, keys.keys[i].data, keys.keys[i].len)                \
                          : prefix##_contains_hash(filter, keys.hashes[i]);                               \
    }                                                                                                     \
    static size_t kind##_has_all(const void *handle, uint64_t *bitmap)                                    \
    {                                                                                                     \
        const bloomline_##kind *filter = (const bloomline_##kind *)handle;                                \
        return keys.bytes ? prefix##_contains_keys(filter, keys.keys, keys.n, bitmap)                     \
                          : prefix##_contains_hashes(filter, keys.hashes, keys.n, bitmap);                \
    }

/* Inserts that cannot fail, and tell of one key whether it was new. */
#define INSERTED(kind)                                                                                    \
    static bloomline_status kind##_insert(void *handle, bool *is_new)                                     \
    {                                                                                                     \
        bloomline_##kind *filter = (bloomline_##kind *)handle;                                            \
        *is_new = keys.bytes ? bloomline_##kind##_insert(filter, keys.keys[0].data, keys.keys[0].len)     \
                             : bloomline_##kind##_insert_hash(filter, keys.hashes[0]);                    \
        return BLOOMLINE_OK;                                                                              \
    }
#define INSERTED_ALL(kind)                                                                                \
    static bloomline_status kind##_insert_all(void *handle, uint64_t *is_new, size_t *count)              \
    {                                                                                                     \
        bloomline_##kind *filter = (bloomline_##kind *)handle;                                            \
        (void)is_new;                                                                                     \
        (void)count;                                                                                      \
        if (keys.bytes) bloomline_##kind##_insert_keys(filter, keys.keys, keys.n);                        \
        else bloomline_##kind##_insert_hashes(filter, keys.hashes, keys.n);                               \
        return BLOOMLINE_OK;                                                                              \
    }
#define INSERTED_NEW(kind)                                                                                \
    static bloomline_status kind##_insert_all(void *handle, uint64_t *is_new, size_t *count)              \
    {                                                                                                     \
        bloomline_##kind *filter = (bloomline_##kind *)handle;                                            \
        *count = keys.bytes ? bloomline_##kind##_insert_keys(filter, keys.keys, keys.n, is_new)           \
                            : bloomline_##kind##_insert_hashes(filter, keys.hashes, keys.n, is_new);      \
        return BLOOMLINE_OK;                                                                              \
    }
#define REMOVED(kind)                                                                                     \
    static bloomline_status kind##_remove(void *handle, size_t i)                                         \
    {                                                                                                     \
        bloomline_##kind *filter = (bloomline_##kind *)handle;                                            \
        return keys.bytes ? bloomline_##kind##_remove(filter, keys.keys[i].data, keys.keys[i].len)        \
                          : bloomline_##kind##_remove_hash(filter, keys.hashes[i]);                       \
    }
#define UNITED(kind)                                                                                      \
    static bloomline_status kind##_unite(void *into, const void *from)                                    \
    {                                                                                                     \
        return bloomline_##kind##_union((bloomline_##kind *)into, (const bloomline_##kind *)from);        \
    }

PROBED(filter, filter)
PROBED(counting, counting)
PROBED(cuckoo, cuckoo)
PROBED(concurrent, concurrent)
PROBED(scalable, scalable)
PROBED(window, window)
PROBED(cascade, cascade)
INSERTED(filter)
INSERTED(counting)
INSERTED(concurrent)
INSERTED(window)
INSERTED_ALL(filter)
INSERTED_ALL(counting)
INSERTED_NEW(concurrent)
INSERTED_NEW(window)
REMOVED(counting)
REMOVED(cuckoo)
UNITED(filter)
UNITED(counting)

static bool is(const char *word, const char *verb) { return strcmp(word, verb) == 0; }

static bloomline_params params_of(char **args)
{
    bloomline_params params = {golden_number(args[0], 10), (uint32_t)golden_number(args[1], 10), 0, golden_number(args[2], 10)};
    return params;
}

static void say_params(char *answer, bloomline_status status, const bloomline_params *params)
{
    REQUIRE_OK(status);
    history_params(answer, params->line_count, params->k, params->seed);
}

/* ---- filter, classic ---- */

static bloomline_status filter_make(char **args, size_t count, void **out)
{
    bloomline_params params = params_of(args);
    (void)count;
    return bloomline_filter_new(&params, (bloomline_filter **)out);
}
static bloomline_status classic_make(char **args, size_t count, void **out)
{
    bloomline_params params = params_of(args);
    (void)count;
    return classic_new(&params, (bloomline_filter **)out);
}
static void filter_other(char *answer, void *handle, char **words)
{
    bloomline_filter *filter = (bloomline_filter *)handle;
    bloomline_params params;
    if (is(words[0], "key_count")) history_number(answer, filter_key_count(filter));
    else if (is(words[0], "clear")) bloomline_filter_clear(filter);
    else if (is(words[0], "fold")) history_status(answer, bloomline_filter_fold(filter));
    else say_params(answer, filter_params(filter, &params), &params);
}

/* ---- concurrent: bytes are those of a snapshot ---- */

static bloomline_filter *snapshot_of(const void *handle)
{
    bloomline_filter *snapshot = NULL;
    REQUIRE_OK(bloomline_concurrent_snapshot((const bloomline_concurrent *)handle, &snapshot));
    return snapshot;
}
static bloomline_status concurrent_make(char **args, size_t count, void **out)
{
    bloomline_params params = params_of(args);
    (void)count;
    return concurrent_new(&params, (bloomline_concurrent **)out);
}
static void concurrent_destroy(void *handle) { bloomline_concurrent_free((bloomline_concurrent *)handle); }
static bloomline_status concurrent_clone(const void *handle, void **out)
{
    bloomline_filter *snapshot = snapshot_of(handle);
    return bloomline_concurrent_new(&snapshot, (bloomline_concurrent **)out);
}
static size_t concurrent_len(const void *handle)
{
    bloomline_filter *snapshot = snapshot_of(handle);
    size_t len = bloomline_filter_encoded_len(snapshot);
    bloomline_filter_free(snapshot);
    return len;
}
static bloomline_status concurrent_encode(const void *handle, void *out, size_t cap, size_t *written)
{
    bloomline_filter *snapshot = snapshot_of(handle);
    bloomline_status status = bloomline_filter_encode(snapshot, out, cap, written);
    bloomline_filter_free(snapshot);
    return status;
}
static bloomline_status concurrent_unite(void *into, const void *from)
{
    bloomline_filter *snapshot = snapshot_of(from);
    bloomline_status status = bloomline_concurrent_union((bloomline_concurrent *)into, snapshot);
    bloomline_filter_free(snapshot);
    return status;
}
static void concurrent_other(char *answer, void *handle, char **words)
{
    bloomline_params params;
    REQUIRE(is(words[0], "params"));
    say_params(answer, concurrent_params((const bloomline_concurrent *)handle, &params), &params);
}

/* ---- counting ---- */

static bloomline_status counting_make(char **args, size_t count, void **out)
{
    bloomline_params params = params_of(args);
    (void)count;
    return bloomline_counting_new(&params, (bloomline_counting **)out);
}
static size_t counting_remove_all(void *handle, uint64_t *removed)
{
    bloomline_counting *filter = (bloomline_counting *)handle;
    return keys.bytes ? bloomline_counting_remove_keys(filter, keys.keys, keys.n, removed)
                      : bloomline_counting_remove_hashes(filter, keys.hashes, keys.n, removed);
}
static void counting_other(char *answer, void *handle, char **words)
{
    bloomline_counting *filter = (bloomline_counting *)handle;
    bloomline_params params;
    if (is(words[0], "key_count")) history_number(answer, counting_key_count(filter));
    else if (is(words[0], "clear")) bloomline_counting_clear(filter);
    else if (is(words[0], "params")) say_params(answer, counting_params(filter, &params), &params);
    else if (is(words[0], "count")) {
        history_read(&keys, words + 1, 1);
        uint64_t hash = keys.hashes[0];
        bloomline_view view = counting_view_of(filter);
        if (keys.bytes) hash = bloomline_view_hash(&view, keys.keys[0].data, keys.keys[0].len);
        history_number(answer, bloomline_counting_count_hash(filter, hash));
    } else {
        static uint8_t bytes[4096];
        size_t written;
        REQUIRE(is(words[0], "plain"));
        REQUIRE_OK(bloomline_filter_encode(bloomline_counting_filter(filter), bytes, sizeof bytes, &written));
        history_digest(answer, written, bytes, written);
    }
}

/* ---- cuckoo ---- */

static bloomline_status cuckoo_make(char **args, size_t count, void **out)
{
    bloomline_params shape = params_of(args);
    bloomline_cuckoo_params params = {shape.line_count, shape.k, 0, shape.seed};
    (void)count;
    return bloomline_cuckoo_new(&params, (bloomline_cuckoo **)out);
}
static bloomline_status cuckoo_insert(void *handle, bool *is_new)
{
    bloomline_cuckoo *filter = (bloomline_cuckoo *)handle;
    *is_new = !cuckoo_has(handle, 0);
    return keys.bytes ? bloomline_cuckoo_insert(filter, keys.keys[0].data, keys.keys[0].len)
                      : bloomline_cuckoo_insert_hash(filter, keys.hashes[0]);
}
static bloomline_status cuckoo_insert_all(void *handle, uint64_t *is_new, size_t *count)
{
    bloomline_cuckoo *filter = (bloomline_cuckoo *)handle;
    uint64_t before = cuckoo_key_count(filter);
    bloomline_status status = keys.bytes ? bloomline_cuckoo_insert_keys(filter, keys.keys, keys.n, count)
                                         : bloomline_cuckoo_insert_hashes(filter, keys.hashes, keys.n, count);
    (void)is_new;
    CHECK_U64(before + *count, cuckoo_key_count(filter));
    return status;
}
static size_t cuckoo_remove_all(void *handle, uint64_t *removed)
{
    size_t count = 0;
    memset(removed, 0, HISTORY_WORDS * 8);
    for (size_t i = 0; i < keys.n; i++) {
        if (cuckoo_remove(handle, i) != BLOOMLINE_OK) continue;
        removed[i / 64] |= (uint64_t)1 << i % 64;
        count++;
    }
    return count;
}
static void cuckoo_other(char *answer, void *handle, char **words)
{
    bloomline_cuckoo *filter = (bloomline_cuckoo *)handle;
    if (is(words[0], "key_count")) history_number(answer, cuckoo_key_count(filter));
    else if (is(words[0], "clear")) bloomline_cuckoo_clear(filter);
    else {
        bloomline_view view = cuckoo_view_of(filter);
        bloomline_params params;
        REQUIRE(is(words[0], "params"));
        REQUIRE_OK(bloomline_view_shape(&view, &params));
        history_params(answer, params.line_count, params.k, params.seed);
    }
}

/* ---- scalable, window ---- */

static bloomline_status scalable_make(char **args, size_t count, void **out)
{
    (void)count;
    return bloomline_scalable_new(golden_number(args[0], 10), strtod(args[1], NULL), golden_number(args[2], 10), (bloomline_scalable **)out);
}
static bloomline_status scalable_insert(void *handle, bool *is_new)
{
    bloomline_scalable *filter = (bloomline_scalable *)handle;
    return keys.bytes ? bloomline_scalable_insert(filter, keys.keys[0].data, keys.keys[0].len, is_new)
                      : bloomline_scalable_insert_hash(filter, keys.hashes[0], is_new);
}
static bloomline_status scalable_insert_all(void *handle, uint64_t *is_new, size_t *count)
{
    bloomline_scalable *filter = (bloomline_scalable *)handle;
    uint64_t before = scalable_key_count(filter);
    bloomline_status status = keys.bytes ? bloomline_scalable_insert_keys(filter, keys.keys, keys.n, is_new)
                                         : bloomline_scalable_insert_hashes(filter, keys.hashes, keys.n, is_new);
    *count = (size_t)(scalable_key_count(filter) - before);
    return status;
}
static void scalable_other(char *answer, void *handle, char **words)
{
    bloomline_scalable *filter = (bloomline_scalable *)handle;
    history_number(answer, is(words[0], "stages") ? scalable_about(filter).stage_count : scalable_key_count(filter));
}
static bloomline_status window_make(char **args, size_t count, void **out)
{
    (void)count;
    return bloomline_window_new((uint32_t)golden_number(args[0], 10), golden_number(args[1], 10), strtod(args[2], NULL),
                                golden_number(args[3], 10), (bloomline_window **)out);
}
static void window_other(char *answer, void *handle, char **words)
{
    bloomline_window *window = (bloomline_window *)handle;
    if (is(words[0], "key_count")) history_number(answer, bloomline_window_key_count(window, (uint32_t)golden_number(words[1], 10)));
    else if (is(words[0], "slice")) history_number(answer, window_about(window).time_slice);
    else if (is(words[0], "rotate")) bloomline_window_rotate(window);
    else if (is(words[0], "advance")) bloomline_window_advance_to(window, golden_number(words[1], 10));
    else if (is(words[0], "rotate_after")) bloomline_window_rotate_after(window, golden_number(words[1], 10));
    else {
        bloomline_window_facts facts;
        bloomline_status status = bloomline_window_about(window, &facts);
        say_params(answer, status, &facts.params);
    }
}

/* ---- static: encoded bytes behind their length, probed through a view ---- */

static bloomline_status static_decode(const void *data, size_t len, void **out)
{
    bloomline_view view;
    bloomline_status status = bloomline_view_open(data, len, &view);
    if (status != BLOOMLINE_OK) return status;
    size_t *block = (size_t *)malloc(sizeof *block + len);
    REQUIRE(block != NULL);
    *block = len;
    memcpy(block + 1, data, len);
    *out = block;
    return BLOOMLINE_OK;
}
static size_t static_len(const void *handle) { return *(const size_t *)handle; }
static bloomline_status static_encode(const void *handle, void *out, size_t cap, size_t *written)
{
    REQUIRE(cap >= static_len(handle));
    *written = static_len(handle);
    memcpy(out, (const size_t *)handle + 1, *written);
    return BLOOMLINE_OK;
}
static bloomline_status static_clone(const void *handle, void **out)
{
    return static_decode((const size_t *)handle + 1, static_len(handle), out);
}
static bloomline_status static_save(const void *handle, const char *path)
{
    files_write(path, (const size_t *)handle + 1, static_len(handle));
    return BLOOMLINE_OK;
}
static bloomline_status static_load(const char *path, void **out)
{
    size_t len;
    uint8_t *data = files_read(path, &len);
    REQUIRE(data != NULL);
    bloomline_status status = static_decode(data, len, out);
    free(data);
    return status;
}
static bloomline_status static_make(char **args, size_t count, void **out)
{
    uint64_t seed = golden_number(args[1], 10), rows = golden_number(args[0], 10);
    history_read(&keys, args + 2, count - 2);
    if (keys.bytes) bloomline_hash_batch(keys.keys, keys.n, seed, keys.hashes);
    double rate = 1.0 / (double)(UINT64_C(1) << rows);
    size_t cap = bloomline_static_block_len(keys.n, rate), len = 0;
    uint8_t *data = (uint8_t *)malloc(cap > 0 ? cap : 1);
    REQUIRE(data != NULL);
    bloomline_status status = bloomline_static_block_build(keys.hashes, keys.n, rate, seed, 1, data, cap, &len);
    if (status == BLOOMLINE_OK) status = static_decode(data, len, out);
    free(data);
    return status;
}
static bloomline_view static_view(const void *handle)
{
    bloomline_view view;
    REQUIRE_OK(bloomline_view_open((const size_t *)handle + 1, static_len(handle), &view));
    return view;
}
static bool static_has(const void *handle, size_t i)
{
    bloomline_view view = static_view(handle);
    return keys.bytes ? bloomline_view_contains(&view, keys.keys[i].data, keys.keys[i].len)
                      : bloomline_view_contains_hash(&view, keys.hashes[i]);
}
static size_t static_has_all(const void *handle, uint64_t *bitmap)
{
    bloomline_view view = static_view(handle);
    return keys.bytes ? bloomline_view_contains_keys(&view, keys.keys, keys.n, bitmap)
                      : bloomline_view_contains_hashes(&view, keys.hashes, keys.n, bitmap);
}
static void static_other(char *answer, void *handle, char **words)
{
    bloomline_view view = static_view(handle);
    REQUIRE(is(words[0], "key_count"));
    history_number(answer, bloomline_view_key_count(&view));
}

/* ---- cascade ---- */

static bloomline_status cascade_make(char **args, size_t count, void **out)
{
    static uint64_t included[HISTORY_KEYS];
    uint64_t seed = golden_number(args[1], 10);
    REQUIRE(count == 4);
    size_t n = 0;
    for (int set = 0; set < 2; set++) {
        history_read(&keys, args + 2 + set, 1);
        if (keys.bytes) bloomline_hash_batch(keys.keys, keys.n, seed, keys.hashes);
        if (set == 0) memcpy(included, keys.hashes, (n = keys.n) * sizeof *included);
    }
    return bloomline_cascade_new(included, n, keys.hashes, keys.n, strtod(args[0], NULL), seed, 1, (bloomline_cascade **)out);
}
static void cascade_other(char *answer, void *handle, char **words)
{
    bloomline_cascade_facts facts;
    REQUIRE_OK(bloomline_cascade_about((const bloomline_cascade *)handle, &facts));
    history_number(answer, is(words[0], "layers") ? facts.layer_count : facts.included_count);
}

/* ---- the rows ---- */

#define BLOOM_ROW(kind) STORED_ROW(kind), kind##_has, kind##_has_all, kind##_insert, kind##_insert_all
static const row rows[] = {
    {"filter", "", filter_make, BLOOM_ROW(filter), NULL, NULL, filter_unite, filter_other},
    {"classic", "classic/", classic_make, BLOOM_ROW(filter), NULL, NULL, filter_unite, filter_other},
    {"concurrent", NULL, concurrent_make, concurrent_destroy, concurrent_clone, concurrent_len, concurrent_encode, NULL, NULL, NULL, NULL, NULL,
     concurrent_has, concurrent_has_all, concurrent_insert, concurrent_insert_all, NULL, NULL, concurrent_unite, concurrent_other},
    {"counting", "counting/", counting_make, BLOOM_ROW(counting), counting_remove, counting_remove_all, counting_unite, counting_other},
    {"cuckoo", "cuckoo/", cuckoo_make, BLOOM_ROW(cuckoo), cuckoo_remove, cuckoo_remove_all, NULL, cuckoo_other},
    {"scalable", "scalable/", scalable_make, BLOOM_ROW(scalable), NULL, NULL, NULL, scalable_other},
    {"window", "window/", window_make, BLOOM_ROW(window), NULL, NULL, NULL, window_other},
    {"static", "static/", static_make, free, static_clone, static_len, static_encode, NULL, static_decode, static_save, static_load, NULL,
     static_has, static_has_all, NULL, NULL, NULL, NULL, NULL, static_other},
    {"cascade", "cascade/", cascade_make, STORED_ROW(cascade), cascade_has, cascade_has_all, NULL, NULL, NULL, NULL, NULL, cascade_other},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* The encoded filter, in memory of exactly its length, to be freed. */
static uint8_t *encoded_by(const row *kind, const void *handle, size_t *len)
{
    size_t written = 0;
    *len = kind->len(handle);
    uint8_t *data = (uint8_t *)malloc(*len);
    REQUIRE(data != NULL);
    REQUIRE_OK(kind->encode(handle, data, *len, &written));
    CHECK_U64(*len, written);
    return data;
}

#endif /* KINDS_H */
