# SPDX-License-Identifier: LGPL-2.1-or-later
"""The agent without a pmcd, driven by dbpmda: each kind of request of the PMDA protocol."""

import os
import pwd
import socket
import subprocess
import tempfile
import unittest

import legacy_wire
from private_pmcd import PATIENCE_S, ReservedPort, pcp_configuration, wait_until
from trace_test import OUR_AGENT


class Dbpmda(unittest.TestCase):
    """One agent for each test: programs first send(); then ask() gives dbpmda's output."""

    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory())
        os.makedirs(f"{self.directory}/config/pmda")
        self.port = ReservedPort()
        self.addCleanup(self.port.close)
        self.process = subprocess.Popen(
            ["dbpmda", "-n", self.name_space(), "-f", "-i", "-e"], text=True, cwd=self.directory,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=os.environ | {"PCP_RUN_DIR": self.directory, "PCP_VAR_DIR": self.directory,
                              "PCP_USER": pwd.getpwuid(os.getuid()).pw_name})
        self.addCleanup(self.process.communicate, timeout=PATIENCE_S)
        self.process.stdin.write(f"open pipe {OUR_AGENT.path} -d 10 -I {self.port.number}"
                                 f" -l {self.directory}/trace.log\n")
        self.process.stdin.flush()
        wait_until(self.is_listening, what="the agent")

    def name_space(self):
        path = f"{self.directory}/root"
        tool = os.path.join(pcp_configuration()["PCP_BINADM_DIR"], "pmnsmerge")
        subprocess.run([tool, "-a", OUR_AGENT.namespace, path], check=True, timeout=PATIENCE_S,
                       stdout=subprocess.DEVNULL)
        return path

    def is_listening(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port.number), PATIENCE_S):
                return True
        except ConnectionRefusedError:
            return False

    def has_ended(self):
        with open(f"{self.directory}/trace.log", encoding="utf-8") as file:
            return "Log finished" in file.read()

    def send(self, kind, value, *tags):
        with socket.create_connection(("127.0.0.1", self.port.number), PATIENCE_S) as client:
            legacy_wire.read_ack(client)
            for tag in tags:
                client.sendall(legacy_wire.encode_data(kind, tag, value, wants_ack=True))
                legacy_wire.read_ack(client)

    def ask(self, *commands):
        """Gives dbpmda's output from the first command on. dbpmda and the agent then end."""
        self.process.stdin.write("".join(command + "\n" for command in commands) + "quit\n")
        output, _ = self.process.communicate(timeout=PATIENCE_S)
        wait_until(self.has_ended, what="the agent's end")
        return output[output.index(commands[0]):]

    def test_gives_values(self):
        self.send("observe", 2.5, "read me", "c")
        output = self.ask("getdesc on", "fetch trace.observe.value trace.observe.count",
                          "fetch trace.control.port")
        self.assertIn("trace.observe.value): numval: 2 valfmt: 1 vlist[]:\n"
                      "    inst [1 or ???] value 2.5\n    inst [2 or ???] value 2.5\n", output)
        self.assertIn("trace.observe.count): numval: 2", output)
        self.assertRegex(output, rf"control\.port\): numval: 1 .*\n   value {self.port.number}\b")

    def test_gives_values_of_the_profiles_instances(self):
        self.send("point", -1, "a", "b", "c")
        output = self.ask("getdesc on", "profile 10.1 none", "profile 10.1 add 3",
                          "fetch trace.point.count")
        self.assertIn("numval: 1", output)
        self.assertIn("inst [3 or ???] value 1", output)

    def test_gives_instances(self):
        self.send("transact", 2.5, "read me", "c")
        output = self.ask("instance 10.0", "instance 10.0 2", 'instance 10.0 "read"',
                          'instance 10.0 "nobody"', "instance 10.1")
        everything, second, read, nobody, points = output.split("dbpmda> ")[:5]
        self.assertIn('[  0] inst: 1 name: "read me"\n[  1] inst: 2 name: "c"\n', everything)
        self.assertIn('name: "c"', second)
        self.assertIn("inst: 1\n", read)
        self.assertIn("Unknown or illegal instance identifier", nobody)
        self.assertNotIn("name:", points)

    def test_gives_texts_and_labels(self):
        self.send("counter", 3, "read me")
        output = self.ask("text trace.counter.count", "text indom 10.3", "label domain",
                          "label indom 10.3", "label instances 10.3")
        self.assertEqual(output.count("["), 3, output)  # one-line texts and an index
        for label in ('agent="trace"', 'trace_type="counter"', 'tag="read me"'):
            self.assertIn(label, output)

    def test_takes_stores_from_those_who_may(self):
        self.send("point", -1, "a")
        refused, user, still_refused, process, taken, values = self.ask(
            'store trace.control.reset "1"', f'attr "userid" "{os.getuid()}"',
            'store trace.control.reset "1"', f'attr "processid" "{os.getpid()}"',
            'store trace.control.reset "1"', "fetch trace.point.count").split("dbpmda> ")[:6]
        self.assertIn("No permission", refused)
        self.assertNotIn("rror", user)
        self.assertIn("No permission", still_refused)
        self.assertNotIn("rror", process)
        self.assertNotIn("rror", taken)
        self.assertIn("No values returned", values)
