#!/usr/bin/env python3
"""A reader of Bloomline filters, written from docs/FORMAT.md, the pages in docs/format/ and the xxHash
specification (version 0.2.0) and from nothing else: proof that the pages are enough.

    python3 tests/format_reader.py GOLDEN_DIRECTORY FORMAT.MD

reads all golden files and the worked example of the page, prints what it checked, and
exits with 1 if anything differs. Python 3.6 or later, its standard library only.

    python3 tests/format_reader.py FILTER KEY...

answers for each key whether it may be in the filter.
"""

import os
import re
import struct
import sys

U64 = (1 << 64) - 1


# ---- XXH3-64 ----

P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P64_4, P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
MX1, MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25

DEFAULT_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)


def u32(data, at=0):
    return int.from_bytes(data[at : at + 4], "little")


def u64(data, at=0):
    return int.from_bytes(data[at : at + 8], "little")


def swapped(value, size):
    return int.from_bytes(value.to_bytes(size, "little"), "big")


def rotated(value, bits):
    return (value << bits | value >> (64 - bits)) & U64


def folded(a, b):
    product = a * b
    return (product ^ product >> 64) & U64


def avalanche(x):
    x = (x ^ x >> 37) * MX1 & U64
    return x ^ x >> 32


def avalanche_xxh64(x):
    x = (x ^ x >> 33) * P64_2 & U64
    x = (x ^ x >> 29) * P64_3 & U64
    return x ^ x >> 32


def xxh3_64(data, seed=0):
    length = len(data)
    if length <= 16:
        return xxh3_small(data, length, seed)
    if length <= 240:
        return xxh3_medium(data, length, seed)
    return xxh3_large(data, length, seed)


def xxh3_small(data, length, seed):
    secret = DEFAULT_SECRET
    if length == 0:
        return avalanche_xxh64(seed ^ u64(secret, 56) ^ u64(secret, 64))
    if length <= 3:
        mixed = data[-1] | length << 8 | data[0] << 16 | data[length >> 1] << 24
        return avalanche_xxh64(((u32(secret) ^ u32(secret, 4)) + seed & U64) ^ mixed)
    if length <= 8:
        seed ^= swapped(seed & 0xFFFFFFFF, 4) << 32
        mixed = u32(data, length - 4) | u32(data) << 32
        x = ((u64(secret, 8) ^ u64(secret, 16)) - seed & U64) ^ mixed
        x ^= rotated(x, 49) ^ rotated(x, 24)
        x = x * MX2 & U64
        x = (x ^ (x >> 35) + length) * MX2 & U64
        return x ^ x >> 28
    low = ((u64(secret, 24) ^ u64(secret, 32)) + seed & U64) ^ u64(data)
    high = ((u64(secret, 40) ^ u64(secret, 48)) - seed & U64) ^ u64(data, length - 8)
    return avalanche(length + swapped(low, 8) + high + folded(low, high) & U64)


def xxh3_medium(data, length, seed):
    def mix(at, secret_at):
        return folded(
            u64(data, at) ^ (u64(DEFAULT_SECRET, secret_at) + seed & U64),
            u64(data, at + 8) ^ (u64(DEFAULT_SECRET, secret_at + 8) - seed & U64),
        )

    total = length * P64_1
    if length <= 128:
        for i in range((length - 1 >> 5) + 1):
            total += mix(16 * i, 32 * i) + mix(length - 16 * i - 16, 32 * i + 16)
        return avalanche(total & U64)
    total = avalanche(total + sum(mix(16 * i, 16 * i) for i in range(8)) & U64)
    total += sum(mix(16 * i, 16 * (i - 8) + 3) for i in range(8, length >> 4))
    return avalanche(total + mix(length - 16, 119) & U64)


def xxh3_large(data, length, seed):
    words = struct.unpack("<24Q", DEFAULT_SECRET)
    words = [(word + (-seed if i % 2 else seed)) & U64 for i, word in enumerate(words)]
    secret = struct.pack("<24Q", *words)
    lanes = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1]

    def accumulate(at, secret_at):
        stripe = struct.unpack_from("<8Q", data, at)
        for i, key in enumerate(struct.unpack_from("<8Q", secret, secret_at)):
            value = stripe[i] ^ key
            lanes[i ^ 1] = lanes[i ^ 1] + stripe[i] & U64
            lanes[i] = lanes[i] + (value & 0xFFFFFFFF) * (value >> 32) & U64

    blocks = (length - 1) // 1024
    for block in range(blocks):
        for n in range(16):
            accumulate(1024 * block + 64 * n, 8 * n)
        for i, key in enumerate(struct.unpack_from("<8Q", secret, 128)):
            lanes[i] = (lanes[i] ^ lanes[i] >> 47 ^ key) * P32_1 & U64
    for n in range((length - 1024 * blocks - 1) // 64):
        accumulate(1024 * blocks + 64 * n, 8 * n)
    accumulate(length - 64, 192 - 71)
    total = length * P64_1
    for i in range(0, 8, 2):
        keys = u64(secret, 11 + 8 * i), u64(secret, 19 + 8 * i)
        total += folded(lanes[i] ^ keys[0], lanes[i + 1] ^ keys[1])
    return avalanche(total & U64)


# ---- the format ----

MAGIC = bytes([0x42, 0x4C, 0x4D, 0x4C, 0x49, 0x4E, 0x45, 0x0A])
JOURNAL_MAGIC = bytes([0x42, 0x4C, 0x4D, 0x4A, 0x52, 0x4E, 0x4C, 0x0A])
C1, C2 = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93

# Status numbers, as the pages have them.
RATE, K, LINE_COUNT, TRUNCATED, NOT_A_FILTER = 2, 4, 5, 11, 12
VERSION, LAYOUT, CHECKSUM, RESERVED, GENERATIONS, COLUMNS = 13, 14, 15, 16, 23, 33
SEQUENCE = 37


class Rejected(Exception):
    """The bytes are not a filter; `status` says by which rule."""

    def __init__(self, status):
        super().__init__("status %d" % status)
        self.status = status


def line_index(hash, line_count):
    return hash * line_count >> 64


def mask(hash, k):
    lanes = [0] * 8
    rounds = [(hash * C1 & U64, min(k, 8))] + ([(hash * C2 & U64, k - 8)] if k > 8 else [])
    for g, count in rounds:
        for i in range(8):
            if (i + (g >> 61)) % 8 < count:
                lanes[i] |= 1 << ((g >> (13 + 6 * i)) & 63)
    return lanes


def positions(hash, k, bits):
    at, step, found = hash, hash * C2 & U64, []
    for i in range(k):
        found.append(at * bits >> 64)
        at, step = at + step & U64, step + (i + 1) * C1 & U64
    return found


class Encoded:
    """What stands in the footer of an encoded filter of one of these layouts: rules 1 to 5."""

    def __init__(self, data, layouts):
        if len(data) < 64:
            raise Rejected(TRUNCATED)
        footer = data[-64:]
        if footer[56:] != MAGIC:
            raise Rejected(NOT_A_FILTER)
        fields = struct.unpack("<QQQIHHQQQ", footer[:56])
        self.key_count, self.line_count, self.seed, self.k, self.layout, version = fields[:6]
        self.reserved, self.lines_checksum, footer_checksum = fields[6:]
        if version != 1:
            raise Rejected(VERSION)
        if footer_checksum != xxh3_64(footer[:48]):
            raise Rejected(CHECKSUM)
        if self.layout not in layouts:
            raise Rejected(LAYOUT)

    def check_lines(self, data, length, most=0):
        """Rules 8 to 10, for an encoded filter that should have so many bytes; `most`: or could."""
        if self.line_count == 0 or max(length, most) > (1 << 63) - 1:
            raise Rejected(LINE_COUNT)
        if length != len(data):
            raise Rejected(TRUNCATED)
        if self.lines_checksum != xxh3_64(data[:-64]):
            raise Rejected(CHECKSUM)


class Filter(Encoded):
    """An encoded filter, all of it checked."""

    def __init__(self, data):
        super().__init__(data, (1, 2, 6))
        layout, self.classic = self.layout, self.layout == 6
        if self.reserved != 0:
            raise Rejected(RESERVED)
        if not 1 <= self.k <= 16:
            raise Rejected(K)
        per_line = 5 if layout == 2 else 1
        self.check_lines(data, 64 * (per_line * self.line_count + 1))
        self.lines, counters = data[: 64 * self.line_count], data[64 * self.line_count : -64]
        self.counters = [count for pair in counters for count in (pair & 15, pair >> 4)]
        if layout == 2:
            bits = [byte >> bit & 1 for byte in self.lines for bit in range(8)]
            if bits != [int(count > 0) for count in self.counters]:
                raise Rejected(CHECKSUM)

    def contains_hash(self, hash):
        if self.classic:
            bits = positions(hash, self.k, 512 * self.line_count)
            return all(self.lines[bit // 8] >> (bit % 8) & 1 for bit in bits)
        at = 64 * line_index(hash, self.line_count)
        line = struct.unpack_from("<8Q", self.lines, at)
        return all(line[i] & bits == bits for i, bits in enumerate(mask(hash, self.k)))

    def count_hash(self, hash):
        """How often the key is in, at most; for a filter with counters."""
        at = 512 * line_index(hash, self.line_count)
        lanes = mask(hash, self.k)
        bits = [bit for bit in range(512) if lanes[bit // 64] >> (bit % 64) & 1]
        return min(self.counters[at + bit] for bit in bits)

    def contains(self, key):
        return self.contains_hash(xxh3_64(key, self.seed))


class ScalableFilter(Encoded):
    """An encoded scalable filter, all of it checked."""

    def __init__(self, data):
        super().__init__(data, (3,))
        (rate,) = struct.unpack("<d", struct.pack("<Q", self.reserved))
        if not 1e-15 <= rate < 1:
            raise Rejected(RATE)
        if not 1 <= self.k <= 64:
            raise Rejected(K)
        self.check_lines(data, 64 * (self.line_count + self.k + 1))
        body = data[:-64]
        left, self.stages = body[: 64 * self.line_count], []
        for at in range(64 * self.line_count, len(body), 64):
            record = body[at : at + 64]
            _, line_count, capacity, k = struct.unpack("<QQQI", record[:28])
            if any(record[28:]):
                raise Rejected(RESERVED)
            if not 1 <= k <= 16:
                raise Rejected(K)
            last = at + 64 == len(body)
            here, left = left[: 64 * line_count], left[64 * line_count :]
            if line_count == 0 or len(here) < 64 * line_count or capacity == 0 or last and left:
                raise Rejected(LINE_COUNT)
            self.stages.append((here, k))

    def contains_hash(self, hash):
        for lines, k in self.stages:
            line = struct.unpack_from("<8Q", lines, 64 * line_index(hash, len(lines) // 64))
            if all(line[i] & bits == bits for i, bits in enumerate(mask(hash, k))):
                return True
        return False


class Window(Encoded):
    """An encoded window, all of it checked."""

    def __init__(self, data):
        super().__init__(data, (4,))
        generations = self.reserved
        if not 1 <= generations < 1 << 32:
            raise Rejected(GENERATIONS)
        if not 1 <= self.k <= 16:
            raise Rejected(K)
        self.check_lines(data, generations * (64 * self.line_count + 8) + 16 + 64)
        body, size = data[:-64], 64 * self.line_count
        self.places = [body[place * size : (place + 1) * size] for place in range(generations)]
        state = struct.unpack("<%dQ" % (2 + generations), body[generations * size :])
        equal(self.key_count, min(sum(state[2:]), (1 << 64) - 1), "the sum of key counts")
        self.more = [generations, *state[:2]]

    def contains_hash(self, hash):
        at = 64 * line_index(hash, self.line_count)
        for lines in self.places:
            line = struct.unpack_from("<8Q", lines, at)
            if all(line[i] & bits == bits for i, bits in enumerate(mask(hash, self.k))):
                return True
        return False


class CuckooFilter(Encoded):
    """An encoded cuckoo filter, all of it checked."""

    def __init__(self, data):
        super().__init__(data, (7,))
        if self.reserved != 0:
            raise Rejected(RESERVED)
        if self.k not in (8, 12, 16):
            raise Rejected(K)
        if self.line_count >= 1 << 32:
            raise Rejected(LINE_COUNT)
        self.check_lines(data, 64 * (self.line_count + 1))
        self.lines = data[:-64]

    def contains_hash(self, hash):
        f, *places = cuckoo_places(hash, self.line_count, self.k)
        return any(f in self.slots(*place) for place in places)

    def slots(self, line, bucket):
        at, size = 64 * line + bucket * self.k // 2, self.k // 2
        bucket = int.from_bytes(self.lines[at : at + size], "little")
        return [bucket >> slot * self.k & (1 << self.k) - 1 for slot in range(4)]


EXTRA = {4: [60], 5: [31, 6], 6: [21], 7: [9], 8: [], 9: [21, 21, 7], 11: [21, 7], 13: [9, 4], 15: [4]}
EXTRA.update({2 * rows: EXTRA[rows] for rows in (5, 6, 7, 8)})
C3 = 0xA0761D6478BD642F


def next_hash(hash):
    g = hash * C1 + C2 & U64
    return (g ^ g >> 32) * C2 & U64


def coefficients(hash, rows):
    n, e = next_hash(hash), sum(EXTRA[rows])
    return n >> 1 | (n * C3 & U64) >> 64 - e << 63


def fingerprint(hash, rows):
    return hash & (1 << rows) - 1 | 1


def position(hash, count):
    return min((hash * count & U64) >> 56, 254)


class StaticLines:
    """Lines of so many rows, in levels of these sizes."""

    def __init__(self, k, line_count, sizes):
        self.k, self.lines = k, b""
        second, third, tail, *zeros = sizes.to_bytes(8, "little")
        if any(zeros) or tail > 15 or third and not second or tail and not third:
            raise Rejected(RESERVED)
        if not 4 <= k <= 16:
            raise Rejected(K)
        if not 1 <= line_count <= 1 << 48:
            raise Rejected(LINE_COUNT)
        self.counts = [line_count]
        for share in [second, third] + [16] * tail:
            if share:
                self.counts.append((self.counts[-1] * share + 255) // 256)
        self.lanes = 8 if k <= 8 else 16
        self.size = 8 * self.lanes * sum(self.counts)

    def line(self, number):
        """The threshold and the rows of a line."""
        lanes = struct.unpack_from("<%dQ" % self.lanes, self.lines, 8 * self.lanes * number)
        threshold = sum(lanes[i] >> 63 << i for i in range(8))
        rows = [lane & (1 << 63) - 1 for lane in lanes[: self.k]]
        lane, bit, column = self.k, 0, 63
        for bits in EXTRA[self.k]:
            for row in range(self.k):
                if bit + bits > 63:
                    lane, bit = lane + 1, 0
                rows[row] |= (lanes[lane] >> bit & (1 << bits) - 1) << column
                bit += bits
            column += bits
        return threshold, rows

    def contains_hash(self, hash):
        first = 0
        for count in self.counts:
            threshold, rows = self.line(first + line_index(hash, count))
            if position(hash, count) < threshold:
                wanted, ours = fingerprint(hash, self.k), coefficients(hash, self.k)
                parities = [bin(row & ours).count("1") % 2 for row in rows]
                return parities == [wanted >> j & 1 for j in range(self.k)]
            hash, first = next_hash(hash), first + count
        return True


class StaticFilter(Encoded):
    """An encoded static filter, all of it checked."""

    def __init__(self, data):
        super().__init__(data, (8,))
        self.static = StaticLines(self.k, self.line_count, self.reserved)
        self.check_lines(data, self.static.size + 64)
        self.more, self.static.lines = [self.reserved], data[:-64]

    def contains_hash(self, hash):
        return self.static.contains_hash(hash)


def layer_hash(hash, layer):
    if layer == 0:
        return hash
    z = hash + layer * C1 & U64
    y = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & U64
    x = (y ^ y >> 27) * 0x94D049BB133111EB & U64
    return x ^ x >> 31


class Cascade(Encoded):
    """An encoded cascade, all of it checked."""

    def __init__(self, data):
        super().__init__(data, (9,))
        if not 1 <= self.k <= 32:
            raise Rejected(K)
        self.check_lines(data, 64 * (self.line_count + self.k + 1))
        left, records = data[: 64 * self.line_count], data[64 * self.line_count : -64]
        if xxh3_64(records) != self.reserved:
            raise Rejected(CHECKSUM)
        self.layers = []
        for at in range(0, len(records), 64):
            record = records[at : at + 64]
            _, line_count, tested, k, zero, sizes = struct.unpack("<QQQIIQ", record[:40])
            if zero or any(record[40:]):
                raise Rejected(RESERVED)
            layer = StaticLines(k, line_count, sizes)
            layer.lines, left = left[: layer.size], left[layer.size :]
            last = at + 64 == len(records)
            if len(layer.lines) < layer.size or last and left:
                raise Rejected(LINE_COUNT)
            if not self.layers:
                self.more = [tested]
            self.layers.append(layer)

    def contains_hash(self, hash):
        for i, layer in enumerate(self.layers):
            if not layer.contains_hash(layer_hash(hash, i)):
                return i % 2 == 1
        return len(self.layers) % 2 == 1


class Region:
    """The lines of a region of a growing filter, and what its record says."""

    def __init__(self, filter, number, record):
        self.first, self.count, self.u, self.r, self.length = struct.unpack("<QQQII", record[:32])
        self.mixed = int(filter.lengths > 0)
        of_line = self.u << self.mixed
        if (
            any(record[32:])
            or self.length > max(filter.lengths - 1, 0)
            or not 1 <= self.r <= 54
            or not 64 <= self.u <= 1 << 59
            or not 1 <= of_line >> self.r <= 128
            or self.mixed and of_line % (1 << self.r)
        ):
            raise Rejected(RESERVED)
        self.w = (filter.prefixes << self.length) // filter.k
        self.start, self.of_line = number * self.w, of_line
        self.homes = -(-self.w // self.u)

    def read(self, line):
        """The values of a line, and whether it goes on."""
        bits, values = int.from_bytes(line, "little"), []
        most, r = min(bits & 63, 496 // (self.r + 1)), self.r
        bucket = bits >> 7 & 511
        bucket -= 512 if bucket > 255 else 0
        for bit in range(16, 128):
            if not bits >> bit & 1:
                bucket += 1
            elif len(values) < most:
                remainder = bits >> (512 - (len(values) + 1) * r) & (1 << r) - 1
                values.append((bucket << r) + remainder)
        return values, bits >> 6 & 1

    def written(self, values, goes_on):
        """The line of these values; None if they do not fit."""
        bits, r = goes_on << 6, self.r
        if values:
            base = min(values[0] >> r, 255)
            end = 16 + (values[-1] >> r) - base + len(values)
            if len(values) > 63 or end > min(128, 512 - len(values) * r) or base < -256:
                return None
            bits |= len(values) | (base & 511) << 7
        for j, value in enumerate(values):
            bits |= 1 << (16 + j + (value >> r) - base)
            bits |= (value & (1 << r) - 1) << (512 - (j + 1) * r)
        return bits.to_bytes(64, "little")

    def check(self, lines):
        """Rule 12: returns all values, counted from the start of the region."""
        self.lines = [self.read(line) for line in lines]
        broken, found = 0, []
        for i, (line, (values, goes_on)) in enumerate(zip(lines, self.lines)):
            if self.written(values, goes_on) != line:
                raise Rejected(CHECKSUM)
            for value in values:
                value += i * self.of_line
                zeros = (value & -value).bit_length() - 1
                if (
                    not (found[-1] if found else 0) <= value < self.w << self.mixed
                    or not broken <= value // self.of_line <= i
                    or self.mixed and not 0 <= zeros < min(self.r, self.length + 1)
                ):
                    raise Rejected(CHECKSUM)
                found.append(value)
            if not goes_on:
                broken = i + 1
        if broken != len(lines):
            raise Rejected(CHECKSUM)
        return found

    def look(self, number, value):
        values, goes_on = self.lines[number]
        for v in values:
            low = v & (1 << self.r) - 1
            e = 0
            if self.mixed:
                e = (low & -low).bit_length() if low else self.r
            if v >> e == value >> e:
                return True
        return None if goes_on and all(v >> self.r <= value >> self.r for v in values) else False

    def contains(self, x):
        line, value = x // self.u, (x % self.u << self.mixed) + self.mixed
        while value >> self.r >= -256:
            answer = self.look(line, value)
            if answer is not None:
                return answer
            line, value = line + 1, value - self.of_line
        return False


class GrowingFilter(Encoded):
    """An encoded growing filter, all of it checked."""

    def __init__(self, data):
        super().__init__(data, (11,))
        if self.k not in (1, 16):
            raise Rejected(K)
        self.check_lines(data, 64 * (self.line_count + self.k + 2))
        blocks, records = data[: 64 * self.line_count], data[64 * self.line_count : -64]
        if xxh3_64(records) != self.reserved:
            raise Rejected(CHECKSUM)
        *records, last = [records[at : at + 64] for at in range(0, len(records), 64)]
        self.prefixes, keys, rate, stash, copies, lengths = struct.unpack("<QQdQQI", last[:44])
        self.lengths = lengths
        if (
            any(last[44:])
            or not 1024 <= self.prefixes <= 1 << 59
            or self.prefixes % 16
            or keys > self.prefixes
            or lengths and (lengths > 64 or self.prefixes << (lengths - 1) > 1 << 59)
        ):
            raise Rejected(RESERVED)
        if not 0 < rate < 1:
            raise Rejected(RATE)
        self.longer, self.mixed = max(lengths - 1, 0), int(lengths > 0)
        self.regions, lines = [], 0
        for number, record in enumerate(records):
            region = Region(self, number, record)
            fits = region.homes <= region.count <= region.homes + 4
            if not fits or region.first != lines or lines + region.count > self.line_count:
                raise Rejected(LINE_COUNT)
            lines += region.count
            self.regions.append(region)
        if lines + (stash + copies + 3) // 4 != self.line_count:
            raise Rejected(LINE_COUNT)
        self.check_entries(blocks, 64 * lines, stash, copies)

    def check_entries(self, blocks, at, stash, copies):
        """Rule 12."""
        counts = {}
        for region in self.regions:
            lines = blocks[64 * region.first : 64 * (region.first + region.count)]
            for value in region.check([lines[i : i + 64] for i in range(0, len(lines), 64)]):
                normal = (region.start << region.mixed) + value << (self.longer - region.length)
                counts[normal] = counts.get(normal, 0) + 1
        entries = list(struct.iter_unpack("<QQ", blocks[at : at + 16 * (stash + copies)]))
        self.stash = dict(entries[:stash])
        end = self.prefixes << (self.mixed + self.longer)
        for some in (entries[:stash], entries[stash:]):
            for i, (prefix, count) in enumerate(some):
                if prefix >= end or count == 0 or i and prefix <= some[i - 1][0]:
                    raise Rejected(CHECKSUM)
                region = self.regions[prefix // (end // self.k)]
                zeros = (prefix & -prefix).bit_length() - 1
                norm = self.longer - region.length
                if self.mixed and not norm <= zeros <= self.longer:
                    raise Rejected(CHECKSUM)
        for prefix, count in entries[:stash]:
            counts[prefix] = counts.get(prefix, 0) + count
        for prefix, count in entries[stash:]:
            if prefix not in counts:
                raise Rejected(CHECKSUM)
            counts[prefix] += count
        if sum(counts.values()) > U64 or any(blocks[at + 16 * len(entries) :]):
            raise Rejected(CHECKSUM)
        self.counts = counts

    def contains_hash(self, hash):
        region = self.regions[(hash >> 60) % self.k]
        x = (hash * (self.prefixes << region.length) >> 64) - region.start
        return region.contains(x) or any(
            ((hash * (self.prefixes << i) >> 64 << self.mixed) + self.mixed) << (self.longer - i)
            in self.stash
            for i in range(region.length + 1)
        )


class Journal:
    """A journal of a growing filter, read to the end of its last whole record."""

    def __init__(self, data):
        self.filter, self.sequence, self.length, self.torn = None, 0, 0, False
        seen, base, origin = set(), 0, 0
        while self.length < len(data) or not seen:
            try:
                kind, sequence, *follows, id, content = journal_record(data, self.length)
            except Rejected as rejected:
                # Rules 1 and 6: torn. Rules 2, 3 and 7: torn, if no record follows.
                maybe = rejected.status in (NOT_A_FILTER, CHECKSUM)
                if not seen or not maybe and rejected.status != TRUNCATED:
                    raise
                if maybe and any(is_header(data, at) for at in range(self.length + 8, len(data), 8)):
                    raise Rejected(CHECKSUM)
                self.torn = True
                break
            self.length += 64 + len(content)
            if (sequence, id) in seen:
                continue
            if seen and sequence <= self.sequence or kind == 2 and (not seen or follows != [base, origin]):
                raise Rejected(SEQUENCE)
            if kind == 1:
                self.filter, origin = GrowingFilter(content), id
                self.key_count, self.counts = self.filter.key_count, dict(self.filter.counts)
            else:
                self.change(content)
            seen.add((sequence, id))
            self.sequence, base = sequence, id

    def change(self, content):
        """Rules 11 and 12, and what a record of kind 2 changes."""
        if len(content) < 24:
            raise Rejected(TRUNCATED)
        self.key_count, inserted, removed = struct.unpack("<QQQ", content[:24])
        bits, left = int.from_bytes(content[24:], "little"), 8 * len(content) - 192
        every = self.filter.prefixes << self.filter.longer
        lists = []
        for count in (inserted, removed):
            prefix, low = 0, max(every // max(count, 1), 1).bit_length() - 1
            lists.append([])
            while len(lists[-1]) < count:
                zeros = (bits & -bits).bit_length() - 1
                if bits == 0 or zeros + 1 + low > left:
                    raise Rejected(RESERVED)
                bits, left = bits >> zeros + 1, left - zeros - 1 - low
                prefix += zeros << low | bits & (1 << low) - 1
                bits >>= low
                if prefix >= every:
                    raise Rejected(RESERVED)
                lists[-1].append(prefix)
        if bits != 0 or left >= 64:
            raise Rejected(RESERVED)
        if self.filter.lengths == 0:
            for prefix in lists[0]:
                self.counts[prefix] = self.counts.get(prefix, 0) + 1
            for prefix in lists[1]:
                self.counts[prefix] = max(self.counts.get(prefix, 0) - 1, 0)


def is_header(data, at):
    """Rules 1 to 3 of a record."""
    header = data[at : at + 64]
    return len(header) == 64 and header[:8] == JOURNAL_MAGIC and xxh3_64(header[:56]) == u64(header, 56)


def journal_record(data, at):
    """Rules 1 to 7: kind, sequence, base, origin, header_checksum and content of a record."""
    header = data[at : at + 64]
    if len(header) < 64:
        raise Rejected(TRUNCATED)
    if not is_header(data, at):
        raise Rejected(CHECKSUM if header[:8] == JOURNAL_MAGIC else NOT_A_FILTER)
    version, kind, zero, length, *numbers, checksum, id = struct.unpack("<HHIQQQQQQ", header[8:])
    sequence, base, origin = numbers
    if version != 1:
        raise Rejected(VERSION)
    if kind not in (1, 2) or zero or length % 8 or kind == 1 and (base or origin):
        raise Rejected(RESERVED)
    content = data[at + 64 : at + 64 + length]
    if len(content) < length:
        raise Rejected(TRUNCATED)
    if xxh3_64(content) != checksum:
        raise Rejected(CHECKSUM)
    return kind, sequence, base, origin, id, content


def matrix_rows(hash, k):
    """The rows of a group that a key reads."""
    lanes = mask(hash, k)
    return [row for row in range(512) if lanes[row // 64] >> row % 64 & 1]


class Matrix(Encoded):
    """An encoded matrix, all of it checked."""

    def __init__(self, data):
        super().__init__(data, (10,))
        self.more, shape = [self.reserved], self.reserved
        self.columns, named, summed = shape & (1 << 32) - 1, shape >> 32 & 1, shape >> 33 & 1
        if shape >> 34:
            raise Rejected(RESERVED)
        if self.columns == 0:
            raise Rejected(COLUMNS)
        if not 1 <= self.k <= 16:
            raise Rejected(K)
        self.row_bytes = (self.columns + 63) // 64 * 8
        self.group_bytes = 512 * self.row_bytes
        names, sums = 8 * self.columns, 8 * self.line_count
        groups = self.group_bytes * self.line_count
        length = groups + named * names + summed * sums + 64
        self.check_lines(data, length, groups + names + sums + 64)
        self.groups, rest = data[:groups], data[groups:-64]
        self.names = struct.unpack_from("<%dQ" % (named * self.columns), rest)
        sums = struct.unpack_from("<%dQ" % (summed * self.line_count), rest, named * names)
        for line, expected in enumerate(sums):
            group = self.groups[line * self.group_bytes : (line + 1) * self.group_bytes]
            if xxh3_64(group, line) != expected:
                raise Rejected(CHECKSUM)
        for at in range(0, groups, self.row_bytes):
            if int.from_bytes(self.groups[at : at + self.row_bytes], "little") >> self.columns:
                raise Rejected(CHECKSUM)

    def columns_with(self, hash):
        """The columns that may have the key, a bit for each."""
        first = line_index(hash, self.line_count) * self.group_bytes
        answer = (1 << self.columns) - 1
        for row in matrix_rows(hash, self.k):
            at = first + row * self.row_bytes
            answer &= int.from_bytes(self.groups[at : at + self.row_bytes], "little")
        return answer

    def contains_hash(self, hash):
        return self.columns_with(hash) > 0

    def said(self, hash):
        """As the files of probes have it: words of hexadecimal digits."""
        words = self.columns_with(hash).to_bytes(self.row_bytes, "little")
        return ["%016x" % u64(words, at) for at in range(0, len(words), 8)]

    def column(self, column):
        """The lines of a column."""
        lines = bytearray(64 * self.line_count)
        for row in range(512 * self.line_count):
            byte = self.groups[row * self.row_bytes + column // 8]
            lines[row // 8] |= (byte >> column % 8 & 1) << row % 8
        return bytes(lines)


def cuckoo_places(hash, line_count, bits):
    """The fingerprint of a hash, and the line and the bucket in it of both places."""
    buckets = 128 // bits
    f = hash & (1 << bits) - 1 or 1
    first = hash * line_count >> 64, (hash >> 16 & 0xFFFF) * buckets >> 16
    return f, first, cuckoo_other(first, f, line_count, buckets)


def cuckoo_other(place, f, line_count, buckets):
    line, bucket = place
    m = f * 0x9E3779B1 & 0xFFFFFFFF
    start, n = 0, line_count
    if f % 8 != 0:
        last = 64 * (max(line_count // 64, 1) - 1)
        page = line - line % 64
        start, n = (last, line_count - last) if page >= last else (page, 64)
    line = start + ((m * n >> 32) - (line - start)) % n
    return line, (((m & 0xFFFF) * buckets >> 16) - bucket) % buckets


# ---- the checks ----


def equal(got, expected, what):
    if got != expected:
        sys.exit("format_reader: %s: %r, expected %r" % (what, got, expected))


def status_of(data, kind=Filter):
    try:
        kind(data)
    except Rejected as rejected:
        return rejected.status
    return 0


def read(directory, name):
    with open(os.path.join(directory, name), "rb") as file:
        return file.read()


def rows(directory, name):
    return [row.split() for row in read(directory, name).decode("ascii").splitlines()]


def check_filters(directory, read_as=Filter):
    counts = {"accepted": 0, "rejected": 0}
    probes = 0
    for kind, name, *rest in rows(directory, "MANIFEST"):
        data = read(directory, name)
        numbers = [int(number) for number in rest]
        counts[kind] += 1
        if kind == "rejected":
            equal([status_of(data, read_as)], numbers, name)
            continue
        filter = read_as(data)
        got = [filter.line_count, filter.k, filter.seed, filter.key_count]
        got += getattr(filter, "more", [])
        equal(got, numbers, name)
        for hash, *answer in rows(directory, name + ".probes"):
            what, hash = name + " " + hash, int(hash, 16)
            if filter.layout == 10:
                equal(filter.said(hash), answer, what)
            else:
                equal(filter.contains_hash(hash), answer != ["0"], what)
            if filter.layout == 2:
                equal(filter.count_hash(hash), int(answer[0]), what)
            probes += 1
    return counts["accepted"], probes, counts["rejected"]


def check_journals(directory):
    counts = {"accepted": 0, "rejected": 0}
    for kind, name, *rest in rows(directory, "MANIFEST"):
        data = read(directory, name)
        numbers = [int(number) for number in rest]
        counts[kind] += 1
        if kind == "rejected":
            equal([status_of(data, Journal)], numbers, name)
            continue
        journal = Journal(data)
        equal([journal.sequence, journal.length, journal.torn], numbers, name)
        if journal.filter.lengths == 0:
            equal(sum(journal.counts.values()), journal.key_count, "the keys of " + name)
    return counts["accepted"], counts["rejected"]


def check_columns(directory):
    """Which rows keys read, and the columns of matrices, taken out."""
    ranges = rows(directory, "vectors.txt")
    for hash, *numbers in ranges:
        what, hash = "matrix/vectors.txt, " + hash, int(hash, 16)
        line_count, columns, k, offset, length, *expected = [int(number) for number in numbers]
        equal((columns + 63) // 64 * 8 * 512, length, what)
        equal(line_index(hash, line_count) * length, offset, what)
        equal(matrix_rows(hash, k), expected, what)
    columns, matrices = rows(directory, "columns.txt"), {}
    for file, column, checksum, name in columns:
        what, column = "matrix/columns.txt, %s %s" % (file, column), int(column)
        if file not in matrices:
            matrices[file] = Matrix(read(directory, file))
        equal(xxh3_64(matrices[file].column(column)), int(checksum, 16), what)
        names = matrices[file].names
        equal("%016x" % names[column] if names else "-", name, what)
    return len(ranges), len(columns)


def check_golden(directory):
    accepted, probes, rejected = check_filters(directory)
    counting = check_filters(os.path.join(directory, "counting"))
    classic = check_filters(os.path.join(directory, "classic"))
    scalable = check_filters(os.path.join(directory, "scalable"), ScalableFilter)
    window = check_filters(os.path.join(directory, "window"), Window)
    cuckoo = check_filters(os.path.join(directory, "cuckoo"), CuckooFilter)
    static = check_filters(os.path.join(directory, "static"), StaticFilter)
    cascade = check_filters(os.path.join(directory, "cascade"), Cascade)
    matrix = check_filters(os.path.join(directory, "matrix"), Matrix)
    growing = check_filters(os.path.join(directory, "growing"), GrowingFilter)
    journals = check_journals(os.path.join(directory, "journal"))
    prefixes = rows(os.path.join(directory, "growing"), "vectors.txt")
    for hash, w, u, *expected in prefixes:
        number, w, u = int(hash, 16), int(w), int(u)
        x = (number * 16 * w >> 64) - (number >> 60) * w
        got = [number >> 60, x // u, x % u]
        equal(got, [int(field) for field in expected], "growing/vectors.txt, " + hash)
    ranges, columns = check_columns(os.path.join(directory, "matrix"))
    mixed = rows(os.path.join(directory, "cascade"), "vectors.txt")
    for hash, layer, expected in mixed:
        what = "cascade/vectors.txt, %s %s" % (hash, layer)
        equal(layer_hash(int(hash, 16), int(layer)), int(expected, 16), what)
    equations = rows(os.path.join(directory, "static"), "vectors.txt")
    for hash, line_count, k, c, *numbers, after in equations:
        what, hash, k = "static/vectors.txt, %s %s" % (hash, k), int(hash, 16), int(k)
        line_count = int(line_count)
        got = [fingerprint(hash, k), line_index(hash, line_count), position(hash, line_count)]
        equal(got, [int(number) for number in numbers], what)
        equal([coefficients(hash, k), next_hash(hash)], [int(c, 16), int(after, 16)], what)
    places = rows(os.path.join(directory, "cuckoo"), "vectors.txt")
    for hash, line_count, bits, *expected in places:
        what = "cuckoo/vectors.txt, %s %s %s" % (hash, line_count, bits)
        f, first, other = cuckoo_places(int(hash, 16), int(line_count), int(bits))
        equal([f, *first, *other], [int(number) for number in expected], what)
        back = cuckoo_other(other, f, int(line_count), 128 // int(bits))
        equal(back, first, "the other of the other, " + what)
    spread = rows(os.path.join(directory, "classic"), "vectors.txt")
    for hash, line_count, *expected in spread:
        got = positions(int(hash, 16), len(expected), 512 * int(line_count))
        equal(got, [int(position) for position in expected], "classic/vectors.txt, " + hash)
    vectors = rows(directory, "vectors.txt")
    for hash, line_count, k, index, *lanes in vectors:
        what = "vectors.txt, %s k=%s" % (hash, k)
        equal(line_index(int(hash, 16), int(line_count)), int(index), what)
        equal(mask(int(hash, 16), int(k)), [int(lane, 16) for lane in lanes], what)
    keys = rows(directory, "keys.txt")
    for key, seed, hash in keys:
        data = b"" if key == "-" else bytes.fromhex(key)
        equal(xxh3_64(data, int(seed)), int(hash, 16), "keys.txt, %s %s" % (key, seed))
    for what, count in [
        ("accepted files", accepted),
        ("probes", probes),
        ("rejected files", rejected),
        ("accepted files with counters", counting[0]),
        ("probes of them", counting[1]),
        ("rejected files with counters", counting[2]),
        ("accepted scalable files", scalable[0]),
        ("probes of them", scalable[1]),
        ("rejected scalable files", scalable[2]),
        ("accepted windows", window[0]),
        ("probes of them", window[1]),
        ("rejected windows", window[2]),
        ("accepted classic files", classic[0]),
        ("probes of them", classic[1]),
        ("rejected classic files", classic[2]),
        ("vectors of them", len(spread)),
        ("accepted cuckoo filters", cuckoo[0]),
        ("probes of them", cuckoo[1]),
        ("rejected cuckoo filters", cuckoo[2]),
        ("vectors of them", len(places)),
        ("accepted static filters", static[0]),
        ("probes of them", static[1]),
        ("rejected static filters", static[2]),
        ("vectors of them", len(equations)),
        ("accepted cascades", cascade[0]),
        ("probes of them", cascade[1]),
        ("rejected cascades", cascade[2]),
        ("vectors of them", len(mixed)),
        ("accepted matrices", matrix[0]),
        ("probes of them", matrix[1]),
        ("rejected matrices", matrix[2]),
        ("vectors of them", ranges),
        ("columns of them", columns),
        ("accepted growing filters", growing[0]),
        ("probes of them", growing[1]),
        ("rejected growing filters", growing[2]),
        ("vectors of them", len(prefixes)),
        ("accepted journals", journals[0]),
        ("rejected journals", journals[1]),
        ("vectors", len(vectors)),
        ("keys", len(keys)),
    ]:
        if count == 0:
            sys.exit("format_reader: there are no %s" % what)
        print("format_reader: %d %s" % (count, what))


def check_example(page):
    """The worked example: the one filter whose dump is in the page."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    dump = re.findall(r"^[0-9a-f]{4}  ((?:[0-9a-f]{2} +){8}.*)$", text, re.MULTILINE)
    data = bytes.fromhex(" ".join(dump))
    keys = re.findall(r"^(\w+) +0x([0-9a-f]{16}) +0x([0-9a-f]{16}) +([0-7])$", text, re.MULTILINE)
    filter = Filter(data)
    equal((filter.line_count, filter.k, filter.seed), (1, 6, 0), "the worked example")
    equal(filter.key_count, len(keys), "keys of the worked example")
    lanes = [0] * 8
    for key, hash, g, start in keys:
        equal(xxh3_64(key.encode()), int(hash, 16), "hash of " + key)
        equal(int(hash, 16) * C1 & U64, int(g, 16), "g of " + key)
        equal(int(g, 16) >> 61, int(start), "g >> 61 of " + key)
        equal(filter.contains(key.encode()), True, key)
        lanes = [lane | bits for lane, bits in zip(lanes, mask(int(hash, 16), filter.k))]
    equal(list(struct.unpack("<8Q", filter.lines)), lanes, "the line of the worked example")
    # A flip of any bit is found.
    for bit in range(8 * len(data)):
        spoilt = bytearray(data)
        spoilt[bit // 8] ^= 1 << bit % 8
        equal(status_of(bytes(spoilt), Filter) != 0, True, "bit %d of the example flipped" % bit)
    print("format_reader: the worked example, %d bytes, %d keys" % (len(data), len(keys)))


def main(arguments):
    if len(arguments) >= 2 and os.path.isdir(arguments[0]):
        check_golden(arguments[0])
        check_example(arguments[1])
    elif len(arguments) >= 2:
        filter = Filter(read("", arguments[0]))
        for key in arguments[1:]:
            print("maybe" if filter.contains(os.fsencode(key)) else "no", key)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
