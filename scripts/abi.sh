#!/usr/bin/env bash
# Compares what include/bloomline.h promises to programs that are compiled already with the
# committed list, packaging/abi.txt: functions, types with their sizes, constants.
#
#   scripts/abi.sh            fails if a line was added, changed or removed
#   BLESS=1 scripts/abi.sh    rewrites the list (`make abi`)
#
# A line that is added is a new feature. One that is changed or removed breaks programs: then
# BLOOMLINE_ABI_VERSION must change. c-tests/symbols.sh checks that the library exports what the
# header declares. The sizes are those of a 64-bit system. Uses a C compiler ($CC).
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C

list=packaging/abi.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=${CC:-cc}
echo '#include <bloomline.h>' >"$work/header.c"

# One declaration per line, without attributes.
$cc -E -P -Iinclude -DBLOOMLINE_NO_ABI_CHECK "$work/header.c" |
    sed -E 's/__attribute__ *\(\(([^()]|\([^()]*\))*\)\)//g' |
    awk 'BEGIN { RS = ";" }
        {
            text = text $0
            if (gsub(/\{/, "{", text) > gsub(/\}/, "}", text)) { text = text ";"; next }
            gsub(/[ \t\n]+/, " ", text); sub(/^ /, "", text); gsub(/\( /, "(", text)
            if (text ~ /bloomline_/) print (text ~ /^typedef/ ? "type" : "function"), text
            text = ""
        }' | sort >"$work/declarations"
# Versions are no part of it.
$cc -E -dM -Iinclude "$work/header.c" |
    sed -nE 's/^#define (BLOOMLINE_[A-Z0-9_]*[A-Z0-9]) (\(?-?[0-9].*)$/constant \1 \2/p' |
    grep -v '^constant BLOOMLINE_VERSION' | sort >"$work/constants"
{
    echo '#include <bloomline.h>'
    echo '#include <stdio.h>'
    echo 'int main(void) {'
    sed -nE 's/^type typedef struct (\w+) \{.*/printf("size %s %zu aligned %zu\\n", "\1", sizeof(\1), _Alignof(\1));/p' "$work/declarations"
    echo '}'
} >"$work/sizes.c"
$cc -std=c11 -DBLOOMLINE_NO_ABI_CHECK -Iinclude -o "$work/sizes" "$work/sizes.c"
"$work/sizes" | sort >"$work/sizes.txt"
cat "$work"/{constants,sizes.txt,declarations} >"$work/now"
for kind in constant size type function; do
    grep -q "^$kind " "$work/now" || { echo "abi: found no $kind in bloomline.h" >&2; exit 1; }
done

if [ -n "${BLESS-}" ]; then
    cp "$work/now" "$list"
    echo "abi: wrote $list"
elif difference=$(diff "$list" "$work/now"); then
    echo "abi: $list has the $(grep -c '^function ' "$list") functions, $(grep -c '^type ' "$list") types and" \
        "$(grep -c '^constant ' "$list") constants of bloomline.h"
    echo "1 passed, 0 failed"
else
    echo "abi: bloomline.h is not what $list says (< list, > header); if that is meant: make abi"$'\n'"$difference" >&2
    exit 1
fi
