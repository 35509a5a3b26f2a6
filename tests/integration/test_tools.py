# SPDX-License-Identifier: LGPL-2.1-or-later
"""The views of trace.* in PCP's tools, live and of an archive: each tool prints what the page of views shows."""

import json
import os
import re
import shutil
import subprocess
import unittest

import views_page
from pmlogger import Pmlogger
from private_pmcd import completed, pcp_configuration, wait_until
from recorded import COMMAND
from traced_shop import TAGS, Shop
from views_page import VIEWS, tool

SECTIONS = ("trace", "trace-slow", "trace-open", "trace-observe", "trace-agent")
DERIVED = ("trace.transact.mean", "trace.transact.failed", "trace.transact.mean_inflight", "trace.observe.mean",
           "trace.transact.mean_failed")
ON_REQUEST = {"PCP_DERIVED_CONFIG": f"{VIEWS}/derived/trace.conf"}


def run(command, status=0, **environment):
    """Gives what a command prints on both outputs."""
    done = completed(*command, env=os.environ | environment, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    assert done.returncode == status, (command, done.returncode, done.stdout)
    return done.stdout


class ViewsTestCase(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.shop = cls.enterClassContext(Shop())
        cls.archive = cls.shop.log("night")
        cls.home = cls.shop.path("home")
        shutil.copytree(VIEWS, f"{cls.home}/.pcp")  # where pcp-dstat looks first

    def path(self, name):
        return self.shop.path(name)

    def sources(self):
        """Gives the options of the live host and of the archive, without the archive's first seconds."""
        yield "live", ["-h", self.shop.pmcd.host()]
        yield "archive", ["-a", self.archive, "-S", "2sec"]


class Pmrep(ViewsTestCase):
    def shown(self, name, source, *arguments):
        return run([*tool(name), "-c", f"{VIEWS}/pmrep/trace.conf", *source, *arguments])

    def test_shows_each_section(self):
        for section in SECTIONS:
            for kind, source in self.sources():
                with self.subTest(section, kind=kind):
                    views_page.check(self, f"pmrep -s 3 :{section}",
                                     self.shown("pmrep", source, "-s", "3", "-t", "1", f":{section}"))

    def test_shows_the_worst_first(self):
        for kind, source in self.sources():
            for section, column in (("trace-open", 4), ("trace-slow", 2)):
                with self.subTest(section, kind=kind):
                    rows = self.shown("pmrep", source, "-s", "3", "-t", "1", f":{section}").splitlines()[1:]
                    self.assertEqual(len(rows), 9, rows)  # three tags in each sample
                    for sample in (rows[:3], rows[3:6], rows[6:]):
                        values = [float(row.split()[column].replace("~", "0")) for row in sample]
                        self.assertEqual(values, sorted(values, reverse=True), sample)

    def test_is_also_pcp2csvs(self):
        for kind, source in self.sources():
            with self.subTest(kind):
                views_page.check(self, "pcp2csv -s 3 :trace-agent",
                                 self.shown("pcp2csv", source, "-s", "3", "-t", "1", ":trace-agent"))

    def test_is_also_pcp2jsons(self):
        for kind, source in self.sources():
            with self.subTest(kind):
                text = self.shown("pcp2json", source, "-s", "2", "-t", "1", ":trace")
                [host] = json.loads(re.sub(r"^\{ \"//\".*\n", "", text, flags=re.MULTILINE))["@pcp"]["@hosts"]
                tags = host["@metrics"][-1]["trace"]["transact"]["p99"]["@instances"]
                self.assertEqual({tag["name"] for tag in tags if float(tag["value"]) > 20}, set(TAGS))
                self.assertEqual({tag["@unit"] for tag in tags}, {"ms"})


class Dstat(ViewsTestCase):
    def test_shows_all_tags_together(self):
        for kind, source in self.sources():
            with self.subTest(kind):
                options = {"-h": "PCP_HOST", "-a": "PCP_ARCHIVE", "-S": "PCP_START_TIME"}
                environment = {options[option]: value for option, value in zip(source[::2], source[1::2])}
                shown = run([*tool("pcp-dstat", inside=True), "--trace", "--trace-time", "--nocolor", "1", "3"],
                            HOME=self.home, **environment)
                views_page.check(self, "pcp dstat --trace --trace-time --nocolor 1 3", shown)


class Derived(ViewsTestCase):
    def test_are_what_the_page_shows(self):
        for kind, source in self.sources():
            with self.subTest(kind):
                shown = run(["pmval", *source, "-s", "3", "-t", "1", "-f", "4", DERIVED[0]], **ON_REQUEST)
                shown = re.sub(r"^(?:start|end|archive): .*\n|^[\d:.]+ ", "", shown, flags=re.MULTILINE)
                if kind == "live":  # pmval's header of an archive has more lines
                    views_page.check(self, f"PCP_DERIVED_CONFIG=/etc/pcp/derived pmval -s 3 -t 1 -f 4 {DERIVED[0]}", shown)
                self.assertRegex(shown.splitlines()[-1], r"0\.0\d+ +0\.0\d+")

    def test_have_the_values_that_they_say(self):
        for kind, source in self.sources():
            with self.subTest(kind):
                shown = run([*tool("pmrep"), *source, "-s", "8", "-t", "1", "-o", "csv", "-P", "6", "-i", next(iter(TAGS)),
                             "trace.transact.count", "trace.transact.aborts", *DERIVED[:3]], **ON_REQUEST)
                rows = [[float(value) for value in line.split(",")[1:]] for line in shown.splitlines()[1:] if ",," not in line]
                self.assertGreater(len(rows), 4, shown)
                for ended, aborted, mean, failed, at_once in rows:
                    self.assertAlmostEqual(mean * ended, at_once, delta=0.001)
                    self.assertAlmostEqual(100 * aborted / (aborted + ended), failed, delta=0.01)
                self.assertGreater(max(row[3] for row in rows), 0, shown)

    def test_of_observations_is_their_mean(self):
        shown = run([*tool("pmrep"), "-a", self.archive, "-S", "2sec", "-t", "2", "-o", "csv", DERIVED[3]], **ON_REQUEST)
        for value in re.findall(r",([\d.]+)$", shown, re.MULTILINE):
            self.assertAlmostEqual(float(value), 9.5, delta=4)  # of 0 to 19, again and again
        self.assertIn("queue", shown)

    def test_of_failed_transactions_is_their_mean(self):
        shown = run([*tool("pmrep"), "-a", self.archive, "-S", "2sec", "-t", "2", "-o", "csv", DERIVED[4]], **ON_REQUEST)
        self.assertGreater(max(float(value) for value in re.findall(r",([\d.]+)", shown)), 0.01, shown)


class Pmlogconf(ViewsTestCase):
    """From the agent to last night's report."""

    def configure(self):
        groups, path = self.path("groups"), self.path("pmlogger.conf")
        os.makedirs(groups, exist_ok=True)
        if not os.path.exists(f"{groups}/trace"):
            os.symlink(f"{VIEWS}/pmlogconf", f"{groups}/trace")
        run(["pmlogconf", "-c", "-q", "-h", self.shop.pmcd.host(), "-d", groups, path])
        with open(path, encoding="utf-8") as file:
            return file.read()

    def test_logs_all_but_single_transactions(self):
        text = self.configure()
        self.assertEqual(dict(re.findall(r"^#\+ trace/(\w+):(.)", text, re.MULTILINE)),
                         {"agent": "y", "histograms": "y", "tags": "y", "spans": "n"})
        views_page.check(self, "sed -n '/trace.tags/,/^}/p' /var/lib/pcp/config/pmlogger/config.default",
                         re.search(r"^#\+ trace/tags.*?^}\n", text, re.DOTALL | re.MULTILINE)[0])

    def test_logs_what_a_report_needs(self):
        short_night = re.sub(r" on (10 seconds|1 minute) ", " on 500 msec ", self.configure())
        archive = self.path("logged")
        logger = Pmlogger(self.shop.pmcd, archive, configuration=short_night)
        self.addCleanup(logger.end)
        wait_until(lambda: os.path.exists(archive + ".index"), what="pmlogger")
        self.shop.wait_for_calls(400)
        logger.end()
        shown = run([COMMAND, "report", archive]).replace(archive, "/var/log/pcp/pmlogger/shop/20261124")
        views_page.check(self, "pcp-trace report /var/log/pcp/pmlogger/shop/20261124", shown)
        report = json.loads(run([COMMAND, "report", "--json", archive]))
        self.assertEqual(report["run"]["incomplete"], [])
        tags = report["tags"]
        self.assertEqual({tag["name"] for tag in tags if tag["type"] == "transact" and tag["p99"]}, set(TAGS))


class Pmieconf(ViewsTestCase):
    RULES = {"slow": "Slow traced transaction", "failing": "Traced transactions fail more often",
             "open": "Traced transaction open for too long", "losing": "Trace agent refuses or loses"}
    HARSH = (("trace.slow", "threshold", "0.001"), ("trace.open", "threshold", "1"), ("global", "delta", "1 sec"),
             ("global", "holdoff", "0"), ("global", "syslog_action", "no"), ("global", "user_action", "yes"))

    def pmieconf(self, *arguments):
        rules = self.path("rules")
        if not os.path.exists(rules):
            os.makedirs(rules)
            os.symlink(f"{pcp_configuration()['PCP_VAR_DIR']}/config/pmieconf/global", f"{rules}/global")
            os.symlink(f"{VIEWS}/pmieconf", f"{rules}/trace")
        return run(["pmieconf", "-r", rules, "-f", self.path("pmie.conf"), *arguments])

    def rules(self, *enabled, harsh=HARSH):
        """Makes pmie's configuration anew. Gives its path."""
        if os.path.exists(self.path("pmie.conf")):
            os.remove(self.path("pmie.conf"))
        for rule in enabled:
            self.pmieconf("enable", f"trace.{rule}")
        for words in harsh:
            self.pmieconf("modify", *words)
        return self.path("pmie.conf")

    def fired(self, *arguments):
        """Runs pmie to its end, and gives what its rules said."""
        return run(["pmie", "-e", *arguments])

    def fired_live(self, conf, *says, shop=None):
        """Runs pmie until all this was said, and gives all that was."""
        said = self.path("said")
        with open(said, "w", encoding="utf-8") as file, subprocess.Popen(
                ["pmie", "-e", "-h", (shop or self.shop).pmcd.host(), "-f", "-c", conf], stdin=subprocess.DEVNULL, stdout=file,
                stderr=file) as pmie, open(said, encoding="utf-8") as shown:
            try:
                texts = []
                wait_until(lambda: texts.append(shown.read()) or all(each in "".join(texts) for each in says), what=says)
            finally:
                pmie.kill()
        return "".join(texts)

    def test_all_are_off_until_somebody_enables_them(self):
        with open(self.rules(harsh=self.HARSH[2:]), encoding="utf-8") as file:
            self.assertNotRegex(file.read(), r"(?m)^trace\.")

    def test_each_fires_alone_where_there_is_trouble(self):
        for rule, says in self.RULES.items():
            harsh = [words for words in self.HARSH if words[0] in (f"trace.{rule}", "global")]
            conf = self.rules(rule, harsh=harsh)
            for kind in ("archive", "live"):
                with self.subTest(rule, kind=kind):
                    shown = (self.fired("-a", self.archive, "-f", "-c", conf) if kind == "archive" else
                             self.fired_live(conf, says))
                    self.assertIn(says, shown)
                    self.assertEqual([other for other in self.RULES.values() if other != says and other in shown], [])

    def test_say_what_the_page_shows(self):
        says = [self.RULES[rule] for rule in ("slow", "open")]
        shown = self.fired_live(self.rules("slow", "open"), *says).splitlines()
        first = [next(line for line in shown if each in line) for each in says]
        views_page.check(self, "pmie -f -e -c try.conf", "\n".join(sorted(first)) + "\n")

    def test_none_fires_where_all_is_well(self):
        with Shop(trouble=False) as quiet:
            archive = quiet.log("quiet")
            # On a busy machine a transaction may take longer than the rule's own threshold.
            conf = self.rules(*self.RULES, harsh=[*self.HARSH[2:], ("trace.slow", "threshold", "60")])
            for source in (["-a", archive], ["-h", quiet.pmcd.host(), "-T", "4s"]):
                self.assertNotRegex(self.fired(*source, "-f", "-c", conf), "|".join(self.RULES.values()))

    def test_failing_is_about_a_share_that_rises(self):
        with Shop(trouble=False, every_second_fails=True) as constant:
            archive = constant.log("constant")
            # Three seconds have many calls, also on a busy machine: the shares of a few calls differ by chance.
            for times, fires in (("2", False), ("0.1", True)):
                conf = self.rules("failing", harsh=[*self.HARSH[3:], ("global", "delta", "3 sec"),
                                                    ("trace.failing", "times", times)])
                shown = self.fired("-a", archive, "-f", "-c", conf)
                self.assertEqual(self.RULES["failing"] in shown, fires, shown)

    def test_is_about_the_tags_that_one_names(self):
        conf = self.rules("slow", harsh=[*self.HARSH, ("trace.slow", "tags", "^search")])
        shown = self.fired("-a", self.archive, "-f", "-c", conf)
        self.assertEqual({line.count("@shop") for line in shown.splitlines() if self.RULES["slow"] in line}, {1}, shown)

    def test_give_no_name_to_a_shell(self):
        every_action = [("global", f"{action}_action", "yes") for action in ("user", "email", "pcplog", "syslog")]
        with open(self.rules(*self.RULES, harsh=every_action), encoding="utf-8") as file:
            self.assertNotIn("%i", file.read())
        ran = self.path("ran")
        conf = self.rules(*self.RULES, harsh=[*self.HARSH, ("trace.open", "threshold", "0.001")])
        with Shop(tags={f"x$(>{ran})": 0.02, f"`>{ran}`": 0.02}) as shop:
            self.fired_live(conf, *self.RULES.values(), shop=shop)
        self.assertFalse(os.path.exists(ran))
