"""docs/REDIS-COMMANDS.md says what the module does: complexities, and examples, which are run. BLESS=1 writes the
replies into the examples. test_errors.py provokes the errors."""

import os
import re

from check import equal, pairs, true
from resp import Error, Status
from server import Server
from test_commands import MANUAL
from test_fuzz import own_commands


def tables(page):
    """The rows of each table, as lists of cells; the first is the head."""
    found, inside = [], False
    for line in page.splitlines():
        if not line.startswith("|"):
            inside = False
        elif not inside:
            found.append([])
            inside = True
        if inside and not line.startswith("|---"):
            found[-1].append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return found


def manual():
    with open(MANUAL) as page:
        return page.read()


def of_column(head, page):
    """The first cells of the tables whose first column is headed so, with the whole row."""
    return [(row[0], row) for table in tables(page) if table[0][0] == head for row in table[1:]]


def test_complexities():
    """Each row has the complexities that COMMAND DOCS tells of its commands."""
    seen = 0
    with Server() as server, server.client() as client:
        for cell, row in of_column("command", manual()):
            names = re.findall(r"`((?:BF|CF|BL)\.[A-Z.]+)", cell or row[1])
            told = []
            for name in names:
                ((_, docs),) = pairs(client.ok("COMMAND", "DOCS", name)).items()
                told.append(pairs(docs)["complexity"].decode())
            equal(row[-1], ", ".join(dict.fromkeys(told)), " ".join(names))
            seen += len(names)
    true(seen >= 50, "%d commands" % seen)


def shown(reply, indent=""):
    """A reply as redis-cli shows it."""
    if reply is None:
        return "(nil)"
    if isinstance(reply, Error):
        return "(error) " + reply
    if isinstance(reply, Status):
        return str(reply)
    if isinstance(reply, int):
        return "(integer) %d" % reply
    if isinstance(reply, bytes):
        text = reply.decode("latin-1").replace("\\", "\\\\").replace('"', '\\"')
        return '"%s"' % re.sub(r"[^ -~]", lambda byte: "\\x%02x" % ord(byte.group()), text)
    if not reply:
        return "(empty array)"
    width = len(str(len(reply)))
    inner = indent + " " * (width + 2)
    lines = ["%*d) %s" % (width, i, shown(one, inner)) for i, one in enumerate(reply, 1)]
    return ("\n" + indent).join(lines)


def words(line, last):
    """The words of a command; <bytes> is the last bytes of the reply before."""
    found = []
    for quoted, plain in re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', line):
        if plain == "<bytes>":
            found.append([one for one in last if isinstance(one, bytes)][-1])
        else:
            found.append((quoted or plain).encode().decode("unicode_escape").encode("latin-1"))
    return found


def like(text, expected):
    """Whether a text is the expected one, in which three dots stand for anything."""
    pattern = ".*".join(re.escape(part) for part in expected.split("..."))
    return re.fullmatch(pattern, text, flags=re.S) is not None


def examples(page):
    """The commands of the page with what they reply."""
    found = []
    for block in re.findall(r"^```text\n(.*?)^```", page, flags=re.M | re.S):
        for example in re.split(r"^> ", block, flags=re.M)[1:]:
            command, _, reply = example.partition("\n")
            found.append((command, reply.rstrip("\n")))
    return found


def short(reply):
    """A reply for the page: without bytes that fill lines, and without what the clock says."""
    reply = re.sub(r'"(?:[^"\\\n]|\\.){100,}"', '"..."', reply)
    return re.sub(r"(Slice\n *\d+\) )\(integer\) \d+", r"\1(integer) ...", reply)


def test_examples():
    """Each command has an example, whose reply is as it is there."""
    page, last, called, at = manual(), None, set(), 0
    # With a seed, or one absent item in a hundred would be a false positive.
    with Server(module_args=("seed", "7")) as server, server.client() as client:
        for command, expected in examples(page):
            last = client.call(*words(command, last))
            called.add(command.split()[0].lower())
            reply = shown(last)
            if os.environ.get("BLESS") and not like(reply, expected):
                old = "> %s\n%s" % (command, expected and expected + "\n")
                at = page.index(old, at)
                page = page[:at] + "> %s\n%s\n" % (command, short(reply)) + page[at + len(old) :]
                at += 1
            else:
                true(like(reply, expected), "%s replies\n%s\nnot\n%s" % (command, reply, expected))
        names = own_commands(client)
    if os.environ.get("BLESS"):
        with open(MANUAL, "w") as file:
            file.write(page)
    # An example of one name of a command is one of the other.
    missing = [name for name in names if not called & {name, other(name)}]
    equal(missing, [], "commands without an example")


def other(name):
    """The name that clients of RedisBloom know a command by."""
    return re.sub(r"^bl\.", "bf.", re.sub(r"^bl\.cf\.", "cf.", name))


def test_faults_are_found():
    """What the tests above compare by."""
    true(like("1) 7\n2) x", "1) ...\n2) x") and not like("12", "1") and not like("a", "b..."), "like")
    equal(shown([1, None, b'a"\x01', [Status("OK"), Error("ERR x")], []]),
          '1) (integer) 1\n2) (nil)\n3) "a\\"\\x01"\n4) 1) OK\n   2) (error) ERR x\n5) (empty array)')
    equal(short('"%s"' % ("\\x" * 100) + "Slice\n 1) (integer) 7"), '"..."Slice\n 1) (integer) ...')
    equal([other(name) for name in ("bl.cf.add", "bl.add", "cf.add")], ["cf.add", "bf.add", "cf.add"])
    equal(words('A "\\x01b" <bytes>', [1, b"c"]), [b"A", b"\x01b", b"c"])
    equal(examples("```text\n> A b\n1\n2\n> C\n3\n```\n"), [("A b", "1\n2"), ("C", "3")])
