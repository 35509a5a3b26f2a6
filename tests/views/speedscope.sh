#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Gets speedscope (speedscope.app), which opens the files of "pcp trace export", from npm: into the directory
# $1, if it is not there. Exactly this version; the tests run only its page, in a browser.
set -eu
version=1.25.0
sum=7297fd1d64d97f58a32d7049ae4f3b55eff9e2d9d8c7aae57f48144e1be7de8a24ea1eb784b5d539088c7f8e0f4fe5e8579d3770f7ef7e24f980fe6fa23a7a02
package=speedscope-$version.tgz

mkdir -p "$1"
cd "$1"
if ! echo "$sum  $package" | sha512sum --check --status 2>/dev/null; then
    npm pack --loglevel error --cache "$PWD/cache" "speedscope@$version"
    rm -rf cache
    echo "$sum  $package" | sha512sum --check
fi
rm -rf package
tar --extract --gzip --file "$package"
