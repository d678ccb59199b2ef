"""Two clients hammer the same keys, with saves and rewrites below them."""

import threading
import time

import check
from check import equal, keys, none_denied, true
from resp import Error
from server import Replica, Server, info, wait_until


def test_two_clients():
    """A minute (5 s in the quick run) of inserts and probes by two clients; no key is ever denied."""
    seconds = 60 if check.full else 5
    with Server() as server, Replica(server) as replica:
        with server.client() as client:
            client.ok("BF.RESERVE", "b", "0.01", 1000)
            client.ok("BL.W.RESERVE", "w", "0.01", 100000, 3600, 3)
            client.ok("BL.C.RESERVE", "n", "0.01", 100000)
            client.ok("CF.RESERVE", "c", 1000, "EXPANSION", 2)
        failures, sent = [], [0, 0]
        deadline = time.monotonic() + seconds

        def hammer(number):
            try:
                with server.client() as client:
                    while time.monotonic() < deadline and not failures:
                        items = keys("c%d" % number, 100, sent[number])
                        replies = client.pipeline(
                            [
                                ("BF.MADD", "b", *items),
                                ("BL.W.MADD", "w", *items),
                                ("BL.C.MADD", "n", *items),
                                ("CF.INSERT", "c", "ITEMS", *items[:10]),
                                ("BF.MEXISTS", "b", *items),
                                ("BL.W.MEXISTS", "w", *items),
                                ("BL.C.MEXISTS", "n", *items),
                                ("CF.MEXISTS", "c", *items[:10]),
                                ("BF.INFO", "b"),
                                ("BL.C.MDEL", "n", *items[50:]),
                                ("BL.C.MEXISTS", "n", *items[:50]),
                            ]
                        )
                        for reply in replies:
                            true(not isinstance(reply, Error), "reply: %r" % reply)
                        true(set(replies[3]) == {1}, "CF.INSERT: %r" % replies[3])
                        for at in (4, 5, 6, 7, 10):
                            true(0 not in replies[at], "a key just inserted is denied: reply %d" % at)
                        sent[number] += 100
            except BaseException as failure:
                failures.append(failure)

        threads = [threading.Thread(target=hammer, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        with server.client() as client:
            saves = 0
            while saves < 2 or any(thread.is_alive() for thread in threads):
                client.ok("BGSAVE" if saves % 2 else "BGREWRITEAOF")
                wait_until(
                    lambda: info(client, "persistence")["rdb_bgsave_in_progress"] == "0"
                    and info(client, "persistence")["aof_rewrite_in_progress"] == "0",
                    "saving ends",
                    60,
                )
                saves += 1
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        true(min(sent) > 0, "sent %r, saved %d times" % (sent, saves))
        replica.wait_caught_up()
        with server.client() as client, replica.client() as copy:
            for number in range(2):
                mine = keys("c%d" % number, sent[number])
                none_denied(client, "b", mine)
                none_denied(copy, "b", mine)
                none_denied(client, "w", mine, "BL.W.MEXISTS")
            for name in ("b", "w", "n", "c"):
                equal(copy.ok("DEBUG", "DIGEST-VALUE", name), client.ok("DEBUG", "DIGEST-VALUE", name), name)
        print("        %d items by two clients in %d s, %d saves" % (sum(sent), seconds, saves))


def test_defrag_and_lazy_free():
    """Active defragmentation, where the server has it, and UNLINK of large filters under probes."""
    with Server("--lazyfree-lazy-user-del", "yes") as server, server.client() as client:
        items = keys("k", 5000)
        supported = not isinstance(client.call("CONFIG", "SET", "activedefrag", "yes"), Error)
        client.pipeline(
            [
                ("CONFIG", "SET", "active-defrag-ignore-bytes", "1"),
                ("CONFIG", "SET", "active-defrag-threshold-lower", "0"),
                ("CONFIG", "SET", "active-defrag-cycle-min", "50"),
                ("CONFIG", "SET", "active-defrag-cycle-max", "75"),
            ]
        )
        for number in range(40):
            client.ok("BF.RESERVE", "b%d" % number, "0.01", 100 + 997 * number)
            client.ok("CF.RESERVE", "c%d" % number, 100 + 997 * number)
            client.ok("BF.MADD", "b%d" % number, *items[:100])
            client.ok("CF.INSERT", "c%d" % number, "ITEMS", *items[:100])
        client.ok("BF.RESERVE", "large", "0.01", 20_000_000)
        for number in range(0, 40, 2):
            client.ok("DEL", "b%d" % number, "c%d" % number)
        client.ok("UNLINK", "large")
        deadline = time.monotonic() + (10 if check.full else 1.5)
        while time.monotonic() < deadline:
            for number in range(1, 40, 2):
                none_denied(client, "b%d" % number, items[:100])
                none_denied(client, "c%d" % number, items[:100], "CF.MEXISTS")
        wait_until(lambda: info(client, "memory").get("lazyfree_pending_objects") == "0", "freeing ends", 20)
        if not supported:
            print("        this server has no active defragmentation: only the freeing was tested")
