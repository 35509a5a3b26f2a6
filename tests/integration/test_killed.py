# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program is killed at random moments: what was open, and what had ended in it, is shown. TRACE_KILLS is their
number, TRACE_SEED the first seed; each kill takes the next seed."""

import array
import collections
import json
import os
import random
import signal
import tempfile

import recorded
from private_pmcd import completed
from trace_test import OUR_LIBRARY, TraceTestCase, library_environment, program

KILLS = int(os.environ.get("TRACE_KILLS", 20))
SEED = int(os.environ.get("TRACE_SEED", random.randrange(1 << 32)))


class Killed(TraceTestCase):
    def test_program_shows_what_was_open_with_its_parts(self):
        print(f"seed {SEED}", flush=True)
        requests = parts = 0
        for seed in range(SEED, SEED + KILLS):
            with self.subTest(TRACE_SEED=seed), tempfile.TemporaryDirectory(prefix="trace-killed-") as directory:
                found = self.kill(random.Random(seed), directory)
                requests, parts = requests + len(found), parts + sum(found)
        print(f"totals: kills={KILLS} requests={requests} parts={parts}", flush=True)
        self.assertGreater(parts, 0)

    def kill(self, dice, directory):
        """Gives the number of ended parts of each request that was open."""
        log, folder = os.path.join(directory, "log"), os.path.join(directory, "run")
        done = recorded.record(folder, program("killed"), log, str(dice.randint(1, 8)), str(dice.randint(1, 3_000)),
                               environment=library_environment(OUR_LIBRARY), options=["--spans", "died limit=1000000/s"])
        self.assertEqual(done.returncode, 128 + signal.SIGKILL, done.stderr)
        shown = completed(recorded.COMMAND, "spans", "--json", "-a", folder)
        self.assertEqual(shown.stderr, "")  # nothing was missed
        open_ones = collections.defaultdict(list)  # tags of the spans, by the request that was open
        for trace in map(json.loads, shown.stdout.splitlines()):
            spans = [(span["tag"], span.get("was_open", False)) for span in trace["spans"]]
            (request,) = {tag for tag, was_open in spans if tag.startswith("request") and was_open}
            open_ones[request].append(spans)
        logged = array.array("i")
        with open(log, "rb") as numbers:
            logged.frombytes(numbers.read())
        for thread, parts in enumerate(logged):
            found = open_ones.pop(f"request {thread}", [])
            self.assertLessEqual(len(found), 1)
            if parts < 0:
                continue
            self.assertEqual(len(found), 1, thread)
            self.assertIn(found[0].count(("part", False)), (parts, parts + 1))
        self.assertEqual(open_ones, {})
        return [parts for parts in logged if parts >= 0]
