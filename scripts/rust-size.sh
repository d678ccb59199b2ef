#!/usr/bin/env bash
# Prints by how much a Rust program grows, stripped, that makes, fills, probes and saves a plain filter,
# and how long it takes to build:
#
#   scripts/rust-size.sh
#
# As cargo builds it for release, and with link-time optimisation, at both levels. The program that it is
# compared with has no filter. The times, of the CPU and of the clock, are of a first build for release,
# also without the types that are features, and of the same program with the crate fastbloom.
# They say nothing on a busy machine, so only the size has a limit: 150,000 bytes on Linux on x86-64, where
# it was measured. Uses cargo ($CARGO); `c-tests/size.sh` does the same for C.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/plain" "$work/lean" "$work/peer" "$work/empty"
for program in plain lean peer empty; do
    cat >"$work/$program/Cargo.toml" <<END
[package]
name = "$program"
version = "0.0.0"
edition = "2024"
[[bin]]
name = "$program"
path = "main.rs"
[profile.release]
strip = true
[profile.lto-3]
inherits = "release"
lto = "fat"
codegen-units = 1
[profile.lto-2]
inherits = "lto-3"
opt-level = 2
[workspace]
[dependencies]
END
done
echo "bloomline = { path = \"$root\" }" >>"$work/plain/Cargo.toml"
echo "bloomline = { path = \"$root\", default-features = false }" >>"$work/lean/Cargo.toml"
tee "$work/lean/main.rs" >"$work/plain/main.rs" <<'END'
use bloomline::{Filter, Params};
fn main() {
    let mut keys = std::env::args();
    let name = keys.next().unwrap();
    let mut filter = Filter::new(Params::for_rate(1000, 0.01).unwrap()).unwrap();
    filter.insert(&name);
    if let Some(path) = keys.next() {
        filter.save(path).unwrap();
    }
    println!("{}", filter.contains(&name));
}
END
# The version that the lab compares.
grep '^fastbloom = ' "$root/lab/Cargo.toml" >>"$work/peer/Cargo.toml"
cat >"$work/peer/main.rs" <<'END'
use fastbloom::BloomFilter;
fn main() {
    let name = std::env::args().next().unwrap();
    let mut filter = BloomFilter::with_false_pos(0.01).expected_items(1000);
    filter.insert(&name);
    println!("{}", filter.contains(&name));
}
END
echo 'fn main() { println!("{}", std::env::args().count()); }' >"$work/empty/main.rs"

# build PROGRAM PROFILE
build() {
    "${CARGO:-cargo}" build -q --manifest-path "$work/$1/Cargo.toml" --target-dir "$work/$1/target" --profile "$2"
}
# timed PROGRAM: builds it for release, and prints the seconds of the CPU and of the clock.
timed() {
    local TIMEFORMAT='%U %S %R'
    { time build "$1" release 2>&3; } 3>&2 2>"$work/time"
    awk '{ printf "%.1f s of CPU, %.1f s by the clock", $1 + $2, $3 }' "$work/time"
}
# What cargo downloads is not timed.
for program in plain lean peer; do "${CARGO:-cargo}" fetch -q --manifest-path "$work/$program/Cargo.toml"; done
plain=$(timed plain) lean=$(timed lean) peer=$(timed peer) empty=$(timed empty)
echo "rust-size: release: built in $plain; without default features in $lean; with fastbloom in $peer"
echo "rust-size: without a filter in $empty"
for profile in release lto-3 lto-2; do
    build plain "$profile"
    build empty "$profile"
    [ "$("$work/plain/target/$profile/plain")" = true ] || { echo "rust-size: the key is not there" >&2; exit 1; }
    bytes() { wc -c <"$work/$1/target/$profile/$1"; }
    more=$(($(bytes plain) - $(bytes empty)))
    echo "rust-size: $profile: $more bytes"
    [ "$(uname -sm)" != 'Linux x86_64' ] || [ "$more" -le 150000 ] ||
        { echo "rust-size: a program with a plain filter grows by more than 150000 bytes" >&2; exit 1; }
done
