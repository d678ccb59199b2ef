#!/usr/bin/env bash
# Runs the Rust tests of threads in growing filters (tests/races.rs) under ThreadSanitizer, with the scalar
# backend and with the one of this CPU:
#
#   scripts/rust-tsan.sh
#   scripts/rust-tsan.sh --staticlib
#
# With --staticlib it runs none: it builds the library for C programs and prints, alone on standard
# output, the directory that holds it. It is the library that the Rust tests use, so that it is
# compiled once.
#
# First a race must be reported. The other threads of the library are in the C tests (`make -C c-tests tsan`).
# Builds into target/rust-tsan.
#
# Uses cargo and rustc. The stable compiler has the sanitizer; RUSTC_BOOTSTRAP makes it admit that. The standard library
# is the one that is installed, without ThreadSanitizer: docs/THREADS.md says what that reports for nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "rust-tsan: $*"; }
die() { say "FAILED: $*" >&2; exit 1; }

# Named, so that build scripts and macros, which run here, are not instrumented.
host=$(rustc -vV | sed -n 's/^host: //p')
# ThreadSanitizer does not see vector accesses of more than 16 bytes, so the compiler makes none of its own.
flags="-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer -Cno-vectorize-slp -Cno-vectorize-loops"
export RUSTC_BOOTSTRAP=1 RUSTFLAGS=$flags CARGO_TARGET_DIR=$PWD/target/rust-tsan
unset CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_TARGET
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=4 CARGO_PROFILE_RELEASE_OPT_LEVEL=1

built=$CARGO_TARGET_DIR/$host/release
cargo rustc --quiet --release --lib --features capi,internals --crate-type lib,staticlib --target "$host" >&2
if [ "${1-}" = --staticlib ]; then
    [ -f "$built/libbloomline.a" ] || die "no static library in $built"
    echo "$built"
    exit
fi

# By rustc: cargo would build what all other tests need, which takes most of the time.
# shellcheck disable=SC2086 # The flags are words.
rustc --edition 2024 --test tests/races.rs -o "$built/races" --target "$host" $flags -Copt-level=1 \
    -L "dependency=$built/deps" -L "dependency=$CARGO_TARGET_DIR/release/deps" \
    --extern "bloomline=$built/libbloomline.rlib" \
    --extern "xxhash_rust=$(ls -t "$built"/deps/libxxhash_rust-*.rlib | head -n 1)"

log=$(mktemp) suppressions=$(mktemp)
trap 'rm -f "$log" "$suppressions"' EXIT
# The last is how the test program's threads say that they are done.
{ cat packaging/tsan.supp; printf '%s\n' race:drop_slow race:test::event::CompletedTest; } >"$suppressions"
export TSAN_OPTIONS="suppressions=$suppressions halt_on_error=1 exitcode=66 history_size=7" CARGO_MANIFEST_DIR=$PWD

# One after the other: the threads of the test program are none of the library's.
run() { "$built/races" --test-threads=1 "$@"; }

if BLOOMLINE_BACKEND=scalar run --ignored --exact control >"$log" 2>&1; then
    cat "$log"
    die "a race was not reported"
fi
grep -q 'ThreadSanitizer: data race' "$log" || { cat "$log"; die "the control failed, but not for its race"; }
say "the race is reported, as it must be"

for backend in scalar ''; do
    say "${backend:-the backend of this CPU}"
    BLOOMLINE_FEWER_CASES=1 BLOOMLINE_BACKEND=$backend run | tee "$log"
    grep -q '^test result: ok\. [1-9]' "$log" || die "no test ran"
done
say "no race found"
