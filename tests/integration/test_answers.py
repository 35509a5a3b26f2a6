# SPDX-License-Identifier: LGPL-2.1-or-later
"""pcp trace report answers by label: which rank is slow, which share of a service's answers are conflicts."""

import shutil

import recorded
from private_pmcd import wait_until
from test_report import ReportTestCase, report, strict_json, tags_of
from trace_test import library_environment, program

RANKS = 8


class ByLabel(ReportTestCase):
    def record_programs(self, *inputs, **variables):
        """Records one traced program for each input, all at once. Gives the folder."""
        names = []
        for number, lines in enumerate(inputs):
            names.append(self.path(f"input-{number}"))
            with open(names[-1], "w", encoding="utf-8") as file:
                file.write("".join(line + "\n" for line in lines))
        script = 'traced=$0; for input; do "$traced" <"$input" & done; wait'
        done = recorded.record(self.path("run.trace"), "sh", "-c", script, program("traced"), *names,
                               environment={**library_environment(self.library), **variables})
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path("run.trace")

    def test_one_command_finds_the_slow_rank(self):
        def calls(rank):
            wait = 0.3 if rank == 5 else 0.01
            return [f"begin compute{{rank={rank}}}", f"sleep {wait}", f"end compute{{rank={rank}}}"] * 3
        folder = self.record_programs(*(calls(rank) for rank in range(RANKS)))
        times = {name: tag["sum"] for (_, name), tag in tags_of(folder).items()}
        self.assertEqual(len(times), RANKS)
        self.assertIn("\nuneven   compute: rank=5 takes ", report(folder).stdout)
        (found,) = strict_json(report("--json", folder).stdout)["imbalances"]
        self.assertEqual((found["name"], found["label"], found["values"]), ("compute", "rank", RANKS))
        self.assertEqual(found["greatest"][0]["value"], "5")
        self.assertEqual((found["min"], found["max"]), (min(times.values()), max(times.values())))
        self.assertAlmostEqual(found["ratio"], max(times.values()) / (sum(times.values()) / RANKS))

    def test_lets_no_gate_pass_by_calls_that_lost_their_labels(self):
        calls = ["point request"] + ["point request{status=%d}" % status for status in (200, 404, 500)] * 3
        for limit, status in (("3", 0), ("2", 2)):
            folder = self.record_programs(calls, PCP_TRACE_MAX_LABEL_SETS=limit)
            done = report("--fail-if", "request{status=404} calls > 3", "--fail-if", "request{status=*} calls > 3", folder)
            self.assertEqual(done.returncode, status, done.stdout)
            self.assertEqual("folded: up to 4 calls of request may be" in done.stdout, limit == "2", done.stdout)
            shutil.rmtree(folder)

    def test_shows_the_share_of_conflicts_of_three_processes(self):
        def answers(zone, good, conflicts):
            return ([f"point answer{{status=200;zone={zone}}}"] * good +
                    [f"point answer{{status=409;zone={zone}}}"] * conflicts)
        folder = self.record_programs(answers("a", 900, 3), answers("b", 950, 5), answers("c", 142, 0))

        def counts(*options):
            return {name: tag["calls"] for (_, name), tag in tags_of(*options, folder).items()}
        self.assertEqual(counts("--by", "status"), {"answer{status=200}": 1992, "answer{status=409}": 8})
        self.assertEqual(counts("--by", "zone", "--where", "status=4*"), {"answer{zone=a}": 3, "answer{zone=b}": 5})
        self.assertEqual(counts("--by", "name"), {"answer": 2000})
        self.assertEqual(counts("--filter", "*zone=c}"), {"answer{status=200;zone=c}": 142})

    def test_of_a_pmlogger_are_those_of_its_distributions(self):
        pmcd = self.start_pmcd()
        logger = self.start_pmlogger(pmcd, "log", "trace, tracing.histogram")
        traced = self.start_traced(self.environment(pmcd, PCP_TRACE_FLUSH=5), "traced")

        def trace():
            for rank in range(3):
                traced.call(f"obs {10 ** rank} size{{rank={rank}}}")
            return pmcd.values("tracing.histogram.observe")
        wait_until(trace, what="distributions")
        self.wait_for_samples("log")
        logger.end()
        fine = tags_of(self.path("log"))
        tag = tags_of("--by", "name", self.path("log"))["observe", "size"]
        self.assertEqual(tag["calls"], sum(each["calls"] for each in fine.values()))
        self.assertIn("histogram", tag["percentiles_from"])
        self.assertAlmostEqual(tag["p50"] / 10, 1, delta=0.02)

    def test_refuses_what_is_no_label_or_column(self):
        for wrong, why in ((("--by", "Rank"), '"Rank" is no label'), (("--where", "rank"), "lacks a value"),
                           (("--sort", "p42"), "unknown column \"p42\"; columns are calls, rate"), (("--top", "0"), "is no number"),
                           (("--top", "3", "--compare", "old"), "--top, --all and --sort go without --compare: "),
                           (("--compare", "--fail-if", "a mean > +1%"), "--compare: needs the older recording; --fail-if comes ")):
            self.assert_one_line(report(*wrong), why)
