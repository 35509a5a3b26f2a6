# SPDX-License-Identifier: LGPL-2.1-or-later
"""tracing.histogram.*: distributions that can be added and subtracted, through all of PCP."""

import math
import random
import re
import time

import histogram_text
from private_pmcd import PATIENCE_S, completed, wait_until
from trace_test import TraceTestCase

OBSERVED = "tracing.histogram.observe"
OFTEN = ["-T", "1sec", "-N", "10"]


class Histograms(TraceTestCase):
    def observe(self, pmcd, values, tag="a"):
        self.trace(self.environment(pmcd), *(f"obs {value!r} {tag}" for value in values))

    def observed(self, pmcd, tag="a"):
        return histogram_text.parse(pmcd.values(OBSERVED)[tag])

    def wait_for_count(self, pmcd, count):
        """Gives the distribution once it has `count` values."""
        wait_until(lambda: self.observed(pmcd).count == count, what=f"{count} values")
        return self.observed(pmcd)

    def test_have_all_values_since_somebody_asked(self):
        pmcd = self.start_pmcd(OFTEN)
        self.observe(pmcd, [1, 2, 3])
        # After two more intervals these values are not in the current one.
        rotations = pmcd.value("trace.agent.rotations")
        wait_until(lambda: pmcd.value("trace.agent.rotations") >= rotations + 2, what="rotations")
        before = time.time_ns()
        first = self.observed(pmcd)
        self.assertTrue(before <= first.since <= time.time_ns(), first)
        self.assertEqual((first.count, first.unbinned), (0, 0))
        values = [random.Random(1).lognormvariate(0, 2) for _ in range(1000)]
        values += [-value for value in values] + [0.0]
        self.observe(pmcd, values + [math.nan, math.inf])
        now = self.wait_for_count(pmcd, len(values))
        self.assertEqual((now.since, now.coarseness, now.unbinned), (first.since, 0, 0))
        self.assertEqual(now.bins, histogram_text.bins_of(values))

    def logged(self, pmcd, name):
        """Logs the metric three times; gives the archive's last value."""
        with open(pmcd.path("pmlogger.conf"), "w", encoding="utf-8") as file:
            file.write("log mandatory on 100 msec { tracing }\n")
        archive = pmcd.path(name)
        for command in (["pmlogger", "-c", pmcd.path("pmlogger.conf"), "-h", pmcd.host(), "-l",
                         pmcd.path("pmlogger.log"), "-s", "3", archive],
                        ["pmlogcheck", archive], ["pmdumplog", "-a", archive]):
            shown = completed(*command, check=True).stdout
        values = re.findall(rf'\({OBSERVED}\):\s+inst \[\d+ or "a"\] value "(.*)"', shown)
        self.assertEqual(len(values), 3, shown)
        return histogram_text.parse(values[-1])

    def test_can_be_logged_and_subtracted(self):
        pmcd = self.start_pmcd(OFTEN)
        pmcd.values(OBSERVED)
        self.observe(pmcd, [1, 2, 3])
        self.wait_for_count(pmcd, 3)
        first = self.logged(pmcd, "first")
        self.assertEqual(first.bins, histogram_text.bins_of([1, 2, 3]))
        self.observe(pmcd, [3, 4])
        self.wait_for_count(pmcd, 5)
        second = self.logged(pmcd, "second")
        self.assertEqual((second - first).bins, histogram_text.bins_of([3, 4]))
        pmcd.restart_agent()
        self.observe(pmcd, [7])
        pmcd.values(OBSERVED)
        self.observe(pmcd, [8])
        wait_until(lambda: self.observed(pmcd).count > 0, what="values")
        third = self.logged(pmcd, "third")
        self.assertEqual(third - second, third)

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
