# SPDX-License-Identifier: LGPL-2.1-or-later
"""Our agent's metrics beyond stock: aborts, sums, percentiles, clients, its own health."""

import histogram_text
from private_pmcd import wait_until
from trace_test import TraceTestCase

QUANTILES = {"p50": 500, "p90": 900, "p95": 950, "p99": 990, "p999": 999}


class Metrics(TraceTestCase):
    def test_show_transactions_that_failed_apart_from_the_others(self):
        pmcd = self.start_pmcd(["-T", "8", "-N", "8"])
        pmcd.pminfo("-f", "tracing.histogram")  # from now on they are kept
        # load: the program takes this long to fail.
        self.trace(self.environment(pmcd), "begin a", "sleep 0.5", "abort a", "begin a", "abort a", "begin a",
                   "end a", "begin b", "end b")
        self.assertEqual(pmcd.values("trace.transact.aborts"), {"a": 2, "b": 0})
        self.assertEqual(pmcd.values("trace.transact.count"), {"a": 1, "b": 1})
        spent = pmcd.values("trace.transact.abort_time")
        self.assertEqual(spent, {"a": spent["a"], "b": 0})
        wait_until(lambda: pmcd.values("trace.transact.abort_max"), what="the window")
        longest = pmcd.value("trace.transact.abort_max", "a")
        shortest = pmcd.value("trace.transact.abort_min", "a")
        self.assertGreater(longest, max(0.5, shortest))
        self.assertAlmostEqual(spent["a"], longest + shortest)
        completed = pmcd.value("trace.transact.total_time", "a")
        self.assertAlmostEqual(pmcd.value("trace.transact.max_time", "a") / completed, 1, places=5)
        self.assertEqual(histogram_text.parse(pmcd.values("tracing.histogram.transact")["a"]).count, 1)
        failed = pmcd.values("tracing.histogram.abort")
        self.assertEqual(set(failed), {"a"})
        self.assertEqual(histogram_text.parse(failed["a"]).bins, histogram_text.bins_of([shortest, longest]))

    def test_show_sums_and_a_window_of_observations(self):
        pmcd = self.start_pmcd(["-T", "8", "-N", "8"])
        self.trace(self.environment(pmcd), *(f"obs {value} a" for value in range(1, 1001)))
        self.assertEqual(pmcd.values("trace.observe.sum"), {"a": 500500})
        self.assert_values(pmcd, "trace.observe.ave", {"a": 500.5})
        self.assertEqual(pmcd.values("trace.observe.min"), {"a": 1})
        self.assertEqual(pmcd.values("trace.observe.max"), {"a": 1000})
        for name, exact in QUANTILES.items():
            self.assertLess(abs(pmcd.value(f"trace.observe.{name}", "a") / exact - 1), 0.02, name)
        self.assertEqual(pmcd.values("trace.observe.percentile_error"), {"a": 1 / 64})


class Increments(TraceTestCase):
    def test_add_up_over_programs_beside_a_counters_value(self):
        for value in (7, 8):
            self.trace(self.environment(), "add 2 a", "add 0.5 a", "add 4503599627370495 great", f"counter {value} a")
        self.assertEqual(self.pmcd.values("trace.counter.total"), {"a": 5, "great": 2**53 - 2})
        self.assertEqual(self.pmcd.values("trace.counter.count"), {"a": 6, "great": 2})
        self.assertEqual(self.pmcd.values("trace.counter.value"), {"a": 8})


class Clients(TraceTestCase):
    def test_have_an_instance_each_when_they_have_stayed_a_while(self):
        traced = self.start_traced(self.environment())
        for _ in range(3):
            traced.call("point a")
        self.assertEqual(self.pmcd.values("trace.client.recorded"), {})
        name = f"{traced.pid} traced"
        self.assert_values(self.pmcd, "trace.client.recorded", {name: 3})
        self.assert_values(self.pmcd, "trace.client.sent", {name: 3})
        for lossless in ("merged", "thinned", "uncertain", "reconnects"):
            self.assertEqual(self.pmcd.values(f"trace.client.{lossless}"), {name: 0})
        traced.end()
        self.assert_values(self.pmcd, "trace.client.recorded", {})


class Stores(TraceTestCase):
    def test_are_refused_to_users_that_pmcd_does_not_know(self):
        self.trace(self.environment(), "point a")
        for metric in ("trace.control.reset", "trace.control.debug"):
            _, output = self.pmcd.pmstore(metric, 1, unix=False)
            self.assertIn("No permission", output)
        self.assertEqual(self.pmcd.values("trace.point.count"), {"a": 1})

    def test_replace_debug_options(self):
        for metric, value, shown in (("agent", "fetch", "fetch"), ("agent", "libpmda", "libpmda"),
                                     ("control", 0, "none")):
            status, output = self.pmcd.pmstore(f"trace.{metric}.debug", value)
            self.assertEqual(status, 0, output)
            self.assertEqual(self.pmcd.values("trace.agent.debug"), {None: shown})
        status, output = self.pmcd.pmstore("trace.agent.debug", "no-such-option")
        self.assertNotEqual(status, 0, output)
        self.assertEqual(self.pmcd.values("trace.agent.debug"), {None: "none"})
