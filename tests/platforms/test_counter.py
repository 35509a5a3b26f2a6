# SPDX-License-Identifier: LGPL-2.1-or-later
"""Begins and ends look at the processor's counter, and not at the C library's clock, where the kernel keeps time by
that; instructions.py shows that what is left is no system call. On arm64, in qemu."""

import os
import subprocess
import tempfile
import unittest

from private_pmcd import PATIENCE_S
from trace_test import TraceTestCase

COUNT = 10_000
CLOCKSOURCE = "sys/devices/system/clocksource/clocksource0/current_clocksource"


class Counter(TraceTestCase):
    def looks(self, clocksource):
        """How often a program looks at the clock that begins and ends so many transactions by handle and by name."""
        pmcd = self.start_pmcd()
        with tempfile.TemporaryDirectory() as root:
            path = os.path.join(root, CLOCKSOURCE)
            os.makedirs(os.path.dirname(path))
            with open(path, "w", encoding="utf-8") as file:
                file.write(clocksource + "\n")
            # The emulated program finds what is below the directory in the place of what this machine has.
            command = [os.environ["TRACE_EMULATOR"], "-L", root, os.environ["TRACE_BEGINS"], str(COUNT)]
            done = subprocess.run(command, env=self.environment(pmcd), capture_output=True, text=True,
                                  timeout=3 * PATIENCE_S, check=True)
        counts = pmcd.values("trace.transact.count")
        self.assertEqual(counts["handled"], counts["named"])
        self.assertGreaterEqual(counts["handled"], 2 * COUNT)
        return int(done.stdout)

    def test_is_all_that_is_looked_at(self):
        self.assertEqual(self.looks("arch_sys_counter"), 0)

    def test_is_left_alone_where_the_kernel_does_not_trust_it(self):
        self.assertGreaterEqual(self.looks("another"), 4 * COUNT)


if __name__ == "__main__":
    unittest.main()
