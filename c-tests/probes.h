/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * probes.h - one call for what C does in two: a handle probed through a view of it, or a swap
 * through a snapshot. cuckoo_contains(filter, "apple", 5) and the like; of a NULL handle there is no
 * view, and the answers are those of one that was not opened.
 */
#ifndef PROBES_H
#define PROBES_H

#include <bloomline.h>

#include <string.h>

/* What a view says of itself; of one that was not opened, that it is full and has no keys. */
static inline bloomline_view_facts view_about(const bloomline_view *view)
{
    bloomline_view_facts facts = {1, 0, 1, 1}, found;
    return bloomline_view_about(view, &found) == BLOOMLINE_OK ? found : facts;
}

#define PROBES_THROUGH_VIEWS(kind, write_view)                                                             \
    static inline bloomline_view kind##_view_of(const bloomline_##kind *handle)                            \
    {                                                                                                      \
        bloomline_view view;                                                                               \
        memset(&view, 0, sizeof view);                                                                     \
        if (write_view(handle, &view) != BLOOMLINE_OK) memset(&view, 0, sizeof view);                      \
        return view;                                                                                       \
    }                                                                                                      \
    static inline bool kind##_contains(const bloomline_##kind *handle, const void *key, size_t len)        \
    {                                                                                                      \
        bloomline_view view = kind##_view_of(handle);                                                      \
        return bloomline_view_contains(&view, key, len);                                                   \
    }                                                                                                      \
    static inline bool kind##_contains_hash(const bloomline_##kind *handle, uint64_t hash)                 \
    {                                                                                                      \
        bloomline_view view = kind##_view_of(handle);                                                      \
        return bloomline_view_contains_hash(&view, hash);                                                  \
    }                                                                                                      \
    static inline size_t kind##_contains_hashes(const bloomline_##kind *handle, const uint64_t *hashes,    \
                                                size_t n, uint64_t *bitmap)                                \
    {                                                                                                      \
        bloomline_view view = kind##_view_of(handle);                                                      \
        return bloomline_view_contains_hashes(&view, hashes, n, bitmap);                                   \
    }                                                                                                      \
    static inline size_t kind##_contains_keys(const bloomline_##kind *handle, const bloomline_bytes *keys, \
                                              size_t n, uint64_t *bitmap)                                  \
    {                                                                                                      \
        bloomline_view view = kind##_view_of(handle);                                                      \
        return bloomline_view_contains_keys(&view, keys, n, bitmap);                                       \
    }                                                                                                      \
    static inline double kind##_fill(const bloomline_##kind *handle)                                       \
    {                                                                                                      \
        bloomline_view view = kind##_view_of(handle);                                                      \
        return view_about(&view).fill;                                                                     \
    }                                                                                                      \
    static inline double kind##_estimated_keys(const bloomline_##kind *handle)                             \
    {                                                                                                      \
        bloomline_view view = kind##_view_of(handle);                                                      \
        return view_about(&view).estimated_keys;                                                           \
    }                                                                                                      \
    static inline double kind##_estimated_rate(const bloomline_##kind *handle)                             \
    {                                                                                                      \
        bloomline_view view = kind##_view_of(handle);                                                      \
        return view_about(&view).estimated_rate;                                                           \
    }                                                                                                      \
    static inline uint64_t kind##_key_count(const bloomline_##kind *handle)                                \
    {                                                                                                      \
        bloomline_view view = kind##_view_of(handle);                                                      \
        return bloomline_view_key_count(&view);                                                            \
    }                                                                                                      \
    static inline bloomline_status kind##_params(const bloomline_##kind *handle, bloomline_params *out)    \
    {                                                                                                      \
        bloomline_view view;                                                                               \
        bloomline_status status = write_view(handle, &view);                                               \
        return status == BLOOMLINE_OK ? bloomline_view_shape(&view, out) : status;                         \
    }

PROBES_THROUGH_VIEWS(filter, bloomline_filter_view)
static inline bloomline_status counting_view(const bloomline_counting *filter, bloomline_view *out)
{
    return bloomline_filter_view(bloomline_counting_filter(filter), out);
}
PROBES_THROUGH_VIEWS(counting, counting_view)
PROBES_THROUGH_VIEWS(cuckoo, bloomline_cuckoo_view)
PROBES_THROUGH_VIEWS(concurrent, bloomline_concurrent_view)
PROBES_THROUGH_VIEWS(scalable, bloomline_scalable_view)
PROBES_THROUGH_VIEWS(window, bloomline_window_view)
PROBES_THROUGH_VIEWS(growing, bloomline_growing_view)
PROBES_THROUGH_VIEWS(cascade, bloomline_cascade_view)

/* A standard Bloom filter of the line count, k and seed of 'params'. */
static inline bloomline_status classic_new(const bloomline_params *params, bloomline_filter **out)
{
    bloomline_params classic = *params;
    classic.layout = BLOOMLINE_KIND_CLASSIC;
    return bloomline_filter_new(&classic, out);
}

/* An empty filter for threads to share. */
static inline bloomline_status concurrent_new(const bloomline_params *params, bloomline_concurrent **out)
{
    bloomline_filter *filter = NULL;
    bloomline_status status = bloomline_filter_new(params, &filter);
    if (status == BLOOMLINE_OK) status = bloomline_concurrent_new(&filter, out);
    bloomline_filter_free(filter);
    return status;
}

/* What a filter says of itself; all zero for NULL. */
static inline bloomline_scalable_facts scalable_about(const bloomline_scalable *filter)
{
    bloomline_scalable_facts facts;
    memset(&facts, 0, sizeof facts);
    if (bloomline_scalable_about(filter, &facts) != BLOOMLINE_OK) memset(&facts, 0, sizeof facts);
    return facts;
}
static inline bloomline_window_facts window_about(const bloomline_window *window)
{
    bloomline_window_facts facts;
    memset(&facts, 0, sizeof facts);
    if (bloomline_window_about(window, &facts) != BLOOMLINE_OK) memset(&facts, 0, sizeof facts);
    return facts;
}

/* A call on a snapshot of a swap. */
#define PROBE_SNAPSHOT(result, call)                                        \
    do {                                                                    \
        const bloomline_filter *snapshot = bloomline_swap_acquire(swap_);   \
        result answer = call;                                               \
        bloomline_swap_release(snapshot);                                   \
        return answer;                                                      \
    } while (0)

static inline bool swap_contains(const bloomline_swap *swap_, const void *key, size_t len)
{
    PROBE_SNAPSHOT(bool, bloomline_filter_contains(snapshot, key, len));
}
static inline bool swap_contains_hash(const bloomline_swap *swap_, uint64_t hash)
{
    PROBE_SNAPSHOT(bool, bloomline_filter_contains_hash(snapshot, hash));
}
static inline size_t swap_contains_hashes(const bloomline_swap *swap_, const uint64_t *hashes, size_t n, uint64_t *bitmap)
{
    PROBE_SNAPSHOT(size_t, bloomline_filter_contains_hashes(snapshot, hashes, n, bitmap));
}
static inline size_t swap_contains_keys(const bloomline_swap *swap_, const bloomline_bytes *keys, size_t n, uint64_t *bitmap)
{
    PROBE_SNAPSHOT(size_t, bloomline_filter_contains_keys(snapshot, keys, n, bitmap));
}

#endif /* PROBES_H */
