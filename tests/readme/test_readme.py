# SPDX-License-Identifier: LGPL-2.1-or-later
"""The examples of the README and of getting-started.md work as they stand there: they compile without a warning, run,
and are seen in the metrics. The variables and packages that pages list are those of the sources."""

import os
import re
import shlex
import subprocess
import unittest

from examples import METRICS, SOURCE, WARNINGS, ExamplesTestCase, example
from private_pmcd import PrivatePmcd, completed
from trace_test import OUR_AGENT, OUR_LIBRARY, OUR_PMTRACE, library_environment
from views_page import shape

README = (SOURCE / "README.md").read_text(encoding="utf-8")
MOST_LINES = 150  # of the README: a minute's reading


def page(name):
    return (SOURCE / "libtrace/docs" / name).read_text(encoding="utf-8")


class Readme(ExamplesTestCase):
    def run_example(self, language):
        """Runs the example in this language, which must print nothing. Gives the counts of its tags."""
        printed, counts = self.counts_of(*self.command_of(language, example(language, page("getting-started.md"))))
        self.assertEqual(printed, "")
        return counts

    def assert_counts(self, counts, **expected):
        """Checks all metrics of an example, which has nothing in the others."""
        of_metrics = {name.replace("_", "."): values for name, values in expected.items()}
        self.assertEqual(counts, dict.fromkeys(METRICS, {}) | of_metrics)

    def assert_serves(self, language):
        """The examples trace the same small server."""
        self.assert_counts(self.run_example(language), transact_count={"request": 1, "answer": 1},
                           transact_aborts={"request": 1, "answer": 0}, point_count={"overload": 1},
                           observe_value={"queue-length": 170}, counter_total={"bytes-sent": 4096})

    def test_the_examples(self):
        for language in ("c", "cpp", "sh"):
            with self.subTest(language):
                self.assert_serves(language)

    @unittest.skipUnless("TRACE_FC" in os.environ, "this machine has no Fortran compiler")
    def test_the_fortran_example(self):
        self.assert_serves("fortran")

    @unittest.skipUnless("TRACE_JAVA" in os.environ, "this machine has no JDK")
    def test_the_java_example(self):
        self.assert_serves("java")

    @unittest.skipUnless("TRACE_PYTHON_PACKAGE" in os.environ, "this machine has no headers of Python")
    def test_the_python_example(self):
        self.assert_serves("python")

    def test_labels_are_looked_at_as_shown(self):
        (section,) = re.findall(r"^## Look at labels\n(.*?)^Our", page("labels.md"), re.MULTILINE | re.DOTALL)
        with PrivatePmcd(agent=OUR_AGENT.path, namespace=OUR_AGENT.namespace) as pmcd:
            for route, status in (("cart", 200), ("cart", 500), ("login", 200)):
                subprocess.run([OUR_PMTRACE, "-q", "-a1", f"-Lroute=/{route}", f"-Lstatus={status}",
                                "requests"], env=pmcd.environment(OUR_LIBRARY), check=True)
            shown = []
            for tool, *arguments in (shlex.split(line, comments=True) for line in section.splitlines() if line):
                samples = [] if tool == "pminfo" else ["-s", "2", "-t", "0.1"]
                done = completed(tool, "-h", pmcd.host(), *samples, *arguments, check=True,
                                 env={"PATH": "/usr/bin:/bin"}, timeout=60)
                self.assertEqual(done.stderr, "", tool)
                shown.append((tool, set(re.findall(r"requests\{.*?\}", done.stdout))))
        cart = {"requests{route=/cart;status=200}", "requests{route=/cart;status=500}"}
        self.assertEqual(shown, [("pminfo", cart | {"requests{route=/login;status=200}"}),
                                 ("pmrep", cart), ("pmval", {"requests{route=/cart;status=200}"})])

    def test_the_table_of_variables_is_complete(self):
        listed = set(re.findall(r"^\| (PCP_TRACE_\w+)", page("environment.md"), re.MULTILINE))
        read = set(re.findall(r'"(PCP_TRACE_\w+)"',
                              (SOURCE / "libtrace/src/link/client_options.cpp").read_text(encoding="utf-8")))
        self.assertEqual(listed, read)

    def test_the_packages_to_build_with_are_those_of_run(self):
        named = re.sub(r" \(in sid [^)]+\)", "", re.search(r"with these packages:\s([^:]+):", page("installing.md"))[1])
        run = (SOURCE / "run").read_text(encoding="utf-8")
        (of_run,) = re.findall(r"^readonly build_packages=\((.*?)\)", run, re.MULTILINE | re.DOTALL)
        (libpcp_dev,) = re.findall(r"bookworm\) libpcp_dev=(\S+)", run)
        self.assertEqual(re.split(r",\s+", named), of_run.replace('"$libpcp_dev"', libpcp_dev).split())

    def test_a_minute_is_enough(self):
        self.assertLessEqual(len(README.splitlines()), MOST_LINES)

    def test_sixty_seconds(self):
        """The commands of the README's first session print what it shows, up to numbers."""
        session = example("console", README)
        build, record = re.findall(r"^\$ (.*)$", session, re.MULTILINE)
        self.write("shop.cpp", example("cpp", README))
        tools = {"c++": [*os.environ["TRACE_CXX"].split(), *WARNINGS], "pcp-trace": [os.environ["TRACE_COMMAND"]]}
        package = "$(pkg-config --cflags --libs libpcp_trace_static)"
        flags = f"-I{SOURCE}/libtrace/include {os.path.dirname(OUR_LIBRARY)}/libpcp_trace.a"
        build = build.replace(package, flags)
        for command in (build, record):
            first, *words = shlex.split(command)
            done = completed(*tools[first], *words, check=True, cwd=self.directory, timeout=60,
                             env=library_environment(OUR_LIBRARY))
            self.assertEqual(done.stdout, "")
        of_any_host = [re.sub(r"  on \S+$", "  on HOST", text, flags=re.MULTILINE) for text in (done.stderr, session)]
        expected = shape(of_any_host[1])
        self.assertEqual(shape(f"$ {build}\n$ {record}\n{of_any_host[0]}".replace(flags, package)),
                         expected)
