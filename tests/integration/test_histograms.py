# SPDX-License-Identifier: LGPL-2.1-or-later
"""tracing.histogram.*: distributions of all values since somebody asked."""

import math
import random
import time

import histogram_text
from private_pmcd import wait_until
from trace_test import TraceTestCase

OBSERVED = "tracing.histogram.observe"
OFTEN = ["-T", "1sec", "-N", "10"]


class Histograms(TraceTestCase):
    agent_options = OFTEN

    def observe(self, values):
        self.trace(self.environment(), *(f"obs {value!r} a" for value in values))

    def observed(self):
        return histogram_text.parse(self.pmcd.values(OBSERVED)["a"])

    def test_have_all_values_since_somebody_asked(self):
        self.observe([1, 2, 3])
        # After two more intervals these values are not in the current one.
        rotations = self.pmcd.value("trace.agent.rotations")
        wait_until(lambda: self.pmcd.value("trace.agent.rotations") >= rotations + 2, what="rotations")
        before = time.time_ns()
        first = self.observed()
        self.assertTrue(before <= first.since <= time.time_ns(), first)
        self.assertEqual((first.count, first.unbinned), (0, 0))
        values = [random.Random(1).lognormvariate(0, 2) for _ in range(1000)]
        values += [-value for value in values] + [0.0]
        self.observe(values + [math.nan, math.inf])
        wait_until(lambda: self.observed().count == len(values), what=f"{len(values)} values")
        now = self.observed()
        self.assertEqual((now.since, now.coarseness, now.unbinned), (first.since, 0, 0))
        self.assertEqual(now.bins, histogram_text.bins_of(values))
