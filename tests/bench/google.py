# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the programs of Google Benchmark."""

import json
import os
import subprocess


def run(tools, program, brief=False, pattern=None, environment=None):
    """Gives the program's measurements: name -> its row of the JSON report."""
    command = [tools.program(program), "--benchmark_format=json"]
    if pattern:
        command.append(f"--benchmark_filter={pattern}")
    environment = dict(os.environ if environment is None else environment)
    if brief:
        environment["BENCH_BRIEF"] = "1"
    finished = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        raise RuntimeError(f"{program} failed ({finished.returncode}): {finished.stderr}")
    return {row["name"]: row for row in json.loads(finished.stdout)["benchmarks"]}
