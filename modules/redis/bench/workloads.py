"""The commands that are measured, as bytes prepared beforehand, each with the length of its reply.

A workload is a list of (request, reply length): one for each batch of n items. All replies of these commands
have a known length in RESP2, so the client only counts bytes.
"""

import random

K = 7  # bits per key of a standard Bloom filter at 1 %
LINE_K = 6  # bits per key in a line of 64 bytes, as the library takes at 10 bits per key
STRING = 512 << 20  # a Redis string holds no more


def items(first, count):
    """Encoded arguments of 21 bytes each."""
    return [b"$21\r\nitem:%016d\r\n" % i for i in range(first, first + count)]


def head(words, more):
    """The beginning of a command that has `more` words to come."""
    return b"*%d\r\n" % (len(words) + more) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def batches(command, key, arguments, n, family=b"BF."):
    """BF.MEXISTS and BF.MADD; BF.EXISTS and BF.ADD for n = 1, as people write it. Or those of another family."""
    single = n == 1
    start = head([family + command[1:] if single else family + command, key], n)
    length = 4 if single else len(b"*%d\r\n" % n) + 4 * n
    return [(start + b"".join(arguments[at : at + n]), length) for at in range(0, len(arguments), n)]


def floor(arguments, n):
    """The same items and as many replies, and no filter: membership in a set that does not exist."""
    start = head([b"SISMEMBER" if n == 1 else b"SMISMEMBER", b"nothing"], n)
    length = 4 if n == 1 else len(b"*%d\r\n" % n) + 4 * n
    return [(start + b"".join(arguments[at : at + n]), length) for at in range(0, len(arguments), n)]


def hashed(command, key, blob, n):
    """BL.MEXISTSHASH and BL.MADDHASH: 8 bytes for each item."""
    size, reply = 8 * n, (n + 7) // 8
    start, length = head([command, key], 1) + b"$%d\r\n" % size, len(b"$%d\r\n" % reply) + reply + 2
    return [(start + blob[at : at + size] + b"\r\n", length) for at in range(0, len(blob), size)]


def number(value):
    text = b"%d" % value
    return b"$%d\r\n%s\r\n" % (len(text), text)


class Strings:
    """One bitmap over as many strings as it takes."""

    def __init__(self, size, seed):
        self.size, self.count = min(size, STRING), max(1, size // STRING)
        self.names = [b"bitmap:%d" % i for i in range(self.count)]
        self.random = random.Random(seed)

    def name(self):
        return self.names[self.random.randrange(self.count)]

    def single_bits(self, write, count, n):
        """k SETBIT or GETBIT per key, as people write it by hand."""
        units = []
        for _ in range(count // n):
            words = []
            for _ in range(n):
                name = self.name()
                start = head([b"SETBIT", name], 2) if write else head([b"GETBIT", name], 1)
                for _ in range(K):
                    words.append(
                        start
                        + number(int(self.random.random() * 8 * self.size))
                        + (b"$1\r\n1\r\n" if write else b"")
                    )
            units.append((b"".join(words), 4 * K * n))
        return units

    def lines(self, write, count, n):
        """One BITFIELD per insert; one GETRANGE of a line of 64 bytes per probe."""
        units = []
        for _ in range(count // n):
            words = []
            for _ in range(n):
                line = int(self.random.random() * (self.size // 64))
                if write:
                    words.append(head([b"BITFIELD", self.name()], 4 * LINE_K))
                    for lane in range(LINE_K):
                        at = 512 * line + 64 * lane + self.random.getrandbits(6)
                        words.append(b"$3\r\nSET\r\n$2\r\nu1\r\n" + number(at) + b"$1\r\n1\r\n")
                else:
                    words.append(
                        head([b"GETRANGE", self.name()], 2) + number(64 * line) + number(64 * line + 63)
                    )
            units.append((b"".join(words), (4 + 4 * LINE_K if write else 5 + 64 + 2) * n))
        return units
