# SPDX-License-Identifier: LGPL-2.1-or-later
"""The library's thread keeps the process's processors and policy, whatever its first caller has."""

import contextlib
import os
import subprocess
import unittest

from private_pmcd import wait_until
from trace_test import TraceTestCase, program


def flusher_of(pid):
    """Gives the id of the library's thread."""
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/comm", encoding="utf-8") as file:
            if file.read() == "pcp_trace\n":
                return int(task)
    return None


def may_run_in_real_time():
    command = ["chrt", "--fifo", "1", "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


class BoundCaller(TraceTestCase):
    @contextlib.contextmanager
    def flusher(self, *words):
        """Gives main and the library's thread of a program whose first caller has bound itself."""
        environment = self.environment(self.start_pmcd())
        with subprocess.Popen([program("bound"), *words], env=environment, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as bound:
            self.assertEqual(bound.stdout.readline(), "traced\n")
            yield bound.pid, wait_until(lambda: flusher_of(bound.pid), what="the library's thread")
            bound.stdin.close()
            self.assertEqual(bound.wait(), 0)

    def test_does_not_bind_the_flusher(self):
        self.assertGreater(len(os.sched_getaffinity(0)), 1, "needs two processors")
        with self.flusher() as (main, flusher):
            self.assertEqual(len(os.sched_getaffinity(main)), 1)
            self.assertEqual(os.sched_getaffinity(flusher), os.sched_getaffinity(0))

    @unittest.skipUnless(may_run_in_real_time(), "may not run in real time: needs root")
    def test_in_real_time_has_a_flusher_that_is_not(self):
        with self.flusher("real-time") as (main, flusher):
            self.assertEqual(os.sched_getscheduler(main), os.SCHED_FIFO)
            self.assertEqual(os.sched_getscheduler(flusher), os.SCHED_OTHER)
