# SPDX-License-Identifier: LGPL-2.1-or-later
"""pmdatrace --adopt-numbers beside a pmcd that runs PCP's agent, ours, or none."""


from private_pmcd import completed
from trace_test import OUR_AGENT, STOCK_AGENT, STOCK_LIBRARY, TraceTestCase


class AdoptNumbers(TraceTestCase):
    library = STOCK_LIBRARY

    def adopt(self, pmcd):
        return completed(OUR_AGENT.path, "-d", "10", "--adopt-numbers", env=pmcd.pcp_environment())

    def test_from_pcps_agent(self):
        pmcd = self.start_pmcd(agent=STOCK_AGENT)
        self.trace(self.environment(pmcd), "point zebra", "point ant", "obs 1 mole", "counter 1 c",
                   "begin t", "end t")
        adopted = self.adopt(pmcd)
        self.assertEqual((adopted.returncode, adopted.stderr), (0, ""))
        self.assertIn(" 5 tags ", adopted.stdout)
        lines = [line.split() for line in pmcd.saved_numbers() if line[0].isdigit()]
        self.assertEqual(sorted((tag, number) for _, number, _, tag in lines),
                         [("ant", "2"), ("c", "1"), ("mole", "1"), ("t", "1"), ("zebra", "1")])

    def test_ours_keeps_its_own(self):
        adopted = self.adopt(self.start_pmcd(agent=OUR_AGENT))
        self.assertEqual((adopted.returncode, adopted.stdout, adopted.stderr), (0, "", ""))

    def test_without_an_agent(self):
        pmcd = self.start_pmcd(agent=STOCK_AGENT)
        pmcd.kill_agent()
        adopted = self.adopt(pmcd)
        self.assertEqual((adopted.returncode, adopted.stdout), (1, ""))
        self.assertIn("cannot adopt the numbers", adopted.stderr)

    def test_without_pmcd(self):
        pmcd = self.start_pmcd(agent=STOCK_AGENT)
        pmcd.end_pmcd()
        adopted = self.adopt(pmcd)
        self.assertEqual((adopted.returncode, adopted.stdout), (1, ""))
        self.assertIn("pmcd", adopted.stderr)
