# SPDX-License-Identifier: LGPL-2.1-or-later
"""pcp trace export of real programs follows the rules of the readers of its file: Perfetto drops events that break
them."""

import collections
import itertools
import tempfile

from exported import OVERLAPPING, Exported
from trace_test import TraceTestCase


def ns(microseconds):
    """In Perfetto's unit."""
    return round(microseconds * 1000)


def thread_of(event):
    return event["pid"], event["tid"]


class Rules(TraceTestCase):
    exported = None

    def setUp(self):
        # Once for all tests, in the first; that test's cleanups end the processes.
        if Rules.exported is None:
            directory = self.enterClassContext(tempfile.TemporaryDirectory(prefix="trace-"))
            Rules.exported = Exported(self, self.start_pmcd(host_name="saturn"), directory)
        self.events = self.exported.document["traceEvents"]

    def named(self, phase):
        return self.exported.named(phase)

    def test_all_phases_are_known_and_all_times_relative(self):
        self.assertLessEqual({event["ph"] for event in self.events}, set("MXbeiCsf"))
        times = [event["ts"] for event in self.events if event["ph"] != "M"]
        self.assertEqual(min(times), 0)
        self.assertLess(max(times), 1e9)
        base = int(self.exported.document["otherData"]["base_ns"])
        self.assertEqual(sorted(base + ns(event["ts"]) for event in self.named("X") + self.named("b")),
                         sorted(span["time"] for span in self.exported.spans()))

    def test_what_is_complete_nests_on_its_thread(self):
        by_thread = collections.defaultdict(list)
        for event in self.named("X"):
            begin = ns(event["ts"])
            by_thread[thread_of(event)].append((begin, begin + ns(event["dur"]), event["name"]))
        self.assertGreaterEqual(len(by_thread), 3)
        for slices in by_thread.values():
            for (begin, end, name), (other_begin, other_end, other) in itertools.permutations(slices, 2):
                self.assertFalse(begin < other_begin < end < other_end, (name, other))

    def test_every_transaction_is_there_with_its_duration(self):
        expected = [(span["tag"], span["duration"]) for span in self.exported.spans()]
        begun = {event["id"]: event for event in self.named("b")}
        found = [(event["name"], ns(event["dur"])) for event in self.named("X")]
        for event in self.named("e"):
            begin = begun.pop(event["id"])
            self.assertEqual([begin[key] for key in ("name", "cat", "pid")],
                             [event[key] for key in ("name", "cat", "pid")])
            self.assertRegex(event["id"], "^0x[0-9a-f]{16}$")
            found.append((event["name"], ns(event["ts"]) - ns(begin["ts"])))
        self.assertEqual(begun, {})
        self.assertEqual(sorted(found), sorted(expected))
        self.assertEqual([event["name"] for event in self.named("b")], [OVERLAPPING])

    def test_an_arrow_leads_from_one_slice_to_another(self):
        (start,), (finish,) = self.named("s"), self.named("f")
        self.assertEqual([start[key] for key in ("id", "cat", "name")],
                         [finish[key] for key in ("id", "cat", "name")])
        self.assertEqual(finish["bp"], "e")
        self.assertLessEqual(start["ts"], finish["ts"])
        for end, name in ((start, "request"), (finish, "pay")):
            self.assertIn(name, [event["name"] for event in self.named("X")
                                 if thread_of(event) == thread_of(end) and
                                 ns(event["ts"]) <= ns(end["ts"]) <= ns(event["ts"]) + ns(event["dur"])])
