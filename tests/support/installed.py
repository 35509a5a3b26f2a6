# SPDX-License-Identifier: LGPL-2.1-or-later
"""The project as it is installed, for tests of what its users get. A test's module has

    setUpModule = installed.set_up
"""

import os
import shutil
import subprocess
import tempfile
import unittest

from private_pmcd import PATIENCE_S

CMAKE = os.environ["TRACE_CMAKE"]

# Set by set_up: a directory for the tests' own things, and where the package is.
work = None
prefix = None


def run(*command, **options):
    """Runs a command that has to work, and gives what it printed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=10 * PATIENCE_S, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def set_up():
    global work, prefix
    work = tempfile.mkdtemp(prefix="trace-installed-")
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
    """Gives what pkg-config says of a package."""
    environment = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(find(f"{package}.pc")))
    return run("pkg-config", *arguments, package, env=environment).split()
