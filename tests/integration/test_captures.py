# SPDX-License-Identifier: LGPL-2.1-or-later
"""Spans from a traced program to a monitor: each once or counted, with its parents."""

import unittest

from event_monitor import EventMonitor
from private_pmcd import PATIENCE_S, wait_until
from trace_test import TraceTestCase, Traced


class Captures(TraceTestCase):
    def setUp(self):
        self.pmcd = self.start_pmcd()

    def start(self, **variables):
        traced = Traced(self.environment(self.pmcd, **variables), "traces")
        self.addCleanup(traced.kill)
        return traced

    def monitor(self, text):
        monitor = self.enterContext(EventMonitor(self.pmcd.host(True)))
        monitor.want(text)
        return monitor

    def test_one(self):
        traced = self.start()
        traced.call("begin 0 warm")
        traced.call("end 0")
        monitor = self.monitor("tag=request")
        import time
        time.sleep(0.5)
        for line in ("begin 0 request", "begin 1 query", "end 1", "begin 3 other", "end 3", "end 0", "begin 2 other", "end 2"):
            traced.call(line)
        time.sleep(0.5)
        for e in monitor.events():
            print(e)


if __name__ == "__main__":
    unittest.main()
