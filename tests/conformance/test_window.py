# SPDX-License-Identifier: LGPL-2.1-or-later
"""The window: rates, averages and extrema over the last completed buckets."""

import time

from private_pmcd import wait_until
from trace_test import TraceTestCase, with_each_agent

WINDOW_METRICS = ["trace.transact.rate", "trace.transact.ave_time", "trace.transact.min_time",
                  "trace.transact.max_time", "trace.point.rate", "trace.observe.rate",
                  "trace.counter.rate"]
PERIOD_S, BUCKETS = 4, 4
SLACK_S = 0.2  # of the agent; the times of looks are measured


@with_each_agent
class Window(TraceTestCase):
    def test_is_empty_until_the_first_bucket_completes(self):
        pmcd = self.start_pmcd(["-T", "1000", "-N", "2"])
        self.trace(self.environment(pmcd), "point a", "obs 1 a", "counter 1 a", "begin a", "end a")
        for metric in WINDOW_METRICS:
            self.assertEqual(pmcd.values(metric), {}, metric)

    def test_shows_a_value_for_exactly_one_period(self):
        """Traces one tag in each bucket, the next tag once the last one shows. The first tag must show for the whole
        period, measured from the last look before it to the first look after it, so the pace of looks does not matter.
        Once all buckets have newer tags, it must be gone."""
        pmcd = self.start_pmcd(["-T", str(PERIOD_S), "-N", str(BUCKETS)])
        looks = []

        def look():
            begin = time.monotonic()
            looks.append((begin, pmcd.values("trace.point.rate"), time.monotonic()))
            return looks[-1][1]

        look()
        for number in range(BUCKETS + 1):
            self.trace(self.environment(pmcd), f"point {number}")
            wait_until(lambda tag=str(number): tag in look(), what="the rate")
        self.assertNotIn("0", looks[-1][1])
        shown = [number for number, (_, rates, _) in enumerate(looks) if "0" in rates]
        self.assertGreater(looks[shown[-1] + 1][2] - looks[shown[0] - 1][0], PERIOD_S - SLACK_S)
        self.assertEqual(pmcd.value("trace.point.count", "0"), 1)

    def test_rates_divide_by_the_whole_period(self):
        pmcd = self.start_pmcd(["-T", "8", "-N", "8"])
        self.trace(self.environment(pmcd), *["point a", "obs 1 b", "counter 1 c"] * 12)
        for kind, tag in (("point", "a"), ("observe", "b"), ("counter", "c")):
            self.assert_values(pmcd, f"trace.{kind}.rate", {tag: 12 / 8})

    def test_average_minimum_and_maximum_are_those_of_the_window(self):
        pmcd = self.start_pmcd(["-T", "8", "-N", "8"])
        # load: two transactions of different lengths
        self.trace(self.environment(pmcd), "begin a", "sleep 0.3", "end a", "begin a", "sleep 0.1", "end a")
        total = pmcd.value("trace.transact.total_time", "a")
        # The two may be in neighbouring buckets, and the second bucket may still be incomplete.
        wait_until(lambda: abs((pmcd.value("trace.transact.ave_time", "a") or 0) - total / 2) < 1e-5,
                   what="both in the window")
        low, high = (pmcd.value(f"trace.transact.{which}_time", "a") for which in ("min", "max"))
        self.assertAlmostEqual(low + high, total, places=5)
        self.assertTrue(0.1 <= low < high and 0.3 <= high, (low, high))
