# SPDX-License-Identifier: LGPL-2.1-or-later
"""The cost of the agent's engine: time for each tag, holds of the mutex, and memory."""

import contextlib
import re
import time

from figures import Figure
from running import MIB, fill, trace_socket

PART = "The agent"
BUCKETS = 12
INTERVAL_S = 0.5
CLIENTS, CLIENT_TAGS = 100, 200  # of the clients that fill the histograms


def measure(tools):
    yield from _times(tools.google_medians(3, "the engine alone", "engine_bench"))
    yield from _memory(tools)


def _times(rows):
    for name, text in (("apply_value", "a stock client's value"), ("apply_delta", "a delta with a histogram")):
        yield Figure(PART, f"the engine takes {text}", "ns", rows[name]["cpu_time"])
    rotations = {int(name.partition("/")[2]): row["ns_per_tag"] for name, row in rows.items()
                 if name.startswith("rotate/")}
    few, many = min(rotations), max(rotations)
    yield Figure(
        PART, f"rotation, for each of {many:,} active tags", "ns", rotations[many], 3 * rotations[few],
        f"in proportion: that with {few:,}, whose memory is in the caches, and what caches do")
    holds = {}
    for name, row in rows.items():
        if "longest_us" in row:
            step = name.partition("/")[0]
            holds[step] = max(holds.get(step, 0), row["longest_us"])
    yield Figure(PART, f"longest hold of the mutex, up to {many:,} tags", "us", max(holds.values()), 1000,
                 "a millisecond of CPU time",
                 notes=[", ".join(f"{name} {longest:.0f}" for name, longest in holds.items())])


def _memory(tools):
    """Memory of agents with values in each of the window's buckets, compared to empty agents: one agent for each number
    of tags, and one whose histograms exceed their limit."""
    counts = (20, 40) if tools.brief else (1000, 10_000)
    shape = (["clients=2", "tags=10", "seconds=0.1"] if tools.brief else
             [f"clients={CLIENTS}", f"tags={CLIENT_TAGS}", f"seconds={INTERVAL_S * (BUCKETS + 2)}"])
    with contextlib.ExitStack() as stack:
        *agents, loaded = [stack.enter_context(_warm_agent(tools)) for _ in (*counts, None)]
        empty = [_resident_bytes(pmcd) for pmcd in (*agents, loaded)]
        load = tools.start("clients", trace_socket(loaded), "batches", "own=1", "spread=5",
                           f"interval={INTERVAL_S * 1000}", *shape)
        for _ in tools.rounds(BUCKETS + 1, "memory, a bucket"):
            end = time.monotonic() + INTERVAL_S
            for pmcd, count in zip(agents, counts):
                fill(pmcd, count, kinds=("point",))
            time.sleep(0 if tools.brief else max(0, end - time.monotonic()))
        full = [_resident_bytes(pmcd) for pmcd in agents]
        load.communicate()
        full.append(_resident_bytes(loaded))
        counted, coarsened = (loaded.value(f"trace.agent.{name}") for name in ("memory.histograms", "coarsenings"))
        for pmcd in agents:
            pmcd.pmstore("trace.control.reset", 1)
        time.sleep(0 if tools.brief else 2)
        after = [_resident_bytes(pmcd) for pmcd in agents]
    for i, count in enumerate(counts):
        a_tag = (full[i] - empty[i]) / count
        yield Figure(PART, f"memory for each of {count:,} tags with {BUCKETS} buckets", "bytes", a_tag, 1024, "1 KiB",
                     notes=[f"{(after[i] - empty[i]) / count:.0f} bytes a tag after a reset, which keeps names and "
                            "numbers."])
    tags = CLIENTS * CLIENT_TAGS
    yield Figure(
        PART, "all histograms together, where all of them had no room", "MiB",
        (full[-1] - empty[-1] - tags * a_tag) / MIB, 64, "64 MiB: resident, less what as many tags take without",
        notes=[f"With {tags:,} tags; the agent itself counts {counted / MIB:.1f} MiB, and has halved "
               f"the resolution {coarsened} times."])


@contextlib.contextmanager
def _warm_agent(tools):
    """An agent that has served a client already, so that one-time memory does not count for the tags."""
    with tools.agent(options=["-T", str(int(BUCKETS * INTERVAL_S)), "-N", str(BUCKETS)]) as pmcd:
        fill(pmcd, 1, kinds=("point",))
        pmcd.value("trace.point.count")
        yield pmcd


def _resident_bytes(pmcd):
    with open(f"/proc/{pmcd.agent_pid()}/smaps_rollup", encoding="ascii") as file:
        return int(re.search(r"^Rss:\s+(\d+) kB", file.read(), re.MULTILINE)[1]) * 1024
