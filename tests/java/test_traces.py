# SPDX-License-Identifier: LGPL-2.1-or-later
"""The traces of Java's threads: main is in the trace that the program was started in, virtual threads in none."""

import unittest

from java_test import JavaTestCase, java_since
from trace_test import library_environment

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
CAME_IN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
OWN = r"00-([0-9a-f]{32})-([0-9a-f]{16})-02"


NEWER_JAVA = java_since(21)


class TracesTestCase(JavaTestCase):
    def lines_of(self, *arguments, how=(), **variables):
        """Runs the program without an agent. Gives what it prints for each place."""
        environment = library_environment(self.library, PCP_TRACE_SOCKET="/dev/null",
                                          **variables)
        printed = self.run_java(environment, "Traces", *arguments, **dict(how))
        lines = {}
        for line in printed.splitlines():
            what, value = line.split(": ")
            lines.setdefault(what, []).append(value)
        return lines

    def one_of(self, lines, *places):
        """Gives the one value that a program prints for all these places."""
        values = {value for place in places for value in lines[place]}
        self.assertEqual(len(values), 1, lines)
        return values.pop()


class Traces(TracesTestCase):
    def test_without_any(self):
        lines = self.lines_of()
        self.assertEqual(lines["thread"], ["null null"])
        self.assertEqual(self.one_of(lines, "begun", "within", "step", "closed", "after",
                                     "other thread"), "null")
        self.assertEqual(lines["from"], [f"{CAME_IN} a=b"])

    def test_main_continues_the_one_that_the_program_was_started_in(self):
        lines = self.lines_of(TRACEPARENT=TRACE, TRACESTATE="c=d")
        self.assertEqual(lines["thread"], [f"{TRACE} c=d"])
        self.assertEqual(self.one_of(lines, "begun", "within", "step", "after"), TRACE)
        self.assertEqual(self.one_of(lines, "closed", "other thread"), "null")
        self.assertEqual(lines["from"], [f"{CAME_IN} a=b"])

    def test_each_begins_one_where_all_are_to_have_ids(self):
        lines = self.lines_of(PCP_TRACE_IDS="always")
        self.assertRegex(self.one_of(lines, "begun", "within", "step"), f"^{OWN}$")
        self.assertEqual(self.one_of(lines, "closed", "after", "other thread"), "null")

    def test_pass_through_where_tracing_is_switched_off(self):
        lines = self.lines_of("off", TRACEPARENT=TRACE)
        self.assertEqual(self.one_of(lines, "begun", "within", "step", "after"), TRACE)
        self.assertEqual(lines["from"], [f"{CAME_IN} a=b"])


@unittest.skipUnless(NEWER_JAVA, "this machine has no Java with virtual threads")
class VirtualThreads(TracesTestCase):
    """All virtual threads on one carrier."""

    how = {"command": NEWER_JAVA, "options": [
        "-Djdk.virtualThreadScheduler.parallelism=1",
        "-Djdk.virtualThreadScheduler.maxPoolSize=1",
        "--enable-native-access=ALL-UNNAMED", "-Xcheck:jni"]}

    def lines_of(self, *arguments, **variables):
        return super().lines_of("virtual", how=self.how, **variables)

    def check(self, **variables):
        lines = self.lines_of(**variables)
        self.assertEqual(self.one_of(lines, "virtual", "virtual thread"), "null")
        self.assertEqual(self.one_of(lines, "virtual from"), f"{CAME_IN} a=b")
        self.assertEqual(self.one_of(lines, "virtual under"), CAME_IN)
        return self.one_of(lines, "virtual begun has one")

    def test_leave_no_trace_with_their_carrier(self):
        self.assertEqual(self.check(), "false")
        self.assertEqual(self.check(TRACEPARENT=TRACE), "false")

    def test_nor_where_all_are_to_have_ids(self):
        self.assertEqual(self.check(PCP_TRACE_IDS="always"), "true")
