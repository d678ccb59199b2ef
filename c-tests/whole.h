/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * whole.h - the kinds of handle that are copied, written and read whole, behind one table, so
 * that a test says once what holds for all of them.
 */
#ifndef WHOLE_H
#define WHOLE_H

#include "check.h"
#include "probes.h"

typedef struct {
    const char *name;
    int32_t kind;
    void *(*make)(void);                 /* with some keys in it */
    void (*insert)(void *handle, uint64_t hash);
    void (*destroy)(void *handle);
    bloomline_status (*clone)(const void *handle, void **out);
    size_t (*memory)(const void *handle);
    size_t (*len)(const void *handle);
    bloomline_status (*encode)(const void *handle, void *out, size_t cap, size_t *written);
    bloomline_status (*write)(const void *handle, bloomline_write_fn write, void *context);
    bloomline_status (*decode)(const void *data, size_t len, void **out);
    bloomline_status (*save)(const void *handle, const char *path);
    bloomline_status (*load)(const char *path, void **out);
} whole;

enum { WHOLE_KEYS = 300, WHOLE_KINDS = 6 };

#define WHOLE_OUT(kind, call)                                                 \
    bloomline_##kind *made = NULL;                                            \
    bloomline_status status = call;                                           \
    if (out != NULL && made != NULL) *out = made;                             \
    return status

#define WHOLE(kind, new_one, insert_one)                                                              \
    static inline void whole_##kind##_insert(void *handle, uint64_t hash)                             \
    {                                                                                                 \
        bloomline_##kind *filter = handle;                                                            \
        insert_one;                                                                                   \
    }                                                                                                 \
    static inline void whole_##kind##_destroy(void *handle) { bloomline_##kind##_free(handle); }      \
    static inline bloomline_status whole_##kind##_clone(const void *handle, void **out)               \
    {                                                                                                 \
        WHOLE_OUT(kind, bloomline_##kind##_clone(handle, out == NULL ? NULL : &made));                \
    }                                                                                                 \
    static inline size_t whole_##kind##_memory(const void *handle)                                    \
    {                                                                                                 \
        return bloomline_##kind##_memory(handle);                                                     \
    }                                                                                                 \
    static inline size_t whole_##kind##_len(const void *handle)                                       \
    {                                                                                                 \
        return bloomline_##kind##_encoded_len(handle);                                                \
    }                                                                                                 \
    static inline bloomline_status whole_##kind##_encode(const void *handle, void *out, size_t cap,   \
                                                         size_t *written)                             \
    {                                                                                                 \
        return bloomline_##kind##_encode(handle, out, cap, written);                                  \
    }                                                                                                 \
    static inline bloomline_status whole_##kind##_write(const void *handle, bloomline_write_fn write, \
                                                        void *context)                                \
    {                                                                                                 \
        return bloomline_##kind##_write(handle, write, context);                                      \
    }                                                                                                 \
    static inline bloomline_status whole_##kind##_decode(const void *data, size_t len, void **out)    \
    {                                                                                                 \
        WHOLE_OUT(kind, bloomline_##kind##_decode(data, len, out == NULL ? NULL : &made));            \
    }                                                                                                 \
    static inline bloomline_status whole_##kind##_save(const void *handle, const char *path)          \
    {                                                                                                 \
        return bloomline_##kind##_save(handle, path);                                                 \
    }                                                                                                 \
    static inline bloomline_status whole_##kind##_load(const char *path, void **out)                  \
    {                                                                                                 \
        WHOLE_OUT(kind, bloomline_##kind##_load(path, out == NULL ? NULL : &made));                   \
    }                                                                                                 \
    static inline void *whole_##kind##_make(void)                                                     \
    {                                                                                                 \
        bloomline_##kind *filter = NULL;                                                              \
        bloomline_status status = new_one;                                                            \
        for (uint64_t i = 0; i < WHOLE_KEYS && status == BLOOMLINE_OK; i++) {                         \
            whole_##kind##_insert(filter, bloomline_hash_u64(i, 1));                                  \
        }                                                                                             \
        return filter; /* NULL if there is no memory */                                               \
    }

static const bloomline_params whole_params = {10, 6, 0, 3};
static const bloomline_cuckoo_params whole_cuckoo_params = {20, 12, 0, 3};

WHOLE(filter, bloomline_filter_new(&whole_params, &filter), bloomline_filter_insert_hash(filter, hash))
WHOLE(counting, bloomline_counting_new(&whole_params, &filter), bloomline_counting_insert_hash(filter, hash))
WHOLE(cuckoo, bloomline_cuckoo_new(&whole_cuckoo_params, &filter), (void)!bloomline_cuckoo_insert_hash(filter, hash))
WHOLE(scalable, bloomline_scalable_new(32, 0.01, 3, &filter), (void)!bloomline_scalable_insert_hash(filter, hash, NULL))
WHOLE(window, bloomline_window_new(3, 150, 0.01, 3, &filter),
      if (hash % 100 == 0) bloomline_window_rotate(filter); bloomline_window_insert_hash(filter, hash))

static inline void *whole_classic_make(void)
{
    bloomline_filter *filter = NULL;
    bloomline_status status = classic_new(&whole_params, &filter);
    for (uint64_t i = 0; i < WHOLE_KEYS && status == BLOOMLINE_OK; i++) {
        bloomline_filter_insert_hash(filter, bloomline_hash_u64(i, 1));
    }
    return filter;
}

#define WHOLE_ROW(name, number, kind, make)                                                               \
    {name, number, make, whole_##kind##_insert, whole_##kind##_destroy, whole_##kind##_clone, \
     whole_##kind##_memory, whole_##kind##_len, whole_##kind##_encode, whole_##kind##_write, whole_##kind##_decode,         \
     whole_##kind##_save, whole_##kind##_load}

static const whole wholes[WHOLE_KINDS] = {
    WHOLE_ROW("filter", BLOOMLINE_KIND_FILTER, filter, whole_filter_make),
    WHOLE_ROW("classic", BLOOMLINE_KIND_CLASSIC, filter, whole_classic_make),
    WHOLE_ROW("counting", BLOOMLINE_KIND_COUNTING, counting, whole_counting_make),
    WHOLE_ROW("cuckoo", BLOOMLINE_KIND_CUCKOO, cuckoo, whole_cuckoo_make),
    WHOLE_ROW("scalable", BLOOMLINE_KIND_SCALABLE, scalable, whole_scalable_make),
    WHOLE_ROW("window", BLOOMLINE_KIND_WINDOW, window, whole_window_make),
};

/* The encoded bytes of a handle, to be freed. */
static inline uint8_t *whole_bytes(const whole *kind, const void *handle, size_t *len)
{
    *len = kind->len(handle);
    uint8_t *data = malloc(*len);
    REQUIRE(data != NULL);
    REQUIRE_OK(kind->encode(handle, data, *len, len));
    return data;
}

#endif /* WHOLE_H */
