# SPDX-License-Identifier: LGPL-2.1-or-later
"""An agent whose disk or log hangs: pmcd and the programs do not notice."""

import fcntl
import os
import signal
import socket

import legacy_wire
from private_pmcd import PATIENCE_S, wait_until
from trace_test import TraceTestCase, program


# Ends the agent's last wait soon: the agent counts its sleeps, not the time.
SHORT_SLEEPS = {"LD_PRELOAD": program("bad_machine.so"), "SHORT_SLEEPS": "1"}


class SlowDiskTestCase(TraceTestCase):
    def assert_goes_on(self, pmcd, tag):
        """The agent counts calls, and answers pmcd with values and instances."""
        agent = pmcd.agent_pid()
        for count in (1, 2, 3):
            self.trace(self.environment(pmcd), f"point {tag}", f"obs {count} {tag}")
            self.assertEqual(pmcd.wait_for("trace.point.count", {tag: count}), {tag: count})
        self.assertEqual(pmcd.values("trace.observe.value"), {tag: 3})
        self.assertEqual(pmcd.agent_pid(), agent)


class Numbers(SlowDiskTestCase):
    """The file of instance numbers is on a hanging disk."""

    def start_on_this_disk(self):
        return self.start_pmcd(environment=SHORT_SLEEPS | {"HANGING_FSYNC": self.directory})

    def let_it_hang(self):
        with open(self.path("hang"), "w", encoding="utf-8"):
            pass

    def start_hanging(self):
        pmcd = self.start_on_this_disk()
        self.let_it_hang()
        self.trace(self.environment(pmcd), "point a")
        self.assert_values(pmcd, "trace.point.count", {"a": 1})
        wait_until(lambda: os.path.exists(self.path("hanging")), what="the disk to hang")
        self.assertEqual(pmcd.pmstore("trace.control.reset", 1)[0], 0)
        return pmcd

    def test_that_cannot_be_saved_delay_nobody_and_are_saved_later(self):
        pmcd = self.start_hanging()
        self.assert_goes_on(pmcd, "b")
        self.assertEqual(pmcd.saved_numbers(), [])
        os.unlink(self.path("hang"))
        wait_until(pmcd.saved_numbers, what="the first numbers")
        pmcd.kill_agent(signal.SIGTERM)  # the rest is saved at the end, at the latest
        self.assertEqual(pmcd.saved_numbers(), ["2 1 1 a", "3 1 0 b", "2 2 0 b"])

    def test_that_cannot_be_reserved_do_not_keep_the_agent_from_starting(self):
        self.let_it_hang()
        pmcd = self.start_on_this_disk()
        self.assert_goes_on(pmcd, "a")
        self.assertTrue(os.path.exists(self.path("hanging")))
        self.assertEqual(pmcd.saved_numbers(), [])
        os.unlink(self.path("hang"))


class Log(SlowDiskTestCase):
    """The log is a pipe that nothing reads: each writer blocks."""

    LINES = 20  # of log about clients; then the agent only counts them

    def start_full(self):
        self.log, end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        for descriptor in (self.log, end):
            self.addCleanup(os.close, descriptor)
        fcntl.fcntl(self.log, fcntl.F_SETPIPE_SZ, 4096)
        pmcd = self.start_pmcd(["-l", f"/proc/{os.getpid()}/fd/{end}"], environment=SHORT_SLEEPS)
        self.assertIn(b"Log for pmdatrace", os.read(self.log, 4096))
        self.assertEqual(os.write(end, b"-" * 4096), 4096)
        return pmcd

    def misbehave(self, pmcd):
        """Makes the ingest thread log a line."""
        with socket.create_connection(("127.0.0.1", pmcd.trace_port), PATIENCE_S) as client:
            legacy_wire.read_ack(client)
            client.sendall(b"nonsense" * 2)
            while client.recv(4096):
                pass

    def read_until(self, text):
        """Reads the log until this text comes; gives all that was read."""
        said = b""

        def is_said():
            nonlocal said
            try:
                said += os.read(self.log, 4096)
            except BlockingIOError:
                pass
            return text in said
        wait_until(is_said, what=text)
        return said.decode()

    def test_that_cannot_be_written_delays_nobody_and_is_written_later(self):
        pmcd = self.start_full()
        for _ in range(self.LINES):
            self.misbehave(pmcd)
        wait_until(lambda: pmcd.value("trace.agent.clients") == 0, what="the clients to be gone")
        os.kill(pmcd.agent_pid(), signal.SIGHUP)
        self.assert_goes_on(pmcd, "a")
        self.assertEqual(pmcd.pmstore("trace.agent.debug", "libpmda")[0], 0)
        self.assertEqual(pmcd.pmstore("trace.control.reset", 1)[0], 0)
        self.assert_goes_on(pmcd, "b")
        os.kill(pmcd.agent_pid(), signal.SIGTERM)
        said = self.read_until(b"Log finished")
        self.assertEqual(said.count("dropped: a PDU whose length"), self.LINES)
        self.assertIn("clients connected: 0", said)
        self.assertIn("Received PDU_FETCH", said)  # PCP's libraries log this on the main thread

    def test_that_cannot_be_written_does_not_keep_the_agent_for_ever(self):
        pmcd = self.start_full()
        self.misbehave(pmcd)
        pmcd.kill_agent(signal.SIGTERM)  # waits for its end
