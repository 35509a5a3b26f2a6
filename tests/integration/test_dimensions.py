# SPDX-License-Identifier: LGPL-2.1-or-later
"""Labelled tags, and labels that become part of a tag's name. Without room for its labels, all calls of a tag count
under its bare name."""

import re
import signal
import socket

import legacy_wire
from trace_test import STOCK_AGENT, TraceTestCase


class Dimensions(TraceTestCase):
    def labels(self, pmcd, metric="trace.point.count"):
        """Gives each instance's labels, without those of its host and its agent."""
        of_all = ("hostname", "machineid", "domainname", "userid", "groupid", "agent", "trace_type")
        return {name: {key: value for key, value in labels.items() if key not in of_all}
                for name, labels in pmcd.labels(metric).items()}

    def trace_as(self, pmcd, service, labels, *script):
        self.trace(self.environment(pmcd, PCP_TRACE_SERVICE=service, PCP_TRACE_LABELS=labels),
                   *script)

    def test_of_a_tag_are_labels_of_its_instance(self):
        tag = "request{route=%20%20/café%20%22x%22%0A%1B;zone=own}"
        self.trace_as(self.pmcd, "shop", "zone=eu,tier=web", f"point {tag}", "point plain")
        self.assertEqual(self.pmcd.values("trace.point.count"), {tag: 1, "plain": 1})
        self.assertEqual(self.labels(self.pmcd), {
            tag: {"tag": "request", "route": '  /café "x"\n\x1b', "zone": "own", "tier": "web",
                  "service": "shop"},
            "plain": {"tag": "plain", "zone": "eu", "tier": "web", "service": "shop"}})

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
        for unit, text in (("KiB", "bytes_that_were_read"), ("MiB", "")):
            traced = self.start_traced(self.environment(PCP_TRACE_SERVICE="shop"), "traces")
            traced.do("point read{disk=sda}", "point written")
            self.assertEqual(traced.call("flush"), 1)
            traced.do(f"describe read{{disk=sda}} {unit} {text}", "describe read{disk=sda} late",
                      f"describe written {unit}")
            traced.end()
        self.assertEqual(self.labels(self.pmcd), {
            "read{disk=sda}": {"tag": "read", "disk": "sda", "service": "shop", "unit": "KiB",
                               "description": "bytes_that_were_read"},
            "written": {"tag": "written", "service": "shop", "unit": "KiB"}})
        differently = 'describes "read{disk=sda}" differently'
        self.assertEqual(self.pmcd.wait_for_log(differently).count(differently), 1)


def points(*tags):
    return [f"point {tag}" for tag in tags]


class SetsOfLabels(TraceTestCase):
    THREE = points("a{i=1}", "a{i=2}", "a{i=3}", "a{i=3}", "b{i=1}", "a{i=1}", "a")

    def counts(self, lines, told="", **variables):
        returned, complaints = self.trace_loudly(self.environment(**variables), *lines)
        self.assertEqual(set(returned), {0})
        self.assertRegex(complaints, rf"\A{told}\Z")
        return self.pmcd.values("trace.point.count")

    def test_beyond_those_that_a_name_may_have_count_for_the_name(self):
        self.assertEqual(
            self.counts(self.THREE, 'pcp_trace: "a" has more than 2 label sets: .*\n',
                        PCP_TRACE_MAX_LABEL_SETS=2),
            {"a{i=1}": 2, "a{i=2}": 1, "a": 3, "b{i=1}": 1})

    def test_may_be_switched_off(self):
        self.assertEqual(self.counts(self.THREE, PCP_TRACE_MAX_LABEL_SETS=0), {"a": 6, "b": 1})

    def test_without_room_have_their_own_transactions(self):
        calls = ("point a{i=1}", "begin a{i=2}", "begin a{i=3}", "end a{i=2}", "begin a{i=2}", "end a{i=3}",
                 "end a{i=2}")
        returned, _ = self.trace_loudly(self.environment(PCP_TRACE_MAX_LABEL_SETS=1), *calls)
        self.assertEqual(set(returned), {0})
        self.assert_values(self.pmcd, "trace.transact.count", {"a": 3})


class TagsThatAStockAgentDoesNotTake(TraceTestCase):
    agent = STOCK_AGENT

    def test_arrive_under_their_bare_name(self):
        fits = "a{i=" + "x" * 119 + "}"
        self.assertEqual(len(fits), 124)
        tags = (fits, fits.replace("i=", "i=y"), fits.replace("i=", "i=z"), "a")
        self.trace(self.environment(), *points(*tags))
        self.assert_values(self.pmcd, "trace.point.count", {fits: 1, "a": 3})
