# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of pcp-trace for bash: the options that --help lists.
_pcp_trace() {
    local word=${COMP_WORDS[COMP_CWORD]} command= kind=file i=2 name what
    local -A argument=()  # of each option
    ((COMP_CWORD == 1)) || command=${COMP_WORDS[1]}
    while read -r name what; do
        argument[$name]=$what
    done < <("${COMP_WORDS[0]}" ${command:+"$command"} --help 2>/dev/null |
        sed -nE 's/^ +(-.), (--[a-z-]+)( [A-Z]+)?(  .*|$)/\1\3\n\2\3/p; s/^ +(--[a-z-]+)( [A-Z]+)?(  .*|$)/\1\2/p')
    case $command in
        '') mapfile -t COMPREPLY < <(compgen -W 'record report top spans export --help --version' -- "$word") && return ;;
        record)
            kind=command
            # The words behind the command belong to the command.
            for (( ; i < COMP_CWORD; ++i)); do
                case ${COMP_WORDS[i]} in
                    --) ((++i)) && break ;;
                    -*) [[ -z ${argument[${COMP_WORDS[i]}]-} ]] || ((++i)) ;;
                    *) break ;;
                esac
            done
            if ((i < COMP_CWORD)); then
                COMPREPLY=()
                declare -F _command_offset >/dev/null && _command_offset "$i"
                return
            fi
            ;;
        spans | export) kind=filter ;;
    esac
    case ${argument[${COMP_WORDS[COMP_CWORD - 1]}]-} in
        '') [[ $word != -* ]] || kind=option ;;
        FILE | DIR | NAME | BASE) kind=file ;;
        *) kind=none ;;
    esac
    case $kind in
        option) mapfile -t COMPREPLY < <(compgen -W "${!argument[*]}" -- "$word") ;;
        filter)
            mapfile -t COMPREPLY < <(compgen -W 'tag= slower= share= limit= service= process= pid= kind= failed wanted died trace= note. label.' -- "$word")
            compopt -o nospace 2>/dev/null
            ;;
        none) COMPREPLY=() ;;
        *) mapfile -t COMPREPLY < <(compgen -A "$kind" -- "$word") ;;
    esac
}
complete -o filenames -F _pcp_trace pcp-trace
