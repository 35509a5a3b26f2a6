# SPDX-License-Identifier: LGPL-2.1-or-later
"""The benchmark (java/bench) in brief: it runs, and all that it recorded is acknowledged."""

import os
import re

from java_test import LIBRARY, JavaTestCase


class Bench(JavaTestCase):
    def test_call_cost(self):
        pmcd = self.start_pmcd()
        libraries = os.path.dirname(LIBRARY)
        printed = self.run_java(self.environment(pmcd), "CallCost", "brief",
                                classes=os.environ["TRACE_JAVA_BENCH"],
                                options=[f"-Djava.library.path={libraries}"])
        self.assertEqual(len(re.findall(r"ns a call", printed)), 9, printed)
        recorded, acknowledged = re.search(r"(\d+) calls recorded.* (\d+) acknowledged",
                                           printed).groups()
        self.assertEqual(recorded, acknowledged)
        passed = pmcd.value("trace.point.count", "passed")
        self.assertEqual(pmcd.values("trace.point.count"),
                         {"passed": passed, "passed-by-name": passed + 1})
