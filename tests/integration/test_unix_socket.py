# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Unix socket between program and agent, which needs no network."""

import os
import tempfile
import unittest

from private_pmcd import HAS_IPV6, ReservedPort
from trace_test import TraceTestCase

NO_ADDRESS = {"PCP_TRACE_HOST": None, "PCP_TRACE_PORT": None}


class Program(TraceTestCase):
    def test_finds_it_without_any_variable_of_its_own(self):
        pmcd = self.start_pmcd()
        environment = self.environment(pmcd, PCP_RUN_DIR=pmcd.path("run"), **NO_ADDRESS)
        self.assertEqual(self.trace(environment, "point a", "point a"), [0, 0])
        self.assertEqual(pmcd.values("trace.point.count"), {"a": 2})

    def test_uses_the_one_that_is_named(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "elsewhere")
            pmcd = self.start_pmcd(["-i", path])
            environment = self.environment(pmcd, PCP_TRACE_SOCKET=path, **NO_ADDRESS)
            self.assertEqual(self.trace(environment, "point a"), [0])
            self.assertEqual(pmcd.values("trace.point.count"), {"a": 1})

    def test_uses_the_one_that_is_named_and_no_other_way(self):
        pmcd = self.start_pmcd()
        nowhere = self.environment(pmcd, PCP_TRACE_SOCKET=pmcd.path("nowhere"))
        returned, complaints = self.trace_loudly(nowhere, "point a", "obs 1 b", "point a")
        self.assertLess(max(returned), 0)
        self.assertEqual(complaints, f'pcp_trace: no agent at PCP_TRACE_SOCKET="{pmcd.path("nowhere")}": No such file or'
                         " directory; nothing is delivered\n")
        self.assertEqual(pmcd.values("trace.point.count"), {})

    def test_goes_by_tcp_when_a_port_is_named(self):
        pmcd = self.start_pmcd()
        with ReservedPort() as port:
            environment = self.environment(pmcd, PCP_RUN_DIR=pmcd.path("run"), PCP_TRACE_HOST=None,
                                           PCP_TRACE_PORT=port.number)
            self.assertEqual(self.trace(environment, "point a"), [-111])

    def test_survives_a_restart_of_the_agent(self):
        pmcd = self.start_pmcd()
        environment = self.environment(pmcd, PCP_TRACE_SOCKET=pmcd.path("run/trace.socket"),
                                       PCP_TRACE_RECONNECT="0.05", **NO_ADDRESS)
        traced = self.start_traced(environment)
        self.assertEqual(traced.call("point a"), 0)
        self.assert_values(pmcd, "trace.point.count", {"a": 1})
        pmcd.restart_agent()
        self.assertEqual(traced.call("point a"), 0)
        self.assert_values(pmcd, "trace.point.count", {"a": 1})


class NetworkSockets(TraceTestCase):
    def assert_heard(self, *hosts):
        pmcd = self.start_pmcd()
        for host in hosts:
            self.assertEqual(self.trace(self.environment(pmcd, PCP_TRACE_HOST=host), "point a"),
                             [0], host)
        self.assertEqual(pmcd.values("trace.point.count"), {"a": len(hosts)})

    def test_are_there_for_ipv4(self):
        self.assert_heard("127.0.0.1", "localhost")

    @unittest.skipUnless(HAS_IPV6, "this machine has no IPv6")
    def test_are_there_for_ipv6(self):
        self.assert_heard("::1")
