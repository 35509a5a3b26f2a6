"""What a call costs the thread that makes it: ours, and what the peers take for the like."""

import contextlib
import os
import tempfile

import google
import lttng
from figures import Figure, median
from private_pmcd import STOCK_AGENT, STOCK_NAMESPACE, PrivatePmcd

PART = "The caller"
ROUNDS = 3
THREADS = (1, 2, 4)

KINDS = ("point", "observe", "count")


@contextlib.contextmanager
def _programs(tools):
    """Gives the programs to run, in turn: name -> (program, pattern, environment)."""
    ours = PrivatePmcd(agent=tools.agent, namespace=tools.namespace)
    stock = PrivatePmcd(agent=STOCK_AGENT, namespace=STOCK_NAMESPACE)
    with ours, stock, lttng.session("pcp_trace_bench:observation"), \
            tempfile.TemporaryDirectory(prefix="trace-bench-") as directory:
        os.mkdir(os.path.join(directory, "mmv"))
        # A flush comes as often as a burst, as it does with the defaults and longer pauses.
        with_ours = ours.environment() | {"LD_LIBRARY_PATH": tools.library_directory,
                                          "PCP_TRACE_FLUSH": "20"}
        with_stock = stock.environment() | {"LD_LIBRARY_PATH": tools.stock_library_directory}
        yield {
            "by handle": ("caller_by_handle", None, with_ours),
            "LTTng": ("caller_lttng", None, None),
            "by name": ("caller_by_name", None, with_ours),
            "floor": ("caller_floor", None, None),
            "prometheus": ("caller_prometheus", None, None),
            "MMV": ("caller_mmv", None, dict(os.environ, PCP_TMP_DIR=directory)),
            "compiled out": ("caller_compiled_out", None, None),
            "stock": ("caller_by_name", None, with_stock),
            "stock async": ("caller_by_name", None, with_stock | {"BENCH_ASYNC": "1"}),
        }


class Samples:
    """All medians of all rounds."""

    def __init__(self):
        self._samples = {}

    def add(self, program, rows):
        for name, row in rows.items():
            if "ns" in row:
                key = (program, name.split("/")[0], row["threads"])
                self._samples.setdefault(key, []).append(row["ns"])

    def ns(self, program, name, threads=1):
        return median(self._samples[program, name, threads])


def measure(tools, brief):
    samples = Samples()
    with _programs(tools) as programs:
        for number in range(1 if brief else ROUNDS):
            for name, (program, pattern, environment) in programs.items():
                tools.progress(f"round {number + 1} of {ROUNDS}: {name}")
                rows = google.run(tools, program, brief, pattern, environment)
                if name == "LTTng" and not rows["lttng_event_enabled/iterations:1"]["enabled"]:
                    raise RuntimeError("LTTng does not record the event")
                samples.add(name, rows)
    yield from _figures(samples.ns)


def _figures(ns):
    def plural(threads):
        return "1 thread" if threads == 1 else f"{threads} threads"

    def figure(name, ours, limit=None, bar="", **peers):
        return Figure(PART, name, "ns", ours, limit, bar,
                      {peer.replace("_", " "): value for peer, value in peers.items()})

    for threads in THREADS:
        event = ns("LTTng", "lttng_event", threads)
        for kind in KINDS:
            yield figure(f"{kind} by handle, {plural(threads)}",
                         ns("by handle", f"{kind}_by_handle", threads), 0.20 * event,
                         "0.20 of LTTng-UST's event", LTTng=event,
                         prometheus=ns("prometheus", "prometheus_histogram" if kind == "observe"
                                       else "prometheus_counter", threads),
                         MMV=ns("MMV", "mmv_increment", threads))
    for threads in THREADS:
        event = ns("LTTng", "lttng_event", threads)
        for kind in KINDS:
            stock = ns("stock async", f"{kind}_by_name", threads)
            yield figure(f"{kind} by name, {plural(threads)}",
                         ns("by name", f"{kind}_by_name", threads),
                         min(0.35 * event, stock / 200),
                         "0.35 of LTTng-UST's event, 1/200 of stock's asynchronous call",
                         LTTng=event, stock=ns("stock", f"{kind}_by_name", threads),
                         stock_async=stock, MMV=ns("MMV", "mmv_increment_by_name"))
    event = ns("LTTng", "lttng_event")
    observe = ns("by handle", "observe_by_handle")
    yield figure("begin + end by handle", ns("by handle", "begin_end_by_handle"),
                 2 * ns("floor", "time_stamp_counter") + 1.5 * observe,
                 "two time-stamp reads and 1.5 of observe", LTTng=event)
    yield figure("begin + end by name", ns("by name", "begin_end_by_name"), event,
                 "LTTng-UST's single event", LTTng=event, stock=ns("stock", "begin_end_by_name"),
                 stock_async=ns("stock async", "begin_end_by_name"))
    yield figure("observe flat out: the queue is full", ns("by handle", "observe_flat_out"),
                 0.5 * event, "0.5 of LTTng-UST's event", LTTng=event)
    yield figure("the same of 16 threads",
                 ns("by handle", "observe_flat_out_of_16_threads", 16), LTTng=event)
    one = ns("by handle", "observe_by_handle")
    for threads in THREADS[1:]:
        yield figure(f"observe by handle: {plural(threads)} against one",
                     ns("by handle", "observe_by_handle", threads), 1.25 * one, "1.25 of one's")
    off = ns("floor", "load_and_branch_call")
    for name, text in (("observe", "observe by handle"), ("observe_by_name", "observe by name"),
                       ("begin_end", "begin + end by handle")):
        calls = 2 if name == "begin_end" else 1
        yield figure(f"{text}, switched off", ns("by handle", f"{name}_switched_off"),
                     calls * (2 * off + 0.5), "a function that loads and branches, twice")
    yield figure("a call compiled out", ns("compiled out", "compiled_out"),
                 1.25 * ns("compiled out", "empty_loop"), "an empty loop",
                 empty_loop=ns("compiled out", "empty_loop"))
    yield figure("a bare queue's enqueue", ns("floor", "bare_queue"))
    yield figure("clock_gettime", ns("floor", "clock_gettime_call"))
    yield figure("time-stamp counter", ns("floor", "time_stamp_counter"))
