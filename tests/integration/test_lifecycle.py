# SPDX-License-Identifier: LGPL-2.1-or-later
"""Unusual moments in the life of a process (lifecycle.c), with and without an agent: the process ends well and in time;
no call is lost or counts twice, and children keep no descriptor."""

import tempfile

from private_pmcd import PATIENCE_S, ReservedPort, completed
from trace_test import TraceTestCase, everybodys_folder, program, without_leaks

# The agent's expected counts for each moment.
MOMENTS = {
    "constructor": {"constructor": 1},
    "destructor": {"destructor": 1},
    "forked": {"parent": 1, "child": 1},
    "forked-twice": {"parent": 1, "grandchild": 1},
    "forks-in-handlers": {"parent": 2, "handler": 2},
    "ended-among-forks": {"child": 20},
    "vforked": {"parent": 1, "child": 1},
    "spawned": {"parent": 1, "begun anew": 1},
    "execed": {"parent": 1, "begun anew": 1},
    "dlopened": {"dlopened": 3},
    "changed-user": {"before": 1, "after": 1},
    "pre-forked": {"parent": 1, "child": 140},
    "left-quickly": {"main": 1, "handler": 1},
    "left-without-a-word": {"parent": 2},
    "daemonized": {"parent": 1, "child": 1, "grandchild": 1},
    "impatient": {"impatient": 200},
    "main-left": {"main": 1, "worker": 10, "atexit": 1},
    "main-left-alone": {"main": 1},
    "main-left-untraced": {"worker": 10},
    "main-left-in-child": {"parent": 1, "child": 1},
}


class Lifecycle(TraceTestCase):
    def live(self, moment, environment):
        """Gives the program's output."""
        if moment == "constructor":
            environment = environment | {"LIFECYCLE_CONSTRUCTOR": "1"}
        with everybodys_folder() as everybodys:
            done = completed(program("lifecycle"), moment, timeout=2 * PATIENCE_S,
                             env=without_leaks(environment) | {"LIFECYCLE_EVERYBODYS": everybodys})
        self.assertEqual((done.returncode, done.stderr), (0, ""), moment)
        return done.stdout

    def test_with_an_agent(self):
        for transport in ("unix", "tcp"):
            environment = self.environment()
            if transport == "unix":
                environment = self.environment(PCP_TRACE_SOCKET=self.pmcd.path("run/trace.socket"))
            for moment, counts in MOMENTS.items():
                with self.subTest(moment=moment, transport=transport):
                    self.pmcd.pmstore("trace.control.reset", 1)
                    self.live(moment, environment)
                    self.assert_values(self.pmcd, "trace.point.count", counts)

    def test_with_an_agent_and_threads_that_do_not_end(self):
        for _ in range(5):
            self.pmcd.pmstore("trace.control.reset", 1)
            least, most = map(int, self.live("detached-threads", self.environment()).split())
            counted = self.pmcd.value("trace.point.count", "detached")
            self.assertTrue(least <= counted <= most, f"{least} <= {counted} <= {most}")

    def test_with_a_handler_that_leaves_in_the_middle_of_a_call(self):
        for moment in 3 * ("interrupted", "interrupted-quickly"):
            self.pmcd.pmstore("trace.control.reset", 1)
            with tempfile.NamedTemporaryFile("r") as said:
                environment = self.environment(PCP_TRACE_DEBUG=f"comms,file={said.name}")
                least = int(self.live(moment, environment))
                counted = self.pmcd.value("trace.observe.count", "interrupted")
                self.assertIn(counted, (least, least + 1), said.read())  # the interrupted call may count or not

    def test_with_threads_that_a_signal_stops_in_the_middle_of_a_call(self):
        for _ in range(3):
            self.pmcd.pmstore("trace.control.reset", 1)
            least, threads = map(int, self.live("stuck", self.environment()).split())
            self.assertEqual(self.pmcd.values("trace.point.count"), {"main": 1})
            # The library cannot read the sums that such a thread has added up since the last flush.
            counted = self.pmcd.value("trace.observe.count", "stuck")
            self.assertTrue(0 < counted <= least + threads, f"0 < {counted} <= {least} + {threads}")

    def test_without_a_thread(self):
        with tempfile.NamedTemporaryFile(delete=False) as none:
            environment = self.environment(LD_PRELOAD=program("bad_machine.so"),
                                           NO_THREADS=none.name)
        for moment in ("threadless", "threadless-flush", "threadless-alarms"):
            with self.subTest(moment=moment):
                self.pmcd.pmstore("trace.control.reset", 1)
                self.live(moment, environment)
                self.assertEqual(self.pmcd.values("trace.point.count"), {"threadless": 10})
        with ReservedPort() as port:
            self.live("threadless", environment | {"PCP_TRACE_PORT": str(port.number)})
        self.pmcd.pmstore("trace.control.reset", 1)
        calls = int(self.live("threadless-at-first", environment))
        self.assertEqual(self.pmcd.values("trace.point.count"), {"threadless": calls})

    def test_with_an_agent_that_is_not_wanted(self):
        for moment in ("main-left", "main-left-in-child", "pre-forked", "threadless"):
            with self.subTest(moment=moment):
                self.live(moment, self.environment(PCP_TRACE_NOAGENT=1))
                self.assertEqual(self.pmcd.value("trace.agent.accepted"), 0)

    def test_without_an_agent(self):
        nobody = self.nobody(LIFECYCLE_NO_AGENT=1)
        for moment in (*MOMENTS, "detached-threads", "interrupted", "interrupted-quickly", "stuck"):
            with self.subTest(moment=moment):
                self.live(moment, nobody)
