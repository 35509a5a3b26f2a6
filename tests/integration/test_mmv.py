# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program's totals in a file of mmv(5), as PCP's own pmdammv shows them: PCP_TRACE_MMV."""

import json
import os
import random
import re
import struct
import subprocess
import unittest

import recorded
from own_namespaces import needs, unshare
from pmlogger import Pmlogger
from private_pmcd import PATIENCE_S, completed, is_running, wait_until
from trace_test import (OUR_LIBRARY, TraceTestCase, has_machines_processes, library_environment, named_in_mmv, program,
                        without_leaks)

FETCHES = int(os.environ.get("TRACE_FETCHES", 600))
WITH_OTHER_PROCESSES = unshare("--pid", "--fork", "--kill-child", "--mount-proc")
KILLS = int(os.environ.get("TRACE_KILLS", 20))
PROCESSES = int(os.environ.get("TRACE_PROCESSES", 20))

# Fetches a metric so often, and looks at each answer: prints the most instances, and how often a value went backwards,
# an instance was gone, or pmcd gave no answer.
WATCHER = """
import sys
from pcp import pmapi
import cpmapi
context = pmapi.pmContext(cpmapi.PM_CONTEXT_HOST, sys.argv[1])
most = backwards = gone = none = 0
seen = {}
print("ready", flush=True)
for _ in range(int(sys.argv[3])):
    try:
        ids = context.pmLookupName(sys.argv[2])
        result = context.pmFetch(ids)
    except pmapi.pmErr:
        none += 1
        context.pmReconnectContext()
        continue
    values = {}
    for i in range(result.contents.get_numval(0)):
        atom = context.pmExtractValue(result.contents.get_valfmt(0), result.contents.get_vlist(0, i),
                                      cpmapi.PM_TYPE_U64, cpmapi.PM_TYPE_U64)
        values[result.contents.get_inst(0, i)] = atom.ull
    context.pmFreeResult(result)
    gone += len(seen.keys() - values.keys())
    backwards += sum(values[each] < seen[each] for each in values.keys() & seen.keys())
    most = max(most, len(values))
    seen = values
print(most, backwards, gone, none)
"""


def file_of(traced):
    return f"shop_{named_in_mmv(traced.pid)}"


class MmvTestCase(TraceTestCase):
    def setUp(self):
        self.pmcd = self.start_pmcd(mmv=True)
        self.directory = self.pmcd.path("tmp/mmv")

    def environment_of(self, name="shop", **variables):
        return self.environment(**{"PCP_TRACE_MMV": name, "PCP_TMP_DIR": self.pmcd.path("tmp"),
                                   "PCP_TRACE_FLUSH": 5} | variables)

    def start(self, name="shop", **variables):
        return self.start_traced(self.environment_of(name, **variables))

    def start_with_point(self, tag):
        traced = self.start()
        traced.call(f"point {tag}")
        self.wait_for("point.count", {tag: 1})
        return traced

    def values(self, metric, name="shop"):
        """Without the processes' ids; nothing as long as there is no such metric."""
        found = re.findall(r'inst \[\d+ or "[\d@]+/(.*)"\] value (\S+)', self.pmcd.pminfo("-f", f"mmv.{name}.{metric}"))
        return {tag: float(value) for tag, value in found}

    def wait_for(self, metric, expected, name="shop"):
        seen = {}

        def is_there():
            seen["now"] = self.values(metric, name)
            return seen["now"] == expected
        try:
            wait_until(is_there, what=f"{metric} {expected}")
        except TimeoutError:
            self.assertEqual(seen["now"], expected)

    def counts_by_process(self):
        return set(re.findall(r'"([\d@]+)/a"\] value (\d+)', self.pmcd.pminfo("-f", "mmv.shop.point.count")))

    def files(self):
        return sorted(os.listdir(self.directory))


class OfAProgram(MmvTestCase):
    CALLS = ("begin buy", "end buy", "begin buy", "abort buy", "begin open", "point miss", "point miss", "obs 3 length",
             "obs 5 length", "counter 7 log", "add 2 sent", "add 3 sent")
    EXPECTED = {"transact.count": {"buy": 1, "open": 0}, "transact.aborts": {"buy": 1, "open": 0},
                "transact.inflight": {"buy": 0, "open": 1}, "point.count": {"miss": 2},
                "observe.count": {"length": 2}, "observe.sum": {"length": 8}, "observe.value": {"length": 5},
                "observe.nonfinite": {"length": 0}, "observe.min": {"length": 3}, "observe.max": {"length": 5},
                "counter.count": {"log": 1, "sent": 2}, "counter.value": {"log": 7}, "counter.total": {"sent": 5}}

    def check_calls(self, traced):
        for line in self.CALLS:
            self.assertEqual(traced.call(line), 0)
        for metric, expected in self.EXPECTED.items():
            self.wait_for(metric, expected)

    def test_are_there_beside_the_agents(self):
        self.check_calls(self.start())
        self.assert_values(self.pmcd, "trace.point.count", {"miss": 2})
        for metric, text in (("observe.p50", "length"), ("transact.p99", "buy"), ("transact.max_time", "buy"),
                             ("transact.total_time", "buy"),
                             ("transact.abort_time", "buy"), ("transact.abort_max", "buy")):
            wait_until(lambda: text in self.values(metric), what=metric)
        self.assertAlmostEqual(self.values("observe.p50")["length"], 3, delta=0.06)
        self.assertEqual(set(self.values("transact.min_time")), {"buy"})  # none has ended of the other
        oldest = self.values("transact.oldest")["open"]
        wait_until(lambda: self.values("transact.oldest")["open"] > oldest, what="it to grow older")

    def test_are_there_without_an_agent(self):
        traced = self.start(PCP_TRACE_NOAGENT=1)
        self.check_calls(traced)
        self.assertEqual(traced.call("flush 60"), 1)
        self.assertEqual(self.pmcd.values("trace.point.count"), {})
        self.assertEqual(self.pmcd.values("trace.client.recorded"), {})

    def test_have_units_semantics_and_help(self):
        self.check_calls(self.start())
        described = self.pmcd.pminfo("-dtT", "mmv.shop")
        for metric, form in (("transact.count", r"64-bit unsigned int.*\n.*Semantics: counter  Units: count\n"),
                             ("transact.total_time", r"double.*\n.*Semantics: counter  Units: sec\n"),
                             ("transact.max_time", r"double.*\n.*Semantics: instant  Units: sec\n"),
                             ("observe.value", r"double.*\n.*Semantics: instant  Units: none\n"),
                             ("counter.total", r"double.*\n.*Semantics: counter  Units: none\n")):
            self.assertRegex(described, rf"mmv\.shop\.{re.escape(metric)} \[.+\]\n    Data Type: {form}")
        self.assertIn("mmv.shop.point.count [points passed, by tag]", described)

    def test_have_labels_and_any_name(self):
        environment = self.environment_of(PCP_TRACE_SERVICE='the "shop"')
        traced = self.start_traced(environment)
        tags = ["two words", "two others", "caf\u00e9 \u2615", "x" * 254, 'route{path=/cart}']
        for tag in tags:
            self.assertEqual(traced.call(f"point {tag}"), 0)
        traced.call("point C1\u009b31m\u202e")
        wait_until(lambda: len(self.values("point.count")) == len(tags) + 1, what="all tags")
        self.assertIn("C1?31m?", self.values("point.count"))
        shown = {re.sub("#\\d+ ", " ", tag) for tag in self.values("point.count")}
        self.assertLessEqual(set(tags) - {"x" * 254}, shown)
        self.assertTrue(any(name.startswith("x" * 230) for name in shown))
        labels = self.pmcd.pminfo("-l", "mmv.shop.point.count")
        self.assertIn('"service":"the \\"shop\\""', labels)
        self.assertIn('"path":"/cart"', labels)

    def test_go_with_the_process(self):
        traced = self.start_with_point("a")
        self.assertEqual(self.files(), [file_of(traced)])
        self.assertEqual(traced.end(), "")
        self.assertEqual(self.files(), [])
        self.wait_for("point.count", {})

    def test_go_when_it_is_killed_and_the_next_one_removes_the_file(self):
        traced = self.start_with_point("a")
        traced.kill()
        # Elsewhere pmdammv must not look for processes: they may be another namespace's.
        self.wait_for("point.count", {} if has_machines_processes() else {"a": 1})
        self.assertEqual(self.files(), [file_of(traced)])
        next_one = self.start_with_point("b")
        self.assertEqual(self.files(), [file_of(next_one)])

    def test_come_back_if_somebody_takes_the_file_away(self):
        traced = self.start_with_point("a")
        os.unlink(os.path.join(self.directory, file_of(traced)))
        wait_until(lambda: traced.call("point a") or self.files(), what="another file")
        wait_until(lambda: self.values("point.count").get("a", 0) > 1, what="its values")

    def test_come_when_there_is_a_directory(self):
        """Also if the program makes no call any more."""
        os.rmdir(self.directory)
        said = self.pmcd.path("said")
        with open(said, "w", encoding="utf-8") as file:
            traced = self.start_process(program("traced"), env=self.environment_of(), stdin=subprocess.PIPE,
                                        stderr=file)
        traced.stdin.write("point a\n")
        traced.stdin.flush()
        wait_until(lambda: os.path.getsize(said) > 0, what="its complaint")
        os.mkdir(self.directory)
        self.wait_for("point.count", {"a": 1})

    @needs(*WITH_OTHER_PROCESSES)
    def test_of_another_namespace_of_processes(self):
        """pmdammv must not look for its process, and neither process removes the other's file."""
        def vanish_with_their_process():
            for name in self.files():
                with open(f"{self.directory}/{name}", "rb") as file:
                    yield name.partition("@")[0], struct.unpack_from("i", file.read(), 28)[0] & 2 != 0
        traced = self.start_with_point("a")
        other = self.start_traced(self.environment_of(), within=WITH_OTHER_PROCESSES)
        other.call("point b")
        wait_until(lambda: len(self.files()) == 2, what="its file")
        self.assertEqual(dict(vanish_with_their_process()), {f"shop_{traced.pid}": has_machines_processes(), "shop_1": False})
        self.assertEqual(other.end(), "")
        self.assertEqual(self.files(), [file_of(traced)])

    def test_of_a_child_are_its_own(self):
        """Also if the program itself gives the name."""
        for in_environment, words in (("shop", ()), (None, ("shop",))):
            with self.subTest(in_environment):
                forked = self.start_process(program("forked"), *words, stdin=subprocess.PIPE,
                                            env=without_leaks(self.environment_of(in_environment)))
                counts = (forked.stdout.readline().split() for _ in range(2))
                expected = {(named_in_mmv(pid), count) for pid, count in counts}
                wait_until(lambda: self.counts_by_process() == expected, what="the counts of both")
                forked.communicate()
                self.assertEqual((forked.returncode, self.files()), (0, []))

    def test_leave_nothing_behind_however_a_process_lives(self):
        for life in ("forked", "forked-twice", "spawned", "execed", "pre-forked", "daemonized", "left-quickly",
                     "main-left", "main-left-alone", "interrupted-quickly"):
            with self.subTest(life):
                done = completed(program("lifecycle"), life, env=without_leaks(self.environment_of()))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                wait_until(lambda: self.files() == [], what="the end of the last process")


class OfAnArchive(MmvTestCase):
    """Logged by PCP's pmlogger, shown by `pcp-trace report`."""

    def report(self, archive):
        done = completed(recorded.COMMAND, "report", "--json", archive)
        return json.loads(done.stdout)["tags"] if done.returncode == 0 else done.stderr

    def log(self, *metrics):
        logger = Pmlogger(self.pmcd, self.pmcd.path("night"), ", ".join(metrics))
        self.addCleanup(logger.end)
        return logger

    def test_are_reported_by_process(self):
        traced = self.start_with_point("a")
        logger = self.log("mmv.shop")
        archive = self.pmcd.path("night")

        def calls():
            for line in ("begin buy", "end buy", "point a"):
                traced.call(line)
            tags = self.report(archive)
            return isinstance(tags, list) and {tag["name"]: tag["calls"] for tag in tags if tag["calls"] >= 2}
        wait_until(lambda: calls() and set(calls()) == {f"{named_in_mmv(traced.pid)}/{tag}" for tag in ("buy", "a")}, what="both tags")
        logger.end()
        buy = next(tag for tag in self.report(archive) if tag["name"].endswith("/buy"))
        self.assertGreater(buy["mean"], 0)

    def test_of_several_names_are_refused(self):
        for name in ("shop", "till"):
            self.start(name).call("point a")
            self.wait_for("point.count", {"a": 1}, name)
        self.log("mmv.shop", "mmv.till")
        wait_until(lambda: "has the totals of several names, such as mmv.shop.* and mmv.till.*" in
                   str(self.report(self.pmcd.path("night"))), what="the archive")


class Never(MmvTestCase):
    """Nothing that programs do ends pmcd."""

    def start_watcher(self, metric):
        watcher = self.start_process("/usr/bin/python3", "-c", WATCHER, self.pmcd.host(), metric, str(FETCHES))
        self.assertEqual(watcher.stdout.readline(), "ready\n")
        return watcher

    def check(self, watcher):
        self.assertEqual(watcher.wait(timeout=4 * PATIENCE_S), 0)
        most, backwards, gone, none = map(int, watcher.stdout.read().split())
        self.assertTrue(is_running(self.pmcd.pmcd_pid()), "pmcd has ended")
        return most, backwards, gone, none

    def test_while_a_program_has_ever_new_tags(self):
        traced = self.start_with_point("first")
        watcher = self.start_watcher("mmv.shop.point.count")
        made = 1
        while watcher.poll() is None and made < 900:
            traced.call(f"point tag{made}")
            traced.call("point first")
            made += 1
        most, *troubles = self.check(watcher)
        self.assertGreater(most, 1)
        self.assertEqual(troubles, [0, 0, 0])

    def test_while_programs_are_killed_as_they_write(self):
        chance = random.Random(int(os.environ.get("TRACE_SEED", random.randrange(10**9))))
        stays = self.start_with_point("stays")
        watcher = self.start_watcher("mmv.shop.point.count")
        for _ in range(KILLS):
            traced = self.start(PCP_TRACE_FLUSH=1)
            for number in range(chance.randrange(1, 40)):
                traced.call(f"point tag{number}")
            traced.kill()
            stays.call("point stays")
        watcher.kill()
        self.assertTrue(is_running(self.pmcd.pmcd_pid()), "pmcd has ended")
        next_one = self.start()  # removes the last one's file
        next_one.call("point a")
        self.wait_for("point.count", {"stays": 1 + KILLS, "a": 1})

    def test_while_many_of_one_name_come_and_go(self):
        all_of_them = [self.start() for _ in range(PROCESSES)]
        watcher = self.start_watcher("mmv.shop.point.count")
        for traced in all_of_them:
            traced.call("point a")
        wait_until(lambda: self.pmcd.pminfo("-f", "mmv.shop.point.count").count("value 1") == PROCESSES, what="all")
        for traced in all_of_them:
            traced.end()
        watcher.kill()
        self.assertTrue(is_running(self.pmcd.pmcd_pid()), "pmcd has ended")
        self.wait_for("point.count", {})
        self.assertEqual(self.files(), [])


class WithoutAFile(TraceTestCase):
    def setUp(self):
        self.mmv = self.path("mmv")

    def environment_with(self, **variables):
        return library_environment(OUR_LIBRARY, **{"PCP_TRACE_MMV": "shop", "PCP_TMP_DIR": self.directory,
                                                   "PCP_TRACE_NOAGENT": 1} | variables)

    def run_with(self, *before, lines="point a\npoint b\nflush 60\npoint c\n" * 3):
        return completed(*before, program("traced"), input=lines, env=self.environment_with(), check=True)

    def test_programs_go_on_and_say_it_once(self):
        done = self.run_with()
        self.assertEqual(done.stdout.split(), ["0", "0", "1", "0"] * 3)
        self.assertRegex(done.stderr, r"\A[^\n]*PCP_TRACE_MMV: no file in [^\n]*/mmv: No such file or directory; [^\n]*\n\Z")

    @unittest.skipUnless(os.getuid() == 0, "only root can be somebody else")
    def test_which_they_may_not_write_they_say_what_helps(self):
        os.mkdir(self.mmv, 0o755)
        os.chown(self.mmv, 65534, 65534)
        done = self.run_with("setpriv", "--bounding-set", "-dac_override")
        self.assertEqual(done.stdout.split(), ["0", "0", "1", "0"] * 3)
        self.assertRegex(done.stderr, r"Permission denied; .*usermod -a -G pcp USER\n\Z")

    def test_that_has_no_room_they_live(self):
        os.mkdir(self.mmv)
        lines = "".join(f"point tag{number}\n" for number in range(1000)) + "flush 60\n"
        done = self.run_with("prlimit", "--fsize=65536", lines=lines)
        self.assertEqual(done.stdout.split(), ["0"] * 1000 + ["1"])
        self.assertRegex(done.stderr, r"\A[^\n]*PCP_TRACE_MMV: no file in [^\n]*: File too large\n\Z")

    def test_that_somebody_has_truncated_they_make_it_again(self):
        os.mkdir(self.mmv)
        traced = self.start_traced(self.environment_with(PCP_TRACE_FLUSH=5))
        path = os.path.join(self.mmv, file_of(traced))

        def size():
            traced.call("point a")
            return os.path.exists(path) and os.path.getsize(path)
        whole = wait_until(size, what="its file")
        os.truncate(path, 0)
        wait_until(lambda: size() == whole, what="another file")
        self.assertEqual(traced.end(), "")

    @needs(*WITH_OTHER_PROCESSES)
    def test_where_they_cannot_know_whose_it_is_they_say_so(self):
        os.mkdir(self.mmv)
        traced = self.start_traced(self.environment_with())
        path = os.path.join(self.mmv, file_of(traced))
        wait_until(lambda: traced.call("point a") or os.path.exists(path), what="its file")
        no_proc = 'mount -t tmpfs none /proc && "$0"; exit 0'  # whatever a sanitizer says that needs /proc
        done = self.run_with(*WITH_OTHER_PROCESSES, "sh", "-c", no_proc)
        self.assertEqual(done.stdout.split(), ["0", "0", "1", "0"] * 3)
        self.assertRegex(done.stderr, "PCP_TRACE_MMV: no file in .*: /proc is needed ")
        self.assertTrue(os.path.exists(path))
