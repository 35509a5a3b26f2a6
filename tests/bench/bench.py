#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures this project and its peers side by side, and prints one table with the bars met."""

import argparse
import datetime
import os
import pathlib
import platform
import re
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

import caller
import chart
import engine
import fetch
import figures
import ingest
import python
import record
import running
import spans

# Each yields figures.
PARTS = {"caller": caller.calls, "flusher": caller.flusher, "memory": caller.memory, "engine": engine.measure,
         "ingest": ingest.measure, "fetch": fetch.waiting, "hostile": fetch.beside_hostile_peers,
         "spans": spans.measure, "record": record.measure, "python": python.measure}


def cache_value(build, name):
    match = re.search(rf"^{name}:\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)
    return match[1] if match else ""


def circumstances(build):
    """The machine, the compiler and the date, a line each."""
    model = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(),
                      re.MULTILINE)
    compiler = subprocess.run([cache_value(build, "CMAKE_CXX_COMPILER"), "--version"],
                              capture_output=True, text=True, check=True).stdout.splitlines()[0]
    kind = cache_value(build, "CMAKE_BUILD_TYPE")
    return [f"machine:  {len(os.sched_getaffinity(0))} processors, "
            f"{model[1] if model else platform.machine()}, Linux {platform.release()}",
            f"compiler: {compiler}, {kind}",
            f"date:     {datetime.date.today()}, load {os.getloadavg()[0]:.1f} at the beginning"]


def main():
    parser = argparse.ArgumentParser(
        description="Measures this project and its peers side by side. Exit status 1: a bar is "
                    "missed; with --brief, which measures nothing of worth: 0.")
    parser.add_argument("build", type=pathlib.Path, help="build directory of the preset release")
    parser.add_argument("--brief", action="store_true", help="run everything once, briefly")
    parser.add_argument("--only", choices=PARTS, help="one part")
    parser.add_argument("--text", type=pathlib.Path, help="write the table into this file, too")
    parser.add_argument("--chart", type=pathlib.Path, help="write a chart (SVG) into this file")
    arguments = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)  # so that all contexts clean up

    heading = circumstances(arguments.build)
    tools = running.Tools(arguments.build.resolve(), HERE.parent.parent, arguments.brief)
    measured = []
    for tools.part in [arguments.only] if arguments.only else PARTS:
        measured += PARTS[tools.part](tools)
    tools.end_progress()

    text = "\n".join(heading) + "\n\n" + figures.table(measured)
    print(text)
    if arguments.text:
        arguments.text.write_text(text + "\n", encoding="utf-8")
    if arguments.chart:
        arguments.chart.write_text(chart.of(measured, heading), encoding="utf-8")
    missed = sum(not figure.is_met for figure in measured)
    return 1 if missed and not arguments.brief else 0


if __name__ == "__main__":
    sys.exit(main())
