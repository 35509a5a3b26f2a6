# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# The questions that Install asks before any change. Sets $args, the agent's options. A wrong answer is asked for again.

carriage_return=$(printf '\r')

# ask PROMPT: reads the next line of input into $answer; empty at the end of input.
ask() {
    printf '%s ' "$1"
    answer=
    read -r answer
    ! ${__echo:-false} || echo "$answer" # the option -e
    answer=${answer%"$carriage_return"} # of a file made on Windows
}

# is_integer TEXT LEAST MOST
is_integer() {
    case "${1#-}" in
    '' | *[!0-9]* | 0?* | ??????????*) return 1 ;;
    esac
    [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]
}

# ask_integer LEAST MOST PROMPT: asks until the answer is such a number, or empty.
ask_integer() {
    while :; do
        ask "$3"
        [ -z "$answer" ] || is_integer "$answer" "$1" "$2" || {
            echo "Please give a whole number from $1 to $2, or nothing for the default."
            continue
        }
        return
    done
}

# says_no PROMPT: asks until the answer is yes, no or empty. True if it is no.
says_no() {
    while :; do
        ask "$1"
        case "$answer" in
        n | N | no | No | NO) return 0 ;;
        '' | y | Y | yes | Yes | YES) return 1 ;;
        *) echo "Please answer y or n." ;;
        esac
    done
}

# ask_setting OPTION PROMPT: adds the option to $args, unless the answer is empty.
ask_setting() {
    ask_integer 1 999999999 "$2"
    [ -z "$answer" ] || args="$args $1 $answer"
}

# ask_dimensions: sets $space, $time and $count.
ask_dimensions() {
    while :; do
        ask "Powers of space, time and count [0 0 0]:"
        set -f
        # shellcheck disable=SC2086 # into words
        set -- $answer
        set +f
        space=${1:-0} time=${2:-0} count=${3:-0}
        valid=true
        for power in "$space" "$time" "$count"; do
            is_integer "$power" -8 7 || valid=false
        done
        [ $# -le 3 ] && $valid && return
        echo "Please give up to three whole numbers from -8 to 7, separated by blanks."
    done
}

# ask_scale POWER LEAST MOST PROMPT: sets $scale; asks only if the power is not 0.
ask_scale() {
    scale=0
    [ "$1" -eq 0 ] && return
    ask_integer "$2" "$3" "$4 [0]:"
    scale=${answer:-0}
}

# ask_units OPTION METRIC
ask_units() {
    echo
    echo "The values of $2 have no unit unless you say which: a product of powers of"
    echo "space, time and count. Bytes per second are 1 -1 0, milliseconds a call 0 1 -1."
    says_no "Leave them without a unit [y]?" || return

    ask_dimensions
    ask_scale "$space" 0 4 "Unit of space: 0 bytes, 1 KiB, 2 MiB, 3 GiB, 4 TiB"
    units="$space,$time,$count,$scale"
    ask_scale "$time" 0 5 "Unit of time: 0 ns, 1 us, 2 ms, 3 s, 4 minutes, 5 hours"
    units="$units,$scale"
    ask_scale "$count" -8 7 "Unit of count, as a power of ten"
    units="$units,$scale"
    echo "$2: $units"
    args="$args $1 $units"
}

# ask_host: sets $host, with blanks removed.
ask_host() {
    ask "Which hosts: a name, an address, a pattern like 192.168.*, or local:* (empty: none)?"
    host=$(printf '%s' "$answer" | tr -d ' ')
}

ask_access() {
    while :; do
        echo
        ask "Access by other hosts: (a)llow or (d)isallow some (empty: no more rules)?"
        case "$answer" in
        '') return ;;
        A | a | Allow | allow)
            ask_host
            [ -z "$host" ] && continue
            ask_integer 0 999999999 "How many connections at most, all of them together [0: any number]?"
            args="$args -A allow:$host:${answer:-0}"
            ;;
        D | d | Disallow | disallow)
            ask_host
            [ -z "$host" ] || args="$args -A disallow:$host"
            ;;
        *) echo "Please answer a, d or nothing." ;;
        esac
    done
}

# ask_settings: an empty answer means the default.
ask_settings() {
    args=
    says_no "Install with default settings [y]?" || {
        echo
        return
    }
    echo
    ask_setting -T "Time that rates, means and extrema cover, in seconds [60]:"
    ask_setting -N "Steps into which that time is divided [12]:"
    ask_setting -I "TCP port for traced programs [4323]:"
    ask_units -U trace.observe.value
    ask_units -V trace.counter.value
    ask_access
    args=${args# }
}
