# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shared by the rules of this folder: the files of a tree, and the answer of a rule."""

import pathlib
import sys


def files(root):
    """Gives the files under `root`, also hidden ones, but none of hidden folders and of what was built."""
    for path in sorted(root.iterdir()):
        if not path.is_dir():
            yield path
        elif not path.name.startswith((".", "build", "__")):
            yield from files(path)


def answer(breaches):
    """Prints what `breaches(root)` finds in the tree that the command line names, else in this one; exits with 1 if
    there is anything."""
    here = pathlib.Path(__file__).resolve().parents[2]
    found = list(breaches(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here))
    for breach in found:
        print(breach)
    sys.exit(1 if found else 0)
