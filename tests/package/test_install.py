# SPDX-License-Identifier: LGPL-2.1-or-later
"""Install on a whole machine: it succeeds if the agent answers, and otherwise leaves all as it was."""

import os
import re
import time

import installed
from installed import find
from private_pmcd import wait_until
from system_test import CONF, LOG_GROUP, NAMES, PCPS_AGENT, SystemTestCase

setUpModule = installed.set_up


class Upgrade(SystemTestCase):
    """The change from PCP's agent: monitors that go on know tags by their numbers."""

    def start_pcps_agent(self):
        self.machine.start_pmcd()
        self.must(self.install("n", directory=PCPS_AGENT))
        self.trace("zebra", "ant", "mole eats")

    def trace(self, *tags):
        for tag in tags:
            for kind in ("", "-v 1", "-c 1", "-e true"):
                self.must(f"PCP_TRACE_HOST=127.0.0.1 pmtrace -q {kind} '{tag}'")

    def assert_numbers(self, numbers):
        for kind in ("point", "observe", "counter", "transact"):
            metric = f"trace.{kind}.count"
            shown = self.machine.run(f"pminfo -f {metric}").stdout
            instances = re.findall(r'inst \[(\d+) or "([^"]*)"', shown)
            self.assertEqual({name: int(number) for number, name in instances}, numbers, metric)

    def test_keeps_the_numbers(self):
        self.start_pcps_agent()
        self.assert_numbers({"zebra": 1, "ant": 2, "mole eats": 3})
        self.must(self.install())
        self.trace("new", "mole eats", "ant", "zebra")
        self.assert_numbers({"new": 4, "mole eats": 3, "ant": 2, "zebra": 1})

    def test_of_the_whole_machine_keeps_the_numbers_each_time(self):
        self.start_pcps_agent()
        self.must(self.switch("on"))
        self.trace("ant", "new")
        self.assert_numbers({"ant": 2, "new": 4})
        self.must(self.switch("off"))
        self.trace("ant", "mole eats")
        self.assert_numbers({"ant": 1, "mole eats": 2})
        self.must(self.switch("on"))
        self.trace("mole eats", "ant", "new", "zebra")
        self.assert_numbers({"mole eats": 2, "ant": 1, "new": 4, "zebra": 5})


class Logging(SystemTestCase):
    """The groups that pmlogconf offers once our agent is installed."""

    def setUp(self):
        super().setUp()
        self.machine.start_pmcd()
        self.must(self.install())
        self.must("pmlogconf -c /run/all.conf")

    def group(self):
        """Gives the part about spans of pmlogger's configuration."""
        [group] = re.findall(r"#\+ trace/spans:(.*?)\n#----", self.machine.read("/run/all.conf"), re.DOTALL)
        return group

    def wait_for_value(self, metric, value):
        wait_until(lambda: self.value(metric) == [str(value)], what=f"{metric} to be {value}")

    def test_spans_are_not_logged_unasked(self):
        self.assertTrue(self.group().startswith("n:1 second:\n"), self.group())
        self.assertNotIn("tracing.events", self.group().replace("##", ""))

    def test_spans_are_logged_for_who_says_so(self):
        self.must("printf '/single transactions\ny\n1 second\nq\ny\n' | pmlogconf /run/all.conf")
        self.assertIn("\nlog advisory on 1 second {\n\ttracing.events\n", self.group())
        self.machine.run(f"cat >/run/spans.conf <<'END'\n#+ trace/spans:{self.group()}\nEND")
        self.must("pmstore tracing.control.filter 'tag=request*'")
        self.machine.run("cd /run && { pmlogger -c spans.conf -l pmlogger.log spans &"
                         " echo $! >pmlogger.pid; } >/dev/null 2>&1")
        self.wait_for_value("tracing.agent.captures", 1)
        for tag in ("request", "other", "request{route=/cart}"):
            self.must(f"{find('pmtrace')} -q -e true '{tag}'")
        self.wait_for_value("tracing.agent.delivered", 2)
        self.must("kill $(cat /run/pmlogger.pid)")
        wait_until(lambda: "Log finished" in self.machine.read("/run/pmlogger.log"), what="its end")
        self.must("pmlogcheck /run/spans")
        shown = self.must("pmevent -a /run/spans tracing.events")
        ended = re.findall(r"\(end,id\) ---\n.*\n.*\n    tracing.param.tag \"(.*)\"", shown)
        self.assertEqual(sorted(ended), ["request", "request{route=/cart}"], shown)

    def test_goes_with_the_agent(self):
        self.remove()
        self.assertEqual(self.run_script(f"ls {os.path.dirname(LOG_GROUP)}")[0], 2)
        self.must("pmlogconf -c /run/without.conf")
        self.assertNotIn("#+ trace/", self.machine.read("/run/without.conf"))


class Install(SystemTestCase):
    def test_an_agent_that_cannot_start_is_not_registered(self):
        self.machine.start_pmcd()
        self.keep_port_busy(4323)
        before = self.state()
        status, said = self.run_script(self.install())
        self.assertEqual(status, 1, said)
        self.assertIn("Error: bind(4323): Address already in use", said)
        self.assertIn("Install asks for another port", said)
        self.assertIn("no trace agent registered", said)
        self.assertEqual(self.state(), before)

    def test_the_agent_from_before_comes_back(self):
        self.machine.start_pmcd()
        self.assertIn("Tags appear when", self.must(self.install_on_port(5000)))
        before = self.state()
        for answers, why in ((["n", "", "", "99999"], "-I: "),
                             (["n", "", "", "", "", "", "a", "192.168.*.7", ""], "-A: ")):
            status, said = self.run_script(self.install(*answers))
            self.assertEqual(status, 1, said)
            self.assertRegex(said, r"The end of /var/log/pcp/pmcd/trace.log:\n(.*\n)*.* Error: " +
                             why)
            self.assertIn("runs again, as before", said)
            self.assertEqual(self.state(), before)
            self.assert_port(5000)

    def test_distributions_are_kept_from_the_first_fetch_on_which_is_not_installs(self):
        self.machine.start_pmcd()
        self.assertIn("Check trace metrics have appeared", self.must(self.install()))
        self.machine.run("pmtrace -q -v 7 queue")
        asked = time.time_ns()
        [text] = re.findall(r'value "1 (.*)"', self.machine.run("pminfo -f tracing").stdout)
        self.assertGreaterEqual(int(text.split()[0]), asked, text)
        self.remove()
        self.assertNotIn("tracing", self.machine.read(NAMES))
        self.assertEqual(self.machine.read(f"{os.path.dirname(NAMES)}/tracing"), "")

    def installed_in(self, place):
        """Gives the path of a copy of the agent's directory."""
        self.machine.run(f"mkdir -p '{place}/pmdas' &&"
                         f" cp -r {self.agent()} '{place}/pmdas/trace'")
        return f"'{place}/pmdas/trace'"

    def test_says_what_pmcd_says_of_an_agent_that_never_ran(self):
        self.machine.start_pmcd()
        directory = self.installed_in("/run/broken")
        self.machine.run(f"ln -sf /bin/false {directory}/pmdatrace")
        status, said = self.run_script(self.install(directory=directory))
        self.assertEqual(status, 1, said)
        self.assertRegex(said, r"pmcd.log says of it:\n(.*\n)*.*trace")

    def test_a_directory_with_blanks_is_refused(self):
        status, said = self.run_script(self.install(directory=self.installed_in("/run/an agent")))
        self.assertEqual(status, 1, said)
        self.assertIn("whose name has blanks", said)

    def test_an_interruption_changes_nothing(self):
        self.machine.start_pmcd()
        self.interrupt(f"env -C {self.agent()} ./Install", "INT", f"grep -q ^trace {CONF}")
        self.assert_port(4323)

    def test_without_pmcd_it_is_registered_and_says_so(self):
        said = self.must(self.install())
        self.assertIn("could not be checked", said)
        self.assertNotIn("Tags appear when", said)
        self.assertIn("could not be checked", self.must(self.install_on_port(5000)))
        self.machine.start_pmcd()
        self.assert_port(5000)
        self.assertEqual(len(self.value("trace.agent.uptime")), 1)
