# SPDX-License-Identifier: LGPL-2.1-or-later
"""The dashboards for Grafana: checked by Grafana's own types, and with a key server that has what a pmlogger wrote, which is
asked as grafana-pcp's data sources Valkey and Redis ask."""

import json
import os
import tempfile
import unittest

from grafana import SOURCES, Shop, dashboards, targets
from key_server import KeyServer
from pmlogger import Pmlogger
from pmproxy import Pmproxy
from private_pmcd import completed, wait_until
from trace_test import TraceTestCase

MODULES = os.path.join(os.environ["GRAFANA"], "node_modules")
COMPILE = ["node", f"{MODULES}/typescript/lib/tsc.js", "--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext"]
TYPED = """import type {Dashboard, GraphFieldConfig, Panel} from "@grafana/schema";
export const dashboard: Dashboard & {panels: Panel<Record<string, never>, GraphFieldConfig>[]} =
"""


def setUpModule():
    if not os.path.exists(MODULES):
        raise RuntimeError(f"no types of Grafana in {MODULES}: './run test views' gets them, from npm")


class Types(unittest.TestCase):
    def complaints(self, *some):
        with tempfile.TemporaryDirectory(prefix="views-") as directory:
            os.symlink(MODULES, f"{directory}/node_modules")
            names = []
            for dashboard in some:
                names.append(f"{directory}/{dashboard['uid']}.ts")
                with open(names[-1], "w", encoding="utf-8") as file:
                    file.write(TYPED + json.dumps(dashboard))
            done = completed(*COMPILE, *names, cwd=directory)
        return done.stdout + done.stderr

    def test_fit_the_dashboards(self):
        self.assertEqual(self.complaints(*(each for source in SOURCES
                                           for each in dashboards(source))), "")

    def test_refuse_what_no_dashboard_has(self):
        dashboard = dashboards("vector")[0]
        self.assertIn('"lines"\' does not exist', self.complaints(dashboard | {"lines": []}))
        self.assertIn("Type 'string' is not assignable to type 'number'", self.complaints(
            dashboard | {"panels": [dashboard["panels"][0] | {"id": "1"}]}))


class HistoryTestCase(TraceTestCase):
    nodes = 1

    def setUp(self):
        self.shop = Shop(self)
        pmcd = self.shop.pmcd
        os.makedirs(pmcd.path("archives/pmlogger/shop"))
        self.keys = self.enterContext(KeyServer(pmcd.directory, self.nodes))
        self.proxy = self.enterContext(Pmproxy(pmcd, self.keys.ports))
        self.shop.work()
        wait_until(lambda: all(pmcd.values(f"trace.{metric}") for metric in (
            "transact.count", "transact.aborts", "point.count", "observe.count", "counter.value")),
            what="all tags")  # see test_a_tag_has_its_name_in_the_next_archive
        self.begin_archive("log")

    def begin_archive(self, name):
        logger = Pmlogger(self.shop.pmcd, self.shop.pmcd.path(f"archives/pmlogger/shop/{name}"), every="500 msec")
        self.addCleanup(logger.end)

    def ask(self, what, **parameters):
        return json.loads(self.proxy.get(f"series/{what}", **parameters))

    def values(self, query):
        """Gives what the data source would draw: the latest numbers of this query."""
        self.shop.work()
        series = self.ask("query", expr=query)
        if not series:
            return []
        return [float(each["value"]) for each in self.ask("values", series=",".join(series), samples=1)]


class History(HistoryTestCase):
    def test_each_query_has_data(self):
        asked = 0
        wait_until(lambda: self.values("trace.agent.clients"), what="the key server's first values")
        host, = self.ask("labels", names="hostname")["hostname"]  # what the variable "host" offers
        for source in ("valkey", "redis"):
            for dashboard in dashboards(source):
                variables = {each["name"]: each.get("query") for each in dashboard["templating"]["list"]}
                self.assertEqual(variables["host"], "label_values(hostname)")
                for panel, target in targets(dashboard):
                    self.assertIn('"$host"', target["expr"])
                    query = target["expr"].replace("$host", host)
                    wait_until(lambda q=query: self.values(q), what=f"{panel['title']}: {query}")
                    self.assertEqual(self.ask("query", expr=target["expr"].replace("$host", "of nobody")), [])
                    asked += 1
        self.assertGreater(asked, 100)

    # Within an archive pmproxy 6.0.3 may not learn the names of later tags.
    def test_a_tag_has_its_name_in_the_next_archive(self):
        metric = "trace.transact.count"
        wait_until(lambda: self.values(metric), what="the key server's first values")
        self.shop.work("begin late", "end late")
        wait_until(lambda: "late" in self.shop.pmcd.values(metric), what="a late tag")
        self.begin_archive("next")

        def names():
            self.shop.work("begin late", "end late")
            return {each["name"] for each in self.ask("instances", series=",".join(self.ask("query", expr=metric)))}
        wait_until(lambda: {"late", "request", "request{route=/cart}"} <= names(), what="the names")


class HistoryInACluster(HistoryTestCase):
    nodes = 3

    # pmproxy 6.0.3 gives no answer when grafana-pcp asks a cluster for the values of a rate.
    def test_is_on_all_nodes(self):
        def rates():
            self.shop.work()
            return self.ask("query", expr="rate(trace.transact.count[samples:3])")
        wait_until(rates, what="rates")
        for port in self.keys.ports:
            self.assertGreater(int(self.keys.ask(port, "dbsize")), 0)
