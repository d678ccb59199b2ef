"""A program of redis-py that uses r.bf() and r.cf() as their documentation shows; test_clients.py runs it.

client_redis_py.py PORT PROTOCOL
"""

import sys

import redis


def equal(got, expected, what):
    assert got == expected, "%s: got %r, expected %r" % (what, got, expected)


def fails(what, call, *arguments, **named):
    try:
        reply = call(*arguments, **named)
    except redis.ResponseError as error:
        return str(error)
    raise AssertionError("%s: no error but %r" % (what, reply))


def by_text(told):
    """Names are bytes if the client does not decode."""
    return {name.decode() if isinstance(name, bytes) else name: value for name, value in told.items()}


def bloom(client, three):
    bf = client.bf()
    assert bf.create("bloom", 0.01, 1000)
    assert bf.create("bloom_e", 0.01, 1000, expansion=1)
    assert bf.create("bloom_ns", 0.01, 1000, noScale=True)
    assert "item exists" in fails("create", bf.create, "bloom", 0.01, 1000)
    equal(bf.add("bloom", "foo"), 1, "add")
    equal(bf.add("bloom", "foo"), 0, "add again")
    equal(bf.madd("bloom", "foo", "bar", "baz"), [0, 1, 1], "madd")
    equal(bf.insert("captest", ["foo"], capacity=1000, error=0.01), [1], "insert")
    equal(bf.insert("bloom", ["qux", "foo"], noCreate=True), [1, 0], "insert")
    equal(bf.insert("exp", ["a"], expansion=4, capacity=50), [1], "insert")
    equal(bf.insert("ns", ["a"], noScale=True), [1], "insert")
    assert "not found" in fails("insert", bf.insert, "nothing", ["a"], noCreate=True)
    equal(bf.exists("bloom", "foo"), 1, "exists")
    equal(bf.exists("bloom", "noexist"), 0, "exists")
    equal(bf.mexists("bloom", "foo", "noexist", "baz"), [1, 0, 1], "mexists")
    equal(bf.card("bloom"), 4, "card")
    equal(bf.card("nothing"), 0, "card")
    told = bf.info("bloom")
    if three:
        told = by_text(told)
        equal(
            (
                told["Capacity"],
                told["Number of filters"],
                told["Number of items inserted"],
                told["Expansion rate"],
            ),
            (1000, 1, 4, 2),
            "info",
        )
        equal(by_text(bf.info("bloom_ns"))["Expansion rate"], None, "info, NONSCALING")
    else:
        equal((told.capacity, told.filterNum, told.insertedNum, told.expansionRate), (1000, 1, 4, 2), "info")
        equal(told["capacity"], told.get("capacity"), "info by name")
        equal(bf.info("bloom_ns").expansionRate, None, "info, NONSCALING")
    for i in range(1000):
        bf.add("bloom", i)
    dump(bf, "bloom", "copy")
    equal(sum(bf.mexists("copy", *range(1000))), 1000, "the copy")
    assert client.delete("bloom") == 1 and bf.exists("bloom", "foo") == 0


def cuckoo(client, three, decode):
    cf = client.cf()
    assert cf.create("cuckoo", 1000)
    assert cf.create("cuckoo_e", 1000, expansion=1)
    assert cf.create("cuckoo_bs", 1000, bucket_size=4)
    assert cf.create("cuckoo_mi", 1000, max_iterations=10)
    assert "item exists" in fails("create", cf.create, "cuckoo", 1000)
    equal(cf.add("cuckoo", "filter"), 1, "add")
    equal(cf.addnx("cuckoo", "filter"), 0, "addnx")
    equal(cf.addnx("cuckoo", "filter2"), 1, "addnx")
    equal(cf.insert("cucaptest", ["foo"], capacity=1000), [1], "insert")
    equal(cf.insertnx("cucaptest", ["foo", "bar"], capacity=1000), [0, 1], "insertnx")
    equal(cf.insert("cucaptest", ["foo"], nocreate="1"), [1], "insert")
    fails("insert", cf.insert, "nothing", ["foo"], nocreate="1")
    equal(cf.exists("cuckoo", "filter"), 1, "exists")
    equal(cf.exists("cuckoo", "noexist"), 0, "exists")
    equal(cf.mexists("cuckoo", "filter", "noexist"), [1, 0], "mexists")
    equal(cf.count("cucaptest", "foo"), 2, "count")
    equal(cf.count("cuckoo", "noexist"), 0, "count")
    equal(cf.delete("cuckoo", "filter"), 1, "delete")
    equal(cf.delete("cuckoo", "filter"), 0, "delete again")
    told = cf.info("cuckoo_bs")
    if three:
        told = by_text(told)
        equal(
            (told["Bucket size"], told["Number of filters"], told["Number of items deleted"]),
            (4, 1, 0),
            "info",
        )
    else:
        equal((told.bucketSize, told.filterNum, told.deletedNum), (4, 1, 0), "info")
        equal(cf.info("cuckoo_mi").maxIteration, 10, "info")
    assert cf.create("void", 100)
    equal(list(cf.scandump("void", 0)), [0, None], "the dump of an empty filter")
    for i in range(500):
        cf.add("cuckoo", i)
    # A client that decodes replies takes the bytes of cf.scandump for text; those of bf.scandump it leaves.
    if not decode:
        dump(cf, "cuckoo", "cucopy")
        equal(sum(cf.mexists("cucopy", *range(500))), 500, "the copy")


def dump(commands, source, target):
    at, chunks = 0, []
    while True:
        at, data = commands.scandump(source, at)
        if at == 0:
            break
        chunks.append((at, data))
    assert chunks, "a dump has chunks"
    for at, data in chunks:
        assert commands.loadchunk(target, at, data), "loadchunk"


def pipelines(client):
    pipe = client.bf().pipeline() if hasattr(client.bf(), "pipeline") else client.pipeline()
    pipe.execute_command("BF.ADD", "piped", "a")
    pipe.execute_command("BF.EXISTS", "piped", "a")
    equal([int(one) for one in pipe.execute()], [1, 1], "a pipeline")


def main():
    port, protocol = int(sys.argv[1]), int(sys.argv[2])
    for decode in (False, True):
        client = redis.Redis(host="127.0.0.1", port=port, protocol=protocol, decode_responses=decode)
        client.flushall()
        bloom(client, protocol == 3)
        cuckoo(client, protocol == 3, decode)
        pipelines(client)
        client.close()
    print("redis-py %s, RESP%d" % (redis.__version__, protocol))


main()
