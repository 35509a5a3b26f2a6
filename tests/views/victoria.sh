#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Gets Debian 13's victoria-metrics, a server that takes OTLP, into the directory $1, if it is not there. Debian 12's
# is too old for that, and Debian's Prometheus is built without it. The package is not installed, because it would
# start a service.
set -eu
mkdir -p "$1"
cd "$1"
if ! [ -x usr/bin/victoria-metrics ]; then
    mirror=$(apt-get indextargets --format "\$(SITE)" 'Created-By: Packages' | grep -m 1 '/debian/*$')
    echo "deb $mirror trixie main" >sources.list
    mkdir -p lists/partial
    from_trixie() { apt-get -q -o Dir::Etc::SourceList="$PWD/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$PWD/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= "$@"; }
    from_trixie update
    rm -f ./*.deb
    from_trixie download victoria-metrics
    dpkg --extract victoria-metrics_*.deb .
    rm -rf ./*.deb lists
fi
