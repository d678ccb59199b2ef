#!/bin/sh
# The compiler of the library's tests, for cargo's RUSTC_WORKSPACE_WRAPPER:
#
#   scripts/test-rustc.sh RUSTC [ARGUMENT OF rustc]...
#
# The library is compiled as told: how it is compiled is what `all` tests. Its unit tests are that once more, and not
# optimised much. What calls the library, the test programs, is not optimised: that takes five times as long, and most
# tests run no faster. But with all cases the program `all` does, so natively TEST_LEVEL is its level.
compiler=$1
shift
for argument; do
    [ "${previous-}" != --crate-name ] || name=$argument
    [ "$argument" != --test ] || tests=yes
    previous=$argument
done
case ${name-}${tests+ tests} in
    'bloomline tests') exec "$compiler" "$@" -Copt-level=1 ;;
    # No crate, or what is in a library.
    '' | ___ | bloomline | bloomline_* | c_library) exec "$compiler" "$@" ;;
esac
level=0
[ "$name" != all ] || level=${TEST_LEVEL:-0}
# Without the optimiser rustc would turn on the checks of debug builds, which tests take as a sign of one.
exec "$compiler" -Cdebug-assertions=off -Coverflow-checks=off "$@" "-Copt-level=$level"
