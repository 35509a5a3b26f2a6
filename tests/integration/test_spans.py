# SPDX-License-Identifier: LGPL-2.1-or-later
"""pcp trace spans: single transactions of several programs and hosts, assembled and shown."""

import json
import os
import re
import signal
import subprocess
import unittest

import events_wire
import recorded
from cutting_proxy import CuttingProxy
from events_wire import CLIENT, SERVER, encode_span
from private_pmcd import PATIENCE_S, stopped, wait_until
from trace_test import STOCK_AGENT, SteppedClock, TraceTestCase

BEGIN = 1_800_000_000_000_000_000
MS = 1_000_000


class SpansTestCase(TraceTestCase):
    def setUp(self):
        self.pmcd = self.start_pmcd(host_name="saturn")

    def start(self, *arguments, word="spans", hosts=None, unix=True, become=(), clock=None, variables=()):
        """Starts the command on these hosts, by default the test's own. PCP's library waits longer for answers than the
        test does."""
        options = [word for pmcd in ([self.pmcd] if hosts is None else hosts) for word in ("-h", pmcd.host(unix))]
        environment = {"LC_ALL": "C", "PMCD_CONNECT_TIMEOUT": "1000", "PMCD_REQUEST_TIMEOUT": "1000"}
        return self.start_process(*become, recorded.COMMAND, word, *options, *arguments, stdin=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE,
                                  env=os.environ | environment | (clock.environment if clock else {}) | dict(variables))

    def end(self, process, status=0):
        """Gives the command's output at its end, which it reaches by itself."""
        out, complaints = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, status, complaints)
        # Without two kinds of messages: gcov's, which another user cannot write; and the command's reasons for a delay,
        # on a busy machine.
        delays = r"no answer yet; .*\n|no span has arrived yet.*\n(  .*\n)*|waiting: .*\n(  .*\n)*"
        return out, re.sub(rf"^profiling: .*\n|^.*: ({delays})", "", complaints, flags=re.MULTILINE)

    def wait_for_complaint(self, process, end):
        """Waits for a line with this end on standard error."""
        for line in process.stderr:
            if line.endswith(end):
                return
        self.fail("it has ended")

    def interrupt(self, process):
        process.send_signal(signal.SIGINT)
        return self.end(process)

    def traces(self, process):
        """Gives the output as JSON."""
        out, complaints = self.end(process)
        self.assertEqual(complaints, "")
        return [json.loads(line) for line in out.splitlines()]

    def program(self, pmcd=None, tags=(b"request",), **hello):
        return self.enterContext(events_wire.Program(
            (pmcd or self.pmcd).path("run/trace.socket"), PATIENCE_S, tags=tags, **hello))

    def watched(self, *arguments, tags=(b"request",), service=b"", **options):
        """Gives a handmade program, and the command, which captures what that sends."""
        program = self.program(tags=tags, service=service)
        process = self.start(*arguments, **options)
        program.wait_for_filters("tag=*")
        return program, process

    @staticmethod
    def send_traces(program, count, first=1):
        for begin in range(first, first + count, 100):
            program.send(*(encode_span(span=number, trace=(9, number), begin_ns=BEGIN + number)
                           for number in range(begin, begin + 100)))


class OfOneHost(SpansTestCase):
    def test_are_a_tree(self):
        program, process = self.watched("-s", "1", tags=(b"request", b"query"), service=b"shop")
        program.send(encode_span(tag=2, span=2, parent=1, begin_ns=BEGIN + 2 * MS, duration_ns=5 * MS),
                     encode_span(tag=1, span=1, begin_ns=BEGIN, duration_ns=10 * MS))
        out, complaints = self.end(process)
        self.assertEqual(complaints, "")
        head, *lines = out.rstrip("\n").split("\n")
        self.assertRegex(head, r"^request  10\.0 ms  \d\d:\d\d:\d\d\.000  saturn  trace 0{15}10{15}2$")
        self.assertEqual([line.split() for line in lines], [
            ["request", "shop", f"{os.getpid()}", "10.0", "ms", "=" * 30], ["query", "5.00", "ms", "=" * 15]])

    def test_end_after_a_time(self):
        clock = SteppedClock(self.pmcd.directory)
        program, process = self.watched("--json", "-T", "1000s", clock=clock)
        program.send(encode_span(begin_ns=BEGIN))
        self.assertIn("request", process.stdout.readline())
        clock.step_to(1000)
        self.assertEqual(self.end(process), ("", ""))

    def test_end_with_a_pipe_whatever_becomes_of_the_signal(self):
        program = self.program()
        for trap in ("trap - PIPE", "trap '' PIPE"):
            script = trap + '; "$@" | head -n 1; echo ${PIPESTATUS[0]}'
            pipe = self.start_process("bash", "-c", script, "bash", recorded.COMMAND, "spans", "-h",
                                      self.pmcd.host(True), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
            program.wait_for_filters("tag=*")
            wait_until(lambda: program.send_some(1, 1, trace=(5, program.next_span)) and pipe.poll() is not None,
                       what="the pipe's end")
            out, complaints = self.end(pipe)
            self.assertEqual(complaints, "")
            self.assertRegex(out, r"^request  .*\n0\n$")
            program.wait_for_filters()

    def test_of_which_none_matches_are_counted(self):
        program, process = self.watched("trace=ff")
        program.send(encode_span(begin_ns=BEGIN))
        self.assertEqual(self.interrupt(process), ("", "pcp-trace spans: no trace matches, of 1 captured trace\n"))

    def test_that_were_missed_are_told(self):
        for words, limits in (("tag=*", "more than limit= and the room for spans allow; share= makes them fewer\n"),
                              ("tag=* slower=1ms", "parts had gone before their request was wanted (PCP_TRACE_HOLD")):
            with self.subTest(words):
                program = self.program()
                process = self.start(words)
                program.wait_for_filters(words)
                capture = next(iter(program.control.captures.values()))[0]
                program.send(encode_span(begin_ns=BEGIN, duration_ns=2 * MS), counts=[(capture, 18, 0, 17, 0, 0)])
                self.assertIn("request  ", process.stdout.readline())
                _, complaints = self.interrupt(process)
                self.assertIn(f": 17 spans missed: {limits}", complaints)
                self.assertTrue(complaints.endswith("pcp-trace spans: 1 trace, 1 span; 17 spans missed\n"), complaints)
                program.wait_for_filters()

    def test_are_all_there_if_they_take_several_fetches(self):
        program, process = self.watched("--json", "-s", "5000")
        self.send_traces(program, 5000)
        traces = self.traces(process)
        self.assertEqual(sorted(int(trace["trace"][16:], 16) for trace in traces),
                         list(range(1, 5001)))

    def test_tell_that_the_agent_has_gone_and_go_on_with_the_next_one(self):
        program, process = self.watched("--json")
        program.send_some(100, 1)
        self.assertIn("request", process.stdout.readline())
        self.pmcd.kill_agent()
        self.wait_for_complaint(process, ": its trace agent has gone; waiting for it\n")
        self.pmcd.start_agent()
        back = next(line for line in process.stderr if " is back" in line)
        self.assertTrue(back.endswith(" is back; an unknown number of spans is missing\n"), back)
        program = self.program(tags=(b"again",))
        program.wait_for_filters("tag=*")
        program.send(encode_span(begin_ns=BEGIN))
        while '"again"' not in (line := process.stdout.readline()):
            self.assertIn('"request"', line)
        self.assertRegex(self.interrupt(process)[1],
                         r"^pcp-trace spans: \d+ traces?, \d+ spans; an unknown number missed\n$")

    def test_tell_that_the_agent_is_another_one(self):
        """The new agent may have come between two fetches."""
        clock = SteppedClock(self.directory)
        self.pmcd = self.start_pmcd(environment=clock.environment)
        program, process = self.watched()
        clock.step_to(50)  # less than a monitor's idle limit
        program.send(encode_span(begin_ns=BEGIN))
        self.assertIn("request", process.stdout.readline())
        self.pmcd.restart_agent()
        self.wait_for_complaint(process, "; an unknown number of spans is missing\n")
        self.assertEqual(self.interrupt(process)[1], "pcp-trace spans: 1 trace, 1 span; an unknown number missed\n")

    def test_tell_that_the_command_was_too_late(self):
        self.assertEqual(self.pmcd.pmstore("tracing.control.idle", 1)[0], 0)
        program, process = self.watched()
        with stopped(process.pid):
            program.wait_for_filters()
        self.wait_for_complaint(process, ": nothing was fetched for longer than tracing.control.idle, so the capture "
                                "had ended; an unknown number of spans is missing\n")
        self.assertIn("pcp-trace spans: 0 traces, 0 spans; an unknown number missed\n", self.interrupt(process)[1])

    def test_tell_of_those_that_still_wait_at_the_end(self):
        self.assertEqual(self.pmcd.pmstore("tracing.control.fetch", 32768)[0], 0)
        program, process = self.watched()
        count = 20_000  # more than the command fetches before it looks whether to end
        with stopped(process.pid):
            self.send_traces(program, count)
            process.send_signal(signal.SIGINT)
        complaints = self.end(process)[1]
        end = re.search(r"^pcp-trace spans: [\d,]+ traces?, ([\d,]+) spans?; none missed; ([\d,]+) spans still waited at "
                        r"the agent, and are left out\n\Z", complaints, re.MULTILINE)
        self.assertTrue(end, complaints)
        shown, waited = (int(number.replace(",", "")) for number in end.groups())
        self.assertGreater(shown, 0)
        self.assertEqual(shown + waited, count)

    def test_go_on_with_a_pmcd_that_has_come_back(self):
        _, process = self.watched("--json", "-s", "1")
        self.pmcd.end_pmcd()
        self.pmcd.start_pmcd()
        program = self.program()
        program.wait_for_filters("tag=*")
        program.send(encode_span(begin_ns=BEGIN))
        out, complaints = self.end(process)
        self.assertEqual(json.loads(out)["spans"][0]["tag"], "request")
        self.assertRegex(complaints, r"; waiting for it\n.* is back; an unknown number of .*\n.*; an unknown number missed\n$")


class OfSeveralHosts(SpansTestCase):
    def setUp(self):
        super().setUp()
        self.other = self.start_pmcd(host_name="jupiter")

    def test_are_put_together(self):
        front = self.program(self.pmcd, tags=(b"request",), service=b"front")
        bank = self.program(self.other, tags=(b"pay",), service=b"bank")
        process = self.start("--json", "-s", "1", hosts=[self.pmcd, self.other])
        for program in (front, bank):
            program.wait_for_filters("tag=*")
        bank.send(encode_span(span=2, parent=1, kind=SERVER, begin_ns=BEGIN + MS, duration_ns=MS))
        front.send(encode_span(span=1, kind=CLIENT, begin_ns=BEGIN, duration_ns=3 * MS))
        (trace,) = self.traces(process)
        self.assertEqual([(span["tag"], span["host"], span["depth"]) for span in trace["spans"]],
                         [("request", "saturn", 0), ("pay", "jupiter", 1)])

    def test_need_not_wait_for_one_that_does_not_answer(self):
        with stopped(self.other.pmcd_pid()):
            program, process = self.watched(hosts=[self.other, self.pmcd])
            program.send(encode_span(begin_ns=BEGIN))
            self.assertIn("request  ", process.stdout.readline())
            self.interrupt(process)

    def test_are_shown_although_one_has_none(self):
        stock = self.start_pmcd(agent=STOCK_AGENT)
        program, process = self.watched("-s", "1", hosts=[stock, self.pmcd])
        program.send(encode_span(begin_ns=BEGIN))
        out, complaints = self.end(process)
        self.assertIn("request", out)
        self.assertEqual(complaints, f"pcp-trace spans: {stock.host(True)}: its trace agent is PCP's "
                                     "own, or too old: it has no spans (no tracing.events)\n")


class Exported(SpansTestCase):
    def test_are_a_file_for_viewers(self):
        path = self.path("spans.json")
        program, process = self.watched("--chrome", path, "-s", "1", word="export")
        program.send(encode_span(begin_ns=BEGIN, duration_ns=1500))
        self.assertEqual(self.end(process),
                         (f"{path}: 1 trace, 1 span, for ui.perfetto.dev and speedscope.app\n", ""))
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        self.assertEqual(document["otherData"]["base_ns"], str(BEGIN))
        self.assertEqual([(event["name"], event["ts"], event["dur"])
                          for event in document["traceEvents"] if event["ph"] == "X"],
                         [("request", 0, 1.5)])
        program.wait_for_filters()  # else the next program gets the capture that ends
        program, process = self.watched("--chrome", "-", "-s", "1", word="export")
        program.send(encode_span(begin_ns=BEGIN, duration_ns=1500))
        out, complaints = self.end(process)
        self.assertEqual((json.loads(out)["otherData"]["base_ns"], complaints), (str(BEGIN), ""))

    def test_leave_an_old_file_as_it_was_if_there_is_nothing(self):
        path = self.path("spans.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write("the old one")
        process = self.start("--chrome", path, "-T", "100ms", word="export")
        self.assertIn(": not written: no transaction was captured\n", self.end(process, 1)[1])
        self.pmcd.end_pmcd()
        self.end(self.start("--chrome", path, word="export"), 1)
        process = self.start("--chrome", path, "-a", "nothing", hosts=(), word="export")
        self.end(process, 2)
        process = self.start("--chrome", "/nonexistent/file", word="export")
        self.assertIn("/nonexistent/file: No such file", self.end(process, 1)[1])
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "the old one")
        self.assertEqual(os.listdir(self.directory), ["spans.json"])


class Nothing(SpansTestCase):
    """The command shows why no spans come."""

    def as_stranger(self):
        """Lets another user reach pmcd. Gives the words before that user's command."""
        self.pmcd.open_to_everybody()
        return ["setpriv", "--reuid", "65534", "--clear-groups"]

    def complaint_after_a_while(self, *filter_words, become=()):
        clock = SteppedClock(self.pmcd.directory)
        process = self.start(*filter_words, become=become, clock=clock)
        wait_until(lambda: self.pmcd.value("tracing.agent.captures") == 1, what="a capture")
        clock.step_to(100)
        lines = [process.stderr.readline()]
        while not lines[-1].startswith("  captures"):
            lines.append(process.stderr.readline())
        self.assertEqual(self.interrupt(process), ("", ""))
        wait_until(lambda: self.pmcd.value("tracing.agent.captures") == 0, what="its end")
        return "".join(lines)

    def test_for_no_tag_matches(self):
        traced = self.start_traced(self.environment())
        traced.call("begin a")
        traced.call("end a")
        wait_until(lambda: self.pmcd.values("trace.transact.count"), what="its transaction")
        wait_until(lambda: self.pmcd.values("trace.client.recorded"), what="the program")
        complaint = self.complaint_after_a_while("tag=chekout", "service=traced")
        self.assertIn("\n  the filter matches 1 program\n", complaint)
        self.assertIn("\n  the filter matches none of the tags there: a\n", complaint)
        complaint = self.complaint_after_a_while("service=other")
        self.assertIn("\n  the filter matches no program; services: traced\n", complaint)

    def test_is_permitted_to_other_hosts(self):
        _, complaints = self.end(self.start(unix=False), 1)
        self.assertIn(": no permission: its agent shows spans to users of that host only",
                      complaints)
        self.assertIn(" (-h unix:/run/pcp/pmcd.socket)", complaints)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be somebody else")
    def test_is_of_ones_own_to_another_user(self):
        become = self.as_stranger()
        traced = self.start_traced(self.environment())
        traced.call("begin a")
        traced.call("end a")
        wait_until(lambda: self.pmcd.values("trace.transact.count"), what="its transaction")
        complaint = self.complaint_after_a_while("tag=a", become=become)
        self.assertIn("\n  you see only programs of your own user (nobody), ", complaint)
        self.assertNotIn("tags match", complaint)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be somebody else")
    def test_is_there_for_a_fifth_filter_of_ones_own(self):
        become = self.as_stranger()
        for tag in "abcd":
            self.start(f"tag={tag}", become=become)
        wait_until(lambda: self.pmcd.value("tracing.agent.captures") == 4, what="four captures")
        _, complaints = self.end(self.start("tag=e", become=become), 1)
        self.assertIn(": you have asked for four different filters already, ", complaints)

    def test_is_there_without_a_pmcd(self):
        self.pmcd.end_pmcd()
        _, complaints = self.end(self.start(), 1)
        self.assertIn(": cannot connect to pmcd: ", complaints)
        self.assertIn("`pcp-trace record COMMAND` needs none\n", complaints)

    def test_names_a_host_that_does_not_exist(self):
        name = "x" * 70  # too long for a name server query
        _, complaints = self.end(self.start("-h", name, hosts=[]), 1)
        self.assertEqual(complaints, f"pcp-trace spans: {name}: cannot connect to pmcd: unknown or unreachable "
                                     "host\n")

    def test_is_there_without_an_agent(self):
        self.pmcd.kill_agent()
        for words in ([], ["--open"]):
            out, complaints = self.end(self.start(*words), 1)
            self.assertEqual(out, "")
            self.assertIn(": its trace agent does not run, or does not answer; trace.log, ", complaints)

    def test_is_there_without_its_metrics(self):
        self.pmcd.take_metrics_out()
        out, complaints = self.end(self.start(), 1)
        self.assertEqual(out, "")
        self.assertIn(": its pmcd has no metrics trace.*; is the trace agent installed there?",
                      complaints)

    def test_is_there_once_of_what_does_not_answer(self):
        self.pmcd.restart_agent(["--capture-remote"])
        proxy = self.enterContext(CuttingProxy(self.pmcd.pmcd_port))
        process = self.start("-h", f"127.0.0.1:{proxy.port}", "tag=a", hosts=[])
        wait_until(lambda: self.pmcd.value("tracing.agent.captures") == 1, what="the capture")
        with stopped(self.pmcd.pmcd_pid()):
            self.wait_for_complaint(process, ": no answer yet; pmcd or its trace agent may be stopped\n")
            proxy.cut()
            self.wait_for_complaint(process, "; waiting for it\n")
            for attempts in (2, 3):
                wait_until(lambda: proxy.connections >= attempts, what="another attempt")
                proxy.cut()
        self.assertTrue(process.stderr.readline().endswith(" an unknown number of spans is missing\n"))
        self.interrupt(process)

    def test_matches_a_filter_that_makes_no_sense(self):
        out, complaints = self.end(self.start("tag=a", "slower=10"), 2)
        self.assertEqual(out, "")
        self.assertRegex(complaints, r"^pcp-trace spans: slower=10: .*slower=10ms.*\n$")


class Open(SpansTestCase):
    def test_are_shown_with_the_oldest_first(self):
        traced = self.start_traced(self.environment(), "traces")
        traced.call("begin 0 old")
        # An age is late by the delivery of its message: the agent must know the old one before the young ones begin.
        self.assert_values(self.pmcd, "trace.transact.inflight", {"old": 1})
        for line in ("begin 1 done", "end 1", "begin 2 young", "begin 3 young"):
            traced.call(line)
        expected = {"old": 1, "done": 0, "young": 2}
        self.assert_values(self.pmcd, "trace.transact.inflight", expected)
        out, complaints = self.end(self.start("--open"))
        self.assertEqual(complaints, "")
        self.assertEqual([line.split()[:2] for line in out.splitlines()[1:]],
                         [["old", "1"], ["young", "2"]])
        self.assertIn(f" {traced.pid}/{traced.pid}\n", out)
        (young,) = self.traces(self.start("--open", "--json", "tag=young"))
        self.assertEqual((young["tag"], young["count"], young["host"]), ("young", 2, "saturn"))

    def test_are_unknown_to_another_agent(self):
        self.pmcd = self.start_pmcd(agent=STOCK_AGENT)
        out, complaints = self.end(self.start("--open"), 1)
        self.assertEqual(out, "")
        self.assertIn("no trace.transact.inflight", complaints)
