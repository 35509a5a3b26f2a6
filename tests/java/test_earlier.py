# SPDX-License-Identifier: LGPL-2.1-or-later
"""Java times a transaction that began earlier from then, also on virtual threads. Maven finds the jar's coordinates and sources."""

import os
import re
import unittest
import xml.etree.ElementTree
import zipfile

from java_test import JAR, JAVA, NEWER_JAVA, java
from private_pmcd import PATIENCE_S, completed
from trace_test import OUR_LIBRARY, library_environment

ENDED = ["alone", "inside", "under", "whole", "orphan"]


class Earlier(unittest.TestCase):
    def check(self, *command, passes):
        environment = library_environment(OUR_LIBRARY, PCP_TRACE_SOCKET="/nowhere", PCP_TRACE_DEBUG="api")
        done = completed(*command, env=environment, timeout=4 * PATIENCE_S, check=True)
        self.assertEqual(done.stdout.split(), ["IllegalArgumentException"] * 3 + ["true"] * 3 + ["IllegalStateException"]
                         + ["true"] * 3 * (passes - 1))
        ended = re.findall(r'transaction "(.*)", seconds ([\d.e-]+)', done.stderr)
        self.assertEqual([tag for tag, _ in ended], ENDED * passes)
        for tag, seconds in ended:
            self.assertTrue(2 <= float(seconds) < 62 + PATIENCE_S, (tag, seconds))
        for line in ('increment "sum", value 2.5', 'abort "other"'):
            self.assertIn(line, done.stderr)

    def test_is_timed_from_then(self):
        self.check(*java("Earlier", command=JAVA[0]), passes=1)

    @unittest.skipIf(NEWER_JAVA is None, "this machine has no Java 21 or later")
    def test_is_timed_from_then_on_a_virtual_thread(self):
        self.check(*java("Earlier", "virtual", command=NEWER_JAVA), passes=2)


class Maven(unittest.TestCase):
    def test_finds_the_coordinates_and_every_source(self):
        directory = os.path.dirname(JAR)
        project = xml.etree.ElementTree.parse(os.path.join(directory, "pcp-trace.pom")).getroot()
        self.assertEqual([project.findtext("{*}" + name) for name in ("groupId", "artifactId", "version")],
                         ["io.pcp", "pcp-trace", os.environ["TRACE_VERSION"]])
        with zipfile.ZipFile(JAR) as jar, zipfile.ZipFile(os.path.join(directory, "pcp-trace-sources.jar")) as sources:
            compiled = {name.removesuffix(".class") for name in jar.namelist() if re.fullmatch(r"[^$]*\.class", name)}
            written = {name.removesuffix(".java") for name in sources.namelist() if re.search(r"(?<!package-info)\.java$", name)}
        self.assertEqual(written, compiled)
