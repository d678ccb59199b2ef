# What can be done here. `make help` lists it.

CARGO ?= cargo
# The recipes and scripts look for what was built in target/.
unexport CARGO_TARGET_DIR
PREFIX ?= /usr/local
# What `lib`, `install` and `demo` build for, in Rust's words: TARGET=aarch64-unknown-linux-gnu. Its
# standard library must be installed (rustup target add), and for `demo` CC must compile for it.
TARGET :=
RELEASE := target/$(if $(TARGET),$(TARGET)/)release
KEYS ?=
# INSTALL=no: the tests install no packages.
INSTALL ?= yes
export INSTALL
FUZZ_SECONDS ?= 30
# The module for Redis is a crate of its own, built beside the library.
REDIS_MODULE := --manifest-path modules/redis/Cargo.toml --target-dir target
# So are the adapters for crates: what `$(call adapter,NAME,SUBCOMMAND)` runs cargo on.
ADAPTERS := parquet surrealkv slatedb datafusion
adapter = $(TEST_PROFILE) $(CARGO) $(2) --release --locked --manifest-path adapters/$(1)/Cargo.toml --target-dir target
# The tests' programs without link-time optimisation, which takes ten times as long for each of
# them, and in few parts: what several parts inline is compiled in each. The libraries that the C tests
# link are as they are shipped.
TEST_PROFILE := CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=4
# The library's own tests, whose programs are not optimised much: most of their time is the library's.
TESTS_PROFILE := $(TEST_PROFILE) TEST_LEVEL=1 RUSTC_WORKSPACE_WRAPPER='$(CURDIR)/scripts/test-rustc.sh'
# The backends that this CPU has must run.
REQUIRE := BLOOMLINE_REQUIRE_BACKENDS=$${BLOOMLINE_REQUIRE_BACKENDS-$$(scripts/required-backends.sh)} || exit; \
    export BLOOMLINE_REQUIRE_BACKENDS
# The lab, compiled for this CPU, with the C library that it opens, the headers of Boost, the source of RocksDB and the
# wheel of pyarrow, if any. The memory of all filters is to lie in huge pages, as this library's does by itself.
LAB = BLOOMLINE_LIB=$(CURDIR)/target/release/libbloomline.a BOOST=$(BOOST) ROCKSDB=$(ROCKSDB) PYARROW=$(PYARROW) \
    GLIBC_TUNABLES=glibc.malloc.hugetlb=1 RUSTFLAGS="-C target-cpu=native" $(CARGO)
LAB_ARGS := --release --manifest-path lab/Cargo.toml
# What the tests need besides cargo, a C compiler and make: Debian's names.
TEST_PACKAGES := gcc g++ libc6-dev clang valgrind cmake pkg-config python3 binutils bsdutils

.PHONY: help demo go test test-short-c test-short-go test-short-rust test-all test-rust test-package test-asan test-tsan \
    test-c test-engines test-go test-cross test-aarch64 test-s390x test-i686 test-windows test-cross-c test-cross-go \
    test-fuzz test-redis test-redis-all \
    $(addprefix test-,$(ADAPTERS)) lint doc lib install redis header abi api golden instructions bench tune \
    bench-ratios bench-sweep bench-billion bench-engines bench-go \
    parquet-python bench-redis lab test-lab clean tools test-tools go-tools

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

demo: lib ## the main job on real keys: KEYS=file, or every path on this machine
	@mkdir -p target/demo
	$(CC) -std=c11 -O2 -Wall -Iinclude -o target/demo/demo examples/c/demo.c \
	    $(RELEASE)/libbloomline.a $(shell scripts/native-libs.sh TARGET=$(TARGET))
	target/demo/demo $(KEYS)

# For `make -j2 test`: Go, which does not wait for cargo, beside the library, which is linked by one CPU.
test: tools go-tools test-short-c test-short-go test-short-rust ## the tests in minutes: fewer cases, one C compiler

test-short-c:
	scripts/apt-install.sh gcc g++ libc6-dev binutils
	$(MAKE) --no-print-directory lib
	@$(REQUIRE); set -ex; BLOOMLINE_FEWER_CASES=1 $(MAKE) --no-print-directory -C c-tests run CC=gcc

test-short-go: go-tools
	cd go && go vet ./... && go test -short -vet=off ./...

test-short-rust: tools
	scripts/apt-install.sh python3
	@$(REQUIRE); set -ex; \
	BLOOMLINE_FEWER_CASES=1 $(TESTS_PROFILE) $(CARGO) test --release --all-features --lib --tests

# For `make -j6 test-all`: the longest first, then nothing long is left over at the end. Make starts
# a part whose prerequisites take time after all others, so the long ones have none. DONE: parts that ran before.
ALL_TESTS := test-c test-go test-rust test-aarch64 test-s390x test-i686 test-cross-c test-asan test-tsan test-redis \
    test-fuzz test-engines test-cross-go test-package test-windows
test-all: $(filter-out $(DONE),$(ALL_TESTS)) ## all tests, on emulated CPUs too; -j6 takes half the time

test-rust: ## the Rust tests: every backend against the definition, formats, rates
	$(MAKE) --no-print-directory test-tools lint
	@$(REQUIRE); set -x; $(TESTS_PROFILE) $(CARGO) test --release --all-features
	$(TESTS_PROFILE) TMPDIR=target $(CARGO) run --release --all-features --example twenty_lines
	$(TESTS_PROFILE) $(CARGO) run --release --all-features --example recommended 500
	$(TESTS_PROFILE) $(CARGO) run --release --all-features --example logouts 20000
	$(TESTS_PROFILE) $(CARGO) run --release --all-features --example crawler 20000
	$(TESTS_PROFILE) TMPDIR=target $(CARGO) run --release --all-features --example durable 600
	$(TESTS_PROFILE) $(CARGO) run --release --all-features --example revoked 100000
	$(TESTS_PROFILE) $(CARGO) run --release --all-features --example lsm_index 130
	$(TESTS_PROFILE) $(CARGO) run --release --all-features --example object_store 65
	CARGO_PROFILE_RELEASE_OPT_LEVEL=0 $(TEST_PROFILE) tests/walk.py docs/tutorials/rust.md docs/how-to/choose-a-size.md docs/how-to/share-a-file.md docs/how-to/threads.md

test-package: tools ## the crate as it is published: small, its links hold, it builds; its public items
	scripts/package-test.sh
	scripts/api.sh

test-asan: tools ## the Rust tests under AddressSanitizer
	scripts/rust-asan.sh

test-tsan: tools ## threads in growing filters of Rust under ThreadSanitizer
	scripts/rust-tsan.sh

test-c: ## the C and C++ tests: plain, sanitizers, valgrind, packages
	$(MAKE) --no-print-directory test-tools lib
	@$(REQUIRE); set -x; $(MAKE) --no-print-directory -C c-tests all
	tests/walk.py docs/tutorials/c.md docs/tutorials/cpp.md

test-engines: test-tools lib ## the filter policies, on the real RocksDB and LevelDB
	scripts/apt-install.sh libleveldb-dev librocksdb-dev
	@$(REQUIRE); set -x; $(MAKE) --no-print-directory -C adapters/tests test
	tests/walk.py docs/tutorials/rocksdb.md

test-go: ## the Go packages: plain, with C, on Pebble, goleveldb and Redis, a service
	$(MAKE) --no-print-directory go redis test-tools
	scripts/go-test.sh core
	scripts/go-test.sh adapters
	tests/walk.py docs/tutorials/go.md
	scripts/apt-install.sh redis-server
	scripts/go-test.sh redis

test-redis: redis ## the module for Redis and Valkey, on real servers
	scripts/apt-install.sh redis-server python3-venv
	CARGO_PROFILE_RELEASE_OPT_LEVEL=1 $(TEST_PROFILE) $(CARGO) test --release --locked $(REDIS_MODULE)
	modules/redis/tests/run.py $(REDIS_TESTS)
	tests/walk.py docs/tutorials/redis.md

test-redis-all: ## the same with large filters: a cluster with 10,000,000 keys, a minute under load
	$(MAKE) --no-print-directory test-redis REDIS_TESTS=--full

# The example is run, too, with so many rows or keys.
define test_adapter
	$(call adapter,$(1),clippy) --all-targets -- -D warnings
	$(call adapter,$(1),test) -- --show-output
	$(call adapter,$(1),run) --example $(2)
endef

# pyarrow and DuckDB, if they can be had: the test says if not.
PARQUET_PYTHON := $(CURDIR)/target/parquet-venv/bin/python
parquet_python = $(PARQUET_PYTHON) -c 'import duckdb, pyarrow' 2>&-
parquet-python:
	@[ "$(INSTALL)" = no ] || $(parquet_python) || { python3 -m venv target/parquet-venv && \
	    $(PARQUET_PYTHON) -m pip install --quiet pyarrow duckdb; } || true

test-parquet: export BLOOMLINE_PYTHON = $(shell $(parquet_python) && echo $(PARQUET_PYTHON))
test-parquet: tools go-tools parquet-python ## beside the crate `parquet`, pyarrow and DuckDB: filters equal to the byte, files that each wrote
	$(call test_adapter,parquet,prune 200000)
	cd go/parquetfilter/interoperability && go vet ./... && go test ./...

test-surrealkv: tools ## policies for the store surrealkv: bytes and answers of its own, stores that change policies, damage
	$(call test_adapter,surrealkv,store 20000)

test-slatedb: tools ## the filter policies on the real SlateDB: filters equal to the byte, stores that either wrote
	$(call test_adapter,slatedb,sessions 20000)

test-datafusion: tools ## in queries of DataFusion: joins with a filter have the same rows
	$(call test_adapter,datafusion,join 1000000 10000)

test-cross: test-aarch64 test-s390x test-i686 test-windows test-cross-c test-cross-go ## emulated CPUs; for Windows a check

test-aarch64: ## the Rust tests, emulated, NEON
	@$(MAKE) --no-print-directory tools
	scripts/cross-test.sh aarch64
	scripts/neon-check.sh

test-s390x: ## the Rust tests, emulated, big-endian
	@$(MAKE) --no-print-directory tools
	scripts/cross-test.sh s390x

test-i686: ## the Rust tests with 32 bits
	@$(MAKE) --no-print-directory tools
	scripts/cross-test.sh i686

test-windows: tools ## that the library compiles for Windows
	scripts/cross-test.sh windows

test-cross-c: ## the tests of C, emulated and with musl
	@$(MAKE) --no-print-directory tools
	$(MAKE) --no-print-directory -C c-tests cross musl

test-cross-go: go-tools ## the tests of Go, emulated
	scripts/apt-install.sh qemu-user
	scripts/go-test.sh cross

test-fuzz: tools go-tools ## the fuzzers, FUZZ_SECONDS each, those in Go a third of it
	scripts/fuzz.sh $(FUZZ_SECONDS)
	scripts/go-test.sh fuzz $$((($(FUZZ_SECONDS) + 2) / 3))

# With the profile of the tests: what runs while it compiles is compiled once for both.
lint: export CARGO_PROFILE_RELEASE_LTO = off
lint: export CARGO_PROFILE_RELEASE_CODEGEN_UNITS = 4
lint: tools
	$(CARGO) fmt --check
	@# --all-targets leaves out what has `bench = false` and `test = false` in Cargo.toml.
	$(CARGO) clippy --release --all-targets --all-features --bench sweep --bench billion --test races -- -D warnings
	$(CARGO) clippy --release -- -D warnings
	@# Each feature alone, and none: what is left out leaves no warnings.
	@set -ex; for feature in "" cuckoo engines growing matrix static; do \
	    $(CARGO) clippy --release --no-default-features --features "$$feature" -- -D warnings; done
	@# As the fuzzers see it, the C interface is public: rustc asks for its comments.
	$(CARGO) clippy --release --features capi -- -D warnings --cfg fuzzing
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --release --no-deps --all-features
	@# What the pages say is there.
	$(TESTS_PROFILE) $(CARGO) test --release --all-features --test pages
	@set -ex; for crate in modules/redis $(ADAPTERS:%=adapters/%); do \
	    $(CARGO) fmt --check --manifest-path $$crate/Cargo.toml; done
	$(CARGO) clippy --release --locked --all-targets $(REDIS_MODULE) -- -D warnings

doc: ## the Rust documentation
	$(CARGO) doc --release --no-deps --all-features

lib: tools ## the C libraries, to target/release; TARGET=triple: to target/triple/release
	scripts/build-lib.sh TARGET=$(TARGET)

redis: tools ## the module for Redis and Valkey, to target/release/libbloomline_redis.so
	$(CARGO) build --release --locked $(REDIS_MODULE)

go: lib go-tools ## the C library into the Go package, for the build tag bloomline_static
	@platform=$$(go env GOOS)_$$(go env GOARCH); set -ex; mkdir -p go/clib/$$platform; \
	cp target/release/libbloomline.a include/bloomline.h go/clib/$$platform/

install: lib ## headers, libraries, adapters, pkg-config and CMake files, to PREFIX (and DESTDIR)
	scripts/install.sh PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) TARGET=$(TARGET)

header: ## rewrites include/bloomline.h from src/ffi
	BLESS=1 $(CARGO) test --release --features capi --test header

abi: ## rewrites packaging/abi.txt from include/bloomline.h
	BLESS=1 scripts/abi.sh

api: tools ## rewrites packaging/api.txt, the public items of the crate
	BLESS=1 scripts/api.sh

golden: ## rewrites golden/ from the definition; a change there is a new format
	BLESS=1 $(CARGO) test --release --test all committed

instructions: test-tools lib ## rewrites c-tests/instructions.txt, how many instructions calls take
	BLESS=1 $(MAKE) --no-print-directory -C c-tests instructions

lab: lib ## this library, others in Rust and C++, and the limits: QUICK=1, PARTS=speed, BOOST=headers, ROCKSDB=source, PYARROW=wheel, WRITE=1 (docs/)
	$(LAB) run $(LAB_ARGS) -- $(if $(QUICK),--quick) $(if $(WRITE),--write) $(if $(UP_TO),--up-to=$(UP_TO)) $(PARTS)

test-lab: lib ## the lab over tiny filters: no contender gives a false negative, rates are as in theory
	$(LAB) test $(LAB_ARGS)
	$(LAB) clippy $(LAB_ARGS) --all-targets -- -D warnings

bench: ## criterion: every backend, size and operation, with their limits
	$(CARGO) bench --bench probe

bench-ratios: ## the table of ratios in docs/PERFORMANCE.md
	$(CARGO) bench --bench ratios

tune: bench-sweep ## the row of this machine, for src/kernel/cores.rs: at the end

bench-sweep: ## prefetch hints and distances
	$(CARGO) bench --features internals --bench sweep

bench-billion: ## 1,000,000,000 keys at 1 %
	$(CARGO) bench --bench billion

bench-engines: lib ## RocksDB and LevelDB with their own filters and with these
	scripts/apt-install.sh libleveldb-dev librocksdb-dev
	$(MAKE) --no-print-directory -C adapters/tests bench

bench-redis: redis ## the module, bitmaps by hand, PEER=other-module.so: server CPU time per item
	scripts/apt-install.sh redis-server python3-venv
	PEER=$(PEER) modules/redis/bench/bench.py $(BENCH_ARGS)

bench-go: go ## other Go filters, at equal memory, in plain Go and with C
	scripts/go-bench.sh

clean: ## removes what was built
	$(CARGO) clean

tools:
	@command -v $(CARGO) >/dev/null || \
	    { echo "make: there is no cargo here; install Rust 1.89 or later (rustup.rs, or your system's)" >&2; exit 1; }
	@command -v $(CC) >/dev/null || scripts/apt-install.sh gcc libc6-dev

go-tools:
	@command -v go >/dev/null || \
	    { echo "make: there is no go here; install Go 1.24 or later, for all tests 1.26 (go.dev/dl, or your system's)" >&2; exit 1; }

test-tools: tools
	scripts/apt-install.sh $(TEST_PACKAGES)
	scripts/clang-sanitizers.sh
