# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shared by the tests of the Java binding. CMake gives the paths in TRACE_JAVA (the command),
TRACE_JAR, TRACE_JAVA_LIBRARY (the native one), TRACE_JAVA_PROGRAMS and TRACE_JAVA_DEMOS
(directories of classes)."""

import glob
import os
import pathlib
import re
import tempfile

from private_pmcd import PATIENCE_S, completed
from trace_test import TraceTestCase

JAR = os.environ["TRACE_JAR"]
LIBRARY = os.environ["TRACE_JAVA_LIBRARY"]
PROGRAMS = os.environ["TRACE_JAVA_PROGRAMS"]
DEMOS = os.environ["TRACE_JAVA_DEMOS"]
# A small JVM, since many tests run at once. From Java 24 on it warns of native libraries that are not allowed.
SMALL = ["-XX:+UseSerialGC", "-Xmx256m", "--enable-native-access=ALL-UNNAMED"]
JAVA = [os.environ["TRACE_JAVA"], *SMALL]


def java_since(version):
    """Gives the command of an installed Java that is not older, or None."""
    for command in sorted(glob.glob("/usr/lib/jvm/*/bin/java")):
        number = re.search(r'version "(\d+)', completed(command, "-version").stderr)
        if number and int(number[1]) >= version:
            return command
    return None


NEWER_JAVA = java_since(21)


def java(*arguments, classes=PROGRAMS, jar=JAR, options=(), command=JAVA[0]):
    """Gives the command that runs a class with the jar."""
    return [command, *SMALL, *options, "-classpath", f"{jar}:{classes}", *arguments]


class JavaTestCase(TraceTestCase):
    def run_java(self, environment, *arguments, **how):
        """Runs a class to its end. Gives what it printed."""
        done = completed(*java(*arguments, **how), env=environment, timeout=4 * PATIENCE_S)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout


class LibraryTestCase(JavaTestCase):
    """Programs that find no agent and no native library, and may unpack one into a folder of the test."""

    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.unpacked = self.directory / "unpacked"
        self.unpacked.mkdir()
        # Without UsePerfData the JVM itself needs no file.
        self.options = ["-Djava.library.path=/nowhere", f"-Djava.io.tmpdir={self.unpacked}", "-XX:-UsePerfData"]
        # If the library is loaded by mistake, its calls do not wait long.
        self.traced = dict(os.environ, PCP_TRACE_SOCKET="/dev/null", PCP_TRACE_TIMEOUT="1")
        for name in ("LD_LIBRARY_PATH", "PCP_TRACE_NOAGENT"):
            self.traced.pop(name, None)
