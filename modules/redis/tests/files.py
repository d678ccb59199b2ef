"""The library's files in Python, for tests: the independent reader in tests/format_reader.py, and plain writers."""

import os
import struct
import sys

from resp import pairs
from server import ROOT

sys.path.insert(0, os.path.join(ROOT, "tests"))
from format_reader import (  # noqa: E402,F401
    MAGIC,
    Filter,
    StaticFilter,
    coefficients,
    fingerprint,
    line_index,
    mask,
    next_hash,
    position,
    xxh3_64,
)


def hashes(items, seed=0):
    return [xxh3_64(item, seed) for item in items]


def blob(values):
    """Hashes as the *HASH commands take them."""
    return struct.pack("<%dQ" % len(values), *values)


def bits(bitmap, count):
    """The first `count` answers of a bitmap; the bits behind them must be 0."""
    answers = [bitmap[i // 8] >> (i % 8) & 1 for i in range(count)]
    assert len(bitmap) == (count + 7) // 8, "a bitmap of %d bytes for %d hashes" % (len(bitmap), count)
    assert sum(byte.bit_count() for byte in bitmap) == sum(answers), "bits behind the end"
    return answers


def write(items, line_count, k=6, seed=0):
    """A plain filter's file (layout 1) with these keys, by the definition."""
    lanes = [0] * (8 * line_count)
    for value in hashes(items, seed):
        at = 8 * line_index(value, line_count)
        for i, lane in enumerate(mask(value, k)):
            lanes[at + i] |= lane
    return sealed(lanes, len(items), line_count, seed, k, 1)


def sealed(lanes, key_count, line_count, seed, k, layout, levels=0):
    """The file of these lanes."""
    lines = struct.pack("<%dQ" % len(lanes), *lanes)
    footer = struct.pack("<QQQIHHQQ", key_count, line_count, seed, k, layout, 1, levels, xxh3_64(lines))
    return lines + footer + struct.pack("<Q", xxh3_64(footer)) + MAGIC


STATIC_ROWS, STATIC_SHARE = 8, 64


def static_line(values, count):
    """The lanes of a line with as many of these hashes as it takes, and the others."""
    values = sorted(values, key=lambda value: position(value, count))
    pivots, threshold = {}, 255
    for value in values:
        equation, wanted = coefficients(value, STATIC_ROWS), fingerprint(value, STATIC_ROWS)
        for pivot, (row, right) in pivots.items():
            if equation & pivot:
                equation, wanted = equation ^ row, wanted ^ right
        if equation:
            pivots[equation & -equation] = equation, wanted
        elif wanted:
            threshold = position(value, count)
            break
    lanes = [0] * STATIC_ROWS
    # An equation has no pivot of those before it, but those of later ones.
    for pivot, (row, right) in reversed(list(pivots.items())):
        for j in range(STATIC_ROWS):
            if bin(lanes[j] & row).count("1") % 2 != right >> j & 1:
                lanes[j] |= pivot
    lanes = [lane | (threshold >> i & 1) << 63 for i, lane in enumerate(lanes)]
    return lanes, [value for value in values if position(value, count) >= threshold]


def write_static(items, seed=0):
    """A static filter's file (layout 8) of these keys, by the definition."""
    left, line_count = set(hashes(items, seed)), max(1, len(items) // 60)
    lanes, count, levels = [], line_count, 0
    while True:
        of_line = [[] for _ in range(count)]
        for value in left:
            of_line[line_index(value, count)].append(value)
        left = set()
        for values in of_line:
            line, bumped = static_line(values, count)
            lanes += line
            left.update(map(next_hash, bumped))
        if not left:
            break
        levels += 1
        count = -(-count * (STATIC_SHARE if levels < 3 else 16) // 256)
    shares = sum(STATIC_SHARE << 8 * i for i in range(min(levels, 2)))
    tail = max(0, levels - 2)
    assert tail < 16, "%d levels" % levels
    return sealed(lanes, len(items), line_count, seed, STATIC_ROWS, 8, shares | tail << 16)


def seed_of(client, key):
    return int(pairs(client.ok("BL.HASHINFO", key))["seed"])
