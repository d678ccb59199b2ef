"""BL.EXPORT and BL.IMPORT: the library's files in and out, against the reader and the writer in Python and the
golden files."""

import os
import random
import struct

import check
from check import BYTES, INTEGER, add_all, answers, equal, is_error, keys, none_denied, pairs, true
from files import Filter, bits, blob, sealed, seed_of, write
from resp import OK
from server import ROOT, Server

CHUNK = 50000
GOLDEN = os.path.join(ROOT, "golden")


def export(client, key, *options, count=CHUNK):
    """The whole file of a key."""
    at, data = 0, b""
    while True:
        reply = client.ok("BL.EXPORT", key, at, "COUNT", count, *options)
        equal(reply, [INTEGER, INTEGER, BYTES], "BL.EXPORT at %d" % at)
        following, length, part = reply
        data += part
        true(len(part) <= count, "%d bytes, asked for %d" % (len(part), count))
        if following == 0:
            equal(len(data), length, "the length of the file")
            return data
        equal(following, len(data), "the next offset")
        at = following


def load(client, key, data, *options, count=CHUNK):
    """Imports a file; the reply of the last chunk."""
    reply = None
    for at in range(0, len(data), count):
        reply = client.call("BL.IMPORT", key, at, len(data), data[at : at + count], *options)
        if reply != OK:
            return reply
    return reply


def test_export():
    """What BL.EXPORT gives is a file that the reader written from FORMAT.md accepts, with the same answers."""
    with Server() as server, server.client() as client:
        client.ok("BL.RESERVE", "b", "0.01", 3000, "NONSCALING")
        items, absent = keys("k", 3000), keys("absent", 500)
        new = add_all(client, "b", items)
        file = Filter(export(client, "b"))
        equal((file.seed, file.key_count), (seed_of(client, "b"), new), "the footer")
        true(all(file.contains(item) for item in items), "the file denies a key")
        equal([int(file.contains(item)) for item in absent], answers(client, "b", absent))
        equal(load(client, "copy", export(client, "b", count=777)), OK)
        none_denied(client, "copy", items)
        equal(answers(client, "copy", absent), answers(client, "b", absent))
        equal(export(client, "copy"), export(client, "b"), "the file of the copy")
        for words in (("nothing", 0), ("b", -1), ("b", "x"), ("b", 0, "LINK", 1), ("b", 0, "COUNT", 0)):
            is_error(client.call("BL.EXPORT", *words), "BL.EXPORT %r" % (words,))
        # Of one that has grown, each link is a file.
        client.ok("BL.RESERVE", "grown", "0.01", 100)
        add_all(client, "grown", items)
        links = pairs(client.ok("BL.INFO", "grown"))["Number of filters"]
        files = [Filter(export(client, "grown", "LINK", i)) for i in range(links)]
        true(
            links > 3 and all(any(file.contains(item) for file in files) for item in items[::7]),
            "the links have all keys",
        )


def test_export_cuckoo():
    """Each filter of a cuckoo series is a link of its own: all that BL.HASHINFO has, and no more, are exported."""
    with Server() as server, server.client() as client:
        items = keys("k", 3000)
        client.ok("CF.RESERVE", "c", 1000, "EXPANSION", 2)
        equal(sum(client.ok("CF.INSERT", "c", "ITEMS", *items)), len(items))
        links = pairs(client.ok("BL.HASHINFO", "c"))["links"]
        series = pairs(client.ok("CF.INFO", "c"))["Number of filters"]
        true(series > 1 and len(links) == 2**series - 1, "%d links, %d files" % (series, len(links)))
        found = [0] * len(items)
        for i in range(len(links)):
            data = export(client, "c", "LINK", i)
            equal(load(client, "part", data), OK)
            equal(pairs(client.ok("BL.HASHINFO", "part"))["links"], [links[i]], "link %d" % i)
            here = client.ok("CF.MEXISTS", "part", *items)
            found = [one | other for one, other in zip(found, here)]
            client.ok("DEL", "part")
        equal(sum(found), len(items), "items in the files")
        is_error(client.call("BL.EXPORT", "c", 0, "LINK", len(links)), "a link beyond those of BL.HASHINFO")


def test_import():
    """A file built elsewhere becomes a key; a damaged one becomes nothing."""
    items = keys("k", 2000)
    data = write(items, 40, k=6, seed=11)
    with Server() as server, server.client() as client:
        equal(load(client, "b", data, count=1000), OK)
        none_denied(client, "b", items)
        equal(seed_of(client, "b"), 11)
        told, absent = Filter(data), keys("absent", 1000)
        equal(answers(client, "b", absent), [int(told.contains(item)) for item in absent], "absent keys")
        equal(export(client, "b"), data, "the bytes come back")
        generator = random.Random(check.seed)
        for _ in range(200):
            spoilt = bytearray(data)
            spoilt[generator.randrange(len(data))] ^= 1 << generator.randrange(8)
            is_error(load(client, "bad", bytes(spoilt), count=1000), "seed %d: a flipped bit" % check.seed)
            equal(client.ok("EXISTS", "bad"), 0, "a key of damaged bytes")
        for cut in (1, 63, 64, 1000):
            is_error(load(client, "bad", data[:-cut]), "a file without its last %d bytes" % cut)
            client.call("DEL", "bad")
        # Chunks out of order, of another length, on a key that is there.
        client.ok("BL.IMPORT", "part", 0, len(data), data[:1000])
        is_error(client.call("BL.EXISTS", "part", items[0]), "a filter that is not yet complete says no")
        is_error(client.call("BL.IMPORT", "part", 1500, len(data), data[1500:]), "a chunk too far")
        client.call("DEL", "part")
        for words in (
            (0, 0, b""),
            (0, 1 << 62, data[:64]),
            (0, -1, data),
            (64, len(data), data[64:]),
            ("x", len(data), data),
            (0, len(data), data + b"x"),
            (0, len(data) - 1, data),
        ):
            is_error(client.call("BL.IMPORT", "bad", *words), "BL.IMPORT bad %r" % (words[:2],))
            equal(client.ok("EXISTS", "bad"), 0, "a key after a bad import")
        before = client.ok("DUMP", "b")
        is_error(client.call("BL.IMPORT", "b", 0, len(data), data[:1000]), "an import over a filter")
        equal(client.ok("DUMP", "b"), before)


def test_import_of_unknown_count():
    """A file whose key_count is 0, unknown, leaves no more room than there is."""
    items = keys("k", 1500)
    counted = write(items[:1000], 25, k=6, seed=11)
    data = sealed(struct.unpack("<200Q", counted[:-64]), 0, 25, 11, 6, 1)
    with Server() as server, server.client() as client:
        equal(load(client, "b", data, "CAPACITY", 1200), OK)
        estimate = client.ok("BL.CARD", "b")
        true(950 <= estimate <= 1050, "%d items of 1000" % estimate)
        reply = client.call("BL.MADD", "b", *items[1000:])
        is_error(reply[-1], "more items than the file was to take")
        true(150 <= len(reply) - 1 <= 300, "%d more items" % (len(reply) - 1))
        none_denied(client, "b", items[:1000])


def golden(folder):
    """The golden files of a folder: whether it is a filter, its bytes, its probes, its name; and its status."""
    with open(os.path.join(GOLDEN, folder, "MANIFEST")) as manifest:
        rows = [row.split() for row in manifest]
    for kind, name, *numbers in rows:
        path = os.path.join(GOLDEN, folder, name)
        with open(path, "rb") as file:
            data = file.read()
        probes = []
        if kind == "accepted":
            with open(path + ".probes") as file:
                probes = [(int(value, 16), int(answer != "0")) for value, answer in map(str.split, file)]
        yield kind == "accepted", data, probes, os.path.join(folder, name), numbers


def test_golden_files():
    """Each frozen file of each kind becomes a key with the frozen answers; each rejected one becomes nothing."""
    layout_unknown = "14"
    accepted = rejected = probed = 0
    with Server() as server, server.client() as client:
        for folder in ("", "counting", "classic", "scalable", "window", "cuckoo", "static", "growing"):
            for good, data, probes, name, numbers in golden(folder):
                if not good:
                    reply = load(client, name, data) if data else client.call("BL.IMPORT", name, 0, 0, b"")
                    # One that is of another kind only is for that kind to judge.
                    if numbers != [layout_unknown]:
                        is_error(reply, name)
                        equal(client.ok("EXISTS", name), 0, name)
                        rejected += 1
                    client.call("DEL", name)
                    continue
                equal(load(client, name, data), OK, name)
                accepted += 1
                values = [value for value, _ in probes]
                expected = [answer for _, answer in probes]
                for _ in range(2):
                    if values:
                        reply = client.ok("BL.MEXISTSHASH", name, blob(values))
                        equal(bits(reply, len(values)), expected, name)
                    equal(client.call("DEBUG", "RELOAD"), OK, name)
                # Growing filters that another writer has written are written as this one does.
                if folder != "scalable" and "/other-" not in name:
                    # The key count of a cuckoo filter is counted again when it is read, and one that is
                    # unknown is estimated.
                    is_counted = folder == "cuckoo" or folder in ("", "classic") and data[-64:-56] == bytes(8)
                    size = len(data) - (64 if is_counted else 0)
                    equal(export(client, name)[:size], data[:size], "the bytes of " + name)
                probed += len(values)
                client.ok("DEL", name)
    true(accepted > 100 and rejected > 100, "%d accepted, %d rejected" % (accepted, rejected))
    print("        %d files accepted, %d probes, %d rejected" % (accepted, probed, rejected))


def test_cascade():
    """A cascade's file is an error that says so, at the chunk that has its footer."""
    with Server() as server, server.client() as client:
        for good, data, _, name, _ in golden("cascade"):
            if good:
                reply = load(client, name, data, count=1000)
                is_error(reply, name)
                true(reply.startswith("ERR a cascade cannot be imported: BL.IMPORT takes "), "%s: %s" % (name, reply))
                equal(client.ok("EXISTS", name), 0, name)


def test_merge_of_imported():
    """Filters of files merge with each other and with reserved ones: the shape of the lines counts, not the plan."""
    with Server() as server, server.client() as client:
        client.ok("BL.RESERVE", "b", "0.01", 9000, "SEED", 3, "NONSCALING")
        lines, k = pairs(client.ok("BL.HASHINFO", "b"))["links"][0][:2]
        parts = {name: keys(name, 2000) for name in ("b", "one", "two")}
        add_all(client, "b", parts["b"])
        for name, options in (("one", ()), ("two", ("CAPACITY", 5000))):
            equal(load(client, name, write(parts[name], lines, k, 3), *options), OK)
        equal(client.call("BL.MERGE", "both", "one", "two"), OK)
        none_denied(client, "both", parts["one"] + parts["two"])
        equal(client.call("BL.MERGE", "b", "one", "two"), OK)
        equal(client.call("BL.MERGE", "one", "b"), OK)
        everything = sum(parts.values(), [])
        for name in ("b", "one"):
            none_denied(client, name, everything)
        united = Filter(write(everything, lines, k, 3)).lines
        for name in ("b", "one"):
            equal(Filter(export(client, name)).lines, united, "the lines of " + name)
        # What a key was reserved for stays.
        equal(pairs(client.ok("BF.INFO", "b"))["Capacity"], 9000)
        for other in ((lines + 1, k, 3), (lines, k + 1, 3), (lines, k, 4)):
            client.ok("DEL", "other")
            equal(load(client, "other", write(keys("x", 10), *other)), OK)
            before = client.ok("DUMP", "b")
            is_error(client.call("BL.MERGE", "b", "one", "other"), "lines, k, seed: %r" % (other,))
            equal(client.ok("DUMP", "b"), before)
