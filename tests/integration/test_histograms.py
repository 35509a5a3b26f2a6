# SPDX-License-Identifier: LGPL-2.1-or-later
"""tracing.histogram.*: distributions of all values since somebody asked."""

import math
import random
import time

import histogram_text
from private_pmcd import PATIENCE_S, wait_until
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

    def test_take_no_more_memory_than_the_option_says(self):
        pmcd = self.start_pmcd([*OFTEN, "--histogram-memory=1"])
        pmcd.values(OBSERVED)
        tags, values = 1200, [1.2 ** exponent for exponent in range(-200, 200)]
        for first in range(0, tags, 100):
            # By default a program's end waits a second for the agent, which may take longer on a busy machine.
            done = self.trace(self.environment(pmcd),
                              *(f"obs {value!r} tag{tag}" for value in values
                                for tag in range(first, first + 100)), f"flush {PATIENCE_S}")
            self.assertEqual(done[-1], 1)

        def shown():
            return [histogram_text.parse(text) for text in pmcd.values(OBSERVED).values()]
        wait_until(lambda: sum(each.count + each.unbinned for each in shown()) == tags * len(values),
                   what="all values")
        self.assertGreater(max(each.coarseness for each in shown()), 0)
        self.assertLess(pmcd.value("trace.agent.memory.cumulative"), 1 << 20)
        self.assertEqual(pmcd.value("trace.agent.histograms.left_out"), 0)
        self.assertEqual(pmcd.value("trace.agent.coarsenings"), 0)
