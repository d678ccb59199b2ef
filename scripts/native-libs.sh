#!/usr/bin/env bash
# Prints what a program needs besides libbloomline.a to link with it, such as
# "-lutil -lrt -lpthread -lm -ldl -lc", as the Rust compiler tells it:
#
#   scripts/native-libs.sh [--target TRIPLE]
#
# TRIPLE is what the library was built for: the argument of `cargo build --target`. Without it,
# $CARGO_BUILD_TARGET as cargo takes it, or this machine. TARGET=TRIPLE is the same as --target.
#
# Without the unwinder (-lgcc_s, -lunwind): the compiler that links adds its own, the shared or with
# -static the static one, and the shared one named here would fail with -static.
#
# Uses rustc ($RUSTC), which builds an empty library in a directory of its own. For another target
# than this machine it needs that target's standard library, as the build of the library does.
set -euo pipefail

target=${CARGO_BUILD_TARGET-}
while [ $# -gt 0 ]; do
    case $1 in
        TARGET=) ;; # as good as none
        --target=?* | TARGET=?*) target=${1#*=} ;;
        --target) [ -n "${2-}" ] || { echo "native-libs: --target needs a triple" >&2; exit 2; }
            target=$2
            shift ;;
        *) echo "usage: scripts/native-libs.sh [--target TRIPLE]" >&2; exit 2 ;;
    esac
    shift
done

kept=
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
: >"$directory/empty.rs"
"${RUSTC:-rustc}" ${target:+--target "$target"} --crate-type staticlib --print native-static-libs \
    --out-dir "$directory" "$directory/empty.rs" >"$directory/log" 2>&1 || {
    cat "$directory/log" >&2
    [ -z "$target" ] || echo "native-libs: rustc cannot build for $target; add its standard library" \
        "(rustup target add $target), or set RUSTC to the compiler that built the library" >&2
    exit 1
}
libs=$(sed -n 's/^note: native-static-libs: //p' "$directory/log")
if [ -z "$libs" ]; then
    echo "native-libs: rustc did not tell which libraries to link with" >&2
    cat "$directory/log" >&2
    exit 1
fi
for lib in $libs; do
    case $lib in
        -lgcc_s | -lgcc_eh | -lunwind) ;;
        *) kept=${kept:+$kept }$lib ;;
    esac
done
echo "$kept"
