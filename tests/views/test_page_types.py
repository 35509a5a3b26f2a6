# SPDX-License-Identifier: LGPL-2.1-or-later
"""The scripts of the page as modules: each imports the names that it uses, and uses them as they are."""

import os
import shutil
import tempfile
import unittest

from private_pmcd import completed

TSC = os.path.join(os.environ["GRAFANA"], "node_modules/typescript/lib/tsc.js")
PAGE = os.path.join(os.path.dirname(__file__), "../../pmda/command/show/page")


def setUpModule():
    if not os.path.exists(TSC):
        raise RuntimeError(f"no {TSC}: './run test views' gets it, from npm")


class Types(unittest.TestCase):
    def complaints(self, more=""):
        with tempfile.TemporaryDirectory(prefix="views-") as directory:
            page = shutil.copytree(PAGE, f"{directory}/page")
            with open(f"{page}/page.js", "a", encoding="utf-8") as file:
                file.write(more)
            done = completed("node", TSC, "-p", f"{page}/jsconfig.json")
        return done.stdout + done.stderr

    def test_fit(self):
        self.assertEqual(self.complaints(), "")

    def test_refuse_what_is_not_imported_or_not_there(self):
        self.assertIn("Cannot find name 'joinPlanes'", self.complaints("joinPlanes();\n"))
        self.assertIn("Property 'zooom' does not exist", self.complaints("new Table(null, {}).zooom();\n"))
