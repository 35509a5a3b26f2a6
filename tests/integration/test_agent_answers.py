# SPDX-License-Identifier: LGPL-2.1-or-later
"""The agent's answers to PCP's tools: texts, labels, instances, profiles; and access control of stores."""

import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import unittest

import legacy_wire
from private_pmcd import PATIENCE_S, completed, is_running, pcp_configuration, wait_until
from trace_test import OUR_AGENT, TraceTestCase


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

    def test_are_those_of_the_file_help(self):
        pmcd = self.start_pmcd()
        entries = re.findall(r"^@ (\S+) (.+)\n((?:[^@\n].*\n)+)", self.help_file(), re.MULTILINE)
        self.assertGreater(len(entries), 70)
        for name, line, text in entries:
            shown = pmcd.pminfo("-tT", name)
            self.assertIn(f"[{line}]\nHelp:\n{text}", shown)

    def test_are_there_for_every_metric(self):
        pmcd = self.start_pmcd()
        names = pmcd.pminfo("trace").split()
        self.assertGreater(len(names), 65)
        shown = pmcd.pminfo("-tT", "trace")
        self.assertEqual(re.findall(r"^(trace\.\S+) \[.+\]\nHelp:\n.", shown, re.MULTILINE), names)

    def test_are_good_for_newhelp(self):
        pmcd = self.start_pmcd()
        tool = os.path.join(pcp_configuration()["PCP_BINADM_DIR"], "newhelp")
        done = completed(tool, "-n", OUR_AGENT.namespace, "-o", pmcd.path("help"), input=self.help_file())
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))


class Instances(TraceTestCase):
    def setUp(self):
        self.pmcd = self.start_pmcd()
        send(self.pmcd, "point", ["read me", "read you", "c"])

    def test_are_found_by_name_and_by_number(self):
        self.assertEqual(self.pmcd.instances("trace.point.count"),
                         {"read me": 1, "read#2 you": 2, "c": 3})

    def test_can_be_asked_for_alone_by_their_first_word(self):
        output = self.pmcd.pmval("-r", "-s", "1", "trace.point.count[read#2,c]")
        self.assertRegex(output, r"read#2\s+c\s*\n\s+1\s+1\s*$")

    def test_have_labels(self):
        output = self.pmcd.pminfo("-l", "trace.point.count")
        labels = dict(re.findall(r'inst \[\d+ or "(.*)"\] labels \{.*"tag":"([^"]*)".*\}', output))
        self.assertEqual(labels, {"read me": "read me", "read#2 you": "read you", "c": "c"})
        self.assertEqual(output.count('"agent":"trace"'), 4)
        self.assertEqual(output.count('"trace_type":"point"'), 4)


class Labels(TraceTestCase):
    def test_name_the_service_of_the_programs(self):
        pmcd = self.start_pmcd()
        self.trace(self.environment(pmcd, PCP_TRACE_SERVICE="shop", PCP_TRACE_LABELS="zone=eu"),
                   "point a", "point b")
        self.assert_values(pmcd, "trace.point.count", {"a": 1, "b": 1})
        self.assertRegex(pmcd.pminfo("-l", "trace.point.count"),
                         r'"b"\] labels \{.*"service":"shop".*"tag":"b".*"zone":"eu"')

    def test_are_silent_about_it_if_programs_disagree(self):
        pmcd = self.start_pmcd()
        for service in ("shop", "bank"):
            self.trace(self.environment(pmcd, PCP_TRACE_SERVICE=service), "point a")
        self.assert_values(pmcd, "trace.point.count", {"a": 2})
        self.assertNotIn('"service"', pmcd.pminfo("-l", "trace.point.count"))


class Stores(TraceTestCase):
    def store_as(self, pmcd, user):
        """Stores into trace.control.reset as another user; gives pmstore's output."""
        for directory in (pmcd.directory, pmcd.path("run")):
            os.chmod(directory, 0o755)
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
        pmcd = self.start_pmcd()
        send(pmcd, "point", ["a"])
        path = pmcd.path("run/trace.socket")
        self.assertTrue(os.path.exists(path))
        pmcd.kill_agent(signal.SIGTERM)
        self.assertFalse(os.path.exists(path))
        self.assertTrue(os.path.exists(pmcd.path("var/config/pmda/10.trace")))
        self.assertRegex(pmcd.agent_log(), r"ended by SIGTERM\n(.*\n)*.*Log finished")

    def test_by_pmcds_end_is_clean(self):
        pmcd = self.start_pmcd()
        agent, path = pmcd.agent_pid(), pmcd.path("run/trace.socket")
        os.kill(pmcd._pmcd.pid, signal.SIGTERM)
        wait_until(lambda: not is_running(agent), what="the agent's end")
        self.assertFalse(os.path.exists(path))

    def test_does_not_wait_for_a_file_that_cannot_be_written(self):
        pmcd = self.start_pmcd()
        pmcd.wait_for_reserve()
        shutil.rmtree(pmcd.path("var/config/pmda"))
        for tag in ("a", "b", "c"):
            send(pmcd, "point", [tag])
        self.assertEqual(len(pmcd.values("trace.point.count")), 3)
        pmcd.wait_for_log("the agent will try again")
        self.assertEqual(pmcd.agent_log().count("Warning"), 1, pmcd.agent_log())


class ManyTags(TraceTestCase):
    def fetch_cost(self, pmcd):
        """Gives the agent's CPU seconds for a fetch of all metrics of all tags."""
        before = pmcd.value("trace.agent.cpu.main")
        pmcd.pminfo("-v", "trace.transact", "trace.point", "trace.observe", "trace.counter")
        return (pmcd.value("trace.agent.cpu.main") - before) / 1e9

    def test_cost_in_proportion(self):
        pmcd = self.start_pmcd()
        send(pmcd, "point", [f"tag{number}" for number in range(10_000)])
        self.assertEqual(len(pmcd.values("trace.point.count")), 10_000)
        few = max(self.fetch_cost(pmcd) for _ in range(3))
        send(pmcd, "point", [f"tag{number}" for number in range(10_000, 80_000)])
        self.assertEqual(len(pmcd.values("trace.point.count")), 80_000)
        wait_until(lambda: self.fetch_cost(pmcd) < 20 * few, what="a fetch that is not slowed down by others")
