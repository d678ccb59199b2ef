#!/usr/bin/env bash
# Checks that what must_not_compile.txt lists does not compile, for the reason that stands there,
# and that what it has beside that does:
#
#   must_not_compile.sh CC CXX
set -euo pipefail

[ $# -eq 2 ] || { echo "usage: must_not_compile.sh CC CXX" >&2; exit 2; }
cc=$1 cxx=$2
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
passed=0 failed=0

cat >"$work/prelude.hpp" <<'C'
#ifndef PRELUDE_HPP
#define PRELUDE_HPP
#include <bloomline.hpp>
#include <array>
#include <cstdlib>
#include <set>
using namespace bloomline;
using namespace std::literals;
// Strings that exist only while a loop looks at them.
struct Made {
    struct Iterator {
        std::string operator*() const { return "apple"; }
        Iterator &operator++() { return *this; }
        bool operator!=(const Iterator &) const { return false; }
    };
    Iterator begin() const { return {}; }
    Iterator end() const { return {}; }
    std::size_t size() const { return 0; }
};
const Result<std::vector<std::uint8_t>> constant_result();
#endif
C
names='Filter &filter, ConcurrentFilter &concurrent, ConcurrentBuilder &concurrent_builder, CountingFilter &counting, CuckooFilter &cuckoo,
    ScalableFilter &scalable, Window &window, Swap &swap, Builder &builder, const Params &params,
    const CuckooParams &cuckoo_params, char *buffer, std::vector<std::uint8_t> &bytes, std::string &string,
    std::vector<std::uint64_t> &hashes, Made &made_on_the_way'
c_names='bloomline_filter *filter, bloomline_cuckoo *cuckoo, bloomline_builder *builder,
    bloomline_counting *counting, unsigned char *out'

program() { # LANGUAGE STATEMENT [FUNCTION]
    local f=${3:-f}
    case $1 in
        c) printf '#include <bloomline.h>\nvoid '$f'(%s);\nvoid '$f'(%s)\n{\n    bloomline_view view; (void)view; (void)filter; (void)cuckoo; (void)builder; (void)counting; (void)out;\n    %s\n}\n' \
            "$c_names" "$c_names" "$2" ;;
        *) printf '#include "prelude.hpp"\nvoid '$f'(%s);\nvoid '$f'([[maybe_unused]] %s)\n{\n    %s\n}\n' \
            "$names" "${names//, /, [[maybe_unused]] }" "$2" ;;
    esac
}
# The unused parameters and values are those of the cases; a result that is not used is an error.
# GCC looks for those only when it makes code, in C.
flags=(-I../include "-I$work" -Wall -Wno-unused -Wunused-result -Werror=unused-result)
cxx17=(-std=c++17 "${flags[@]}" -fsyntax-only)
compile() { # LANGUAGE FILE
    case $1 in
        c) "$cc" -std=c99 "${flags[@]}" -c -o "$work/object" "$2" ;;
        c++) "$cxx" "${cxx17[@]}" "${precompiled[@]}" "$2" ;;
        *) "$cxx" "-std=$1" "${flags[@]}" -fsyntax-only "$2" ;;
    esac
}
# The headers are read once; GCC finds what is beside the prelude by itself.
precompiled=()
if "$cxx" --version | grep -q clang; then
    precompiled=(-include-pch "$work/prelude.pch")
    "$cxx" "${cxx17[@]/-fsyntax-only/-xc++-header}" -o "$work/prelude.pch" "$work/prelude.hpp"
else
    "$cxx" "${cxx17[@]/-fsyntax-only/-xc++-header}" -o "$work/prelude.hpp.gch" "$work/prelude.hpp"
fi
failure() { # WHAT
    failed=$((failed + 1))
    echo "must_not_compile: FAILED, $cc: $1" >&2
    sed 's/^/    /' "$work/log" >&2
}

declare -A good
language=''
while IFS= read -r line; do
    case $line in
        '' | '#'*) ;;
        '+ '*)
            extension=cpp; [ "$language" != c ] || extension=c
            # All of a language in one file, as functions.
            good[$language]=$((${good[$language]-0} + 1))
            program "$language" "${line#+ }" "f${good[$language]}" >>"$work/good-$language.$extension"
            ;;
        *)
            # The reason itself may have bars, without blanks.
            language=${line%% | *} rest=${line#* | }
            reason=${rest%% | *} statement=${rest#* | }
            extension=cpp; [ "$language" != c ] || extension=c
            program "$language" "$statement" >"$work/bad.$extension"
            if compile "$language" "$work/bad.$extension" >"$work/log" 2>&1; then
                failure "compiles: $statement"
            elif ! grep -qE "$reason" "$work/log"; then
                failure "does not compile, but not for '$reason': $statement"
            else
                passed=$((passed + 1))
            fi
            ;;
    esac
done <must_not_compile.txt
for language in "${!good[@]}"; do
    extension=cpp; [ "$language" != c ] || extension=c
    if compile "$language" "$work/good-$language.$extension" >"$work/log" 2>&1; then
        passed=$((passed + ${good[$language]}))
    else
        failure "what must compile does not, $language"
    fi
done
echo "must_not_compile: $passed statements with $cc and $cxx as they must be, $failed not"
[ $failed -eq 0 ] && [ $passed -ge 80 ]
