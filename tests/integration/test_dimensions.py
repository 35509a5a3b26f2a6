# SPDX-License-Identifier: LGPL-2.1-or-later
"""Labelled tags, and labels that become part of a tag's name."""

import json
import re
import signal
import socket
import subprocess

import legacy_wire
from trace_test import TraceTestCase, program


def without_repeats(pairs):
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), names
    return dict(pairs)


class Dimensions(TraceTestCase):
    def labels(self, pmcd, metric="trace.point.count"):
        """Gives each instance's labels, without those of its host and its agent."""
        found = re.findall(r'^    inst \[\d+ or "(.*)"\] labels (\{.*\})$',
                           pmcd.pminfo("-l", metric), re.MULTILINE)
        of_all = ("hostname", "machineid", "domainname", "userid", "groupid", "agent", "trace_type")
        return {name: {key: value for key, value in
                       json.loads(labels, object_pairs_hook=without_repeats).items()
                       if key not in of_all} for name, labels in found}

    def trace_as(self, pmcd, service, labels, *script):
        self.trace(self.environment(pmcd, PCP_TRACE_SERVICE=service, PCP_TRACE_LABELS=labels),
                   *script)

    def test_of_a_tag_are_labels_of_its_instance(self):
        pmcd = self.start_pmcd()
        tag = "request{route=%20%20/café%20%22x%22%0A%1B;zone=own}"
        self.trace_as(pmcd, "shop", "zone=eu,tier=web", f"point {tag}", "point plain")
        self.assertEqual(pmcd.values("trace.point.count"), {tag: 1, "plain": 1})
        self.assertEqual(self.labels(pmcd), {
            tag: {"tag": "request", "route": '  /café "x"\n\x1b', "zone": "own", "tier": "web",
                  "service": "shop"},
            "plain": {"tag": "plain", "zone": "eu", "tier": "web", "service": "shop"}})

    def test_on_which_all_programs_agree_stay(self):
        pmcd = self.start_pmcd()
        for rank in range(3):
            self.trace_as(pmcd, "model", f"rank={rank},zone=eu", "point a")
        self.assertEqual(self.labels(pmcd)["a"], {"tag": "a", "zone": "eu", "service": "model"})
        pmcd.pmstore("trace.control.reset", 1)
        self.trace_as(pmcd, "model", "rank=7", "point a")
        self.assertEqual(self.labels(pmcd)["a"], {"tag": "a", "rank": "7", "service": "model"})

    def test_leave_with_a_program_of_pcps_own_library(self):
        pmcd = self.start_pmcd()
        self.trace_as(pmcd, "shop", "zone=eu", "point a")
        self.assertEqual(self.labels(pmcd)["a"], {"tag": "a", "service": "shop", "zone": "eu"})
        with socket.create_connection(("127.0.0.1", pmcd.trace_port)) as stock:
            legacy_wire.read_ack(stock)
            stock.sendall(legacy_wire.encode_data("point", "a"))
            pmcd.wait_for("trace.agent.records", {None: 2})
        self.assertEqual(self.labels(pmcd)["a"], {"tag": "a"})

    def test_without_room_count_under_the_bare_name(self):
        pmcd = self.start_pmcd(["--max-tags=2"])
        self.trace(self.environment(pmcd), "point a", "point b{k=0}", "point c",
                   *[f"point b{{k={k}}}" for k in range(10)])
        self.assertEqual(pmcd.values("trace.point.count"),
                         {"a": 1, "b{k=0}": 2, "b": 9, "(overflow)": 1})
        self.assertEqual(pmcd.value("trace.agent.folded"), 9)
        self.assertEqual(pmcd.value("trace.agent.overflowed"), 1)

    def test_of_programs_split_their_tags(self):
        pmcd = self.start_pmcd(["--split=service,rank,pid"])
        for rank in range(2):
            self.trace_as(pmcd, "model", f"rank={rank}", "obs 3 solve", "obs 5 solve{pid=0;x=1}")
        with socket.create_connection(("127.0.0.1", pmcd.trace_port)) as stock:
            legacy_wire.read_ack(stock)
            stock.sendall(legacy_wire.encode_data("observe", "solve", 7, pid=99) * 2)
            pmcd.wait_for("trace.agent.records", {None: 6})
        counts = {}
        for tag, count in pmcd.values("trace.observe.count").items():
            counts[re.sub(r"pid=\d\d\d+", "pid=N", tag)] = count
        self.assertEqual(counts, {"solve{pid=N;rank=0;service=model}": 1,
                                  "solve{pid=N;rank=1;service=model}": 1,
                                  "solve{pid=0;rank=0;service=model;x=1}": 1,
                                  "solve{pid=0;rank=1;service=model;x=1}": 1,
                                  "solve{pid=99}": 2})
        labels = self.labels(pmcd, "trace.observe.count")
        self.assertEqual(labels["solve{pid=0;rank=1;service=model;x=1}"],
                         {"tag": "solve", "pid": "0", "rank": "1", "service": "model", "x": "1"})
        numbers = pmcd.instances("trace.observe.count")
        pmcd.restart_agent(["--split=service,rank,pid"], signal.SIGTERM)
        self.trace_as(pmcd, "model", "rank=1", "obs 3 solve{pid=0;x=1}")
        name = "solve{pid=0;rank=1;service=model;x=1}"
        self.assertEqual(pmcd.instances("trace.observe.count")[name], numbers[name])

    def test_say_what_a_tag_stands_for(self):
        pmcd = self.start_pmcd()
        environment = self.environment(pmcd, PCP_TRACE_SERVICE="shop", PCP_TRACE_FLUSH=1)
        for unit, text in (("KiB", "bytes that were read"), ("MiB", "")):
            subprocess.run([program("described"), unit, text], env=environment, check=True)
        self.assertEqual(self.labels(pmcd), {
            "read{disk=sda}": {"tag": "read", "disk": "sda", "service": "shop", "unit": "KiB",
                               "description": "bytes that were read"},
            "written": {"tag": "written", "service": "shop", "unit": "KiB"}})
        differently = 'describes "read{disk=sda}" differently'
        self.assertEqual(pmcd.wait_for_log(differently).count(differently), 1)
