# SPDX-License-Identifier: LGPL-2.1-or-later
"""The dashboards for Grafana, and a traced program for which each of their panels has something to show."""

import importlib.util
import math
import os
import re
from private_pmcd import wait_until
from prometheus import ask

GENERATOR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../pmda/views/grafana/dashboards.py")

_spec = importlib.util.spec_from_file_location("dashboards", GENERATOR)
_generator = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_generator)

SOURCES = [each.word for each in _generator.SOURCES]

# Least and greatest value of panels for Shop.work(), by the begin of their titles.
KNOWN = {"Failed, as a part": (0.4, 0.6), "Observations: mean": (16.9, 17.1), "Processor time": (0, 2)}


def dashboards(source):
    """Gives those for a source."""
    return [each for each in _generator.dashboards().values() if each["uid"].startswith(f"pcp-trace-{source}-")]


def targets(dashboard):
    """Gives each query with its panel."""
    return [(panel, target) for panel in dashboard["panels"] for target in panel["targets"]]


def title_of(target, instance):
    """Gives the name of an instance's line, as the data sources make it."""
    name = target["expr"].partition("{")[0].rpartition(".")[2]
    return target["legendFormat"].replace("$instance", instance).replace("$metric0", name)


def filled_in(text, by=("tag",), **chosen):
    """Gives a query as the data source Prometheus sends it."""
    values = {"${by:csv}": ",".join(by), "${by:doublequote}": ",".join(f'"{label}"' for label in by),
              "$__rate_interval": "20s", **{f"${name}": chosen.get(name, ".*") for name in ("host", "service", "tag")}}
    return re.sub(r"\$(?:\w+|\{.*?\})", lambda found: values[found[0]], text)


def check_series(test, source, address, work):
    """Asks a server each query of a source's dashboards, and of their variables."""
    for dashboard in dashboards(source):
        for panel, target in targets(dashboard):
            limits = [limits for title, limits in KNOWN.items() if panel["title"].startswith(title)]

            def data(query=target["expr"], limits=limits, **chosen):
                work()
                return {labels: value for labels, value in (ask(address, filled_in(query, **chosen)) or {}).items()
                        if not math.isnan(value) and all(least <= value <= most for least, most in limits)}
            for labels in wait_until(data, what=f"{panel['title']}: {target['expr']}"):
                for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                    test.assertIn(label, dict(labels))
            for name in "host", "service", "tag":
                if f"${name}" in target["expr"]:
                    test.assertEqual(data(**{name: "nobody"}), {})
        for variable in dashboard["templating"]["list"]:
            for selector, label in re.findall(r"label_values\((.*), (\w+)\)", variable.get("query", "")):
                found = ask(address, filled_in(f"count by ({label}) ({selector})"))
                test.assertTrue(any(dict(labels).get(label) for labels in found), variable)


class Shop:
    """A pmcd, and a program of the service `shop` with all kinds of calls, one of them open."""

    def __init__(self, test, pmcd=None):
        # Intervals of half a second, and values stay.
        self.pmcd = pmcd or test.start_pmcd(["-T", "400", "-N", "800"])
        self._program = test.start_traced(test.environment(self.pmcd, PCP_TRACE_SERVICE="shop"))
        self._program.call("begin open")

    def work(self, *more):
        for call in (*more, "begin request", "end request", "begin request{route=/cart}", "abort request{route=/cart}",
                     "point cache-miss", "obs 17 queue-length", "add 4096 bytes-sent", "counter 81920 log-length"):
            self._program.call(call)
