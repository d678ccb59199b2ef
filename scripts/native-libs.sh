#!/usr/bin/env bash
# Prints what a program needs besides libbloomline.a to link with it, such as
# "-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc", as the Rust compiler tells it:
#
#   scripts/native-libs.sh
#
# Uses rustc ($RUSTC), which builds an empty library in a directory of its own.
set -euo pipefail

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
: >"$directory/empty.rs"
"${RUSTC:-rustc}" --crate-type staticlib --print native-static-libs \
    --out-dir "$directory" "$directory/empty.rs" >"$directory/log" 2>&1 || {
    cat "$directory/log" >&2
    exit 1
}
libs=$(sed -n 's/^note: native-static-libs: //p' "$directory/log")
if [ -z "$libs" ]; then
    echo "native-libs: rustc did not tell which libraries to link with" >&2
    cat "$directory/log" >&2
    exit 1
fi
echo "$libs"
