"""Static filters: made by BL.IMPORT alone, probed as Bloom filters, never changed."""

import random

import check
from check import (
    BYTES,
    WRONGTYPE,
    answers,
    both_protocols,
    equal,
    error_with,
    is_error,
    keys,
    none_denied,
    pairs,
    true,
)
from files import STATIC_ROWS, StaticFilter, blob, hashes, seed_of, sealed, write_static
from resp import OK, Error
from samples import STATIC, members
from server import Replica, Server
from test_files import export, load

READ_ONLY = error_with("read-only")
ADDING = [
    "BF.ADD s x",
    "BF.MADD s x y",
    "BF.INSERT s ITEMS x",
    "BF.INSERT s NOCREATE ITEMS x",
    "BL.ADD s x",
    "BL.MADDHASH s 12345678",
]


def test_probes():
    """Every command that reads it, by item and by hash, in agreement with the reader in Python."""
    reader, present, absent = StaticFilter(STATIC), members("static"), keys("absent", 4000)
    with Server() as server, server.client() as client:
        equal(load(client, "s", STATIC, count=1000), OK)
        expected = [int(reader.contains_hash(value)) for value in hashes(absent, 9)]
        true(0 < sum(expected) < 50, "%d of 4000 absent items" % sum(expected))
        for prefix in ("BL.", "BF."):
            none_denied(client, "s", present, prefix + "MEXISTS")
            equal(answers(client, "s", absent, prefix + "MEXISTS"), expected)
            for item, answer in list(zip(absent, expected))[:300]:
                equal(client.ok(prefix + "EXISTS", "s", item), answer)
            equal(client.ok(prefix + "CARD", "s"), 3000)
        bitmap = client.ok("BL.MEXISTSHASH", "s", blob(hashes(present + absent, 9)))
        equal(bitmap[:375], b"\xff" * 375, "the members, by hash")
        equal([bitmap[375 + i // 8] >> i % 8 & 1 for i in range(4000)], expected, "by hash")
        told = pairs(client.ok("BL.HASHINFO", "s"))
        equal((seed_of(client, "s"), told["links"]), (9, [[reader.line_count, 8, 3000, 3000]]))
        equal(export(client, "s", count=777), STATIC, "the file")
        told = pairs(client.ok("BL.INFO", "s"))
        equal(list(told.values()), [3000, len(STATIC), 1, 3000, None, b"static"], "BL.INFO")
        equal(client.ok("BF.INFO", "s", "CAPACITY"), [3000])


def test_replies():
    text = lambda name: check.ANY(lambda reply: reply in (name, name.encode()), name)  # noqa: E731
    with Server() as server:
        both_protocols(
            server,
            [
                (("BL.IMPORT", "s", 0, len(STATIC), STATIC), OK),
                ("BL.KIND s", text("static")),
                ("TYPE s", check.status("bloomline")),
                ("BL.EXISTS s static:1", 1, True),
                ("BF.EXISTS s static:1", 1, True),
                ("BF.MEXISTS s static:1 static:2", [1, 1], [True, True]),
                *((words, READ_ONLY) for words in ADDING),
                ("BF.RESERVE s 0.01 100", Error("ERR item exists")),
                ("BL.C.RESERVE s 0.01 100", Error("ERR item exists")),
                ("CF.RESERVE s 100", Error("ERR item exists")),
                ("CF.ADD s x", WRONGTYPE),
                ("CF.DEL s static:1", Error("Not found")),
                ("BL.C.ADD s x", WRONGTYPE),
                ("BL.C.DEL s static:1", WRONGTYPE),
                ("BL.C.EXISTS s static:1", WRONGTYPE),
                ("BL.W.ADD s x", WRONGTYPE),
                ("BL.W.ADVANCE s 5", WRONGTYPE),
                ("BL.DEBUG s", WRONGTYPE),
                ("BF.SCANDUMP s 0", WRONGTYPE),
                ("BL.SCANDUMP s 0", [check.INTEGER, BYTES]),
                (("BL.IMPORT", "s", 0, len(STATIC), STATIC), Error("ERR item exists")),
                (("BL.IMPORT", "t", 0, len(STATIC), STATIC, "CAPACITY", 5), OK),
                ("BF.CARD t", 3000),
            ],
        )


def test_read_only():
    """Nothing changes it, here, in the log or on a replica."""
    with Server("--appendonly", "yes") as master, Replica(master) as replica, master.client() as client:
        equal(load(client, "s", STATIC, count=500), OK)
        client.ok("BF.ADD", "b", "x")
        before = client.ok("DUMP", "s"), client.ok("DUMP", "b")
        for words in ADDING:
            equal(client.call(*words.split()), READ_ONLY, words)
        merges = ["b s", "s b", "s s", "new s", "new b s", "new s b"]
        for words in merges:
            for command in ("BL.MERGE", "BL.MERGEFORCE"):
                equal(client.call(command, *words.split()), error_with("static filter cannot be merged"), words)
        equal(client.ok("EXISTS", "new"), 0)
        equal((client.ok("DUMP", "s"), client.ok("DUMP", "b")), before)
        replica.wait_caught_up()
        with replica.client() as copy:
            equal((copy.ok("DUMP", "s"), copy.ok("DUMP", "b")), before, "on the replica")
            none_denied(copy, "s", members("static"), "BL.MEXISTS")
            is_error(copy.call("BF.ADD", "s", "x"), "a write to a replica")
        equal(client.call("DEBUG", "LOADAOF"), OK)
        equal(client.ok("DUMP", "s"), before[0], "after DEBUG LOADAOF")
        equal(client.call("RENAME", "s", "other"), OK)
        equal(client.call("DEL", "other"), 1)


def test_damaged():
    """A file with any bit flipped, cut or longer becomes no key, nor do chunks of one."""
    generator = random.Random(check.seed)
    with Server() as server, server.client() as client:
        for round in range(len(STATIC) if check.full else 300):
            at = round if check.full else generator.randrange(len(STATIC))
            # The footer has the most to damage.
            at = at if round % 3 else len(STATIC) - 1 - at % 64
            spoilt = bytearray(STATIC)
            spoilt[at] ^= 1 << generator.randrange(8)
            is_error(load(client, "bad", bytes(spoilt), count=1500), "seed %d: a bit of byte %d" % (check.seed, at))
            equal(client.ok("EXISTS", "bad"), 0, "a key of damaged bytes")
        for data in (STATIC[:-1], STATIC[64:], STATIC[1:], STATIC[:-64], STATIC + b"\0", STATIC[-64:], STATIC[:64]):
            is_error(load(client, "bad", data), "%d bytes of %d" % (len(data), len(STATIC)))
            equal(client.ok("EXISTS", "bad"), 0, "a key of %d bytes" % len(data))
        # Half a file: every probe is an error, none a no.
        client.ok("BL.IMPORT", "half", 0, len(STATIC), STATIC[:2000])
        for words in ("BL.EXISTS half x", "BF.MEXISTS half x", "BL.MEXISTSHASH half 12345678", "BL.INFO half"):
            equal(client.call(*words.split()), error_with("still being loaded"), words)
        equal(client.call("DEBUG", "RELOAD"), OK)
        client.ok("BL.IMPORT", "half", 2000, len(STATIC), STATIC[2000:])
        none_denied(client, "half", members("static"), "BL.MEXISTS")
        # The limit of a key holds as for other kinds.
    with Server(module_args=("max-filter-bytes", len(STATIC) - 1)) as server, server.client() as client:
        is_error(load(client, "s", STATIC), "more than max-filter-bytes")
        equal(client.ok("EXISTS", "s"), 0)


def test_small_and_empty():
    """No key at all, one key, and as many as a few lines take."""
    with Server() as server, server.client() as client:
        for count in (0, 1, 2, 60, 200):
            items, name = keys("k", count), "s%d" % count
            data = write_static(items, 1)
            equal(load(client, name, data), OK)
            equal(export(client, name), data)
            equal(client.ok("BL.CARD", name), count)
            if items:
                none_denied(client, name, items, "BL.MEXISTS")
            true(sum(answers(client, name, keys("absent", 1000), "BL.MEXISTS")) < 20, "the rate of " + name)
            equal(client.call("DEBUG", "RELOAD"), OK)
            equal(export(client, name), data, "after DEBUG RELOAD")


def test_large():
    """More than a chunk; in the full run more than one of 16 MiB. Any bits are lines of a static filter."""
    generator, count = random.Random(check.seed), (20 if check.full else 1) << 14
    lanes = [generator.getrandbits(64) for _ in range(8 * count)]
    data, values = sealed(lanes, 0, count, 5, STATIC_ROWS, 8), generator.randbytes(8 * 50_000)
    with Server() as server, server.client() as client:
        equal(load(client, "s", data, count=1 << 18), OK)
        before = client.ok("BL.MEXISTSHASH", "s", values), client.ok("DEBUG", "DIGEST-VALUE", "s")
        # Half of all hashes are at or above the threshold of their line, where every answer is maybe.
        true(20_000 < sum(byte.bit_count() for byte in before[0]) < 30_000, "the answers are not mixed")
        true(export(client, "s", count=1 << 20) == data, "the file")
        at = 0
        while True:
            at, chunk = client.ok("BL.SCANDUMP", "s", at)
            if at == 0:
                break
            client.ok("BL.LOADCHUNK", "loaded", at, chunk)
        client.ok("COPY", "s", "copy")
        client.ok("RESTORE", "restored", 0, client.ok("DUMP", "s"))
        equal(client.call("DEBUG", "RELOAD"), OK)
        for name in ("s", "loaded", "copy", "restored"):
            now = client.ok("BL.MEXISTSHASH", name, values), client.ok("DEBUG", "DIGEST-VALUE", name)
            true(now == before, name + " is not the same filter")
            size = client.ok("MEMORY", "USAGE", name)
            true(len(data) <= size < 1.25 * len(data) + 1000, "MEMORY USAGE of %s: %d" % (name, size))
        spoilt = bytearray(data)
        spoilt[generator.randrange(len(data) - 64)] ^= 1
        is_error(load(client, "bad", bytes(spoilt), count=1 << 20), "seed %d: a flipped bit" % check.seed)
        equal(client.ok("EXISTS", "bad"), 0)


def test_replaced():
    """A new file takes the place of an old one by RENAME: a client that probes meanwhile is never denied."""
    items = keys("k", 500)
    with Server() as server, server.client() as client:
        equal(load(client, "now", write_static(items, 1)), OK)
        equal(load(client, "next", write_static(items + keys("more", 500), 2), count=300), OK)
        none_denied(client, "now", items, "BL.MEXISTS")
        equal(client.call("RENAME", "next", "now"), OK)
        none_denied(client, "now", items + keys("more", 500), "BL.MEXISTS")
