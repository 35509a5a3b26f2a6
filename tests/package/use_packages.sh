#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Installs the packages beside PCP's, uses, upgrades and removes them: use_packages.sh DIRECTORY, which has them.
#
# For a bare Debian that it may change, such as one of tests/platforms. pmcd runs in a network of its own. Each promise
# prints a line; the first that is broken ends it.
# shellcheck disable=SC2046 # names and flags have no blanks
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
readonly debs=$1 stock=/var/lib/pcp/pmdas/trace ours=/var/lib/pcp/pmdas/pcp-trace
readonly conf=/etc/pcp/pmcd/pmcd.conf numbers=/var/lib/pcp/config/pmda/10.trace
work=$(mktemp -d)

# promise TEXT COMMAND...
promise() {
    local text=$1
    shift
    if "$@" >"$work/said" 2>&1; then
        echo "  kept  $text"
    else
        echo "FAILED  $text: $*"
        tail -n 40 "$work/said"
        exit 1
    fi
}

wait_until() {
    local deadline=$((SECONDS + 120))
    until "$@"; do
        ((SECONDS < deadline)) || return 1
        sleep 0.2 # poll: until something has happened, or for two minutes
    done
}

ready_debs() {
    apt-get -q update
    # pcp's post-installation script calls systemctl, and fails where systemd does not run.
    printf '#!/bin/sh\nexit 0\n' >/usr/local/bin/systemctl
    chmod 755 /usr/local/bin/systemctl
    apt-get -q install -y --no-install-recommends pcp libpcp-trace2 libpcp-trace2-dev libpcp3-dev gcc g++ libc6-dev make cmake \
        pkg-config gfortran default-jdk-headless python3 lintian iproute2 procps man-db binutils xz-utils
}

# Only what is there already: no network from here on.
install_debs() { dpkg --force-confdef -i "$@"; }

all_debs() { ls "$debs"/{pcp-trace{,-library,-dev,-fortran,-java},python3-pcp-trace}_*.deb; }

# --- Programs ------------------------------------------------------------------------------------------------------

# traces TAG COMMAND...: pcp-trace records this tag of it.
traces() {
    local tag=$1
    shift
    rm -rf "$work/recorded"
    pcp-trace record -q -o "$work/recorded" "$@"
    pcp-trace report --json "$work/recorded" | grep -q "\"name\": *\"$tag\""
}

from_c() {
    cc -o "$work/app" tests/package/traced.c $(pkg-config --cflags --libs libpcp_trace) && traces package "$work/app"
}

# Not one through a directory that goes with another package.
has_path_of_library() { readelf -d "$work/app" | grep 'RUNPATH.*\[/usr/lib/[^/]*/pcp-trace\]'; }

from_static_c() {
    cc -static -o "$work/static" tests/package/traced.c $(pkg-config --cflags --libs libpcp_trace_static) &&
        traces package "$work/static"
}

from_cpp() {
    c++ -std=c++17 -o "$work/appcpp" tests/package/traced.cpp $(pkg-config --cflags --libs libpcp_trace) &&
        traces package "$work/appcpp"
}

from_cmake() {
    cp -r tests/package "$work/project"
    cmake -S "$work/project/consumer" -B "$work/consumer" && cmake --build "$work/consumer" || return
    local program
    for program in shared_c static_c cpp17; do
        traces package "$work/consumer/$program" || return
    done
}

from_fortran() {
    gfortran -o "$work/solver" demos/solver.f90 $(pkg-config --cflags --libs libpcp_trace_fortran) &&
        traces step "$work/solver" 0.1
}

from_java() {
    traces deliver java -cp "$(echo /usr/share/maven-repo/io/pcp/pcp-trace/*/pcp-trace-*[0-9].jar)" demos/RequestLoop.java 1
}

from_python() { traces ask-airline python3 demos/travel_agency.py 1; }

from_shell() {
    traces 'files' /usr/libexec/pcp-trace/pmtrace -a 3 files && traces hello pmtrace hello &&
        traces build sh -c '. pcp-trace.sh && traced build env true'
}

views_are_linked() { [[ -r /etc/pcp/pmrep/trace.conf && -r /var/lib/pcp/config/pmlogconf/trace/tags ]]; }

pages() {
    man -w pcp-trace pcp-trace-system 3 pmtrace pcp_trace_fortran &&
        man 1trace pmdatrace | grep -q 'pcp-trace' && man 3trace pmtracebegin | grep -q pmtrace_begin &&
        ! man pmdatrace | grep -q 'pcp-trace'
}

# --- pmcd ---------------------------------------------------------------------------------------------------------

# PCP's start script registers what asks for it by .NeedInstall, in the background.
is_ready() { pminfo -f pmcd.version && [[ ! $(find /var/tmp /var/lib/pcp/pmdas -name pmda.auto.update -o -name '.Need*.pending') ]]; }
start_pmcd() { /etc/init.d/pmcd "${1-start}" && wait_until is_ready; }
pmcd_pid() { cat /run/pcp/pmcd.pid; }
agent_pid() { pgrep -x pmdatrace; }
our_agent_answers() { pmprobe -v trace.agent.uptime | grep -q '^trace.agent.uptime 1 '; }
stock_agent_answers() { pmprobe -v trace.control.port | grep -q ' 1 ' && ! our_agent_answers; }
no_agent() { ! agent_pid && ! grep -q ^trace $conf; }
register() { touch $ours/.NeedInstall && start_pmcd restart && wait_until our_agent_answers; }
mark() {
    local tag
    for tag in "$@"; do /usr/libexec/pcp-trace/pmtrace -q "$tag" || return; done
}
numbers() { pminfo -f trace.point.count | sed -n 's/.*inst \[\(.*\)\].*/\1/p' | sort; }
has_numbers() { [[ $(numbers) == "$*" ]]; }

# Names, modes, owners, links and sums of all files. Below /usr times stand for sums: no byte changes without the time of the
# last change, which nobody can set.
state() {
    find /etc /var/lib/pcp -xdev -printf '%p %M %u %g %l\n' | sort
    find /etc /var/lib/pcp -xdev -type f -print0 | sort -z | xargs -0 sha256sum
    find /usr -xdev -type d -printf '%p %M %u %g\n' -o -printf '%p %M %u %g %l %s %C@\n' | sort
}
keep_state() { state >"$work/before"; }
is_as_before() { diff "$work/before" <(state); }
# The same process, and nobody has told it anything.
is_left_alone() { [[ $(pmcd_pid) == "$pmcd" && $(pmprobe -v pmcd.sighups) == *' 1 0' ]]; }

agent_is_new() { [[ $(agent_pid) != "$agent" ]]; }
is_the_same_pmcd() { [[ $(pmcd_pid) == "$pmcd" ]]; }

# The way of views.md from an agent to the report of last night, which lasts a minute here. That is how often pmlogger logs
# distributions.
a_night() {
    local archives
    archives=$(sed -n 's/^PCP_ARCHIVE_DIR=//p' /etc/pcp.conf)/$(hostname)
    rm -rf "$archives"
    /etc/init.d/pmlogger restart || return
    wait_until report_has_percentiles "$archives"
}
report_has_percentiles() {
    demos/nightly.sh 5 && pcp-trace report --json "$1/$(date +%Y%m%d)"* >"$work/night.json" &&
        python3 -c "
import json
tags = {tag['name']: tag for tag in json.load(open('$work/night.json', encoding='utf-8'))['tags']}
assert tags['compress']['p99'] > 0, tags"
}

newer_debs() {
    local deb
    for deb in $(all_debs); do
        rm -rf "$work/newer"
        dpkg-deb -R "$deb" "$work/newer"
        sed -i 's/\(2\.[0-9.]*\)-1/\1-2/' "$work/newer/DEBIAN/control"
        dpkg-deb --root-owner-group -b "$work/newer" "$work/$(basename "$deb" | sed 's/-1_/-2_/')"
    done
}

debug_symbols() {
    local id
    install_debs "$debs"/pcp-trace-dbgsym_*.deb "$debs"/pcp-trace-library-dbgsym_*.deb || return
    id=$(readelf -n /usr/libexec/pcp-trace/pmdas/trace/pmdatrace | sed -n 's/.*Build ID: //p')
    readelf -S "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" | grep debug_info || return
    dpkg -P pcp-trace-dbgsym pcp-trace-library-dbgsym
}

run_offline() {
    ip link set lo up
    PATH=$PATH:$(sed -n 's/^PCP_BINADM_DIR=//p' /etc/pcp.conf)
    promise "lintian has nothing to say" lintian --fail-on error,warning "$debs"/*.deb
    promise "pmcd runs" start_pmcd
    pmcd=$(pmcd_pid)
    keep_state
    promise "the packages install beside PCP's" install_debs $(all_debs)
    promise "a pmcd that runs notices nothing" is_left_alone
    promise "no agent is registered unasked" no_agent
    promise "PCP's tools have the views" views_are_linked
    promise "a program in C" from_c
    promise "which has its library's own path" has_path_of_library
    promise "one that is linked statically" from_static_c
    promise "one in C++" from_cpp
    promise "a project of CMake's" from_cmake
    promise "a program in Fortran" from_fortran
    promise "one in Java" from_java
    promise "one in Python" from_python
    promise "a shell script, with our pmtrace and PCP's" from_shell
    promise "pcp trace is there" pcp trace --version
    promise "the pages are there, and PCP's stay" pages
    promise "debug symbols fit" debug_symbols
    promise "without an agent a purge leaves all as it was" purge_all
    promise "which is what PCP had" is_as_before

    promise "the packages install again" install_debs $(all_debs)
    promise "the agent is registered on request" register
    promise "tags get numbers" mark zebra ant mole
    promise "as they come" has_numbers '1 or "zebra"
2 or "ant"
3 or "mole"'
    sed -i '/^trace/s/$/ -N 30/' $conf
    promise "with an option" pmsignal -a -s HUP pmcd
    promise "the agent starts anew" wait_until has_numbers ''
    agent=$(agent_pid) pmcd=$(pmcd_pid)
    newer_debs
    promise "an upgrade" install_debs "$work"/*-2_*.deb
    promise "runs the new agent" wait_until our_agent_answers
    promise "which is another process" agent_is_new
    promise "under the same pmcd" is_the_same_pmcd
    promise "with the same option" grep -q '^trace.*/usr/libexec/pcp-trace/pmdas/trace/pmdatrace.* -N 30$' $conf
    mark mole new zebra
    promise "and the same numbers" has_numbers '1 or "zebra"
3 or "mole"
4 or "new"'
    promise "removed" dpkg -r pcp-trace
    promise "the agent has gone" no_agent
    promise "but not the numbers" test -e $numbers
    promise "a purge leaves all as it was" purge_all
    promise "which is what PCP had" is_as_before

    promise "PCP's own agent is registered" sh -c "cd $stock && ./Install </dev/null"
    promise "and answers" wait_until stock_agent_answers
    keep_state
    promise "the packages install beside it" install_debs $(all_debs)
    promise "and leave it running" stock_agent_answers
    promise "ours takes its place on request" register
    promise "a purge brings it back" purge_all
    promise "as it was" is_as_before
    promise "and it answers" wait_until stock_agent_answers

    promise "the packages install once more" install_debs $(all_debs)
    promise "pcp-trace-system switches the whole machine" pcp-trace-system on
    promise "to our agent" wait_until our_agent_answers
    promise "beside the views" views_are_linked
    promise "and our library" sh -c 'ldconfig -p | grep "libpcp_trace.so.2 .*/pcp-trace/"'
    promise "a purge brings PCP's back" purge_all
    promise "as they were" is_as_before
    promise "and PCP's agent answers" wait_until stock_agent_answers

    promise "the packages install for a night" install_debs $(all_debs)
    promise "with our agent" register
    promise "whose report has percentiles" a_night
    /etc/init.d/pmlogger stop
    /etc/init.d/pmcd stop
}

purge_all() { dpkg -P python3-pcp-trace pcp-trace-java pcp-trace-fortran pcp-trace-dev pcp-trace pcp-trace-library; }

if [[ ${2-} == offline ]]; then
    run_offline
else
    ready_debs
    exec unshare --net bash "$0" "$1" offline
fi
