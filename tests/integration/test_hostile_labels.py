# SPDX-License-Identifier: LGPL-2.1-or-later
"""Labels and names that peers choose: a label that PCP would refuse costs no other client's labels, no client can claim
another host, and no answer of the agent grows without bounds."""

import json
import re

import batch_wire
from private_pmcd import PATIENCE_S, wait_until
from trace_test import TraceTestCase

MOST_LABELS = 64  # of a process
MOST_BYTES = 16 << 20  # of programs' labels in one answer
SHOWN_BYTES = 254  # of a name
LARGE_BYTES = 192 << 20


class HostileLabels(TraceTestCase):
    def setUp(self):
        self.pmcd = self.start_pmcd()

    def connect(self, **hello):
        return self.enterContext(
            batch_wire.connect(self.pmcd.path("run/trace.socket"), PATIENCE_S, **hello))

    def count_points(self, client, tags):
        """Counts each tag once in a new session."""
        chunk = 1000
        for begin in range(0, len(tags), chunk):
            part = tags[begin:begin + chunk]
            client.sendall(batch_wire.encode_tags(part, begin + 1))
            batch_wire.send_points(client, begin // chunk + 1,
                                   {begin + 1 + number: 1 for number in range(len(part))})

    def labels(self, metric="trace.point.count"):
        """Gives the labels of each instance, as PCP merges them with those of the host."""
        output = self.pmcd.pminfo("-l", metric)
        self.assertNotIn("Error", output[:1000])
        found = re.findall(r'^    inst \[\d+ or "(.*)"\] labels (\{.*\})$', output, re.MULTILINE)
        return {name: json.loads(labels) for name, labels in found}

    def agent_memory(self, key):
        with open(f"/proc/{self.pmcd.agent_pid()}/status", encoding="utf-8") as file:
            return int(re.search(rf"{key}:\s+(\d+) kB", file.read())[1]) << 10

    def forget_peak_of_agent(self):
        with open(f"/proc/{self.pmcd.agent_pid()}/clear_refs", "w", encoding="utf-8") as file:
            file.write("5")

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

        labels = self.labels()
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

    def test_do_not_pretend_to_be_of_another_host(self):
        honest = self.connect()
        self.count_points(honest, [b"honest"])
        names = [b"hostname", b"machineid", b"domainname", b"container", b"agent", b"trace_type",
                 b"tag", b"pid", b"userid", b"groupid"]
        liar = self.connect(labels=[(name, b"a lie") for name in names])
        self.count_points(liar, [b"liar"])
        labels = self.labels()
        self.assertEqual(labels["liar"], labels["honest"] | {"tag": "liar"})
        self.assertEqual(self.pmcd.value("trace.agent.labels.refused"), len(names))

    def test_of_many_tags_leave_room_for_others(self):
        greedy = self.connect(labels=[(b"l%d" % number, b"x" * 1000) for number in range(15)])
        self.count_points(greedy, [b"greedy%d" % number for number in range(10_000)])
        modest = self.connect(service=b"modest", labels=[(b"zone", b"eu")])
        self.count_points(modest, [b"modest%d" % number for number in range(1000)])

        resident = self.agent_memory("VmRSS")
        self.forget_peak_of_agent()
        labels = self.labels()
        self.assertLess(self.agent_memory("VmHWM") - resident, LARGE_BYTES)
        self.assertEqual(len(labels), 11_000)
        for name, of_instance in labels.items():
            self.assertEqual(of_instance["tag"], name)
            if name.startswith("modest"):
                self.assertEqual(of_instance["service"] + of_instance["zone"], "modesteu")
        with_labels = [of_instance for of_instance in labels.values() if "l0" in of_instance]
        bytes_of_one = len(json.dumps({f"l{number}": "x" * 1000 for number in range(15)
                                       if f"l{number}" in with_labels[0]}))
        self.assertLess(len(with_labels) * bytes_of_one, MOST_BYTES)
        self.assertGreater(len(with_labels), 1000)
        self.assertEqual(self.pmcd.value("trace.agent.labels.left_out"), 10_000 - len(with_labels))

    def test_beside_names_that_are_cut(self):
        program = self.connect(process=b"\x01" * 16_000)
        self.count_points(program, [b"\x01" * 250 + b"%d" % number for number in range(1000)])
        points = self.pmcd.values("trace.point.count")
        self.assertEqual(len(points), 1000)
        self.assertLessEqual(max(map(len, points)), SHOWN_BYTES + len("#1000"))
        shown = wait_until(lambda: self.pmcd.instances("trace.client.recorded"), what="the program")
        self.assertLessEqual(len(list(shown)[0]), len("4194304 ") + SHOWN_BYTES)
        self.assertTrue(list(shown)[0].endswith("..."))

    def test_of_the_environment_are_complained_of_one_by_one(self):
        environment = self.environment(
            self.pmcd, PCP_TRACE_LABELS="k8s.pod=x,zone=eu,hostname=other")
        returned, complaints = self.trace_loudly(environment, "point a")
        self.assertEqual(returned, [0])
        self.assertEqual(re.findall(r'PCP_TRACE_LABELS="(.*)" ignored', complaints),
                         ["k8s.pod=x", "hostname=other"])
        self.assert_values(self.pmcd, "trace.point.count", {"a": 1})
        self.assertEqual(self.labels()["a"]["zone"], "eu")
        self.assertEqual(self.pmcd.value("trace.agent.labels.refused"), 0)

    def test_of_the_environment_that_no_agent_would_take_are_cut(self):
        environment = self.environment(
            self.pmcd, PCP_TRACE_SERVICE="s" * 50_000,
            PCP_TRACE_LABELS="zone=eu,long=" + "l" * 20_000 + ",tier=web")
        returned, complaints = self.trace_loudly(environment, "point a", "point a")
        self.assertEqual(returned, [0, 0])
        self.assertRegex(complaints, r"\A.*PCP_TRACE_SERVICE is cut.*\n.*PCP_TRACE_LABELS.*\n\Z")
        self.assertLess(len(complaints), 200)
        self.assert_values(self.pmcd, "trace.point.count", {"a": 2})
        shown = self.labels()["a"]
        self.assertEqual([shown[name] for name in ("service", "zone", "tier")],
                         ["s" * 1024, "eu", "web"])
