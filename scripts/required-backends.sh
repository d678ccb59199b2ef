#!/usr/bin/env bash
# Prints backends by their rows in src/kernel/backend.rs:
#
#   scripts/required-backends.sh         those that must run on this machine, by what the kernel says
#                                        of its CPU, not by what the library detects:
#                                        "scalar,portable,avx2,avx512". What the CPU has not got is
#                                        said on standard error.
#   scripts/required-backends.sh --all   all there are
set -euo pipefail

# The kernel and the compiler write features with and without "_" and ".".
plain() { tr -d '_.' <<<"$1"; }
flags=" $(plain "$(sed -n 's/^\(flags\|Features\)[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)") "

# Rows may go over several lines. Each becomes: name architecture feature...
rows=$(sed -n '/^backends! {$/,/^}$/ { /^ *\/\//d; p }' "$(dirname "$0")/../src/kernel/backend.rs" |
    tr '\n' ' ' | tr ';' '\n' |
    sed -n 's/.*[A-Z][A-Za-z0-9]* "\([a-z0-9]*\)" on \(.*\) \[\(.*\)\].*/\1 \2 \3/p' | tr -d '"')
backends=()
while read -r name architecture features; do
    if [ "${1-}" != --all ] && [ "$architecture" != any ]; then
        [ "$architecture" = "$(uname -m)" ] || continue
        for feature in $features; do
            [[ $flags != *" $(plain "$feature") "* ]] || continue
            echo "required-backends: this CPU has no $feature: $name does not run here" >&2
            continue 2
        done
    fi
    backends+=("$name")
done <<<"$rows"
# Without rows nothing would be required.
[[ " ${backends[*]} " == *" scalar "* ]] || { echo "required-backends: no rows" >&2; exit 1; }
(IFS=,; echo "${backends[*]}")
