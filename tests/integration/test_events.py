# SPDX-License-Identifier: LGPL-2.1-or-later
"""Spans as PCP's tools see them: hand-made programs capture for monitors."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import unittest

import events_wire
from event_monitor import END, EventMonitor
from events_wire import OBSERVE, encode_span
from pmlogger import Pmlogger
from pmproxy import Pmproxy
from private_pmcd import PATIENCE_S, completed, stopped, thread_states, wait_until
from trace_test import TraceTestCase

STRANGER = 65534

# Fetches once for each input line.
READER = """
import sys
from event_monitor import EventMonitor
with EventMonitor(sys.argv[1]) as monitor:
    monitor.want("tag=*")
    print("begun", flush=True)
    for _ in sys.stdin:
        print("asks", flush=True)
        print(len(monitor.spans()), flush=True)
"""


class EventsTestCase(TraceTestCase):
    def program(self, **hello):
        return self.enterContext(
            events_wire.Program(self.pmcd.path("run/trace.socket"), PATIENCE_S, **hello))

    def monitor(self, text=None, unix=True):
        monitor = self.enterContext(EventMonitor(self.pmcd.host(unix)))
        if text is not None:
            monitor.want(text)
        return monitor

    def capturing(self, text="tag=*", **host):
        """A program that captures for a monitor."""
        program, monitor = self.program(), self.monitor(text, **host)
        program.wait_for_filters(text)
        return program, monitor

    def pmevent(self, *options, unix=True, become=()):
        """Starts a pmevent that takes ten samples a second of all events."""
        return self.start_process(*become, "pmevent", "-h", self.pmcd.host(unix), "-t", "0.1", *options,
                                  "tracing.events", stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)

    def captures(self):
        return self.pmcd.value("tracing.agent.captures")


class Shown(EventsTestCase):
    def test_live_by_pmevent(self):
        program = self.program(service=b"shop")
        viewer = self.pmevent("-x", "tag=request", "-s", f"{10 * PATIENCE_S:.0f}")
        program.wait_for_filters("tag=request")
        program.send(encode_span(span=0xabc, parent=0xdef, duration_ns=1000,
                                 attributes=[(b"route", b"/cart"), (b"rows", 12.0)]))
        missing = {"flags 0x1a (start,id,parent)", "flags 0x1c (end,id,parent)",
                   'tracing.param.span "0000000000000abc"',
                   'tracing.param.parent "0000000000000def"',
                   'tracing.param.trace "00000000000000010000000000000002"',
                   'tracing.param.tag "request"', 'tracing.param.service "shop"',
                   'tracing.param.status "ok"', 'tracing.param.duration 1000',
                   'tracing.param.attributes "route=/cart rows=12"',
                   f'tracing.param.pid {os.getpid()}'}
        while missing:
            line = viewer.stdout.readline()
            self.assertNotEqual(line, "", missing)
            missing = {each for each in missing if each not in line}

    def test_of_a_pmlogger_by_pmevent_and_pmdumplog(self):
        archive = self.path("log")
        self.assertEqual(self.pmcd.pmstore("tracing.control.filter", "tag=request")[0], 0)
        program = self.program()
        logger = Pmlogger(self.pmcd, archive, "tracing.events", unix=True)
        self.addCleanup(logger.end)
        program.wait_for_filters("tag=request")
        program.send(encode_span(span=0xabc, parent=0xdef),
                     encode_span(span=0xabc, kind=OBSERVE, value=2.5))
        program.send(counts=[(program.control.captures["tag=request limit=1000/s"][0],
                              5, 1, 2, 0, 0)])

        def dumped():
            return completed("pmdumplog", archive, "tracing.events", stderr=subprocess.STDOUT).stdout
        wait_until(lambda: "2.5" in dumped() and "missed" in dumped(), what="them in the archive")
        logger.end()
        replayed = completed("pmevent", "-a", archive, "-t", "0.1", "tracing.events", check=True).stdout
        for shown in (dumped(), replayed):
            for text in ("start,id,parent", "end,id,parent", "point,id", "0000000000000abc",
                         "0000000000000def", "transact", "2.5", "3 missed event records"):
                self.assertIn(text, shown)


class Once(EventsTestCase):
    """Each monitor gets each requested event once, or counts it as missed."""

    def test_to_who_asks_twice_in_a_fetch(self):
        program, monitor = self.capturing()
        expected = program.send_some(3, 1)
        first, second, third = monitor.fetch(times=3)
        self.assertEqual(first, second)
        self.assertEqual(second, third)
        self.assertEqual([int(event.parameters["span"], 16) for event in first
                          if event.flags & END], expected)
        self.assertEqual(monitor.spans(), [])

    def test_bit_by_bit_where_there_are_many(self):
        program, monitor = self.capturing()
        expected, got = program.send_some(2000, 1), []
        while len(got) < len(expected):
            some = monitor.spans()
            self.assertLessEqual(monitor.bytes, 128 * 1024)
            self.assertGreater(len(some), 0)
            got += some
        self.assertEqual(got, expected)

    def test_or_counted_where_there_is_no_room(self):
        self.assertEqual(self.pmcd.pmstore("tracing.control.memory", 1 << 20)[0], 0)
        program = self.program()
        slow, fast = self.monitor("tag=*"), self.monitor("tag=*")
        program.wait_for_filters("tag=*")
        seen = 0
        for _ in range(10):
            program.send_some(1000, 1)
            while len(some := fast.spans()) > 0:
                seen += len(some)
        self.assertEqual((seen, fast.missed), (10_000, 0))
        got = 0
        while some := slow.spans():
            got += len(some)
        self.assertGreater(got, 1000)
        self.assertEqual(got + slow.missed, 10_000)
        self.assertEqual(self.pmcd.value("tracing.agent.missed.overwritten"), slow.missed)
        self.assertEqual(self.pmcd.value("tracing.agent.delivered"), 10_000 + got)


class Asking(EventsTestCase):
    def test_for_nothing_captures_nothing(self):
        program = self.program()
        monitor = self.monitor()
        self.assertIsNone(monitor.events())
        self.pmcd.pminfo("-f", "tracing", unix=True)
        self.assertEqual(self.captures(), 0)
        self.assertIsNone(program.control)
        self.assertFalse(program.has_been_told_something())

    def test_ends_with_the_monitor(self):
        program = self.program()
        viewer = self.pmevent("-x", "tag=request")
        program.wait_for_filters("tag=request")
        viewer.kill()
        program.wait_for_filters()
        self.assertEqual(self.captures(), 0)

    def test_ends_while_a_monitor_is_silent(self):
        self.assertEqual(self.pmcd.pmstore("tracing.control.idle", 1)[0], 0)
        program, monitor = self.capturing()
        program.wait_for_filters()  # without any request of pmcd: the agent notices by itself
        self.assertEqual(self.captures(), 0)
        self.assertEqual(monitor.events(), [])
        program.wait_for_filters("tag=*")
        expected = program.send_some(3, 1)
        self.assertEqual(monitor.spans(), expected)

    def test_for_what_the_agent_was_told_to_capture(self):
        self.pmcd.restart_agent(["--capture", "tag=request"])
        self.assertEqual(self.pmcd.value("tracing.control.filter"), "tag=request limit=1000/s")
        program = self.program()
        self.assertIsNone(program.control)
        monitor = self.monitor()
        self.assertEqual(monitor.events(), [])
        program.wait_for_filters("tag=request")
        expected = program.send_some(3, 1)
        self.assertEqual(monitor.spans(), expected)

    def test_is_forgotten_with_the_agent(self):
        self.assertEqual(self.pmcd.pmstore("tracing.control.filter", "tag=other")[0], 0)
        monitor = self.monitor("tag=request")
        self.pmcd.restart_agent()
        program = self.program()
        self.assertIsNone(monitor.events())
        self.assertEqual(self.pmcd.value("tracing.control.filter"), "")
        self.assertEqual(self.captures(), 0)
        monitor.want("tag=request")
        program.wait_for_filters("tag=request")
        expected = program.send_some(3, 1)
        self.assertEqual(monitor.spans(), expected)


class Unharmed(EventsTestCase):
    """Parts that spans must not disturb."""

    def test_are_monitors_beside_one_that_reads_no_more(self):
        self.assertEqual(self.pmcd.pmstore("tracing.control.fetch", 8 << 20)[0], 0)
        program = self.program()
        reader = self.start_process(sys.executable, "-B", "-c", READER, self.pmcd.host(unix=True),
                                    stdin=subprocess.PIPE)
        self.assertEqual(reader.stdout.readline(), "begun\n")
        program.wait_for_filters("tag=*")
        program.send_some(5000, 1)
        for _ in range(3):
            with contextlib.ExitStack() as still:
                with self.pmcd.stopped_agent():
                    reader.stdin.write("fetch\n")
                    reader.stdin.flush()
                    self.assertEqual(reader.stdout.readline(), "asks\n")
                    wait_until(lambda: set(thread_states(reader.pid)) == {"S"}, what="its request")
                    still.enter_context(stopped(reader.pid))
                # The answer is on its way, and the reader does not read.
                self.assertEqual(self.pmcd.value("trace.control.port"), self.pmcd.trace_port)
            self.assertGreater(int(reader.stdout.readline()), 300)

    def trace_a_point(self):
        self.trace(self.environment(), "point a")
        self.assert_values(self.pmcd, "trace.point.count", {"a": 1})

    def test_are_tools_that_read_all_of_trace(self):
        self.trace_a_point()
        self.program()
        for tool in filter(None, (shutil.which("pmrep"), shutil.which("pcp2json"))):
            done = completed("/usr/bin/python3", tool, "-s", "1", "-h", self.pmcd.host(unix=True), "trace")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("count", done.stdout)
        self.assertEqual(self.captures(), 0)

    def test_are_monitors_beside_pmproxy_whose_clients_may_neither_see_spans_nor_store(self):
        self.trace_a_point()
        program, monitor = self.capturing("tag=request")
        self.assertEqual(self.pmcd.pmstore("tracing.control.filter", "tag=*")[0], 0)
        expected = program.send_some(3, 1)
        with Pmproxy(self.pmcd) as proxy:
            context = json.loads(proxy.ask("context"))["context"]
            for root, known in (("tracing", "tracing.events"), ("trace", "trace.point.count")):
                names = self.pmcd.pminfo(root).split()
                self.assertIn(known, names)
                for _ in range(2):  # with permission, the first fetch would begin a capture
                    proxy.ask("fetch", names=",".join(names), context=context)
                proxy.ask("metrics", names=root)
            self.assertIn("trace_point_count", proxy.ask("metrics", names="trace.point.count"))
            for names in ("tracing.events", "tracing.events,tracing.agent.captures"):
                self.assertNotIn("0000000000000001", proxy.ask("fetch", names=names))
            for name in ("tracing.control.filter", "trace.control.reset", "trace.agent.debug"):
                self.assertIn("No permission", proxy.ask("store", name=name, value="1"))
            self.assertEqual(self.captures(), 1)
        self.assertFalse(program.has_been_told_something())
        self.assertEqual(monitor.spans(), expected)
        self.assertRegex(self.pmcd.value("tracing.control.filter"), r"^tag=\* ")


class Permitted(EventsTestCase):
    @unittest.skipUnless(os.getuid() == 0, "only root can be somebody else")
    def test_is_another_user_to_see_his_own_programs(self):
        self.pmcd.open_to_everybody()
        become = ["setpriv", "--reuid", str(STRANGER), "--clear-groups"]
        roots = self.program()
        viewer = self.pmevent("-x", "tag=*", become=become)
        wait_until(lambda: self.captures() == 1, what="a capture")
        # The child becomes another user only after the import: the directory may be readable to this user only.
        strangers = subprocess.Popen(
            [sys.executable, "-B", "-c", f"""
import os, sys
sys.path.insert(0, {os.path.dirname(events_wire.__file__)!r})
import events_wire
os.setgroups([])
os.setuid({STRANGER})
with events_wire.Program({self.pmcd.path("run/trace.socket")!r}, {PATIENCE_S}) as program:
    program.send(events_wire.encode_span(span=0xabc))
"""], stderr=subprocess.PIPE, text=True)
        complaints = strangers.communicate(timeout=PATIENCE_S)[1]
        self.assertEqual((strangers.returncode, complaints), (0, ""))
        while "0000000000000abc" not in (line := viewer.stdout.readline()):
            self.assertNotEqual(line, "")
        self.assertFalse(roots.has_been_told_something())
