# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the JUnit tests (unit/) with an agent."""

import os
import subprocess
import unittest

from private_pmcd import completed
from java_test import JAR, JAVA, NEWER_JAVA, SMALL, JavaTestCase


class Units(JavaTestCase):
    def run_junit(self, command, *choice):
        pmcd = self.start_pmcd()
        done = completed(command, *SMALL, "-jar", os.environ["TRACE_JUNIT"], "--disable-banner", "--fail-if-no-tests",
                         "--details=tree", "--disable-ansi-colors", "--class-path",
                         f"{JAR}:{os.environ['TRACE_JAVA_UNITS']}", *choice, env=pmcd.environment(),
                         stderr=subprocess.STDOUT, timeout=240)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_all(self):
        self.run_junit(JAVA[0], "--scan-class-path")

    @unittest.skipUnless(NEWER_JAVA, "this machine has no Java with virtual threads")
    def test_traces_on_virtual_threads(self):
        self.run_junit(NEWER_JAVA, "--select-class=io.pcp.trace.TracesOnVirtualThreads")
