# SPDX-License-Identifier: LGPL-2.1-or-later
"""The C++ header keeps its promises: in C++17 and C++20, with and without exceptions, and off."""

import os
import subprocess

import noted
from private_pmcd import PATIENCE_S, completed
from trace_test import TraceTestCase, program


TOLD = ('pcp_trace: "a" is not traced: a tag must have 1 to 254 bytes, without NUL\n'
        'pcp_trace: "served{route=/cart}" gets no more labels: label "cached" has no value\n'
        'pcp_trace: "served" with its labels is longer than 254 bytes: recorded without them\n'
        'pcp_trace: "added" is not traced: label "by" has no value\n')


class CppApi(TraceTestCase):
    def counts_of(self, name, told=""):
        pmcd = self.start_pmcd()
        done = completed(program(name), env=self.environment(pmcd))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", told), name)
        self.labels = pmcd.pminfo("-l", "trace.counter.total")
        return {metric: pmcd.values(f"trace.{metric}")
                for metric in ("transact.count", "transact.aborts", "point.count", "observe.value",
                               "counter.value", "counter.total")}

    def check(self, exceptions, thrown):
        """`thrown`: how many exceptions leave a scope, and how many a measured function."""
        for standard in (17, 20):
            self.assertEqual(self.counts_of(f"cpp{standard}-{exceptions}", TOLD), {
                "transact.count": {"scope": 5 + thrown, "measured": 3, "named": 1, "n" * 254: 1,
                                    "request": 9, "noted": 1, "served{route=/cart}": 3,
                                    "served": 3, "served{reason=short;route=/cart}": 1, "scope{status=0}": 0,
                                    "served{cached=true;route=/cart;status=504}": 1,
                                    "served{route=/cart;status=404}": 0},
                "transact.aborts": {"scope": 1 + thrown, "measured": thrown, "named": 0,
                                    "n" * 254: 0, "request": 0, "noted": 2, "served{route=/cart}": 0,
                                    "served": 0, "served{reason=short;route=/cart}": 0, "scope{status=0}": 1,
                                    "served{cached=true;route=/cart;status=504}": 0,
                                    "served{route=/cart;status=404}": 1},
                "point.count": {"everything": 1, "named": 1, "labelled{b=named;route=/cart}": 1,
                                "named{a=1}": 1},
                "observe.value": {"everything": 2, "named": 2**40, "labelled": 5},
                "counter.value": {"everything": 3, "named": 2**50},
                "counter.total": {"added{by=call}": 2**40 + 3.5}})
            self.assertRegex(self.labels, r'"by":"call".*"description":"Sum of all additions, \.+".*'
                             r'"tag":"added".*"unit":"bytes"')

    def test_with_exceptions(self):
        self.check("exceptions", thrown=1)

    def test_what_is_told_of_a_tag_does_no_harm_where_nobody_reads(self):
        reader, writer = os.pipe()
        os.close(reader)
        self.addCleanup(os.close, writer)
        done = subprocess.run([program("cpp17-exceptions")], env=self.environment(self.start_pmcd()),
                              stderr=writer, timeout=PATIENCE_S, check=False)
        self.assertEqual(done.returncode, 0)

    def test_closes_no_transaction_that_is_not_open(self):
        done = completed(program("cpp17-exceptions"), env=self.environment( self.start_pmcd(), PCP_TRACE_DEBUG="api"))
        self.assertIn('abort "scope"', done.stderr)
        for close in ("end refused", "abort refused"):
            self.assertNotIn(close, done.stderr)

    def test_without_exceptions(self):
        self.check("no-exceptions", thrown=0)

    def test_notes_are_those_that_a_monitor_sees(self):
        pmcd = self.start_pmcd()
        noted.assert_noted(self, pmcd, program("notes"), environment=self.environment(pmcd), tag="request{status=504}")

    def test_compiled_out_in_one_unit_of_two(self):
        self.assertEqual(self.counts_of("mixed_units")["point.count"], {"traced": 1})
