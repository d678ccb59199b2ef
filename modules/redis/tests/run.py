#!/usr/bin/env python3
"""Runs the tests of the Redis module on real servers:

    modules/redis/tests/run.py [--full] [--seed N] [--list] [NAME...]

NAME is a file (test_bf, or bf) or a test in it (bf.card). Without names, all tests run. --full takes the sizes of
`make test-redis-all`. --seed repeats the random tests of a run. It needs redis-server, or the server that
REDIS_SERVER names, and the module in target/release or where MODULE says. The last line is
"N passed, M failed"; the exit status is 1 if a test failed or nothing ran.
"""

import glob
import importlib
import os
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import check  # noqa: E402
import server  # noqa: E402


def tests(names):
    """The tests that the names select, as (name, function)."""
    files = sorted(os.path.basename(path)[:-3] for path in glob.glob(os.path.join(HERE, "test_*.py")))
    wanted = [name[5:] if name.startswith("test_") else name for name in names]
    unused, found = set(wanted), []
    for file in files:
        subject = file[5:]
        if wanted and not any(name.split(".")[0] == subject for name in wanted):
            continue
        for function in vars(importlib.import_module(file)).values():
            if not callable(function) or not getattr(function, "__name__", "").startswith("test_"):
                continue
            if function.__module__ != file:
                continue
            name = subject + "." + function.__name__[5:]
            if not wanted or subject in wanted or name in wanted:
                unused -= {subject, name}
                found.append((name, function))
    if unused:
        sys.exit("run.py: no such test: %s" % " ".join(sorted(unused)))
    return found


def main(arguments):
    names = []
    while arguments:
        word = arguments.pop(0)
        if word == "--full":
            check.full = True
        elif word == "--seed":
            check.seed = int(arguments.pop(0))
        elif word == "--list":
            print("\n".join(name for name, _ in tests(names)))
            return 0
        elif word.startswith("-"):
            sys.exit(__doc__)
        else:
            names.append(word)
    selected = tests(names)
    missing = server.missing()
    if missing:
        print("run.py: " + missing)
        print("0 passed, %d failed" % max(len(selected), 1))
        return 1
    print("run.py: %s, module %s, seed %d" % (server.BINARY, server.MODULE, check.seed), flush=True)
    passed, failed = 0, []
    for name, function in selected:
        started = time.monotonic()
        try:
            function()
            passed += 1
            print("ok      %-45s %6.1f s" % (name, time.monotonic() - started), flush=True)
        except KeyboardInterrupt:
            raise
        except BaseException:  # a test that calls sys.exit has failed, too
            failed.append(name)
            print("FAILED  %-45s %6.1f s" % (name, time.monotonic() - started))
            print("        " + traceback.format_exc().replace("\n", "\n        "), flush=True)
    if failed:
        print(
            "run.py: failed: %s; again: run.py --seed %d %s"
            % (" ".join(failed), check.seed, " ".join(failed))
        )
    print("%d passed, %d failed" % (passed, len(failed)))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
