# SPDX-License-Identifier: LGPL-2.1-or-later
"""The metrics are the same with each library and each agent."""

import re
import time

from trace_test import (OUR_AGENT, STOCK_AGENT, STOCK_LIBRARY, Agent, TraceTestCase,
                        with_each_agent, with_each_pair)

STOCK_METRICS = """
    trace.transact.count trace.transact.rate trace.transact.ave_time trace.transact.min_time
    trace.transact.max_time trace.transact.total_time trace.point.count trace.point.rate
    trace.observe.count trace.observe.rate trace.observe.value trace.control.period
    trace.control.interval trace.control.buckets trace.control.port trace.control.reset
    trace.control.debug trace.counter.count trace.counter.rate trace.counter.value""".split()


@with_each_pair
class Values(TraceTestCase):
    """All values are there as soon as the program has ended."""

    def setUp(self):
        self.pmcd = self.start_pmcd()

    def run_program(self, *lines):
        self.trace(self.environment(self.pmcd), *lines)

    def assert_all(self, **values):
        """Checks all tags of metrics: kind_what={tag: value}."""
        self.assertEqual({name: self.pmcd.values("trace." + name.replace("_", ".")) for name in values}, values)

    def test_are_counts_and_the_last_value(self):
        self.run_program("point login", "point login", "point logout", "obs 1.5 size", "obs -2.25 size",
                         "counter 10 bytes", "counter 30 bytes", "counter 35 bytes")
        self.assert_all(point_count={"login": 2, "logout": 1}, observe_count={"size": 2}, observe_value={"size": -2.25},
                        counter_count={"bytes": 3}, counter_value={"bytes": 35})

    def test_transactions(self):
        started = time.monotonic()
        # load: the transaction's length
        self.run_program("begin query", "sleep 0.1", "end query", "begin query", "end query",
                         "begin query", "abort query", "begin other")
        self.assertEqual(self.pmcd.values("trace.transact.count"), {"query": 2})
        between = time.monotonic() - started
        self.assertTrue(0.1 <= self.pmcd.value("trace.transact.total_time", "query") < between)

    def test_one_name_of_every_kind(self):
        self.run_program("point a", *["obs 2 a"] * 2, *["counter 3 a"] * 3, "begin a", "end a")
        self.assert_all(transact_count={"a": 1}, point_count={"a": 1}, observe_count={"a": 2}, counter_count={"a": 3})

    def test_programs_add_up(self):
        for _ in range(3):
            self.run_program("point a", "point a", "begin b", "end b")
        self.assert_all(point_count={"a": 6}, transact_count={"b": 3})

    def test_asynchronous_programs_are_counted_as_well(self):
        traced = self.start_traced(self.environment(self.pmcd))
        for line in ("state 32", "point a", "obs 4 b", "counter 5 c", "begin d", "end d"):
            traced.call(line)
        self.assert_values(self.pmcd, "trace.point.count", {"a": 1})
        self.assert_values(self.pmcd, "trace.observe.value", {"b": 4})
        self.assert_values(self.pmcd, "trace.counter.value", {"c": 5})
        self.assert_values(self.pmcd, "trace.transact.count", {"d": 1})


@with_each_agent
class Control(TraceTestCase):
    def test_shows_the_options(self):
        pmcd = self.start_pmcd(["-T", "30", "-N", "6"])
        self.assertEqual(pmcd.values("trace.control.period"), {None: 30})
        self.assertEqual(pmcd.values("trace.control.buckets"), {None: 6})
        self.assertEqual(pmcd.values("trace.control.port"), {None: pmcd.trace_port})

    def test_period_is_a_minute_or_what_is_given_in_pcps_notation(self):
        for options, seconds in (([], 60), (["-T", "2min"], 120)):
            self.assertEqual(self.start_pmcd(options).values("trace.control.period"), {None: seconds})

    def test_reset_forgets_all_tags(self):
        pmcd = self.start_pmcd()
        self.trace(self.environment(pmcd), "point a", "obs 1 a", "counter 1 a", "begin a", "end a")
        status, output = pmcd.pmstore("trace.control.reset", 1)
        self.assertEqual(status, 0, output)
        for kind in ("transact", "point", "observe", "counter"):
            self.assertEqual(pmcd.values(f"trace.{kind}.count"), {})
        self.trace(self.environment(pmcd), "point b")
        self.assertEqual(pmcd.values("trace.point.count"), {"b": 1})

    def test_nothing_else_can_be_stored(self):
        pmcd = self.start_pmcd()
        for metric in ("trace.control.period", "trace.control.port", "trace.point.count"):
            _, output = pmcd.pmstore(metric, 1)
            self.assertNotIn("old value", output)


class Descriptions(TraceTestCase):
    """Name, PMID, type, units and semantics of all stock metrics."""

    def description(self, agent, metrics, *options):
        return self.start_pmcd(options, Agent(*agent)).pminfo("-d", "-m", *metrics)

    def assert_same(self, *options):
        ours = self.description(OUR_AGENT, STOCK_METRICS, *options)
        self.assertEqual(ours, self.description(STOCK_AGENT, STOCK_METRICS, *options))
        self.assertEqual(len(re.findall(r"PMID: 10\.0\.", ours)), 20)

    def test_are_those_of_stock(self):
        self.assert_same()

    def test_follow_the_units_given(self):
        self.assert_same("-U", "1,-1,0,1,3,0", "-V", "0,0,1,0,0,3")

    def test_work_with_stocks_name_space(self):
        ours = Agent(OUR_AGENT.path, STOCK_AGENT.namespace)
        self.assertEqual(self.description(ours, ["trace"]),
                         self.description(STOCK_AGENT, ["trace"]))

    def test_the_control_metrics_print_alike(self):
        def control(agent):
            pmcd = self.start_pmcd(["-T", "30", "-N", "5"], agent)
            return pmcd.pminfo("-f", *(metric for metric in STOCK_METRICS if "control" in metric and
                                       not metric.endswith(("port", "interval"))))
        self.assertEqual(control(OUR_AGENT), control(STOCK_AGENT))

    def test_values_print_alike(self):
        def values(agent):
            pmcd = self.start_pmcd(agent=agent)
            self.trace(pmcd.environment(STOCK_LIBRARY), "point a", "point b b", "obs 0.1 a",
                       "counter 3 a")
            return pmcd.pminfo("-f", "trace.point.count", "trace.observe.value",
                               "trace.counter.value", "trace.point.rate")
        self.assertEqual(values(OUR_AGENT), values(STOCK_AGENT))
