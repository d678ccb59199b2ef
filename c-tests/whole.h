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
    void *(*make)(void); /* with some keys in it; NULL if there is no memory */
    void (*insert)(void *handle, uint64_t hash); /* NULL: all keys are in from the beginning */
    STORED_FIELDS;
} whole_kind;

enum { WHOLE_KEYS = 300, WHOLE_KINDS = 8 };

#define WHOLE_MADE(name, kind, new_one)                                                                   \
    static inline void *whole_##name##_make(void)                                                         \
    {                                                                                                     \
        bloomline_##kind *filter = NULL;                                                                  \
        bloomline_status status = new_one;                                                                \
        for (uint64_t i = 0; i < WHOLE_KEYS && status == BLOOMLINE_OK; i++) {                             \
            whole_##kind##_insert(filter, bloomline_hash_u64(i, 1));                                      \
        }                                                                                                 \
        return filter;                                                                                    \
    }
#define WHOLE(kind, new_one, insert_one)                                                                  \
    static inline void whole_##kind##_insert(void *handle, uint64_t hash)                                 \
    {                                                                                                     \
        bloomline_##kind *filter = (bloomline_##kind *)handle;                                            \
        insert_one;                                                                                       \
    }                                                                                                     \
    WHOLE_MADE(kind, kind, new_one)

static const bloomline_params whole_params = {10, 6, 0, 3};
static const bloomline_cuckoo_params whole_cuckoo_params = {20, 12, 0, 3};

WHOLE(filter, bloomline_filter_new(&whole_params, &filter), bloomline_filter_insert_hash(filter, hash))
WHOLE(counting, bloomline_counting_new(&whole_params, &filter), bloomline_counting_insert_hash(filter, hash))
WHOLE(cuckoo, bloomline_cuckoo_new(&whole_cuckoo_params, &filter), (void)!bloomline_cuckoo_insert_hash(filter, hash))
WHOLE(scalable, bloomline_scalable_new(32, 0.01, 3, &filter), (void)!bloomline_scalable_insert_hash(filter, hash, NULL))
WHOLE(window, bloomline_window_new(3, 150, 0.01, 3, &filter),
      if (hash % 100 == 0) bloomline_window_rotate(filter); bloomline_window_insert_hash(filter, hash))

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
WHOLE(matrix, whole_matrix_new(&filter), (void)!bloomline_matrix_insert_hash(filter, (size_t)(hash % 3), hash))

WHOLE_MADE(classic, filter, classic_new(&whole_params, &filter))

static inline void *whole_cascade_make(void)
{
    uint64_t hashes[2 * WHOLE_KEYS];
    bloomline_cascade *cascade = NULL;
    for (uint64_t i = 0; i < 2 * WHOLE_KEYS; i++) hashes[i] = bloomline_hash_u64(i, 1);
    (void)!bloomline_cascade_new(hashes, WHOLE_KEYS, hashes + WHOLE_KEYS, WHOLE_KEYS, 0, 3, 1, &cascade);
    return cascade;
}

#define WHOLE_ROW(name, number, kind) {#name, number, whole_##name##_make, whole_##kind##_insert, STORED_ROW(kind)}

static const whole_kind wholes[WHOLE_KINDS] = {
    WHOLE_ROW(filter, BLOOMLINE_KIND_FILTER, filter),
    WHOLE_ROW(classic, BLOOMLINE_KIND_CLASSIC, filter),
    WHOLE_ROW(counting, BLOOMLINE_KIND_COUNTING, counting),
    WHOLE_ROW(cuckoo, BLOOMLINE_KIND_CUCKOO, cuckoo),
    WHOLE_ROW(scalable, BLOOMLINE_KIND_SCALABLE, scalable),
    WHOLE_ROW(window, BLOOMLINE_KIND_WINDOW, window),
    {"cascade", BLOOMLINE_KIND_CASCADE, whole_cascade_make, NULL, STORED_ROW(cascade)},
    WHOLE_ROW(matrix, BLOOMLINE_KIND_MATRIX, matrix),
};

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
