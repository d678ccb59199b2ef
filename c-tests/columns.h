/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * columns.h - columns of every type, what single keys and the definition say of their rows, and a
 * macro that selects and refines them. Whoever includes it defines _DEFAULT_SOURCE first, for
 * fenced.h. Uses check.h, definition.h and fenced.h.
 */
#ifndef COLUMNS_H
#define COLUMNS_H

#include "check.h"
#include "definition.h"
#include "fenced.h"

/* More than is probed together. MOST_BYTES are those of a string. */
enum { MOST = 1100, MOST_BYTES = 40, INSERTED = 300, SEED = 3 };
static const size_t counts[] = {0, 1, 15, 16, 17, 63, 64, 65, 1000, 1025, MOST};
enum { COUNTS = sizeof counts / sizeof counts[0] };

/* Columns, and whether each row may be present. */
static uint64_t u64s[MOST], hashes[MOST];
static uint32_t u32s[MOST];
static int32_t offsets[MOST + 1];
static int64_t large_offsets[MOST + 1];
static uint8_t data[16 + MOST * MOST_BYTES];
static bool hash_there[MOST], u64_there[MOST], u32_there[MOST], string_there[MOST];

/* The keys as bytes. */
static inline void u64_key(size_t at, uint8_t key[8]) { put_le(key, 8, u64s[at]); }
static inline void u32_key(size_t at, uint8_t key[4]) { put_le(key, 4, u32s[at]); }
static inline const uint8_t *string_key(size_t at, size_t *len)
{
    *len = (size_t)(offsets[at + 1] - offsets[at]);
    return data + offsets[at];
}

static inline void make_columns(void)
{
    uint64_t state = 5;
    fill_hashes(u64s, MOST, 7);
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)next_random(&state);
    /* The first string begins behind some bytes, as in a slice of a column. */
    offsets[0] = 9;
    for (size_t at = 0; at < MOST; at++) {
        u32s[at] = (uint32_t)(at % 5 == 0 ? at : u64s[at]);
        offsets[at + 1] = offsets[at] + (int32_t)(next_random(&state) % MOST_BYTES);
    }
    for (size_t at = 0; at <= MOST; at++) large_offsets[at] = offsets[at];
}

/* Hashes of some keys of each column, for a filter that hashes by 'hash'. */
typedef uint64_t (*hash_fn)(const void *key, size_t len);
static inline uint64_t with_seed(const void *key, size_t len) { return bloomline_hash(key, len, SEED); }
static inline size_t make_hashes(hash_fn hash, uint64_t out[3 * INSERTED])
{
    for (size_t i = 0; i < INSERTED; i++) {
        uint8_t key[8];
        size_t len;
        u64_key(2 * i, key);
        out[3 * i] = hash(key, 8);
        u32_key(2 * i, key);
        out[3 * i + 1] = hash(key, 4);
        const uint8_t *string = string_key(2 * i, &len);
        out[3 * i + 2] = hash(string, len);
    }
    return 3 * INSERTED;
}

/* What single keys are told. Hashes are those of which filters of all kinds have some. */
static inline void expect_as_single(const bloomline_view *view)
{
    for (size_t at = 0; at < MOST; at++) {
        uint8_t key[8];
        size_t len;
        u64_key(at, key);
        u64_there[at] = bloomline_view_contains(view, key, 8);
        hashes[at] = bloomline_hash_u64(at, 1);
        hash_there[at] = bloomline_view_contains_hash(view, hashes[at]);
        u32_key(at, key);
        u32_there[at] = bloomline_view_contains(view, key, 4);
        const uint8_t *string = string_key(at, &len);
        string_there[at] = bloomline_view_contains(view, string, len);
    }
}

/* What the definition says of the lines of a filter. Hashes are those of the 64-bit integers. */
static inline void expect_by_definition(const uint8_t *lines, const bloomline_params *params)
{
    for (size_t at = 0; at < MOST; at++) {
        uint8_t key[8];
        size_t len;
        u64_key(at, key);
        hashes[at] = with_seed(key, 8);
        hash_there[at] = u64_there[at] = definition_contains(lines, params->line_count, params->k, hashes[at]);
        u32_key(at, key);
        u32_there[at] = definition_contains(lines, params->line_count, params->k, with_seed(key, 4));
        const uint8_t *string = string_key(at, &len);
        string_there[at] = definition_contains(lines, params->line_count, params->k, with_seed(string, len));
    }
}

/* Selection 's' of 'n' rows: all; some; in no order, with repetitions. */
static inline size_t selection_of(int s, size_t n, size_t out[MOST])
{
    size_t len = 0;
    uint64_t state = n;
    for (size_t i = 0; i < n; i++) {
        if (s == 2) out[len++] = (size_t)(next_random(&state) % n);
        else if (s == 0 || i % 7 < 2) out[len++] = i;
    }
    return len;
}

static fenced column_room, out_room;

static inline void columns_begin(void)
{
    make_columns();
    column_room = fenced_new((MOST + 1) * 8);
    out_room = fenced_new(MOST * 8);
}

static inline void columns_end(void)
{
    fenced_free(column_room);
    fenced_free(out_room);
}

/* An array in front of a forbidden page. */
static inline void *copied(const void *from, size_t len)
{
    uint8_t *at = at_fence(column_room, 1, len);
    memcpy(at, from, len);
    return at;
}

/* Asks for rows by their 'number', a type, by 'select' and 'refine', which are calls with 'view', 'n', 'out' and 'len'. */
#define CHECK_ROWS(number, there, select, refine)                                                   \
    do {                                                                                            \
        size_t expected[MOST], count = 0;                                                           \
        for (size_t i = 0; i < n; i++) if (there[i]) expected[count++] = i;                         \
        number *out = (number *)(void *)at_fence(out_room, 1, n * sizeof(number));                  \
        memset(out, 0xEE, n * sizeof(number));                                                      \
        CHECK_U64(count, select);                                                                   \
        for (size_t i = 0; i < count; i++) CHECK(out[i] == expected[i]);                            \
        for (int s = 0; s < 3; s++) {                                                               \
            size_t selection[MOST], len = selection_of(s, n, selection);                            \
            out = (number *)(void *)at_fence(out_room, 1, len * sizeof(number));                    \
            count = 0;                                                                              \
            for (size_t i = 0; i < len; i++) {                                                      \
                out[i] = (number)selection[i];                                                      \
                if (there[selection[i]]) expected[count++] = selection[i];                          \
            }                                                                                       \
            CHECK_U64(count, refine);                                                               \
            for (size_t i = 0; i < count; i++) CHECK(out[i] == expected[i]);                        \
        }                                                                                           \
    } while (0)

#endif
