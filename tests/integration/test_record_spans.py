# SPDX-License-Identifier: LGPL-2.1-or-later
"""`pcp trace record --spans`: each captured span is in the archive, or counts as missed, for all of PCP's tools and for
ours."""

import collections
import json
import os
import re
import signal
import struct
import subprocess

import recorded
from pmlogger import Pmlogger
from private_pmcd import PATIENCE_S, completed, pcp_configuration, stopped, wait_until
from trace_test import OUR_LIBRARY, Traced, TraceTestCase, library_environment, program

UNLIMITED = "limit=1000000/s"


class RecordSpansTestCase(TraceTestCase):
    def setUp(self):
        self.folder = self.path("run.trace")
        self.archive = os.path.join(self.folder, "trace")

    def report(self, *archives):
        """The spans in the report."""
        done = completed(recorded.COMMAND, "report", "--json", *(archives or [self.folder]), check=True,
                         timeout=4 * PATIENCE_S)
        return json.loads(done.stdout)["spans"]

    def spans_so_far(self):
        """The number of spans in the archive, which may not have begun yet."""
        done = completed(recorded.COMMAND, "report", "--json", self.folder, timeout=4 * PATIENCE_S)
        return json.loads(done.stdout)["spans"]["spans"] if done.returncode == 0 else 0

    def replayed(self, archive=None):
        """Gives how often pmevent shows the end of each tag's transactions, and how many events it reports as
        missed."""
        shown = completed("pmevent", "-a", archive or self.archive, "tracing.events", check=True,
                          stderr=subprocess.STDOUT, timeout=4 * PATIENCE_S).stdout
        tags = collections.Counter()
        for event in re.split(r"--- event record \[\d+\] flags ", shown)[1:]:
            if re.match(r"\S+ \(end", event):
                tags[re.search(r'tracing\.param\.tag "(.*)"', event)[1]] += 1
        return tags, sum(map(int, re.findall(r"(\d+) missed event records", shown)))

    def assert_sound(self):
        self.assertEqual(recorded.complaints(self.folder), "")


class Recorded(Traced):
    """A recorded traces.c, which obeys one line after the other."""

    def __init__(self, folder, text, *options, **variables):
        record = [recorded.COMMAND, "record", "-q", "-o", folder, "-t", "50ms", "--spans", text, *options, "--"]
        super().__init__(library_environment(OUR_LIBRARY, **{"PCP_TRACE_FLUSH": 5} | variables), "traces", record)

    def do_many(self, lines):
        """The same as do(), without a check of each answer."""
        self.process.stdin.write("".join(line + "\n" for line in lines))
        for _ in lines:
            self.process.stdout.readline()


class OfPrograms(RecordSpansTestCase):
    def start(self, text, *options, **variables):
        run = Recorded(self.folder, text, *options, **variables)
        self.addCleanup(run.kill)
        return run

    def test_are_all_in_the_archive(self):
        for version in "23":
            with self.subTest(version=version):
                self.folder = self.path(version)
                self.archive = os.path.join(self.folder, "trace")
                run = self.start(f"tag=request kind=point {UNLIMITED}", "--archive-version", version)
                run.do(*["begin 0 request", "number 0 rows 12", "begin 1 query", "note 1 sql select", "fail 1 no", "point miss",
                         "end 0", "begin 2 other", "end 2"] * 200)
                self.assertEqual(run.end(), "")
                self.assert_sound()
                tags, missed = self.replayed()
                self.assertEqual((tags, missed), ({"request": 200, "query": 200}, 0))
                spans = self.report()
                self.assertEqual(spans["missed"], 0)
                trace = next(each for each in spans["slowest"] if len(each["spans"]) == 3)
                self.assertEqual([(span["tag"], span["depth"]) for span in trace["spans"]],
                                 [("request", 0), ("query", 1), ("miss", 1)])
                request, query, _ = trace["spans"]
                self.assertEqual(request["attributes"], {"rows": 12})
                self.assertEqual((query["attributes"], query["aborted"], query["reason"]), ({"sql": "select"}, True, "no"))

    def test_of_the_first_and_the_last_moment_are_there(self):
        """Programs capture from their first call on, and deliver the rest at their end."""
        run = self.start(f"tag=request {UNLIMITED}", PCP_TRACE_FLUSH=60000)
        run.do_many(["begin 0 request", "begin 1 last", "end 1", "end 0"] * 500)
        run.end()
        self.assertEqual(self.replayed(), ({"request": 500, "last": 500}, 0))
        self.assertEqual(self.report()["missed"], 0)

    def test_are_shown_at_the_end_the_slowest_first(self):
        calls = "begin 0 request\nbegin 1 query\nend 1\nend 0\n" * 3
        done = completed(recorded.COMMAND, "record", "-o", self.folder, "--spans", "tag=request", program("traces"),
                         input=calls, env=library_environment(OUR_LIBRARY, LC_ALL="C"), timeout=4 * PATIENCE_S)
        shown = done.stderr[done.stderr.find("captured"):]
        self.assertRegex(shown, r"\Acaptured 3 traces, 6 spans\n(\nrequest  .*\nrequest .*\n  query .*\n){2}"
                         rf"\nmore of them: pcp-trace report {re.escape(self.folder)}\n\Z")
        durations = [trace["duration_ns"] for trace in self.report()["slowest"]]
        self.assertEqual(durations, sorted(durations, reverse=True))

    def test_are_there_or_missed(self):
        """However many there are, each counts once."""
        run = self.start("tag=storm limit=500/s")
        before = 5000
        run.do(f"storm {before} storm inner")
        run.end()
        self.assert_sound()
        tags, missed = self.replayed()
        self.assertGreater(missed, 0)
        self.assertEqual(tags.total() + missed, 4 * before)
        self.assertEqual(tags["storm"], tags["inner"])  # a tree is missed as a whole
        spans = self.report()
        self.assertEqual((spans["spans"], spans["missed"]), (tags.total(), missed))

    def test_of_a_killed_recorder_are_there_up_to_then(self):
        run = self.start(f"tag=request {UNLIMITED}")
        def are_some_there():
            run.do_many(["begin 0 request", "begin 1 query", "end 1", "end 0"] * 50)
            return self.spans_so_far() > 100
        wait_until(are_some_there, what="spans in the archive")
        run.process.kill()
        run.process.wait(PATIENCE_S)
        recorded.cut_half_a_sample(self.folder)
        self.assert_sound()
        spans = self.report()["spans"]
        self.assertGreater(spans, 100)
        self.assertEqual(self.replayed()[0].total(), spans)

    def test_beyond_what_an_archive_has_room_for_are_missed(self):
        run = self.start(f"tag=request {UNLIMITED}")
        # The archive takes four bytes for each of these.
        notes = ["note 0 {key} {value}".format(key=key, value="\\" * 1000) for key in ("a", "b", "c")]
        begun = 0
        def is_beyond():
            nonlocal begun
            for _ in range(20):
                run.do_many(["begin 0 request", *notes, "end 0"] * 80)
                begun += 80
                self.assertEqual(run.ask("flush"), "1")  # a program has room for 4 MiB of unsent spans
            return os.path.getsize(self.archive + ".0") > 127 << 20
        wait_until(is_beyond, what="the archive to be full")
        is_beyond()
        errors = run.end()
        self.assertRegex(errors, r"^pcp-trace record: \d+ spans left out: an archive has room for 128 MiB of them; ")
        left_out = int(errors.split()[2])
        self.assert_sound()
        self.assertLess(os.path.getsize(self.archive + ".0"), 140 << 20)
        spans = self.report()
        self.assertGreaterEqual(spans["missed"], left_out)
        self.assertGreaterEqual(spans["spans"] + spans["missed"], begun)

    def test_of_a_tag_that_is_not_there_are_none_and_one_learns_which_there_are(self):
        for text, expected in (("tag=nosuch", "captured no traces\nthe filter matches none of the tags there: query, request\n"),
                               ("tag=request slower=9s", "captured no traces\n")):
            with self.subTest(text):
                done = completed(recorded.COMMAND, "record", "-o", self.folder + text[4:7], "--spans", text,
                                 program("traces"), input="begin 0 request\nbegin 1 query\nend 1\nend 0\n",
                                 env=library_environment(OUR_LIBRARY), timeout=4 * PATIENCE_S)
                self.assertEqual(done.returncode, 0)
                self.assertEqual(done.stderr[done.stderr.find("captured"):], expected)

    def test_are_told_to_programs_in_the_environment(self):
        done = recorded.record(self.folder, "sh", "-c", "echo $PCP_TRACE_CAPTURE", options=["--spans", "tag=a*"],
                               environment=library_environment(OUR_LIBRARY))
        self.assertEqual(done.stdout, "tag=a* limit=100000/s\n")
        with open(f"{self.archive}.meta", "rb") as file:
            self.assertIn(b'"spans":"tag=a*"', file.read())  # as typed

    def test_that_nobody_wants_leave_no_trace(self):
        recorded.record(self.folder, program("traces"), input="begin 0 request\nend 0\n",
                        environment=library_environment(OUR_LIBRARY))
        self.assertNotIn("tracing.events", completed("pminfo", "-a", self.archive, check=True).stdout)
        self.assertIsNone(self.report())
        none_captured = self.path("none-captured")
        Recorded(none_captured, "tag=nosuch").end()
        for archive, status, why in ((self.folder, 1, "has no single transactions"), ("/no/such", 2, "No such file"),
                                     (none_captured, 1, "no transaction was captured")):
            done = completed(recorded.COMMAND, "export", "--chrome", "-", "-a", archive)
            self.assertEqual((done.returncode, done.stdout), (status, ""))
            self.assertIn(why, done.stderr)

    def test_are_there_for_pcps_tools(self):
        run = self.start(f"tag=request {UNLIMITED}")
        run.do_many(["begin 0 request", "note 0 route /cart", "end 0"] * 100)
        run.end()
        tags, _ = self.replayed()
        path = "/usr/bin:/bin:" + pcp_configuration()["PCP_BINADM_DIR"]
        for tool in ("pmlogextract", "pmlogrewrite"):
            made = self.path(tool)
            subprocess.run([tool, self.archive, made], check=True, env=os.environ | {"PATH": path})
            self.assertEqual(self.replayed(made), (tags, 0))
            self.assertEqual(self.report(made)["spans"], tags.total())
        self.assertIn('tracing.param.attributes): value "route=/cart"',
                      completed("pmdumplog", self.archive, check=True).stdout)

    def test_are_shown_if_they_match(self):
        run = self.start(f"tag=request {UNLIMITED}")
        run.do_many(["begin 0 request", "begin 1 query", "note 1 item 2307", "abort 1", "end 0", "begin 0 request", "end 0"])
        run.end()

        def shown(*words):
            done = completed(recorded.COMMAND, "spans", "--json", "-a", self.folder, *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            return [len(json.loads(line)["spans"]) for line in done.stdout.splitlines()], done.stderr
        self.assertEqual(shown(), ([2, 1], ""))
        for words in (["failed"], ["note.item=23*"], ["tag=query"], ["failed", "tag=request", "slower=1ns"]):
            self.assertEqual(shown(*words), ([2], ""), words)
        self.assertEqual(shown("note.item=9"), ([], "pcp-trace spans: no trace matches, of 2 recorded traces\n"))

    def test_are_exported_as_far_as_the_archive_goes(self):
        run = self.start(f"tag=request {UNLIMITED}")
        for spans in (200, 400, 600):
            run.do_many(["begin 0 request", "begin 1 query", "end 1", "end 0"] * 100)
            wait_until(lambda: self.spans_so_far() == spans, what="spans in the archive")
        run.end()
        data = os.path.join(self.folder, "trace.0")
        made = self.path("chrome.json")
        completed(recorded.COMMAND, "export", "--chrome", made, "-a", self.folder, check=True)
        with open(made, encoding="utf-8") as file:
            names = collections.Counter(event["name"] for event in json.load(file)["traceEvents"] if event["ph"] == "X")
        self.assertEqual(names, {"request": 300, "query": 300})
        whole = os.path.getsize(data)
        with open(data, "rb") as file:
            end = 0
            for _ in ("label", "statement", "sample"):
                file.seek(end)
                end += struct.unpack(">I", file.read(4))[0]
        for size, said in ((whole * 3 // 4, r"^.*: its end is missing\n$"),
                           (end + 8, r"\n.*: there is no transaction before that\n$")):
            os.truncate(data, size)
            done = completed(recorded.COMMAND, "export", "--chrome", made, "-a", self.folder)
            self.assertRegex(done.stderr, said)
        shown = completed(recorded.COMMAND, "report", self.folder, check=True).stdout
        self.assertNotIn("Does the program call", shown)


class OfHosts(RecordSpansTestCase):
    def start_recording(self, text, *options, unix=True):
        return self.start_process(recorded.COMMAND, "record", "-t", "100ms", "--spans", text, *options, "-h",
                                  self.pmcd.host(unix), "-o", self.folder, env=self.pmcd.pcp_environment(),
                                  stderr=subprocess.PIPE)

    def trace_until(self, traced, is_enough, what):
        def enough():
            for line in ("begin 0 request", "begin 1 query", "end 1", "end 0"):
                traced.call(line)
            return is_enough()
        wait_until(enough, what=what)

    def test_are_in_the_archive_also_when_the_agent_has_begun_anew(self):
        traced = self.start_traced(self.environment(PCP_TRACE_FLUSH=5), "traces")
        recording = self.start_recording(f"tag=request {UNLIMITED}")
        self.trace_until(traced, lambda: self.spans_so_far() > 20, "spans in the archive")
        self.assertFalse(self.report()["has_gap"])
        self.pmcd.kill_agent()
        self.assertIn("; waiting for it\n", recording.stderr.readline())
        self.pmcd.start_agent()
        before = self.spans_so_far()
        self.trace_until(traced, lambda: self.spans_so_far() > before + 20, "spans of the new agent")
        recording.send_signal(signal.SIGINT)
        _, errors = recording.communicate(timeout=PATIENCE_S)
        self.assertEqual(recording.returncode, 0)
        self.assertEqual(self.replayed()[0].total(), self.spans_so_far())
        self.assertTrue(self.report()["has_gap"])
        self.assertRegex(errors, r"\ncaptured \d+ traces, \d+ spans; an unknown number missed\n"
                         f"(.*\\n)+more of them: pcp-trace report {re.escape(self.folder)}\n")

    def test_that_come_after_the_recorder_was_too_late_follow_a_gap(self):
        self.assertEqual(self.pmcd.pmstore("tracing.control.idle", 3)[0], 0)
        recording = self.start_recording("tag=request")
        wait_until(lambda: "value" in completed("pmdumplog", f"{self.folder}/trace", "tracing.lapses").stdout,
                   what="a sample")
        with stopped(recording.pid):
            wait_until(lambda: self.pmcd.value("tracing.agent.captures") == 0, what="its end")
        wait_until(lambda: self.pmcd.value("tracing.agent.captures") == 1, what="another capture")
        recording.send_signal(signal.SIGINT)
        _, errors = recording.communicate(timeout=PATIENCE_S)
        self.assertEqual(recording.returncode, 0)
        self.assertIn(": spans, in unknown number: nothing was fetched for longer than tracing.control.idle", errors)
        self.assertTrue(self.report()["has_gap"])

    def test_that_one_may_not_see_are_refused(self):
        recording = self.start_recording("tag=request", "-s", "1s", unix=False)
        _, errors = recording.communicate(timeout=PATIENCE_S)
        self.assertEqual(recording.returncode, 125)
        self.assertIn(": no permission: its agent shows spans to users of that host only", errors)
        self.assertFalse(os.path.exists(self.folder))

    def test_of_a_pmlogger_are_in_a_report(self):
        archive = self.path("log")
        self.assertEqual(self.pmcd.pmstore("tracing.control.filter", f"tag=request {UNLIMITED}")[0], 0)
        logger = Pmlogger(self.pmcd, archive, "trace tracing.events", unix=True)
        self.addCleanup(logger.end)
        traced = self.start_traced(self.environment(PCP_TRACE_FLUSH=5), "traces")
        wait_until(lambda: os.path.exists(archive + ".index"), what="the archive")

        def logged(tag):
            return completed("pmdumplog", archive, "tracing.events", stderr=subprocess.STDOUT).stdout.count(f'"{tag}"')
        self.trace_until(traced, lambda: logged("query") > 0, "spans in the archive")
        wait_until(lambda: logged("query") == logged("request"), what="whole traces in the archive")
        logger.end()
        spans = self.report(archive)
        self.assertEqual(spans["spans"], self.replayed(archive)[0].total())
        self.assertEqual([span["tag"] for span in spans["slowest"][0]["spans"]], ["request", "query"])
