#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the dashboards for Grafana: three for each of grafana-pcp's data sources, for a Prometheus that scrapes pmproxy,
and for a VictoriaMetrics that gets what `pcp-trace export --otlp` sends. They show the same panels, as far as the source
has their metrics; the sources differ in their queries and variables.

Usage: dashboards.py DIRECTORY"""

import collections
import json
import os
import sys

# Metrics have PCP's names. In a panel with several metrics, the last part of a name tells them apart.
Panel = collections.namedtuple("Panel", "title unit legend metrics")
Dashboard = collections.namedtuple("Dashboard", "word title panels")
Source = collections.namedtuple("Source", "word title plugin time refresh variables query untrue", defaults=("",))

FAILED = "failed"  # no metric: PromQL divides

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
        Panel("Failed, as a part of completed and failed", "percentunit", "$instance", [FAILED]),
        Panel("Points per second", "ops", "$instance", ["trace.point.count"]),
        Panel("Observations: mean, over the agent's window", "short", "$instance", ["trace.observe.ave"]),
        Panel("Counters: added per second", "short", "$instance", ["trace.counter.total"])]),
    Dashboard("tag", "one tag", [
        Panel("Transactions per second", "ops", "$instance $metric0",
              ["trace.transact.count", "trace.transact.aborts", "trace.transact.vanished"]),
        Panel("Failed, as a part of completed and failed", "percentunit", "$instance", [FAILED]),
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
        Panel("Counters: growth of the last value, per second", "short", "$instance $metric0", ["trace.counter.value"])]),
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
              ["trace.agent.cpu.main", "trace.agent.cpu.ingest"])])]

# PCP's data sources -------------------------------------------------------------------------------

HOST_BY_HAND = {"name": "host", "type": "textbox", "label": "Host (empty: the data source's)", "query": "",
                "current": {"text": "", "value": ""}, "options": []}
HOSTS_KNOWN = {"name": "host", "type": "query", "label": "Host", "query": "label_values(hostname)", "refresh": 1,
               "datasource": {"uid": "${datasource}"}}
TAG = {"name": "tag", "type": "textbox", "label": "Tag (regular expression)", "query": ".*",
       "current": {"text": ".*", "value": ".*"}, "options": []}


def variables_of_pcp(host):
    return lambda dashboard: [host] + [TAG] * (dashboard.word == "tag")


def of_pcp(panel, metric, **query):
    return metric != FAILED and {"format": "time_series", "legendFormat": panel.legend, **query}


def live(panel, metric):
    return of_pcp(panel, metric, expr=metric, hostspec="$host")


def kept(panel, metric):
    return of_pcp(panel, metric, expr=f'{metric}{{hostname == "$host"}}')


# Grafana's data source Prometheus -----------------------------------------------------------------

# BY stands for the labels to add up by, WHERE for the choice of hosts, services and tags.
PERCENTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}


def growth(name, where="", function="rate"):
    return f"sum by (BY) ({function}({name}{{WHERE{where}}}[$__rate_interval]))"


def quantile(part, name, where=""):
    """Takes VictoriaMetrics's buckets."""
    return f"histogram_quantile({part}, {growth(name, where).replace('BY', 'BY, vmrange')})"


def mean_of_window(mean, rate):
    """Gives that of all calls of several series."""
    return f"sum by (BY) ({mean}{{WHERE}} * {rate}{{WHERE}}) / sum by (BY) ({rate}{{WHERE}})"


SCRAPED = {
    "trace.transact.ave_time": mean_of_window("trace_transact_ave_time", "trace_transact_rate"),
    "trace.observe.ave": mean_of_window("trace_observe_ave", "trace_observe_rate"),
    "trace.transact.inflight": "sum by (BY) (trace_transact_inflight{WHERE})",
    FAILED: f"{growth('trace_transact_aborts')} / "
            f"({growth('trace_transact_count')} + {growth('trace_transact_aborts')})"}


def scraped(panel, metric):
    """Gives of most levels the greatest: percentiles of several series have no sum."""
    name = metric.replace(".", "_")
    if metric in SCRAPED:
        return SCRAPED[metric]
    if panel.unit == "percentunit":
        return growth(name) + " / 1e9"  # they are nanoseconds
    if "per second" in panel.title:
        return growth(name)
    return f"{'min' if '_min' in name else 'max'} by (BY) ({name}{{WHERE}})"


COMPLETED, ABORTED = ',outcome="completed"', ',outcome="failed"'
TIMES, VALUES = "trace_transact_duration_seconds_bucket", ',__name__=~"trace_observe_distribution(_.+)?_bucket"'
SENT = {
    "trace.transact.count": growth("trace_transact_count_total", COMPLETED),
    "trace.transact.aborts": growth("trace_transact_count_total", ABORTED),
    "trace.transact.vanished": growth("trace_transact_count_total", ',outcome="vanished"'),
    FAILED: f"{growth('trace_transact_count_total', ABORTED)} / "
            f"""{growth('trace_transact_count_total', ',outcome!="vanished"')}""",
    "trace.transact.ave_time": f"{growth('trace_transact_time_seconds_total', COMPLETED)} / "
                               f"{growth('trace_transact_count_total', COMPLETED)}",
    "trace.transact.min_time": quantile(0, TIMES, COMPLETED), "trace.transact.max_time": quantile(1, TIMES, COMPLETED),
    "trace.transact.abort_min": quantile(0, TIMES, ABORTED), "trace.transact.abort_max": quantile(1, TIMES, ABORTED),
    "trace.transact.inflight": "sum by (BY) (trace_transact_inflight{WHERE})",
    "trace.point.count": growth("trace_point_count_total"),
    "trace.observe.count": growth("trace_observe_count_total"),
    # A tag's unit is a part of the name.
    "trace.observe.ave": f"""{growth("", ',__name__=~"trace_observe_sum(_.+)?"', "delta")} / """
                         f"{growth('trace_observe_count_total', function='increase')}",
    "trace.observe.min": quantile(0, "", VALUES), "trace.observe.max": quantile(1, "", VALUES),
    "trace.counter.total": growth("", ',__name__=~"trace_counter(_.+)?_total",__name__!="trace_counter_count_total"'),
    "trace.counter.value": growth("", ',__name__=~"trace_counter_value(_.+)?"'),
    **{f"trace.transact.{name}": quantile(part, TIMES, COMPLETED) for name, part in PERCENTILES.items()},
    **{f"trace.observe.{name}": quantile(part, "", VALUES) for name, part in PERCENTILES.items()},
    **{f"trace.agent.{cause}": growth(f"trace_agent_{cause}_total") for cause in ("overflowed", "folded", "unsplit")}}


def chosen(labels, names, *more):
    return ",".join([*more, *(f'{label}=~"${name}"' for name, label in zip(names, labels))])


ANY = '__name__=~"trace_.+"'


def variables_of_series(*labels):
    """The labels are those of hosts, services and tags."""
    names = ("host", "service", "tag")
    some = {"type": "query", "refresh": 2, "multi": True, "datasource": {"uid": "${datasource}"}}
    choices = [some | {"name": name, "label": name.capitalize(), "includeAll": True, "allValue": ".*",
                       "current": {"text": ["All"], "value": ["$__all"]},
                       "query": f"label_values({{{chosen(labels, names[:i], ANY)}}}, {labels[i]})"}
               for i, name in enumerate(names)]
    by = some | {"name": "by", "label": "Add up by", "query": "label_names()",
                 "current": {"text": ["tag"], "value": ["tag"]}}
    return lambda dashboard: choices[:1] if dashboard.word == "agent" else [*choices, by]


def of_series(expression_of, *labels):
    def query(panel, metric):
        expression = expression_of(panel, metric)
        legend = panel.legend.replace("$metric0", metric.rpartition(".")[2])
        if metric.startswith(("trace.agent.", "trace.client.")):
            by = [labels[0]] + ["instname"] * ("$instance" in legend)
            where = chosen(labels, ["host"])
            legend = legend.replace("$instance", "{{instname}}") + f" {{{{{labels[0]}}}}}"
        else:
            by = ["${by:csv}"]
            where = chosen(labels, ["host", "service", "tag"])
            legend = legend.replace("$instance", "{{legend}}")
            expression = expression and f'label_join({expression}, "legend", " ", ${{by:doublequote}})'
        return expression and {"expr": expression.replace("BY", ", ".join(by)).replace("WHERE", where), "range": True,
                               "legendFormat": legend}
    return query


OF_SCRAPED, OF_SENT = ("hostname", "service", "tag"), ("host_name", "service_name", "tag")

SOURCES = [
    Source("vector", "PCP Vector", "performancecopilot-vector-datasource", "now-5m", "5s",
           variables_of_pcp(HOST_BY_HAND), live),
    Source("valkey", "PCP Valkey", "performancecopilot-valkey-datasource", "now-6h", "1m",
           variables_of_pcp(HOSTS_KNOWN), kept),
    Source("redis", "PCP Redis", "performancecopilot-redis-datasource", "now-6h", "1m",
           variables_of_pcp(HOSTS_KNOWN), kept),
    Source("prometheus", "Prometheus, by pmproxy", "prometheus", "now-1h", "1m",
           variables_of_series(*OF_SCRAPED), of_series(scraped, *OF_SCRAPED)),
    Source("victoriametrics", "VictoriaMetrics, by OTLP", "prometheus", "now-1h", "1m",
           variables_of_series(*OF_SENT), of_series(lambda _, metric: SENT.get(metric), *OF_SENT),
           untrue=", over the agent's window")]


# All ----------------------------------------------------------------------------------------------

def queries(panel, source):
    return [query for query in (source.query(panel, metric) for metric in panel.metrics) if query]


def of_panel(panel, number, source, variables):
    datasource = {"type": source.plugin, "uid": "${datasource}"}
    targets = [{"refId": chr(ord("A") + i), "datasource": datasource, **query}
               for i, query in enumerate(queries(panel, source))]
    shown = {"id": number + 1, "type": "timeseries", "title": panel.title.removesuffix(source.untrue),
             "datasource": datasource, "gridPos": {"x": number % 2 * 12, "y": number // 2 * 8, "w": 12, "h": 8},
             "targets": targets, "fieldConfig": {"defaults": {"unit": panel.unit}, "overrides": []}}
    if TAG in variables:  # PCP's data sources choose no instances, so Grafana does
        pattern = r"/^[Tt]ime$|^(?:$tag) \w+$/"
        shown["transformations"] = [{"id": "filterFieldsByName", "options": {"include": {"pattern": pattern}}}]
    return shown


def of_dashboard(dashboard, source):
    tags = [f"pcp-{source.word}", "trace"]
    others = {"type": "dashboards", "title": "Traced programs", "icon": "external link", "tooltip": "", "url": "",
              "tags": tags, "asDropdown": True, "targetBlank": False, "includeVars": True, "keepTime": True}
    variables = [{"name": "datasource", "type": "datasource", "label": "Data source", "query": source.plugin},
                 *source.variables(dashboard)]
    panels = [panel for panel in dashboard.panels if queries(panel, source)]
    return {"uid": f"pcp-trace-{source.word}-{dashboard.word}", "title": f"{source.title}: {dashboard.title}",
            "tags": tags, "schemaVersion": 39, "editable": True, "refresh": source.refresh,
            "time": {"from": source.time, "to": "now"}, "links": [others], "templating": {"list": variables},
            "panels": [of_panel(panel, number, source, variables) for number, panel in enumerate(panels)]}


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
