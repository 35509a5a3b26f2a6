# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# Links to the views of trace.* where PCP's tools look for views, for Install, Remove, pcp-trace-system and the package.
# Callers have read pcp.env.

# find_views DIRECTORY: sets $views to the views of the agent in DIRECTORY. False if it has none.
find_views() { views=$(readlink -f "$1/views") && [ -d "$views" ]; }

# at_each_place DIRECTORY FUNCTION: calls FUNCTION for each $view, $tool and $place where the tool looks for it.
at_each_place() {
    find_views "$1" || return 0
    for view in "$views"/*/*; do
        tool=${view%/*} tool=${tool##*/}
        for place in "$PCP_SYSCONF_DIR/$tool" "$PCP_VAR_DIR/config/$tool"; do
            case $tool in
            pmieconf | pmlogconf) place=$place/trace ;;
            pmchart) ;;
            *) [ "$place" = "$PCP_SYSCONF_DIR/$tool" ] || continue ;;
            esac
            "$2"
        done
    done
}

link_views() { at_each_place "$1" link_view; }

# Only if the tool is installed. A link to the same view of another version gives way.
link_view() {
    link=$place/${view##*/}
    case $place in
    */trace)
        [ -d "${place%/trace}" ] || return 0
        [ -d "$place" ] || (umask 022 && mkdir "$place") 2>/dev/null || link=$place
        ;;
    *) [ -d "$place" ] || return 0 ;;
    esac
    case $(readlink "$link") in
    */trace/views/"$tool/${view##*/}") ;;
    *)
        if [ -e "$link" ] || [ -L "$link" ]; then
            echo "$link is somebody else's, and stays." >&2
            return 0
        fi
        ;;
    esac
    ln -sfn "$view" "$link"
}

unlink_views() { at_each_place "$1" unlink_view; }

unlink_view() {
    link=$place/${view##*/}
    [ "$(readlink "$link")" != "$view" ] || rm "$link"
    case $place in */trace) rmdir "$place" 2>/dev/null || : ;; esac
}

# The package's links are there as long as the package is.
has_views_of_package() { find_views "$1" && [ -e "$views/linked-by-package" ]; }
