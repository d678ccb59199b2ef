"""BL.G.*: growing filters, against a plain count; bounded and unbounded; merged, exported, replicated, limited."""

import collections
import random
import resource

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
from server import Replica, Server, info, wait_until
from test_files import export, load


def test_replies():
    with Server(module_args=SEEDED) as server:
        both_protocols(
            server,
            [
                ("BL.G.RESERVE g 0.001 CAPACITY 1000", OK),
                ("BL.G.RESERVE g 0.01", Error("ERR item exists")),
                ("BL.G.ADD g a", 1, True),
                ("BL.G.ADD g a", 0, False),
                ("BL.G.COUNT g a", 2),
                ("BL.G.MADD g a b", [0, 1], [False, True]),
                ("BL.G.EXISTS g b", 1, True),
                ("BL.G.MEXISTS g a x", [1, 0], [True, False]),
                ("BL.G.DEL g b", 1, True),
                ("BL.G.DEL g b", 0, False),
                ("BL.G.MDEL g a a b", [1, 1, 0], [True, True, False]),
                ("BL.G.COUNT g a", 1),
                ("BL.G.COUNT g x", 0),
                ("BL.G.RESERVE u 0.01 EXPECTED 10 SEED 3", OK),
                ("BL.G.RESERVE w 0.01 SEED 3", OK),
                ("BL.G.MADD made a b a", [1, 1, 0], [True, True, False]),
                ("BL.G.EXISTS nothing a", 0, False),
                ("BL.G.COUNT nothing a", 0),
                ("BL.G.DEL nothing a", Error("ERR not found")),
                ("BL.G.INFO nothing", Error("ERR not found")),
                ("BL.G.RESERVE bad 2", ERROR),
                ("BL.G.RESERVE bad 0.01 CAPACITY 0", ERROR),
                ("BL.G.RESERVE bad 0.01 CAPACITY", arity("BL.G.RESERVE")),
                ("BL.G.RESERVE bad 0.01 CAPACITY 5 EXPECTED 5", ERROR),
                ("BL.G.RESERVE bad 0.01 SEED x", Error("ERR bad seed")),
                ("BL.G.RESERVE bad 0.01 5", ERROR),
                ("BL.G.RESERVE bad 1e-10 CAPACITY 281474976710656", ERROR),
                ("EXISTS bad", 0),
                ("BL.G.ADD g", arity("BL.G.ADD")),
                ("BF.ADD g x", WRONGTYPE),
                ("CF.ADD g x", WRONGTYPE),
                ("BF.EXISTS g x", WRONGTYPE),
                ("BL.C.ADD g x", WRONGTYPE),
            ],
        )
        for protocol in (2, 3):
            with server.client(protocol) as client:
                for name, capacity in (("g", 1000), ("u", None)):
                    reply = client.ok("BL.G.INFO", name)
                    equal(type(reply), Map if protocol == 3 else list)
                    told = pairs(reply)
                    equal(check_names(list(told)), ["Capacity", "Size", "Items", "Rate"])
                    equal(told["Capacity"], capacity)
        with server.client() as client:
            equal(client.ok("BL.KIND", "g"), b"growing")
            equal(pairs(client.ok("BL.HASHINFO", "u"))["links"][0][2:], [10, 0])
            equal((seed_of(client, "u"), seed_of(client, "made")), (3, 7))
        with Server() as other, other.client() as client:
            client.ok("BL.G.ADD", "one", "x")
            client.ok("BL.G.ADD", "two", "x")
            true(seed_of(client, "one") != seed_of(client, "two"), "seeds are random")


def remove_all(client, name, truth, gone):
    """Removes these keys as often as they are there."""
    items = [key for key in gone for _ in range(truth.pop(key, 0))]
    equal(add_all(client, name, items, "BL.G.MDEL"), len(items), "seed %d: removing what was added" % check.seed)


def test_as_a_count():
    """Adding and removing at random, growing and shrinking: never less than a plain count, nor more than the rate."""
    generator = random.Random(check.seed)
    with Server(module_args=SEEDED) as server, server.client() as client:
        for name, words in (("bounded", ("CAPACITY", 30_000)), ("unbounded", ("EXPECTED", 20))):
            client.ok("BL.G.RESERVE", name, "0.01", *words)
            truth, pool = collections.Counter(), keys("k", 20_000)
            for most in (300, 20_000, 1000, 20_000):
                pool_now = pool[:most]
                remove_all(client, name, truth, pool[most:])
                for _ in range(12):
                    some = generator.choices(pool_now, k=2000)
                    client.ok("BL.G.MADD", name, *some)
                    truth.update(some)
                    gone = [key for key in set(generator.choices(pool_now, k=1000)) if truth[key]]
                    what = "seed %d: removing what was added" % check.seed
                    equal(set(client.ok("BL.G.MDEL", name, *gone)), {1}, what)
                    truth.subtract(gone)
                present = [key for key in pool if truth[key]]
                none_denied(client, name, present, "BL.G.MEXISTS")
                equal(pairs(client.ok("BL.G.INFO", name))["Items"], sum(truth.values()))
                wrong = rate(client, name, keys("absent", 20_000), "BL.G.MEXISTS")
                true(wrong < 0.0125, "%s: a rate of %g" % (name, wrong))
            for key in generator.sample(present, 300):
                true(client.ok("BL.G.COUNT", name, key) >= truth[key], "the count of %r" % key)
            remove_all(client, name, truth, present)
            equal(pairs(client.ok("BL.G.INFO", name))["Items"], 0)
        # In a bounded filter nothing is left. In an unbounded one short prefixes of the first items may be.
        equal(sum(answers(client, "bounded", pool, "BL.G.MEXISTS")), 0, "all were removed")


def test_hashed():
    """Items by name and by hash are the same; a repeated one counts each time."""
    with Server() as server, server.client() as client:
        client.ok("BL.G.RESERVE", "g", "0.01", "CAPACITY", 5000)
        items = keys("k", 3003)
        values = hashes(items, seed_of(client, "g"))
        add_all(client, "g", items[:1000], "BL.G.MADD")
        new = bits(client.ok("BL.MADDHASH", "g", blob(values)), len(values))
        equal(sum(new[:1000]), 0, "items that were there")
        true(sum(new[1000:]) > 1950, "%d of 2003 new" % sum(new[1000:]))
        equal(bits(client.ok("BL.MEXISTSHASH", "g", blob(values)), len(values)), [1] * len(values))
        true(client.ok("BL.G.COUNT", "g", items[0]) >= 2, "by name and by hash")
        equal(pairs(client.ok("BL.G.INFO", "g"))["Items"], 4003)
        absent = keys("absent", 20_000)
        by_hash = bits(client.ok("BL.MEXISTSHASH", "g", blob(hashes(absent, seed_of(client, "g")))), len(absent))
        equal(by_hash, answers(client, "g", absent, "BL.G.MEXISTS"))


def test_merge():
    with Server() as server, server.client() as client:
        parts = {name: keys(name, 3000) for name in ("one", "two", "three")}
        for name in parts:
            client.ok("BL.G.RESERVE", name, "0.01", "CAPACITY", 9000, "SEED", 3)
            add_all(client, name, parts[name], "BL.G.MADD")
        for name, words in (
            ("seed", ("CAPACITY", 9000, "SEED", 4)),
            ("shape", ("CAPACITY", 8000, "SEED", 3)),
            ("any", ("EXPECTED", 9000, "SEED", 3)),
        ):
            client.ok("BL.G.RESERVE", name, "0.01", *words)
        client.ok("BL.C.RESERVE", "counting", "0.01", 9000, "SEED", 3)
        before = client.ok("DUMP", "one")
        for other in ("seed", "shape", "any", "counting", "nothing"):
            is_error(client.call("BL.MERGE", "one", "two", other), "BL.MERGE one two " + other)
            equal(client.ok("DUMP", "one"), before, "after a merge that failed")
        equal(client.call("BL.MERGE", "all", *parts), OK)
        none_denied(client, "all", sum(parts.values(), []), "BL.G.MEXISTS")
        equal(pairs(client.ok("BL.G.INFO", "all"))["Items"], 9000)
        true(rate(client, "all", keys("absent", 20_000), "BL.G.MEXISTS") < 0.0125, "the rate of the union")
        # Counts add up.
        equal(client.call("BL.MERGE", "twice", "one", "one"), OK)
        true(all(client.ok("BL.G.COUNT", "twice", item) >= 2 for item in parts["one"][:100]), "counts")
        # In place; and beyond the rate only by force.
        equal(client.call("BL.MERGE", "two", "one"), OK)
        none_denied(client, "two", parts["one"] + parts["two"], "BL.G.MEXISTS")
        client.ok("BL.G.RESERVE", "more", "0.01", "CAPACITY", 9000, "SEED", 3)
        add_all(client, "more", keys("more", 9000), "BL.G.MADD")
        before = client.ok("DUMP", "more")
        is_error(client.call("BL.MERGE", "more", "all"), "a merge beyond the rate")
        equal(client.ok("DUMP", "more"), before)
        equal(client.call("BL.MERGEFORCE", "more", "all"), OK)
        none_denied(client, "more", keys("more", 9000) + sum(parts.values(), []), "BL.G.MEXISTS")


def test_files():
    """A file of the library is the key, and the key that file; parts of it, too; damage is refused."""
    with Server() as server, server.client() as client:
        for name, words in (("g", ("CAPACITY", 40_000)), ("u", ("EXPECTED", 100))):
            client.ok("BL.G.RESERVE", name, "0.01", *words)
            items = keys(name, 40_000)
            add_all(client, name, items, "BL.G.MADD")
            absent = keys("absent", 5000)
            before = answers(client, name, absent, "BL.G.MEXISTS")
            usage = client.ok("MEMORY", "USAGE", name)
            data = export(client, name, count=7777)
            equal(export(client, name), data, "the same bytes in other parts")
            equal(answers(client, name, absent, "BL.G.MEXISTS"), before, "exporting changes no answer")
            true(client.ok("MEMORY", "USAGE", name) <= usage, "exporting takes no memory in the end")
            equal(load(client, name + "2", data, count=5000), OK)
            equal(export(client, name + "2"), data)
            equal(answers(client, name + "2", absent, "BL.G.MEXISTS"), before)
            none_denied(client, name + "2", items, "BL.G.MEXISTS")
            for at in (0, len(data) // 2, len(data) - 200, len(data) - 1):
                bad = bytearray(data)
                bad[at] ^= 4
                is_error(load(client, "bad", bytes(bad)), "byte %d" % at)
                equal(client.ok("EXISTS", "bad"), 0)
            # Both go on.
            for key in (name, name + "2"):
                add_all(client, key, keys("more", 5000), "BL.G.MADD")
                none_denied(client, key, items + keys("more", 5000), "BL.G.MEXISTS")


def test_changed_while_scanned():
    """A filter that changes between two chunks is another one at the end: LOADCHUNK refuses it."""
    with Server() as server, server.client() as client:
        client.ok("BL.G.RESERVE", "g", "0.01", "CAPACITY", 1000)
        add_all(client, "g", keys("g", 1000), "BL.G.MADD")
        at, header = client.ok("BL.SCANDUMP", "g", 0)
        client.ok("BL.LOADCHUNK", "copy", at, header)
        client.ok("BL.G.ADD", "g", "another")
        at, chunk = client.ok("BL.SCANDUMP", "g", at)
        reply = client.call("BL.LOADCHUNK", "copy", at, chunk)
        if reply == OK:
            # It had the room: the chunk is whole.
            none_denied(client, "copy", keys("g", 1000) + [b"another"], "BL.G.MEXISTS")
        else:
            is_error(reply, "a chunk of another filter")
            is_error(client.call("BL.G.EXISTS", "copy", "x"), "a filter that has not arrived")


def test_limit():
    """At max-filter-bytes an error ends the array; what was answered is there, here and on the replica."""
    with Server(module_args=("max-filter-bytes", 1 << 18)) as master, Replica(
        master, module_args=("max-filter-bytes", 4096)
    ) as replica, master.client() as client, replica.client() as copy:
        client.ok("BL.G.ADD", "g", "first")
        done = [b"first"]
        for batch in check.batches(keys("k", 1_000_000), 5000):
            reply = client.ok("BL.G.MADD", "g", *batch)
            if isinstance(reply[-1], Error):
                done += batch[: len(reply) - 1]
                break
            done += batch
        true(100_000 < len(done) < 200_000, "%d items in 256 KiB" % len(done))
        is_error(client.call("BL.G.ADD", "g", "x"), "one more")
        is_error(client.call("BL.MADDHASH", "g", b"12345678"), "one more, by its hash")
        true(client.ok("MEMORY", "USAGE", "g") < 1.2 * (1 << 18), "the size at the limit")
        equal(pairs(client.ok("BL.G.INFO", "g"))["Items"], len(done))
        replica.wait_caught_up()
        for one in (client, copy):
            none_denied(one, "g", done, "BL.G.MEXISTS")
            equal(pairs(one.ok("BL.G.INFO", "g"))["Items"], len(done))
        # Removing needs no memory, and makes room.
        client.ok("BL.G.MDEL", "g", *done[:50_000])
        equal(client.ok("BL.G.ADD", "g", "x"), 1)
        true(b"CRITICAL" not in replica.log(), "errors in the replica's stream")


def test_replica_of_a_grown_one():
    """A replica that has a copy of a filter that is being moved goes on with the same items."""
    generator = random.Random(check.seed)
    with Server() as master, master.client() as client:
        for name, words in (("g", ("CAPACITY", 100_000)), ("u", ("EXPECTED", 100))):
            client.ok("BL.G.RESERVE", name, "0.01", *words)
            add_all(client, name, keys(name, 41_234), "BL.G.MADD")
        with Replica(master) as replica, replica.client() as copy:
            gone = {}
            for name in ("g", "u"):
                add_all(client, name, keys("later" + name, 20_000), "BL.G.MADD")
                gone[name] = generator.sample(keys(name, 41_234), 20_000)
                for part in check.batches(gone[name]):
                    equal(set(client.ok("BL.G.MDEL", name, *part)), {1}, "seed %d: removing" % check.seed)
            replica.wait_caught_up()
            for name in ("g", "u"):
                left = set(keys(name, 41_234)) - set(gone[name])
                for one in (client, copy):
                    none_denied(one, name, [*left, *keys("later" + name, 20_000)], "BL.G.MEXISTS")
                    equal(pairs(one.ok("BL.G.INFO", name))["Items"], len(left) + 20_000)
                    wrong = rate(one, name, keys("absent", 20_000), "BL.G.MEXISTS")
                    true(wrong < 0.0125, "%s: a rate of %g" % (name, wrong))
            # A bounded filter's answers follow from its items alone.
            equal(copy.ok("DEBUG", "DIGEST-VALUE", "g"), client.ok("DEBUG", "DIGEST-VALUE", "g"))


def test_what_is_absent_stays_on_a_replica():
    """A replica gets the removals that took something. What is absent on the primary may seem present there."""
    with Server(module_args=SEEDED) as master, Replica(master, "--replica-read-only", "no") as replica:
        with master.client() as client, replica.client() as copy:
            for name, words in (("g", ("CAPACITY", 1000)), ("u", ("EXPECTED", 10))):
                client.ok("BL.G.RESERVE", name, "0.001", *words)
                client.ok("BL.G.MADD", name, "a", "a", "b", "c")
                replica.wait_caught_up()
                equal(copy.ok("BL.G.ADD", name, "only here"), 1)
                for item, gone in (("only here", 0), ("a", 1)):
                    equal(client.ok("BL.G.DEL", name, item), gone)
                equal(client.ok("BL.G.MDEL", name, "b", "only here", "a", "a"), [1, 0, 1, 0])
                replica.wait_caught_up()
                left = ["only here", "c", "a", "b"]
                equal(copy.ok("BL.G.MEXISTS", name, *left), [1, 1, 0, 0], "%s on the replica" % name)
                equal(pairs(copy.ok("BL.G.INFO", name))["Items"], 2)
                equal(client.ok("BL.G.MEXISTS", name, *left), [0, 1, 0, 0])


def test_the_highest_number_of_items():
    """Merged with a copy, a filter doubles. Where its number of items rises no more, items are added as before."""
    with Server(
        module_args=SEEDED
    ) as master, Replica(master) as replica, master.client() as client, replica.client() as copy:
        for name, words in (("g", ("CAPACITY", 1000)), ("u", ("EXPECTED", 10))):
            client.ok("BL.G.RESERVE", name, "0.001", *words)
            client.ok("BL.G.ADD", name, "a")
            for _ in range(64):
                client.ok("COPY", name, "other", "REPLACE")
                equal(client.call("BL.MERGE", name, "other"), OK)
            equal(client.ok("BL.G.ADD", name, "b"), 1)
            equal(client.ok("BL.G.MADD", name, "b", "c"), [0, 1])
            added = client.ok("BL.MADDHASH", name, blob(hashes([b"c", b"d"], seed_of(client, name))))
            equal(bits(added, 2), [0, 1])
            replica.wait_caught_up()
            for one in (client, copy):
                equal(one.ok("BL.G.MEXISTS", name, "a", "b", "c", "d", "e"), [1, 1, 1, 1, 0])
                equal(one.ok("BL.G.COUNT", name, "c"), 2)


def saved(client):
    """Waits until saving in the background ends. Returns how."""
    told = lambda: info(client, "persistence")  # noqa: E731
    wait_until(lambda: told()["rdb_bgsave_in_progress"] == "0", "BGSAVE ends", 30)
    return told()["rdb_last_bgsave_status"]


def test_no_memory_to_save():
    """Saving needs a copy. Without memory for it saving fails, in a child or in the server: the file of before
    stays, and the server goes on."""
    with Server("--appendonly", "no") as server:
        with server.client(timeout=60) as client:
            client.ok("BL.G.RESERVE", "g", "0.0001", "CAPACITY", 1 << 24)
            client.ok("BL.G.ADD", "g", "x")
            client.ok("BGSAVE")
            equal(saved(client), "ok")
            with open(server.path("dump.rdb"), "rb") as file:
                before = file.read()
            generator = random.Random(1)
            for _ in range(4):
                client.ok("BL.MADDHASH", "g", generator.randbytes(8 << 19))
            client.ok("MEMORY", "PURGE")
            with open("/proc/%d/statm" % server.pid) as file:
                mapped = int(file.read().split()[0]) * resource.getpagesize()
            resource.prlimit(server.pid, resource.RLIMIT_AS, (mapped + (2 << 20), resource.RLIM_INFINITY))
            client.ok("BGSAVE")
            equal(saved(client), "err")
            is_error(client.call("SAVE"), "SAVE without memory")
            is_error(client.call("SHUTDOWN", "SAVE"), "SHUTDOWN without memory")
            is_error(client.call("RESTORE", "h", 0, client.ok("DUMP", "g")), "a dump without memory")
            equal(client.call("BL.G.EXISTS", "g", "x"), 1)
            with open(server.path("dump.rdb"), "rb") as file:
                true(file.read() == before, "the file of before")
            resource.prlimit(server.pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            items = pairs(client.ok("BL.G.INFO", "g"))["Items"]
            client.ok("SAVE")
        server.crash()
        server.start()
        with server.client() as client:
            equal(pairs(client.ok("BL.G.INFO", "g"))["Items"], items, "the file after")
