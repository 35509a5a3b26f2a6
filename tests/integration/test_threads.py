# SPDX-License-Identifier: LGPL-2.1-or-later
"""Threads: the same tag, the first call, more calls than any queue holds; not one call may be lost."""

from private_pmcd import PATIENCE_S, completed
from trace_test import TraceTestCase, program


class Threads(TraceTestCase):
    def run_threads(self, threads, calls, kind, **variables):
        done = completed(program("threads"), str(threads), str(calls), kind,
                         env=self.environment(**variables), timeout=5 * PATIENCE_S, check=True)
        self.assertEqual((done.stdout, done.stderr), ("0\n", ""))

    def test_make_their_first_call_together(self):
        for round_number in range(1, 21):
            self.run_threads(32, 1, "point")
            self.assertEqual(self.pmcd.values("trace.point.count"), {"shared": 32 * round_number})

    def test_lose_nothing_when_they_are_faster_than_the_flusher(self):
        self.run_threads(4, 500_000, "point", PCP_TRACE_QUEUE="64")
        self.assertEqual(self.pmcd.values("trace.point.count"), {"shared": 2_000_000})

    def test_lose_no_transaction_either(self):
        self.run_threads(4, 100_000, "transaction", PCP_TRACE_QUEUE="64")
        self.assertEqual(self.pmcd.values("trace.transact.count"), {"shared": 400_000})

    def test_need_no_queue_of_any_size(self):
        for size in (2, 4096, 1 << 20):
            self.run_threads(2, 10_000, "point", PCP_TRACE_QUEUE=size)
        self.assertEqual(self.pmcd.values("trace.point.count"), {"shared": 60_000})
