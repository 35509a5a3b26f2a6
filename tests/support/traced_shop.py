# SPDX-License-Identifier: LGPL-2.1-or-later
"""A private pmcd with a program that goes on tracing, for the tests of views: two transactions, an observation, a point
and a counter. If there is trouble, transactions fail, an import never ends, and somebody sends to the agent what it does
not understand."""

import contextlib
import itertools
import os
import socket
import tempfile
import threading

from pmlogger import Pmlogger
from private_pmcd import PATIENCE_S, PrivatePmcd, wait_until
from trace_test import OUR_AGENT, OUR_LIBRARY, Traced

TAGS = {"checkout": 0.02, "search{route=/cart}": 0.03}  # with their times, in seconds
LOGGED = "trace, tracing.histogram"


class Shop(contextlib.ExitStack):
    def __init__(self, trouble=True, every_second_fails=False, tags=None):
        super().__init__()
        self.tags = tags or TAGS
        self.trouble = trouble
        self.every_second_fails = every_second_fails
        self._ends = threading.Event()

    def __enter__(self):
        super().__enter__()
        self.directory = self.enter_context(tempfile.TemporaryDirectory(prefix="trace-"))
        self.pmcd = self.enter_context(PrivatePmcd(OUR_AGENT.path, ["-T", "4", "-N", "4"], OUR_AGENT.namespace,
                                                   host_name="shop"))
        self._program = Traced(self.pmcd.environment(OUR_LIBRARY))
        self.callback(self._program.kill)
        thread = threading.Thread(target=self._trace)
        thread.start()
        self.callback(thread.join)
        self.callback(self._ends.set)
        wait_until(lambda: len(self.pmcd.values("trace.transact.p99")) == len(self.tags), what="percentiles")
        wait_until(lambda: len(self.pmcd.values("trace.transact.inflight")) == len(self.tags) + self.trouble, what="the import")
        return self

    def _trace(self):
        for number in itertools.count():
            if self._ends.is_set():
                return
            for tag, seconds in self.tags.items():
                self._program.call(f"begin {tag}")
                self._program.call(f"sleep {seconds}")  # load: a transaction takes its time
                # More and more, then none, then again.
                fails = self.trouble and number % 100 < 50 and number % 7 < number % 100 // 10
                self._program.call(f"{'abort' if fails else 'end'} {tag}")
                if self.every_second_fails:
                    self._program.call(f"begin {tag}")
                    self._program.call(f"abort {tag}")
            self._program.call(f"obs {number % 20} queue")
            self._program.call("point cache-miss")
            if self.trouble and number == 0:
                self._program.call("begin import")
            self._program.call("add 4096 bytes")
            if self.trouble and number % 20 == 0:
                with socket.create_connection(("127.0.0.1", self.pmcd.trace_port), PATIENCE_S) as stranger:
                    stranger.sendall(b"GET / HTTP/1.0\r\n\r\n")

    def path(self, name):
        return os.path.join(self.directory, name)

    def calls(self):
        return sum(self.pmcd.values("trace.transact.count").values())

    def wait_for_calls(self, more):
        enough = self.calls() + more
        wait_until(lambda: self.calls() > enough, what="calls")

    def log(self, name, more=400):
        """Logs so many transactions with pmlogger. Gives the archive."""
        logger = Pmlogger(self.pmcd, self.path(name), LOGGED, every="500 msec")
        self.callback(logger.end)
        wait_until(lambda: os.path.exists(f"{self.path(name)}.index"), what="pmlogger")
        self.wait_for_calls(more)
        logger.end()
        return self.path(name)
