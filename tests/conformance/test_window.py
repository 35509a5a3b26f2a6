"""The window: rates, averages and extrema over the last completed buckets."""

import time
import unittest

from private_pmcd import wait_until
from trace_test import OUR_AGENT, OUR_LIBRARY, TraceTestCase, with_each_agent

WINDOW_METRICS = ["trace.transact.rate", "trace.transact.ave_time", "trace.transact.min_time",
                  "trace.transact.max_time", "trace.point.rate", "trace.observe.rate",
                  "trace.counter.rate"]
SLACK_S = 0.4  # a look at the values takes some time


class WindowTestCase(TraceTestCase):
    def seconds_shown(self, pmcd, metric, instance):
        """Waits until a value is there, then until it is gone; gives the time between."""
        wait_until(lambda: pmcd.value(metric, instance) is not None, what="the first bucket")
        appeared = time.monotonic()
        wait_until(lambda: pmcd.value(metric, instance) is None, what="the last bucket")
        return time.monotonic() - appeared


@with_each_agent
class Window(WindowTestCase):
    def test_is_empty_until_the_first_bucket_completes(self):
        pmcd = self.start_pmcd(["-T", "100", "-N", "2"])
        self.trace(self.environment(pmcd), "point a", "obs 1 a", "counter 1 a", "begin a", "end a")
        for metric in WINDOW_METRICS:
            self.assertEqual(pmcd.values(metric), {}, metric)

    def test_shows_a_value_for_exactly_one_period(self):
        pmcd = self.start_pmcd(["-T", "4", "-N", "4"])
        self.trace(self.environment(pmcd), "point a")
        self.assertAlmostEqual(self.seconds_shown(pmcd, "trace.point.rate", "a"), 4, delta=SLACK_S)
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
        shown = wait_until(lambda: pmcd.value("trace.transact.ave_time", "a"), what="the window")
        total = pmcd.value("trace.transact.total_time", "a")
        low, high = (pmcd.value(f"trace.transact.{which}_time", "a") for which in ("min", "max"))
        self.assertAlmostEqual(shown, total / 2, places=5)
        self.assertAlmostEqual(low + high, total, places=5)
        self.assertTrue(0.1 <= low < 0.3 <= high, (low, high))


class OurWindow(WindowTestCase):
    agent, library = OUR_AGENT, OUR_LIBRARY

    def test_is_as_long_as_it_says_when_the_period_is_no_multiple_of_the_buckets(self):
        pmcd = self.start_pmcd(["-T", "5", "-N", "4"])
        self.assertEqual(pmcd.values("trace.control.period"), {None: 5})
        self.assertEqual(pmcd.values("trace.agent.interval"), {None: 1.25})
        self.trace(self.environment(pmcd), *["point a"] * 10)
        wait_until(lambda: pmcd.value("trace.point.rate", "a") is not None, what="the first bucket")
        self.assertEqual(pmcd.value("trace.point.rate", "a"), 2)
        self.assertAlmostEqual(self.seconds_shown(pmcd, "trace.point.rate", "a"), 5, delta=SLACK_S)

    def test_may_be_shorter_than_a_second(self):
        pmcd = self.start_pmcd(["-T", "500msec", "-N", "2"])
        self.assertEqual(pmcd.values("trace.agent.period"), {None: 0.5})
        self.assertEqual(pmcd.values("trace.agent.interval"), {None: 0.25})
        traced = self.start_traced(self.environment(pmcd, PCP_TRACE_FLUSH="1"))
        for _ in range(10):
            traced.call("point a")
        self.assertEqual(wait_until(lambda: pmcd.value("trace.point.rate", "a"), what="the window"),
                         20)
        self.assertLess(self.seconds_shown(pmcd, "trace.point.rate", "a"), 0.5 + SLACK_S)

    def test_has_twelve_buckets_if_nothing_else_is_said(self):
        self.assertEqual(self.start_pmcd().values("trace.control.buckets"), {None: 12})


if __name__ == "__main__":
    unittest.main()
