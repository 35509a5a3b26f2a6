# SPDX-License-Identifier: LGPL-2.1-or-later
"""The library's cost for a program: of each call, of its own thread, and of its memory.

The cost of a call, and of the peers' nearest equivalent, is processor time of the calling thread; for the stock library
elapsed time, because its calls wait for the agent or for room in a socket."""

from figures import Figure, median, medians
from running import MIB, peers_environment, run_peers

ROUNDS = 5
FIRST_CALLS = 31  # each in its own process
THREADS = (1, 2, 4)
KINDS = ("point", "observe", "count")


def calls(tools):
    first = {"": [], "off": [], "thread": [], "nothing": []}
    with tools.agent() as ours, tools.agent(stock=True) as stock, peers_environment() as of_peers:
        # So that a flush falls into each pause, as with the default interval and longer pauses.
        with_ours = tools.environment(ours, PCP_TRACE_FLUSH="5")
        with_stock = tools.environment(stock, stock=True)
        for what in tools.rounds(FIRST_CALLS, *first):
            environment = with_ours | ({"PCP_TRACE_NOAGENT": "1"} if what == "off" else {})
            words = [what] if what in ("thread", "nothing") else []
            first[what].append(float(tools.run("workloads", "first", *words, environment=environment)) / 1000)
        programs = {
            "by handle": lambda: tools.google("caller", "-^span_", with_ours),
            "peers": lambda: run_peers(tools, of_peers),
            "by name": lambda: tools.google("caller_by_name", "", with_ours),
            "stock": lambda: tools.google("caller_by_name", "", with_stock),
            "stock async": lambda: tools.google("caller_by_name", "", with_stock | {"BENCH_ASYNC": "1"}),
        }
        rounds = {name: [] for name in programs}
        for name in tools.rounds(ROUNDS, *programs):
            # Stock takes up to a minute in a round, and no bar depends on it.
            if name != "stock" or len(rounds["stock async"]) % 2 == 0:
                rounds[name].append(programs[name]())
    rows = {name: medians(each) for name, each in rounds.items()}

    def ns(program, name, threads=1, column="ns"):
        return rows[program][name if threads == 1 else f"{name}/threads:{threads}"][column]

    yield from _costs(ns)
    for state, ours, peer, what, most in (("on", "", "thread", "a thread made", 200),
                                          ("off", "off", "nothing", "no call", 10)):
        its = median(first[peer])
        yield Figure("The caller", f"first begin by handle of 8 threads at once, the longest, switched {state}", "us",
                     median(first[ours]), its + most, f"{what} + {most} us", {what: its})
    yield _spread([each["single_calls"] for each in rounds["by handle"]])


def _clock():
    """The clock that our calls read, and its row: the counter, if the kernel keeps time by it
    (libtrace/src/open/tick_rate.cpp)."""
    with open("/sys/devices/system/clocksource/clocksource0/current_clocksource", encoding="ascii") as file:
        if file.read().strip() in ("tsc", "arch_sys_counter"):
            return "time-stamp counter", "time_stamp_counter"
    return "C library's clock", "clock_gettime_call"


def _costs(ns):
    def figure(name, ours, limit=None, bar="", **peers):
        return Figure("The caller", name, "ns", ours, limit, bar,
                      {peer.replace("_", " "): value for peer, value in peers.items()})

    def plural(threads):
        return "1 thread" if threads == 1 else f"{threads} threads"

    def stock(name, threads=1):
        return {"stock": ns("stock", name, threads, "elapsed_ns"),
                "stock_async": ns("stock async", name, threads, "elapsed_ns")}

    for threads in THREADS:
        event = ns("peers", "lttng_event", threads)
        for kind in (*KINDS, "add"):
            prometheus = "prometheus_histogram" if kind == "observe" else "prometheus_counter"
            yield figure(f"{kind} by handle, {plural(threads)}", ns("by handle", f"{kind}_by_handle", threads),
                         0.20 * event, "0.20 of LTTng-UST's event", LTTng=event,
                         prometheus=ns("peers", prometheus, threads), MMV=ns("peers", "mmv_increment", threads))
    for threads in THREADS:
        event = ns("peers", "lttng_event", threads)
        for kind in KINDS:
            peers = stock(f"{kind}_by_name", threads)
            yield figure(f"{kind} by name, {plural(threads)}", ns("by name", f"{kind}_by_name", threads),
                         min(0.35 * event, peers["stock_async"] / 200),
                         "0.35 of LTTng-UST's event, and 1/200 of stock's asynchronous call",
                         LTTng=event, **peers, MMV=ns("peers", "mmv_increment_by_name"))
    event = ns("peers", "lttng_event")
    observe = ns("by handle", "observe_by_handle")
    clock, row = _clock()
    yield figure("begin + end by handle", ns("by handle", "begin_end_by_handle"), 2 * ns("peers", row) + 1.5 * observe,
                 f"two readings of the {clock} and 1.5 of observe", LTTng=event)
    for language, handle in (("C", "begin + end by handle"), ("C++", "handle and guard")):
        by_handle = ns("by handle", f"{language.lower()}/handle")
        for macro in ("PMTRACE_SCOPE", "PMTRACE_FUNCTION"):
            yield figure(f"{macro} in {language}", ns("by handle", f"{language.lower()}/{macro}"), 1.25 * by_handle,
                         f"1.25 of {handle} in {language}", by_handle=by_handle)
    yield figure("observe by handle, a tag with labels", ns("by handle", "observe_labelled_by_handle"),
                 1.25 * ns("by handle", "observe_labelled_by_handle", column="bare_ns"), "1.25 of observe, by turns")
    yield figure("tag_with, a known tag with two labels", ns("by handle", "tag_with"), 150, "150")
    yield figure("tag_add_labels, a label that the thread has added before", ns("by handle", "tag_add_labels"), 40,
                 "40")
    yield figure("begin + end by name", ns("by name", "begin_end_by_name"), event, "LTTng-UST's single event",
                 LTTng=event, **stock("begin_end_by_name"))
    for name, ours, peers in (
            ("observe by handle, flat out: the queue is full", ns("by handle", "observe_flat_out"), {}),
            ("observe by name, flat out: the queue is full", ns("by name", "observe_by_name_flat_out"),
             stock("observe_by_name_flat_out")),
            ("the same by handle, 16 threads", ns("by handle", "observe_flat_out_of_16_threads", 16), {})):
        yield figure(name, ours, 0.5 * event, "0.5 of LTTng-UST's event", LTTng=event, **peers)
    for threads in THREADS[1:]:
        yield figure(f"observe by handle: {plural(threads)} against one", ns("by handle", "observe_by_handle", threads),
                     1.25 * observe, "1.25 of one's")
    for name, text, each in (("observe", "observe by handle", 1), ("observe_by_name", "observe by name", 1),
                             ("begin_end", "begin + end by handle", 2)):
        yield figure(f"{text}, switched off", ns("by handle", f"{name}_switched_off"),
                     each * 1.5 * ns("peers", "load_and_branch_call"), "1.5 of a function that only loads and branches")
    empty = ns("peers", "empty_loop")
    yield figure("a call compiled out", ns("peers", "compiled_out"), 1.25 * empty, "an empty loop", empty_loop=empty)
    yield figure("a bare queue's enqueue", ns("peers", "bare_queue"))
    yield figure("clock_gettime", ns("peers", "clock_gettime_call"))
    yield figure("time-stamp counter", ns("peers", "time_stamp_counter"))


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
    return Figure("The caller", "observe by handle: p99.9 of single calls", "ns", row["p999"],
                  20 * row["p50"], "20 times the median", notes=notes)


def flusher(tools):
    """The library's own thread: per record, and per flush of a thousand tags."""
    part = "The flusher and the wire"
    rows = tools.google_medians(ROUNDS, "the library's thread", "flusher_bench")
    for kind in ("observations", "transactions", "points", "counters", "increments"):
        for tags in (1, 100, 1000):
            yield Figure(part, f"draining {kind} of {tags:,} tag{'s' * (tags > 1)}, a record", "ns",
                         rows[f"drain/{kind}/{tags}"]["ns"], 12, "12 ns")
    yield Figure(part, "of this, adding to a histogram", "ns", rows["histogram_add"]["ns"])
    for records in (1, 10, 100, 1000):
        row = rows[f"flush/{records}"]
        flush = f"flush of 1,000 tags with {row['bins']:.0f} bins each"
        yield Figure(part, flush, "us", row["ns"] / 1000, 1000, "1 ms")
        yield Figure(part, f"{flush}, a tag", "bytes", row["bytes"], 64 + 2.5 * row["bins"], "64 and 2.5 for each bin")
    yield Figure(part, "the same tags in an MMV file, all with new values", "us", rows["mmv"]["ns"] / 1000, 100,
                 "0.1 ms")
    yield Figure(part, "a tag's name, once a connection", "bytes", rows["flush/1"]["definition_bytes"])


def memory(tools):
    """The memory that tracing adds to a process."""
    name = "64 threads burst at once with 1,000 tags each"
    with tools.agent() as ours:
        added = [tools.run("workloads", "burst", environment=tools.environment(ours)).split()
                 for _ in tools.rounds(3, name)]
    burst, delivered = (median([int(word) / MIB for word in column]) for column in zip(*added))
    yield Figure("Memory", name, "MiB", burst, 8, "8 MiB")
    yield Figure("Memory", "the same, when all is delivered", "MiB", delivered, 8, "8 MiB")
