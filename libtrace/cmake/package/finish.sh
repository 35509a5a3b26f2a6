#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Turns what is installed below a directory into what Debian wants of a package, and moves files that PCP's
# packages have, too, to other places: finish.sh DIRECTORY PACKAGE VERSION CHANGELOGS
set -eu
here=$(dirname "$(readlink -f "$0")")
root=$1 package=$2 version=$3 changelogs=$4
umask 022
chmod -R go-w "$root" # as the sources may be

doc=$root/usr/share/doc/$package
mkdir -p "$doc"
cp "$here/copyright" "$doc"
for changelog in changelog changelog.Debian; do
    gzip -9n <"$changelogs/$changelog" >"$doc/$changelog.gz"
done
mkdir -p "$root/usr/share/lintian/overrides"
cat "$here/all.overrides" >"$root/usr/share/lintian/overrides/$package"
[ ! -e "$here/$package.overrides" ] || cat "$here/$package.overrides" >>"$root/usr/share/lintian/overrides/$package"

# `man 1trace pmtrace` is ours, `man pmtrace` PCP's.
for page in 1/pmtrace 1/pmdatrace 3/pmtrace 3/pmtracebegin 3/pmtraceend 3/pmtraceabort 3/pmtracepoint 3/pmtraceobs \
    3/pmtracecounter 3/pmtracestate 3/pmtraceerrstr; do
    page=$root/usr/share/man/man$page.${page%/*}
    if [ -e "$page" ]; then
        sed 's/^\(\.TH [A-Z]* \)\([0-9]\) /\1\2trace /' "$page" >"${page}trace"
        rm "$page"
    fi
done
find "$root" -path '*/man/man[13]/*' -type f -exec sed -i 's|^\.so man\([13]\)/pmtrace\.\1$|&trace|' {} +
find "$root" -path '*/man/man*' -type f -exec gzip -9n {} +
find "$root" -name '*.a' -exec strip --strip-debug --remove-section=.comment --enable-deterministic-archives {} +

for jar in "$root"/usr/share/java/*.jar; do
    [ ! -e "$jar" ] || { mv "$jar" "${jar%.jar}-$version.jar" && ln -sr "${jar%.jar}-$version.jar" "$jar"; }
done

if [ "$package" = pcp-trace ]; then
    # CPack's dpkg-shlibdeps reads it, and CPack then removes it: pmtrace's library is ours, not PCP's.
    mkdir "$root/debian"
    echo "libpcp_trace ${version%%.*}" >"$root/debian/shlibs.local"
    # As PCP's agents do it: links to what is below /usr, and room for .NeedInstall.
    mkdir -p "$root/var/lib/pcp/pmdas/pcp-trace"
    for script in Install Remove; do
        install -m 755 "$here/../../../pmda/package/$script" "$root/usr/libexec/pcp-trace/$script"
        ln -sf "/usr/libexec/pcp-trace/$script" "$root/var/lib/pcp/pmdas/pcp-trace/$script"
    done
    echo "pcp-trace-system and Remove leave the links to these views to the package." >"$root/usr/libexec/pcp-trace/pmdas/trace/views/linked-by-package"
    commands=$(sed -n 's/^PCP_BINADM_DIR=//p' /etc/pcp.conf) # where `pcp WORD` looks
    mkdir -p "$root$commands"
    ln -srf "$root/usr/bin/pcp-trace" "$root$commands/pcp-trace"
fi
