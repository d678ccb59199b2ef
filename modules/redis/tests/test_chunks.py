"""BF.SCANDUMP and BF.LOADCHUNK: a filter in chunks over the wire, and chunks that are no filter."""

from check import SEEDED, BYTES, ERROR, INTEGER, add_all, answers, equal, is_error, keys, none_denied, pairs, true
from resp import OK
from server import Server


def test_scandump():
    """A dump goes over the wire in chunks and becomes an equal filter; other bytes become none."""
    with Server(module_args=SEEDED) as server, server.client() as client:
        client.ok("BF.RESERVE", "b", "0.01", 1000)
        inserted = keys("k", 20000)
        add_all(client, "b", inserted)
        chunks, at = [], 0
        while True:
            reply = client.ok("BF.SCANDUMP", "b", at)
            equal(reply, [INTEGER, BYTES], "BF.SCANDUMP b %d" % at)
            at, data = reply
            if at == 0:
                equal(data, b"", "the data of the last reply")
                break
            chunks.append((at, data))
            true(len(chunks) < 1000, "BF.SCANDUMP has an end")
        for at, data in chunks:
            equal(client.call("BF.LOADCHUNK", "copy", at, data), OK)
        none_denied(client, "copy", inserted)
        asked = inserted + keys("absent", 20000)
        equal(answers(client, "copy", asked), answers(client, "b", asked), "the answers of the copy")
        told, source = pairs(client.ok("BF.INFO", "copy")), pairs(client.ok("BF.INFO", "b"))
        true(abs(told.pop("Size") - source.pop("Size")) < 2000, "Size of the copy")
        equal(list(told.items()), list(source.items()), "BF.INFO of the copy")
        equal(client.ok("DEBUG", "DIGEST-VALUE", "copy"), client.ok("DEBUG", "DIGEST-VALUE", "b"))
        # The copy is a filter as any other.
        more = keys("more", 20000)
        add_all(client, "copy", more)
        none_denied(client, "copy", inserted + more)

        equal(client.call("BF.SCANDUMP", "nothing", 0), ERROR)
        for iterator in ("x", "", "1.5"):
            equal(client.call("BF.SCANDUMP", "b", iterator), ERROR)
            equal(client.call("BF.LOADCHUNK", "bad", iterator, "x"), ERROR)
        for iterator, data in [
            (1, b""),
            (1, b"x"),
            (1, b"\xff" * 64),
            (1, chunks[0][1][:-1]),
            (1, chunks[0][1] + b"x"),
            (2, b"x"),
            (-1, b"x"),
            (0, b"x"),
            (1 << 62, b"x"),
        ]:
            is_error(
                client.call("BF.LOADCHUNK", "bad", iterator, data),
                "BF.LOADCHUNK %d of %d bytes" % (iterator, len(data)),
            )
            equal(client.ok("EXISTS", "bad"), 0, "a key after a bad chunk")


def test_out_of_order():
    """Chunks that are missing, doubled, from another filter or cut are refused; nothing inserted is ever denied."""
    with Server(module_args=SEEDED) as server, server.client() as client:
        dumps = {}
        for name, size in (("one", 5000), ("two", 9000)):
            client.ok("BF.RESERVE", name, "0.01", 100)
            add_all(client, name, keys(name, size))
            dumps[name], at = [], 0
            while True:
                at, data = client.ok("BF.SCANDUMP", name, at)
                if at == 0:
                    break
                dumps[name].append((at, data))
        (head, header), *body = dumps["one"]
        # A filter that is complete does not take the chunks of another.
        before = client.ok("DUMP", "one")
        for at, data in dumps["two"][1:]:
            is_error(client.call("BF.LOADCHUNK", "one", at, data[:100]), "a chunk of another filter, cut")
        none_denied(client, "one", keys("one", 5000))
        equal(client.ok("DUMP", "one"), before, "a filter after chunks that were refused")
        # Only the header: keys of the source may not be denied by something that looks complete.
        client.ok("BF.LOADCHUNK", "part", head, header)
        at, data = body[0]
        is_error(client.call("BF.LOADCHUNK", "part", at + 1, data), "a chunk at the wrong place")
        is_error(client.call("BF.LOADCHUNK", "part", at, data + b"x"), "a chunk that is too long")
