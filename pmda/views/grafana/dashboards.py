#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the dashboards for Grafana: three for each of grafana-pcp's data sources. They show the same panels; the data
sources differ in how a query names the host, and in the list of hosts.

Usage: dashboards.py DIRECTORY"""

import collections
import json
import os
import sys

# In a panel with several metrics, the last part of a name tells them apart.
Panel = collections.namedtuple("Panel", "title unit legend metrics")
Dashboard = collections.namedtuple("Dashboard", "word title panels by_tag")
Source = collections.namedtuple("Source", "word title plugin time refresh host query")

DASHBOARDS = [
    Dashboard("overview", "traced programs", [
        Panel("Transactions per second", "ops", "$instance", ["trace.transact.count"]),
        Panel("Mean time, over the agent's window", "s", "$instance", ["trace.transact.ave_time"]),
        Panel("99th percentile, over the agent's window", "s", "$instance", ["trace.transact.p99"]),
        Panel("Longest completed and failed, over the agent's window", "s", "$instance $metric0",
              ["trace.transact.max_time", "trace.transact.abort_max"]),
        Panel("In flight", "short", "$instance", ["trace.transact.inflight"]),
        Panel("Oldest in flight", "s", "$instance", ["trace.transact.oldest"]),
        Panel("Aborted or vanished, per second", "ops", "$instance $metric0",
              ["trace.transact.aborts", "trace.transact.vanished"]),
        Panel("Points per second", "ops", "$instance", ["trace.point.count"]),
        Panel("Observations: mean, over the agent's window", "short", "$instance", ["trace.observe.ave"]),
        Panel("Counters: added per second", "short", "$instance", ["trace.counter.total"])], False),
    Dashboard("tag", "one tag", [
        Panel("Transactions per second", "ops", "$instance $metric0",
              ["trace.transact.count", "trace.transact.aborts", "trace.transact.vanished"]),
        Panel("Percentiles, over the agent's window", "s", "$instance $metric0",
              [f"trace.transact.{p}" for p in ("p50", "p90", "p95", "p99", "p999")]),
        Panel("Shortest, mean and longest, over the agent's window", "s", "$instance $metric0",
              [f"trace.transact.{time}_time" for time in ("min", "ave", "max")]),
        Panel("Failed: shortest and longest, over the agent's window", "s", "$instance $metric0",
              ["trace.transact.abort_min", "trace.transact.abort_max"]),
        Panel("In flight", "short", "$instance $metric0", ["trace.transact.inflight"]),
        Panel("Oldest in flight", "s", "$instance $metric0", ["trace.transact.oldest"]),
        Panel("Points per second", "ops", "$instance $metric0", ["trace.point.count"]),
        Panel("Observations per second", "ops", "$instance $metric0", ["trace.observe.count"]),
        Panel("Observations: percentiles, over the agent's window", "short", "$instance $metric0",
              [f"trace.observe.{p}" for p in ("p50", "p90", "p95", "p99", "p999")]),
        Panel("Observations: smallest, mean and largest, over the agent's window", "short", "$instance $metric0",
              [f"trace.observe.{value}" for value in ("min", "ave", "max")]),
        Panel("Counters: added per second", "short", "$instance $metric0", ["trace.counter.total"]),
        Panel("Counters: growth of the last value, per second", "short", "$instance $metric0", ["trace.counter.value"])], True),
    Dashboard("agent", "health of the agent", [
        Panel("Programs", "short", "$metric0", ["trace.agent.clients", "trace.agent.sessions"]),
        Panel("Calls received per second", "ops", "$metric0", ["trace.agent.records"]),
        Panel("Calls recorded per second, by process", "ops", "$instance", ["trace.client.recorded"]),
        Panel("Thinned or uncertain calls per second, by process", "ops", "$instance $metric0",
              ["trace.client.thinned", "trace.client.uncertain"]),
        Panel("Refused connections per second", "ops", "$metric0",
              [f"trace.agent.refused.{cause}" for cause in ("permission", "limit", "quota")]),
        Panel("Dropped connections per second", "ops", "$metric0",
              [f"trace.agent.dropped.{cause}" for cause in ("malformed", "timeout", "limit")]),
        Panel("Tags, and their limit", "short", "$metric0", ["trace.agent.tags", "trace.agent.max_tags"]),
        Panel("Tags and labels without room, per second", "ops", "$metric0",
              ["trace.agent.overflowed", "trace.agent.folded", "trace.agent.unsplit", "trace.agent.labels.left_out"]),
        Panel("Memory", "bytes", "$metric0",
              [f"trace.agent.memory.{part}" for part in ("resident", "histograms", "cumulative")]),
        Panel("Processor time, as a part of one processor", "percentunit", "$metric0",
              ["trace.agent.cpu.main", "trace.agent.cpu.ingest"])], False)]

HOST_BY_HAND = {"name": "host", "type": "textbox", "label": "Host (empty: the data source's)", "query": "",
                "current": {"text": "", "value": ""}, "options": []}
HOSTS_KNOWN = {"name": "host", "type": "query", "label": "Host", "query": "label_values(hostname)", "refresh": 1,
               "datasource": {"uid": "${datasource}"}}
TAG = {"name": "tag", "type": "textbox", "label": "Tag (regular expression)", "query": ".*",
       "current": {"text": ".*", "value": ".*"}, "options": []}


def live(metric):
    return {"expr": metric, "hostspec": "$host"}


def kept(metric):
    return {"expr": f'{metric}{{hostname == "$host"}}'}


SOURCES = [
    Source("vector", "PCP Vector", "performancecopilot-vector-datasource", "now-5m", "5s", HOST_BY_HAND, live),
    Source("valkey", "PCP Valkey", "performancecopilot-valkey-datasource", "now-6h", "1m", HOSTS_KNOWN, kept),
    Source("redis", "PCP Redis", "performancecopilot-redis-datasource", "now-6h", "1m", HOSTS_KNOWN, kept)]


def of_panel(panel, number, source, by_tag):
    datasource = {"type": source.plugin, "uid": "${datasource}"}
    targets = [{"refId": chr(ord("A") + i), "datasource": datasource, "format": "time_series",
                "legendFormat": panel.legend, **source.query(metric)} for i, metric in enumerate(panel.metrics)]
    shown = {"id": number + 1, "type": "timeseries", "title": panel.title, "datasource": datasource,
             "gridPos": {"x": number % 2 * 12, "y": number // 2 * 8, "w": 12, "h": 8}, "targets": targets,
             "fieldConfig": {"defaults": {"unit": panel.unit}, "overrides": []}}
    if by_tag:  # no data source chooses instances, so Grafana does
        pattern = r"/^[Tt]ime$|^(?:$tag) \w+$/"
        shown["transformations"] = [{"id": "filterFieldsByName", "options": {"include": {"pattern": pattern}}}]
    return shown


def of_dashboard(dashboard, source):
    tags = [f"pcp-{source.word}", "trace"]
    others = {"type": "dashboards", "title": "Traced programs", "icon": "external link", "tooltip": "", "url": "",
              "tags": tags, "asDropdown": True, "targetBlank": False, "includeVars": True, "keepTime": True}
    variables = [{"name": "datasource", "type": "datasource", "label": "Data source", "query": source.plugin},
                 source.host] + [TAG] * dashboard.by_tag
    return {"uid": f"pcp-trace-{source.word}-{dashboard.word}", "title": f"{source.title}: {dashboard.title}",
            "tags": tags, "schemaVersion": 39, "editable": True, "refresh": source.refresh,
            "time": {"from": source.time, "to": "now"}, "links": [others], "templating": {"list": variables},
            "panels": [of_panel(panel, number, source, dashboard.by_tag)
                       for number, panel in enumerate(dashboard.panels)]}


def dashboards():
    """Gives for each file's name its dashboard."""
    return {f"pcp-trace-{source.word}-{dashboard.word}.json": of_dashboard(dashboard, source)
            for source in SOURCES for dashboard in DASHBOARDS}


def main(arguments):
    if len(arguments) != 2 or arguments[1].startswith("-"):
        sys.exit("Usage: dashboards.py DIRECTORY")
    os.makedirs(arguments[1], exist_ok=True)
    for name, dashboard in dashboards().items():
        with open(os.path.join(arguments[1], name), "w", encoding="utf-8") as file:
            json.dump(dashboard, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main(sys.argv)
