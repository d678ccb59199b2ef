/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * whole.h - what every handle that is copied, written and read whole has, as functions of void *, for the
 * rows of kinds.h, too; and the kinds with some keys in them, so that a test says once what holds for all.
 */
#ifndef WHOLE_H
#define WHOLE_H

#include "check.h"
#include "probes.h"

/* ---- what the handles have by the same names ---- */

#define STORED(kind)                                                                                      \
    static void kind##_destroy(void *handle) { bloomline_##kind##_free((bloomline_##kind *)handle); }        \
    static bloomline_status kind##_clone(const void *handle, void **out)                                   \
    {                                                                                                     \
        return bloomline_##kind##_clone((const bloomline_##kind *)handle, (bloomline_##kind **)out);      \
    }                                                                                                     \
    static size_t kind##_memory(const void *handle)                                                \
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
/* The fields of a struct that has a kind's functions, in the order of STORED_ROW. */
#define STORED_FIELDS                                                                                     \
    void (*destroy)(void *handle);                                                                        \
    bloomline_status (*clone)(const void *handle, void **out);                                            \
    size_t (*len)(const void *handle);                                                                    \
    bloomline_status (*encode)(const void *handle, void *out, size_t cap, size_t *written);               \
    bloomline_status (*write)(const void *handle, bloomline_write_fn write, void *context);               \
    bloomline_status (*decode)(const void *data, size_t len, void **out);                                 \
    bloomline_status (*save)(const void *handle, const char *path);                                       \
    bloomline_status (*load)(const char *path, void **out);                                               \
    size_t (*memory)(const void *handle)
#define STORED_ROW(kind)                                                                                  \
    kind##_destroy, kind##_clone, kind##_len, kind##_encode, kind##_write, kind##_decode, kind##_save,    \
        kind##_load, kind##_memory

STORED(filter)
STORED(counting)
STORED(cuckoo)
STORED(scalable)
STORED(window)
STORED(cascade)
STORED(matrix)

/* ---- the kinds, with keys ---- */

typedef struct {
    const char *name;
    int32_t kind;
    const char *golden; /* its directory there */
    bool mapped;        /* bloomline_map_open() takes its files */
    unsigned long fewest; /* allocations of a call that makes one */
    bloomline_status (*create)(const bloomline_params *params, void **out); /* of some such size */
    void *(*make)(void); /* with some keys in it; NULL if there is no memory */
    void (*insert)(void *handle, uint64_t hash); /* NULL: all keys are in from the beginning */
    STORED_FIELDS;
} whole_kind;

enum { WHOLE_KEYS = 300, WHOLE_OTHERS = 5400 };

static const bloomline_params whole_params = {10, 6, 0, 3};

/* 'new_one' makes 'filter' of 'params'; 'insert_one' inserts 'hash'. */
#define WHOLE_MADE(name, kind, new_one)                                                                   \
    static inline bloomline_status whole_##name##_create(const bloomline_params *params, void **out)      \
    {                                                                                                     \
        bloomline_##kind *filter = NULL;                                                                  \
        bloomline_status status = new_one;                                                                \
        (void)params;                                                                                     \
        *out = filter;                                                                                    \
        return status;                                                                                    \
    }                                                                                                     \
    static inline void *whole_##name##_make(void)                                                         \
    {                                                                                                     \
        void *filter = NULL;                                                                              \
        bloomline_status status = whole_##name##_create(&whole_params, &filter);                          \
        for (uint64_t i = 0; i < WHOLE_KEYS && status == BLOOMLINE_OK; i++) {                             \
            whole_##kind##_insert(filter, bloomline_hash_u64(i, 1));                                      \
        }                                                                                                 \
        return filter;                                                                                    \
    }
#define WHOLE(kind, new_one, insert_one)                                                                  \
    static inline void whole_##kind##_insert(void *handle, uint64_t hash)                                 \
    {                                                                                                     \
        bloomline_##kind *filter = (bloomline_##kind *)handle;                                            \
        (void)hash;                                                                                       \
        (void)filter;                                                                                     \
        insert_one;                                                                                       \
    }                                                                                                     \
    WHOLE_MADE(kind, kind, new_one)

/* Names and checksums are written and read too. */
static inline bloomline_status whole_matrix_new(bloomline_matrix **out)
{
    static const uint64_t names[] = {1, 2, 3};
    bloomline_status status = bloomline_matrix_new(&whole_params, 3, out);
    if (status != BLOOMLINE_OK) return status;
    bloomline_matrix_set_checksums(*out, true);
    status = bloomline_matrix_set_names(*out, names, 3);
    if (status == BLOOMLINE_OK) return status;
    bloomline_matrix_free(*out);
    *out = NULL;
    return status;
}

static inline bloomline_status whole_cascade_new(bloomline_cascade **out)
{
    static uint64_t hashes[WHOLE_KEYS + WHOLE_OTHERS];
    for (uint64_t i = 0; i < WHOLE_KEYS + WHOLE_OTHERS; i++) hashes[i] = bloomline_hash_u64(i, 1);
    return bloomline_cascade_new(hashes, WHOLE_KEYS, hashes + WHOLE_KEYS, WHOLE_OTHERS, 0, 3, 1, out);
}

WHOLE(filter, bloomline_filter_new(params, &filter), bloomline_filter_insert_hash(filter, hash))
WHOLE_MADE(classic, filter, classic_new(params, &filter))
WHOLE(counting, bloomline_counting_new(params, &filter), bloomline_counting_insert_hash(filter, hash))
WHOLE(cuckoo, bloomline_cuckoo_new(&(bloomline_cuckoo_params){2 * params->line_count, 12, 0, 3}, &filter),
      (void)!bloomline_cuckoo_insert_hash(filter, hash))
WHOLE(scalable, bloomline_scalable_new(params->line_count > 1000 ? 1 << 20 : 32, 0.01, 3, &filter),
      (void)!bloomline_scalable_insert_hash(filter, hash, NULL))
WHOLE(window, bloomline_window_new(3, 15 * params->line_count, 0.01, 3, &filter),
      if (hash % 100 == 0) bloomline_window_rotate(filter); bloomline_window_insert_hash(filter, hash))
WHOLE(cascade, whole_cascade_new(&filter), )
WHOLE(matrix, whole_matrix_new(&filter), (void)!bloomline_matrix_insert_hash(filter, (size_t)(hash % 3), hash))

#define WHOLE_ROW(name, number, golden, mapped, fewest, kind, insert) \
    {#name, BLOOMLINE_KIND_##number, golden, mapped, fewest, whole_##name##_create, whole_##name##_make, insert, STORED_ROW(kind)}

static const whole_kind wholes[] = {
    WHOLE_ROW(filter, FILTER, "", true, 2, filter, whole_filter_insert),
    WHOLE_ROW(classic, CLASSIC, "classic/", true, 2, filter, whole_filter_insert),
    WHOLE_ROW(counting, COUNTING, "counting/", true, 3, counting, whole_counting_insert),
    WHOLE_ROW(cuckoo, CUCKOO, "cuckoo/", true, 2, cuckoo, whole_cuckoo_insert),
    WHOLE_ROW(scalable, SCALABLE, "scalable/", false, 3, scalable, whole_scalable_insert),
    WHOLE_ROW(window, WINDOW, "window/", false, 4, window, whole_window_insert),
    WHOLE_ROW(cascade, CASCADE, "cascade/", true, 3, cascade, NULL),
    WHOLE_ROW(matrix, MATRIX, "matrix/", true, 3, matrix, whole_matrix_insert),
};
enum { WHOLE_KINDS = sizeof wholes / sizeof wholes[0] };

/* The encoded bytes of a handle, to be freed. */
static inline uint8_t *whole_bytes(const whole_kind *kind, const void *handle, size_t *len)
{
    *len = kind->len(handle);
    uint8_t *data = malloc(*len);
    REQUIRE(data != NULL);
    REQUIRE_OK(kind->encode(handle, data, *len, len));
    return data;
}

#endif /* WHOLE_H */
