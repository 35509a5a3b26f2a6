#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records one of the demos, as `pcp trace record` does with any program: ./run demo record, or

    demos/record.py BUILD_DIRECTORY [c|cpp|fortran|java|shell|...] [SECONDS]

The recording is BUILD_DIRECTORY/../demo.trace; it replaces the previous one.
"""

import os
import shutil
import subprocess
import sys

from show import DEMOS, command_of

DEFAULT_SECONDS = 12


def main(build, name, seconds):
    folder = os.path.relpath(os.path.join(build, "../demo.trace"))
    recorder = os.path.join(build, "pmda/command/pcp-trace")
    command = [os.path.relpath(word) if os.path.isabs(word) else word
               for word in command_of(DEMOS[name], build)] + [str(seconds)]
    shutil.rmtree(folder, ignore_errors=True)
    print(f"==> pcp-trace record -t 250ms {' '.join(command)}\n", flush=True)
    environment = os.environ | {
        "LD_LIBRARY_PATH": f"{build}/libtrace/src",
        "PATH": f"{build}/libtrace/tools:{os.environ['PATH']}"}  # our pmtrace
    status = subprocess.run([recorder, "record", "-t", "250ms", "-o", folder, *command],
                            env=environment, check=False).returncode
    if status != 0:
        sys.exit(status)
    print(f"""
To look further:
    a browser        file://{os.path.realpath(folder)}/trace.html
    the same again   {os.path.relpath(recorder)} report {folder}
    your program     {os.path.relpath(recorder)} record ./your-program
    all options      man -l pmda/man/pcp-trace-record.1""")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if not arguments or not os.path.isdir(arguments[0]):
        sys.exit(f"Usage: demos/record.py BUILD_DIRECTORY [{'|'.join(DEMOS)}] [SECONDS]")
    where = os.path.abspath(arguments.pop(0))
    which = arguments.pop(0) if arguments and arguments[0] in DEMOS else "cpp"
    main(where, which, arguments[0] if arguments else DEFAULT_SECONDS)
