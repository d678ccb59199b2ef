"""Servers whose time of day the tests move."""

import struct
import tempfile
import time

from preload import preloaded


# Options of a master and its replica, which else give each other up when a clock is moved: weeks.
PATIENT = ("--repl-timeout", "2000000")


class Clock:
    """`Server(env=clock.env)` runs by this clock; `move` sets it forward or back while it runs."""

    def __init__(self):
        self.file = tempfile.NamedTemporaryFile(prefix="bloomline-clock-")
        self.seconds = 0.0
        self._write()
        self.env = {**preloaded("clock.c"), "BLOOMLINE_TEST_CLOCK": self.file.name}

    def _write(self):
        self.file.seek(0)
        self.file.write(struct.pack("=q", int(self.seconds * 1e6)))
        self.file.flush()

    def move(self, seconds):
        self.seconds += seconds
        self._write()
        time.sleep(0.01)  # Valkey 9 reads the clock once a millisecond.
