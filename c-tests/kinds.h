/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kinds.h - the kinds of filters, a row for each: how one is made, filled, read, asked and changed, as functions of
 * void *, so that a test says once what holds for all. What a kind has of its own is in kinds/.
 *
 * C. Include it after _XOPEN_SOURCE is set.
 */
#ifndef KINDS_H
#define KINDS_H

#include "check.h"
#include "probes.h"
#include "definition.h"
#include "history.h"

/* ---- what handles have by the same names ---- */

#define STORED(kind)                                                                                      \
    static void kind##_destroy(void *handle) { bloomline_##kind##_free((bloomline_##kind *)handle); }     \
    static bloomline_status kind##_clone(const void *handle, void **out)                                  \
    {                                                                                                     \
        return bloomline_##kind##_clone((const bloomline_##kind *)handle, (bloomline_##kind **)out);      \
    }                                                                                                     \
    static size_t kind##_memory(const void *handle)                                                       \
    {                                                                                                     \
        return bloomline_##kind##_memory((const bloomline_##kind *)handle);                               \
    }                                                                                                     \
    static size_t kind##_len(const void *handle) { return bloomline_##kind##_encoded_len((const bloomline_##kind *)handle); } \
    static bloomline_status kind##_encode(const void *handle, void *out, size_t cap, size_t *written)     \
    {                                                                                                     \
        return bloomline_##kind##_encode((const bloomline_##kind *)handle, out, cap, written);            \
    }                                                                                                     \
    static bloomline_status kind##_write(const void *handle, bloomline_write_fn write, void *context)     \
    {                                                                                                     \
        return bloomline_##kind##_write((const bloomline_##kind *)handle, write, context);                \
    }                                                                                                     \
    static bloomline_status kind##_decode(const void *data, size_t len, void **out)                       \
    {                                                                                                     \
        return bloomline_##kind##_decode(data, len, (bloomline_##kind **)out);                            \
    }                                                                                                     \
    static bloomline_status kind##_save(const void *handle, const char *path)                             \
    {                                                                                                     \
        return bloomline_##kind##_save((const bloomline_##kind *)handle, path);                           \
    }                                                                                                     \
    static bloomline_status kind##_load(const char *path, void **out)                                     \
    {                                                                                                     \
        return bloomline_##kind##_load(path, (bloomline_##kind **)out);                                   \
    }
#define STORED_ROW(kind)                                                                                  \
    .destroy = kind##_destroy, .clone = kind##_clone, .len = kind##_len, .encode = kind##_encode,         \
    .write = kind##_write, .decode = kind##_decode, .save = kind##_save, .load = kind##_load, .memory = kind##_memory

/* ---- what histories ask ---- */

static history_keys asked; /* of a line */

#define PROBED(kind)                                                                                      \
    static bloomline_view kind##_seen(const void *handle) { return kind##_view_of((const bloomline_##kind *)handle); } \
    static bool kind##_has(const void *handle, size_t i)                                                  \
    {                                                                                                     \
        const bloomline_##kind *filter = (const bloomline_##kind *)handle;                                \
        return asked.bytes ? kind##_contains(filter, asked.keys[i].data, asked.keys[i].len)               \
                          : kind##_contains_hash(filter, asked.hashes[i]);                                \
    }                                                                                                     \
    static size_t kind##_has_all(const void *handle, uint64_t *bitmap)                                    \
    {                                                                                                     \
        const bloomline_##kind *filter = (const bloomline_##kind *)handle;                                \
        return asked.bytes ? kind##_contains_keys(filter, asked.keys, asked.n, bitmap)                    \
                          : kind##_contains_hashes(filter, asked.hashes, asked.n, bitmap);                \
    }

/* Inserts that cannot fail, and tell of one key whether it was new. */
#define INSERTED(kind)                                                                                    \
    static bloomline_status kind##_insert(void *handle, bool *is_new)                                     \
    {                                                                                                     \
        bloomline_##kind *filter = (bloomline_##kind *)handle;                                            \
        *is_new = asked.bytes ? bloomline_##kind##_insert(filter, asked.keys[0].data, asked.keys[0].len)  \
                             : bloomline_##kind##_insert_hash(filter, asked.hashes[0]);                   \
        return BLOOMLINE_OK;                                                                              \
    }
#define INSERTED_ALL(kind)                                                                                \
    static bloomline_status kind##_insert_all(void *handle, uint64_t *is_new, size_t *count)              \
    {                                                                                                     \
        bloomline_##kind *filter = (bloomline_##kind *)handle;                                            \
        (void)is_new;                                                                                     \
        (void)count;                                                                                      \
        if (asked.bytes) bloomline_##kind##_insert_keys(filter, asked.keys, asked.n);                     \
        else bloomline_##kind##_insert_hashes(filter, asked.hashes, asked.n);                             \
        return BLOOMLINE_OK;                                                                              \
    }
#define INSERTED_NEW(kind)                                                                                \
    static bloomline_status kind##_insert_all(void *handle, uint64_t *is_new, size_t *count)              \
    {                                                                                                     \
        bloomline_##kind *filter = (bloomline_##kind *)handle;                                            \
        *count = asked.bytes ? bloomline_##kind##_insert_keys(filter, asked.keys, asked.n, is_new)        \
                            : bloomline_##kind##_insert_hashes(filter, asked.hashes, asked.n, is_new);    \
        return BLOOMLINE_OK;                                                                              \
    }
#define REMOVED(kind)                                                                                     \
    static bloomline_status kind##_remove(void *handle, size_t i)                                         \
    {                                                                                                     \
        bloomline_##kind *filter = (bloomline_##kind *)handle;                                            \
        return asked.bytes ? bloomline_##kind##_remove(filter, asked.keys[i].data, asked.keys[i].len)     \
                          : bloomline_##kind##_remove_hash(filter, asked.hashes[i]);                      \
    }
#define REMOVED_ALL(kind)                                                                                 \
    static size_t kind##_remove_all(void *handle, uint64_t *removed)                                      \
    {                                                                                                     \
        bloomline_##kind *filter = (bloomline_##kind *)handle;                                            \
        return asked.bytes ? bloomline_##kind##_remove_keys(filter, asked.keys, asked.n, removed)         \
                          : bloomline_##kind##_remove_hashes(filter, asked.hashes, asked.n, removed);     \
    }
/* How often the key in 'words' is there. */
#define COUNTED(kind)                                                                                     \
    static void kind##_count(char *answer, const bloomline_##kind *filter, char **words)                  \
    {                                                                                                     \
        history_read(&asked, words, 1);                                                                   \
        uint64_t hash = asked.hashes[0];                                                                  \
        bloomline_view view = kind##_view_of(filter);                                                     \
        if (asked.bytes) hash = bloomline_view_hash(&view, asked.keys[0].data, asked.keys[0].len);        \
        history_number(answer, bloomline_##kind##_count_hash(filter, hash));                              \
    }
#define UNITED(kind)                                                                                      \
    static bloomline_status kind##_unite(void *into, const void *from)                                    \
    {                                                                                                     \
        return bloomline_##kind##_union((bloomline_##kind *)into, (const bloomline_##kind *)from);        \
    }

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

/* ---- filters with some keys ---- */

enum { WHOLE_KEYS = 300, WHOLE_OTHERS = 5400 };

static const bloomline_params whole_params = {10, 6, 0, 3};

/* 'new_one' makes 'filter', of some such size as 'params'. */
#define CREATED(name, kind, new_one)                                                                      \
    static bloomline_status name##_create(const bloomline_params *params, void **out)                     \
    {                                                                                                     \
        bloomline_##kind *filter = NULL;                                                                  \
        bloomline_status status = new_one;                                                                \
        (void)params;                                                                                     \
        *out = filter;                                                                                    \
        return status;                                                                                    \
    }
/* 'add_one' inserts 'hash' into 'filter'. */
#define ADDED(kind, add_one)                                                                              \
    static void kind##_add(void *handle, uint64_t hash)                                                   \
    {                                                                                                     \
        bloomline_##kind *filter = (bloomline_##kind *)handle;                                            \
        add_one;                                                                                          \
    }

#include "kinds/filter.h"
#include "kinds/concurrent.h"
#include "kinds/counting.h"
#include "kinds/cuckoo.h"
#include "kinds/scalable.h"
#include "kinds/window.h"
#include "kinds/growing.h"
#include "kinds/static.h"
#include "kinds/cascade.h"
#include "kinds/matrix.h"

/* ---- the rows ---- */

/* NULL: not this kind. */
typedef struct {
    const char *name; /* that of its history, too */
    int32_t kind;
    const char *golden; /* its directory there */
    /* As a handle like others: copied, written and read whole. */
    bool mapped;          /* bloomline_map_open() takes its files */
    unsigned long fewest; /* allocations of a call that makes one */
    bloomline_status (*create)(const bloomline_params *params, void **out);
    void (*add)(void *handle, uint64_t hash);
    void (*destroy)(void *handle);
    bloomline_status (*clone)(const void *handle, void **out);
    size_t (*memory)(const void *handle);
    size_t (*len)(const void *handle);
    bloomline_status (*encode)(const void *handle, void *out, size_t cap, size_t *written);
    bloomline_status (*write)(const void *handle, bloomline_write_fn write, void *context);
    bloomline_status (*decode)(const void *data, size_t len, void **out);
    bloomline_status (*save)(const void *handle, const char *path);
    bloomline_status (*load)(const char *path, void **out);
    /* What histories ask, of 'asked'. */
    bloomline_status (*make)(char **args, size_t count, void **out);
    bloomline_view (*view)(const void *handle);
    bool (*contains)(const void *handle, size_t i);
    size_t (*contains_all)(const void *handle, uint64_t *bitmap);
    bloomline_status (*insert)(void *handle, bool *is_new);
    bloomline_status (*insert_all)(void *handle, uint64_t *is_new, size_t *count);
    bloomline_status (*remove)(void *handle, size_t i);
    size_t (*remove_all)(void *handle, uint64_t *removed);
    bloomline_status (*unite)(void *into, const void *from);
    void (*other)(char *answer, void *handle, char **words);
    bloomline_status (*resized)(const void *handle, size_t columns, void **out);
} row;

#define NAMED(kind_name, number, directory) .name = #kind_name, .kind = BLOOMLINE_KIND_##number, .golden = directory
#define WHOLE(kind, add_one, is_mapped, count) STORED_ROW(kind), .add = add_one, .mapped = is_mapped, .fewest = count
#define ASKED(kind_name, of) .make = kind_name##_make, .view = of##_seen, .contains = of##_has, .contains_all = of##_has_all, .other = of##_other
#define CHANGED(of) .insert = of##_insert, .insert_all = of##_insert_all
#define TAKEN(of) .remove = of##_remove, .remove_all = of##_remove_all

static const row rows[] = {
    {NAMED(filter, FILTER, ""), .create = filter_create, WHOLE(filter, filter_add, true, 2),
     ASKED(filter, filter), CHANGED(filter), .unite = filter_unite},
    {NAMED(classic, CLASSIC, "classic/"), .create = classic_create, WHOLE(filter, filter_add, true, 2),
     ASKED(classic, filter), CHANGED(filter), .unite = filter_unite},
    {.name = "concurrent", .destroy = concurrent_destroy, .clone = concurrent_clone, .len = concurrent_len, .encode = concurrent_encode,
     ASKED(concurrent, concurrent), CHANGED(concurrent), .unite = concurrent_unite},
    {NAMED(counting, COUNTING, "counting/"), .create = counting_create, WHOLE(counting, counting_add, true, 3),
     ASKED(counting, counting), CHANGED(counting), TAKEN(counting), .unite = counting_unite},
    {NAMED(cuckoo, CUCKOO, "cuckoo/"), .create = cuckoo_create, WHOLE(cuckoo, cuckoo_add, true, 2),
     ASKED(cuckoo, cuckoo), CHANGED(cuckoo), TAKEN(cuckoo)},
    {NAMED(scalable, SCALABLE, "scalable/"), .create = scalable_create, WHOLE(scalable, scalable_add, false, 3),
     ASKED(scalable, scalable), CHANGED(scalable)},
    {NAMED(window, WINDOW, "window/"), .create = window_create, WHOLE(window, window_add, false, 4),
     ASKED(window, window), CHANGED(window)},
    {NAMED(growing, GROWING, "growing/"), .create = growing_create, WHOLE(growing, growing_add, true, 3),
     ASKED(growing, growing), CHANGED(growing), TAKEN(growing), .unite = growing_unite},
    {.name = "unbounded", STORED_ROW(growing), ASKED(growing, growing), CHANGED(growing), TAKEN(growing), .unite = growing_unite},
    {NAMED(static, STATIC, "static/"), .destroy = free, .clone = static_clone, .len = static_len, .encode = static_encode,
     .decode = static_decode, .save = static_save, .load = static_load, ASKED(static, static)},
    {NAMED(cascade, CASCADE, "cascade/"), .create = cascade_create, WHOLE(cascade, NULL, true, 3), ASKED(cascade, cascade)},
    {NAMED(matrix, MATRIX, "matrix/"), .create = matrix_create, WHOLE(matrix, matrix_add, true, 3),
     .make = matrix_make, .other = matrix_other, .resized = matrix_resized},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* For each kind that is a handle like others. */
#define EACH_WHOLE(kind) for (const row *kind = rows; kind < rows + ROWS; kind++) if ((kind)->create != NULL)

static inline const row *row_of(int32_t number)
{
    const row *kind = rows;
    while (kind->kind != number) kind++;
    return kind;
}

/* With some keys in it; NULL if there is no memory. */
static inline void *filled(const row *kind)
{
    void *filter = NULL;
    bloomline_status status = kind->create(&whole_params, &filter);
    for (uint64_t i = 0; i < WHOLE_KEYS && status == BLOOMLINE_OK && kind->add != NULL; i++) {
        kind->add(filter, bloomline_hash_u64(i, 1));
    }
    return filter;
}

/* The encoded filter, in memory of exactly its length, to be freed. */
static inline uint8_t *encoded_by(const row *kind, const void *handle, size_t *len)
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
