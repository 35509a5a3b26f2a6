#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes the packages from this directory, again from the archive of the sources that came with them, and those for C
# and C++ alone. They have to be the same, file by file: build_packages.sh DIRECTORY, which gets the packages.
#
# For a Debian that it may change, such as one of tests/platforms.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
readonly target=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export DEBFULLNAME='Packages of a test' DEBEMAIL=packages@example.org
SOURCE_DATE_EPOCH=$(date +%s)
export SOURCE_DATE_EPOCH

# unpack FROM TO: control files and files of all packages, archives of archives, too.
unpack() {
    local package jar
    for package in "$1"/*.deb; do
        dpkg-deb -R "$package" "$2/$(basename "$package")"
    done
    find "$2" -type f -name '*.jar' | while read -r jar; do
        python3 -m zipfile -e "$jar" "$jar.unpacked"
        rm "$jar"
    done
    # The sums of what was unpacked, and when it was packed.
    find "$2" -path '*/DEBIAN/md5sums' -delete
}

# In the same place, where ccache finds what the first has compiled.
command -v ccache >/dev/null || { apt-get -q update && apt-get -q install -y --no-install-recommends ccache; }
mkdir "$work"/{sources,small,first,second}
./run package
unpack build/package "$work/small"
./run package all
tar -xf build/package/pcp-trace-*.tar.xz -C "$work/sources"
# shellcheck disable=SC2016 # the shell's in there
unshare --mount sh -c 'mount --bind "$1" "$2" && cd "$2" && ./run package all' sh "$work"/sources/pcp-trace-* "$PWD"
unpack build/package "$work/first"
unpack "$work"/sources/pcp-trace-*/build/package "$work/second"
diff -r --no-dereference "$work/first" "$work/second" || {
    echo "FAILED: the archive of the sources makes other packages"
    exit 1
}
echo "the archive of the sources makes the same packages"
# Only the links from programs to their debug symbols differ.
find "$work/small" "$work/second" -path '*/usr/*' -type f \
    -exec objcopy -R .note.gnu.build-id -R .gnu_debuglink {} \; 2>/dev/null
for package in "$work"/small/*; do
    diff -r --no-dereference -I '^Installed-Size:' "$package" "$work/second/${package##*/}" || {
        echo "FAILED: without the other packages, this one is another one"
        exit 1
    }
done
echo "the packages for C and C++ are the same without the others"
rm -f "$target"/*
cp build/package/*.deb build/package/*.tar.xz "$target"
