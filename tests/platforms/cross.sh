#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds for another processor, and runs in qemu the unit tests, those of the C API, and those end to end that an emulator
# can run, with a pmcd of this machine: cross.sh arm64 | s390x [what ctest is given, such as -R NAME]
#
# For a Debian 12 that it may change, such as a container's: what is missing is installed. The build is below build/,
# as any other preset's. Exits with 0 if all is well.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."

case ${1-} in
    arm64) clock=arch_sys_counter ;;
    s390x) clock=tod ;;
    *)
        echo "Usage: $0 arm64 | s390x" >&2
        exit 2
        ;;
esac
readonly architecture=$1 preset=cross-$1 machine=$PWD/build/cross-$1/machine
readonly packages=(
    "crossbuild-essential-$architecture" qemu-user-static cmake ninja-build pkg-config python3 protobuf-compiler
    pcp netbase procps util-linux libasio-dev libconcurrentqueue-dev libprotozero-dev libjs-dygraphs
    {zlib1g-dev,libcurl4-openssl-dev,libncurses-dev,libgtest-dev,libstdc++6,liblzma5,libsasl2-2,libssl3,libsystemd0}":$architecture"
)
# Debian lets one install these for one processor only; that is this machine's, whose pmcd and monitors the tests have.
# The last has a locale in the processor's byte order.
readonly unpacked=({libpcp3,libpcp3-dev,libpcp-pmda3,libpcp-pmda3-dev,libpcp-trace2,libpcp-trace2-dev,libc-bin}":$architecture")

# The other tests need what qemu has not: libraries loaded before others, seccomp, priorities, a process's own name, user
# and limits, or a process that lives on without its main thread.
readonly end_to_end='threads|reconnect|crowds|histograms|dimensions|hostile_tags|unix_socket'
readonly spans_and_recordings='events|record_spans|answers|report|two_hosts|export|options'
readonly conformance='return_codes|error_texts|stderr|wire|metrics|instances|window|install|pmtrace|children'
readonly tests="_test\$|^(c_api|platforms)\.|^cheap\.instructions\$|^conformance\.($conformance)\$\
|^integration\.($end_to_end|$spans_and_recordings)\$"

install_packages() {
    local stubs
    stubs=$(mktemp -d)
    # pcp's post-installation script calls systemctl, and fails where systemd does not run.
    printf '#!/bin/sh\nexit 0\n' >"$stubs/systemctl"
    chmod 755 "$stubs" "$stubs/systemctl"
    DEBIAN_FRONTEND=noninteractive apt-get -q -o "DPkg::Path=$stubs:$PATH" install -y --no-install-recommends "${packages[@]}"
    rm -r "$stubs"
}

# The emulated programs' own machine: PCP's libraries, and the clock source of their kernel.
make_machine() {
    local debs
    debs=$(mktemp -d)
    (cd "$debs" && apt-get -q download "${unpacked[@]}")
    mkdir -p "$machine/sys/devices/system/clocksource/clocksource0"
    for deb in "$debs"/*.deb; do
        dpkg -x "$deb" "$machine"
    done
    rm -r "$debs"
    echo $clock >"$machine/sys/devices/system/clocksource/clocksource0/current_clocksource"
}

if ! dpkg-query -W "${packages[@]}" >/dev/null 2>&1; then
    dpkg --add-architecture "$architecture"
    apt-get -q update
    install_packages
fi
[[ -d $machine/sys ]] || make_machine
jobs=${JOBS:-$(nproc)}
cmake --preset "$preset"
cmake --build --preset "$preset" -j "$jobs"
ctest --preset "$preset" -j "$jobs" -R "$tests" "${@:2}"
