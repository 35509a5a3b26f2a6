# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program is killed at random moments: what was open, and what had ended in it, is shown. TRACE_KILLS is their
number, TRACE_SEED the first seed; each kill takes the next seed."""

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
        shown = completed(recorded.COMMAND, "spans", "--json", "-a", folder).stdout
        traces = {trace["trace"]: trace["spans"] for trace in map(json.loads, shown.splitlines())}
        with open(log, encoding="ascii") as lines:
            logged = lines.read()
        found = []
        for line in (logged[i:i + 64] for i in range(0, len(logged), 64)):
            if line[0] == "\0":
                continue  # it was beginning or ending
            trace, parts = line.split("-")[1], int(line[56:62])
            tags = [(span["tag"], span.get("was_open", False)) for span in traces.get(trace, [])]
            self.assertIn(("request", True), tags, line)
            self.assertGreaterEqual(tags.count(("part", False)), parts, line)
            self.assertLessEqual(len(tags), parts + 3, line)  # another one may have ended or begun
            found.append(parts)
        self.assertLessEqual(len(traces), len(logged) // 64)
        return found
