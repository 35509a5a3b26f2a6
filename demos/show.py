#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows the tracing of a live program: ./run demo, or

    demos/show.py BUILD_DIRECTORY [c|cpp|fortran|java|shell|...] [SECONDS]

Starts a pmcd of its own with our agent (the system's pmcd is not touched), runs one of the demos,
and prints what PCP's own tool pminfo reads, once a second. At the end, the agent's counts must be
the program's. Leaves no process and no file behind, Ctrl-C or not.
"""

import collections
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

# A demo takes the seconds to run as its last argument. The first number in the last line that it
# prints says how many transactions of `tags` there were; no tags: of all.
Demo = collections.namedtuple("Demo", "source command look tags", defaults=((),))
DEMOS = {
    "cpp": Demo("worker_pool.cpp", ["{build}/demos/worker_pool"],
                "has four threads that serve made-up requests. One checkout in forty meets\n"
                "a slow bank: compare the average with the maximum and the 99% mark."),
    "c": Demo("echo_server.c", ["{build}/demos/echo_server"],
              "is a server with threads, and its clients. Compare what both see of the\n"
              "same requests. Smaller ones in C: first_point.c, import_job.c."),
    "c-by-name": Demo("import_job.c", ["{build}/demos/import_job"],
                      "imports made-up files. One in twenty is large: compare the average of\n"
                      "the rows with the 99% mark."),
    "fortran": Demo("solver.f90", ["{build}/demos/solver"],
                    "lets heat spread over a plate. Look at how a step's time goes to its\n"
                    "phases, and at how the residual falls.", ("step",)),
    "fortran-legacy": Demo("legacy_solver.f", ["{build}/demos/legacy_solver"],
                           "is an old program, traced by name. Look at how the time goes to SETUP\n"
                           "and RELAX.", ("RELAX",)),
    "java": Demo("RequestLoop.java", ["java", "-cp", "{build}/java/pcp-trace.jar:{build}/demos/java",
                                      "RequestLoop"],
                 "is a made-up mail server. One delivery in fifty loads rules anew: compare\n"
                 "the average with the maximum."),
    "shell": Demo("nightly.sh", ["sh", "{here}/nightly.sh"],
                  "is a shell script, traced with pmtrace. Look at how long its commands\n"
                  "take; one upload in ten fails."),
}
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
    """Shows tables until the program ends; gives the last values and what the program printed."""
    screen = Screen()
    started = time.monotonic()
    while True:
        try:
            out, _ = program.communicate(timeout=1)
            break
        except subprocess.TimeoutExpired:
            passed = time.monotonic() - started
            screen.show([f"{passed:.0f} s of {seconds} s", *table(read_metrics(pmcd)), ""])
    metrics = read_metrics(pmcd)
    screen.show(["at the end", *table(metrics), ""], last=True)
    if program.returncode != 0:
        sys.exit(f"demo: the program ended with {program.returncode}")
    return metrics, out.splitlines()[-1]


def check(pmcd, demo, metrics, last_line):
    """The promise: the agent has counted each transaction of the program, exactly."""
    def total(values):
        return sum(value for tag, value in values.items() if tag in (demo.tags or values))
    counted = total(metrics["trace.transact.count"])
    aborted = total(pmcd.values("trace.transact.aborts"))
    of_tags = f" of {', '.join(demo.tags)}" if demo.tags else ""
    print(f"The program says: {last_line.strip()}. The agent counted {counted:,} transactions{of_tags}\n"
          f"and {aborted:,} aborts, which makes {counted + aborted}.")
    if counted + aborted != int(re.search(r"\d+", last_line)[0]):
        sys.exit("demo: these numbers should be equal")


def introduce(pmcd, demo):
    host = pmcd.host()
    print(f"demos/{demo.source}\n{demo.look}\n\n"
          "This is what PCP sees of it: counts since the start, and the other columns over\n"
          "the last 5 seconds. Meanwhile, in another terminal:\n"
          f"    pminfo -h {host} -f trace\n"
          f"    pmval  -h {host} -t 1 trace.transact.rate\n"
          f"    pmrep  -h {host} -t 1 trace.transact.max_time trace.transact.p99\n", flush=True)


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
        introduce(pmcd, demo)
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
