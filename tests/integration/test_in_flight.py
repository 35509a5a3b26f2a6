# SPDX-License-Identifier: LGPL-2.1-or-later
"""Transactions in flight: begun and not ended, visible while they hang."""

import contextlib
import os
import pathlib
import signal
import subprocess
import time

from private_pmcd import PATIENCE_S, wait_until
from trace_test import OUR_PMTRACE, SteppedClock, TraceTestCase


class InFlight(TraceTestCase):
    def setUp(self):
        self.clock = SteppedClock(self.pmcd.directory)

    def start_program(self, **variables):
        """A program that begins and ends transactions by handle."""
        return self.start_traced(self.environment(**variables), "traces")

    def assert_in_flight(self, **expected):
        self.assert_values(self.pmcd, "trace.transact.inflight", expected)

    def oldest(self, tag):
        return self.pmcd.values("trace.transact.oldest")[tag]

    def where(self):
        return self.pmcd.values("trace.transact.oldest_where")

    def test_is_seen_of_a_new_tag_and_grows_older_until_it_ends(self):
        traced = self.start_program()
        begun = time.monotonic()
        traced.do("begin 0 request")
        self.assert_in_flight(request=1)
        seen = time.monotonic()
        first = self.oldest("request")
        self.assertGreaterEqual(time.monotonic() - begun, first)
        self.assertEqual(self.where(), {"request": f"{traced.pid}/{traced.pid}"})
        self.assertEqual(self.pmcd.values("trace.transact.count"), {})  # the same as PCP's own agent
        wait_until(lambda: self.oldest("request") > first + 1.5, what="it to grow older")
        self.assertGreater(time.monotonic() - seen, 1.4)
        traced.do("end 0")
        self.assert_in_flight(request=0)
        self.assertEqual(self.oldest("request"), 0)
        self.assertEqual(self.where(), {})
        self.assertEqual(self.pmcd.values("trace.transact.count"), {"request": 1})
        traced.end()
        self.assert_values(self.pmcd, "trace.transact.vanished", {"request": 0})

    def test_is_seen_after_a_long_silence(self):
        """By name, and by handle."""
        for name, begin, end in (("traced", "begin request", "abort request"), ("traces", "begin 0 request", "end 0")):
            traced = self.start_traced(self.environment(PCP_TRACE_FLUSH=5), name)
            traced.do(begin, end)
            for _ in range(2):  # the second begin makes nothing any more: it is a quick one
                wait_until(lambda: self.flusher_sleeps(traced), what="the flusher to sleep")
                traced.do(begin)
                self.assert_in_flight(request=1)
                self.assertEqual(self.where(), {"request": f"{traced.pid}/{traced.pid}"})
                traced.do(end)
                self.assert_in_flight(request=0)

    @staticmethod
    def flusher_sleeps(traced):
        """Whether the library's thread is in poll() for more than a minute: until an event wakes it."""
        for thread in set(os.listdir(f"/proc/{traced.pid}/task")) - {str(traced.pid)}:
            with contextlib.suppress(OSError):  # another one that looks an address up may just have ended
                call = pathlib.Path(f"/proc/{traced.pid}/task/{thread}/syscall").read_text(encoding="ascii").split()
                if len(call) > 3 and int(call[3], 16) > 60_000:
                    return True
        return False

    def test_began_without_an_agent_is_told_when_one_comes_and_to_the_next_one(self):
        self.pmcd.kill_agent()
        traced = self.start_program(PCP_TRACE_RECONNECT="0.1", **self.clock.environment)
        traced.call("begin 0 request")
        self.clock.step_to(100)
        self.pmcd.start_agent()
        self.assert_in_flight(request=1)
        before = self.oldest("request")
        self.assertGreater(before, 100)
        self.pmcd.restart_agent()
        self.assert_in_flight(request=1)
        self.assertGreater(self.oldest("request"), before)

    def test_is_gone_at_once_with_a_program_that_is_killed(self):
        traced = self.start_program(PCP_TRACE_SOCKET=self.pmcd.path("run/trace.socket"),
                                    PCP_TRACE_HOST=None, PCP_TRACE_PORT=None)
        traced.call("begin 0 request")
        self.assert_in_flight(request=1)
        os.kill(traced.pid, signal.SIGKILL)
        self.assert_in_flight(request=0)
        self.assert_values(self.pmcd, "trace.transact.vanished", {"request": 1})
        self.assertRaises(AssertionError, traced.end)

    def test_is_forgotten_where_tracing_is_switched_off(self):
        traced = self.start_program()
        traced.do("begin 0 request", "name named")
        self.assert_in_flight(request=1, named=1)
        traced.call("flags 16")
        self.assert_in_flight(request=0, named=0)
        traced.call("begin 1 request")
        traced.call("flags 0")
        traced.do("end 0", "begin 2 later")
        self.assert_in_flight(request=0, named=0, later=1)

    def test_of_a_command_that_pmtrace_runs_is_seen(self):
        environment = self.environment()
        with subprocess.Popen([OUR_PMTRACE, "-e", "read nothing", "backup"], env=environment,
                              stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as tool:
            self.assert_in_flight(backup=1)
            tool.communicate(timeout=PATIENCE_S)
        self.assert_in_flight(backup=0)
