# SPDX-License-Identifier: LGPL-2.1-or-later
"""The installed package as its users see it: outside projects, built and run against it."""

import os
import re
import unittest

import installed
from installed import CMAKE, find, flags, run
from trace_test import OUR_LIBRARY, TraceTestCase, library_environment

HERE = os.path.dirname(os.path.abspath(__file__))
CC = os.environ["TRACE_CC"]
CXX = os.environ["TRACE_CXX"]
SOURCE = os.environ["TRACE_SOURCE"]
VERSION = os.environ["TRACE_VERSION"]


setUpModule = installed.set_up


def directory_of(name):
    return os.path.dirname(find(name))


class PackageTestCase(TraceTestCase):
    """Programs find the library by themselves: no LD_LIBRARY_PATH."""

    library = None

    def assert_traces(self, *program, points):
        pmcd = self.start_pmcd()
        self.assertIn("traced", run(*program, env=self.environment(pmcd)))
        self.assertEqual(pmcd.values("trace.point.count"), {"package": points})
        return pmcd


class PkgConfig(PackageTestCase):
    def build(self, *arguments, source=os.path.join(HERE, "traced.c")):
        program = os.path.join(installed.work, self.id())
        run(CC, "-Wall", "-Wextra", "-Werror", "-o", program, source,
            *flags("libpcp_trace", "--cflags"), *arguments)
        return program

    def test_shared(self):
        program = self.build(*flags("libpcp_trace", "--libs"))
        self.assertRegex(run("ldd", program),
                         rf"libpcp_trace\.so\.2 => {re.escape(installed.prefix)}/")
        self.assert_traces(program, points=2)

    def assert_survives_what_the_library_throws_at_its_end(self, *arguments):
        program = self.build(*arguments, source=os.path.join(HERE, "../integration/static_end.c"))
        environment = library_environment(OUR_LIBRARY, PCP_TRACE_SOCKET="/nowhere", PCP_TRACE_LINGER=1)
        self.assertEqual(run(program, "throws", env=environment), "buffered")

    def test_static_library_in_each_sort_of_program(self):
        for sort, *package in (("-static", "libpcp_trace", "--static"), ("-no-pie", "libpcp_trace_static"),
                               ("-static", "libpcp_trace_static"), ("-static-pie", "libpcp_trace_static")):
            with self.subTest(sort):
                arguments = [sort, *flags(*package, "--libs")]
                program = self.build(*arguments)
                self.assertNotIn("libpcp_trace", run("readelf", "--dynamic", program))
                self.assert_traces(program, points=2)
                self.assert_survives_what_the_library_throws_at_its_end(*arguments)

    def test_first_demo(self):
        program = self.build(*flags("libpcp_trace", "--libs"), source=find("first_point.c"))
        pmcd = self.start_pmcd()
        run(program, env=self.environment(pmcd))
        self.assertEqual(pmcd.values("trace.point.count"), {"first-point": 1})

    def test_version_is_the_projects(self):
        self.assertEqual(flags("libpcp_trace", "--modversion"), [VERSION])


def build_project(name, *options):
    """Builds an outside project of this folder. Gives its build directory."""
    build = os.path.join(installed.work, name)
    run(CMAKE, "-S", os.path.join(HERE, name), "-B", build, "-G", "Ninja", f"-DCMAKE_C_COMPILER={CC}",
        f"-DCMAKE_CXX_COMPILER={CXX}", *options)
    run(CMAKE, "--build", build)
    return build


class CMakePackage(PackageTestCase):
    @classmethod
    def setUpClass(cls):
        cls.build = build_project("consumer", f"-DCMAKE_PREFIX_PATH={installed.prefix}")

    def built(self, name):
        return os.path.join(self.build, name)

    def test_shared_and_static_from_c(self):
        self.assertNotIn("libpcp_trace", run("ldd", self.built("static_c")))
        for name in ("shared_c", "static_c"):
            self.assert_traces(self.built(name), points=2)

    def test_an_installed_project_loads_our_libraries_and_not_pcps(self):
        prefix = os.path.join(installed.work, "consumer-prefix")
        run(CMAKE, "--install", self.build, "--prefix", prefix)
        for name, directory in (("shared_c", ""), ("stub_c", "stub/")):
            library = os.path.join(directory_of("libpcp_trace.a"), f"{directory}libpcp_trace.so.2")
            self.assertIn(f"libpcp_trace.so.2 => {library} ", run("ldd", f"{prefix}/bin/{name}"))
        self.assert_traces(f"{prefix}/bin/shared_c", points=2)

    def test_cpp_17_and_20(self):
        for name in ("cpp17", "cpp20"):
            pmcd = self.assert_traces(self.built(name), points=1)
            for metric, value in (("transact.count", 1), ("transact.aborts", 1),
                                  ("observe.value", 3.5), ("counter.value", 42)):
                self.assertEqual(pmcd.values(f"trace.{metric}"), {"package": value}, metric)

    def test_plugin_with_the_static_library(self):
        self.assert_traces(self.built("plugin_host"), self.built("libplugin.so"), "3", points=6)

    def test_stub_traces_nothing(self):
        pmcd = self.start_pmcd()
        quiet = self.environment(pmcd, LD_LIBRARY_PATH=directory_of("libpcp_trace.a") + "/stub")
        for name, environment in (("stub_c", self.environment(pmcd)), ("shared_c", quiet)):
            self.assertIn("traced", run(self.built(name), env=environment))
        self.assertEqual(pmcd.values("trace.point.count"), {})
        self.assertEqual(pmcd.value("trace.agent.accepted"), 0)


class Embedded(PackageTestCase):
    """A project that embeds this one, by FetchContent."""

    @classmethod
    def setUpClass(cls):
        cls.build = build_project("embedding", f"-DPCP_TRACE_SOURCE={SOURCE}", "-DCMAKE_UNITY_BUILD=ON")

    def test_each_library(self):
        for name in ("shared_c", "static_c"):
            self.assert_traces(os.path.join(self.build, name), points=2)
        pmcd = self.start_pmcd()
        run(os.path.join(self.build, "stub_c"), env=self.environment(pmcd))
        self.assertEqual(pmcd.values("trace.point.count"), {})

    def test_builds_nothing_but_the_libraries(self):
        built = {name for _, _, names in os.walk(self.build) for name in names}
        self.assertLessEqual({"libpcp_trace.so.2", "libpcp_trace.a"}, built)
        self.assertEqual(built & {"pmtrace", "pmdatrace", "first_point", "pcp-trace.jar",
                                  "libpcp_trace_fortran.a"}, set())

    def test_installs_nothing_of_ours(self):
        prefix = os.path.join(installed.work, "embedding-prefix")
        run(CMAKE, "--install", self.build, "--prefix", prefix)
        files = [name for _, _, names in os.walk(prefix) for name in names]
        self.assertEqual(files, ["static_c"])


class InstallPreset(unittest.TestCase):
    def test_needs_none_of_the_tests_packages(self):
        missing = ("GTest", "Protobuf", "benchmark", "Java", "JNI")
        run(CMAKE, "--preset", "install", "-B", os.path.join(installed.work, "install"),
            *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in missing), cwd=SOURCE)


class Header(unittest.TestCase):
    def test_disabled_calls_need_no_library(self):
        program = os.path.join(installed.work, "disabled")
        run(CC, "-Wall", "-Wextra", "-Werror", "-I", os.path.join(installed.prefix, "include/pcp-trace"), "-o", program,
            os.path.join(HERE, "../c_api/disabled.c"))
        run(program)


class InstalledTree(PackageTestCase):
    def test_pmtrace_finds_its_library(self):
        pmcd = self.start_pmcd()
        self.assertEqual(run(find("pmtrace"), "package", env=self.environment(pmcd)),
                         'pmtrace: point complete (tag="package")\n')
        self.assertEqual(pmcd.values("trace.point.count"), {"package": 1})

    def test_linker_and_compiler_do_not_find_the_library_unasked(self):
        # ldconfig searches a prefix's directories lib and lib/<triplet>, and compilers search include.
        library = os.path.relpath(directory_of("libpcp_trace.so.2"), installed.prefix)
        self.assertEqual(os.path.basename(library), "pcp-trace")
        self.assertEqual(os.path.relpath(directory_of("trace.h"), installed.prefix),
                         "include/pcp-trace/pcp")

    def test_every_call_has_a_manual_page(self):
        with open(find("trace.h"), encoding="utf-8") as file:
            calls = re.findall(r"^extern .*?(pmtrace\w+)\(", file.read(), flags=re.MULTILINE)
        self.assertEqual(len(calls), 42)
        for page in ("pmtrace", *calls):
            text = run("man", "-M", os.path.join(installed.prefix, "share/man"), "3", page,
                       env=dict(os.environ, MANPAGER="cat", MANWIDTH="100"))
            self.assertIn(page, text)
