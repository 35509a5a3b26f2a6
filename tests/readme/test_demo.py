# SPDX-License-Identifier: LGPL-2.1-or-later
"""What ./run demo shows of the values that it reads."""

import os
import re
import sys
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../demos"))
import show  # noqa: E402

METRICS = {
    "trace.transact.count": {"checkout": 12_345_678, "search": 2},
    "trace.transact.rate": {"checkout": 123_456.7, "search": 0.4},
    "trace.transact.ave_time": {"checkout": 0.00002, "search": 0.0000003},
    "trace.transact.min_time": {"checkout": 0.00001, "search": 0.0000002},
    "trace.transact.p50": {"checkout": 0.00002, "search": 0.0000003},
    "trace.transact.p99": {"checkout": 0.5, "search": 0.0000004},
    "trace.transact.max_time": {"checkout": 1.5, "search": 0.0000005},
    "trace.transact.aborts": {"checkout": 7, "search": 0, "never-ended": 3},
    "trace.observe.count": {"queue": 5},
    "trace.observe.value": {"queue": -1234.5},
    "trace.counter.count": {"bytes": 9},
    "trace.counter.value": {"bytes": 5_686_000.0},
}


class Table(unittest.TestCase):
    def line(self, tag):
        return re.split(r"\s{2,}", next(line for line in show.table(METRICS) if f" {tag}" in line))

    def test_shows_durations_in_a_unit_that_says_something(self):
        for seconds, text in ((0, "0 ns"), (3e-7, "300 ns"), (0.00002, "20.0 us"), (0.00123, "1.23 ms"),
                              (0.9996, "1.00 s"), (123.4, "123 s")):
            self.assertEqual(show.duration(seconds), text)

    def test_shows_the_value_of_observations_and_counters(self):
        self.assertIn("-1,234", self.line("queue"))
        self.assertIn("5.69 M", self.line("bytes"))

    def test_shows_aborts_even_of_what_never_ended(self):
        self.assertEqual(self.line("checkout")[-1], "7")
        self.assertEqual(self.line("never-ended")[-1], "3")
        self.assertNotEqual(self.line("search")[-1], "0")

    def test_fits_the_terminal_and_breaks_no_number(self):
        for line in show.table(METRICS):
            self.assertLessEqual(len(line), show.WIDTH)
        for width in (show.WIDTH, 110, 200):
            for line in show.table(METRICS, width=width):
                self.assertLessEqual(len(line), width)

    def test_has_pictures_where_there_is_room_and_colours_where_they_are_wanted(self):
        wide = "\n".join(show.table(METRICS, width=120))
        self.assertIn("▓", wide)
        self.assertNotIn("\x1b", wide)
        self.assertNotIn("▓", "\n".join(show.table(METRICS, colour=True)))
        self.assertIn("\x1b[36mtransact", "\n".join(show.table(METRICS, colour=True)))

    def test_divides_by_the_time_that_has_passed(self):
        metrics = {"trace.point.rate": {"a": 2.0}, "trace.point.count": {"a": 10}}
        self.assertEqual(show.correct_rates(metrics, 1)["trace.point.rate"], {"a": 10.0})
        self.assertEqual(show.correct_rates(metrics, 60)["trace.point.rate"], {"a": 10.0})


class Check(unittest.TestCase):
    def test_counts_only_the_demos_own_transactions(self):
        pmcd = mock.Mock(values=lambda metric: {"answer": 1, "foreign": 5})
        metrics = {"trace.transact.count": {"answer": 9, "ask": 9, "foreign": 100}}
        with mock.patch("builtins.print"):
            show.check(pmcd, show.DEMOS["c"], metrics, "served 10 requests")
            with self.assertRaises(SystemExit):
                show.check(pmcd, show.DEMOS["c"], metrics, "served 11 requests")


if __name__ == "__main__":
    unittest.main()
