#!/usr/bin/env bash
# Runs test programs once with each backend that this CPU has:
#
#   run_backends.sh DIRECTORY GOLDEN RUNNER TEST...
#
# DIRECTORY has the programs and backend_name; GOLDEN is the directory of golden files, which each
# test gets as its argument; RUNNER is empty, or a command such as valgrind. It prints the backends
# it ran. One that is named in BLOOMLINE_REQUIRE_BACKENDS and not there is a failure, unless it is also in
# HIDDEN_BACKENDS: what RUNNER is known to hide from the programs it runs, or what BACKENDS, those
# to run (all), leaves out.
set -euo pipefail

[ $# -ge 4 ] || { echo "usage: run_backends.sh DIRECTORY GOLDEN RUNNER TEST..." >&2; exit 2; }
directory=$1 golden=$2
read -ra runner <<<"$3"
shift 3

contains() { # WORD LIST: with commas or spaces
    case ",${2// /,}," in *",$1,"*) return 0 ;; *) return 1 ;; esac
}

ran=() absent=()
all=$("$(dirname "$0")/../scripts/required-backends.sh" --all)
for backend in ${BACKENDS-${all//,/ }}; do
    export BLOOMLINE_BACKEND=$backend
    name=$(${runner[@]+"${runner[@]}"} "$directory/backend_name")
    if [ "$name" = none ]; then
        absent+=("$backend")
        continue
    fi
    if [ "$name" != "$backend" ]; then
        echo "run_backends: asked for $backend, and $name answered" >&2
        exit 1
    fi
    for test in "$@"; do
        echo "== $test, backend $backend${runner[0]+, ${runner[0]}}"
        ${runner[@]+"${runner[@]}"} "$directory/$test" "$golden"
    done
    ran+=("$backend")
done

echo "backends run: ${ran[*]-none}; absent: ${absent[*]-none}"
required=${BLOOMLINE_REQUIRE_BACKENDS-}
for backend in ${required//,/ }; do
    contains "$backend" "${ran[*]}" && continue
    if contains "$backend" "${HIDDEN_BACKENDS-}"; then
        echo "run_backends: $backend does not run under ${runner[0]-}"
        continue
    fi
    echo "run_backends: $backend is required (BLOOMLINE_REQUIRE_BACKENDS) and did not run" >&2
    exit 1
done
[ ${#ran[@]} -gt 0 ] || { echo "run_backends: no backend ran" >&2; exit 1; }
