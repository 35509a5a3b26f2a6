#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A nightly job in shell, traced with pmtrace(1): commands as transactions, sizes as observations.
#
#   nightly.sh SECONDS
#
# Look at the commands' times, and at the failed ones:
#
#   pminfo -f trace.transact.max_time trace.point.count trace.observe.value
set -u
case "${1:-}" in
    '' | *[!0-9]*)
        echo "Usage: nightly.sh SECONDS" >&2
        exit 2
        ;;
esac

directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
end=$(($(date +%s) + $1))
rounds=0
while [ "$(date +%s)" -lt "$end" ]; do
    rounds=$((rounds + 1))

    # The command's time is the transaction's time. pmtrace returns the command's exit status.
    pmtrace -q -e "seq $((rounds % 7 * 10000)) > $directory/list" collect
    pmtrace -q -e "gzip -kf $directory/list" compress
    if ! pmtrace -q -e "test $((rounds % 10)) != 0" upload; then
        pmtrace -q not-sent
    fi
    pmtrace -q -v "$(wc -c <"$directory/list.gz")" bytes
done
echo "served $((rounds * 3)) commands"
