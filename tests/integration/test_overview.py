# SPDX-License-Identifier: LGPL-2.1-or-later
"""pcp-trace without a word: on a terminal it says what is here, and what to type next."""

import os
import pty
import subprocess

from private_pmcd import PATIENCE_S, ReservedPort, completed, stopped, wait_until
from recorded import COMMAND
from trace_test import TraceTestCase


class Overview(TraceTestCase):
    def shown(self, socket, port):
        """Gives its lines on a terminal; its pmcd is at this socket and this port."""
        ours, terminal = pty.openpty()
        with subprocess.Popen([COMMAND], stdout=terminal, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              cwd=self.directory, env=os.environ | {"PMCD_SOCKET": socket, "PMCD_PORT": str(port)}) as process:
            os.close(terminal)
            self.assertEqual(process.wait(PATIENCE_S), 0)
        with open(ours, "rb") as file:  # all fits into the terminal's buffer
            lines = file.read1().decode().splitlines()
        self.assertLessEqual(len(lines), 10)
        return lines

    def shown_with(self, pmcd):
        return self.shown(pmcd.pmcd_socket(), pmcd.pmcd_port)

    def shown_in_time(self, pmcd):
        """Waits until pmcd answers in time; on a busy machine it may not."""
        shown = []
        wait_until(lambda: shown.append(self.shown_with(pmcd)) or "in time" not in shown[-1][0], what="an answer in time")
        return shown[-1]

    def make_recording(self, name, time):
        os.mkdir(f"{self.directory}/{name}")
        with open(f"{self.directory}/{name}/trace.index", "w", encoding="utf-8") as file:
            os.utime(file.fileno(), (time, time))

    def test_without_anything(self):
        with ReservedPort() as nobody:
            lines = self.shown(f"{self.directory}/none", nobody.number)
        self.assertEqual(lines[:2], ["agent       pmcd does not answer on this host; recording needs none",
                                     "recordings  none in this directory"])
        self.assertEqual(lines[4].split()[:3], ["pcp-trace", "record", "./your-program"])

    def test_with_an_agent_and_recordings(self):
        for time, name in enumerate(("d.trace", "a.trace", "c.trace", "b\033.trace")):
            self.make_recording(name, time)
        traced = self.start_traced(self.environment())
        traced.call("point a")
        self.assert_values(self.pmcd, "trace.point.count", {"a": 1})
        lines = self.shown_in_time(self.pmcd)
        self.assertEqual(lines[:2], ["agent       on this host, with 1 tag and 1 connected program",
                                     r"recordings  b\x1b.trace, c.trace, a.trace and 1 more"])
        self.assertEqual([line.split()[1] for line in lines[4:]], ["report", "record", "record", "--help"])

    def test_without_an_agent(self):
        self.pmcd.take_metrics_out()
        self.assertEqual(self.shown_in_time(self.pmcd)[0], "agent       none on this host; recording needs none")

    def test_does_not_hang_with_pmcd(self):
        with stopped(self.pmcd.pmcd_pid()):
            self.assertEqual(self.shown_with(self.pmcd)[0], "agent       pmcd does not answer in time on this host")

    def test_is_the_usage_elsewhere(self):
        done = completed(COMMAND)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertTrue(done.stderr.startswith("Usage: pcp-trace WORD"))
