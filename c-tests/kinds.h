/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kinds.h - the kinds of filters, a row for each: how one is made, filled, read, asked and changed, as functions of
 * void *, so that a test says once what holds for all; and why it lacks a verb that others have. What a kind has of its
 * own is in kinds/.
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
/* How often a key is there, and that in 'words'. */
#define COUNTED(kind)                                                                                     \
    static uint64_t kind##_times(const void *handle, size_t i)                                            \
    {                                                                                                     \
        const bloomline_##kind *filter = (const bloomline_##kind *)handle;                                \
        uint64_t hash = asked.hashes[i];                                                                  \
        bloomline_view view = kind##_view_of(filter);                                                     \
        if (asked.bytes) hash = bloomline_view_hash(&view, asked.keys[i].data, asked.keys[i].len);        \
        return bloomline_##kind##_count_hash(filter, hash);                                               \
    }                                                                                                     \
    static void kind##_count(char *answer, const bloomline_##kind *filter, char **words)                  \
    {                                                                                                     \
        history_read(&asked, words, 1);                                                                   \
        history_number(answer, kind##_times(filter, 0));                                                  \
    }
#define CLEARED(kind)                                                                                     \
    static void kind##_clear(void *handle) { bloomline_##kind##_clear((bloomline_##kind *)handle); }
#define UNITED(kind)                                                                                      \
    static bloomline_status kind##_unite(void *into, const void *from)                                    \
    {                                                                                                     \
        return bloomline_##kind##_union((bloomline_##kind *)into, (const bloomline_##kind *)from);        \
    }
#define INTERSECTED(kind)                                                                                 \
    static bloomline_status kind##_intersect(void *into, const void *with)                                \
    {                                                                                                     \
        return bloomline_##kind##_intersect((bloomline_##kind *)into, (const bloomline_##kind *)with);    \
    }

/* ---- the verbs ---- */

/* By the names of functions: bloomline_filter_clear(), or what is the same for the kind. */
#define EACH_VERB(VERB)                                                                                   \
    VERB(new) VERB(free) VERB(memory) VERB(contains) VERB(view) VERB(insert) VERB(insert_hashes)          \
    VERB(insert_new_hashes) VERB(remove) VERB(remove_hashes) VERB(count_hash) VERB(clear) VERB(union)     \
    VERB(intersect) VERB(clone) VERB(snapshot) VERB(encoded_len) VERB(encode) VERB(write) VERB(decode)    \
    VERB(save) VERB(load) VERB(map) VERB(equal)
#define VERB_NUMBER(verb) VERB_##verb,
enum { EACH_VERB(VERB_NUMBER) VERBS };

/*
 * Each kind has a list of the verbs that it lacks, with the reason: NOT(kind, verb, "why") if there is no such function,
 * OTHER(kind, verb, "how") if it is done in another way. This does not compile if the header has the function.
 */
#define NOT_DECLARED(kind, verb, why) struct no_function *bloomline_##kind##_##verb(struct no_function *);
#define UNCHECKED(kind, verb, how)
#define WHY(kind, verb, why) [VERB_##verb] = why,

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

#define EACH_LIST(NOT, OTHER)                                                                             \
    FILTER_LACKS(NOT, OTHER) CONCURRENT_LACKS(NOT, OTHER) COUNTING_LACKS(NOT, OTHER) CUCKOO_LACKS(NOT, OTHER) \
    SCALABLE_LACKS(NOT, OTHER) WINDOW_LACKS(NOT, OTHER) GROWING_LACKS(NOT, OTHER) STATIC_LACKS(NOT, OTHER) \
    CASCADE_LACKS(NOT, OTHER) MATRIX_LACKS(NOT, OTHER)
EACH_LIST(NOT_DECLARED, UNCHECKED)

/* ---- the rows ---- */

/* NULL: not this kind. 'lacks' says why not. */
typedef struct {
    const char *name; /* that of its history, too */
    int32_t kind;
    const char *golden; /* its directory there */
    /* As a handle like others: copied, written and read whole. */
    bool mapped;          /* bloomline_map_open() takes its files, and its bytes are probed where they are */
    unsigned long fewest; /* allocations of a call that makes one; 0: not a handle like others */
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
    bloomline_status (*insert_new)(void *handle, uint64_t *is_new, size_t *count);
    bloomline_status (*remove)(void *handle, size_t i);
    size_t (*remove_all)(void *handle, uint64_t *removed);
    uint64_t (*count)(const void *handle, size_t i);
    void (*clear)(void *handle);
    bloomline_status (*unite)(void *into, const void *from);
    bloomline_status (*intersect)(void *into, const void *with);
    bloomline_filter *(*snapshot)(const void *handle);
    void (*other)(char *answer, void *handle, char **words);
    bloomline_status (*resized)(const void *handle, size_t columns, void **out);
    const char *lacks[VERBS]; /* NULL: it has the verb */
} row;

#define NAMED(kind_name, number, directory) .name = #kind_name, .kind = BLOOMLINE_KIND_##number, .golden = directory
#define WHOLE(kind, add_one, is_mapped, count) STORED_ROW(kind), .add = add_one, .mapped = is_mapped, .fewest = count
#define ASKED(kind_name, of) .make = kind_name##_make, .view = of##_seen, .contains = of##_has, .contains_all = of##_has_all, .other = of##_other
#define CHANGED(of) .insert = of##_insert, .insert_all = of##_insert_all, .clear = of##_clear
/* As CHANGED(), by a function that tells which keys of a batch were new. */
#define TOLD(of) CHANGED(of), .insert_new = of##_insert_all
#define TAKEN(of) .remove = of##_remove, .remove_all = of##_remove_all
#define LACKS(list) .lacks = {list(WHY, WHY)}

static const row rows[] = {
    {NAMED(filter, FILTER, ""), .create = filter_create, WHOLE(filter, filter_add, true, 2),
     ASKED(filter, filter), CHANGED(filter), .insert_new = filter_insert_new, .unite = filter_unite, .intersect = filter_intersect,
     LACKS(FILTER_LACKS)},
    {NAMED(classic, CLASSIC, "classic/"), .create = classic_create, WHOLE(filter, filter_add, true, 2),
     ASKED(classic, filter), CHANGED(filter), .insert_new = filter_insert_new, .unite = filter_unite, .intersect = filter_intersect,
     LACKS(FILTER_LACKS)},
    {NAMED(concurrent, FILTER, ""), .create = concurrent_create, WHOLE(concurrent, concurrent_add, true, 2),
     ASKED(concurrent, concurrent), TOLD(concurrent), .unite = concurrent_unite, .snapshot = snapshot_of, LACKS(CONCURRENT_LACKS)},
    {NAMED(counting, COUNTING, "counting/"), .create = counting_create, WHOLE(counting, counting_add, true, 3),
     ASKED(counting, counting), TOLD(counting), TAKEN(counting), .count = counting_times, .unite = counting_unite,
     LACKS(COUNTING_LACKS)},
    {NAMED(cuckoo, CUCKOO, "cuckoo/"), .create = cuckoo_create, WHOLE(cuckoo, cuckoo_add, true, 2),
     ASKED(cuckoo, cuckoo), CHANGED(cuckoo), TAKEN(cuckoo), LACKS(CUCKOO_LACKS)},
    {NAMED(scalable, SCALABLE, "scalable/"), .create = scalable_create, WHOLE(scalable, scalable_add, false, 3),
     ASKED(scalable, scalable), TOLD(scalable), LACKS(SCALABLE_LACKS)},
    {NAMED(window, WINDOW, "window/"), .create = window_create, WHOLE(window, window_add, false, 4),
     ASKED(window, window), TOLD(window), LACKS(WINDOW_LACKS)},
    {NAMED(growing, GROWING, "growing/"), .create = growing_create, WHOLE(growing, growing_add, true, 3),
     ASKED(growing, growing), TOLD(growing), TAKEN(growing), .count = growing_times, .unite = growing_unite,
     .intersect = growing_intersect, LACKS(GROWING_LACKS)},
    {.name = "unbounded", .create = unbounded_create, .mapped = true, STORED_ROW(growing), ASKED(growing, growing), TOLD(growing),
     TAKEN(growing), .count = growing_times, .unite = growing_unite, LACKS(UNBOUNDED_LACKS)},
    {NAMED(static, STATIC, "static/"), .mapped = true, .destroy = free, .clone = static_clone, .len = static_len, .encode = static_encode,
     .decode = static_decode, .save = static_save, .load = static_load, ASKED(static, static), LACKS(STATIC_LACKS)},
    {NAMED(cascade, CASCADE, "cascade/"), .create = cascade_create, WHOLE(cascade, NULL, true, 3), ASKED(cascade, cascade),
     LACKS(CASCADE_LACKS)},
    {NAMED(matrix, MATRIX, "matrix/"), .create = matrix_create, WHOLE(matrix, matrix_add, true, 3),
     .make = matrix_make, .other = matrix_other, .resized = matrix_resized, LACKS(MATRIX_LACKS)},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* For each kind that is a handle like others. */
#define EACH_WHOLE(kind) for (const row *kind = rows; kind < rows + ROWS; kind++) if ((kind)->fewest > 0)

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
