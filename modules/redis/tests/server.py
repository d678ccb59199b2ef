"""Servers for tests: each on a free port of 127.0.0.1, in a temporary directory of its own.

`with Server() as server:` starts redis-server with the module and stops it by its process id, also if the test
fails. Leaving the block checks that the server was up until then and that its log has no crash report.
REDIS_SERVER names another server, such as valkey-server. MODULE names another module.
"""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from resp import Broken, Client, Refused

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
MODULE = os.path.abspath(
    os.environ.get("MODULE") or os.path.join(ROOT, "target/release/libbloomline_redis.so")
)
BINARY = os.environ.get("REDIS_SERVER") or "redis-server"
LIBC = ctypes.CDLL(None)
CRASH = (b"BUG REPORT", b"Guru Meditation", b"panicked at", b"stack backtrace")


def missing():
    """What the tests need and is not there, as text, or None."""
    if shutil.which(BINARY) is None:
        return "there is no %s here: apt-get install redis-server, or set REDIS_SERVER" % BINARY
    if not os.path.exists(MODULE):
        return "there is no module %s: make redis" % MODULE
    return None


def wait_until(holds, what, seconds=20, every=0.01):
    """Polls until `holds()` is true and returns its value. Fails with `what` after so many seconds."""
    deadline = time.monotonic() + seconds
    while True:
        value = holds()
        if value:
            return value
        if time.monotonic() > deadline:
            raise TimeoutError("not within %g s: %s" % (seconds, what))
        time.sleep(every)


def free_port():
    """A port that is free now. The server takes it at once; `Server` tries again if another was faster."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class NotStarted(Exception):
    """The server ended before it answered; the text has its log."""


class Server:
    """One server process. `options` are words of the command line, such as ("--appendonly", "yes")."""

    def __init__(self, *options, module=MODULE, module_args=(), directory=None, env=None, start=True):
        self.options, self.module, self.module_args = list(options), module, [str(a) for a in module_args]
        self.directory = directory or tempfile.mkdtemp(prefix="bloomline-redis-")
        self.owns_directory = directory is None
        self.env, self.process, self.port, self.expected_dead = env, None, None, False
        self.clients = []
        if start:
            try:
                self.start()
            except BaseException:
                self.stop()
                raise

    def command_line(self):
        words = [
            BINARY,
            "--bind",
            "127.0.0.1",
            "--port",
            str(self.port),
            "--dir",
            self.directory,
            "--save",
            "",
            "--appendonly",
            "no",
            "--daemonize",
            "no",
            "--enable-debug-command",
            "yes",
            "--repl-diskless-sync-delay",
            "0",
            "--logfile",
            "",
            "--loglevel",
            "notice",
        ]
        words += self.options
        if self.module:
            words += ["--loadmodule", self.module, *self.module_args]
        return words

    def start(self, seconds=60):
        """Starts the process, on the same port if it ran before, and waits until it serves."""
        chosen = self.port
        for attempt in range(5):
            self.port = chosen or free_port()
            with open(self.log_path, "ab") as log:
                self.process = subprocess.Popen(
                    self.command_line(),
                    stdout=log,
                    stderr=log,
                    stdin=subprocess.DEVNULL,
                    env={**os.environ, **(self.env or {})},
                    preexec_fn=die_with_parent,
                )
            self.expected_dead = False
            try:
                wait_until(self._serves, "server on port %d serves" % self.port, seconds)
                return self
            except NotStarted as failure:
                if "Address already in use" not in str(failure) or attempt == 4:
                    raise

    def _serves(self):
        if self.process.poll() is not None:
            raise NotStarted("the server ended with %d:\n%s" % (self.process.returncode, self.log_tail()))
        try:
            with Client(self.port, timeout=5) as client:
                return client.call("PING") == "PONG"
        except (OSError, Broken):
            return False

    @property
    def pid(self):
        return self.process.pid

    @property
    def log_path(self):
        return os.path.join(self.directory, "log")

    def log(self):
        try:
            with open(self.log_path, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""

    def log_tail(self, size=3000):
        return self.log()[-size:].decode("utf-8", "replace")

    def path(self, name):
        return os.path.join(self.directory, name)

    def client(self, protocol=2, timeout=60):
        client = Client(self.port, timeout=timeout, protocol=protocol)
        self.clients.append(client)
        return client

    def is_up(self):
        return self.process is not None and self.process.poll() is None

    def check_up(self):
        """Fails unless the process lives, answers, and logged no crash."""
        if not self.is_up():
            raise AssertionError("the server is gone:\n" + self.log_tail())
        with Client(self.port, timeout=60) as client:
            assert client.call("PING") == "PONG", "no PONG:\n" + self.log_tail()
        self.check_log()

    def check_log(self):
        found = [word.decode() for word in CRASH if word in self.log()]
        assert not found, "the log has %s:\n%s" % (found, self.log_tail(8000))

    def crash(self):
        """kill -9, by its id."""
        self.expected_dead = True
        self._end(signal.SIGKILL)

    def shutdown(self, *words):
        """SHUTDOWN, NOSAVE by default, and waits for the end."""
        self.expected_dead = True
        try:
            with Client(self.port, timeout=60) as client:
                client.call("SHUTDOWN", *(words or ("NOSAVE",)))
        except (OSError, Broken):
            pass
        wait_until(lambda: not self.is_up(), "server %d ends after SHUTDOWN" % self.pid, 60)

    def restart(self):
        """Ends the server without saving and starts it in the same directory, on the same port."""
        if self.is_up():
            self.shutdown()
        return self.start()

    def _end(self, how):
        for client in self.clients:
            client.close()
        self.clients = []
        if self.is_up():
            self.process.send_signal(how)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
        if self.process is not None:
            self.process.wait()

    def stop(self):
        self.expected_dead = True
        self._end(signal.SIGKILL)
        if self.owns_directory and not os.environ.get("KEEP"):
            shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None and not self.expected_dead:
                self.check_up()
            elif kind is None:
                self.check_log()
        finally:
            self.stop()


class Replica(Server):
    """A server that follows another, with options of its own."""

    def __init__(self, master, *options, **named):
        super().__init__(
            "--replicaof",
            "127.0.0.1",
            str(master.port),
            "--repl-ping-replica-period",
            "1",
            "--repl-timeout",
            "20",
            *options,
            **named
        )
        self.master = master
        self.wait_linked()

    def wait_linked(self):
        with self.client() as client:
            wait_until(
                lambda: info(client, "replication").get("master_link_status") == "up", "replica follows", 30
            )

    def wait_caught_up(self, seconds=60):
        """Waits until this replica has all that its master sent so far."""
        with Client(self.master.port) as master, Client(self.port) as replica:
            target = int(info(master, "replication")["master_repl_offset"])
            wait_until(
                lambda: int(info(replica, "replication").get("slave_repl_offset", -1)) >= target,
                "replica at offset %d" % target,
                seconds,
            )


def info(client, section="everything"):
    """INFO as a dict of text."""
    try:
        text = client.ok("INFO", section).decode("utf-8", "replace")
    except Refused:
        return {}
    return dict(line.split(":", 1) for line in text.split("\r\n") if ":" in line)


def die_with_parent():
    """In the child: the kernel kills the server when the test process ends, however it ends (Linux).

    Nothing is imported here: another thread may have held the lock of that when the process forked."""
    try:
        LIBC.prctl(1, signal.SIGKILL)
    except AttributeError:
        pass
