"""Saving and loading: RDB, AOF with and without an RDB preamble, DUMP and RESTORE, COPY; damaged bytes."""

import os
import random

import check
from check import add_all, equal, is_error, keys, none_denied, true
from files import seed_of, write
from resp import OK, Broken, Error
from samples import GROWING, KINDS, add, ask, check_all, make, members, snapshot
from server import NotStarted, Server, info, wait_until


def test_rdb():
    with Server() as server:
        with server.client() as client:
            make(client)
            before = snapshot(client)
            equal(client.call("SAVE"), OK)
        server.crash()
        server.start()
        with server.client() as client:
            check_all(client, before=before)
            # Not only readable: they go on as before.
            for name in GROWING:
                add(client, name, [b"later"])
                equal(ask(client, name, [b"later"]), [1], name)
            client.ok("BGSAVE")
            wait_until(
                lambda: info(client, "persistence")["rdb_bgsave_in_progress"] == "0", "BGSAVE ends", 30
            )
            equal(info(client, "persistence")["rdb_last_bgsave_status"], "ok")


def test_debug_reload():
    with Server() as server, server.client() as client:
        make(client)
        before = snapshot(client)
        equal(client.call("DEBUG", "RELOAD"), OK)
        check_all(client, before=before)
        for compressed in ("yes", "no"):
            client.ok("CONFIG", "SET", "rdbcompression", compressed)
            equal(client.call("DEBUG", "RELOAD"), OK)
            check_all(client, before=before)


def rewrite_aof(client):
    client.ok("BGREWRITEAOF")
    wait_until(
        lambda: info(client, "persistence")["aof_rewrite_in_progress"] == "0"
        and info(client, "persistence")["aof_rewrite_scheduled"] == "0",
        "the rewrite ends",
        30,
    )


def test_aof():
    """The log of commands alone, then rewritten, each after kill -9."""
    for preamble in ("yes", "no"):
        with Server(
            "--appendonly",
            "yes",
            "--appendfsync",
            "always",
            "--aof-use-rdb-preamble",
            preamble,
            "--auto-aof-rewrite-percentage",
            "0",
        ) as server:
            with server.client() as client:
                make(client)
                before = snapshot(client)
            server.crash()
            server.start()
            with server.client() as client:
                check_all(client, before=before)
                rewrite_aof(client)
                equal(info(client, "persistence")["aof_last_bgrewrite_status"], "ok")
                for name in GROWING:
                    add(client, name, [b"later"])
                before = snapshot(client)
            server.crash()
            server.start()
            with server.client() as client:
                check_all(client, before=before)
                for name in GROWING:
                    equal(ask(client, name, [b"later"]), [1], "preamble %s, %s" % (preamble, name))
                equal(client.call("DEBUG", "LOADAOF"), OK)
                check_all(client, before=before)


def test_dump_restore():
    with Server() as server, Server() as other, server.client() as client, other.client() as target:
        make(client)
        before = snapshot(client)
        for name in KINDS:
            data = client.ok("DUMP", name)
            equal(target.call("RESTORE", name, 0, data), OK)
            is_error(target.call("RESTORE", name, 0, data), "RESTORE over a key")
            equal(target.call("RESTORE", name, 0, data, "REPLACE"), OK)
            equal(target.ok("DUMP", name), data, "DUMP of what was restored")
        check_all(target, before=before)


def test_copy():
    with Server() as server, server.client() as client:
        make(client)
        for name in KINDS:
            before = client.ok("DEBUG", "DIGEST-VALUE", name)
            equal(client.call("COPY", name, "twin"), 1, "COPY of " + name)
            equal(client.ok("DEBUG", "DIGEST-VALUE", "twin"), before, "the twin of " + name)
            if name in GROWING:
                add(client, name, [b"only here"])
                equal(
                    client.ok("DEBUG", "DIGEST-VALUE", "twin"), before, "the twin, after an insert into " + name
                )
                true(
                    client.ok("DEBUG", "DIGEST-VALUE", name) != before, "the digest of %s after an insert" % name
                )
            equal(
                sum(ask(client, name, members(name), key="twin")), len(members(name)), "members of the twin"
            )
            client.ok("DEL", name)
            equal(
                sum(ask(client, name, members(name), key="twin")),
                len(members(name)),
                "members of the twin, alone",
            )
            equal(client.call("RENAME", "twin", "other"), OK)
            equal(client.call("UNLINK", "other"), 1)


def spoil(generator, data):
    """Cut, flipped, overwritten or exchanged at random places."""
    data = bytearray(data)
    how = generator.randrange(4)
    if how == 0:
        return bytes(data[: generator.randrange(len(data))])
    for _ in range(generator.choice((1, 1, 2, 8))):
        at = generator.randrange(len(data))
        if how == 1:
            data[at] ^= 1 << generator.randrange(8)
        elif how == 2:
            data[at] = generator.choice((0, 1, 0x7F, 0x80, 0xFF))
        else:
            size = generator.randrange(1, 9)
            data[at : at + size] = generator.randbytes(size)
    return bytes(data)


def test_damaged_dump():
    """RESTORE of spoilt bytes: refused or harmless; the server stays up; no member is denied."""
    generator = random.Random(check.seed)
    with Server() as server, server.client() as client:
        make(client)
        # Without the checksum of DUMP, so that the module sees the damage.
        equal(client.call("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1), OK)
        accepted = refused = 0
        for name in KINDS:
            data = client.ok("DUMP", name)
            for round in range(3000 if check.full else 300):
                bad = data[:1] + spoil(generator, data[1:-10]) + data[-10:]
                what = "seed %d, %s, round %d" % (check.seed, name, round)
                try:
                    reply = client.call("RESTORE", "bad", 0, bad)
                except (OSError, Broken):
                    raise AssertionError("%s: the server is gone:\n%s" % (what, server.log_tail()))
                if isinstance(reply, Error):
                    refused += 1
                    equal(client.ok("EXISTS", "bad"), 0, what)
                    continue
                accepted += 1
                # What it accepts it must be able to use: no denial of a member, no crash. Another type or name
                # of the value, or an unused byte, may have been hit.
                if client.ok("TYPE", "bad") == client.ok("TYPE", name):
                    reply = [
                        client.call(KINDS[name][2], "bad", *part) for part in check.batches(members(name))
                    ]
                    for answers in reply:
                        true(isinstance(answers, Error) or 0 not in answers, what + ": a member is denied")
                    client.call("DEBUG", "DIGEST-VALUE", "bad")
                    client.call("MEMORY", "USAGE", "bad")
                client.ok("DEL", "bad")
        true(
            refused > accepted,
            "%d refused, %d accepted: spoilt bytes are hardly noticed" % (refused, accepted),
        )
        check_all(client)


def test_damaged_rdb():
    """A server does not start from a spoilt file, or starts with nothing denied. It never crashes."""
    generator = random.Random(check.seed)
    with Server("--rdbchecksum", "no") as server:
        with server.client() as client:
            make(client)
            client.ok("SAVE")
        server.shutdown()
        path = server.path("dump.rdb")
        with open(path, "rb") as file:
            good = file.read()
    started = refused = 0
    for round in range(200 if check.full else 25):
        with Server("--rdbchecksum", "no", "--sanitize-dump-payload", "no", start=False) as server:
            what = "seed %d, round %d" % (check.seed, round)
            with open(server.path("dump.rdb"), "wb") as file:
                file.write(spoil(generator, good))
            try:
                server.start()
            except NotStarted as failure:
                refused += 1
                # 1, or what its check of the file ends with; below 0 is a signal.
                true(
                    server.process.returncode in (0, 1),
                    "%s: the server ended with %d:\n%s" % (what, server.process.returncode, failure),
                )
                server.expected_dead = True
                continue
            started += 1
            with server.client() as client:
                for name in KINDS:
                    if client.ok("TYPE", name) != "bloomline":
                        continue
                    for part in check.batches(members(name)):
                        reply = client.call(KINDS[name][2], name, *part)
                        true(
                            isinstance(reply, Error) or 0 not in reply,
                            "%s: a member of %s is denied" % (what, name),
                        )
    true(refused > 0, "%d started, none was refused" % started)


def test_truncated_aof():
    """A log cut in the middle of a command loads up to there (aof-load-truncated), and denies nothing of that."""
    with Server("--appendonly", "yes", "--appendfsync", "always") as server:
        with server.client() as client:
            client.ok("BF.RESERVE", "b", "0.01", 100)
            add_all(client, "b", keys("k", 2000), size=20)
        server.crash()
        folder = server.path("appendonlydir")
        path = max(
            (os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".incr.aof")),
            key=os.path.getsize,
        )
        os.truncate(path, os.path.getsize(path) - 37)
        server.start()
        with server.client() as client:
            none_denied(client, "b", keys("k", 1980))


def test_damaged_aof():
    """A log in which the bytes of a filter are damaged does not load: the server would deny the items."""
    items = keys("k", 2000)
    file = write(items, 40, seed=11)
    chunked = ("--aof-use-rdb-preamble", "no", "--auto-aof-rewrite-percentage", "0")
    for is_rewritten in (False, True):
        with Server("--appendonly", "yes", "--appendfsync", "always", *chunked) as server:
            with server.client() as client:
                client.ok("BL.IMPORT", "b", 0, len(file), file)
                if is_rewritten:
                    rewrite_aof(client)
            server.crash()
            server.start()
            with server.client() as client:
                none_denied(client, "b", items)
            server.crash()
            paths = [server.path("appendonlydir/" + name) for name in os.listdir(server.path("appendonlydir"))]
            path = max(paths, key=os.path.getsize)
            with open(path, "rb") as log:
                intact = log.read()
            # In the lines, in the footer; of an image, also in its header.
            spots = [file[:64], file[-64:-8]] + [b"BLIMAGE\n"] * is_rewritten
            for spot in spots:
                at = intact.index(spot) + len(spot) // 2
                with open(path, "wb") as log:
                    log.write(intact[:at] + bytes([intact[at] ^ 1]) + intact[at + 1 :])
                try:
                    server.start()
                except NotStarted as failure:
                    true("ended with 1:" in str(failure) and "the server ends" in str(failure), failure)
                else:
                    raise AssertionError("the server is up without the items, byte %d" % at)
            server.expected_dead = True


def test_save_while_writing():
    """A BGSAVE under writes holds what was in when it began."""
    with Server() as server:
        with server.client() as client:
            client.ok("BF.RESERVE", "b", "0.01", 200000)
            first = keys("k", 50000)
            add_all(client, "b", first)
            client.ok("BGSAVE")
            add_all(client, "b", keys("during", 50000))
            wait_until(
                lambda: info(client, "persistence")["rdb_bgsave_in_progress"] == "0", "BGSAVE ends", 60
            )
        server.crash()
        server.start()
        with server.client() as client:
            none_denied(client, "b", first)
            equal(client.call("DEBUG", "RELOAD"), OK)
            none_denied(client, "b", first)


def test_large_filter():
    """More than a chunk of 16 MiB; in the full run more than the 512 MB that a bulk string may have."""
    capacity = 600_000_000 if check.full else 20_000_000
    with Server("--aof-use-rdb-preamble", "no") as server, server.client(timeout=600) as client:
        client.ok("BF.RESERVE", "b", "0.01", capacity, "NONSCALING")
        client.ok("BL.C.RESERVE", "n", "0.01", capacity // 10)
        seeds = {name: seed_of(client, name) for name in ("b", "n")}
        generator = random.Random(check.seed)
        values = generator.randbytes(8 * 200_000)
        client.ok("BL.MADDHASH", "b", values)
        client.ok("BL.MADDHASH", "n", values)
        absent = generator.randbytes(8 * 200_000)

        def state(name):
            equal(client.ok("BL.MEXISTSHASH", name, values), b"\xff" * 25_000, "members of " + name)
            return client.ok("DEBUG", "DIGEST-VALUE", name), client.ok("BL.MEXISTSHASH", name, absent)

        before = state("b"), state("n")
        equal(client.call("DEBUG", "RELOAD"), OK)
        equal((state("b"), state("n")), before, "after DEBUG RELOAD")
        # By chunks to another key, and by the rewritten log.
        chunks = at = 0
        while True:
            at, data = client.ok("BF.SCANDUMP", "b", at)
            if at == 0:
                break
            true(len(data) <= 16 << 20, "a chunk of %d bytes" % len(data))
            client.ok("BF.LOADCHUNK", "copy", at, data)
            chunks += 1
        true(chunks > 2, "%d chunks" % chunks)
        equal(state("copy"), before[0], "the copy by chunks")
        client.ok("DEL", "copy")
        client.ok("CONFIG", "SET", "appendonly", "yes")
        wait_until(lambda: info(client, "persistence")["aof_rewrite_in_progress"] == "0", "the log is written", 300)
        equal(info(client, "persistence")["aof_last_bgrewrite_status"], "ok")
        equal(client.call("DEBUG", "LOADAOF"), OK)
        equal((state("b"), state("n")), before, "after DEBUG LOADAOF")
        equal({name: seed_of(client, name) for name in ("b", "n")}, seeds)
