# SPDX-License-Identifier: LGPL-2.1-or-later
"""pmtrace: the same lines on standard output and standard error, stock's program and ours."""

import subprocess
import unittest

from private_pmcd import PATIENCE_S, ReservedPort
from trace_test import (OUR_AGENT, OUR_LIBRARY, OUR_PMTRACE, STOCK_AGENT, STOCK_LIBRARY,
                        STOCK_PMTRACE, TraceTestCase, library_environment)


class PmtraceTestCase(TraceTestCase):
    def pmtrace(self, environment, *arguments, path=None):
        done = subprocess.run([path or self.path, *arguments], env=environment, capture_output=True,
                              text=True, timeout=PATIENCE_S, check=False)
        return done.returncode, done.stdout, done.stderr


class Output:
    """What any pmtrace says."""

    def succeed(self, *arguments):
        status, output, complaints = self.pmtrace(self.environment(self.start_pmcd()), *arguments)
        self.assertEqual((status, complaints), (0, ""))
        return output

    def fail(self, *arguments):
        with ReservedPort() as port:
            nobody = library_environment(self.library, PCP_TRACE_HOST="127.0.0.1",
                                         PCP_TRACE_PORT=port.number)
            status, output, complaints = self.pmtrace(nobody, *arguments)
            self.assertEqual(status, 0)
            return output, complaints

    def test_success(self):
        self.assertEqual(self.succeed("foo"), 'pmtrace: point complete (tag="foo")\n')
        self.assertEqual(self.succeed("-v", "1", "foo"),
                         'pmtrace: observation complete (tag="foo", value=1.000000)\n')
        self.assertEqual(self.succeed("-c", "2.5", "foo"),
                         'pmtrace: counter complete (tag="foo", value=2.500000)\n')
        self.assertEqual(self.succeed("-e", "true", "foo"),
                         'pmtrace: transaction complete (tag="foo")\n')

    def test_quiet_success(self):
        for arguments in ([], ["-v", "1"], ["-c", "2"], ["-e", "true"]):
            self.assertEqual(self.succeed("-q", *arguments, "foo"), "")

    def test_failure(self):
        self.assertEqual(self.fail("foo"), ("", "pmtrace: point error: Connection refused\n"))
        self.assertEqual(self.fail("-v", "1", "foo"),
                         ("", "pmtrace: observation error: Connection refused\n"))
        self.assertEqual(self.fail("-c", "1", "foo"),
                         ("", "pmtrace: counter error: Connection refused\n"))

    def test_the_command_runs_whatever_happens(self):
        self.assertEqual(self.fail("-e", "echo hello", "foo"),
                         ("hello\n", "pmtrace: transaction begin error: Connection refused\n"))

    def test_an_unknown_host(self):
        status, output, complaints = self.pmtrace(library_environment(self.library),
                                                  "-h", "no-such-host.invalid", "foo")
        self.assertEqual((status, output, complaints),
                         (0, "", "pmtrace: point error: No route to host\n"))

    def test_values_are_there_when_it_has_ended(self):
        pmcd = self.start_pmcd()
        for arguments in (["a"], ["a"], ["-v", "2.5", "b"], ["-c", "7", "c"],
                          ["-e", "sleep 0.1", "d"]):
            self.pmtrace(self.environment(pmcd), *arguments)
        self.assert_values(pmcd, "trace.point.count", {"a": 2})
        self.assert_values(pmcd, "trace.observe.value", {"b": 2.5})
        self.assert_values(pmcd, "trace.counter.value", {"c": 7})
        self.assert_values(pmcd, "trace.transact.count", {"d": 1})
        self.assertGreaterEqual(pmcd.value("trace.transact.total_time", "d"), 0.1)


class StockProgramStockPair(Output, PmtraceTestCase):
    path, library, agent = STOCK_PMTRACE, STOCK_LIBRARY, STOCK_AGENT


class StockProgramOurLibrary(Output, PmtraceTestCase):
    path, library, agent = STOCK_PMTRACE, OUR_LIBRARY, STOCK_AGENT


class StockProgramOurPair(Output, PmtraceTestCase):
    path, library, agent = STOCK_PMTRACE, OUR_LIBRARY, OUR_AGENT


class StockProgramOurAgent(Output, PmtraceTestCase):
    path, library, agent = STOCK_PMTRACE, STOCK_LIBRARY, OUR_AGENT


class OurProgramOurPair(Output, PmtraceTestCase):
    path, library, agent = OUR_PMTRACE, OUR_LIBRARY, OUR_AGENT


class OurProgramStockAgent(Output, PmtraceTestCase):
    path, library, agent = OUR_PMTRACE, OUR_LIBRARY, STOCK_AGENT


class OurProgram(PmtraceTestCase):
    path = OUR_PMTRACE

    def test_gives_the_status_of_the_command(self):
        environment = self.environment(self.start_pmcd())
        for status in (0, 1, 3, 255):
            self.assertEqual(self.pmtrace(environment, "-q", "-e", f"exit {status}", "foo")[0],
                             status)
        self.assertEqual(self.pmtrace(environment, "-q", "-e", "no-such-command-at-all", "foo")[0],
                         127)

    def test_gives_the_status_of_the_command_without_an_agent_too(self):
        with ReservedPort() as port:
            nobody = library_environment(self.library, PCP_TRACE_HOST="127.0.0.1",
                                         PCP_TRACE_PORT=port.number)
            self.assertEqual(self.pmtrace(nobody, "-e", "exit 3", "foo")[0], 3)

    def test_tells_of_an_error_in_its_status_only_when_asked(self):
        with ReservedPort() as port:
            nobody = library_environment(self.library, PCP_TRACE_HOST="127.0.0.1",
                                         PCP_TRACE_PORT=port.number)
            self.assertEqual(self.pmtrace(nobody, "foo")[0], 0)
            self.assertEqual(self.pmtrace(nobody, "-x", "foo")[0], 1)
        self.assertEqual(self.pmtrace(self.environment(self.start_pmcd()), "-x", "foo")[0], 0)

    def test_names_the_argument_that_is_wrong(self):
        for arguments in (["-v", "much", "foo"], ["-c", "many", "foo"], ["-S", "wyoming", "foo"]):
            status, output, complaints = self.pmtrace(library_environment(self.library), *arguments)
            self.assertNotEqual(status, 0)
            self.assertEqual(output, "")
            self.assertIn(arguments[1], complaints.splitlines()[0])

    def test_the_host_option_beats_the_environment(self):
        pmcd = self.start_pmcd()
        environment = self.environment(pmcd, PCP_TRACE_HOST="no-such-host.invalid")
        self.assertEqual(self.pmtrace(environment, "-q", "-h", "127.0.0.1", "foo"), (0, "", ""))
        self.assertEqual(pmcd.values("trace.point.count"), {"foo": 1})


if __name__ == "__main__":
    unittest.main()
