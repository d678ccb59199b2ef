/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * header_c99.c - bloomline.h is C99, needs nothing included before it, and may be included
 * twice. Compiled only, with every warning there is; an array of negative size is the
 * C99 way to say what must hold.
 */
#include <bloomline.h>
#include <bloomline.h>
#include <bloomline_inline.h>
#include <bloomline_inline.h>

#define MUST_HOLD(name, condition) typedef char name[(condition) ? 1 : -1]

MUST_HOLD(status_is_32_bits, sizeof(bloomline_status) == 4 && (bloomline_status)-1 < 0);
MUST_HOLD(params_have_no_padding, sizeof(bloomline_params) == 24);
MUST_HOLD(facts_have_no_padding, sizeof(bloomline_cascade_facts) == 48 && sizeof(bloomline_matrix_shape) == 40 &&
                                     sizeof(bloomline_byte_range) == 16);
MUST_HOLD(a_view_is_a_line, sizeof(bloomline_view) == 64);
MUST_HOLD(an_allocator_is_three_pointers, sizeof(bloomline_allocator) == 3 * sizeof(void *));
MUST_HOLD(bytes_are_a_pointer_and_a_size, sizeof(bloomline_bytes) == sizeof(void *) + sizeof(size_t));
MUST_HOLD(ok_is_zero, BLOOMLINE_OK == 0);
MUST_HOLD(numbers_are_fixed, BLOOMLINE_ERR_NULL == 1 && BLOOMLINE_ERR_INTERNAL == 20 && BLOOMLINE_ERR_ABSENT == 21 && BLOOMLINE_ERR_FULL == 22 &&
          BLOOMLINE_ERR_GENERATIONS == 23 && BLOOMLINE_ERR_NOT_A_FILE == 25 && BLOOMLINE_ERR_OVERLAP == 26 &&
          BLOOMLINE_ERR_NO_LINES == 27 && BLOOMLINE_ERR_PREFETCH == 32 && BLOOMLINE_ERR_UNBOUNDED == 36 &&
          BLOOMLINE_ERR_SEQUENCE == 37 && BLOOMLINE_ERR_LAYERS == 38 && BLOOMLINE_ERR_CLASSIC == 39 &&
          BLOOMLINE_ERR_LOCKED == 40);

/* Constants are known to the preprocessor. */
#if BLOOMLINE_VERSION_MAJOR < 0 || BLOOMLINE_VERSION_MINOR < 0 || BLOOMLINE_VERSION_PATCH < 0 || \
    BLOOMLINE_VERSION != BLOOMLINE_VERSION_MAJOR * 10000 + BLOOMLINE_VERSION_MINOR * 100 + BLOOMLINE_VERSION_PATCH
#error "a version is not negative, and one number"
#endif
#if BLOOMLINE_ABI_VERSION != 0
#error "this test was written for ABI version 0"
#endif

/* A use of each kind of type in each place, for the warnings. */
bloomline_status header_c99_use(bloomline_filter **filter, bloomline_view *view, bool *answer);

bloomline_status header_c99_use(bloomline_filter **filter, bloomline_view *view, bool *answer)
{
    const bloomline_params params = {1, 6, 0, 0};
    const bloomline_bytes key = {(const uint8_t *)"apple", 5};
    bloomline_status status = bloomline_filter_new(&params, filter);
    switch (status) {
    case BLOOMLINE_OK: break;
    case BLOOMLINE_ERR_OUT_OF_MEMORY:
    default: return status;
    }
    bloomline_filter_insert_keys(*filter, &key, 1);
    *answer = bloomline_filter_contains(*filter, key.data, key.len);
    return bloomline_filter_view(*filter, view);
}
