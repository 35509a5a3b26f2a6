# SPDX-License-Identifier: LGPL-2.1-or-later
"""A real Prometheus reads pmproxy's page /metrics, and its promtool checks the page."""

import json
import os
import subprocess
import unittest
import urllib.parse
import urllib.request

from pmproxy import Pmproxy
from private_pmcd import PATIENCE_S, ReservedPort, wait_until
from trace_test import TraceTestCase

PROGRAMS = os.path.join(os.environ["PROMETHEUS"], "usr/bin")
# As in libtrace/docs/grafana.md.
SETTINGS = """scrape_configs:
  - job_name: pcp
    scrape_interval: 200ms
    params: {names: [trace], hostspec: ["%s"]}
    static_configs: [{targets: ["%s"]}]
"""


def setUpModule():
    if not os.path.exists(f"{PROGRAMS}/promtool"):
        raise RuntimeError(f"no promtool in {PROGRAMS}: './run test views' gets it, from Debian")


class PrometheusTestCase(TraceTestCase):
    def setUp(self):
        self.pmcd = self.start_pmcd(["--split=service", "--stable-labels"])
        self.proxy = self.enterContext(Pmproxy(self.pmcd))

    def trace_as(self, service, *calls):
        self.trace(self.environment(self.pmcd, PCP_TRACE_SERVICE=service), *calls)


class Promtool(PrometheusTestCase):
    def check(self):
        page = self.proxy.get("metrics", names="trace")
        done = subprocess.run([f"{PROGRAMS}/promtool", "check", "metrics"], input=page, capture_output=True, text=True,
                              timeout=PATIENCE_S, check=False)
        return done.stderr

    def test_can_read_the_page(self):
        self.trace_as("shop", "point a{route=/cart}", 'obs 3 "quoted\\', "add 4 c")
        self.assertNotIn("error while linting", self.check())

    # A fault of pmproxy 6.0.3; Prometheus itself reads such a page.
    def test_cannot_read_a_tag_beyond_ascii(self):
        self.trace_as("shop", "point naïve")
        self.assertIn("invalid escape sequence '\\x'", self.check())


class Server(PrometheusTestCase):
    def start(self):
        port = self.enterContext(ReservedPort())
        self.address = f"127.0.0.1:{port.number}"
        page = urllib.parse.urlsplit(self.proxy.address("metrics"))
        with open(self.pmcd.path("prometheus.yml"), "w", encoding="utf-8") as file:
            file.write(SETTINGS % (self.pmcd.host(unix=True), page.netloc))
        server = subprocess.Popen(
            [f"{PROGRAMS}/prometheus", "--config.file", file.name, "--storage.tsdb.path", self.pmcd.path("prometheus"),
             "--web.listen-address", self.address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)

    def ask(self, query):
        """Gives value by labels; None as long as there is no answer."""
        address = f"http://{self.address}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
        try:
            with urllib.request.urlopen(address, timeout=PATIENCE_S) as answer:
                found = json.load(answer)["data"]["result"]
        except OSError:
            return None
        return {tuple(sorted(each["metric"].items())): float(each["value"][1]) for each in found}

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

    def test_finds_a_tag_beyond_ascii_by_its_bytes(self):
        self.trace_as("shop", "point naïve")
        self.start()
        query = r"""sum by (instname) (trace_point_count{tag="na\\xc3\\xafve"})"""
        self.assertEqual(wait_until(lambda: self.ask(query), what="the tag"),
                         {(("instname", r"na\xc3\xafve{service=shop}"),): 1})


if __name__ == "__main__":
    unittest.main()
