#!/usr/bin/env python3
"""Server CPU time per item of BF.* batches, hashed batches, and bitmaps as people write them by hand.

    modules/redis/bench/bench.py [--quick] [--size small|large] [--rounds N]

PEER=module.so loads another module with BF.* into a second server and prints ratios to it. MODULE and MODULE_ARGS
("huge-pages yes") choose ours, REDIS_SERVER another server. `make bench-redis` runs it.

The time is the server's own: used_cpu_user + used_cpu_sys of INFO, so a slow client costs nothing. Requests are
bytes prepared before. Filters are filled to 9/10 of their capacity before (no page is the zero page, and half
of the bits are set, so a probe of an absent key reads as much as in practice). Contenders take turns in each round;
a figure is the median of the rounds, a ratio the median of the ratios of each round.
"""

import argparse
import os
import statistics
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "tests")]

import workloads  # noqa: E402
from resp import Client, Error  # noqa: E402
from server import MODULE, Server, info, missing  # noqa: E402

SIZES = {"small": ("1 MB", 1 << 20), "large": ("1 GB", 1 << 30)}
BATCHES = [1, 10, 100, 1000]
POOL = 1_000_000  # items that are present: their lines do not fit in a cache
POOL_SMALL = 100_000


def capacity_of(size):
    """Items at 1 % in so many bytes: 9.585 bits each in a standard filter."""
    return int(size * 8 / 9.9)


class Bench:
    """One server with one module, and its connection."""

    def __init__(self, server):
        self.server, self.client = server, Client(server.port, timeout=120)
        self.buffer = bytearray(1 << 22)
        self.view = memoryview(self.buffer)

    def cpu(self):
        told = info(self.client, "cpu")
        return float(told["used_cpu_user"]) + float(told["used_cpu_sys"])

    def exchange(self, units):
        """Sends these requests at once and reads their replies; returns how many of these bytes are '1'."""
        self.client.socket.sendall(b"".join(request for request, _ in units))
        left, at = sum(length for _, length in units), 0
        if left > len(self.buffer):
            self.buffer = bytearray(left)
            self.view = memoryview(self.buffer)
        total = left
        while left:
            size = self.client.socket.recv_into(self.view[at:], left)
            if size == 0:
                sys.exit("bench.py: the server ended:\n" + self.server.log_tail())
            if self.buffer[0] == 45:
                sys.exit("bench.py: error reply: %r" % bytes(self.buffer[: at + size][:200]))
            at, left = at + size, left - size
        return self.buffer, total

    def run(self, units, depth, items):
        """Nanoseconds of server time per item; `depth` requests are under way at once."""
        groups = [units[at : at + depth] for at in range(0, len(units), depth)]
        before = self.cpu()
        for group in groups:
            self.exchange(group)
        return (self.cpu() - before) * 1e9 / items


def random_blob(count):
    return os.urandom(8 * count)


def fill_ours(bench, name, size, pool):
    """Leaves room for the items of the measurements below 9/10 of the capacity. Returns hashes that are present."""
    capacity = capacity_of(size)
    bench.client.ok("BF.RESERVE", name, "0.01", capacity, "NONSCALING")
    left, blob = capacity * 9 // 10 - 2 * pool, b""
    while left > 0:
        blob = random_blob(min(left, 1_000_000))
        bench.client.ok("BL.MADDHASH", name, blob)
        left -= len(blob) // 8
    return blob


def fill_peer(bench, name, size):
    """By the chunks of a dump with half of the bits set, if the module loads them; else by a few million items."""
    client = bench.client
    client.ok("BF.RESERVE", name, "0.01", capacity_of(size), "NONSCALING")
    at, chunks = 0, []
    while True:
        reply = client.call("BF.SCANDUMP", name, at)
        if isinstance(reply, Error):
            break
        at, data = reply
        if at == 0:
            break
        chunks.append((at, data if not chunks else os.urandom(len(data))))
    client.ok("DEL", name)
    if chunks and all(not isinstance(client.call("BF.LOADCHUNK", name, *chunk), Error) for chunk in chunks):
        return "half of the bits set"
    client.call("DEL", name)
    client.ok("BF.RESERVE", name, "0.01", capacity_of(size), "NONSCALING")
    for first in range(1 << 40, (1 << 40) + min(3_000_000, capacity_of(size) // 2), 1000):
        bench.exchange(workloads.batches(b"MADD", name.encode(), workloads.items(first, 1000), 1000))
    return "nearly empty"


def fill_strings(bench, strings):
    for name in strings.names:
        for at in range(0, strings.size, 8 << 20):
            bench.client.ok("SETRANGE", name, at, os.urandom(min(8 << 20, strings.size - at)))


def add_pool(bench, name, pool):
    """The items that are probed as present."""
    arguments = workloads.items(0, pool)
    for unit in workloads.batches(b"MADD", name.encode(), arguments, 1000):
        bench.exchange([unit])


def count_of(n, deep, quick):
    """Items of one measurement."""
    full = {(1, False): 5000, (10, False): 30000, (1, True): 50000}.get((n, deep), 100000)
    return max(n, full // 5 if quick else full)


class Rows:
    """Prints a row for each measurement: nanoseconds per item of each contender, and their ratios to ours."""

    def __init__(self, names):
        self.names, self.notes = names, []
        print("| filter | command | items | pipelined | " + " | ".join(names) + " |")
        print("|---|---|---:|---|" + "---:|" * len(names))

    def add(self, size, command, n, deep, rounds):
        cells = []
        for name in self.names:
            values = [one[name] for one in rounds if name in one]
            if not values:
                cells.append("")
                continue
            text = "%.0f" % statistics.median(values)
            if name != self.names[0]:
                text += " (%.2fx)" % statistics.median(one[name] / one[self.names[0]] for one in rounds)
            cells.append(text)
        print(
            "| %s | %s | %d | %s | %s |" % (size, command, n, "yes" if deep else "no", " | ".join(cells)),
            flush=True,
        )


def measure(options, size_name, size, ours, peer, rows):
    name, key = "bench", b"bench"
    pool = POOL if size > 1 << 24 else POOL_SMALL
    strings = workloads.Strings(size, 1)
    blob = fill_ours(ours, name, size, pool)
    fill_strings(ours, strings)
    contenders = {"ours": ours, "bits": ours, "lines": ours, "floor": ours}
    if peer:
        contenders["peer"] = peer
        how = fill_peer(peer, name, size)
        if how != "half of the bits set":
            rows.notes.append("The peer does not load a dump: its filter of %s is %s." % (size_name, how))
    filters = [bench for bench in (ours, peer) if bench]
    for bench in filters:
        add_pool(bench, name, pool)
    templates = {}
    if size <= 1 << 24:  # small filters are set back after each round of inserts
        templates = {bench: bench.client.ok("DUMP", name) for bench in filters}
    fresh, absent = 1 << 50, 1 << 45

    for command, label in (
        (b"MEXISTS", "MEXISTS, present"),
        (b"MEXISTS", "MEXISTS, absent"),
        (b"MADD", "MADD"),
    ):
        for n in BATCHES:
            for deep in (False, True):
                count = count_of(n, deep, options.quick)
                depth, results = max(10, 1000 // n) if deep else 1, []
                for number in range(options.rounds):
                    if command == b"MADD":
                        first, fresh = fresh, fresh + count
                    elif "present" in label:
                        first = number * count % (pool - count + 1) // n * n
                    else:
                        first, absent = absent, absent + count
                    if command == b"MADD":
                        for bench, data in templates.items():
                            bench.client.ok("RESTORE", name, 0, data, "REPLACE")
                    arguments = workloads.items(first, count)
                    units = workloads.batches(command, key, arguments, n)
                    work = {
                        "ours": units,
                        "peer": units,
                        "floor": workloads.floor(arguments, n),
                        "bits": strings.single_bits(command == b"MADD", count, n),
                        "lines": strings.lines(command == b"MADD", count, n),
                    }
                    order = list(contenders)
                    order = order[number % len(order) :] + order[: number % len(order)]
                    results.append({one: contenders[one].run(work[one], depth, count) for one in order})
                rows.add(size_name, label, n, deep, results)
    hashed(options, size_name, name, ours, peer, blob, templates, pool, rows)
    for bench in filters:
        bench.client.ok("FLUSHALL")


def hashed(options, size_name, name, ours, peer, blob, templates, pool, rows):
    """BL.MEXISTSHASH and BL.MADDHASH of 1,000 hashes, beside the other ways with 1,000 items."""
    n, key = 1000, name.encode()
    count = min(count_of(n, False, options.quick), len(blob) // 8) // n * n
    for label in ("BL.MEXISTSHASH, present", "BL.MEXISTSHASH, absent", "BL.MADDHASH"):
        results = []
        for number in range(options.rounds):
            one = {}
            if label == "BL.MADDHASH":
                for bench, data in templates.items():
                    bench.client.ok("RESTORE", name, 0, data, "REPLACE")
            at = number * count % (len(blob) // 8 - count + 1)
            values = blob[8 * at : 8 * (at + count)] if "present" in label else random_blob(count)
            units = workloads.hashed(label.split(",")[0].encode(), key, values, n)
            one["ours"] = ours.run(units, 1, count)
            if peer:
                first = (
                    number * count % (pool - count + 1) // n * n
                    if "present" in label
                    else (number << 30) + (1 << 52)
                )
                command = b"MADD" if label == "BL.MADDHASH" else b"MEXISTS"
                one["peer"] = peer.run(
                    workloads.batches(command, key, workloads.items(first, count), n), 1, count
                )
            results.append(one)
        rows.add(size_name, label + (" (peer: BF.*)" if peer else ""), n, False, results)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer items and rounds")
    parser.add_argument("--size", choices=list(SIZES), help="only filters of 1 MB, or only those of 1 GB")
    parser.add_argument("--rounds", type=int)
    options = parser.parse_args()
    options.rounds = options.rounds or (3 if options.quick else 7)
    if missing():
        sys.exit("bench.py: " + missing())
    peer_module = os.environ.get("PEER")
    if peer_module and not os.path.exists(peer_module):
        sys.exit("bench.py: PEER: there is no " + peer_module)
    with Server(module_args=os.environ.get("MODULE_ARGS", "").split()) as server:
        peer_server = Server(module=os.path.abspath(peer_module)) if peer_module else None
        try:
            ours, peer = Bench(server), Bench(peer_server) if peer_server else None
            told = info(ours.client, "server")
            print(
                "Server CPU time, ns per item, and its ratio to ours. %s %s; %s%s; %d rounds."
                % (
                    os.path.basename(os.environ.get("REDIS_SERVER", "redis-server")),
                    told["redis_version"],
                    os.path.basename(MODULE),
                    ", peer " + os.path.basename(peer_module) if peer else "",
                    options.rounds,
                )
            )
            print(
                "bits: %d SETBIT or GETBIT per key in one bitmap. lines: one BITFIELD or GETRANGE of 64 bytes per key. "
                "floor: SMISMEMBER of\na set that does not exist: what the server takes to read the items and to reply.\n"
                % workloads.K
            )
            rows = Rows(
                ["ours", "peer", "bits", "lines", "floor"] if peer else ["ours", "bits", "lines", "floor"]
            )
            for which, (size_name, size) in SIZES.items():
                if options.size in (None, which):
                    measure(options, size_name, size, ours, peer, rows)
            print("\n" + "\n".join(rows.notes) if rows.notes else "")
        finally:
            if peer_server:
                peer_server.stop()


if __name__ == "__main__":
    main()
