# SPDX-License-Identifier: LGPL-2.1-or-later
"""The installed project, for tests of it as users get it. A test's module has

    setUpModule = installed.set_up
"""

import os
import shutil
import subprocess
import tempfile
import unittest

from private_pmcd import PATIENCE_S, completed

CMAKE = os.environ["TRACE_CMAKE"]

# Set by set_up: a directory for the tests' files, and the path of the package.
work = None
prefix = None


def run(*command, **options):
    """Runs a command that must succeed. Gives its output."""
    done = completed(*command, stderr=subprocess.STDOUT, timeout=10 * PATIENCE_S, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def set_up():
    global work, prefix
    work = tempfile.mkdtemp(prefix="trace-installed-")
    unittest.addModuleCleanup(shutil.rmtree, work)
    # Installed in one place and moved to another: no file may have the first path in it.
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
    """Gives the words that pkg-config prints for a package."""
    environment = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(find(f"{package}.pc")))
    return run("pkg-config", *arguments, package, env=environment).split()
