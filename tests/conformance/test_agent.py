# SPDX-License-Identifier: LGPL-2.1-or-later
"""The agent as its administrator sees it: options, messages, access rules, restarts."""

import os
import pty
import pwd
import socket
import subprocess
import tempfile

import legacy_wire
from private_pmcd import PATIENCE_S, ReservedPort, completed
from trace_test import OUR_AGENT, STOCK_LIBRARY, TraceTestCase, with_each_agent

# Ports with service names that hardly any machine uses.
SERVICES = ["sgi-cad", "binkp", "zope", "xtelw", "rmtcfg", "clc-build-daemon", "omniorb"]


def free_service():
    """Gives name and number of a TCP service whose port is free."""
    for name in SERVICES:
        try:
            number = socket.getservbyname(name, "tcp")
            with socket.create_server(("0.0.0.0", number)):
                return name, number
        except OSError:
            continue
    raise AssertionError(f"none of {SERVICES} is in /etc/services and free")


class Bare(TraceTestCase):
    """An agent run by hand, without a pmcd on its pipe."""

    def run_agent(self, *options, **variables):
        """Gives the exit status and all output."""
        with tempfile.TemporaryDirectory() as directory, ReservedPort() as port:
            log = os.path.join(directory, "trace.log")
            done = completed(self.agent.path, "-d", "10", "-l", log, *options, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL,
                             env=os.environ | {"PCP_USER": pwd.getpwuid(os.getuid()).pw_name,
                                               "PCP_RUN_DIR": directory, "PCP_VAR_DIR": directory,
                                               "PCP_TRACE_PORT": str(port.number)} | variables)
            said = done.stderr
            if os.path.exists(log):
                with open(log, encoding="utf-8", errors="replace") as file:
                    said += file.read()
            return done.returncode, said


@with_each_agent
class Messages(Bare):
    def test_a_busy_port_is_one_line_and_the_end(self):
        with socket.create_server(("0.0.0.0", 0)) as busy:
            port = busy.getsockname()[1]
            status, said = self.run_agent("-I", str(port))
        self.assertNotEqual(status, 0)
        self.assertEqual(said.count("Address already in use"), 1, said)
        self.assertIn(f"Error: bind({port}): Address already in use", said)

    def test_the_port_may_come_from_the_environment_and_the_option_wins(self):
        with socket.create_server(("0.0.0.0", 0)) as busy, ReservedPort() as free:
            port = str(busy.getsockname()[1])
            _, said = self.run_agent(PCP_TRACE_PORT=port)
            self.assertIn(f"bind({port}): Address already in use", said)
            _, said = self.run_agent("-I", str(free.number), PCP_TRACE_PORT=port)
            self.assertNotIn("Address already in use", said)

    def assert_usage(self, part, *options):
        status, said = self.run_agent(*options)
        self.assertEqual(status, 1, said)
        first = said.splitlines()[0]
        self.assertTrue(first.startswith("pmdatrace: "), said)
        self.assertIn(part, first)
        self.assert_hint(said)

    def assert_hint(self, said):
        if self.agent == OUR_AGENT:  # the log has the same line, and no usage text hides it
            self.assertRegex(said, r"^pmdatrace: (.*) \(see pmdatrace\(1\)\)\n(.*\n)*"
                                   r"\[.*\] pmdatrace\(\d+\) Error: \1 \(see pmdatrace\(1\)\)\n")
            self.assertNotIn("sage:", said)
        else:
            self.assertRegex(said, r"(?m)^[Uu]sage: pmdatrace")

    def test_units_that_are_no_numbers_are_named(self):
        for option in ("-U", "-V"):
            self.assert_usage("furlong", option, "0,furlong,0,0,0,0")

    def test_too_few_units(self):
        for option in ("-U", "-V"):
            self.assert_usage("1,2", option, "1,2")

    def test_a_bad_period(self):
        self.assert_usage("fortnight", "-T", "fortnight")

    def test_bad_buckets(self):
        self.assert_usage("-N", "-N", "0")
        self.assert_usage("-N", "-N", "some")

    def test_a_bad_access_rule_is_named(self):
        self.assert_usage("permit", "-A", "permit:127.0.0.1")
        self.assert_usage("many", "-A", "allow:127.0.0.1:many")

    def test_an_unknown_option(self):
        status, said = self.run_agent("-Z")
        self.assertEqual(status, 1)
        self.assert_hint(said)


class OurMessages(Bare):
    def ask_agent(self, *options):
        """Runs an option that asks for information. Gives the exit status and both streams."""
        done = completed(self.agent.path, *options, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout, done.stderr

    def test_help_is_what_was_asked_for(self):
        for option in ("-h", "--help"):
            status, said, complaints = self.ask_agent(option)
            self.assertEqual((status, complaints), (0, ""), said)
            self.assertIn("--max-tags COUNT", said)

    def test_the_version(self):
        for option in ("-v", "--version"):
            status, said, complaints = self.ask_agent(option)
            self.assertEqual((status, complaints), (0, ""), said)
            self.assertRegex(said, r"^pmdatrace \d+\.\d+\.\d+\n$")

    def test_by_hand_on_a_terminal_it_says_who_starts_it(self):
        ours, its = pty.openpty()
        self.addCleanup(os.close, ours)
        self.addCleanup(os.close, its)
        with tempfile.TemporaryDirectory() as directory:
            done = completed(self.agent.path, stdin=its, stdout=its, cwd=directory)
            self.assertEqual(os.listdir(directory), [])
        self.assertEqual(done.returncode, 1)
        self.assertIn("pmdatrace: pmcd starts this program", done.stderr)

    def test_an_unknown_host_keeps_nobody_from_starting(self):
        _, said = self.run_agent("-A", "allow:no-such-host.invalid")
        self.assertIn('Info: access rule "allow:no-such-host.invalid": "no-such-host.invalid": ', said)
        self.assertNotIn("Error", said)

    def test_without_a_log_it_is_said_elsewhere(self):
        with tempfile.TemporaryDirectory() as directory:
            _, said = self.run_agent("-i", f"{directory}/missing/socket",
                                     "-l", f"{directory}/missing/log")
        self.assertIn("/missing/log", said)
        self.assertIn("cannot listen on the Unix socket", said)

    def test_rules_of_several_lines_are_one_line(self):
        status, said = self.run_agent("-A", "allow:a\nb:1")
        self.assertEqual((status, len(said.splitlines()[0].split("see pmdatrace"))), (1, 2), said)


@with_each_agent
class Running(TraceTestCase):
    def test_is_called_pmdatrace(self):
        pmcd = self.start_pmcd()
        with open(f"/proc/{pmcd.agent_pid()}/comm", encoding="utf-8") as file:
            self.assertEqual(file.read(), "pmdatrace\n")

    def test_its_port_is_usable_at_once_after_a_restart(self):
        pmcd = self.start_pmcd()
        traced = self.start_traced(self.environment(pmcd))
        self.assertEqual(traced.call("point a"), 0)
        for _ in range(3):
            pmcd.restart_agent()
        self.assertEqual(self.trace(self.environment(pmcd), "point a"), [0])

    def test_takes_units_for_observations_and_counters(self):
        pmcd = self.start_pmcd(["-U", "1,-1,0,1,3,0", "-V", "0,1,0,0,3,0"])
        self.assertIn("Units: Kbyte / sec", pmcd.pminfo("-d", "trace.observe.value"))
        self.assertIn("Units: sec", pmcd.pminfo("-d", "trace.counter.value"))


class OurRunning(TraceTestCase):
    def test_takes_a_port_by_service_name(self):
        name, number = free_service()
        pmcd = self.start_pmcd(["-I", name])
        self.assertEqual(pmcd.value("trace.control.port"), number)
        self.assertEqual(self.trace(self.environment(pmcd, PCP_TRACE_PORT=number), "point a"), [0])


class Access(TraceTestCase):
    """Only our agent: the effect of a rule in PCP's agent depends on this host's names in /etc/hosts."""

    agent, library = OUR_AGENT, STOCK_LIBRARY

    def greeting(self, pmcd, address="127.0.0.1"):
        """Connects from a local address; gives the agent's first value."""
        with socket.create_connection(("127.0.0.1", pmcd.trace_port), source_address=(address, 0)) as client:
            client.settimeout(PATIENCE_S)
            return legacy_wire.read_ack(client)

    def test_a_refused_client_disturbs_no_other(self):
        pmcd = self.start_pmcd(["-A", "disallow:127.0.0.2"])
        traced = self.start_traced(self.environment(pmcd))
        for _ in range(10):
            self.assertEqual(traced.call("point a"), 0)
            self.assertEqual(self.greeting(pmcd, "127.0.0.2"), -12010)
        self.assertEqual(pmcd.values("trace.point.count"), {"a": 10})

    def test_maxconns_is_how_many_connections_there_may_be(self):
        pmcd = self.start_pmcd(["-A", "allow:127.0.0.1:3"])
        clients = [socket.create_connection(("127.0.0.1", pmcd.trace_port)) for _ in range(3)]
        for client in clients:
            self.addCleanup(client.close)
            self.assertGreater(legacy_wire.read_ack(client), 0)
        self.assertEqual(self.greeting(pmcd), -12011)
        self.assertGreater(self.greeting(pmcd, "127.0.0.2"), 0)
