# SPDX-License-Identifier: LGPL-2.1-or-later
"""Labelled tags as text, which any call takes: without room for the labels, all calls count under the bare name."""


from private_pmcd import completed
from trace_test import STOCK_AGENT, TraceTestCase, library_environment, program


def points(*tags):
    return [f"point {tag}" for tag in tags]


class SetsOfLabels(TraceTestCase):
    THREE = points("a{i=1}", "a{i=2}", "a{i=3}", "a{i=3}", "b{i=1}", "a{i=1}", "a")

    def counts(self, lines, told="", **variables):
        pmcd = self.start_pmcd()
        returned, complaints = self.trace_loudly(self.environment(pmcd, **variables), *lines)
        self.assertEqual(set(returned), {0})
        self.assertRegex(complaints, rf"\A{told}\Z")
        return pmcd.values("trace.point.count")

    def test_beyond_those_that_a_name_may_have_count_for_the_name(self):
        self.assertEqual(
            self.counts(self.THREE, 'pcp_trace: "a" has more than 2 label sets: .*\n',
                        PCP_TRACE_MAX_LABEL_SETS=2),
            {"a{i=1}": 2, "a{i=2}": 1, "a": 3, "b{i=1}": 1})

    def test_may_be_switched_off(self):
        self.assertEqual(self.counts(self.THREE, PCP_TRACE_MAX_LABEL_SETS=0), {"a": 6, "b": 1})

    def test_without_room_have_their_own_transactions(self):
        pmcd = self.start_pmcd()
        calls = ("point a{i=1}", "begin a{i=2}", "begin a{i=3}", "end a{i=2}", "begin a{i=2}", "end a{i=3}",
                 "end a{i=2}")
        returned, _ = self.trace_loudly(self.environment(pmcd, PCP_TRACE_MAX_LABEL_SETS=1), *calls)
        self.assertEqual(set(returned), {0})
        self.assert_values(pmcd, "trace.transact.count", {"a": 3})

    def test_have_room_whichever_thread_is_first(self):
        environment = library_environment(self.library, PCP_TRACE_NOAGENT=1, PCP_TRACE_MAX_LABEL_SETS=4)
        done = completed(program("same_labels"), env=environment, check=True)
        self.assertEqual((done.stdout, done.stderr), ("0\n", ""))

    def test_may_be_a_thousand(self):
        lines = points(*(f"a{{i={i}}}" for i in range(1002)))
        counts = self.counts(lines, "pcp_trace: .*\n")
        self.assertEqual((len(counts), counts["a"]), (1001, 2))

    def test_are_no_matter_for_other_text(self):
        tags = {"a{}": 1, "a{I=1}": 1, "a{i=1;h=2}": 1, "{i=1}": 1}
        self.assertEqual(self.counts(points(*tags), PCP_TRACE_MAX_LABEL_SETS=0), tags)


class TagsThatAStockAgentDoesNotTake(TraceTestCase):
    agent = STOCK_AGENT

    def test_arrive_under_their_bare_name(self):
        pmcd = self.start_pmcd()
        fits = "a{i=" + "x" * 119 + "}"
        self.assertEqual(len(fits), 124)
        tags = (fits, fits.replace("i=", "i=y"), fits.replace("i=", "i=z"), "a")
        self.trace(self.environment(pmcd), *points(*tags))
        self.assert_values(pmcd, "trace.point.count", {fits: 1, "a": 3})


class Rank(TraceTestCase):
    def test_of_a_process_is_one_of_its_labels(self):
        pmcd = self.start_pmcd()
        self.trace(self.environment(pmcd, SLURM_PROCID=7), "point a")
        self.assert_values(pmcd, "trace.point.count", {"a": 1})
        self.assertRegex(pmcd.pminfo("-l", "trace.point.count"), r'"a"\] labels \{.*"rank":"7"')
