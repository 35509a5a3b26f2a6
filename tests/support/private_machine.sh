# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# The first process of a private machine (private_machine.py). Copies of the files that PCP's scripts
# change take the place of the originals; they are in a file system of its own that is mounted on $1.
set -e
mount -t tmpfs private "$1"
for place in etc usr/lib/pcp/bin var/lib/pcp/config var/lib/pcp/pmns var/lib/pcp/pmdas var/lib/pcp/tmp; do
    mkdir -p "$1/$place"
    cp -a "/$place/." "$1/$place" 2>/dev/null || : # an ordinary user may not read all files, nor change owners
done
rm -f "$1"/var/lib/pcp/config/pmda/* # such as the instances' numbers of the real machine's agent
find "$1/etc/pcp" "$1/var/lib/pcp/config" -lname '*/trace/views/*' -delete
for place in etc usr/lib/pcp/bin var/lib/pcp run var/log/pcp var/tmp var/cache/ldconfig; do
    mkdir -p "$1/$place"
    mount --bind "$1/$place" "/$place"
done
chmod 1777 /var/tmp
mkdir -p /run/pcp /var/log/pcp/pmcd
ip link set lo up
printf 'root 1 pipe binary %s\npmcd 2 dso pmcd_init %s\n' /var/lib/pcp/pmdas/root/pmdaroot \
    /var/lib/pcp/pmdas/pmcd/pmda_pmcd.so >/etc/pcp/pmcd/pmcd.conf
echo ready
cat # all processes here end with this one, when standard input ends. The shell reaps orphans
