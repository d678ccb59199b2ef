"""What a good module of a server does besides: events, INFO, load options, names that are taken, reads on replicas."""

from check import add_all, equal, is_error, keys, none_denied, pairs, true
from resp import OK, Client, Push
from samples import KINDS, make
from server import MODULE, NotStarted, Server, info, wait_until
from test_fuzz import own_commands


def test_keyspace_events():
    with Server() as server, server.client() as client, server.client() as listener:
        client.ok("CONFIG", "SET", "notify-keyspace-events", "KEA")
        client.ok("CONFIG", "SET", "notify-keyspace-events", "KEAd")
        listener.ok("PSUBSCRIBE", "__keyspace@0__:*")
        for words, event in [
            (("BF.RESERVE", "b", "0.01", 100), b"bloom.reserve"),
            (("BF.ADD", "b", "x"), b"bloom.add"),
            (("CF.RESERVE", "c", 100), b"cuckoo.reserve"),
            (("CF.ADD", "c", "x"), b"cuckoo.add"),
            (("CF.DEL", "c", "x"), b"cuckoo.del"),
            (("BL.C.RESERVE", "n", "0.01", 100), b"counting.reserve"),
            (("BL.C.ADD", "n", "x"), b"counting.add"),
            (("BL.C.DEL", "n", "x"), b"counting.del"),
            (("BL.G.RESERVE", "g", "0.01"), b"growing.reserve"),
            (("BL.G.ADD", "g", "x"), b"growing.add"),
            (("BL.G.DEL", "g", "x"), b"growing.del"),
            (("BL.W.RESERVE", "w", "0.01", 100, 60, 3), b"window.reserve"),
            (("BL.W.ADD", "w", "x"), b"window.add"),
            (("BL.MERGE", "m", "b"), b"bloom.merge"),
        ]:
            client.ok(*words)
            name = words[1].encode()
            equal(
                listener.read(),
                [b"pmessage", b"__keyspace@0__:*", b"__keyspace@0__:" + name, event],
                repr(words),
            )
        # What changes nothing is no event.
        client.ok("BF.ADD", "b", "x")
        client.call("CF.DEL", "c", "absent")
        client.ok("BF.EXISTS", "b", "x")
        client.ok("DEL", "b")
        equal(listener.read()[3], b"del")


def test_info_section():
    with Server() as server, server.client() as client:

        def numbers():
            return [
                (name, int(value))
                for name, value in sorted(info(client).items())
                if name.startswith("bloomline_")
            ]

        equal([value for _, value in numbers()], [0, 0], "INFO before")
        make(client)
        told = dict(numbers())
        used = sum(client.ok("MEMORY", "USAGE", name) for name in KINDS)
        count, size = sorted(told.values())
        equal(count, len(KINDS), "filters in INFO")
        true(abs(size - used) < 0.05 * used, "bytes in INFO %d, MEMORY USAGE %d" % (size, used))
        client.ok("COPY", "bloom", "twin")
        client.ok("DEBUG", "RELOAD")
        # Valkey 9 frees the old keys in the background.
        wait_until(lambda: min(value for _, value in numbers()) == len(KINDS) + 1, "INFO after a reload", 10)
        client.ok("FLUSHALL", "ASYNC")
        wait_until(lambda: all(value == 0 for _, value in numbers()), "INFO is 0 after FLUSHALL", 10)


def test_bad_load_options():
    """A wrong option stops the server at start, with a line in the log that names it."""
    for options in (
        ("bf-error-rate", "2"),
        ("bf-error-rate",),
        ("no-such-option", "1"),
        ("cf-bucket-size", "0"),
        ("max-filter-bytes", "-1"),
        ("compat", "maybe"),
    ):
        server = Server(module_args=options, start=False)
        try:
            server.start()
            raise AssertionError("the server took %r" % (options,))
        except NotStarted as failure:
            true(options[0] in str(failure), "the log does not name %s:\n%s" % (options[0], failure))
            true(server.process.returncode == 1, "the server ended with %d" % server.process.returncode)
            server.check_log()
        finally:
            server.stop()


def test_loaded_twice():
    """MODULE LOAD of a module that is there is an error; unloading one with a data type, too."""
    with Server("--enable-module-command", "yes") as server, server.client() as client:
        client.ok("BF.ADD", "b", "x")
        is_error(client.call("MODULE", "LOAD", MODULE), "MODULE LOAD again")
        is_error(client.call("MODULE", "UNLOAD", "bloomline"), "MODULE UNLOAD")
        equal(client.ok("BF.EXISTS", "b", "x"), 1)
        names = [pairs(one)["name"] for one in client.ok("MODULE", "LIST")]
        # Redis 8 has modules of its own.
        equal(names.count(b"bloomline"), 1, "the modules %r" % names)


def test_tracking():
    """A client that caches what it read is told of a change."""
    with Server() as server, server.client() as writer:
        reader = Client(server.port, protocol=3)
        reader.ok("CLIENT", "TRACKING", "ON")
        writer.ok("BF.ADD", "b", "x")
        equal(reader.ok("BF.EXISTS", "b", "y"), False)
        writer.ok("BF.ADD", "b", "y")
        pushed = reader._read()
        true(isinstance(pushed, Push) and pushed == [b"invalidate", [b"b"]], "told: %r" % pushed)
        reader.close()


def test_expiry_and_rename():
    """Filters are keys as others: TTL, RENAME, MOVE, OBJECT, RANDOMKEY, SCAN by type."""
    with Server() as server, server.client() as client:
        client.ok("BF.RESERVE", "b", "0.01", 100)
        add_all(client, "b", keys("k", 500))
        equal(client.call("PEXPIRE", "b", 100000), 1)
        client.ok("BF.ADD", "b", "more")
        true(client.ok("PTTL", "b") > 0, "an insert keeps the time to live")
        client.ok("PERSIST", "b")
        client.ok("RENAME", "b", "c")
        none_denied(client, "c", keys("k", 500))
        equal(client.call("MOVE", "c", 1), 1)
        client.ok("SELECT", 1)
        none_denied(client, "c", keys("k", 500))
        equal(client.ok("SCAN", 0, "TYPE", "bloomline", "COUNT", 100)[1], [b"c"])
        true(client.ok("OBJECT", "ENCODING", "c") is not None, "OBJECT ENCODING")
        client.ok("PEXPIRE", "c", 1)
        wait_until(lambda: client.ok("EXISTS", "c") == 0, "the key expires", 60)
        equal(client.call("BF.EXISTS", "c", "k:1"), 0)
        equal(client.call("SWAPDB", 0, 1), OK)


def test_acl_categories():
    """Commands are in @read or @write, and in the module's own category, as far as the server lets modules say so."""
    with Server() as server, server.client() as client:
        told = info(client, "server")
        version = tuple(map(int, told["redis_version"].split(".")[:2]))
        own = "valkey_version" in told or version >= (7, 4)
        equal(b"bloomline" in client.ok("ACL", "CAT"), own, "the category on this server")
        if version < (7, 2):
            print("        this server has no categories for modules: nothing was tested")
            return
        for name in own_commands(client):
            one = client.ok("COMMAND", "INFO", name)[0]
            kind = {"@write"} if "write" in one[2] else {"@read"}
            speed = {"@fast"} if "fast" in one[2] else {"@slow"}
            expected = kind | speed | ({"@bloomline"} if own else set())
            equal({str(category).lstrip("+") for category in one[6]}, expected, "the categories of " + name)
        client.ok("BF.ADD", "b", "x")
        users = [("reader", "-@write", False)] + ([("user", "-@all", True), ("none", "-@bloomline", None)] * own)
        for user, rule, may_write in users:
            more = ("+@bloomline",) if may_write else ()
            client.ok("ACL", "SETUSER", user, "on", "nopass", "~*", "+@all", rule, *more)
            with server.client() as other:
                other.ok("AUTH", user, "x")
                for words, may in ((("BF.ADD", "b", "x"), may_write), (("BF.EXISTS", "b", "x"), may_write is not None)):
                    reply = other.call(*words)
                    true(("NOPERM" not in str(reply)) == bool(may), "%s: %r: %r" % (user, words, reply))
