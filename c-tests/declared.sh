#!/usr/bin/env bash
# Prints the names of the functions that bloomline.h declares, sorted. Uses a C
# preprocessor ($CC) to be rid of comments.
set -euo pipefail

cd "$(dirname "$0")"
echo '#include <bloomline.h>' |
    ${CC:-cc} -E -P -I../include - |
    tr '\n' ' ' |
    grep -o '\bbloomline_[a-z0-9_]* *(' |
    tr -d ' (' |
    sort -u
