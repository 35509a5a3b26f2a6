# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shared by the tests of Install and of pcp-trace-system: a machine for each test."""

import os
import re
import unittest

import private_machine
from installed import find
from private_machine import PrivateMachine
from private_pmcd import wait_until

CONF = "/etc/pcp/pmcd/pmcd.conf"
NAMES = "/var/lib/pcp/pmns/root"
COMMAND = "/usr/lib/pcp/bin/pcp-trace"
PCPS_AGENT = "/var/lib/pcp/pmdas/trace"
LOG_GROUP = "/var/lib/pcp/config/pmlogconf/trace/spans"
LINKER_CONF = "/etc/ld.so.conf.d/000-pcp-trace.conf"


@unittest.skipUnless(private_machine.is_possible, "this machine allows no name spaces")
class SystemTestCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.machine = PrivateMachine().__enter__()
        self.addCleanup(self.machine.__exit__)

    def run_script(self, script):
        """Gives the exit status and all output."""
        done = self.machine.run(f"{{ {script}\n}} 2>&1")
        return done.returncode, done.stdout

    def must(self, script):
        status, said = self.run_script(script)
        self.assertEqual(status, 0, said)
        return said

    def install(self, *answers, directory=None):
        answers = "".join(f"{answer}\n" for answer in answers)
        return f"cd {directory or self.agent()} && ./Install <<'END'\n{answers}END\n"

    def install_on_port(self, port, directory=None):
        return self.install("n", "", "", port, directory=directory)

    def start_with_pcps_agent(self, port):
        self.machine.start_pmcd()
        self.must(self.install_on_port(port, PCPS_AGENT))

    def agent(self):
        """Gives the agent's directory."""
        return os.path.dirname(find("pmdatrace"))

    def remove(self):
        self.must(f"cd {self.agent()} && ./Remove </dev/null")

    def switch(self, word):
        return f"{find('pcp-trace-system')} {word}"

    def keep_port_busy(self, port):
        """Keeps it busy until this machine ends."""
        self.machine.run("python3 -c 'import signal, socket\n"
                         f"busy = socket.create_server((\"0.0.0.0\", {port}))\n"
                         "signal.pause()' >/dev/null 2>&1 &")
        wait_until(lambda: f":{port} " in self.machine.run("ss -ltn").stdout, what="the port to be busy")

    def interrupt(self, command, signal, event):
        """Sends a signal to the script and all that it has started, as ^C in a terminal does, once the command
        `event` succeeds. Without env, processes that a shell starts in the background would ignore ^C."""
        wait = f"until {event} || ! kill -0 $!; do sleep 0.02; done"  # poll: the event, or the script's end
        self.machine.run(f"env --default-signal setsid {command} </dev/null >/run/said 2>&1 &"
                         f" {wait}; kill -s {signal} -- -$!; wait")

    def state(self):
        """All that Install and pcp-trace-system change."""
        files = {path: self.machine.read(path)
                 for path in (CONF, NAMES, *map("/var/lib/pcp/pmns/".__add__, ("trace", "tracing")),
                              LINKER_CONF, COMMAND)}
        return files | {"views": self.views(), "library": self.library()}

    def views(self):
        """Gives {place: file} of the links to our views, and of the folders that are made for them."""
        found = self.must("find /etc/pcp /var/lib/pcp/config -type l -lname '*/trace/views/*' -printf '%p %l\n'"
                          " -o -type d -name trace -printf '%p /\n'")
        return dict(line.split() for line in found.splitlines())

    def value(self, metric):
        return self.machine.run(f"pmprobe -v {metric}").stdout.split()[2:]

    def assert_port(self, port):
        """The agent answers, and listens on this port."""
        self.assertEqual(self.value("trace.control.port"), [str(port)])

    def library(self):
        """Gives the library that programs load."""
        listed = self.machine.run("ldconfig -p").stdout
        return re.search(r"libpcp_trace\.so\.2 .*=> (.*)", listed)[1]
