#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows the tracing of a live program: ./run demo, or

    demos/show.py BUILD_DIRECTORY [c|cpp|fortran|java|python|shell|...] [SECONDS]

Starts its own pmcd with our agent (and leaves the system's pmcd alone), runs one of the demos, and
prints the output of PCP's tool pminfo once a second. At the end the agent's counts must equal the
program's. Leaves no process and no file behind, also after Ctrl-C.
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
from live_table import KINDS, Screen  # noqa: E402

WINDOW_S = 5
WINDOW = ["-T", f"{WINDOW_S}", "-N", "5"]
DEFAULT_SECONDS = 25
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

JAVA = ["java", "--enable-native-access=ALL-UNNAMED", "-cp", "{build}/java/pcp-trace.jar:{build}/demos/java"]
PYTHON = ["python3", "-B"]

# By language; "c-by-name" is a second one in C, for the tests. A demo's last argument is the seconds to run. The first
# number in its last line of output is the number of its transactions of `tags`. Demos may trace other tags, too.
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
    "java": Demo("RequestLoop.java", [*JAVA, "RequestLoop"],
                 "is a made-up mail server. One delivery in fifty loads rules anew: compare\n"
                 "the average with the maximum.", ("fetch", "deliver")),
    "python": Demo("travel_agency.py", [*PYTHON, "{here}/travel_agency.py"],
                   "has eight asyncio tasks. One answer in sixty comes too late: compare the\n"
                   "offers by their label status, which a window of 90 columns shows.", ("offer",)),
    "shell": Demo("nightly.sh", ["sh", "{here}/nightly.sh"],
                  "is a shell script, traced with pmtrace. Look at how long its commands\n"
                  "take; one upload in ten fails.", ("collect", "compress", "upload")),
}


def read_metrics(pmcd):
    """Reads all columns at once: {metric: {tag: value}}."""
    names = [f"trace.{kind}.{item}" for kind, items in KINDS.items() for item in items if item]
    names += [f"trace.transact.{item}" for item in
              ("min_time", "p50", "inflight", "oldest", "oldest_where")]
    text = pmcd.pminfo("-f", *names)
    # pminfo prints a block per metric, which begins with the metric's name.
    blocks = re.split(r"^(trace\.\S+)$", text, flags=re.MULTILINE)
    return {name: parse_values(block) for name, block in zip(blocks[1::2], blocks[2::2])}


def correct_rates(metrics, passed):
    """Scales rates: the agent divides by the whole window, but only `passed` of it is over."""
    for name, values in metrics.items():
        if name.endswith(".rate") and 0 < passed < WINDOW_S:
            metrics[name] = {tag: value * WINDOW_S / passed for tag, value in values.items()}
    return metrics


AGENT_GONE = "the agent has ended"


def watch(pmcd, program, seconds, screen):
    """Shows tables until the program ends; gives the program's output."""
    started = time.monotonic()
    metrics = {}
    while True:
        try:
            out, _ = program.communicate(timeout=1)
            return out.splitlines()
        except subprocess.TimeoutExpired:
            passed = time.monotonic() - started
            title = f"{passed:.0f} s of {seconds} s"
            if pmcd.agent_pid():
                metrics = correct_rates(read_metrics(pmcd), passed)
            else:
                title += f": {AGENT_GONE}; these are its last numbers"
            screen.show(title, metrics)


def check(pmcd, demo, metrics, last_line):
    """Checks that the agent has counted each transaction of the program."""
    def total(values):
        return sum(value for tag, value in values.items() if tag.partition("{")[0] in demo.tags)  # with any labels
    counted = total(metrics["trace.transact.count"])
    aborted = total(pmcd.values("trace.transact.aborts"))
    says = re.sub(r"(?<![\d.])\d{4,}", lambda number: f"{int(number[0]):,}", last_line.strip())
    print(f"The program says:  {says}.\n"
          f"The agent counted: {counted:,} transactions ({', '.join(demo.tags)}) and {aborted:,} aborts,\n"
          f"                   {counted + aborted:,} together.")
    if counted + aborted != int(re.search(r"\d+", last_line)[0]):
        sys.exit("demo: these numbers should be equal")


def introduction(pmcd, demo, build):
    host = pmcd.host()
    return (f"demos/{demo.source}\n{demo.look}\n\n"
            "This is what PCP sees of it: counts since the start, and the other columns over\n"
            "the last 5 seconds. Meanwhile, in another terminal:\n"
            f"    pminfo -h {host} -f trace\n"
            f"    pmval  -h {host} -t 1 trace.transact.rate\n"
            f"    pmrep  -h {host} -t 1 trace.transact.max_time trace.transact.p99\n"
            "Single transactions, as they happen:\n"
            f"    {os.path.relpath(build)}/pmda/command/pcp-trace spans -h {pmcd.host(unix=True)} slower=100ms\n"
            "And to see something of your own among it, from a program or with pmtrace:\n"
            f"    export PCP_TRACE_SOCKET={pmcd.path('run/trace.socket')}\n"
            f"    {os.path.relpath(build)}/libtrace/tools/pmtrace hello\n")


def where_built(build, environment):
    """Gives the environment in which programs find what was built: the library, pmtrace, and the Python package."""
    return environment | {"LD_LIBRARY_PATH": f"{build}/libtrace/src",
                          "PATH": f"{build}/libtrace/tools:{environment['PATH']}",
                          "PYTHONPATH": f"{build}/libtrace/python"}


def filled_in(command, build):
    """Gives a command that a build has; exits if the program is missing."""
    command = [part.format(build=build, here=HERE) for part in command]
    if not shutil.which(command[0]):
        sys.exit(f"demo: {command[0]} is not there; what is missing in {build}?")
    return command


def language_of(name):
    return name.split("-")[0]


def farewell(name):
    """Within 80 columns."""
    language = language_of(name)
    others = "|".join(sorted({language_of(each) for each in DEMOS} - {language}))
    return f"""
To look further:
    {f'./run demo {language} 600':40}  time for the commands above
    {f'./run demo {others}':40}  the same in another language
    {'demos/first_point.c':40}  the smallest traced program
    {'man -l libtrace/man/pmtrace.3':40}  all calls and variables
    {'libtrace/docs/installing.md':40}  how to install and to link"""


def main(build, name, seconds):
    demo = DEMOS[name]
    command = filled_in(demo.command, build)
    agent = os.path.join(build, "pmda/agent/pmdatrace")
    pmcd = PrivatePmcd(agent, WINDOW, os.path.join(HERE, "../pmda/root"))
    pmcd.start()
    try:
        environment = where_built(build, pmcd.environment())
        screen = Screen(introduction(pmcd, demo, build))
        with screen, subprocess.Popen([*command, str(seconds)], env=environment, text=True,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as program:
            try:
                printed = watch(pmcd, program, seconds, screen)
            finally:
                program.kill()
        if program.returncode != 0:
            sys.exit(f"demo: the program ended with {program.returncode}")
        if not pmcd.agent_pid():
            sys.exit(f"demo: {AGENT_GONE}; its log:\n{pmcd.agent_log().rstrip()}")
        metrics = read_metrics(pmcd)
        screen.show_last("at the end", metrics)
        check(pmcd, demo, metrics, printed[-1])
    finally:
        pmcd.stop()
    print(farewell(name))


def leave_at_signals():
    for each in SIGNALS:
        signal.signal(each, leave)


def leave(signal_number, _frame):
    # A second signal must not interrupt the clean-up.
    for each in SIGNALS:
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
    leave_at_signals()
    main(where, which, int(how_long))
