#!/usr/bin/env bash
# Builds and runs the programs of examples/c and examples/cpp, and tries the demo on every
# kind of input that can go wrong:
#
#   test_examples.sh DIRECTORY CC CXX "NATIVE LIBRARIES"
#
# DIRECTORY has libbloomline.a. The demo is not run on the whole machine here: `make demo`
# does that. Uses script(1) to see what a terminal gets.
set -euo pipefail

[ $# -eq 4 ] || { echo 'usage: test_examples.sh DIRECTORY CC CXX "NATIVE LIBRARIES"' >&2; exit 2; }
library=$1/libbloomline.a cc=$2 cxx=$3
read -ra native <<<"$4"
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
passed=0 failed=0
cd "$work"

ok() { passed=$((passed + 1)); echo "  ok      $1"; }
bad() { failed=$((failed + 1)); echo "  FAILED  $1"; sed 's/^/    /' out err; }

# expect STATUS WHAT PATTERN COMMAND...: the exit status, and a line of the output or, for a
# failure, of what is said on standard error.
expect() {
    local status=0 want=$1 what=$2 pattern=$3
    shift 3
    "$@" >out 2>err </dev/null || status=$?
    if [ $status -ne "$want" ]; then
        bad "$what: exit status $status, not $want"
    elif ! grep -qE -- "$pattern" out err; then
        bad "$what: nothing like '$pattern'"
    elif [ "$want" -ne 0 ] && [ -s out ]; then
        bad "$what: it fails, and prints results"
    else
        ok "$what"
    fi
}
# is WHAT COMMAND...: the command says yes.
is() {
    local what=$1
    shift
    if "$@"; then ok "$what"; else bad "$what"; fi
}
not() { ! "$@"; }

# value LABEL: the number that the demo printed behind a label.
value() { sed -n "s/^ *$1 *\([0-9.,]*\).*/\1/p" out | tr -d ,; }

warnings=(-O2 -Wall -Wextra -Wpedantic -Werror -I"$root/include")
"$cc" -std=c11 "${warnings[@]}" -o demo "$root/examples/c/demo.c" "$library" "${native[@]}" -lm
for name in blacklist shard_routing push sessions consumer columns; do
    "$cc" -std=c11 "${warnings[@]}" -o $name "$root/examples/c/$name.c" "$library" "${native[@]}" -lm
done
for name in registration safe_browsing; do
    "$cxx" -std=c++17 "${warnings[@]}" -o $name "$root/examples/cpp/$name.cpp" "$library" "${native[@]}" -pthread
done
export TMPDIR=$work/tmp
mkdir "$TMPDIR"

# The uses, with little data: each checks itself.
expect 0 "blacklist: none missed" "^missed +0 of the 50000 on the list$" ./blacklist 50000
expect 0 "blacklist: saves look-ups" "^saved .* 98\.[89]. % of them$" ./blacklist 50000
expect 2 "blacklist: no number" "^blacklist: usage" ./blacklist many
expect 0 "shard_routing: none lost" "^lost +0 of 100000 keys" ./shard_routing 100000
expect 0 "shard_routing: a damaged filter is no filter" "^shard 17 +no filter: .* checksum" ./shard_routing 1000
expect 0 "push: nothing twice within 7 days" "^repeated +0 messages within 7 days, [1-9]" ./push 1000
expect 0 "push: sent once more afterwards" "^again +[1-9][0-9]* sent once more, after 7 days; 0\.[01]" ./push 1000
expect 0 "sessions: none refused" "^refused +0 open sessions of 26668" ./sessions 20000
expect 2 "sessions: no number" "^sessions: usage" ./sessions many
expect 0 "columns: none lost" "^lost +0$" ./columns 50000
expect 2 "columns: no number" "^columns: usage" ./columns many
expect 0 "consumer: nothing acknowledged is lost" "^lost +0; 0\.[0-9]" ./consumer 60
expect 2 "consumer: no number" "^consumer: usage" ./consumer many
is "consumer: leaves no file" test -z "$(ls "$TMPDIR")"
expect 2 "push: no number" "^push: usage" ./push many
expect 0 "registration: none missed" "^missed +0 times" ./registration 20000
printf 'ann\nbob\n' >names
expect 0 "registration: names of a file" "^taken +2 names$" ./registration names
expect 2 "registration: a missing file" "^registration: missing: cannot be read" ./registration missing
expect 0 "safe_browsing: none missed" "^missed +0 times" ./safe_browsing 20000
is "safe_browsing: leaves no temporary file" test -z "$(ls "$TMPDIR")"
printf 'http://bad/\nhttp://worse/\n' >urls
expect 0 "safe_browsing build" "^2 URLs listed$" ./safe_browsing build urls list
expect 0 "safe_browsing check: a listed URL" "^DANGEROUS  http://bad/$" sh -c 'echo http://bad/ | ./safe_browsing check list'
expect 0 "safe_browsing check: another" "^safe +http://good/$" sh -c 'echo http://good/ | ./safe_browsing check list'
rm list
expect 0 "safe_browsing check: no list, the server is asked" "^DANGEROUS  http://bad/$" \
    sh -c 'echo http://bad/ | ./safe_browsing check list'
expect 2 "safe_browsing check: no list and no server" "^safe_browsing: the server: " \
    sh -c 'echo http://bad/ | ./safe_browsing check nowhere'

seq 1 200000 >numbers
expect 0 "demo: no false negatives" "^  false negatives +0 of 100,000$" ./demo numbers
measured=$(sed -n 's/^ *\([0-9.]*\) % measured.*/\1/p' out)
is "demo: measures $measured % at 1 %" awk "BEGIN { exit !($measured > 0.85 && $measured < 1.15) }"
is "demo: fits 80 columns" awk 'length > 80 { exit 1 }' out
is "demo: plain text in a file" not grep -q $'\r\|\033' out err
expect 0 "demo: another rate" "0\.(0999|1000) % predicted" ./demo --rate 0.001 numbers
expect 0 "demo: from standard input" "100,000 in the filter, 100,000 absent" sh -c './demo - <numbers'
expect 0 "demo: keeps the filter" "kept in kept.bloomline" ./demo --out kept.bloomline numbers
is "demo: as large as it says" test "$(wc -c <kept.bloomline)" -eq "$(value filter)"
is "demo: leaves no temporary file" test -z "$(ls "$TMPDIR")"

cat numbers numbers >twice
expect 0 "demo: repeated keys are left out" "200,000 repeated ones left out" ./demo twice
printf 'a\nb' >no-newline
expect 0 "demo: two keys, no newline at the end" "1 in the filter, 1 absent" ./demo no-newline
printf '\0\1\n\n\377\r\n' >binary
expect 0 "demo: any bytes, and the empty key" "2 in the filter, 1 absent" ./demo binary
{ head -c 3000000 /dev/zero | tr '\0' x; echo; seq 1 10; } >long
expect 0 "demo: a key of 3 MB" "6 in the filter, 5 absent" ./demo long

: >empty
echo one >one
printf 'same\nsame\nsame\n' >same
expect 2 "demo: a missing file" "^demo: cannot open 'missing': No such file" ./demo missing
expect 2 "demo: a directory" "^demo: cannot read '\.': Is a directory" ./demo .
expect 2 "demo: an empty file" "^demo: 'empty' is empty" ./demo empty
expect 2 "demo: one key" "^demo: two different keys are needed" ./demo one
expect 2 "demo: one key three times" "^demo: two different keys are needed" ./demo same
for rate in 0 1 -1 nan 2 1e-300; do
    expect 2 "demo: --rate $rate" "^demo: --rate: the false-positive rate" ./demo --rate $rate numbers
done
expect 2 "demo: --rate x" "^demo: 'x' is no rate" ./demo --rate x numbers
expect 2 "demo: --rate without a value" "^demo: --rate needs a value" ./demo numbers --rate
expect 2 "demo: --out into nowhere" "^demo: cannot save the filter as 'no/such': no such file or directory" ./demo --out no/such numbers
expect 2 "demo: no temporary directory" "^demo: cannot make the temporary file '/no/such" env TMPDIR=/no/such ./demo numbers
expect 2 "demo: an unknown option" "^demo: there is no option '--fast'" ./demo --fast numbers
expect 2 "demo: two files" "^demo: one file of keys" ./demo numbers twice
expect 2 "demo: an unknown backend" "^demo: .*BLOOMLINE_BACKEND" env BLOOMLINE_BACKEND=none ./demo numbers
expect 0 "demo: --help" "^usage: demo" ./demo --help

# On a terminal: one line that changes, and is gone in the end.
if command -v script >out 2>&1; then
    TERM=xterm script -qec './demo numbers' typescript >out 2>err </dev/null
    if grep -q $'probing \.\.\.' out && grep -q $'\r\033\[Kbloomline' out; then
        ok "demo: progress on a terminal"
    else
        bad "demo: progress on a terminal"
    fi
else
    echo "test_examples: script(1) is not here; what a terminal shows was not tried" >&2
    failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
