"""A cluster on loopback, and a client that follows its redirections."""

import binascii
import time

from resp import Broken, Client, Error, encode
from server import Server, free_port, info, wait_until

SLOTS = 16384


def slot(key):
    """The hash slot of a key: CRC-16/XMODEM of the key, or of what is in its first {}."""
    key = key if isinstance(key, bytes) else key.encode()
    start = key.find(b"{")
    end = key.find(b"}", start + 1)
    if start >= 0 and end > start + 1:
        key = key[start + 1 : end]
    return binascii.crc_hqx(key, 0) % SLOTS


class Node(Server):
    """One node; `id` is its name in the cluster."""

    def __init__(self, *options, **named):
        self.bus = free_port()
        super().__init__(
            "--cluster-enabled",
            "yes",
            "--cluster-config-file",
            "nodes.conf",
            "--cluster-port",
            str(self.bus),
            "--cluster-node-timeout",
            "2000",
            # A replica may take over however long it has not heard of its master.
            "--cluster-replica-validity-factor",
            "0",
            "--repl-timeout",
            "20",
            *options,
            **named
        )
        with self.client() as client:
            self.id = client.ok("CLUSTER", "MYID").decode()

    def set_timeout(self, milliseconds):
        """Also for when it is started again."""
        self.options[self.options.index("--cluster-node-timeout") + 1] = str(milliseconds)
        with Client(self.port) as client:
            client.ok("CONFIG", "SET", "cluster-node-timeout", milliseconds)

    def meet(self, other):
        with Client(self.port) as client:
            client.ok("CLUSTER", "MEET", "127.0.0.1", other.port, other.bus)


class Cluster:
    """`masters` nodes with all slots, each with `replicas` followers. A node that does not answer for `node_timeout`
    milliseconds is taken for dead: longer than a busy machine lets a process wait, unless a test waits for that."""

    def __init__(self, masters=3, replicas=1, *options, node_timeout=10_000, **named):
        self.nodes, self.victim = [], None
        try:
            for _ in range(masters * (1 + replicas)):
                self.nodes.append(Node(*options, **named))
            self.masters, self.replicas = self.nodes[:masters], self.nodes[masters:]
            self._join()
            # They take longer to join with it.
            for node in self.nodes:
                node.set_timeout(node_timeout)
        except BaseException:
            self.stop()
            raise

    def _join(self):
        share = SLOTS // len(self.masters)
        for i, node in enumerate(self.masters):
            last = SLOTS - 1 if i == len(self.masters) - 1 else share * (i + 1) - 1
            with node.client() as client:
                client.ok("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
                client.ok("CLUSTER", "ADDSLOTSRANGE", share * i, last)
        wait_until(self._met, "nodes meet", 60, every=0.1)
        for i, node in enumerate(self.replicas):
            node.master = self.masters[i % len(self.masters)]
            with node.client() as client:
                wait_until(
                    lambda: client.call("CLUSTER", "REPLICATE", node.master.id) == "OK", "a replica joins", 30
                )
        wait_until(self.is_ok, "the cluster is ok", 60)
        for node in self.replicas:
            with node.client() as client:
                wait_until(
                    lambda: info(client, "replication").get("master_link_status") == "up",
                    "replicas follow",
                    60,
                )

    def _met(self):
        """Whether all know all. Greets again whom the first lacks: a node forgets a greeting that takes too long."""
        known = {row[0] for row in self.view(self.nodes[0])}
        for node in self.nodes:
            if node.id not in known:
                self.nodes[0].meet(node)
        return all(len(self.view(node)) == len(self.nodes) for node in self.nodes)

    @staticmethod
    def view(node):
        """The nodes that this one knows, as rows of words, without those it still greets."""
        with Client(node.port) as client:
            rows = [row.split() for row in client.ok("CLUSTER", "NODES").decode().splitlines()]
        return [row for row in rows if "handshake" not in row[2]]

    def is_ok(self):
        def one(node):
            with Client(node.port) as client:
                return b"cluster_state:ok" in client.ok("CLUSTER", "INFO")

        return all(one(node) for node in self.nodes if node.is_up())

    def client(self):
        return ClusterClient([node.port for node in self.nodes], self.victim and self.victim.port)

    def move_slot(self, number, source, target, step=None):
        """Moves a slot with its keys by hand; calls `step` between the steps."""
        step = step or (lambda: None)
        with Client(source.port) as one, Client(target.port) as other:
            other.ok("CLUSTER", "SETSLOT", number, "IMPORTING", source.id)
            one.ok("CLUSTER", "SETSLOT", number, "MIGRATING", target.id)
            step()
            while True:
                names = one.ok("CLUSTER", "GETKEYSINSLOT", number, 10)
                if not names:
                    break
                for name in names:
                    one.ok("MIGRATE", "127.0.0.1", target.port, name, 0, 30000)
                    step()
            other.ok("CLUSTER", "SETSLOT", number, "NODE", target.id)
            one.ok("CLUSTER", "SETSLOT", number, "NODE", target.id)
            for node in self.masters:
                if node.is_up() and node not in (source, target):
                    with Client(node.port) as third:
                        third.ok("CLUSTER", "SETSLOT", number, "NODE", target.id)
        step()

    def stop(self):
        for node in self.nodes:
            node.stop()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                for node in self.nodes:
                    if node.expected_dead:
                        node.check_log()
                    else:
                        node.check_up()
        finally:
            self.stop()


class ClusterClient:
    """Sends each command to the node of its key (word 1); follows MOVED and ASK; retries while a node is down.

    `last` is a port that is asked last who has which slots: of a node that dies and comes back without its keys."""

    def __init__(self, ports, last=None):
        self.last = last
        self.ports, self.connections, self.owner = list(ports), {}, {}
        self.redirected = {"MOVED": 0, "ASK": 0, "other": 0}

    def close(self):
        for client in self.connections.values():
            client.close()
        self.connections = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _connect(self, port):
        if port not in self.connections:
            self.connections[port] = Client(port, timeout=10)
        return self.connections[port]

    def _drop(self, port):
        client = self.connections.pop(port, None)
        if client:
            client.close()

    def port_of(self, key):
        return self.owner.get(slot(key)) or self.refresh(key)

    def refresh(self, key):
        """Asks any node that is up who has which slots."""
        for port in sorted(self.ports, key=lambda port: port == self.last):
            try:
                ranges = self._connect(port).call("CLUSTER", "SLOTS")
            except (OSError, Broken):
                self._drop(port)
                continue
            if isinstance(ranges, Error):
                continue
            self.owner = {number: entry[2][1] for entry in ranges for number in range(entry[0], entry[1] + 1)}
            if slot(key) in self.owner:
                return self.owner[slot(key)]
        raise Broken("no node knows the slot of %r" % key)

    def call(self, *words, seconds=180, after=(), key=None):
        """The reply. `after` are further commands, sent on the same connection (WAIT); then all replies."""
        key = key or words[1]
        deadline, port, asking = time.monotonic() + seconds, None, False
        while True:
            try:
                port = port or self.port_of(key)
                client = self._connect(port)
                client.send(
                    (encode("ASKING") if asking else b"")
                    + encode(*words)
                    + b"".join(encode(*w) for w in after)
                )
                if asking:
                    client.read()
                replies = [client.read() for _ in range(1 + len(after))]
            except (OSError, Broken) as failure:
                if port:
                    self._drop(port)
                port, asking, problem = None, False, str(failure)
                self.owner = {}
            else:
                problem = replies[0]
                kind = problem.split(" ")[0] if isinstance(problem, Error) else None
                if kind in ("MOVED", "ASK") and time.monotonic() < deadline:
                    self.redirected[kind] += 1
                    port, asking = int(problem.rsplit(":", 1)[1]), kind == "ASK"
                    if kind == "MOVED":
                        self.owner[slot(key)] = port
                    continue
                if kind not in ("CLUSTERDOWN", "TRYAGAIN", "LOADING", "READONLY", "MASTERDOWN"):
                    return replies if after else replies[0]
                port, asking = None, False
                self.owner = {}
            self.redirected["other"] += 1
            if time.monotonic() > deadline:
                raise TimeoutError("%r within %g s: %s" % (words[:2], seconds, problem))
            time.sleep(0.02)
