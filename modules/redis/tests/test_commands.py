"""What the server says of each command: names, arguments, keys and what becomes of them; and docs/REDIS-COMMANDS.md,
which says the same. What a key of another kind is to each."""

import os
import re

from check import WRONGTYPE, equal, keys, pairs, true
from resp import OK, Error
from samples import KINDS, make
from server import ROOT, Server
from test_fuzz import own_commands

MANUAL = os.path.join(ROOT, "docs", "REDIS-COMMANDS.md")


def documented():
    """The commands in the tables of the manual, with their arguments: the columns before that of the reply."""
    found, columns = {}, 0
    with open(MANUAL) as page:
        for line in page:
            cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if not line.startswith("|"):
                columns = 0
            elif cells[0] == "command" and "reply" in cells:
                columns = cells.index("reply")
            taken = []
            for cell in cells[:columns]:
                before, taken = taken, []
                for i, (name, text) in enumerate(re.findall(r"`((?:BF|CF|BL)\.[A-Z.]+) ?([^`]*)`", cell)):
                    if before and text.startswith("..."):
                        text = with_more(before[i], text[3:].strip())
                    elif not text:
                        # As the one in the column before, or else the one before.
                        text = before[i] if before else taken[-1]
                    taken.append(text)
                    found[name.lower()] = text
    return found


def with_more(text, more):
    """Options come before the items."""
    head, items, rest = text.partition(" ITEMS ")
    return "%s %s%s%s" % (head, more, items, rest)


def told(client, name):
    """The arguments of a command, as COMMAND DOCS has them."""
    ((_, docs),) = pairs(client.ok("COMMAND", "DOCS", name)).items()
    docs = pairs(docs)
    for field in ("summary", "complexity", "since"):
        true(docs.get(field), "%s has no %s" % (name, field))
    return " ".join(shown(pairs(one)) for one in docs["arguments"])


def shown(argument):
    name, kind = argument["name"].decode(), argument["type"].decode()
    token, flags = argument.get("token", b"").decode(), {str(flag) for flag in argument.get("flags", ())}
    if kind == "oneof":
        text = "|".join(shown(pairs(one)) for one in argument["arguments"])
    elif kind == "pure-token":
        text = token
    else:
        text = ("%s %s" % (token, name)).strip()
    if "multiple" in flags:
        text += " [%s ...]" % name
    return "[%s]" % text if "optional" in flags else text


def test_manual():
    """The tables of docs/REDIS-COMMANDS.md have each command that is registered, no other, and what it takes."""
    manual = documented()
    true(len(manual) > 60, "the manual has %d commands" % len(manual))
    with Server() as server, server.client() as client:
        registered = own_commands(client)
        equal(sorted(set(registered) - set(manual)), [], "commands that the manual lacks")
        equal(sorted(set(manual) - set(registered)), [], "commands of the manual that are not registered")
        for name in registered:
            equal(told(client, name), manual[name], "the arguments of " + name)
            must = re.sub(r"\[[^]]*\]", "", manual[name]).split()
            arity = 1 + len(must)
            equal(client.ok("COMMAND", "INFO", name)[0][1], -arity if "[" in manual[name] else arity, name)


def test_paths_of_the_manuals():
    """A relative path of a module is one from where the server runs."""
    for page in ("README.md", os.path.join("docs", "REDIS.md")):
        with open(os.path.join(ROOT, page)) as text:
            paths = re.findall(r"--loadmodule ([^\s`]+)", text.read())
        true(paths, "%s loads the module" % page)
        for path in paths:
            path = path.replace("$PWD", ROOT)
            true(os.path.isabs(path), "%s: %s" % (page, path))
            equal(os.path.basename(path), "libbloomline_redis.so", page)


def test_names():
    """Names are in lower case, as those of the server's own commands, in statistics, too."""
    with Server() as server, server.client() as client:
        equal([name for name in own_commands(client) if name != name.lower()], [])
        client.ok("BF.ADD", "b", "x")
        client.ok("Bl.Cf.Add", "c", "x")
        stats = client.ok("INFO", "commandstats")
        for name in (b"cmdstat_bf.add:calls=1,", b"cmdstat_bl.cf.add:calls=1,"):
            true(name in stats, "%s is not in %s" % (name, stats))


def least(client, name, key="k"):
    """The fewest arguments of a command, all of them this key."""
    return [key] * (abs(client.ok("COMMAND", "INFO", name)[0][1]) - 1)


def test_key_permissions():
    """Users that may only read keys call what only reads; users that may only write, what writes."""
    with Server() as server, server.client() as client:
        for user, rule in (("reader", "%R~*"), ("writer", "%W~*")):
            client.ok("ACL", "SETUSER", user, "on", "nopass", rule, "+@all")
        count = {"reader": 0, "writer": 0}
        for name in own_commands(client):
            flags = {str(flag) for flag in client.ok("COMMAND", "INFO", name)[0][2]}
            true(("readonly" in flags) != ("write" in flags), "%s: %s" % (name, flags))
            for user, flag in (("reader", "readonly"), ("writer", "write")):
                reply = client.call("ACL", "DRYRUN", user, name, *least(client, name))
                # The sources of a merge are read.
                may = flag in flags and not (user == "writer" and name.startswith("bl.merge"))
                equal(reply == OK, may, "%s calls %s: %r" % (user, name, reply))
                count[user] += may
        true(min(count.values()) > 25, "calls that were allowed: %s" % count)
        # For real, and key by key.
        client.ok("ACL", "SETUSER", "both", "on", "nopass", "%R~source*", "%W~dest", "+@all")
        for name in ("source1", "source2", "other"):
            client.ok("BL.RESERVE", name, "0.01", 100, "SEED", 1)
            client.ok("BL.ADD", name, name)
        with server.client() as user:
            user.ok("AUTH", "both", "x")
            equal(user.call("BF.EXISTS", "source1", "source1"), 1)
            equal(user.call("BL.MERGE", "dest", "source1", "source2"), OK)
            for words in (
                "BF.ADD source1 x",
                "BF.EXISTS dest x",
                "BL.MERGE source1 source2",
                "BL.MERGE dest source1 other",
            ):
                reply = user.call(*words.split())
                true(isinstance(reply, Error) and "NOPERM" in reply, "%s: %r" % (words, reply))
        with server.client() as client:
            equal(client.ok("BL.MEXISTS", "dest", "source1", "source2"), [1, 1])


def test_keys_of_commands():
    """COMMAND GETKEYSANDFLAGS: which keys a command reads and writes."""
    with Server() as server, server.client() as client:
        for words, expected in [
            ("BF.EXISTS k x", [("k", "RO access")]),
            ("CF.COUNT k x", [("k", "RO access")]),
            ("BF.MADD k x y", [("k", "RW insert")]),
            ("CF.DEL k x", [("k", "RW delete")]),
            ("BL.W.ADVANCE k 1", [("k", "RW update")]),
            ("BL.MERGE d s t", [("d", "RW insert"), ("s", "RO access"), ("t", "RO access")]),
        ]:
            got = client.ok("COMMAND", "GETKEYSANDFLAGS", *words.split())
            got = [(key.decode(), " ".join(map(str, flags))) for key, flags in got]
            equal(got, expected, words)


# Which kinds of filters the commands of a prefix are for, and which commands are for every kind.
OF_PREFIX = {
    "bl.w.": ["window"],
    "bl.c.": ["counting"],
    "bl.g.": ["bounded"],
    "bl.cf.": ["cuckoo"],
    "bl.": ["bloom", "static"],
}
OF_ALL = "kind hashinfo maddhash mexistshash export import merge mergeforce scandump loadchunk".split()


def test_another_kind():
    """A key of another kind is an error for each command of our own, so no item is ever denied by mistake."""
    with Server() as server, server.client() as client:
        names = ("bloom", "cuckoo", "counting", "window", "static", "bounded")
        make(client, names)
        client.ok("SET", "text", "x")
        client.ok("RPUSH", "list", "x")
        before = {key: client.ok("DUMP", key) for key in names + ("text", "list")}
        probed = 0
        for name in own_commands(client):
            prefix = name[: name.rindex(".") + 1]
            word = name[len(prefix) :]
            flags = {str(flag) for flag in client.ok("COMMAND", "INFO", name)[0][2]}
            if prefix not in OF_PREFIX or word in ("reserve", "insert", "insertnx", "loadchunk", "import"):
                continue  # those parse their arguments before they look at the key
            arguments = ["1"] * (len(least(client, name)) - 1)
            for key in before:
                allowed = word in OF_ALL and key in names or key in OF_PREFIX[prefix]
                if word.startswith("merge") or word == "maddhash":
                    allowed, arguments = key in names, ["text" if word != "maddhash" else "12345678"]
                if word == "mexistshash":
                    arguments = ["12345678"]
                if allowed:
                    continue
                equal(client.call(name, key, *arguments), WRONGTYPE, "%s on %s" % (name, key))
                probed += "readonly" in flags
        true(probed > 100, "%d replies of readers" % probed)
        equal({key: client.ok("DUMP", key) for key in before}, before, "the values")
        # By RedisBloom's names, a filter of another kind is one, too.
        for kind, item in (("bloom", keys("bloom", 1)[0]), ("cuckoo", keys("cuckoo", 1)[0])):
            others = [name for name in ("CF.EXISTS", "CF.MEXISTS", "CF.COUNT", "BF.EXISTS", "BF.MEXISTS")]
            for name in others:
                if name.startswith("CF.") != (kind == "cuckoo"):
                    equal(client.call(name, kind, item), WRONGTYPE, "%s on %s" % (name, kind))
        for kind in set(KINDS) & {"counting", "window", "bounded"}:
            for name in ("CF.EXISTS", "CF.MEXISTS", "CF.COUNT", "BF.EXISTS", "BF.MEXISTS"):
                equal(client.call(name, kind, keys(kind, 1)[0]), WRONGTYPE, "%s on %s" % (name, kind))
