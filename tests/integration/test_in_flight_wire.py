# SPDX-License-Identifier: LGPL-2.1-or-later
"""Transactions in flight of handmade clients, as monitors see them."""

import os
import subprocess
import sys
import tempfile

import batch_wire
import recorded
from private_pmcd import PATIENCE_S, wait_until
from trace_test import (OUR_LIBRARY, TraceTestCase, end_well, kill_or_find_ended_well,
                        library_environment)

# Has two transactions open until its input ends.
PROGRAM = f"""
import batch_wire, os, sys
with batch_wire.connect(os.environ["PCP_TRACE_SOCKET"], {PATIENCE_S}) as client:
    client.sendall(batch_wire.encode_tags([b"hangs"]))
    batch_wire.send_in_flight(client, 1, {{1: (2, 3600, 4712)}})
    print("in flight", flush=True)
    sys.stdin.read()
    client.sendall(batch_wire.encode_bye(0))
    client.recv(1)  # the agent has taken the batch
"""


class InFlight(TraceTestCase):
    def setUp(self):
        self.pmcd = self.start_pmcd()
        self.program = self.connect()
        self.program.sendall(batch_wire.encode_tags([b"hangs", b"works"]))

    def connect(self, **hello):
        return self.enterContext(
            batch_wire.connect(self.pmcd.path("run/trace.socket"), PATIENCE_S, **hello))

    def test_is_shown_with_its_age_and_place(self):
        batch_wire.send_in_flight(self.program, 1, {1: (2, 3600, 4712), 2: (1, 0, 0)})
        self.assertEqual(self.pmcd.values("trace.transact.inflight"), {"hangs": 2, "works": 1})
        place = str(os.getpid())
        self.assertEqual(self.pmcd.values("trace.transact.oldest_where"),
                         {"hangs": place + "/4712", "works": place})
        age = self.pmcd.value("trace.transact.oldest", "hangs")
        self.assertGreaterEqual(age, 3600)
        self.assertLess(age, 3600 + PATIENCE_S)
        wait_until(lambda: self.pmcd.value("trace.transact.oldest", "hangs") > age,
                   what="it to grow older while the program sends nothing")
        self.assertEqual(self.pmcd.values("trace.transact.count"), {})
        self.assertEqual(self.pmcd.values("trace.transact.rate"), {})
        self.assertEqual(self.pmcd.values("trace.agent.inflight_left_out"), {None: 0})

    def test_is_in_a_recording(self):
        directory = self.enterContext(tempfile.TemporaryDirectory(prefix="trace-in-flight-"))
        folder = os.path.join(directory, "run.trace")
        recording = recorded.start(folder, sys.executable, "-c", PROGRAM, options=["-t", "50ms"],
                                   environment=library_environment(OUR_LIBRARY),
                                   stdin=subprocess.PIPE)
        self.addCleanup(kill_or_find_ended_well, recording)
        self.assertEqual(recording.stdout.readline(), "in flight\n")

        def values(metric):  # not all samples have all metrics
            return [sample[metric]["hangs"] for sample in recorded.samples(folder) if sample.get(metric)]
        wait_until(lambda: values("trace.transact.oldest_where"), what="its place")
        end_well(recording)
        self.assertIn(2, values("trace.transact.inflight"))
        self.assertRegex(values("trace.transact.oldest_where")[0], r"^\d+/4712$")
        self.assertGreaterEqual(values("trace.transact.oldest")[0], 3600)
        self.assertEqual(recorded.last_values(folder, "trace.transact.inflight"), {"hangs": 0})
        self.assertEqual(recorded.last_values(folder, "trace.transact.vanished"), {"hangs": 2})
        self.assertEqual(recorded.complaints(folder), "")
