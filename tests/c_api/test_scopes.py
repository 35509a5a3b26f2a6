# SPDX-License-Identifier: LGPL-2.1-or-later
"""Transactions of one line in C and C++: they end in the right order and way, compile without a warning in each
standard, and leave nothing behind with PMTRACE_DISABLE."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

from trace_test import OUR_LIBRARY, library_environment

HERE = os.path.dirname(os.path.abspath(__file__))
COMPILER = {"c": os.environ["TRACE_CC"], "cpp": os.environ["TRACE_CXX"]}
OPTIONS = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wvla", "-pedantic", "-Werror",
           f"-I{os.environ['TRACE_INCLUDE']}"]
LEFT = ["pass", "pass", "case"] * 2 + ["pass", "case"] * 2 + ["pass"]
NESTED = ["inner", "outer", "nested"] * 2
PARSED = ["constructor", "lambda{kind=generic;zone=eu}", "parse{format=json}", "destructor"]


class Scopes(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.program = os.path.join(directory.name, "scopes")

    def built(self, language, *options):
        subprocess.run([COMPILER[language], *OPTIONS, os.path.join(HERE, f"scopes.{language}"), *options,
                        "-o", self.program], check=True)
        return self.program

    def assert_ends(self, expected, language, *options):
        environment = library_environment(OUR_LIBRARY, PCP_TRACE_NOAGENT="1", PCP_TRACE_DEBUG="api")
        done = subprocess.run([self.built(language, *options, OUR_LIBRARY)], env=environment, check=True, timeout=60,
                              capture_output=True, text=True)
        self.assertEqual(re.findall(r'(?:transaction|(abort)) "(.*?)"', done.stderr), [
            ("abort" if tag == "aborted" else "", tag) for tag in expected], options)

    def test_c(self):
        for standard in ("c90", "c99", "c17"):
            self.assert_ends(LEFT + NESTED, "c", f"-std={standard}", "-Wdeclaration-after-statement")

    def test_cpp(self):
        for standard in ("c++17", "c++20"):
            expected = [*NESTED, *PARSED * 2, *LEFT, "aborted"]
            self.assert_ends(expected, "cpp", f"-std={standard}", "-fno-exceptions")
            self.assert_ends([*expected, "aborted", "caught"], "cpp", f"-std={standard}", "-O2")

    def test_compiled_out_they_leave_no_code_and_no_data(self):
        for language, standard in (("c", "c90"), ("c", "c17"), ("cpp", "c++17"), ("cpp", "c++20")):
            for level in ("-O0", "-O2"):
                built = self.built(language, f"-std={standard}", "-DPMTRACE_DISABLE", level, "-c")
                symbols = subprocess.run(["nm", built], check=True, capture_output=True, text=True).stdout
                self.assertIn("main", symbols)
                self.assertNotIn("trace", symbols)

    def refused(self, language, line, compiler=None, header=None):
        """Gives what the compiler says of a line in a function with a parameter."""
        usual, standard = {"c": ("trace.h", "c99"), "cpp": ("trace.hpp", "c++17")}[language]
        text = (f"#include <pcp/{header or usual}>\nvoid f(const char* local);\n"
                f"void f(const char* local) {{ (void)local; {line} }}\n")
        return subprocess.run([compiler or COMPILER[language], *OPTIONS, f"-std={standard}", "-fsyntax-only", "-x",
                               language.replace("pp", "++"), "-"],
                              input=text, capture_output=True, text=True, check=False).stderr

    def test_what_changes_from_call_to_call_is_no_tag_and_no_label(self):
        for language in COMPILER:
            self.assertEqual(self.refused(language, 'PMTRACE_SCOPE("tag");'), "")
            self.assertIn("error", self.refused(language, "PMTRACE_SCOPE(local);"))
        for line in ('PMTRACE_SCOPE("tag", {{"route", local}});', 'PMTRACE_FUNCTION({{"route", local}});'):
            self.assertIn("local", self.refused("cpp", line))

    def test_cpp_is_told_which_header_it_needs(self):
        for line in ('PMTRACE_SCOPE("tag", {{"format", "json"}});', "PMTRACE_FUNCTION();"):
            self.assertIn("needs <pcp/trace.hpp>", self.refused("cpp", line, header="trace.h"))

    def test_no_jump_leads_past_the_line_into_its_block(self):
        for line in ('if (!local) goto out; PMTRACE_SCOPE("tag"); out: return;',
                     'switch (*local) { case 0:; PMTRACE_SCOPE("tag"); break; case 1: return; }'):
            for language in COMPILER:
                self.assertRegex(self.refused(language, line), "error: .*jump")
            for compiler in filter(shutil.which, ("gcc", "clang")):
                self.assertRegex(self.refused("c", line, compiler), "error: .*jump")
