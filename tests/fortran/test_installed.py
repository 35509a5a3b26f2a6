# SPDX-License-Identifier: LGPL-2.1-or-later
"""The installed package for a Fortran user: the demos, built outside the tree."""

import os

import installed
from installed import CMAKE, find, flags, run
from trace_test import TraceTestCase

HERE = os.path.dirname(os.path.abspath(__file__))
FC = os.environ["TRACE_FC"]


setUpModule = installed.set_up


class Installed(TraceTestCase):
    """Programs find the library without LD_LIBRARY_PATH."""

    library = None

    def assert_traces(self, demo, tag):
        pmcd = self.start_pmcd()
        run(demo, "0.1", env=self.environment(pmcd))
        self.assertIn(tag, pmcd.values("trace.transact.count"))

    def assert_traces_nothing(self, demo):
        self.assertNotIn("libpcp_trace", run("readelf", "--dynamic", demo))
        pmcd = self.start_pmcd()
        self.assertIn("steps", run(demo, "0.1", env=self.environment(pmcd)))
        self.assertEqual(pmcd.value("trace.agent.accepted"), 0)

    def build(self, *arguments):
        demo = os.path.join(installed.work, self.id())
        run(FC, "-o", demo, *arguments)
        return demo

    def test_module_by_pkg_config(self):
        package = flags("libpcp_trace_fortran", "--cflags", "--libs")
        self.assert_traces(self.build("-std=f2008", find("solver.f90"), *package), "step")

    def test_module_in_a_static_program(self):
        package = flags("libpcp_trace_fortran", "--static", "--cflags", "--libs")
        self.assert_traces(self.build("-static", find("solver.f90"), *package), "step")

    def test_module_made_from_its_installed_source(self):
        package = flags("libpcp_trace", "--libs")
        solver = self.build("-J", installed.work, find("pcp_trace.f90"), find("solver.f90"),
                            *package)
        self.assert_traces(solver, "step")

    def test_module_by_cmake(self):
        build = os.path.join(installed.work, "consumer")
        run(CMAKE, "-S", os.path.join(HERE, "consumer"), "-B", build, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={installed.prefix}", f"-DCMAKE_Fortran_COMPILER={FC}",
            f"-DDEMO={find('solver.f90')}")
        run(CMAKE, "--build", build)
        self.assert_traces(os.path.join(build, "solver"), "step")
        self.assert_traces_nothing(os.path.join(build, "solver_disabled"))

    def test_module_that_does_nothing_needs_no_library(self):
        package = flags("libpcp_trace_fortran_disabled", "--cflags", "--libs")
        self.assert_traces_nothing(self.build(find("solver.f90"), *package))

    def test_module_refuses_a_real_of_128_bits_when_it_is_compiled(self):
        source = os.path.join(installed.work, "quad.f90")
        with open(source, "w", encoding="ascii") as file:
            file.write("use pcp_trace\ncall pmtrace_observe('a', 1.0_16)\nend\n")
        with self.assertRaisesRegex(AssertionError, "no specific subroutine for the generic"):
            run(FC, "-c", "-o", os.devnull, source, *flags("libpcp_trace_fortran", "--cflags"))

    def test_calls_by_name_without_the_module(self):
        package = flags("libpcp_trace", "--libs")
        self.assert_traces(self.build(find("legacy_solver.f"), *package), "RELAX")

    def test_manual_page(self):
        text = run("man", "--warnings", "-M", os.path.join(installed.prefix, "share/man"), "3",
                   "pcp_trace_fortran", env=dict(os.environ, MANPAGER="cat", MANWIDTH="100"))
        self.assertIn("pmtrace_observe", text)
