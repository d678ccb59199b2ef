#!/usr/bin/env python3
"""A reader of Parquet's Bloom filters, written from docs/PARQUET.md and the xxHash specification (version
0.2.0) and from nothing else.

    python3 tests/parquet_reader.py GOLDEN_DIRECTORY

reads golden/parquet, prints what it checked, and exits with 1 if anything differs. Python 3.6 or
later, its standard library only.

    python3 tests/parquet_reader.py write GOLDEN_DIRECTORY

writes filters.txt anew: the filters that pyarrow writes (pip install pyarrow==26.0.1).
"""

import os
import struct
import sys

U64 = (1 << 64) - 1
P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
SALTS = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)
MAX_HEADER = 1024
TRUNCATED, NOT_A_FILTER, LAYOUT = 11, 12, 14


def rotl(x, count):
    return (x << count | x >> (64 - count)) & U64


def step(acc, lane):
    return rotl((acc + lane * P2) & U64, 31) * P1 & U64


def xxh64(data):
    at, end = 0, len(data)
    if end >= 32:
        accs = [(P1 + P2) & U64, P2, 0, -P1 & U64]
        while end - at >= 32:
            accs = [step(acc, lane) for acc, lane in zip(accs, struct.unpack_from("<4Q", data, at))]
            at += 32
        h = sum(rotl(acc, count) for acc, count in zip(accs, (1, 7, 12, 18))) & U64
        for acc in accs:
            h = ((h ^ step(0, acc)) * P1 + P4) & U64
    else:
        h = P5
    h = (h + end) & U64
    while end - at >= 8:
        h = (rotl(h ^ step(0, struct.unpack_from("<Q", data, at)[0]), 27) * P1 + P4) & U64
        at += 8
    if end - at >= 4:
        h = (rotl(h ^ struct.unpack_from("<I", data, at)[0] * P1 & U64, 23) * P2 + P3) & U64
        at += 4
    for byte in data[at:]:
        h = rotl(h ^ byte * P5 & U64, 11) * P1 & U64
    h = (h ^ h >> 33) * P2 & U64
    h = (h ^ h >> 29) * P3 & U64
    return h ^ h >> 32


def words_of(value, blocks):
    """Where the words of a value's block begin, and its bit in each."""
    h = xxh64(value)
    block = (h >> 32) * blocks >> 32
    return 32 * block, [1 << ((h & 0xFFFFFFFF) * salt % (1 << 32) >> 27) for salt in SALTS]


def insert(bits, value):
    at, masks = words_of(value, len(bits) // 32)
    for i, mask in enumerate(masks):
        word, = struct.unpack_from("<I", bits, at + 4 * i)
        struct.pack_into("<I", bits, at + 4 * i, word | mask)


def contains(bits, value):
    at, masks = words_of(value, len(bits) // 32)
    return all(struct.unpack_from("<I", bits, at + 4 * i)[0] & mask for i, mask in enumerate(masks))


class Cut(Exception):
    """The bytes end too early."""


class Bad(Exception):
    """The bytes are no header."""


class Reader:
    """The compact protocol of Thrift."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def skip(self, count):
        if count > len(self.data) - self.at:
            raise Cut
        self.at += count

    def byte(self):
        self.skip(1)
        return self.data[self.at - 1]

    def varint(self):
        value = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            value |= (byte & 127) << shift
            if value > U64:
                raise Bad
            if byte < 128:
                return value
        raise Bad

    def signed(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def fields(self):
        number = 0
        while True:
            byte = self.byte()
            if byte == 0:
                return
            number = number + (byte >> 4) if byte >> 4 else self.signed()
            if not -32768 <= number <= 32767:
                raise Bad
            yield number, byte & 15

    def value(self, kind, depth=8):
        if depth == 0:
            raise Bad
        if kind in (1, 2):
            pass
        elif kind == 3:
            self.skip(1)
        elif kind in (4, 5, 6):
            self.varint()
        elif kind == 7:
            self.skip(8)
        elif kind == 8:
            self.skip(self.varint())
        elif kind in (9, 10):
            byte = self.byte()
            self.elements(self.varint() if byte >> 4 == 15 else byte >> 4, [byte & 15], depth - 1)
        elif kind == 11:
            count = self.varint()
            if count:
                byte = self.byte()
                self.elements(count, [byte >> 4, byte & 15], depth - 1)
        elif kind == 12:
            for _, inner in self.fields():
                self.value(inner, depth - 1)
        elif kind == 13:
            self.skip(16)
        else:
            raise Bad

    def elements(self, count, kinds, depth):
        for _ in range(count):
            for kind in kinds:
                if kind in (1, 2):
                    self.skip(1)
                else:
                    self.value(kind, depth)

    def choice(self):
        choices = []
        for number, kind in self.fields():
            self.value(kind)
            choices.append(number if kind == 12 else 0)
        return choices[0] if len(choices) == 1 else 0

    def header(self):
        found = {}
        for number, kind in self.fields():
            if number not in (1, 2, 3, 4):
                self.value(kind)
                continue
            if number in found or kind != (5 if number == 1 else 12):
                raise Bad
            found[number] = self.signed() if number == 1 else self.choice()
            if number == 1 and not -(1 << 31) <= found[1] < 1 << 31:
                raise Bad
        if len(found) < 4:
            raise Bad
        return found


def read_header(data):
    """The lengths of header and bits, or a status."""
    reader = Reader(data[:MAX_HEADER])
    try:
        found = reader.header()
    except Cut:
        return NOT_A_FILTER if len(data) >= MAX_HEADER else TRUNCATED
    except Bad:
        return NOT_A_FILTER
    if any(found[number] != 1 for number in (2, 3, 4)):
        return LAYOUT
    if found[1] <= 0 or found[1] % 32:
        return NOT_A_FILTER
    return reader.at, found[1]


def lines(directory, name):
    with open(os.path.join(directory, "parquet", name)) as file:
        return [line.split() for line in file]


def check(what, got, expected):
    if got != expected:
        sys.exit("parquet_reader: %s: %r, expected %r" % (what, got, expected))


def check_headers(directory):
    records = lines(directory, "headers.txt")
    for data, verdict, *numbers in records:
        got = read_header(bytes.fromhex(data))
        numbers = [int(number) for number in numbers]
        check("header %s" % data, got, tuple(numbers) if verdict == "accepted" else numbers[0])
    return len(records)


def check_filters(directory):
    records = lines(directory, "filters.txt")
    for writer, kind, data, *values in records:
        data, values = bytes.fromhex(data), [bytes.fromhex(value) for value in values]
        header_len, bits_len = read_header(data)
        check("length", len(data), header_len + bits_len)
        bits = bytearray(bits_len)
        for value in values:
            insert(bits, value)
        check("bits of %s, %s" % (writer, kind), bytes(bits), data[header_len:])
        check("present", [value for value in values if not contains(bits, value)], [])
    return len(records)


def write(directory):
    import datetime

    import pyarrow
    from pyarrow import parquet

    count = 24
    numbers = [(-1) ** i * 3 ** i for i in range(count)]
    instants = [datetime.datetime(1970 + i, 1, 2, 3, 4, 5, 1000 * i) for i in range(count)]
    days = [(instant - datetime.datetime(1970, 1, 1)) for instant in instants]
    columns = {
        "INT32": (pyarrow.array([n % (1 << 31) for n in numbers], pyarrow.int32()),
                  [struct.pack("<i", n % (1 << 31)) for n in numbers]),
        "INT64": (pyarrow.array(numbers, pyarrow.int64()), [struct.pack("<q", n) for n in numbers]),
        "INT96": (pyarrow.array(instants, pyarrow.timestamp("ns")),
                  [struct.pack("<QI", (day.seconds * 1000000 + day.microseconds) * 1000, 2440588 + day.days)
                   for day in days]),
        "FLOAT": (pyarrow.array([n / 8 for n in numbers], pyarrow.float32()),
                  [struct.pack("<f", n / 8) for n in numbers]),
        "DOUBLE": (pyarrow.array([n / 8 for n in numbers], pyarrow.float64()),
                   [struct.pack("<d", n / 8) for n in numbers]),
        "BYTE_ARRAY": (pyarrow.array(["k" * i for i in range(1, count)] + ["\u00e9"]),
                       [b"k" * i for i in range(1, count)] + ["\u00e9".encode()]),
        "FIXED_LEN_BYTE_ARRAY": (pyarrow.array([struct.pack(">q", n)[3:] for n in numbers], pyarrow.binary(5)),
                                 [struct.pack(">q", n)[3:] for n in numbers]),
    }
    path = os.path.join(directory, "parquet", "filters.txt")
    file_path = path + ".parquet"
    records = []
    for fpp in (0.1, 0.01, 0.0001):
        table = pyarrow.table({name: column for name, (column, _) in columns.items()})
        options = {name: {"ndv": count, "fpp": fpp} for name in columns}
        parquet.write_table(table, file_path, bloom_filter_options=options, use_deprecated_int96_timestamps=True)
        metadata = parquet.read_metadata(file_path).row_group(0)
        with open(file_path, "rb") as file:
            data = file.read()
        for i in range(metadata.num_columns):
            column = metadata.column(i)
            at, name = column.bloom_filter_offset, column.path_in_schema
            check("type", column.physical_type, name)
            record = ["pyarrow-" + pyarrow.__version__, name, data[at:at + column.bloom_filter_length].hex()]
            records.append(" ".join(record + [value.hex() for value in columns[name][1]]))
    os.remove(file_path)
    with open(path, "w") as file:
        file.write("\n".join(records) + "\n")


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "write":
        write(arguments[1])
    elif len(arguments) != 1:
        sys.exit(__doc__)
    directory = arguments[-1]
    check("an empty value", xxh64(b""), 0xEF46DB3751D8E999)
    check("a value", xxh64(b"hello"), 0x26C7827D889F6DA3)
    print("parquet_reader: %d headers" % check_headers(directory))
    print("parquet_reader: %d filters" % check_filters(directory))


if __name__ == "__main__":
    main(sys.argv[1:])
