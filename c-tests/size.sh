#!/usr/bin/env bash
# Prints by how much a C program grows, stripped, that uses every function of bloomline.h
# and links the static library, and one that makes, fills, saves and probes a plain filter:
#
#   size.sh DIRECTORY CC "NATIVE LIBRARIES"
#
# Both are weighed against a program without them. The second one must not have the kernels of other
# layouts, nor those of batches: what a program does not use is not linked. (Those of a standard Bloom
# filter are of the plain filter: its parameters may ask for them.) On Linux on x86-64, where it was
# measured, it must not grow by more than 350,000 bytes.
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
cat >"$work/plain.c" <<'END'
#include <bloomline.h>
int main(int count, char **keys) {
    bloomline_params params;
    bloomline_filter *filter = NULL;
    if (bloomline_params_for_rate(1000, 0.01, &params) != BLOOMLINE_OK ||
        bloomline_filter_new(&params, &filter) != BLOOMLINE_OK)
        return 1;
    bloomline_filter_insert(filter, keys[0], 1);
    int absent = !bloomline_filter_contains(filter, keys[0], 1);
    if (count > 1 && bloomline_filter_save(filter, keys[1]) != BLOOMLINE_OK) return 1;
    bloomline_filter_free(filter);
    return absent;
}
END

flags=(-O2 -ffunction-sections -fdata-sections '-Wl,--gc-sections' -I../include)
"${compiler[@]}" "${flags[@]}" -s -o "$work/whole" "$work/whole.c" "$library" "${native[@]}"
"${compiler[@]}" "${flags[@]}" -s -o "$work/empty" "$work/empty.c"
"${compiler[@]}" "${flags[@]}" -s -o "$work/plain" "$work/plain.c" "$library" "${native[@]}"
"$work/whole" && "$work/empty" && "$work/plain"
whole=$(wc -c <"$work/whole") empty=$(wc -c <"$work/empty") plain=$(wc -c <"$work/plain")
echo "size: a program grows by $((whole - empty)) bytes with all $(wc -l <"$work/declared") functions," \
    "by $((plain - empty)) with a plain filter"

# With the names of functions. The library has each of those looked for, or the list looks for nothing.
"${compiler[@]}" "${flags[@]}" -o "$work/named" "$work/plain.c" "$library" "${native[@]}"
for file in "$library" "$work/named"; do
    nm -C "$file" >"$work/names.${file##*/}" 2>/dev/null || [ -s "$work/names.${file##*/}" ]
done
has() { grep -qE "$2" "$work/names.${1##*/}"; }
# absent PATTERN WHAT: only the library has it.
absent() {
    has "$library" "$1" || { echo "size: the library has $2 by other names than $1" >&2; exit 1; }
    ! has "$work/named" "$1" || { echo "size: a program with a plain filter has $2: $1" >&2; exit 1; }
}
# Tables alone: the linker's name for equal functions may be that of another layout. Those of layouts whose
# bits lie anywhere have no table of their own: it is in the table of all.
for table in table::{ALL,engines::FAST_LOCAL,CUCKOO,STATIC,engines::SBBF,COLUMN} matrix::calls::CALLS growing::CALLS; do
    absent " [dDrR] .*kernel::$table\$" 'the kernels of another layout'
done
absent 'kernel::composite::' 'what probes filters that are made of filters'
absent 'kernel::table::.*(probe|insert)_batch' 'the kernels of batches'
has "$work/named" 'kernel::table::NATIVE' || { echo "size: the plain filter's kernels have another name" >&2; exit 1; }

if [ "$(uname -sm)" = 'Linux x86_64' ] && [ $((plain - empty)) -gt 350000 ]; then
    echo "size: a program with a plain filter grows by more than 350000 bytes" >&2
    exit 1
fi
