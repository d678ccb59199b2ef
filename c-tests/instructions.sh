#!/usr/bin/env bash
# Counts the instructions of calls, and compares them with the record in instructions.txt:
#
#   instructions.sh DIRECTORY
#   BLESS=1 instructions.sh DIRECTORY     rewrites the record
#
# DIRECTORY has the program `instructions`, linked with the library as it is shipped. A count needs
# no quiet machine: callgrind takes the same path each time. A call may differ from the record by
# 3 % and one instruction per key, in either direction: what became faster is recorded, too. Another
# version of rustc makes other instructions: then a call fails from 15 % more on, and this says so.
# The record is of x86-64, where `portable` is `scalar`; valgrind has no AVX-512. Uses valgrind and
# rustc.
set -euo pipefail

[ $# -eq 1 ] || { echo "usage: instructions.sh DIRECTORY" >&2; exit 2; }
program=$1/instructions
cd "$(dirname "$0")"
record=instructions.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compiler=$(rustc --version | cut -d' ' -f1-2)

# measure BACKEND: "BACKEND NAME/N INSTRUCTIONS", a line for each operation.
measure() {
    local out=$work/$1.out
    BLOOMLINE_BACKEND=$1 valgrind --tool=callgrind --quiet --combine-dumps=yes \
        --callgrind-out-file="$out" "$program" >"$work/said" 2>&1 ||
        { cat "$work/said" >&2; echo "instructions: $1 failed" >&2; exit 1; }
    # The last part is what followed the last operation; it has another trigger.
    awk -v backend="$1" '
        /^desc: Trigger:/ { name = "" }
        /^desc: Trigger: Client Request: / { name = $5; keys = $6 }
        /^totals: / && name != "" { printf "%s %s %.1f\n", backend, name, $2 / keys; name = "" }
    ' "$out" >"$work/$1.counts"
    [ -s "$work/$1.counts" ] || { echo "instructions: callgrind counted nothing" >&2; exit 1; }
    cat "$work/$1.counts" >>"$work/counts"
}

# compare RECORD COUNTS: prints what differs; fails if anything does.
compare() {
    awk -v compiler="$compiler" '
        FNR == NR && /^# rustc / { recorded = $2 " " $3 }
        FNR == NR { if ($0 !~ /^#/) was[$1 " " $2] = $3; next }
        FNR == 1 && recorded != compiler {
            printf "instructions: recorded with %s, counted with %s: tolerance 15 %%, not 3\n", recorded, compiler
            other = 1
        }
        { what = $1 " " $2; seen[what] = backends[$1] = 1 }
        !(what in was) { printf "instructions: %s is not in the record\n", what; failed = 1; next }
        {
            most = was[what] * (other ? 1.15 : 1.03) + 1
            least = other ? 0 : was[what] / 1.03 - 1
            if ($3 > most || $3 < least) {
                printf "instructions: %s takes %s per key, and took %s\n", what, $3, was[what]
                failed = 1
            }
        }
        END {
            for (what in was) {
                split(what, part, " ")
                if (backends[part[1]] && !seen[what]) { printf "instructions: %s was not counted\n", what; failed = 1 }
            }
            exit failed
        }' "$1" "$2"
}

if [ "$(uname -m)" != x86_64 ]; then
    echo "instructions: the record is of x86-64, this is $(uname -m): nothing is compared"
    exit
fi
required=${BLOOMLINE_REQUIRE_BACKENDS-scalar}
for backend in scalar avx2; do
    name=$(BLOOMLINE_BACKEND=$backend valgrind --quiet --tool=none "$(dirname "$program")/backend_name")
    if [ "$name" = "$backend" ]; then
        measure "$backend"
    elif [[ ",$required," = *",$backend,"* ]]; then
        echo "instructions: $backend is required (BLOOMLINE_REQUIRE_BACKENDS) and is not here" >&2
        exit 1
    else
        echo "instructions: $backend is not here"
    fi
done

if [ -n "${BLESS-}" ]; then
    {
        echo "# Instructions per key: backend, call/keys in a call, count. Made by: make instructions"
        echo "# $compiler"
        cat "$work/counts"
    } >"$record"
    echo "instructions: $(wc -l <"$work/counts") counts written to c-tests/$record"
    exit
fi

# One that sees nothing proves nothing: a call that is a tenth longer than the record must fail.
awk 'NR == 1 { $3 = $3 * 1.1 + 3 } { print }' "$work/counts" >"$work/slower"
{ echo "# $compiler"; cat "$work/counts"; } >"$work/same"
compare "$work/same" "$work/counts"
if compare "$work/same" "$work/slower" >/dev/null; then
    echo "instructions: a slower call was not reported" >&2
    exit 1
fi
compare "$record" "$work/counts" || {
    echo "instructions: calls take more or fewer instructions than in c-tests/$record;" \
        "if that is meant: make instructions" >&2
    exit 1
}
echo "instructions: $(wc -l <"$work/counts") counts are as recorded"
