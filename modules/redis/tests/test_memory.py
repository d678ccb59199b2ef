"""Memory: the limit of the server and of a key, absurd sizes, large items, what MEMORY USAGE says, what loading takes,
rates per byte."""

import random
import resource

import check
from check import SEEDED, add_all, equal, is_error, keys, none_denied, pairs, rate, true
from preload import preloaded
from resp import OK, Error
from samples import KINDS, check_all, make, members, snapshot
from server import Replica, Server, info, wait_until


def test_maxmemory():
    """Without memory, a write is an error; nothing is half done; reads go on."""
    with Server("--maxmemory-policy", "noeviction") as server, server.client() as client:
        make(client)
        before = snapshot(client)
        client.ok("CONFIG", "SET", "maxmemory", "1mb")
        for words in (
            ["BF.ADD", "bloom", "x"],
            ["BF.RESERVE", "new", "0.01", "1000"],
            ["BF.MADD", "bloom", "x"],
            ["BF.INSERT", "new", "ITEMS", "x"],
            ["CF.ADD", "cuckoo", "x"],
            ["CF.RESERVE", "new", "1000"],
            ["CF.INSERT", "cuckoo", "ITEMS", "x"],
            ["CF.ADDNX", "cuckoo", "x"],
            ["BL.C.ADD", "counting", "x"],
            ["BL.G.ADD", "bounded", "x"],
            ["BL.G.ADD", "new", "x"],
            ["BL.W.ADD", "window", "x"],
            ["BL.MADDHASH", "bloom", b"12345678"],
            ["BL.C.RESERVE", "new", "0.01", "1000"],
            ["BL.W.RESERVE", "new", "0.01", "1000", "60", "3"],
            ["BL.G.RESERVE", "new", "0.01"],
            ["BL.MERGE", "new", "bloom"],
            ["BL.IMPORT", "new", "0", "128", "x"],
            ["BF.LOADCHUNK", "new", "1", "x"],
        ):
            reply = client.call(*words)
            true(
                isinstance(reply, Error) and reply.startswith("OOM"),
                "%s without memory: %r" % (words[0], reply),
            )
        equal(client.call("CF.DEL", "cuckoo", members("cuckoo")[0]), 1, "removing frees; it is allowed")
        equal(client.ok("EXISTS", "new"), 0)
        client.ok("CONFIG", "SET", "maxmemory", "0")
        client.ok("CF.ADD", "cuckoo", members("cuckoo")[0])
        check_all(
            client,
            before={name: before[name] for name in before if name != "cuckoo"},
            names=[name for name in KINDS if name != "cuckoo"],
        )
        none_denied(client, "cuckoo", members("cuckoo"), "CF.MEXISTS")


def test_eviction():
    """Filters count as memory: with allkeys-lru they are evicted, and the server stays near its limit."""
    with Server(
        "--maxmemory", "40mb", "--maxmemory-policy", "allkeys-lru"
    ) as server, server.client() as client:
        for number in range(100):
            client.ok("BF.RESERVE", "b%d" % number, "0.01", 1_000_000)
            client.ok("BF.MADD", "b%d" % number, "a", "b")
        told = info(client)
        true(int(told["evicted_keys"]) > 30, "%s keys evicted" % told["evicted_keys"])
        true(int(told["used_memory"]) < 60 << 20, "used_memory %s" % told["used_memory"])


def test_absurd_sizes():
    """Too much for the machine or for max-filter-bytes: an error at once, and nothing is made."""
    with Server() as server, server.client() as client:
        for words in (
            ["BF.RESERVE", "b", "1e-300", "1073741824"],
            ["BF.RESERVE", "b", "0.000000001", "1073741824", "EXPANSION", "32768"],
            ["BL.C.RESERVE", "b", "0.0001", "100000000000"],
            ["BL.W.RESERVE", "b", "0.0001", "100000000", "1", "100000000"],
            ["BL.W.RESERVE", "b", "0.01", "1000", "1", "4294967295"],
            ["BF.RESERVE", "b", "0.01", "18446744073709551615"],
            ["BL.IMPORT", "b", "0", "9223372036854775807", "x"],
            ["BL.IMPORT", "b", "0", "17592186044416", b"x" * 64],
        ):
            reply = client.call(*words)
            if (
                reply == OK
            ):  # a rate below what the library can do is made as good as it can, within the limits
                true(
                    client.ok("MEMORY", "USAGE", "b") <= 8 << 30,
                    "%r made %s bytes" % (words, client.ok("MEMORY", "USAGE", "b")),
                )
                client.ok("DEL", "b")
            else:
                is_error(reply, repr(words))
            equal(client.ok("EXISTS", "b"), 0, repr(words))
            true(int(info(client, "memory")["used_memory"]) < 64 << 20, "memory after %r" % words)
    with Server(module_args=("max-filter-bytes", 1 << 20)) as server, server.client() as client:
        for words in (
            ["BF.RESERVE", "b", "0.01", "10000000"],
            ["CF.RESERVE", "b", "10000000"],
            ["BL.C.RESERVE", "b", "0.01", "1000000"],
            ["BL.W.RESERVE", "b", "0.01", "1000000", "60", "3"],
            ["BF.INSERT", "b", "CAPACITY", "10000000", "ITEMS", "x"],
        ):
            is_error(client.call(*words), repr(words))
            equal(client.ok("EXISTS", "b"), 0, repr(words))
        # One that grows meets the limit in the middle of a batch: nothing that was reported as done is lost.
        done = []
        for batch in check.batches(keys("k", 2_000_000), 5000):
            reply = client.call("BF.MADD", "grows", *batch)
            if isinstance(reply, Error) or any(isinstance(one, Error) for one in reply):
                done += [] if isinstance(reply, Error) else batch[: len(reply) - 1]
                break
            done += batch
        else:
            raise AssertionError("a filter grew beyond max-filter-bytes")
        true(len(done) > 100_000, "only %d keys within 1 MB" % len(done))
        none_denied(client, "grows", done)
        true(client.ok("MEMORY", "USAGE", "grows") < 1.1 * (1 << 20), "the size of a filter at its limit")


def test_large_items():
    """Items of 0 bytes and of 64 MB (8 MB in the quick run) are items as others."""
    size = (64 if check.full else 8) << 20
    with Server() as server, server.client() as client:
        large = [b"a" * size, b"a" * (size - 1) + b"b", b""]
        for add_one, ask in (("BF.ADD", "BF.EXISTS"), ("CF.ADD", "CF.EXISTS")):
            for item in large:
                equal(client.call(ask, ask, item), 0, "%s of %d bytes" % (ask, len(item)))
                equal(client.call(add_one, ask, item), 1, "%s of %d bytes" % (add_one, len(item)))
                equal(client.call(ask, ask, item), 1, "%s of %d bytes" % (ask, len(item)))
        equal(client.ok("BF.MEXISTS", "BF.EXISTS", *large), [1, 1, 1])
        true(client.ok("MEMORY", "USAGE", "BF.EXISTS") < 1 << 16, "items are not kept")


def test_memory_usage():
    """MEMORY USAGE is what the server's memory grew by; Size is what the filter asked for, of which that follows."""
    # Valkey would free in the background.
    with Server(
        "--activerehashing", "no", "--lazyfree-lazy-user-del", "no"
    ) as server, server.client() as client:
        for name, words in (
            ("b", ("BF.RESERVE", "b", "0.01", 4_000_000)),
            ("c", ("CF.RESERVE", "c", 4_000_000)),
            ("n", ("BL.C.RESERVE", "n", "0.01", 1_000_000)),
            ("w", ("BL.W.RESERVE", "w", "0.01", 1_000_000, 60, 4)),
        ):
            before = int(info(client, "memory")["used_memory"])
            client.ok(*words)
            grown = int(info(client, "memory")["used_memory"]) - before
            told = client.ok("MEMORY", "USAGE", name)
            # The server allocates a few bytes for the key and the command, too.
            true(
                0.99 * grown - 8192 < told < 1.01 * grown,
                "%s: MEMORY USAGE says %d, the server grew by %d" % (name, told, grown),
            )
            client.ok("DEL", name)
        # After the first, the server has all that it keeps of a client and of slow commands.
        for name, words in (("-", ()), ("g", ("CAPACITY", 1_000_000)), ("u", ())):
            before = int(info(client, "memory")["used_memory"])
            client.ok("BL.G.RESERVE", name, "0.01", *words)
            seen = [before, 0]
            for count in (200_000, -150_000):
                items = keys("g", abs(count))
                add_all(client, name, items, "BL.G.MADD" if count > 0 else "BL.G.MDEL")
                grown = int(info(client, "memory")["used_memory"]) - before
                told = client.ok("MEMORY", "USAGE", name)
                true(
                    name == "-" or 0.99 * grown - 24_000 < told < 1.01 * grown,
                    "%s: MEMORY USAGE says %d, the server grew by %d" % (name, told, grown),
                )
                seen.append(told)
            true(seen[3] < 0.6 * seen[2], "after removing 3 of 4: %r" % seen)
            client.ok("DEL", name)
        client.ok("BF.RESERVE", "b", "0.01", 1000)
        add_all(client, "b", keys("k", 100_000))
        told, size = client.ok("MEMORY", "USAGE", "b"), pairs(client.ok("BF.INFO", "b"))["Size"]
        # jemalloc rounds large blocks up, by a fourth at most.
        true(size <= told < 1.25 * size + 1000, "MEMORY USAGE %d, BF.INFO SIZE %d" % (told, size))
        # All is given back.
        client.ok("FLUSHALL", "SYNC")
        before = int(info(client, "memory")["used_memory"])
        for _ in range(20):
            make(client, [name for name in KINDS])
            client.ok("COPY", "scaled", "twin")
            client.ok("FLUSHALL", "SYNC")
        grown = int(info(client, "memory")["used_memory"]) - before
        true(grown < 1 << 19, "%d bytes are lost after making and deleting" % grown)


def sizes(client, key, kind):
    """MEMORY USAGE without what depends on the length of the name, and Size."""
    words = {"cuckoo": "CF.INFO", "grown": "CF.INFO", "counting": "BL.C.INFO", "window": "BL.W.INFO"}
    words.update(bounded="BL.G.INFO", unbounded="BL.G.INFO")
    # A growing filter that has changed has room in its lines that a copy has not, until it is dumped.
    client.ok("BL.SCANDUMP", key, 0)
    told = pairs(client.ok(words.get(kind, "BF.INFO"), key))
    return client.ok("MEMORY", "USAGE", key), told["Size"]


def has_jemalloc(client):
    """Whether the server's allocator gives the same for the same, and returns what is free to the system."""
    return info(client, "memory")["mem_allocator"].startswith("jemalloc")


def equal_sizes(client, got, expected, what):
    """Size to the byte; MEMORY USAGE but for how the server stores the name of the key, and what libc gives more."""
    slack = 16 if has_jemalloc(client) else 16 + expected[0] // 100
    true(abs(got[0] - expected[0]) <= slack and got[1] == expected[1], "%s: %r, not %r" % (what, got, expected))


def test_sizes_of_copies():
    """A filter, its copies and its replica say the same sizes, however they came to be."""
    with Server() as server, server.client() as client, Replica(server) as replica:
        make(client)
        client.ok("BF.RESERVE", "chain", "0.01", 10)
        add_all(client, "chain", keys("c", 20_000))
        names = {**{name: name for name in KINDS}, "chain": "scaled"}
        before = {name: sizes(client, name, kind) for name, kind in names.items()}
        total = int(info(client, "modules")["bloomline_memory_bytes"])
        for name, kind in names.items():
            # Names of the same length, which counts.
            copied, restored, loaded = (digit + name[1:] for digit in "123")
            told = [int(info(client, "modules")["bloomline_memory_bytes"])]
            client.ok("COPY", name, copied)
            told.append(int(info(client, "modules")["bloomline_memory_bytes"]))
            client.ok("RESTORE", restored, 0, client.ok("DUMP", name))
            told.append(int(info(client, "modules")["bloomline_memory_bytes"]))
            at = 0
            while True:
                following, chunk = client.ok("BL.SCANDUMP", name, at)
                if following == 0:
                    break
                client.ok("BL.LOADCHUNK", loaded, following, chunk)
                at = following
            told.append(int(info(client, "modules")["bloomline_memory_bytes"]))
            grown = [now - before for before, now in zip(told, told[1:])]
            slack = 0 if has_jemalloc(client) else grown[0] // 100
            true(max(grown) - min(grown) <= slack, "what INFO says of the copies of %s: %r" % (name, grown))
            for copy in (copied, restored, loaded):
                equal_sizes(client, sizes(client, copy, kind), before[name], "%s of %s" % (copy, name))
                client.ok("DEL", copy)
        replica.wait_caught_up()
        with replica.client() as copy:
            for name, kind in names.items():
                equal_sizes(copy, sizes(copy, name, kind), before[name], "%s on the replica" % name)
        equal(client.call("DEBUG", "RELOAD"), OK)
        for name, kind in names.items():
            equal_sizes(client, sizes(client, name, kind), before[name], "%s after a reload" % name)
        # Valkey 9 frees the old keys in the background.
        slack = 0 if has_jemalloc(client) else total // 100
        wait_until(
            lambda: abs(int(info(client, "modules")["bloomline_memory_bytes"]) - total) <= slack,
            "INFO says of all what it said",
            10,
        )


def peak(server):
    """The most memory that the process had since `forget_peak`."""
    with open("/proc/%d/status" % server.pid) as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))


def forget_peak(server):
    with open("/proc/%d/clear_refs" % server.pid, "w") as file:
        file.write("5")


def test_peaks():
    """Loading, importing and merging take hardly more memory than the filters that come of it."""
    capacity = 200_000_000 if check.full else 50_000_000
    with Server("--rdbcompression", "no", module_args=SEEDED) as server, server.client(timeout=300) as client:

        def taken(words, work):
            """How much more memory the process had than before, as parts of the filter's size."""
            forget_peak(server)
            before = peak(server)
            work()
            part = (peak(server) - before) / size
            true(part < words, "%s: %.2f times the filter more than before" % (work.__name__, part))

        for name in ("one", "two"):
            client.ok("BL.RESERVE", name, "0.01", capacity, "NONSCALING")
            # Every page is touched.
            blob = random.Random(name).randbytes(8 << 17)
            client.ok("BL.MADDHASH", name, blob)
        size = pairs(client.ok("BF.INFO", "one"))["Size"]
        true(size > 50 << 20, "a filter of %d bytes" % size)

        def merge():
            equal(client.ok("BL.MERGE", "two", "one"), OK)

        def reload():
            equal(client.call("DEBUG", "RELOAD"), OK)

        def scan_and_load():
            at = 0
            while True:
                following, chunk = client.ok("BL.SCANDUMP", "two", at)
                if following == 0:
                    return
                client.ok("BL.LOADCHUNK", "copy", following, chunk)
                at = following

        def export_and_import():
            at = 0
            while True:
                following, length, chunk = client.ok("BL.EXPORT", "two", at, "COUNT", 3 << 20)
                client.ok("BL.IMPORT", "copy", at, length, chunk)
                if following == 0:
                    return
                at = following

        # 16 MiB are in the buffers of a connection, and in those of the file. libc keeps more of what is free.
        some = (40 if has_jemalloc(client) else 64) / (size >> 20)
        taken(some, merge)
        client.ok("DEL", "one")
        before = client.ok("DEBUG", "DIGEST-VALUE", "two")
        taken(1 + some, scan_and_load)
        equal(client.ok("DEBUG", "DIGEST-VALUE", "copy"), before)
        client.ok("DEL", "copy")
        client.ok("MEMORY", "PURGE")
        taken(1 + some, export_and_import)
        client.ok("DEL", "copy")
        client.ok("MEMORY", "PURGE")
        # The old keys are freed first.
        taken(some, reload)
        equal(client.ok("DEBUG", "DIGEST-VALUE", "two"), before)


def test_maxmemory_and_known_sizes():
    """What cannot fit under maxmemory is an error before it is allocated; what fits is made."""
    too_large = [
        ["BF.RESERVE", "b", "0.01", 100_000_000],
        ["BF.INSERT", "b", "CAPACITY", 100_000_000, "ITEMS", "x"],
        ["CF.RESERVE", "b", 100_000_000],
        ["BL.C.RESERVE", "b", "0.01", 20_000_000],
        ["BL.W.RESERVE", "b", "0.01", 20_000_000, 60, 4],
        ["BL.IMPORT", "b", 0, 100 << 20, "x"],
    ]
    for policy in ("noeviction", "allkeys-lru"):
        with Server("--maxmemory", "64mb", "--maxmemory-policy", policy) as server, server.client() as client:
            client.ok("SET", "other", "x")
            for words in too_large:
                is_error(client.call(*words), repr(words))
                equal(client.ok("EXISTS", "b"), 0, repr(words))
            equal(client.ok("EXISTS", "other"), 1, "another key is evicted for what never fits")
            # 42 MB with the growth, which the first link leaves no room for.
            client.ok("BL.RESERVE", "b", "0.01", 30_000_000, "SEED", 1)
            if policy == "noeviction":
                is_error(client.call("BF.RESERVE", "c", "0.01", 30_000_000), "a second one")
            add = [client.call("BL.MADDHASH", "b", random.Random(i).randbytes(8 << 19)) for i in range(60)]
            errors = [reply for reply in add if isinstance(reply, Error)]
            true(errors, "grown beyond maxmemory")
            used = int(info(client, "memory")["used_memory"])
            true(used < 70 << 20, "used_memory %d" % used)


def test_no_memory_for_a_filter():
    """Where the system has no memory for a filter, the server says so and goes on."""
    with Server(module_args=("max-filter-bytes", 0)) as server, server.client() as client:
        client.ok("BL.RESERVE", "small", "0.01", 10_000_000, "SEED", 1)
        client.ok("BF.ADD", "small", "x")
        with open("/proc/%d/statm" % server.pid) as file:
            mapped = int(file.read().split()[0]) * resource.getpagesize()
        resource.prlimit(server.pid, resource.RLIMIT_AS, (mapped + (96 << 20), resource.RLIM_INFINITY))
        for words in (
            ["BF.RESERVE", "b", "0.01", 1_000_000_000],
            ["BL.RESERVE", "b", "0.0001", 1 << 40],
            ["CF.RESERVE", "b", 1_000_000_000],
            ["BL.C.RESERVE", "b", "0.01", 100_000_000],
            ["BL.W.RESERVE", "b", "0.01", 100_000_000, 60, 4],
            ["BF.INSERT", "b", "CAPACITY", 1_000_000_000, "ITEMS", "x"],
        ):
            for _ in range(3):
                is_error(client.call(*words), repr(words))
            equal(client.ok("EXISTS", "b"), 0, repr(words))
        # What there is memory for is made, and is empty: used memory is given again.
        for _ in range(20):
            client.ok("BF.RESERVE", "c", "0.01", 20_000_000)
            equal(client.ok("BL.MEXISTSHASH", "c", b"12345678" * 8000), bytes(1000))
            client.ok("BL.MADDHASH", "c", random.Random(1).randbytes(8 << 16))
            client.ok("DEL", "c")
        equal(client.ok("BF.EXISTS", "small", "x"), 1)


def advised(server):
    """The bytes that the process has asked huge pages for."""
    size = total = 0
    with open("/proc/%d/smaps" % server.pid) as file:
        for line in file:
            if line.startswith("Size:"):
                size = int(line.split()[1]) << 10
            elif line.startswith("VmFlags:") and "hg" in line.split():
                total += size
    return total


def test_huge_pages():
    """huge-pages asks for them, for filters that are made, loaded and copied."""
    for words in ((), ("huge-pages", "yes")):
        with Server(module_args=words) as server:
            make_and_load_large(server, bool(words))


def test_no_huge_pages():
    """Filters work where the system has no huge pages."""
    with Server(module_args=("huge-pages", "yes"), env=preloaded("no_huge_pages.c")) as server:
        with server.client() as client:
            version = info(client, "server").get("valkey_version", "0.0")
        if tuple(map(int, version.split(".")[:2])) >= (8, 1):
            print("        this server's modules do not see what is preloaded: nothing was tested")
            return
        make_and_load_large(server, False)
        true(b"no huge pages here" in server.log(), "the module did not ask for huge pages")


def make_and_load_large(server, asked):
    """Makes filters of 12 MB, copies one, loads them after a restart. Huge pages are asked for all of them, or none."""
    with server.client() as client:
        make(client)
        for name in ("b0", "b1"):
            client.ok("BF.RESERVE", name, "0.01", 10_000_000)
            client.ok("BF.MADD", name, *keys("k", 1000))
        client.ok("COPY", "b0", "copy")
        size = pairs(client.ok("BF.INFO", "b0"))["Size"]
        before = snapshot(client)

        def check_pages():
            if asked:
                true(advised(server) > 0.6 * 3 * size, "asked for %d bytes" % advised(server))
            else:
                equal(advised(server), 0, "bytes asked for")

        check_pages()
        client.ok("SAVE")
    server.restart()
    check_pages()
    with server.client() as client:
        check_all(client, before=before)
        for name in ("b0", "b1", "copy"):
            none_denied(client, name, keys("k", 1000))


def test_bits_per_item():
    """At 1 %: not more than RedisBloom's 11.03 bits of a scaling filter, 10.2 when it does not scale."""
    count = 1_000_000
    with Server() as server, server.client() as client:
        for name, words, most in (("scaling", (), 11.03), ("fixed", ("NONSCALING",), 10.2)):
            client.ok("BF.RESERVE", name, "0.01", count, *words)
            each = pairs(client.ok("BF.INFO", name))["Size"] * 8 / count
            true(9.5 < each <= most, "%s: %.2f bits per item" % (name, each))
        # Scaled to 100 times its capacity: RedisBloom's links hold 100 * (2^7 - 1) items at a rate halved each time.
        theirs = sum(100 * 2**i * (math_bits(0.01 * 0.5 ** (i + 1))) for i in range(7)) / 8
        client.ok("BF.RESERVE", "hundred", "0.01", 100)
        add_all(client, "hundred", keys("k", 10_000))
        size = pairs(client.ok("BF.INFO", "hundred"))["Size"]
        true(
            size <= 1.02 * theirs + 7 * 200, "%d bytes at 100 times the capacity, theirs %d" % (size, theirs)
        )


def math_bits(error):
    """Bits per item of a standard Bloom filter."""
    import math

    return math.log(1 / error) / math.log(2) ** 2


def test_rates():
    """1024 items in a filter for 1024: the rate is at most the asked one."""
    probes = 100_000 if check.full else 30_000
    with Server() as server, server.client() as client:
        for asked in (0.1, 0.01, 0.001, 0.0001):
            for words in ((), ("NONSCALING",)):
                wrong = 0
                for repeat in range(3):
                    client.ok("DEL", "b")
                    client.ok("BF.RESERVE", "b", repr(asked), 1024, *words)
                    items = keys("r%d" % repeat, 1024)
                    add_all(client, "b", items)
                    none_denied(client, "b", items)
                    wrong += rate(client, "b", keys("absent%d" % repeat, probes)) / 3
                noise = 4 * (asked * (1 - asked) / probes / 3) ** 0.5
                true(wrong <= asked + noise, "asked %g, measured %g with %r" % (asked, wrong, words))


def test_limit_is_not_for_replicas():
    """What the master accepted, a replica with a lower limit accepts, too."""
    with Server() as master, Replica(master, module_args=("max-filter-bytes", 4096)) as replica:
        with master.client() as client, replica.client() as copy:
            client.ok("BF.RESERVE", "b", "0.01", 100_000)
            client.ok("BF.ADD", "b", "x")
            replica.wait_caught_up()
            equal(copy.ok("BF.EXISTS", "b", "x"), 1)
            true(b"CRITICAL" not in replica.log(), "errors in the replica's stream")
