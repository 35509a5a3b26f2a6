# SPDX-License-Identifier: LGPL-2.1-or-later
"""A monitor's waiting time: fetches of many tags, and of a few while the agent is busy."""

import contextlib
import os
import socket
import subprocess
import time

from figures import Figure, median, percentile
from legacy_wire import encode_data, read_ack
from private_pmcd import STOCK_AGENT, STOCK_NAMESPACE, PrivatePmcd

PART = "The agent"
TYPES = ("transact", "point", "observe", "counter")

# The stock agent's metrics, which are those of our cluster 0.
CLASSIC = ",".join(
    [f"trace.transact.{name}" for name in ("count", "rate", "ave_time", "min_time", "max_time",
                                           "total_time")]
    + [f"trace.observe.{name}" for name in ("count", "rate", "value")]
    + ["trace.point", "trace.counter", "trace.control"])

# Ways of naming tags. PCP's tools tell instances apart by the first word.
NAMES = {
    "words of their own": "tag{}",
    "one first word": "read /file/{}",
    "108 bytes": "x" * 100 + "{:08}",
    "one prefix": "shop.basket.checkout.{:08}",
}

WINDOW = ["-T", "60", "-N", "12"]
INTERVAL_S = 5
STOCK_CHUNK_BYTES = 1024  # the stock agent's read size


def measure(tools, brief):
    rounds = 1 if brief else 5
    few, many = (40, 80) if brief else (10_000, 100_000)
    times_of_few = yield from _few_tags(tools, few, rounds, wait=not brief)
    yield from _many_tags(tools, many, times_of_few * many / few, rounds, wait=not brief)
    yield _names(tools, few, 3 * rounds, wait=not brief)
    yield from _label_sets(tools, 2 if brief else 100, 20 if brief else 1000, 3 * rounds,
                           wait=not brief)
    yield from _under_load(tools, seconds=0.1 if brief else 10)


# Many tags ----------------------------------------------------------------------------------------

def _few_tags(tools, count, rounds, wait):
    with _agent(tools, tools.agent) as ours, _agent(tools, STOCK_AGENT) as stock:
        tools.progress(f"{count:,} tags")
        for pmcd in (ours, stock):
            fill(pmcd, count)
        _wait_for_window(wait)
        samples = {"all": [], "classic": [], "stock": [], "names": []}
        for number in range(rounds):
            tools.progress(f"fetches of {count:,} tags, round {number + 1} of {rounds}")
            times = _fetch(tools, ours, 1, ["trace", CLASSIC, "indom:trace.transact.count"])
            for name, column in zip(("all", "classic", "names"), times):
                samples[name] += column
            samples["stock"] += _fetch(tools, stock, 1, [CLASSIC])[0]
        result = {name: median(values) / 1000 for name, values in samples.items()}
    yield Figure(
        part=PART, name=f"a fetch of all trace.* of {count:,} tags", unit="ms", ours=result["all"],
        limit=result["stock"] / 4, bar="a quarter of the stock agent's for its 20 metrics",
        peers={"stock": result["stock"]},
        notes=[f"Its 20 metrics of ours take {result['classic']:.1f} ms; the names of a quarter of "
               f"the tags {result['names']:.2f} ms."])
    return result["all"]


def _many_tags(tools, count, in_proportion, rounds, wait):
    with _agent(tools, tools.agent) as ours:
        tools.progress(f"{count:,} tags")
        fill(ours, count)
        _wait_for_window(wait)
        took = median(_fetch(tools, ours, rounds, ["trace"])[0]) / 1000
    with _agent(tools, STOCK_AGENT) as stock:
        tools.progress(f"{count:,} tags for the stock agent")
        fill(stock, count)
        # The stock agent is silent for longer than pmcd tolerates, so pmcd gets a longer timeout. One of its 20 metrics
        # is enough: all of them took 28 s.
        stock.pmstore("pmcd.control.timeout", 60)
        tools.progress(f"a fetch of {count:,} tags by the stock agent")
        of_stock = _fetch(tools, stock, 0, ["trace.transact.count"], warm=False)[0][0] / 1000
    yield Figure(
        part=PART, name=f"a fetch of all trace.* of {count:,} tags", unit="ms", ours=took,
        limit=of_stock / 4, bar="a quarter of the stock agent's for one metric of its 20",
        peers={"stock": of_stock})
    yield Figure(
        part=PART, name="growth of a fetch from 10,000 to 100,000 tags", unit="x in proportion",
        ours=took / in_proportion, limit=1.5, bar="in proportion, give or take a half for caches")


def _names(tools, count, rounds, wait):
    """Fetches, and looks up names, of tags with different kinds of names."""
    samples = {kind: [] for kind in NAMES}
    with contextlib.ExitStack() as stack:
        pmcds = {kind: stack.enter_context(_agent(tools, tools.agent)) for kind in NAMES}
        for kind, pmcd in pmcds.items():
            tools.progress(f"{count:,} tags with {kind}")
            fill(pmcd, count, NAMES[kind])
        _wait_for_window(wait)
        for number in range(rounds):
            tools.progress(f"fetches of tags by their names, round {number + 1} of {rounds}")
            for kind, pmcd in pmcds.items():
                columns = _fetch(tools, pmcd, 1, ["trace", "indom:trace.transact.count"])
                samples[kind].append(sum(column[0] for column in columns))
    took = {kind: median(values) / 1000 for kind, values in samples.items()}
    plain = took.pop("words of their own")
    slowest = max(took, key=took.get)
    return Figure(
        part=PART, name=f"fetch and names of {count:,} tags, slowest kind of name", unit="ms",
        ours=took[slowest], limit=1.5 * plain, bar="1.5 of tags that are short words",
        notes=[f"Words of their own {plain:.1f} ms, "
               + ", ".join(f"{kind} {value:.1f} ms" for kind, value in took.items()) + "."])


def _label_sets(tools, processes, tags, rounds, wait):
    """Fetches of label sets and of as many tags without labels: both of many processes."""
    count = processes * tags
    samples, resident, wrong = {"plain": [], "labels": []}, {}, 0
    with contextlib.ExitStack() as stack:
        pmcds = {kind: stack.enter_context(_agent(tools, tools.agent)) for kind in samples}
        for kind, pmcd in pmcds.items():
            tools.progress(f"{count:,} tags of {processes} processes, {kind}")
            wrong += _count_by_processes(tools, pmcd, processes, tags, kind == "labels")
        _wait_for_window(wait)
        for number in range(rounds):
            tools.progress(f"fetches of sets of labels, round {number + 1} of {rounds}")
            for kind, pmcd in pmcds.items():
                samples[kind] += _fetch(tools, pmcd, 1, ["trace"])[0]
        for kind, pmcd in pmcds.items():
            resident[kind] = pmcd.value("trace.agent.memory.resident") / 2**20
    took = {kind: median(values) / 1000 for kind, values in samples.items()}
    name = f"{count:,} sets of labels of {processes} processes"
    yield Figure(part=PART, name=f"a fetch of all trace.* of {name}", unit="ms",
                 ours=took["labels"], limit=1.1 * took["plain"],
                 bar="a tenth more than of as many tags without labels",
                 notes=[f"Without labels {took['plain']:.1f} ms."])
    yield Figure(part=PART, name=f"memory of {name}", unit="MiB", ours=resident["labels"],
                 limit=1.25 * resident["plain"],
                 bar="a quarter more than for as many tags without, whose names are a third as long",
                 notes=[f"Without labels {resident['plain']:.1f} MiB."])
    yield Figure(part=PART, name=f"calls that {name} miss or have too many", unit="calls",
                 ours=wrong, limit=0, bar="none")


def _count_by_processes(tools, pmcd, processes, tags, labels):
    """Each of `processes` processes counts tags of its own. Gives by how many calls the agent's counts are wrong."""
    command = [tools.program("our_clients"), "--socket", pmcd.path("run/trace.socket"), "--own-tags",
               "--clients", processes, "--tags", tags, "--events", tags, "--seconds", 0.001]
    output = subprocess.run([str(word) for word in command + ["--labels"] * labels], text=True,
                            capture_output=True, timeout=180, check=True).stdout
    sent = dict(line.split() for line in output.splitlines())
    return sum(abs(int(sent[kind]) - sum(pmcd.values(f"trace.{kind}.count").values()))
               for kind in TYPES)


# Under load ---------------------------------------------------------------------------------------

def _under_load(tools, seconds):
    groups = ["pmcd.control.timeout", "trace.transact.count"]
    lead = min(1, seconds)  # of the loads, which also last this much longer than the fetches
    with _agent(tools, tools.agent) as pmcd:
        fill(pmcd, 1000, kinds=("transact",))
        tools.progress("fetches beside 16 stock programs and 100 clients of ours")
        loads = [
            _start(tools, "stock_clients", "--clients", 16, "--seconds", seconds + 2 * lead,
                   "--port", pmcd.trace_port),
            _start(tools, "our_clients", "--socket", pmcd.path("run/trace.socket"),
                   "--seconds", seconds + 2 * lead)]
        try:
            time.sleep(lead)
            of_pmcd, of_agent = _fetch(tools, pmcd, 1_000_000, groups, seconds=seconds)
        finally:
            for load in loads:
                load.wait()
    slowest = percentile(of_pmcd, 99) / 1000
    yield Figure(
        part=PART, name="p99 of a fetch of 1,000 tags under load", unit="ms",
        ours=percentile(of_agent, 99) / 1000, limit=2 * slowest,
        bar="twice that of pmcd.control.timeout, which no agent is asked for",
        notes=[f"{len(of_agent):,} fetches beside 16 stock programs at full speed and 100 clients "
               f"of ours. p99 of pmcd.control.timeout: {slowest:.2f} ms. Medians: "
               f"{median(of_agent) / 1000:.2f} ms, pmcd's {median(of_pmcd) / 1000:.2f} ms."])


def _start(tools, program, *arguments):
    return subprocess.Popen([tools.program(program), *map(str, arguments)],
                            stdout=subprocess.DEVNULL)


# All of them --------------------------------------------------------------------------------------

def _agent(tools, agent):
    namespace = STOCK_NAMESPACE if agent == STOCK_AGENT else tools.namespace
    return PrivatePmcd(agent=agent, namespace=namespace, options=WINDOW)


def _wait_for_window(wait):
    """Waits until the values are in the window, so that all metrics have values."""
    time.sleep(INTERVAL_S + 1 if wait else 0)


def _fetch(tools, pmcd, rounds, groups, seconds=60, warm=True):
    """Gives the times of each group in microseconds. Without `warm`, that of the first fetch."""
    environment = os.environ | {"PMCD_REQUEST_TIMEOUT": "60"}
    command = [tools.program("fetch_times"), pmcd.host(), rounds, seconds, *groups]
    output = subprocess.run([str(word) for word in command], env=environment, text=True,
                            capture_output=True, timeout=180, check=True).stdout
    first, *lines = output.splitlines()
    if not warm:
        lines = [first]
    return list(zip(*([float(word) for word in line.split()] for line in lines)))


def fill(pmcd, count, name=NAMES["words of their own"], kinds=TYPES):
    """Makes `count` tags, the kinds in turn, as a stock client would: both agents accept them."""
    with socket.create_connection(("127.0.0.1", pmcd.trace_port)) as connection:
        read_ack(connection)
        chunk, last = b"", None
        for number in range(count):
            kind = kinds[number % len(kinds)]
            pdu = [kind, name.format(number // len(kinds)), 0.004]
            if len(chunk) + 24 + len(pdu[1]) + 4 + 24 + 256 > STOCK_CHUNK_BYTES:
                _send(connection, chunk, last)
                chunk, last = b"", None
            if last:
                chunk += encode_data(*last)
            last = pdu
        _send(connection, chunk, last)


def _send(connection, chunk, last):
    connection.sendall(chunk + encode_data(*last, wants_ack=True))
    read_ack(connection)
