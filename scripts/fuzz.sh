#!/usr/bin/env bash
# Runs every fuzzer for a bounded time:
#
#   scripts/fuzz.sh [SECONDS] [TARGET]...
#
# SECONDS (default 30) each, all targets of fuzz/ unless some are named. A crash, a leak
# or a hang fails the run; what caused it is left in fuzz/artifacts/TARGET, and
#
#   target/fuzz/*/release/TARGET fuzz/artifacts/TARGET/FILE
#
# shows it again. The committed corpus (fuzz/corpus/TARGET) and the golden files are where
# the fuzzers start from. They are not written to: what is found on top goes to
# target/fuzz-corpus/TARGET, and is used again by the next run.
#
# Needs cargo and a C++ compiler. The stable compiler has the sanitizers; RUSTC_BOOTSTRAP makes it
# admit that.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1-30}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || {
    echo "usage: scripts/fuzz.sh [SECONDS] [TARGET]..." >&2
    exit 2
}
shift $(($# > 0 ? 1 : 0))

# As cargo-fuzz builds: AddressSanitizer, and the counters
# and comparisons that guide libFuzzer. One unit of code each, since instrumented ones are not inlined across.
# The target is named so that build scripts and macros, which run here, are not instrumented. What is not
# optimised much is compiled in half the time.
export RUSTC_BOOTSTRAP=1
host=$(rustc -vV | sed -n 's/^host: //p')
export RUSTFLAGS="--cfg fuzzing -Zsanitizer=address -Cdebug-assertions -Ccodegen-units=1 -Cpasses=sancov-module"
for option in coverage-level=4 coverage-inline-8bit-counters coverage-pc-table coverage-trace-compares \
    coverage-stack-depth; do
    RUSTFLAGS+=" -Cllvm-args=-sanitizer-$option"
done
RUSTFLAGS+=" -Cllvm-args=-simplifycfg-branch-fold-threshold=0"
unset CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_TARGET
# For a run of hours: CARGO_PROFILE_RELEASE_OPT_LEVEL=3.
export CARGO_PROFILE_RELEASE_DEBUG=line-tables-only CXXFLAGS="${CXXFLAGS-} -g0"
export CARGO_PROFILE_RELEASE_OPT_LEVEL=${CARGO_PROFILE_RELEASE_OPT_LEVEL-1}
cargo build --release --manifest-path fuzz/Cargo.toml --target "$host" --target-dir target/fuzz "${@/#/--bin=}"
programs=target/fuzz/$host/release

targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    mapfile -t targets < <(sed -n 's/^path = "fuzz_targets\/\(.*\)\.rs"/\1/p' fuzz/Cargo.toml)
fi
[ ${#targets[@]} -gt 0 ] || {
    echo "fuzz: there is nothing to run" >&2
    exit 1
}

failed=()
for target in "${targets[@]}"; do
    found=target/fuzz-corpus/$target
    mkdir -p "$found" "fuzz/corpus/$target" "fuzz/artifacts/$target"
    # libFuzzer writes to the first directory, and only reads the others.
    corpora=("$found" "fuzz/corpus/$target")
    if [ "$target" = decode ]; then
        # The filters alone: beside them are lists of probes. All are read first, the long ones for half a minute:
        # those that leave time to change them, and the shortest of each directory, however long.
        seeds=target/fuzz-seeds/$target
        rm -rf "$seeds" && mkdir -p "$seeds"
        for file in golden/{accepted,rejected}/*.bloomline golden/*/{accepted,rejected}/*.bloomline; do
            name=${file#golden/}
            [ "$(wc -c <"$file")" -gt $((seconds * 50)) ] || cp "$file" "$seeds/${name//\//-}"
        done
        for directory in golden/{accepted,rejected} golden/*/{accepted,rejected}; do
            shortest=$(find "$directory" -maxdepth 1 -name '*.bloomline' -printf '%s %p\n' | sort -n | sed -n '1s/^[0-9]* //p')
            [ -z "$shortest" ] || cp "$shortest" "$seeds/shortest-${directory//\//-}"
        done
        corpora+=("$seeds")
    fi
    if [ "$target" = journal ]; then
        corpora+=(golden/journal/accepted golden/journal/rejected)
    fi
    echo "fuzz: $target, $seconds seconds"
    "$programs/$target" "${corpora[@]}" -artifact_prefix="fuzz/artifacts/$target/" \
        -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 ||
        failed+=("$target")
done

if [ ${#failed[@]} -gt 0 ]; then
    echo "fuzz: FAILED: ${failed[*]}; see fuzz/artifacts" >&2
    exit 1
fi
echo "fuzz: ${#targets[@]} targets ran $seconds seconds each and found nothing"
