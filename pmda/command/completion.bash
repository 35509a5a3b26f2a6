# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of pcp-trace for bash.
_pcp_trace() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} words=
    case ${COMP_WORDS[1]} in
        record)
            local i
            # The words after the command belong to the command.
            for ((i = 2; i < COMP_CWORD; ++i)); do
                case ${COMP_WORDS[i]} in
                    --) ((++i)) && break ;;
                    -h | -s | -t | -o | --host | --size | --interval | --output | --html | --spans | --archive-version) ((++i)) ;;
                    -*) ;;
                    *) break ;;
                esac
            done
            if ((i < COMP_CWORD)); then
                COMPREPLY=()
                declare -F _command_offset >/dev/null && _command_offset "$i"
                return
            fi
            words='--host --size --interval --output --html --spans --wait --json --quiet --archive-version --help'
            [[ $word == -* || $previous == -* ]] || { mapfile -t COMPREPLY < <(compgen -c -- "$word"); return; }
            ;;
        report) words='--html --json --compare --fail-if --start --finish --origin --align --archive --hostzone --timezone --help' ;;
        spans | export)
            words='--host --samples --finish --json --open --help'
            [[ ${COMP_WORDS[1]} == spans ]] || words='--chrome --archive --host --samples --finish --help'
            [[ $word == -* ]] || words='tag= slower= share= limit= service= process= pid= kind='
            case $previous in
                --chrome | -a | --archive) mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
                -h | -s | -T | --host | --samples | --finish) words= ;;
            esac
            mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
            [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
            return
            ;;
        *) words='record report spans export --help --version' ;;
    esac
    if [[ $word == -* || $COMP_CWORD -eq 1 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}
complete -o filenames -F _pcp_trace pcp-trace
