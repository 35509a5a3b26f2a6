#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Gets Debian's prometheus and promtool: into the directory $1, if they are not there. The package is not installed,
# because it would start a service.
set -eu
mkdir -p "$1"
cd "$1"
if ! [ -x usr/bin/promtool ]; then
    rm -f ./*.deb
    # Since Debian 13 promtool is in a package of its own.
    apt-cache pkgnames promtool | xargs apt-get -q download prometheus
    for package in ./*.deb; do dpkg --extract "$package" .; done
    rm -f ./*.deb
fi
