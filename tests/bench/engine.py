"""What the agent's engine takes: time for each tag, holds of the mutex, and memory."""

import re
import time

import fetch
import google
from figures import Figure
from private_pmcd import PrivatePmcd

PART = "The agent"
TAG_BYTES = 1024
HOLD_US = 1000
BUCKETS = 12
INTERVAL_S = 1


def measure(tools, brief):
    yield from _times(tools, brief)
    for count in (40,) if brief else (1000, 10_000):
        yield from _memory(tools, count, brief)


def _times(tools, brief):
    tools.progress("the engine alone")
    rows = google.run(tools, "engine_bench", brief)
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


def _memory(tools, count, brief):
    """What an agent holds more than an empty one when each of the window's buckets has values."""
    options = ["-T", str(BUCKETS * INTERVAL_S), "-N", str(BUCKETS)]
    with PrivatePmcd(agent=tools.agent, namespace=tools.namespace, options=options) as pmcd:
        empty = _resident_bytes(pmcd)
        for bucket in range(1 if brief else BUCKETS + 1):
            tools.progress(f"memory of {count:,} tags, bucket {bucket + 1} of {BUCKETS + 1}")
            end = time.monotonic() + INTERVAL_S
            fetch.fill(pmcd, count, kinds=("point",))
            time.sleep(0 if brief else max(0, end - time.monotonic()))
        full = _resident_bytes(pmcd)
        pmcd.pmstore("trace.control.reset", 1)
        time.sleep(0 if brief else 3)
        after = _resident_bytes(pmcd)
    yield Figure(part=PART, name=f"memory for each of {count:,} tags with {BUCKETS} buckets",
                 unit="bytes", ours=(full - empty) / count, limit=TAG_BYTES, bar="1 KiB",
                 notes=[f"{(after - empty) / count:.0f} bytes a tag after a reset, which keeps "
                        "names and numbers."])


def _resident_bytes(pmcd):
    with open(f"/proc/{pmcd.agent_pid()}/smaps_rollup", encoding="ascii") as file:
        return int(re.search(r"^Rss:\s+(\d+) kB", file.read(), re.MULTILINE)[1]) * 1024
