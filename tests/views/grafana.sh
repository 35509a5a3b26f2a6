#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Gets the types of Grafana's dashboards and the compiler of TypeScript, which checks dashboards by them and the scripts of
# the page of a report, from npm: into the directory $1, if they are not there. Exactly these versions; nothing of them
# is installed.
set -eu

mkdir -p "$1"
cd "$1"
# get NAME VERSION SUM
get() {
    package=$(printf %s "$1" | tr -d @ | tr / -)-$2.tgz
    if ! echo "$3  $package" | sha512sum --check --status 2>/dev/null; then
        npm pack --loglevel error --cache "$PWD/cache" "$1@$2"
        rm -rf cache
        echo "$3  $package" | sha512sum --check
    fi
    rm -rf "node_modules/$1"
    mkdir -p "node_modules/$1"
    tar --extract --gzip --file "$package" --directory "node_modules/$1" --strip-components 1
}
get @grafana/schema 13.2.3 ae4f0510eef2b857d14cafc90f7f7be3b499150fa209341ba66e8c8763a39ea1b1fe0fee410171e7ab7ae1e08b5d6132a11ebcaeee1c8a07062ab5e4fa8ceb2e
get typescript 5.9.3 8e5d6f6733c38a72ebf5e52ddc9feded5e8580d130f508ef04f772b33f4a7d00c3e357d0ac2d98e2f290762694a454f86d795bd511e12e9a7cc2d9ba3394e04b
