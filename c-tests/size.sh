#!/usr/bin/env bash
# Prints by how much a C program grows, stripped, that uses every function of bloomline.h
# and links the static library:
#
#   size.sh DIRECTORY CC "NATIVE LIBRARIES"
#
# It is weighed against the same program without them. No limit is asserted here; the aim
# is 640 KB.
set -euo pipefail

[ $# -eq 3 ] || { echo 'usage: size.sh DIRECTORY CC "NATIVE LIBRARIES"' >&2; exit 2; }
library=$1/libbloomline.a
read -ra compiler <<<"$2"
read -ra native <<<"$3"
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A table of all functions, which the compiler cannot know to be unused. Made from the
# header, so that it never lacks one.
CC="${compiler[*]}" ./declared.sh >"$work/declared"
{
    echo '#include <bloomline.h>'
    echo 'typedef void (*function)(void);'
    echo 'function volatile table[] = {'
    sed 's/.*/    (function)&,/' "$work/declared"
    echo '    0};'
    echo 'int main(void) { return table[0] == 0; }'
} >"$work/whole.c"
{
    echo 'typedef void (*function)(void);'
    echo 'function volatile table[] = {0};'
    echo 'int main(void) { return table[0] != 0; }'
} >"$work/empty.c"

flags=(-O2 -ffunction-sections -fdata-sections '-Wl,--gc-sections' -s -I../include)
"${compiler[@]}" "${flags[@]}" -o "$work/whole" "$work/whole.c" "$library" "${native[@]}"
"${compiler[@]}" "${flags[@]}" -o "$work/empty" "$work/empty.c"
"$work/whole" && "$work/empty"
whole=$(wc -c <"$work/whole") empty=$(wc -c <"$work/empty")
echo "size: a program with all $(wc -l <"$work/declared") functions has $whole bytes, one without them $empty:" \
    "$((whole - empty)) bytes of growth ($(((whole - empty + 512) / 1024)) KiB; the aim is 640 KB)"
