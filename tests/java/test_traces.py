# SPDX-License-Identifier: LGPL-2.1-or-later
"""The traces of Java's threads: main is in the trace that the program was started in, other threads in none."""

import json
import os
import tempfile
import unittest

import recorded
from java_test import NEWER_JAVA, JavaTestCase, java
from private_pmcd import PATIENCE_S, completed
from trace_test import library_environment

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
CAME_IN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
THREADS = 10_000
OWN = r"00-([0-9a-f]{32})-([0-9a-f]{16})-02"


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
        self.assertEqual(self.one_of(lines, "virtual"), "null")
        self.assertEqual(self.one_of(lines, "virtual thread"), CAME_IN)
        self.assertEqual(self.one_of(lines, "virtual from"), f"{CAME_IN} a=b")
        self.assertEqual(self.one_of(lines, "virtual under"), CAME_IN)
        return self.one_of(lines, "virtual begun has one")

    def test_leave_no_trace_with_their_carrier(self):
        self.assertEqual(self.check(), "false")
        self.assertEqual(self.check(TRACEPARENT=TRACE), "false")

    def test_nor_where_all_are_to_have_ids(self):
        self.assertEqual(self.check(PCP_TRACE_IDS="always"), "true")

    def test_a_message_says_once_what_cannot_nest(self):
        environment = library_environment(self.library, PCP_TRACE_SOCKET="/dev/null")
        done = completed(*java("Traces", "outside", **self.how), env=environment, timeout=4 * PATIENCE_S)
        self.assertEqual(done.stdout.count("outside: null\n"), 4, done.stdout)
        self.assertRegex(done.stderr, r"^io\.pcp\.trace: .*use io\.pcp\.trace\.Transaction there\n"
                                      r"io\.pcp\.trace: .*call close\(\) after its parts\n$")


@unittest.skipUnless(NEWER_JAVA, "this machine has no Java with virtual threads")
class TreesOnVirtualThreads(JavaTestCase):
    def test_are_those_that_the_threads_have_seen(self):
        folder = os.path.join(self.enterContext(tempfile.TemporaryDirectory(prefix="trace-record-")), "run.trace")
        done = recorded.record(folder, *java("VirtualThreads", str(THREADS), command=NEWER_JAVA),
                               options=["--spans", "tag=request kind=point limit=1000000/s"],
                               environment=library_environment(self.library))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        expected = {}
        for line in done.stdout.splitlines():
            number, *sent = line.split()
            self.assertEqual([sent[1], sent[0], "null"], sent[3:])
            traces, (request, step, query) = zip(*(header.split("-")[1:3] for header in sent[:3]))
            self.assertEqual(len(set(traces)), 1)
            expected[traces[0]] = [("request", request, None, None), ("step", step, request, {"number": int(number)}),
                                   ("query", query, step, None), *[("row", query, None, None)] * (int(number) % 10 == 0)]
        self.assertEqual(len(expected), THREADS)
        shown = completed(recorded.COMMAND, "spans", "-a", folder, "--json", check=True, timeout=4 * PATIENCE_S).stdout
        seen = {trace["trace"]: [(span["tag"], span["span"], span.get("parent"), span.get("attributes"))
                                 for span in trace["spans"]] for trace in map(json.loads, shown.splitlines())}
        self.assertEqual(seen, expected)
