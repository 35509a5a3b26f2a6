# SPDX-License-Identifier: LGPL-2.1-or-later
"""Children that leave by _exit deliver their records, whichever library they were linked with."""


from private_pmcd import PATIENCE_S, completed
from trace_test import TraceTestCase, program, with_each_pair


@with_each_pair
class Children(TraceTestCase):
    def test_lose_nothing(self):
        pmcd = self.start_pmcd()
        for number, linked in enumerate(("stock_children", "our_children"), 1):
            done = completed(program(linked), env=self.environment(pmcd), timeout=2 * PATIENCE_S)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assert_values(pmcd, "trace.point.count", {"child": 350 * number})
