#!/usr/bin/env bash
# Prints by how much a Rust program grows, stripped, that makes, fills, probes and saves a plain filter:
#
#   scripts/rust-size.sh
#
# As cargo builds it for release, and with link-time optimisation, at both levels. The program that it is
# weighed against has no filter. Uses cargo ($CARGO); `c-tests/size.sh` does the same for C.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/Cargo.toml" <<END
[package]
name = "size"
version = "0.0.0"
edition = "2024"
[dependencies]
bloomline = { path = "$root" }
[[bin]]
name = "plain"
path = "plain.rs"
[[bin]]
name = "empty"
path = "empty.rs"
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
END
cat >"$work/plain.rs" <<'END'
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
echo 'fn main() { println!("{}", std::env::args().count()); }' >"$work/empty.rs"
for profile in release lto-3 lto-2; do
    "${CARGO:-cargo}" build -q --manifest-path "$work/Cargo.toml" --target-dir "$work/target" --profile "$profile"
    built=$work/target/$profile
    "$built/plain" >"$work/answer"
    [ "$(cat "$work/answer")" = true ] || { echo "rust-size: the key is not there" >&2; exit 1; }
    echo "rust-size: $profile: $(($(wc -c <"$built/plain") - $(wc -c <"$built/empty"))) bytes"
done
