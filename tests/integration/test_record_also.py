# SPDX-License-Identifier: LGPL-2.1-or-later
"""`pcp-trace record --also`: PCP's own metrics in the archive of a recording."""

import json
import os
import re
import signal
import subprocess

import recorded
from private_pmcd import PATIENCE_S, ReservedPort, completed, merged_namespace, pcp_configuration, stopped, wait_until
from test_record import Recording
from trace_test import OUR_LIBRARY, program, without_leaks

# A counter, a value, and one for each agent.
METRICS = "pmcd.pdu_in.total,pmcd.numclients,pmcd.agent.*"
WHAT_IT_INHERITS = ["sh", "-c", "ls /proc/self/fd; grep Sig[BIC] /proc/self/status"]


class Also(Recording):
    def plain_environment(self, library=OUR_LIBRARY, **variables):
        """A program's pmcd is that of this host."""
        port = {"PMCD_PORT": self.pmcd.pmcd_port, "PMCD_SOCKET": self.pmcd.pmcd_socket()}
        return without_leaks(super().plain_environment(library, **{**port, **variables}))

    def of_host(self):
        return {(each["metric"], each["instance"]): each for each in self.report()["host_metrics"]}

    def times_of(self, metric):
        dump = self.tool("pmdumplog", f"{self.folder}/trace", metric)
        return re.findall(r"^(\d\d:\d\d:\d\d\.\d+) ", dump, re.MULTILINE)


class Metrics(Also):
    """Those of --also are beside the tags."""

    def test_have_the_times_of_the_tags_in_pcps_tools_and_reports(self):
        """Also with single transactions, and in a part of the recording."""
        done = self.record(program("traced"), input="begin a\nsleep 0.1\nend a\n" * 8,  # load: several samples
                           options=["-t", "100ms", "--spans", "tag=a", "--also", METRICS])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"\Apcp-trace record: --also: left out: pmcd\.agent\.name is a text, not a number\n")
        archive = f"{self.folder}/trace"
        self.assertEqual(recorded.complaints(self.folder), "")
        self.assertEqual(recorded.statement(self.folder), "complete")
        times = self.times_of("pmcd.numclients")
        self.assertEqual(times, self.times_of("trace.agent.uptime")[:len(times)])
        statuses = [sample["pmcd.agent.status"] for sample in recorded.samples(self.folder) if "pmcd.agent.status" in sample]
        self.assertEqual(statuses, [{"pmcd": 0, "trace": 0}] * len(times))
        self.assertIn("Total PDUs", self.tool("pminfo", "-t", "-a", archive, "pmcd.pdu_in.total"))
        self.assertRegex(self.tool("pmval", "-r", "-t", "0.1", "-a", archive, "pmcd.pdu_in.total"), r"\n\S+ +\d+ *\n")
        rates = self.tool("pmrep", "-a", archive, "-t", "0.1", "pmcd.pdu_in.total", "trace.transact.count")
        self.assertRegex(rates, r"\n +[1-9]\d*\.\d+ +[1-9]\d*\.\d+\n")
        self.assertRegex(self.tool("pmlogsummary", archive, "pmcd.pdu_in.total"), r"^pmcd\.pdu_in\.total +[1-9]")
        values = self.of_host()
        self.assertEqual({metric for metric, _ in values}, {"pmcd.pdu_in.total", "pmcd.numclients", "pmcd.agent.fenced",
                                                            "pmcd.agent.status", "pmcd.agent.type"})
        asked = values["pmcd.pdu_in.total", None]
        self.assertEqual((asked["unit"], asked["is_rate"]), ("per second", True))
        self.assertGreater(asked["mean"], 0)
        self.assertLess(asked["max"], 400)  # two samples right after each other would make it greater
        self.assertLessEqual(asked["min"], asked["mean"])
        self.assertGreater(values["pmcd.numclients", None]["known_s"], 0.3)
        self.assertEqual(values["pmcd.agent.status", "trace"]["max"], 0)
        whole = self.report()
        self.assertEqual([tag["name"] for tag in whole["tags"]], ["a"])
        self.assertLessEqual(whole["run"]["samples"] - len(times), 1)  # the last one may be too early for a rate
        gate = completed(recorded.COMMAND, "report", "--fail-if", "pmcd.numclients max > 0", "--fail-if", "* calls > 8",
                         self.folder)
        self.assertIn("unknown: pmcd.numclients max > 0: no tag matches", gate.stdout)
        self.assertEqual(gate.returncode, 2, gate.stdout)
        self.assertRegex(gate.stdout, r"\nMetrics of the host +least +mean +greatest\npmcd\.pdu_in\.total +per second +\d")
        self.tool("pmlogextract", "-T", "500msec", archive, self.path("part"))
        part = json.loads(self.tool(recorded.COMMAND, "report", "--json", self.path("part")))
        self.assertEqual(len(part["host_metrics"]), len(values))

    def test_of_a_recorded_host_are_from_its_pmcd(self):
        recording = self.start_process(
            recorded.COMMAND, "record", "-q", "-t", "100ms", "--also", METRICS, "-h", self.pmcd.host(), "-o", self.folder,
            env=self.pmcd.pcp_environment(), stderr=subprocess.PIPE)
        self.trace(self.pmcd.environment(OUR_LIBRARY), "point a")
        self.wait_for_value("trace.point.count", {"a": 1})
        self.wait_for_samples(6)
        recording.send_signal(signal.SIGINT)
        self.assertRegex(recording.communicate(timeout=PATIENCE_S)[1], r"\A.*left out: pmcd\.agent\.name .*\n\Z")
        times = self.times_of("pmcd.numclients")
        self.assertEqual(times, self.times_of("trace.agent.uptime")[:len(times)])
        self.assertGreater(self.of_host()["pmcd.pdu_in.total", None]["mean"], 0)

    def test_are_those_of_pcps_libraries_if_there_is_no_pmcd(self):
        with open(self.path("root"), "w", encoding="utf-8") as file:
            file.write(merged_namespace(f"{pcp_configuration()['PCP_VAR_DIR']}/pmns/root_linux"))
        nobody = self.enterContext(ReservedPort()).number
        environment = self.plain_environment(PMNS_DEFAULT=self.path("root"), PMCD_PORT=nobody, PMCD_SOCKET="/none")
        metrics = "kernel.all.cpu,mem.util.free"
        done = recorded.record(self.folder, *WHAT_IT_INHERITS, environment=environment, options=["--also", metrics])
        self.assertEqual((done.returncode, done.stdout), (0, self.tool(*WHAT_IT_INHERITS)), done.stderr)
        self.assertEqual(self.of_host()["kernel.all.cpu.user", None]["unit"], "seconds per second")
        self.assertGreater(self.of_host()["mem.util.free", None]["min"], 1 << 20)
        for wanted, where, why in (
                ("pmcd.numclients", environment, "pmcd.numclients: .*; without a pmcd PCP has few metrics: start pmcd on this host"),
                (metrics, environment | {"PMNS_DEFAULT": "/none"}, r"no pmcd answers on this host, and PCP's agents do"
                 r" not work without it \(PMNS not accessible\): start pmcd, of PCP's package pcp")):
            failed = recorded.record(self.path("none"), "true", environment=where, options=["--also", wanted])
            self.assertEqual(failed.returncode, 125)
            self.assertRegex(failed.stderr, f"(?m)^pcp-trace record: --also: {why}$")

    def test_change_nothing_for_the_program(self):
        """PCP's library ignores a signal."""
        done = self.record(*WHAT_IT_INHERITS, options=["--also", METRICS])
        self.assertEqual((done.returncode, done.stdout), (0, self.tool(*WHAT_IT_INHERITS)), done.stderr)


class Failures(Also):
    """The end says what --also could not record."""

    def test_before_the_program_starts_are_of_names(self):
        for wanted, why in (("no.such.metric", "no.such.metric: there is no such metric"),
                            ("pmcd.numclients,x\x1b[2J", r"x\x1b[2J: there is no such metric"),
                            ("pmcd.timezone", "pmcd.timezone: is a text, not a number"),
                            ("pmcd.pmlogger", "pmcd.pmlogger: has nothing to record: pmcd.pmlogger."),
                            ("trace.*", "trace.*: is recorded anyway"),
                            ("tracing.events", "tracing.events: is recorded anyway"),
                            ("", '"" is not a list of metrics')):
            with self.subTest(wanted):
                done = self.record("touch", self.path("touched"), options=["--also", wanted])
                self.assertEqual(done.returncode, 125)
                self.assertTrue(done.stderr.startswith(f"pcp-trace record: --also: {why}"), done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)
                self.assertEqual(os.listdir(self.directory), [])

    def test_to_read_leave_a_gap_and_no_doubt_about_the_calls(self):
        recording = self.start_program(program("traced"), options=["-t", "100ms", "--also", "pmcd.numclients"])
        self.ask(recording, "point a")
        self.wait_for_samples(4)
        with stopped(self.pmcd.pmcd_pid()):  # it does not answer
            self.ask(recording, "point a")
            self.wait_for_value("trace.point.count", {"a": 2})
            self.wait_for_samples(4)
        self.pmcd.end_pmcd()
        self.wait_for_samples(4)
        self.pmcd.start_pmcd()
        wait_until(lambda: recorded.samples(self.folder)[-1].get("pmcd.numclients"), what="values again")
        self.wait_for_samples(4)
        _, errors = recording.communicate(timeout=PATIENCE_S)
        self.assertRegex(errors, r"\Apcp-trace record: --also: \d+ of \d+ samples without values of the host: pmcd.*\n\Z")
        self.assertEqual((recording.returncode, recorded.statement(self.folder)), (0, "complete"))
        self.assertEqual(recorded.complaints(self.folder), "")
        report = self.report()
        self.assertEqual(([tag["calls"] for tag in report["tags"]], report["run"]["gaps"]), ([2], []))
        self.assertEqual(len(report["host_metrics"]), 1)
        self.assertIn({}, [sample.get("pmcd.numclients") for sample in recorded.samples(self.folder)])
