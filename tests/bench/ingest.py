# SPDX-License-Identifier: LGPL-2.1-or-later
"""The cost of the agent's clients, ours and stock ones, and whether the agent counts every call."""

import os
import subprocess
import time

from figures import Figure, median
from private_pmcd import STOCK_AGENT, STOCK_NAMESPACE, PrivatePmcd

PART = "The agent"
TYPES = ("transact", "point", "observe", "counter")

CLIENTS = 100  # of ours
OF_A_CORE = 0.10
PROGRAMS = 16  # with the stock library


def measure(tools, brief):
    if brief:
        yield from _our_clients(tools, rounds=1, seconds=0.1)
        yield from _raw_stock_clients(tools, rounds=1, seconds=0.1)
        yield _stock_programs(tools, rounds=1, calls=100)
        return
    yield from _our_clients(tools, rounds=3, seconds=3)
    yield from _raw_stock_clients(tools, rounds=3, seconds=1)
    yield _stock_programs(tools, rounds=1, calls=50_000)


# Ours ---------------------------------------------------------------------------------------------

def _our_clients(tools, rounds, seconds):
    shares = {"the same tags": [], "tags of their own": []}
    wrong = 0
    for number in range(rounds):
        for tags, samples in shares.items():
            tools.progress(f"{CLIENTS} of our clients, {tags}, round {number + 1} of {rounds}")
            with _agent(tools, tools.agent) as pmcd:
                share, done = _load_with_ours(tools, pmcd, seconds, tags != "the same tags")
                samples.append(share)
                wrong += _miscounted(pmcd, done)
    for tags, samples in shares.items():
        yield Figure(
            part=PART, name=f"{CLIENTS} clients of ours, {tags}", unit="core",
            ours=median(samples), limit=OF_A_CORE,
            bar="a tenth of one core; each sends 100,000 events of 100 tags every 100 ms",
            notes=[f"{done['bins']:.0f} bins of a histogram are occupied, on average; "
                   f"{done['bytes'] / done['batches']:.0f} bytes a batch"])
    yield Figure(part=PART, name="miscounted, of our clients", unit="", ours=wrong, limit=0,
                 bar="every call and every sum of values, as the agent's metrics say")


def _load_with_ours(tools, pmcd, seconds, own_tags):
    """Gives the agent's share of a core, and the clients' output."""
    agent = pmcd.agent_pid()
    cpu, begin = cpu_s(agent), time.monotonic()
    done = _run([tools.program("our_clients"), "--socket", pmcd.path("run/trace.socket"),
                 "--clients", CLIENTS, "--seconds", seconds, *["--own-tags"] * own_tags])
    return (cpu_s(agent) - cpu) / (time.monotonic() - begin), done


def _miscounted(pmcd, done):
    """Calls that were counted twice or not at all, and wrong sums."""
    wrong = sum(abs(done[kind] - _sum(pmcd, f"trace.{kind}.count")) for kind in TYPES)
    for expected, metric in ((done["transact_sum"], "trace.transact.total_time"),
                             (done["observe_sum"], "trace.observe.sum")):
        wrong += abs(_sum(pmcd, metric) - expected) > 1e-12 * expected  # pminfo rounds
    return wrong


# Stock ones ---------------------------------------------------------------------------------------

def _raw_stock_clients(tools, rounds, seconds):
    """Sockets that write many PDUs at once, so that only the agent is measured."""
    agents = {"ours": tools.agent, "stock": STOCK_AGENT}
    for tags in (4, 32):
        rates = {name: [] for name in agents}
        for number in range(rounds):
            for name, agent in agents.items():
                tools.progress(f"raw sockets, {tags} tags, {name}, round {number + 1} of {rounds}")
                with _agent(tools, agent) as pmcd:
                    rates[name].append(_pdus_per_cpu_second(tools, pmcd, tags, seconds))
        stock = median(rates["stock"])
        yield Figure(part=PART, name=f"PDUs of stock clients a CPU second, {tags} tags", unit="",
                     ours=median(rates["ours"]), limit=stock, at_least=True,
                     peers={"stock": stock},
                     bar="the stock agent's; 4 sockets write 256 PDUs at once")


def _pdus_per_cpu_second(tools, pmcd, tags, seconds):
    agent = pmcd.agent_pid()
    cpu = cpu_s(agent)
    done = _run([tools.program("stock_clients"), "--raw", "--tags", tags, "--seconds", seconds,
                 "--port", pmcd.trace_port])
    counted = _final_count(pmcd, sum(done[kind] for kind in TYPES))
    return counted / (cpu_s(agent) - cpu)


def _stock_programs(tools, rounds, calls):
    """Programs with the stock library, asynchronous, at full speed."""
    agents = {"ours": tools.agent, "stock": STOCK_AGENT}
    made = dict.fromkeys(agents, 0)
    counted = dict.fromkeys(agents, 0)
    failed = dict.fromkeys(agents, 0)
    dropped = 0
    for number in range(rounds):
        for name, agent in agents.items():
            tools.progress(f"{PROGRAMS} stock programs, {name}, round {number + 1} of {rounds}")
            with _agent(tools, agent) as pmcd:
                done = _run([tools.program("stock_clients"), "--clients", PROGRAMS, "--calls",
                             calls, "--seconds", 20, "--port", pmcd.trace_port])
                made[name] += (calls_made := sum(done[kind] for kind in TYPES))
                counted[name] += _final_count(pmcd, calls_made)
                failed[name] += done["failed"]
                if name == "ours":
                    dropped += pmcd.agent_log().count("dropped: ")
    lost = {name: made[name] - counted[name] for name in agents}
    notes = [f"{name}: {lost[name]:,} of {made[name]:,} calls ({lost[name] / made[name]:.2%}), "
             f"{failed[name]:,} of them with an error" for name in agents]
    return Figure(part=PART, name=f"lost, of {PROGRAMS} stock programs at full speed", unit="",
                  ours=abs(lost["ours"]) + dropped, limit=0,
                  bar="not one call, not one connection", peers={"stock": lost["stock"]},
                  notes=notes)


# Both ---------------------------------------------------------------------------------------------

def _agent(tools, agent):
    namespace = STOCK_NAMESPACE if agent == STOCK_AGENT else tools.namespace
    return PrivatePmcd(agent=agent, namespace=namespace)


def _run(command):
    """Runs a load and gives what it prints, a name and a number on each line."""
    output = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            timeout=120, check=True).stdout
    return {name: float(value) if "." in value else int(value)
            for name, value in (line.split() for line in output.splitlines())}


def _sum(pmcd, metric):
    return sum(pmcd.values(metric).values())


def _final_count(pmcd, expected):
    """Waits until the agent has counted that many calls, or its count stands still; gives the count."""
    before = -1
    while (now := sum(_sum(pmcd, f"trace.{kind}.count") for kind in TYPES)) not in (before,
                                                                                    expected):
        before = now
        time.sleep(0.3)
    return now


def cpu_s(pid):
    """CPU time of all threads of a process, in seconds."""
    spent = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
            spent += int(file.read().split()[0])
    return spent / 1e9
