# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the compiler says of programs that use the headers wrongly, or in their own way."""

import os
import subprocess
import unittest


class CompileTestCase(unittest.TestCase):
    def compile(self, language, standard, lines, *options):
        """Compiles a function's lines. Gives what the compiler says of them."""
        compiler, header = {"c": (os.environ["TRACE_CC"], "trace.h"),
                            "c++": (os.environ["TRACE_CXX"], "trace.hpp")}[language]
        text = f"#include <pcp/{header}>\nint f(void);\nint f(void) {{\n{lines}\nreturn 0;\n}}\n"
        return subprocess.run(
            [compiler, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", *options, "-I",
             os.environ["TRACE_INCLUDE"], "-fsyntax-only", "-x", language, "-"],
            input=text, capture_output=True, text=True, timeout=120, check=False).stderr


class Disabled(CompileTestCase):
    def test_calls_are_checked_as_ever(self):
        for call in ("pmtracepoint(1.5);", "pmtraceobs(\"tag\");", "pmtrace_end(\"tag\");",
                     "int pointer = pmtrace_tag(\"tag\"); return pointer;"):
            for language, standard in (("c", "c90"), ("c", "c11"), ("c++", "c++17")):
                for option in ("-UPMTRACE_DISABLE", "-DPMTRACE_DISABLE"):
                    with self.subTest(call, standard=standard, option=option):
                        self.assertRegex(self.compile(language, standard, call, option),
                                         "(error|warning): ")

    def test_an_argument_is_used(self):
        lines = "const char* tag = \"tag\"; double value = 1; pmtraceobs(tag, value);"
        for option in ("-UPMTRACE_DISABLE", "-DPMTRACE_DISABLE"):
            self.assertEqual(self.compile("c", "c90", lines, option), "")


if __name__ == "__main__":
    unittest.main()
