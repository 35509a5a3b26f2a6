# SPDX-License-Identifier: LGPL-2.1-or-later
"""The cost of a call for its thread: ours, and the peers' nearest equivalent.

Processor time of the calling thread; for the stock library elapsed time, because its calls wait for the agent or for
room in a socket."""

import contextlib
import os
import subprocess
import tempfile

import google
import lttng
from figures import Figure, median
from private_pmcd import STOCK_AGENT, STOCK_NAMESPACE, PrivatePmcd

PART = "The caller"
ROUNDS = 5
FIRST_CALLS = 31  # each in its own process
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
        # So that a flush falls into each pause, as with the default interval and longer pauses.
        with_ours = ours.environment() | {"LD_LIBRARY_PATH": tools.library_directory,
                                          "PCP_TRACE_FLUSH": "5"}
        with_stock = stock.environment() | {"LD_LIBRARY_PATH": tools.stock_library_directory}
        yield {
            "by handle": ("caller_by_handle", None, with_ours),
            # LTTng's library waits three seconds for its daemon: too short on a busy machine.
            "LTTng": ("caller_lttng", "lttng_event", dict(os.environ, LTTNG_UST_REGISTER_TIMEOUT="60000")),
            "by name": ("caller_by_name", None, with_ours),
            "floor": ("caller_floor", None, None),
            "prometheus": ("caller_prometheus", None, None),
            "MMV": ("caller_mmv", None, dict(os.environ, PCP_TMP_DIR=directory)),
            "compiled out": ("caller_compiled_out", None, None),
            "spread": ("caller_spread", None, with_ours),
            "stock": ("caller_by_name", None, with_stock),
            "stock async": ("caller_by_name", None, with_stock | {"BENCH_ASYNC": "1"}),
        }


class Samples:
    """The rows of all rounds."""

    def __init__(self):
        self._rows = {}

    def add(self, program, rows):
        for name, row in rows.items():
            key = (program, name.split("/")[0], row["threads"])
            self._rows.setdefault(key, []).append(row)

    def rows(self, program, name, threads=1):
        return self._rows[program, name, threads]

    def ns(self, program, name, threads=1, counter=None):
        clock = "elapsed_ns" if program.startswith("stock") else "ns"
        return median([row[counter or clock] for row in self.rows(program, name, threads)])


def measure(tools, brief):
    samples = Samples()
    first = {}
    with _programs(tools) as programs:
        with_ours = programs["by handle"][-1]
        for _ in range(1 if brief else FIRST_CALLS):
            for state, more, peer in (("on", {}, "thread"), ("off", {"PCP_TRACE_NOAGENT": "1"}, "nothing")):
                first.setdefault(state, []).append(_first_call_us(tools, with_ours | more))
                first.setdefault(peer, []).append(_first_call_us(tools, with_ours, peer))
        for number in range(1 if brief else ROUNDS):
            for name, (program, pattern, environment) in programs.items():
                if name == "stock" and number % 2 == 1:
                    continue  # a round takes up to a minute, and no bar depends on it
                tools.progress(f"round {number + 1} of {ROUNDS}: {name}")
                rows = google.run(tools, program, brief, pattern, environment)
                if name == "LTTng" and not rows["lttng_event_enabled/iterations:1"]["enabled"]:
                    raise RuntimeError("LTTng does not record the event")
                samples.add(name, rows)
    yield from _figures(samples.ns)
    name = "first begin by handle of 8 threads at once, the longest"
    for state, peer, what, most in (("on", "thread", "a thread made", 200), ("off", "nothing", "no call", 10)):
        its = median(first[peer])
        yield Figure(PART, f"{name}, switched {state}", "us", median(first[state]), its + most, f"{what} + {most} us",
                     {what: its})
    yield _spread(samples.rows("spread", "single_calls"))


def _first_call_us(tools, environment, *peer):
    output = subprocess.run([tools.program("caller_first"), *peer], env=environment, check=True,
                            stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return float(output.stdout) / 1000


def _clock():
    """The clock that our calls read: the counter, if the kernel keeps time by it (libtrace/src/open/tick_rate.cpp)."""
    with open("/sys/devices/system/clocksource/clocksource0/current_clocksource", encoding="ascii") as file:
        return "time-stamp counter" if file.read().strip() in ("tsc", "arch_sys_counter") else "C library's clock"


CLOCKS = {"time-stamp counter": "time_stamp_counter", "C library's clock": "clock_gettime_call"}


def _figures(ns):
    def plural(threads):
        return "1 thread" if threads == 1 else f"{threads} threads"

    def figure(name, ours, limit=None, bar="", **peers):
        return Figure(PART, name, "ns", ours, limit, bar,
                      {peer.replace("_", " "): value for peer, value in peers.items()})

    for threads in THREADS:
        event = ns("LTTng", "lttng_event", threads)
        for kind in (*KINDS, "add"):
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
                         ns("by name", f"{kind}_by_name", threads), min(0.35 * event, stock / 200),
                         "0.35 of LTTng-UST's event, and 1/200 of stock's asynchronous call",
                         LTTng=event, stock=ns("stock", f"{kind}_by_name", threads),
                         stock_async=stock, MMV=ns("MMV", "mmv_increment_by_name"))
    event = ns("LTTng", "lttng_event")
    observe = ns("by handle", "observe_by_handle")
    clock = _clock()
    yield figure("begin + end by handle", ns("by handle", "begin_end_by_handle"),
                 2 * ns("floor", CLOCKS[clock]) + 1.5 * observe,
                 f"two readings of the {clock} and 1.5 of observe", LTTng=event)
    yield figure("observe by handle, a tag with labels",
                 ns("by handle", "observe_labelled_by_handle"),
                 1.25 * ns("by handle", "observe_labelled_by_handle", counter="bare_ns"),
                 "1.25 of observe, by turns")
    yield figure("tag_with, a known tag with two labels", ns("by handle", "tag_with"), 150,
                 "150")
    yield figure("tag_add_labels, a label that the thread has added before", ns("by handle", "tag_add_labels"), 40, "40")
    yield figure("begin + end by name", ns("by name", "begin_end_by_name"), event,
                 "LTTng-UST's single event", LTTng=event, stock=ns("stock", "begin_end_by_name"),
                 stock_async=ns("stock async", "begin_end_by_name"))
    for kind in ("handle", "name"):
        stock = {"stock": ns("stock", "observe_by_name_flat_out"),
                 "stock_async": ns("stock async", "observe_by_name_flat_out")}
        yield figure(f"observe by {kind}, flat out: the queue is full",
                     ns(f"by {kind}", "observe_flat_out" if kind == "handle"
                        else "observe_by_name_flat_out"),
                     0.5 * event, "0.5 of LTTng-UST's event", LTTng=event,
                     **(stock if kind == "name" else {}))
    yield figure("the same by handle, 16 threads",
                 ns("by handle", "observe_flat_out_of_16_threads", 16), 0.5 * event,
                 "0.5 of LTTng-UST's event", LTTng=event)
    for threads in THREADS[1:]:
        yield figure(f"observe by handle: {plural(threads)} against one",
                     ns("by handle", "observe_by_handle", threads), 1.25 * observe, "1.25 of one's")
    off = ns("floor", "load_and_branch_call")
    for name, text in (("observe", "observe by handle"), ("observe_by_name", "observe by name"),
                       ("begin_end", "begin + end by handle")):
        calls = 2 if name == "begin_end" else 1
        yield figure(f"{text}, switched off", ns("by handle", f"{name}_switched_off"),
                     calls * 1.5 * off, "1.5 of a function that only loads and branches")
    yield figure("a call compiled out", ns("compiled out", "compiled_out"),
                 1.25 * ns("compiled out", "empty_loop"), "an empty loop",
                 empty_loop=ns("compiled out", "empty_loop"))
    yield figure("a bare queue's enqueue", ns("floor", "bare_queue"))
    yield figure("clock_gettime", ns("floor", "clock_gettime_call"))
    yield figure("time-stamp counter", ns("floor", "time_stamp_counter"))


def _spread(rows):
    """The costs of single calls, of the round whose 99.9th percentile is the median one."""
    row = sorted(rows, key=lambda row: row["p999"])[len(rows) // 2]
    columns = sorted((int(name.removeprefix("below_")), int(count))
                     for name, count in row.items() if name.startswith("below_"))
    most = max(count for _, count in columns)
    notes = [f"median {row['p50']:.1f} ns, p99 {row['p99']:.0f} ns, p99.9 {row['p999']:.0f} ns, "
             f"longest {row['max']:,.0f} ns; taking the time is part of each; "
             f"{row['bursts']:.0f} bursts without preemption"]
    for limit, count in columns[3:]:
        bar = "#" * round(40 * count / most) or ("." if count else "")
        notes.append(f"below {limit:6,} ns {count:8,} {bar}")
    return Figure(PART, "observe by handle: p99.9 of single calls", "ns", row["p999"],
                  20 * row["p50"], "20 times the median", notes=notes)
