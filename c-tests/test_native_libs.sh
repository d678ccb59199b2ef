#!/usr/bin/env bash
# Tests scripts/native-libs.sh: for this machine by its own rustc; for others by a rustc that says
# for which target it was asked, since a real one needs that target's standard library.
set -euo pipefail
cd "$(dirname "$0")"
unset CARGO_BUILD_TARGET

script=../scripts/native-libs.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
check() { # WHAT WANTED GOT
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
        echo "  ok      $1"
    else
        failed=$((failed + 1))
        echo "  FAILED  $1: wanted '$2', got '$3'"
    fi
}
status() { # COMMAND: its exit status; what it says is in $work/said
    local status=0
    "$@" >"$work/said" 2>&1 || status=$?
    echo $status
}

rustc=${RUSTC:-rustc}
host=$("$rustc" -vV | sed -n 's/^host: //p')
here=$($script)
check "this machine: the C library is among $here" yes "$(case " $here " in *" -lc "*) echo yes ;; esac)"
check "--target $host says the same" "$here" "$($script --target "$host")"

check "this machine: no unwinder among them" no "$(case " $here " in *" -lgcc_s "*) echo yes ;; *) echo no ;; esac)"

cat >"$work/rustc" <<'RUSTC'
#!/bin/sh
target=host
while [ $# -gt 0 ]; do
    [ "$1" != --target ] || target=$2
    shift
done
echo "note: native-static-libs: -lunwind -lof-$target -lgcc_s" >&2
RUSTC
chmod +x "$work/rustc"
export RUSTC=$work/rustc
check "no target: this machine" -lof-host "$($script)"
check "--target TRIPLE" -lof-a-b-c "$($script --target a-b-c)"
check "--target=TRIPLE" -lof-a-b-c "$($script --target=a-b-c)"
check "TARGET=TRIPLE" -lof-a-b-c "$($script TARGET=a-b-c)"
check "CARGO_BUILD_TARGET" -lof-d-e-f "$(CARGO_BUILD_TARGET=d-e-f $script)"
check "--target before CARGO_BUILD_TARGET" -lof-a-b-c "$(CARGO_BUILD_TARGET=d-e-f $script --target a-b-c)"
check "--target without a triple" 2 "$(status $script --target)"
check "anything else" 2 "$(status $script aarch64-unknown-linux-gnu)"

export RUSTC=$rustc
check "a target that there is not" 1 "$(status $script --target no-such-target)"
check "the message names it" yes "$(grep -q 'native-libs:.*no-such-target' "$work/said" && echo yes)"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
