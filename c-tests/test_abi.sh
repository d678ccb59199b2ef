#!/usr/bin/env bash
# A program whose header is of another BLOOMLINE_ABI_VERSION than its library does not link,
# and one that is linked already is not loaded:
#
#   test_abi.sh DIRECTORY CC CXX "NATIVE LIBRARIES"
#
# C and C++, with the static and the shared library of DIRECTORY, also where the linker drops
# unused sections. The other header is made from this one. Also checked: BLOOMLINE_NO_ABI_CHECK
# leaves the check out, for programs that load the library themselves.
set -euo pipefail

[ $# -eq 4 ] || { echo 'usage: test_abi.sh DIRECTORY CC CXX "NATIVE LIBRARIES"' >&2; exit 2; }
libraries=$(cd "$1" && pwd)
cc=$2 cxx=$3
read -ra native <<<"$4"
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

result() { # 0|1 WHAT
    if [ "$1" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "test_abi: FAILED: $2" >&2
        sed 's/^/    /' "$work/log" >&2
    fi
}
check() { # WHAT COMMAND...
    local what=$1 status=0
    shift
    "$@" >"$work/log" 2>&1 || status=1
    result $status "$what"
}
refuses() { # WHAT TEXT COMMAND...
    local what=$1 text=$2 status=0
    shift 2
    if "$@" >"$work/log" 2>&1 || ! grep -q "$text" "$work/log"; then status=1; fi
    result $status "$what (expected: $text)"
}

abi=$(sed -n 's/^#define BLOOMLINE_ABI_VERSION \([0-9]*\).*/\1/p' ../include/bloomline.h)
other=$((abi + 1))
mkdir "$work/other" "$work/lib"
for header in bloomline.h bloomline.hpp; do
    sed "s/\\(BLOOMLINE_ABI_VERSION\\( ==\\)*\\) $abi/\\1 $other/; s/\\babi_$abi\\b/abi_$other/; s/\\bbloomline_abi_$abi\\b/bloomline_abi_$other/" \
        ../include/$header >"$work/other/$header"
    ! cmp -s ../include/$header "$work/other/$header" || { echo "test_abi: no ABI version in $header" >&2; exit 1; }
done
cp ../include/bloomline_inline.h "$work/other"
ln -s "$libraries/libbloomline.so" "$work/lib/libbloomline.so.$abi"
ln -s "$libraries/libbloomline.so" "$work/lib/libbloomline.so"

cat >"$work/c.c" <<'C'
#include <bloomline.h>
int main(void) { return bloomline_version()[0] == 0; }
C
cat >"$work/cpp.cpp" <<'C'
#include <bloomline.hpp>
int main() { return bloomline::Filter().contains_u64(1) ? 0 : 1; }
C
# Uses nothing of the library but what the header itself does.
echo '#include <bloomline.h>
int main(void) { return 0; }' >"$work/include_only.c"

build() { # HEADERS static|shared PROGRAM FLAGS...
    local headers=$1 kind=$2 program=$3 compiler=("$cc" -std=c99)
    shift 3
    local library=("$libraries/libbloomline.a" "${native[@]}")
    [ "$kind" = static ] || library=("-L$work/lib" -lbloomline)
    [ "$program" != cpp.cpp ] || compiler=("$cxx" -std=c++17)
    "${compiler[@]}" -Wall -Wextra -Wpedantic -Werror -O2 "$@" "-I$headers" -o "$work/program" \
        "$work/$program" "${library[@]}"
}
run() { env "LD_LIBRARY_PATH=$work/lib" "$work/program"; }

# The LLVM of clang's linker plugin may be too old for the bitcode in the archive.
lto=(-flto)
[[ $cc != *clang* ]] || lto=()
undefined="undefined.*bloomline_abi_$other"
for kind in static shared; do
    for program in c.c cpp.cpp include_only.c; do
        for flags in -g "-fdata-sections -ffunction-sections -Wl,--gc-sections" "${lto[@]}" "-fPIE -pie"; do
            read -ra flags <<<"$flags"
            what="$kind, $program ${flags[*]}"
            check "$what: links" build ../include $kind $program "${flags[@]}"
            check "$what: runs" run
            refuses "$what, header of another ABI" "$undefined" \
                build "$work/other" $kind $program "${flags[@]}"
        done
        check "$kind, $program: links without the check" \
            build "$work/other" $kind $program -DBLOOMLINE_NO_ABI_CHECK
        check "$kind, $program: runs without the check" run
    done
done

# The library is replaced by one of another ABI under the same name, after the link.
check "links with the shared library" build ../include shared c.c
rm "$work/lib/libbloomline.so.$abi"
echo "const char *bloomline_version(void) { return \"99\"; } void bloomline_abi_$other(void) {}" >"$work/replaced.c"
"$cc" -shared -fPIC "-Wl,-soname,libbloomline.so.$abi" -o "$work/lib/libbloomline.so.$abi" "$work/replaced.c"
refuses "loads with a library of another ABI" "undefined symbol.*bloomline_abi_$abi" run

# A program that loads the library itself links none.
cat >"$work/loads.c" <<'C'
#define BLOOMLINE_NO_ABI_CHECK
#include <bloomline.h>
#include <dlfcn.h>
#include <string.h>
int main(int argc, char **argv)
{
    void *library = dlopen(argv[argc - 1], RTLD_NOW), *symbol;
    uint32_t (*abi_version)(void);
    if (library == NULL || (symbol = dlsym(library, "bloomline_abi_version")) == NULL) return 1;
    memcpy(&abi_version, &symbol, sizeof abi_version);
    return abi_version() != BLOOMLINE_ABI_VERSION;
}
C
check "a program that loads the library links without it" \
    "$cc" -std=c11 -Wall -Wextra -Werror -I../include -o "$work/loads" "$work/loads.c" -ldl
check "and runs with it" "$work/loads" "$libraries/libbloomline.so"

echo "test_abi: $passed checks with $cc and $cxx passed, $failed failed"
[ $failed -eq 0 ]
