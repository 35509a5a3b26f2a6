# SPDX-License-Identifier: LGPL-2.1-or-later
"""The agent as its administrator sees it: options and messages."""

import os
import pty
import pwd
import socket
import subprocess
import tempfile

from private_pmcd import ReservedPort, completed
from trace_test import OUR_AGENT, TraceTestCase, with_each_agent

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

    def test_an_argument_that_is_wrong_is_named(self):
        for named, *options in (("furlong", "-U", "0,furlong,0,0,0,0"), ("furlong", "-V", "0,furlong,0,0,0,0"),
                                ("1,2", "-U", "1,2"), ("1,2", "-V", "1,2"), ("fortnight", "-T", "fortnight"),
                                ("-N", "-N", "0"), ("-N", "-N", "some"), ("permit", "-A", "permit:127.0.0.1"),
                                ("many", "-A", "allow:127.0.0.1:many")):
            with self.subTest(options):
                self.assert_usage(named, *options)

    def test_an_unknown_option(self):
        status, said = self.run_agent("-Z")
        self.assertEqual(status, 1)
        self.assert_hint(said)


class OurMessages(Bare):
    def test_help_and_the_version_are_printed_on_request(self):
        for option, said in (("-h", "--max-tags COUNT"), ("--help", "--max-tags COUNT"),
                             ("-v", r"^pmdatrace \d+\.\d+\.\d+\n$"), ("--version", r"^pmdatrace \d+\.\d+\.\d+\n$")):
            done = completed(self.agent.path, option, stdin=subprocess.DEVNULL)
            self.assertEqual((done.returncode, done.stderr), (0, ""), option)
            self.assertRegex(done.stdout, said)

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
