# SPDX-License-Identifier: LGPL-2.1-or-later
"""A transaction that began earlier is timed from then, in each form of Fortran; a tag has its text, and MMV its errors."""

import re
import subprocess
import unittest

from trace_test import OUR_LIBRARY, library_environment, program


class Earlier(unittest.TestCase):
    def test_is_timed_from_then(self):
        environment = library_environment(OUR_LIBRARY, PCP_TRACE_SOCKET="/nowhere", PCP_TRACE_DEBUG="api")
        done = subprocess.run([program("fortran_earlier")], env=environment, capture_output=True, text=True, timeout=60, check=True)
        # -22: no name; -2: no agent is there; -16: too late.
        self.assertEqual(done.stdout.splitlines(), [" -22 -22", '"waited{zone=eu}" ""', "T", "T", "  -2 -16"])
        ended = re.findall(r'transaction "(.*)", seconds ([\d.e-]+)', done.stderr)
        self.assertEqual([tag for tag, _ in ended], ["waited{zone=eu}", "part", "waited{zone=eu}", "scope", "under", "from"])
        for tag, seconds in ended:
            self.assertTrue(2 <= float(seconds) < 62, (tag, seconds))
        self.assertIn('counter "total"', done.stderr)
