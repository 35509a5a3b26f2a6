# SPDX-License-Identifier: LGPL-2.1-or-later
"""The agent's answers to PCP's tools: texts, labels, instances, profiles; access control of stores; adopted numbers."""

import ctypes
import os
import pwd
import re
import signal
import socket
import subprocess
import unittest

import legacy_wire
from event_monitor import EventMonitor, libpcp
from private_pmcd import PATIENCE_S, PrivatePmcd, completed, is_running, pcp_configuration, wait_until
from trace_test import OUR_AGENT, STOCK_AGENT, STOCK_LIBRARY, TraceTestCase


def send(pmcd, kind, tags, value=1.0):
    """Sends one event for each tag, like stock's library, and waits until the agent has applied them."""
    total = pmcd.value("trace.agent.records") + len(tags)
    with socket.create_connection(("127.0.0.1", pmcd.trace_port), PATIENCE_S) as client:
        legacy_wire.read_ack(client)
        client.sendall(b"".join(legacy_wire.encode_data(kind, tag, value) for tag in tags))
        wait_until(lambda: pmcd.value("trace.agent.records") == total, what="the events")


class Priority(TraceTestCase):
    """A fetch must not wait behind the programs that the agent serves."""

    def test_is_raised_for_all_threads_by_who_may(self):
        possible = completed("nice", "-n", "-10", "nice", check=True, stdin=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL).stdout
        own = os.getpriority(os.PRIO_PROCESS, 0)
        agent = self.start_pmcd().agent_pid()
        threads = {os.getpriority(os.PRIO_PROCESS, int(thread))
                   for thread in os.listdir(f"/proc/{agent}/task")}
        self.assertEqual(threads, {int(possible) if own == 0 else own})


class Texts(TraceTestCase):
    def help_file(self):
        path = os.path.join(os.path.dirname(OUR_AGENT.namespace), "help")
        with open(path, encoding="utf-8") as file:
            return file.read()

    def test_are_there_for_every_metric(self):
        names = self.pmcd.pminfo("trace").split()
        self.assertGreater(len(names), 65)
        shown = self.pmcd.pminfo("-tT", "trace")
        self.assertEqual(re.findall(r"^(trace\.\S+) \[.+\]\nHelp:\n.", shown, re.MULTILINE), names)

    def test_are_there_for_instance_domains(self):
        text = ctypes.c_char_p()
        with EventMonitor(self.start_pmcd().host()):
            self.assertEqual(libpcp.pmLookupInDomText(10 << 22 | 3, 1, ctypes.byref(text)), 0)
        self.assertEqual(text.value, b"tags of counters")

    def test_are_good_for_newhelp(self):
        tool = os.path.join(pcp_configuration()["PCP_BINADM_DIR"], "newhelp")
        done = completed(tool, "-n", OUR_AGENT.namespace, "-o", self.pmcd.path("help"), input=self.help_file())
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))


class Instances(TraceTestCase):
    def setUp(self):
        send(self.pmcd, "point", ["read me", "read you", "c"])

    def test_can_be_asked_for_alone_by_their_first_word(self):
        output = self.pmcd.pmval("-r", "-s", "1", "trace.point.count[read#2,c]")
        self.assertRegex(output, r"read#2\s+c\s*\n\s+1\s+1\s*$")


class Stores(TraceTestCase):
    def store_as(self, pmcd, user):
        """Stores into trace.control.reset as another user; gives pmstore's output."""
        pmcd.open_to_everybody()
        become = ["setpriv", "--reuid", user, "--clear-groups"] if os.getuid() == 0 else []
        done = completed(*become, "pmstore", "-h", pmcd.host(unix=True), "trace.control.reset", "1")
        return done.stdout + done.stderr

    def test_are_for_the_agents_own_user(self):
        self.assert_for({pwd.getpwuid(os.getuid()).pw_name: True})

    @unittest.skipUnless(os.getuid() == 0, "only root can be somebody else")
    def test_are_for_root_and_the_user_that_the_agent_becomes(self):
        self.assert_for({"nobody": False, "pcp": True, "root": True}, "-M", "pcp")

    def assert_for(self, users, *options):
        pmcd = self.start_pmcd(options)
        for user, may in users.items():
            send(pmcd, "point", ["a"])
            output = self.store_as(pmcd, user)
            self.assertEqual("No permission" not in output, may, output)
            self.assertEqual(pmcd.values("trace.point.count") == {}, may, output)


class Ending(TraceTestCase):
    def test_by_sigterm_is_clean(self):
        send(self.pmcd, "point", ["a"])
        path = self.pmcd.path("run/trace.socket")
        self.assertTrue(os.path.exists(path))
        self.pmcd.kill_agent(signal.SIGTERM)
        self.assertFalse(os.path.exists(path))
        self.assertTrue(os.path.exists(self.pmcd.path("var/config/pmda/10.trace")))
        self.assertRegex(self.pmcd.agent_log(), r"ended by SIGTERM\n(.*\n)*.*Log finished")

    def test_by_pmcds_end_is_clean(self):
        agent, path = self.pmcd.agent_pid(), self.pmcd.path("run/trace.socket")
        os.kill(self.pmcd._pmcd.pid, signal.SIGTERM)
        wait_until(lambda: not is_running(agent), what="the agent's end")
        self.assertFalse(os.path.exists(path))


class ManyTags(TraceTestCase):
    def fetch_cost(self, pmcd):
        """Gives the agent's CPU seconds for a fetch of all metrics of all tags."""
        before = pmcd.value("trace.agent.cpu.main")
        pmcd.pminfo("-v", "trace.transact", "trace.point", "trace.observe", "trace.counter")
        return (pmcd.value("trace.agent.cpu.main") - before) / 1e9

    def test_cost_in_proportion(self):
        send(self.pmcd, "point", [f"tag{number}" for number in range(10_000)])
        self.assertEqual(len(self.pmcd.values("trace.point.count")), 10_000)
        few = max(self.fetch_cost(self.pmcd) for _ in range(3))
        send(self.pmcd, "point", [f"tag{number}" for number in range(10_000, 80_000)])
        self.assertEqual(len(self.pmcd.values("trace.point.count")), 80_000)
        wait_until(lambda: self.fetch_cost(self.pmcd) < 20 * few, what="a fetch that is not slowed down by others")


class AdoptNumbers(TraceTestCase):
    library = STOCK_LIBRARY

    def adopt(self, pmcd):
        return completed(OUR_AGENT.path, "-d", "10", "--adopt-numbers", env=pmcd.pcp_environment())

    def test_from_pcps_agent(self):
        pmcd = self.start_pmcd(agent=STOCK_AGENT)
        self.trace(self.environment(pmcd), "point zebra", "point ant", "obs 1 mole", "counter 1 c",
                   "begin t", "end t")
        adopted = self.adopt(pmcd)
        self.assertEqual((adopted.returncode, adopted.stderr), (0, ""))
        self.assertIn(" 5 tags ", adopted.stdout)
        lines = [line.split() for line in pmcd.saved_numbers() if line[0].isdigit()]
        self.assertEqual(sorted((tag, number) for _, number, _, tag in lines),
                         [("ant", "2"), ("c", "1"), ("mole", "1"), ("t", "1"), ("zebra", "1")])

    def test_ours_keeps_its_own(self):
        adopted = self.adopt(self.start_pmcd(agent=OUR_AGENT))
        self.assertEqual((adopted.returncode, adopted.stdout, adopted.stderr), (0, "", ""))

    def test_without_an_agent_or_pmcd(self):
        for end, said in ((PrivatePmcd.kill_agent, "cannot adopt the numbers"), (PrivatePmcd.end_pmcd, "pmcd")):
            with self.subTest(said):
                pmcd = self.start_pmcd(agent=STOCK_AGENT)
                end(pmcd)
                adopted = self.adopt(pmcd)
                self.assertEqual((adopted.returncode, adopted.stdout), (1, ""))
                self.assertIn(said, adopted.stderr)
