"""A small client of Redis: RESP2 and RESP3 over a plain socket, one Python type per wire type.

A reply is a Status (+), Error (-), int (:), bytes ($), list (*), None (null), and in RESP3 also a bool (#),
float (,) or Map (%). `same` compares replies strictly: 1, True and 1.0 are three different replies.
"""

import socket


class Status(str):
    """A simple string, such as OK."""

    def __repr__(self):
        return "+" + str(self)


class Error(str):
    """An error reply. It is a value, not an exception: many tests expect it."""

    def __repr__(self):
        return "-" + str(self)


class Map(list):
    """A RESP3 map: a list of (key, value) in the order of the wire."""

    def __repr__(self):
        return "%" + list.__repr__(self)


class Push(list):
    """Out-of-band data of RESP3, such as an invalidation."""


OK = Status("OK")


def same(left, right):
    """Whether two replies are equal in type and value, at every depth."""
    if type(left) is not type(right):
        return False
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


def encode(*words):
    """The bytes of one command. Words are bytes, text, int or float."""
    out = [b"*%d\r\n" % len(words)]
    for word in words:
        if not isinstance(word, (bytes, bytearray, memoryview)):
            word = (repr(word) if isinstance(word, float) else str(word)).encode()
        out.append(b"$%d\r\n" % len(word))
        out.append(bytes(word))
        out.append(b"\r\n")
    return b"".join(out)


class Broken(Exception):
    """The connection ended in the middle of a reply, or the reply is not RESP."""


class Refused(Exception):
    """`ok` got an error reply."""


class Client:
    """One connection. `call` returns any reply, `ok` raises Refused if it is an error."""

    def __init__(self, port, host="127.0.0.1", timeout=60, protocol=2):
        self.address = (host, port)
        self.socket = socket.create_connection(self.address, timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reader, self.protocol = self.socket.makefile("rb", 1 << 16), protocol
        if protocol == 3:
            self.ok("HELLO", 3)

    def close(self):
        self.reader.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, data):
        self.socket.sendall(data)

    def call(self, *words):
        self.send(encode(*words))
        return self.read()

    def ok(self, *words):
        reply = self.call(*words)
        if isinstance(reply, Error):
            shown = " ".join(str(word)[:40] for word in words[:6])
            raise Refused("%s: %s" % (shown, reply))
        return reply

    def pipeline(self, commands):
        """Sends all commands at once; returns their replies in order."""
        self.send(b"".join(encode(*words) for words in commands))
        return [self.read() for _ in commands]

    def read(self):
        """The next reply that is not a push."""
        reply = self._read()
        while isinstance(reply, Push):
            reply = self._read()
        return reply

    def _line(self):
        line = self.reader.readline()
        if not line.endswith(b"\r\n"):
            raise Broken("the connection to port %d ended" % self.address[1])
        return line[:-2]

    def _bytes(self, size):
        data = self.reader.read(size + 2)
        if len(data) != size + 2 or data[-2:] != b"\r\n":
            raise Broken("the connection to port %d ended in a string" % self.address[1])
        return data[:-2]

    def _read(self):
        line = self._line()
        kind, rest = line[:1], line[1:]
        if kind == b":":
            return int(rest)
        if kind == b"$":
            size = int(rest)
            return None if size < 0 else self._bytes(size)
        if kind == b"+":
            return Status(rest.decode())
        if kind == b"-":
            return Error(rest.decode("utf-8", "replace"))
        if kind in (b"*", b"~", b">"):
            size = int(rest)
            if size < 0:
                return None
            items = [self._read() for _ in range(size)]
            return Push(items) if kind == b">" else items
        if kind == b"%":
            return Map((self._read(), self._read()) for _ in range(int(rest)))
        if kind == b"_":
            return None
        if kind == b"#":
            return rest == b"t"
        if kind == b",":
            return float(rest)
        if kind == b"(":
            return int(rest)
        if kind == b"!":
            return Error(self._bytes(int(rest)).decode("utf-8", "replace"))
        if kind == b"=":
            return self._bytes(int(rest))[4:]
        raise Broken("not RESP: %r" % line[:60])


def pairs(reply):
    """A flat RESP2 list of names and values, or a RESP3 map, as a dict with text keys."""
    if not isinstance(reply, Map):
        reply = zip(reply[::2], reply[1::2])
    return {str(name) if isinstance(name, str) else name.decode(): value for name, value in reply}
