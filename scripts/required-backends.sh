#!/usr/bin/env bash
# Prints the backends that must run on this machine, by what the kernel says of its
# CPU, not by what the library detects: "scalar,portable,avx2,avx512". What the CPU
# has not got is said on standard error.
set -euo pipefail

required=scalar,portable
flags=" $(sed -n 's/^flags[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1) "
has() { # NAME FLAG...
    local name=$1 flag
    shift
    for flag in "$@"; do
        if [[ $flags != *" $flag "* ]]; then
            echo "required-backends: this CPU has no $flag: $name does not run here" >&2
            return
        fi
    done
    required+=,$name
}
if [ "$(uname -m)" = x86_64 ]; then
    has avx2 avx2 bmi2
    has avx512 avx2 bmi2 avx512f avx512bw avx512cd avx512dq avx512vl avx512vbmi avx512_vpopcntdq gfni
fi
echo "$required"
