#!/usr/bin/env bash
# Tests the Go packages:
#
#   scripts/go-test.sh core       without C and with, linked both ways, each backend, races
#   scripts/go-test.sh adapters   pebblefilter and goleveldbfilter, on real stores
#   scripts/go-test.sh redis      redisfilter and the example services, on real servers
#   scripts/go-test.sh cross      plain Go on arm64, s390x (big-endian) and 386
#   scripts/go-test.sh fuzz N     every fuzzer for N seconds
#
# Prints what ran and, for each run of tests, "N passed, 0 failed"; a test that was skipped
# is a failure. Emulated CPUs get the shorter form of long tests. `core` needs the C library, which
# `make go` builds, a C compiler and pkg-config; `redis` the module, which `make redis` builds, and
# redis-server, or the server that BLOOMLINE_REDIS_SERVER names; `cross` qemu-user.
set -euo pipefail
cd "$(dirname "$0")/.."

# The compiler that is here, and the modules that go.sum names. `lint` vets all, once for each way to build.
export GOTOOLCHAIN=local GOFLAGS="-mod=readonly -vet=off -timeout=40m" # the race detector on a busy machine
export BLOOMLINE_REQUIRE_GOLDEN=1
root=$PWD
out=$PWD/target/go
mkdir -p "$out"
static=bloomline_cgo,bloomline_static

die() { echo "go-test: $*" >&2; exit 1; }

# run NAME COMMAND...: a command whose output is that of go test -v.
run() {
    local log=$out/log-$$.txt passed
    echo "== $1"
    shift
    "$@" >"$log" 2>&1 || { cat "$log"; die "FAILED: $*"; }
    # Tests and examples, not subtests, which are indented.
    if grep -E '^ *--- SKIP' "$log"; then die "skipped, which is no pass: $*"; fi
    passed=$(grep -c '^--- PASS' "$log") || { cat "$log"; die "no test ran: $*"; }
    grep -E '^ +[a-z_]+_test.go:[0-9]+: backend ' "$log" | sort -u | sed 's/.*: /   /' || true
    echo "$passed passed, 0 failed"
}

lint() { # DIRECTORY [TAGS]
    local unformatted
    unformatted=$(gofmt -l "$1")
    [ -z "$unformatted" ] || die "not as gofmt has it: $unformatted"
    (cd "$1" && go vet ${2:+-tags "$2"} ./...)
}

# refused NAME TEXT COMMAND...: a command that must fail, and say so with this text.
refused() {
    local name=$1 text=$2 log=$out/refused-$$.txt
    shift 2
    echo "== refused: $name"
    if "$@" >"$log" 2>&1; then die "was not refused: $name"; fi
    grep -qF -- "$text" "$log" || { cat "$log"; die "refused without saying '$text'"; }
}

# outside MODULE: a program of another module that imports this one, as go/README.md says: the
# replace lines are those of the page.
outside() {
    local module=$1 dir=$out/outside/$1 line
    rm -rf "$dir"
    mkdir -p "$dir"
    printf 'package main\n\nimport _ "github.com/bloomline/bloomline/go/%s"\n\nfunc main() {}\n' "$module" >"$dir/main.go"
    (
        cd "$dir"
        export GOFLAGS=
        while read -r line; do
            eval "${line//\/path\/to\/bloomline/$root}" 2>&1
        done < <(sed -n '/^### From a source tree/,$ s/^    \(go mod .*\)/\1/p' "$root/go/README.md" | sed "s/redisfilter/$module/g" | head -3)
        [ "$(grep -c '^replace' go.mod)" = 2 ] || die "go/README.md does not have two replace lines"
        go mod tidy >/dev/null 2>&1 || { go mod tidy; die "go mod tidy of a program that imports $module"; }
        go build .
    )
    echo "== $module builds as go/README.md says"
}

# racing: a pattern of the tests that have more than one goroutine. The race detector takes ten times
# as long, and has nothing to find in others.
racing() {
    awk '/^func / { name = $2; sub(/\(.*/, "", name) }
        name ~ /^(Test|Example)/ && (name ~ /Concurrent|Swap|Readers/ || /go func|sync\.|Parallel\(|AtOnce\(/) { print name }' \
        ./*_test.go | sort -u | paste -sd '|' | sed 's/.*/^(&)$/'
}

# What C does in place of Go: batches, by filters whose lines it reads, and by what is made of them; not growing
# filters, which are Go alone.
by_c='Backend|Batch|Golden|Histor|Static|Shape|Beside|Cascade|SelectRows|NullableColumns|ColumnViewIs|Parallel|FuzzOpen'

core() {
    lint go
    lint go "$static"
    cd go
    # Assembly where the CPU has it, and none.
    local here=go
    [[ ,$(../scripts/required-backends.sh), != *,avx2,* ]] || here=go/avx2
    run "without C" env BLOOMLINE_EXPECT_BACKEND=$here go test -v ./...
    # Pointers that leave their memory end the program.
    run "plain Go" env BLOOMLINE_BACKEND=scalar BLOOMLINE_EXPECT_BACKEND=go go test -v -short -gcflags=-d=checkptr .
    lint . purego
    local racing
    racing=$(racing)
    run "plain Go, race detector" go test -v -race -short -run "$racing" .
    run "order, race detector" go test -v -race -short ./internal/order
    # Long tests, above, are of what is the same with each, as are packages that C does not reach.
    run "C, archive in the tree" go test -v -short -tags "$static" . ./filterblock ./parquetfilter
    run "C, race detector" go test -v -race -short -tags "$static" -run "$racing" -skip ^TestGrowing .
    run "C, a program static as a whole" go test -v -short -tags "$static" -run 'Batch|Golden' \
        -ldflags '-linkmode external -extldflags -static' .

    go test -c -tags "$static" -o "$out/static.test" .
    local backend backends
    IFS=, read -ra backends <<<"$(../scripts/required-backends.sh)"
    for backend in "${backends[@]}"; do
        run "C, backend $backend" env BLOOMLINE_BACKEND="$backend" \
            BLOOMLINE_EXPECT_BACKEND="cgo/$backend" "$out/static.test" -test.v -test.short -test.run "$by_c" -test.skip ^TestGrowing
    done
    run "C, a backend that there is not: Go does it all" env BLOOMLINE_BACKEND=abacus \
        BLOOMLINE_EXPECT_BACKEND=go "$out/static.test" -test.v -test.short -test.run "$by_c" -test.skip ^TestGrowing

    # An installed library, shared.
    ../scripts/install.sh PREFIX="$out/prefix" ../target/release >/dev/null
    export PKG_CONFIG_PATH=$out/prefix/lib/pkgconfig
    go test -c -tags bloomline_cgo -o "$out/shared.test" .
    run "C, installed library" env LD_LIBRARY_PATH="$out/prefix/lib" "$out/shared.test" -test.v -test.short -test.run "$by_c" -test.skip ^TestGrowing
    # A library of another time takes its place: one whose number alone is another, and one that
    # has no bloomline_abi_0, which the loader refuses.
    other() {
        cc -shared -fPIC -Wl,-soname,libbloomline.so.0 "$@" -o "$out/other/libbloomline.so.0" -x c - <<'C'
#ifdef WITH_ABI_0
void bloomline_abi_0(void) {}
#endif
unsigned bloomline_abi_version(void) { return 99; }
const char *bloomline_version(void) { return "99.0.0"; }
const char *bloomline_backend(void) { return "none"; }
int bloomline_lines_view(void) { __builtin_trap(); }
int bloomline_lines_insert_hashes(void) { __builtin_trap(); }
int bloomline_view_open_engine(void) { __builtin_trap(); }
int bloomline_view_contains_hashes(void) { __builtin_trap(); }
C
    }
    mkdir -p "$out/other"
    other -DWITH_ABI_0
    refused "another version of the C library" "running with version 99" \
        env LD_LIBRARY_PATH="$out/other" "$out/shared.test"
    other
    refused "another version that says so" "bloomline_abi_0" \
        env LD_LIBRARY_PATH="$out/other" "$out/shared.test"

    # A copy of a filter, which would share its memory.
    refused "a filter that is copied" "copies lock value" go vet ./testdata/copied

    # What is missing is named.
    rm -rf "$out/bare"
    mkdir -p "$out/bare"
    tar -c --exclude=./clib/*_* --exclude=./bench --exclude=./examples --exclude='./*filter' . | tar -x -C "$out/bare"
    refused "no archive in the tree" "make go" go -C "$out/bare" build -tags "$static" .
    refused "no installed library" "PKG_CONFIG_PATH" \
        env PKG_CONFIG_PATH= PKG_CONFIG_LIBDIR=/nowhere go build -tags bloomline_cgo .
    refused "C without cgo" "needs_CGO_ENABLED_1" env CGO_ENABLED=0 go build -tags bloomline_cgo .
    # And the plain package needs no C compiler.
    CGO_ENABLED=0 go -C "$out/bare" build ./...
}

adapters() {
    local module
    for module in pebblefilter goleveldbfilter; do
        lint "go/$module"
        run "$module" go -C "go/$module" test -v ./...
        outside "$module"
    done
    lint go/bench # which is measured, not tested
}

redis() {
    lint go/redisfilter
    run "redisfilter" env BLOOMLINE_REDIS_MODULE="$PWD/target/release/libbloomline_redis.so" \
        BLOOMLINE_REDIS_REQUIRE=1 go -C go/redisfilter test -v ./...
    outside redisfilter
    # All with the race detector, since SQLite takes long to compile for each way. It is not optimised and not
    # watched itself, which takes half the time.
    local unwatched='-gcflags=modernc.org/...=-race=false -N -l'
    local unformatted
    unformatted=$(gofmt -l go/examples)
    [ -z "$unformatted" ] || die "not as gofmt has it: $unformatted"
    local example
    for example in guard shard_router; do
        go -C "go/examples/$example" vet -race "$unwatched" ./...
        run "$example, race detector" go -C "go/examples/$example" test -v -race "$unwatched" ./...
    done
}

cross() {
    cd go
    local arch runner tests skip
    for arch in arm64 s390x 386; do
        case $arch in
            arm64) runner=qemu-aarch64 ;;
            s390x) runner=qemu-s390x ;;
            # The kernel of an x86-64 machine runs it as it is.
            386) runner=env ;;
        esac
        for package in . ./internal/engine ./internal/growing ./filterblock ./parquetfilter; do
            # These are plain Go, the same with arm64 as on this machine.
            [ "$arch" != arm64 ] || [ "$package" = . ] || continue
            rm -f "$out/$arch.test" # a package without tests leaves that of another
            GOARCH=$arch CGO_ENABLED=0 go test -c -o "$out/$arch.test" "$package"
            # Of the root package, what s390x and 386 show is not run twice: arm64 has assembly that prefetches.
            tests=.
            [ "$arch$package" != arm64. ] || tests='Golden|Histor|Batch|Prefetch|Line|Column'
            # Emulated, these take most of the time. They count what filters answer in one process; those of
            # memory, sizes and goroutines say more with 32 bits, and those of prefetches with arm64.
            skip='OutOfMemory|StreamLimits|^TestGroup|MatrixColumns|MatrixIsIts|ShortPrefixes|GrowingBuilt|Parallel|Thousand'
            case $arch in
                s390x) skip+='|NearAndFar|ConcurrentBuilder|KindsAllocate|ReadersAndSwaps|BitmapYields|RefusedCosts' ;;
                386) skip='^$' ;;
            esac
            (cd "$package" && run "$arch, $package" "$runner" "$out/$arch.test" -test.v -test.short -test.run "$tests" \
                -test.skip "$skip")
        done
    done
    # Systems that are only compiled for. Plan 9 is none of them: what does not compile is found.
    go build -o "$out/typecheck" ./internal/typecheck
    refused "Plan 9, which lacks an error of files" "undefined: syscall.ENOEXEC" \
        env GOOS=plan9 GOARCH=amd64 CGO_ENABLED=0 "$out/typecheck" .
    local system
    for system in windows/amd64 darwin/arm64 freebsd/amd64 js/wasm; do
        echo "== compiles for $system"
        GOOS=${system%/*} GOARCH=${system#*/} CGO_ENABLED=0 "$out/typecheck" \
            . ./internal/{engine,format,growing,host,order,prefetch,staticline} ./filterblock ./parquetfilter
    done
}

# Whether a fuzzer found nothing and failed only because its time was up: before Go 1.27 the
# coordinator sometimes takes the end of -fuzztime for an error (https://go.dev/issue/75804).
# A finding has a message and a path in place of that one line.
time_was_up() {
    [ "$(sed -n '/^--- FAIL/,/^FAIL$/p' "$1" | sed '1d;$d')" = "    context deadline exceeded" ] &&
        ! grep -q 'Failing input written' "$1"
}

# Each package is compiled and linked once, instrumented, and each fuzzer has one worker: go test would link
# it for every fuzzer, and take every CPU.
fuzz() {
    local seconds=$1 module directory list target count=0 cache
    # What a fuzzer finds on top of the committed corpus goes to Go's cache.
    cache=$(go env GOCACHE)/fuzz
    while read -r directory; do
        module=$(go -C "$directory" list -f '{{.ImportPath}}' .)
        go -C "$directory" test -c -fuzz . -o "$out/fuzz.test" . || die "FAILED: go test -c -fuzz in $directory"
        # By itself: the shell loses the status of what a loop reads from.
        list=$("$out/fuzz.test" -test.list '^Fuzz') || die "FAILED: the list of fuzzers in $directory: $list"
        [ -n "$list" ] || die "no fuzzer in $directory"
        while read -r target; do
            echo "== $module $target, $seconds seconds"
            (cd "$directory" && "$out/fuzz.test" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "${seconds}s" \
                -test.fuzzcachedir "$cache/$module" -test.parallel 1) >"$out/fuzz.txt" 2>&1 ||
                time_was_up "$out/fuzz.txt" || { cat "$out/fuzz.txt"; die "FAILED: $module $target"; }
            tail -n 1 "$out/fuzz.txt"
            count=$((count + 1))
        done <<<"$list"
    done < <(grep -rl --include='*_test.go' '^func Fuzz' go | xargs -n 1 dirname | sort -u)
    [ "$count" -gt 0 ] || die "there is no fuzzer"
    echo "go-test: $count fuzzers ran $seconds seconds each and found nothing"
}

case ${1-} in
    core | adapters | redis | cross) "$1" ;;
    fuzz) fuzz "${2:?how many seconds}" ;;
    *) sed -n '2,/^set/p' "$0" | sed -n 's/^# \{0,1\}//p' >&2; exit 2 ;;
esac
