# SPDX-License-Identifier: LGPL-2.1-or-later
"""A real server takes what `pcp-trace export --otlp` sends, and answers the queries of libtrace/docs/opentelemetry.md
and of the dashboards for Grafana."""

import os
import signal
import subprocess

import recorded
from grafana import Shop, check_series
from private_pmcd import ReservedPort, completed, wait_until
from prometheus import ask, documented
from trace_test import TraceTestCase, program

SERVER = os.path.join(os.environ["VICTORIA"], "usr/bin/victoria-metrics")


def setUpModule():
    if not os.path.exists(SERVER):
        raise RuntimeError(f"no {SERVER}: './run test views' gets it, from Debian")


class VictoriaMetrics(TraceTestCase):
    def setUp(self):
        self.pmcd = self.start_pmcd(["-T", "2", "-N", "4", "--split=service"], host_name="saturn")
        port = self.enterContext(ReservedPort())
        self.address = f"127.0.0.1:{port.number}"
        self.start_process(SERVER, f"-storageDataPath={self.pmcd.path('victoria')}", f"-httpListenAddr={self.address}",
                           "-opentelemetry.usePrometheusNaming", "-search.latencyOffset=0s", stderr=subprocess.DEVNULL)
        self.export = self.start_process(
            recorded.COMMAND, "export", "--otlp", f"http://{self.address}/opentelemetry", "--only", "metrics", "-t", "1s",
            "-h", self.pmcd.host(unix=True), stderr=subprocess.PIPE)

    def trace_as(self, service, *calls):
        self.trace(self.environment(self.pmcd, PCP_TRACE_SERVICE=service), *calls)

    def wait_for(self, query, expected):
        wait_until(lambda: ask(self.address, query) == expected, what=query)

    def test_adds_up_by_service_and_label_also_over_a_restart_of_the_agent(self):
        by_service = "sum by (service_name, route) (trace_point_count_total)"
        shop, stock = ((("route", "/cart"), ("service_name", "shop")), (("service_name", "stock"),))
        self.trace_as("shop", "point a{route=/cart}", "point a{route=/cart}")
        self.trace_as("stock", "point a")
        self.wait_for(by_service, {shop: 2, stock: 1})
        self.pmcd.restart_agent()
        self.trace_as("shop", "point a{route=/cart}")
        wait_until(lambda: (ask(self.address, by_service) or {}).get(shop) == 1, what="the new agent's counts")
        # The server knows what was counted in all, by both agents.
        self.wait_for("sum(increase_pure(trace_point_count_total{route='/cart'}[1h]))", {(): 3})
        self.export.send_signal(signal.SIGINT)
        self.assertEqual(self.export.wait(), 0, self.export.stderr.read())

    def test_answers_each_query_of_the_document(self):
        both, percentiles, of_prometheus = documented("promql", "opentelemetry.md")
        self.assertIn("histogram_quantile", of_prometheus)
        traced = self.start_traced(self.environment(self.pmcd, PCP_TRACE_SERVICE="shop"))

        def has_answer(query):
            for call in ("begin request{route=/cart}", "end request{route=/cart}", "begin request{route=/cart}",
                         "abort request{route=/cart}"):
                traced.call(call)
            return ask(self.address, query.replace("1m", "20s").replace("5m", "20s"))
        for query in (*both.replace("\n  ", " ").splitlines(), percentiles):
            wait_until(lambda q=query: has_answer(q), what=query)
        self.assertEqual(list(ask(self.address, percentiles)), [(("tag", "request"),)])

    def test_answers_each_query_of_the_dashboards(self):
        shop = Shop(self, self.pmcd)
        completed(program("traces"), check=True, env=self.environment(self.pmcd, PCP_TRACE_SERVICE="shop"),
                  input="describe queue-length KiB length\nobserve queue-length 17\n"
                        "describe bytes-sent bytes sum\nadd bytes-sent 1\n")
        check_series(self, "victoriametrics", self.address, shop.work)
        self.assertTrue(ask(self.address, "trace_observe_sum_kibibytes"))  # its unit is a part of its name
