# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that need hours, in parts of some minutes. build/nightly.json keeps what has been done, so that the next
run continues where this one ended. Each part has a seed of its own, which is printed."""

import collections
import json
import os
import random
import re
import subprocess
import time

from steps import LOGS, ROOT, clock
from tests_of import address_space_kept_small, own_words

STATE = os.path.join(ROOT, "build", "nightly.json")
FUZZ = os.path.join(ROOT, "build", "coverage", "tests", "fuzz")

# One sort of work: `units` in all, in parts of `part` units. `command(seed, units)` gives the command of a part
# and the variables to add to its environment.
Sort = collections.namedtuple("Sort", "name units part command")


def chaos(seed, units):
    return [os.path.join(ROOT, "build", "check", "tests", "chaos", "chaos_test"), "--watched", "--judge-gave-up",
            "--first", str(seed), "--schedules", str(units), "--parallel", str(3 * os.cpu_count())], {}


def recordings(seed, units):
    return (["ctest", "--preset", "nightly", "-V", "-R", "^nightly.record_chaos$"],
            {"TRACE_SEED": str(seed), "TRACE_RECORDINGS": str(units)})


def fuzzer(name):
    def command(seed, units):
        corpora = [os.path.join(FUZZ, folder, name) for folder in ("found", "corpus")]
        return address_space_kept_small(
            [os.path.join(FUZZ, f"{name}_fuzz"), f"-max_total_time={units}", f"-seed={seed % 2**31 + 1}",
             "-max_len=1024", "-len_control=10", "-timeout=250", *corpora]), {}
    return command


def long_test(name):
    def command(_seed, _units):
        return ["ctest", "--preset", "nightly", "--output-on-failure", "-R", f"^{re.escape(name)}$"], {}
    return command


def listed(preset, *arguments):
    found = subprocess.run(["ctest", "--preset", preset, "--show-only=json-v1", *arguments], cwd=ROOT, check=True,
                           text=True, stdout=subprocess.PIPE).stdout
    return [test["name"] for test in json.loads(found)["tests"]]


def all_sorts():
    """Needs the builds check and coverage."""
    return [Sort("watched chaos schedules", 10_000, 100, chaos),
            Sort("recordings", 1_000, 50, recordings),
            *(Sort(f"{name}, seconds", 600, 60, fuzzer(name.removeprefix("fuzz."))) for name in listed("fuzz")),
            *(Sort(name, 1, 1, long_test(name)) for name in listed("nightly", "-E", "^nightly.record_chaos$"))]


class Night:
    """The progress so far, saved on disk after each part."""

    def __init__(self, sorts):
        self._sorts = sorts
        self._state = {"seed": random.SystemRandom().randrange(1, 2**40) * 100_000, "done": {}, "totals": {},
                       "failed": []}
        if os.path.exists(STATE):
            with open(STATE, encoding="utf-8") as file:
                self._state = json.load(file)

    def next_sort(self):
        """The sort with the smallest share done, or None."""
        open_ones = [sort for sort in self._sorts if self._share(sort) < 1]
        return min(open_ones, key=self._share, default=None)

    def _share(self, sort):
        return self._state["done"].get(sort.name, 0) / sort.units

    def run_part(self, sort):
        done = self._state["done"].get(sort.name, 0)
        seed = self._state["seed"] + done
        units = min(sort.part, sort.units - done)
        command, besides = sort.command(seed, units)
        log = os.path.join(LOGS, "nightly.log")
        began = time.monotonic()
        with open(log, "w", encoding="utf-8") as file:
            status = subprocess.run(command, cwd=ROOT, env=os.environ | besides, stdin=subprocess.DEVNULL,
                                    stdout=file, stderr=subprocess.STDOUT, check=False).returncode
        with open(log, encoding="utf-8", errors="replace") as file:
            output = file.read()
        print(f"{sort.name}: {done + units} of {sort.units}, from seed {seed}: "
              f"{'FAILED' if status else 'passed'} after {clock(time.monotonic() - began)}", flush=True)
        if status:
            self._keep_failure(sort, seed, command, besides, log, output)
        for name, number in re.findall(r"(\w+)=(\d+)", next(iter(re.findall(r"^.*totals: (.*)$", output, re.M)), "")):
            totals = self._state["totals"].setdefault(sort.name, {})
            totals[name] = totals.get(name, 0) + int(number)
        self._state["done"][sort.name] = done + units
        self._save()

    def _keep_failure(self, sort, seed, command, besides, log, output):
        kept = os.path.join(LOGS, f"nightly-failed-{seed}.log")
        os.rename(log, kept)
        again = " ".join([*(f"{name}={value}" for name, value in besides.items()), *command])
        self._state["failed"].append(f"{sort.name}, seed {seed}")
        print(*own_words(output), f"    all of it: {os.path.relpath(kept, ROOT)}", f"    again: {again}", sep="\n",
              flush=True)

    def _save(self):
        with open(STATE + ".new", "w", encoding="utf-8") as file:
            json.dump(self._state, file, indent=1)
        os.rename(STATE + ".new", STATE)

    def print_totals(self):
        """Gives whether nothing failed. A night that is complete begins anew next time."""
        for sort in self._sorts:
            totals = self._state["totals"].get(sort.name, {})
            print(f"    {sort.name:40} {self._state['done'].get(sort.name, 0):>6} of {sort.units:<6}",
                  *(f"{name} {number}" for name, number in totals.items()))
        failed = self._state["failed"]
        print(f"{'FAILED: ' + '; '.join(failed) if failed else 'no part failed'}"
              f"; seeds from {self._state['seed']}", flush=True)
        if self.next_sort() is None:
            os.rename(STATE, STATE + ".complete")
        else:
            print("to go on: ./run nightly")
        return not failed


def nightly(hours):
    night = Night(all_sorts())
    began = time.monotonic()
    try:
        while (sort := night.next_sort()) and time.monotonic() - began < 3600 * hours:
            night.run_part(sort)
    finally:
        good = night.print_totals()
    return 0 if good else 1
