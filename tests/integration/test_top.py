# SPDX-License-Identifier: LGPL-2.1-or-later
"""pcp-trace top: its numbers are those of pminfo; its screen has keys and any size, and leaves the terminal as it was."""

import json
import math
import os
import random
import signal
import socket
import subprocess

import recorded
from private_pmcd import PATIENCE_S, children_of, completed, wait_until
from recorded import COMMAND
from terminal import Terminal
from trace_test import STOCK_AGENT, TraceTestCase

SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}


def exact_quantile(values, share):
    return sorted(values)[math.ceil(share * len(values)) - 1]


def values_of_hosts():
    """A busy host, and a slow one."""
    rng = random.Random(7)
    return {"saturn": [rng.lognormvariate(0, 1) for _ in range(4000)],
            "jupiter": [rng.lognormvariate(3, 1) for _ in range(400)]}


class TopTestCase(TraceTestCase):
    agent_options = ["-T", "100", "-N", "1000"]  # all in one window; intervals of 100 ms

    def start_top(self, *options):
        """Gives a process that prints lines of JSON, from now on."""
        return self.start_process(COMMAND, "top", "--json", "-t", "100ms", "-T", f"{PATIENCE_S:g}s", *options,
                                  stderr=subprocess.PIPE)

    @staticmethod
    def read_until(process, condition):
        """Gives the calls, failures and sums of all lines up to the first one with this, and that one's tags."""
        sums = {}
        for line in process.stdout:
            tags = {tag["name"]: tag for tag in json.loads(line)["tags"]}
            for name, tag in tags.items():
                its = sums.setdefault(name, {"calls": 0, "failed": 0, "sum": 0})
                for key in its:
                    its[key] += tag[key] or 0
            if condition(sums, tags):
                return sums, tags
        raise AssertionError(f"{sums}\n{process.stderr.read()}")


class Numbers(TopTestCase):
    def test_are_those_of_pminfo(self):
        top = self.start_top("-h", self.pmcd.host(), "-h", self.pmcd.host(unix=True))  # one agent counts once
        self.assertEqual(top.stderr.readline(), f"pcp-trace top: {self.pmcd.host(unix=True)}: has the agent of "
                         f"{self.pmcd.host()}, which counts once; leave one out\n")
        self.trace(self.environment(), *(f"{call} a" for number in range(50) for call in (
            "begin", "abort" if number % 10 == 0 else "end")), "point p", *(f"obs {value} o" for value in range(100)),
            "add 7 c", "add 8 c")
        sums, tags = self.read_until(top, lambda sums, tags: sums.get("o", {}).get("calls") == 100 and tags["o"]["p99"])
        values = self.pmcd.values
        for name, group, total in (("a", "transact", "total_time"), ("o", "observe", "sum")):
            failed = values("trace.transact.aborts") if name == "a" else {}
            failed_s = values("trace.transact.abort_time") if name == "a" else {}
            self.assertEqual(sums[name]["calls"], values(f"trace.{group}.count")[name] + failed.get(name, 0))
            self.assertEqual(sums[name]["failed"], failed.get(name, 0))
            self.assertAlmostEqual(sums[name]["sum"], values(f"trace.{group}.{total}")[name] + failed_s.get(name, 0))
            for percentile in SHARES:
                self.assertAlmostEqual(tags[name][percentile] / values(f"trace.{group}.{percentile}")[name], 1, 5)
        self.assertEqual(tags["o"]["max"], values("trace.observe.max")["o"])
        self.assertEqual(sums["p"]["calls"], values("trace.point.count")["p"])
        self.assertEqual(sums["c"]["calls"], values("trace.counter.count")["c"])

    def test_of_what_is_open(self):
        traced = self.start_traced(self.environment())
        traced.do("begin a")
        top = self.start_top("-h", self.pmcd.host())
        self.read_until(top, lambda sums, tags: tags and tags["a"]["in_flight"] == 1)
        traced.do("end a")
        sums, _ = self.read_until(top, lambda sums, tags: tags["a"]["in_flight"] == 0)
        self.assertEqual(sums["a"]["calls"], 1)

    def test_of_two_hosts_are_their_sums_with_percentiles_of_all(self):
        hosts = values_of_hosts()
        pmcds = {name: self.start_pmcd(self.agent_options, host_name=name) for name in hosts}
        top = self.start_top(*(word for pmcd in pmcds.values() for word in ("-h", pmcd.host())))
        top.stdout.readline()
        for name, values in hosts.items():
            self.trace(self.environment(pmcds[name]), *(f"obs {value!r} a" for value in values))
        union = sum(hosts.values(), [])

        def has_all(sums, tags):
            return (sums.get("a", {}).get("calls") == len(union) and tags["a"]["percentiles_from"] == "histogram" and
                    all(abs(tags["a"][name] / exact_quantile(union, share) - 1) < 0.02 for name, share in SHARES.items()))
        _, tags = self.read_until(top, has_all)
        self.assertAlmostEqual(tags["a"]["max"] / max(union), 1, 5)
        self.assertEqual(tags["a"]["hosts"], list(hosts))

    def test_of_an_archive_add_up_to_the_report(self):
        folder = self.path("run.trace")
        recorded.record(folder, *(os.path.join(os.environ["TRACE_PROGRAMS"], "traced"),), options=("-t", "20ms"),
                        environment=self.nobody(),
                        input="begin a\nsleep 0.1\nend a\n" * 5 + "sleep 0.1\n")  # load: samples without calls
        lines = completed(COMMAND, "top", "-a", folder, "--json", check=True).stdout.splitlines()
        calls = [tag["calls"] for line in lines for tag in json.loads(line)["tags"]]
        report = json.loads(completed(COMMAND, "report", folder, "--json", check=True).stdout)
        self.assertEqual((sum(calls), max(calls) < 5), (report["tags"][0]["calls"], True))
        self.assertIn("last ", completed(COMMAND, "top", "-a", folder, "-n", "1", "-s", "1", check=True).stdout)
        none = completed(COMMAND, "top", "-a", folder, "-n", "1", "failed", check=True).stderr
        self.assertEqual(none.count("no tag matches"), 1)
        top = Terminal([COMMAND, "top", "-a", folder, "-t", "1ms"])
        self.addCleanup(top.close)
        top.wait_for(r"end of the archive\n.*\n.*\na +[1-9]")  # not the zeros of the last 100 ms
        top.type("\r")  # nothing is read any more
        top.wait_for(r'labels \{.*"tag":"a"')


class Hosts(TopTestCase):
    def test_lose_no_calls_while_another_one_answers_late(self):
        other = self.start_pmcd(self.agent_options, host_name="jupiter")
        for pmcd in (self.pmcd, other):
            self.trace(self.environment(pmcd), "point a")
        top = self.start_top("-h", self.pmcd.host(), "-h", other.host())
        self.read_until(top, lambda sums, tags: tags)
        with other.stopped_agent():
            for _ in range(5):
                self.trace(self.environment(), "point a")
                completed(COMMAND, "top", "-n", "1", "-s", "2", "-t", "100ms", "-h", self.pmcd.host(), check=True)
        self.trace(self.environment(), "point last")
        sums, _ = self.read_until(top, lambda sums, tags: "last" in tags)
        self.assertEqual(sums["a"]["calls"], 5)

    def test_come_and_go(self):
        """The others stay."""
        other = self.start_pmcd(self.agent_options, host_name="jupiter")
        for pmcd, tag in ((self.pmcd, "a"), (other, "b")):
            self.trace(self.environment(pmcd), f"point {tag}")
        top = self.start_top("-h", self.pmcd.host(), "-h", other.host(), "-h", "no-such-host.invalid")
        self.read_until(top, lambda sums, tags: set(tags) == {"a", "b"})
        other.end_pmcd()
        self.read_until(top, lambda sums, tags: set(tags) == {"a"})
        other.start_pmcd()
        self.trace(self.environment(other), "point c")
        self.read_until(top, lambda sums, tags: set(tags) == {"a", "c"})
        with other.stopped_agent():
            self.read_until(top, lambda sums, tags: set(tags) == {"a"})
        top.terminate()
        complaints = top.communicate(timeout=PATIENCE_S)[1]
        self.assertEqual(top.returncode, 0)
        self.assertIn("pcp-trace top: no-such-host.invalid: ", complaints)
        self.assertIn(f"pcp-trace top: {other.host()}: no answer yet", complaints)

    def test_that_do_not_exist(self):
        done = completed(COMMAND, "top", "-h", "127.0.0.1:1", "-n", "5")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("127.0.0.1:1: cannot connect to pmcd", done.stderr)

    def test_with_pcps_own_agent_have_the_columns_that_it_knows(self):
        pmcd = self.start_pmcd(["-T", "100", "-N", "1000"], agent=STOCK_AGENT)
        top = self.start_top("-h", pmcd.host(), "-h", pmcd.host())  # a name counts once, too
        top.stdout.readline()
        self.trace(self.environment(pmcd), "begin a", "end a")
        _, tags = self.read_until(top, lambda sums, tags: sums.get("a", {}).get("calls") == 1)
        self.assertEqual((tags["a"]["failed"], tags["a"]["p99"], tags["a"]["sum"] > 0), (None, None, True))


class Ends(TopTestCase):
    def end_of(self, *options, stdout=subprocess.DEVNULL):
        done = subprocess.run([COMMAND, "top", "-n", "1", *options], stdout=stdout, stderr=subprocess.PIPE, check=False)
        return done.returncode, done.stderr.decode()

    def test_with_status_2_if_the_output_cannot_be_written(self):
        with open("/dev/full", "wb") as full:
            self.assertEqual(self.end_of("-h", self.pmcd.host(), stdout=full),
                             (2, "pcp-trace top: cannot write: No space left on device\n"))

    def test_with_status_1_if_no_host_answers_in_time(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            self.assertEqual(self.end_of("-h", f"127.0.0.1:{silent.getsockname()[1]}", "-T", "100ms"), (1, ""))

    def test_of_a_damaged_archive_are_as_of_its_report(self):
        """The same message and status; else the same calls, and the reason why some may be missing."""
        folder = self.path("run.trace")
        recorded.record(folder, os.path.join(os.environ["TRACE_PROGRAMS"], "traced"), options=("-t", "20ms"),
                        environment=self.nobody(), input="point a\nsleep 0.05\n" * 5)  # load: several samples
        data = os.path.join(folder, "trace.0")
        for size in (*range(os.path.getsize(data), 0, -os.path.getsize(data) // 9), 500):  # no sample
            os.truncate(data, size)
            top = completed(COMMAND, "top", "--json", "-a", folder)
            report = completed(COMMAND, "report", "--json", folder)
            with self.subTest(size=size, top=top.stderr, report=report.stderr):
                why = report.stderr.replace("pcp-trace report", "pcp-trace top").replace(
                    f"incomplete: {folder}/trace", "pcp-trace top: the archive")
                self.assertEqual((top.returncode, top.stderr), (report.returncode, why))
                calls = sum(tag["calls"] for line in top.stdout.splitlines() for tag in json.loads(line)["tags"])
                tags = json.loads(report.stdout)["tags"] if report.returncode == 0 else []
                self.assertEqual(calls, sum(tag["calls"] for tag in tags))

    def test_with_status_2_if_a_pattern_is_a_recording(self):
        folder = self.path("run.trace")
        recorded.record(folder, "true", environment=self.nobody())
        self.assertEqual(self.end_of(folder), (2, f"pcp-trace top: to replay a recording: -a {folder} (pcp-trace top --help)\n"))


class OnTerminals(TopTestCase):
    def start(self, *options, rows=24, columns=80, **environment):
        terminal = Terminal([COMMAND, "top", "-t", "100ms", *options], rows, columns, **environment)
        self.addCleanup(terminal.close)
        return terminal

    def start_with_tags(self, *options, **arguments):
        self.traced = self.start_traced(self.environment(PCP_TRACE_SOCKET=self.pmcd.path("run/trace.socket")))
        self.traced.do("begin b", "end b", "begin abc", "sleep 0.01", "end abc", "obs 5 queue")  # load: it takes its time
        self.assert_values(self.pmcd, "trace.observe.count", {"queue": 1})
        return self.start("-h", self.pmcd.host(unix=True), *options, **arguments)

    def test_keys(self):
        top = self.start_with_tags("--sort", "p99")
        top.wait_for(r"by p99\n.*\nTransactions .*\nabc .*\nb ")
        top.type("/b*\r")
        top.wait_for(r'1 tag of "b\*".*\n.*\nTransactions .*\nb .*\n\n')
        top.type("/\x7f\x7f\r\x1b")
        top.wait_for(r"2 tags, by p99")
        top.type("/[\r")
        top.wait_for(r'/\[_  "\[": ')  # until it is right
        top.type("\x1b<")
        top.wait_for(r"by p95")
        top.type("\t")
        top.wait_for(r"Observations .*\nqueue .*\n\n")
        top.type("\t?")
        top.wait_for(r"Keys\n")
        top.type("q ")
        top.wait_for(r"^PAUSED")
        top.type(" qq")
        self.assertEqual(top.end(), (0, True))

    def test_a_tag_with_its_open_and_slow_transactions(self):
        top = self.start_with_tags()
        top.wait_for("abc ")
        self.traced.do("begin abc")
        top.type("\r")
        top.wait_for(r'abc\n(.*\n)*  labels \{.*"tag":"abc".*\nOpen transactions .*\nabc .*  \d+/\d+\n'
                     r"Distribution since (.*\n)*Slow ones: capturing tag=abc slower=")
        wait_until(lambda: self.pmcd.value("tracing.agent.captures"), what="the capture")
        self.traced.do("sleep 0.1", "end abc", *("begin abc", "sleep 0.1", "end abc") * 3)  # load: it is slow
        top.wait_for(r"abc +traced \d+ +\d+ ms \S")
        top.type("q")
        wait_until(lambda: not self.pmcd.value("tracing.agent.captures"), what="the end of the capture")

    def test_of_any_size(self):
        top = self.start_with_tags()
        for rows, columns, shown in ((5, 20, r"^\S.*\nTransactions +total\nabc "), (4, 20, "The terminal needs 2"),
                                     (5, 19, "The terminal needs"), (40, 120, r"\nTransactions +/s .* busy +open\n")):
            top.resize(rows, columns)
            top.wait_for(shown)

    def test_that_are_not_utf8_get_ascii(self):
        self.trace(self.environment(), "begin ä\x1b[2J", "end ä\x1b[2J")
        top = self.start("-h", self.pmcd.host(), LC_ALL="C")
        top.wait_for(r"\\xc3\\xa4\\x1b\[2J ")
        self.assertTrue(top.output.isascii())

    def test_show_nothing_that_pcps_library_prints(self):
        top = self.start("-h", "A@:::", "-h", self.pmcd.host())
        top.wait_for(r"no tag yet\n(.*\n)*A@:::: .*\n")
        self.assertNotIn("pmNewContext", top.output)

    def test_are_left_as_they_were(self):
        for end in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(end=end):
                top = self.start("-h", self.pmcd.host(), TERM="xterm")
                top.wait_for("q quit")
                os.kill(top.pid, end)
                ended, is_restored = top.end()
                self.assertEqual((ended, is_restored), (0, True))
                self.assertIn("\x1b[?1049l", top.output[-100:])

    def test_that_cannot_move_their_cursor(self):
        top = self.start("-h", self.pmcd.host(), TERM="dumb")
        self.assertEqual(top.end(), (2 << 8, True))
        self.assertIn("-n N prints tables", top.output)

    def test_are_left_for_a_while(self):
        shell = Terminal(["bash", "--norc", "-i"], PS1="prompt> ")
        self.addCleanup(shell.close)
        shell.wait_for("prompt>")
        shell.type(f"{COMMAND} top -h {self.pmcd.host()}\r")
        shell.wait_for("0 tags")
        shell.type("\x1a")
        shell.wait_for("Stopped")
        shell.type("fg\r")
        shell.wait_for(r"^\d\d:\d\d:\d\d ")  # the shell has scrolled the line before
        (top,) = children_of(shell.pid)
        os.kill(top, signal.SIGSTOP)
        shell.wait_for(r"Stopped.*\n.*prompt>")
        shell.type("fg\r")
        shell.wait_for(r"^\d\d:\d\d:\d\d .*\n(.*\n)*.*no tag yet\n\n*q quit")
        shell.type("q")
        shell.wait_for(r"prompt>.*\Z")
        shell.type("echo status=$?\r")
        shell.wait_for("status=0")
