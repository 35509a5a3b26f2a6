# SPDX-License-Identifier: LGPL-2.1-or-later
"""A private machine, as far as PCP's Install scripts can see: processes, network, /etc,
/var/lib/pcp and so on. Processes there run as root, change nothing outside, and end with it.

    with PrivateMachine() as machine:
        machine.start_pmcd()
        machine.run("cd /opt/pcp-trace/libexec/pcp/pmdas/trace && ./Install </dev/null")

Works as root, and for an ordinary user if the kernel allows users name spaces.
"""

import os
import subprocess
import tempfile

from private_pmcd import PATIENCE_S, children_of, completed, wait_until

SETUP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "private_machine.sh")
UNSHARE = ["unshare", "--mount", "--pid", "--net", "--uts", "--fork", "--kill-child", "--mount-proc"]
ENTER = ["nsenter", "--mount", "--pid", "--net", "--uts"]
if os.getuid() != 0:
    UNSHARE += ["--user", "--map-root-user"]
    ENTER += ["--user", "--preserve-credentials"]

# False in most containers.
is_possible = subprocess.run([*UNSHARE, "ip", "link", "set", "lo", "up"], capture_output=True,
                             check=False).returncode == 0


class PrivateMachine:
    def __enter__(self):
        self._directory = tempfile.TemporaryDirectory(prefix="trace-machine-")
        self._first = subprocess.Popen([*UNSHARE, "sh", SETUP, self._directory.name], text=True,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self._first.stdout.readline() != "ready\n":
            raise RuntimeError("no private machine")
        return self

    def __exit__(self, *exception):
        self._first.communicate(timeout=PATIENCE_S)
        self._directory.cleanup()

    def run(self, script, **variables):
        """Runs a script as root, to its end. Gives its exit status, output and standard error."""
        [pid] = children_of(self._first.pid)
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "PCP_USER": "root",
                       "PCP_GROUP": "root", "PCP_DIR": "", "HOME": "/nowhere"}
        return completed(*ENTER, f"--target={pid}", "sh", "-c", script, env=environment | variables,
                         stdin=subprocess.DEVNULL, timeout=4 * PATIENCE_S)

    def read(self, path):
        """Gives a file's contents, "" if there is none."""
        return self.run(f"cat {path} 2>/dev/null").stdout

    def start_pmcd(self):
        """Starts pmcd as PCP's start-up script does, only with its own agents and the one that starts
        others."""
        self.run("cd /var/lib/pcp/pmns && ./Rebuild -us; cd /var/log/pcp/pmcd &&"
                 " /usr/lib/pcp/bin/pmcd -f -A -l pmcd.log >/dev/null 2>&1 &")
        wait_until(lambda: "value" in self.run("pminfo -f pmcd.version").stdout, what="pmcd")
