"""Growth: it never ends, its memory against that of RedisBloom, and what its errors say."""

import math

from check import SEEDED, add_all, batches, equal, keys, none_denied, pairs, rate, true
from resp import Error
from server import Server

GROWS = "ERR problem inserting into filter"


def theirs(error, capacity, expansion, items):
    """What BF.INFO of RedisBloom has as Size with so many items: each link at half the rate of the one before."""
    size, room, link = 32, 0, 0
    while room < max(items, 1):
        error /= 2
        entries = capacity * expansion**link
        size += 64 + 8 * math.ceil(entries * math.log(1 / error) / math.log(2) ** 2 / 64)
        room, link = room + entries, link + 1
    return size


def test_expansion_1():
    """20,000 items in a filter for 100: no error, and less memory than RedisBloom's .39 MB."""
    with Server(module_args=SEEDED) as server, server.client() as client:
        client.ok("BF.RESERVE", "b", "0.01", 100, "EXPANSION", 1)
        items = keys("k", 20_000)
        new = add_all(client, "b", items)
        true(new > 19_700, "%d of 20000 items are new" % new)
        none_denied(client, "b", items)
        told = pairs(client.ok("BF.INFO", "b"))
        equal((told["Number of items inserted"], told["Expansion rate"]), (new, 1))
        true(told["Number of filters"] <= 20, "%d links" % told["Number of filters"])
        true(told["Size"] < 100_000, "%d bytes" % told["Size"])
        true(client.ok("MEMORY", "USAGE", "b") < 120_000, "MEMORY USAGE")
        measured = rate(client, "b", keys("absent", 50_000))
        true(measured <= 0.01 * 1.1, "rate %g" % measured)


def test_memory_of_chains():
    """At each growth: at most 1.5 times the size of RedisBloom's filter, and for small ones some bytes."""
    with Server(module_args=SEEDED) as server, server.client() as client:
        for expansion in (1, 2, 4):
            for error in (0.25, 0.01, 1e-4, 1e-9):
                for capacity in (1, 100, 2000):
                    key = "b:%d:%g:%d" % (expansion, error, capacity)
                    client.ok("BF.RESERVE", key, "%g" % error, capacity, "EXPANSION", expansion)
                    links = 0
                    for batch in batches(keys(key, min(300 * capacity, 20_000)), max(capacity // 4, 1)):
                        client.ok("BF.MADD", key, *batch)
                        told = pairs(client.ok("BF.INFO", key))
                        if told["Number of filters"] == links:
                            continue
                        links = told["Number of filters"]
                        most = 1.5 * theirs(error, capacity, expansion, told["Number of items inserted"])
                        most += 0 if capacity >= 1000 else 900
                        what = "%s: %d bytes at %d links" % (key, told["Size"], links)
                        true(told["Size"] <= most, what)
                        # What the allocator adds: up to a fourth.
                        usage = client.ok("MEMORY", "USAGE", key)
                        true(usage <= 1.25 * (told["Size"] + 64 * links) + 250, "%s, %d of memory" % (what, usage))
                    client.ok("DEL", key)


def test_low_rates():
    """From 1 % to 1e-9, growing or not, from 10,000 items on: at most 1.05 of RedisBloom's size."""
    layouts = set()
    with Server(module_args=SEEDED) as server, server.client() as client:
        for step in range(20, 91):
            error = 10 ** (-step / 10)
            for options, their_error in ((("NONSCALING",), error), ((), error / 2)):
                for capacity in (10_000, 300_000):
                    client.ok("BL.RESERVE", "b", repr(error), capacity, *options)
                    told = pairs(client.ok("BL.INFO", "b"))
                    layouts.add(told["Layout"])
                    most = 1.05 * (96 + capacity * math.log(1 / their_error) / math.log(2) ** 2 / 8)
                    true(told["Size"] <= most, "%g %r %d: %d bytes" % (error, options, capacity, told["Size"]))
                    client.ok("DEL", "b")
    equal(layouts, {b"lines", b"classic", b"classic2"})


def test_errors():
    """A full filter that does not grow, and refused memory, have different errors; the second names the limit."""
    with Server(module_args=("max-filter-bytes", 100_000)) as server, server.client() as client:
        client.ok("BF.RESERVE", "full", "0.01", 10, "NONSCALING")
        reply = client.call("BF.MADD", "full", *keys("k", 20))
        equal(reply[-1], Error("ERR non scaling filter is full"))
        client.ok("BF.RESERVE", "grows", "0.01", 1000)
        done, reply = 0, []
        for batch in batches(keys("k", 200_000)):
            reply = client.call("BF.MADD", "grows", *batch)
            done += sum(one in (0, 1) for one in reply if not isinstance(one, Error))
            if isinstance(reply[-1], Error):
                break
        for error in (
            reply[-1],
            client.call("BF.ADD", "grows", "another"),
            client.call("BL.MADDHASH", "grows", b"another!"),
        ):
            true(isinstance(error, Error), "beyond max-filter-bytes: %r" % error)
            true(error.startswith(GROWS) and "max-filter-bytes" in error, "the text: %s" % error)
        true(done > 20_000, "%d items below the limit" % done)
        none_denied(client, "grows", keys("k", done))
