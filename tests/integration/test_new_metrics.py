# SPDX-License-Identifier: LGPL-2.1-or-later
"""Our agent's metrics beyond stock: aborts, sums, percentiles, clients, its own health."""

import errno
import os
import signal
import socket

import histogram_text
import legacy_wire
from private_pmcd import wait_until
from trace_test import STOCK_AGENT, TraceTestCase

QUANTILES = {"p50": 500, "p90": 900, "p95": 950, "p99": 990, "p999": 999}


class Metrics(TraceTestCase):
    def test_show_transactions_that_failed_apart_from_the_others(self):
        pmcd = self.start_pmcd(["-T", "8", "-N", "8"])
        pmcd.values("tracing.histogram.abort")
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
        failed = pmcd.values("tracing.histogram.abort")
        self.assertEqual(set(failed), {"a"})
        self.assertEqual(histogram_text.parse(failed["a"]).bins, histogram_text.bins_of([shortest, longest]))

    def assert_percentiles(self, pmcd, metrics, divisor):
        """Checks those of 1 to 1000, which were divided."""
        for name, exact in QUANTILES.items():
            self.assertLess(abs(pmcd.value(f"{metrics}.{name}", "a") * divisor / exact - 1), 0.02, name)
        self.assertEqual(pmcd.values(f"{metrics}.percentile_error"), {"a": 1 / 64})

    def test_show_sums_and_a_window_of_observations(self):
        pmcd = self.start_pmcd(["-T", "8", "-N", "8"])
        self.trace(self.environment(pmcd), *(f"obs {value} a" for value in range(1, 1001)))
        self.assertEqual(pmcd.values("trace.observe.sum"), {"a": 500500})
        self.assert_values(pmcd, "trace.observe.ave", {"a": 500.5})
        self.assertEqual(pmcd.values("trace.observe.min"), {"a": 1})
        self.assertEqual(pmcd.values("trace.observe.max"), {"a": 1000})
        self.assert_percentiles(pmcd, "trace.observe", 1)

    def test_show_percentiles_of_transactions(self):
        pmcd = self.start_pmcd(["-T", "8", "-N", "8"])
        with socket.create_connection(("127.0.0.1", pmcd.trace_port)) as client:
            legacy_wire.read_ack(client)
            for value in range(1, 1001):
                client.sendall(legacy_wire.encode_data("transact", "a", value / 1e6))
            wait_until(lambda: pmcd.value("trace.transact.p50", "a"), what="the window")
            self.assert_percentiles(pmcd, "trace.transact", 1e6)


class Increments(TraceTestCase):
    def test_add_up_over_programs(self):
        pmcd = self.start_pmcd()
        for _ in range(2):
            self.trace(self.environment(pmcd), "add 2 a", "add 0.5 a", "add 4503599627370495 great")
        self.assertEqual(pmcd.values("trace.counter.total"), {"a": 5, "great": 2**53 - 2})
        self.assertEqual(pmcd.values("trace.counter.count"), {"a": 4, "great": 2})
        self.assertEqual(pmcd.values("trace.counter.value"), {})

    def test_stand_beside_a_counters_value(self):
        pmcd = self.start_pmcd()
        self.trace(self.environment(pmcd), "counter 7 a", "add 2 a", "counter 8 b")
        self.assertEqual(pmcd.values("trace.counter.value"), {"a": 7, "b": 8})
        self.assertEqual(pmcd.values("trace.counter.total"), {"a": 2})
        status, output = pmcd.pmstore("trace.control.reset", 1)
        self.assertEqual(status, 0, output)
        self.trace(self.environment(pmcd), "counter 9 a")
        self.assertEqual(pmcd.values("trace.counter.total"), {})

    def test_are_refused_if_they_are_none(self):
        pmcd = self.start_pmcd()
        traced = self.start_traced(self.environment(pmcd))
        for value in ("-1", "nan", "inf"):
            self.assertEqual(traced.call(f"add {value} a"), -errno.EINVAL)
        traced.end()
        self.assertEqual(pmcd.values("trace.counter.count"), {})

    def test_are_a_value_to_an_agent_that_does_not_know_them(self):
        pmcd = self.start_pmcd(agent=STOCK_AGENT)
        traced = self.start_traced(self.environment(pmcd))
        for total in (2, 4, 6):
            self.assertEqual(traced.call("add 2 a"), 0)
            self.assert_values(pmcd, "trace.counter.value", {"a": total})
        self.assertEqual(pmcd.values("trace.counter.count"), {"a": 3})


class Clients(TraceTestCase):
    def test_have_an_instance_each_when_they_have_stayed_a_while(self):
        pmcd = self.start_pmcd()
        traced = self.start_traced(self.environment(pmcd))
        for _ in range(3):
            traced.call("point a")
        self.assertEqual(pmcd.values("trace.client.recorded"), {})
        name = f"{traced.pid} traced"
        self.assert_values(pmcd, "trace.client.recorded", {name: 3})
        self.assert_values(pmcd, "trace.client.sent", {name: 3})
        for lossless in ("merged", "thinned", "uncertain", "reconnects"):
            self.assertEqual(pmcd.values(f"trace.client.{lossless}"), {name: 0})
        traced.end()
        self.assert_values(pmcd, "trace.client.recorded", {})

    def test_are_logged_on_sighup(self):
        pmcd = self.start_pmcd()
        traced = self.start_traced(self.environment(pmcd))
        traced.call("point a")
        self.assertNotIn('"traced"', pmcd.agent_log())

        def is_logged():  # the program may not have logged yet, so ask again
            os.kill(pmcd.agent_pid(), signal.SIGHUP)
            return '"traced"' in pmcd.agent_log()
        wait_until(is_logged, what="the client in the log")
        self.assertEqual(traced.call("point a"), 0)


class Stores(TraceTestCase):
    def test_are_refused_to_users_that_pmcd_does_not_know(self):
        pmcd = self.start_pmcd()
        self.trace(self.environment(pmcd), "point a")
        for metric in ("trace.control.reset", "trace.control.debug"):
            _, output = pmcd.pmstore(metric, 1, unix=False)
            self.assertIn("No permission", output)
        self.assertEqual(pmcd.values("trace.point.count"), {"a": 1})

    def test_of_debug_options(self):
        pmcd = self.start_pmcd()
        def store(metric, value):
            status, output = pmcd.pmstore(metric, value)
            self.assertEqual(status, 0, output)

        for value in ("fetch", "none", "libpmda"):
            store("trace.agent.debug", value)
            self.assertEqual(pmcd.values("trace.agent.debug"), {None: value})
        shown = pmcd.values("trace.control.debug")  # a number, or with PCP 7 names
        if isinstance(shown[None], int):
            for value in (2, 0):
                store("trace.control.debug", value)
                self.assertEqual(pmcd.values("trace.control.debug"), {None: value})
        store("trace.control.debug", 0)
        self.assertNotEqual(pmcd.values("trace.control.debug"), shown)
        self.assertEqual(pmcd.values("trace.agent.debug"), {None: "none"})
        store("trace.control.debug", shown[None])
        self.assertEqual(pmcd.values("trace.control.debug"), shown)
        status, output = pmcd.pmstore("trace.agent.debug", "no-such-option")
        self.assertNotEqual(status, 0, output)
        self.assertEqual(pmcd.values("trace.control.debug"), shown)

    def test_of_a_reset_leave_connected_programs_as_they_are(self):
        pmcd = self.start_pmcd()
        traced = self.start_traced(self.environment(pmcd))
        for tag in ("a", "b"):
            traced.call(f"point {tag}")
        self.assert_values(pmcd, "trace.point.count", {"a": 1, "b": 1})
        status, output = pmcd.pmstore("trace.control.reset", 1)
        self.assertEqual(status, 0, output)
        self.assertEqual(pmcd.values("trace.point.count"), {})
        traced.call("point b")
        self.assert_values(pmcd, "trace.point.count", {"b": 1})
        self.assertEqual(pmcd.instances("trace.point.count"), {"b": 2})
