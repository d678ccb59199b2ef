"""One key of every kind with known members, for tests that move, save and copy keys."""

from check import equal, keys, none_denied, true
from files import write_static
from resp import OK

SIZE = 3000
STATIC = write_static(keys("static", SIZE), 9)

# Key: how it is made, how items are added, how they are asked for. None: by CF.INSERT, or not at all.
KINDS = {
    "bloom": (("BF.RESERVE", "bloom", "0.01", 5000, "NONSCALING"), "BF.MADD", "BF.MEXISTS"),
    "scaled": (("BF.RESERVE", "scaled", "0.01", 100), "BF.MADD", "BF.MEXISTS"),
    "classic": (("BL.RESERVE", "classic", "0.0001", 500, "LAYOUT", "classic"), "BF.MADD", "BF.MEXISTS"),
    "classic2": (("BL.RESERVE", "classic2", "0.0001", 500, "LAYOUT", "classic2"), "BF.MADD", "BF.MEXISTS"),
    "cuckoo": (("CF.RESERVE", "cuckoo", 5000), None, "CF.MEXISTS"),
    "grown": (("CF.RESERVE", "grown", 500, "EXPANSION", 2), None, "CF.MEXISTS"),
    "counting": (("BL.C.RESERVE", "counting", "0.01", 5000), "BL.C.MADD", "BL.C.MEXISTS"),
    "window": (("BL.W.RESERVE", "window", "0.01", 5000, 86400, 4), "BL.W.MADD", "BL.W.MEXISTS"),
    "bounded": (("BL.G.RESERVE", "bounded", "0.01", "CAPACITY", 5000), "BL.G.MADD", "BL.G.MEXISTS"),
    "unbounded": (("BL.G.RESERVE", "unbounded", "0.01", "EXPECTED", 50), "BL.G.MADD", "BL.G.MEXISTS"),
    "empty": (("BF.RESERVE", "empty", "0.01", 1000), "BF.MADD", "BF.MEXISTS"),
    "static": (("BL.IMPORT", "static", 0, len(STATIC), STATIC), None, "BL.MEXISTS"),
}
# Those that items can be added to.
GROWING = tuple(name for name in KINDS if name != "static")


def members(name):
    return [] if name == "empty" else keys(name, SIZE)


def add(client, name, items):
    add_command = KINDS[name][1]
    if add_command is None:
        client.ok("CF.INSERT", name, "ITEMS", *items)
    else:
        client.ok(add_command, name, *items)


def make(client, names=tuple(KINDS)):
    for name in names:
        equal(client.call(*KINDS[name][0]), OK, "making %s" % name)
        items = members(name) if name in GROWING else []
        for at in range(0, len(items), 500):
            add(client, name, items[at : at + 500])
        if name == "cuckoo":
            equal(client.ok("CF.DEL", name, items[0]), 1)
            client.ok("CF.ADD", name, items[0])


def ask(client, name, items, key=None):
    found = []
    for at in range(0, len(items), 1000):
        found += client.ok(KINDS[name][2], key or name, *items[at : at + 1000])
    return found


def snapshot(client, names=tuple(KINDS)):
    """What tells two servers apart: digests, and the answers to absent keys, false positives included."""
    absent = keys("absent", 3000)
    return {name: (client.ok("DEBUG", "DIGEST-VALUE", name), ask(client, name, absent)) for name in names}


def check_all(client, names=tuple(KINDS), before=None):
    """No member is denied; with `before`, digests and all answers are those of then."""
    for name in names:
        if members(name):
            none_denied(client, name, members(name), KINDS[name][2])
    if before is not None:
        now = snapshot(client, names)
        for name in names:
            true(
                now[name] == before[name],
                "%s has changed: %s, was %s"
                % (name, now[name][0] if now[name][0] != before[name][0] else "answers", before[name][0]),
            )
