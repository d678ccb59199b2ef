#!/usr/bin/env bash
# Prints the C++ standard that the headers of a version of RocksDB need: standard.sh MAJOR.MINOR
set -euo pipefail
if printf '10.7\n%s\n' "$1" | sort -V -C; then echo c++20; else echo c++17; fi
