# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls from Python beside prometheus_client's, by libtrace/python/bench/call_cost.py."""

import re

from figures import Figure, medians

ROUNDS = 5
PYTHON = "/usr/bin/python3"  # Debian's, for which Debian has prometheus_client
EMPTY = "(an empty loop, which each figure contains)"
# By what is measured: the limit, which is a goal of ours, and the peer's.
ROWS = {"point": (40, "Counter.inc"), "with": (130, "with Histogram.time"),
        "decorated function's call": (160, "decorated function's call")}


def measure(tools):
    script = tools.root / "libtrace/python/bench/call_cost.py"
    with tools.agent() as pmcd:
        ours = tools.environment(pmcd, PYTHONPATH=str(tools.build / "libtrace/python"))
        environments = {"on": ours, "off": ours | {"PCP_TRACE_NOAGENT": "1"}}
        rounds = {name: [] for name in environments}
        for name in tools.rounds(ROUNDS, *rounds):
            printed = tools.run(PYTHON, "-B", script, 1 if tools.brief else 20, environment=environments[name])
            rounds[name].append({what: float(ns) for ns, what in re.findall(r"([\d.]+) ns a call, .*?  (.*)", printed)})
    on, off = map(medians, rounds.values())

    def figure(name, rows, what, limit, **peers):
        net = {peer: on[its] - on[EMPTY] for peer, its in peers.items()}
        return Figure("Python, less an empty loop", name, "ns", rows[what] - rows[EMPTY], limit, f"{limit} ns", net)

    for what, (limit, peer) in ROWS.items():
        yield figure(what, on, what, limit, prometheus_client=f"prometheus_client: {peer}")
    yield figure("with, switched off", off, "with", 40)
