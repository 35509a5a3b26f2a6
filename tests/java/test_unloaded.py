# SPDX-License-Identifier: LGPL-2.1-or-later
"""If the native library cannot be loaded, or is not wanted, a program runs on: its calls do nothing."""

import pathlib
import unittest
import zipfile

from own_namespaces import needs
from private_pmcd import completed
from java_test import DEMOS, JAR, PROGRAMS, LibraryTestCase, java, java_since

QUIET = """\
started 0
null null
false
null null
0 0 0 0 0 0 0 -12000 -12000
No error.
refused refused refused refused refused refused 86
[NOAGENT] [NOAGENT, SYNC]
false
Stats[recorded=0, acknowledged=0, pending=0, uncertain=0, merged=0, thinned=0, undeliverable=0, \
aborted=0, batches=0, reconnects=0, connected=false, version=0, labelsCut=0, labelsOver=0, unlisted=0]
"""

# In name spaces of its own a process may mount without privileges, if the machine allows them.
UNSHARE = ["unshare", "--user", "--map-root-user", "--mount"]


class UnloadedTestCase(LibraryTestCase):
    def run_every_call(self, *options, within=()):
        return completed(*within, *java("EveryCall", options=[*self.options, *options]), env=self.traced, timeout=60)

    def assert_runs_on(self, why, *options, within=()):
        done = self.run_every_call(*options, within=within)
        self.assertEqual((done.returncode, done.stdout), (0, QUIET), done.stderr)
        self.assertEqual(done.stderr.count("io.pcp.trace finds no native library that works"), 1,
                         done.stderr)
        self.assertIn(why, done.stderr)
        self.assertNotIn("Exception in thread", done.stderr)
        self.assertEqual(list(self.unpacked.iterdir()), [])


class Unloaded(UnloadedTestCase):
    def test_whatever_the_reason_is(self):
        for why, options, within in (
                ("NoSuchFileException", [f"-Djava.io.tmpdir={self.unpacked}/missing"], ()),
                ("FileSystemException", ["-Djava.io.tmpdir=/proc/self/status"], ()),
                ("File too large", [], ["prlimit", "--fsize=4096"]),
                ("the jar has none for this machine", ["-Dos.arch=pdp11"], ())):
            with self.subTest(why):
                self.assert_runs_on(why, *options, within=within)

    @needs(*UNSHARE)
    def test_a_file_system_that_cannot_be_used(self):
        for mounted, why in (("noexec", "failed to map segment"),
                             ("ro", "Read-only file system"),
                             ("size=64k", "No space left on device")):
            with self.subTest(mounted):
                mount = f'mount -t tmpfs -o {mounted} none "$0" && exec "$@"'
                self.assert_runs_on(why, within=[*UNSHARE, "sh", "-c", mount, str(self.unpacked)])

    def test_a_program_that_cannot_do_without_asks_for_the_exception(self):
        done = self.run_every_call("-Dos.arch=pdp11", "-Dio.pcp.trace.required=true")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("java.lang.UnsatisfiedLinkError: io.pcp.trace finds no native library",
                      done.stderr)


DENYING_JAVA = java_since(24)


@unittest.skipUnless(DENYING_JAVA, "this machine has no Java that can deny native code")
class Denied(UnloadedTestCase):
    def run_denied(self, *options, program=("-classpath", f"{JAR}:{PROGRAMS}", "EveryCall")):
        return completed(DENYING_JAVA, "-Xmx256m", *self.options, "--illegal-native-access=deny", *options, *program,
                         env=self.traced, timeout=60)

    def test_says_what_to_type(self):
        done = self.run_denied()
        self.assertEqual((done.returncode, done.stdout), (0, QUIET), done.stderr)
        self.assertEqual(done.stderr.count("\nStart java with --enable-native-access=ALL-UNNAMED\n"), 1, done.stderr)
        self.assertIn("may not load its native library", self.run_denied("-Dio.pcp.trace.required=true").stderr)

    def test_a_manifest_allows_it(self):
        jar = self.directory / "application.jar"
        with zipfile.ZipFile(jar, "w") as archive:
            archive.writestr("META-INF/MANIFEST.MF", f"""\
Main-Class: WhereFrom
Class-Path: {pathlib.Path(JAR).as_uri()} {pathlib.Path(PROGRAMS).as_uri()}/
Enable-Native-Access: ALL-UNNAMED
""")
        done = self.run_denied(program=("-jar", jar))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("pcp-trace-", done.stdout)  # the library is in its memory


class NoAgent(UnloadedTestCase):
    def test_the_variable_keeps_the_library_out(self):
        for value in ("1", ""):
            with self.subTest(value):
                self.traced["PCP_TRACE_NOAGENT"] = value
                done = self.run_every_call("-Djava.io.tmpdir=/proc/self", "-Dio.pcp.trace.required=true")
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, QUIET, ""))

    def test_even_where_it_could_be_loaded(self):
        self.traced["PCP_TRACE_NOAGENT"] = "1"
        self.assertEqual(self.run_java(self.traced, "WhereFrom", options=self.options), "")

    def test_but_not_where_files_of_mmv_are_asked_for(self):
        self.assert_shown_by_pmdammv("transact.count", "deliver", *java("RequestLoop", "1000", classes=DEMOS))
