#!/usr/bin/env bash
# Packs the crate as the registry gets it, and checks the pack:
#
#   scripts/package-test.sh
#
# * it is small: at most 400 files and 1 MiB
# * it has every file that its README.md links to
# * a program that depends on it builds and runs, without features: it probes static filters, too, by plain code,
#   and refuses cuckoo filters
# * the C libraries build from it
#
# Uses cargo. Builds in target/package-test.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "package-test: $*"; }
die() { say "FAILED: $*" >&2; exit 1; }

out=$PWD/target/package-test
rm -rf "$out/crate" "$out/user"
mkdir -p "$out/crate" "$out/user/src"
# That it builds is the question.
export CARGO_TARGET_DIR=$out/target CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=0
cargo package --quiet --allow-dirty --no-verify
version=$(sed -n 's/^version *= *"\([^"]*\)".*/\1/p' Cargo.toml | head -n 1)
pack=$CARGO_TARGET_DIR/package/bloomline-$version.crate
tar -xzf "$pack" -C "$out/crate" --strip-components=1

files=$(find "$out/crate" -type f | wc -l) bytes=$(wc -c <"$pack")
say "$files files, $bytes bytes"
[ "$files" -le 400 ] || die "more than 400 files: see 'include' in Cargo.toml"
[ "$bytes" -le $((1024 * 1024)) ] || die "more than 1 MiB"

links=0
while read -r link; do
    [ -e "$out/crate/$link" ] || die "README.md links to $link, which is not in the pack: see 'include' in Cargo.toml"
    links=$((links + 1))
done < <(grep -oE '\]\([^)#]+' README.md | sed 's/^](//' | grep -vE '^[a-z]+:' | sort -u)
[ "$links" -gt 0 ] || die "no link found in README.md: is this still how they are written?"
say "all $links files that README.md links to are in it"

cat >"$out/user/Cargo.toml" <<USER
[package]
name = "user"
edition = "2024"
[dependencies]
bloomline = { path = "../crate", default-features = false }
[workspace]
USER
mkdir "$out/user/src/bin"
cp examples/twenty_lines.rs "$out/user/src/main.rs"
cat >"$out/user/src/bin/refuses.rs" <<'USER'
use bloomline::{Error, Kind, MappedFilter, View};
fn main() {
    let mut refused = 0;
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(Kind::of(&bytes), Ok(Kind::Cuckoo));
        let error = View::open(&bytes).unwrap_err();
        assert!(error.to_string().contains("the feature cuckoo is off"), "{error}");
        assert_eq!(View::open_unverified(&bytes).unwrap_err(), Error::Layout(Kind::Cuckoo as u16));
        // SAFETY: nobody writes to the file.
        assert_eq!(unsafe { MappedFilter::open(&path) }.unwrap_err(), error);
        refused += 1;
    }
    assert!(refused > 0);
}
USER
cat >"$out/user/src/bin/probes.rs" <<'USER'
use bloomline::{Bitmap, View};
fn main() {
    let mut present = 0;
    for path in std::env::args().skip(1) {
        let (bytes, probes) = (std::fs::read(&path).unwrap(), std::fs::read_to_string(path + ".probes").unwrap());
        let view = View::open(&bytes).unwrap();
        let answers = probes.lines().map(|line| line.split_once(' ').unwrap());
        let (hashes, expected): (Vec<_>, Vec<_>) =
            answers.map(|(hash, answer)| (u64::from_str_radix(hash, 16).unwrap(), answer == "1")).unzip();
        let mut bitmap = Bitmap::new();
        view.contains_hashes(&hashes, &mut bitmap);
        for (i, &hash) in hashes.iter().enumerate() {
            assert!(bitmap[i] == expected[i] && view.contains_hash(hash) == expected[i]);
        }
        present += expected.iter().filter(|&&expected| expected).count();
    }
    assert!(present > 0);
}
USER
(cd "$out/user" && TMPDIR=$out/user cargo run --quiet --release --bin user)
(cd "$out/user" && cargo run --quiet --release --bin probes ../../../golden/static/accepted/*.bloomline)
(cd "$out/user" && cargo run --quiet --release --bin refuses ../../../golden/cuckoo/accepted/*.bloomline)
say "programs that depend on it run"

(cd "$out/crate" && cargo rustc --quiet --release --lib --features capi --crate-type staticlib,cdylib)
[ -f "$CARGO_TARGET_DIR/release/libbloomline.a" ] || die "no static library"
say "the C libraries build from it"
echo "4 passed, 0 failed"
