# SPDX-License-Identifier: LGPL-2.1-or-later
"""The end of a statically linked program: what its destructors record is delivered."""

import subprocess
import unittest

from private_pmcd import PATIENCE_S
from trace_test import TraceTestCase, program


class StaticProgram(TraceTestCase):
    def test_delivers_what_its_destructors_record(self):
        pmcd = self.start_pmcd()
        for sort in ("static", "static-pie"):
            with self.subTest(sort):
                pmcd.pmstore("trace.control.reset", 1)
                subprocess.run([program(f"end-{sort}")], env=self.environment(pmcd),
                               timeout=2 * PATIENCE_S, check=True)
                self.assert_values(pmcd, "trace.point.count",
                                   {"main": 1, "destructor": 1, "late destructor": 1})


if __name__ == "__main__":
    unittest.main()
