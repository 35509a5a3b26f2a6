#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows the tracing of a live program: ./run demo, or

    demos/show.py BUILD_DIRECTORY [c|cpp|fortran|java|shell|...] [SECONDS]

Starts a pmcd of its own with our agent (the system's pmcd is not touched), runs one of the demos,
and prints what PCP's own tool pminfo reads, once a second. At the end, the agent's counts must be
the program's. Leaves no process and no file behind, Ctrl-C or not.
"""

import collections
import math
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

WINDOW_S = 5
WINDOW = ["-T", f"{WINDOW_S}", "-N", "5"]
DEFAULT_SECONDS = 25

# A demo takes the seconds to run as its last argument. The first number in the last line that it
# prints says how many transactions of `tags` there were. Others may trace what they like meanwhile.
Demo = collections.namedtuple("Demo", "source command look tags")
DEMOS = {
    "cpp": Demo("worker_pool.cpp", ["{build}/demos/worker_pool"],
                "has four threads that serve made-up requests. One checkout in forty meets\n"
                "a slow bank: compare the average with the maximum and the 99% mark.",
                ("search", "checkout")),
    "c": Demo("echo_server.c", ["{build}/demos/echo_server"],
              "is a server with threads, and its clients. Compare what both see of the\n"
              "same requests. Smaller ones in C: first_point.c, import_job.c.", ("answer",)),
    "c-by-name": Demo("import_job.c", ["{build}/demos/import_job"],
                      "imports made-up files. One in twenty is large: compare the average of\n"
                      "the rows with the 99% mark.", ("import-file",)),
    "fortran": Demo("solver.f90", ["{build}/demos/solver"],
                    "lets heat spread over a plate. Look at how a step's time goes to its\n"
                    "phases, and at how the residual falls.", ("step",)),
    "fortran-legacy": Demo("legacy_solver.f", ["{build}/demos/legacy_solver"],
                           "is an old program, traced by name. Look at how the time goes to SETUP\n"
                           "and RELAX.", ("RELAX",)),
    "java": Demo("RequestLoop.java", ["java", "-cp", "{build}/java/pcp-trace.jar:{build}/demos/java",
                                      "RequestLoop"],
                 "is a made-up mail server. One delivery in fifty loads rules anew: compare\n"
                 "the average with the maximum.", ("fetch", "deliver")),
    "shell": Demo("nightly.sh", ["sh", "{here}/nightly.sh"],
                  "is a shell script, traced with pmtrace. Look at how long its commands\n"
                  "take; one upload in ten fails.", ("collect", "compress", "upload")),
}
# How often a table is printed where it cannot be redrawn.
PLAIN_INTERVAL_S = 5

HEADER = ("", "tag", "count", "per s", "last", "average", "99%", "maximum", "aborts")
# For each kind of trace, the metric of each column of numbers.
KINDS = {
    "transact": ("count", "rate", None, "ave_time", "p99", "max_time", "aborts"),
    "point": ("count", "rate"),
    "observe": ("count", "rate", "value", "ave", "p99", "max"),
    "counter": ("count", "rate", "value"),
}
WIDTH = 80
BAR_WIDTH = 24
COLOURS = {"transact": 36, "point": 33, "observe": 32, "counter": 35}


def read_metrics(pmcd):
    """Reads all columns in one go: {metric: {tag: value}}."""
    names = [f"trace.{kind}.{item}" for kind, items in KINDS.items() for item in items if item]
    names += ["trace.transact.min_time", "trace.transact.p50"]
    text = pmcd.pminfo("-f", *names)
    # pminfo prints a block per metric, which begins with its name.
    blocks = re.split(r"^(trace\.\S+)$", text, flags=re.MULTILINE)
    return {name: parse_values(block) for name, block in zip(blocks[1::2], blocks[2::2])}


def correct_rates(metrics, passed):
    """The agent divides by the whole window, of which so much has passed at most."""
    for name, values in metrics.items():
        if name.endswith(".rate") and 0 < passed < WINDOW_S:
            metrics[name] = {tag: value * WINDOW_S / passed for tag, value in values.items()}
    return metrics


def number(value):
    """In seven characters at most."""
    for unit, size in (("T", 1e12), ("G", 1e9), ("M", 1e6)):
        if 0.9995 * size <= abs(value) < 1e15:
            return f"{value / size:.2f} {unit}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def duration(seconds):
    """Three digits that say something, in the unit for that."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= 0.9995 * size:
            return f"{seconds / size:#.3g}".rstrip(".") + f" {unit}"
    return f"{seconds * 1e9:.0f} ns"


def cell(kind, column, value):
    if value is None:
        return ""
    if column == 0:
        return f"{value:,}"
    if column == 6:
        return number(value) if value else ""
    if kind == "transact" and column >= 2:
        return duration(value)
    return number(value)


def rows(metrics):
    """Gives the table's lines, as tuples of texts."""
    for kind, items in KINDS.items():
        tags = set(metrics.get(f"trace.{kind}.count", {}))
        for tag in sorted(tags | set(metrics.get(f"trace.{kind}.aborts", {}))):
            values = (metrics.get(f"trace.{kind}.{item}", {}).get(tag) for item in items)
            yield (kind, tag, *(cell(kind, column, value) for column, value in enumerate(values)))


def layout(row):
    numbers = "".join(f" {text:>7}" for text in row[3:])
    return f"{row[0]:8} {row[1]:11.11} {row[2]:>10}{numbers}".rstrip()


def bar(share):
    """A piece of BAR_WIDTH characters, in eighths of one."""
    eighths = round(share * BAR_WIDTH * 8)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def strip(metrics, tag, least, most):
    """Where the durations lie: all of them, the half above the median, on a logarithmic scale."""
    def place(item):
        value = metrics[f"trace.transact.{item}"][tag]
        return round(math.log(value / least) / math.log(most / least) * (BAR_WIDTH - 1))
    try:
        low, median, high, top = (place(item) for item in ("min_time", "p50", "p99", "max_time"))
    except (KeyError, ValueError, ZeroDivisionError):
        return ""
    marks = ("█" if at == median else "▓" if median < at <= high else "─" if low <= at <= top else " "
             for at in range(BAR_WIDTH))
    return "".join(marks)


def pictures(metrics):
    """Gives for each line of the table a distribution (transactions) or a bar (calls a second)."""
    times = [value for item in ("min_time", "max_time")
             for value in metrics.get(f"trace.transact.{item}", {}).values() if value > 0]
    rates = [value for kind in KINDS for value in metrics.get(f"trace.{kind}.rate", {}).values()]
    for kind, tag, *_ in rows(metrics):
        rate = metrics.get(f"trace.{kind}.rate", {}).get(tag, 0)
        if kind == "transact":
            yield strip(metrics, tag, min(times), max(times)) if times else ""
        else:
            yield bar(math.log1p(rate) / math.log1p(max(rates))) if max(rates, default=0) > 0 else ""


def table(metrics, colour=False, width=WIDTH):
    """For a terminal that is wide enough, with pictures."""
    head, *lines = [layout(HEADER), *(layout(row) for row in rows(metrics))]
    if width > WIDTH + BAR_WIDTH:
        head = f"{head:{WIDTH}} ─ all  ▓ median to 99%"
        lines = [f"{line:{WIDTH}} {picture}".rstrip()
                 for line, picture in zip(lines, pictures(metrics))]
    if colour:
        head = f"\x1b[1m{head}\x1b[0m"
        lines = [f"\x1b[{COLOURS[line.split(' ', 1)[0]]}m{line}\x1b[0m" for line in lines]
    return [head, *lines]


class Screen:
    """Shows tables: each in the last one's place on a terminal, otherwise one now and then."""

    def __init__(self):
        self._redraws = (sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
                         and shutil.get_terminal_size().columns >= WIDTH)
        self._lines_up = 0
        self._last = None

    def show(self, title, metrics, last=False):
        width = shutil.get_terminal_size().columns - 1 if self._redraws else 0
        lines = [title, *table(metrics, self._redraws and not os.environ.get("NO_COLOR"), width), ""]
        if self._redraws:
            up = f"\x1b[{self._lines_up}A" if self._lines_up else ""
            print(up + "".join(f"\r\x1b[K{line}\n" for line in lines), end="", flush=True)
            self._lines_up = len(lines)
        elif last or self._last is None or time.monotonic() - self._last >= PLAIN_INTERVAL_S:
            self._last = time.monotonic()
            print("\n".join(lines), flush=True)


def watch(pmcd, program, seconds):
    """Shows tables until the program ends; gives the last values and what the program printed."""
    screen = Screen()
    started = time.monotonic()
    while True:
        try:
            out, _ = program.communicate(timeout=1)
            break
        except subprocess.TimeoutExpired:
            passed = time.monotonic() - started
            metrics = correct_rates(read_metrics(pmcd), passed)
            screen.show(f"{passed:.0f} s of {seconds} s", metrics)
    metrics = read_metrics(pmcd)
    screen.show("at the end", metrics, last=True)
    if program.returncode != 0:
        sys.exit(f"demo: the program ended with {program.returncode}")
    return metrics, out.splitlines()[-1]


def check(pmcd, demo, metrics, last_line):
    """The promise: the agent has counted each transaction of the program, exactly."""
    def total(values):
        return sum(value for tag, value in values.items() if tag in demo.tags)
    counted = total(metrics["trace.transact.count"])
    aborted = total(pmcd.values("trace.transact.aborts"))
    print(f"The program says:  {last_line.strip()}.\n"
          f"The agent counted: {counted:,} transactions ({', '.join(demo.tags)}) and {aborted:,} aborts,\n"
          f"                   {counted + aborted} together.")
    if counted + aborted != int(re.search(r"\d+", last_line)[0]):
        sys.exit("demo: these numbers should be equal")


def introduce(pmcd, demo, build):
    host = pmcd.host()
    print(f"demos/{demo.source}\n{demo.look}\n\n"
          "This is what PCP sees of it: counts since the start, and the other columns over\n"
          "the last 5 seconds. Meanwhile, in another terminal:\n"
          f"    pminfo -h {host} -f trace\n"
          f"    pmval  -h {host} -t 1 trace.transact.rate\n"
          f"    pmrep  -h {host} -t 1 trace.transact.max_time trace.transact.p99\n"
          "And to see something of your own among it, from a program or with pmtrace:\n"
          f"    export PCP_TRACE_SOCKET={pmcd.path('run/trace.socket')}\n"
          f"    {os.path.relpath(build)}/libtrace/tools/pmtrace hello\n",
          flush=True)


def command_of(demo, build):
    """Gives the command without the seconds, or says what is missing."""
    command = [part.format(build=build, here=HERE) for part in demo.command]
    if not shutil.which(command[0]):
        sys.exit(f"demo: {command[0]} is not there; what is missing in {build}?")
    return command


FAREWELL = """
To look further:
    ./run demo 600                   ten minutes of it: time for the commands above
    ./run demo c|fortran|java|shell  the same for another language
    demos/first_point.c              the smallest traced program
    man -l libtrace/man/pmtrace.3    all calls and variables
    README.md                        installing library and agent, and linking"""


def main(build, demo, seconds):
    command = command_of(demo, build)
    agent = os.path.join(build, "pmda/agent/pmdatrace")
    pmcd = PrivatePmcd(agent, WINDOW, os.path.join(HERE, "../pmda/root"))
    pmcd.start()
    try:
        introduce(pmcd, demo, build)
        environment = pmcd.environment(os.path.join(build, "libtrace/src/libpcp_trace.so.2"))
        environment["PATH"] = f"{build}/libtrace/tools:{environment['PATH']}"  # our pmtrace
        with subprocess.Popen([*command, str(seconds)], env=environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as program:
            try:
                metrics, last_line = watch(pmcd, program, seconds)
            finally:
                program.kill()
        check(pmcd, demo, metrics, last_line)
    finally:
        pmcd.stop()
    print(FAREWELL)


def leave(signal_number, _frame):
    # What is in the way of cleaning up must not interrupt it again.
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + signal_number)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    usage = f"Usage: demos/show.py BUILD_DIRECTORY [{'|'.join(DEMOS)}] [SECONDS]"
    if not arguments or not os.path.isdir(arguments[0]):
        sys.exit(usage)
    where = os.path.abspath(arguments.pop(0))
    which = arguments.pop(0) if arguments and arguments[0] in DEMOS else "cpp"
    how_long = arguments.pop(0) if arguments else str(DEFAULT_SECONDS)
    if arguments or not how_long.isdigit() or int(how_long) < 1:
        sys.exit(usage)
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, leave)
    main(where, DEMOS[which], int(how_long))
