# SPDX-License-Identifier: LGPL-2.1-or-later
"""The cost of one hostile peer for the other clients: their throughput, and a monitor's waiting time."""

import os
import subprocess
import time

from fetch import fill
from figures import Figure, median
from private_pmcd import PrivatePmcd

PART = "The agent"

KINDS = {
    "slow": "500 connections that send a byte now and then",
    "connects": "a flood of connects",
    "nonsense": "a flood of connections that send no PDU",
    "tags": "new tags without end",
    "deaf": "100 connections that read no answer",
}

TAGS = 1000  # the fetched ones
WORST = 1.5
BAR = "1.5 times undisturbed; the hostile peer takes all of a processor that it can"


def measure(tools, brief):
    rounds, seconds = (1, 0.1) if brief else (5, 3)
    throughput = {kind: [] for kind in [None, *KINDS]}
    latency = {kind: [] for kind in [None, *KINDS]}
    for number in range(rounds):
        for kind in throughput:
            tools.progress(f"{KINDS.get(kind, 'undisturbed')}, round {number + 1} of {rounds}")
            batches, fetches = _serve(tools, kind, seconds)
            throughput[kind].append(batches)
            latency[kind] += fetches
    served = {kind: median(samples) for kind, samples in throughput.items()}
    waited = {kind: median(samples) for kind, samples in latency.items()}
    yield _figure("throughput of 100 clients beside a hostile peer",
                  {kind: served[None] / served[kind] for kind in KINDS},
                  f"Undisturbed {served[None]:,.0f} batches a second.")
    yield _figure(f"fetch of {TAGS:,} tags beside a hostile peer",
                  {kind: waited[kind] / waited[None] for kind in KINDS},
                  f"Undisturbed {waited[None] / 1000:.2f} ms, the median, as are the others.")


def _figure(name, times, undisturbed):
    """`times`: the factor by which each kind of hostile peer worsens the figure."""
    return Figure(part=PART, name=name, unit="x", ours=max(times.values()), limit=WORST, bar=BAR,
                  notes=[undisturbed] + [f"{KINDS[kind]}: {value:.2f} x"
                                         for kind, value in times.items()])


def _serve(tools, kind, seconds):
    """Gives the acknowledged batches a second, and the times of fetches."""
    with PrivatePmcd(agent=tools.agent, namespace=tools.namespace) as pmcd:
        fill(pmcd, TAGS, kinds=("transact",))
        attack = kind and _attack(tools, pmcd, kind)
        try:
            load = subprocess.Popen(
                [tools.program("our_clients"), "--socket", pmcd.path("run/trace.socket"),
                 "--seconds", str(1.5 * seconds)], stdout=subprocess.PIPE, text=True)
            began = time.monotonic()
            fetches = _fetch(tools, pmcd, seconds)
            done = load.communicate(timeout=120)[0]
            took = time.monotonic() - began
        finally:
            if attack:
                attack.terminate()
                attack.communicate()
    batches = [int(line.split()[1]) for line in done.splitlines() if line.startswith("batches ")]
    return batches[0] / took, fetches


def _attack(tools, pmcd, kind):
    attack = subprocess.Popen([tools.program("hostile_peers"), str(pmcd.trace_port), kind],
                              stdout=subprocess.PIPE, text=True)
    attack.stdout.readline()  # once the attack has begun
    return attack


def _fetch(tools, pmcd, seconds):
    """Gives the times of fetches in microseconds, one after the other."""
    output = subprocess.run(
        [tools.program("fetch_times"), pmcd.host(), "1000000", str(seconds),
         "trace.transact.count"], env=os.environ | {"PMCD_REQUEST_TIMEOUT": "60"}, text=True,
        capture_output=True, timeout=180, check=True).stdout
    return [float(line) for line in output.splitlines()[1:]]
