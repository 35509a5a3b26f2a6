# SPDX-License-Identifier: LGPL-2.1-or-later
"""pmtrace: stock's program and ours print the same lines on standard output and standard error."""

import os
import pty
import signal
import subprocess

from private_pmcd import PATIENCE_S, completed
from trace_test import (OUR_LIBRARY, OUR_PMTRACE, STOCK_AGENT,
                        STOCK_PMTRACE, TraceTestCase, library_environment, with_each_pair)


TRY_HELP = "Try 'pmtrace --help'.\n"
# By kind of call: its options, its name in messages, and its value there.
KINDS = (([], "point", ""), (["-e", "true"], "transaction", ""), (["-v", "1"], "observation", ", value=1.000000"),
         (["-c", "2.5"], "counter", ", value=2.500000"))
OUR_KINDS = (*KINDS, (["-a", "3"], "increment", ", value=3.000000"))


class PmtraceTestCase(TraceTestCase):
    path = OUR_PMTRACE

    def pmtrace(self, environment, *arguments):
        done = completed(self.path, *arguments, env=environment)
        return done.returncode, done.stdout, done.stderr


class Output:
    """The output that both programs share."""

    def test_success_is_said_unless_it_is_to_be_quiet(self):
        environment = self.environment(self.start_pmcd())
        for kind, what, value in KINDS:
            with self.subTest(what):
                self.assertEqual(self.pmtrace(environment, *kind, "foo"),
                                 (0, f'pmtrace: {what} complete (tag="foo"{value})\n', ""))
                self.assertEqual(self.pmtrace(environment, "-q", *kind, "foo"), (0, "", ""))

    def test_failure_is_said_and_the_command_runs(self):
        for arguments, what, output in (([], "point", ""), (["-v", "1"], "observation", ""),
                                        (["-c", "1"], "counter", ""),
                                        (["-e", "echo hello"], "transaction begin", "hello\n")):
            with self.subTest(what):
                self.assertEqual(self.pmtrace(self.nobody(), *arguments, "foo"),
                                 (0, output, f"pmtrace: {what} error: Connection refused\n"))

    def test_an_unknown_host(self):
        self.assertEqual(self.pmtrace(library_environment(self.library), "-h", "no-such-host.invalid", "foo"),
                         (0, "", "pmtrace: point error: No route to host\n"))

    def test_values_are_there_when_it_has_ended(self):
        pmcd = self.start_pmcd()
        # load: the transaction's length
        for arguments in (["a"], ["a"], ["-v", "2.5", "b"], ["-c", "7", "c"], ["-e", "sleep 0.1", "d"]):
            self.pmtrace(self.environment(pmcd), *arguments)
        self.assert_values(pmcd, "trace.point.count", {"a": 2})
        self.assert_values(pmcd, "trace.observe.value", {"b": 2.5})
        self.assert_values(pmcd, "trace.counter.value", {"c": 7})
        self.assert_values(pmcd, "trace.transact.count", {"d": 1})
        self.assertGreaterEqual(pmcd.value("trace.transact.total_time", "d"), 0.1)


@with_each_pair
class StockProgram(Output, PmtraceTestCase):
    path = STOCK_PMTRACE


class OurProgramOurPair(Output, PmtraceTestCase):
    pass


class OurProgramStockAgent(Output, PmtraceTestCase):
    agent = STOCK_AGENT


class OurProgramAborts(PmtraceTestCase):
    """With -e, a failed command counts as aborted; PCP's pmtrace counts it as completed."""

    def assert_transactions(self, pmcd, aborted, completed=0):
        self.assert_values(pmcd, "trace.transact.aborts", {"foo": aborted})
        self.assert_values(pmcd, "trace.transact.count", {"foo": completed})

    def test_a_command_that_fails_unless_it_may(self):
        pmcd = self.start_pmcd()
        for may_fail, word, completed_ones in (([], "aborted", 0), (["-f"], "complete", 1)):
            self.assertEqual(self.pmtrace(self.environment(pmcd), *may_fail, "-e", "exit 3", "foo"),
                             (3, f'pmtrace: transaction {word} (tag="foo")\n', ""))
            self.assert_transactions(pmcd, aborted=1, completed=completed_ones)

    def test_are_none_of_a_stock_agents_business(self):
        pmcd = self.start_pmcd(agent=STOCK_AGENT)
        self.assertEqual(self.pmtrace(self.environment(pmcd), "-x", "-e", "exit 3", "foo"),
                         (3, 'pmtrace: transaction aborted (tag="foo")\n', ""))

    def test_a_command_that_is_ended_with_all_that_it_has_started(self):
        pmcd = self.start_pmcd()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
            self.assertEqual(self.end_by(number, self.environment(pmcd)),
                             (128 + number, 'pmtrace: transaction aborted (tag="foo")\n'))
        self.assert_transactions(pmcd, aborted=4)

    def end_by(self, number, environment):
        """Runs pmtrace without a terminal until the signal. Its pipe ends once the last process of the command has
        ended."""
        command = "sh -c 'echo $$; exec sleep infinity'; true"
        running = subprocess.Popen([self.path, "-e", command, "foo"], env=environment,
                                   stdout=subprocess.PIPE, text=True, start_new_session=True,
                                   preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
        sleeper = int(running.stdout.readline())
        try:
            running.send_signal(number)
            return running.wait(PATIENCE_S), running.communicate(timeout=PATIENCE_S)[0]
        finally:
            try:
                os.kill(sleeper, signal.SIGKILL)
            except ProcessLookupError:
                pass
            running.kill()
            running.communicate()

    def test_a_command_on_a_terminal_that_is_ended(self):
        """The command stays in the terminal's foreground process group, so that it can read."""
        pmcd = self.start_pmcd()
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(self.path, [self.path, "-e", "read line; echo got $line; exec sleep infinity",
                                  "foo"], self.environment(pmcd))
        with open(terminal, "rb+", buffering=0) as both:
            both.write(b"something\n")
            shown = b""
            while b"got something" not in shown:
                shown += both.read(100)
            os.kill(pid, signal.SIGTERM)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 128 + signal.SIGTERM)
        self.assert_transactions(pmcd, aborted=1)


class OurProgramsTrace(PmtraceTestCase):
    """The trace context that a command gets, without an agent."""

    TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    OWN = "00-[0-9a-f]{32}-[0-9a-f]{16}-02"
    # Inside and outside another pmtrace.
    SHOW = 'echo "${TRACEPARENT-none} ${TRACESTATE-none}"'
    SHOW_TWICE = f"{SHOW}; $PMTRACE -qe '{SHOW}' inner"

    def shown(self, *arguments, **variables):
        environment = library_environment(self.library, PCP_TRACE_SOCKET="/nowhere/socket", PMTRACE=self.path)
        status, output, _ = self.pmtrace(environment | variables, "-q", *arguments, "-e",
                                         self.SHOW_TWICE, "foo")
        self.assertEqual(status, 0)
        outer, inner = output.splitlines()
        self.assertEqual(outer, inner)
        return outer

    def test_is_none_by_itself(self):
        self.assertEqual(self.shown(), "none none")

    def test_is_the_one_it_was_started_in(self):
        for arguments, variables in (([], {}), (["-s"], {}), (["-S", "16"], {}), ([], {"PCP_TRACE_NOAGENT": "1"}),
                                     ([], {"PCP_TRACE_IDS": "always"})):
            self.assertEqual(self.shown(*arguments, TRACEPARENT=self.TRACE, **variables),
                             f"{self.TRACE} none")
            self.assertEqual(self.shown(*arguments, TRACEPARENT=self.TRACE, TRACESTATE="a=b,c=d",
                                        **variables), f"{self.TRACE} a=b,c=d")

    def test_is_passed_on_as_the_standard_has_it(self):
        later = "cc" + self.TRACE[2:] + "-something"
        self.assertEqual(self.shown(TRACEPARENT=later, TRACESTATE="A=B"), f"{self.TRACE} none")

    def test_is_none_of_a_header_that_is_not_valid_which_stays(self):
        self.assertEqual(self.shown(TRACEPARENT="nonsense", TRACESTATE="a=b"), "nonsense a=b")
        self.assertEqual(self.shown(TRACESTATE="a=b"), "none a=b")

    def test_begins_with_the_outermost_where_all_are_to_have_ids(self):
        for variables in ({}, {"TRACEPARENT": "nonsense", "TRACESTATE": "a=b"}):
            traces = [self.shown(PCP_TRACE_IDS="always", **variables) for _ in range(2)]
            for trace in traces:
                self.assertRegex(trace, f"^{self.OWN} none$")
            self.assertNotEqual(*traces)


class OurProgram(PmtraceTestCase):
    def test_does_not_say_complete_of_what_it_did_not_send(self):
        environment = self.environment(self.start_pmcd())
        for arguments, unwanted in ((["-S", "16"], {}), ([], {"PCP_TRACE_NOAGENT": "1"})):
            for kind, what, value in OUR_KINDS:
                self.assertEqual(self.pmtrace(environment | unwanted, *arguments, *kind, "foo"),
                                 (0, f'pmtrace: {what} not sent (tag="foo"{value})\n', ""))
                self.assertEqual(self.pmtrace(environment | unwanted, "-qx", *arguments, *kind, "foo"), (1, "", ""))

    def refuse(self, complaint, *arguments):
        """With -e, the command does not run."""
        self.assertEqual(self.pmtrace(library_environment(self.library), *arguments),
                         (2, "", f"pmtrace: {complaint}\n{TRY_HELP}"))

    def test_refuses_what_is_no_tag(self):
        for tag in ("", "t" * 255):
            for arguments in ([], ["-e", "echo hello"]):
                self.refuse("a TAG has 1 to 254 bytes", *arguments, tag)

    def test_refuses_a_value_that_is_not_finite(self):
        for letter, wanted in (("-v", ""), ("-c", ""), ("-a", " from 0 on")):
            for value in ("nan", "inf", "-infinity", "1e400", "-1e400"):
                self.refuse(f"{letter} takes a finite number{wanted}, not {value}",
                            letter, value, "foo")

    def test_refuses_to_add_less_than_nothing(self):
        self.refuse("-a takes a finite number from 0 on, not -1", "-a", "-1", "foo")
        self.refuse("-a takes a finite number from 0 on, not -e", "-a", "-e", "echo hello", "foo")

    def test_makes_one_call_only(self):
        for arguments in (["-a", "1", "-e", "echo hello"], ["-e", "echo hello", "-a", "1"]):
            self.refuse("only one of -a, -c, -e and -v", *arguments, "foo")

    def test_refuses_what_is_no_label(self):
        self.refuse("-L takes LABEL=VALUE, not route", "-L", "route", "-e", "echo hello", "foo")
        self.refuse("a TAG has at most 16 labels", *(f"-Ll{number}=" for number in range(17)),
                    "-e", "echo hello", "foo")
        self.refuse("with -s a TAG has at most 15 other labels", "-s",
                    *(f"-Ll{number}=" for number in range(16)), "-e", "echo hello", "foo")
        self.refuse("-s is only for -e", "-s", "foo")
        not_a_name = "is not [a-z][a-z0-9_]*"
        for labels, why in ((["-LRoute=/"], f'label "Route" {not_a_name}'),
                            (["-L=/"], f'label "" {not_a_name}'),
                            (["-L", "tag=a"], 'label "tag" is reserved by PCP'),
                            (["-La=1", "-La=2"], 'label "a" is given twice')):
            done = self.pmtrace(library_environment(self.library), *labels, "-e", "echo hello", "foo")
            self.assertEqual(done, (2, "", f'pcp_trace: "foo" is not traced: {why}\n'
                                           f"pmtrace: no tag has these labels: foo\n{TRY_HELP}"))

    def test_gives_each_kind_its_labels(self):
        pmcd = self.start_pmcd()
        labels = ["-L", "zone=eu west", "-L", "route=/a=b", "-Ltime="]
        tag = "foo{route=/a%3Db;time=;zone=eu%20west}"
        for kind, what, value in OUR_KINDS:
            self.assertEqual(self.pmtrace(self.environment(pmcd), *kind, *labels, "foo"),
                             (0, f'pmtrace: {what} complete (tag="{tag}"{value})\n', ""))
        for metric, value in (("point.count", 1), ("transact.count", 1), ("observe.value", 1),
                              ("counter.value", 2.5), ("counter.total", 3)):
            self.assertEqual(pmcd.values(f"trace.{metric}"), {tag: value}, metric)

    def test_gives_a_command_its_status_as_a_label(self):
        pmcd = self.start_pmcd()
        for command, status, word in (("true", 0, "complete"), ("exit 3", 3, "aborted"),
                                      ("no-such-command-at-all 2>&-", 127, "aborted"),
                                      ("kill -9 $$", 128 + signal.SIGKILL, "aborted")):
            done = self.pmtrace(self.environment(pmcd), "-x", "-s", "-La=b", "-e", command, "foo")
            self.assertEqual(done, (status, f'pmtrace: transaction {word} (tag="foo{{a=b;status={status}}}")\n', ""))
        self.pmtrace(self.environment(pmcd), "-fse", "exit 3", "foo{a=b}")
        for metric, statuses in (("count", (0, 3)), ("aborts", (3, 127, 128 + signal.SIGKILL))):
            shown = pmcd.values(f"trace.transact.{metric}")
            self.assertEqual({tag: value for tag, value in shown.items() if value},
                             {f"foo{{a=b;status={status}}}": 1 for status in statuses})
        # Without an agent, and with PCP's own.
        self.assertEqual(self.pmtrace(self.nobody(), "-s", "-e", "exit 3", "foo"),
                         (3, "", "pmtrace: transaction abort error: Connection refused\n"))
        stock = self.start_pmcd(agent=STOCK_AGENT)
        self.assertEqual(self.pmtrace(self.environment(stock), "-qxse", "true", "foo"), (0, "", ""))
        self.assertEqual(stock.values("trace.transact.count"), {"foo{status=0}": 1})

    def test_runs_the_command_with_a_library_that_does_nothing(self):
        stub = os.path.join(os.path.dirname(OUR_LIBRARY), "stub", os.path.basename(OUR_LIBRARY))
        for more in ([], ["-s"]):
            done = self.pmtrace(library_environment(stub), "-q", "-La=1", *more, "-e", "echo hello", "foo")
            self.assertEqual((done[1], done[2]), ("hello\n", ""))

    def test_adds_without_an_agent_as_it_does_all_else(self):
        self.assertEqual(self.pmtrace(self.nobody(), "-a", "1", "foo"),
                         (0, "", "pmtrace: increment error: Connection refused\n"))

    def test_refuses_a_host_without_a_name(self):
        self.refuse("-h takes the name of a host", "-h", "", "foo")

    def test_fails_if_its_words_are_lost(self):
        environment = self.environment(self.start_pmcd())
        for arguments, status in ((["foo"], 1), (["-q", "foo"], 0), (["-e", "exit 3", "foo"], 3),
                                  (["--help"], 1), (["--version"], 1)):
            with self.subTest(arguments), open("/dev/full", "w", encoding="utf-8") as full:
                done = completed(self.path, *arguments, env=environment, stdout=full)
                lost = "" if status == 0 else "pmtrace: standard output: No space left on device\n"
                self.assertEqual((done.returncode, done.stderr), (status, lost))

    def test_gives_the_status_of_the_command(self):
        environment = self.environment(self.start_pmcd())
        for status in (0, 1, 3, 255):
            self.assertEqual(self.pmtrace(environment, "-q", "-e", f"exit {status}", "foo")[0], status)
        self.assertEqual(self.pmtrace(environment, "-q", "-e", "no-such-command-at-all", "foo")[0], 127)
        self.assertEqual(self.pmtrace(self.nobody(), "-e", "exit 3", "foo")[0], 3)

    def test_does_not_wait_for_an_agent_that_is_not_there(self):
        nobody = library_environment(self.library, PCP_TRACE_SOCKET="/nonexistent/socket",
                                     PCP_TRACE_REQTIMEOUT=10 * PATIENCE_S)
        for status in (0, 3):
            self.assertEqual(self.pmtrace(nobody, "-e", f"exit {status}", "foo"), (
                status, "", 'pcp_trace: no agent at PCP_TRACE_SOCKET="/nonexistent/socket": No such file or directory;'
                " nothing is delivered\npmtrace: transaction begin error: No such file or directory\n"))

    def test_tells_of_an_error_in_its_status_only_when_asked(self):
        self.assertEqual(self.pmtrace(self.nobody(), "foo")[0], 0)
        self.assertEqual(self.pmtrace(self.nobody(), "-x", "foo")[0], 1)
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
