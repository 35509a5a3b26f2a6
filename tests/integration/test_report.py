# SPDX-License-Identifier: LGPL-2.1-or-later
"""pcp trace report, of recordings by `record` and by real pmloggers."""

import json
import os
import re
import shutil
import struct
import subprocess
import xml.etree.ElementTree

import recorded
from pmlogger import Pmlogger
from private_pmcd import PATIENCE_S, completed
from trace_test import STOCK_AGENT, STOCK_LIBRARY, TraceTestCase, library_environment, program, without_leaks

CALLS = ["begin a", "end a", "point p", "obs 7 o", "counter 3 c"]


def report(*arguments, environment=None, directory=None):
    """Gives the process, which has ended, with its output."""
    if {"-a", "--archive"} & set(arguments):  # libpcp never frees these options' names
        environment = without_leaks(environment or dict(os.environ))
    return completed(recorded.COMMAND, "report", *arguments, env=environment, cwd=directory, stdin=subprocess.DEVNULL)


# PCP's library may crash on a damaged archive: it must die by the signal, not with a sanitizer's status.
CRASHES = "detect_leaks=0:abort_on_error=1:handle_segv=0:handle_abort=0"


def run(*arguments, environment=None):
    return completed(recorded.COMMAND, *arguments, timeout=4 * PATIENCE_S, env=environment, stdin=subprocess.DEVNULL)


def first_record(metadata, kind):
    """Gives the offset of the first record of this kind in an archive's metadata."""
    at, length = 0, len(metadata)
    while at < length:
        size, found = struct.unpack_from(">II", metadata, at)
        if at > 0 and found == kind:
            return at
        at += size
    raise AssertionError(kind)


def tags_of(*arguments):
    """Gives the tags of a report: {(type, name): values}."""
    done = report("--json", *arguments)
    assert done.returncode == 0, done.stderr
    return {(tag["type"], tag["name"]): tag for tag in strict_json(done.stdout)["tags"]}


def strict_json(text):
    """Refuses NaN and Infinity: Python accepts them, but JSON has none."""
    def refuse(constant):
        raise AssertionError(constant)
    return json.loads(text, parse_constant=refuse)


class ReportTestCase(TraceTestCase):
    def assert_one_line(self, done, part):
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("pcp-trace report: "), done.stderr)
        self.assertIn(part, done.stderr)

    def record(self, *lines, name="run.trace"):
        """Records a program that makes these calls."""
        done = recorded.record(self.path(name), program("traced"),
                               environment=library_environment(self.library),
                               input="".join(line + "\n" for line in lines))
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path(name)

    def start_pmlogger(self, pmcd, name, metrics="trace"):
        """Gives a pmlogger that has logged some samples of a pmcd."""
        logger = Pmlogger(pmcd, self.path(name), metrics)
        self.addCleanup(logger.end)
        recorded.wait_for_samples(self.path(name))
        return logger

    def log(self, pmcd, name, *lines):
        """Logs a pmcd while a program makes these calls."""
        logger = self.start_pmlogger(pmcd, name)
        self.trace(self.environment(pmcd), *lines)
        count = sum(line.startswith("end") for line in lines)
        self.assert_values(pmcd, "trace.transact.count", {"a": count})
        recorded.wait_for_samples(self.path(name))
        logger.end()
        return self.path(name)


class OfARecording(ReportTestCase):
    def test_has_all_calls(self):
        tags = tags_of(self.record(*CALLS * 3))
        self.assertEqual({key: tag["calls"] for key, tag in tags.items()},
                         {("transact", "a"): 3, ("point", "p"): 3, ("observe", "o"): 3,
                          ("counter", "c"): 3})
        self.assertEqual(tags["transact", "a"]["failed"], 0)
        self.assertTrue(tags["transact", "a"]["max_is_exact"])
        self.assertEqual(tags["observe", "o"]["max"], 7)
        self.assertEqual(tags["observe", "o"]["sum"], 21)
        self.assertEqual(tags["observe", "o"]["last"], 7)

    def test_says_what_programs_say_of_their_tags(self):
        for name, unit, text in (("one", "KiB", 'said_to_be_"read"_\u20ac'), ("other", "MiB", "else")):
            done = recorded.record(self.path(name), program("traces"), environment=library_environment(self.library),
                                   input="point read{disk=sda}\npoint written\n"
                                   f"describe read{{disk=sda}} {unit} {text}\ndescribe written {unit}\n")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        for archives in (["-a", self.path("one")], ["-a", self.path("one"), self.path("other")]):
            tags = tags_of(*archives)
            self.assertEqual({name: (tag["unit"], tag["description"])
                              for (_, name), tag in tags.items()},
                             {"read{disk=sda}": ("KiB", 'said_to_be_"read"_\u20ac'),
                              "written": ("KiB", "")})

    def test_of_no_time_tells_of_no_rates(self):
        folder = self.record(*CALLS)
        arguments = ["-S", "-0s", folder]
        done = report("--html", self.path("page.html"), *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(", 0 s, 1 sample\n", done.stdout)
        for tag in tags_of(*arguments).values():
            self.assertEqual((tag["calls"], tag["rate"], tag["busy"]), (0, None, None))
        done = report("--fail-if", "a calls < 5", *arguments)
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown: only one sample: no duration", done.stdout)

    def test_names_the_command_as_it_was_typed(self):
        done = recorded.record(self.path("run.trace"), "sh", "-c", ': "h\\i" µ\t',
                               environment=library_environment(self.library))
        self.assertEqual(done.returncode, 0, done.stderr)
        first, other = self.path("run.trace"), self.record(*CALLS, name="other.trace")
        for archives in ([first], [first, other]):
            run = json.loads(report("--json", *archives).stdout)["run"]
            self.assertEqual(run["command"], 'sh -c : "h\\i" µ\\x09')

    def test_is_plain_ascii_where_the_locale_is(self):
        folder = self.record("begin a\x1b[31m", "end a\x1b[31m", "begin µ", "end µ")
        done = report(folder, environment=os.environ | {"LC_ALL": "C"})
        self.assertTrue(done.stdout.isascii() and "\x1b" not in done.stdout, done.stdout)
        self.assertIn("a\\x1b[31m", done.stdout)
        self.assertIn("µ", report(folder, environment=os.environ | {"LC_ALL": "C.UTF-8"}).stdout)

    def test_says_that_a_label_or_a_tag_is_not_there(self):
        folder = self.record("point a{route=/cart}")
        for choice in (["--by", "roote"], ["--where", "roote=/cart"]):
            self.assert_one_line(report(*choice, folder), 'no tag has the label "roote". Known labels: host route;')
        done = report("--where", "route=/login", folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("No tag matches --where.\n", done.stdout)
        self.assertIn("No tag matches --filter.\n", report("--filter", "b", folder).stdout)
        self.assertEqual(report("--by", "host", folder).returncode, 0)

    def test_can_be_compared_over_several_runs(self):
        runs = [self.record(*CALLS * calls, *["obs 7 o"] * more, name=f"{calls}-{more}.trace")
                for calls, more in ((3, 0), (3, 1), (3, 2), (3, 3), (3, 4), (3, 5))]
        done = report("--json", "--compare", *runs[:3], "--", *runs[3:])
        self.assertEqual(done.returncode, 0, done.stderr)
        whole = strict_json(done.stdout)
        self.assertEqual(whole["base"]["run"]["archives"], [f"{run}/trace" for run in runs[:3]])
        self.assertEqual(whole["run"]["archives"], [f"{run}/trace" for run in runs[3:]])
        comparison = whole["comparison"]
        self.assertEqual((comparison["divisors"], comparison["judged_by"]), ({"tag": None, "before": 3, "now": 3}, "runs"))
        changes = {tag["name"]: tag["changes"] for tag in comparison["tags"]}
        self.assertEqual(changes["a"]["calls"], {"before": 3, "now": 3, "verdict": "noise"})
        self.assertEqual((changes["o"]["calls"]["before"], changes["o"]["calls"]["now"]), (4, 7))
        self.assertNotEqual(changes["a"]["max"]["verdict"], "not judged")
        done = report("--compare", runs[0], "--", runs[0])
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assert_one_line(report("--compare", *runs), "so they are not parts of one run. Put -- between")

    def test_can_be_compared_per_call_of_a_tag(self):
        before = self.record(*CALLS * 2, *["point query"] * 4, name="before.trace")
        now = self.record(*CALLS * 3, *["point query"] * 60, name="now.trace")
        arguments = ("--compare", before, now, "--fail-if", "query calls > +20%")
        done = report("--per", "a", *arguments)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertIn("\nsums per call of a: 2 before, 3 now\n", done.stdout)
        self.assertTrue(done.stdout.endswith("true: query calls > +20%: query has +900%, from 2 to 20 per call of a\n"), done.stdout)
        self.assert_one_line(report("--per", "b\n", *arguments), "--per b\\x0a: no tag of this name is in both runs")

    def test_fails_if_it_has_changed(self):
        before = self.record(*CALLS * 3, name="before.trace")
        now = self.record(*CALLS * 3, *["point p"] * 3, *[f"point new{i}" for i in range(5)])
        for condition, status in (("p calls > +99%", 1), ("p calls > +100%", 0)):
            done = report("--compare", before, now, "--fail-if", condition)
            self.assertEqual(done.returncode, status, (condition, done.stdout))
        done = report("--compare", before, now, "--fail-if", "new* calls > +1%")
        self.assertEqual(done.returncode, 2)
        self.assertIn("\nonly now (5): new0", done.stdout)
        self.assertTrue(done.stdout.endswith("\nunknown: new* calls > +1%: new0, new1, new2 and 2 more tags each have no calls in "
                                             "the older run\n"), done.stdout)

    def test_can_be_a_junit_report(self):
        folder = self.record(*CALLS)
        file = self.path("report.xml")
        done = report("--junit", file, "--fail-if", "* calls > 0", "--fail-if", "a calls > 1", "--fail-if", "b calls > 1", folder)
        self.assertEqual(done.returncode, 1, done.stderr)
        suite = xml.etree.ElementTree.parse(file).getroot()[0]
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("errors")), ("6", "4", "1"))
        for lost in (["--html", self.path("nowhere/page.html"), folder], [self.path("nowhere")]):
            self.assertEqual(report("--junit", file, "--fail-if", "a calls > 1", *lost).returncode, 2)
            suite = xml.etree.ElementTree.parse(file).getroot()[0]
            self.assertEqual((suite.get("tests"), suite.get("errors")), ("1", "1"), lost)
        done = report("--junit", self.path("nowhere/report.xml"), "--fail-if", "a calls > 1", folder)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("nowhere/report.xml: cannot write the JUnit report: ", done.stderr)

    def test_can_be_markdown(self):
        before = self.record(*CALLS, name="before.trace")
        now = self.record(*CALLS * 2)
        done = report("--markdown", "--fail-if", "a calls > 1", now)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("\n| `a` | 2 | 0 | ", done.stdout)
        self.assertTrue(done.stdout.endswith("**Conditions:** 1 true\n\n- **!** `true: a calls > 1: a has 2`\n"), done.stdout)
        done = report("--markdown", "--compare", before, now)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("\n| `a` | 1 → 2 (+100%) | ", done.stdout)
        self.assertEqual(report("--markdown", "--json", now).returncode, 2)

    def test_can_be_a_page(self):
        page = self.path("page.html")
        folder = self.record(*CALLS)
        for runs in ([folder], ["--compare", self.record(*CALLS, name="before.trace"), folder]):
            done = report("--html", page, *runs)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"\npage     {page}\n", done.stdout)
        with open(page, encoding="utf-8") as file:
            self.assertIn("<html", file.read())
        done = completed("sh", "-c", 'ulimit -f 1; exec "$0" report --html "$1" "$2"', recorded.COMMAND, page,
                         self.path("run.trace"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("page.html: cannot write the page: File too large", done.stderr)

    def test_fails_if_it_shall(self):
        folder = self.record(*CALLS)
        for condition, status, line in (("a calls != 1", 0, "passed: a calls != 1: a has 1"),
                                        ("b calls > 0", 2, "unknown: b calls > 0: no tag matches"),
                                        ("a max > 1h", 2, ""), ("a max > 50s", 0, "passed: a max > 50s: a has ")):
            done = report("--fail-if", condition, folder)
            self.assertEqual(done.returncode, status, condition)
            self.assertIn(line, (done.stdout + done.stderr).splitlines()[-1])
        conditions = [word for text in ("a calls > 0", "a calls > 1", "b calls > 0")
                      for word in ("--fail-if", text)]
        lines = "true: a calls > 0: a has 1\npassed: a calls > 1: a has 1\nunknown: b calls > 0: no tag matches\n"
        done = report(*conditions, folder)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stdout.endswith("\n" + lines), done.stdout)
        done = report("--json", *conditions, folder)
        self.assertEqual((done.returncode, done.stderr), (1, lines))
        self.assertEqual([each["outcome"] for each in json.loads(done.stdout)["conditions"]],
                         ["broken", "passed", "unknown"])

    def test_fails_if_what_it_shows_is_lost(self):
        folder = self.record(*CALLS)
        with open("/dev/full", "w", encoding="utf-8") as full:
            for options in ([], ["--json"]):
                done = completed(recorded.COMMAND, "report", *options, folder, stdout=full)
                self.assertEqual(done.returncode, 2)
                self.assertIn("could not be written", done.stderr)


class ByLabel(ReportTestCase):
    """Which rank is slow, which share of a service's answers are conflicts."""

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

    def test_finds_the_slow_rank(self):
        def calls(rank):
            wait = 0.3 if rank == 5 else 0.01
            return [f"begin compute{{rank={rank}}}", f"sleep {wait}", f"end compute{{rank={rank}}}"] * 3
        folder = self.record_programs(*map(calls, range(8)))
        times = [tag["sum"] for tag in tags_of(folder).values()]
        self.assertIn("\nuneven   compute: rank=5 takes ", report(folder).stdout)
        (found,) = strict_json(report("--json", folder).stdout)["imbalances"]
        self.assertEqual((found["name"], found["label"], found["values"]), ("compute", "rank", 8))
        self.assertEqual((found["greatest"][0]["value"], found["min"], found["max"]), ("5", min(times), max(times)))
        self.assertAlmostEqual(found["ratio"], max(times) / (sum(times) / 8))

    def test_lets_no_gate_pass_by_calls_that_lost_their_labels(self):
        calls = ["point request"] + ["point request{status=%d}" % status for status in (200, 404, 500)] * 3
        gates = ("--fail-if", "request{status=404} calls > 3", "--fail-if", "request{status=*} calls > 3")
        for limit, status in (("3", 0), ("2", 2)):
            folder = self.record_programs(calls, PCP_TRACE_MAX_LABEL_SETS=limit)
            done = report(*gates, folder)
            self.assertEqual(done.returncode, status, done.stdout)
            self.assertEqual("folded: up to 4 calls of request may be" in done.stdout, limit == "2", done.stdout)
            shutil.rmtree(folder)


class OfStockAgents(ReportTestCase):
    agent = STOCK_AGENT
    library = STOCK_LIBRARY

    def test_has_what_such_an_agent_knows(self):
        archive = self.log(self.start_pmcd(["-T", "60", "-N", "60"]), "log", *CALLS * 3)
        tags = tags_of(archive)
        self.assertEqual({key: tag["calls"] for key, tag in tags.items()},
                         {("transact", "a"): 3, ("point", "p"): 3, ("observe", "o"): 3,
                          ("counter", "c"): 3})
        tag = tags["transact", "a"]
        self.assertIsNone(tag["failed"])
        self.assertIsNone(tag["p99"])
        self.assertEqual(tag["percentiles_from"], "not recorded")
        self.assertGreater(tag["sum"], 0)
        done = report("--fail-if", "a p99 > 1ns", archive)
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown: a p99 > 1ns: a has no percentiles", done.stdout)


class OfWhatIsNoArchive(ReportTestCase):
    def test_says_so(self):
        for name, content in (("empty", b""), ("text", b"hello\n" * 1000), ("zeros", bytes(5000))):
            for suffix in (".0", ".index", ".meta"):
                with open(self.path(name + suffix), "wb") as file:
                    file.write(content)
            self.assert_one_line(report(self.path(name)), self.path(name) + ": ")
        self.assert_one_line(report(self.path("nowhere")), self.path("nowhere") + ": ")
        self.assert_one_line(report(self.directory), self.directory + ": ")
        self.assert_one_line(report("--compare", self.path("nowhere"), self.record(*CALLS)),
                             self.path("nowhere") + ": ")

    def test_says_that_one_is_damaged(self):
        archive = os.path.join(self.record(*CALLS), "trace")
        for suffix in (".0", ".meta"):
            with open(archive + suffix, "rb+") as file:
                content = file.read()
                for size in range(0, len(content), max(1, len(content) // 20)):
                    file.truncate(size)
                    done = report(archive)
                    self.assertIn(done.returncode, (0, 2), f"{suffix} {size}: {done.stderr}")
                    if done.returncode == 2:
                        self.assert_one_line(done, archive)
                    file.seek(0)
                    file.write(content)
                    file.flush()

    def test_says_that_one_is_a_pipe(self):
        archive = os.path.join(self.record(*CALLS), "trace")
        os.remove(archive + ".0")
        os.mkfifo(archive + ".0")
        self.assert_one_line(report(archive), archive + ".0: ")

    def test_says_that_one_is_damaged_that_ends_the_process_that_reads_it(self):
        """It does so or it does not, as memory happens to be placed; guarded_reading_test.cpp knows both."""
        archive = os.path.join(self.record(*CALLS), "trace")
        with open(archive + ".meta", "rb") as file:
            whole = file.read()
        # Damages the number of a metric's names, and that of a domain's instances.
        instances = (2, 20) if whole[7] == 2 else (5, 24)  # by the archive's version
        for kind, offset in ((1, 28), instances):
            at = first_record(whole, kind) + offset
            with open(archive + ".meta", "wb") as file:
                file.write(whole[:at] + b"\0\x0f\xff\xff" + whole[at + 4:])
            base = self.record(*CALLS, name=f"base{kind}")
            for arguments in (["report", archive], ["report", "--json", "--fail-if", "a calls > 9", archive],
                              ["report", "--html", self.path("page.html"), archive],
                              ["report", "--compare", archive, base],
                              ["export", "--chrome", self.path("spans.json"), "-a", archive]):
                with self.subTest(kind=kind, arguments=arguments[:2]):
                    done = run(*arguments, environment=os.environ | {"ASAN_OPTIONS": CRASHES})
                    self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                    self.assertRegex(done.stderr.splitlines()[-1], f"^pcp-trace {arguments[0]}: {re.escape(archive)}: "
                                     "(is damaged: |not a readable archive of PCP: )")
            self.assertFalse(os.path.exists(self.path("page.html")))

    def test_says_that_one_has_no_trace(self):
        logger = self.start_pmlogger(self.start_pmcd(), "other", "pmcd.numagents")
        logger.end()
        self.assert_one_line(report(self.path("other")), "has no counts of a trace agent")

    def test_says_what_is_wrong_with_the_command_line(self):
        self.assert_one_line(report("--nonsense"), '"--nonsense"')
        self.assertEqual(report("--help").returncode, 0)
