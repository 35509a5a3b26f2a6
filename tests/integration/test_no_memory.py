# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program without memory: calls return the error, and their records arrive once there is memory again. And programs
that may have few open files. Not with a sanitizer, which has an allocator and opens files of its own."""

import os

import recorded
from private_pmcd import completed, wait_until
from trace_test import OUR_LIBRARY, TraceTestCase, library_environment, program

NO_MEMORY = -12
NO_MEMORY_TO_CONNECT = -11
NOBODY_THERE = -111


class NoMemory(TraceTestCase):
    def setUp(self):
        self.file = self.path("none")  # no memory while it exists

    def test_loses_no_call_that_did_not_say_so(self):
        traced = self.start_traced(self.environment(
            LD_PRELOAD=program("no_memory.so"), NO_MEMORY=self.file, PCP_TRACE_FLUSH=5, PCP_TRACE_RECONNECT="0.05"))
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
            self.assert_values(self.pmcd, "trace.point.count", {tag: count for tag, count in counts.items() if count})
        self.assertEqual(call("new"), 0)
        self.assert_values(self.pmcd, "trace.point.count", counts)
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


def with_descriptors(limit):
    return ["prlimit", f"--nofile={limit}"]


class FewDescriptors(TraceTestCase):
    def test_are_enough_for_a_traced_program(self):
        for limit in (6, 7, 8, 9):  # three are the standard ones
            traced = self.start_traced(self.environment(), within=with_descriptors(limit))
            self.assertEqual(traced.call("point a"), 0, limit)
        self.assert_values(self.pmcd, "trace.point.count", {"a": 4})

    def test_are_a_failure_of_record_with_its_own_status(self):
        for limit in range(6, 13):
            done = completed(*with_descriptors(limit), recorded.COMMAND, "record", "-o", self.path("run"),
                             "echo", "started", env=library_environment(OUR_LIBRARY))
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (125, "", 1), done.stderr)
