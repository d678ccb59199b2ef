#!/usr/bin/env bash
# Installs the libraries, the headers, the adapters for RocksDB and LevelDB, a pkg-config file and a
# CMake package:
#
#   scripts/install.sh [NAME=VALUE]... [DIRECTORY OF THE LIBRARIES]
#
# The directory is target/release, or target/TARGET/release with TARGET, unless it is given. Names,
# which may also be set in the environment, except TARGET:
#
#   PREFIX       where it will be used from               (/usr/local)
#   DESTDIR      put before PREFIX while installing, for making packages  (empty)
#   LIBDIR       below PREFIX, e.g. lib64, lib/x86_64-linux-gnu           (lib)
#   INCLUDEDIR   below PREFIX                             (include)
#   NATIVE_LIBS  what the static library needs            (as rustc says)
#   TARGET       what scripts/build-lib.sh was given as TARGET   (this machine)
#
# The libraries must have been built: scripts/build-lib.sh. What is installed may be moved as a
# whole. The adapters are installed as sources, since they must be compiled with the headers of
# the RocksDB or LevelDB that a program uses; the CMake package does that.
#
# Linux and BSD (.so), macOS (.dylib), Windows with MSVC (.dll, .lib; needs a bash, such as that of
# Git), and static libraries alone (musl). Tested on Linux; the other layouts are tested there
# with files that only have the names. Uses install(1), on Linux and BSD readelf, and rustc unless
# NATIVE_LIBS is given.
set -euo pipefail

die() { echo "install: $*" >&2; exit 1; }

built= TARGET=
for argument in "$@"; do
    case $argument in
        PREFIX=* | DESTDIR=* | LIBDIR=* | INCLUDEDIR=* | NATIVE_LIBS=* | TARGET=*)
            # An empty one is as good as none.
            printf -v "${argument%%=*}" %s "${argument#*=}" ;;
        *=*) die "there is no name '${argument%%=*}'" ;;
        *) [ -z "$built" ] || die "one directory, please, not '$built' and '$argument'"
            built=$argument ;;
    esac
done
built=${built:-$(dirname "$0")/../target/${TARGET:+$TARGET/}release}
[ -d "$built" ] || die "there is no directory $built; run: scripts/build-lib.sh${TARGET:+ TARGET=$TARGET}"
built=$(cd "$built" && pwd)
cd "$(dirname "$0")/.."
prefix=${PREFIX:-/usr/local}
libdir=${LIBDIR:-lib}
includedir=${INCLUDEDIR:-include}
destination=${DESTDIR-}

case $prefix in /* | [A-Za-z]:/*) ;; *) die "PREFIX must be an absolute path, and is '$prefix'" ;; esac
for name in LIBDIR:$libdir INCLUDEDIR:$includedir; do
    case ${name#*:} in
        /* | ../* | */.. | */../* | .. | "") die "${name%%:*} must be a path below PREFIX, such as lib, and is '${name#*:}'" ;;
    esac
done

version=$(sed -n 's/^version *= *"\([^"]*\)".*/\1/p' Cargo.toml | head -n 1)
[[ $version =~ ^([0-9]+)\.([0-9]+)\.([0-9]+) ]] || die "no version found in Cargo.toml"
major=${BASH_REMATCH[1]} minor=${BASH_REMATCH[2]} patch=${BASH_REMATCH[3]}
abi=$(sed -n 's/^#define BLOOMLINE_ABI_VERSION \([0-9]*\).*/\1/p' include/bloomline.h)

# Which system it is for shows in what was built. `shared` is the shared library as it was built,
# `shared_file` as it is installed below PREFIX, `run_name` the name that programs look for.
static=libbloomline.a shared= shared_file= run_name= import_file= pointer_bytes=8
if [ -f "$built/libbloomline.so" ]; then
    shared=libbloomline.so run_name=libbloomline.so.$abi
    soname=$(readelf -d "$built/$shared" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
    [ "$soname" = "$run_name" ] || die "$built/$shared has the soname '$soname', not $run_name"
    # As usual: libbloomline.so -> libbloomline.so.ABI -> libbloomline.so.ABI.MINOR.PATCH
    shared_file=$libdir/$run_name.$minor.$patch
    # ELF class: the fifth byte of the file.
    [ "$(od -An -tu1 -j4 -N1 "$built/$shared" | tr -d ' ')" != 1 ] || pointer_bytes=4
elif [ -f "$built/libbloomline.dylib" ]; then
    shared=libbloomline.dylib run_name=libbloomline.$abi.dylib
    shared_file=$libdir/libbloomline.$abi.$minor.$patch.dylib
elif [ -f "$built/bloomline.lib" ]; then
    static=bloomline.lib
    if [ -f "$built/bloomline.dll" ]; then
        shared=bloomline.dll shared_file=bin/bloomline.dll import_file=$libdir/bloomline.dll.lib
    fi
fi
[ -f "$built/$static" ] || die "$built/$static is not built; run: scripts/build-lib.sh${TARGET:+ TARGET=$TARGET}"
case $TARGET in
    i?86-* | arm-* | armv* | powerpc-* | riscv32* | *x32) pointer_bytes=4 ;;
esac
native_libs=${NATIVE_LIBS:-$(scripts/native-libs.sh ${TARGET:+--target "$TARGET"})}
# CMake: "-lm -ldl" as a list, "-lm;-ldl".
native_libs_cmake=${native_libs// /;}
# For pkg-config: by `bloomline` the shared library, and with --static for `cc -static`, which finds no
# other; by `bloomline-static` the static one by its name. A shared library that is linked with it does
# not export it, where the linker can: as packaging/bloomlineHidden.cmake.
hidden=
case $static:$shared:$TARGET in
    *.lib:* | *.dylib:* | *-apple-*) ;;
    *) hidden="-Wl,--exclude-libs,$static " ;;
esac
static_libs="\${libdir}/$static $hidden$native_libs"

# up PATH: the way from there back to the prefix, ../.. for lib/pkgconfig.
up() {
    local path=${1%/} way=..
    path=${path//\/\//\/}
    while [[ $path == */* ]]; do
        way=$way/..
        path=${path%/*}
    done
    echo "$way"
}

fill() { # TEMPLATE [ARGUMENT OF sed]...: printed with the values in it
    sed -e "s|@VERSION@|$version|g" -e "s|@MAJOR@|$major|g" -e "s|@MINOR@|$minor|g" \
        -e "s|@LIBDIR@|$libdir|g" -e "s|@INCLUDEDIR@|$includedir|g" \
        -e "s|@STATIC_FILE@|$libdir/$static|g" -e "s|@SHARED_FILE@|$shared_file|g" \
        -e "s|@IMPORT_FILE@|$import_file|g" -e "s|@RUN_NAME@|$run_name|g" \
        -e "s|@NATIVE_LIBS@|$native_libs|g" -e "s|@NATIVE_LIBS_CMAKE@|$native_libs_cmake|g" \
        -e "s|@PREFIX_FROM_PC@|$(up "$libdir/pkgconfig")|g" \
        -e "s|@PREFIX_FROM_CMAKE@|$(up "$libdir/cmake/bloomline")|g" \
        -e "s|@POINTER_BYTES@|$pointer_bytes|g" "$@"
}

put() { # MODE SOURCE TARGET-BELOW-PREFIX
    local target=$destination$prefix/$3
    install -d "$(dirname "$target")"
    install -m "$1" "$2" "$target"
    echo "$target"
}
link() { # TEXT TARGET-BELOW-PREFIX
    ln -sfn "$1" "$destination$prefix/$2"
    echo "$destination$prefix/$2 -> $1"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for file in include/bloomline.h include/bloomline.hpp include/bloomline_inline.h adapters/rocksdb/bloomline_rocksdb.h adapters/leveldb/bloomline_leveldb.h; do
    put 644 "$file" "$includedir/$(basename "$file")"
done
for file in rocksdb/bloomline_rocksdb.cc rocksdb/filter_bits.h leveldb/bloomline_leveldb.c; do
    put 644 "adapters/$file" "share/bloomline/$(basename "$file")"
done
put 644 packaging/tsan.supp share/bloomline/tsan.supp
put 644 "$built/$static" "$libdir/$static"
[ -z "$shared" ] || put 755 "$built/$shared" "$shared_file"
[ -z "$import_file" ] || put 644 "$built/bloomline.dll.lib" "$import_file"
if [ -n "$run_name" ]; then
    link "$(basename "$shared_file")" "$libdir/$run_name"
    link "$run_name" "$libdir/$shared"
fi
filled() { # FILE-BELOW-LIBDIR TEMPLATE [ARGUMENT OF sed]...
    local file=$1
    shift
    fill "$@" >"$work/file"
    if grep -q '@[A-Z_]*@' "$work/file"; then die "$1 has a name that nothing fills in"; fi
    put 644 "$work/file" "$libdir/$file"
}
package() { # NAME OF-WHICH-LIBRARY LIBS LIBS.PRIVATE
    filled "pkgconfig/$1.pc" packaging/bloomline.pc.in -e "s|@NAME@|$1|" -e "s|@OF_LIBRARY@|$2|" \
        -e "s|@LIBS@|$3|" -e "s|@LIBS_PRIVATE@|$4|"
}
if [ -n "$shared" ]; then
    package bloomline "" "-L\${libdir} -lbloomline" "$native_libs"
else
    package bloomline "" "$static_libs" ""
fi
package bloomline-static " (the static library)" "$static_libs" ""
for file in bloomlineConfig bloomlineConfigVersion; do
    filled "cmake/bloomline/$file.cmake" packaging/$file.cmake.in
done
for file in bloomlineAdapters bloomlineHidden; do
    put 644 packaging/$file.cmake "$libdir/cmake/bloomline/$file.cmake"
done
for file in LICENSE-MIT LICENSE-APACHE; do
    put 644 $file "share/doc/bloomline/$file"
done

if [ -z "$destination" ] && [ "$prefix" = /usr/local ] && command -v ldconfig >"$work/ldconfig"; then
    # So that programs find the shared library at once.
    ldconfig || echo "install: run ldconfig as root, so that programs find the shared library" >&2
fi
