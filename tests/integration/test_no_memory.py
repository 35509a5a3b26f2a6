# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program without memory: calls return the error, and their records arrive once there is memory again."""

import os
import tempfile

from private_pmcd import wait_until
from trace_test import TraceTestCase, program

NO_MEMORY = -12
NO_MEMORY_TO_CONNECT = -11
NOBODY_THERE = -111


class NoMemory(TraceTestCase):
    def setUp(self):
        directory = self.enterContext(tempfile.TemporaryDirectory(prefix="trace-"))
        self.file = directory + "/none"  # no memory while it exists

    def test_loses_no_call_that_did_not_say_so(self):
        pmcd = self.start_pmcd()
        traced = self.start_traced(self.environment(
            pmcd, LD_PRELOAD=program("no_memory.so"), NO_MEMORY=self.file, PCP_TRACE_FLUSH="5",
            PCP_TRACE_RECONNECT="0.05"))
        counts = {"a": 0, "b": 0, "new": 0}

        def call(tag):
            result = traced.call(f"point {tag}")
            self.assertIn(result, (0, NO_MEMORY))
            counts[tag] += result == 0
            return result

        for tag in ("a", "b"):
            self.assertEqual(call(tag), 0)
        for _ in range(3):
            with open(self.file, "w", encoding="utf-8"):
                pass
            for _ in range(2000):
                for tag in ("a", "b"):
                    call(tag)
            self.assertEqual(call("new"), NO_MEMORY)
            os.unlink(self.file)
            self.assert_values(pmcd, "trace.point.count", {tag: count for tag, count in counts.items() if count})
        self.assertEqual(call("new"), 0)
        self.assert_values(pmcd, "trace.point.count", counts)
        self.assertEqual(traced.end(), "")

    def test_says_why_there_is_no_connection(self):
        traced = self.start_traced(self.nobody(PCP_TRACE_RECONNECT="0.05", LD_PRELOAD=program("no_memory.so"),
                                               NO_MEMORY=self.file))
        self.assertEqual(traced.call("point a"), NOBODY_THERE)
        with open(self.file, "w", encoding="utf-8"):
            pass
        wait_until(lambda: traced.call("point a") == NO_MEMORY_TO_CONNECT, what="no memory")
        os.unlink(self.file)
        wait_until(lambda: traced.call("point a") == NOBODY_THERE, what="memory again")
        traced.end()
