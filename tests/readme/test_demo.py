# SPDX-License-Identifier: LGPL-2.1-or-later
"""The table that ./run demo shows of the values that it reads."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(SOURCE, "demos"))
import live_table  # noqa: E402
import show  # noqa: E402
import spans  # noqa: E402
from private_pmcd import PATIENCE_S  # noqa: E402

METRICS = {
    "trace.transact.count": {"checkout": 12_345_678, "search": 2},
    "trace.transact.rate": {"checkout": 123_456.7, "search": 0.4},
    "trace.transact.ave_time": {"checkout": 0.00002, "search": 0.0000003},
    "trace.transact.min_time": {"checkout": 0.00001, "search": 0.0000002},
    "trace.transact.p50": {"checkout": 0.00002, "search": 0.0000003},
    "trace.transact.p99": {"checkout": 0.5, "search": 0.0000004},
    "trace.transact.max_time": {"checkout": 1.5, "search": 0.0000005},
    "trace.transact.aborts": {"checkout": 7, "search": 0, "never-ended": 3},
    "trace.observe.count": {"queue": 5},
    "trace.observe.value": {"queue": -1234.5},
    "trace.counter.count": {"bytes": 9},
    "trace.counter.value": {"bytes": 5_686_000.0},
}


class Table(unittest.TestCase):
    def line(self, tag):
        return re.split(r"\s{2,}", next(line for line in live_table.table(METRICS) if f" {tag}" in line))

    def test_shows_durations_in_a_unit_that_says_something(self):
        for seconds, text in ((0, "0 ns"), (3e-7, "300 ns"), (0.00002, "20.0 µs"), (0.00123, "1.23 ms"),
                              (0.9996, "1.00 s"), (123.4, "123 s")):
            self.assertEqual(live_table.duration(seconds), text)

    def test_shows_the_value_of_observations_and_counters(self):
        self.assertIn("-1,234", self.line("queue"))
        self.assertIn("5.69 M", self.line("bytes"))

    def test_shows_aborts_even_of_what_never_ended(self):
        self.assertEqual([self.line("checkout")[-1], self.line("never-ended")[-1]], ["7", "3"])
        self.assertNotEqual(self.line("search")[-1], "0")

    def test_fits_the_terminal_and_breaks_no_number(self):
        for width in (10, 40, 70, live_table.WIDTH, 110, 200):
            self.assertLessEqual(max(map(len, live_table.table(METRICS, width=width))), width)
        self.assertLessEqual(max(map(len, live_table.table(METRICS))), live_table.WIDTH)

    def test_leaves_out_the_last_columns_where_there_is_no_room(self):
        head, *lines = live_table.table(METRICS, width=70)
        self.assertTrue(head.endswith("99%"))
        self.assertTrue(any(line.endswith("500 ms") for line in lines))

    def test_says_what_each_mark_and_the_scale_mean(self):
        head, *lines = live_table.table(METRICS, width=120)
        marks = {mark for line in lines for mark in line if mark in "█▓─▏▎▍▌▋▊▉"}
        self.assertEqual(marks, set("█▓─"))
        title = live_table.title_line("10000 s of 10000 s", 105)
        self.assertLessEqual(marks, set(title))
        self.assertLessEqual(len(title), 105)
        self.assertRegex(head, r"200 ns +1\.50 s$")
        self.assertEqual(live_table.title_line("1 s of 2 s", 80), "1 s of 2 s")

    def test_has_pictures_of_durations_only(self):
        queue = next(line for line in live_table.table(METRICS, width=120) if "queue" in line)
        self.assertTrue(queue.endswith("-1,234"))

    def test_shows_as_much_of_a_tag_as_there_is_room_for(self):
        tag = "a-tag-that-is-thirty-chars-long"
        metrics = METRICS | {"trace.point.count": {tag: 1}}
        for width, shown in ((79, "a-tag-that…"), (90, "a-tag-that-is-thirty-…"), (100, tag),
                             (119, "a-tag-that-is-thirty-cha…"), (160, tag)):
            lines = live_table.table(metrics, width=width)
            self.assertIn(f"point    {shown} ", "\n".join(lines))
            self.assertLessEqual(max(map(len, lines)), width)

    def test_shows_below_what_is_open_now_the_oldest_first(self):
        tags = {"checkout": 2, "search": 0, "b" * 100: 1, "c": 1, "d": 1}
        metrics = METRICS | {
            "trace.transact.inflight": tags,
            "trace.transact.oldest": {"checkout": 1.5, "search": 0.0, "b" * 100: 0.002, "c": 0.001, "d": 0},
            "trace.transact.oldest_where": {"checkout": "12/34", "b" * 100: "12", "c": "1/1", "d": "1/1"},
        }
        first, second, third = live_table.table(metrics)[-3:]
        self.assertEqual(first, "open now: 2 checkout, the oldest for 1.50 s, process 12, thread 34")
        self.assertTrue(second.startswith("open now: 1 bbb"))
        self.assertEqual(len(second), live_table.WIDTH)
        self.assertEqual(third, "open now: 1 c, the oldest for 1.00 ms, process 1, thread 1")

    def test_has_pictures_where_there_is_room_and_colours_where_they_are_wanted(self):
        wide = "\n".join(live_table.table(METRICS, width=120))
        self.assertIn("▓", wide)
        self.assertNotIn("\x1b", wide)
        self.assertNotIn("▓", "\n".join(live_table.table(METRICS, colour=True)))
        self.assertIn("\x1b[36mtransact", "\n".join(live_table.table(METRICS, colour=True)))

    def test_divides_by_the_time_that_has_passed(self):
        metrics = {"trace.point.rate": {"a": 2.0}, "trace.point.count": {"a": 10}}
        self.assertEqual(show.correct_rates(metrics, 1)["trace.point.rate"], {"a": 10.0})
        self.assertEqual(show.correct_rates(metrics, 60)["trace.point.rate"], {"a": 10.0})


class Frame(unittest.TestCase):
    """The output for a terminal, each second."""

    MANY = {"trace.point.count": {f"tag-{number}": number for number in range(40)}}

    def setUp(self):
        self.screen = live_table.Screen("first line\nsecond line\n")

    def frame(self, columns, height):
        return self.screen.frame("1 s", self.MANY, (columns, height))

    def test_is_as_high_as_the_terminal_and_no_higher(self):
        for columns, height in ((80, 24), (120, 40)):
            rows = self.frame(columns, height).split("\n")
            self.assertEqual(len(rows), height)
            shown = sum("tag-" in row for row in rows)
            self.assertIn(f"… {40 - shown} more", rows[-1])

    def test_counts_the_rows_of_wrapped_lines(self):
        self.assertEqual(live_table.height_of("12345678\n\n123456789\n", 8), 4)

    def test_clears_all_when_the_size_has_changed_and_only_then(self):
        self.assertIn(live_table.CLEAR + "first line", self.frame(120, 40))
        self.assertNotIn("first line", self.frame(120, 40))
        self.assertIn(live_table.CLEAR + "first line", self.frame(70, 40))

    def test_gives_the_table_the_room_where_there_is_little(self):
        self.assertNotIn("first line", self.frame(80, 9))
        self.assertEqual(len(self.frame(80, 8).split("\n")), 8)


class Watch(unittest.TestCase):
    def test_says_that_the_agent_has_ended(self):
        a_second = subprocess.TimeoutExpired("program", 1)
        program = mock.Mock(communicate=mock.Mock(side_effect=[a_second, a_second, ("done\n", None)]))
        pmcd = mock.Mock(agent_pid=mock.Mock(side_effect=[17, None]))
        screen = mock.Mock()
        with mock.patch("show.read_metrics", return_value=METRICS):
            self.assertEqual(show.watch(pmcd, program, 3, screen), ["done"])
        (before, first), (after, last) = (call.args for call in screen.show.call_args_list)
        self.assertNotIn("agent has ended", before)
        self.assertIn("agent has ended", after)
        self.assertEqual(first, last)


class Farewell(unittest.TestCase):
    def test_goes_on_in_the_same_language_and_names_the_others(self):
        for name, language, others in (("fortran", "fortran", "c|cpp|java|python|shell"),
                                       ("c-by-name", "c", "cpp|fortran|java|python|shell")):
            text = show.farewell(name)
            self.assertIn(f"./run demo {language} 600 ", text)
            self.assertIn(f"./run demo {others} ", text)

    def test_fits_a_terminal(self):
        for name in show.DEMOS:
            self.assertLess(max(map(len, show.farewell(name).splitlines())), 80)


class Run(unittest.TestCase):
    def refusal(self, *arguments, word="demo"):
        """The message of ./run; it finds no tools here, should it try to build."""
        with tempfile.TemporaryDirectory() as directory:
            for tool in ("dirname", "readlink", "rm"):
                os.symlink(shutil.which(tool), os.path.join(directory, tool))
            done = subprocess.run(["/bin/bash", os.path.join(SOURCE, "run"), word, *arguments],
                                  env={"PATH": directory}, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done)
        return done.stderr

    def test_says_in_one_line_what_is_wrong(self):
        languages = "there are: c, cpp (the default), fortran, java, python, shell"
        wanted, wanted_of_server = "./run demo [record] [LANGUAGE] [SECONDS]", "./run demo server [SECONDS]"
        for said, *arguments in (
                (f"'perl'; {languages}", "perl"), (f"'c-by-name'; {languages}", "c-by-name", "10"),
                (f"not '10 c'; wanted: {wanted}", "10", "c"), (f"not 'abc'; wanted: {wanted}", "c", "abc"),
                (f"not '0'; wanted: {wanted}", "c", "0"), (f"not '-5'; wanted: {wanted}", "-5"),
                (f"not '10 20'; wanted: {wanted}", "c", "10", "20"), (f"not ''; wanted: {wanted}", "c", ""),
                *((f"not '{seconds}'; wanted: {wanted_of_server}", "server", seconds)
                  for seconds in ("100", "0", "c", "10 10"))):
            with self.subTest(arguments):
                self.assertIn(said, self.refusal(*arguments))

    def test_packages_for_c_need_no_compiler_of_another_language(self):
        needed = [self.refusal(*words, word="package") for words in ([], ["all"])]
        self.assertEqual([re.findall("gfortran|jdk|python3-dev", each) for each in needed],
                         [[], ["gfortran", "jdk", "python3-dev"]])


class Introduction(unittest.TestCase):
    def test_has_a_command_for_single_transactions(self):
        pmcd = mock.Mock(host=lambda unix=False: "unix:/run/socket" if unix else "127.0.0.1:1")
        shown = show.introduction(pmcd, show.DEMOS["c"], "build/release")
        self.assertIn("\n    build/release/pmda/command/pcp-trace spans -h unix:/run/socket slower=100ms\n",
                      shown)


@unittest.skipUnless("TRACE_SHOP" in os.environ, "this build lacks Java or Python")
class Shop(unittest.TestCase):
    """The programs of ./run demo spans."""

    def test_ends_when_one_of_its_programs_is_gone(self):
        for victim, of_the_front in (("OrderWorker", 1), ("order_stock", 1), ("order_front", -signal.SIGKILL)):
            with self.subTest(victim), spans.shop(
                    os.environ["TRACE_SHOP"], lambda _: os.environ | {"PCP_TRACE_NOAGENT": "1"}) as programs:
                while not programs["order_stock"].stdout.readline().startswith("within"):
                    pass  # until all of them work
                programs[victim].kill()
                ends = {name: program.wait(PATIENCE_S) for name, program in programs.items()}
                self.assertEqual(ends["order_front"], of_the_front)


class Costs(unittest.TestCase):
    def test_are_those_of_the_round_that_nothing_disturbed(self):
        stock = mock.Mock(stdout=["beside 30.1\n", "beside 22.2\n", "beside 90.5\n", "within 150\n"])
        costs = spans.Costs({"order_stock": stock})
        costs._reader.join()
        self.assertEqual((costs.of("before", "beside"), costs.of("before", "within")), (22.2, 150))


class Programs(unittest.TestCase):
    def test_a_missing_one_is_named_at_once(self):
        with tempfile.TemporaryDirectory() as directory:
            missing = os.path.join(directory, "victoria-metrics")
            for demo, arguments, path, named in (("spans", [], directory, "setpriv"),
                                                 ("fleet", [missing], os.environ["PATH"], missing)):
                done = subprocess.run([sys.executable, "-B", f"{SOURCE}/demos/{demo}.py", directory, *arguments],
                                      env={"PATH": path}, capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, f"^demo: no program {named}: .*\n$")


class Check(unittest.TestCase):
    def check(self, last_line, **counts):
        """Gives what is printed of a program whose one answer was aborted."""
        pmcd = mock.Mock(values=lambda metric: {"answer": 1, "foreign": 5})
        with mock.patch("builtins.print") as printed:
            show.check(pmcd, show.DEMOS["c"], {"trace.transact.count": counts}, last_line)
        return printed.call_args[0][0]

    def test_counts_only_the_demos_own_transactions(self):
        counts = {"answer{status=200}": 8, "answer": 1, "ask": 9, "foreign": 100}
        self.check("served 10 requests", **counts)
        with self.assertRaises(SystemExit):
            self.check("served 11 requests", **counts)

    def test_writes_all_numbers_alike(self):
        printed = self.check("served 5677 requests, 1322 of 0.12345", answer=5676)
        self.assertEqual(re.findall(r"\d[\d,.]*\d", printed), ["5,677", "1,322", "0.12345", "5,676", "5,677"])
