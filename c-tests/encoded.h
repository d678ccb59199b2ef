/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * encoded.h - ENCODED(kind) defines encoded(), which returns the bytes of a handle of this kind in
 * memory of exactly their length, to be freed. Uses check.h.
 */
#ifndef ENCODED_H
#define ENCODED_H

#include "check.h"

#define ENCODED(kind)                                                                \
    static uint8_t *encoded(const bloomline_##kind *handle, size_t *len)             \
    {                                                                                \
        size_t written = 0;                                                          \
        *len = bloomline_##kind##_encoded_len(handle);                               \
        uint8_t *data = malloc(*len);                                                \
        REQUIRE(data != NULL);                                                       \
        REQUIRE_OK(bloomline_##kind##_encode(handle, data, *len, &written));         \
        CHECK_U64(*len, written);                                                    \
        return data;                                                                 \
    }

#endif /* ENCODED_H */
