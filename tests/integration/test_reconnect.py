# SPDX-License-Identifier: LGPL-2.1-or-later
"""Outages: after each outage and return, every call counts once."""

import pathlib
import time

from private_pmcd import wait_until
from trace_test import OUR_AGENT, STOCK_AGENT, TraceTestCase

SYNCHRONOUS, ASYNCHRONOUS, ACKNOWLEDGED = 0, 32, 64
QUICKLY = {"PCP_TRACE_RECONNECT": "0.05", "PCP_TRACE_FLUSH": "5", "PCP_TRACE_REQTIMEOUT": "0.1"}


class AgentRestart:
    """With either agent: its totals are those of all calls that the last agent did not get."""

    def outage(self, state):
        traced = self.start_traced(self.environment(**QUICKLY))
        if state != ACKNOWLEDGED:
            traced.call(f"state {state}")
        for _ in range(5):
            self.assertEqual(traced.call("point a"), 0)
        traced.call("obs 1 b")
        self.assert_values(self.pmcd, "trace.point.count", {"a": 5})
        self.assert_values(self.pmcd, "trace.observe.value", {"b": 1})
        self.pmcd.kill_agent()
        if state == ACKNOWLEDGED:  # not before: a slow agent's acknowledgement might come too late
            traced.call(f"state {state}")
        during = [traced.call("point a") for _ in range(7)]
        traced.call("obs 2 b")
        self.pmcd.start_agent()
        for _ in range(3):
            traced.call("point a")
        traced.call("obs 3 b")
        self.assert_values(self.pmcd, "trace.point.count", {"a": 10})
        self.assert_values(self.pmcd, "trace.observe.count", {"b": 2})
        self.assertEqual(self.pmcd.values("trace.observe.value"), {"b": 3})
        self.assertEqual(traced.end(), "")
        self.assertEqual(self.pmcd.values("trace.point.count"), {"a": 10})
        return during

    def test_in_the_default_mode(self):
        self.assertEqual(self.outage(SYNCHRONOUS), [0] * 7)

    def test_in_asynchronous_mode(self):
        self.assertEqual(self.outage(ASYNCHRONOUS), [0] * 7)

    def test_in_acknowledged_mode(self):
        self.assertNotIn(0, self.outage(ACKNOWLEDGED))

    def test_before_the_agent_was_ever_there(self):
        self.pmcd.kill_agent()
        traced = self.start_traced(self.environment(**QUICKLY))
        self.assertEqual([traced.call("point a") for _ in range(3)], [-111] * 3)
        self.pmcd.start_agent()
        self.assert_values(self.pmcd, "trace.point.count", {"a": 3})
        self.assertEqual(traced.call("point a"), 0)
        self.assert_values(self.pmcd, "trace.point.count", {"a": 4})


class StockAgentRestart(AgentRestart, TraceTestCase):
    agent = STOCK_AGENT


class OurAgentRestart(AgentRestart, TraceTestCase):
    agent = OUR_AGENT


class LongPauses(TraceTestCase):
    """The agent is back, but the next attempt is minutes away."""

    NEVER = {"PCP_TRACE_RECONNECT": "300"}

    def start(self, **variables):
        self.said = pathlib.Path(self.pmcd.path("said"))
        return self.start_traced(self.environment(**self.NEVER, **variables, PCP_TRACE_DEBUG=f"comms,file={self.said}"))

    def outage(self, traced):
        """Gives the number of calls that the new agent has to count."""
        traced.call("point a")
        self.assert_values(self.pmcd, "trace.point.count", {"a": 1})
        self.pmcd.kill_agent()
        self.assertEqual([traced.call("point a") for _ in range(1000)], [0] * 1000)
        wait_until(lambda: "no connection to" in self.said.read_text(encoding="utf-8"),
                   what="the attempt that follows a lost connection")
        self.pmcd.start_agent()
        return 1000

    def test_end_with_the_program(self):
        traced = self.start()
        calls = self.outage(traced)
        self.wait_for_attempts(10, 0.05)
        self.assertEqual(self.pmcd.values("trace.point.count"), {})
        self.assertEqual(traced.end(), "")
        self.assertEqual(self.pmcd.values("trace.point.count"), {"a": calls})

    def test_do_not_hold_for_the_socket_of_this_host(self):
        socket = {"PCP_TRACE_HOST": None, "PCP_TRACE_PORT": None, "PCP_RUN_DIR": self.pmcd.path("run")}
        traced = self.start(**socket)
        calls = self.outage(traced)
        self.assert_values(self.pmcd, "trace.point.count", {"a": calls})


class ProgramEnd(TraceTestCase):
    def test_does_not_wait_for_an_agent_that_is_gone(self):
        one, *others = (self.start_traced(self.environment(**QUICKLY, PCP_TRACE_LINGER=1)) for _ in range(20))
        for program in (one, *others):
            program.call("point a")
        with self.pmcd.stopped_agent():
            waited = self.seconds_to_end(one)
        self.pmcd.kill_agent()
        # The machine may be busy at times, but not each time.
        self.assertTrue(any(self.seconds_to_end(other) < waited - 0.5 for other in others))

    def test_waits_as_long_as_the_program_says(self):
        patient = self.start_traced(self.environment())
        impatient = self.start_traced(self.environment(PCP_TRACE_LINGER=1))
        for program in (patient, impatient):
            program.call("point first")
        self.pmcd.wait_for("trace.point.count", {"first": 2})
        with self.pmcd.stopped_agent():
            patient.call("point last")
            patient.begin_end()
            impatient.call("point never acknowledged")
            self.assertEqual(impatient.end(), "")
            self.assertFalse(patient.has_ended())
        self.assertEqual(patient.end(), "")
        self.assertEqual(self.pmcd.value("trace.point.count", "last"), 1)

    def seconds_to_end(self, traced):
        traced.call("point a")
        started = time.monotonic()
        self.assertEqual(traced.end(), "")
        return time.monotonic() - started
