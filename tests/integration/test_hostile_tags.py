# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tags, names and labels that peers choose: any bytes count, and corrupt neither the agent's log nor the output and
archives of PCP's tools. A label that PCP would refuse costs no other client's labels, and no client can claim another
host."""

import json
import os
import re
import signal
import socket
import subprocess

import batch_wire
import legacy_wire
from private_pmcd import PATIENCE_S, wait_until
from trace_test import TraceTestCase

TAGS = [
    b"bad utf8 \xff\xfe",
    b"cut off \xe2\x82",
    b"overlong \xc0\xaf",
    b"surrogate \xed\xa0\x80",
    b"C1 \xc2\x9b31m",
    b"\xe2\x80\xaefrom right to left",
    b"new\nline",
    b"\n[Fri Nov 20 12:00:00] pmdatrace(1) Error: a lie",
    b"return\rand\x08back",
    b"\x1b[2J\x1b]0;title\x07escapes",
    b'"quotes" \'and\' `ticks`',
    b'","evil":"yes',
    b"back\\slash \\x41 \\",
    b"{braces} [brackets] $(id) %s%n",
    b"\x01\x02\x7f",
    b" ",
    b"gr\xc3\xbc\xc3\x9fe",
    b"\xff" * 254,
]

KINDS = ("point", "observe", "counter", "transact")
MOST_LABELS = 64  # of a process


class HostileTags(TraceTestCase):
    def assert_clean(self, output, what):
        """The output is UTF-8, without control characters except line ends and tabs, and from left to right."""
        text = output.decode()  # raises if it is not UTF-8
        self.assertEqual(re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text), [], what)
        return text

    def tool(self, *command):
        """Runs one of PCP's tools, which must succeed; gives its output."""
        environment = os.environ | {"PCP_RUN_DIR": self.pmcd.path("run"),
                                    "PCP_TMP_DIR": self.pmcd.path("tmp"), "LC_ALL": "C.UTF-8"}
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False,
                              env=environment, cwd=self.pmcd.directory)
        what = f"{command}: {done.stdout} {done.stderr}"
        self.assertEqual(done.returncode, 0, what)
        self.assert_clean(done.stderr, what)
        return self.assert_clean(done.stdout, what)

    def assert_shown(self, metric, count, names=len(TAGS)):
        """PCP's tools show `names` instances, each with this count, live and from an archive."""
        host = self.pmcd.host()
        shown = self.tool("pminfo", "-h", host, "-f", metric)
        values = re.findall(r"^    inst \[\d+ or \".+\"\] value (\d+)$", shown, re.MULTILINE)
        self.assertEqual(values, [str(count)] * names, shown)
        self.assertEqual(shown.count("\n"), names + 2, shown)
        self.tool("pmprobe", "-h", host, "-I", metric)
        self.tool("pmval", "-h", host, "-r", "-s", "1", metric)
        self.assert_labels(metric)
        self.assert_logged(metric, values)

    def assert_labels(self, metric):
        labels = re.findall(r"^    inst \[\d+ or .*\] labels (\{.*\})$",
                            self.tool("pminfo", "-h", self.pmcd.host(), "-l", metric), re.MULTILINE)
        self.assertGreater(len(labels), 0)
        for label in labels:
            self.assertIn("agent", json.loads(label))
            self.assertNotIn("evil", json.loads(label))

    def assert_logged(self, metric, values):
        with open(self.pmcd.path("pmlogger.conf"), "w", encoding="utf-8") as file:
            file.write(f"log mandatory on 100 msec {{ {metric} }}\n")
        archive = self.pmcd.path(metric)
        self.tool("pmlogger", "-c", self.pmcd.path("pmlogger.conf"), "-h", self.pmcd.host(),
                  "-l", self.pmcd.path("pmlogger.log"), "-s", "3", archive)
        self.tool("pmlogcheck", archive)
        self.tool("pmdumplog", "-a", archive)
        again = self.tool("pminfo", "-a", archive, "-f", metric)
        self.assertEqual(re.findall(r"^    inst \[\d+ or \".+\"\] value (\d+)$", again,
                                    re.MULTILINE), values)

    def assert_log_clean(self):
        """The agent logs its clients on request, with printable bytes only."""
        os.kill(self.pmcd.agent_pid(), signal.SIGHUP)
        wait_until(lambda: "clients connected" in self.pmcd.agent_log(), what="the list of clients")
        with open(self.pmcd.path("log/trace.log"), "rb") as file:
            self.assert_clean(file.read(), "the agent's log")
        self.assertNotIn("\n[Fri Nov 20 12:00:00]", self.pmcd.agent_log())

    def test_of_stock_clients(self):
        with socket.create_connection(("127.0.0.1", self.pmcd.trace_port), PATIENCE_S) as client:
            legacy_wire.read_ack(client)
            for kind in KINDS:
                for tag in TAGS:
                    client.sendall(legacy_wire.encode_data(kind, tag, 1, wants_ack=True))
                    legacy_wire.read_ack(client)
            for kind in KINDS:
                self.assert_shown(f"trace.{kind}.count", 1)
            client.sendall(b"\x1b[2J\nnonsense\xff")
            self.assertEqual(client.recv(1), b"")
        self.assert_log_clean()

    def test_of_our_clients(self):
        labels = [(b"zone", tag[:100]) for tag in TAGS[:1]]
        labels += [(tag[:100], b"value") for tag in TAGS]
        with batch_wire.connect(self.pmcd.path("run/trace.socket"), PATIENCE_S, labels=labels,
                                process=b"\x1b[2Jpro\ngram\xff\"",
                                service=b'se"r\nvice\xff') as client:
            client.sendall(batch_wire.encode_tags(TAGS))
            batch_wire.send_points(client, 1, {tag: 7 for tag in range(1, 1 + len(TAGS))})
            self.assert_shown("trace.point.count", 7)
            wait_until(lambda: self.pmcd.instances("trace.client.recorded"), what="the client")
            self.assert_shown("trace.client.recorded", 0, names=1)
            self.assert_log_clean()


class HostileLabels(TraceTestCase):
    def connect(self, **hello):
        return self.enterContext(
            batch_wire.connect(self.pmcd.path("run/trace.socket"), PATIENCE_S, **hello))

    @staticmethod
    def count_points(client, tags):
        """Counts each tag once in a new session."""
        client.sendall(batch_wire.encode_tags(tags))
        batch_wire.send_points(client, 1, {tag: 1 for tag in range(1, 1 + len(tags))})

    def test_that_pcp_refuses_cost_nobody_elses(self):
        log = self.pmcd.agent_log()
        refused = [b"k8s.pod", b"9lives", b"_a", b"a b", b'x"', b"gr\xc3\xbc\xc3\x9fe", b"x" * 255]
        bad = self.connect(service=b"bad", labels=[(name, b"y") for name in refused] +
                           [(b"zone", b"eu"), (b"x" * 254, b"longest")])
        self.count_points(bad, [b"of bad"])
        many = self.connect(labels=[(b"l%d" % number, b"x") for number in range(253)])
        self.count_points(many, [b"of%d many" % number for number in range(100)])
        good = self.connect(service=b"good")
        self.count_points(good, [b"good"])

        labels = self.pmcd.labels()
        self.assertEqual(len(labels), 102)
        self.assertEqual(labels["of bad"] | {"tag": "of bad", "service": "bad", "zone": "eu",
                                             "x" * 254: "longest"}, labels["of bad"])
        self.assertEqual(labels["good"] | {"tag": "good", "service": "good"}, labels["good"])
        of_many = labels["of99 many"]
        self.assertEqual(of_many["tag"], "of99 many")
        self.assertEqual(sum(name.startswith("l") for name in of_many), MOST_LABELS)
        self.assertEqual(self.pmcd.value("trace.agent.labels.refused"),
                         len(refused) + 253 - MOST_LABELS)
        self.assertEqual(self.pmcd.agent_log(), log)
