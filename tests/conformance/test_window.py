# SPDX-License-Identifier: LGPL-2.1-or-later
"""The window: rates, averages and extrema over the last completed buckets."""

import time
import unittest

from private_pmcd import PATIENCE_S, wait_until
from trace_test import OUR_AGENT, OUR_LIBRARY, TraceTestCase, with_each_agent

WINDOW_METRICS = ["trace.transact.rate", "trace.transact.ave_time", "trace.transact.min_time",
                  "trace.transact.max_time", "trace.point.rate", "trace.observe.rate",
                  "trace.counter.rate"]
SLACK_S = 0.2  # the agent's; how long a look takes is known


class WindowTestCase(TraceTestCase):
    def rate(self, pmcd):
        return pmcd.value("trace.point.rate", "a")

    def assert_shown_for(self, seconds, pmcd):
        """Traces a point, and looks at its rate until it has come and gone: each of that happens
        between two looks, however far these are apart."""
        last_without = time.monotonic()
        self.trace(self.environment(pmcd), "point a")
        first_with = last_with = None
        while True:
            begin = time.monotonic()
            shown = self.rate(pmcd) is not None
            end = time.monotonic()
            if shown:
                first_with = first_with or end
                last_with = begin
            elif first_with:
                break
            else:
                self.assertLess(end - last_without, PATIENCE_S, "no rate")
                last_without = begin
        self.assertLess(last_with - first_with, seconds + SLACK_S)
        self.assertGreater(end - last_without, seconds - SLACK_S)


@with_each_agent
class Window(WindowTestCase):
    def test_is_empty_until_the_first_bucket_completes(self):
        pmcd = self.start_pmcd(["-T", "100", "-N", "2"])
        self.trace(self.environment(pmcd), "point a", "obs 1 a", "counter 1 a", "begin a", "end a")
        for metric in WINDOW_METRICS:
            self.assertEqual(pmcd.values(metric), {}, metric)

    def test_shows_a_value_for_exactly_one_period(self):
        pmcd = self.start_pmcd(["-T", "4", "-N", "4"])
        self.assert_shown_for(4, pmcd)
        self.assertEqual(pmcd.value("trace.point.count", "a"), 1)

    def test_rates_divide_by_the_whole_period(self):
        pmcd = self.start_pmcd(["-T", "8", "-N", "8"])
        self.trace(self.environment(pmcd), *["point a", "obs 1 b", "counter 1 c"] * 12)
        for kind, tag in (("point", "a"), ("observe", "b"), ("counter", "c")):
            self.assert_values(pmcd, f"trace.{kind}.rate", {tag: 12 / 8})

    def test_average_minimum_and_maximum_are_those_of_the_window(self):
        pmcd = self.start_pmcd(["-T", "8", "-N", "8"])
        self.trace(self.environment(pmcd), "begin a", "sleep 0.3", "end a", "begin a", "sleep 0.1",
                   "end a")
        total = pmcd.value("trace.transact.total_time", "a")
        # The two may be in neighbouring buckets, of which the second is still to come.
        wait_until(lambda: abs((pmcd.value("trace.transact.ave_time", "a") or 0) - total / 2) < 1e-5,
                   what="both in the window")
        low, high = (pmcd.value(f"trace.transact.{which}_time", "a") for which in ("min", "max"))
        self.assertAlmostEqual(low + high, total, places=5)
        self.assertTrue(0.1 <= low < high and 0.3 <= high, (low, high))


class OurWindow(WindowTestCase):
    agent, library = OUR_AGENT, OUR_LIBRARY

    def test_is_as_long_as_it_says_when_the_period_is_no_multiple_of_the_buckets(self):
        pmcd = self.start_pmcd(["-T", "5", "-N", "4"])
        self.assertEqual(pmcd.values("trace.control.period"), {None: 5})
        self.assertEqual(pmcd.values("trace.agent.interval"), {None: 1.25})
        self.assert_shown_for(5, pmcd)
        self.trace(self.environment(pmcd), *["point a"] * 10)
        self.assert_values(pmcd, "trace.point.rate", {"a": 2})

    def test_may_be_shorter_than_a_second(self):
        pmcd = self.start_pmcd(["-T", "500msec", "-N", "2"])
        self.assertEqual(pmcd.values("trace.agent.period"), {None: 0.5})
        self.assertEqual(pmcd.values("trace.agent.interval"), {None: 0.25})

        def rate_of_ten():
            wait_until(lambda: self.rate(pmcd) is None, what="the window's end")
            deadline = time.monotonic() + 2
            self.trace(self.environment(pmcd), *["point a"] * 10)
            while (rate := self.rate(pmcd)) is None and time.monotonic() < deadline:
                pass
            return rate

        # Not at once if a bucket ends between them, or the window between two looks.
        wait_until(lambda: rate_of_ten() == 20, what="the rate")

    def test_has_twelve_buckets_if_nothing_else_is_said(self):
        self.assertEqual(self.start_pmcd().values("trace.control.buckets"), {None: 12})


if __name__ == "__main__":
    unittest.main()
