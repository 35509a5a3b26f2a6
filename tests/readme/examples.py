# SPDX-License-Identifier: LGPL-2.1-or-later
"""The examples of a page: finds them, compiles them without a warning, and runs them beside a private pmcd."""

import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from page_blocks import blocks
from private_pmcd import PrivatePmcd, completed
from trace_test import OUR_AGENT, OUR_LIBRARY, OUR_PMTRACE

SOURCE = pathlib.Path(os.environ["TRACE_SOURCE"])
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
METRICS = ("transact.count", "transact.aborts", "point.count", "observe.value", "counter.value", "counter.total")
# By language: an example's suffix, the variable that names its compiler, and the standard.
COMPILED = {"c": (".c", "TRACE_CC", "c99"), "cpp": (".cpp", "TRACE_CXX", "c++17"),
            "fortran": (".f90", "TRACE_FC", "f2008")}


def examples(page):
    """Gives the kind and the text of each example of a page, in order. The first word of a kind is its language."""
    return [(kind, text) for kind, text in blocks(page) if kind]


def example(kind, page):
    """Gives the page's only example of this kind."""
    (text,) = (text for each, text in examples(page) if each == kind)
    return text


class ExamplesTestCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def write(self, name, text):
        path = self.directory / name
        path.write_text(text, encoding="utf-8")
        return path

    def compiled(self, language, text, *options):
        """Gives the program that an example becomes; `options` say with which headers and libraries."""
        suffix, compiler, standard = COMPILED[language]
        program = self.directory / "example"
        subprocess.run([*os.environ[compiler].split(), f"-std={standard}", *WARNINGS,
                        self.write("example" + suffix, text), "-o", program, *options], check=True)
        return program

    def command_of(self, language, text):
        """Gives the command that runs an example of ours."""
        if language == "java":
            (name,) = re.findall(r"^class (\w+)", text, re.MULTILINE)
            return [os.environ["TRACE_JAVA"], "--enable-native-access=ALL-UNNAMED", "-cp", os.environ["TRACE_JAR"],
                    self.write(name + ".java", text)]
        if language == "python":
            package = os.path.dirname(os.environ["TRACE_PYTHON_PACKAGE"])
            return ["env", f"PYTHONPATH={package}", sys.executable, self.write("example.py", text)]
        if language == "sh":
            return ["sh", self.write("example.sh", text)]
        fortran = [f"-I{os.environ['TRACE_FORTRAN_MODULES']}",
                   os.environ["TRACE_FORTRAN_LIBRARY"]] if language == "fortran" else []
        return [self.compiled(language, text, f"-I{SOURCE}/libtrace/include", *fortran, OUR_LIBRARY)]

    @contextlib.contextmanager
    def pmcd_after(self, *command):
        """Runs an example, which must not complain. Gives the pmcd that has its values, and what it printed."""
        with PrivatePmcd(agent=OUR_AGENT.path, namespace=OUR_AGENT.namespace) as pmcd:
            environment = pmcd.environment(OUR_LIBRARY)
            environment["PATH"] = f"{os.path.dirname(OUR_PMTRACE)}:{environment['PATH']}"
            done = completed(*command, env=environment, check=True, timeout=60)
            self.assertEqual(done.stderr, "")
            yield pmcd, done.stdout

    def counts_of(self, *command):
        """Runs an example. Gives what it printed, and the counts of its tags."""
        with self.pmcd_after(*command) as (pmcd, printed):
            return printed, {metric: pmcd.values(f"trace.{metric}") for metric in METRICS}
