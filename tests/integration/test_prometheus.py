# SPDX-License-Identifier: LGPL-2.1-or-later
"""pmproxy's page /metrics, as Prometheus reads it: each metric by its name, and series that stay the same series. tests/views
has a real Prometheus."""

import re

from grafana import Shop
from pmproxy import Pmproxy
from private_pmcd import completed, wait_until
from prometheus import Page, documented
from trace_test import TraceTestCase, program

# Before PCP 6.2.2 no series has the agent's label.
OF_ALL = {"hostname", "machineid", "machineid_sha256", "domainname", "userid", "groupid", "agent", "trace_type", "instid"}
TYPES = {"counter": "counter", "instant": "gauge", "discrete": "gauge"}


class Prometheus(TraceTestCase):
    def page(self, proxy):
        return Page(proxy.get("metrics", names="trace"))

    def numbers(self, pmcd):
        """Gives Prometheus's type for each metric that PCP describes as a number and shows with a value."""
        found = re.findall(r"^(trace\.\S+)\n +Data Type: (.*?)  InDom: .*\n +Semantics: (\w+) .*\n(?: +inst .*?| +)value ",
                           pmcd.pminfo("-df", "trace"), re.MULTILINE)
        return {name.replace(".", "_"): TYPES[semantics] for name, kind, semantics in found
                if kind not in ("string", "aggregate")}

    def test_gets_each_metric_that_is_a_number(self):
        shop = Shop(self)
        shop.work()
        wait_until(lambda: shop.pmcd.values("trace.transact.p99"), what="percentiles")
        wait_until(lambda: shop.pmcd.values("trace.client.sent"), what="the program's own numbers")
        with Pmproxy(shop.pmcd) as proxy:
            page = self.page(proxy)
        numbers = self.numbers(shop.pmcd)
        self.assertGreater(len(numbers), 50)
        self.assertEqual(page.types, numbers)
        self.assertEqual(set(page.samples), set(numbers))

    def test_gets_the_values_and_labels_of_tags(self):
        self.trace(self.environment(PCP_TRACE_SERVICE="shop", PCP_TRACE_LABELS="zone=eu"),
                   'point a{route=/x}', 'obs 4 "quoted\\', "add 3 c")
        with Pmproxy(self.pmcd) as proxy:
            page = self.page(proxy)
        seen = {name: [({key: label for key, label in labels.items() if key not in OF_ALL}, value)
                       for labels, value in page.samples[name]]
                for name in ("trace_point_count", "trace_observe_value", "trace_counter_total")}
        common = {"service": "shop", "zone": "eu"}
        self.assertEqual(seen["trace_point_count"],
                         [({"tag": "a", "route": "/x", "instname": "a{route=/x}", **common}, 1)])
        self.assertEqual(seen["trace_counter_total"], [({"tag": "c", "instname": "c", **common}, 3)])
        (labels, value), = seen["trace_observe_value"]
        self.assertEqual((labels["instname"], value), ('"quoted\\', 4))

    def test_sees_stable_series(self):
        """A tag's series, before and after other programs used it."""
        pmcd = self.start_pmcd(["--split=service", "--stable-labels"])
        seen = []
        with Pmproxy(pmcd) as proxy:
            for service, zone in (("shop", "eu"), ("stock", "us")):
                self.trace(self.environment(pmcd, PCP_TRACE_SERVICE=service, PCP_TRACE_LABELS=f"zone={zone}"),
                           "point read{disk=sda}")
                completed(program("traces"), input=f"describe read{{disk=sda}} KiB {service}\npoint read{{disk=sda}}\n",
                          env=self.environment(pmcd, PCP_TRACE_SERVICE=service), check=True)
                seen.append({frozenset(labels.items()) for labels, _ in self.page(proxy).samples["trace_point_count"]
                             if labels["tag"] == "read"})
        before, after = [[dict(series) for series in each] for each in seen]
        self.assertEqual([(series["tag"], series["disk"], series["service"]) for series in before],
                         [("read", "sda", "shop")])
        self.assertEqual({series["service"] for series in after}, {"shop", "stock"})
        self.assertIn(before[0], after)
        self.assertEqual([set(series) - OF_ALL for series in after], 2 * [{"tag", "disk", "service", "instname"}])

    def test_gets_what_the_document_shows(self):
        pmcd = self.start_pmcd(["--split=service", "--stable-labels"])
        self.trace(self.environment(pmcd, PCP_TRACE_SERVICE="shop"),
                   *3 * ["begin request{route=/cart}", "end request{route=/cart}"])
        of_all = re.compile(r'(hostname|machineid|machineid_sha256|domainname|userid|groupid|agent)="[^"]*",?')
        with Pmproxy(pmcd) as proxy:
            shown = proxy.get("metrics", names="trace.transact.count")
        pages = [[sorted(filter(None, re.split("[{,]|} ", of_all.sub("", line)))) for line in page.strip().splitlines()]
                 for page in (shown, documented("text")[0])]
        self.assertEqual(*pages)
