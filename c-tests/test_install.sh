#!/usr/bin/env bash
# Installs the built libraries into a temporary directory, moves the installation, and builds
# and runs consumers that know nothing of this project:
#
#   test_install.sh [DIRECTORY OF THE LIBRARIES [ENGINE]...]     (default: ../target/release)
#   test_install.sh DIRECTORY musl       a static library of musl alone, with CC=musl-gcc
#
# C and C++, static and shared, found by pkg-config and by CMake, and built by CMake's FetchContent;
# programs static as a whole, position-independent or not; shared libraries with the static one in
# them, which must hide it; with ENGINEs (rocksdb, leveldb) their adapters by CMake alone. Uses make, pkg-config, cmake and a
# C and a C++ compiler ($CC, $CXX). What installs is `make install`, or scripts/install.sh for
# libraries that are not those of target/release. What is for macOS and Windows is installed here
# from files that only have the names.
set -euo pipefail

libraries=$(cd "${1:-$(dirname "$0")/../target/release}" && pwd)
engines=("${@:2}")
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
interpreted() { readelf -lW "$1" | grep INTERP; }
exported() { nm -D --defined-only "$1" | sed -n 's/.* [TtWwVvDdBbRr] \([a-z].*\)/\1/p' | sort | tr '\n' ' '; }

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
    for program in "$2"/c-way-* "$2"/cxx-way-* "$2"/c-whole; do
        [ -x "$program" ] || continue
        case $program in
            *static* | *whole) check "$1: ${program##*/} needs no loader" refuses interpreted "$program" ;;
            *) check "$1: ${program##*/} needs no shared library" needs_not "$program" ;;
        esac
        check "$1: ${program##*/} runs" env -u LD_LIBRARY_PATH "$program"
    done
    plugins_keep_to_themselves "$1" "$2"
}

plugins_keep_to_themselves() { # HOW DIRECTORY
    local program
    for program in plugin-a.so plugin-b.so; do
        check "$1: $program exports nothing of the static library" same "$(exported "$2/$program")" \
            "plugin_counts_allocations plugin_makes_a_filter "
    done
    check "$1: two shared libraries with the static one have an allocator each" \
        "$2/host" "$2/plugin-a.so" "$2/plugin-b.so"
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
    consume "$libdir: CMake" "$root/build/cmake" "$installed/$libdir" -DWANTED_VERSION="$version" \
        -DCMAKE_PREFIX_PATH="$installed"
    check "$libdir: CMake: any version" "${configure[@]}" -B "$root/build/cmake-any"
    check "$libdir: CMake: not a later version" refuses "${configure[@]}" -B "$root/build/cmake-later" -DWANTED_VERSION=99.0
    check "$libdir: CMake: not a version that was broken since" refuses "${configure[@]}" -B "$root/build/cmake-old" -DWANTED_VERSION=0.0.1
}

# The consumer of CMake, and with engines theirs too.
consume() { # WHAT DIRECTORY LIBDIR OPTION...
    local what=$1 directory=$2 libdir=$3 engine list
    shift 3
    list=$(IFS=";"; echo "${engines[*]}")
    check "$what: configure" cmake -S consumers/cmake -B "$directory" -DSOURCES="$PWD/consumers/pkgconfig" \
        -DENGINES="$list" "$@"
    check "$what: build" cmake --build "$directory"
    run_programs "$what" "$directory" "$libdir"
    for engine in "${engines[@]}"; do
        check "$what: $engine runs" env LD_LIBRARY_PATH="$libdir" "$directory/engines/$engine" "$directory/$engine.db"
    done
}

# A layout of another system, from files that only have the names.
layout() { # TARGET "FILES" "WHAT MUST BE INSTALLED"
    local directory=$work/$1 file
    mkdir -p "$directory/built"
    for file in $2; do echo "$1" >"$directory/built/$file"; done
    check "$1: install" env DESTDIR="$directory/stage" PREFIX=/p NATIVE_LIBS=-lc \
        ../scripts/install.sh TARGET="$1" "$directory/built"
    check "$1: libraries" same "$3" \
        "$(cd "$directory/stage/p" && find . -path ./lib/cmake -prune -o -path ./lib/pkgconfig -prune -o \
            \( -path './lib/*' -o -path './bin/*' \) -printf '%P>%l\n' | sed 's/>$//' |
            sed -E 's/[0-9]+\.[0-9]+\.[0-9]+/V/g' | sort | tr '\n' ' ')"
}

if [ "${engines[*]}" = musl ]; then
    # Its rustc here has no standard library to ask what to link with.
    check "musl: install" env DESTDIR="$work/stage" PREFIX=/p NATIVE_LIBS=-lc \
        ../scripts/install.sh TARGET=x86_64-unknown-linux-musl "$libraries"
    export PKG_CONFIG_PATH=$work/stage/p/lib/pkgconfig
    cp -r consumers/pkgconfig "$work/build"
    # Both packages are the static library; programs and shared libraries of musl may have it, too.
    programs=(c-shared c-static c-whole c-way-static c-way-pie)
    check "musl: build" make -C "$work/build" CC="$CC" "${programs[@]}" plugins
    for program in "${programs[@]}"; do
        check "musl: $program needs no shared library" needs_not "$work/build/$program"
        check "musl: $program runs" "$work/build/$program"
    done
    for program in c-whole c-way-static; do
        check "musl: $program needs no loader" refuses interpreted "$work/build/$program"
    done
    plugins_keep_to_themselves musl "$work/build"
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
    exit
fi
if [ ${#engines[@]} -gt 0 ]; then
    check "install" install_to "$work/stage" lib
    consume "find_package" "$work/find" "$work/stage/usr/somewhere/lib" \
        -DCMAKE_PREFIX_PATH="$work/stage/usr/somewhere" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
    # As the headers of RocksDB 10.7 and later need it, also in a project that is C++17.
    check "bloomline::rocksdb is compiled as C++20" grep -E '"command".*-std=(gnu|c)\+\+(20|2a).*bloomline_rocksdb\.cc' \
        "$work/find/compile_commands.json"
    consume "find_package, static" "$work/static" "$work/nowhere" \
        -DCMAKE_PREFIX_PATH="$work/stage/usr/somewhere" -Dbloomline_USE_STATIC_LIBS=ON
    check "the adapter without the shared library needs none" needs_not "$work/static/engines/${engines[0]}"
    check "an engine that there is not is refused" refuses cmake -S consumers/cmake -B "$work/none" \
        -DSOURCES="$PWD/consumers/pkgconfig" -DENGINES=abacus -DCMAKE_PREFIX_PATH="$work/stage/usr/somewhere"
else
    try lib
    try lib/x86_64-linux-gnu
    layout aarch64-apple-darwin "libbloomline.a libbloomline.dylib" \
        "lib/libbloomline.0.dylib>libbloomline.V.dylib lib/libbloomline.V.dylib lib/libbloomline.a lib/libbloomline.dylib>libbloomline.0.dylib "
    layout x86_64-pc-windows-msvc "bloomline.lib bloomline.dll bloomline.dll.lib" "bin/bloomline.dll lib/bloomline.dll.lib lib/bloomline.lib "
    layout x86_64-unknown-linux-musl libbloomline.a "lib/libbloomline.a "
    check "a PREFIX that is no path is refused" refuses env DESTDIR="$work" PREFIX=relative ../scripts/install.sh "$libraries"
    check "a LIBDIR outside of PREFIX is refused" refuses env DESTDIR="$work" LIBDIR=../lib ../scripts/install.sh "$libraries"
    check "libraries that are not built are refused" refuses env DESTDIR="$work" ../scripts/install.sh "$work"
fi
# Built in the consumer's build; that what is shipped is optimised takes long, and changes nothing here.
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=0
# Once: the tests of the engines do the same.
mkdir -p ../target/cmake-cargo "$work/fetch/_deps/bloomline-build"
ln -s "$(cd ../target/cmake-cargo && pwd)" "$work/fetch/_deps/bloomline-build/cargo"
consume "FetchContent" "$work/fetch" "$work/nowhere" -DBLOOMLINE_SOURCE="$(cd .. && pwd)"
# On its own, with what cargo has built there.
mkdir "$work/own"
ln -s "$work/fetch/_deps/bloomline-build/cargo" "$work/own/cargo"
check "CMakeLists.txt alone: configure" cmake -S .. -B "$work/own" -DCMAKE_INSTALL_PREFIX=/p -DBLOOMLINE_ADAPTERS=
check "CMakeLists.txt alone: build" cmake --build "$work/own"
check "CMakeLists.txt alone: install" env DESTDIR="$work/own/stage" cmake --install "$work/own"
check "CMakeLists.txt alone: the library is installed" test -f "$work/own/stage/p/lib/libbloomline.so.0"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
