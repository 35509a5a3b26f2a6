# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs at work while the agent, pmcd or their machine fails: no call waits, is lost, or counts twice. Exact means:
the programs' calls equal the agent's counts since its start plus the calls that earlier agents acknowledged."""

import contextlib
import os
import stat
import time

from private_pmcd import PATIENCE_S, PrivatePmcd, thread_states, wait_until
from trace_test import Traced, TraceTestCase, end_well, program

QUICKLY = {"PCP_TRACE_RECONNECT": "0.05", "PCP_TRACE_FLUSH": "10"}
PATIENTLY = {"PCP_TRACE_TIMEOUT": 10 * PATIENCE_S, "PCP_TRACE_REQTIMEOUT": 10 * PATIENCE_S}  # no test lasts so long
KINDS = {"point": "busy point", "observe": "busy observation", "counter": "busy counter",
         "transact": "busy transaction"}


class Busy(Traced):
    """The program busy.c."""

    def __init__(self, environment):
        super().__init__(environment, "busy", words=["3"])

    def stats(self):
        return self._numbers(self.ask("stats"))

    def wait_for(self, condition, what):
        """Waits until the library's statistics meet the condition."""
        try:
            wait_until(lambda: condition(self.stats()), what=what)
        except TimeoutError as problem:
            raise TimeoutError(f"{problem}; {self.stats()}; threads: "
                               f"{list(thread_states(self.pid))}") from problem

    def wait_for_calls(self, more):
        """Waits until the agent has acknowledged `more` calls."""
        before = self.stats()["acknowledged"]
        self.wait_for(lambda stats: stats["acknowledged"] >= before + more, "calls to arrive")

    def wait_for_each_thread(self):
        """Waits until each thread has made more calls than a queue holds: none of them waits."""
        before = self.stats()["fewest"]
        self.wait_for(lambda stats: stats["fewest"] > before + 2000, "each thread's calls")

    def wait_for_loss(self):
        self.wait_for(lambda stats: not stats["connected"], "the loss of the connection")

    def rest(self):
        self.ask("rest")

    def flush(self):
        return int(self.ask("flush"))

    def end(self):
        """Gives the program's account, and its standard error."""
        output, complaints = end_well(self.process, 2 * PATIENCE_S)
        return self._numbers(output), complaints

    @staticmethod
    def _numbers(line):
        words = line.split()
        return {name: float(number) for name, number in zip(words[::2], words[1::2])}


class FaultTestCase(TraceTestCase):
    def start_busy(self, pmcd, programs=3, **variables):
        busy = [Busy(self.environment(pmcd, **QUICKLY | PATIENTLY | variables)) for _ in range(programs)]
        for each in busy:
            self.addCleanup(each.kill)
        for each in busy:
            each.wait_for_calls(1000)
        return busy

    def end_all(self, busy):
        """Ends the programs. Gives the sums of their accounts."""
        totals = {}
        for each in busy:
            numbers, complaints = each.end()
            self.assertEqual(complaints, "")
            for name, number in numbers.items():
                totals[name] = totals.get(name, 0) + number
        return totals

    def assert_all_counted(self, pmcd, totals):
        for kind, tag in KINDS.items():
            self.assertEqual(pmcd.values(f"trace.{kind}.count"), {tag: totals["calls"]})
        self.assertEqual(pmcd.values("trace.observe.sum"), {"busy observation": totals["observed_sum"]})

    @staticmethod
    def counted(pmcd):
        return sum(sum(pmcd.values(f"trace.{kind}.count").values()) for kind in KINDS)

    def assert_rest_counted(self, pmcd, busy, acknowledged):
        """The present agent has counted all calls that no earlier one had acknowledged."""
        for each in busy:
            each.rest()
            self.assertEqual(each.flush(), 1)
        stats = [each.stats() for each in busy]
        self.assertEqual([each["uncertain"] for each in stats], [0] * len(busy))
        self.assertEqual(self.counted(pmcd), sum(each["recorded"] for each in stats) - acknowledged)


class Agent(FaultTestCase):
    def replace_agent(self, times, end, start):
        """Ends the agent and starts another one, `times` times, while programs work."""
        busy = self.start_busy(self.pmcd)
        for _ in range(times):
            end(self.pmcd)
            for each in busy:
                each.wait_for_loss()
            acknowledged = sum(each.stats()["acknowledged"] for each in busy)
            for each in busy:
                each.wait_for_each_thread()
            start(self.pmcd)
            for each in busy:
                each.wait_for_calls(1000)
        self.assert_rest_counted(self.pmcd, busy, acknowledged)
        self.end_all(busy)

    def test_killed_and_restarted(self):
        self.replace_agent(3, PrivatePmcd.kill_agent, PrivatePmcd.start_agent)

    def test_of_a_pmcd_that_is_restarted(self):
        self.replace_agent(1, PrivatePmcd.end_pmcd, PrivatePmcd.start_pmcd)

    def test_stopped_and_continued(self):
        busy = self.start_busy(self.pmcd)
        with self.pmcd.stopped_agent():
            for each in busy:
                each.wait_for_each_thread()
        for each in busy:
            each.wait_for_calls(1000)
        self.assert_all_counted(self.pmcd, self.end_all(busy))

    def test_with_a_full_disk_under_its_log(self):
        # By a name that cannot be removed: as root the agent would replace /dev/full by a plain file.
        full = os.open("/dev/full", os.O_WRONLY)
        self.addCleanup(os.close, full)
        pmcd = self.start_pmcd(options=["-l", f"/proc/{os.getpid()}/fd/{full}"])
        self.assertTrue(os.path.samestat(os.fstat(full), os.stat(f"/proc/{pmcd.agent_pid()}/fd/2")))
        self.assertTrue(stat.S_ISCHR(os.fstat(full).st_mode))
        pmcd.pmstore("trace.control.debug", "all")  # produces much log
        busy = self.start_busy(pmcd)
        self.assert_all_counted(pmcd, self.end_all(busy))


class Descriptors(FaultTestCase):
    """No free descriptors on the whole machine."""

    def setUp(self):
        self.switch = self.path("there are none")
        self.machine = {"LD_PRELOAD": program("bad_machine.so"), "NO_DESCRIPTORS": self.switch}

    @contextlib.contextmanager
    def none_left(self):
        with open(self.switch, "w", encoding="utf-8"):
            yield
        os.unlink(self.switch)

    def assert_seldom_tried(self, busy):
        """The programs rarely try to make a descriptor: each attempt adds a byte to the file."""
        before, began = os.path.getsize(self.switch), time.monotonic()
        for each in busy:
            each.wait_for_calls(1000)
            each.wait_for_each_thread()
        attempts, seconds = os.path.getsize(self.switch) - before, time.monotonic() - began
        self.assertLess(attempts, 100 + 100 * seconds)

    def start_more(self, pmcd, **variables):
        """Starts programs whose first calls wait for a connection in vain."""
        environment = self.environment(pmcd, **QUICKLY | variables, PCP_TRACE_TIMEOUT=1)
        more = [Busy(environment) for _ in range(3)]
        for each in more:
            self.addCleanup(each.kill)
            each.wait_for(lambda stats: stats["recorded"] > 1000, "calls")
        return more

    def test_for_the_agent(self):
        pmcd = self.start_pmcd(environment=self.machine)
        busy = self.start_busy(pmcd)
        with self.none_left():
            late = self.start_more(pmcd)
            self.assert_seldom_tried(busy)  # connected programs do not notice
            self.assertEqual([each.stats()["acknowledged"] for each in late], [0] * 3)
        for each in late:
            each.wait_for_calls(1000)
        self.assert_all_counted(pmcd, self.end_all(busy + late))

    def test_for_programs(self):
        busy = self.start_busy(self.pmcd, **self.machine)
        with self.none_left():
            late = self.start_more(self.pmcd, **self.machine)
            self.pmcd.kill_agent()
            for each in busy:
                each.wait_for_each_thread()
        acknowledged = sum(each.stats()["acknowledged"] for each in busy)
        self.pmcd.start_agent()
        for each in busy + late:
            each.wait_for_calls(1000)
        self.assert_rest_counted(self.pmcd, busy + late, acknowledged)
        self.end_all(busy + late)
