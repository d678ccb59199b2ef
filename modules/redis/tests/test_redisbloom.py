"""BF.* and CF.* as RedisBloom 8 has them: what each command replies to each state of its key, which of several errors is
returned, and its text. The replies were taken down from RedisBloom 8; a note says where ours differ on purpose."""

import shlex

from check import ANY, BYTES, INTEGER, WRONGTYPE, arity, equal, matches, short, true
from resp import OK, Error, Map, Status
from samples import KINDS, check_all, make, members
from server import Server

# The states of a key, and how each is made.
STATES = {
    "none": [],
    "text": ["SET K text"],
    "bloom": ["BF.RESERVE K 0.01 1000", "BF.MADD K x y"],
    "full": ["BF.RESERVE K 0.01 2 NONSCALING", "BF.MADD K x y"],
    "cuckoo": ["CF.RESERVE K 1000", "CF.ADD K x", "CF.ADD K x"],
    "empty": ["CF.RESERVE K 1000 BUCKETSIZE 4 MAXITERATIONS 9 EXPANSION 4", "CF.ADD K x", "CF.DEL K x"],
}

WT, NONE, THERE = WRONGTYPE, Error("ERR not found"), Error("ERR item exists")
FULL = Error("ERR non scaling filter is full")
GONE, UNCOMPACTED = Error("Not found"), Error("Cuckoo filter was not found")
# RedisBloom says 0 to these, although the filter may have the item.
OTHER = WRONGTYPE

# A command, its replies to `none`, `text`, `bloom`, `full`, `cuckoo` and `empty`; a single one: the same to all.
ROWS = [
    ("BF.ADD K n", 1, WT, 1, FULL, WT, WT),
    ("BF.ADD K x", 1, WT, 0, 0, WT, WT),
    ("BF.MADD K x n y", [1, 1, 1], WT, [0, 1, 0], [0, FULL], WT, WT),
    ("BF.INSERT K ITEMS n", [1], WT, [1], [FULL], WT, WT),
    ("BF.INSERT K NOCREATE ITEMS n", NONE, WT, [1], [FULL], WT, WT),
    # Options for a new filter are read, and do nothing to one that is there.
    ("BF.INSERT K NONSCALING EXPANSION 4 ITEMS n", [1], WT, [1], [FULL], WT, WT),
    ("BF.INSERT K EXPANSION 4 NONSCALING NOCREATE ITEMS n", NONE, WT, [1], [FULL], WT, WT),
    ("BF.INSERT K CAPACITY 1 NONSCALING EXPANSION 4 ITEMS n m", [1, FULL], WT, [1, 1], [FULL], WT, WT),
    ("BF.INSERT K CAPACITY 1 EXPANSION 0 ITEMS n m", [1, FULL], WT, [1, 1], [FULL], WT, WT),
    ("BF.EXISTS K x", 0, 0, 1, 1, OTHER, OTHER),
    ("BF.MEXISTS K x n", [0, 0], [0, 0], [1, 0], [1, 0], OTHER, OTHER),
    ("BF.CARD K", 0, WT, 2, 2, WT, WT),
    ("BF.INFO K ITEMS", NONE, WT, [2], [2], WT, WT),
    ("BF.INFO K expansion", NONE, WT, [2], [None], WT, WT),
    ("BF.INFO K other", NONE, WT, Error("Invalid information value"), Error("Invalid information value"), WT, WT),
    ("BF.DEBUG K", NONE, WT, [b"size:2", BYTES], [b"size:2", BYTES], WT, WT),
    ("BF.RESERVE K 0.01 10", OK, WT, THERE, THERE, WT, WT),
    ("BF.RESERVE K 0.01 10 EXPANSION 0 NONSCALING", OK, WT, THERE, THERE, WT, WT),
    ("BF.RESERVE K 0.01 10 NONSCALING EXPANSION 0", OK, WT, THERE, THERE, WT, WT),
    ("BF.RESERVE K 0.01 10 other", OK, WT, THERE, THERE, WT, WT),
    ("BF.SCANDUMP K 0", NONE, WT, [1, BYTES], [1, BYTES], WT, WT),
    ("BF.SCANDUMP K 1", NONE, WT, [INTEGER, BYTES], [INTEGER, BYTES], WT, WT),
    ("BF.SCANDUMP K 99999", NONE, WT, [0, b""], [0, b""], WT, WT),
    ("BF.SCANDUMP K -1", NONE, WT, [0, b""], [0, b""], WT, WT),
    # The key is looked up first.
    (
        "BF.SCANDUMP K z",
        NONE,
        WT,
        Error("Second argument must be numeric"),
        Error("Second argument must be numeric"),
        WT,
        WT,
    ),
    # RedisBloom overwrites bytes of the filter, where the place is in it.
    (
        "BF.LOADCHUNK K 2 z",
        NONE,
        WT,
        Error("ERR received bad data"),
        Error("ERR received bad data"),
        WT,
        WT,
    ),
    (
        "BF.LOADCHUNK K 1 z",
        Error("ERR received bad data"),
        WT,
        Error("ERR received bad data"),
        Error("ERR received bad data"),
        WT,
        WT,
    ),
    (
        "BF.LOADCHUNK K -1 z",
        NONE,
        WT,
        Error("ERR received bad data"),
        Error("ERR received bad data"),
        WT,
        WT,
    ),
    ("CF.ADD K x", 1, WT, WT, WT, 1, 1),
    ("CF.ADDNX K x", 1, WT, WT, WT, 0, 1),
    ("CF.INSERT K ITEMS x n", [1, 1], WT, WT, WT, [1, 1], [1, 1]),
    ("CF.INSERTNX K ITEMS x n", [1, 1], WT, WT, WT, [0, 1], [1, 1]),
    ("CF.INSERT K NOCREATE ITEMS x", NONE, WT, WT, WT, [1], [1]),
    ("CF.EXISTS K x", 0, 0, OTHER, OTHER, 1, 0),
    ("CF.MEXISTS K x n", [0, 0], [0, 0], OTHER, OTHER, [1, 0], [0, 0]),
    ("CF.COUNT K x", 0, 0, OTHER, OTHER, 2, 0),
    ("CF.DEL K x", GONE, GONE, GONE, GONE, 1, 0),
    ("CF.COMPACT K", UNCOMPACTED, UNCOMPACTED, UNCOMPACTED, UNCOMPACTED, OK, OK),
    ("CF.RESERVE K 1000", OK, WT, WT, WT, THERE, THERE),
    ("CF.INFO K", NONE, WT, WT, WT, ANY(lambda told: len(told) == 16, "8 fields"), ANY(len, "fields")),
    ("CF.SCANDUMP K 0", NONE, WT, WT, WT, [1, BYTES], [0, None]),
    ("CF.SCANDUMP K 1", NONE, WT, WT, WT, [INTEGER, BYTES], [0, None]),
    ("CF.SCANDUMP K 99999", NONE, WT, WT, WT, [0, None], [0, None]),
    ("CF.LOADCHUNK K 1 z", Error("Invalid header"), WT, WT, WT, THERE, THERE),
    # RedisBloom overwrites bytes of the filter, where the place is in it.
    ("CF.LOADCHUNK K 2 z", NONE, WT, WT, WT, Error("Couldn't load chunk!"), Error("Couldn't load chunk!")),
    ("CF.LOADCHUNK K -1 z", NONE, WT, WT, WT, Error("Couldn't load chunk!"), Error("Couldn't load chunk!")),
]



# Errors in arguments come before what the key is.
ARGUMENTS = [
    ("BF.RESERVE K", arity("BF.RESERVE")),
    ("BF.RESERVE K z", arity("BF.RESERVE")),
    ("BF.RESERVE K z z EXPANSION 2 NONSCALING z", arity("BF.RESERVE")),
    ("BF.RESERVE K z z EXPANSION z", Error("ERR bad error rate")),
    ("BF.RESERVE K 1e-400 z", Error("ERR bad error rate")),
    ("BF.RESERVE K 1e400 z", Error("ERR bad error rate")),
    ("BF.RESERVE K ' 0.1' z", Error("ERR bad error rate")),
    ("BF.RESERVE K inf z", Error("ERR error rate must be in the range (0.000000, 1.000000)")),
    ("BF.RESERVE K 1 z", Error("ERR error rate must be in the range (0.000000, 1.000000)")),
    ("BF.RESERVE K 0.01 z EXPANSION z", Error("ERR bad capacity")),
    ("BF.RESERVE K 0.01 01", Error("ERR bad capacity")),
    ("BF.RESERVE K 0.01 +1", Error("ERR bad capacity")),
    ("BF.RESERVE K 0.01 -0", Error("ERR bad capacity")),
    ("BF.RESERVE K 0.01 0 EXPANSION z", Error("ERR capacity must be in the range [1, 1073741824]")),
    ("BF.RESERVE K 0.01 10 NONSCALING EXPANSION", Error("ERR no expansion")),
    ("BF.RESERVE K 0.01 10 NONSCALING EXPANSION z", Error("ERR bad expansion")),
    ("BF.RESERVE K 0.01 10 NONSCALING EXPANSION 99999", Error("Nonscaling filters cannot expand")),
    ("BF.RESERVE K 0.01 10 EXPANSION 2 NONSCALING", Error("Nonscaling filters cannot expand")),
    ("BF.RESERVE K 0.01 10 EXPANSION 32769", Error("ERR expansion must be in the range [0, 32768]")),
    ("BF.INSERT K ITEMS", arity("BF.INSERT")),
    ("BF.INSERT K NOCREATE NONSCALING", arity("BF.INSERT")),
    ("BF.INSERT K CAPACITY 10 ITEMS", arity("BF.INSERT")),
    ("BF.INSERT K NOCREATE CAPACITY", arity("BF.INSERT")),
    ("BF.INSERT K CAPACITY z EXPANSION z ITEMS n", Error("Bad capacity")),
    ("BF.INSERT K CAPACITY 0 ITEMS n", Error("Bad capacity")),
    ("BF.INSERT K CAPACITY 010 ITEMS n", Error("Bad capacity")),
    ("BF.INSERT K EXPANSION z CAPACITY z", Error("Bad expansion")),
    ("BF.INSERT K NONSCALING EXPANSION 32769 ITEMS n", Error("Bad expansion")),
    ("BF.INSERT K ERROR z ITEMS", Error("Bad error rate")),
    ("BF.INSERT K ERROR 1 ITEMS n", Error("Bad error rate")),
    ("BF.INSERT K z ITEMS n", Error("Unknown argument received")),
    ("BF.INSERT K SEED 4 ITEMS n", Error("Unknown argument received")),
    ("BF.SCANDUMP K", arity("BF.SCANDUMP")),
    ("BF.LOADCHUNK K 1", arity("BF.LOADCHUNK")),
    ("BF.LOADCHUNK K z z", Error("ERR Second argument must be numeric")),
    ("BF.LOADCHUNK K '' ''", Error("ERR Second argument must be numeric")),
    ("CF.RESERVE K", arity("CF.RESERVE")),
    ("CF.RESERVE K z BUCKETSIZE", arity("CF.RESERVE")),
    ("CF.RESERVE K z BUCKETSIZE z", Error("Bad capacity")),
    ("CF.RESERVE K 1 EXPANSION z BUCKETSIZE z MAXITERATIONS z", Error("Couldn't parse MAXITERATIONS")),
    ("CF.RESERVE K 1 EXPANSION z BUCKETSIZE 256", Error("BUCKETSIZE: value must be in the range [1, 255]")),
    ("CF.RESERVE K 1 MAXITERATIONS 0", Error("MAXITERATIONS: value must be in the range [1, 65535]")),
    ("CF.RESERVE K 1 EXPANSION 32769", Error("EXPANSION: value must be in the range [0, 32768]")),
    # RedisBloom reads what is behind the arguments.
    ("CF.RESERVE K 1 z EXPANSION", Error("Couldn't parse EXPANSION")),
    ("CF.RESERVE K 3", Error("Capacity must be in the range [2 * BUCKETSIZE, 1073741824]")),
    ("CF.RESERVE K 1073741825", Error("Capacity must be in the range [2 * BUCKETSIZE, 1073741824]")),
    ("CF.INSERT K ITEMS", arity("CF.INSERT")),
    ("CF.INSERTNX K NOCREATE CAPACITY", arity("CF.INSERTNX")),
    ("CF.INSERT K CAPACITY z ITEMS n", Error("Bad capacity")),
    ("CF.INSERT K CAPACITY 3 ITEMS", Error("Capacity must be in the range [cf-bucket-size * 2, 1073741824]")),
    ("CF.INSERTNX K CAPACITY 1073741825 z", Error("Capacity must be in the range [cf-bucket-size * 2, 1073741824]")),
    ("CF.INSERT K z ITEMS n", Error("Unknown argument received")),
    ("CF.SCANDUMP K z", Error("Invalid position")),
    ("CF.SCANDUMP K -1", Error("Invalid position")),
    ("CF.LOADCHUNK K z z", Error("Invalid position")),
    ("CF.LOADCHUNK K 0 z", Error("Invalid position")),
]


def run(client, rows):
    failures = []
    for command, *replies in rows:
        if len(replies) == 1:
            replies *= len(STATES)
        for (state, steps), expected in zip(STATES.items(), replies, strict=True):
            client.ok("FLUSHALL")
            for step in steps:
                client.ok(*step.split())
            before = client.call("DUMP", "K")
            got = client.call(*shlex.split(command))
            if not matches(got, expected):
                failures.append("%s, %s: got %s, expected %s" % (command, state, short(got), short(expected)))
            if isinstance(got, Error):
                equal(client.call("DUMP", "K"), before, "the key after %s: %s" % (command, got))
    true(not failures, "%d replies differ:\n  %s" % (len(failures), "\n  ".join(failures)))


def test_states():
    """Each command on each state of its key."""
    with Server() as server, server.client() as client:
        run(client, ROWS)


def test_order_of_checks():
    """Errors in arguments, in the order in which they are found, whatever the key is."""
    with Server() as server, server.client() as client:
        run(client, ARGUMENTS)


def test_cuckoo_debug():
    """CF.DEBUG: one line, with RedisBloom's labels in its order."""
    with Server() as server, server.client() as client:
        client.ok("CF.RESERVE", "c", 100, "BUCKETSIZE", 3, "MAXITERATIONS", 7, "EXPANSION", 2)
        client.ok("CF.INSERT", "c", "ITEMS", *range(1000))
        client.ok("CF.DEL", "c", 1)
        told = client.ok("CF.INFO", "c")
        told = {str(name): value for name, value in zip(told[::2], told[1::2])}
        for name in ("CF.DEBUG", "BL.CF.DEBUG"):
            equal(
                client.ok(name, "c").decode(),
                "bktsize:3 buckets:%d items:999 deletes:1 filters:%d max_iterations:7 expansion:2"
                % (told["Number of buckets"], told["Number of filters"]),
            )


def test_markers_in_resp3():
    """The end of a dump by each name."""
    with Server() as server, server.client(3) as client:
        client.ok("CF.RESERVE", "empty", 100)
        client.ok("BF.RESERVE", "b", "0.01", 100)
        equal(client.ok("CF.SCANDUMP", "empty", 0), [0, None])
        equal(client.ok("BF.SCANDUMP", "b", 9999), [0, b""])
        equal(client.ok("BL.SCANDUMP", "empty", 99999), [0, b""])
        equal(client.ok("BF.INFO", "b", "EXPANSION"), Map([(Status("Expansion rate"), 2)]))


def copy(client, source, target, family):
    """The loop of clients' documentation: read until the iterator is 0, then write. Returns the number of chunks."""
    at, chunks = 0, []
    while True:
        at, data = client.ok(family + "SCANDUMP", source, at)
        if at == 0:
            break
        chunks.append((at, data))
        true(len(chunks) < 1000, "%sSCANDUMP has an end" % family)
    for at, data in chunks:
        equal(client.call(family + "LOADCHUNK", target, at, data), OK)
    return len(chunks)


def test_dump_loops():
    """The loop that clients write copies filters of every kind, filled and empty, by every name."""
    empty = {
        "e:bloom": ("BF.RESERVE", "e:bloom", "0.01", 100),
        "e:fixed": ("BF.RESERVE", "e:fixed", "0.01", 100, "NONSCALING"),
        "e:cuckoo": ("CF.RESERVE", "e:cuckoo", 100),
        "e:counting": ("BL.C.RESERVE", "e:counting", "0.01", 100),
        "e:window": ("BL.W.RESERVE", "e:window", "0.01", 100, 86400, 3),
    }
    with Server() as server, server.client() as client:
        make(client)
        for words in empty.values():
            client.ok(*words)
        before = {name: client.ok("DEBUG", "DIGEST-VALUE", name) for name in [*KINDS, *empty]}
        for name in before:
            families = ["BL."]
            families += ["BF."] * (client.ok("BL.KIND", name) == b"bloom")
            families += ["CF.", "BL.CF."] * (client.ok("BL.KIND", name) == b"cuckoo")
            for family in families:
                chunks = copy(client, name, "copy", family)
                # By this name, as in RedisBloom, there is nothing to copy.
                if (name, family) == ("e:cuckoo", "CF."):
                    equal((chunks, client.ok("EXISTS", "copy")), (0, 0), name)
                    continue
                equal(client.ok("DEBUG", "DIGEST-VALUE", "copy"), before[name], "%s by %s" % (name, family))
                if name in KINDS and family == "BL." and members(name):
                    client.ok("RENAME", "copy", name)
                client.ok("DEL", "copy")
        check_all(client)
