# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tests' own tools notice faults."""

import os
import signal
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from private_pmcd import NoAnswer, is_running, wait_until
from trace_test import Traced, TraceTestCase


class NoAnswerIsNotNoValue(TraceTestCase):
    def test_where_there_is_no_such_metric_no_agent_or_no_pmcd(self):
        self.assertEqual(self.pmcd.values("trace.point.count"), {})
        with self.assertRaisesRegex(NoAnswer, "Unknown metric name"):
            self.pmcd.values("trace.pint.count")
        for end in (self.pmcd.kill_agent, self.pmcd.end_pmcd):
            end()
            with self.subTest(end), self.assertRaises(NoAnswer):
                self.pmcd.values("trace.point.count")


class Ends(TraceTestCase):
    """Programs that die, and agents that do not end."""

    def start_dead(self):
        traced = self.start_traced(self.environment())
        traced.call("point a")
        os.kill(traced.pid, signal.SIGABRT)
        wait_until(lambda: os.waitid(os.P_PID, traced.pid, os.WEXITED | os.WNOWAIT),
                   what="the program's death")
        return traced

    def test_by_sigabrt_whether_or_not_it_is_asked_to_end(self):
        for end in (Traced.end, Traced.kill):
            with self.subTest(end), self.assertRaisesRegex(AssertionError, "ended with -6"):
                end(self.start_dead())

    def test_of_an_agent_that_crashes(self):
        pmcd = self.start_pmcd()
        kill = os.kill
        with mock.patch("os.kill", lambda pid, _: kill(pid, signal.SIGABRT)):
            with self.assertRaisesRegex(RuntimeError, "agent ended with wait status"):
                pmcd.end_pmcd()

    def test_come_from_us_and_from_no_ctrl_c_of_a_terminal(self):
        self.assertNotEqual(os.getsid(self.start_pmcd().agent_pid()), os.getsid(0))

    def test_that_must_be_forced(self):
        pmcd = self.start_pmcd()
        agent = pmcd.agent_pid()
        pmcd.patience_at_end = 0.5
        os.kill(agent, signal.SIGSTOP)
        with self.assertRaisesRegex(RuntimeError, "had to be killed"):
            pmcd.end_pmcd()
        wait_until(lambda: not is_running(agent), what="the agent's end")


class Runner(unittest.TestCase):
    def done(self, script):
        with tempfile.NamedTemporaryFile("w", suffix=".py", dir=self.directory) as file:
            file.write(script)
            file.flush()
            runner = os.path.join(os.path.dirname(__file__), "run_tests.py")
            return subprocess.run([sys.executable, "-B", runner, file.name], check=False, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="trace-")
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def test_wants_a_test(self):
        self.assertEqual(self.done("import unittest\n").returncode, 1)

    def test_passes_on_what_a_test_says(self):
        for word, status in (("True", 0), ("False", 1)):
            self.assertEqual(self.done(
                "import unittest\n"
                "class Case(unittest.TestCase):\n"
                f"    def test(self): self.assertTrue({word})\n").returncode, status)

    def test_names_what_it_does_not_run(self):
        done = self.done("import unittest\n"
                         "class Case(unittest.TestCase):\n"
                         "    def test(self): self.skipTest('why')\n")
        self.assertRegex(done.stdout, r"\Anot run: \w+\.Case\.test: why\n\Z")
        self.assertEqual(done.returncode, 0)
