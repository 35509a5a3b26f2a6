# SPDX-License-Identifier: LGPL-2.1-or-later
"""Spans from a traced program to a monitor: each arrives once or counts as missed, with its parents."""

import subprocess

from event_monitor import END, POINT, EventMonitor
from private_pmcd import PATIENCE_S, wait_until
from trace_test import OUR_PMTRACE, TraceTestCase, program

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"


class CapturesTestCase(TraceTestCase):
    def start(self, **variables):
        variables = {"PCP_TRACE_FLUSH": 5} | variables
        return self.start_traced(self.environment(**variables), "traces")

    def monitor(self, text, traced=(), tag="request"):
        """A monitor. Its filter has reached these programs: each captures a transaction of this tag."""
        monitor = self.enterContext(EventMonitor(self.pmcd.host(True)))
        monitor.want(text)
        for each in traced:
            self.wait_until_captured(each, tag)
            self.seen(monitor, 1, tag)
        return monitor

    def wait_until_captured(self, traced, tag="request"):
        """Waits until the program captures such transactions."""
        def is_known():
            traced.do(f"begin 15 {tag}")
            is_captured = traced.call("captured 15")
            traced.do("end 15")
            return is_captured
        wait_until(is_known, what="the program to know what to capture")

    def seen(self, monitor, least, tag=None):
        """Gives spans and point events: at least `least` of them (with this tag)."""
        seen = []

        def enough():
            seen.extend(event.parameters for event in monitor.events() or ()
                        if event.flags & (END | POINT))
            return sum(tag in (None, each["tag"]) for each in seen) >= least
        wait_until(enough, what=f"{least} spans")
        return seen

    def by_tag(self, monitor, count):
        seen = self.seen(monitor, count)
        self.assertEqual(len(seen), count, seen)
        return {each["tag"]: each for each in seen}


class Trees(CapturesTestCase):
    def test_are_whole_with_their_parents_and_times(self):
        traced = self.start()
        monitor = self.monitor("tag=request", [traced])
        traced.do("begin 9 other", "begin 0 request", "begin 1 query", "name named", "end 1")
        traced.do("named named", "thread 1", "begin 4 elsewhere", "under 2 part 0", "end 2", "end 4", "thread 0",
                  "end 0", "begin 3 query", "end 3", "end 9")
        spans = self.by_tag(monitor, 4)
        self.assertEqual(set(spans), {"request", "query", "named", "part"})
        request = spans["request"]
        self.assertNotIn("parent", request)
        self.assertEqual({spans[tag]["parent"] for tag in ("query", "part")}, {request["span"]})
        self.assertEqual(spans["named"]["parent"], spans["query"]["span"])
        self.assertEqual(len({each["trace"] for each in spans.values()}), 1)
        self.assertEqual(len({each["span"] for each in spans.values()}), 4)
        end = request["time"] + request["duration"]
        for each in spans.values():
            self.assertLessEqual(request["time"], each["time"])
            self.assertGreaterEqual(end, each["time"] + each["duration"])
            self.assertEqual((each["pid"], each["status"], each["kind"]),
                             (traced.pid, "ok", "transact"))
        self.assertEqual(monitor.missed, 0)

    def test_continue_those_of_others(self):
        traced = self.start()
        monitor = self.monitor("tag=request", [traced])
        for given_away in ("parent 1", "parent"):  # by its handle, or as the thread's innermost
            traced.do(f"from 0 request {PARENT}", "begin 1 call")
            out = traced.ask(given_away)
            traced.do("end 1", "end 0")
            spans = self.by_tag(monitor, 2)
            self.assertEqual((spans["request"]["trace"], spans["request"]["parent"],
                              spans["request"]["kind"]), (TRACE, "b7ad6b7169203331", "server"))
            self.assertEqual((spans["call"]["parent"], spans["call"]["kind"]),
                             (spans["request"]["span"], "client"))
            self.assertEqual(out, f"00-{TRACE}-{spans['call']['span']}-01")

    def test_have_notes(self):
        traced = self.start()
        monitor = self.monitor("tag=request", [traced])
        traced.do("begin 0 request", "note 0 route /cart", "note 0 route /pay", "number 0 rows 12.5",
                  f"link 0 {PARENT}", "fail 0 declined", "begin 0 other", "note 0 route /cart", "end 0")
        traced.do("begin 1 request", *(f"number 1 n{i} {i}" for i in range(40)), "end 1")
        self.assertEqual(traced.call("note 1 route /late"), 0)
        seen = self.seen(monitor, 2)
        self.assertEqual((seen[0]["attributes"], seen[0]["status"], seen[0]["reason"]),
                         ("route=/pay rows=12.5", "aborted", "declined"))
        self.assertIn(TRACE, seen[0]["links"])
        self.assertEqual(len(seen[1]["attributes"].split()), 32)
        self.assertEqual(seen[1]["missing"], 8)
        traced.do("begin 2 request")
        for line in ("note 2 " + "k" * 129 + " v", "note 2  v", "link 2 nothing"):
            self.assertEqual(traced.call(line), -22, line)

    def test_may_have_no_notes(self):
        traced = self.start(PCP_TRACE_NOTES="off")
        monitor = self.monitor("tag=request", [traced])
        traced.do("begin 0 request", "note 0 route /cart", "end 0")
        self.assertNotIn("attributes", self.by_tag(monitor, 1)["request"])

    def test_of_a_forked_child_are_its_own(self):
        traced = self.start()
        monitor = self.monitor("tag=request", [traced])
        traced.do("begin 0 request")
        self.assertEqual(traced.call("fork"), 0)
        traced.do("end 0", "under 1 step 0")
        self.assertEqual(traced.call("captured 1"), 0)  # the program has to get the filter first
        traced.do("end 1")
        wait_until(lambda: traced.do("begin 1 request") or traced.call("captured 1"),
                   what="the child to know what to capture")
        traced.do("end 1")
        span = self.by_tag(monitor, 1)["request"]
        self.assertNotEqual(span["pid"], traced.pid)

    def test_with_events_if_they_are_asked_for(self):
        traced = self.start()
        lines = ("point passed", "begin 0 request", "point passed", "observe rows 7",
                 "count log 5", "add log 2", "begin 1 query", "point passed", "end 1", "end 0")
        monitor = self.monitor("tag=request kind=point,observe,counter", [traced])
        traced.do(*lines)
        seen = self.seen(monitor, 7)
        spans = {each["tag"]: each["span"] for each in seen if "duration" in each}
        self.assertEqual([(each["tag"], each["kind"], each.get("value"), each["span"])
                          for each in seen if "duration" not in each],
                         [("passed", "point", None, spans["request"]),
                          ("rows", "observe", 7, spans["request"]),
                          ("log", "counter", 5, spans["request"]),
                          ("log", "add", 2, spans["request"]),
                          ("passed", "point", None, spans["query"])])


class SlowOnes(CapturesTestCase):
    """Slow means a minute, by a clock that the program steps."""

    def start(self, **variables):
        return super().start(LD_PRELOAD=program("stepped_clock.so"), **variables)

    def test_are_whole_trees_and_fast_ones_are_none(self):
        traced = self.start()
        monitor = self.enterContext(EventMonitor(self.pmcd.host(True)))
        monitor.want("tag=request slower=60s kind=point")
        self.wait_until_captured(traced)
        traced.do("storm 5000 request query", "begin 0 request", "copy 0 4", "begin 1 query", "begin 2 part", "end 2",
                  "end 1", "thread 1", "under 3 elsewhere 0", "point passed", "note 3 where there", "end 3", "thread 0",
                  "point passed")
        traced.do("later 70", "end 0", "storm 5000 request query")
        seen = self.seen(monitor, 6)
        spans = {each["tag"]: each for each in seen if "duration" in each}
        self.assertEqual(set(spans), {"request", "query", "part", "elsewhere"})
        self.assertGreaterEqual(spans["request"]["duration"], 70 * 10**9)
        self.assertEqual(spans["part"]["parent"], spans["query"]["span"])
        self.assertEqual(spans["elsewhere"]["parent"], spans["request"]["span"])
        self.assertEqual(spans["elsewhere"]["attributes"], "where=there")
        self.assertEqual({each["span"] for each in seen if each["tag"] == "passed"},
                         {spans["request"]["span"], spans["elsewhere"]["span"]})
        traced.do("under 3 late 4", "end 3")
        self.assertEqual(self.by_tag(monitor, 1)["late"]["parent"], spans["request"]["span"])
        traced.do("begin 0 request", "begin 1 query", "end 1")  # the end comes before it is known whether this is slow
        traced.end()
        self.assertEqual((list(monitor.events()), monitor.missed), ([], 0))
        self.assertEqual([self.pmcd.value(f"tracing.agent.{name}") for name in ("captured", "missed.waiting")], [7, 0])


class Exactness(CapturesTestCase):
    def test_of_a_program_that_leaves_when_all_is_counted(self):
        """Or whose main leaves."""
        for way in ("leave", "retire"):
            with self.subTest(way):
                traced = self.start(PCP_TRACE_FLUSH=500)  # so that all goes at once
                monitor = self.monitor("tag=request", [traced])
                notes = [f"note 0 key{number} {'x' * 4000}" for number in range(7)]  # two fit into a PDU
                for _ in range(60):
                    traced.do("begin 0 request", *notes, "end 0")
                self.assertEqual(traced.ask(way), "")
                self.assertEqual(len(self.seen(monitor, 60)), 60)

    def test_of_a_program_that_is_killed_after_a_flush(self):
        traced = self.start()
        monitor = self.monitor("tag=request limit=1000000/s", [traced])
        traced.do("storm 2000 request query")
        self.assertEqual(traced.call("flush"), 1)
        traced.kill()
        self.assertEqual(len(self.seen(monitor, 8000)), 8000)

    def test_of_a_program_that_ends_at_once(self):
        monitor = self.monitor("tag=step")
        for _ in range(5):
            subprocess.run([OUR_PMTRACE, "-q", "-e", "true", "step"],
                           env=self.environment(), check=True, timeout=PATIENCE_S)
        self.assertEqual(len(self.seen(monitor, 5)), 5)
