#!/usr/bin/env bash
# Checks what the two libraries export:
#
#   symbols.sh DIRECTORY      with libbloomline.so and libbloomline.a
#
# * the shared library: exactly the functions that bloomline.h declares; the soname is the
#   one of its BLOOMLINE_ABI_VERSION; it needs no executable stack
# * the archive: all of them, and besides them no name that could meet one of a C program:
#   only mangled ones of Rust, what compilers put under reserved names, names with a dot,
#   and weak ones, which give way (mathematical functions of Rust's compiler-builtins)
#
# Uses readelf, and not nm: of objects with bitcode in them, nm asks a plugin, if an LLVM has
# installed one, which may be too old to read it.
set -euo pipefail

[ $# -eq 1 ] || { echo "usage: symbols.sh DIRECTORY" >&2; exit 2; }
cd "$(dirname "$0")"
shared=$1/libbloomline.so archive=$1/libbloomline.a
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() { echo "symbols: FAILED: $*" >&2; failed=1; }

./declared.sh >"$work/declared"
count=$(wc -l <"$work/declared")
[ "$count" -gt 40 ] || complain "only $count functions found in bloomline.h"

# The names that a file defines for others, with their binding and visibility.
defined() { # TABLE-OPTION FILE
    readelf -W "$1" "$2" 2>"$work/log" |
        awk '($5 == "GLOBAL" || $5 == "WEAK") && $7 != "UND" { sub(/@.*/, "", $8); print $8, $5, $6 }' |
        sort -u
}

defined --dyn-syms "$shared" | cut -d' ' -f1 >"$work/exported"
if difference=$(diff "$work/declared" "$work/exported"); then
    echo "symbols: $shared exports the $count functions of bloomline.h, and nothing else"
else
    complain "$shared: declared (<) and exported (>) differ:"$'\n'"$difference"
fi

abi=$(sed -n 's/^#define BLOOMLINE_ABI_VERSION \([0-9]*\).*/\1/p' ../include/bloomline.h)
soname=$(readelf -d "$shared" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
if [ -n "$abi" ] && [ "$soname" = "libbloomline.so.$abi" ]; then
    echo "symbols: its soname is $soname"
else
    complain "the soname of $shared is '$soname', not 'libbloomline.so.$abi'"
fi
if readelf -lW "$shared" | grep 'GNU_STACK.*RWE'; then
    complain "$shared wants an executable stack"
fi

defined --symbols "$archive" >"$work/all"
awk '$2 == "GLOBAL" && $3 == "DEFAULT" { print $1 }' "$work/all" >"$work/visible"
if missing=$(comm -23 "$work/declared" "$work/visible") && [ -n "$missing" ]; then
    complain "$archive lacks: $missing"
fi
# Hidden names count too: a linker that makes a program sees them. _ZN and _R are mangled by
# Rust; two underscores are reserved for compilers, here the arithmetic of compiler-builtins;
# rust_eh_personality is in every static library made by Rust.
rust='^(_ZN|_R)' reserved='^(__|rust_eh_personality$|DW\.ref\.rust_eh_personality$)'
awk '$2 == "GLOBAL" { print $1 }' "$work/all" | grep -vE "$rust|$reserved|\." | sort -u >"$work/plain" || true
if strange=$(comm -13 "$work/declared" "$work/plain") && [ -n "$strange" ]; then
    complain "$archive defines names without the prefix: $strange"
fi
awk '$2 == "WEAK" { print $1 }' "$work/all" >"$work/weak"
echo "symbols: $archive defines $(wc -l <"$work/plain") plain names, all of bloomline.h;" \
    "and $(cut -d' ' -f1 "$work/all" | grep -cE "$rust") mangled by Rust," \
    "$(cut -d' ' -f1 "$work/all" | grep -cE "$reserved") reserved for compilers," \
    "$(grep -cvE "$rust|$reserved" "$work/weak") weak ones of compiler-builtins, such as $(grep -vE "$rust|$reserved" "$work/weak" | sed -n 1p)"
exit $failed
