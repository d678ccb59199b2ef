#!/usr/bin/env python3
"""Writes layout.txt: keys and bytes of small filters in Redis, from docs/REDIS.md and docs/FORMAT.md
alone. It is also the example of another language: it needs no library.

    python3 layout.py > layout.txt
"""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../tests"))
from format_reader import line_index, mask, xxh3_64  # the readers of docs/FORMAT.md

U64 = (1 << 64) - 1


def shard_of(hash, shards):
    mixed = hash * 0xD6E8FEB86659FD93 & U64
    mixed = (mixed ^ mixed >> 32) * 0xA0761D6478BD642F & U64
    return (mixed ^ mixed >> 29) * shards >> 64


def shard_key(name, generation, shard):
    if "}" in name:
        return name.replace("}", ":%d}" % shard) + ":" + generation
    return "{%s:%d}:%s" % (name, shard, generation)


def bit_offsets(hash, lines, k):
    first = 512 * line_index(hash, lines)
    lanes = mask(hash, k)
    return [first + 64 * lane + (bit ^ 7) for lane in range(8) for bit in range(64) if lanes[lane] >> bit & 1]


def footer(lines, k, seed):
    start = struct.pack("<QQQIHHQQ", 0, lines, seed, k, 1, 1, 0, 0)
    return start + struct.pack("<Q", xxh3_64(start)) + b"BLMLINE\n"


def write(name, generation, shards, lines, k, seed, keys):
    print("name", name)
    print("description v=1 store=lines generation=%s shards=%d lines=%d k=%d seed=%d keys=%d rate=0.01"
          % (generation, shards, lines, k, seed, len(keys)))
    strings = [bytearray(64 * lines) + footer(lines, k, seed) for _ in range(shards)]
    for key in keys:
        hash = xxh3_64(key.encode(), seed)
        shard = shard_of(hash, shards)
        bits = bit_offsets(hash, lines, k)
        for bit in bits:
            strings[shard][bit // 8] |= 0x80 >> bit % 8
        print("add", key, shard, ",".join(map(str, bits)))
    for shard in range(shards):
        print("shard", shard, shard_key(name, generation, shard), strings[shard].hex())


FRUIT = "apple pear plum grape cherry lemon orange fig".split()
write("fruit", "00000000000000aa", 1, 3, 6, 0, FRUIT)
write("seen", "0123456789abcdef", 4, 2, 6, 7, FRUIT)
write("day1{seen}", "00000000000000bb", 3, 1, 10, U64, FRUIT)
