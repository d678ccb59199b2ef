#!/usr/bin/env bash
# Checks what a compiler makes of bloomline.hpp:
#
#   generated.sh DIRECTORY CC CXX NATIVE-LIBS
#
# * an integer as a key is one store: a load of what was stored in parts waits for all of them
# * contains_range() makes one call for each block of keys that stay where they are, and no other
# * Inline has no function of its own: the linker keeps one copy of such a function for all files
#   of a program, and that of a file compiled for AVX-512 would end the program elsewhere
# * Inline is there whichever header is included first
#
# DIRECTORY has libbloomline.a. Uses nm and objdump. On x86-64 alone: of others it says so.
set -euo pipefail

[ $# -eq 4 ] || { echo "usage: generated.sh DIRECTORY CC CXX NATIVE-LIBS" >&2; exit 2; }
library=$(cd "$1" && pwd)/libbloomline.a cxx=$3
read -ra native <<<"$4"
cd "$(dirname "$0")"
[ "$(uname -m)" = x86_64 ] || { echo "generated: not on $(uname -m)"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
check() { # WHAT WANTED GOT
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
        echo "  ok      $1"
    else
        failed=$((failed + 1))
        printf '  FAILED  %s: wanted %s, got:\n%s\n' "$1" "$2" "$3"
    fi
}

cat >"$work/store.cpp" <<'C'
#include <bloomline.hpp>
#include <new>
void store(void *out, std::uint64_t key);
void store(void *out, std::uint64_t key) { ::new (out) bloomline::IntegerKey(key); }
C
for level in -O1 -O2 -Os; do
    "$cxx" -std=c++17 $level -I../include -c -o "$work/store.o" "$work/store.cpp"
    # The instructions but for what every function has, and fills up to the next.
    check "$cxx $level: an integer is one store" "mov %rsi,(%rdi)" \
        "$(objdump -d --no-show-raw-insn "$work/store.o" | sed -n 's/^ *[0-9a-f]*:\t//p' |
            grep -vE '^(endbr64|ret|nop|xchg|cs nop|data16)' | sed 's/  */ /g; s/ *$//')"
done

for keys in std::string std::uint64_t; do
    cat >"$work/range.cpp" <<C
#include <bloomline.hpp>
void range(const bloomline::Filter &filter, const std::vector<$keys> &keys, bool *out);
void range(const bloomline::Filter &filter, const std::vector<$keys> &keys, bool *out) { filter.contains_range(keys, out); }
C
    "$cxx" -std=c++17 -O2 -I../include -c -o "$work/range.o" "$work/range.cpp"
    check "$cxx: what contains_range() calls for a vector of $keys" bloomline_filter_contains_keys \
        "$(nm -u "$work/range.o" | sed -n 's/.* \(bloomline_[^a].*\)/\1/p')"
done

for unit in plain wide; do
    headers='#include <bloomline.hpp>' more='#include <bloomline_inline.h>'
    [ $unit = plain ] || { more=$headers headers='#include <bloomline_inline.h>'; }
    cat >"$work/$unit.cpp" <<C
$headers
$more
bool ${unit}_probe(bloomline::Filter &filter, std::uint64_t hash);
bool ${unit}_probe(bloomline::Filter &filter, std::uint64_t hash)
{
    const bloomline::View view = filter.view();
    const bloomline::Inline inlined(view);
    inlined.prefetch_hash(hash);
    return inlined.insert_hash(hash) && inlined.contains_hash(hash);
}
C
done
cat >"$work/main.cpp" <<'C'
#include <bloomline.hpp>
bool plain_probe(bloomline::Filter &filter, std::uint64_t hash);
bool wide_probe(bloomline::Filter &filter, std::uint64_t hash);
int main(int count, char **)
{
    auto filter = bloomline::Filter::create(bloomline::params_for_rate(100, 0.01));
    const std::uint64_t hash = bloomline::hash_u64(42);
    return !(filter && plain_probe(*filter, hash) && (count == 1 || wide_probe(*filter, hash)));
}
C
wide=(-mavx512f -mavx512vl -mbmi2)
here=() # an argument, if this CPU has these
! grep -qw avx512vl /proc/cpuinfo || here=(wide)
for level in -O0 -O1 -O2; do
    flags=(-std=c++17 $level -Wall -Wextra -Werror -I../include)
    "$cxx" "${flags[@]}" -c -o "$work/plain.o" "$work/plain.cpp"
    "$cxx" "${flags[@]}" "${wide[@]}" -c -o "$work/wide.o" "$work/wide.cpp"
    "$cxx" "${flags[@]}" -o "$work/program" "$work/main.cpp" "$work/wide.o" "$work/plain.o" "$library" "${native[@]}"
    check "$cxx $level: two instruction sets share no function of Inline" "" \
        "$(nm -C "$work/plain.o" "$work/wide.o" "$work/program" | grep -E ' [WVui] .*(Inline|bloomline_inline)' || true)"
    check "$cxx $level: the wide file has AVX-512" yes \
        "$(objdump -d "$work/wide.o" | grep "vpro[lr]vq" >"$work/log" && echo yes)"
    check "$cxx $level: both insert and probe" 0 "$("$work/program" "${here[@]}"; echo $?)"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
