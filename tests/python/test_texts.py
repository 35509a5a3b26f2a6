# SPDX-License-Identifier: LGPL-2.1-or-later
"""Wrong types are errors that name the argument; a wrong content is none, and has a defined result."""

import json

from private_pmcd import PATIENCE_S, completed
from python_test import PythonTestCase, python, traced


class Texts(PythonTestCase):
    def test_have_defined_results(self):
        pmcd = self.start_pmcd()
        done = completed(*python("texts.py"), env=traced(self.environment(pmcd)), timeout=4 * PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_counted(pmcd, json.loads(done.stdout))
        for said in ("is not traced: a tag must have 1 to 254 bytes", "was not added: an increment must be finite"):
            self.assertEqual(done.stderr.count(said), 1, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
