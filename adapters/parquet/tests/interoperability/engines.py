#!/usr/bin/env python3
"""What engines.rs asks of pyarrow and DuckDB (pip install pyarrow duckdb).

    engines.py write DIRECTORY

writes pyarrow.parquet and duckdb.parquet: row group g has the keys 400 * g to 400 * g + 399, each several
times, in the columns i (INT64), n (INT32), d (DOUBLE), f (FLOAT), s (BYTE_ARRAY) and u (FIXED_LEN_BYTE_ARRAY, UUID).

    engines.py probe FILE COLUMN KEY...

prints for each key the row groups that DuckDB does not exclude by the filters of a column.

    engines.py compile PROGRAM

makes the program that asks Parquet C++ of pyarrow's wheel the same, and prints nothing; or prints why it cannot.
"""

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


def write(directory):
    keys = [KEYS * group + row % KEYS for group in range(ROW_GROUPS) for row in range(ROWS)]
    table = pa.table({name: array(name, keys) for name in OF})
    options = {name: {"ndv": KEYS, "fpp": 0.05} for name in OF}
    path = os.path.join(directory, "pyarrow.parquet")
    pq.write_table(table, path, row_group_size=ROWS, bloom_filter_options=options)
    path = os.path.join(directory, "duckdb.parquet")
    # DuckDB gives a filter to what it stores with a dictionary.
    duckdb.from_arrow(table).write_parquet(path, row_group_size=ROWS)
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
