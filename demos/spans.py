#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows requests that pass through three programs, as `pcp trace spans` does: ./run demo spans, or

    demos/spans.py BUILD_DIRECTORY [SECONDS]

A front in C++ asks a worker in C through a socket, and runs a script. Their transactions are
captured for SECONDS, after and before SECONDS without capture; each phase lasts until some orders
were served. At the end it prints the front's cost of a call. Uses its own pmcd; leaves nothing behind.
"""

import os
import signal
import subprocess
import sys
import threading
import time

from show import HERE, WINDOW, PrivatePmcd, leave

DEFAULT_SECONDS = 4

# Each program's work for an order; parts of these transactions are captured with them.
FILTER = ["tag=order,reserve,make-receipt,send-mail", "kind=point"]

# One of three articles is sold out.
ORDERS = 4


class Costs:
    """The costs of calls that the front prints: {phase: {"beside" or "within": [ns]}}."""

    def __init__(self, front):
        self.phase = "before"
        self.costs = {}
        self._front = front
        self._reader = threading.Thread(target=self._read, args=(front.stdout,), daemon=True)
        self._reader.start()

    def _read(self, lines):
        for line in lines:
            what, cost = line.split()
            self.costs.setdefault(self.phase, {}).setdefault(what, []).append(float(cost))

    def wait(self, seconds):
        """Waits `seconds`, and until ORDERS orders were served in this phase."""
        end = time.monotonic() + seconds
        while self._front.poll() is None and (
                time.monotonic() < end or len(self.costs.get(self.phase, {}).get("within", [])) < ORDERS):
            time.sleep(0.1)

    def of(self, phase, what):
        """The least of many short rounds; other rounds include other work of the machine."""
        return min(self.costs.get(phase, {}).get(what, [float("nan")]))

    def table(self):
        yield f"{'A begin and an end cost the front':40} before    during     after"
        for what, text in (("beside", "of a tag that nobody looks at"),
                           ("within", "within an order")):
            yield f"  {text:36}" + "".join(f"{self.of(phase, what):7.0f} ns"
                                           for phase in ("before", "during", "after"))
        yield "  The least of many rounds; differences of some ns are noise."


def watch(pmcd, command, front, seconds):
    """Switches a capture on and off while the programs run."""
    costs = Costs(front)
    costs.wait(seconds)
    costs.phase = "during"
    words = ["spans", "-h", pmcd.host(unix=True), *FILTER]
    print(f"==> pcp-trace {' '.join(words)}\n", flush=True)
    spans = subprocess.Popen([command, *words])
    costs.wait(seconds)
    spans.send_signal(signal.SIGINT)
    spans.wait()
    costs.phase = "after"
    costs.wait(seconds)
    print("\n".join(costs.table()))


def farewell(pmcd, command):
    command = os.path.relpath(command)
    print(f"""
To look further:
    {command} spans --help
    {'man -l pmda/man/pcp-trace-spans.1':41} all options and filters
    {'demos/order_front.cpp, order_worker.c':41} how a trace is handed on
    {'demos/order_receipt.sh':41} the same in a script""")


def main(build, seconds):
    command = os.path.join(build, "pmda/command/pcp-trace")
    pmcd = PrivatePmcd(os.path.join(build, "pmda/agent/pmdatrace"), WINDOW,
                       os.path.join(HERE, "../pmda/root"))
    pmcd.start()
    programs = []
    try:
        environment = pmcd.environment(
            os.path.join(build, "libtrace/src/libpcp_trace.so.2"),
            PCP_TRACE_SOCKET=pmcd.path("run/trace.socket"), PCP_TRACE_HOST=None, PCP_TRACE_PORT=None)
        environment["PATH"] = f"{build}/libtrace/tools:{environment['PATH']}"  # our pmtrace
        socket = pmcd.path("run/worker.socket")
        demos = os.path.join(build, "demos")
        print("order_front, in C++, asks order_worker, in C, through a socket, and runs\n"
              "order_receipt.sh. The trace of an order goes with it through all three.\n", flush=True)
        for words in ([f"{demos}/order_worker", socket],
                      [f"{demos}/order_front", "3600", socket,
                       os.path.join(HERE, "order_receipt.sh")]):
            programs.append(subprocess.Popen(words, env=environment, text=True,
                                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE))
        watch(pmcd, command, programs[1], seconds)
    finally:
        for program in programs:
            program.kill()
            program.wait()
        pmcd.stop()
    farewell(pmcd, command)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    seconds_given = arguments[1] if len(arguments) == 2 else str(DEFAULT_SECONDS)
    if not 1 <= len(arguments) <= 2 or not os.path.isdir(arguments[0]) or not seconds_given.isdigit():
        sys.exit("Usage: demos/spans.py BUILD_DIRECTORY [SECONDS]")
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, leave)
    main(os.path.abspath(arguments[0]), max(int(seconds_given), 2))
