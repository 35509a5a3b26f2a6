#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures the cost of a call, beside prometheus_client's if that is installed: call_cost.py [ROUNDS]

Bind it to one processor: PYTHONPATH=build/release/libtrace/python taskset -c 1 libtrace/python/bench/call_cost.py"""

import statistics
import sys
import time
import timeit

import pcp_trace as trace

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 200
CALLS = 20_000  # in a round; short, so that some rounds are undisturbed


def function():
    pass


def report(name, statement, **names):
    """Prints the processor time of the thread: the median of the rounds, and the fastest one."""
    rounds = timeit.repeat(statement, globals=names, number=CALLS, repeat=ROUNDS, timer=time.thread_time)
    print(f"{statistics.median(rounds) / CALLS * 1e9:8.1f} ns a call, at best {min(rounds) / CALLS * 1e9:.1f}  {name}")


tag = trace.Tag("request")
tag.begin().end()
time.sleep(0.2)  # the library reads a slower clock in the first tenth of a second
report("(an empty loop, which each figure contains)", "pass")
report("(a function's call)", "function()", function=function)
report("point", "tag.point()", tag=tag)
report("point by name", "point('request')", point=trace.point)
report("observe", "tag.observe(17)", tag=tag)
report("add", "tag.add(17)", tag=tag)
report("with", "with tag.transaction(): pass", tag=tag)
report("with by name", "with transaction('request'): pass", transaction=trace.transaction)
report("with by name and label", "with transaction('request', route='/cart'): pass", transaction=trace.transaction)
report("decorated function's call", "function()", function=tag.transaction()(function))
try:
    import prometheus_client as prometheus
except ImportError:
    print("prometheus_client is not installed: apt-get install python3-prometheus-client")
else:
    counter = prometheus.Counter("bench", "calls")
    histogram = prometheus.Histogram("bench_seconds", "durations")
    report("prometheus_client: Counter.inc", "counter.inc()", counter=counter)
    report("prometheus_client: Histogram.observe", "histogram.observe(17)", histogram=histogram)
    report("prometheus_client: with Histogram.time", "with histogram.time(): pass", histogram=histogram)
    report("prometheus_client: decorated function's call", "function()", function=histogram.time()(function))
trace.flush(3)
print("{recorded} calls recorded, {acknowledged} acknowledged".format(**trace.stats()))
