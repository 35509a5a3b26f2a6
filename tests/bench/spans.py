# SPDX-License-Identifier: LGPL-2.1-or-later
"""The cost of a capture: for the programs, and for the agent."""

import os
import subprocess
import time

import google
import lttng
from event_monitor import EventMonitor
from fetch import fill
from figures import Figure, median, percentile
from ingest import cpu_s
from private_pmcd import PrivatePmcd, wait_until

PART = "Spans"
ROUNDS = 5
MIB = 1 << 20
CLIENTS = 100

# Captures all spans up to the agent's limit: 20,000 a second of all programs together.
FILTER = "tag=bench.asked limit=1000000/s"
# Captures trees that take a millisecond.
SLOWER = "tag=bench.asked slower=1ms limit=1000000/s"
CHILDREN = (0, 2, 8)


def measure(tools, brief):
    rounds = 1 if brief else ROUNDS
    yield from _caller(tools, rounds, brief)
    yield _memory(tools, 1 if brief else 3, brief)
    yield _store(tools, 1 if brief else 3, 0.1 if brief else 2)
    yield _fetch(tools, rounds, 0.1 if brief else 4)


def _agent(tools):
    return PrivatePmcd(agent=tools.agent, namespace=tools.namespace)


def _environment(tools, pmcd, brief=False):
    environment = pmcd.environment() | {"LD_LIBRARY_PATH": tools.library_directory}
    return environment | {"BENCH_BRIEF": "1"} if brief else environment


def _asking(pmcd, wanted=FILTER):
    monitor = EventMonitor(pmcd.host(True))
    monitor.want(wanted)
    return monitor


# The caller ---------------------------------------------------------------------------------------

def _caller(tools, rounds, brief):
    samples = {}
    with lttng.session("pcp_trace_bench:*"):
        for number in range(rounds):
            tools.progress(f"begin and end, round {number + 1} of {rounds}")
            for name, ns in _calls(tools, brief).items():
                samples.setdefault(name, []).append(ns)
    ns = {name: median(values) for name, values in samples.items()}
    yield Figure(PART, "begin + end by handle, captured", "ns", ns["of_captured"],
                 0.6 * ns["LTTng"], "0.6 of two events of LTTng-UST with the same fields",
                 {"LTTng, two events": ns["LTTng"]})
    yield Figure(PART, "begin + end by handle, another tag is captured", "ns",
                 ns["beside_captured"], 1.25 * ns["plain"], "1.25 of when nothing is",
                 notes=[f"When nothing is captured {ns['plain']:.1f} ns."])
    for children in CHILDREN:
        yield Figure(PART, f"a transaction of a fast tree with {children} children, for slower=", "ns",
                     ns[f"tree {children}"], 0.6 * ns["LTTng"],
                     "0.6 of two events of LTTng-UST with the same fields")
    yield Figure(PART, "slow trees missed among fast ones, of all", "", median(samples["missed"]), 0, "0",
                 notes=[f"Beside {ns['fast'] / 1e6:.1f} million fast transactions a second."])


def _calls(tools, brief):
    """The captured ones first: the more programs send spans, the less the agent allows each."""
    with _agent(tools) as pmcd:
        environment = _environment(tools, pmcd) | {"PCP_TRACE_FLUSH": "5"}  # as in caller.py

        def run(pattern):
            rows = google.run(tools, "caller_spans", brief, pattern, environment)
            return next(iter(rows.values()))["ns"]
        plain = run("begin_end/")
        with _asking(pmcd) as monitor:
            result = {"plain": plain, "of_captured": run("begin_end_of_captured")}
            _check_that_all_were_captured(pmcd, monitor, 1000 if brief else 31_000)
            result["beside_captured"] = run("begin_end_beside_captured")
    with _agent(tools) as pmcd:
        environment = _environment(tools, pmcd) | {"PCP_TRACE_FLUSH": "5"}
        with _asking(pmcd, SLOWER):
            for children in CHILDREN:
                result[f"tree {children}"] = run(f"fast_tree/{children}/")
            before = pmcd.value("tracing.agent.captured")
            row = next(iter(google.run(tools, "caller_spans", brief, "slow_among_fast", environment).values()))
            slow = row["slow_spans"]
            try:
                wait_until(lambda: pmcd.value("tracing.agent.captured") >= before + slow, what="slow spans")
            except TimeoutError:
                pass  # the figure tells
            missed = 1 - (pmcd.value("tracing.agent.captured") - before) / slow
            result |= {"missed": max(0, missed), "fast": row["fast_a_second"]}
    peer = google.run(tools, "caller_lttng", brief, "lttng_span",
                      dict(os.environ, LTTNG_UST_REGISTER_TIMEOUT="60000"))
    row = next(iter(peer.values()))
    if not row["enabled"]:
        raise RuntimeError("LTTng does not record the span's events")
    return result | {"LTTng": row["ns"]}


def _check_that_all_were_captured(pmcd, monitor, count):
    wait_until(lambda: pmcd.value("tracing.agent.captured") >= count, what="all spans")
    missed = {cause: pmcd.value(f"tracing.agent.missed.{cause}")
              for cause in ("full", "limit", "away")}
    if any(missed.values()):
        raise RuntimeError(f"not all were captured: {missed}")
    while monitor.events():
        pass


# Memory -------------------------------------------------------------------------------------------

def _memory(tools, rounds, brief):
    added = {False: [], True: []}
    captured = []
    for number in range(rounds):
        for is_captured, samples in added.items():
            tools.progress(f"memory of 1,000 threads, round {number + 1} of {rounds}")
            with _agent(tools) as pmcd:
                monitor = _asking(pmcd) if is_captured else None
                output = subprocess.run([tools.program("memory_spans")], check=True, text=True,
                                        env=_environment(tools, pmcd, brief),
                                        stdin=subprocess.DEVNULL, capture_output=True).stdout
                if monitor:
                    monitor.close()
            bytes_added, transactions = (int(word) for word in output.split())
            samples.append(bytes_added / MIB)
            if is_captured:
                captured.append(transactions)
    with_spans, without = median(added[True]), median(added[False])
    return Figure(PART, "memory of 1,000 threads, captured at their limit, more than without",
                  "MiB", with_spans - without, 8, "8 MiB",
                  notes=[f"{with_spans:.1f} MiB; without {without:.1f} MiB. "
                         f"{median(captured):,.0f} of 300,000 transactions were captured."])


# The agent ----------------------------------------------------------------------------------------

def _store(tools, rounds, seconds):
    rates = []
    for number in range(rounds):
        tools.progress(f"spans into the store, round {number + 1} of {rounds}")
        with _agent(tools) as pmcd, _asking(pmcd):
            agent = pmcd.agent_pid()
            before = cpu_s(agent)
            done = _end(_span_clients(tools, pmcd, 4, seconds, "flat-out"))
            took = cpu_s(agent) - before
        rates.append(done["spans"] / took)
        size = done["bytes"] / done["spans"]
    return Figure(PART, "spans into the agent's store, a CPU second", "", median(rates), 1e6,
                  "a million, on one core", at_least=True,
                  notes=[f"{size:.0f} bytes each on the wire; the store is full, as nobody reads."])


def _fetch(tools, rounds, seconds):
    """Times fetches of counts beside programs that send spans, and beside the same programs without spans."""
    times = {False: [], True: []}
    allowed = []
    for number in range(rounds):
        for is_asked, samples in times.items():
            tools.progress(f"fetches beside {CLIENTS} clients, round {number + 1} of {rounds}")
            with _agent(tools) as pmcd:
                fill(pmcd, 1000, kinds=("transact",))
                monitor = _asking(pmcd) if is_asked else None
                load = _span_clients(tools, pmcd, CLIENTS, 1.5 * seconds, "paced")
                time.sleep(seconds / 4)
                samples += _fetch_times(tools, pmcd, seconds)
                done = _end(load)
                if monitor:
                    allowed.append(done["allowed"])
                    monitor.close()
    with_spans, without = (percentile(times[key], 99) / 1000 for key in (True, False))
    return Figure(PART, f"p99 of a fetch of trace.transact.* beside {CLIENTS} clients at their limit",
                  "ms", with_spans, 2 * without, "twice that of when they send no spans",
                  notes=[f"1,000 tags; {median(allowed):,.0f} spans a second, more in the first one. "
                         f"Without spans p99 is {without:.2f} ms. Medians: {median(times[True]) / 1000:.2f} ms, without "
                         f"{median(times[False]) / 1000:.2f} ms."])


def _span_clients(tools, pmcd, count, seconds, way):
    return subprocess.Popen([tools.program("span_clients"), pmcd.path("run/trace.socket"),
                             str(count), str(seconds), way], stdout=subprocess.PIPE, text=True)


def _end(span_clients):
    """Waits for their end; gives their counts."""
    try:
        lines = span_clients.communicate(timeout=120)[0].splitlines()
    finally:
        span_clients.kill()
    if span_clients.returncode != 0:
        raise RuntimeError(f"{span_clients.args}: status {span_clients.returncode}")
    return {name: int(count) for name, count in map(str.split, lines)}


def _fetch_times(tools, pmcd, seconds):
    output = subprocess.run([tools.program("fetch_times"), pmcd.host(), "1000000", str(seconds),
                             "trace.transact"], env=os.environ | {"PMCD_REQUEST_TIMEOUT": "60"},
                            text=True, capture_output=True, timeout=180, check=True).stdout
    return [float(line) for line in output.splitlines()[1:]]
