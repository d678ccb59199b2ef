#!/usr/bin/env bash
# Installs the built libraries into a temporary directory, moves the installation, and builds
# and runs consumers that know nothing of this project:
#
#   test_install.sh [DIRECTORY OF THE LIBRARIES]     (default: ../target/release)
#
# C and C++, static and shared, found by pkg-config and by CMake. Uses make, pkg-config,
# cmake and a C and a C++ compiler ($CC, $CXX). What installs is `make install`, or
# scripts/install.sh for libraries that are not those of target/release.
set -euo pipefail

libraries=$(cd "${1:-$(dirname "$0")/../target/release}" && pwd)
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
for tool in make pkg-config cmake readelf; do
    command -v $tool >"$work/which" || { echo "test_install: $tool is needed, and not here" >&2; exit 1; }
done

check() { # WHAT COMMAND...
    local what=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
        echo "  ok      $what"
    else
        failed=$((failed + 1))
        echo "  FAILED  $what: $*"
        sed 's/^/    /' "$work/log"
    fi
}
# Not grep -q: it would stop reading, and readelf would fail for that.
needs() { readelf -d "$1" | grep 'NEEDED.*libbloomline\.so\.[0-9]*\]'; }
needs_not() { ! needs "$1"; }
same() { [ "$1" = "$2" ] || { echo "'$1' is not '$2'"; return 1; }; }
refuses() { ! "$@"; }

# The four programs that a consumer has built.
run_programs() { # HOW DIRECTORY LIBDIR
    local program
    for program in c-shared cxx-shared; do
        check "$1: $program needs the shared library" needs "$2/$program"
        check "$1: $program runs" env LD_LIBRARY_PATH="$3" "$2/$program"
    done
    for program in c-static cxx-static; do
        check "$1: $program needs no shared library" needs_not "$2/$program"
        check "$1: $program runs" env -u LD_LIBRARY_PATH "$2/$program"
    done
}

install_to() { # STAGE LIBDIR
    local prefix=/usr/somewhere
    if [ "$libraries" -ef ../target/release ]; then
        env -u DESTDIR LIBDIR="$2" make --no-print-directory -C .. install PREFIX=$prefix DESTDIR="$1"
    else
        env DESTDIR="$1" PREFIX=$prefix LIBDIR="$2" ../scripts/install.sh "$libraries"
    fi
}

try() { # LIBDIR
    local libdir=$1 root=$work/${1//\//-} version
    local installed=$root/moved/opt/bloomline
    mkdir -p "$root/build"
    # Into DESTDIR for one prefix, then moved to another: nothing in it may know where it was.
    check "$libdir: install" install_to "$root/stage" "$libdir"
    mkdir -p "$root/moved/opt"
    mv "$root/stage/usr/somewhere" "$installed"
    check "$libdir: nothing outside of the prefix" same "$(find "$root/stage" -type f)" ""
    check "$libdir: no path of this machine in the packages" \
        refuses grep -rE "$work|/usr/somewhere|$(cd .. && pwd)" "$installed/$libdir/pkgconfig" "$installed/$libdir/cmake"
    check "$libdir: libbloomline.so leads to the library" test -f "$installed/$libdir/libbloomline.so"

    version=$(sed -n 's/^version *= *"\([^"]*\)".*/\1/p' ../Cargo.toml | head -n 1)
    export PKG_CONFIG_PATH=$installed/$libdir/pkgconfig
    check "$libdir: pkg-config knows the version" same "$(pkg-config --modversion bloomline)" "$version"

    cp -r consumers/pkgconfig "$root/build/pkgconfig"
    check "$libdir: pkg-config: build" make -C "$root/build/pkgconfig" ${CC+CC="$CC"} ${CXX+CXX="$CXX"}
    run_programs "$libdir: pkg-config" "$root/build/pkgconfig" "$installed/$libdir"

    local configure=(cmake -S consumers/cmake -DSOURCES="$PWD/consumers/pkgconfig" -DCMAKE_PREFIX_PATH="$installed")
    check "$libdir: CMake: configure" "${configure[@]}" -B "$root/build/cmake" -DWANTED_VERSION="$version"
    check "$libdir: CMake: build" cmake --build "$root/build/cmake"
    run_programs "$libdir: CMake" "$root/build/cmake" "$installed/$libdir"
    check "$libdir: CMake: any version" "${configure[@]}" -B "$root/build/cmake-any"
    check "$libdir: CMake: not a later version" refuses "${configure[@]}" -B "$root/build/cmake-later" -DWANTED_VERSION=99.0
    check "$libdir: CMake: not a version that was broken since" refuses "${configure[@]}" -B "$root/build/cmake-old" -DWANTED_VERSION=0.0.1
}

try lib
try lib/x86_64-linux-gnu
check "a PREFIX that is no path is refused" refuses env DESTDIR="$work" PREFIX=relative ../scripts/install.sh "$libraries"
check "a LIBDIR outside of PREFIX is refused" refuses env DESTDIR="$work" LIBDIR=../lib ../scripts/install.sh "$libraries"
check "libraries that are not built are refused" refuses env DESTDIR="$work" ../scripts/install.sh "$work"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
