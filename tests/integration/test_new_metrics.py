# SPDX-License-Identifier: LGPL-2.1-or-later
"""Our agent's metrics beyond stock: aborts, clients."""

import histogram_text
from private_pmcd import wait_until
from trace_test import TraceTestCase


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
