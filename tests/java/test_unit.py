# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the JUnit tests (unit/) with an agent."""

import os
import subprocess

from private_pmcd import completed
from java_test import JAR, JAVA, JavaTestCase


class Units(JavaTestCase):
    def test_all(self):
        pmcd = self.start_pmcd()
        done = completed(*JAVA, "-jar", os.environ["TRACE_JUNIT"], "--disable-banner", "--fail-if-no-tests",
                         "--details=tree", "--disable-ansi-colors", "--class-path",
                         f"{JAR}:{os.environ['TRACE_JAVA_UNITS']}", "--scan-class-path", env=pmcd.environment(),
                         stderr=subprocess.STDOUT, timeout=240)
        self.assertEqual(done.returncode, 0, done.stdout)
