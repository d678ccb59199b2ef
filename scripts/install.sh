#!/usr/bin/env bash
# Installs the libraries, the headers, a pkg-config file and a CMake package:
#
#   scripts/install.sh [NAME=VALUE]... [DIRECTORY OF THE LIBRARIES]
#
# The directory is target/release unless it is given. Names, which may also be set in the
# environment:
#
#   PREFIX       where it will be used from               (/usr/local)
#   DESTDIR      put before PREFIX while installing, for making packages  (empty)
#   LIBDIR       below PREFIX, e.g. lib64, lib/x86_64-linux-gnu           (lib)
#   INCLUDEDIR   below PREFIX                             (include)
#   NATIVE_LIBS  what the static library needs            (as rustc says)
#
# And as an argument only, since the environment has it for other reasons:
#
#   TARGET       what they were built for, by cargo build --target       (this machine)
#
# With it the directory is target/TARGET/release.
#
# The libraries must have been built: scripts/build-lib.sh. What is installed may be moved
# as a whole. Systems with ELF libraries only (Linux, BSD); uses install(1), readelf and,
# unless NATIVE_LIBS is given, rustc.
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
[ -d "$built" ] || die "there is no directory $built; run: scripts/build-lib.sh"
built=$(cd "$built" && pwd)
cd "$(dirname "$0")/.."
prefix=${PREFIX:-/usr/local}
libdir=${LIBDIR:-lib}
includedir=${INCLUDEDIR:-include}
destination=${DESTDIR-}

case $prefix in /*) ;; *) die "PREFIX must be an absolute path, and is '$prefix'" ;; esac
for name in LIBDIR:$libdir INCLUDEDIR:$includedir; do
    case ${name#*:} in
        /* | ../* | */.. | */../* | .. | "") die "${name%%:*} must be a path below PREFIX, such as lib, and is '${name#*:}'" ;;
    esac
done

for file in libbloomline.a libbloomline.so; do
    [ -f "$built/$file" ] || die "$built/$file is not built; run: scripts/build-lib.sh"
done

version=$(sed -n 's/^version *= *"\([^"]*\)".*/\1/p' Cargo.toml | head -n 1)
[[ $version =~ ^([0-9]+)\.([0-9]+)\.([0-9]+) ]] || die "no version found in Cargo.toml"
major=${BASH_REMATCH[1]} minor=${BASH_REMATCH[2]} patch=${BASH_REMATCH[3]}
soname=$(readelf -d "$built/libbloomline.so" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
[[ $soname =~ ^libbloomline\.so\.[0-9]+$ ]] || die "$built/libbloomline.so has the soname '$soname'"
# As usual: libbloomline.so -> libbloomline.so.ABI -> libbloomline.so.ABI.MINOR.PATCH
shared_file=$soname.$minor.$patch
# ELF class: the fifth byte of the file.
case $(od -An -tu1 -j4 -N1 "$built/libbloomline.so" | tr -d ' ') in
    1) pointer_bytes=4 ;;
    2) pointer_bytes=8 ;;
    *) die "$built/libbloomline.so is no ELF library" ;;
esac
native_libs=${NATIVE_LIBS:-$(scripts/native-libs.sh ${TARGET:+--target "$TARGET"})}
# CMake: "-lm -ldl" as a list, "-lm;-ldl".
native_libs_cmake=${native_libs// /;}

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

fill() { # TEMPLATE: printed with the values in it
    sed -e "s|@VERSION@|$version|g" -e "s|@MAJOR@|$major|g" -e "s|@MINOR@|$minor|g" \
        -e "s|@LIBDIR@|$libdir|g" -e "s|@INCLUDEDIR@|$includedir|g" \
        -e "s|@SHARED_FILE@|$shared_file|g" -e "s|@SONAME@|$soname|g" \
        -e "s|@NATIVE_LIBS@|$native_libs|g" -e "s|@NATIVE_LIBS_CMAKE@|$native_libs_cmake|g" \
        -e "s|@PREFIX_FROM_PC@|$(up "$libdir/pkgconfig")|g" \
        -e "s|@PREFIX_FROM_CMAKE@|$(up "$libdir/cmake/bloomline")|g" \
        -e "s|@POINTER_BYTES@|$pointer_bytes|g" "packaging/$1"
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

put 644 include/bloomline.h "$includedir/bloomline.h"
put 644 include/bloomline.hpp "$includedir/bloomline.hpp"
put 644 "$built/libbloomline.a" "$libdir/libbloomline.a"
put 755 "$built/libbloomline.so" "$libdir/$shared_file"
link "$shared_file" "$libdir/$soname"
link "$soname" "$libdir/libbloomline.so"
for file in pkgconfig/bloomline.pc cmake/bloomline/bloomlineConfig.cmake cmake/bloomline/bloomlineConfigVersion.cmake; do
    fill "$(basename "$file").in" >"$work/file"
    if grep -q '@[A-Z_]*@' "$work/file"; then die "packaging/$(basename "$file").in has a name that nothing fills in"; fi
    put 644 "$work/file" "$libdir/$file"
done
for file in LICENSE-MIT LICENSE-APACHE; do
    [ ! -f $file ] || put 644 $file "share/doc/bloomline/$file"
done

if [ -z "$destination" ] && [ "$prefix" = /usr/local ] && command -v ldconfig >"$work/ldconfig"; then
    # So that programs find the shared library at once.
    ldconfig || echo "install: run ldconfig as root, so that programs find the shared library" >&2
fi
