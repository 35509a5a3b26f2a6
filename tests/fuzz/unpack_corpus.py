#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a file of each line of a corpus: unpack_corpus.py CORPUS.txt DIRECTORY

A line is an input in hexadecimal digits, then its reason. Other files in the directory are removed."""

import pathlib
import shutil
import sys


def main():
    text, directory = map(pathlib.Path, sys.argv[1:])
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    for number, line in enumerate(text.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("#"):
            (directory / f"line{number}").write_bytes(bytes.fromhex(line.partition("#")[0]))


if __name__ == "__main__":
    main()
