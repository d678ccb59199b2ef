#!/usr/bin/env bash
# Runs the Rust tests under AddressSanitizer, with every backend of this CPU:
#
#   scripts/rust-asan.sh
#   scripts/rust-asan.sh --staticlib
#
# With --staticlib it runs none: it builds the library for C programs and prints, alone on standard
# output, the directory that holds it. It is the library that the Rust tests use, so that it is
# compiled once.
#
# First tests/control_overread.rs must be reported for each backend. What does not run is said, with
# the reason. Builds into target/rust-asan, with debug assertions, which check unsafe calls of the
# standard library too, and overflow checks.
#
# Uses cargo. The stable compiler has the sanitizer; RUSTC_BOOTSTRAP makes it admit that.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "rust-asan: $*"; }
die() { say "FAILED: $*" >&2; exit 1; }

# Files of tests/ that do nothing in memory that the others do not.
files_out="header: compares text
loom: has atomics of its own
serde: has no memory of its own
control_overread: must fail, see above
races: are among those of tests/all"

# Named, so that build scripts and macros, which run here, are not instrumented.
host=$(rustc -vV | sed -n 's/^host: //p')
export RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address --cfg answers_alone" CARGO_TARGET_DIR=$PWD/target/rust-asan
unset CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_TARGET
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=4
export RUSTC_WORKSPACE_WRAPPER=$PWD/scripts/test-rustc.sh
export CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true
# A case takes ten times as long.
export BLOOMLINE_FEWER_CASES=1
# More memory than there is: the library is to find out from the allocator.
export ASAN_OPTIONS=allocator_may_return_null=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}

if [ "${1-}" = --staticlib ]; then
    cargo build --quiet --release --features capi,internals --target "$host" --example c_library >&2
    library=$CARGO_TARGET_DIR/$host/release
    # Not into the old file, which another build may read.
    cp -p "$library/examples/libc_library.a" "$library/libbloomline.a.$$"
    mv -f "$library/libbloomline.a.$$" "$library/libbloomline.a"
    echo "$library"
    exit
fi

# Without unit tests: their calls are those of `all`, and to compile the library once more takes most of the time.
files=(--test all)
for file in tests/*.rs; do
    name=$(basename "$file" .rs)
    grep -q "^$name: " <<<"$files_out" || files+=(--test "$name")
done
# Without serde: the formats of its tests would take most of the build.
run() { cargo test --quiet --release --features capi,internals --target "$host" "$@"; }
run "${files[@]}" --test control_overread --no-run

log=$(mktemp)
trap 'rm -f "$log"' EXIT
backends=${BLOOMLINE_REQUIRE_BACKENDS-$(scripts/required-backends.sh)}
[ -n "$backends" ] || backends=scalar
for backend in ${backends//,/ }; do
    for control in one_key a_batch an_insert; do
        if BLOOMLINE_BACKEND=$backend run --test control_overread -- --ignored --exact "$control" >"$log" 2>&1; then
            cat "$log"
            die "$control, backend $backend, leaves its memory and was not reported"
        fi
        grep -q 'AddressSanitizer: heap-buffer-overflow' "$log" ||
            { cat "$log"; die "$control, backend $backend, failed, but not for what it breaks"; }
        say "$control, backend $backend, is reported, as it must be"
    done
done

while IFS= read -r line; do say "does not run: tests/${line/: /.rs: }"; done <<<"$files_out"
run "${files[@]}" -- --list >"$log" 2>/dev/null
long=$(scripts/long-tests.sh "$log" asan)
mapfile -t skip <<<"$long"
run "${files[@]}" -- "${skip[@]}"
say "no error found"
