"""What a Fortran user of the installed package gets: the demos, built outside of the tree."""

import os
import shutil
import subprocess
import tempfile
import unittest

from private_pmcd import PATIENCE_S
from trace_test import TraceTestCase

HERE = os.path.dirname(os.path.abspath(__file__))
CMAKE = os.environ["TRACE_CMAKE"]
FC = os.environ["TRACE_FC"]


def run(*command, **options):
    """Runs a command that has to work, and gives what it printed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=4 * PATIENCE_S, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def setUpModule():
    global work, prefix
    work = tempfile.mkdtemp(prefix="trace-fortran-")
    unittest.addModuleCleanup(shutil.rmtree, work)
    # Installed in one place and moved to another: nothing may remember the first.
    run(CMAKE, "--install", os.environ["TRACE_BUILD"], "--prefix", os.path.join(work, "first"))
    prefix = os.path.join(work, "moved")
    os.rename(os.path.join(work, "first"), prefix)


def find(name):
    """Gives the path of an installed file."""
    for directory, _, files in os.walk(prefix):
        if name in files:
            return os.path.join(directory, name)
    raise AssertionError(f"{name} is not installed")


def flags(package, *arguments):
    environment = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(find(f"{package}.pc")))
    return run("pkg-config", *arguments, package, env=environment).split()


class Installed(TraceTestCase):
    """Programs find the library by themselves: no LD_LIBRARY_PATH."""

    library = None

    def assert_traces(self, demo, tag):
        pmcd = self.start_pmcd()
        run(demo, "0.1", env=self.environment(pmcd))
        self.assertIn(tag, pmcd.values("trace.transact.count"))

    def build(self, *arguments):
        demo = os.path.join(work, self.id())
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
        self.assert_traces(
            self.build("-J", work, find("pcp_trace.f90"), find("solver.f90"), *package), "step")

    def test_module_by_cmake(self):
        build = os.path.join(work, "consumer")
        run(CMAKE, "-S", os.path.join(HERE, "consumer"), "-B", build, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_Fortran_COMPILER={FC}",
            f"-DDEMO={find('solver.f90')}")
        run(CMAKE, "--build", build)
        self.assert_traces(os.path.join(build, "solver"), "step")

    def test_calls_by_name_without_the_module(self):
        package = flags("libpcp_trace", "--libs")
        self.assert_traces(self.build(find("legacy_solver.f"), *package), "RELAX")

    def test_manual_page(self):
        text = run("man", "--warnings", "-M", os.path.join(prefix, "share/man"), "3",
                   "pcp_trace_fortran", env=dict(os.environ, MANPAGER="cat", MANWIDTH="100"))
        self.assertIn("pmtrace_observe", text)


if __name__ == "__main__":
    unittest.main()
