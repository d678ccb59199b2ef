#!/usr/bin/env python3
"""What engines.rs asks of pyarrow and DuckDB (pip install pyarrow duckdb).

    engines.py write DIRECTORY

writes pyarrow.parquet and duckdb.parquet: row group g has the keys 400 * g to 400 * g + 399, each several
times, in the columns i (INT64), n (INT32), d (DOUBLE), f (FLOAT), s (BYTE_ARRAY) and u (FIXED_LEN_BYTE_ARRAY, UUID).
And types-*.parquet: columns of every type that has a filter.

    engines.py probe FILE COLUMN KEY...

prints for each key the row groups that DuckDB does not exclude by the filters of a column.

    engines.py compile PROGRAM

makes the program that asks Parquet C++ of pyarrow's wheel the same, and prints nothing; or prints why it cannot.
"""

import decimal
import glob
import os
import shutil
import subprocess
import sys
import uuid

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

ROW_GROUPS, KEYS, ROWS = 6, 400, 2048


def number(key):
    return key * 7919 - 1000000


def eighth(key):
    return number(key) / 8


OF = {
    "i": number,
    "n": number,
    "d": eighth,
    "f": eighth,
    "s": lambda key: "s%d" % number(key),
    "u": lambda key: uuid.UUID(int=number(key) % 2**128),
}
TYPES = {"i": pa.int64(), "n": pa.int32(), "d": pa.float64(), "f": pa.float32(), "s": pa.string(), "u": pa.uuid()}


def array(name, keys):
    values = [OF[name](key) for key in keys]
    if name != "u":
        return pa.array(values, TYPES[name])
    storage = pa.array([value.bytes for value in values], TYPES[name].storage_type)
    return pa.ExtensionArray.from_storage(TYPES[name], storage)


def arrow_types():
    """Columns of Arrow's types: one value in nine is null, and all repeat."""
    columns = {}

    def add(name, kind, of):
        numbers = [number(row % KEYS) for row in range(2 * ROWS)]
        columns[name] = pa.array([None if row % 9 == 8 else of(x) for row, x in enumerate(numbers)], kind)

    for bits in (8, 16, 32, 64):
        add("int%d" % bits, getattr(pa, "int%d" % bits)(), lambda x: x % 2**bits - 2 ** (bits - 1))
        add("uint%d" % bits, getattr(pa, "uint%d" % bits)(), lambda x: x % 2**bits)
    add("half", pa.float16(), lambda x: x / 1000)
    for name, kind in (("float", pa.float32()), ("double", pa.float64())):
        ends = [0.0, -0.0, float("nan"), float("inf"), -float("inf"), 1.5, 2.5]
        add(name, kind, lambda x: ends[x % 7])
    add("date32", pa.date32(), lambda x: x)
    add("date64", pa.date64(), lambda x: x * 86400000)
    for unit in ("s", "ms"):
        add("time " + unit, pa.time32(unit), lambda x: x % 86400)
    for unit in ("us", "ns"):
        add("time " + unit, pa.time64(unit), lambda x: x % 86400)
    for unit in ("s", "ms", "us", "ns"):
        add("stamp " + unit, pa.timestamp(unit), lambda x: x)
        add("zoned " + unit, pa.timestamp(unit, "UTC"), lambda x: x)
        add("duration " + unit, pa.duration(unit), lambda x: x)
    for bits, digits in ((32, 8), (64, 15), (128, 20), (256, 60)):
        kind = getattr(pa, "decimal%d" % bits)(digits, 3)
        add("decimal%d" % bits, kind, lambda x: decimal.Decimal(x).scaleb(-3))
    text = lambda x: ("text %d " % x) * (x % 4)
    for name, kind in (("text", pa.string()), ("large text", pa.large_string()), ("text view", pa.string_view())):
        add(name, kind, text)
    kinds = {"bytes": pa.binary(), "large bytes": pa.large_binary(), "bytes view": pa.binary_view()}
    for name, kind in kinds.items():
        add(name, kind, lambda x: text(x).encode())
    add("fixed", pa.binary(5), lambda x: (x % 2**40).to_bytes(5, "big"))
    columns["dictionary"] = columns["text"].dictionary_encode()
    add("list", pa.list_(pa.int64()), lambda x: [x, None, x + 1][: x % 4])
    add("struct", pa.struct([("a", pa.int32()), ("b", pa.string())]), lambda x: {"a": x, "b": text(x)})
    return pa.table(columns)


def write_types(directory):
    table = arrow_types()
    leaves = set(table.column_names) - {"list", "struct"} | {"list.list.element", "struct.a", "struct.b"}
    ways = {
        "pyarrow": {},
        "pyarrow-plain": {"use_dictionary": False, "data_page_version": "2.0", "use_deprecated_int96_timestamps": True},
        "pyarrow-pages": {"dictionary_pagesize_limit": 500, "data_page_size": 1000, "store_decimal_as_integer": True},
    }
    for way, options in ways.items():
        filters = {leaf: {"ndv": KEYS, "fpp": 0.05} for leaf in leaves}
        path = os.path.join(directory, "types-%s.parquet" % way)
        pq.write_table(table, path, row_group_size=ROWS, compression="none", bloom_filter_options=filters, **options)

    unknown = [name for name in table.column_names if name in ("half", "decimal256") or name.startswith("duration")]
    arrow = duckdb.from_arrow(table.drop_columns(unknown))
    path = os.path.join(directory, "types-duckdb.parquet")
    arrow.write_parquet(path, row_group_size=ROWS, compression="uncompressed")
    columns = {
        "enum": "('no ' || x % 7)::ENUM('no 0', 'no 1', 'no 2', 'no 3', 'no 4', 'no 5', 'no 6')",
        "huge": "x::HUGEINT * 1000000000000000000",
        "time of a zone": "('12:00:0' || x % 7 || '+0' || x % 3)::TIMETZ",
        "interval": "to_days(x::INTEGER)",
        "uuid": "(lpad(x::VARCHAR, 8, '0') || '-0000-0000-0000-000000000000')::UUID",
        "json": "('[' || x || ']')::JSON",
        "decimal4": "(x % 90)::DECIMAL(4, 1)",
        "decimal9": "x::DECIMAL(9, 1)",
        "decimal18": "x::DECIMAL(18, 1)",
        "decimal38": "x::DECIMAL(38, 1)",
    }
    wanted = ", ".join('CASE WHEN row %% 9 < 8 THEN %s END AS "%s"' % (of, name) for name, of in columns.items())
    rows = "(SELECT range AS row, range %% %d * 7919 AS x FROM range(%d))" % (KEYS, 2 * ROWS)
    path = os.path.join(directory, "types-duckdb-sql.parquet")
    found = duckdb.sql("SELECT %s FROM %s" % (wanted, rows))
    found.write_parquet(path, row_group_size=ROWS, compression="uncompressed")


def write(directory):
    keys = [KEYS * group + row % KEYS for group in range(ROW_GROUPS) for row in range(ROWS)]
    table = pa.table({name: array(name, keys) for name in OF})
    options = {name: {"ndv": KEYS, "fpp": 0.05} for name in OF}
    path = os.path.join(directory, "pyarrow.parquet")
    pq.write_table(table, path, row_group_size=ROWS, bloom_filter_options=options)
    path = os.path.join(directory, "duckdb.parquet")
    # DuckDB gives a filter to what it stores with a dictionary.
    duckdb.from_arrow(table).write_parquet(path, row_group_size=ROWS)
    write_types(directory)
    print("pyarrow %s, duckdb %s" % (pa.__version__, duckdb.__version__))


def probe(path, column, keys):
    for key in keys:
        query = "SELECT row_group_id FROM parquet_bloom_probe(?, ?, ?) WHERE NOT bloom_filter_excludes ORDER BY 1"
        found = duckdb.execute(query, [path, column, OF[column](int(key))]).fetchall()
        print(" ".join(str(group) for group, in found))


def build(program):
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "parquet_cpp.cc")
    wheel, compiler = os.path.dirname(pa.__file__), shutil.which(os.environ.get("CXX", "c++"))
    # The names of the libraries' files end with a version, so they are no names for -l.
    libraries = [glob.glob(os.path.join(wheel, "lib%s.so.*" % name))[:1] for name in ("parquet", "arrow")]
    if compiler is None or not all(libraries):
        print("there is no %s" % ("C++ compiler" if compiler is None else "library of Parquet C++ in the wheel"))
    elif not os.path.exists(os.path.join(pa.get_include(), "parquet", "bloom_filter_reader.h")):
        print("there is no header of Parquet C++ in the wheel")
    else:
        command = [compiler, "-std=c++20", "-I", pa.get_include(), source, "-o", program]
        subprocess.run(command + sum(libraries, []) + ["-Wl,-rpath," + wheel], check=True)


if sys.argv[1:2] == ["write"] and len(sys.argv) == 3:
    write(sys.argv[2])
elif sys.argv[1:2] == ["compile"] and len(sys.argv) == 3:
    build(sys.argv[2])
elif sys.argv[1:2] == ["probe"] and len(sys.argv) > 4:
    probe(sys.argv[2], sys.argv[3], sys.argv[4:])
else:
    sys.exit(__doc__)
