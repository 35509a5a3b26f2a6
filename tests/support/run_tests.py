#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the tests of a script, all or those that are named: run_tests.py SCRIPT [TEST...]

Fails also if there is none: to unittest that is as good as success."""

import faulthandler
import importlib
import os
import sys
import unittest


# Where a test is, if it hangs: said before CTest ends the script.
TOLD_AFTER_S = 2640


def open_standard_descriptors():
    """Where some are closed, a file that a test opens would become its programs' input or output."""
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
    if result.testsRun == 0:
        sys.exit(f"{path}: no test was run")
    sys.exit(not result.wasSuccessful())


if __name__ == "__main__":
    main()
