# SPDX-License-Identifier: LGPL-2.1-or-later
"""A monitor's waiting time: fetches of many tags, and of a few while the agent is busy or attacked."""

import contextlib
import time

from figures import Figure, median, percentile
from running import MIB, TYPES, fill, numbers, trace_socket, waiting_times

PART = "The agent"
WINDOW = ["-T", "60", "-N", "12"]
INTERVAL_S = 5

# The stock agent's metrics, which are those of our cluster 0.
CLASSIC = ",".join(
    [f"trace.transact.{name}" for name in ("count", "rate", "ave_time", "min_time", "max_time", "total_time")]
    + [f"trace.observe.{name}" for name in ("count", "rate", "value")]
    + ["trace.point", "trace.counter", "trace.control"])

# Ways of naming tags. PCP's tools tell instances apart by the first word.
PLAIN = "Words of their own"
LABELS, BARE = "sets of labels", "as many tags without labels"
NAMES = {
    PLAIN: "tag{}",
    "one first word": "read /file/{}",
    "108 bytes": "x" * 100 + "{:08}",
    "one prefix": "shop.basket.checkout.{:08}",
}

ATTACKS = {
    "slow": "500 connections that send a byte now and then",
    "connects": "a flood of connects",
    "nonsense": "a flood of connections that send no PDU",
    "tags": "new tags without end",
    "deaf": "100 connections that read no answer",
}


def waiting(tools):
    few, many = (40, 80) if tools.brief else (10_000, 100_000)
    times_of_few = yield from _few_tags(tools, few)
    yield from _many_tags(tools, many, times_of_few * many / few)
    yield _names(tools, few)
    yield from _label_sets(tools, *((2, 20) if tools.brief else (100, 1000)))
    yield _under_load(tools, seconds=0.1 if tools.brief else 10)


def _filled(tools, pmcd, count, *name):
    tools.progress(f"{count:,} tags")
    fill(pmcd, count, *name)


def _wait_for_window(tools):
    """Waits until the values are in the window, so that all metrics have values."""
    time.sleep(0 if tools.brief else INTERVAL_S + 1)


def _few_tags(tools, count):
    with tools.agent(options=WINDOW) as ours, tools.agent(stock=True, options=WINDOW) as stock:
        for pmcd in (ours, stock):
            _filled(tools, pmcd, count)
        _wait_for_window(tools)
        samples = {"all": [], "classic": [], "names": [], "stock": []}
        for _ in tools.rounds(5, f"fetches of {count:,} tags"):
            times = (waiting_times(ours, "trace", CLASSIC, "indom:trace.transact.count", rounds=1)
                     + waiting_times(stock, CLASSIC, rounds=1))
            for name, column in zip(samples, times):
                samples[name] += column
    took = {name: median(values) / 1000 for name, values in samples.items()}
    yield Figure(
        PART, f"a fetch of all trace.* of {count:,} tags", "ms", took["all"], took["stock"] / 4,
        "a quarter of the stock agent's for its 20 metrics", {"stock": took["stock"]},
        notes=[f"Its 20 metrics of ours take {took['classic']:.1f} ms; the names of a quarter of "
               f"the tags {took['names']:.2f} ms."])
    return took["all"]


def _many_tags(tools, count, in_proportion):
    with tools.agent(options=WINDOW) as ours:
        _filled(tools, ours, count)
        _wait_for_window(tools)
        took = median(waiting_times(ours, "trace", rounds=1 if tools.brief else 5)[0]) / 1000
    with tools.agent(stock=True, options=WINDOW) as stock:
        _filled(tools, stock, count)
        # The stock agent is silent for longer than pmcd tolerates, so pmcd gets a longer timeout. One of its 20 metrics
        # is enough: all of them took 28 s.
        stock.pmstore("pmcd.control.timeout", 60)
        tools.progress(f"a fetch of {count:,} tags by the stock agent")
        of_stock = waiting_times(stock, "trace.transact.count", rounds=0)[0][0] / 1000
    yield Figure(PART, f"a fetch of all trace.* of {count:,} tags", "ms", took, of_stock / 4,
                 "a quarter of the stock agent's for one metric of its 20", {"stock": of_stock})
    yield Figure(PART, "growth of a fetch from 10,000 to 100,000 tags", "x in proportion", took / in_proportion, 1.5,
                 "in proportion, give or take a half for caches")


def _side_by_side(tools, groups, fillers):
    """Fills an agent in each way. Gives the median times of fetches, and the agents' memory in MiB."""
    samples = {way: [] for way in fillers}
    with contextlib.ExitStack() as stack:
        pmcds = {way: stack.enter_context(tools.agent(options=WINDOW)) for way in fillers}
        for way, fill_one in fillers.items():
            fill_one(pmcds[way])
        _wait_for_window(tools)
        for way in tools.rounds(15, *fillers):
            samples[way].append(sum(column[0] for column in waiting_times(pmcds[way], *groups, rounds=1)))
        resident = {way: pmcd.value("trace.agent.memory.resident") / MIB for way, pmcd in pmcds.items()}
    return {way: median(values) / 1000 for way, values in samples.items()}, resident


def _names(tools, count):
    """Fetches, and looks up names, of tags with different kinds of names."""
    took, _ = _side_by_side(tools, ["trace", "indom:trace.transact.count"], {
        kind: lambda pmcd, name=name: _filled(tools, pmcd, count, name) for kind, name in NAMES.items()})
    slowest = max(took[kind] for kind in NAMES if kind != PLAIN)
    return Figure(PART, f"fetch and names of {count:,} tags, slowest kind of name", "ms", slowest, 1.5 * took[PLAIN],
                  "1.5 of tags that are short words",
                  notes=[", ".join(f"{kind} {value:.1f} ms" for kind, value in took.items()) + "."])


def _label_sets(tools, processes, tags):
    """Fetches of label sets and of as many tags without labels: both of many processes."""
    wrong = []

    def count_by_processes(pmcd, kind):
        """Each process counts tags of its own."""
        tools.progress(f"{processes * tags:,} tags of {processes} processes")
        sent = tools.numbers("clients", trace_socket(pmcd), "batches", "own=1", f"clients={processes}", f"tags={tags}",
                             f"events={tags}", "seconds=0.001", f"labels={int(kind == LABELS)}")
        wrong.extend(abs(sent[kind] - sum(pmcd.values(f"trace.{kind}.count").values())) for kind in TYPES)

    took, resident = _side_by_side(tools, ["trace"], {
        kind: lambda pmcd, kind=kind: count_by_processes(pmcd, kind) for kind in (BARE, LABELS)})
    name = f"{processes * tags:,} sets of labels of {processes} processes"
    yield Figure(PART, f"a fetch of all trace.* of {name}", "ms", took[LABELS], 1.1 * took[BARE],
                 "a tenth more than of as many tags without labels", notes=[f"Without labels {took[BARE]:.1f} ms."])
    yield Figure(PART, f"memory of {name}", "MiB", resident[LABELS], 1.25 * resident[BARE],
                 "a quarter more than for as many tags without, whose names are a third as long",
                 notes=[f"Without labels {resident[BARE]:.1f} MiB."])
    yield Figure(PART, f"calls that {name} miss or have too many", "calls", sum(wrong), 0, "none")


def _under_load(tools, seconds):
    lead = min(1, seconds)  # of the loads, which also last this much longer than the fetches
    with tools.agent(options=WINDOW) as pmcd:
        fill(pmcd, 1000, kinds=("transact",))
        tools.progress("fetches beside 16 stock programs and 100 clients of ours")
        loads = [tools.start("stock_clients", pmcd.trace_port, 16, seconds + 2 * lead, 1e18),
                 tools.start("clients", trace_socket(pmcd), "batches", f"seconds={seconds + 2 * lead}")]
        try:
            time.sleep(lead)
            of_pmcd, of_agent = waiting_times(pmcd, "pmcd.control.timeout", "trace.transact.count", seconds=seconds)
        finally:
            for load in loads:
                load.communicate()
    slowest = percentile(of_pmcd, 99) / 1000
    return Figure(
        PART, "p99 of a fetch of 1,000 tags under load", "ms", percentile(of_agent, 99) / 1000, 2 * slowest,
        "twice that of pmcd.control.timeout, which no agent is asked for",
        notes=[f"{len(of_agent):,} fetches beside 16 stock programs at full speed and 100 clients of ours. "
               f"p99 of pmcd.control.timeout: {slowest:.2f} ms. Medians: "
               f"{median(of_agent) / 1000:.2f} ms, pmcd's {median(of_pmcd) / 1000:.2f} ms."])


# Beside a hostile peer ----------------------------------------------------------------------------

def beside_hostile_peers(tools):
    """The cost of one hostile peer for the other clients: their throughput, and a monitor's waiting time."""
    throughput = {kind: [] for kind in ("undisturbed", *ATTACKS)}
    latency = {kind: [] for kind in throughput}
    for kind in tools.rounds(5, *throughput):
        batches, fetches = _serve(tools, kind, 0.1 if tools.brief else 3)
        throughput[kind].append(batches)
        latency[kind] += fetches
    served, waited = ({kind: median(samples) for kind, samples in each.items()} for each in (throughput, latency))
    for name, times, undisturbed in (
            ("throughput of 100 clients", {kind: served["undisturbed"] / served[kind] for kind in ATTACKS},
             f"Undisturbed {served['undisturbed']:,.0f} batches a second."),
            ("fetch of 1,000 tags", {kind: waited[kind] / waited["undisturbed"] for kind in ATTACKS},
             f"Undisturbed {waited['undisturbed'] / 1000:.2f} ms, the median, as are the others.")):
        yield Figure(PART, f"{name} beside a hostile peer", "x", max(times.values()), 1.5,
                     "1.5 times undisturbed; the hostile peer takes all of a processor that it can",
                     notes=[undisturbed] + [f"{ATTACKS[kind]}: {value:.2f} x" for kind, value in times.items()])


def _serve(tools, kind, seconds):
    """Gives the acknowledged batches a second, and the times of fetches."""
    with tools.agent() as pmcd:
        fill(pmcd, 1000, kinds=("transact",))
        attack = tools.start("sockets", pmcd.trace_port, kind) if kind in ATTACKS else None
        try:
            if attack:
                attack.stdout.readline()  # once the attack has begun
            began = time.monotonic()
            load = tools.start("clients", trace_socket(pmcd), "batches", f"seconds={1.5 * seconds}")
            fetches, = waiting_times(pmcd, "trace.transact.count", seconds=seconds)
            done = load.communicate(timeout=120)[0]
            took = time.monotonic() - began
        finally:
            if attack:
                attack.terminate()
                attack.communicate()
    return numbers(done)["batches"] / took, fetches
