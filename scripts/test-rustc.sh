#!/bin/sh
# The compiler of the library's tests, for cargo's RUSTC_WORKSPACE_WRAPPER:
#
#   scripts/test-rustc.sh RUSTC [ARGUMENT OF rustc]...
#
# The library is compiled as told, with its unit tests: what they test is how it is compiled. What calls it, the test
# programs, is not optimised: that takes five times as long, and most tests run no faster. But with all cases the
# program `all` does, so natively TEST_LEVEL is its level.
compiler=$1
shift
for argument; do
    [ "${previous-}" != --crate-name ] || name=$argument
    previous=$argument
done
case ${name-} in
    # No crate, or what is in a library.
    '' | ___ | bloomline | bloomline_* | c_library) exec "$compiler" "$@" ;;
esac
level=0
[ "$name" != all ] || level=${TEST_LEVEL:-0}
# Without the optimiser rustc would turn on the checks of debug builds, which tests take as a sign of one.
exec "$compiler" -Cdebug-assertions=off -Coverflow-checks=off "$@" "-Copt-level=$level"
