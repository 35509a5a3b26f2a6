#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Turns CPack's packages of debug symbols into packages like Debian's: symbols.sh FILE.ddeb... becomes FILE.deb, which apt installs.
# CPack's lack a page of their own on copyright, and some versions of CPack write wrong names into their sums.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for file; do
    package=$(dpkg-deb -f "$file" Package)
    rm -rf "$work/root"
    dpkg-deb -R "$file" "$work/root"
    sed -i '/^Package-Type:/d' "$work/root/DEBIAN/control"
    chmod -R go-w "$work/root"
    find "$work/root/usr" -name '*.debug' -exec chmod 644 {} +
    mkdir -p "$work/root/usr/share/doc"
    ln -s "${package%-dbgsym}" "$work/root/usr/share/doc/$package"
    (cd "$work/root" && find usr -type f -exec md5sum {} + >DEBIAN/md5sums)
    dpkg-deb --root-owner-group -Zxz -b "$work/root" "${file%.ddeb}.deb"
    rm "$file"
done
