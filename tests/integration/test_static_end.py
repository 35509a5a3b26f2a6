# SPDX-License-Identifier: LGPL-2.1-or-later
"""The end of a program, however it is linked: records of its destructors are delivered."""

import subprocess

from private_pmcd import PATIENCE_S, completed
from trace_test import TraceTestCase, program


class EndOfAProgram(TraceTestCase):
    SORTS = ("shared", "static", "static-pie")

    def test_delivers_what_its_destructors_record(self):
        for sort in self.SORTS:
            with self.subTest(sort):
                self.pmcd.pmstore("trace.control.reset", 1)
                subprocess.run([program(f"end-{sort}")], env=self.environment(),
                               timeout=2 * PATIENCE_S, check=True)
                self.assert_values(self.pmcd, "trace.point.count",
                                   {"main": 1, "destructor": 1, "late destructor": 1})

    def test_survives_what_the_library_throws(self):
        environment = self.environment(self.start_pmcd(), PCP_TRACE_LINGER=1)
        for sort in self.SORTS:
            with self.subTest(sort):
                done = completed(program(f"end-{sort}"), "throws", env=environment, timeout=2 * PATIENCE_S)
                self.assertEqual((done.returncode, done.stdout), (0, "buffered"), done.stderr)
