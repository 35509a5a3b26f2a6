#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the tests of a script, all or the named ones: run_tests.py SCRIPT [CLASS.TEST...]

Its last lines name those that this machine does not allow. Fails also if there is none: unittest calls that a success."""

import faulthandler
import importlib
import os
import sys
import unittest


# After so long a hanging test prints where it is, before CTest ends the script.
TOLD_AFTER_S = 2640


def open_standard_descriptors():
    """If one is closed, a file that a test opens would become the input or output of its programs."""
    while (fd := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(fd)


def main():
    open_standard_descriptors()
    faulthandler.dump_traceback_later(TOLD_AFTER_S)
    path, *names = sys.argv[1:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    module = importlib.import_module(os.path.splitext(os.path.basename(path))[0])
    result = unittest.main(module, argv=[path, *names], exit=False).result
    for test, reason in result.skipped:
        print(f"not run: {test.id()}: {reason}")
    if not result.testsRun and not result.skipped:  # not all Pythons count skipped tests as run
        sys.exit(f"{path}: no test was run")
    sys.exit(not result.wasSuccessful())


if __name__ == "__main__":
    main()
