# SPDX-License-Identifier: LGPL-2.1-or-later
"""Traces pass through a program as in W3C's Trace Context, in any order of begins and ends."""

from trace_test import OUR_LIBRARY, TraceTestCase, library_environment, program

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"
OTHER = "00-ffffffffffffffffffffffffffffffff-00f067aa0ba902b7-00"
STATE = "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7"


class Traces(TraceTestCase):
    def start(self, **variables):
        """A program without an agent."""
        environment = library_environment(OUR_LIBRARY, PCP_TRACE_SOCKET="/nowhere", **variables)
        return self.start_traced(environment, "traces")

    def setUp(self):
        self.traced = self.start()

    def assert_parents(self, **expected):
        """The outgoing header within each slot; `here`: this thread's."""
        for slot, parent in expected.items():
            line = "parent" if slot == "here" else "parent " + slot.removeprefix("of_")
            self.assertEqual(self.traced.ask(line), parent, slot)

    def test_what_comes_in_goes_out_from_within(self):
        self.traced.do(f"from 0 request {PARENT} {STATE}", "begin 1 query")
        self.traced.call("name named")  # this call finds that there is no agent
        self.assert_parents(of_0=PARENT, of_1=PARENT, here=PARENT)
        for slot in ("state 0", "state 1", "state"):
            self.assertEqual(self.traced.ask(slot), STATE)
        self.traced.call("named named")
        self.traced.do("end 1", "end 0")
        self.assert_parents(of_0="", of_1="", here="")
        self.assertEqual(self.traced.ask("state"), "")
        self.traced.do("begin 1 query")
        self.assert_parents(of_1="")

    def test_what_comes_in_malformed_or_too_long_is_none(self):
        later = "cc" + PARENT[2:] + "-" + "more" * 1000
        for i, header in enumerate((PARENT[:-1], later + "more" * 4000)):
            self.traced.do(f"from {i} request {header} {STATE}")
            self.assert_parents(**{f"of_{i}": ""}, here="")
            self.assertEqual(self.traced.ask(f"state {i}"), "")
        self.traced.do(f"from 8 request {later} {STATE},=bad")
        self.assert_parents(of_8=PARENT)
        self.assertEqual(self.traced.ask("state 8"), "")  # a bad state does not invalidate the parent

    def test_a_part_may_be_of_another_thread_and_of_what_has_ended(self):
        self.traced.do(f"from 0 request {PARENT} {STATE}", "copy 0 9", "thread 1", "begin 1 elsewhere",
                       "under 2 part 0")
        self.assert_parents(of_1="", of_2=PARENT, here=PARENT)
        self.traced.do("end 0", "end 2", "under 3 part 9", "begin 4 inner")
        self.assert_parents(of_0="", of_3=PARENT, of_4=PARENT, here=PARENT)
        self.assertEqual(self.traced.ask("state 4"), STATE)
        self.traced.do("under 3 part 3")  # in the memory of its own parent
        self.assert_parents(of_3=PARENT)

    def test_a_forked_child_is_a_part_of_what_its_parent_had_open(self):
        self.traced.do(f"from 0 request {PARENT} {STATE}")
        self.assertEqual(self.traced.call("fork"), 0)
        self.assert_parents(here=PARENT)
        self.traced.do("begin 1 child's")
        self.assert_parents(of_1=PARENT, here=PARENT, of_0=PARENT)
        self.traced.do("under 2 part 0")
        self.assert_parents(of_2=PARENT, here=PARENT)
        self.assertEqual(self.traced.ask("state 2"), "")
        self.traced.do("end 2", f"from 3 request {OTHER} a=1")
        self.assertEqual((self.traced.ask("state 3"), self.traced.ask("state 0")), ("a=1", ""))

    def test_a_childs_child_is_a_part_of_it_though_the_child_has_called_nothing(self):
        self.traced.do(f"from 0 request {PARENT}", "fork", "fork", "begin 1 grandchild's")
        self.assert_parents(of_1=PARENT, here=PARENT)
        self.traced.do("setsid", "fork")
        self.assert_parents(here="")

    def test_passes_while_tracing_is_switched_off(self):
        for variables in ({"PCP_TRACE_NOAGENT": 1}, {}):
            with self.subTest(variables):
                self.traced = self.start(**variables)
                self.traced.call("flags 16")
                self.traced.do(f"from 0 request {PARENT} {STATE}", "begin 1 query", "under 2 part 0")
                self.assert_parents(of_0=PARENT, of_1=PARENT, of_2=PARENT, here=PARENT)
                self.assertEqual(self.traced.ask("state"), STATE)
                self.traced.do("end 2", "end 1", "end 0")
                self.assert_parents(of_0="", of_1="", of_2="", here="")

    def test_all_have_ids_while_tracing_is_switched_off_too(self):
        for variables, flags in (({"PCP_TRACE_NOAGENT": 1}, 0), ({}, 16)):
            with self.subTest(variables):
                self.traced = self.start(PCP_TRACE_IDS="always", **variables)
                self.traced.call(f"flags {flags}")
                traces = set()
                for _ in range(3):
                    self.traced.do("begin 0 request", "begin 1 query")
                    trace = self.traced.ask("parent 0")
                    self.assert_parents(of_1=trace, here=trace)
                    self.traced.do("end 1", "end 0", "name named")
                    traces |= {trace[3:35], self.traced.ask("parent")[3:35]}
                    self.traced.do("named named")
                self.assertEqual(len(traces - {""}), 6)
                self.assertEqual(self.traced.call("flags 0"), 16)

    def test_the_program_may_be_a_part_of_a_trace(self):
        self.traced = self.start(TRACEPARENT=PARENT, TRACESTATE=STATE)
        self.traced.do("begin 0 step")
        self.assert_parents(of_0=PARENT, here=PARENT)
        self.assertEqual(self.traced.ask("state"), STATE)
        self.traced.do("thread 1", "begin 1 other")
        self.assert_parents(of_1="", here="")
        self.traced.do("thread 0", f"from 2 request {OTHER}")
        self.assert_parents(here=OTHER)
        self.traced.do("end 2", "detach 2")
        self.assert_parents(here=PARENT)
        self.traced.do("setsid", "begin 3 daemon's")
        self.assert_parents(of_3="", here="", of_0=PARENT)

    def test_the_program_is_a_part_of_a_trace_for_a_minute(self):
        self.traced = self.start(TRACEPARENT=PARENT, LD_PRELOAD=program("stepped_clock.so"))
        self.traced.do("later 55", "begin 0 step", "later 10", "begin 1 step")
        self.assert_parents(of_0=PARENT, of_1="", here="")


class Counts(TraceTestCase):
    def test_transactions_of_traces_are_counted_and_in_flight_as_others(self):
        traced = self.start_traced(self.environment(), "traces")
        traced.do(f"from 0 request {PARENT}", "under 1 request 0", "begin 2 request", "end 2", "begin 3 query")
        self.assert_values(self.pmcd, "trace.transact.inflight", {"request": 2, "query": 1})
        traced.do("end 1", "thread 1", "end 0", "thread 0", "end 3")
        self.assert_values(self.pmcd, "trace.transact.inflight", {"request": 0, "query": 0})
        traced.end()
        self.assertEqual(self.pmcd.values("trace.transact.count"), {"request": 3, "query": 1})
        self.assert_values(self.pmcd, "trace.transact.vanished", {"request": 0, "query": 0})
