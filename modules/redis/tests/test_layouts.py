"""Layouts of Bloom filters: chosen by the rate, an option or a word; files, hashes, merging, replicas of each."""

import struct

from check import (
    SEEDED,
    add_all,
    answers,
    both_protocols,
    equal,
    error_with,
    is_error,
    keys,
    none_denied,
    pairs,
    rate,
    true,
)
from files import Filter, bits, blob, hashes, seed_of, write, xxh3_64
from resp import OK
from server import Replica, Server, info, wait_until
from test_files import export, load
from test_replication import same_on_both

LAYOUTS = ("lines", "classic", "classic2")
BAD = error_with("lines, classic or classic2")


def layout(client, key):
    """What all commands that tell it say."""
    told = pairs(client.ok("BL.INFO", key))["Layout"]
    equal(pairs(client.ok("BL.HASHINFO", key))["layout"], told, "BL.HASHINFO")
    for line in client.ok("BF.DEBUG", key)[1:]:
        true(line.endswith(b" layout:" + told), "BF.DEBUG: %r" % line)
    return told.decode()


def second(values):
    return [xxh3_64(struct.pack("<Q", value), 0) for value in values]


def test_choice():
    """By the rate unless a word or an option says otherwise."""
    by_rate = {"0.25": "lines", "0.01": "lines", "0.001": "classic", "0.000001": "classic", "1e-9": "classic2"}
    forced = {
        "auto": by_rate,
        "lines": {error: "lines" for error in by_rate},
        "classic": {**{error: "classic" for error in by_rate}, "1e-9": "classic2"},
    }
    for option, expected in forced.items():
        with Server(module_args=("bf-layout", option)) as server, server.client() as client:
            for error, name in expected.items():
                client.ok("BF.RESERVE", "b" + error, error, 1000, "NONSCALING")
                equal(layout(client, "b" + error), name, "%s with bf-layout %s" % (error, option))
                client.ok("BF.INSERT", "i" + error, "ERROR", error, "NONSCALING", "ITEMS", "x")
                equal(layout(client, "i" + error), name, "BF.INSERT %s with bf-layout %s" % (error, option))
            for name in LAYOUTS:
                client.ok("BL.RESERVE", name, "0.01", 100, "LAYOUT", name.upper())
                equal(layout(client, name), name)
                client.ok("BL.INSERT", "i" + name, "LAYOUT", name, "ITEMS", "x")
                equal(layout(client, "i" + name), name)
    with Server(module_args=SEEDED) as server:
        both_protocols(
            server,
            [
                ("BL.RESERVE b 0.01 100 LAYOUT square", BAD),
                ("BL.INSERT b LAYOUT square ITEMS x", BAD),
                ("EXISTS b", 0),
                ("BL.RESERVE b 0.01 100 LAYOUT classic", OK),
                ("BF.INFO b LAYOUT", error_with("Invalid information value")),
            ],
        )


def test_rates():
    """Each layout keeps its rate, grown and not; the second hash counts."""
    with Server(module_args=SEEDED) as server, server.client() as client:
        for name in LAYOUTS:
            for error in (0.1, 0.01, 0.001):
                for options, times in (((), 20), (("NONSCALING",), 1)):
                    client.ok("BL.RESERVE", "b", repr(error), 2000, *options, "LAYOUT", name)
                    items = keys("k", 2000 * times)
                    new = add_all(client, "b", items[: 2000 * times])
                    none_denied(client, "b", items)
                    equal(client.ok("BF.CARD", "b"), new)
                    measured = rate(client, "b", keys("absent", 40_000))
                    noise = 4 * (error / 40_000) ** 0.5
                    true(measured <= error + noise, "%s %g %r: %g" % (name, error, options, measured))
                    if times == 1:
                        true(measured >= 0.6 * error - noise, "%s %g: %g" % (name, error, measured))
                    client.ok("DEL", "b")
        # 1e-5 by a rate that is chosen.
        client.ok("BF.RESERVE", "low", "0.00001", 20_000, "NONSCALING")
        add_all(client, "low", keys("k", 20_000))
        wrong = rate(client, "low", keys("absent", 400_000)) * 400_000
        true(wrong <= 14, "%d of 400000 at 1e-5" % wrong)


def test_files():
    """A file of two hashes has the bits of both, and every item by one; with its layout it is what it was."""
    items, absent = keys("k", 3000), keys("absent", 3000)
    with Server() as server, server.client() as client:
        for name in LAYOUTS:
            client.ok("BL.RESERVE", name, "0.1", 3000, "NONSCALING", "LAYOUT", name)
            add_all(client, name, items[:2500])
            data, count = export(client, name), client.ok("BL.CARD", name)
            file, values = Filter(data), hashes(items + absent, seed_of(client, name))
            expected = [file.contains_hash(value) for value in values]
            equal(file.key_count, count * (2 if name == "classic2" else 1))
            if name == "classic2":
                once = expected
                expected = [a and file.contains_hash(b) for a, b in zip(expected, second(values))]
                true(sum(once) > sum(expected) + 100, "the second hash says no more often")
            answer = answers(client, name, items + absent)
            equal(answer, [int(one) for one in expected], "probes of " + name)
            equal(bits(client.ok("BL.MEXISTSHASH", name, blob(values)), 6000), answer, "by hash")
            # The same again, with its layout; by the file alone, every item is there.
            equal(load(client, name + ":copy", data, "CAPACITY", 3000, "LAYOUT", name), OK)
            equal(layout(client, name + ":copy"), name)
            equal(answers(client, name + ":copy", items + absent), answer)
            equal(export(client, name + ":copy"), data, "the bytes")
            equal(client.ok("BL.CARD", name + ":copy"), count)
            equal(load(client, name + ":file", data), OK)
            equal(layout(client, name + ":file"), name.replace("classic2", "classic"))
            none_denied(client, name + ":file", items[:2500])
            # Both go on, and take half-loaded copies through a reload.
            for copy in (name, name + ":copy"):
                add_all(client, copy, items[2500:])
            equal(export(client, name + ":copy"), export(client, name))
            client.ok("BL.IMPORT", name + ":half", 0, len(data), data[:1000], "LAYOUT", name)
            equal(client.call("DEBUG", "RELOAD"), OK)
            client.ok("BL.IMPORT", name + ":half", 1000, len(data), data[1000:])
            equal(layout(client, name + ":half"), name)
        data = write(keys("x", 10), 40, k=6, seed=1)
        is_error(load(client, "bad", data, "LAYOUT", "classic"), "lines as classic")
        is_error(load(client, "bad", export(client, "classic"), "LAYOUT", "lines"), "classic as lines")
        equal(client.call("BL.IMPORT", "bad", 0, len(data), data, "LAYOUT", "square"), BAD)
        is_error(client.call("BL.IMPORT", "bad", 0, len(data), data, "COLOUR", "red"), "another word")
        equal(client.ok("EXISTS", "bad"), 0)


def test_half_of_a_file_in_the_log():
    """The append-only file keeps the layout of a file that has half arrived."""
    with Server("--appendonly", "yes", "--aof-use-rdb-preamble", "no") as server:
        with server.client() as client:
            client.ok("BL.RESERVE", "b", "0.1", 3000, "NONSCALING", "LAYOUT", "classic2")
            add_all(client, "b", keys("k", 3000))
            data = export(client, "b")
            client.ok("BL.IMPORT", "half", 0, len(data), data[:1000], "LAYOUT", "classic2")
            client.ok("BL.IMPORT", "other", 0, len(data), data[:1000], "CAPACITY", 5000)
            client.ok("BGREWRITEAOF")
            wait_until(lambda: info(client, "persistence")["aof_rewrite_in_progress"] == "0", "the rewrite ends")
        server.restart()
        with server.client() as client:
            for name, expected in (("half", "classic2"), ("other", "classic")):
                client.ok("BL.IMPORT", name, 1000, len(data), data[1000:])
                equal(layout(client, name), expected)
            equal(export(client, "half"), data)
            equal(client.ok("BL.INFO", "other", "CAPACITY"), [5000])


def test_hashes_and_merging():
    """Items and hashes are one set; filters of one layout merge; those of two do not."""
    parts = {name: keys(name, 2000) for name in ("one", "two", "three")}
    with Server() as server, server.client() as client:
        for name in LAYOUTS:
            client.ok("FLUSHALL")
            for part, items in parts.items():
                client.ok("BL.RESERVE", part, "0.01", 1000, "SEED", 3, "LAYOUT", name)
                client.ok("BL.MADDHASH", part, blob(hashes(items[:1000], 3)))
                add_all(client, part, items[1000:])
                none_denied(client, part, items)
                equal(bits(client.ok("BL.MEXISTSHASH", part, blob(hashes(items, 3))), 2000), [1] * 2000)
            # More than each is made for: the rate of the result is checked, and not without need.
            is_error(client.call("BL.MERGE", "all", *parts), "a rate that is exceeded")
            equal(client.call("BL.MERGE", "same", "one", "one"), OK)
            once, twice = client.ok("BL.CARD", "one"), client.ok("BL.CARD", "same")
            true(once <= twice <= 1.05 * once, "%d items, merged with themselves %d" % (once, twice))
            equal(client.call("BL.MERGEFORCE", "all", *parts), OK)
            none_denied(client, "all", sum(parts.values(), []))
            equal(layout(client, "all"), name)
            # The union of the bits of all.
            file = Filter(export(client, "all", "LINK", 0)).lines
            united = bytearray(len(file))
            for part in parts:
                lines = Filter(export(client, part, "LINK", 0)).lines
                united = bytearray(a | b for a, b in zip(united, lines))
            equal(file, bytes(united), "the lines")
            for other in LAYOUTS:
                if other != name:
                    client.ok("BL.RESERVE", other, "0.01", 1000, "SEED", 3, "LAYOUT", other)
                    is_error(client.call("BL.MERGE", "all", other), "%s into %s" % (other, name))


def test_replicas():
    """A replica with another option has the same bytes, whatever made the filter."""
    with Server() as master, Replica(master, module_args=("bf-layout", "lines")) as replica:
        with master.client() as client, replica.client() as copy:
            client.ok("BF.RESERVE", "low", "1e-9", 1000)
            add_all(client, "low", keys("low", 5000))
            client.ok("BF.INSERT", "insert", "ERROR", "0.00001", "CAPACITY", 100, "ITEMS", *keys("i", 500))
            client.ok("BL.RESERVE", "word", "0.01", 100, "LAYOUT", "classic2")
            client.ok("BL.MADDHASH", "word", blob(hashes(keys("w", 500), 1)))
            client.ok("BL.MERGE", "merged", "low")
            data = export(client, "word", "LINK", 0)
            equal(load(client, "file", data, "LAYOUT", "classic2", count=500), OK)
            replica.wait_caught_up()
            names = ("low", "insert", "word", "merged", "file")
            same_on_both(client, copy, names)
            equal([layout(copy, name) for name in names], ["classic2", "classic", "classic2", "classic2", "classic2"])
            none_denied(copy, "low", keys("low", 5000))
