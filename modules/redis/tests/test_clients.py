"""Client libraries, unchanged: redis-py. (go-redis is tested by go/redisfilter.)"""

import os
import subprocess

from check import true
from server import Server

HERE = os.path.dirname(os.path.abspath(__file__))


def run_program(protocol):
    made = subprocess.run([os.path.join(HERE, "venv.sh")], capture_output=True, text=True)
    true(made.returncode == 0, "venv.sh: no redis-py:\n" + made.stderr[-2000:])
    with Server(module_args=("seed", 7)) as server:
        done = subprocess.run(
            [made.stdout.strip(), os.path.join(HERE, "client_redis_py.py"), str(server.port), str(protocol)],
            capture_output=True,
            text=True,
            timeout=120,
        )
        true(done.returncode == 0, "client_redis_py.py:\n" + done.stdout[-1000:] + done.stderr[-3000:])
        print("        " + done.stdout.strip())


def test_redis_py_resp2():
    run_program(2)


def test_redis_py_resp3():
    run_program(3)
