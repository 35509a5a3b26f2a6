# SPDX-License-Identifier: LGPL-2.1-or-later
"""PCP_TRACE_DEBUG shows why a program's data do not arrive; no output of the library, requested or not, harms the
program."""

import fcntl
import os
import pathlib
import pty
import re
import select
import socket
import stat
import subprocess
import tempfile
import termios

from private_pmcd import PATIENCE_S, completed
from trace_test import OUR_LIBRARY, TraceTestCase, everybodys_folder, library_environment, program, without_leaks

LINES_OF_MANY = 4 * 2000  # as in debugged.c
PAGE = 4096


def without_agent(debug=None, **variables):
    """Gives the environment of a program that has no agent, and may print its calls."""
    if debug is not None:
        variables["PCP_TRACE_DEBUG"] = debug
    return library_environment(OUR_LIBRARY, PCP_TRACE_NOAGENT=1, **variables)


class DebugTestCase(TraceTestCase):
    def setUp(self):
        directory = self.enterContext(tempfile.TemporaryDirectory())
        self.directory = pathlib.Path(directory)

    def start_debugged(self, environment, *acts):
        return self.start_process(program("debugged"), *acts, env=environment, stdin=subprocess.PIPE,
                                  stderr=subprocess.PIPE)

    def debug(self, environment, *acts, **options):
        """Runs a program to its good end; gives its standard error, or the file's text."""
        options = {"stderr": subprocess.PIPE, "cwd": self.directory} | options
        done = completed(program("debugged"), *acts, env=without_leaks(environment), **options)
        self.assertEqual(done.returncode, 0, f"{done.stdout}{done.stderr}")
        self.printed = done.stdout
        return done.stderr


class Words(DebugTestCase):
    def test_say_what_the_flags_say_and_the_program_cannot_take_them_back(self):
        lines = self.debug(self.environment(PCP_TRACE_DEBUG="api,comms,pdu"),
                           "print-nothing", "point", "print-nothing", "point")
        for wanted in ("connecting to ", "connected, protocol version 2", "PDU sent: type "):
            self.assertIn(f"pcp_trace: {wanted}", lines)
        self.assertEqual(lines.count('pcp_trace: point "place"\n'), 2)
        self.assertNotIn("payload", lines)
        self.assert_values(self.pmcd, "trace.point.count", {"place": 2})
        self.assertIn("pcp_trace: PDU received: type 0x7050, 16 bytes, payload 00 00 00 02\n",
                      self.debug(self.environment(PCP_TRACE_DEBUG="pdu,pdubuf"), "point"))

    def test_add_to_the_programs_own(self):
        lines = self.debug(without_agent("pdubuf"), "print-calls", "point", "print-nothing", "point")
        self.assertEqual(lines.count('point "place"'), 1)

    def test_tell_which_calls_are_refused(self):
        null = "The handle is NULL: it was never set, or pmtrace_tag() refused the tag"
        lines = self.debug(without_agent("api"), "refused")
        self.assertEqual(lines.replace("pcp_trace: ", "").splitlines(), [
            f'tag "{"x" * 255}" refused: Tag is too long (at most 254 bytes)',
            f"point refused: {null}",
            'tag "" refused: Invalid tag: it is NULL or empty',
            f"begin refused: {null}",
            "end refused: Transaction is not in progress",
            'point "" refused: Invalid tag: it is NULL or empty',
            'end "typo" refused: Transaction tag has never begun',
            'begin "twice"',
            'begin "twice" refused: Transaction is already in progress'])

    def test_say_what_is_said_of_a_tag(self):
        lines = self.debug(self.environment(self.start_pmcd(), PCP_TRACE_DEBUG="api"), "describe")
        self.assertEqual(lines, 'pcp_trace: description "place", unit "ms"\n'
                         'pcp_trace: description "place", text "all of it"\n')

    def test_are_short_and_printable_whatever_the_call(self):
        done = completed(program("traced"), input=b"obs 1e308 \xff\xc2\x9b\xe2\x80\xae\x1b\n", env=without_agent("api"), text=False)
        self.assertEqual(done.stderr, b'pcp_trace: observation "????", value 1e+308 (no agent: dropped)\n')

    def test_say_the_same_of_each_attempt_only_once(self):
        path = str(self.directory / "socket")
        with socket.create_server(path, family=socket.AF_UNIX) as agent:
            process = self.start_debugged(library_environment(
                OUR_LIBRARY, PCP_TRACE_SOCKET=path, PCP_TRACE_DEBUG="comms", PCP_TRACE_RECONNECT="0.05",
                PCP_TRACE_LINGER=1), "point", "wait", "point")
            agent.settimeout(PATIENCE_S)
            for _ in range(5):
                agent.accept()[0].close()
            _, lines = process.communicate("\n", timeout=PATIENCE_S)
        self.assertEqual(lines, f"pcp_trace: connecting to {path}\n"
                         f"pcp_trace: no connection to {path}: the agent hung up\n")

    def test_say_nothing_of_a_connection_that_ends_well(self):
        for _ in range(10):
            lines = self.debug(self.environment(PCP_TRACE_DEBUG="comms"), "point")
            self.assertRegex(lines, r"^pcp_trace: connecting to .*\n"
                                    r"pcp_trace: connected, protocol version 2\n$")

    def test_say_that_a_connection_is_lost(self):
        process = self.start_debugged(self.environment(PCP_TRACE_DEBUG="comms"), "point", "wait")
        self.assertIn("connecting to ", process.stderr.readline())
        self.assertIn("connected", process.stderr.readline())
        self.pmcd.kill_agent()
        self.assertRegex(process.stderr.readline(), "^pcp_trace: connection lost: ")

    def test_that_name_a_file_and_nothing_to_print_are_told(self):
        lines = self.debug(without_agent(f"file={self.directory / 'lines'}"), "point")
        self.assertEqual(lines, "pcp_trace: PCP_TRACE_DEBUG names a file but nothing to print:"
                                " add api or comms\n")


class File(DebugTestCase):
    def test_takes_the_lines_of_parent_and_child_each_in_its_own(self):
        self.assertEqual(self.debug(without_agent("api,file=trace.%p.%p"), "point", "fork",
                                    "leave-directory", "point"), "")
        child = int(re.search(r"^child (\d+)$", self.printed, re.MULTILINE)[1])
        files = {path.name: path for path in self.directory.iterdir()}
        own = files.pop(f"trace.{child}.{child}")
        (others,) = files.values()
        self.assertEqual(own.read_text(), 'pcp_trace: point "child" (no agent: dropped)\n')
        self.assertEqual(others.read_text(), 'pcp_trace: point "place" (no agent: dropped)\n' * 2)
        self.assertEqual(stat.S_IMODE(own.stat().st_mode), 0o600)

    def test_is_appended_to(self):
        path = self.directory / "lines"
        path.write_text("before\n")
        self.debug(without_agent(f"file={path},api"), "point", "many")
        lines = path.read_text().splitlines()
        self.assertEqual(lines[0], "before")
        self.assertEqual(lines[1:], ['pcp_trace: point "place" (no agent: dropped)'] *
                         (1 + LINES_OF_MANY))

    def test_that_cannot_be_opened_is_told_once_and_standard_error_takes_its_place(self):
        (self.directory / "link").symlink_to(self.directory / "target")
        os.mkfifo(self.directory / "pipe that nobody reads")
        for name, why in (("none/lines", "No such file or directory"), ("link", "Too many levels of symbolic links"),
                          ("pipe that nobody reads", "No such device or address")):
            path = self.directory / name
            lines = self.debug(without_agent(f"api,file={path}"), "point", "point", "fork").splitlines()
            self.assertEqual(lines, [
                f'pcp_trace: PCP_TRACE_DEBUG: cannot open "{path}", printing on standard error: {why}',
                'pcp_trace: point "place" (no agent: dropped)',
                'pcp_trace: point "place" (no agent: dropped)',
                'pcp_trace: point "child" (no agent: dropped)'])


class Harmless(DebugTestCase):
    """Standard error is a closed or full pipe, or the file must not grow."""

    def pipe(self):
        ends = os.pipe()
        fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, PAGE)
        for end in ends:
            self.addCleanup(os.close, end)
        return ends

    def closed_pipe(self):
        reader, writer = os.pipe()
        os.close(reader)
        self.addCleanup(os.close, writer)
        return writer

    def test_diagnostics_and_complaints_into_a_closed_pipe(self):
        for variables, acts in (({}, ("print-calls", "point")), ({}, ("print-calls", "keep-errno")),
                                ({}, ("print-calls", "keep-signals")), ({}, ("print-calls", "point", "fork")),
                                ({"PCP_TRACE_PORT": "none"}, ("keep-errno", "keep-signals"))):
            with self.subTest(acts):
                self.debug(without_agent(**variables), *acts, stderr=self.closed_pipe())
        pmcd = self.start_pmcd()  # the library's thread has something to say, too
        self.debug(self.environment(pmcd, PCP_TRACE_DEBUG="all"), "point", stderr=self.closed_pipe())
        self.assert_values(pmcd, "trace.point.count", {"place": 1})

    def test_complaints_about_a_tag_that_a_terminal_would_obey(self):
        done = completed(program("traced"), input="add -1 a\x1b[31mb\rcaf\u00e9\n", env=without_agent(), check=True)
        self.assertIn('pcp_trace: "a?[31mb?caf\u00e9": -1 was not added', done.stderr)

    def test_diagnostics_and_complaints_into_a_file_that_must_not_grow(self):
        for environment in (without_agent(f"api,file={self.directory / 'stderr'}"),
                            without_agent(f"api,file={self.directory / 'file'}"), without_agent(PCP_TRACE_PORT="none")):
            with self.subTest(environment), open(self.directory / "stderr", "wb") as file:
                self.debug(environment, "no-growth", "keep-errno", "keep-signals", stderr=file)

    def test_a_full_pipe_delays_no_call_and_the_next_line_counts_what_it_has_cost(self):
        reader, writer = self.pipe()
        os.write(writer, b"x" * PAGE)
        process = self.start_process(program("debugged"), "many", "wait", "point", env=without_agent("api"),
                                     stderr=writer, stdin=subprocess.PIPE)
        self.assertTrue(select.select([process.stdout], [], [], PATIENCE_S)[0], "it waits")
        self.assertEqual(process.stdout.readline(), "many\n")
        self.assertEqual(os.read(reader, 2 * PAGE), b"x" * PAGE)
        process.communicate("\n", timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(os.read(reader, PAGE).decode(), (
            f"pcp_trace: {LINES_OF_MANY} lines before this one were lost\n"
            'pcp_trace: point "place" (no agent: dropped)\n'))

    def test_threads_that_fill_a_pipe_together_do_not_wait_for_its_reader(self):
        for _ in range(20):
            self.debug(without_agent("api"), "many", stderr=self.pipe()[1])

    def test_a_terminal_that_nobody_reads_delays_no_call(self):
        reader, terminal = os.openpty()
        self.addCleanup(os.close, reader)
        self.addCleanup(os.close, terminal)
        self.debug(without_agent("api"), "many", stderr=terminal)

    def check_shown_in_the_background(self, prepare, *words):
        """Runs the program on its own terminal, but not in the terminal's group."""
        # Another user cannot write gcov's files into the build directory, and gcov would complain on this terminal.
        environment = without_agent("api") | {"GCOV_PREFIX": self.enterContext(everybodys_folder())}
        shell, terminal = pty.fork()
        if shell == 0:
            prepare(2)
            background = subprocess.Popen([program("debugged"), *words, "point"], process_group=0,
                                          env=environment, stdout=subprocess.DEVNULL)
            _, status = os.waitpid(background.pid, os.WUNTRACED)
            background.kill()
            os._exit(status & 0xff)
        with open(terminal, "rb", buffering=0) as screen:
            self.assertEqual(screen.read(PAGE), b'pcp_trace: point "place" (no agent: dropped)\r\n')
            self.assertEqual(os.waitpid(shell, 0)[1], 0)

    def test_on_a_terminal_that_stops_its_background(self):
        def stty_tostop(terminal):
            settings = termios.tcgetattr(terminal)
            settings[3] |= termios.TOSTOP
            termios.tcsetattr(terminal, termios.TCSANOW, settings)

        self.check_shown_in_the_background(stty_tostop)

    def test_on_a_terminal_that_the_process_may_not_open(self):
        self.check_shown_in_the_background(lambda terminal: os.fchmod(terminal, 0), "become-nobody")

    def test_a_full_pipe_delays_neither_delivery_nor_the_end(self):
        self.debug(self.environment(PCP_TRACE_DEBUG="all"), "many", stderr=self.pipe()[1])
        self.assert_values(self.pmcd, "trace.point.count", {"place": LINES_OF_MANY})
