# SPDX-License-Identifier: LGPL-2.1-or-later
"""Wrong types are errors that name the argument; a wrong content is none, and has a defined result."""

import ast
import json
import os
import re

from private_pmcd import PATIENCE_S, completed
from python_test import PACKAGE, PythonTestCase, python, traced

BLOCK = ("__call__", "__enter__", "__exit__")  # their parameters are not shown


class Texts(PythonTestCase):
    def test_have_defined_results(self):
        pmcd = self.start_pmcd()
        done = completed(*python("texts.py"), env=traced(self.environment(pmcd)), timeout=4 * PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_counted(pmcd, json.loads(done.stdout))
        for said in ("is not traced: a tag must have 1 to 254 bytes", "was not added: an increment must be finite"):
            self.assertEqual(done.stderr.count(said), 1, done.stderr)
        self.assertNotIn("Traceback", done.stderr)


def parameters(function):
    """Gives those of the stub as help() shows them."""
    for argument in ast.walk(function.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return re.findall("[^, /]+", ast.unparse(function.args))


class Types(PythonTestCase):
    def test_are_declared_of_all_names(self):
        with open(os.path.join(PACKAGE, "__init__.pyi"), encoding="utf-8") as file:
            stub = ast.parse(file.read())
        declared = {node.name: parameters(node) if isinstance(node, ast.FunctionDef)
                    else {each.name: parameters(each) for each in node.body if each.name not in BLOCK}
                    for node in stub.body if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name != "_Headers"}
        self.assertEqual(json.loads(self.run_python(self.nowhere(), *python("names.py"))), declared)
        self.assertTrue(os.path.exists(os.path.join(PACKAGE, "py.typed")))
