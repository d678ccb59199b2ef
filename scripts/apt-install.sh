#!/usr/bin/env bash
# Makes sure that Debian packages are installed:
#
#   scripts/apt-install.sh PACKAGE...
#
# When all of them are there, it does nothing and says nothing. What is missing
# is installed where the script runs as root; elsewhere it is named, with the
# command that installs it, and the exit status is 1. With INSTALL=no it installs nothing
# and asks for nothing: what is missing shows when it is used.
#
# Uses dpkg-query and apt-get, nothing else of the project.
set -euo pipefail

if [ $# -eq 0 ]; then
    echo "usage: scripts/apt-install.sh PACKAGE..." >&2
    exit 2
fi

installed() {
    # A removed package whose configuration files remain is still listed, so
    # being listed is not enough.
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null || true)" = installed ]
}

[ "${INSTALL:-yes}" != no ] || exit 0

missing=()
for package in "$@"; do
    installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "apt-install: needed, and there is no apt-get here to install them (Debian names): ${missing[*]}" >&2
    exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
    echo "apt-install: not installed: ${missing[*]}" >&2
    echo "apt-install: as root, run: apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 1
fi

echo "apt-install: installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
# One of these at a time: an update does not wait for another one.
exec 9>"${TMPDIR:-/tmp}/bloomline-apt.lock"
flock 9
# A package source that cannot be reached need not be the one that holds these
# packages, so a failed update is only told; the install decides. Lists of the last hour are new enough, unless
# the install says otherwise.
updated="${TMPDIR:-/tmp}/bloomline-apt.updated"
update() {
    if apt-get update -qq >&2; then touch "$updated"; else
        echo "apt-install: apt-get update failed; trying with the lists at hand" >&2
    fi
}
# The wait is for another apt that runs at the same time.
install() {
    apt-get install -y -qq --no-install-recommends \
        -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "${missing[@]}" >&2
}
if [ -n "$(find "$updated" -mmin -60 2>/dev/null)" ] && install; then exit; fi
update
install
