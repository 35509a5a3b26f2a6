#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Bare Debians, and commands in copies of them, for platforms.py:
#   root.sh make SUITE MIRROR           makes the root of a suite, unless it is there
#   root.sh in SUITE COPY COMMAND...    runs a command in /src of a copy of it, which it makes unless it is there
# All is below build/platforms. The commands have processes and mounts of their own, and end with this script.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."

readonly roots=$PWD/build/platforms

# Runs a command in name spaces of its own. A signal to this script kills all of it: unshare, and the shell that is the
# first process in there, take no other signal. In the background bash has its children ignore some.
separately() {
    setpriv --pdeathsig KILL env --default-signal=INT,QUIT \
        unshare --mount --pid --ipc --uts --fork --kill-child "$@" &
    # shellcheck disable=SC2064 # now: the child of this call
    trap "kill -KILL $!; exit 143" TERM INT HUP
    wait $!
}

# debootstrap does not name the cause.
remove_half_of() {
    (($(df --output=avail "$roots" | tail -n 1) > 100000)) || echo "No space left on device"
    rm -rf --one-file-system "$1"
}

make_root() {
    local suite=$1 mirror=$2 root=$roots/$1.root
    [[ ! -e $root.complete ]] || return 0
    mkdir -p "$roots"
    # shellcheck disable=SC2064 # now: it is local
    trap "remove_half_of '$root'" EXIT
    rm -rf --one-file-system "$root"
    separately debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "$mirror"
    # An archive may be a frozen copy.
    {
        echo 'Acquire::Check-Valid-Until "false"; Acquire::Retries "3";'
        apt-config dump | grep -i '^Acquire::.*proxy' || :
    } >"$root/etc/apt/apt.conf.d/90platforms"
    # No service starts by itself.
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod 755 "$root/usr/sbin/policy-rc.d"
    printf '127.0.0.1 localhost\n::1 localhost\n127.0.1.1 platform\n' >"$root/etc/hosts"
    trap - EXIT
    touch "$root.complete"
}

# The first process of a name space.
inside() {
    local copy=$1 suite=$2
    shift 2
    hostname platform
    mount --bind "$copy" "$copy" # a mount, so that commands in there can have mounts of their own
    mount -t proc proc "$copy/proc"
    mount --rbind /sys "$copy/sys"
    mount --rbind /dev "$copy/dev"
    mount -t tmpfs -o mode=1777 shm "$copy/dev/shm"
    mount -t tmpfs -o mode=755 run "$copy/run"
    mount --bind "$roots/debs-$suite" "$copy/var/cache/apt/archives"
    mount --bind "$roots/packages-$suite" "$copy/packages"
    # No chroot: in one the kernel refuses user namespaces.
    cd "$copy"
    pivot_root . mnt
    umount --lazy /mnt
    # shellcheck disable=SC2016 # the shell's in there
    env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive bash -c 'cd /src && "$@"' in "$@" </dev/null
}

in_copy() {
    local suite=$1 copy=$roots/$2
    shift 2
    if [[ ! -d $copy ]]; then
        rm -rf --one-file-system "$copy.half"
        cp -a "$roots/$suite.root" "$copy.half"
        mkdir -p "$copy.half/src" "$copy.half/packages"
        git archive HEAD | tar -x -C "$copy.half/src"
        mv "$copy.half" "$copy"
    fi
    cp /etc/resolv.conf "$copy/etc/resolv.conf"
    mkdir -p "$roots/debs-$suite/partial" "$roots/packages-$suite"
    export roots
    export -f inside
    separately bash -euo pipefail -c 'inside "$@"' inside "$copy" "$suite" "$@"
}

case $1 in
    make) make_root "$2" "$3" ;;
    in) in_copy "${@:2}" ;;
esac
