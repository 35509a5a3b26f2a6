# SPDX-License-Identifier: LGPL-2.1-or-later
"""A file of `pcp trace export --chrome` of real programs, and the same transactions as another monitor
saw them. Two programs make transactions that are hard for viewers: nested ones, on two threads,
overlapping, across processes, with notes, with hostile names."""

import json
import os
import signal
import subprocess

import recorded
from event_monitor import END, POINT, EventMonitor
from private_pmcd import PATIENCE_S, wait_until
from trace_test import Traced

FILTER = ("tag=*", "kind=point,observe,counter")
# A tag in a line of the programs' input cannot have a blank.
HOSTILE_TAGS = ('"><img/src=x/onerror=alert(1)>', "</script><script>alert(2)</script>", "\\u0041\\",
                "__proto__", "constructor", "%s%n", "日本🙂", "\u2028", "\x1b[31m", "x" * 254)
OVERLAPPING = "late"  # it begins inside another one on its thread, and ends after it


def _serve(shop, bank):
    """Makes one request. Gives the number of its transactions and events."""
    shop.do("begin 0 request", "note 0 route /cart", "number 0 rows 12", "note 0 \" <b>", "begin 1 query")
    for tag in HOSTILE_TAGS:
        shop.do(f"begin 2 {tag}", "end 2")
    shop.do("end 1", "point hit", "observe rows 17", "add bytes 4096", "count length 1")
    bank.do(f"from 0 pay {shop.ask('parent 0')}", "begin 1 query", "end 1", "fail 0 declined")
    shop.do("thread 1", "under 4 part 0", "begin 5 query", "end 5", "end 4", "thread 0", "begin 6 early",
            f"begin 7 {OVERLAPPING}", "end 6", "end 7", "end 0")
    return 8 + len(HOSTILE_TAGS) + 4


class Exported:
    """`events` are the parameters of what was captured, and `path` and `document` the file."""

    def __init__(self, test, pmcd, directory):
        self.path = os.path.join(directory, "spans.json")
        command = subprocess.Popen(
            [recorded.COMMAND, "export", "--chrome", self.path, "-h", pmcd.host(True), *FILTER],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        test.addCleanup(command.communicate)
        test.addCleanup(command.kill)
        wait_until(lambda: pmcd.value("tracing.agent.captures") == 1, what="the export to begin")
        with EventMonitor(pmcd.host(True)) as monitor:
            monitor.want(" ".join(FILTER))
            self.events = []
            self._trace(test, pmcd, monitor)
        command.send_signal(signal.SIGINT)
        said, complaints = command.communicate(timeout=PATIENCE_S)
        test.assertEqual((command.returncode, complaints), (0, ""))
        test.assertRegex(said, rf"^{self.path}: \d+ traces, {len(self.events)} spans, for ")
        with open(self.path, encoding="utf-8") as file:
            self.document = json.load(file)

    def _trace(self, test, pmcd, monitor):
        programs = []
        for service in ("shop", "bank"):
            environment = test.environment(pmcd, PCP_TRACE_SERVICE=service, PCP_TRACE_FLUSH=5)
            programs.append(Traced(environment, "traces"))
            test.addCleanup(programs[-1].kill)
        tried = sum(self._wait_until_captured(program) for program in programs)
        count = tried + _serve(*programs)
        self._see(pmcd, monitor, count)
        # The command fetches again only after it has kept the last fetch.
        programs[0].do("begin 0 last", "end 0")
        self._see(pmcd, monitor, count + 1)

    @staticmethod
    def _wait_until_captured(program):
        """Waits until a transaction is captured. Gives the number of captured ones: one."""
        def is_captured():
            program.do("begin 0 first")
            captured = program.call("captured 0")
            program.do("end 0")
            return captured
        wait_until(is_captured, what="the program to know what to capture")
        return 1

    def _see(self, pmcd, monitor, count):
        def has_come():
            self.events.extend(event.parameters for event in monitor.events() or ()
                               if event.flags & (END | POINT))
            return len(self.events) >= count
        wait_until(has_come, what=f"{count} events")
        assert len(self.events) == count, self.events
        wait_until(lambda: pmcd.value("tracing.agent.delivered") == 2 * count, what="the export")

    def spans(self):
        return [event for event in self.events if "duration" in event]

    def named(self, phase):
        """Gives the file's events of this phase."""
        return [event for event in self.document["traceEvents"] if event["ph"] == phase]
