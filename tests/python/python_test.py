# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shared by the tests of the Python package. CMake gives its directory in TRACE_PYTHON_PACKAGE."""

import json
import os
import sys

from private_pmcd import PATIENCE_S, completed
from trace_test import TraceTestCase, library_environment

PACKAGE = os.environ["TRACE_PYTHON_PACKAGE"]
PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
TRANSACTIONS = ("transact.count", "transact.aborts")


def python(name, *arguments, options=()):
    """Gives the command that runs one of the programs."""
    return [sys.executable, "-B", "-X", "faulthandler", *options, os.path.join(PROGRAMS, name), *arguments]


def traced(environment, **variables):
    """Gives the environment in which Python finds the package, and its own faults of memory. Python 3.12 and later warn
    of os.fork beside the library's thread."""
    return environment | {"PYTHONPATH": os.path.dirname(PACKAGE), "PYTHONMALLOC": "debug",
                          "PYTHONWARNINGS": "ignore:This process:DeprecationWarning"} | variables


class PythonTestCase(TraceTestCase):
    def nowhere(self, **variables):
        """Gives the environment of a program that finds no agent, and says nothing of that."""
        return traced(library_environment(self.library, PCP_TRACE_SOCKET="/dev/null", **variables))

    def run_python(self, environment, *command):
        """Runs a program to its end. Gives what it printed."""
        done = completed(*command, env=environment, timeout=4 * PATIENCE_S)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def assert_counted(self, pmcd, log):
        """Checks all values of the metrics in a log: {metric: {tag: value}}. Other tags have none, or 0."""
        for metric, values in log.items():
            if metric in TRANSACTIONS:
                values = dict.fromkeys((tag for each in TRANSACTIONS for tag in log.get(each, ())), 0) | values
            self.assert_values(pmcd, f"trace.{metric}", values)

    def check_counts(self, *command, **variables):
        """Runs a program that prints its log, and compares that with the agent. Gives the pmcd."""
        pmcd = self.start_pmcd()
        printed = self.run_python(traced(self.environment(pmcd, **variables)), *command)
        logs = [json.loads(line) for line in printed.splitlines()]
        total = {}
        for log in logs:
            for metric, values in log.items():
                for tag, value in values.items():
                    total.setdefault(metric, {}).setdefault(tag, 0)
                    total[metric][tag] += value
        self.assertTrue(total)
        self.assert_counted(pmcd, total)
        return pmcd
