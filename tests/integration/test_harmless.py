# SPDX-License-Identifier: LGPL-2.1-or-later
"""The library leaves its process alone: signals, timers, processors, descriptors, the wall clock, the speed of its
calls."""

import itertools
import os
import re
import signal
import subprocess
import time
import unittest

from private_pmcd import PATIENCE_S, completed, wait_until
from trace_test import TraceTestCase, library_environment, program, without_leaks

LONG_S = 100  # a wait that shows even on the busiest machine


class Signals(TraceTestCase):
    def start_undisturbed(self, environment):
        process = self.start_process(program("undisturbed"), env=environment, stdin=subprocess.PIPE,
                                     stderr=subprocess.PIPE)
        self.assertEqual(process.stderr.readline(), "ready\n")
        return process

    def assert_undisturbed(self, process):
        output, complaints = process.communicate("\n", timeout=PATIENCE_S)
        self.assertEqual((process.returncode, output, complaints), (0, "", ""))

    def test_handlers_and_timer_are_untouched_with_and_without_an_agent_and_when_it_dies(self):
        for environment in (self.environment(), self.nobody()):
            self.assert_undisturbed(self.start_undisturbed(environment))
        process = self.start_undisturbed(self.environment())
        self.pmcd.kill_agent()
        self.assert_undisturbed(process)


class Sandbox(TraceTestCase):
    def live(self, pmcd, what, **variables):
        """Runs the program with a short flush interval, so that the library's thread sleeps soon."""
        environment = without_leaks(self.environment(pmcd, PCP_TRACE_FLUSH=10, PCP_TRACE_LINGER=1, **variables))
        done = completed(program("sandbox"), what, env=environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(0 < int(done.stdout) < 120, "a library that looks a hundred times a second begins 200 waits")

    def test_that_forbids_poll_changes_nothing(self):
        for what in ("poll", "descriptors"):
            with self.subTest(what):
                pmcd = self.start_pmcd()
                self.live(pmcd, what)
                self.assertEqual(pmcd.values("trace.point.count"), {"in a sandbox": 2})

    def test_that_forbids_to_pass_a_black_box_changes_nothing(self):
        pmcd = self.start_pmcd()
        self.live(pmcd, "pass", PCP_TRACE_CAPTURE="died", PCP_TRACE_SOCKET=pmcd.path("run/trace.socket"))
        self.assertEqual(pmcd.values("trace.point.count"), {"in a sandbox": 2})

    def test_that_forbids_to_receive_costs_next_to_nothing(self):
        self.live(self.start_pmcd(), "receive")


class MainsEnd(TraceTestCase):
    def test_destroys_the_thread_local_objects_of_main_and_runs_its_handlers(self):
        for _ in range(5):
            done = completed(program("main_leaves"), env=self.environment())
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (0, "destroyed\nhandled\n", ""))
        self.assertEqual(self.pmcd.values("trace.point.count"), {"main": 5, "handler": 5})

    def test_comes_although_a_destructor_of_its_thread_traces(self):
        done = completed(program("main_leaves"), "later", env=without_leaks(self.environment()))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.pmcd.values("trace.point.count"), {"main": 1, "key": 1, "handler": 1})


class LookUp(TraceTestCase):
    def test_leaves_no_descriptor_to_a_child(self):
        with open(self.path("look-up"), "w", encoding="utf-8") as file:
            environment = self.environment(PCP_TRACE_HOST="localhost", SLOW_LOOK_UP=file.name,
                                           LD_PRELOAD=program("bad_machine.so"))
        done = completed(program("lifecycle"), "forked-during-look-up", env=environment, timeout=2 * PATIENCE_S)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.pmcd.values("trace.point.count"), {"meanwhile": 1})


class WallClock(TraceTestCase):
    def test_may_be_stepped_during_a_transaction(self):
        environment = self.environment(LD_PRELOAD=program("stepped_clock.so"))
        # load: the transactions' lengths
        lines = [line for step in (-3600, 7200) for line in ("begin a", f"step {step}", "sleep 0.1", "end a")]
        returned = self.trace(environment, *lines)
        self.assertEqual(returned, [0] * 8)
        self.assertEqual(self.pmcd.values("trace.transact.count"), {"a": 2})
        self.assertTrue(0.2 <= self.pmcd.value("trace.transact.total_time", "a") < 600)

    def test_may_be_stepped_at_any_time_without_stopping_the_flow(self):
        traced = self.start_traced(self.environment(LD_PRELOAD=program("stepped_clock.so")))
        for count, step in enumerate((-86400, 3 * 86400, -86400), 1):
            traced.call("point a")
            traced.call(f"step {step}")
            self.assert_values(self.pmcd, "trace.point.count", {"a": count})


class Suspended(TraceTestCase):
    def test_in_a_transaction_that_takes_so_much_longer(self):
        traced = self.start_traced(self.environment())
        started = time.monotonic()
        self.assertEqual(traced.call("begin a"), 0)
        os.kill(traced.pid, signal.SIGSTOP)
        time.sleep(1)  # load: the time of the suspension
        os.kill(traced.pid, signal.SIGCONT)
        self.assertEqual(traced.call("end a"), 0)
        between = time.monotonic() - started
        self.assertEqual(traced.call("point a"), 0)
        self.assert_values(self.pmcd, "trace.transact.count", {"a": 1})
        self.assert_values(self.pmcd, "trace.point.count", {"a": 1})
        self.assertTrue(1 <= self.pmcd.value("trace.transact.total_time", "a") < between)


class Configuration(TraceTestCase):
    def test_is_not_left_open_to_programs_that_are_started_meanwhile(self):
        path = self.path("pcp.conf")
        os.mkfifo(path)
        environment = library_environment(self.library, PCP_CONF=path, PCP_TRACE_NOAGENT=1)
        environment.pop("PCP_RUN_DIR", None)
        process = self.start_process(program("traced"), env=environment, stdin=subprocess.PIPE)
        process.stdin.write("point a\n")
        process.stdin.flush()
        with open(path, "w", encoding="ascii") as file:  # blocks until a reader opens it
            self.assertTrue(self.flags_of(process.pid, path) & os.O_CLOEXEC)
            file.write("PCP_RUN_DIR=/somewhere\n")
        self.assertEqual(process.communicate(timeout=PATIENCE_S)[0], "0\n")

    def flags_of(self, pid, path):
        """Gives the flags with which a process has a file open."""
        (number,) = [number for number in os.listdir(f"/proc/{pid}/fd")
                     if os.readlink(f"/proc/{pid}/fd/{number}") == path]
        with open(f"/proc/{pid}/fdinfo/{number}", encoding="ascii") as file:
            return int(re.search(r"flags:\s+(\d+)", file.read())[1], 8)


class SilentAgent(TraceTestCase):
    """A stopped agent: its host accepts connections and data, but nothing answers."""

    def test_delays_the_first_call_for_the_timeout_at_most_and_no_other(self):
        with self.pmcd.stopped_agent():
            traced = self.start_traced(self.environment(PCP_TRACE_TIMEOUT=1))
            started = time.monotonic()
            self.assertLess(traced.call("point a"), 0)
            self.assertGreater(time.monotonic() - started, 0.9)
            for _ in range(3 * LONG_S):
                traced.call("point a")
            self.assertLess(time.monotonic() - started, LONG_S)  # minute: LONG_S


def flusher_of(pid):
    """Gives the id of the library's thread."""
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/comm", encoding="utf-8") as file:
            if file.read() == "pcp_trace\n":
                return int(task)
    return None


def may_run_in_real_time():
    command = ["chrt", "--fifo", "1", "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


class BoundCaller(TraceTestCase):
    def start_bound(self, *words):
        """Gives main and the library's thread of a program whose first caller has bound itself."""
        bound = self.start_traced(self.environment(), "bound", words=words)
        self.assertEqual(bound.process.stdout.readline(), "traced\n")
        return bound.pid, wait_until(lambda: flusher_of(bound.pid), what="the library's thread")

    def test_does_not_bind_the_flusher(self):
        self.assertGreater(len(os.sched_getaffinity(0)), 1, "needs two processors")
        main, flusher = self.start_bound()
        self.assertEqual(len(os.sched_getaffinity(main)), 1)
        self.assertEqual(os.sched_getaffinity(flusher), os.sched_getaffinity(0))

    @unittest.skipUnless(may_run_in_real_time(), "may not run in real time: needs root")
    def test_in_real_time_has_a_flusher_that_is_not(self):
        main, flusher = self.start_bound("real-time")
        self.assertEqual(os.sched_getscheduler(main), os.SCHED_FIFO)
        self.assertEqual(os.sched_getscheduler(flusher), os.SCHED_OTHER)


class ClosedDescriptors(TraceTestCase):
    """A program closes unknown descriptors, the library's (closing.c): nothing is lost, and files that the program
    opens in their places stay untouched."""

    WAYS = ("all-at-once", "while-it-sleeps", "one-after-the-other", "before-exit", "again-and-again", "shut-down",
            "taken-by-files", "taken-by-sockets")

    def test_are_made_anew(self):
        in_a_file = {"PCP_TRACE_MMV": "closing", "PCP_TMP_DIR": self.pmcd.path("tmp")}
        for way, variables in itertools.product(self.WAYS, ({}, in_a_file)):
            with self.subTest(way, **variables):
                self.pmcd.pmstore("trace.control.reset", 1)
                done = completed(program("closing"), way, env=self.environment(**variables), timeout=3 * PATIENCE_S)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assert_values(self.pmcd, "trace.point.count",
                                   {"before": 1, "after": int(done.stdout) - 1})
