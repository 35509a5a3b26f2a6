# SPDX-License-Identifier: LGPL-2.1-or-later
"""The traces of tasks, threads and children, against the program's own log of the headers that it would send."""

import json
import os
import tempfile
import unittest

import recorded
from private_pmcd import PATIENCE_S, completed
from python_test import PythonTestCase, python, traced
from trace_test import library_environment

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
CAME_IN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Recorded(PythonTestCase):
    def setUp(self):
        directory = self.enterContext(tempfile.TemporaryDirectory(prefix="trace-python-"))
        self.folder, self.log = os.path.join(directory, "run.trace"), os.path.join(directory, "log")

    def record(self, *command, **variables):
        done = recorded.record(self.folder, *command, environment=traced(library_environment(self.library, **variables)),
                               options=["--spans", "tag=* kind=point limit=1000000/s"])
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def spans(self):
        """Gives the recorded traces, and a sorted line for each span as in the program's log."""
        shown = completed(recorded.COMMAND, "spans", "-a", self.folder, "--json", check=True, timeout=4 * PATIENCE_S)
        traces = [json.loads(line) for line in shown.stdout.splitlines()]
        report = json.loads(completed(recorded.COMMAND, "report", "--json", self.folder, check=True,
                                      timeout=4 * PATIENCE_S).stdout)["spans"]
        self.assertEqual(report["missed"], 0)
        return traces, sorted(" ".join([span["tag"], trace["trace"], span.get("span") or "", span.get("parent") or ""])
                              for trace in traces for span in trace["spans"])

    def test_10000_interleaved_tasks_are_as_many_whole_trees(self):
        self.record(*python("tasks.py", "10000", self.log), PYTHONMALLOC="malloc")
        with open(self.log, encoding="ascii") as log:
            expected = sorted(log.read().splitlines())
        self.assertGreater(len(expected), 40_000)
        traces, shown = self.spans()
        self.assertEqual(len(traces), 10_000)
        self.assertTrue(shown == expected, sorted(set(shown) ^ set(expected))[:20])

    def test_points_and_children_are_inside(self):
        self.record(*python("inside.py", self.log))
        with open(self.log, encoding="ascii") as log:
            expected = sorted(log.read().splitlines())
        traces, shown = self.spans()
        self.assertEqual((len(traces), shown), (1, expected))


class Headers(PythonTestCase):
    def test_come_in_in_any_form(self):
        self.run_python(self.nowhere(), *python("headers.py", CAME_IN))

    def test_pass_through_also_while_tracing_is_off(self):
        self.run_python(self.nowhere(PCP_TRACE_NOAGENT=1), *python("headers.py", CAME_IN))

    def test_of_the_environment_are_those_of_the_main_thread(self):
        self.assertEqual(self.run_python(self.nowhere(TRACEPARENT=TRACE), *python("started.py")),
                         f"main {TRACE}\nblock {TRACE}\nthread None\n")

    def test_are_there_for_logs(self):
        for variables, ids in (({}, r"\[-\]"), ({"PCP_TRACE_IDS": "always"}, r"\[[0-9a-f]{32}-[0-9a-f]{16}\]")):
            printed = self.run_python(self.nowhere(**variables), *python("logs.py")).splitlines()
            self.assertEqual(len(printed), 2)
            self.assertRegex(printed[0], rf"\A{ids} inside\Z")
            self.assertEqual(printed[1], "[-] outside")


