#!/usr/bin/env bash
# Makes sure that clang can link with its sanitizers. Debian keeps these in a package of their
# own, named after clang's version, which clang does not depend on.
#
# Uses clang and apt-install.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

links() {
    echo 'int main(void) { return 0; }' |
        clang -fsanitize=address,undefined -x c -o /dev/null - 2>/dev/null
}

links && exit 0
version=$(clang -dumpversion)
scripts/apt-install.sh "libclang-rt-${version%%.*}-dev"
links || { echo "clang $version cannot link with -fsanitize=address,undefined" >&2; exit 1; }
