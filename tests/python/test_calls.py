# SPDX-License-Identifier: LGPL-2.1-or-later
"""The agent counts exactly what a Python program does."""

import os
import re

import noted
from python_test import PROGRAMS, PythonTestCase, python, traced
from trace_test import program


class Calls(PythonTestCase):
    def test_count_as_the_program_says(self):
        for seed in ("1", "2"):
            pmcd = self.check_counts(*python("every_call.py", seed))
            self.assertIn("Sent", pmcd.pminfo("-l", "trace.counter.total"))
            self.assertIn('"service":"every_call"', pmcd.pminfo("-l", "trace.counter.total"))


class Notes(PythonTestCase):
    def setUp(self):
        self.pmcd = self.start_pmcd()
        self.environment = traced(super().environment(self.pmcd))

    def test_are_those_that_a_monitor_sees(self):
        noted.assert_noted(self, self.pmcd, *python("notes.py", "all"), environment=self.environment)

    def test_an_exception_is_the_reason(self):
        for how, reason in (("message", "ValueError: sold out"), ("none", "KeyboardInterrupt"),
                            ("again", "__main__.Bad"), ("coroutine", "asyncio.exceptions.CancelledError"),
                            ("half", "ValueError: a?b?"), ("function", "LookupError: in it")):
            span, _ = noted.failed_span(self.pmcd, *python("notes.py", how), environment=self.environment)
            self.assertEqual(span.get("reason"), reason, how)


class Service(PythonTestCase):
    def test_is_the_name_of_the_script_or_module(self):
        pmcd = self.start_pmcd()
        interpreter = python("")[:-1]
        expected = {}
        for point, service, command, variables in (
                ("script", "service", python("service.py"), {}),
                ("module", "package.module", [*interpreter, "-m", "package.module"], {}),
                ("package", "package", [*interpreter, "-m", "package"], {}),
                ("imported", "service", [*interpreter, "-m", "service"], {}),
                ("joined", "package.module", [*interpreter, "-um", "package.module", "-m", "x"], {}),
                ("attached", "package.module", [*interpreter, "-Bmpackage.module"], {}),
                ("directory", "package", [*interpreter, os.path.join(PROGRAMS, "package")], {}),
                ("nothing", "python3", [*interpreter, "-c", "import sys; sys.argv = [None]; import service"], {}),
                ("no-name", "python3", [*interpreter, "-c", "import service"], {}),
                ("chosen", "by-hand", python("service.py"), {"PCP_TRACE_SERVICE": "by-hand"})):
            environment = traced(self.environment(pmcd), POINT=point, TRACED=program("traced"), **variables)
            environment["PYTHONPATH"] += f":{PROGRAMS}"
            self.run_python(environment, *command)
            expected |= {point: service, f"{point}.in": "by-hand" if point == "chosen" else "traced"}
        self.assert_values(pmcd, "trace.point.count", dict.fromkeys(expected, 1))
        shown = re.findall(r'inst \[\d+ or "(\S+)"\] labels {.*"service":"([^"]*)"',
                           pmcd.pminfo("-l", "trace.point.count"))
        self.assertEqual(dict(shown), expected)
