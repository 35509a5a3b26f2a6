# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# Runs one of PCP's own QA tests on a private machine, with our library, agent and pmtrace in place of PCP's:
#   pcp_qa.sh NUMBER FOLDER LIBRARY AGENT_DIRECTORY PMTRACE
# FOLDER is a copy of PCP's files that the test needs. Prints the test's output.
number=$1 folder=$2 library=$3 agent=$4 pmtrace=$5
qa=/var/lib/pcp/testsuite
stock=$(ldconfig -p | awk '$1 == "libpcp_trace.so.2" && !seen++ { print $NF }')

# The tests need a machine with a name and every service on, and nobody else who starts services.
hostname qahost
printf '127.0.0.1 localhost\n10.77.0.1 qahost\n10.77.0.2 qaother\n' >/etc/hosts
printf 'passwd: files\ngroup: files\nhosts: files\nservices: files\n' >/etc/nsswitch.conf
ip addr add 10.77.0.1/32 dev lo
ip addr add 10.77.0.2/32 dev lo
mkdir -p /run/qa/bin /run/qa/stock
for none in systemctl sudo; do
    ! path=$(command -v $none) || mount --bind /dev/null "$path"
done
cat >/run/qa/bin/chkconfig <<'END'
#!/bin/sh
[ "$1" != --list ] || echo "$2 0:off 1:off 2:on 3:on 4:on 5:on 6:off"
END
# Plays another host with this machine's byte order: its connections come from another address.
cat >/run/qa/bin/ssh <<'END'
#!/bin/sh
for command; do :; done
[ "$command" != "od -x" ] || { cat >/dev/null; echo "0000000 610a"; exit; }
come_from() { ip route replace local 10.77.0.1 dev lo table local proto kernel scope host src "$1"; }
come_from 10.77.0.2
sh -c "$command"
status=$?
come_from 10.77.0.1
exit $status
END
chmod 755 /run/qa/bin/*

# The test and its programs: like those of PCP's users, they were linked with PCP's library.
mkdir -p $qa
mount --bind "$folder" $qa
. /etc/pcp.conf
printf 'PCP_PLATFORM=linux\nPCP_VER=%s\n' \
    "$(echo "$PCP_VERSION" | awk -F. '{printf "%d%02d%02d", $1, $2, $3}')" >$qa/localconfig
sed 's/^\([^=]*\)=/#define \1 /' $qa/localconfig >$qa/src/localconfig.h
cp "$stock" /run/qa/stock/libpcp_trace.so.2
ln -s libpcp_trace.so.2 /run/qa/stock/libpcp_trace.so
cp -a /usr/share/pcp/demos/trace /run/qa/demos
mount --bind /run/qa/demos /usr/share/pcp/demos/trace
cd $qa/src || exit
case $number in
258) set -- obs ;;
355) set -- torture_trace ;;
421) set -- tabort ;;
605) set -- && make -C /usr/share/pcp/demos/trace LDFLAGS=-L/run/qa/stock app1 >/run/qa/made 2>&1 ;;
*) set -- ;;
esac
for helper; do
    gcc -w -O2 -fno-strict-aliasing -I. -o "$helper" "$helper.c" -L/run/qa/stock -lpcp_trace -lpthread || exit
done

mount --bind "$library" "$stock"
mount --bind "$pmtrace" /usr/bin/pmtrace
rm -rf /var/lib/pcp/pmdas/trace
cp -a "$agent" /var/lib/pcp/pmdas/trace
cat >/etc/pcp/pmcd/pmcd.conf <<'END'
root 1 pipe binary /var/lib/pcp/pmdas/root/pmdaroot
pmcd 2 dso pmcd_init /var/lib/pcp/pmdas/pmcd/pmda_pmcd.so
linux 60 pipe binary /var/lib/pcp/pmdas/linux/pmdalinux
mmv 70 dso mmv_init /var/lib/pcp/pmdas/mmv/pmda_mmv.so
[access]
disallow ".*" : store;
disallow ":*" : store;
allow "local:*" : all;
END
export HOME=/root LANG=C PCP_DERIVED_CONFIG='' QA_HOSTS=qaother \
    PATH=/run/qa/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
install -d -o pcp -g pcp -m 775 /run/pcp /var/log/pcp /var/log/pcp/pmcd /var/log/pcp/pmlogger
/etc/init.d/pmcd start >/run/qa/pmcd 2>&1
/usr/lib/pcp/bin/pmcd_wait -t 60
(cd /var/lib/pcp/pmdas/trace && ./Install -R / </dev/null >/run/qa/install 2>&1) # as on a machine that has it
cd $qa && ./"$number" 2>&1
