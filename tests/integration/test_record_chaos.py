# SPDX-License-Identifier: LGPL-2.1-or-later
"""The last sample of a recording has each call of each process at any time, whatever happened to the recorder
meanwhile, except its end. TRACE_RECORDINGS is the number of recordings, TRACE_SEED the first seed; each recording takes
the next seed."""

import collections
import os
import random
import signal
import tempfile
import time

import recorded
from private_pmcd import PATIENCE_S
from trace_test import OUR_LIBRARY, STOCK_LIBRARY, TraceTestCase, library_environment, program

RECORDINGS = int(os.environ.get("TRACE_RECORDINGS", 15))
SEED = int(os.environ.get("TRACE_SEED", random.randrange(1 << 32)))


class Schedule:
    """A process tree as a shell script, and the sum of its calls."""

    def __init__(self, dice):
        self.dice = dice
        self.counts = {"point": 0, "transact": 0}
        self.script = f"{self._processes(3)}; wait"

    def _processes(self, depth):
        """Several processes: some in sequence, and some in parallel."""
        parts = [self._process(depth) for _ in range(self.dice.randint(1, 4))]
        return self.dice.choice([" ; ", " & "]).join(parts)

    def _process(self, depth):
        if depth > 0 and self.dice.random() < 0.3:
            return f"( {self._processes(depth - 1)} ; wait )"
        if self.dice.random() < 0.2:
            return f"sleep {self.dice.random() / 5}"
        is_stock = self.dice.random() < 0.3
        threads = 1 if is_stock else self.dice.randint(1, 4)
        calls = self.dice.randint(1, 50 if is_stock else 20_000)
        kind = self.dice.choice(["point", "transaction"])
        self.counts["point" if kind == "point" else "transact"] += threads * calls
        library = os.path.dirname(STOCK_LIBRARY if is_stock else OUR_LIBRARY)
        # A daemon has no parent among these: the recorder has to track it all the same.
        daemon = "setsid " if self.dice.random() < 0.2 else ""
        return (f"LD_LIBRARY_PATH={library} {daemon}{program('threads')} {threads} {calls} {kind}"
                " >/dev/null")


def disturb(dice, recording):
    """Stops the recorder now and then, until it has ended; gives the number of stops."""
    stops = 0
    while recording.poll() is None:
        time.sleep(dice.random() / 10)  # load: a random moment
        if dice.random() < 0.5:
            recording.send_signal(signal.SIGSTOP)
            time.sleep(dice.random() / 5)  # load: a random time
            recording.send_signal(signal.SIGCONT)
            stops += 1
    return stops


class Chaos(TraceTestCase):
    def test_the_last_sample_has_each_call(self):
        print(f"seed {SEED}", flush=True)
        totals = collections.Counter(recordings=0)
        for seed in range(SEED, SEED + RECORDINGS):
            with self.subTest(TRACE_SEED=seed), tempfile.TemporaryDirectory(prefix="trace-record-") as directory:
                totals += collections.Counter(recordings=1)
                totals += self.record(random.Random(seed), os.path.join(directory, "run"))
        print("totals:", *(f"{name}={number}" for name, number in totals.items()), flush=True)

    def record(self, dice, folder):
        """Records a random tree; gives the counts of its calls, and the stops."""
        schedule = Schedule(dice)
        interval = f"{dice.randint(10, 300)}ms"
        recording = recorded.start(
            folder, "sh", "-c", schedule.script,
            environment=library_environment(OUR_LIBRARY, PCP_TRACE_TIMEOUT=PATIENCE_S),
            options=["-t", interval, "--archive-version", dice.choice("23")])
        stops = disturb(dice, recording) if dice.random() < 0.7 else 0
        _, errors = recording.communicate(timeout=4 * PATIENCE_S)
        self.assertEqual((recording.returncode, errors), (0, ""), schedule.script)
        for kind, count in schedule.counts.items():
            self.assertEqual(recorded.last_values(folder, f"trace.{kind}.count"),
                             {"shared": count} if count else {}, schedule.script)
        self.assertEqual(recorded.complaints(folder), "")
        never_less = [sample["trace.point.count"]["shared"] for sample in recorded.samples(folder)
                      if sample.get("trace.point.count")]
        self.assertEqual(never_less, sorted(never_less))
        return collections.Counter(stops=stops, **schedule.counts)
