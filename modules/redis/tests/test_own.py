"""BL.*: seeds, hashed batches, merging, counting, windows; against Python's own hash and a plain set."""

import collections
import random

import check
from check import (
    ERROR,
    SEEDED,
    WRONGTYPE,
    add_all,
    answers,
    arity,
    both_protocols,
    check_names,
    equal,
    is_error,
    keys,
    none_denied,
    pairs,
    rate,
    true,
)
from files import bits, blob, hashes, seed_of
from resp import OK, Error, Map
from server import Server


def test_same_as_bf():
    """The commands without a BF. name answer as those with one, also where that name is taken."""
    rows = [
        ("BL.RESERVE b 0.01 1000 SEED 5", OK),
        ("BL.RESERVE b 0.01 1000", Error("ERR item exists")),
        ("BL.ADD b a", 1, True),
        ("BL.MADD b a c", [0, 1], [False, True]),
        ("BL.EXISTS b a", 1, True),
        ("BL.MEXISTS b a x", [1, 0], [True, False]),
        ("BL.CARD b", 2),
        ("BL.INSERT b2 CAPACITY 10 ITEMS a", [1], [True]),
        ("BL.KIND b", check.ANY(lambda r: r == "bloom" or r == b"bloom", "bloom")),
        ("BL.KIND nothing", None),
        ("BL.EXISTS nothing a", 0, False),
        ("BL.CF.RESERVE c 100", OK),
        ("BL.CF.ADD c a", 1, True),
        ("BL.CF.COUNT c a", 1),
        ("BL.CF.DEL c a", 1, True),
        ("BL.CF.MEXISTS c a", [0], [False]),
        ("BL.CF.RESERVE c2 1000 ERROR 0.002", OK),
        ("BL.RESERVE b", arity("BL.RESERVE")),
        ("BL.KIND", arity("BL.KIND")),
        ("BL.RESERVE bad 0.01 10 SEED x", ERROR),
        ("EXISTS bad", 0),
    ]
    for options in (SEEDED, (*SEEDED, "compat", "no")):
        with Server(module_args=options) as server:
            both_protocols(server, rows)
            with server.client() as client:
                known = client.ok("COMMAND", "INFO", "BF.ADD", "CF.ADD")
                equal(
                    [one is not None for one in known],
                    ["compat" not in options] * 2,
                    "BF.* with %r" % (options,),
                )


def test_seeds():
    """Random unless chosen: two filters with the same keys differ in which absent keys they accept."""
    with Server() as server, server.client() as client:
        for name in ("one", "two"):
            client.ok("BL.RESERVE", name, "0.1", 1000)
            add_all(client, name, keys("k", 1000))
        true(seed_of(client, "one") != seed_of(client, "two"), "two filters with one seed")
        absent = keys("absent", 5000)
        true(answers(client, "one", absent) != answers(client, "two", absent), "the same false positives")
        client.ok("BL.RESERVE", "five", "0.1", 1000, "SEED", 5)
        equal(seed_of(client, "five"), 5)
        client.ok("BL.RESERVE", "most", "0.1", 1000, "SEED", (1 << 64) - 1)
        equal(seed_of(client, "most"), (1 << 64) - 1, "the largest seed")


def test_hashed_batches():
    with Server() as server, server.client() as client:
        client.ok("BL.RESERVE", "b", "0.01", 2000)
        told = pairs(client.ok("BL.HASHINFO", "b"))
        equal(told["hash"] if isinstance(told["hash"], bytes) else told["hash"].encode(), b"xxh3-64")
        seed = seed_of(client, "b")
        items = keys("k", 3003) + [b"", b"\x00" * 500]
        values = hashes(items, seed)
        # By name first, by hash after, and the other way round.
        add_all(client, "b", items[:1000])
        new = bits(client.ok("BL.MADDHASH", "b", blob(values)), len(values))
        equal(sum(new[:1000]), 0, "keys reported as new that were inserted by name")
        true(sum(new[1000:]) > 1950, "%d of 2005 reported as new" % sum(new[1000:]))
        none_denied(client, "b", items)
        for count in (1, 7, 8, 9, 63, 64, 65, len(values)):
            equal(
                bits(client.ok("BL.MEXISTSHASH", "b", blob(values[:count])), count),
                [1] * count,
                "%d hashes" % count,
            )
        absent = keys("absent", 20000)
        equal(
            bits(client.ok("BL.MEXISTSHASH", "b", blob(hashes(absent, seed))), len(absent)),
            answers(client, "b", absent),
            "answers by hash and by name",
        )
        for bad in (b"x", b"1234567", b"123456789"):
            is_error(client.call("BL.MEXISTSHASH", "b", bad), "%d bytes of hashes" % len(bad))
            is_error(client.call("BL.MADDHASH", "b", bad), "%d bytes of hashes" % len(bad))
        is_error(client.call("BL.MADDHASH", "nothing", blob([1])), "BL.MADDHASH of an absent key")
        equal(client.ok("EXISTS", "nothing"), 0)
        client.ok("SET", "t", "x")
        equal(client.call("BL.MADDHASH", "t", blob([1])), WRONGTYPE)
        # The other kinds.
        for make, add in (
            (("CF.RESERVE", "c", 1000), "CF.ADD"),
            (("BL.C.RESERVE", "n", "0.01", 1000), "BL.C.ADD"),
            (("BL.W.RESERVE", "w", "0.01", 1000, 3600, 4), "BL.W.ADD"),
        ):
            client.ok(*make)
            client.ok(add, make[1], "apple")
            value = hashes([b"apple"], seed_of(client, make[1]))
            equal(
                bits(client.ok("BL.MEXISTSHASH", make[1], blob(value)), 1),
                [1],
                "BL.MEXISTSHASH of " + make[0],
            )


def test_merge():
    with Server() as server, server.client() as client:
        for name in ("one", "two", "three"):
            client.ok("BL.RESERVE", name, "0.01", 9000, "SEED", 3)
            add_all(client, name, keys(name, 3000))
        client.ok("BL.RESERVE", "seed", "0.01", 9000, "SEED", 4)
        client.ok("BL.RESERVE", "shape", "0.01", 90000, "SEED", 3)
        for other in ("seed", "shape", "nothing"):
            is_error(client.call("BL.MERGE", "one", other), "BL.MERGE one " + other)
        equal(client.call("BL.MERGE", "all", "one", "two", "three"), OK)
        everything = [key for name in ("one", "two", "three") for key in keys(name, 3000)]
        none_denied(client, "all", everything)
        true(rate(client, "all", keys("absent", 20000)) < 0.014, "the rate of the union")
        equal(client.call("BL.MERGE", "one", "two"), OK)
        none_denied(client, "one", keys("one", 3000) + keys("two", 3000))
        # Too full: refused, and nothing has changed, unless forced.
        client.ok("BL.RESERVE", "small", "0.01", 1000, "SEED", 3, "NONSCALING")
        client.ok("BL.RESERVE", "small2", "0.01", 1000, "SEED", 3, "NONSCALING")
        add_all(client, "small", keys("s", 990))
        add_all(client, "small2", keys("t", 990))
        before = client.ok("DUMP", "small")
        is_error(client.call("BL.MERGE", "small", "small2"), "a merge beyond the rate")
        equal(client.ok("DUMP", "small"), before)
        equal(client.call("BL.MERGEFORCE", "small", "small2"), OK)
        none_denied(client, "small", keys("s", 990) + keys("t", 990))
        equal(client.call("BL.MERGE", "nothing", "nothing"), Error("ERR not found"))
        equal(client.call("BL.MERGE", "one", "one"), OK)
        client.ok("SET", "t", "x")
        equal(client.call("BL.MERGE", "all", "t"), WRONGTYPE)
        equal(client.call("BL.MERGE", "t", "all"), WRONGTYPE)
        equal(client.ok("COMMAND", "GETKEYS", "BL.MERGE", "d", "a", "b"), [b"d", b"a", b"b"])


def test_counting():
    generator = random.Random(check.seed)
    with Server(module_args=SEEDED) as server:
        both_protocols(
            server,
            [
                ("BL.C.RESERVE c 0.001 1000", OK),
                ("BL.C.RESERVE c 0.01 1000", Error("ERR item exists")),
                ("BL.C.ADD c a", 1, True),
                ("BL.C.ADD c a", 0, False),
                ("BL.C.COUNT c a", 2),
                ("BL.C.MADD c a b", [0, 1], [False, True]),
                ("BL.C.EXISTS c b", 1, True),
                ("BL.C.MEXISTS c a x", [1, 0], [True, False]),
                ("BL.C.DEL c b", 1, True),
                ("BL.C.DEL c b", 0, False),
                ("BL.C.MDEL c a a b", [1, 1, 0], [True, True, False]),
                ("BL.C.COUNT c a", 1),
                ("BL.C.COUNT c x", 0),
                ("BL.C.RESERVE bad 2 10", ERROR),
                ("BL.C.RESERVE bad 0.01 0", ERROR),
                ("EXISTS bad", 0),
                ("BL.C.ADD c", arity("BL.C.ADD")),
                ("BF.ADD c x", WRONGTYPE),
                ("BL.W.ADD c x", WRONGTYPE),
            ],
        )
        with server.client() as client:
            client.ok("BL.C.RESERVE", "m", "0.01", 10000)
            truth, pool = collections.Counter(), keys("k", 800)
            for _ in range(4000):
                key = generator.choice(pool)
                if truth[key] and generator.random() < 0.5:
                    equal(client.call("BL.C.DEL", "m", key), 1, "seed %d: removing %r" % (check.seed, key))
                    truth[key] -= 1
                elif truth[key] < 3:
                    client.ok("BL.C.ADD", "m", key)
                    truth[key] += 1
            present = [key for key in pool if truth[key]]
            none_denied(client, "m", present, "BL.C.MEXISTS")
            for key in present[:200]:
                true(client.ok("BL.C.COUNT", "m", key) >= truth[key], "the count of %r" % key)
            for key in present:
                equal(
                    client.ok("BL.C.MDEL", "m", *[key] * truth[key]),
                    [1] * truth[key],
                    "removing all of %r" % key,
                )
            equal(
                sum(answers(client, "m", pool, "BL.C.MEXISTS")),
                0,
                "keys in a filter from which all were removed",
            )
            # A counter that stands at 15 stays: never a false negative.
            for _ in range(40):
                client.ok("BL.C.ADD", "m", "often")
            equal(client.ok("BL.C.COUNT", "m", "often"), 15)
            client.ok("BL.C.MDEL", "m", *["often"] * 30)
            equal(client.ok("BL.C.EXISTS", "m", "often"), 1, "an item added 40 times and removed 30 times")
            told = pairs(client.ok("BL.C.INFO", "m"))
            true({"Capacity", "Size", "Items"} <= set(told), "BL.C.INFO: %r" % told)


def test_window_replies():
    with Server(module_args=SEEDED) as server:
        both_protocols(
            server,
            [
                ("BL.W.RESERVE w 0.01 1000 3600 7", OK),
                ("BL.W.RESERVE w 0.01 1000 3600 7", Error("ERR item exists")),
                ("BL.W.ADD w a", 1, True),
                ("BL.W.ADD w a", 0, False),
                ("BL.W.MADD w a b", [0, 1], [False, True]),
                ("BL.W.EXISTS w a", 1, True),
                ("BL.W.EXISTS w x", 0, False),
                ("BL.W.MEXISTS w a x b", [1, 0, 1], [True, False, True]),
                ("BL.W.RESERVE f 0.01 1000 0.5 2", OK),
                ("BL.W.EXISTS nothing x", 0, False),
                ("BL.W.RESERVE bad 0.01 1000 0 7", ERROR),
                ("BL.W.RESERVE bad 0.01 1000 -1 7", ERROR),
                ("BL.W.RESERVE bad 0.01 1000 nan 7", ERROR),
                ("BL.W.RESERVE bad 0.01 1000 inf 7", ERROR),
                ("BL.W.RESERVE bad 0.01 1000 60 0", ERROR),
                ("BL.W.RESERVE bad 0.01 1000 60 x", ERROR),
                ("BL.W.RESERVE bad 0.01 0 60 7", ERROR),
                ("BL.W.RESERVE bad 1 1000 60 7", ERROR),
                ("BL.W.RESERVE bad 0.01 1000000000000000000 60 7", ERROR),
                ("BL.W.RESERVE bad 0.01 1000 60 4000000000", ERROR),
                ("EXISTS bad", 0),
                ("BL.W.ADD w", arity("BL.W.ADD")),
                ("BL.W.RESERVE w", arity("BL.W.RESERVE")),
                ("BF.ADD w x", WRONGTYPE),
                ("BL.C.ADD w x", WRONGTYPE),
                ("CF.ADD w x", WRONGTYPE),
            ],
        )
        for protocol in (2, 3):
            with server.client(protocol) as client:
                reply = client.ok("BL.W.INFO", "w")
                equal(type(reply), Map if protocol == 3 else list)
                told = pairs(reply)
                equal(
                    check_names(list(told)), ["Capacity", "Size", "Generations", "Period", "Slice", "Items"]
                )
                equal((told["Capacity"], told["Generations"], told["Period"]), (1000, 7, 3600000))
                equal((len(told["Items"]), sum(told["Items"])), (7, 2), "the items of the generations")
