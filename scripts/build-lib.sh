#!/usr/bin/env bash
# Builds the C libraries, static and shared:
#
#   scripts/build-lib.sh [TARGET=TRIPLE] [ARGUMENT OF cargo rustc]...
#
# They go to target/release or, with TARGET, to target/TRIPLE/release ($CARGO_TARGET_DIR in place
# of target/). TARGET=TRIPLE is the same as --target TRIPLE. musl has no shared library.
#
# Linux programs find the shared library at run time by the name that build.rs gives it; for macOS,
# it is given here. Its number is the header's BLOOMLINE_ABI_VERSION. Uses cargo ($CARGO).
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

triple=${CARGO_BUILD_TARGET-}
arguments=()
while [ $# -gt 0 ]; do
    case $1 in
        TARGET=) ;;
        TARGET=* | --target=*) triple=${1#*=} ;;
        --target) [ -n "${2-}" ] || { echo "build-lib: --target needs a triple" >&2; exit 2; }
            triple=$2
            shift ;;
        *) arguments+=("$1") ;;
    esac
    shift
done

kinds=staticlib,cdylib flags=()
case ${triple:-$("${RUSTC:-rustc}" -vV | sed -n 's/^host: //p')} in
    *-musl*)
        kinds=staticlib
        # The unwinder that Rust links into its own programs goes into the library: compilers on
        # systems with glibc (musl-gcc) have one for glibc alone.
        unwinder=$("${RUSTC:-rustc}" ${triple:+--target "$triple"} --print target-libdir)/self-contained
        [ ! -f "$unwinder/libunwind.a" ] || flags=(-L "native=$unwinder" -l static=unwind) ;;
    *-apple-*)
        abi=$(sed -n 's/^#define BLOOMLINE_ABI_VERSION \([0-9]*\).*/\1/p' "$root/include/bloomline.h")
        [ -n "$abi" ] || { echo "build-lib: bloomline.h has no BLOOMLINE_ABI_VERSION" >&2; exit 1; }
        flags=("-Clink-arg=-Wl,-install_name,@rpath/libbloomline.$abi.dylib") ;;
esac

# Only these kinds: a Rust library beside them would rule out link-time optimisation, and the
# archive would be three times as large.
exec "${CARGO:-cargo}" rustc --manifest-path "$root/Cargo.toml" --release --lib --features capi \
    --crate-type "$kinds" ${triple:+--target "$triple"} ${arguments[@]+"${arguments[@]}"} \
    ${flags[@]+-- "${flags[@]}"}
