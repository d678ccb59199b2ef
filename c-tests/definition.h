/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * definition.h - the lines of docs/FORMAT.md (layout 1) once more in plain C, written from that page: what
 * the C tests hold the library to. The histories have the other layouts. Nothing here is taken from the library
 * but XXH3 for the checksums (bloomline_hash with seed 0), which test_api.c compares with known values.
 *
 * Works on any byte order. Uses bloomline.h and the C library.
 */
#ifndef DEFINITION_H
#define DEFINITION_H

#include <bloomline.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 64, FOOTER_BYTES = 64, MAX_K = 16 };

#define DEFINITION_C1 UINT64_C(0x9E3779B97F4A7C15)
#define DEFINITION_C2 UINT64_C(0xD6E8FEB86659FD93)

/* Offsets in the footer. */
enum {
    AT_KEY_COUNT = 0,
    AT_LINE_COUNT = 8,
    AT_SEED = 16,
    AT_K = 24,
    AT_LAYOUT = 28,
    AT_VERSION = 30,
    AT_RESERVED = 32,
    AT_LINES_CHECKSUM = 40,
    AT_FOOTER_CHECKSUM = 48,
    AT_MAGIC = 56
};

/* Little-endian numbers of 'bytes' bytes. */
static inline uint64_t get_le(const uint8_t *at, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static inline void put_le(uint8_t *at, unsigned bytes, uint64_t value)
{
    for (unsigned i = 0; i < bytes; i++) at[i] = (uint8_t)(value >> (8 * i));
}

/* The high 64 bits of hash * line_count, in halves: C has no 128-bit integer. */
static inline uint64_t definition_line_index(uint64_t hash, uint64_t line_count)
{
    uint64_t a = hash >> 32, b = hash & 0xFFFFFFFF;
    uint64_t c = line_count >> 32, d = line_count & 0xFFFFFFFF;
    uint64_t middle = a * d + ((b * d) >> 32); /* cannot overflow */
    uint64_t other = b * c + (middle & 0xFFFFFFFF);
    return a * c + (middle >> 32) + (other >> 32);
}

/* ORs one round of the mask into the lanes: 'count' of 8, one bit each. */
static inline void definition_round(uint64_t g, unsigned count, uint64_t lanes[8])
{
    for (unsigned i = 0; i < 8; i++) {
        if ((i + (unsigned)(g >> 61)) % 8 < count) lanes[i] |= (uint64_t)1 << ((g >> (13 + 6 * i)) & 63);
    }
}

static inline void definition_mask(uint64_t hash, unsigned k, uint64_t lanes[8])
{
    memset(lanes, 0, 8 * sizeof lanes[0]);
    definition_round(hash * DEFINITION_C1, k < 8 ? k : 8, lanes);
    if (k > 8) definition_round(hash * DEFINITION_C2, k - 8, lanes);
}

static inline void definition_insert(uint8_t *lines, uint64_t line_count, unsigned k, uint64_t hash)
{
    uint64_t lanes[8];
    uint8_t *line = lines + definition_line_index(hash, line_count) * LINE_BYTES;
    definition_mask(hash, k, lanes);
    for (unsigned i = 0; i < 8; i++) put_le(line + 8 * i, 8, get_le(line + 8 * i, 8) | lanes[i]);
}

static inline bool definition_contains(const uint8_t *lines, uint64_t line_count, unsigned k,
                                       uint64_t hash)
{
    uint64_t lanes[8];
    const uint8_t *line = lines + definition_line_index(hash, line_count) * LINE_BYTES;
    definition_mask(hash, k, lanes);
    for (unsigned i = 0; i < 8; i++) {
        if ((get_le(line + 8 * i, 8) & lanes[i]) != lanes[i]) return false;
    }
    return true;
}

/* Makes the checksums of an encoded filter right again, so that a test reaches the checks
   behind them. 'len' is that of the bytes, whatever the footer says. */
static inline void definition_seal_footer(uint8_t *data, size_t len)
{
    uint8_t *footer = data + len - FOOTER_BYTES;
    put_le(footer + AT_FOOTER_CHECKSUM, 8, bloomline_hash(footer, AT_FOOTER_CHECKSUM, 0));
}

static inline void definition_seal(uint8_t *data, size_t len)
{
    put_le(data + len - FOOTER_BYTES + AT_LINES_CHECKSUM, 8, bloomline_hash(data, len - FOOTER_BYTES, 0));
    definition_seal_footer(data, len);
}

/* Writes a footer behind the 'len' bytes at 'data', checksums included. */
static inline void definition_finish_layout(uint8_t *data, size_t len, uint16_t layout, uint64_t line_count,
                                            uint32_t k, uint64_t seed, uint64_t key_count)
{
    static const uint8_t magic[8] = {0x42, 0x4C, 0x4D, 0x4C, 0x49, 0x4E, 0x45, 0x0A};
    uint8_t *footer = data + len;
    put_le(footer + AT_KEY_COUNT, 8, key_count);
    put_le(footer + AT_LINE_COUNT, 8, line_count);
    put_le(footer + AT_SEED, 8, seed);
    put_le(footer + AT_K, 4, k);
    put_le(footer + AT_LAYOUT, 2, layout);
    put_le(footer + AT_VERSION, 2, 1);
    put_le(footer + AT_RESERVED, 8, 0);
    memcpy(footer + AT_MAGIC, magic, sizeof magic);
    definition_seal(data, len + FOOTER_BYTES);
}

/* Writes the footer behind 'line_count' lines at 'data', checksums included. */
static inline void definition_finish(uint8_t *data, uint64_t line_count, uint32_t k, uint64_t seed,
                                     uint64_t key_count)
{
    definition_finish_layout(data, (size_t)line_count * LINE_BYTES, 1, line_count, k, seed, key_count);
}

/* SplitMix64: hashes that are the same on every run and every machine. */
static inline uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += DEFINITION_C1;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* 'n' hashes: random ones, with those in front that have broken filters before: all zeros,
   all ones, one bit only, the same half twice. */
static inline void fill_hashes(uint64_t *hashes, size_t n, uint64_t seed)
{
    static const uint64_t awkward[] = {
        0, UINT64_MAX, 1, UINT64_C(1) << 63, UINT64_C(0xFFFFFFFF), UINT64_C(0xFFFFFFFF00000000),
        UINT64_C(0x7FFFFFFFFFFFFFFF), UINT64_C(0x1234567812345678), UINT64_C(0x8000000080000000),
    };
    const size_t awkward_count = sizeof awkward / sizeof awkward[0];
    for (size_t i = 0; i < n; i++) hashes[i] = i < awkward_count ? awkward[i] : next_random(&seed);
}

static inline bool bit_of(const uint64_t *bitmap, size_t i)
{
    return (bitmap[i / 64] >> (i % 64)) & 1;
}

#endif /* DEFINITION_H */
