# SPDX-License-Identifier: LGPL-2.1-or-later
"""The compiler's messages for programs that use the headers wrongly, or in unusual ways."""

import os
import subprocess
import unittest


class CompileTestCase(unittest.TestCase):
    def compile(self, language, standard, lines, *options):
        """Compiles a function's lines. Gives the compiler's messages."""
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


class Version(CompileTestCase):
    def test_is_the_projects(self):
        major, minor, patch = map(int, os.environ["TRACE_VERSION"].split("."))
        lines = f"#if PMTRACE_VERSION != {major * 10_000 + minor * 100 + patch}\n#error other\n#endif"
        self.assertEqual(self.compile("c", "c90", lines), "")


class Cpp(CompileTestCase):
    def test_a_transaction_that_ends_at_once_is_warned_of(self):
        for line in ("pcp::trace::Running{pmtrace_tag(\"tag\")};",
                     "pcp::trace::Transaction{\"tag\"}.begin_from(\"header\");",
                     "pcp::trace::Attached{pcp::trace::Transaction{\"tag\"}.begin()};",
                     "pcp::trace::Transaction{\"tag\"}.begin();"):
            self.assertIn("nodiscard", self.compile("c++", "c++17", line), line)

    def test_every_number_is_a_value_without_a_warning(self):
        lines = """
            enum Size { kLarge = 3 };
            const auto record = [](auto kind, auto value) { kind.record(value), kind(value); };
            const pcp::trace::Observation observation{"tag"};
            const pcp::trace::Counter counter{"tag"};
            const auto both = [&](auto value) { record(observation, value), record(counter, value); };
            both(std::int8_t(1)), both(2u), both(std::int64_t(3)), both(std::uint64_t(4));
            both(5.0f), both(6.0), both(7.0L), both(kLarge);
            const std::atomic<int> atomic{8};
            observation(atomic), counter.record(atomic);"""
        self.assertEqual(self.compile("c++", "c++17", lines, "-Wconversion", "-Wsign-conversion",
                                      "-Wshadow", "-include", "atomic", "-include", "cstdint"), "")

    def test_a_description_is_any_text_or_none(self):
        lines = """
            const char* none = nullptr;
            const char array[] = "an array";
            std::string string = "string";
            struct Text { operator std::string_view() const { return "other"; } };
            const pcp::trace::Counter counter{"tag"};
            const auto both = [&](const auto& text) { counter.describe(text, "text"), counter.describe("unit", text); };
            both("literal"), both(none), both(nullptr), both(array), both(string), both(Text());
            both(std::string_view(string)), counter.describe(std::move(string), {}), counter.describe({}, "");"""
        for standard in ("c++17", "c++20", "c++2b"):
            for option in ("-UPMTRACE_DISABLE", "-DPMTRACE_DISABLE"):
                self.assertEqual(self.compile("c++", standard, lines, option, "-Wshadow",
                                              "-Wzero-as-null-pointer-constant", "-include", "string"), "", standard)
        for wrong in ("1", "'u'", "0.5", "&counter"):
            self.assertIn("error", self.compile("c++", "c++17", "const pcp::trace::Counter counter{\"tag\"};"
                                                f" counter.describe({wrong}, \"text\");"))

    def test_what_is_no_number_is_no_value(self):
        for value in ("\"1\"", "&observation", "std::string_view()"):
            lines = f"pcp::trace::Observation observation{{\"tag\"}}; observation.record({value});"
            self.assertIn("error", self.compile("c++", "c++17", lines), value)

    def test_an_older_language_is_told_which_it_has_to_be(self):
        said = self.compile("c++", "c++14", "")
        first = next(line for line in said.splitlines() if "error" in line)
        self.assertIn("needs C++17", first)
