#!/usr/bin/env bash
# Measures the Go package beside other Go filters, in plain Go and with C, and compares:
#
#   scripts/go-bench.sh [PATTERN OF BENCHMARKS]
#
# COUNT runs (default 7) of BENCHTIME each (default 100ms). Writes what `go test -bench` prints
# to target/go/bench-go.txt and bench-cgo.txt, for benchstat, and shows its tables: a column for
# each filter, and the ratio to Bloomline's time. Uses go; the C library must have been built
# (`make go`).
set -euo pipefail
cd "$(dirname "$0")/.."

export GOTOOLCHAIN=local
benchstat=golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
out=$PWD/target/go
pattern=${1-.}
mkdir -p "$out"

cd go/bench
go test -c -o "$out/bench.go.test" .
go test -c -tags bloomline_cgo,bloomline_static -o "$out/bench.cgo.test" .
for way in go cgo; do
    echo "go-bench: ${COUNT:-7} runs, Bloomline in $way" >&2
    "$out/bench.$way.test" -test.run '^$' -test.bench "$pattern" -test.timeout 0 \
        -test.count "${COUNT:-7}" -test.benchtime "${BENCHTIME:-100ms}" >"$out/bench-$way.txt"
done
for way in go cgo; do
    echo "== Bloomline in $way"
    # ns/key where there is one: the time of a key in a batch.
    go run "$benchstat" -col /filter -filter '.unit:(sec/op OR ns/key OR fp-%)' "$out/bench-$way.txt"
done
