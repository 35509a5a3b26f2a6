#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures this project and its peers side by side, and prints one table with the bars met."""

import argparse
import datetime
import importlib
import os
import pathlib
import platform
import re
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

import chart
import table

# Each has a function measure(tools, brief) that yields figures.
PARTS = ["caller", "flusher", "memory", "engine", "ingest", "fetch", "hostile", "spans",
         "record"]


class Tools:
    """Paths that the parts need, and a way to print progress."""

    def __init__(self, build):
        self.build = build
        self.agent = str(build / "pmda/agent/pmdatrace")
        self.command = str(build / "pmda/command/pcp-trace")
        self.namespace = str(HERE.parent.parent / "pmda/root")
        self.library_directory = str(build / "libtrace/src")
        self.stock_library_directory = "/usr/lib"
        self.part = ""
        self._started = time.monotonic()

    def program(self, name):
        return str(self.build / "tests/bench" / name)

    def progress(self, text):
        elapsed = int(time.monotonic() - self._started)
        line = f"{elapsed // 60}:{elapsed % 60:02}  {self.part}: {text}"
        if sys.stderr.isatty():
            print(f"\r\033[K    {line:.90}", end="", file=sys.stderr, flush=True)
        else:
            print(f"    {line}", file=sys.stderr, flush=True)

    def end_progress(self):
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)


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
    tools = Tools(arguments.build.resolve())
    figures = []
    for tools.part in [arguments.only] if arguments.only else PARTS:
        figures += importlib.import_module(tools.part).measure(tools, arguments.brief)
    tools.end_progress()

    text = "\n".join(heading) + "\n\n" + table.of(figures)
    print(text)
    if arguments.text:
        arguments.text.write_text(text + "\n", encoding="utf-8")
    if arguments.chart:
        arguments.chart.write_text(chart.of(figures, heading), encoding="utf-8")
    missed = sum(not figure.is_met for figure in figures)
    return 1 if missed and not arguments.brief else 0


if __name__ == "__main__":
    sys.exit(main())
