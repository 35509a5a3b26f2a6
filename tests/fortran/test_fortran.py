# SPDX-License-Identifier: LGPL-2.1-or-later
"""The agent gets all that Fortran programs trace: by the module, by name, and from many processes at once."""

import re
import subprocess

import noted
from private_pmcd import PATIENCE_S, completed
from trace_test import TraceTestCase, library_environment, program

THREADS = 4
ROUNDS = 10_000  # as in ranks.f90


class FortranTestCase(TraceTestCase):
    def setUp(self):
        self.pmcd = self.start_pmcd()

    def start(self, *command, **variables):
        return self.start_process(*command, env=self.environment(self.pmcd, **variables), stderr=subprocess.STDOUT)

    def result_of(self, process):
        """Gives the program's output; fails unless the program succeeds."""
        printed, _ = process.communicate(timeout=2 * PATIENCE_S)
        self.assertEqual(process.returncode, 0, printed)
        return printed

    def run_program(self, *command, **variables):
        return self.result_of(self.start(*command, **variables))

    def assert_labels(self, metric, *labels):
        shown = self.pmcd.pminfo("-l", f"trace.{metric}")
        for label in labels:
            self.assertIn(label, shown)

    def values(self, *metrics):
        return {metric: self.pmcd.values(f"trace.{metric}") for metric in metrics}


class Module(FortranTestCase):
    def check(self, name):
        self.pmcd.pmstore("trace.control.reset", 1)
        self.assertEqual(
            self.run_program(program(name)),
            'pcp_trace: "name": -1 was not added: an increment must be finite and not negative\n'
            'pcp_trace: "name" is not traced: label "Not a label" is not [a-z][a-z0-9_]*\nwell\n')
        self.assertEqual(
            self.values("transact.count", "transact.aborts", "point.count", "observe.count",
                        "observe.sum", "observe.value", "counter.count", "counter.value",
                        "counter.total"),
            {"transact.count": {"handle": 2, "name": 1, "phase": 5, "twice": 1},
             "transact.aborts": {"handle": 2, "name": 2, "phase": 0, "twice": 0},
             # The agent shows blanks at the beginning of a tag like this.
             "point.count": {"handle": 2, "name": 2, r"\x20\x20blanks before and within": 1,
                             "solve{grid=a%20b;method=cg}": 2, "solve{grid=}": 1},
             "observe.count": {"handle": 8, "name": 8},
             "observe.sum": {"handle": 255.25, "name": 255.25},
             "observe.value": {"handle": 32.25, "name": 32.25},
             "counter.count": {"handle": 8, "name": 8, "handle-sum": 8, "name-sum": 8},
             "counter.value": {"handle": 32.25, "name": 32.25},
             "counter.total": {"handle-sum": 255.25, "name-sum": 255.25}})
        self.assert_labels("point.count", '"grid":"a b"', '"method":"cg"', '"unit":"s"',
                           '"description":"what it takes"')
        self.assert_labels("observe.count", '"unit":"K"', '"description":"how warm it is"')

    def test_takes_the_usual_default_kinds_and_those_of_64_bits(self):
        for name in ("fortran_module", "fortran_module_wide"):
            with self.subTest(name):
                self.check(name)

    def test_ends_scopes_however_they_are_left(self):
        for name in ("fortran_scopes", "fortran_scopes_optimised"):
            self.pmcd.pmstore("trace.control.reset", 1)
            self.assertEqual(self.run_program(program(name)),
                             'pcp_trace: "solve{grid=fine;method=direct}" gets no more labels: label "Result" is not'
                             ' [a-z][a-z0-9_]*\n')
            counts = self.values("transact.count", "transact.aborts")
            self.assertEqual(counts["transact.count"], {
                "end of a block": 1, "cycle in a block": 3, "exit from a block": 1, "return": 2,
                "outer return": 1, "inner return": 1, "nested": 2, "aborted": 0, "ended": 1,
                "begun twice": 2, "fixed array": 2, "square": 2, "automatic array": 3,
                "allocated array": 3, "deallocated array": 3, "private of a thread": 4,
                "in used memory": 1, "solve{grid=fine;method=direct}": 1,
                "solve{grid=fine;method=cg;result=ok}": 2,
                "solve{grid=fine;method=direct;result=singular}": 0}, name)
            self.assertEqual({tag for tag, aborts in counts["transact.aborts"].items() if aborts},
                             {"aborted", "solve{grid=fine;method=cg;result=ok}",
                              "solve{grid=fine;method=direct;result=singular}"})

    def test_ends_no_scope_that_is_not_open(self):
        lines = self.run_program(program("fortran_scopes"), PCP_TRACE_DEBUG="api").splitlines()
        self.assertEqual([line for line in lines if "refused" in line and "in progress" in line],
                         3 * ["pcp_trace: end refused: Transaction is not in progress"])  # scopes.f90 provokes these

    def test_tells_once_of_a_tag_that_was_never_set(self):
        self.assertEqual(self.run_program(program("fortran_unset")).splitlines(), [
            "not said yet",
            "pcp_trace: a pmtrace_tag that was never set, or whose name is blank, is not traced: "
            "first write tag = pmtrace_tag('name'), with a name of 1 to 254 bytes"])


class Traces(FortranTestCase):
    TRACE = "[00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01]"
    STATE = "[a=b,c=d]"
    HEADERS = {
        "none": "[] []", "thread": f"{TRACE} {STATE}", "inner": f"{TRACE} {STATE}",
        "under none": "[] []", "after it": "[] []", "under what has ended": f"{TRACE} {STATE}",
        "scope": f"{TRACE} []", "scope under scope": f"{TRACE} []", "after the scopes": "[] []",
        "blank": "[] []", "short": "[] []", "no state": f"{TRACE} []", "long state": f"{TRACE} []",
        "another thread": "[] []", "attached": f"{TRACE} [a=b]", "detached": "[] []",
        "too little": "[] []", "at the end": "[] []"}

    def headers(self, name, **variables):
        printed = self.run_program(program(name), **variables)
        self.assertIn("each kind of status\n", printed)
        return dict(line.split(": ") for line in printed.splitlines() if ": " in line)

    def test_are_passed_on(self):
        for name in ("fortran_traces", "fortran_traces_wide"):
            self.pmcd.pmstore("trace.control.reset", 1)
            self.assertEqual(self.headers(name), self.HEADERS)
            counts = self.values("transact.count", "transact.aborts")
            self.assertEqual(counts, {"transact.count": {"request": 19, "step": 10},
                                      "transact.aborts": {"request": 0, "step": 1}})

    def test_go_nowhere_in_a_program_without_tracing(self):
        self.assertEqual(self.headers("fortran_traces_disabled"),
                         {what: "[] []" for what in self.HEADERS})

    def test_begin_where_all_are_to_have_ids(self):
        headers = self.headers("fortran_traces", PCP_TRACE_IDS="always")
        for what in ("none", "under none", "blank", "short"):
            self.assertRegex(headers[what], r"^\[00-[0-9a-f]{32}-[0-9a-f]{16}-02\] \[\]$")
        self.assertEqual(headers["thread"], self.HEADERS["thread"])


class Notes(FortranTestCase):
    def test_are_those_that_a_monitor_sees(self):
        for name in ("fortran_notes", "fortran_notes_wide"):
            self.pmcd.pmstore("trace.control.reset", 1)
            noted.assert_noted(self, self.pmcd, program(name),
                               environment=self.environment(self.pmcd), tag="request{status=504}")
            aborts = self.values("transact.aborts")["transact.aborts"]
            self.assertEqual({tag: count for tag, count in aborts.items() if count},
                             {"request{status=504}": 1, "other": 3})

    def test_are_nothing_where_nobody_asks_for_them(self):
        for name in ("fortran_notes", "fortran_notes_wide", "fortran_notes_disabled"):
            self.assertEqual(self.run_program(program(name), "never"), "")


class Earlier(FortranTestCase):
    def test_is_timed_from_then_in_each_form(self):
        """A tag has its text, and MMV its errors. -22: no name; -2: no agent is there; -16: too late."""
        done = completed(program("fortran_earlier"), check=True, env=library_environment(
            self.library, PCP_TRACE_SOCKET="/nowhere", PCP_TRACE_DEBUG="api"))
        self.assertEqual(done.stdout.splitlines(), [" -22 -22", '"waited{zone=eu}" ""', "T", "T", "  -2 -16"])
        ended = re.findall(r'transaction "(.*)", seconds ([\d.e-]+)', done.stderr)
        self.assertEqual([tag for tag, _ in ended], ["waited{zone=eu}", "part", "waited{zone=eu}", "scope", "under", "from"])
        for tag, seconds in ended:
            self.assertTrue(2 <= float(seconds) < 2 + PATIENCE_S, (tag, seconds))
        self.assertIn('counter "total"', done.stderr)


class LegacyCalls(FortranTestCase):
    """A program that declares the calls itself, and those that have the include file for it."""

    def check(self, name):
        self.pmcd.pmstore("trace.control.reset", 1)
        lines = self.run_program(program(name)).splitlines()
        statuses = [int(line) for line in lines[:-2]]
        self.assertEqual(statuses, [0, 0, 0, -12001, 0, -12002, 0, 0, 0, 0, 0, -12000])
        message = "Transaction is already in progress"
        self.assertEqual(lines[-2:], [f" [{message:40}]", " [Tran]"])
        self.assertEqual(
            self.values("transact.count", "transact.aborts", "point.count", "observe.value",
                        "counter.value", "counter.total"),
            {"transact.count": {"legacy": 1}, "transact.aborts": {"legacy": 1}, "point.count": {"legacy": 1},
             "observe.value": {"legacy": 2.5}, "counter.value": {"legacy": 42},
             "counter.total": {"legacy{added=}": 2}})
        self.assert_labels("point.count", '"unit":"bytes"', '"description":"what is read"')

    def test_are_counted_in_each_form_and_with_default_kinds_of_64_bits(self):
        for name in ("fortran_f77", "fortran_fixed", "fortran_free", "fortran_free_wide"):
            with self.subTest(name):
                self.check(name)


class Ranks(FortranTestCase):
    def test_count_exactly_with_openmp_threads_in_several_processes(self):
        processes = 4
        ranks = [self.start(program("fortran_ranks")) for _ in range(processes)]
        for rank in ranks:
            self.assertEqual(self.result_of(rank), "0\n")
        calls = processes * THREADS * ROUNDS
        self.assertEqual(
            self.values("transact.count", "point.count", "observe.count", "observe.sum"),
            {"transact.count": {"shared": calls, "exchange": calls / 2, "solve": calls / 2},
             "point.count": {"shared": calls}, "observe.count": {"shared": calls},
             "observe.sum": {"shared": calls * (ROUNDS + 1) / 2}})
