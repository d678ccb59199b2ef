#!/usr/bin/env bash
# Compares the public Rust API with the committed list, packaging/api.txt: one line per item, with
# its signature.
#
#   scripts/api.sh            fails if a line was added, changed or removed
#   BLESS=1 scripts/api.sh    rewrites the list (`make api`)
#
# A line that is added is a new feature. One that is changed or removed breaks programs that compile
# today: then the version must say so. Traits that the compiler derives for all types (Send,
# Unpin, blanket implementations) are left out, and the feature `internals`.
#
# packaging/api makes the list from rustdoc's JSON, whose format changes with the compiler. With a
# compiler of another format nothing is compared, and the script says so. Uses cargo.
# RUSTC_BOOTSTRAP makes the stable rustdoc write JSON.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C

format=57
list=packaging/api.txt

RUSTC_BOOTSTRAP=1 cargo rustdoc --quiet --release --lib --features capi,serde -- -Z unstable-options --output-format json
found=$(tail -c 200 target/doc/bloomline.json | sed -n 's/.*"format_version":\([0-9]*\).*/\1/p')
if [ "$found" != $format ]; then
    echo "api: not compared: the JSON of $(rustdoc --version) has format ${found:-?}, packaging/api reads $format" >&2
    exit 0
fi
now=$(mktemp)
trap 'rm -f "$now"' EXIT
cargo run --quiet --locked --manifest-path packaging/api/Cargo.toml --target-dir target/tools -- \
    target/doc/bloomline.json >"$now"
grep -q '^pub fn bloomline::Filter::contains' "$now" || { echo "api: the list lacks Filter::contains" >&2; exit 1; }

if [ -n "${BLESS-}" ]; then
    cp "$now" "$list"
    echo "api: wrote $list"
elif difference=$(diff "$list" "$now"); then
    echo "api: the $(wc -l <"$list") public items are those of $list"
    echo "1 passed, 0 failed"
else
    echo "api: the public items are not what $list says (< list, > crate); if that is meant: make api"$'\n'"$difference" >&2
    exit 1
fi
