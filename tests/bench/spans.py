# SPDX-License-Identifier: LGPL-2.1-or-later
"""The cost of a capture: for the programs, and for the agent."""

import contextlib
import json
import subprocess
import time

from event_monitor import EventMonitor
from figures import Figure, median, medians, percentile
from private_pmcd import wait_until
from running import MIB, cpu_s, fill, numbers, peers_environment, run_peers, trace_socket, waiting_times

PART = "Spans"

# Captures all spans up to the agent's limit: 20,000 a second of all programs together.
FILTER = "tag=bench.asked limit=1000000/s"
# Captures trees that take a millisecond.
SLOWER = "tag=bench.asked slower=1ms limit=1000000/s"
CHILDREN = (0, 2, 8)
WITHOUT, CAPTURED = "without spans", "captured"


def measure(tools):
    yield from _caller(tools)
    yield _memory(tools)
    yield _store(tools, 0.1 if tools.brief else 2)
    yield _fetch(tools, 0.1 if tools.brief else 4)
    yield _shown(tools, "a host", 1, 1.5)
    yield _shown(tools, "two hosts", 2, 3)


@contextlib.contextmanager
def _asking(pmcd, wanted=FILTER):
    """A monitor that captures; without a filter, none."""
    if not wanted:
        yield None
        return
    with EventMonitor(pmcd.host(True)) as monitor:
        monitor.want(wanted)
        yield monitor


# The caller ---------------------------------------------------------------------------------------

def _caller(tools):
    with peers_environment() as of_peers:
        costs = medians([_calls(tools, of_peers) for _ in tools.rounds(5, "begin and end")])
    limit = 0.6 * costs["LTTng"], "0.6 of two events of LTTng-UST with the same fields"
    yield Figure(PART, "begin + end by handle, captured", "ns", costs["of_captured"], *limit,
                 {"LTTng, two events": costs["LTTng"]})
    yield Figure(PART, "begin + end by handle, another tag is captured", "ns", costs["beside_captured"],
                 1.25 * costs["plain"], "1.25 of when nothing is",
                 notes=[f"When nothing is captured {costs['plain']:.1f} ns."])
    for children in CHILDREN:
        yield Figure(PART, f"a transaction of a fast tree with {children} children, for slower=", "ns",
                     costs[f"fast_tree/{children}"], *limit)
    yield Figure(PART, "begin + end of a request with headers, for slower= of another tag", "ns", costs["came_in/1"],
                 1.6 * costs["came_in/0"], "1.6 of without a filter",
                 notes=[f"Without a filter {costs['came_in/0']:.1f} ns."])
    yield Figure(PART, "slow trees missed among fast ones, of all", "", costs["missed"], 0, "0",
                 notes=[f"Beside {costs['fast'] / 1e6:.1f} million fast transactions a second."])


def _calls(tools, of_peers):
    """The captured ones first: the more programs send spans, the less the agent allows each."""
    costs = {}
    with tools.agent() as pmcd:
        run = _runner(tools, pmcd, costs)
        run("plain")
        run("came_in/0")
        with _asking(pmcd) as monitor:
            run("of_captured")
            _check_that_all_were_captured(pmcd, monitor, 1000 if tools.brief else 31_000)
            run("beside_captured")
    with tools.agent() as pmcd:
        run = _runner(tools, pmcd, costs)
        with _asking(pmcd, SLOWER):
            for children in CHILDREN:
                run(f"fast_tree/{children}")
            run("came_in/1")
            before = _captured(pmcd)
            row = run("slow_among_fast")
            slow = row["slow_spans"]
            with contextlib.suppress(TimeoutError):  # the figure tells
                wait_until(lambda: _captured(pmcd) >= before + slow, what="slow spans")
            costs |= {"missed": max(0, 1 - (_captured(pmcd) - before) / slow), "fast": row["fast_a_second"]}
    return costs | {"LTTng": run_peers(tools, of_peers, "lttng_span")["lttng_span"]["ns"]}


def _runner(tools, pmcd, costs):
    environment = tools.environment(pmcd, PCP_TRACE_FLUSH="5")  # as in caller.py

    def run(name):
        row, = tools.google("caller", f"^span_{name}/", environment).values()
        costs[name] = row.get("ns", 0)
        return row
    return run


def _captured(pmcd):
    return pmcd.value("tracing.agent.captured")


def _check_that_all_were_captured(pmcd, monitor, count):
    wait_until(lambda: _captured(pmcd) >= count, what="all spans")
    missed = {cause: pmcd.value(f"tracing.agent.missed.{cause}") for cause in ("full", "limit", "away")}
    if any(missed.values()):
        raise RuntimeError(f"not all were captured: {missed}")
    while monitor.events():
        pass


# Memory -------------------------------------------------------------------------------------------

def _memory(tools):
    added = {WITHOUT: [], CAPTURED: []}
    captured = []
    for kind in tools.rounds(3, *added):
        with tools.agent() as pmcd, _asking(pmcd, FILTER if kind == CAPTURED else None):
            words = tools.run("workloads", "spans", environment=tools.environment(pmcd)).split()
        added[kind].append(int(words[0]) / MIB)
        if kind == CAPTURED:
            captured.append(int(words[1]))
    with_spans, without = median(added[CAPTURED]), median(added[WITHOUT])
    return Figure(PART, "memory of 1,000 threads, captured at their limit, more than without",
                  "MiB", with_spans - without, 8, "8 MiB",
                  notes=[f"{with_spans:.1f} MiB; without {without:.1f} MiB. "
                         f"{median(captured):,.0f} of 300,000 transactions were captured."])


# The agent ----------------------------------------------------------------------------------------

def _store(tools, seconds):
    rates = []
    for _ in tools.rounds(3, "spans into the store"):
        with tools.agent() as pmcd, _asking(pmcd):
            agent = pmcd.agent_pid()
            before = cpu_s(agent)
            done = tools.numbers("clients", trace_socket(pmcd), "spans", "clients=4", f"seconds={seconds}",
                                 "flat-out=1")
            rates.append(done["spans"] / (cpu_s(agent) - before))
    return Figure(PART, "spans into the agent's store, a CPU second", "", median(rates), 1e6,
                  "a million, on one core", at_least=True,
                  notes=[f"{done['bytes'] / done['spans']:.0f} bytes each on the wire; the store is full, as nobody "
                         "reads."])


def _fetch(tools, seconds):
    """Times fetches of counts beside programs that send spans, and beside the same programs without spans."""
    times = {WITHOUT: [], CAPTURED: []}
    allowed = []
    for kind in tools.rounds(5, *times):
        with tools.agent() as pmcd, _asking(pmcd, FILTER if kind == CAPTURED else None):
            fill(pmcd, 1000, kinds=("transact",))
            load = tools.start("clients", trace_socket(pmcd), "spans", f"seconds={1.5 * seconds}")
            time.sleep(seconds / 4)
            times[kind] += waiting_times(pmcd, "trace.transact", seconds=seconds)[0]
            done = numbers(load.communicate(timeout=120)[0])
        if kind == CAPTURED:
            allowed.append(done["allowed"])
    with_spans, without = (percentile(times[kind], 99) / 1000 for kind in (CAPTURED, WITHOUT))
    return Figure(PART, "p99 of a fetch of trace.transact.* beside 100 clients at their limit",
                  "ms", with_spans, 2 * without, "twice that of when they send no spans",
                  notes=[f"1,000 tags; {median(allowed):,.0f} spans a second, more in the first one. "
                         f"Without spans p99 is {without:.2f} ms. Medians: {median(times[CAPTURED]) / 1000:.2f} ms, "
                         f"without {median(times[WITHOUT]) / 1000:.2f} ms."])


# The monitor --------------------------------------------------------------------------------------

def _shown(tools, where, hosts, limit):
    """Times requests through three programs, from the moment when they are slow until they are shown."""
    times = []
    with contextlib.ExitStack() as stack:
        pmcds = [stack.enter_context(tools.agent()) for _ in range(hosts)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        chain = stack.enter_context(subprocess.Popen(
            [tools.build / "tests/programs/slow_chain"], **pipes,
            env=tools.environment(pmcds[0], middle=trace_socket(pmcds[-1]))))
        stack.callback(chain.stdin.close)
        monitor = stack.enter_context(subprocess.Popen(
            [tools.command, "spans", "--json", "tag=checkout slower=50ms",
             *(word for pmcd in pmcds for word in ("-h", pmcd.host(True)))], **pipes))
        stack.callback(monitor.terminate)
        print("1 1 -1 0", file=chain.stdin, flush=True)
        chain.stdout.readline()
        for _ in tools.rounds(30, f"slow requests of {where}"):
            began = time.monotonic()
            print("1 1 0 60", file=chain.stdin, flush=True)
            asked = chain.stdout.readline().split("-")[1]
            chain.stdout.readline()
            trace = next(trace for trace in map(json.loads, monitor.stdout) if trace["trace"] == asked)
            times.append(time.monotonic() - began - 0.05)
            if len(trace["spans"]) != 3:
                raise RuntimeError(f"it was not whole: {trace}")
    return Figure(PART, f"from slow to shown whole, through three programs of {where}, the worst time", "s",
                  max(times), limit, f"{limit} s", notes=[f"The median is {median(times):.2f} s."])
