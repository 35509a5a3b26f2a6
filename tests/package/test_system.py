# SPDX-License-Identifier: LGPL-2.1-or-later
"""pcp-trace-system on a whole machine: "on" succeeds if the agent answers, "off" restores the former
state."""

import os
import re

import installed
from installed import find
from system_test import COMMAND, CONF, LINKER_CONF, NAMES, SystemTestCase

setUpModule = installed.set_up

# Commands that succeed once "on" or "off" has come so far.
BEGUN = f"[ -e {LINKER_CONF} ]"
OUR_AGENT = f"grep -q '^trace.*libexec' {CONF}"
NO_LIBRARY = f"! grep -q ^/ {LINKER_CONF}"
NO_AGENT = f"! {OUR_AGENT}"


class System(SystemTestCase):
    def assert_back_after_on_and_off(self):
        before = self.state()
        self.must(self.switch("on"))
        self.assertEqual(self.library(), find("libpcp_trace.so.2"))
        self.assert_port(4323)
        self.must(self.switch("off"))
        self.assertEqual(self.state(), before)

    def test_pcp_knows_the_word_trace(self):
        self.machine.start_pmcd()
        self.assertNotEqual(self.run_script("pcp trace --version")[0], 0)
        self.must(self.switch("on"))
        self.assertRegex(self.must("pcp trace --version"), r"^pcp-trace \d")
        self.must(self.switch("off"))
        self.assertNotEqual(self.run_script("pcp trace --version")[0], 0)
        self.must(f"echo theirs >{COMMAND}")
        self.assertIn("is somebody else's", self.must(self.switch("on")))
        self.must(self.switch("off"))
        self.assertEqual(self.machine.read(COMMAND), "theirs\n")

    def test_an_agent_that_cannot_start_leaves_the_library_as_well(self):
        self.machine.start_pmcd()
        self.keep_port_busy(4323)
        before = self.state()
        status, said = self.run_script(self.switch("on"))
        self.assertEqual(status, 1, said)
        self.assertIn("Error: bind(4323): Address already in use", said)
        self.assertEqual(self.state(), before)
        self.assertEqual(self.must(self.switch("status")), "off\n")

    def test_our_agent_from_before_comes_back_with_its_names(self):
        self.machine.start_pmcd()
        self.must(self.install_on_port(5000))
        self.assert_back_after_on_and_off()
        self.assert_port(5000)
        self.assertEqual(len(self.value("trace.agent.uptime")), 1)

    def test_pcps_agent_from_before_comes_back(self):
        self.start_with_pcps_agent(5001)
        self.assert_back_after_on_and_off()
        self.assert_port(5001)
        self.assertEqual(self.value("trace.agent.uptime"), ["Unknown", "metric", "name"])

    def test_all_lines_from_before_come_back(self):
        self.start_with_pcps_agent(5001)
        self.machine.run(f"sed -i '/^trace/{{p;s/trace.10/trace\\t210/;s/ -d 10/ -d 210/;"
                         f"s/5001/5002/}}' {CONF}")
        lines = re.findall(r"^trace.*", self.machine.read(CONF), re.MULTILINE)
        self.assertEqual(len(lines), 2)
        self.must(self.switch("on"))
        self.must(self.switch("off"))
        self.assertEqual(re.findall(r"^trace.*", self.machine.read(CONF), re.MULTILINE), lines)

    def test_it_says_that_pmcd_could_not_be_told(self):
        self.must(self.switch("on"))  # its Install says so
        self.assertIn("pmcd could not be told", self.must(self.switch("off")))

    def test_the_agent_alone(self):
        self.start_with_pcps_agent(5001)
        before, library = self.state(), self.library()
        self.must(self.switch("on agent"))
        self.assertEqual(self.must(self.switch("status")), "agent\n")
        self.assert_port(4323)
        self.assertEqual(self.library(), library)
        self.assertNotEqual(self.run_script("pcp trace --version")[0], 0)
        self.must(self.switch("on"))
        self.assertEqual(self.library(), find("libpcp_trace.so.2"))
        self.must(self.switch("off"))
        self.assertEqual(self.state(), before)
        self.assert_port(5001)

    def test_an_agent_that_is_registered_again_keeps_its_options(self):
        self.machine.start_pmcd()
        self.must(self.switch("renew"))
        self.assertNotIn("trace", self.machine.read(CONF))
        self.must(self.install_on_port(5000))
        before, names = self.state(), f"{os.path.dirname(NAMES)}/trace"
        self.must(f": >{names}")
        self.must(self.switch("renew"))
        self.assertEqual(self.state(), before)
        self.assert_port(5000)

    def test_no_agent_from_before(self):
        self.machine.start_pmcd()
        self.assert_back_after_on_and_off()
        self.assertNotIn("trace", self.machine.read(CONF))


class Ended(SystemTestCase):
    def test_an_interruption_changes_nothing(self):
        self.start_with_pcps_agent(5001)
        before = self.state()
        self.interrupt(self.switch("on"), "INT", BEGUN)
        self.assertEqual(self.must(self.switch("status")), "on\n")
        self.assert_port(4323)
        self.interrupt(self.switch("off"), "TERM", NO_LIBRARY)
        self.assertEqual(self.state(), before)
        self.assert_port(5001)

    def kill(self, word, event):
        self.interrupt(self.switch(word), "KILL", event)
        self.machine.run(f"rm -f {NAMES}.lock")

    def test_what_was_killed_can_be_said_again(self):
        self.start_with_pcps_agent(5001)
        before = self.state()
        for to_on, to_off in ((BEGUN, NO_LIBRARY), (OUR_AGENT, NO_AGENT)):
            self.kill("on", to_on)
            self.must(self.switch("on"))
            self.assert_port(4323)
            self.kill("off", to_off)
            self.must(self.switch("off"))
            self.assertEqual(self.state(), before)
            self.assert_port(5001)
        self.kill("on", OUR_AGENT)
        self.must(self.switch("off"))
        self.assertEqual(self.state(), before)
        self.assert_port(5001)
