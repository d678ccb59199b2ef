"""One filter over a cluster: 64 shard keys on 3 masters with a replica each; a master killed under load; a slot
moved while it is probed."""

import struct
import threading
import time

import check
from check import equal, keys, pairs, true
from cluster import Cluster, slot
from resp import OK, Broken, Error
from server import Server, info, wait_until

SHARDS = 64
U64 = (1 << 64) - 1


def mixed(i):
    """A hash for the number i, uniform over 64 bits (SplitMix64). Any such hash will do for *HASH commands."""
    z = (i + 1) * 0x9E3779B97F4A7C15 & U64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & U64
    z = (z ^ z >> 27) * 0x94D049BB133111EB & U64
    return z ^ z >> 31


def shard_of(value, count=SHARDS):
    """As docs/FORMAT.md has it."""
    value = value * 0xD6E8FEB86659FD93 & U64
    value = (value ^ value >> 32) * 0xA0761D6478BD642F & U64
    return (value ^ value >> 29) * count >> 64


def shard_key(number):
    return "filter:{%d}" % number


class Load:
    """Inserts batches of hashes and waits for a replica; what is acknowledged may never be denied."""

    def __init__(self, cluster, total, batch=2000):
        self.cluster, self.total, self.batch = cluster, total, batch
        self.acknowledged = [[] for _ in range(SHARDS)]
        self.count = self.unacknowledged = 0
        self.failure = None
        self.at = 0

    def run(self, until):
        """Inserts number by number until so many keys were sent."""
        with self.cluster.client() as client:
            waiting = [[] for _ in range(SHARDS)]
            while self.at < until:
                value = mixed(self.at)
                self.at += 1
                number = shard_of(value)
                waiting[number].append(value)
                if len(waiting[number]) == self.batch:
                    self.send(client, number, waiting[number])
                    waiting[number] = []
            for number, values in enumerate(waiting):
                if values:
                    self.send(client, number, values)

    def send(self, client, number, values):
        blob = struct.pack("<%dQ" % len(values), *values)
        reply, acknowledged = client.call("BL.MADDHASH", shard_key(number), blob, after=[("WAIT", 1, 1000)])
        if isinstance(reply, Error):
            raise AssertionError("BL.MADDHASH: %s" % reply)
        # WAIT fails where a master has become a replica meanwhile.
        if isinstance(acknowledged, int) and acknowledged >= 1:
            self.acknowledged[number].append(blob)
            self.count += len(values)
        else:
            self.unacknowledged += len(values)

    def in_thread(self, until):
        def work():
            try:
                self.run(until)
            except BaseException as failure:
                self.failure = failure

        thread = threading.Thread(target=work)
        thread.start()
        return thread

    def check(self):
        """Every acknowledged key, batch by batch."""
        with self.cluster.client() as client:
            for number, blobs in enumerate(self.acknowledged):
                for blob in list(blobs):
                    bitmap = client.call("BL.MEXISTSHASH", shard_key(number), blob)
                    true(isinstance(bitmap, bytes), "BL.MEXISTSHASH: %r" % bitmap)
                    found = sum(byte.bit_count() for byte in bitmap)
                    equal(found, len(blob) // 8, "acknowledged keys found in shard %d" % number)

    def rate(self, probes):
        with self.cluster.client() as client:
            absent = [[] for _ in range(SHARDS)]
            for i in range(probes):
                value = mixed((1 << 40) + i)
                absent[shard_of(value)].append(value)
            wrong = 0
            for number, values in enumerate(absent):
                bitmap = client.call(
                    "BL.MEXISTSHASH", shard_key(number), struct.pack("<%dQ" % len(values), *values)
                )
                wrong += sum(byte.bit_count() for byte in bitmap)
            return wrong / probes


def test_master_killed_under_load():
    total = 10_000_000 if check.full else 200_000
    with Cluster(3, 1, node_timeout=4000) as cluster:
        victim = cluster.victim = cluster.masters[0]
        with cluster.client() as client:
            for number in range(SHARDS):
                equal(
                    client.call(
                        "BL.RESERVE", shard_key(number), "0.01", total // SHARDS * 11 // 10, "SEED", 1
                    ),
                    OK,
                )
        load = Load(cluster, total, 2000 if check.full else 200)
        load.run(total // 3)
        load.check()
        # The rest while a master dies.
        thread = load.in_thread(total)
        wait_until(lambda: load.at > total // 2 or load.failure, "half of the keys are sent", 600)
        victim.crash()
        heir = next(node for node in cluster.replicas if node.master is victim)

        def promoted():
            # With slots: before it was a replica, it was a master without any.
            rows = cluster.view(cluster.masters[1])
            return any(row[0] == heir.id and "master" in row[2] and row[8:] for row in rows)

        started = time.monotonic()
        wait_until(promoted, "the replica is promoted", 60)
        wait_until(cluster.is_ok, "the cluster is ok again", 60)
        took = time.monotonic() - started
        # The old master comes back and follows its heir, whose keys WAIT then acknowledges again.
        victim.start()

        def follows():
            return any(row[0] == victim.id and "slave" in row[2] for row in cluster.view(heir))

        try:
            wait_until(follows, "it follows", 20)
        except TimeoutError:
            # As an operator would: the server does not always find out by itself.
            make_follow(victim, heir)
            wait_until(follows, "it follows", 60)
        thread.join(1800)
        true(not thread.is_alive(), "the load ends")
        if load.failure:
            raise load.failure
        true(load.count > total // 2, "%d of %d keys acknowledged" % (load.count, total))
        load.check()
        measured = load.rate(100_000)
        true(measured < 0.013, "rate over all shards: %g" % measured)
        # Writes go on, and the returned node has the bytes of its master.
        with cluster.client() as client:
            values = [mixed((1 << 41) + i) for i in range(100)]
            by_shard = {}
            for value in values:
                by_shard.setdefault(shard_of(value), []).append(value)
            for number, part in by_shard.items():
                blob = struct.pack("<%dQ" % len(part), *part)
                equal(
                    isinstance(client.call("BL.MADDHASH", shard_key(number), blob), bytes),
                    True,
                    "an insert after failover",
                )
        with heir.client() as master, victim.client() as copy:
            wait_until(
                lambda: info(copy, "replication").get("master_link_status") == "up", "it is in step", 60
            )
            target = int(info(master, "replication")["master_repl_offset"])
            wait_until(
                lambda: int(info(copy, "replication")["slave_repl_offset"]) >= target, "it caught up", 60
            )
            copy.ok("READONLY")
            for number in range(SHARDS):
                if owns(heir, slot(shard_key(number))):
                    equal(
                        copy.ok("DEBUG", "DIGEST-VALUE", shard_key(number)),
                        master.ok("DEBUG", "DIGEST-VALUE", shard_key(number)),
                    )
        print(
            "        %d keys, %d acknowledged by a replica, promoted after %.1f s, rate %.4f"
            % (total, load.count, took, measured)
        )


def make_follow(node, master):
    """Tells a node to be a replica of another, until it does as told."""

    def told():
        node.meet(master)
        with node.client() as client:
            replies.append(client.call("CLUSTER", "REPLICATE", master.id))
        return replies[-1] == OK

    replies = []
    try:
        wait_until(told, "it is told to follow", 180, every=1)
    except TimeoutError as failure:
        with node.client() as client:
            nodes = client.ok("CLUSTER", "NODES").decode()
        raise TimeoutError("%s: %r\n%s\n%s" % (failure, replies[-1], nodes, node.log_tail())) from failure


ADDS = ("BF.ADD", "bf{t}"), ("CF.ADD", "cf{t}"), ("BL.C.ADD", "n{t}"), ("BL.W.ADD", "w{t}"), ("BL.G.ADD", "g{t}")
ASKS = {"bf{t}": "BF.MEXISTS", "cf{t}": "CF.MEXISTS", "n{t}": "BL.C.MEXISTS", "w{t}": "BL.W.MEXISTS"}
ASKS["g{t}"] = "BL.G.MEXISTS"
SCRIPT = "return redis.call(ARGV[1], KEYS[1], ARGV[2])"


def moved_while_used(cluster, move):
    """Calls `move(owner, target, some_rounds)` three times, there and back, while a client adds and probes, also in
    scripts and in batches. `some_rounds` waits until that client has done some more. No member is ever denied. Returns
    the redirections."""
    items = keys("k", 300)
    with cluster.client() as client:
        equal(client.call("BF.RESERVE", "bf{t}", "0.01", 100), OK)
        for at in range(0, 300, 50):
            client.call("BF.MADD", "bf{t}", *items[at : at + 50])
        client.call("CF.INSERT", "cf{t}", "ITEMS", *items)
        equal(client.call("BL.C.RESERVE", "n{t}", "0.01", 100000), OK)
        client.call("BL.C.MADD", "n{t}", *items)
        equal(client.call("BL.W.RESERVE", "w{t}", "0.01", 100000, 86400, 3), OK)
        client.call("BL.W.MADD", "w{t}", *items)
        client.call("BL.G.MADD", "g{t}", *items)
    owner = next(node for node in cluster.masters if owns(node, slot("t")))
    target = next(node for node in cluster.masters if node is not owner)
    stop, seen, failures = threading.Event(), {"rounds": 0}, []
    added = {name: [] for name in ASKS}

    def use():
        with cluster.client() as client:
            while not stop.is_set() and not failures:
                try:
                    for command, name in ADDS:
                        one, other, *more = keys("during%d" % seen["rounds"], 7)
                        batch = ("CF.INSERT", name, "ITEMS") if name == "cf{t}" else (command[:-3] + "MADD", name)
                        for words in (
                            (command, name, one),
                            ("EVAL", SCRIPT, 1, name, command, other),
                            (*batch, *more),
                        ):
                            reply = client.call(*words, key=name)
                            if isinstance(reply, Error):
                                failures.append("%s: %s" % (" ".join(map(str, words[:5])), reply))
                        added[name] += [one, other, *more]
                        reply = client.call(ASKS[name], name, *items, *added[name][-100:])
                        if isinstance(reply, Error) or 0 in reply:
                            shown = reply if isinstance(reply, Error) else "a member is denied"
                            failures.append("%s %s: %r" % (ASKS[name], name, shown))
                except (OSError, Broken, TimeoutError) as failure:
                    failures.append(repr(failure))
                seen["rounds"] += 1
            seen.update(client.redirected)

    thread = threading.Thread(target=use)
    thread.start()

    def some_rounds():
        goal = seen["rounds"] + 3
        wait_until(lambda: seen["rounds"] >= goal or failures, "the other client works", 30)

    try:
        for _ in range(3):
            move(owner, target, some_rounds)
            owner, target = target, owner
    finally:
        stop.set()
        thread.join(60)
    true(not failures, "; ".join(failures[:3]))
    with cluster.client() as client:
        for name, mine in added.items():
            for at in range(0, len(mine), 500):
                reply = client.call(ASKS[name], name, *mine[at : at + 500])
                true(0 not in reply, "%s: an item added while the slot moved is denied" % name)
    return seen


def test_slot_moves_while_used():
    """A slot goes to another master and back, key by key."""
    with Cluster(3, 0) as cluster:
        seen = moved_while_used(
            cluster, lambda owner, target, step: cluster.move_slot(slot("t"), owner, target, step)
        )
        true(seen["ASK"] > 0 and seen["MOVED"] > 0, "redirections: %r" % seen)


def test_slot_moves_at_once():
    """The same with Valkey's atomic slot migration: a snapshot, then what was written since."""
    with Cluster(2, 0) as cluster:
        with cluster.nodes[0].client() as client:
            if not any("MIGRATESLOTS" in line for line in client.ok("CLUSTER", "HELP")):
                print("        this server has no atomic slot migration: nothing was tested")
                return

        def move(owner, target, some_rounds):
            with owner.client() as client:
                before = migrations(client)

                def state():
                    return next((state for name, state in migrations(client).items() if name not in before), None)

                # The snapshot is sent, and so are writes, until this one lets the slot go.
                client.ok("DEBUG", "SLOTMIGRATION", "PREVENT-PAUSE", 1)
                client.ok("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", slot("t"), slot("t"), "NODE", target.id)
                wait_until(
                    lambda: state() in (b"replicating", b"waiting-to-pause", b"failed"), "a snapshot is sent", 30
                )
                some_rounds()
                client.ok("DEBUG", "SLOTMIGRATION", "PREVENT-PAUSE", 0)
                wait_until(lambda: state() in (b"success", b"failed"), "the slot has moved", 30)
                equal(state(), b"success")
            some_rounds()

        true(moved_while_used(cluster, move)["MOVED"] > 0, "no redirection")


def migrations(client):
    """The states of the migrations that a node knows of, by name."""
    jobs = [pairs(one) for one in client.ok("CLUSTER", "GETSLOTMIGRATIONS")]
    return {one["name"]: one["state"] for one in jobs}


def owns(node, number):
    with node.client() as client:
        return any(
            entry[0] <= number <= entry[1] and entry[2][1] == node.port
            for entry in client.ok("CLUSTER", "SLOTS")
        )


def test_keys_of_one_slot():
    """Commands with several keys need them in one slot, and get CROSSSLOT elsewhere."""
    with Cluster(2, 0) as cluster, cluster.client() as client:
        for name in ("a{x}", "b{x}", "c{y}"):
            equal(client.call("BL.RESERVE", name, "0.01", 100, "SEED", 1), OK)
        equal(client.call("BL.MERGE", "a{x}", "b{x}"), OK)
        reply = client.call("BL.MERGE", "a{x}", "c{y}")
        true(
            isinstance(reply, Error) and reply.startswith("CROSSSLOT"), "BL.MERGE over two slots: %r" % reply
        )


def test_shard_of():
    """shard_of spreads keys evenly, and each shard keeps the rate: what sizing a cluster rests on."""
    counts = [0] * SHARDS
    for i in range(64000):
        counts[shard_of(mixed(i))] += 1
    true(max(counts) < 1200 and min(counts) > 800, "keys per shard: %d to %d" % (min(counts), max(counts)))
    with Server() as server, server.client() as client:
        equal(client.call("BL.RESERVE", "one", "0.01", 1100, "SEED", 1), OK)
        mine = [value for value in map(mixed, range(64000)) if shard_of(value) == 5]
        client.ok("BL.MADDHASH", "one", struct.pack("<%dQ" % len(mine), *mine))
        other = [value for value in map(mixed, range(64000, 664000)) if shard_of(value) == 5]
        bitmap = client.ok("BL.MEXISTSHASH", "one", struct.pack("<%dQ" % len(other), *other))
        measured = sum(byte.bit_count() for byte in bitmap) / len(other)
        true(measured < 0.014, "rate in a shard: %g of %d" % (measured, len(other)))
