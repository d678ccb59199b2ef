"""docs/REDIS-COMMANDS.md names the errors of each command: each is provoked here, and the module has no other."""

import glob
import os
import re

from check import equal, keys, true
from resp import Error
from samples import STATIC
from server import ROOT, Server
from test_manual import manual, of_column

# What the commands below find. SMALL allows no filter to grow far.
SMALL = ("seed", 7, "max-filter-bytes", 5000, "cf-max-expansions", 2)
FULL = keys("full", 3000)
MADE = [
    ("SET", "text", "x"),
    ("BF.RESERVE", "bloom", "0.01", 1000),
    ("BF.RESERVE", "narrow", "0.01", 100),
    ("BF.RESERVE", "other", "0.01", 10),
    ("BF.RESERVE", "fixed", "0.01", 2, "NONSCALING"),
    ("BF.MADD", "fixed", "a", "b"),
    ("BF.RESERVE", "pair", "0.01", 2, "NONSCALING"),
    ("BF.MADD", "pair", "c", "d"),
    ("BF.RESERVE", "half", "0.01", 300, "NONSCALING"),
    ("BF.MADD", "half") + tuple(keys("half", 290)),
    ("BF.RESERVE", "rest", "0.01", 300, "NONSCALING"),
    ("BF.MADD", "rest") + tuple(keys("rest", 290)),
    ("BF.RESERVE", "grown", "0.01", 10),
    ("BF.MADD", "grown") + tuple(keys("k", 100)),
    ("BF.RESERVE", "large", "0.01", 2000),
    ("BL.IMPORT", "static", 0, len(STATIC), STATIC),
    ("BL.IMPORT", "coming", 0, 1000, "x"),
    ("BL.W.RESERVE", "window", "0.01", 10, 60, 2),
    ("BL.C.RESERVE", "counting", "0.01", 10),
    ("BL.G.RESERVE", "growing", "0.01"),
    ("CF.RESERVE", "cuckoo", 100),
    ("CF.RESERVE", "single", 100, "EXPANSION", 0),
    ("CF.INSERT", "single", "ITEMS") + tuple(FULL),
    ("CF.RESERVE", "links", 8, "EXPANSION", 1),
    ("CF.INSERT", "links", "ITEMS") + tuple(FULL),
    ("CF.RESERVE", "wide", 1500, "EXPANSION", 2),
    ("CF.INSERT", "wide", "ITEMS") + tuple(FULL),
]
HASH = b"12345678"
with open(os.path.join(ROOT, "golden", "cascade", "accepted", "bumps-all-1.bloomline"), "rb") as cascade:
    CASCADE = cascade.read()
NEW = b"".join(b"%08d" % i for i in range(100))

# Each error, and for each command that has it a call.
PROVOKED = [
    ("WRONGTYPE Operation against a key holding the wrong kind of value", [["BF.ADD", "text", "x"]]),
    ("ERR wrong number of arguments", [["BF.ADD", "bloom"]]),
    ("ERR the filter is still being loaded", [["BL.EXISTS", "coming", "x"]]),
    ("ERR Insufficient memory to create filter", [["BF.RESERVE", "new", "0.01", 1000000]]),
    ("ERR item exists", [
        ["BF.RESERVE", "bloom", "0.01", 10], ["BL.W.RESERVE", "window", "0.01", 10, 60, 2],
        ["BL.C.RESERVE", "counting", "0.01", 10], ["BL.G.RESERVE", "growing", "0.01"], ["CF.RESERVE", "cuckoo", 100],
        ["CF.LOADCHUNK", "cuckoo", 1, "x"], ["BL.IMPORT", "bloom", 0, 10, "x"],
    ]),
    ("ERR not found", [
        ["BF.INFO", "none"], ["BF.DEBUG", "none"], ["BF.SCANDUMP", "none", 0],
        ["BF.INSERT", "none", "NOCREATE", "ITEMS", "x"], ["BF.LOADCHUNK", "none", 2, "x"],
        ["BL.HASHINFO", "none"], ["BL.MADDHASH", "none", HASH], ["BL.MEXISTSHASH", "none", HASH],
        ["BL.EXPORT", "none", 0], ["BL.MERGE", "bloom", "none"], ["BL.MERGEFORCE", "bloom", "none"],
        ["BL.W.ADD", "none", "x"], ["BL.W.MADD", "none", "x"], ["BL.W.INFO", "none"], ["BL.W.ADVANCE", "none", 1],
        ["BL.C.ADD", "none", "x"], ["BL.C.MADD", "none", "x"], ["BL.C.DEL", "none", "x"], ["BL.C.MDEL", "none", "x"],
        ["BL.C.INFO", "none"],
        ["BL.G.DEL", "none", "x"], ["BL.G.MDEL", "none", "x"], ["BL.G.INFO", "none"],
        ["CF.INFO", "none"], ["CF.DEBUG", "none"], ["CF.SCANDUMP", "none", 0],
        ["CF.INSERT", "none", "NOCREATE", "ITEMS", "x"], ["CF.INSERTNX", "none", "NOCREATE", "ITEMS", "x"],
        ["CF.LOADCHUNK", "none", 2, "x"],
    ]),
    ("ERR bad error rate", [
        ["BF.RESERVE", "new", "x", 10], ["BL.W.RESERVE", "new", "x", 10, 60, 2], ["BL.C.RESERVE", "new", "x", 10],
        ["BL.G.RESERVE", "new", "x"],
    ]),
    ("ERR error rate must be in the range (", [
        ["BF.RESERVE", "new", 1, 10], ["BL.W.RESERVE", "new", 0, 10, 60, 2], ["BL.C.RESERVE", "new", 2, 10],
        ["BL.G.RESERVE", "new", 2],
    ]),
    ("ERR the false-positive rate is too small", [
        ["BL.W.RESERVE", "new", "1e-300", 10, 60, 2], ["BL.C.RESERVE", "new", "1e-300", 10],
    ]),
    ("Bad error rate", [["BF.INSERT", "new", "ERROR", "x", "ITEMS", "x"]]),
    ("ERR bad capacity", [
        ["BF.RESERVE", "new", "0.01", "x"], ["BL.W.RESERVE", "new", "0.01", "x", 60, 2],
        ["BL.C.RESERVE", "new", "0.01", "x"], ["BL.G.RESERVE", "new", "0.01", "CAPACITY", "x"],
        ["BL.IMPORT", "new", 0, 10, "x", "CAPACITY", "x"],
    ]),
    ("ERR capacity must be in the range [1,", [
        ["BF.RESERVE", "new", "0.01", 0], ["BL.W.RESERVE", "new", "0.01", 0, 60, 2],
        ["BL.C.RESERVE", "new", "0.01", 0], ["BL.G.RESERVE", "new", "0.01", "EXPECTED", 0],
    ]),
    ("Bad capacity", [
        ["BF.INSERT", "new", "CAPACITY", 0, "ITEMS", "x"], ["CF.RESERVE", "new", "x"],
        ["CF.INSERT", "new", "CAPACITY", "x", "ITEMS", "x"], ["CF.INSERTNX", "new", "CAPACITY", "x", "ITEMS", "x"],
    ]),
    ("Capacity must be in the range [", [
        ["CF.RESERVE", "new", 3], ["CF.INSERT", "new", "CAPACITY", 3, "ITEMS", "x"],
        ["CF.INSERTNX", "new", "CAPACITY", 3, "ITEMS", "x"],
    ]),
    ("ERR no expansion", [["BF.RESERVE", "new", "0.01", 10, "EXPANSION"]]),
    ("ERR bad expansion", [["BF.RESERVE", "new", "0.01", 10, "EXPANSION", "x"]]),
    ("ERR expansion must be in the range [0, 32768]", [["BF.RESERVE", "new", "0.01", 10, "EXPANSION", 32769]]),
    ("Bad expansion", [["BF.INSERT", "new", "EXPANSION", "x", "ITEMS", "x"]]),
    ("Nonscaling filters cannot expand", [["BF.RESERVE", "new", "0.01", 10, "NONSCALING", "EXPANSION", 2]]),
    ("ERR bad seed", [
        ["BL.RESERVE", "new", "0.01", 10, "SEED", "x"], ["BL.INSERT", "new", "SEED", "x", "ITEMS", "x"],
        ["BL.W.RESERVE", "new", "0.01", 10, 60, 2, "SEED", "x"], ["BL.C.RESERVE", "new", "0.01", 10, "SEED", "x"],
        ["BL.G.RESERVE", "new", "0.01", "SEED", "x"], ["BL.CF.RESERVE", "new", 100, "SEED", "x"],
    ]),
    ("ERR bad layout", [
        ["BL.RESERVE", "new", "0.01", 10, "LAYOUT", "x"], ["BL.INSERT", "new", "LAYOUT", "x", "ITEMS", "x"],
        ["BL.IMPORT", "new", 0, 10, "x", "LAYOUT", "x"],
    ]),
    ("Unknown argument received", [
        ["BF.INSERT", "new", "x", "ITEMS", "x"], ["CF.INSERT", "new", "x", "ITEMS", "x"],
        ["CF.INSERTNX", "new", "x", "ITEMS", "x"],
    ]),
    ("ERR unknown argument", [
        ["BL.IMPORT", "new", 0, 10, "x", "x", "x"], ["BL.EXPORT", "bloom", 0, "COUNTS", 7],
        ["BL.W.RESERVE", "new", "0.01", 10, 60, 2, "x", "x"],
        ["BL.C.RESERVE", "new", "0.01", 10, "x", "x"], ["BL.G.RESERVE", "new", "0.01", "x", "x"],
        ["BL.RESERVE", "new", "0.01", 10, "NONSCALLING"], ["BL.RESERVE", "new", "0.01", 10, "SEDE", 7],
        ["BL.RESERVE", "new", "0.01", 10, "SEED", 7, "x"], ["BL.CF.RESERVE", "new", 10, "SEDE", 7],
    ]),
    ("ERR non scaling filter is full", [
        ["BF.ADD", "fixed", "x"], ["BF.MADD", "fixed", "x"], ["BF.INSERT", "fixed", "ITEMS", "x"],
        ["BL.MADDHASH", "pair", NEW],
    ]),
    ("ERR problem inserting into filter", [
        ["BF.MADD", "large"] + FULL, ["BF.INSERT", "large", "ITEMS"] + FULL, ["BF.ADD", "large", "x"],
        ["BL.MADDHASH", "large", NEW], ["BL.G.MADD", "growing"] + FULL, ["BL.G.ADD", "growing", "x"],
    ]),
    ("ERR a static filter is read-only", [
        ["BF.ADD", "static", "x"], ["BF.MADD", "static", "x"], ["BF.INSERT", "static", "ITEMS", "x"],
        ["BL.MADDHASH", "static", HASH],
    ]),
    ("Invalid information value", [["BF.INFO", "bloom", "x"]]),
    ("Second argument must be numeric", [["BF.SCANDUMP", "bloom", "x"]]),
    ("ERR Second argument must be numeric", [["BF.LOADCHUNK", "bloom", "x", "x"]]),
    ("ERR received bad data", [["BF.LOADCHUNK", "new", 1, "x"], ["BF.LOADCHUNK", "bloom", 1, "x"]]),
    ("ERR hashes must be 8 bytes each", [["BL.MADDHASH", "bloom", "x"], ["BL.MEXISTSHASH", "bloom", ""]]),
    ("ERR filters do not match", [["BL.MERGE", "bloom", "narrow"], ["BL.MERGEFORCE", "bloom", "narrow"]]),
    ("ERR the merged filter would exceed its error rate", [["BL.MERGE", "half", "rest"]]),
    ("ERR a static filter cannot be merged", [["BL.MERGE", "static", "static2"], ["BL.MERGEFORCE", "bloom", "static"]]),
    ("ERR a cascade cannot be imported", [["BL.IMPORT", "new", 0, len(CASCADE), CASCADE]]),
    ("ERR bad offset", [["BL.EXPORT", "bloom", "x"], ["BL.IMPORT", "new", -1, 10, "x"]]),
    ("ERR bad count", [["BL.EXPORT", "bloom", 0, "COUNT", 0]]),
    ("ERR bad link", [["BL.EXPORT", "bloom", 0, "LINK", "x"]]),
    ("ERR there is no such link", [["BL.EXPORT", "bloom", 0, "LINK", 1]]),
    ("ERR the filter has grown", [["BL.EXPORT", "grown", 0]]),
    ("ERR bad length", [["BL.IMPORT", "new", 0, "x", "x"]]),
    ("ERR no bytes", [["BL.IMPORT", "new", 0, 10, ""]]),
    ("ERR the first chunk begins at offset 0", [["BL.IMPORT", "new", 1, 10, "x"]]),
    ("ERR the next chunk begins at offset", [["BL.IMPORT", "coming", 7, 1000, "x"]]),
    ("ERR period must be in the range [0.001,", [["BL.W.RESERVE", "new", "0.01", 10, 0, 2]]),
    ("ERR generations must be in the range [1, 65536]", [["BL.W.RESERVE", "new", "0.01", 10, 60, 0]]),
    ("ERR bad slice", [["BL.W.ADVANCE", "window", "x"]]),
    ("ERR the clock turns this window", [["BL.W.ADVANCE", "window", 1]]),
    ("Not found", [["CF.DEL", "none", "x"]]),
    ("Cuckoo filter was not found", [["CF.COMPACT", "none"]]),
    ("Couldn't parse", [["CF.RESERVE", "new", 100, "BUCKETSIZE", "x"]]),
    ("BUCKETSIZE: value must be in the range [1, 255]", [["CF.RESERVE", "new", 100, "BUCKETSIZE", 0]]),
    ("MAXITERATIONS: value must be in the range [1, 65535]", [["CF.RESERVE", "new", 100, "MAXITERATIONS", 0]]),
    ("EXPANSION: value must be in the range [0, 32768]", [["CF.RESERVE", "new", 100, "EXPANSION", -1]]),
    ("ERR error rate must be in the range [0.00012, 1)", [["CF.RESERVE", "new", 100, "ERROR", "1e-5"]]),
    ("ERR bad number of expansions", [["BL.CF.RESERVE", "new", 100, "MAXEXPANSIONS", 0]]),
    ("Filter is full", [["CF.ADD", "single", "x"], ["CF.ADDNX", "single", "x"]]),
    ("Maximum expansions reached", [["CF.ADD", "links", "x"], ["CF.ADDNX", "links", "x"]]),
    ("ERR Insufficient memory", [["CF.ADD", "wide", "x"], ["CF.ADDNX", "wide", "x"]]),
    ("Invalid position", [["CF.SCANDUMP", "cuckoo", "x"], ["CF.LOADCHUNK", "new", 0, "x"]]),
    ("Invalid header", [["CF.LOADCHUNK", "new", 1, "x"]]),
    ("Couldn't load chunk!", [["CF.LOADCHUNK", "cuckoo", 2, "x"]]),
]

# Only a fault of the module has it.
UNSEEN = "ERR internal error"


def on_the_page():
    """The pairs of error and command that the page names; the command is None for errors of all of them."""
    found = set()
    for cell, row in of_column("error", manual()):
        (error,) = re.findall("`([^`]+)`", cell)
        names = re.findall("`([^`]+)`", row[1]) if len(row) == 3 else [None]
        found.update((error, name) for name in names)
    return found


def test_each_is_provoked():
    """Each error of each command on the page happens, and no other is provoked."""
    named, faults, seen = on_the_page(), [], set()
    with Server(module_args=SMALL) as server, server.client() as client:
        for command in MADE:
            client.ok(*command)
        client.ok("COPY", "static", "static2")
        for error, commands in PROVOKED:
            for words in commands:
                reply = client.call(*words)
                if isinstance(reply, list) and reply:
                    reply = reply[-1]  # an error ends an array
                pair = (error, words[0]) if (error, None) not in named else (error, None)
                seen.add(pair)
                if not isinstance(reply, Error) or not reply.startswith(error):
                    faults.append("%s replies %r, not %s" % (words[:5], reply, error))
    equal(faults, [], "errors")
    equal(sorted(map(str, named - seen)), [str((UNSEEN, None))], "named, and not provoked")
    equal(sorted(map(str, seen - named)), [], "provoked, and not on the page")
    true(len(seen) > 100, len(seen))


def test_damage():
    """The last chunk of damaged bytes is an error of the library, and the key is gone."""
    with Server() as server, server.client() as client:
        client.ok("BF.RESERVE", "bloom", "0.01", 10)
        (_, header), (_, bytes_) = client.ok("BF.SCANDUMP", "bloom", 0), client.ok("BF.SCANDUMP", "bloom", 1)
        damaged = bytes([bytes_[0] ^ 1]) + bytes_[1:]
        client.ok("BF.LOADCHUNK", "new", 1, header)
        reply = client.call("BF.LOADCHUNK", "new", 1 + len(damaged), damaged)
        true(isinstance(reply, Error) and reply.startswith("ERR the filter is damaged"), reply)
        equal(client.call("EXISTS", "new"), 0, "the key")
        reply = client.call("BL.IMPORT", "new", 0, len(damaged), damaged)
        true(isinstance(reply, Error) and reply.startswith("ERR the filter is damaged"), reply)
        equal(client.call("EXISTS", "new"), 0, "the key")


def test_no_other():
    """Each error in the module's code is on the page."""
    named = [error for error, _ in on_the_page()]
    texts = []
    for path in glob.glob(os.path.join(ROOT, "modules/redis/src/**/*.rs"), recursive=True):
        with open(path) as file:
            code = file.read().split("#[cfg(test)]")[0]
        places = r"(?:fail\(|Fail::Text\(|ctx\.error\(|_position: |header: |chunk: |again: |=> )"
        texts += re.findall(places + r'\s*"([^"]+)"', code)
        texts += re.findall(r'Fail::Text\(\s*format!\(\s*"([^"]+)"', code)
    # Not the words of options and fields.
    texts = {text for text in texts if re.match(r"(ERR|[A-Z{][^.{]*[a-z}]+ [a-z])", text)}
    true(len(texts) > 40, len(texts))
    missing = []
    for text in sorted(texts):
        # What stands in braces differs from case to case.
        pattern = "[^`]*".join(re.escape(part) for part in re.split(r"\{[^}]*\}", text))
        if not any(re.match(pattern, error) or text.startswith(error) for error in named):
            missing.append(text)
    equal(missing, [], "errors that the page lacks")
