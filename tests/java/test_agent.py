# SPDX-License-Identifier: LGPL-2.1-or-later
"""The agent counts exactly what Java programs do, however the JVM ends."""

import os
import signal

from private_pmcd import PATIENCE_S, completed
from java_test import JavaTestCase, java

THREADS = 4
CALLS = 5000
TENTH = THREADS * CALLS // 10
NO_TRANSACTIONS = dict.fromkeys(
    ("request", *(f"late{{by=a;size={size}}}" for size in range(5)), "ended{size=0}", "ended{size=1}"), 0)
COMPLETED = NO_TRANSACTIONS | {"request": 9 * TENTH, "late{by=a;size=1}": TENTH, "ended{size=0}": TENTH,
                               **{f"late{{by=a;size={size}}}": 2 * TENTH for size in (2, 3, 4)}}
ABORTED = NO_TRANSACTIONS | {"request": TENTH, "late{by=a;size=0}": TENTH, "ended{size=1}": TENTH}
ADDED = "added{by=größe%20%E2%82%AC;kind=a%20b}"


class Exactness(JavaTestCase):
    def setUp(self):
        self.pmcd = self.start_pmcd()
        # No flush comes in time: the end of the JVM has to deliver the calls.
        self.traced = self.environment(self.pmcd, PCP_TRACE_FLUSH=60_000)

    def assert_counted(self):
        calls = THREADS * CALLS
        for metric, values in (("counter.value", {"total": calls}), ("counter.total", {ADDED: calls}),
                               ("point.count", {"größe 😀": 2 * calls}), ("observe.count", {"value": calls}),
                               ("observe.sum", {"value": calls * (CALLS + 1) // 2}),
                               ("transact.count", COMPLETED), ("transact.aborts", ABORTED)):
            self.assert_values(self.pmcd, f"trace.{metric}", values)

    def test_however_the_program_ends(self):
        for end in ("return", "exit", "halt"):
            with self.subTest(end):
                self.pmcd.pmstore("trace.control.reset", 1)
                self.run_java(self.traced, "ManyThreads", str(THREADS), str(CALLS), end)
                self.assert_counted()

    def test_when_the_program_is_terminated(self):
        program = self.start_process(*java("ManyThreads", str(THREADS), str(CALLS), "wait"), env=self.traced)
        self.assertEqual(program.stdout.readline(), "done\n")
        program.send_signal(signal.SIGTERM)
        program.wait(PATIENCE_S)
        self.assert_counted()


class Interfaces(JavaTestCase):
    def setUp(self):
        self.pmcd = self.start_pmcd()
        self.traced = self.environment(self.pmcd)

    def test_code_from_the_manual(self):
        self.assertEqual(self.run_java(self.traced, "FromTheManual"), "")
        for metric, values in (("transact.count", {"main loop": 3, "given up": 0}),
                               ("transact.aborts", {"main loop": 0, "given up": 1}),
                               ("point.count", {"end reached": 1}), ("observe.value", {"iteration": 3}),
                               ("counter.value", {"iterations": 30, "older-name": 3})):
            self.assert_values(self.pmcd, f"trace.{metric}", values)
        self.assertIn('"service":"FromTheManual"', self.pmcd.pminfo("-l", "trace.point.count"))

    def test_code_from_the_manual_without_agent(self):
        environment = dict(os.environ, PCP_TRACE_SOCKET="/nowhere/trace.socket")
        done = completed(*java("FromTheManual"), env=environment, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (
            1, 'pcp_trace: no agent at PCP_TRACE_SOCKET="/nowhere/trace.socket": No such file or directory; nothing is'
            " delivered\nNo such file or directory\n"))

    def test_labels_and_descriptions_are_pcps_labels(self):
        self.run_java(self.traced, "ManyThreads", "1", "1", "return")
        shown = self.pmcd.pminfo("-l", "trace.counter.total")
        for label in ('"by":"größe €"', '"kind":"a b"', '"unit":"calls"',
                      '"description":"one for each"'):
            self.assertIn(label, shown)

    def test_durations_are_those_of_javas_clock(self):
        outside, inside = map(int, self.run_java(self.traced, "Durations").split())
        self.assert_values(self.pmcd, "trace.transact.count", {"handed over": 1})
        seconds = self.pmcd.value("trace.transact.total_time", "handed over")
        self.assertGreaterEqual(seconds * 1.001, inside * 1e-9)
        self.assertLessEqual(seconds * 0.999, outside * 1e-9)

    def test_the_jvm_finds_nothing_wrong_with_the_native_half(self):
        for program in (["FromTheManual"], ["ManyThreads", "2", "100", "return"]):
            printed = self.run_java(self.traced, *program, options=["-Xcheck:jni"])
            self.assertNotIn("WARNING in native method", printed)
