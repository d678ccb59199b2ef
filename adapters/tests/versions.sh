#!/usr/bin/env bash
# Which versions of RocksDB the adapter compiles with, and which order of functions it takes for
# each, by a version.h that comes before the installed one, as the C++ that this version needs:
#
#   versions.sh COMPILER... -Iversion ...
#
# The other headers are those that are installed, so that this says nothing of theirs.
set -euo pipefail
cd "$(dirname "$0")"

messages=$(mktemp)
trap 'rm -f "$messages"' EXIT
passed=0 failed=0

compiler=("$@")
compiles() { # VERSION FLAG... FILE
    local major minor patch
    IFS=. read -r major minor patch <<<"$1"
    shift
    "${compiler[@]}" "-std=$(./standard.sh "$major.$minor")" -DTEST_MAJOR="$major" -DTEST_MINOR="$minor" -DTEST_PATCH="$patch" "$@" \
        -Wfatal-errors 2>"$messages"
}
said() { # GOOD WHAT
    if [ "$1" = yes ]; then
        passed=$((passed + 1))
        echo "  ok      $2"
    else
        failed=$((failed + 1))
        echo "  FAILED  $2"
        cat "$messages"
    fi
}

# Versions, whether they have AddKeyAndAlt(), and CalculateSpace(): both ends of each range.
for row in "7.0.3 0 0" "7.2.99 0 0" "7.3.0 0 0" "9.5.99 0 0" "9.6.1 1 0" "10.6.99 1 0" "10.7.0 1 0" "10.8.99 1 0" "10.9.1 1 1" "11.8.99 1 1"; do
    read -r version alt space <<<"$row"
    good=no
    files=(versions.cc)
    # Before 7.3 an option had another name, which newer headers do not have.
    case $version in
    7.[0-2].*) ;;
    *) files=(-include versions.cc ../rocksdb/bloomline_rocksdb.cc) ;;
    esac
    ! compiles "$version" -fsyntax-only -DTEST_ADD_ALT="$alt" -DTEST_SPACE="$space" "${files[@]}" || good=yes
    said "$good" "$version compiles: AddKeyAndAlt() $alt, CalculateSpace() $space"
done

for version in 6.29.5 7.0.0 7.0.2 9.6.0 10.9.0 11.9.0 12.0.0; do
    good=no
    # For the reason that is given there, and no other. The preprocessor alone refuses it.
    compiles "$version" -E -o /dev/null ../rocksdb/bloomline_rocksdb.cc || ! grep -q 'error.*"bloomline: .*RocksDB' "$messages" || good=yes
    said "$good" "$version is refused"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
