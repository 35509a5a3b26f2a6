# SPDX-License-Identifier: LGPL-2.1-or-later
"""The cost of the agent's engine: time for each tag, holds of the mutex, and memory."""

import contextlib
import re
import subprocess
import time

import fetch
import google
from figures import Figure, median
from private_pmcd import PrivatePmcd

PART = "The agent"
ROUNDS = 3
TAG_BYTES = 1024
HOLD_US = 1000
BUCKETS = 12
INTERVAL_S = 0.5
CLIENTS, CLIENT_TAGS = 100, 200  # of the clients that fill the histograms
MIB = 1 << 20


def measure(tools, brief):
    yield from _times(tools, brief)
    yield from _memory(tools, brief)


def _times(tools, brief):
    rounds = []
    for number in range(1 if brief else ROUNDS):
        tools.progress(f"the engine alone, round {number + 1} of {ROUNDS}")
        rounds.append(google.run(tools, "engine_bench", brief))
    # One disturbed hold of the mutex spoils a maximum: so the median of each figure over the rounds.
    rows = {key: {name: median(each[key][name] for each in rounds)
                  for name, value in row.items() if isinstance(value, (int, float))}
            for key, row in rounds[0].items()}
    for name, text in (("apply_value", "a stock client's value"),
                       ("apply_delta", "a delta with a histogram")):
        row = next(row for key, row in rows.items() if key.startswith(name + "/"))
        yield Figure(part=PART, name=f"the engine takes {text}", unit="ns", ours=row["cpu_time"])
    rotations = _by_tags(rows, "rotate")
    few, many = min(rotations), max(rotations)
    yield Figure(
        part=PART, name=f"rotation, for each of {many:,} active tags", unit="ns",
        ours=rotations[many]["ns_per_tag"], limit=3 * rotations[few]["ns_per_tag"],
        bar=f"in proportion: that with {few:,}, whose memory is in the caches, and what caches do")
    holds = {key.split("/")[0]: 0 for key in rows if "longest_us" in rows[key]}
    for key, row in rows.items():
        if "longest_us" in row:
            name = key.split("/")[0]
            holds[name] = max(holds[name], row["longest_us"])
    yield Figure(part=PART, name=f"longest hold of the mutex, up to {many:,} tags", unit="us",
                 ours=max(holds.values()), limit=HOLD_US, bar="a millisecond of CPU time",
                 notes=[", ".join(f"{name} {longest:.0f}" for name, longest in holds.items())])


def _by_tags(rows, name):
    return {int(key.split("/")[1]): row for key, row in rows.items()
            if key.startswith(name + "/")}


def _memory(tools, brief):
    """Memory of agents with values in each of the window's buckets, compared to empty agents: one agent for each number
    of tags, and one whose histograms exceed their limit."""
    counts = (20, 40) if brief else (1000, 10_000)
    shape = (["--clients", 2, "--tags", 10, "--seconds", 0.1] if brief else
             ["--clients", CLIENTS, "--tags", CLIENT_TAGS, "--seconds", INTERVAL_S * (BUCKETS + 2)])
    with contextlib.ExitStack() as stack:
        *agents, loaded = [stack.enter_context(_warm_agent(tools)) for _ in (*counts, None)]
        empty = [_resident_bytes(pmcd) for pmcd in (*agents, loaded)]
        load = subprocess.Popen(
            [tools.program("our_clients"), "--socket", loaded.path("run/trace.socket"),
             "--own-tags", "--spread", "5", "--interval", str(int(INTERVAL_S * 1000)), *map(str, shape)],
            stdout=subprocess.DEVNULL)
        for bucket in range(1 if brief else BUCKETS + 1):
            tools.progress(f"memory, bucket {bucket + 1} of {BUCKETS + 1}")
            end = time.monotonic() + INTERVAL_S
            for pmcd, count in zip(agents, counts):
                fetch.fill(pmcd, count, kinds=("point",))
            time.sleep(0 if brief else max(0, end - time.monotonic()))
        full = [_resident_bytes(pmcd) for pmcd in agents]
        load.wait()
        full.append(_resident_bytes(loaded))
        counted, coarsened = (loaded.value(f"trace.agent.{name}")
                              for name in ("memory.histograms", "coarsenings"))
        for pmcd in agents:
            pmcd.pmstore("trace.control.reset", 1)
        time.sleep(0 if brief else 2)
        after = [_resident_bytes(pmcd) for pmcd in agents]
    for i, count in enumerate(counts):
        a_tag = (full[i] - empty[i]) / count
        yield Figure(part=PART, name=f"memory for each of {count:,} tags with {BUCKETS} buckets",
                     unit="bytes", ours=a_tag, limit=TAG_BYTES, bar="1 KiB",
                     notes=[f"{(after[i] - empty[i]) / count:.0f} bytes a tag after a reset, which "
                            "keeps names and numbers."])
    tags = CLIENTS * CLIENT_TAGS
    yield Figure(
        part=PART, name="all histograms together, where all of them had no room", unit="MiB",
        ours=(full[-1] - empty[-1] - tags * a_tag) / MIB, limit=64,
        bar="64 MiB: resident, less what as many tags take without",
        notes=[f"With {tags:,} tags; the agent itself counts {counted / MIB:.1f} MiB, and has halved "
               f"the resolution {coarsened} times."])


@contextlib.contextmanager
def _warm_agent(tools):
    """An agent that has served a client already, so that one-time memory does not count for the tags."""
    options = ["-T", str(int(BUCKETS * INTERVAL_S)), "-N", str(BUCKETS)]
    with PrivatePmcd(agent=tools.agent, namespace=tools.namespace, options=options) as pmcd:
        fetch.fill(pmcd, 1, kinds=("point",))
        pmcd.value("trace.point.count")
        yield pmcd


def _resident_bytes(pmcd):
    with open(f"/proc/{pmcd.agent_pid()}/smaps_rollup", encoding="ascii") as file:
        return int(re.search(r"^Rss:\s+(\d+) kB", file.read(), re.MULTILINE)[1]) * 1024
