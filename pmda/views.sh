# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# Links to the views of trace.* where PCP's tools look for views, for Install, Remove, pcp-trace-system and the package.
# Callers have read pcp.env.

# find_views DIRECTORY: sets $views to the views of the agent in DIRECTORY. False if it has none.
find_views() { views=$(readlink -f "$1/views") && [ -d "$views" ]; }

# link_views DIRECTORY: links those whose tool is installed.
link_views() {
    find_views "$1" || return 0
    for view in "$views"/*/*; do
        tool=${view%/*} tool=${tool##*/}
        link_view "$PCP_SYSCONF_DIR/$tool"
        case $tool in pmchart | pmieconf | pmlogconf) link_view "$PCP_VAR_DIR/config/$tool" ;; esac
    done
}

# link_view DIRECTORY: links $view there. A view of another version gives way, as a link or as a copy.
link_view() {
    [ -d "$1" ] || return 0
    case $tool in pmieconf | pmlogconf) set -- "$1/trace" && (umask 022 && mkdir -p "$1") ;; esac
    link=$1/${view##*/}
    case $(readlink "$link") in
    */views/"$tool/${view##*/}") ;;
    *)
        if { [ -e "$link" ] || [ -L "$link" ]; } && ! cmp -s "$view" "$link"; then
            echo "$link is somebody else's, and stays." >&2
            return
        fi
        ;;
    esac
    ln -sfn "$view" "$link"
}

# unlink_views DIRECTORY: removes all links to them.
unlink_views() {
    find_views "$1" || return 0
    find "$PCP_SYSCONF_DIR" "$PCP_VAR_DIR/config" -maxdepth 3 -type l -lname "$views/*" -exec rm {} +
    for place in "$PCP_SYSCONF_DIR" "$PCP_VAR_DIR/config"; do
        rmdir "$place/pmieconf/trace" "$place/pmlogconf/trace" 2>/dev/null || :
    done
}

# The package's links are there as long as the package is.
has_views_of_package() { find_views "$1" && [ -e "$views/linked-by-package" ]; }
