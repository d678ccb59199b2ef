"""The library's files in Python, for tests: the independent reader in tests/format_reader.py, and a plain writer."""

import os
import struct
import sys

from resp import pairs
from server import ROOT

sys.path.insert(0, os.path.join(ROOT, "tests"))
from format_reader import MAGIC, Filter, line_index, mask, xxh3_64  # noqa: E402,F401


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
    lines = struct.pack("<%dQ" % len(lanes), *lanes)
    footer = struct.pack("<QQQIHHQQ", len(items), line_count, seed, k, 1, 1, 0, xxh3_64(lines))
    return lines + footer + struct.pack("<Q", xxh3_64(footer)) + MAGIC


def seed_of(client, key):
    return int(pairs(client.ok("BL.HASHINFO", key))["seed"])
