#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records one of the demos, as `pcp trace record` does with any program: ./run demo record, ./run demo server, or

    demos/record.py BUILD_DIRECTORY [c|cpp|fortran|java|python|shell|...|server] [SECONDS]

The recording is BUILD_DIRECTORY/../demo.trace or, with the single requests of the server, server.trace; it replaces
the previous one.
"""

import os
import shutil
import subprocess
import sys

from show import DEMOS, filled_in, where_built

DEFAULT_SECONDS = 12
SERVER_SECONDS = 8
REQUESTS_A_SECOND = 500  # about what the server's clients send


def path(build, name):
    return os.path.relpath(os.path.join(build, name))


def run(build, *words):
    """Runs pcp-trace, and shows that."""
    print(f"==> pcp-trace {' '.join(words)}\n", flush=True)
    status = subprocess.run([os.path.join(build, "pmda/command/pcp-trace"), *words],
                            env=where_built(build, os.environ), check=False).returncode
    if status != 0:
        sys.exit(status)


def record(build, name, seconds):
    folder = path(build, "../demo.trace")
    command = [os.path.relpath(word) if os.path.isabs(word) else word for word in filled_in(DEMOS[name].command, build)]
    shutil.rmtree(folder, ignore_errors=True)
    run(build, "record", "-t", "250ms", "-o", folder, *command, str(seconds))
    recorder = path(build, "pmda/command/pcp-trace")
    print(f"""
To look further:
    a browser        file://{os.path.realpath(folder)}/trace.html
    the same again   {recorder} report {folder}
    your program     {recorder} record ./your-program
    all options      man -l pmda/man/pcp-trace-record.1""")


def record_server(build, seconds):
    folder, log = path(build, "../server.trace"), path(build, "../server.log")
    shutil.rmtree(folder, ignore_errors=True)
    run(build, "record", "--spans", "share=100%", "-o", folder,
        path(build, "demos/epoll_server"), str(seconds * REQUESTS_A_SECOND), log)
    print("\nOne that failed: the server waits 30 ms for the price server, which is another process.")
    run(build, "spans", "-a", folder, "-s", "1", "label.status=504")
    command = path(build, "pmda/command/pcp-trace")
    print(f"""To look further:
    a browser         file://{os.path.realpath(folder)}/trace.html
    all that failed   {command} spans -a {folder} failed
    the slow item     {command} spans -a {folder} note.item=2307
    by status         {command} report --by status {folder}
    a gate            {command} report --fail-if 'request{{status=5*}} share > 0.1%' {folder}
    the server's log  cut -f 3,4,6 {log} | sort | uniq -c
    its source        demos/epoll_server.cpp, and libtrace/docs/event-loops.md""")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if not arguments or not os.path.isdir(arguments[0]):
        sys.exit(f"Usage: demos/record.py BUILD_DIRECTORY [{'|'.join(DEMOS)}|server] [SECONDS]")
    where = os.path.abspath(arguments.pop(0))
    which = arguments.pop(0) if arguments and arguments[0] in (*DEMOS, "server") else "cpp"
    if which == "server":
        record_server(where, int(arguments[0]) if arguments else SERVER_SECONDS)
    else:
        record(where, which, arguments[0] if arguments else DEFAULT_SECONDS)
