# SPDX-License-Identifier: LGPL-2.1-or-later
"""The pages for readers who come from another library. Each example of ours is compiled and run, and the tools then
print what the page shows. Each example of theirs is compiled, too, if Debian 12 has the library: it has neither
OpenTelemetry for C++ nor Parfait."""

import contextlib
import os
import re
import shlex
import socket
import subprocess
import unittest

from examples import SOURCE, ExamplesTestCase, example, examples
from private_pmcd import PATIENCE_S, PrivatePmcd, completed
from pmproxy import Pmproxy
from trace_test import OUR_AGENT, OUR_LIBRARY, STOCK_LIBRARY, library_environment

DOCS = SOURCE / "libtrace/docs"
ALL_PAGES = {path.stem if path.parent == DOCS else "the README": path.read_text(encoding="utf-8")
             for path in (SOURCE / "README.md", *DOCS.glob("*.md"))}
PAGES = {name: page for name, page in ALL_PAGES.items() if name.startswith("from-")}
# They name internals, or what no longer is there.
NOT_FOR_USERS = ("changelog", "contributing", "design", "memory-order", "performance", "protocol", "trust")
OURS = ("c", "cpp", "fortran", "java", "python", "sh")
# Their headers need more than C99.
GNU_C = ("-std=gnu11", "-Wno-pedantic")
MONITOR = {"PATH": "/usr/bin:/bin"}


def printed_by(tool, *arguments):
    return completed(tool, *arguments, env=MONITOR, check=True).stdout


def facts(session):
    """Gives each line of a terminal's session below its heading, but not the numbers of instances: they follow the order
    in which the agent hears of the tags, and that is not always the same."""
    found = []
    for line in session.splitlines():
        heading = heading if line.startswith(" ") else line
        found.append((heading, re.sub(r"inst \[\d+ ", "inst [", line)))
    return sorted(found)


class OurCalls(ExamplesTestCase):
    def shown(self, session, pmcd, printed_by_example):
        """Gives what a page's session of a terminal looks like with this pmcd; empty lines are left out."""
        lines = []
        for command in re.findall(r"^\$ (.*)$", session, re.MULTILINE):
            tool, *arguments = shlex.split(command)
            printed = (printed_by_example if tool == "./app" else
                       printed_by(tool, "-h", pmcd.host(), *arguments))
            lines += [f"$ {command}", *filter(None, printed.splitlines())]
        return "".join(f"{line}\n" for line in lines)

    def theirs_that_loads_ours(self, text):
        program = self.compiled("c", text, STOCK_LIBRARY)
        loaded = completed(program, env=library_environment(OUR_LIBRARY, LD_TRACE_LOADED_OBJECTS=1), check=True).stdout
        self.assertIn(OUR_LIBRARY, loaded)
        return program

    def check(self, name):
        """Each example of ours comes before a session that shows its values."""
        with contextlib.ExitStack() as life:
            kinds = []
            for kind, text in examples(ALL_PAGES[name]):
                if kind == "console":
                    self.assertEqual(facts(self.shown(text, *after)), facts(text))
                elif kind in OURS or kind == "c unchanged":
                    life.close()
                    command = self.command_of(kind, text) if kind in OURS else [self.theirs_that_loads_ours(text)]
                    after = life.enter_context(self.pmcd_after(*command))
                else:
                    self.assertIn(" theirs", kind)
                    continue
                kinds.append(kind == "console")
            self.assertEqual(kinds, [False, True] * max(len(kinds) // 2, 1))

    def test_calls_have_partners(self):
        """Each number in the examples of another library is in ours, too."""
        for name, page in PAGES.items():
            numbers = {True: set(), False: set()}
            for kind, text in examples(page):
                for found in re.findall(r"(?://|/\*|#) (\d+(?:, \d+)*)\b", text):
                    numbers[kind not in OURS] |= set(found.split(", "))
            self.assertTrue(numbers[True], name)
            self.assertEqual(numbers[True], numbers[False], name)

    def test_prometheus_gets_them_from_pmproxy(self):
        ours = self.command_of("cpp", example("cpp", PAGES["from-prometheus-cpp"]))
        with self.pmcd_after(*ours) as (pmcd, _), Pmproxy(pmcd) as proxy:
            (query,) = re.findall(r"/metrics\?names=([\w.]+)", PAGES["from-prometheus-cpp"])
            self.assertRegex(proxy.get("metrics", names=query), r'\ntrace_counter_total\{.*route="/cart".*\} 4097')

    def test_all_pages_are_here_and_in_the_index(self):
        linked = re.findall(r"\((from-[\w-]+)\.md\)", ALL_PAGES["README"])
        tested = [name[5:].replace("_", "-") for name in dir(self) if name.startswith("test_from_")]
        self.assertEqual((sorted(linked), tested), (sorted(PAGES), sorted(PAGES)))

    def test_names_are_right(self):
        sources = (SOURCE / "libtrace/include/pcp/trace.h", SOURCE / "fortran/pcp_trace.f90.in", SOURCE / "CMakeLists.txt",
                   *SOURCE.glob("*/man/*.[138]*"))
        known = set(re.findall(r"\w+", "".join(path.read_text(encoding="utf-8") for path in sources)))
        with PrivatePmcd(agent=OUR_AGENT.path, namespace=OUR_AGENT.namespace) as pmcd:
            for metric in printed_by("pminfo", "-h", pmcd.host(), "trace", "tracing").split():
                known |= {metric, metric.rpartition(".")[0]}
        # In Python's examples "trace" is the package.
        stub = (SOURCE / "libtrace/python/pcp_trace/__init__.pyi").read_text(encoding="utf-8")
        known |= {f"trace.{call}" for call in re.findall(r"^def (\w+)", stub, re.MULTILINE)}
        rows = (SOURCE / "pmda/command/otlp/metric_rows.hpp").read_text(encoding="utf-8")
        known |= set(re.findall(r'"(trace\.\w+\.\w+)"', rows))
        # The views add rules of pmieconf and derived metrics.
        known |= set(re.findall(r"\btrace\.\w+(?:\.\w+)?", "".join(
            path.read_text(encoding="utf-8") for path in (SOURCE / "pmda/views").rglob("*") if path.is_file())))
        for name in ALL_PAGES.keys() - NOT_FOR_USERS:
            page = ALL_PAGES[name]
            named = re.findall(r"(?<![\w./-])(?:pmtrace_?[a-z]\w*|(?:PMTRACE|PCP_TRACE)_[A-Z]\w+"
                               r"|trac(?:e|ing)\.(?!(?:h|hpp|html|log|proto|socket)\b)[a-z]+(?:\.\w+)?)", page)
            with self.subTest(name):
                self.assertEqual(set(named) - known, set())


for each in ("from-opentelemetry", "from-prometheus-client", "from-prometheus-cpp", "from-statsd", "from-mmv",
             "from-lttng", "from-libpcp-trace", "labels", "event-loops", "captures"):
    needs_java = each in ("from-mmv", "event-loops")
    can_run = unittest.skipUnless("TRACE_JAVA" in os.environ or not needs_java, "this machine has no JDK")
    setattr(OurCalls, f"test_{each.replace('-', '_')}", can_run(lambda self, name=each: self.check(name)))


class TheirCalls(ExamplesTestCase):
    def test_prometheus_cpp(self):
        self.compiled("cpp", example("cpp theirs", PAGES["from-prometheus-cpp"]),
                      "-lprometheus-cpp-pull", "-lprometheus-cpp-core")

    def test_prometheus_client(self):
        text = example("python theirs", PAGES["from-prometheus-client"])
        subprocess.run(["/usr/bin/python3", self.write("theirs.py", text)], check=True, timeout=PATIENCE_S, env=MONITOR)

    def test_mmv(self):
        self.compiled("c", example("c theirs", PAGES["from-mmv"]), *GNU_C, "-lpcp_mmv", "-lpcp")

    def test_lttng(self):
        page = PAGES["from-lttng"]
        self.write("shop-tp.h", example("c theirs shop-tp.h", page))
        self.compiled("c", example("c theirs", page), f"-I{self.directory}", *GNU_C, "-llttng-ust", "-ldl")

    def test_statsd(self):
        """The client sends what the comments say."""
        text = example("python theirs", PAGES["from-statsd"])
        expected = re.findall(r"# \d+ +(\S+)$", text, re.MULTILINE)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
            server.bind(("127.0.0.1", 0))
            server.settimeout(PATIENCE_S)
            # Debian's Python, for which Debian has the client.
            subprocess.run(["/usr/bin/python3", self.write("theirs.py", text)], check=True, timeout=PATIENCE_S,
                           env=MONITOR | {"STATSD_HOST": "127.0.0.1", "STATSD_PORT": str(server.getsockname()[1])})
            received = [server.recv(512).decode() for _ in expected]
        self.assertEqual(len(expected), 10)
        self.assertEqual(*([re.sub(r"[\d.]+\|ms", "TIME|ms", line) for line in lines] for lines in (received, expected)))
