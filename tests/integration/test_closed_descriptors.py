# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program closes unknown descriptors, the library's (closing.c): tracing goes on, nothing is lost, and files that the
program opens in their places stay untouched."""

import itertools

from private_pmcd import PATIENCE_S, completed
from trace_test import TraceTestCase, program

WAYS = ["all-at-once", "while-it-sleeps", "one-after-the-other", "before-exit", "again-and-again", "shut-down",
        "taken-by-epolls", "taken-by-eventfds", "taken-by-files", "taken-by-sockets"]


class ClosedDescriptors(TraceTestCase):
    def test_are_made_anew(self):
        pmcd = self.start_pmcd()
        in_a_file = {"PCP_TRACE_MMV": "closing", "PCP_TMP_DIR": pmcd.path("tmp")}
        for way, variables in itertools.product(WAYS, ({}, in_a_file)):
            with self.subTest(way, **variables):
                pmcd.pmstore("trace.control.reset", 1)
                done = completed(program("closing"), way, env=self.environment(pmcd, **variables), timeout=3 * PATIENCE_S)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assert_values(pmcd, "trace.point.count",
                                   {"before": 1, "after": int(done.stdout) - 1})
