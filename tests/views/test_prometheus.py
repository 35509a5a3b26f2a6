# SPDX-License-Identifier: LGPL-2.1-or-later
"""A real Prometheus reads pmproxy's page /metrics with the settings of libtrace/docs/grafana.md, and its promtool checks the
page. It also gets what `pcp-trace export --otlp` sends; remote_write.py stands in for its receiver."""

import math
import os
import random
import re
import signal
import subprocess
import urllib.parse

import recorded

from grafana import Shop, check_series, dashboards, filled_in, targets
from pmproxy import Pmproxy
from private_pmcd import PATIENCE_S, ReservedPort, completed, wait_until
from prometheus import ask, documented
from remote_write import Receiver
from trace_test import TraceTestCase

PROGRAMS = os.path.join(os.environ["PROMETHEUS"], "usr/bin")
def setUpModule():
    if not os.path.exists(f"{PROGRAMS}/promtool"):
        raise RuntimeError(f"no promtool in {PROGRAMS}: './run test views' gets it, from Debian")


class PrometheusTestCase(TraceTestCase):
    options = ("--split=service", "--stable-labels")

    def setUp(self):
        self.pmcd = self.start_pmcd(["-T", "2", "-N", "4", *self.options])
        self.proxy = self.enterContext(Pmproxy(self.pmcd))

    def trace_as(self, service, *calls):
        self.trace(self.environment(self.pmcd, PCP_TRACE_SERVICE=service), *calls)


class Promtool(PrometheusTestCase):
    def check(self):
        page = self.proxy.get("metrics", names="trace")
        done = completed(f"{PROGRAMS}/promtool", "check", "metrics", input=page)
        return done.stderr

    def test_can_read_the_page(self):
        self.trace_as("shop", "point a{route=/cart}", 'obs 3 "quoted\\', "add 4 c")
        self.assertNotIn("error while linting", self.check())

    # A fault of pmproxy 6.0.3; Prometheus itself reads such a page.
    def test_cannot_read_a_tag_beyond_ascii(self):
        self.trace_as("shop", "point naïve")
        self.assertIn("invalid escape sequence '\\x'", self.check())


class ServerTestCase(PrometheusTestCase):
    def start(self, more="", options=()):
        port = self.enterContext(ReservedPort())
        self.address = f"127.0.0.1:{port.number}"
        page = urllib.parse.urlsplit(self.proxy.address("metrics"))
        settings, = [each for each in documented("yaml") if "scrape_configs" in each]
        for pattern, here in (("targets: .*?]", f'targets: ["{page.netloc}"]'), ("scrape_interval: .*", "scrape_interval: 1s"),
                              ("names: .trace.", f'names: [trace], hostspec: ["{self.pmcd.host(unix=True)}"]')):
            settings, found = re.subn(pattern, here, settings)
            self.assertEqual(found, 1, pattern)
        with open(self.pmcd.path("prometheus.yml"), "w", encoding="utf-8") as file:
            file.write(settings + more)
        server = subprocess.Popen(
            [f"{PROGRAMS}/prometheus", "--config.file", file.name, "--storage.tsdb.path", self.pmcd.path("prometheus"),
             "--web.listen-address", self.address, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)

    def ask(self, query):
        """A scrape that takes longer than its interval fails, and no
        series has a value until the next one: whoever asks for values now has to wait for them."""
        return ask(self.address, query)


class Server(ServerTestCase):
    def test_adds_up_by_service(self):
        self.trace_as("shop", "point a", "point a", "point b{route=/cart}")
        self.start()
        query = "sum by (service) (trace_point_count)"
        wait_until(lambda: self.ask(query) == {(("service", "shop"),): 3}, what="the first program")
        self.trace_as("stock", "point a")
        expected = {(("service", "shop"),): 3, (("service", "stock"),): 1}
        wait_until(lambda: self.ask(query) == expected, what="the second program")
        # Each series has lived on.
        self.assertEqual(self.ask("sum(count_over_time(trace_point_count{tag='a',service='shop'}[1h])) > bool 1"), {(): 1})
        self.assertEqual(sorted(self.ask("count(last_over_time(trace_point_count[1h]))").values()), [3])

    def test_answers_each_query_of_the_document(self):
        queries, beyond_ascii = documented("promql")
        traced = self.start_traced(self.environment(self.pmcd, PCP_TRACE_SERVICE="shop"))
        traced.call("point naïve")
        traced.call("begin open")
        self.start()

        def has_answer(query):
            for call in ("begin request{route=/cart}", "end request{route=/cart}"):
                traced.call(call)
            return self.ask(query.replace("1m", "20s"))
        self.assertEqual(len(queries.splitlines()), 6)
        for query in queries.splitlines():
            wait_until(lambda q=query: has_answer(q), what=query)
        by_route = "sum by (service, route) (trace_transact_count{route='/cart'})"
        wait_until(lambda: list(self.ask(by_route) or ()) == [(("route", "/cart"), ("service", "shop"))], what="the route")
        self.assertEqual(len(wait_until(lambda: self.ask(beyond_ascii), what="the tag")), 1)


class Dashboards(ServerTestCase):
    def setUp(self):
        self.shop = Shop(self)
        self.pmcd = self.shop.pmcd
        self.proxy = self.enterContext(Pmproxy(self.pmcd))
        self.start()

    def test_each_query_has_data(self):
        check_series(self, "prometheus", self.address, self.shop.work)

    def test_add_up_by_labels(self):
        _, target = targets(dashboards("prometheus")[0])[0]

        def legends():
            self.shop.work()
            found = self.ask(filled_in(target["expr"], by=("tag", "route"), tag="request"))
            return {dict(labels)["legend"] for labels in found or ()}
        wait_until(lambda: legends() == {"request ", "request /cart"}, what="both")


class Relabelled(ServerTestCase):
    options = ()

    def series(self):
        return self.ask("count(last_over_time(trace_point_count[1h]))"), self.ask("sum(trace_point_count)")

    def test_keeps_series_of_an_agent_without_options(self):
        rules, = [each for each in documented("yaml") if "relabel" in each]
        self.trace_as("shop", "point a")
        self.start(rules)
        wait_until(lambda: self.series() == ({(): 1}, {(): 1}), what="the first program")
        self.trace_as("stock", "point a")
        wait_until(lambda: self.series()[1] == {(): 2}, what="the second program")
        self.assertEqual(self.series()[0], {(): 1})


class NativeHistograms(ServerTestCase):
    def setUp(self):
        super().setUp()
        self.start(options=["--web.enable-remote-write-receiver", "--enable-feature=native-histograms"])
        wait_until(lambda: self.ask("vector(1)"), what="Prometheus")
        self.receiver = self.enterContext(Receiver(self.address).listen())
        self.export = self.start_process(
            recorded.COMMAND, "export", "--otlp", self.receiver.url, "--only", "metrics", "-t", "1s",
            "-h", self.pmcd.host(unix=True), stderr=subprocess.PIPE)

    def test_have_the_stated_error_and_go_on_after_a_restart_of_the_agent(self):
        calls = self.start_traced(self.environment(self.pmcd, PCP_TRACE_SERVICE="shop"))
        rng, values = random.Random(7), {"/cart": [], "/pay": []}

        def work(count):
            for _ in range(count):
                route = rng.choice(list(values))
                values[route].append(rng.lognormvariate(3, 2))
                calls.call(f"obs {values[route][-1]!r} rows{{route={route};status=200}}")

        def has_distributions():  # the agent keeps them from the time when they are asked for
            calls.call("obs 1 first")
            return self.ask("histogram_count(trace_observe_distribution)")
        wait_until(has_distributions, what="distributions")
        counts = "sum by (route, status) (histogram_count(trace_observe_distribution{tag='rows'}))"
        work(1000)

        def expected():
            return {(("route", route), ("status", "200")): len(each) for route, each in values.items()}
        wait_until(lambda: self.ask(counts) == expected(), what="all values")
        for rank in (0.5, 0.95, 0.99):
            found = self.ask(f"histogram_quantile({rank}, sum by (route) (trace_observe_distribution{{tag='rows'}}))")
            for (label,), value in found.items():
                exact = sorted(values[label[1]])[math.ceil(rank * len(values[label[1]])) - 1]
                self.assertAlmostEqual(value, exact, delta=0.038 * exact)
        self.pmcd.restart_agent()
        for each in values.values():
            each.clear()
        # Prometheus takes a count for a new one only while it is less than before.
        resets = "resets(trace_observe_count_total{tag='rows'}[1h]) == 1"
        wait_until(lambda: work(1) or len(self.ask(resets)) == 2, what="resets")
        totals = "sum by (route, status) (trace_observe_count_total{tag='rows'})"
        wait_until(lambda: self.ask(totals) == expected(), what="new counts")
        rates = "histogram_quantile(0.5, sum by (route) (rate(trace_observe_distribution{tag='rows'}[5m]))) > 0"
        wait_until(lambda: set(self.ask(rates)) == {(("route", route),) for route in values}, what="rates")
        identities = self.ask("count by (job, instance) (count_over_time(trace_observe_count_total{tag='rows'}[1h]))")
        self.assertEqual(list(identities.values()), [2])
        self.export.send_signal(signal.SIGINT)
        self.assertEqual((self.export.wait(), self.receiver.refusals), (0, []), self.export.stderr.read())
