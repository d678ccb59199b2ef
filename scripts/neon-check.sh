#!/usr/bin/env bash
# Shows that the `portable` backend is NEON on aarch64: disassembles the batch probe of
# a cross-built library and counts the vector shifts and bit clears in it.
#
#   scripts/neon-check.sh
#
# There is a probe_batch for each backend; the most that one has counts. Needs
# what scripts/cross-test.sh needs.
set -euo pipefail
cd "$(dirname "$0")/.."

directory=$(scripts/cross-test.sh aarch64 --staticlib)
listing=$(mktemp)
trap 'rm -f "$listing"' EXIT
aarch64-linux-gnu-objdump -d --no-show-raw-insn "$directory/libbloomline.a" >"$listing" 2>/dev/null

# The most of each instruction in one function.
most() {
    awk -v instruction="$1" '
        /^[0-9a-f]+ <.*>:$/ { inside = /kernel.*table.*NATIVE.*probe_batch/; count = 0 }
        inside && $2 == instruction && /v[0-9]+\./ { if (++count > most) most = count }
        END { print most + 0 }' "$listing"
}
shifts=$(most ushl)
clears=$(most bic)
echo "neon-check: the portable batch probe has $shifts ushl and $clears bic on vector registers"
if [ "$shifts" -lt 8 ] || [ "$clears" -lt 4 ]; then
    echo "neon-check: that is no NEON loop" >&2
    exit 1
fi
