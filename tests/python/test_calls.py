# SPDX-License-Identifier: LGPL-2.1-or-later
"""The agent counts exactly what a Python program does."""

import noted
from python_test import PythonTestCase, python, traced


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
