#!/usr/bin/env python3
"""Does what pages say, block by block, each in an empty directory that has a copy of the project:

    tests/walk.py PAGE...

A block of `sh` is run, and must succeed. A block of `text` is what the commands before it print; three dots stand
for anything. Any other block is a file, whose name is the last code in the line before. One shell does a whole page,
so `cd` and variables hold. The port 6399 is another one, which is free. The last line is "N passed, M failed", counted in
blocks. Which target of make walks which page is in tests/pages/walks.rs.
"""

import ctypes
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Printed between blocks, so that each has its own output.
MARK = "==== block %d"
PORT = "6399"
LIBC = ctypes.CDLL(None)


def blocks(page):
    """The blocks of a page: language, name of the file, text, line."""
    found, before, inside, start = [], "", None, 0
    for number, line in enumerate(page.splitlines(), 1):
        if line.startswith("```"):
            if inside is None:
                inside, language, start = [], line[3:].strip(), number
            else:
                names = re.findall(r"`([^`]+)`", before)
                found.append((language, names[-1] if names else "", "".join(inside), start))
                inside = None
        elif inside is not None:
            inside.append(line + "\n")
        elif line.strip():
            before = line
    return found


def script(found):
    """What a shell does for these blocks."""
    # However the shell ends, what it has started does too, such as a server.
    lines = ["set -eu", "trap 'trap \"\" TERM; kill 0' EXIT"]
    for i, (language, name, text, start) in enumerate(found):
        lines.append("echo '%s'" % (MARK % i))
        if language == "sh":
            lines.append(text)
        elif language != "text":
            if not name:
                sys.exit("line %d: a file without a name" % start)
            lines.append("mkdir -p \"$(dirname '%s')\"" % name)
            lines.append("cat >'%s' <<'END_OF_THE_BLOCK'\n%sEND_OF_THE_BLOCK" % (name, text))
    lines.append("echo '%s'" % (MARK % len(found)))
    return "\n".join(lines)


def printed(output):
    """The output of each block, by its number."""
    parts = re.split(r"^==== block (\d+)\n", output, flags=re.M)
    return {int(number): text for number, text in zip(parts[1::2], parts[2::2])}


def like(text, expected):
    """Whether a text is the expected one, in which three dots stand for anything."""
    pattern = ".*".join(re.escape(part) for part in expected.strip().split("..."))
    return re.fullmatch(pattern, text.strip(), flags=re.S) is not None


def end_with_parent():
    """In the shell: it is told to end when this process has ended, however that was (Linux)."""
    if hasattr(LIBC, "prctl"):
        LIBC.prctl(1, signal.SIGTERM)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def run(found, directory):
    """Runs the blocks, and returns what is wrong: pairs of a line and a text."""
    environment = dict(os.environ, CARGO_TARGET_DIR=os.path.join(ROOT, "target", "walk"), GOFLAGS="-mod=mod")
    # In a group of its own.
    shell = subprocess.Popen(["bash", "-c", script(found)], cwd=directory, env=environment, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             start_new_session=True, preexec_fn=end_with_parent)
    try:
        output, errors = shell.communicate(timeout=1200)
    finally:
        try:
            os.killpg(shell.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
    outputs, wrong = printed(output), []
    last = max(outputs, default=0)
    if shell.returncode or last < len(found):
        line = found[min(last, len(found) - 1)][3]
        return [(line, "fails with %d:\n%s%s" % (shell.returncode, outputs.get(last, ""), errors))]
    commands = ""
    for i, (language, _, text, start) in enumerate(found):
        if language == "sh":
            commands = outputs[i]
        elif language == "text" and not like(commands, text):
            wrong.append((start, "the commands before print:\n" + commands))
    return wrong


def emptied(directory):
    """A directory with a copy of the project alone. It is one for all pages: cargo would compile a copy in another
    place once more."""
    if os.path.exists(directory):
        shutil.rmtree(directory)
    os.mkdir(directory)
    os.symlink(ROOT, os.path.join(directory, "bloomline"))
    return directory


def walked(name, directory):
    """The number of blocks of a page, and what is wrong."""
    with open(os.path.join(ROOT, name)) as page:
        found = blocks(page.read().replace(PORT, free_port()))
    return len(found), run(found, emptied(directory))


def faults_are_found():
    """The checks see what they are for."""
    page = "Into `a.txt`:\n```c\nx\n```\n```sh\ncat a.txt\necho 12\n```\n```text\nx\n1...\n```\n"
    with tempfile.TemporaryDirectory() as directory:
        assert run(blocks(page), directory) == []
        assert len(run(blocks(page.replace("1...", "2")), directory)) == 1
        assert "fails with" in run(blocks(page.replace("echo 12", "false")), directory)[0][1]
        assert "fails with" in run(blocks(page.replace("echo 12", "exit 0")), directory)[0][1]


def walk_all(pages, directory):
    """How many blocks of all pages passed and failed; says what is wrong."""
    passed = failed = 0
    for page in pages:
        count, wrong = walked(page, directory)
        for line, text in wrong:
            print("%s:%d: %s" % (page, line, text), flush=True)
        print("%s: %d blocks" % (page, count), flush=True)
        passed, failed = passed + count - len(wrong), failed + len(wrong)
    return passed, failed


def main(pages):
    if not pages:
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # by way of what ends the shell
    faults_are_found()
    with tempfile.TemporaryDirectory() as parent:
        passed, failed = walk_all(pages, os.path.join(parent, "page"))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
