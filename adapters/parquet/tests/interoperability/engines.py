#!/usr/bin/env python3
"""What engines.rs asks of pyarrow and DuckDB (pip install pyarrow duckdb).

    engines.py write DIRECTORY

writes pyarrow.parquet and duckdb.parquet: row group g has the keys 400 * g to 400 * g + 399, each several
times, in the columns i (INT64), n (INT32), d (DOUBLE) and s (BYTE_ARRAY).

    engines.py probe FILE COLUMN KEY...

prints for each key the row groups that DuckDB does not exclude by the filters of a column.
"""

import os
import sys

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

ROW_GROUPS, KEYS, ROWS = 6, 400, 2048


def number(key):
    return key * 7919 - 1000000


OF = {"i": number, "n": number, "d": lambda key: number(key) / 8, "s": lambda key: "s%d" % number(key)}


def write(directory):
    keys = [KEYS * group + row % KEYS for group in range(ROW_GROUPS) for row in range(ROWS)]
    types = {"i": pa.int64(), "n": pa.int32(), "d": pa.float64(), "s": pa.string()}
    table = pa.table({name: pa.array([of(key) for key in keys], types[name]) for name, of in OF.items()})
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


if sys.argv[1:2] == ["write"] and len(sys.argv) == 3:
    write(sys.argv[2])
elif sys.argv[1:2] == ["probe"] and len(sys.argv) > 4:
    probe(sys.argv[2], sys.argv[3], sys.argv[4:])
else:
    sys.exit(__doc__)
