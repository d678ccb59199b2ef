"""BF.*: every command's replies and errors, in RESP2 and RESP3, as clients of RedisBloom know them."""

from check import (
    SEEDED,
    ANY,
    ERROR,
    INTEGER,
    WRONGTYPE,
    add_all,
    answers,
    arity,
    both_protocols,
    equal,
    is_error,
    keys,
    none_denied,
    pairs,
    rate,
    true,
)
from resp import OK, Error, Map, Status
from server import Server

NO, YES = 0, 1


def test_replies():
    with Server(module_args=SEEDED) as server:
        both_protocols(
            server,
            [
                ("BF.RESERVE b 0.01 1000", OK),
                ("BF.RESERVE b 0.01 1000", Error("ERR item exists")),
                ("TYPE b", ANY(lambda reply: isinstance(reply, Status) and reply != "none", "+a type")),
                ("BF.ADD b apple", 1, True),
                ("BF.ADD b apple", 0, False),
                ("BF.EXISTS b apple", 1, True),
                ("BF.EXISTS b pear", 0, False),
                ("BF.MADD b apple plum quince", [0, 1, 1], [False, True, True]),
                ("BF.MADD b kiwi kiwi", [1, 0], [True, False]),
                ("BF.MEXISTS b apple plum fig kiwi", [1, 1, 0, 1], [True, True, False, True]),
                ("BF.MEXISTS b fig", [0], [False]),
                ("BF.CARD b", 4),
                # Made when absent, with the defaults.
                ("BF.ADD new apple", 1, True),
                ("BF.INFO new CAPACITY", [100], Map([(Status("Capacity"), 100)])),
                ("BF.MADD new2 a b", [1, 1], [True, True]),
                ("BF.INSERT new3 ITEMS a b a", [1, 1, 0], [True, True, False]),
                # What is not there.
                ("BF.EXISTS nothing a", 0, False),
                ("BF.MEXISTS nothing a b", [0, 0], [False, False]),
                ("BF.CARD nothing", 0),
                ("BF.INFO nothing", Error("ERR not found")),
                ("EXISTS nothing", 0),
                # Binary and empty items.
                (("BF.ADD", "b", b""), 1, True),
                (("BF.EXISTS", "b", b""), 1, True),
                (("BF.ADD", "b", b"\x00\r\n\xff"), 1, True),
                (("BF.MEXISTS", "b", b"\x00\r\n\xff", b"\x00\r\n\xfe"), [1, 0], [True, False]),
                ((b"BF.ADD", b"\x00key\xff", b"x"), 1, True),
                # Any case.
                ("bf.exists b apple", 1, True),
                ("bf.reserve lower 0.01 10 expansion 4 ", OK),
                ("Bf.Reserve lower2 0.01 10 NonScaling", OK),
            ],
        )


def test_reserve_errors():
    rate_range = Error("ERR error rate must be in the range (0.000000, 1.000000)")
    capacity_range = Error("ERR capacity must be in the range [1, 1073741824]")
    expansion_range = Error("ERR expansion must be in the range [0, 32768]")
    with Server(module_args=SEEDED) as server:
        both_protocols(
            server,
            [
                ("BF.RESERVE b", arity("BF.RESERVE")),
                ("BF.RESERVE b 0.01", arity("BF.RESERVE")),
                ("BF.RESERVE b 0.01 10 EXPANSION 2 NONSCALING x", arity("BF.RESERVE")),
                ("BF.RESERVE b x 10", Error("ERR bad error rate")),
                ("BF.RESERVE b '' 10", Error("ERR bad error rate")),
                ("BF.RESERVE b nan 10", ERROR),
                ("BF.RESERVE b 0 10", rate_range),
                ("BF.RESERVE b 1 10", rate_range),
                ("BF.RESERVE b 2 10", rate_range),
                ("BF.RESERVE b -0.5 10", rate_range),
                ("BF.RESERVE b inf 10", rate_range),
                ("BF.RESERVE b 0.01 x", Error("ERR bad capacity")),
                ("BF.RESERVE b 0.01 1.5", Error("ERR bad capacity")),
                ("BF.RESERVE b 0.01 9223372036854775808", Error("ERR bad capacity")),
                ("BF.RESERVE b 0.01 0", capacity_range),
                ("BF.RESERVE b 0.01 -1", capacity_range),
                ("BF.RESERVE b 0.01 1073741825", capacity_range),
                ("BF.RESERVE b 0.01 9223372036854775807", capacity_range),
                ("BF.RESERVE b 0.01 10 EXPANSION", Error("ERR no expansion")),
                ("BF.RESERVE b 0.01 10 EXPANSION x", Error("ERR bad expansion")),
                ("BF.RESERVE b 0.01 10 EXPANSION -1", expansion_range),
                ("BF.RESERVE b 0.01 10 EXPANSION 32769", expansion_range),
                ("BF.RESERVE b 0.01 10 EXPANSION 2 NONSCALING", Error("Nonscaling filters cannot expand")),
                ("BF.RESERVE b 0.01 10 NONSCALING EXPANSION 2", Error("Nonscaling filters cannot expand")),
                ("EXISTS b", 0),
                # The bounds themselves.
                ("BF.RESERVE one 0.01 1", OK),
                ("BF.RESERVE zero 0.01 10 EXPANSION 0", OK),
                ("BF.RESERVE most 0.01 10 EXPANSION 32768", OK),
                ("BF.RESERVE tiny 0.000001 10", OK),
                ("BF.RESERVE coarse 0.9 10", OK),
                ("BF.ADD coarse x", 1, True),
                ("BF.EXISTS coarse x", 1, True),
            ],
        )


def test_wrong_type():
    with Server(module_args=SEEDED) as server:
        for make in (["SET", "t", "text"], ["RPUSH", "t", "a"], ["CF.RESERVE", "t", "100"]):
            with server.client() as client:
                client.ok("DEL", "t")
                client.ok(*make)
                before = client.ok("DUMP", "t")
                for words in [
                    "BF.RESERVE t 0.01 10",
                    "BF.ADD t a",
                    "BF.MADD t a b",
                    "BF.INSERT t ITEMS a",
                    "BF.CARD t",
                    "BF.INFO t",
                ]:
                    equal(client.call(*words.split()), WRONGTYPE, "%s on a %s" % (words, make[0]))
                equal(client.call("BF.SCANDUMP", "t", 0), WRONGTYPE, "BF.SCANDUMP on a " + make[0])
                equal(client.call("BF.LOADCHUNK", "t", 1, "x"), WRONGTYPE, "BF.LOADCHUNK on a " + make[0])
                # Another kind of filter may have the item: 0 would deny it.
                cuckoo = make[0] == "CF.RESERVE"
                equal(client.call("BF.EXISTS", "t", "a"), WRONGTYPE if cuckoo else 0)
                equal(client.call("BF.MEXISTS", "t", "a", "b"), WRONGTYPE if cuckoo else [0, 0])
                equal(client.ok("DUMP", "t"), before, "the other type's value")
        with server.client() as client:
            client.ok("BF.ADD", "b", "x")
            for words in ["GET b", "CF.ADD b x", "CF.ADDNX b x", "CF.RESERVE b 100", "LPUSH b x"]:
                reply = client.call(*words.split())
                true(
                    reply == WRONGTYPE or reply == "ERR item exists" and "RESERVE" in words,
                    "%s: %r" % (words, reply),
                )


def test_arity():
    with Server(module_args=SEEDED) as server:
        both_protocols(
            server,
            [
                ("BF.ADD", arity("BF.ADD")),
                ("BF.ADD b", arity("BF.ADD")),
                ("BF.ADD b x y", arity("BF.ADD")),
                ("BF.MADD b", arity("BF.MADD")),
                ("BF.EXISTS b", arity("BF.EXISTS")),
                ("BF.EXISTS b x y", arity("BF.EXISTS")),
                ("BF.MEXISTS b", arity("BF.MEXISTS")),
                ("BF.INSERT b", arity("BF.INSERT")),
                ("BF.INSERT b ITEMS", arity("BF.INSERT")),
                ("BF.INSERT b CAPACITY 10", arity("BF.INSERT")),
                ("BF.INSERT b NOCREATE ITEMS", arity("BF.INSERT")),
                ("BF.INFO", arity("BF.INFO")),
                ("BF.INFO b SIZE x", arity("BF.INFO")),
                ("BF.CARD", arity("BF.CARD")),
                ("BF.CARD b x", arity("BF.CARD")),
                ("BF.SCANDUMP b", arity("BF.SCANDUMP")),
                ("BF.LOADCHUNK b 1", arity("BF.LOADCHUNK")),
                ("BF.LOADCHUNK b 1 x y", arity("BF.LOADCHUNK")),
                ("DBSIZE", 0),
            ],
        )


def test_insert_options():
    nothing = Error("ERR not found")
    with Server(module_args=SEEDED) as server:
        both_protocols(
            server,
            [
                ("BF.INSERT a CAPACITY 500 ERROR 0.001 EXPANSION 4 ITEMS x y", [1, 1], [True, True]),
                ("BF.INFO a CAPACITY", [500], Map([(Status("Capacity"), 500)])),
                ("BF.INFO a EXPANSION", [4], Map([(Status("Expansion rate"), 4)])),
                # Options count by their first letters.
                ("BF.INSERT b c 700 er 0.001 ex 8 i x", [1], [True]),
                ("BF.INFO b CAPACITY", [700], Map([(Status("Capacity"), 700)])),
                ("BF.INFO b EXPANSION", [8], Map([(Status("Expansion rate"), 8)])),
                ("BF.INSERT c NONSCALING ITEMS x", [1], [True]),
                ("BF.INFO c EXPANSION", [None], Map([(Status("Expansion rate"), None)])),
                ("BF.INSERT d NOCREATE ITEMS x", nothing),
                ("EXISTS d", 0),
                ("BF.INSERT a NOCREATE ITEMS x z", [0, 1], [False, True]),
                # Options of a filter that is there change nothing.
                ("BF.INSERT a CAPACITY 9 ITEMS x", [0], [False]),
                ("BF.INFO a CAPACITY", [500], Map([(Status("Capacity"), 500)])),
                ("BF.INSERT e ERROR x ITEMS y", Error("Bad error rate")),
                ("BF.INSERT e ERROR 0 ITEMS y", ERROR),
                ("BF.INSERT e ERROR 1 ITEMS y", ERROR),
                ("BF.INSERT e ERROR nan ITEMS y", ERROR),
                ("BF.INSERT e EXPANSION x ITEMS y", Error("Bad expansion")),
                ("BF.INSERT e EXPANSION -1 ITEMS y", ERROR),
                ("BF.INSERT e CAPACITY x ITEMS y", Error("Bad capacity")),
                ("BF.INSERT e CAPACITY 0 ITEMS y", ERROR),
                ("BF.INSERT e CAPACITY 9223372036854775807 ITEMS y", ERROR),
                ("BF.INSERT e WHAT ITEMS y", Error("Unknown argument received")),
                ("EXISTS e", 0),
                # A word behind ITEMS is an item.
                ("BF.INSERT f ITEMS ITEMS CAPACITY 5", [1, 1, 1], [True, True, True]),
                ("BF.MEXISTS f ITEMS CAPACITY 5 6", [1, 1, 1, 0], [True, True, True, False]),
            ],
        )


def test_info():
    names = ["Capacity", "Size", "Number of filters", "Number of items inserted", "Expansion rate"]
    with Server(module_args=SEEDED) as server:
        for protocol in (2, 3):
            with server.client(protocol) as client:
                client.ok("FLUSHALL")
                client.ok("BF.RESERVE", "b", "0.01", "1000")
                client.ok("BF.RESERVE", "fixed", "0.01", "1000", "NONSCALING")
                client.ok("BF.MADD", "b", "x", "y")
                reply = client.ok("BF.INFO", "b")
                equal(type(reply), Map if protocol == 3 else list, "BF.INFO")
                flat = [word for pair in reply for word in pair] if protocol == 3 else reply
                equal(
                    flat[::2],
                    [Status(name) for name in names],
                    "the names of BF.INFO, in order, as simple strings",
                )
                equal(flat[1::2], [1000, INTEGER, 1, 2, 2], "the values of BF.INFO")
                true(1000 * 9.5 / 8 < flat[3] < 20000, "Size of a filter for 1000 keys: %r" % flat[3])
                equal(pairs(client.ok("BF.INFO", "fixed"))["Expansion rate"], None, "NONSCALING")
                for word, name, value in [
                    ("CAPACITY", 0, 1000),
                    ("SIZE", 1, flat[3]),
                    ("FILTERS", 2, 1),
                    ("ITEMS", 3, 2),
                    ("EXPANSION", 4, 2),
                    ("items", 3, 2),
                ]:
                    one = Map([(Status(names[name]), value)]) if protocol == 3 else [value]
                    equal(client.call("BF.INFO", "b", word), one, "BF.INFO b " + word)
                equal(client.call("BF.INFO", "b", "COLOUR"), Error("Invalid information value"))


def test_scaling():
    """Sub-filters of 100, 200, 400, ...; all keys stay; the counts are those of a plain set."""
    with Server(module_args=SEEDED) as server, server.client() as client:
        for expansion in (1, 2, 4):
            name = "b%d" % expansion
            client.ok("BF.RESERVE", name, "0.001", 100, "EXPANSION", expansion)
            inserted = keys(name, 3000 if expansion > 1 else 400)
            new = add_all(client, name, inserted, size=100)
            none_denied(client, name, inserted)
            true(new >= 0.995 * len(inserted), "%d of %d keys reported as new" % (new, len(inserted)))
            equal(client.ok("BF.CARD", name), new, "BF.CARD")
            told = pairs(client.ok("BF.INFO", name))
            equal(told["Number of items inserted"], new)
            filters = told["Number of filters"]
            equal(told["Capacity"], sum(100 * expansion**i for i in range(filters)), "%d filters" % filters)
            true(told["Capacity"] >= new, "capacity %d for %d keys" % (told["Capacity"], new))
            equal(sum(answers(client, name, inserted)), len(inserted))


def test_nonscaling_is_full():
    full = Error("ERR non scaling filter is full")
    with Server(module_args=SEEDED) as server:
        for protocol in (2, 3):
            with server.client(protocol) as client:
                client.ok("FLUSHALL")
                for make in (("NONSCALING",), ("EXPANSION", "0")):
                    client.ok("DEL", "b")
                    client.ok("BF.RESERVE", "b", "0.000001", "10", *make)
                    first = keys("k", 8)
                    equal(client.ok("BF.MADD", "b", *first), [1] * 8 if protocol == 2 else [True] * 8)
                    # Two fit; the error is an element, and what is behind it is dropped.
                    reply = client.call("BF.MADD", "b", "p", "q", "r", "s")
                    equal(reply, [1, 1, full] if protocol == 2 else [True, True, full], "BF.MADD at the end")
                    equal(client.call("BF.ADD", "b", "t"), full)
                    equal(client.call("BF.INSERT", "b", "ITEMS", "u", "v"), [full])
                    # A key that is present needs no place.
                    equal(
                        client.call("BF.ADD", "b", "p"),
                        0 if protocol == 2 else False,
                        "a present key in a full filter",
                    )
                    equal(client.ok("BF.CARD", "b"), 10)
                    equal(sum(client.ok("BF.MEXISTS", "b", *first, "p", "q")), 10)
                    equal(
                        sum(client.ok("BF.MEXISTS", "b", "r", "s", "t", "u")), 0, "keys that found no place"
                    )


def test_rates():
    """The measured rate is not above the asked one, at the capacity and scaled to many times of it."""
    with Server(module_args=SEEDED) as server, server.client() as client:
        for asked in (0.1, 0.01, 0.001):
            for times in (1, 10, 100):
                name = "b%s:%d" % (asked, times)
                client.ok("BF.RESERVE", name, repr(asked), 1000)
                inserted = keys(name, 1000 * times)
                add_all(client, name, inserted)
                none_denied(client, name, inserted)
                probes = 20000
                measured = rate(client, name, keys("absent", probes))
                noise = 4 * (asked * (1 - asked) / probes) ** 0.5
                true(
                    measured <= asked + noise,
                    "rate %g at %d times the capacity, asked %g" % (measured, times, asked),
                )


def test_defaults():
    """CONFIG or load options set what BF.ADD makes of an absent key."""
    with Server(module_args=SEEDED) as server, server.client() as client:
        client.ok("BF.ADD", "b", "x")
        told = pairs(client.ok("BF.INFO", "b"))
        equal((told["Capacity"], told["Expansion rate"]), (100, 2), "the defaults")
    with Server(
        module_args=("ERROR_RATE", "0.001", "INITIAL_SIZE", "4000")
    ) as server, server.client() as client:
        client.ok("BF.ADD", "b", "x")
        equal(pairs(client.ok("BF.INFO", "b"))["Capacity"], 4000, "INITIAL_SIZE as a load option")
        true(pairs(client.ok("BF.INFO", "b"))["Size"] > 4000 * 14 / 8, "ERROR_RATE as a load option")


def test_command_table():
    """COMMAND INFO: keys, flags; COMMAND GETKEYS; and ACL by key."""
    writes = "RESERVE ADD MADD INSERT LOADCHUNK".split()
    reads = "EXISTS MEXISTS SCANDUMP INFO CARD".split()
    with Server(module_args=SEEDED) as server, server.client() as client:
        for name in writes + reads:
            told = client.ok("COMMAND", "INFO", "BF." + name)[0]
            true(told is not None, "there is no BF." + name)
            equal(told[3:6], [1, 1, 1], "the key of BF." + name)
            flags = {str(flag) for flag in told[2]}
            true(
                ("write" if name in writes else "readonly") in flags, "BF.%s has the flags %s" % (name, flags)
            )
            if name in writes:
                true("denyoom" in flags, "BF.%s is denied without memory: %s" % (name, flags))
        equal(client.ok("COMMAND", "GETKEYS", "BF.MADD", "k", "a", "b"), [b"k"])
        client.ok("ACL", "SETUSER", "reader", "on", "nopass", "~mine", "+@all")
        client.ok("AUTH", "reader", "x")
        true("NOPERM" in client.call("BF.ADD", "other", "x"), "a key that the user may not touch")
        equal(client.call("BF.ADD", "mine", "x"), 1)
