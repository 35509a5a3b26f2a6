# SPDX-License-Identifier: LGPL-2.1-or-later
"""A monitor that captures a transaction sees exactly what Java programs have noted of it."""


import noted
from java_test import JavaTestCase, java


class Notes(JavaTestCase):
    def setUp(self):
        self.pmcd = self.start_pmcd()
        self.traced = self.environment(self.pmcd)

    def test_are_those_that_a_monitor_sees(self):
        noted.assert_noted(self, self.pmcd, *java("Notes"), environment=self.traced)
        self.assert_values(self.pmcd, "trace.transact.aborts", {"request": 1})

    def test_are_unicode_whatever_java_has(self):
        span, _ = noted.failed_span(self.pmcd, *java("Notes", "texts"), environment=self.traced)
        self.assertEqual(
            (span["attributes"], span.get("reason")),
            (f"none= größe\\x20😀=a?b half=?|?|😀 cut=v{'€' * 1365} pair={'v' * 4095}", None))

    def test_an_exception_is_the_reason(self):
        for how, reason in (("message", "java.lang.IllegalStateException: sold out"),
                            ("none", "java.lang.IllegalStateException"), ("again", "Notes$1")):
            span, _ = noted.failed_span(self.pmcd, *java("Notes", "throws", how), environment=self.traced)
            self.assertEqual(span["reason"], reason)

    def test_the_jvm_finds_nothing_wrong_with_the_native_half(self):
        for arguments in ([], ["texts"]):
            command = java("Notes", *arguments, options=["-Xcheck:jni"])
            _, printed = noted.failed_span(self.pmcd, *command, environment=self.traced)
            self.assertNotIn("WARNING in native method", printed)
