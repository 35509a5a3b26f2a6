# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# Whether pmcd and the trace agent run. For Install, Remove and pcp-trace-system, which have read
# pcp.env.

pmcd_runs() { pminfo -v pmcd.version >/dev/null 2>&1; }

agent_answers() {
    case "$(pmprobe -v trace.control.port 2>/dev/null)" in
    'trace.control.port 1 '*) ;;
    *) return 1 ;;
    esac
}

# wait_until COMMAND: tries it again and again, for ten seconds at most. False if it never succeeded.
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

# Makes pmcd read its configuration and names, and waits until it has.
reload_pmcd() {
    pmcd_runs || return 0
    sighups_before=$(sighups)
    pmsignal -a -s HUP pmcd >/dev/null 2>&1
    wait_until has_seen_signal
}

# tell_of_lock NAMES: PCP's procedures wait in silence.
tell_of_lock() {
    [ ! -e "$1.lock" ] || {
        echo "Waiting for two minutes at most, since somebody else seems to change PCP's names. If nobody"
        echo "does, remove $1.lock"
    }
}
