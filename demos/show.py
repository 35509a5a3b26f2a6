#!/usr/bin/env python3
"""Shows the tracing of a live program: ./run demo, or demos/show.py BUILD_DIRECTORY [SECONDS].

Starts a pmcd of its own with our agent (the system's pmcd is not touched), runs worker_pool, and
prints what PCP's own tool pminfo reads, once a second. At the end, the agent's counts must be the
program's. Leaves no process and no file behind, Ctrl-C or not.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../tests/support"))
sys.dont_write_bytecode = True

from private_pmcd import PrivatePmcd, parse_values  # noqa: E402

WINDOW = ["-T", "5", "-N", "5"]
DEFAULT_SECONDS = 25
# How often a table is printed where it cannot be redrawn.
PLAIN_INTERVAL_S = 5

HEADER = ("", "tag", "count", "per s", "average", "minimum", "maximum", "99%")
# For each kind of trace, the metric of each column of numbers.
KINDS = {
    "transact": ("count", "rate", "ave_time", "min_time", "max_time", "p99"),
    "point": ("count", "rate"),
    "observe": ("count", "rate", "ave", "min", "max", "p99"),
    "counter": ("count", "rate"),
}
WIDTH = 80


def read_metrics(pmcd):
    """Reads all columns in one go: {metric: {tag: value}}."""
    names = [f"trace.{kind}.{item}" for kind, items in KINDS.items() for item in items]
    text = pmcd.pminfo("-f", *names)
    # pminfo prints a block per metric, which begins with its name.
    blocks = re.split(r"^(trace\.\S+)$", text, flags=re.MULTILINE)
    return {name: parse_values(block) for name, block in zip(blocks[1::2], blocks[2::2])}


def number(value):
    if isinstance(value, int) or value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def duration(seconds):
    return f"{seconds * 1e3:.2f} ms"


def cell(kind, column, value):
    if value is None:
        return ""
    if kind == "transact" and column >= 2:
        return duration(value)
    return number(value)


def rows(metrics):
    """Gives the table's lines, as tuples of texts."""
    for kind, items in KINDS.items():
        for tag in sorted(metrics.get(f"trace.{kind}.count", {})):
            values = (metrics.get(f"trace.{kind}.{item}", {}).get(tag) for item in items)
            yield (kind, tag, *(cell(kind, column, value) for column, value in enumerate(values)))


def layout(row):
    return f"{row[0]:8} {row[1]:11}" + "".join(f" {text:>9}" for text in row[2:])


def table(metrics):
    return [layout(HEADER), *(layout(row) for row in rows(metrics))]


class Screen:
    """Shows tables: each in the last one's place on a terminal, otherwise one now and then."""

    def __init__(self):
        self._redraws = (sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
                         and shutil.get_terminal_size().columns >= WIDTH)
        self._lines_up = 0
        self._last = None

    def show(self, lines, last=False):
        if self._redraws:
            up = f"\x1b[{self._lines_up}A" if self._lines_up else ""
            print(up + "".join(f"\r\x1b[K{line}\n" for line in lines), end="", flush=True)
            self._lines_up = len(lines)
        elif last or self._last is None or time.monotonic() - self._last >= PLAIN_INTERVAL_S:
            self._last = time.monotonic()
            print("\n".join(lines), flush=True)


def watch(pmcd, program, seconds):
    """Shows tables until the program ends; gives the last values and how many requests it served."""
    screen = Screen()
    started = time.monotonic()
    while True:
        try:
            out, _ = program.communicate(timeout=1)
            break
        except subprocess.TimeoutExpired:
            passed = time.monotonic() - started
            screen.show([f"{passed:.0f} s of {seconds:g} s", *table(read_metrics(pmcd)), ""])
    metrics = read_metrics(pmcd)
    screen.show(["at the end", *table(metrics), ""], last=True)
    if program.returncode != 0:
        sys.exit(f"demo: worker_pool ended with {program.returncode}")
    return metrics, int(re.search(r"served (\d+)", out)[1])


def check(pmcd, metrics, served):
    """The promise: the agent has counted each request that the program has served, exactly."""
    counted = sum(metrics["trace.transact.count"].values())
    aborted = sum(pmcd.values("trace.transact.aborts").values())
    print(f"The program served {served:,} requests. The agent counted {counted:,} transactions\n"
          f"and {aborted:,} aborts, which makes {counted + aborted:,}.")
    if counted + aborted != served:
        sys.exit("demo: these numbers should be equal")


def introduce(pmcd):
    host = pmcd.host()
    print("worker_pool (demos/worker_pool.cpp) has four threads that serve made-up requests.\n"
          "This is what PCP sees of them: counts since the start, and the other columns over\n"
          "the last 5 seconds. One checkout in forty meets a slow bank: compare the average\n"
          "with the maximum and the 99% mark.\n\n"
          "Meanwhile, in another terminal:\n"
          f"    pminfo -h {host} -f trace\n"
          f"    pmval  -h {host} -t 1 trace.point.rate\n"
          f"    pmrep  -h {host} -t 1 trace.transact.max_time trace.transact.p99\n", flush=True)


FAREWELL = """
To look further:
    ./run demo 600                   ten minutes of it: time for the commands above
    demos/first_point.c              the smallest traced program
    man -l libtrace/man/pmtrace.3    all calls and variables
    README.md                        installing library and agent, and linking"""


def main(build, seconds):
    agent = os.path.join(build, "pmda/src/pmdatrace")
    worker_pool = os.path.join(build, "demos/worker_pool")
    pmcd = PrivatePmcd(agent, WINDOW, os.path.join(HERE, "../pmda/root"))
    pmcd.start()
    try:
        introduce(pmcd)
        with subprocess.Popen([worker_pool, str(seconds)], env=pmcd.environment(), text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as program:
            try:
                metrics, served = watch(pmcd, program, seconds)
            finally:
                program.kill()
        check(pmcd, metrics, served)
    finally:
        pmcd.stop()
    print(FAREWELL)


def leave(signal_number, _frame):
    # What is in the way of cleaning up must not interrupt it again.
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + signal_number)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or not os.path.isdir(sys.argv[1]):
        sys.exit("Usage: demos/show.py BUILD_DIRECTORY [SECONDS]")
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, leave)
    main(os.path.abspath(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) == 3 else DEFAULT_SECONDS)
