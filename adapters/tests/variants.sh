#!/usr/bin/env bash
# Compiles the RocksDB adapter in each way that RocksDB is built in, by each C++ compiler:
#
#   variants.sh DIRECTORY COMPILER FLAG...
#
# COMPILER, and clang++ if that is there and another. An object must not mention RocksDB's own
# classes rocksdb::FilterBitsBuilder and rocksdb::FilterBitsReader: a definition, also a weak one,
# could replace RocksDB's, and type information that the object asks for is not in every RocksDB.
set -euo pipefail
cd "$(dirname "$0")"

[ $# -ge 2 ] || { echo "usage: variants.sh DIRECTORY COMPILER FLAG..." >&2; exit 2; }
directory=$1 compilers=("$2")
shift 2
if command -v clang++ >/dev/null && [ "${compilers[0]}" != clang++ ]; then
    compilers+=(clang++)
fi

passed=0 failed=0
for compiler in "${compilers[@]}"; do
    # Without optimisation a compiler emits the most symbols, and is done soonest.
    for variant in "" -fno-rtti -fno-exceptions "-fno-rtti -fno-exceptions" -std=c++20; do
        object=$directory/variant-$(basename "${compiler##* }")${variant// /}.o
        read -ra flags <<<"$variant"
        $compiler "$@" -O0 ${flags[@]+"${flags[@]}"} -c -o "$object" ../rocksdb/bloomline_rocksdb.cc
        symbols=$(nm -C "$object")
        # What is found to be absent must be known to be looked for in the right place.
        if grep -q bloomline_rocksdb_filterpolicy <<<"$symbols" && ! grep 'rocksdb::FilterBits' <<<"$symbols"; then
            passed=$((passed + 1))
            echo "  ok      $compiler $variant: none of RocksDB's own classes"
        else
            failed=$((failed + 1))
            echo "  FAILED  $compiler $variant: RocksDB's own classes, or no adapter in $object"
        fi
    done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
