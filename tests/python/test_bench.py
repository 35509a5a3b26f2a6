# SPDX-License-Identifier: LGPL-2.1-or-later
"""The benchmark in brief: it runs, and all that it recorded is acknowledged."""

import os
import re

from python_test import PythonTestCase, python, traced

BENCH = os.path.join(os.path.dirname(__file__), "../../libtrace/python/bench/call_cost.py")


class Bench(PythonTestCase):
    def test_call_cost(self):
        pmcd = self.start_pmcd()
        printed = self.run_python(traced(self.environment(pmcd)), *python(os.path.abspath(BENCH), "2"))
        self.assertGreaterEqual(len(re.findall("ns a call", printed)), 10, printed)
        recorded, acknowledged = re.search(r"(\d+) calls recorded, (\d+) acknowledged", printed).groups()
        self.assertEqual(recorded, acknowledged)
        self.assert_values(pmcd, "trace.point.count", {"request": 2 * 2 * 20_000})
