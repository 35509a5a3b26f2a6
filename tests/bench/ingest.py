# SPDX-License-Identifier: LGPL-2.1-or-later
"""The cost of the agent's clients, ours and stock ones, and whether the agent counts every call."""

import time

from figures import Figure, median
from running import TYPES, cpu_s, trace_socket

PART = "The agent"
AGENTS = {"ours": False, "stock": True}  # name: is it the stock one?
SAME, OWN = "the same tags", "tags of their own"


def measure(tools):
    yield from _our_clients(tools, seconds=0.1 if tools.brief else 3)
    yield from _raw_stock_clients(tools, seconds=0.1 if tools.brief else 1)
    yield _stock_programs(tools, calls=100 if tools.brief else 50_000)


def _our_clients(tools, seconds):
    shares = {SAME: [], OWN: []}
    wrong = 0
    for tags in tools.rounds(3, *shares):
        with tools.agent() as pmcd:
            agent = pmcd.agent_pid()
            cpu, begin = cpu_s(agent), time.monotonic()
            done = tools.numbers("clients", trace_socket(pmcd), "batches", f"seconds={seconds}",
                                 f"own={int(tags == OWN)}")
            shares[tags].append((cpu_s(agent) - cpu) / (time.monotonic() - begin))
            wrong += _miscounted(pmcd, done)
    for tags, samples in shares.items():
        yield Figure(PART, f"100 clients of ours, {tags}", "core", median(samples), 0.10,
                     "a tenth of one core; each sends 100,000 events of 100 tags every 100 ms",
                     notes=[f"{done['bins']:.0f} bins of a histogram are occupied, on average; "
                            f"{done['bytes'] / done['batches']:.0f} bytes a batch"])
    yield Figure(PART, "miscounted, of our clients", "", wrong, 0,
                 "every call and every sum of values, as the agent's metrics say")


def _miscounted(pmcd, done):
    """Calls that were counted twice or not at all, and wrong sums."""
    wrong = sum(abs(done[kind] - _sum(pmcd, f"trace.{kind}.count")) for kind in TYPES)
    for expected, metric in ((done["transact_sum"], "trace.transact.total_time"),
                             (done["observe_sum"], "trace.observe.sum")):
        wrong += abs(_sum(pmcd, metric) - expected) > 1e-12 * expected  # pminfo rounds
    return wrong


def _raw_stock_clients(tools, seconds):
    """Sockets that write many PDUs at once, so that only the agent is measured."""
    for tags in (4, 32):
        rates = {name: [] for name in AGENTS}
        for name in tools.rounds(3, *AGENTS):
            with tools.agent(stock=AGENTS[name]) as pmcd:
                agent = pmcd.agent_pid()
                cpu = cpu_s(agent)
                tools.run("sockets", pmcd.trace_port, "data", tags, seconds)
                counted = _final_count(pmcd)
                rates[name].append(counted / (cpu_s(agent) - cpu))
        stock = median(rates["stock"])
        yield Figure(PART, f"PDUs of stock clients a CPU second, {tags} tags", "", median(rates["ours"]), stock,
                     "the stock agent's; 4 sockets write 256 PDUs at once", {"stock": stock}, at_least=True)


def _stock_programs(tools, calls):
    """Programs with the stock library, asynchronous, at full speed."""
    lost, notes = {}, []
    for name in tools.rounds(1, *AGENTS):
        with tools.agent(stock=AGENTS[name]) as pmcd:
            done = tools.numbers("stock_clients", pmcd.trace_port, 16, 20, calls)
            made = sum(done[kind] for kind in TYPES)
            lost[name] = made - _final_count(pmcd, made)
            if name == "ours":
                dropped = pmcd.agent_log().count("dropped: ")
        notes.append(f"{name}: {lost[name]:,} of {made:,} calls ({lost[name] / made:.2%}), "
                     f"{done['failed']:,} of them with an error")
    return Figure(PART, "lost, of 16 stock programs at full speed", "", abs(lost["ours"]) + dropped, 0,
                  "not one call, not one connection", {"stock": lost["stock"]}, notes=notes)


def _sum(pmcd, metric):
    return sum(pmcd.values(metric).values())


def _final_count(pmcd, expected=None):
    """Waits until the agent has counted that many calls, or its count stands still; gives the count."""
    before = -1
    while (now := sum(_sum(pmcd, f"trace.{kind}.count") for kind in TYPES)) not in (before, expected):
        before = now
        time.sleep(0.3)
    return now
