#!/usr/bin/env bash
# Prints the path of a Python that has redis-py, in a virtual environment under target/, which it makes if it is
# not there. Needs python3 with venv, and the package index (PIP_INDEX_URL is honoured).
set -euo pipefail
cd "$(dirname "$0")/../../.."

version=6.4.0
venv=target/redis-tests/venv-$version
if ! "$venv/bin/python" -c "import redis; assert redis.__version__ == '$version'" 2>/dev/null; then
    rm -rf "$venv"
    python3 -m venv "$venv" >&2
    "$venv/bin/pip" install --quiet --disable-pip-version-check "redis==$version" >&2
fi
echo "$PWD/$venv/bin/python"
