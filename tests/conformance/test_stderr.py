# SPDX-License-Identifier: LGPL-2.1-or-later
"""Standard error belongs to the program: the library writes there only for flags and malformed variables."""


from trace_test import (OUR_LIBRARY, TraceTestCase, library_environment, with_each_library,
                        with_each_pair)

EVERYTHING = ("point a", "obs 1 a", "counter 1 a", "begin a", "begin a", "end a", "end a",
              "abort b", "null point", "point ", "point " + "t" * 255, "state 32", "state 0")

MALFORMED = {
    "PCP_TRACE_PORT": ["abc", "-5", "4323x", "0", "70000"],
    "PCP_TRACE_TIMEOUT": ["abc", "-1", "5x", "nan", "1e999"],
    "PCP_TRACE_REQTIMEOUT": ["abc", "-1", "5x"],
    "PCP_TRACE_RECONNECT": ["abc", "-1", "1,x", "1,,2"],
    "PCP_TRACE_FLUSH": ["abc", "-1", "100ms"],
    "PCP_TRACE_QUEUE": ["abc", "-1", "0x"],
    "PCP_TRACE_MAX_LABEL_SETS": ["abc", "-1", "1e3"],
}


@with_each_pair
class Silence(TraceTestCase):
    def test_with_an_agent(self):
        pmcd = self.start_pmcd()
        _, complaints = self.trace_loudly(self.environment(pmcd), *EVERYTHING)
        self.assertEqual(complaints, "")

    def test_without_an_agent(self):
        _, complaints = self.trace_loudly(self.nobody(), *EVERYTHING)
        self.assertEqual(complaints, "")

    def test_with_an_unknown_host(self):
        unknown = library_environment(self.library, PCP_TRACE_HOST="no-such-host.invalid")
        _, complaints = self.trace_loudly(unknown, *EVERYTHING)
        self.assertEqual(complaints, "")

    def test_when_refused(self):
        pmcd = self.start_pmcd(["-A", "disallow:127.0.0.1"])
        _, complaints = self.trace_loudly(self.environment(pmcd), *EVERYTHING)
        self.assertEqual(complaints, "")

    def test_when_the_agent_goes_away(self):
        pmcd = self.start_pmcd()
        traced = self.start_traced(self.environment(pmcd))
        traced.call("point a")
        pmcd.kill_agent()
        for line in ("point a", "obs 1 a", "begin a", "end a"):
            traced.call(line)
        self.assertEqual(traced.end(), "")


@with_each_library
class Diagnostics(TraceTestCase):
    def complaints(self, flags):
        pmcd = self.start_pmcd()
        _, complaints = self.trace_loudly(self.environment(pmcd), f"state {flags}", "point a")
        return complaints

    def test_api_shows_calls(self):
        self.assertRegex(self.complaints(1), r"\ba\b")

    def test_comms_shows_connections(self):
        self.assertNotEqual(self.complaints(2), "")

    def test_pdu_shows_pdus(self):
        self.assertNotEqual(self.complaints(4), "")

    def test_pdubuf_shows_buffers(self):
        self.assertNotEqual(self.complaints(8), "")


class OurDiagnostics(TraceTestCase):
    def test_an_unknown_host_is_named(self):
        """The error's text, the same as PCP's, is "No route to host"."""
        unknown = library_environment(OUR_LIBRARY, PCP_TRACE_HOST="no-such-host.invalid")
        _, complaints = self.trace_loudly(unknown, "state 2", "point a")
        self.assertIn('pcp_trace: unknown host "no-such-host.invalid": ', complaints)


@with_each_library
class MalformedVariable(TraceTestCase):
    def test_a_port_that_is_no_number_is_named(self):
        environment = library_environment(self.library, PCP_TRACE_HOST="no-such-host.invalid",
                                          PCP_TRACE_PORT="abc")
        _, complaints = self.trace_loudly(environment, "point a", "point a")
        self.assertIn("PCP_TRACE_PORT", complaints)

    def test_a_timeout_that_is_no_number_is_named(self):
        environment = library_environment(self.library, PCP_TRACE_HOST="no-such-host.invalid",
                                          PCP_TRACE_TIMEOUT="abc")
        _, complaints = self.trace_loudly(environment, "point a", "point a")
        self.assertIn("PCP_TRACE_TIMEOUT", complaints)


class OurMalformedVariable(TraceTestCase):
    def test_is_named_in_one_line_that_quotes_it(self):
        for name, values in MALFORMED.items():
            for value in values:
                with self.subTest(f"{name}={value}"):
                    environment = library_environment(
                        self.library, **{"PCP_TRACE_HOST": "no-such-host.invalid", name: value})
                    _, complaints = self.trace_loudly(environment, "point a", "point a", "obs 1 b")
                    self.assertEqual(complaints.count("\n"), 1, complaints)
                    self.assertTrue(complaints.endswith("\n"), complaints)
                    self.assertIn(name, complaints)
                    self.assertIn(value, complaints)

    def test_leaves_the_default_in_force(self):
        pmcd = self.start_pmcd()
        environment = self.environment(pmcd, PCP_TRACE_TIMEOUT="abc", PCP_TRACE_FLUSH="abc",
                                       PCP_TRACE_QUEUE="abc", PCP_TRACE_RECONNECT="abc")
        returned, complaints = self.trace_loudly(environment, "point a")
        self.assertEqual(returned, [0])
        self.assertEqual(complaints.count("\n"), 4, complaints)
        self.assertEqual(pmcd.values("trace.point.count"), {"a": 1})
