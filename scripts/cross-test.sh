#!/usr/bin/env bash
# Runs the tests on another architecture: cross-built, then run under qemu, or by this machine
# itself if it can.
#
#   scripts/cross-test.sh TARGET [ARGUMENT OF cargo test]...
#   scripts/cross-test.sh TARGET --staticlib
#   scripts/cross-test.sh windows
#
#   musl      this machine's CPU with another C library, linked statically: of Rust, whether a panic
#             is caught. All else the tests of C ask.
#   aarch64   64-bit, little-endian: the NEON code really runs
#   s390x     64-bit, big-endian
#   i686      32-bit, little-endian; Linux on x86-64 most often runs it as it is
#
# For windows, where there is nothing of Unix, no test is built and none run: it is checked that
# the library compiles, with the C interface and without.
#
# With --staticlib it runs no test: it builds the library and prints, alone on
# standard output, the directory that holds the static library (to link a C
# program with the target's gcc and run that under qemu). It is the library that the Rust tests
# use, so that it is compiled once (for musl, as it is shipped).
#
# The tests see BLOOMLINE_EXPECT_ARCH and BLOOMLINE_EXPECT_ENDIAN, the values
# that cfg(target_arch) and cfg(target_endian) must have. Each executable's ELF
# header is checked before it runs, and a run that executed none is a failure.
# The kernel of this machine cannot start the target's executables, so a test
# that starts one (itself, say, with another environment) must do it through
# `scripts/cross-test.sh --run $BLOOMLINE_CROSS_TARGET EXECUTABLE [ARGUMENT]...`;
# BLOOMLINE_CROSS_TARGET is set to TARGET here, and is not set in a native run.
#
# The compiler is Debian's rustc-web, unpacked (not installed) into
# $BLOOMLINE_CROSS_DIR (default: target/cross) beside whatever toolchain is
# installed, whose cargo drives it; a compiler and its standard library must be
# of one version. For aarch64 that is Debian's, built for arm64; for the others
# it is built here, from Debian's sources (-Zbuild-std). The first
# run sets this up, as root; later runs find a stamp and start at once.
# Needs Debian 12, cargo, and network for the first run.
set -euo pipefail

usage() {
    echo "usage: scripts/cross-test.sh aarch64|s390x|i686|musl --staticlib|[cargo argument]..." >&2
    echo "       scripts/cross-test.sh windows" >&2
    exit 2
}
say() { echo "cross-test: $*" >&2; }
die() { say "$*"; exit 1; }

# cargo calls this script again as the runner of each test executable:
# scripts/cross-test.sh --run TARGET EXECUTABLE [ARGUMENT]...
run=no
if [ "${1-}" = --run ]; then
    run=yes
    shift
fi

[ $# -gt 0 ] || usage
name=$1
shift
# elf: class (01: 32-bit, 02: 64-bit), data (01: little, 02: big), e_machine.
case $name in
    aarch64)
        target=aarch64-unknown-linux-gnu gnu=aarch64-linux-gnu qemu=qemu-aarch64
        arch=aarch64 endian=little elf="02 01 b7 00" build_std=no
        packages=(qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross) ;;
    s390x)
        target=s390x-unknown-linux-gnu gnu=s390x-linux-gnu qemu=qemu-s390x
        arch=s390x endian=big elf="02 02 00 16" build_std=yes
        packages=(qemu-user gcc-s390x-linux-gnu libc6-dev-s390x-cross) ;;
    i686)
        target=i686-unknown-linux-gnu gnu=i686-linux-gnu qemu=qemu-i386
        arch=x86 endian=little elf="01 01 03 00" build_std=yes
        packages=(qemu-user gcc-i686-linux-gnu libc6-dev-i386-cross) ;;
    musl)
        target=x86_64-unknown-linux-musl gnu=musl qemu=none
        arch=x86_64 endian=little elf="02 01 3e 00" build_std=yes
        packages=(musl-tools) ;;
    windows)
        # Not windows-gnu: its standard library cannot be built without the tools of MinGW.
        [ $run$# = no0 ] || usage
        target=x86_64-pc-windows-msvc build_std=yes packages=() ;;
    *) usage ;;
esac

if [ $run = yes ]; then
    executable=$1
    read -ra header < <(od -An -v -tx1 -w20 -N20 "$executable")
    found="${header[4]-} ${header[5]-} ${header[18]-} ${header[19]-}"
    if [ "$found" != "$elf" ]; then
        die "$executable is not built for $name (ELF class, data and machine: $found, not $elf)"
    fi
    echo "$executable" >>"${BLOOMLINE_CROSS_RAN:-/dev/null}"
    # What this machine runs itself takes a tenth of the time. It was linked to find its own loader
    # and C library.
    if [ "$name" = musl ] || { [ "$name" = i686 ] && "/usr/$gnu/lib/ld-linux.so.2" --version >/dev/null 2>&1; }; then
        exec "$@"
    fi
    # Only the cross C library. Its loader would also look where this machine's
    # loader does, and find that of libc6-i386 (which clang brings): with two C
    # libraries mixed, the program never gets past its first thread.
    exec "$qemu" -L "/usr/$gnu" \
        -E "LD_LIBRARY_PATH=/usr/$gnu/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$@"
fi

here=$(cd "$(dirname "$0")" && pwd)
cd "$here/.."
cross=${BLOOMLINE_CROSS_DIR:-target/cross}
mkdir -p "$cross"
cross=$(cd "$cross" && pwd)
root=$cross/root

command -v cargo >/dev/null || die "cargo is not installed; any Rust toolchain that knows edition 2024 will do"
# gcc and libc6-dev: build scripts are built for, and run on, this machine.
"$here/apt-install.sh" gcc libc6-dev "${packages[@]}"

# Adds arm64 as a foreign architecture, so that apt lists its packages. Not one
# for the other targets: with s390x or i386, `apt-get update` fails.
add_arm64() {
    if ! dpkg --print-foreign-architectures | grep -qx arm64; then
        [ "$(id -u)" -eq 0 ] || die "the architecture arm64 is unknown to dpkg; as root, run: dpkg --add-architecture arm64 && apt-get update"
        dpkg --add-architecture arm64
    fi
}

candidate() { # PACKAGE: the version that apt would install
    apt-cache policy "$1" | sed -n 's/^ *Candidate: //p'
}

depends() { # PACKAGE PATTERN: the packages it depends on whose whole name matches
    apt-cache depends "$1" | sed -n "s/^ *Depends: \\($2\\)\$/\\1/p"
}

# unpack VERSION PACKAGE...: downloads packages and unpacks them into the root.
# All those of the compiler must be of one version, also when the archive has
# moved on between two runs.
unpack() {
    local version=$1 packages_dir package file
    shift
    packages_dir=$(mktemp -d "$cross/packages.XXXXXX")
    for package in "$@"; do
        case $package in
            libllvm*) ;;
            *) [ "$(candidate "$package")" = "$version" ] ||
                die "apt offers $package in version $(candidate "$package"), but rustc-web in $version: try again later" ;;
        esac
    done
    # The sandbox user could not write into this directory.
    (cd "$packages_dir" && apt-get download -qq -o APT::Sandbox::User=root "$@" >&2)
    for file in "$packages_dir"/*.deb; do
        # Of the sources only the standard library is of use, a fifth of them.
        case $file in
            */rust-web-src_*) dpkg --fsys-tarfile "$file" | tar -x -C "$root" --wildcards './usr/src/rustc-*/library' ;;
            *) dpkg -x "$file" "$root" ;;
        esac
    done
    rm -rf "$packages_dir"
}

# Each part of the set-up leaves a stamp with the version that it unpacked.
if [ $build_std = yes ]; then part=source; else part=arm64; fi
stamp=$cross/stamp-$part
set_up() {
    local version library llvm shared
    [ "$(dpkg --print-architecture)" = amd64 ] || die "works on x86-64 only; this is $(dpkg --print-architecture)"
    [ $part = source ] || add_arm64
    rm -rf "$cross"/packages.* # of a run that was interrupted
    if [ "$(id -u)" -eq 0 ]; then
        flock "${TMPDIR:-/tmp}/bloomline-apt.lock" apt-get update -qq >&2 || say "apt-get update failed; trying with the lists at hand"
    fi
    version=$(candidate rustc-web)
    if [ -z "$version" ] || [ "$version" = "(none)" ]; then
        die "apt has no package rustc-web here (Debian 12 has it); if its lists are old or missing, run as root: apt-get update"
    fi
    if [ "$(cat "$cross/stamp-compiler" 2>/dev/null || true)" != "$version" ]; then
        say "unpacking rustc $version into $root"
        rm -rf "$root" "$cross"/stamp-*
        mkdir -p "$root"
        library=$(depends libstd-rust-web-dev 'libstd-rust-web-[0-9.]*')
        [ -n "$library" ] || die "cannot tell from apt which standard library rustc-web needs"
        llvm=$(depends "$library" 'libllvm[0-9]*')
        [ -n "$llvm" ] || die "cannot tell from apt which LLVM $library needs"
        # The shared libraries under the compiler are common ones, installed.
        mapfile -t shared < <(
            for package in "$library" "$llvm"; do depends "$package" '[a-z0-9.+-]*'; done |
                grep -vxF "$llvm" | sort -u
        )
        "$here/apt-install.sh" "${shared[@]}"
        unpack "$version" rustc-web libstd-rust-web-dev "$library" "$llvm"
        echo "$version" >"$cross/stamp-compiler"
    fi
    say "unpacking the standard library: $part"
    if [ $part = source ]; then
        unpack "$version" rust-web-src
        # Where cargo looks for it.
        mkdir -p "$root/usr/lib/rustlib/src"
        ln -sfn "../../../src/$(basename "$root"/usr/src/rustc-*)" "$root/usr/lib/rustlib/src/rust"
    else
        unpack "$version" libstd-rust-web-dev:arm64
    fi
    # The compiler's own libraries are in the root, and only the compiler is to
    # look there. Found from where the wrapper is, so the directory can move.
    for tool in rustc rustdoc; do
        cat >"$cross/$tool" <<'WRAPPER'
#!/bin/sh
root=${0%/*}/root
export LD_LIBRARY_PATH="$root/usr/lib/x86_64-linux-gnu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$root/usr/bin/${0##*/}" "$@"
WRAPPER
        chmod +x "$cross/$tool"
    done
    "$cross/rustc" --version >&2
    echo "$version" >"$stamp"
}

if [ ! -s "$stamp" ]; then
    # One at a time: two targets may be started side by side.
    (
        flock 9
        # Not `... || set_up`: there set -e would not apply inside of it.
        if [ ! -s "$stamp" ]; then set_up; fi
    ) 9>"$cross/lock"
fi

# The unwinder that Rust's target for musl brings, in the same place: Debian's libunwind of LLVM, which
# needs one function of glibc.
self_contained=$root/usr/lib/rustlib/$target/lib/self-contained
if [ "$name" = musl ] && [ ! -f "$self_contained/libunwind.a" ]; then
    work=$(mktemp -d "$cross/unwind.XXXXXX")
    (cd "$work" && apt-get download -qq -o APT::Sandbox::User=root libunwind-14-dev >&2)
    dpkg -x "$work"/libunwind-14-dev_*.deb "$work/root"
    cat >"$work/checked.c" <<'C'
#include <stdarg.h>
#include <stdio.h>
int __fprintf_chk(FILE *file, int checks, const char *format, ...);
int __fprintf_chk(FILE *file, int checks, const char *format, ...)
{
    va_list arguments;
    (void)checks;
    va_start(arguments, format);
    int written = vfprintf(file, format, arguments);
    va_end(arguments);
    return written;
}
C
    musl-gcc -O2 -fPIC -c -o "$work/checked.o" "$work/checked.c"
    cp "$work/root/usr/lib/llvm-14/lib/libunwind.a" "$work/libunwind.a"
    ar r "$work/libunwind.a" "$work/checked.o"
    mkdir -p "$self_contained"
    mv "$work/libunwind.a" "$self_contained/libunwind.a"
    rm -rf "$work"
fi

export RUSTC=$cross/rustc RUSTDOC=$cross/rustdoc
# Not target/: two compilers would rebuild each other's work.
mkdir -p "${CARGO_TARGET_DIR:-target}/cross-$name"
CARGO_TARGET_DIR=$(cd "${CARGO_TARGET_DIR:-target}/cross-$name" && pwd)
export CARGO_TARGET_DIR
# What was set for the native build, such as target-cpu=native.
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS RUSTDOCFLAGS CARGO_BUILD_TARGET RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER

if [ "$name" = windows ]; then
    # cargo knows no check of std, so rustc is told to make no code of it.
    export RUSTC_BOOTSTRAP=1 CARGO_PROFILE_DEV_DEBUG=0 RUSTFLAGS=-Zno-codegen
    for features in --features=capi --features=; do
        say "$target, $features"
        # `cargo check`, and of this crate alone a warning is an error.
        cargo rustc --profile check --lib --target "$target" -Zbuild-std=std -Zbuild-std-features=panic-unwind \
            "$features" -- -Dwarnings
    done
    exit 0
fi

export BLOOMLINE_EXPECT_ARCH=$arch BLOOMLINE_EXPECT_ENDIAN=$endian BLOOMLINE_CROSS_TARGET=$name
export BLOOMLINE_CROSS_RAN=$CARGO_TARGET_DIR/ran.txt
options=(--target "$target"
    --config "target.$target.linker=\"$gnu-gcc\""
    --config "target.$target.runner=[\"$here/cross-test.sh\", \"--run\", \"$name\"]")
if [ $build_std = yes ]; then
    export RUSTC_BOOTSTRAP=1 # -Zbuild-std is not stable
    # `test` is named: else --staticlib would build all once more, for a std without it.
    # Without `backtrace`: there is no debug information for it to read.
    options+=(-Zbuild-std=std,test -Zbuild-std-features=panic-unwind)
fi
# See tests/all/main.rs.
flags=(--cfg answers_alone)
if [ "$name" = i686 ]; then
    flags+=("-Clink-arg=-Wl,--dynamic-linker=/usr/$gnu/lib/ld-linux.so.2" "-Clink-arg=-Wl,-rpath,/usr/$gnu/lib")
fi
if [ "$name" = musl ]; then
    # Debian's rustc has no start files of musl, musl-gcc has. That knows no -static-pie, which rustc gives it.
    flags+=(-Clink-self-contained=no -Clink-arg=-static -Clink-arg=-no-pie "-Lnative=$self_contained")
fi
options+=(--config "target.$target.rustflags=[$(printf '"%s",' "${flags[@]}")]")
# Link-time optimisation of each test program, and of the standard library, would take most of the
# time. Where no code is for the CPU alone, the library is not optimised much either.
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=4
[ "$name" != i686 ] || export CARGO_PROFILE_RELEASE_OPT_LEVEL=1
export RUSTC_WORKSPACE_WRAPPER=$here/test-rustc.sh

library=$CARGO_TARGET_DIR/$target/release
if [ "$name" = musl ]; then
    "$here/build-lib.sh" "${options[@]}" >&2
elif [ "${1-}" = --staticlib ]; then
    cargo build --release --features capi,internals --example c_library "${options[@]}" >&2
    # Not into the old file, which another build may read.
    cp -p "$library/examples/libc_library.a" "$library/libbloomline.a.$$"
    mv -f "$library/libbloomline.a.$$" "$library/libbloomline.a"
fi
if [ "${1-}" = --staticlib ]; then
    [ -f "$library/libbloomline.a" ] || die "no static library in $library"
    echo "$library"
    exit 0
fi

if [ "$name" = musl ]; then
    [ $# -eq 0 ] || usage
    # By rustc: the test asks nothing of the library, and cargo would build that once more, and what tests need.
    standard=()
    for crate in alloc compiler_builtins core panic_unwind std test; do
        standard+=(--extern "noprelude:$crate=$(ls -t "$library/deps/lib$crate"-*.rlib | head -n 1)")
    done
    "$RUSTC" --edition 2024 --test tests/unwinding.rs -o "$library/unwinding" --target "$target" \
        -Zunstable-options "${standard[@]}" -L "dependency=$library/deps" "-Clinker=$gnu-gcc" "${flags[@]}"
    "$here/cross-test.sh" --run musl "$library/unwinding"
    exit 0
fi

: >"$BLOOMLINE_CROSS_RAN"
# Without examples and documentation, which do nothing that the tests do not, and without the programs
# whose work no CPU does in another way: they compare text, need what is built natively alone, are tests of
# `all` once more, or try what the operating system does (crash, disk_full, environment). Those that count
# or refuse memory run with 32 bits, where sizes differ. Unit tests run for NEON: they are of kernels, and to compile
# the library once more takes most of the time.
tests=(--test all)
[ "$name" != aarch64 ] || tests=(--lib --test all)
for file in tests/*.rs; do
    case $name/$(basename "$file" .rs) in
        */header | */loom | */serde | */control_overread | */races | */crash | */disk_full | */environment) ;;
        aarch64/growing_* | s390x/growing_* | aarch64/huge_pages | s390x/huge_pages) ;;
        *) tests+=(--test "$(basename "$file" .rs)") ;;
    esac
done
# Without serde, whose tests run natively alone.
tests+=(--features capi,internals)
run() { cargo test --release "${tests[@]}" "${options[@]}" "$@"; }
skip=()
if [ $# -eq 0 ]; then
    run --no-run
    list=$(mktemp)
    trap 'rm -f "$list"' EXIT
    run --quiet -- --list >"$list"
    long=$("$here/long-tests.sh" "$list" "$name")
    mapfile -t skip <<<"$long"
    skip=(-- "${skip[@]}")
    : >"$BLOOMLINE_CROSS_RAN"
fi
run "$@" ${skip[@]+"${skip[@]}"}

case " $* " in
    *" --no-run "*) exit 0 ;;
esac
ran=$(wc -l <"$BLOOMLINE_CROSS_RAN")
[ "$ran" -gt 0 ] || die "no test executable ran"
say "test executables run as $name ($arch, $endian-endian): $ran"
