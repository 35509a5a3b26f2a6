# SPDX-License-Identifier: LGPL-2.1-or-later
"""Without our library a program runs on: its calls do nothing, and one line says so."""

import os
import pathlib
import tempfile

from private_pmcd import PATIENCE_S, completed
from python_test import PythonTestCase, python
from trace_test import OUR_LIBRARY, STOCK_LIBRARY

MISSING = "pcp_trace: nothing is traced: "


class Unloaded(PythonTestCase):
    def setUp(self):
        directory = self.enterContext(tempfile.TemporaryDirectory(prefix="trace-python-"))
        self.none = os.path.join(directory, "libpcp_trace.so.2")  # found first, but it is none
        pathlib.Path(self.none).touch()

    def complaints(self, library, **variables):
        """Gives what a program that makes each call prints on standard error."""
        self.library = library
        environment = self.nowhere(**variables)
        for command in (python("every_call.py", "1"), python("texts.py")):
            done = completed(*command, env=environment, timeout=4 * PATIENCE_S)
            self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_is_said_once(self):
        said = self.complaints(self.none)
        self.assertEqual((said.count("\n"), said[:len(MISSING)]), (1, MISSING), said)
        self.assertIn(f"{self.none}: file too short", said)

    def test_pcps_own_library_lacks_the_calls(self):
        said = self.complaints(os.path.realpath(STOCK_LIBRARY))
        self.assertEqual(said, f"{MISSING}libpcp_trace.so.2 is PCP's own, which lacks the calls by handle. Install the "
                               "library of pcp-trace, or put its directory into LD_LIBRARY_PATH\n")

    def test_nobody_misses_it_while_tracing_is_off(self):
        self.assertEqual(self.complaints(self.none, PCP_TRACE_NOAGENT=1), "")
        self.assertNotEqual(self.complaints(self.none, PCP_TRACE_NOAGENT=1, PCP_TRACE_MMV="shop"), "")

    def test_raises_what_a_library_that_is_switched_off_raises(self):
        self.assertIn(" is not traced: a tag must have", self.complaints(OUR_LIBRARY, PCP_TRACE_NOAGENT=1))

    def test_the_stub_says_nothing(self):
        self.assertEqual(self.complaints(os.path.join(os.path.dirname(OUR_LIBRARY), "stub/libpcp_trace.so.2")), "")

