# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Unix socket between program and agent, which needs no network."""

import unittest

from private_pmcd import HAS_IPV6, ReservedPort
from trace_test import TraceTestCase

NO_ADDRESS = {"PCP_TRACE_HOST": None, "PCP_TRACE_PORT": None}


class Program(TraceTestCase):
    def test_finds_it_without_any_variable_of_its_own(self):
        environment = self.environment(PCP_RUN_DIR=self.pmcd.path("run"), **NO_ADDRESS)
        self.assertEqual(self.trace(environment, "point a", "point a"), [0, 0])
        self.assertEqual(self.pmcd.values("trace.point.count"), {"a": 2})

    def test_uses_the_one_that_is_named(self):
        path = self.path("elsewhere")
        pmcd = self.start_pmcd(["-i", path])
        self.assertEqual(self.trace(self.environment(pmcd, PCP_TRACE_SOCKET=path, **NO_ADDRESS), "point a"), [0])
        self.assertEqual(pmcd.values("trace.point.count"), {"a": 1})

    def test_uses_the_one_that_is_named_and_no_other_way(self):
        nowhere = self.environment(PCP_TRACE_SOCKET=self.pmcd.path("nowhere"))
        returned, complaints = self.trace_loudly(nowhere, "point a", "obs 1 b", "point a")
        self.assertLess(max(returned), 0)
        self.assertEqual(complaints, f'pcp_trace: no agent at PCP_TRACE_SOCKET="{self.pmcd.path("nowhere")}": No such'
                         " file or directory; nothing is delivered\n")
        self.assertEqual(self.pmcd.values("trace.point.count"), {})

    def test_goes_by_tcp_when_a_port_is_named(self):
        with ReservedPort() as port:
            environment = self.environment(PCP_RUN_DIR=self.pmcd.path("run"), PCP_TRACE_HOST=None,
                                           PCP_TRACE_PORT=port.number)
            self.assertEqual(self.trace(environment, "point a"), [-111])


class NetworkSockets(TraceTestCase):
    def assert_heard(self, *hosts):
        for host in hosts:
            self.assertEqual(self.trace(self.environment(PCP_TRACE_HOST=host), "point a"),
                             [0], host)
        self.assertEqual(self.pmcd.values("trace.point.count"), {"a": len(hosts)})

    def test_are_there_for_ipv4(self):
        self.assert_heard("127.0.0.1", "localhost")

    @unittest.skipUnless(HAS_IPV6, "this machine has no IPv6")
    def test_are_there_for_ipv6(self):
        self.assert_heard("::1")
