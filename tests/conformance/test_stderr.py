# SPDX-License-Identifier: LGPL-2.1-or-later
"""Standard error belongs to the program: the library writes there only for flags and malformed variables."""

from trace_test import TraceTestCase, library_environment, with_each_library, with_each_pair

EVERYTHING = ("point a", "obs 1 a", "counter 1 a", "begin a", "begin a", "end a", "end a",
              "abort b", "null point", "point ", "point " + "t" * 255, "state 32", "state 0")

NO_HOST = {"PCP_TRACE_HOST": "no-such-host.invalid"}


class StderrTestCase(TraceTestCase):
    def said_without_a_host(self, *lines, **variables):
        """Gives standard error of a program that looks for a host that nobody knows."""
        return self.trace_loudly(library_environment(self.library, **NO_HOST, **variables), *lines)[1]


@with_each_pair
class Silence(StderrTestCase):
    def test_whether_there_is_an_agent_or_not(self):
        for environment in (self.environment(self.start_pmcd()), self.nobody(),
                            self.environment(self.start_pmcd(["-A", "disallow:127.0.0.1"]))):
            self.assertEqual(self.trace_loudly(environment, *EVERYTHING)[1], "")
        self.assertEqual(self.said_without_a_host(*EVERYTHING), "")

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
    def test_show_what_each_flag_stands_for(self):
        environment = self.environment(self.start_pmcd())
        for flag, shown in ((1, r"\ba\b"), (2, "."), (4, "."), (8, ".")):  # calls, connections, PDUs, buffers
            self.assertRegex(self.trace_loudly(environment, f"state {flag}", "point a")[1], shown, flag)


class OurDiagnostics(StderrTestCase):
    def test_name_an_unknown_host(self):
        """The error's text, the same as PCP's, is "No route to host"."""
        self.assertIn('pcp_trace: unknown host "no-such-host.invalid": ', self.said_without_a_host("state 2", "point a"))


@with_each_library
class MalformedVariable(StderrTestCase):
    def test_is_named(self):
        for name in ("PCP_TRACE_PORT", "PCP_TRACE_TIMEOUT"):
            self.assertIn(name, self.said_without_a_host("point a", "point a", **{name: "abc"}))


class OurMalformedVariable(StderrTestCase):
    def test_leaves_the_default_in_force(self):
        pmcd = self.start_pmcd()
        environment = self.environment(pmcd, PCP_TRACE_TIMEOUT="abc", PCP_TRACE_FLUSH="abc",
                                       PCP_TRACE_QUEUE="abc", PCP_TRACE_RECONNECT="abc")
        returned, complaints = self.trace_loudly(environment, "point a")
        self.assertEqual(returned, [0])
        self.assertEqual(complaints.count("\n"), 4, complaints)
        self.assertEqual(pmcd.values("trace.point.count"), {"a": 1})
