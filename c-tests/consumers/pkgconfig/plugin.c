/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* plugin.c - a shared library outside of the project that links the static library. host.c loads
 * it twice, under two names. */
#include <bloomline.h>

#include <stdlib.h>

__attribute__((visibility("default"))) int plugin_makes_a_filter(void);
__attribute__((visibility("default"))) int plugin_counts_allocations(void);

static int count;

static void *counting_alloc(void *context, size_t size, size_t align)
{
    (void)context;
    count++;
    return aligned_alloc(align, size);
}

static void counting_free(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}

static const bloomline_allocator allocator = {counting_alloc, counting_free, NULL};

/* Makes a filter, and returns how many allocations this library has counted, or -1. */
int plugin_makes_a_filter(void)
{
    bloomline_params params;
    bloomline_filter *filter;
    bloomline_status status = bloomline_params_for_rate(1000, 0.01, &params);
    if (status == BLOOMLINE_OK) status = bloomline_filter_new(&params, &filter);
    if (status != BLOOMLINE_OK) return -1;
    bloomline_filter_free(filter);
    return count;
}

/* From now on. Returns whether that could be had. */
int plugin_counts_allocations(void)
{
    return bloomline_set_allocator(&allocator) == BLOOMLINE_OK;
}
