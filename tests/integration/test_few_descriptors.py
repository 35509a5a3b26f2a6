# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs that may have few open files. Not with a sanitizer, which opens files of its own."""

import os
import tempfile

import recorded
from private_pmcd import completed
from trace_test import OUR_LIBRARY, TraceTestCase, library_environment


def with_descriptors(limit):
    return ["prlimit", f"--nofile={limit}"]


class FewDescriptors(TraceTestCase):
    def test_are_enough_for_a_traced_program(self):
        pmcd = self.start_pmcd()
        for limit in (6, 7, 8, 9):  # three are the standard ones
            traced = self.start_traced(self.environment(pmcd), within=with_descriptors(limit))
            self.assertEqual(traced.call("point a"), 0, limit)
        self.assert_values(pmcd, "trace.point.count", {"a": 4})

    def test_are_a_failure_of_record_with_its_own_status(self):
        with tempfile.TemporaryDirectory(prefix="trace-") as directory:
            for limit in range(6, 13):
                done = completed(*with_descriptors(limit), recorded.COMMAND, "record", "-o",
                                 os.path.join(directory, "run"), "echo", "started",
                                 env=library_environment(OUR_LIBRARY))
                self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (125, "", 1), done.stderr)
