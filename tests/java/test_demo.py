# SPDX-License-Identifier: LGPL-2.1-or-later
"""The demo, shortened: the agent has counted as many calls as the demo says."""

import re

from java_test import DEMOS, JavaTestCase, java


class Demo(JavaTestCase):
    def test_request_loop(self):
        pmcd = self.start_pmcd()
        printed = self.run_java(self.environment(pmcd), "RequestLoop", "3", classes=DEMOS)
        served, delivered = map(int, re.fullmatch(
            r"served (\d+) requests, delivered (\d+) mails\n", printed).groups())
        self.assertGreater(delivered, 0)
        self.assert_values(pmcd, "trace.counter.value", {"mails": delivered})
        counts = pmcd.values("trace.transact.count")
        aborts = pmcd.values("trace.transact.aborts")
        self.assertEqual(counts["deliver"], delivered)
        self.assertEqual(sum(counts.values()) + sum(aborts.values()), served)
        self.assertEqual(pmcd.value("trace.observe.count", "mail-size"),
                         delivered + aborts["deliver"])

    def test_request_loop_without_an_agent(self):
        self.assert_shown_by_pmdammv("transact.count", "deliver", *java("RequestLoop", "1000", classes=DEMOS))
