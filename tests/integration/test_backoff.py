# SPDX-License-Identifier: LGPL-2.1-or-later
"""The library tries to connect once for each step of the back-off, not once a call."""


from fake_agent import FakeAgent
from private_pmcd import wait_until
from trace_test import PERMISSION, TraceTestCase, library_environment


class BackOff(TraceTestCase):
    def start(self, agent, **variables):
        return self.start_traced(library_environment(self.library, PCP_TRACE_HOST="127.0.0.1",
                                                     PCP_TRACE_PORT=agent.port, **variables))

    def test_begins_with_the_first_failure(self):
        with FakeAgent(greeting=PERMISSION) as agent:
            traced = self.start(agent)
            for line in ["point a", "obs 1 a", "begin a", "end a"] * 25:
                self.assertEqual(traced.call(line), PERMISSION)
            self.assertEqual(agent.connections, 1)

    def test_tries_again_without_being_called(self):
        with FakeAgent(greeting=PERMISSION) as agent:
            traced = self.start(agent, PCP_TRACE_RECONNECT="0.05")
            traced.call("point a")
            wait_until(lambda: agent.connections >= 4, what="further attempts")

    def test_follows_its_steps_and_stays_on_the_last_one(self):
        with FakeAgent(greeting=PERMISSION) as agent:
            traced = self.start(agent, PCP_TRACE_RECONNECT="0.02,0.02,0.02,300")
            traced.call("point a")
            wait_until(lambda: agent.connections >= 4, what="the quick steps")
            traced.call("point a")
            self.wait_for_attempts(20, 0.02)
            traced.call("point a")
            self.assertEqual(agent.connections, 4)

    def test_keeps_what_was_recorded_and_delivers_it_when_let_in(self):
        with FakeAgent() as agent:
            traced = self.start(agent, PCP_TRACE_RECONNECT="0.05")
            self.assertEqual(traced.call("point a"), 0)
            traced.end()
            self.assertEqual([data.tag for data in agent.data()], ["a"])
