# SPDX-License-Identifier: LGPL-2.1-or-later
"""The jar finds its native library, first the system's, else its own; if none works it says why."""

import os
import pathlib
import re
import shutil
import zipfile

from private_pmcd import completed
from java_test import JAR, LIBRARY, LibraryTestCase, PROGRAMS, java

LOADERS = 20
LIBRARY_NAME = os.path.basename(LIBRARY)


class Loading(LibraryTestCase):
    def where_from(self, **how):
        """Runs a program. Gives the paths of the library in its memory, also if the file is deleted."""
        printed = self.run_java(self.traced, "WhereFrom", options=self.options, **how)
        self.assertEqual(list(self.unpacked.iterdir()), [])
        return {line.split(maxsplit=5)[5] for line in printed.splitlines()}

    def complaint(self, **how):
        """Runs a program that requires the library and must fail, once; gives its messages."""
        options = [*self.options, "-Dio.pcp.trace.required=true"]
        done = completed(*java("WhereFrom", options=options, **how), env=self.traced, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("java.lang.UnsatisfiedLinkError: io.pcp.trace finds no native library",
                      done.stderr)
        return done.stderr

    def set_library_path(self, directory):
        self.options.append(f"-Djava.library.path={directory}")

    def assert_unpacked(self, paths):
        (path,) = paths
        self.assertRegex(path, re.escape(f"{self.unpacked}/pcp-trace-") + r"\d+\.so \(deleted\)$")

    def jar_without_library(self):
        stripped = self.directory / "stripped.jar"
        with zipfile.ZipFile(JAR) as whole, zipfile.ZipFile(stripped, "w") as part:
            for name in whole.namelist():
                if not name.endswith(".so"):
                    part.writestr(name, whole.read(name))
        return stripped

    def test_takes_the_systems(self):
        self.set_library_path(os.path.dirname(LIBRARY))
        self.assertEqual(self.where_from(), {LIBRARY})
        self.options = [f"-Djava.io.tmpdir={self.unpacked}"]  # and the JVM's own path of libraries
        self.traced["LD_LIBRARY_PATH"] = os.path.dirname(LIBRARY)
        self.assertEqual(self.where_from(), {LIBRARY})

    def test_takes_its_own_if_the_system_has_none(self):
        self.assert_unpacked(self.where_from())

    def test_takes_its_own_if_the_systems_does_not_work(self):
        broken = self.directory / "broken"
        broken.mkdir()
        library = bytearray(pathlib.Path(LIBRARY).read_bytes())
        library[18] ^= 1  # for another processor
        (broken / LIBRARY_NAME).write_bytes(library)
        self.set_library_path(broken)
        self.assert_unpacked(self.where_from())

    def test_its_own_needs_nothing_but_libc(self):
        with zipfile.ZipFile(JAR) as jar:
            (name,) = (name for name in jar.namelist() if name.endswith(".so"))
            packed = jar.extract(name, self.directory)
        listed = completed("readelf", "--dynamic", "--wide", packed, check=True).stdout
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", listed))
        self.assertLessEqual({name.split(".")[0] for name in needed}, {"libc", "ld-linux-x86-64",
                                                                       "ld-linux-aarch64"})

    def test_is_a_module_and_works_as_one(self):
        self.options += ["--module-path", JAR, "--add-modules", "io.pcp.trace",
                         "--enable-native-access=io.pcp.trace"]
        self.assert_unpacked(self.where_from(jar=""))
        described = completed(os.environ["TRACE_JAVA"], "--module-path", JAR, "--describe-module", "io.pcp.trace",
                              check=True).stdout
        self.assertEqual(re.findall(r"^exports (\S+)$", described, re.MULTILINE),
                         ["io.pcp.trace", "sgi.pcp"])

    def test_says_that_there_is_none(self):
        text = self.complaint(jar=self.jar_without_library())
        self.assertIn(f"{LIBRARY_NAME} on java.library.path: no ", text)
        self.assertIn(".so in the jar: the jar has none for this machine\n", text)
        self.assertIn("-Djava.library.path", text)
        self.assertNotIn("java.io.tmpdir", text)  # no directory would help

    def test_says_that_it_cannot_unpack(self):
        self.unpacked.rmdir()
        text = self.complaint()
        self.assertIn("-Djava.io.tmpdir", text)
        self.assertIn(f"({self.unpacked}): java.nio.file.NoSuchFileException", text)

    def run_many_loaders(self, environment):
        """As in an application server: the JVM loads a file for one class loader only. Gives the
        paths of the library in the process's memory, and the number of the library's threads."""
        shutil.copytree(PROGRAMS, self.directory / "classes")
        shutil.copy(JAR, self.directory / "pcp-trace.jar")
        paths = [f"{self.directory}/pcp-trace.jar", f"{self.directory}/classes/"]
        printed = self.run_java(environment, "ManyLoaders", str(LOADERS), *paths, jar="",
                                options=self.options)
        *mapped, threads = printed.splitlines()
        return {line.split(maxsplit=5)[5] for line in mapped}, threads

    def test_all_class_loaders_share_the_systems(self):
        self.set_library_path(os.path.dirname(LIBRARY))
        self.assertEqual(self.run_many_loaders(self.traced), ({LIBRARY}, "threads 1"))

    def test_all_class_loaders_share_what_one_has_unpacked(self):
        pmcd = self.start_pmcd()
        loaded, threads = self.run_many_loaders(self.environment(pmcd))
        self.assert_unpacked(loaded)
        self.assertEqual(threads, "threads 1")
        self.assert_values(pmcd, "trace.point.count", {"somewhere": 2 * LOADERS})
        self.assertEqual(pmcd.value("trace.agent.accepted"), 1)
