# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the program that uses every call, and checks the values that arrived."""

import os

from private_pmcd import PATIENCE_S, completed
from trace_test import OUR_AGENT, STOCK_AGENT, TraceTestCase, program


TOLD = ('pcp_trace: "sum": -5 was not added: an increment must be finite and not negative\n'
        'pcp_trace: "served" gets no more labels: label "Status" is not [a-z][a-z0-9_]*\n')


class EveryCall:
    def run_everything(self):
        """Runs the program, checks the metrics that every agent has, and gives the pmcd."""
        pmcd = self.start_pmcd()
        command = [*os.environ.get("TRACE_RUNNER", "").split(), program("everything")]
        # Under valgrind on a busy machine even a connection takes seconds.
        environment = self.environment(pmcd, PCP_TRACE_TIMEOUT=PATIENCE_S,
                                       PCP_TRACE_REQTIMEOUT=PATIENCE_S)
        done = completed(*command, env=environment, timeout=3 * PATIENCE_S)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", TOLD))
        self.assertEqual(pmcd.values("trace.transact.count"),
                         {"named": 1, "handled": 2, "traced": 3, "noted": 1, "served": 1, "served{status=410}": 1,
                          "across threads": 1})
        self.assertEqual(pmcd.values("trace.point.count"),
                         {"named": 1, "handled": 1, "acknowledged": 2,
                          "handled{zone=eu}": 1, "handled{route=/a%20b;zone=eu}": 1})
        self.assertEqual(pmcd.values("trace.observe.count"), {"named": 1, "handled": 2})
        self.assertEqual(pmcd.values("trace.observe.value"), {"named": 2.5, "handled": 4})
        self.assertEqual(pmcd.values("trace.counter.count"), {"named": 2, "handled": 1, "added": 2,
                                                            "sum": 2})
        self.assertEqual(pmcd.values("trace.counter.value"),
                         {"named": 20, "handled": 30, **self.value_of_what_was_added})
        return pmcd


class EveryCallWithStockAgent(EveryCall, TraceTestCase):
    agent = STOCK_AGENT
    value_of_what_was_added = {"added": 7.5, "sum": 5}

    def test_does_what_the_header_says(self):
        self.run_everything()


class EveryCallWithOurAgent(EveryCall, TraceTestCase):
    agent = OUR_AGENT
    value_of_what_was_added = {}

    def test_does_what_the_header_says(self):
        pmcd = self.run_everything()
        self.assertEqual(pmcd.values("trace.observe.sum"), {"named": 2.5, "handled": 2.5})
        self.assertEqual(pmcd.values("trace.counter.total"), {"added": 7.5, "sum": 5})
        self.assertEqual(pmcd.value("trace.transact.aborts", "named"), 1)
        self.assertEqual(pmcd.value("trace.transact.aborts", "handled"), 1)
        self.assertEqual(pmcd.value("trace.transact.aborts", "noted"), 1)
        self.assertEqual(pmcd.value("trace.transact.aborts", "served{status=410}"), 2)
