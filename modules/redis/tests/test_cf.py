"""CF.*: every command's replies and errors, in RESP2 and RESP3; counts and removals against a plain multiset."""

import collections
import random

import check
from check import (
    SEEDED,
    BYTES,
    ERROR,
    INTEGER,
    WRONGTYPE,
    answers,
    arity,
    both_protocols,
    equal,
    is_error,
    keys,
    none_denied,
    pairs,
    rate,
    true,
)
from resp import OK, Error, Map, Status
from server import Server

NAMES = [
    "Size",
    "Number of buckets",
    "Number of filters",
    "Number of items inserted",
    "Number of items deleted",
    "Bucket size",
    "Expansion rate",
    "Max iterations",
]


def test_replies():
    with Server(module_args=SEEDED) as server:
        both_protocols(
            server,
            [
                ("CF.RESERVE c 1000", OK),
                ("CF.RESERVE c 1000", Error("ERR item exists")),
                ("CF.ADD c apple", 1, True),
                ("CF.ADD c apple", 1, True),
                ("CF.ADDNX c apple", 0, False),
                ("CF.ADDNX c pear", 1, True),
                ("CF.EXISTS c apple", 1, True),
                ("CF.EXISTS c fig", 0, False),
                ("CF.MEXISTS c apple pear fig", [1, 1, 0], [True, True, False]),
                ("CF.COUNT c apple", 2),
                ("CF.COUNT c pear", 1),
                ("CF.COUNT c fig", 0),
                ("CF.DEL c apple", 1, True),
                ("CF.COUNT c apple", 1),
                ("CF.DEL c apple", 1, True),
                ("CF.DEL c apple", 0, False),
                ("CF.EXISTS c apple", 0, False),
                ("CF.DEL c fig", 0, False),
                ("CF.INSERT c ITEMS a b a", [1, 1, 1], [True, True, True]),
                ("CF.COUNT c a", 2),
                # INSERTNX stays with integers in RESP3.
                ("CF.INSERTNX c ITEMS a d d", [0, 1, 0]),
                ("CF.INSERT new CAPACITY 100 ITEMS a", [1], [True]),
                ("CF.INSERTNX new2 CAPACITY 100 ITEMS a a", [1, 0]),
                ("CF.ADD new3 a", 1, True),
                ("CF.ADDNX new4 a", 1, True),
                ("CF.EXISTS nothing a", 0, False),
                ("CF.MEXISTS nothing a b", [0, 0], [False, False]),
                ("CF.COUNT nothing a", 0),
                ("CF.DEL nothing a", Error("Not found")),
                ("CF.COMPACT nothing", Error("Cuckoo filter was not found")),
                ("CF.COMPACT c", OK),
                ("CF.INFO nothing", ERROR),
                ("CF.INSERT nothing NOCREATE ITEMS a", ERROR),
                ("CF.INSERTNX nothing NOCREATE ITEMS a", ERROR),
                ("EXISTS nothing", 0),
                (("CF.ADD", "c", b""), 1, True),
                (("CF.EXISTS", "c", b""), 1, True),
                (("CF.ADD", "c", b"\x00\r\n\xff"), 1, True),
                (("CF.MEXISTS", "c", b"\x00\r\n\xff", b"\x00\r\n\xfe"), [1, 0], [True, False]),
            ],
        )


def test_errors():
    with Server(module_args=SEEDED) as server:
        both_protocols(
            server,
            [
                ("CF.RESERVE c", arity("CF.RESERVE")),
                ("CF.ADD c", arity("CF.ADD")),
                ("CF.ADD c x y", arity("CF.ADD")),
                ("CF.ADDNX c", arity("CF.ADDNX")),
                ("CF.INSERT c", arity("CF.INSERT")),
                ("CF.INSERT c ITEMS", arity("CF.INSERT")),
                ("CF.INSERTNX c ITEMS", arity("CF.INSERTNX")),
                ("CF.EXISTS c", arity("CF.EXISTS")),
                ("CF.MEXISTS c", arity("CF.MEXISTS")),
                ("CF.DEL c", arity("CF.DEL")),
                ("CF.COUNT c", arity("CF.COUNT")),
                ("CF.INFO", arity("CF.INFO")),
                ("CF.SCANDUMP c", arity("CF.SCANDUMP")),
                ("CF.LOADCHUNK c 1", arity("CF.LOADCHUNK")),
                ("CF.RESERVE c x", Error("Bad capacity")),
                ("CF.RESERVE c 9223372036854775808", Error("Bad capacity")),
                ("CF.RESERVE c 0", ERROR),
                ("CF.RESERVE c -1", ERROR),
                ("CF.RESERVE c 1073741825", ERROR),
                ("CF.RESERVE c 9223372036854775807", ERROR),
                ("CF.RESERVE c 1", Error("Capacity must be in the range [2 * BUCKETSIZE, 1073741824]")),
                ("CF.RESERVE c 100 BUCKETSIZE 0", Error("BUCKETSIZE: value must be in the range [1, 255]")),
                ("CF.RESERVE c 100 BUCKETSIZE 256", Error("BUCKETSIZE: value must be in the range [1, 255]")),
                ("CF.RESERVE c 100 BUCKETSIZE x", Error("Couldn't parse BUCKETSIZE")),
                (
                    "CF.RESERVE c 100 MAXITERATIONS 0",
                    Error("MAXITERATIONS: value must be in the range [1, 65535]"),
                ),
                (
                    "CF.RESERVE c 100 MAXITERATIONS 65536",
                    Error("MAXITERATIONS: value must be in the range [1, 65535]"),
                ),
                ("CF.RESERVE c 100 MAXITERATIONS x", Error("Couldn't parse MAXITERATIONS")),
                ("CF.RESERVE c 100 EXPANSION -1", Error("EXPANSION: value must be in the range [0, 32768]")),
                (
                    "CF.RESERVE c 100 EXPANSION 32769",
                    Error("EXPANSION: value must be in the range [0, 32768]"),
                ),
                ("CF.RESERVE c 100 EXPANSION x", Error("Couldn't parse EXPANSION")),
                ("CF.INSERT c CAPACITY x ITEMS a", Error("Bad capacity")),
                ("CF.INSERT c WHAT ITEMS a", ERROR),
                ("CF.LOADCHUNK c x data", Error("Invalid position")),
                ("CF.LOADCHUNK c 0 data", Error("Invalid position")),
                ("CF.LOADCHUNK c 1 data", Error("Invalid header")),
                ("DBSIZE", 0),
                ("CF.RESERVE all 1000 BUCKETSIZE 4 MAXITERATIONS 50 EXPANSION 2", OK),
            ],
        )
        with server.client() as client:
            for make in (["SET", "t", "text"], ["BF.ADD", "t", "a"]):
                client.ok("DEL", "t")
                client.ok(*make)
                before = client.ok("DUMP", "t")
                for words in [
                    "CF.ADD t a",
                    "CF.ADDNX t a",
                    "CF.INSERT t ITEMS a",
                    "CF.INSERTNX t ITEMS a",
                ]:
                    equal(client.call(*words.split()), WRONGTYPE, "%s on a %s" % (words, make[0]))
                for words in [
                    "CF.RESERVE t 100",
                    "CF.DEL t a",
                    "CF.INFO t",
                    "CF.LOADCHUNK t 1 x",
                    "CF.COMPACT t",
                ]:
                    is_error(client.call(*words.split()), "%s on a %s" % (words, make[0]))
                equal(client.ok("DUMP", "t"), before, "the other type's value")


def test_info():
    with Server(module_args=SEEDED) as server:
        for protocol in (2, 3):
            with server.client(protocol) as client:
                client.ok("FLUSHALL")
                client.ok("CF.RESERVE", "c", 1000, "BUCKETSIZE", 4, "MAXITERATIONS", 30, "EXPANSION", 2)
                client.ok("CF.INSERT", "c", "ITEMS", "x", "y", "z")
                client.ok("CF.DEL", "c", "x")
                reply = client.ok("CF.INFO", "c")
                equal(type(reply), Map if protocol == 3 else list, "CF.INFO")
                flat = [word for pair in reply for word in pair] if protocol == 3 else reply
                equal(
                    flat[::2],
                    [Status(name) for name in NAMES],
                    "the names of CF.INFO, in order, as simple strings",
                )
                equal(flat[1::2], [INTEGER] * 8, "the values of CF.INFO")
                told = pairs(reply)
                equal(told["Number of filters"], 1)
                # RedisBloom takes a removed key off the number inserted, too.
                true(told["Number of items inserted"] in (2, 3), "inserted: %r" % told)
                equal(told["Number of items deleted"], 1)
                equal([told[name] for name in NAMES[6:]], [2, 30])
                true(1000 < told["Size"] < 20000, "Size of a filter for 1000 keys: %r" % told["Size"])


def test_against_a_multiset():
    """Random inserts and removals: no key that is in is denied, counts are never too low."""
    generator = random.Random(check.seed)
    for options in ((), ("BUCKETSIZE", 4), ("EXPANSION", 2)):
        with Server(module_args=SEEDED) as server, server.client() as client:
            client.ok("CF.RESERVE", "c", 300, *options)
            truth, pool = collections.Counter(), keys("k", 600)
            for _ in range(60):
                commands = []
                for _ in range(100):
                    key = generator.choice(pool)
                    # Removing only what was inserted, as everyone must.
                    if truth[key] and generator.random() < 0.45:
                        commands.append(("CF.DEL", "c", key))
                        truth[key] -= 1
                    elif truth[key] < 3:
                        commands.append(("CF.ADD", "c", key))
                        truth[key] += 1
                for words, reply in zip(commands, client.pipeline(commands)):
                    equal(reply, 1, "seed %d: %r" % (check.seed, words))
            present = [key for key in pool if truth[key]]
            none_denied(client, "c", present, "CF.MEXISTS")
            for key, count in zip(present, client.pipeline([("CF.COUNT", "c", key) for key in present])):
                true(count >= truth[key], "CF.COUNT %r is %d of %d" % (key, count, truth[key]))
            total, removed = sum(truth.values()), pairs(client.ok("CF.INFO", "c"))["Number of items deleted"]
            true(removed >= 0 and total > 0, "counts")
            equal(client.call("CF.COMPACT", "c"), OK)
            none_denied(client, "c", present, "CF.MEXISTS")
            for reply in client.pipeline(
                [("CF.DEL", "c", key) for key in present for _ in range(truth[key])]
            ):
                equal(reply, 1, "removing all")
            # 600 probes of an empty filter: only errors of counting could say yes.
            equal(
                sum(answers(client, "c", pool, "CF.MEXISTS")),
                0,
                "keys in a filter from which all were removed",
            )


def test_growth_and_full():
    with Server(module_args=SEEDED) as server, server.client() as client:
        client.ok("CF.RESERVE", "grows", 100, "EXPANSION", 2)
        inserted = keys("k", 5000)
        for batch in check.batches(inserted):
            equal(
                client.ok("CF.INSERT", "grows", "ITEMS", *batch),
                [1] * len(batch),
                "CF.INSERT into one that grows",
            )
        none_denied(client, "grows", inserted, "CF.MEXISTS")
        told = pairs(client.ok("CF.INFO", "grows"))
        true(told["Number of filters"] > 1, "it has grown: %r" % told)
        equal(told["Number of items inserted"], 5000)
        # EXPANSION 0 never grows: single commands say so, the others say -1.
        client.ok("CF.RESERVE", "fixed", 64, "EXPANSION", 0)
        accepted, refused = [], 0
        for key in keys("f", 2000):
            reply = client.call("CF.ADD", "fixed", key)
            if reply == 1:
                accepted.append(key)
            else:
                equal(reply, Error("Filter is full"), "CF.ADD to a full filter")
                refused += 1
        true(refused > 0 and len(accepted) >= 48, "%d accepted, %d refused" % (len(accepted), refused))
        none_denied(client, "fixed", accepted, "CF.MEXISTS")
        reply = client.call("CF.INSERT", "fixed", "ITEMS", *keys("g", 200))
        true(
            len(reply) == 200 and set(reply) <= {1, -1} and -1 in reply,
            "CF.INSERT into a full filter: %r" % reply[:9],
        )
        none_denied(client, "fixed", accepted, "CF.MEXISTS")
        with server.client(protocol=3) as third:
            reply = third.call("CF.INSERT", "fixed", "ITEMS", *keys("h", 200))
            true(
                False in reply and all(type(one) is bool for one in reply), "RESP3 CF.INSERT: %r" % reply[:9]
            )
        equal(pairs(client.ok("CF.INFO", "fixed"))["Number of filters"], 1)


def test_scandump():
    with Server(module_args=SEEDED) as server, server.client() as client:
        client.ok("CF.RESERVE", "c", 1000, "EXPANSION", 1)
        inserted = keys("k", 4000)
        client.ok("CF.INSERT", "c", "ITEMS", *inserted)
        client.ok("CF.DEL", "c", inserted.pop())
        chunks, at = [], 0
        while True:
            reply = client.ok("CF.SCANDUMP", "c", at)
            equal(reply[0], INTEGER, "the iterator")
            at, data = reply
            if at == 0:
                break
            equal(data, BYTES)
            chunks.append((at, data))
            true(len(chunks) < 1000, "CF.SCANDUMP has an end")
        for at, data in chunks:
            equal(client.call("CF.LOADCHUNK", "copy", at, data), OK)
        none_denied(client, "copy", inserted, "CF.MEXISTS")
        asked = inserted + keys("absent", 20000)
        equal(
            answers(client, "copy", asked, "CF.MEXISTS"),
            answers(client, "c", asked, "CF.MEXISTS"),
            "the answers of the copy",
        )
        told, source = client.ok("CF.INFO", "copy"), client.ok("CF.INFO", "c")
        equal(told[2:], source[2:], "CF.INFO of the copy, except Size")
        for iterator, data in [
            ("x", b"x"),
            (0, b"x"),
            (-1, b"x"),
            (1, b""),
            (1, b"x"),
            (1, b"\xff" * 64),
            (2, b"x"),
            (1, chunks[0][1][:-1]),
            (1 << 62, b"x"),
        ]:
            is_error(client.call("CF.LOADCHUNK", "bad", iterator, data), "CF.LOADCHUNK %s" % iterator)
            equal(client.ok("EXISTS", "bad"), 0, "a key after a bad chunk")
        equal(client.call("CF.SCANDUMP", "c", "x"), Error("Invalid position"))
        for iterator in (-1, "", "1.5"):
            is_error(client.call("CF.SCANDUMP", "c", iterator), "CF.SCANDUMP %s" % iterator)
        is_error(client.call("CF.SCANDUMP", "nothing", 0), "CF.SCANDUMP of nothing")


def test_rate():
    """RedisBloom's rate is 2 * bucket size / 255 for each sub-filter; ours may not be above it."""
    with Server(module_args=SEEDED) as server, server.client() as client:
        for size in (1, 2, 4):
            name = "c%d" % size
            client.ok("CF.RESERVE", name, 20000, "BUCKETSIZE", size)
            client.ok("CF.INSERT", name, "ITEMS", *keys(name, 16000))
            measured = rate(client, name, keys("absent", 50000), "CF.MEXISTS")
            filters = pairs(client.ok("CF.INFO", name))["Number of filters"]
            true(measured <= 2.2 * size / 255 * filters, "rate %g with buckets of %d" % (measured, size))


def test_command_table():
    writes = "RESERVE ADD ADDNX INSERT INSERTNX DEL LOADCHUNK COMPACT".split()
    reads = "EXISTS MEXISTS COUNT SCANDUMP INFO".split()
    with Server(module_args=SEEDED) as server, server.client() as client:
        for name in writes + reads:
            told = client.ok("COMMAND", "INFO", "CF." + name)[0]
            true(told is not None, "there is no CF." + name)
            equal(told[3:6], [1, 1, 1], "the key of CF." + name)
            true(
                ("write" if name in writes else "readonly") in {str(flag) for flag in told[2]},
                "flags of CF." + name,
            )


def test_copies_of_one_item():
    """An item that is added again and again does not fill the memory: the filter is full, for it alone."""
    with Server(module_args=SEEDED) as server, server.client() as client:
        client.ok("CF.RESERVE", "c", 1000, "EXPANSION", 2)
        first = pairs(client.ok("CF.INFO", "c"))["Size"]
        added = 0
        for _ in range(1000):
            reply = client.call("CF.ADD", "c", "same")
            if reply != 1:
                break
            added += 1
        equal(reply, Error("Filter is full"))
        equal(client.call("CF.INSERT", "c", "ITEMS", "same", "other"), [-1, 1])
        equal(client.ok("CF.COUNT", "c", "same"), added)
        true(added >= 16, "%d copies" % added)
        told = pairs(client.ok("CF.INFO", "c"))
        true(told["Size"] < 20 * first, "%d bytes for one item" % told["Size"])
        # Others go on as ever.
        others = keys("k", 30_000)
        for batch in check.batches(others, 1000):
            equal(client.ok("CF.INSERT", "c", "ITEMS", *batch), [1] * len(batch))
        none_denied(client, "c", others + ["same"], "CF.MEXISTS")


def test_copies_in_one_command():
    """A filter takes 8 copies of an item in each link; the 9,999 that it refuses change nothing."""
    with Server(module_args=SEEDED) as server, server.client() as client:
        added = client.ok("CF.INSERT", "c", "ITEMS", *["same"] * 10_000)
        taken = added.count(1)
        equal(added, [1] * taken + [-1] * (10_000 - taken))
        before = client.ok("DUMP", "c")
        equal(set(client.ok("CF.INSERT", "c", "ITEMS", *["same"] * 10_000)), {-1})
        equal(client.ok("DUMP", "c"), before)
        equal(client.ok("CF.COUNT", "c", "same"), taken)
        # At the maximum of expansions the rest is refused, and nothing is lost.
        items = keys("k", 40_000)
        added = client.ok("CF.INSERT", "many", "CAPACITY", 100, "ITEMS", *items)
        taken = [item for item, reply in zip(items, added) if reply == 1]
        true(32 * 100 <= len(taken) < 5000, "%d items in 32 links of 100" % len(taken))
        equal(client.call("CF.ADD", "many", "more"), Error("Maximum expansions reached"))
        equal(pairs(client.ok("CF.INFO", "many"))["Number of items inserted"], len(taken))
        none_denied(client, "many", taken, "CF.MEXISTS")


def test_max_iterations():
    """A filter takes its capacity whatever MAXITERATIONS is; beyond, it takes more if that is larger."""
    with Server(module_args=(*SEEDED, "cf-max-iterations", 1)) as server, server.client() as client:
        capacity, taken = 20_000, {}
        for name, options in [("1", ()), ("20", ("MAXITERATIONS", 20)), ("2000", ("MAXITERATIONS", 2000))]:
            client.ok("CF.RESERVE", name, capacity, "EXPANSION", 0, *options)
            equal(set(client.ok("CF.INSERT", name, "ITEMS", *keys("k", capacity))), {1})
            replies = [client.call("CF.ADD", name, key) for key in keys("more", 1000)]
            full = Error("Filter is full")
            taken[name] = replies.index(full)
            equal(pairs(client.ok("CF.INFO", name))["Max iterations"], int(name))
        true(taken["1"] < taken["20"] < taken["2000"], "until one is refused: %r" % taken)
        # It goes where the filter goes.
        client.ok("COPY", "1", "copied")
        client.ok("RESTORE", "restored", 0, client.ok("DUMP", "1"))
        at = 0
        while True:
            at, data = client.ok("CF.SCANDUMP", "1", at)
            if at == 0:
                break
            client.ok("CF.LOADCHUNK", "loaded", at, data)
        client.ok("DEBUG", "RELOAD")
        same = ["1", "copied", "restored", "loaded"]
        later = [client.ok("CF.INSERT", name, "ITEMS", *keys("later", 2000)) for name in same]
        true(-1 in later[0] and all(replies == later[0] for replies in later), "replies of %r" % same)
