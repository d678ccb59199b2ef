"""Replicas: bit for bit the same, also with other options; windows under a moved clock; failover."""

import random
import resource

from check import add_all, equal, is_error, keys, none_denied, pairs, true
from clock import PATIENT, Clock
from files import blob, hashes
from resp import OK, Broken, Error, Status
from samples import GROWING, KINDS, add, ask, check_all, make, snapshot
from server import Replica, Server, info, wait_until


def same_on_both(client, copy, names):
    for name in names:
        equal(
            copy.ok("DEBUG", "DIGEST-VALUE", name),
            client.ok("DEBUG", "DIGEST-VALUE", name),
            "the digest of %s" % name,
        )
        equal(copy.ok("DUMP", name), client.ok("DUMP", name), "the bytes of %s" % name)


def test_full_sync_and_stream():
    """Keys of before and after the link; options and seeds that differ on the replica change nothing."""
    other = (
        "ERROR_RATE",
        "0.2",
        "INITIAL_SIZE",
        "7",
        "bf-expansion-factor",
        "0",
        "cf-initial-size",
        "64",
        "cf-bucket-size",
        "4",
        "cf-expansion-factor",
        "0",
        "cf-max-expansions",
        "1",
        "seed",
        "99",
        "max-filter-bytes",
        "4096",
    )
    with Server() as master, master.client() as client:
        client.ok("BF.RESERVE", "early", "0.01", 100)
        add_all(client, "early", keys("early", 3000))
        with Replica(master, module_args=other) as replica, replica.client() as copy:
            make(client)
            # Made by default options, which differ.
            client.ok("BF.ADD", "auto", "x")
            add_all(client, "auto", keys("auto", 3000))
            client.ok("BF.MADD", "auto2", "a", "b")
            client.ok("BF.INSERT", "auto3", "ITEMS", "a", "b")
            client.ok("CF.ADD", "auto4", "x")
            client.ok("CF.INSERT", "auto4", "ITEMS", *keys("auto4", 4000))
            client.ok("CF.ADDNX", "auto5", "x")
            client.ok("CF.INSERTNX", "auto6", "ITEMS", "a", "a", "b")
            client.ok("CF.DEL", "auto4", "x")
            client.ok("CF.COMPACT", "auto4")
            client.ok("BL.MERGE", "merged", "bloom")
            names = ["early", "merged", *KINDS, *("auto%s" % i for i in ("", 2, 3, 4, 5, 6))]
            replica.wait_caught_up()
            same_on_both(client, copy, names)
            check_all(copy, before=snapshot(client))
            none_denied(copy, "early", keys("early", 3000))
            # What fails on the master does not reach the replica.
            client.ok("BF.RESERVE", "full", "0.000001", 5, "NONSCALING")
            reply = client.call("BF.MADD", "full", *keys("full", 9))
            true(isinstance(reply[-1], Error), "BF.MADD into a full filter: %r" % reply)
            client.call("BF.INSERT", "full", "ITEMS", *keys("again", 3))
            client.ok("CF.RESERVE", "cfull", 16, "EXPANSION", 0)
            for key in keys("cfull", 100):
                client.call("CF.ADD", "cfull", key)
            client.call("CF.INSERT", "cfull", "ITEMS", *keys("cmore", 50))
            replica.wait_caught_up()
            same_on_both(client, copy, ["full", "cfull"])
            is_error(copy.call("BF.ADD", "early", "x"), "a write to a replica")
            equal(info(copy, "replication")["master_link_status"], "up")
            errors = [line for line in replica.log().splitlines() if b"== CRITICAL ==" in line]
            true(not errors, "errors in the replica's stream: %r" % errors[:2])


def test_what_a_replica_gets():
    """A command goes as it came if the replica does the same, whatever its options; what changes nothing does not go."""
    other = ("cf-bucket-size", 255, "INITIAL_SIZE", 7, "bf-expansion-factor", 0)
    with Server() as master, Replica(
        master, module_args=other
    ) as replica, master.client() as client, replica.client() as copy:

        def sent(*words):
            """The commands of the module that this one brings to the replica."""
            copy.ok("CONFIG", "RESETSTAT")
            client.call(*words)
            replica.wait_caught_up()
            names = [name[8:].upper() for name in info(copy, "commandstats")]
            return sorted(name for name in names if name.startswith(("BF.", "CF.", "BL.")))

        replica.wait_caught_up()
        for words, expected in [
            ("BF.ADD b x", ["BF.ADD", "BL.RESERVE"]),
            ("BF.ADD b y", ["BF.ADD"]),
            ("BF.ADD b y", []),
            ("BF.INSERT b CAPACITY 10 EXPANSION 2 ITEMS y z", ["BF.INSERT"]),
            ("CF.ADD c x", ["BL.CF.RESERVE", "CF.ADD"]),
            ("CF.ADD c x", ["CF.ADD"]),
            ("CF.ADDNX c x", []),
            ("CF.ADDNX c y", ["CF.ADDNX"]),
            ("CF.INSERT c CAPACITY 100 ITEMS x z", ["BL.CF.MADD"]),
            ("CF.INSERTNX c NOCREATE ITEMS x n", ["BL.CF.MADD"]),
            ("CF.INSERTNX c ITEMS x", []),
            ("BL.CF.ADD c z", ["BL.CF.ADD"]),
            ("BL.CF.MADD c z o", ["BL.CF.MADD"]),
            ("BL.C.RESERVE n 0.01 1000", ["BL.C.RESERVE"]),
            ("BL.C.ADD n x", ["BL.C.ADD"]),
            ("BL.C.ADD n x", ["BL.C.ADD"]),
            ("BL.C.MADD n x y", ["BL.C.MADD"]),
            ("BL.C.ADD nothing x", []),
            ("BL.C.DEL n x", ["BL.C.DEL"]),
            ("BL.C.MDEL n x absent", ["BL.C.MDEL"]),
            ("BL.C.DEL n absent", []),
            ("BL.G.ADD g x", ["BL.G.ADD", "BL.G.RESERVE"]),
            ("BL.G.ADD g x", ["BL.G.ADD"]),
            ("BL.G.MADD g x y", ["BL.G.MADD"]),
            ("BL.G.RESERVE h 0.01 CAPACITY 9", ["BL.G.RESERVE"]),
            ("BL.G.MDEL g x absent", ["BL.G.MDEL"]),
            ("BL.G.DEL g absent", []),
            ("BL.MADDHASH g 12345678", ["BL.MADDHASH"]),
            ("CF.DEL c x", ["CF.DEL"]),
            ("BL.CF.DEL c y", ["BL.CF.DEL"]),
            ("CF.DEL c absent", []),
            ("CF.COMPACT c", ["BL.CF.COMPACT"]),
            ("CF.COMPACT c", []),
            ("BL.W.RESERVE w 0.01 1000 1000000000 3", ["BL.W.ADVANCE", "BL.W.RESERVE"]),
            ("BL.W.ADD w x", ["BL.W.ADD"]),
            ("BL.W.MADD w x y", ["BL.W.MADD"]),
            ("BL.MADDHASH b 12345678abcdefgh", ["BL.MADDHASH"]),
            ("BL.MADDHASH n 12345678", ["BL.MADDHASH"]),
            ("BL.MADDHASH w 12345678", ["BL.MADDHASH"]),
        ]:
            equal(sent(*words.split()), expected, words)
            names = [name.decode() for name in client.ok("KEYS", "*")]
            same_on_both(client, copy, names)


def test_full_cuckoo_filters():
    """What a primary remembers of items that it refused does not make it refuse what a later primary adds."""
    with Server() as one, Replica(one) as two, one.client() as first, two.client() as second:
        for name, options in [("fixed", ("EXPANSION", 0)), ("grows", ("EXPANSION", 1))]:
            first.ok("BL.CF.RESERVE", name, 300, "MAXITERATIONS", 2000, "MAXEXPANSIONS", 3, *options)
            replies = first.ok("CF.INSERT", name, "ITEMS", *keys(name, 5000))
            true(replies.count(-1) > 3000, "%d refused" % replies.count(-1))
        two.wait_caught_up()
        same_on_both(first, second, ["fixed", "grows"])
        # The other way round: the new primary searches further than the old one would.
        second.ok("REPLICAOF", "NO", "ONE")
        first.ok("REPLICAOF", "127.0.0.1", two.port)
        wait_until(lambda: info(first, "replication").get("master_link_status") == "up", "it follows", 30)
        for name in ["fixed", "grows"]:
            for i in range(200):
                second.ok("CF.DEL", name, "%s:%d" % (name, i))
                second.ok("CF.INSERT", name, "ITEMS", *keys("more%d-" % i, 5))
        target = int(info(second, "replication")["master_repl_offset"])
        wait_until(
            lambda: int(info(first, "replication").get("slave_repl_offset", -1)) >= target, "caught up", 30
        )
        same_on_both(second, first, ["fixed", "grows"])


def test_hashes_up_to_an_error():
    """A batch of hashes that a limit ends: the replica, which has none, gets what was added and no more."""
    with Server(module_args=("max-filter-bytes", 1 << 20)) as master, Replica(
        master, module_args=("max-filter-bytes", 0)
    ) as replica, master.client() as client, replica.client() as copy:
        client.ok("BF.RESERVE", "b", "0.01", 1000)
        is_error(client.call("BL.MADDHASH", "b", random.Random(1).randbytes(8 << 20)), "more than the limit allows")
        true(client.ok("BF.CARD", "b") > 1000, "what came before the limit was added")
        replica.wait_caught_up()
        same_on_both(client, copy, ["b"])


def test_chunks_replicate():
    """SCANDUMP and LOADCHUNK, EXPORT and IMPORT: what is loaded on the master is whole on the replica."""
    with Server() as master, Replica(master) as replica, master.client() as client, replica.client() as copy:
        make(client, ["scaled", "grown", "bloom"])
        for name, family in (("scaled", "BF"), ("grown", "CF")):
            at = 0
            while True:
                at, data = client.ok(family + ".SCANDUMP", name, at)
                if at == 0:
                    break
                client.ok(family + ".LOADCHUNK", "loaded-" + name, at, data)
        at, offset = 1, 0
        while at:
            at, length, data = client.ok("BL.EXPORT", "bloom", offset, "COUNT", 1000)
            client.ok("BL.IMPORT", "imported", offset, length, data)
            offset = at
        replica.wait_caught_up()
        same_on_both(client, copy, ["loaded-scaled", "loaded-grown", "imported"])


def test_partial_load_survives_sync():
    """A full sync in the middle of a load: the replica never answers no from a half of a filter."""
    with Server() as master, master.client() as client:
        make(client, ["scaled"])
        chunks, at = [], 0
        while True:
            at, data = client.ok("BF.SCANDUMP", "scaled", at)
            if at == 0:
                break
            chunks.append((at, data))
        client.ok("BF.LOADCHUNK", "half", *chunks[0])
        with Replica(master) as replica, replica.client() as copy:
            reply = copy.call("BF.MEXISTS", "half", *keys("scaled", 100))
            true(isinstance(reply, Error) or 0 not in reply, "half a filter on a replica says no")
            for chunk in chunks[1:]:
                client.ok("BF.LOADCHUNK", "half", *chunk)
            replica.wait_caught_up()
            none_denied(client, "half", keys("scaled", 3000))
            none_denied(copy, "half", keys("scaled", 3000))


def test_window_expiry():
    """Seven days of one day each, on a master and a replica whose clocks run together; then only the master's."""
    day = 86400
    clock = Clock()
    with Server(*PATIENT, env=clock.env) as master, master.client() as client, Replica(
        master, *PATIENT, env=clock.env
    ) as replica, replica.client() as copy:
        client.ok("BL.W.RESERVE", "w", "0.0001", 1000, day, 7)
        start = int(client.ok("TIME")[0])
        clock.move(day + (day * 3 // 2 - start % day) % day)  # noon: no day ends while the test runs
        true(day <= int(client.ok("TIME")[0]) - start < 2 * day + 60, "the clock of the server moves")
        for today in range(12):
            items = keys("day%d" % today, 100)
            equal(sum(client.ok("BL.W.MADD", "w", *items)) >= 98, True, "new items")
            replica.wait_caught_up()
            for back in range(min(today, 9) + 1):
                asked = keys("day%d" % (today - back), 100)
                for side, which in ((client, "master"), (copy, "replica")):
                    found = sum(side.ok("BL.W.MEXISTS", "w", *asked))
                    if back <= 6:
                        equal(found, 100, "%s: items of %d days ago" % (which, back))
                    else:
                        true(
                            found <= 2,
                            "%s: %d of 100 items of %d days ago are still there" % (which, found, back),
                        )
            replica.wait_caught_up()
            equal(
                copy.ok("DEBUG", "DIGEST-VALUE", "w"),
                client.ok("DEBUG", "DIGEST-VALUE", "w"),
                "day %d" % today,
            )
            clock.move(day)
        # Weeks in which nobody asked.
        clock.move(30 * day)
        equal(sum(client.ok("BL.W.MEXISTS", "w", *keys("day11", 100))) <= 2, True, "items of a month ago")
        replica.wait_caught_up()
        equal(
            sum(copy.ok("BL.W.MEXISTS", "w", *keys("day11", 100))) <= 2, True, "items of a month ago, replica"
        )


def test_window_clock_back():
    """A clock that is set back denies nothing that is within its time."""
    clock = Clock()
    with Server(env=clock.env) as server, server.client() as client:
        client.ok("BL.W.RESERVE", "w", "0.0001", 1000, 60, 4)
        client.ok("BL.W.MADD", "w", *keys("a", 100))
        clock.move(-3600)
        none_denied(client, "w", keys("a", 100), "BL.W.MEXISTS")
        client.ok("BL.W.MADD", "w", *keys("b", 100))
        none_denied(client, "w", keys("b", 100), "BL.W.MEXISTS")
        clock.move(3600)
        none_denied(client, "w", keys("a", 100) + keys("b", 100), "BL.W.MEXISTS")
        client.ok("DEBUG", "RELOAD")
        none_denied(client, "w", keys("a", 100) + keys("b", 100), "BL.W.MEXISTS")


def test_window_idle_primary():
    """A replica expires items in time, even if nobody writes to the primary or asks it."""
    clock = Clock()
    with Server(*PATIENT, env=clock.env) as master, master.client() as client, Replica(
        master, *PATIENT, env=clock.env
    ) as replica, replica.client() as copy:
        client.ok("BL.W.RESERVE", "w", "0.0001", 1000, 3600, 4)
        client.ok("BL.W.MADD", "w", *keys("a", 100))
        replica.wait_caught_up()
        clock.move(2 * 3600)
        none_denied(copy, "w", keys("a", 100), "BL.W.MEXISTS")
        clock.move(3 * 3600)
        found = sum(copy.ok("BL.W.MEXISTS", "w", *keys("a", 100)))
        true(found <= 2, "%d of 100 items of five hours ago are still on the replica" % found)
        equal(sum(client.ok("BL.W.MEXISTS", "w", *keys("a", 100))) <= 2, True, "the primary")


def test_window_read_while_paused():
    """While writes are paused, as before a failover, a read may not write to replicas: Redis aborts if it does."""
    clock = Clock()
    with Server(*PATIENT, env=clock.env) as master, master.client() as client, Replica(
        master, *PATIENT, env=clock.env
    ) as replica:
        client.ok("BL.W.RESERVE", "w", "0.0001", 1000, 3600, 4)
        client.ok("BL.W.MADD", "w", *keys("a", 100))
        value = blob(hashes(keys("a", 1), int(pairs(client.ok("BL.HASHINFO", "w"))["seed"])))
        replica.wait_caught_up()
        for words in (
            ("BL.W.EXISTS", "w", "a:1"),
            ("BL.W.MEXISTS", "w", "a:1"),
            ("BL.W.INFO", "w"),
            ("BL.MEXISTSHASH", "w", value),
        ):
            client.ok("CLIENT", "PAUSE", 60000, "WRITE")
            clock.move(3600)
            try:
                client.ok(*words)
            except Broken:
                pass  # check_up tells more
            master.check_up()
            client.ok("CLIENT", "UNPAUSE")
        replica.wait_caught_up()


def test_window_replica_with_other_clock():
    """A replica whose clock is hours off keeps the bytes of its master: only the master's clock moves the window."""
    clock, ahead = Clock(), Clock()
    ahead.move(7200)
    with Server(*PATIENT, env=clock.env) as master, master.client() as client, Replica(
        master, *PATIENT, env=ahead.env
    ) as replica, replica.client() as copy:
        client.ok("BL.W.RESERVE", "w", "0.0001", 1000, 600, 6)
        for step in range(8):
            client.ok("BL.W.MADD", "w", *keys("s%d" % step, 50))
            replica.wait_caught_up()
            equal(
                copy.ok("DEBUG", "DIGEST-VALUE", "w"),
                client.ok("DEBUG", "DIGEST-VALUE", "w"),
                "step %d" % step,
            )
            for back in range(min(step, 4) + 1):
                none_denied(client, "w", keys("s%d" % (step - back), 50), "BL.W.MEXISTS")
            clock.move(600)
            ahead.move(600)


def test_window_of_writable_replica():
    """What a client adds to a replica that can be written to is there, however long the primary added nothing."""
    clock = Clock()
    options = PATIENT + ("--replica-read-only", "no")
    with Server(*PATIENT, env=clock.env) as master, master.client() as client, Replica(
        master, *options, env=clock.env
    ) as replica, replica.client() as copy:
        client.ok("BL.W.RESERVE", "w", "0.0001", 1000, 3600, 3)
        client.ok("BL.W.MADD", "w", *keys("a", 100))
        replica.wait_caught_up()
        clock.move(5 * 3600)
        copy.ok("BL.W.MADD", "w", *keys("b", 100))
        none_denied(copy, "w", keys("b", 100), "BL.W.MEXISTS")
        # What the primary adds later is there, too, and nothing expires before its time.
        client.ok("BL.W.MADD", "w", *keys("c", 100))
        replica.wait_caught_up()
        clock.move(3600)
        none_denied(copy, "w", keys("b", 100) + keys("c", 100), "BL.W.MEXISTS")


def test_replica_without_memory():
    """A replica that the system refuses memory for a filter, or for one to grow, ends: it would deny the items."""
    for words in (
        ["BF.RESERVE", "b", "0.01", 200_000_000],
        ["CF.RESERVE", "b", 200_000_000],
        ["BL.C.RESERVE", "b", "0.01", 50_000_000],
        ["BL.W.RESERVE", "b", "0.01", 50_000_000, 60, 4],
        ["BF.MADD", "grows"] + keys("more", 300),
        ["CF.INSERT", "links", "ITEMS"] + keys("k", 80),
    ):
        with Server() as master, master.client() as client, Replica(master) as replica:
            client.ok("BF.RESERVE", "grows", "0.01", 10, "EXPANSION", 1000)
            client.ok("BF.MADD", "grows", *keys("k", 9900))
            client.ok("CF.RESERVE", "links", 30, "EXPANSION", 32768)
            replica.wait_caught_up()
            with open("/proc/%d/statm" % replica.pid) as file:
                mapped = int(file.read().split()[0]) * resource.getpagesize()
            resource.prlimit(replica.pid, resource.RLIMIT_AS, (mapped + (2 << 20), resource.RLIM_INFINITY))
            replica.expected_dead = True
            client.ok(*words)
            wait_until(lambda: not replica.is_up(), "the replica ends after " + words[0])
            equal(replica.process.returncode, 1, words[0])
            true(b"the server ends" in replica.log(), replica.log_tail())


def test_replica_that_lost_a_chunk():
    """A replica that cannot go on with a filter that is loaded ends: it would deny the items."""
    for command in ("BL.IMPORT", "BL.LOADCHUNK"):
        for spoil in (["DEL", "b"], ["BF.RESERVE", "b", "0.01", 10]):
            with Server() as master, Replica(master, "--replica-read-only", "no") as replica:
                with master.client() as client, replica.client() as copy:
                    client.ok("BF.RESERVE", "a", "0.01", 1000)
                    client.ok("BF.ADD", "a", "x")
                    if command == "BL.IMPORT":
                        _, length, file = client.ok("BL.EXPORT", "a", 0)
                        chunks = [(0, length, file[:99]), (99, length, file[99:])]
                    else:
                        chunks = [client.ok("BL.SCANDUMP", "a", at) for at in (0, 1)]
                    replica.wait_caught_up()
                    if spoil[0] == "DEL":
                        client.ok(command, "b", *chunks.pop(0))
                        replica.wait_caught_up()
                    # By a client of the replica.
                    copy.ok(*spoil)
                    is_error(copy.call("BL.SCANDUMP", "none", 0), "of no filter")
                    replica.expected_dead = True
                    for chunk in chunks:
                        client.ok(command, "b", *chunk)
                    what = "%s after %s" % (command, spoil[0])
                    wait_until(lambda: not replica.is_up(), "the replica ends: " + what)
                    true(b"the server ends" in replica.log(), what + replica.log_tail())
                    none_denied(client, "b", [b"x"])


def test_failover():
    """The master is killed; the replica, promoted, has every acknowledged key and goes on."""
    with Server() as master, master.client() as client, Replica(master) as replica, replica.client() as copy:
        make(client)
        equal(client.ok("WAIT", 1, 10000), 1)
        before = snapshot(client)
        master.crash()
        equal(copy.call("REPLICAOF", "NO", "ONE"), OK)
        check_all(copy, before=before)
        for name in GROWING:
            add(copy, name, [b"later"])
            equal(ask(copy, name, [b"later"]), [1], name)
        with Replica(replica) as third, third.client() as other:
            third.wait_caught_up()
            same_on_both(copy, other, KINDS)


def test_multi_and_scripts():
    """Inside MULTI and a script, effects replicate as outside."""
    with Server() as master, Replica(master) as replica, master.client() as client, replica.client() as copy:
        client.ok("MULTI")
        for words in (
            ["BF.ADD", "m", "x"],
            ["BF.MADD", "m", "y", "z"],
            ["CF.ADD", "c", "x"],
            ["BL.W.RESERVE", "w", "0.01", 10, 60, 3],
            ["BL.W.ADD", "w", "x"],
        ):
            equal(client.ok(*words), Status("QUEUED"))
        equal(len(client.ok("EXEC")), 5)
        client.ok("EVAL", "for i = 1, 500 do redis.call('BF.ADD', KEYS[1], 'i' .. i) end return 1", 1, "s")
        replica.wait_caught_up()
        same_on_both(client, copy, ["m", "c", "w", "s"])
        none_denied(copy, "s", [b"i%d" % i for i in range(1, 501)])
