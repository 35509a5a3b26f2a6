# SPDX-License-Identifier: LGPL-2.1-or-later
"""A comparison of two runs of one program has a sign in at most one of twenty pairs, also beside a neighbour who takes the
processors now and then. No gate passes a change that was planted. TRACE_PAIRS is the number of pairs, TRACE_SEED the
first seed."""

import collections
import contextlib
import json
import os
import random
import subprocess
import sys

import recorded
from private_pmcd import completed
from trace_test import OUR_LIBRARY, TraceTestCase, library_environment, program

PAIRS = int(os.environ.get("TRACE_PAIRS", 4))
SEED = int(os.environ.get("TRACE_SEED", random.randrange(1 << 32)))
MOST_FALSE_ALARMS = 0.05
FOREVER = 10**9

# Works and rests by turns, for random times.
NEIGHBOUR = """
import random, sys, time
dice = random.Random(int(sys.argv[1]))
while True:
    end = time.monotonic() + dice.expovariate(2)
    while time.monotonic() < end:
        pass
    time.sleep(dice.expovariate(2))  # load: the neighbour rests
"""


@contextlib.contextmanager
def neighbours(count, seed):
    processes = [subprocess.Popen([sys.executable, "-c", NEIGHBOUR, str(seed + i)]) for i in range(count)]
    try:
        yield
    finally:
        for each in processes:
            each.kill()
            each.wait()


def signs(comparison):
    """Gives the differences beyond noise: {(tag, figure): change in percent}."""
    return {(tag["name"], figure): round(100 * (change["now"] / change["before"] - 1), 1) if change["before"] else None
            for tag in comparison["tags"] for figure, change in tag["changes"].items() if change["verdict"] == "real"}


class OfEqualRuns(TraceTestCase):
    def record(self, name, seed, seconds, rounds=FOREVER, besides=0):
        folder = self.path(name)
        with neighbours(besides, seed):
            done = recorded.record(folder, program("random_work"), str(seed), str(seconds), str(rounds),
                                   environment=library_environment(OUR_LIBRARY), options=["-t", "100ms"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return folder

    def compare(self, *runs):
        done = completed(recorded.COMMAND, "report", "--json", "--compare", *runs)
        self.assertEqual(done.returncode, 0, done.stderr)
        for folder in runs:
            completed("rm", "-r", folder)
        return json.loads(done.stdout)["comparison"]

    def test_few_have_a_sign(self):
        print(f"seed {SEED}", flush=True)
        totals = collections.Counter(pairs=0, alarms=0, judged=0, signs=0)
        for pair in range(PAIRS):
            # The same time, or the same work; alone, or beside neighbours.
            limits = ({"seconds": 2}, {"seconds": FOREVER, "rounds": 1000})[pair % 2]
            besides = (0, 1, 2)[pair % 3]
            comparison = self.compare(*(self.record(f"{pair}-{i}", SEED + 2 * pair + i, besides=besides, **limits)
                                        for i in (0, 1)))
            found = signs(comparison)
            judged = sum(change["verdict"] != "not judged" for tag in comparison["tags"]
                         for change in tag["changes"].values())
            self.assertGreater(judged, 20)
            totals.update(pairs=1, alarms=bool(found), judged=judged, signs=len(found))
            if found:
                print(f"pair {pair}, {besides} beside it: {found}", flush=True)
        print("totals:", *(f"{name}={number}" for name, number in totals.items()), flush=True)
        self.assertLessEqual(totals["alarms"], max(1, PAIRS * MOST_FALSE_ALARMS))


# The conditions about each planted change, and their outcomes. Counts are exact. A time passes if a busy machine slowed the
# older run as much.
GATES = {
    "calls": {"query calls > +10%": ["broken"], "query total > +10%": ["unknown", "passed"]},
    "time": {"query mean > +10%": ["broken", "unknown", "passed"], "query p50 > +10%": ["broken", "unknown", "passed"],
             "request p95 > +10%": ["broken", "unknown", "passed"], "query total > +10%": ["unknown", "passed"]},
    "failures": {"request failed > +10%": ["broken"], "request failed% > +10%": ["broken", "unknown"]},
    "rate": {"request rate < -10%": ["unknown", "passed"]},
}


def value_of(folder, name, what, per):
    """Gives the value that the report of this run alone has, or its quotient by the run's requests."""
    done = completed(recorded.COMMAND, "report", "--json", folder, check=True)
    tags = {tag["name"]: tag for tag in json.loads(done.stdout)["tags"]}
    value = tags[name]["sum" if what == "total" else what]
    return value / tags["request"]["calls"] if per and what == "total" else value


class OfPlantedChanges(TraceTestCase):
    def test_no_gate_passes_one(self):
        print(f"seed {SEED}", flush=True)
        dice, found = random.Random(SEED), collections.Counter()
        for pair in range(PAIRS):
            what, factor, rounds = list(GATES)[pair % len(GATES)], round(dice.uniform(1.3, 3), 2), dice.choice((400, 800))
            # The same work, or twice the work and a comparison by request.
            per = ["--per", "request"] if rounds > 400 else []
            folders = [self.path(f"{pair}-{side}") for side in ("old", "new")]
            for folder, *arguments in zip(folders, (400, rounds), (1, factor)):
                done = recorded.record(folder, program("planted_change"), str(arguments[0]), what, str(arguments[1]),
                                       environment=library_environment(OUR_LIBRARY), options=["-t", "100ms"])
                self.assertEqual((done.returncode, done.stderr), (0, ""))
            for condition, outcomes in GATES[what].items():
                done = completed(recorded.COMMAND, "report", "--json", *per, "--fail-if", condition, "--compare", *folders)
                [finding] = json.loads(done.stdout)["conditions"]
                print(f"{what} x {factor}, {rounds} rounds: {finding['text']}", flush=True)
                found[finding["outcome"]] += 1
                self.assertIn(finding["outcome"], outcomes)
                if finding["outcome"] == "passed":
                    self.assertNotIn("within noise", finding["text"])
                    before, now = (value_of(folder, *condition.split()[:2], per) for folder in folders)
                    self.assertTrue(now <= 1.1 * before if ">" in condition else now >= 0.9 * before, finding["text"])
        print("totals:", *(f"{name}={number}" for name, number in found.items()), flush=True)
        self.assertLess(found["passed"], found.total() / 5)
