# SPDX-License-Identifier: LGPL-2.1-or-later
"""When records leave: at once after a pause, later ones at the interval."""


from trace_test import TraceTestCase

AN_HOUR_HENCE = {"PCP_TRACE_FLUSH": "60000"}  # the longest possible; no test lasts as long


class LeadingEdge(TraceTestCase):
    def test_leaves_at_once_and_the_rest_by_the_interval(self):
        traced = self.start_traced(self.environment(**AN_HOUR_HENCE))
        traced.call("point first")
        self.assert_values(self.pmcd, "trace.point.count", {"first": 1})
        traced.call("point second")
        soon = self.start_traced(self.environment())
        for count in (1, 2):  # the second one leaves at the usual interval
            soon.call("point soon")
            self.assert_values(self.pmcd, "trace.point.count", {"first": 1, "soon": count})
        soon.kill()
        self.assertEqual(traced.end(), "")
        self.assertEqual(self.pmcd.values("trace.point.count"), {"first": 1, "second": 1, "soon": 2})
