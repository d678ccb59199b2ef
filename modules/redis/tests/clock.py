"""Servers whose time of day the tests move: clock.c, compiled once into target/ and preloaded."""

import os
import struct
import subprocess
import tempfile

from server import ROOT

LIBRARY = os.path.join(ROOT, "target/redis-tests/clock.so")
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clock.c")


class Clock:
    """`Server(env=clock.env)` runs by this clock; `move` sets it forward or back while it runs."""

    def __init__(self):
        if not os.path.exists(LIBRARY) or os.path.getmtime(LIBRARY) < os.path.getmtime(SOURCE):
            os.makedirs(os.path.dirname(LIBRARY), exist_ok=True)
            subprocess.run(
                [
                    os.environ.get("CC", "cc"),
                    "-O1",
                    "-shared",
                    "-fPIC",
                    "-o",
                    LIBRARY + ".new",
                    SOURCE,
                    "-ldl",
                ],
                check=True,
            )
            os.replace(LIBRARY + ".new", LIBRARY)
        self.file = tempfile.NamedTemporaryFile(prefix="bloomline-clock-")
        self.seconds = 0.0
        self._write()
        self.env = {"LD_PRELOAD": LIBRARY, "BLOOMLINE_TEST_CLOCK": self.file.name}

    def _write(self):
        self.file.seek(0)
        self.file.write(struct.pack("=q", int(self.seconds * 1e6)))
        self.file.flush()

    def move(self, seconds):
        self.seconds += seconds
        self._write()
