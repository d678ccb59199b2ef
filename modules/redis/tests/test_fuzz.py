"""Random arguments for every command of the module: the server stays up and answers."""

import random

import check
from check import is_error, true
from resp import Broken, Error
from samples import STATIC
from server import Server


def own_commands(client):
    """The commands of the module, as the server lists them."""
    names = [name.decode() for name in client.ok("COMMAND", "LIST")]
    return sorted(name for name in names if name.upper().startswith(("BF.", "CF.", "BL.")))


NUMBERS = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "8",
    "10",
    "16",
    "63",
    "64",
    "65",
    "100",
    "255",
    "256",
    "1000",
    "32768",
    "65536",
    "1073741824",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "1e-308",
    "0.5",
    "0.01",
    "0.000001",
    "1e-15",
    "nan",
    "-nan",
    "inf",
    "-inf",
    "0x10",
    " 1",
    "1 ",
    "",
    "+1",
    "1.0",
    "00",
    "99999999999999999999999999",
]
WORDS = [
    "EXPANSION",
    "NONSCALING",
    "CAPACITY",
    "ERROR",
    "ITEMS",
    "NOCREATE",
    "BUCKETSIZE",
    "MAXITERATIONS",
    "SEED",
    "EXPECTED",
    "FORCE",
    "COUNT",
    "LINK",
    "SIZE",
    "FILTERS",
    "i",
    "e",
    "ex",
    "er",
    "c",
    "n",
    "no",
    "NOC",
    "NOZZLE",
    "item",
    "x",
]
KEYS = ["bloom", "cuckoo", "counting", "window", "static", "bounded", "unbounded"]
KEYS += ["text", "new", "new2", "loading", "", "k\0y"]


class Arguments:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.chunks = [b""]

    def word(self):
        kind = self.random.randrange(10)
        if kind < 4:
            return self.random.choice(NUMBERS)
        if kind < 7:
            return self.random.choice(WORDS)
        if kind == 7:
            return self.random.randbytes(self.random.choice((0, 1, 7, 8, 16, 64, 100, 4096)))
        if kind == 8:
            return self.chunk()
        return self.random.choice(KEYS)

    def chunk(self):
        """Bytes that a server once gave, spoilt or not."""
        data = bytearray(self.random.choice(self.chunks))
        for _ in range(self.random.choice((0, 0, 1, 3))):
            if data:
                data[self.random.randrange(len(data))] = self.random.randrange(256)
        return bytes(data[: self.random.choice((len(data), len(data), len(data) // 2, 8))])

    def command(self, names):
        name = self.random.choice(names)
        if self.random.random() < 0.5:
            return self.shaped(name)
        return [name, self.random.choice(KEYS)] + [self.word() for _ in range(self.random.randrange(8))]

    def shaped(self, name):
        """Close to what the command expects, so that it comes past its first checks."""
        r, key, upper = self.random, self.random.choice(KEYS), name.upper()
        number = lambda: r.choice(NUMBERS)  # noqa: E731
        items = [r.choice(["a", "b", "c", b"", b"\0", r.randbytes(8)]) for _ in range(r.randrange(1, 6))]
        size = r.choice(["1", "10", "1000", "20000", number()])
        if upper.endswith("W.RESERVE"):
            return [
                name,
                key,
                r.choice(["0.01", number()]),
                size,
                r.choice(["60", "0.001", number()]),
                r.choice(["3", number()]),
            ]
        if upper.endswith("G.RESERVE"):
            options = [[], ["CAPACITY", size], ["EXPECTED", size], ["SEED", number()], [r.choice(WORDS), size]]
            return [name, key, r.choice(["0.01", number()]), *r.choice(options)]
        if "RESERVE" in upper:
            head = (
                [name, key]
                if upper.startswith(("CF.", "BL.CF."))
                else [name, key, r.choice(["0.01", number()])]
            )
            return (
                head
                + [size]
                + r.choice(
                    [
                        [],
                        [r.choice(WORDS)],
                        [r.choice(WORDS), number()],
                        [r.choice(WORDS), number(), r.choice(WORDS)],
                    ]
                )
            )
        if "INSERT" in upper:
            return [
                name,
                key,
                *r.choice([[], [r.choice(WORDS)], [r.choice(WORDS), number()]]),
                "ITEMS",
                *items,
            ]
        if "HASH" in upper:
            return [name, key, r.randbytes(r.choice((0, 8, 8, 80, 4096, 4097)))]
        if "LOADCHUNK" in upper:
            return [name, key, r.choice(["1", "2", "65", "1048577", number()]), self.chunk()]
        if "SCANDUMP" in upper or "EXPORT" in upper or "ADVANCE" in upper:
            return [name, key, r.choice(["0", "1", "64", number()])]
        if "IMPORT" in upper:
            data = self.chunk()
            return [
                name,
                key,
                r.choice(["0", "0", "64", number()]),
                r.choice([str(len(data)), number()]),
                data,
            ]
        if "MERGE" in upper:
            return [name, key] + [r.choice(KEYS) for _ in range(r.randrange(1, 4))]
        if "INFO" in upper or upper.split(".")[-1] in ("CARD", "KIND", "COMPACT"):
            return [name, key]
        return [name, key, *(items if ".M" in upper else items[:1])]


def test_random_arguments():
    rounds = 2000 if check.full else 150
    with Server(
        "--maxmemory", "1gb", "--maxmemory-policy", "noeviction", module_args=("max-filter-bytes", 4 << 20)
    ) as server:
        client = server.client(timeout=120)
        names = own_commands(client)
        true(len(names) > 40, "the module has %d commands" % len(names))
        accepted = refused = 0
        for round in range(rounds):
            seed = check.seed * 1000003 + round
            arguments = Arguments(seed)
            client.call("FLUSHALL")
            client.pipeline(
                [
                    ("BF.MADD", "bloom", *range(300)),
                    ("CF.INSERT", "cuckoo", "ITEMS", *range(300)),
                    ("BL.C.RESERVE", "counting", "0.01", 1000),
                    ("BL.W.RESERVE", "window", "0.01", 1000, 60, 3),
                    ("BL.IMPORT", "static", 0, len(STATIC), STATIC),
                    ("SET", "text", "x"),
                    ("BL.C.ADD", "counting", "a"),
                    ("BL.G.RESERVE", "bounded", "0.01", "CAPACITY", 1000),
                    ("BL.G.MADD", "bounded", *range(300)),
                    ("BL.G.MADD", "unbounded", *range(300)),
                    ("BL.W.ADD", "window", "a"),
                ]
            )
            for words in (
                ("BF.SCANDUMP", "bloom", 0),
                ("CF.SCANDUMP", "cuckoo", 0),
                ("BL.EXPORT", "bloom", 0),
                ("BL.EXPORT", "counting", 0),
                ("BL.SCANDUMP", "static", 0),
                ("BL.EXPORT", "static", 0),
                ("BL.EXPORT", "bounded", 0),
                ("BL.SCANDUMP", "unbounded", 0),
            ):
                reply = client.call(*words)
                if isinstance(reply, list):
                    arguments.chunks.append(reply[-1])
                    at = reply[0]
                    reply = client.call(words[0], words[1], at) if at else reply
                    if isinstance(reply, list):
                        arguments.chunks.append(reply[-1])
            for _ in range(250):
                words = arguments.command(names)
                what = "round %d of seed %d: %r" % (round, check.seed, words)
                try:
                    reply = client.call(*words)
                    if isinstance(reply, Error):
                        refused += 1
                        is_error(reply, what)
                    else:
                        accepted += 1
                except (OSError, Broken) as failure:
                    raise AssertionError("%s: %s\n%s" % (what, failure, server.log_tail(6000)))
            true(client.call("PING") == "PONG", "round %d" % round)
            # All that is there can be saved, loaded and digested.
            reply = client.call("DEBUG", "RELOAD")
            true(reply == "OK", "round %d of seed %d: DEBUG RELOAD: %r" % (round, check.seed, reply))
            client.ok("DEBUG", "DIGEST")
        true(accepted > 1000 and refused > 1000, "%d accepted, %d refused" % (accepted, refused))
        print("        seed %d: %d commands accepted, %d refused" % (check.seed, accepted, refused))


def test_broken_protocol():
    """Connections that end within a command, and random bytes."""
    generator = random.Random(check.seed)
    with Server() as server:
        for _ in range(50):
            with server.client() as client:
                client.send(b"*4\r\n$7\r\nBF.MADD\r\n$1\r\nb\r\n$5\r\nab")
            with server.client() as client:
                client.send(generator.randbytes(200))
        with server.client() as client:
            true(client.call("BF.EXISTS", "b", "ab") == 0, "half a command")
