# SPDX-License-Identifier: LGPL-2.1-or-later
"""The dashboards for Grafana, without Grafana: their queries are sent to a live pmproxy as the Vector data source sends
them. tests/views has the rest."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

from grafana import GENERATOR, SOURCES, Shop, dashboards, targets, title_of
from pmproxy import Pmproxy
from private_pmcd import wait_until
from trace_test import TraceTestCase


class Live(TraceTestCase):
    def setUp(self):
        self.shop = Shop(self)
        self.proxy = self.enterContext(Pmproxy(self.shop.pmcd))
        self.context = json.loads(self.proxy.ask("context"))["context"]

    def ask(self, what, **parameters):
        return json.loads(self.proxy.ask(what, context=self.context, **parameters))

    def instances(self, metric):
        values = self.ask("fetch", names=metric)["values"]
        self.assertTrue(values, f"there is no metric {metric}")
        return values[0]["instances"]

    def has_value(self, metric):
        self.shop.work()
        return [each for each in self.instances(metric) if isinstance(each["value"], (int, float))]

    def test_each_query_has_data(self):
        asked = 0
        for dashboard in dashboards("vector"):
            self.assertIn("host", [each["name"] for each in dashboard["templating"]["list"]])
            for panel, target in targets(dashboard):
                self.assertEqual(target["hostspec"], "$host")  # here it is the private pmcd
                metric = target["expr"]
                wait_until(lambda m=metric: self.has_value(m), what=f"{panel['title']}: {metric}")
                asked += 1
        self.assertGreater(asked, 50)

    # The data source turns counters into rates, and nothing else.
    def test_rates_are_of_counters(self):
        for dashboard in dashboards("vector"):
            for panel, target in targets(dashboard):
                facts, = self.ask("metric", names=target["expr"])["metrics"]
                is_rate = "per second" in panel["title"] or panel["fieldConfig"]["defaults"]["unit"] == "percentunit"
                self.assertEqual(facts["sem"] == "counter", is_rate, (panel["title"], facts))

    def test_one_tag_is_shown_with_its_name(self):
        self.assertTrue(wait_until(lambda: self.has_value("trace.transact.p99"), what="p99"))
        names = {each["name"] for each in self.ask("indom", name="trace.transact.p99")["instances"]}
        self.assertEqual(names, {"open", "request", "request{route=/cart}"})
        for dashboard in dashboards("vector"):
            for panel, target in targets(dashboard):
                titles = {name: title_of(target, name) for name in names}
                for tag, shown in ((".*", names), ("request", {"request"}), ("request{.*", {"request{route=/cart}"})):
                    for change in panel.get("transformations", ()):
                        pattern = change["options"]["include"]["pattern"].strip("/").replace("$tag", tag)
                        self.assertEqual({name for name in names if re.search(pattern, titles[name])}, shown)
                        self.assertTrue(re.search(pattern, "Time") and re.search(pattern, "time"))
            self.assertEqual("$tag" in json.dumps(dashboard), dashboard["uid"].endswith("-tag"))


class Files(unittest.TestCase):
    def test_are_what_the_generator_gives(self):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run([sys.executable, "-B", GENERATOR, directory], check=True)
            uids = set()
            for name in os.listdir(directory):
                with open(os.path.join(directory, name), encoding="utf-8") as file:
                    uids.add(json.load(file)["uid"] + ".json")
            self.assertEqual(uids, set(os.listdir(directory)))
            self.assertEqual(len(uids), 3 * len(SOURCES))
