"""C code that changes what a server sees of the system: compiled once into target/ and preloaded."""

import os
import subprocess

from server import ROOT

HERE = os.path.dirname(os.path.abspath(__file__))


def preloaded(name):
    """The environment of a server with this file of the tests."""
    source = os.path.join(HERE, name)
    library = os.path.join(ROOT, "target/redis-tests", name[:-2] + ".so")
    if not os.path.exists(library) or os.path.getmtime(library) < os.path.getmtime(source):
        os.makedirs(os.path.dirname(library), exist_ok=True)
        words = [os.environ.get("CC", "cc"), "-O1", "-shared", "-fPIC", "-o", library + ".new", source, "-ldl"]
        subprocess.run(words, check=True)
        os.replace(library + ".new", library)
    return {"LD_PRELOAD": library}
