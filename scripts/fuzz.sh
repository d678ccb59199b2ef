#!/usr/bin/env bash
# Runs every fuzzer for a bounded time:
#
#   scripts/fuzz.sh [SECONDS] [TARGET]...
#
# SECONDS (default 30) each, all targets of fuzz/ unless some are named. A crash, a leak
# or a hang fails the run; what caused it is left in fuzz/artifacts/TARGET, and
#
#   RUSTC_BOOTSTRAP=1 cargo fuzz run TARGET fuzz/artifacts/TARGET/FILE
#
# shows it again. The committed corpus (fuzz/corpus/TARGET) and the golden files are where
# the fuzzers start from. They are not written to: what is found on top goes to
# target/fuzz-corpus/TARGET, and is used again by the next run.
#
# Needs cargo and a C++ compiler. cargo-fuzz is installed into target/tools if it is not
# there. The stable compiler has the sanitizers; RUSTC_BOOTSTRAP makes it admit that.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1-30}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || {
    echo "usage: scripts/fuzz.sh [SECONDS] [TARGET]..." >&2
    exit 2
}
shift $(($# > 0 ? 1 : 0))

version=0.13.2
export RUSTC_BOOTSTRAP=1
# cargo-fuzz sets its own; flags meant for other builds would come in between.
unset RUSTFLAGS

fuzz=$PWD/target/tools/bin/cargo-fuzz
if ! "$fuzz" --version 2>/dev/null | grep -qF "$version"; then
    echo "fuzz: installing cargo-fuzz $version into target/tools" >&2
    cargo install cargo-fuzz --locked --quiet --debug --version "$version" --root target/tools
fi

targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    mapfile -t targets < <("$fuzz" list)
fi
[ ${#targets[@]} -gt 0 ] || {
    echo "fuzz: there is nothing to run" >&2
    exit 1
}

failed=()
for target in "${targets[@]}"; do
    found=target/fuzz-corpus/$target
    mkdir -p "$found" "fuzz/corpus/$target"
    # libFuzzer writes to the first directory, and only reads the others.
    corpora=("$found" "fuzz/corpus/$target")
    if [ "$target" = decode ]; then
        # The filters alone: beside them are lists of probes.
        seeds=target/fuzz-seeds/$target
        rm -rf "$seeds" && mkdir -p "$seeds"
        for file in golden/{accepted,rejected}/*.bloomline golden/*/{accepted,rejected}/*.bloomline; do
            name=${file#golden/}
            cp "$file" "$seeds/${name//\//-}"
        done
        corpora+=("$seeds")
    fi
    if [ "$target" = journal ]; then
        corpora+=(golden/journal/accepted golden/journal/rejected)
    fi
    echo "fuzz: $target, $seconds seconds"
    "$fuzz" run "$target" "${corpora[@]}" -- \
        -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 ||
        failed+=("$target")
done

if [ ${#failed[@]} -gt 0 ]; then
    echo "fuzz: FAILED: ${failed[*]}; see fuzz/artifacts" >&2
    exit 1
fi
echo "fuzz: ${#targets[@]} targets ran $seconds seconds each and found nothing"
