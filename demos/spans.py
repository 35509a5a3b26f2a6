#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows requests that pass through several programs, as `pcp trace spans` does: ./run demo spans, or

    demos/spans.py BUILD_DIRECTORY [SECONDS]

A front in Python asks a service in C++, which asks a worker in Java, and the front runs a script. Their transactions
are captured for SECONDS, after and before SECONDS without capture; each phase lasts until some orders were served. Then
it prints what a call costs the service in C++. At the end it kills this service, and shows the order that was open in
it. Uses its own pmcd; leaves nothing behind.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from show import HERE, JAVA, PYTHON, WINDOW, PrivatePmcd, filled_in, leave_at_signals, where_built

DEFAULT_SECONDS = 4

# Each program's work for an order; parts of these transactions are captured with them.
FILTER = ["tag=order,reserve,pick,receipt", "kind=point"]

# The orders with a receipt.
SLOW = ["tag=order", "slower=4ms"]

# One of three articles is sold out.
ORDERS = 4


def need(program, package):
    if not shutil.which(program):
        sys.exit(f"demo: no program {program}: it is in the package {package}")


@contextlib.contextmanager
def shop(build, environment_of, seconds=3600):
    """Starts the programs, each in its environment, after the one that it asks. Gives them by name; ends them with their
    children."""
    programs = {}

    def start(name, *command):
        # A session for each: ^C reaches only this process, which then ends each with its children. setpriv does so if
        # this process is killed.
        programs[name] = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *filled_in(command, build)], env=where_built(build, environment_of(name)),
            text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)

    def start_server(name, *command):
        start(name, *command)
        if programs[name].stdout.readline() != "ready\n":
            sys.exit(f"demo: {name} has not started")

    with tempfile.TemporaryDirectory(prefix="trace-") as folder:
        worker, stock = f"{folder}/worker.socket", f"{folder}/stock.socket"
        try:
            start_server("OrderWorker", *JAVA, "OrderWorker", worker)
            start_server("order_stock", "{build}/demos/order_stock", stock, worker)
            start("order_front", *PYTHON, "{here}/order_front.py", str(seconds), stock, "{here}/order_receipt.sh")
            yield programs
        finally:
            for program in programs.values():
                with contextlib.suppress(ProcessLookupError):  # it has ended by itself
                    os.killpg(program.pid, signal.SIGKILL)
                program.wait()


class Costs:
    """The costs of calls that the stock prints: {phase: {"beside" or "within": [ns]}}."""

    def __init__(self, programs):
        self.phase = "before"
        self.costs = {}
        self._programs = programs
        self._reader = threading.Thread(target=self._read, args=(programs["order_stock"].stdout,), daemon=True)
        self._reader.start()

    def _read(self, lines):
        for line in lines:
            what, cost = line.split()
            self.costs.setdefault(self.phase, {}).setdefault(what, []).append(float(cost))

    def wait(self, seconds):
        """Waits `seconds`, and until ORDERS orders were served in this phase."""
        end = time.monotonic() + seconds
        while time.monotonic() < end or len(self.costs.get(self.phase, {}).get("within", [])) < ORDERS:
            for name, program in self._programs.items():
                if program.poll() is not None:
                    sys.exit(f"demo: {name} has ended")
            time.sleep(0.1)

    def of(self, phase, what):
        """The least of many short rounds; other rounds include other work of the machine."""
        return min(self.costs.get(phase, {}).get(what, [float("nan")]))

    def table(self):
        yield f"{'A begin and an end, in C++, cost':40} before    during     after"
        for what, text in (("beside", "of a tag that nobody looks at"),
                           ("within", "within an order")):
            yield f"  {text:36}" + "".join(f"{self.of(phase, what):7.0f} ns"
                                           for phase in ("before", "during", "after"))
        yield "  The least of many rounds; differences of some ns are noise."


def capture(pmcd, command, costs, words, seconds):
    """Shows what these words choose."""
    host = pmcd.host(unix=True)
    print(f"==> pcp-trace spans -h {host} \\\n        {' '.join(words)}\n", flush=True)
    with subprocess.Popen(["setpriv", "--pdeathsig", "INT", command, "spans", "-h", host, *words]) as spans:
        try:
            costs.wait(seconds)
        finally:
            spans.send_signal(signal.SIGINT)
    if spans.returncode != 0:
        sys.exit(f"demo: pcp-trace ended with {spans.returncode}")


def watch(pmcd, command, programs, seconds):
    """Switches captures on and off while the programs run."""
    costs = Costs(programs)
    costs.wait(seconds)
    costs.phase = "during"
    capture(pmcd, command, costs, FILTER, seconds)
    costs.phase = "slow"
    print("Only the slow orders. Each comes whole, although the other programs' parts were fast:\n")
    capture(pmcd, command, costs, SLOW, seconds)
    costs.phase = "after"
    costs.wait(seconds)
    print("\n".join(costs.table()))
    costs.phase = "last"
    kill_one(pmcd, command, programs, costs, seconds)


def kill_one(pmcd, command, programs, costs, seconds):
    """Shows what was open in a program that is killed."""
    print("\nLast, OrderWorker hangs (SIGSTOP), and order_stock, which waits for it, is killed\n"
          "(SIGKILL). The order that was open then:\n")
    host = pmcd.host(unix=True)
    words = ["-s", "1", "-T", f"{seconds + 20}s", "died"]  # it gives up after this time
    print(f"==> pcp-trace spans -h {host} {' '.join(words)}\n", flush=True)
    with subprocess.Popen(["setpriv", "--pdeathsig", "INT", command, "spans", "-h", host, *words]) as spans:
        try:
            costs.wait(seconds)  # some orders, so that the programs have the filter
            programs["OrderWorker"].send_signal(signal.SIGSTOP)
            time.sleep(2)  # more than between two orders
            programs["order_stock"].kill()
            spans.wait()
        finally:
            spans.send_signal(signal.SIGINT)
    if spans.returncode != 0:
        sys.exit(f"demo: pcp-trace ended with {spans.returncode}")


def farewell(command):
    command = os.path.relpath(command)
    print(f"""
To look further:
    {command} spans --help
    {'man -l pmda/man/pcp-trace-spans.1':41} all options and filters
    {'demos/order_front.py, order_stock.cpp':41} how a trace is handed on
    {'demos/OrderWorker.java':41} the end of the way, in Java
    {'demos/order_receipt.sh':41} the same in a script""")


def main(build, seconds):
    command = os.path.join(build, "pmda/command/pcp-trace")
    pmcd = PrivatePmcd(os.path.join(build, "pmda/agent/pmdatrace"), WINDOW, os.path.join(HERE, "../pmda/root"))
    pmcd.start()
    try:
        print("order_front, in Python, asks order_stock, in C++, which asks OrderWorker, in\n"
              "Java. Then the front runs order_receipt.sh. The trace of an order goes with it\n"
              "through all four.\n", flush=True)
        environment = pmcd.environment(PCP_TRACE_SOCKET=pmcd.path("run/trace.socket"), PCP_TRACE_HOST=None,
                                       PCP_TRACE_PORT=None)
        with shop(build, lambda _: environment) as programs:
            watch(pmcd, command, programs, seconds)
    finally:
        pmcd.stop()
    farewell(command)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    seconds_given = arguments[1] if len(arguments) == 2 else str(DEFAULT_SECONDS)
    if not 1 <= len(arguments) <= 2 or not os.path.isdir(arguments[0]) or not seconds_given.isdigit():
        sys.exit("Usage: demos/spans.py BUILD_DIRECTORY [SECONDS]")
    leave_at_signals()
    need("setpriv", "util-linux")
    main(os.path.abspath(arguments[0]), max(int(seconds_given), 2))
