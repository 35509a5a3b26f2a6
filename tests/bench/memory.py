# SPDX-License-Identifier: LGPL-2.1-or-later
"""The memory that tracing adds to a process."""

import subprocess

from figures import Figure, median
from private_pmcd import PrivatePmcd

PART = "Memory"
ROUNDS = 3
MIB = 1 << 20


def measure(tools, brief):
    rounds = []
    with PrivatePmcd(agent=tools.agent, namespace=tools.namespace) as ours:
        environment = ours.environment() | {"LD_LIBRARY_PATH": tools.library_directory}
        if brief:
            environment["BENCH_BRIEF"] = "1"
        for number in range(1 if brief else ROUNDS):
            tools.progress(f"round {number + 1} of {ROUNDS}")
            output = subprocess.run([tools.program("memory_burst")], env=environment, check=True,
                                    stdin=subprocess.DEVNULL, capture_output=True, text=True)
            rounds.append([int(word) / MIB for word in output.stdout.split()])
    burst, delivered = (median(values) for values in zip(*rounds))
    name = "64 threads burst at once with 1,000 tags each"
    yield Figure(PART, name, "MiB", burst, 8, "8 MiB")
    yield Figure(PART, "the same, when all is delivered", "MiB", delivered, 8, "8 MiB")
