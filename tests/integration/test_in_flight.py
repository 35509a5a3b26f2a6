# SPDX-License-Identifier: LGPL-2.1-or-later
"""Transactions in flight: begun and not ended, visible while they hang."""

import os
import signal
import subprocess
import time

from private_pmcd import PATIENCE_S, thread_states, wait_until
from trace_test import OUR_PMTRACE, STOCK_AGENT, SteppedClock, TraceTestCase


class InFlight(TraceTestCase):
    def setUp(self):
        self.pmcd = self.start_pmcd()
        self.clock = SteppedClock(self.pmcd.directory)

    def start_program(self, **variables):
        """A program that begins and ends transactions by handle."""
        return self.start_traced(self.environment(self.pmcd, **variables), "in_flight")

    def assert_in_flight(self, expected):
        self.assert_values(self.pmcd, "trace.transact.inflight", expected)

    def oldest(self, tag):
        return self.pmcd.values("trace.transact.oldest")[tag]

    def where(self):
        return self.pmcd.values("trace.transact.oldest_where")

    def test_is_seen_of_a_new_tag_and_grows_older_until_it_ends(self):
        traced = self.start_program()
        begun = time.monotonic()
        self.assertEqual(traced.call("begin 0 request"), 0)
        self.assert_in_flight({"request": 1})
        seen = time.monotonic()
        first = self.oldest("request")
        self.assertGreaterEqual(time.monotonic() - begun, first)
        self.assertEqual(self.where(), {"request": f"{traced.pid}/{traced.pid}"})
        self.assertEqual(self.pmcd.values("trace.transact.count"), {})  # the same as PCP's own agent
        wait_until(lambda: self.oldest("request") > first + 1.5, what="it to grow older")
        self.assertGreater(time.monotonic() - seen, 1.4)
        self.assertEqual(traced.call("end 0"), 0)
        self.assert_in_flight({"request": 0})
        self.assertEqual(self.oldest("request"), 0)
        self.assertEqual(self.where(), {})
        self.assertEqual(self.pmcd.values("trace.transact.count"), {"request": 1})
        traced.end()
        self.assert_values(self.pmcd, "trace.transact.vanished", {"request": 0})

    def test_is_seen_after_a_long_silence(self):
        """By name, and by handle."""
        for name, begin, end in (("traced", "begin request", "abort request"), ("in_flight", "begin 0 request", "end 0")):
            traced = self.start_traced(self.environment(self.pmcd, PCP_TRACE_FLUSH=5), name)
            for call in (begin, end):
                traced.call(call)
            for _ in range(2):  # the second begin makes nothing any more: it is a quick one
                wait_until(lambda: self.flusher_sleeps(traced), what="the flusher to sleep")
                self.assertEqual(traced.call(begin), 0)
                self.assert_in_flight({"request": 1})
                self.assertEqual(self.where(), {"request": f"{traced.pid}/{traced.pid}"})
                self.assertEqual(traced.call(end), 0)
                self.assert_in_flight({"request": 0})

    @staticmethod
    def flusher_sleeps(traced):
        """Whether the library's thread is in poll() for more than a minute: until an event wakes it."""
        for flusher in set(os.listdir(f"/proc/{traced.pid}/task")) - {str(traced.pid)}:
            with open(f"/proc/{traced.pid}/task/{flusher}/syscall", encoding="ascii") as file:
                call = file.read().split()
            return len(call) > 3 and int(call[3], 16) > 60_000
        return False  # not started yet

    def test_is_added_up_over_threads_and_programs_and_the_oldest_is_known(self):
        first, second = self.start_program(**self.clock.environment), self.start_program()
        thread = first.call("thread 0 request")
        self.assertGreater(thread, 0)
        self.assert_in_flight({"request": 1})
        first.call("begin 1 request")
        self.clock.step_to(100)
        first.call("begin 2 request")  # so that the program reports the age of the others
        second.call("begin 0 request")
        second.call("begin 1 another")
        self.assert_in_flight({"request": 4, "another": 1})
        self.assertEqual(self.where()["request"], f"{first.pid}/{thread}")
        oldest = self.pmcd.values("trace.transact.oldest")
        self.assertGreater(oldest["request"], oldest["another"])
        first.call("elsewhere 0")
        self.assert_in_flight({"request": 3, "another": 1})
        self.assertEqual(self.where()["request"], f"{first.pid}/{first.pid}")

    def test_outlives_the_thread_that_began_it(self):
        traced = self.start_program()
        traced.call("gone 0 request")
        self.assert_in_flight({"request": 1})
        self.assertEqual(self.where(), {"request": str(traced.pid)})
        self.assertEqual(traced.call("end 0"), 0)
        self.assert_in_flight({"request": 0})

    def test_tells_no_thread_that_has_ended_meanwhile(self):
        traced = self.start_program()
        thread = traced.call("soon 0 request")
        self.assert_in_flight({"request": 1})
        self.assertEqual(self.where(), {"request": f"{traced.pid}/{thread}"})
        self.assertEqual(traced.call("now"), 0)
        wait_until(lambda: self.where() == {"request": str(traced.pid)}, what="the thread to be gone")

    def test_is_not_ended_twice_by_a_copy(self):
        traced = self.start_program()
        traced.call("begin 0 request")
        traced.call("copy 0 1")
        traced.call("end 0")
        traced.call("begin 0 request")  # in the memory of the first one
        traced.call("end 1")
        traced.call("begin 2 later")
        self.assert_in_flight({"request": 1, "later": 1})

    def test_of_a_parent_is_nothing_to_its_child(self):
        traced = self.start_program()
        traced.call("begin 0 parent")
        # Lets the library's thread rest: the address sanitizer's allocator hangs in a child that forks while another
        # thread is in it.
        self.assert_in_flight({"parent": 1})
        child = traced.call("fork 0")
        self.assertGreater(child, 0)
        self.assert_in_flight({"parent": 1, "child": 1})
        self.assertEqual(self.where(), {"parent": f"{traced.pid}/{traced.pid}",
                                        "child": f"{child}/{child}"})
        traced.call("end 0")
        self.assert_in_flight({"parent": 0, "child": 1})
        os.kill(child, signal.SIGKILL)
        self.assert_in_flight({"parent": 0, "child": 0})

    def test_is_told_to_the_next_agent(self):
        traced = self.start_program()
        traced.call("begin 0 request")
        self.assert_in_flight({"request": 1})
        before = self.oldest("request")
        self.pmcd.restart_agent()
        self.assert_in_flight({"request": 1})
        self.assertGreater(self.oldest("request"), before)

    def test_began_without_an_agent_is_told_when_one_comes(self):
        self.pmcd.kill_agent()
        traced = self.start_program(PCP_TRACE_RECONNECT="0.1", **self.clock.environment)
        traced.call("begin 0 request")
        self.clock.step_to(100)
        self.pmcd.start_agent()
        self.assert_in_flight({"request": 1})
        self.assertGreater(self.oldest("request"), 100)

    def test_grows_older_though_its_program_is_stopped(self):
        traced = self.start_program()
        traced.call("begin 0 request")
        self.assert_in_flight({"request": 1})
        os.kill(traced.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, traced.pid, signal.SIGCONT)
        wait_until(lambda: set(thread_states(traced.pid)) == {"T"}, what="the program to stop")
        before = self.oldest("request")
        wait_until(lambda: self.oldest("request") > before + 1, what="it to grow older")

    def test_comes_back_after_a_reset(self):
        traced = self.start_program()
        traced.call("begin 0 request")
        self.assert_in_flight({"request": 1})
        before = self.oldest("request")
        self.assertEqual(self.pmcd.pmstore("trace.control.reset", 1)[0], 0)
        self.assert_in_flight({"request": 1})
        self.assertGreater(self.oldest("request"), before)

    def test_vanishes_with_its_program(self):
        traced = self.start_program()
        traced.call("begin 0 request")
        traced.call("begin 1 request")
        traced.call("begin 2 ended")
        traced.call("end 2")
        traced.end()
        self.assert_values(self.pmcd, "trace.transact.vanished", {"request": 2, "ended": 0})
        self.assert_in_flight({"request": 0, "ended": 0})

    def test_vanishes_with_a_program_that_has_nothing_else_to_say(self):
        for _ in range(20):
            traced = self.start_program()
            traced.call("begin 0 request")
            traced.end()
        self.assert_values(self.pmcd, "trace.transact.vanished", {"request": 20})
        self.assert_in_flight({"request": 0})

    def test_is_as_old_as_it_is_though_the_agent_hears_of_it_late(self):
        log = self.pmcd.path("pdus")
        traced = self.start_program(PCP_TRACE_DEBUG=f"pdu,file={log}", **self.clock.environment)
        traced.call("begin 0 first")
        self.assert_in_flight({"first": 1})
        with self.pmcd.stopped_agent():
            before = os.path.getsize(log)
            traced.call("begin 1 request")
            wait_until(lambda: os.path.getsize(log) > before, what="it to be sent")
            self.clock.step_to(100)
        self.assert_in_flight({"first": 1, "request": 1})
        wait_until(lambda: self.oldest("request") > 100, what="the agent to hear of it again")

    def test_is_gone_at_once_with_a_program_that_is_killed(self):
        traced = self.start_program(PCP_TRACE_SOCKET=self.pmcd.path("run/trace.socket"),
                                    PCP_TRACE_HOST=None, PCP_TRACE_PORT=None)
        traced.call("begin 0 request")
        self.assert_in_flight({"request": 1})
        os.kill(traced.pid, signal.SIGKILL)
        self.assert_in_flight({"request": 0})
        self.assert_values(self.pmcd, "trace.transact.vanished", {"request": 1})
        self.assertRaises(AssertionError, traced.end)

    def test_is_forgotten_where_tracing_is_switched_off(self):
        traced = self.start_program()
        traced.call("begin 0 request")
        traced.call("name named")
        self.assert_in_flight({"request": 1, "named": 1})
        traced.call("state 16")
        self.assert_in_flight({"request": 0, "named": 0})
        traced.call("begin 1 request")
        traced.call("state 0")
        self.assertEqual(traced.call("end 0"), 0)
        traced.call("begin 2 later")
        self.assert_in_flight({"request": 0, "named": 0, "later": 1})

    def test_is_exact_for_a_million(self):
        traced = self.start_program()
        self.assertEqual(traced.call("many 1000000 request"), 1000000)
        self.assert_in_flight({"request": 1000000})
        self.assertEqual(traced.call("few"), 0)
        self.assert_in_flight({"request": 0})
        self.assert_values(self.pmcd, "trace.transact.count", {"request": 1000000})

    def test_of_a_command_that_pmtrace_runs_is_seen(self):
        environment = self.environment(self.pmcd)
        with subprocess.Popen([OUR_PMTRACE, "-e", "read nothing", "backup"], env=environment,
                              stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as tool:
            self.assert_in_flight({"backup": 1})
            tool.communicate(timeout=PATIENCE_S)
        self.assert_in_flight({"backup": 0})


class AgentOfPcp(TraceTestCase):
    agent = STOCK_AGENT

    def test_hears_nothing_of_it(self):
        pmcd = self.start_pmcd()
        traced = self.start_traced(self.environment(pmcd))
        self.assertEqual(traced.call("begin hanging"), 0)
        self.assertEqual(traced.call("point seen"), 0)
        self.assert_values(pmcd, "trace.point.count", {"seen": 1})
        self.assertEqual(traced.call("end hanging"), 0)
        self.assert_values(pmcd, "trace.transact.count", {"hanging": 1})
