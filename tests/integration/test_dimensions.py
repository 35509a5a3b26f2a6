# SPDX-License-Identifier: LGPL-2.1-or-later
"""Labelled tags. Without room for its labels, all calls of a tag count under its bare name."""

from trace_test import TraceTestCase


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


class SetsOfLabels(TraceTestCase):
    def test_may_be_switched_off(self):
        self.assertEqual(self.trace(self.environment(PCP_TRACE_MAX_LABEL_SETS=0), "point a{i=1}", "point a"), [0, 0])
        self.assertEqual(self.pmcd.values("trace.point.count"), {"a": 2})

    def test_without_room_have_their_own_transactions(self):
        calls = ("point a{i=1}", "begin a{i=2}", "begin a{i=3}", "end a{i=2}", "begin a{i=2}", "end a{i=3}",
                 "end a{i=2}")
        returned, _ = self.trace_loudly(self.environment(PCP_TRACE_MAX_LABEL_SETS=1), *calls)
        self.assertEqual(set(returned), {0})
        self.assert_values(self.pmcd, "trace.transact.count", {"a": 3})
