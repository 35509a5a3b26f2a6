# SPDX-License-Identifier: LGPL-2.1-or-later
"""The dashboards for Grafana, and a traced program for which each of their panels has something to show."""

import importlib.util
import os

GENERATOR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../pmda/views/grafana/dashboards.py")

_spec = importlib.util.spec_from_file_location("dashboards", GENERATOR)
_generator = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_generator)


def dashboards(source):
    """Gives those for a data source: vector, valkey or redis."""
    return [each for each in _generator.dashboards().values() if each["uid"].startswith(f"pcp-trace-{source}-")]


def targets(dashboard):
    """Gives each query with its panel."""
    return [(panel, target) for panel in dashboard["panels"] for target in panel["targets"]]


def title_of(target, instance):
    """Gives the name of an instance's line, as the data sources make it."""
    name = target["expr"].partition("{")[0].rpartition(".")[2]
    return target["legendFormat"].replace("$instance", instance).replace("$metric0", name)


class Shop:
    """A pmcd, and a program of the service `shop` with all kinds of calls, one of them open."""

    def __init__(self, test):
        self.pmcd = test.start_pmcd(["-T", "400", "-N", "800"])  # intervals of half a second, and values stay
        self._program = test.start_traced(test.environment(self.pmcd, PCP_TRACE_SERVICE="shop"))
        self._program.call("begin open")

    def work(self, *more):
        for call in (*more, "begin request", "end request", "begin request{route=/cart}", "abort request{route=/cart}",
                     "point cache-miss", "obs 17 queue-length", "add 4096 bytes-sent", "counter 81920 log-length"):
            self._program.call(call)
