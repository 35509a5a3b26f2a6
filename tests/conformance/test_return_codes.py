# SPDX-License-Identifier: LGPL-2.1-or-later
"""The return codes of each call, for every use and misuse, with both libraries and both agents."""

import errno
import socket
import time

import legacy_wire
from fake_agent import FakeAgent
from private_pmcd import PATIENCE_S, wait_until
from trace_test import (LONGEST_TAG, OUR_LIBRARY, STOCK_LIBRARY, TraceTestCase, library_environment,
                        with_each_library, with_each_pair)

NO_TAG, IN_PROGRESS, NOT_IN_PROGRESS, NO_SUCH_TAG = -12000, -12001, -12002, -12003
TAG_TOO_LONG, TIMED_OUT, PERMISSION, CONNECTION_LIMIT = -12005, -12008, -12010, -12011
REFUSED, NO_ROUTE = -errno.ECONNREFUSED, -errno.EHOSTUNREACH
NOAGENT, ASYNC, SYNC = 16, 32, 64


# By case: the calls of one process, and the codes that it gets.
LINES_AND_CODES = {
    "success": (["point a", "obs 1 a", "counter 1 a", "begin a", "end a", "begin a", "abort a"], [0] * 7),
    "a null tag": (["null point", "null obs", "null counter", "null begin", "null end", "null abort"], [NO_TAG] * 6),
    "an empty tag": (["point ", "obs 1 ", "counter 1 ", "begin ", "end ", "abort "], [NO_TAG] * 6),
    "254 bytes": ([f"begin {LONGEST_TAG}", f"end {LONGEST_TAG}", f"point {LONGEST_TAG}"], [0] * 3),
    "255 bytes": ([f"{call} {LONGEST_TAG}t" for call in ("point", "obs 1", "counter 1", "begin", "end", "abort")],
                  [TAG_TOO_LONG] * 6),
    "begin twice": (["begin a", "begin a", "end a", "begin a"], [0, IN_PROGRESS, 0, 0]),
    "never begun": (["end a", "abort a", "point a", "end a"], [NO_SUCH_TAG, NO_SUCH_TAG, 0, NO_SUCH_TAG]),
    "ended": (["begin a", "end a", "end a", "abort a"], [0, 0, NOT_IN_PROGRESS, NOT_IN_PROGRESS]),
    "aborted": (["begin a", "abort a", "end a", "abort a"], [0, 0, NOT_IN_PROGRESS, NOT_IN_PROGRESS]),
    "every kind at once": (["begin a", "point a", "obs 1 a", "counter 1 a", "end a"], [0] * 5),
    "any value": (["obs nan a", "obs inf a", "obs -1e308 a", "counter -1 a"], [0] * 4)}


@with_each_pair
class Calls(TraceTestCase):
    def test_with_an_agent_give_their_codes(self):
        environment = self.environment(self.start_pmcd())
        for what, (lines, codes) in LINES_AND_CODES.items():
            with self.subTest(what):
                self.assertEqual(self.trace(environment, *lines), codes)


@with_each_library
class WithoutAgent(TraceTestCase):
    """Nothing listens yet."""

    def test_nobody_listens(self):
        self.assertEqual(self.trace(self.nobody(), "point a", "obs 1 a", "counter 1 a", "begin a",
                                    "point a", "begin a"), [REFUSED] * 6)

    def test_the_first_call_tells_of_the_connection_in_asynchronous_mode_too(self):
        for _ in range(50):
            self.assertEqual(self.trace(self.nobody(), f"state {ASYNC}", "point a"), [0, REFUSED])

    def test_an_unknown_host(self):
        unknown = library_environment(self.library, PCP_TRACE_HOST="no-such-host.invalid")
        self.assertEqual(self.trace(unknown, "point a", "begin a", "obs 1 a"), [NO_ROUTE] * 3)

    def test_misuse_is_told_before_the_connection(self):
        self.assertEqual(self.trace(self.nobody(), "null point", "point ", "end a", "abort a",
                                    f"obs 1 {LONGEST_TAG}t"),
                         [NO_TAG, NO_TAG, NO_SUCH_TAG, NO_SUCH_TAG, TAG_TOO_LONG])

    def test_the_noagent_state_and_variable_make_every_call_succeed(self):
        with FakeAgent() as agent:
            environment = library_environment(self.library, PCP_TRACE_HOST="127.0.0.1", PCP_TRACE_PORT=agent.port)
            returned, _ = self.trace_loudly(environment, f"state {NOAGENT}", "point a", "obs 1 a",
                                            "counter 1 a", "begin a", "end a", "begin a", "abort a")
            self.assertEqual(returned, [0] * 8)
            self.assertEqual(agent.connections, 0)
            returned, _ = self.trace_loudly(environment | {"PCP_TRACE_NOAGENT": ""},
                                            "point a", "begin a", "begin a", "end a", "end b")
            self.assertEqual(returned, [0, 0, IN_PROGRESS, 0, NO_SUCH_TAG])
            self.assertEqual(agent.data(), [])
            if self.library == OUR_LIBRARY:  # stock connects, and sends nothing
                self.assertEqual(agent.connections, 0)


@with_each_library
class State(TraceTestCase):
    """pmtracestate."""

    def setUp(self):
        self.pmcd = self.start_pmcd()

    def test_gives_the_old_state_and_replaces_it(self):
        self.assertEqual(self.trace(self.environment(self.pmcd), "state 1", "state 34", "state 8",
                                    "state 0"),
                         [0, 1, 34, 8])

    def test_async_after_a_connection_is_invalid_and_changes_nothing(self):
        returned, _ = self.trace_loudly(self.environment(self.pmcd), "state 4", "point a",
                                        f"state {ASYNC}", f"state {ASYNC | 1}", "state 0")
        self.assertEqual(returned, [0, 0, -errno.EINVAL, -errno.EINVAL, 4])

    def test_async_before_the_first_call_never_fails_a_call(self):
        returned = self.trace(self.environment(self.pmcd), f"state {ASYNC}", "point a", "obs 1 a",
                              "counter 1 a", "begin a", "end a", "begin a", "abort a")
        self.assertTrue(all(code >= 0 for code in returned), returned)


class Acknowledged(TraceTestCase):
    """The SYNC state, which only our library has."""

    def test_a_call_does_not_wait_for_an_agent_that_is_not_there(self):
        nobody = self.nobody(PCP_TRACE_TIMEOUT=10 * PATIENCE_S, PCP_TRACE_REQTIMEOUT=10 * PATIENCE_S)
        self.assertEqual(self.trace(nobody, f"state {SYNC}", "point a", "obs 1 a"), [0, REFUSED, REFUSED])

    def test_a_silent_agent_is_waited_for_until_the_timeout(self):
        pmcd = self.start_pmcd()
        traced = self.start_traced(self.environment(pmcd, PCP_TRACE_REQTIMEOUT="0.3"))
        self.assertEqual(traced.call("point a"), 0)
        self.assert_values(pmcd, "trace.point.count", {"a": 1})
        self.assertEqual(traced.call(f"state {SYNC}"), 0)
        with pmcd.stopped_agent():
            started = time.monotonic()
            self.assertEqual(traced.call("point a"), TIMED_OUT)
            self.assertGreater(time.monotonic() - started, 0.25)
        self.assert_values(pmcd, "trace.point.count", {"a": 2})


class Refused(TraceTestCase):
    """Our agent's reason always arrives, with either library; with stock's agent the reset hides it."""

    def first_calls(self, pmcd, library):
        return self.trace(pmcd.environment(library), "point a", "obs 1 a")

    def test_a_host_that_may_not_connect(self):
        pmcd = self.start_pmcd(["-A", "disallow:127.0.0.1"])
        for _ in range(20):
            self.assertEqual(self.first_calls(pmcd, OUR_LIBRARY), [PERMISSION] * 2)
            self.assertEqual(self.first_calls(pmcd, STOCK_LIBRARY)[0], PERMISSION)

    def test_one_connection_too_many(self):
        pmcd = self.start_pmcd(["-A", "allow:127.0.0.1:1"])
        with socket.create_connection(("127.0.0.1", pmcd.trace_port)) as only:
            self.assertGreaterEqual(legacy_wire.read_ack(only), 1)
            for _ in range(20):
                self.assertEqual(self.first_calls(pmcd, OUR_LIBRARY), [CONNECTION_LIMIT] * 2)
                self.assertEqual(self.first_calls(pmcd, STOCK_LIBRARY)[0], CONNECTION_LIMIT)

    def test_a_host_that_left_makes_room(self):
        pmcd = self.start_pmcd(["-A", "allow:127.0.0.1:1"])
        for _ in range(5):
            wait_until(lambda: self.first_calls(pmcd, OUR_LIBRARY) == [0, 0], what="room")
