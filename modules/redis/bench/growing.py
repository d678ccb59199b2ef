#!/usr/bin/env python3
"""Filters that grow: BF.* that scales, and BL.G.* for any number of items. Memory, rate and server CPU time.

    modules/redis/bench/growing.py [--start N] [--times 1,10,100,1000] [--rate R] [--rounds N]

Each begins with N items at that rate and grows to so many times as many, in batches of 100. At each size: bits per item
by MEMORY USAGE, the rate that was measured, the server's CPU time in ns per item while it grew, and then of present and
absent items, in batches of 100 and one by one in a pipeline. Contenders take turns; a figure is the median of the
rounds. PEER=module.so adds another module's BF.*, in a server of its own. MODULE and REDIS_SERVER are as in bench.py.
"""

import argparse
import os
import statistics
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "tests")]

import workloads  # noqa: E402
from bench import Bench  # noqa: E402
from server import Server, missing  # noqa: E402

ITEMS = 50_000  # of one measurement, at most
CHUNK = 20_000  # items that one contender adds before it is the next one's turn
ABSENT = 1 << 40


class Contender:
    def __init__(self, bench, name, family, reserve):
        self.bench, self.name, self.family = bench, name, family
        self.key = name.encode()
        bench.client.ok(family.decode() + "RESERVE", name, *reserve)

    def run(self, command, first, count, n):
        """Nanoseconds of server time per item."""
        arguments = workloads.items(first, count)
        units = workloads.batches(command, self.key, arguments, n, self.family)
        return self.bench.run(units, max(10, 1000 // n), count)

    def bits(self, items):
        return 8 * self.bench.client.ok("MEMORY", "USAGE", self.name) / items

    def rate(self, first, count=100_000):
        absent = workloads.items(first, count)
        wrong = 0
        for at in range(0, count, 1000):
            names = [one.split(b"\r\n")[1] for one in absent[at : at + 1000]]
            wrong += sum(self.bench.client.ok(self.family.decode() + "MEXISTS", self.name, *names))
        return wrong / count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--start", type=int, default=1000)
    parser.add_argument("--times", default="1,10,100,1000")
    parser.add_argument("--rate", default="0.01")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if missing():
        sys.exit("growing.py: " + missing())
    peer_module, times = os.environ.get("PEER"), [int(one) for one in options.times.split(",")]
    with Server() as server:
        peer_server = Server(module=os.path.abspath(peer_module)) if peer_module else None
        try:
            ours, rate = Bench(server), options.rate
            all = [
                Contender(ours, "BF", b"BF.", (rate, options.start)),
                Contender(ours, "BL.G", b"BL.G.", (rate, "EXPECTED", options.start)),
            ]
            if peer_server:
                all.append(Contender(Bench(peer_server), "peer", b"BF.", (rate, options.start)))
            measure(options, times, all)
        finally:
            if peer_server:
                peer_server.stop()


def measure(options, times, all):
    parts = ["bits", "rate", "grow", "MEXISTS present", "absent", "ADD", "EXISTS present", "absent"]
    print("| items | filter | " + " | ".join(parts) + " |\n|---|---|" + "---:|" * len(parts))
    done, fresh, turn = 0, ABSENT, 0
    for target in (options.start * many for many in times):
        cells = {one.name: [] for one in all}
        added = {one.name: 0.0 for one in all}
        begin = done
        while done < target:
            count = min(CHUNK, target - done)
            for one in all[turn % len(all) :] + all[: turn % len(all)]:
                added[one.name] += count * one.run(b"MADD", done, count, 100)
            done, turn = done + count, turn + 1
        for one in all:
            cells[one.name] += ["%.1f" % one.bits(target), "%.2f %%" % (100 * one.rate(fresh))]
            cells[one.name].append("%.0f" % (added[one.name] / (target - begin)))
        fresh += 1_000_000
        some = min(ITEMS, target)
        for command, n, is_present in (
            (b"MEXISTS", 100, True),
            (b"MEXISTS", 100, False),
            (b"MADD", 1, False),
            (b"MEXISTS", 1, True),
            (b"MEXISTS", 1, False),
        ):
            # Few items are added one by one: the filter is to have its size.
            count = max(100, some // 100) if command == b"MADD" else some
            rounds = {one.name: [] for one in all}
            for number in range(options.rounds):
                first = number * count % (target - count + 1) if is_present else fresh
                fresh += 0 if is_present else count
                for one in all[number % len(all) :] + all[: number % len(all)]:
                    rounds[one.name].append(one.run(command, first, count, n))
            for one in all:
                cells[one.name].append("%.0f" % statistics.median(rounds[one.name]))
        for one in all:
            print("| %d | %s | %s |" % (target, one.name, " | ".join(cells[one.name])), flush=True)


if __name__ == "__main__":
    main()
