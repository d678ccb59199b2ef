/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * header_c11.c - bloomline.h is C11 too, and its structs lie in memory as the ABI says.
 * Compiled only.
 */
#include <bloomline.h>
#include <bloomline_inline.h>

_Static_assert(offsetof(bloomline_params, line_count) == 0, "line_count");
_Static_assert(offsetof(bloomline_params, k) == 8, "k");
_Static_assert(offsetof(bloomline_params, layout) == 12, "layout");
_Static_assert(offsetof(bloomline_params, seed) == 16, "seed");
_Static_assert(offsetof(bloomline_bytes, data) == 0, "data");
_Static_assert(offsetof(bloomline_bytes, len) == sizeof(void *), "len");
_Static_assert(_Alignof(bloomline_view) == _Alignof(uint64_t), "a view is made of words");
_Static_assert(_Generic((bloomline_status)0, int32_t: 1, default: 0), "a status is an int32_t");
_Static_assert(_Generic(bloomline_hash("", 0, 0), uint64_t: 1, default: 0), "a hash is a uint64_t");
_Static_assert(_Generic(bloomline_view_contains_hash(0, 0), bool: 1, default: 0), "an answer is a bool");
_Static_assert(_Generic(bloomline_backend(), const char *: 1, default: 0), "a name is a const char *");

/* A function pointer of each declared type: what an engine that loads the library needs. */
typedef struct {
    bloomline_status (*open)(const void *, size_t, uint32_t, bloomline_view *);
    size_t (*probe)(const bloomline_view *, const uint64_t *, size_t, uint64_t *);
    bloomline_status (*build)(const bloomline_params *, const uint64_t *, size_t, void *, size_t);
    const char *(*message)(bloomline_status);
    uint32_t (*abi_version)(void);
} table;

extern const table header_c11_table;
const table header_c11_table = {
    bloomline_view_open, bloomline_view_contains_hashes, bloomline_block_build,
    bloomline_status_message, bloomline_abi_version,
};
