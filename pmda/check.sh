# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# The arguments that Install and Remove accept, and checks whether pmcd and the trace agent run
# (also for pcp-trace-system). Callers have read pcp.env.

# accept_options LETTERS USAGE ARGUMENT...: exits unless the arguments are options that Install and
# Remove of every PMDA have; those in LETTERS have a value. --help alone prints the usage.
accept_options() {
    with_value=$1 usage="Usage: $0 $2"
    shift 2
    case "$#$*" in 1-h | 1--help) echo "$usage" && exit ;; esac
    while [ $# -gt 0 ]; do
        case "$1" in
        -[eQV]) ;;
        -["$with_value"])
            [ $# -gt 1 ] || break
            shift
            ;;
        *) break ;;
        esac
        shift
    done
    [ $# -eq 0 ] || { echo "$usage" >&2 && exit 2; }
}

# read_procedures OPTION...: reads PCP's procedures. A function, because they consume its arguments.
read_procedures() { . "$PCP_SHARE_DIR/lib/pmdaproc.sh"; }

pmcd_runs() { pminfo -v pmcd.version >/dev/null 2>&1; }

agent_answers() {
    case "$(pmprobe -v trace.control.port 2>/dev/null)" in
    'trace.control.port 1 '*) ;;
    *) return 1 ;;
    esac
}

# wait_until COMMAND: repeats COMMAND for ten seconds at most. False if it never succeeded.
wait_until() {
    tries=50
    until "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        sleep 0.2
    done
}

sighups() { pmprobe -v pmcd.sighups 2>/dev/null; }
has_seen_signal() { [ "$(sighups)" != "$sighups_before" ]; }

# Makes pmcd read its configuration and names again, and waits for that.
reload_pmcd() {
    pmcd_runs || return 0
    sighups_before=$(sighups)
    pmsignal -a -s HUP pmcd >/dev/null 2>&1
    wait_until has_seen_signal
}

# tell_of_lock NAMES: PCP's procedures wait silently. Other Installs hold the lock only briefly.
tell_of_lock() {
    wait_until test ! -e "$1.lock" || {
        echo "Waiting for two minutes at most, since somebody else seems to change PCP's names. If nobody"
        echo "does, remove $1.lock"
    }
}
