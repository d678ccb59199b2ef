/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * engine_blocks.h - the filter blocks of RocksDB, Pebble, LevelDB and Parquet in plain C, bit by bit:
 * what the C tests hold the library to. Nothing here is taken from the library. Uses the C library.
 */
#ifndef ENGINE_BLOCKS_H
#define ENGINE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes behind the lines of a block of RocksDB. */
enum { TRAILER = 5 };

/* Which bits of a line a key has. */
typedef enum { LEGACY, FAST_LOCAL, PARQUET } block_bits;

/* How a block has the bits of its keys: lines of so many bytes; none for LevelDB's. */
typedef struct {
    uint8_t *bytes;
    uint64_t len;
    unsigned line, k;
    block_bits bits;
} block_shape;

/* Parquet's bits from its specification: a word of 32 bits for each. */
static const uint32_t block_salts[8] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                        0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

/* The number of bit i of a key. */
static inline uint64_t block_position(const block_shape *s, uint64_t hash, unsigned i)
{
    uint32_t low = (uint32_t)hash, x = (uint32_t)(hash >> 32);
    if (s->bits == PARQUET) return 256 * (((hash >> 32) * (s->len / 32)) >> 32) + 32 * i + (low * block_salts[i] >> 27);
    if (s->bits == FAST_LOCAL) {
        uint64_t line = (low * (s->len / 64)) >> 32;
        while (i-- > 0) x *= 0x9E3779B9u;
        return 512 * line + (x >> 23);
    }
    x = low + i * (low >> 17 | low << 15);
    if (s->line == 0) return x % (8 * s->len);
    return low % (s->len / s->line) * 8 * s->line + x % (8 * s->line);
}

static inline bool block_contains(const block_shape *s, uint64_t hash)
{
    for (unsigned i = 0; i < s->k; i++) {
        uint64_t at = block_position(s, hash, i);
        if ((s->bytes[at / 8] >> (at % 8) & 1) == 0) return false;
    }
    return true;
}

static inline void block_insert(const block_shape *s, uint64_t hash)
{
    for (unsigned i = 0; i < s->k; i++) {
        uint64_t at = block_position(s, hash, i);
        s->bytes[at / 8] |= (uint8_t)(1u << (at % 8));
    }
}

#endif
