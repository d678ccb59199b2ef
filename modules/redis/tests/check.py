"""What the tests share: strict comparison, tables of commands, keys, and the settings of this run."""

import random
import shlex

from resp import Error, Status, pairs, same  # noqa: F401

# Set by run.py: `full` runs the large sizes, `seed` repeats a random test.
full = False
seed = random.SystemRandom().randrange(1 << 32)


# A fixed seed for new filters, for tests that count false positives: the same answers in every run.
SEEDED = ("seed", 7)


class ANY:
    """Stands for a reply that must be of a type, or pass a function."""

    def __init__(self, matches, shown):
        self.matches, self.shown = matches, shown

    def __repr__(self):
        return self.shown


ERROR = ANY(lambda reply: type(reply) is Error, "-any error")
INTEGER = ANY(lambda reply: type(reply) is int, ":any integer")
BYTES = ANY(lambda reply: type(reply) is bytes, "$any bytes")
WRONGTYPE = Error("WRONGTYPE Operation against a key holding the wrong kind of value")


def arity(command):
    """The error for a wrong number of arguments; servers differ in the case of the name."""
    text = "err wrong number of arguments for '%s' command" % command.lower()
    return ANY(lambda reply: type(reply) is Error and reply.lower() == text, "-" + text)


def error_with(part):
    """An error whose text contains `part`, in any case."""
    return ANY(lambda reply: type(reply) is Error and part.lower() in reply.lower(), "-...%s..." % part)


def status(text):
    return Status(text)


def at_least(low, high=float("inf")):
    return ANY(lambda reply: type(reply) is int and low <= reply <= high, ":%s..%s" % (low, high))


def matches(got, expected):
    """Whether a reply is what was expected; `expected` may have ANY at any depth."""
    if isinstance(expected, ANY):
        return expected.matches(got)
    if type(got) is not type(expected):
        return False
    if isinstance(expected, (list, tuple)):
        return len(got) == len(expected) and all(map(matches, got, expected))
    return same(got, expected)


def short(value, size=400):
    text = repr(value)
    return text if len(text) <= size else text[:size] + "... (%d characters)" % len(text)


def equal(got, expected, what=""):
    if not matches(got, expected):
        raise AssertionError("%s: got %s, expected %s" % (what or "reply", short(got), short(expected)))


def true(condition, what):
    if not condition:
        raise AssertionError(what)


def is_error(reply, what):
    equal(reply, ERROR, what)
    true(reply.strip() and "\n" not in reply, "%s: an empty error text" % what)


def table(client, rows):
    """Rows are (command as text, or a tuple of words; reply in RESP2; reply in RESP3 if it differs)."""
    protocol = client.protocol
    failures = []
    for command, *replies in rows:
        words = shlex.split(command) if isinstance(command, str) else command
        got, expected = client.call(*words), replies[-1 if protocol == 3 else 0]
        if not matches(got, expected):
            failures.append(
                "RESP%d %s: got %s, expected %s" % (protocol, short(command, 80), short(got), short(expected))
            )
    true(not failures, "%d of %d rows:\n  %s" % (len(failures), len(rows), "\n  ".join(failures)))


def both_protocols(server, rows):
    """Runs the table on an empty database, once for each protocol."""
    for protocol in (2, 3):
        with server.client(protocol) as client:
            client.ok("FLUSHALL")
            table(client, rows)


def keys(prefix, count, start=0):
    return [b"%s:%d" % (prefix.encode(), i) for i in range(start, start + count)]


def batches(items, size=1000):
    for at in range(0, len(items), size):
        yield items[at : at + size]


def add_all(client, key, items, command="BF.MADD", size=1000):
    """Inserts in batches; returns how many were reported as new."""
    new = 0
    for batch in batches(items, size):
        reply = client.ok(command, key, *batch)
        true(len(reply) == len(batch), "%s: %d replies for %d items" % (command, len(reply), len(batch)))
        true(all(type(one) is int for one in reply), "%s: %s" % (command, short(reply)))
        new += sum(reply)
    return new


def answers(client, key, items, command="BF.MEXISTS", size=1000):
    found = []
    for batch in batches(items, size):
        reply = client.ok(command, key, *batch)
        true(len(reply) == len(batch), "%s: %d replies for %d items" % (command, len(reply), len(batch)))
        found += reply
    return found


def none_denied(client, key, items, command="BF.MEXISTS"):
    """Fails on a false negative."""
    found = answers(client, key, items, command)
    denied = [item for item, answer in zip(items, found) if answer in (0, False)]
    true(
        not denied,
        "%s %s: %d of %d inserted keys denied, the first %r"
        % (command, key, len(denied), len(items), denied[:1]),
    )


def rate(client, key, items, command="BF.MEXISTS"):
    """The part of `items`, none of which was inserted, that the filter says yes to."""
    return sum(answers(client, key, items, command)) / len(items)


def check_names(names):
    """Labels of INFO replies: simple strings or bulk strings, never numbers."""
    true(all(isinstance(name, (str, bytes)) for name in names), "labels: %s" % short(names))
    return [name if isinstance(name, str) else name.decode() for name in names]
