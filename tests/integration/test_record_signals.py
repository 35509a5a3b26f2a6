# SPDX-License-Identifier: LGPL-2.1-or-later
"""Signals and job control of a recorded program: each signal comes once, whether sent to the recorder alone, to their
common group, or by a terminal; job control works as for any other program."""

import contextlib
import functools
import os
import pty
import re
import select
import signal
import subprocess
import time

import recorded
from private_pmcd import PATIENCE_S, children_of, is_running, stopped, thread_states, wait_until
from trace_test import OUR_LIBRARY, TraceTestCase, library_environment, program

# Prints each signal that comes. SIGUSR2 makes it stop itself.
LISTENER = """
import os, signal, sys
signals = {getattr(signal, name) for name in sys.argv[1:]}
signal.pthread_sigmask(signal.SIG_BLOCK, signals)
print("ready", os.getpid(), os.getppid(), flush=True)
while True:
    came = signal.sigwait(signals)
    print(came.name, flush=True)
    if came == signal.SIGUSR2:
        os.kill(os.getpid(), signal.SIGSTOP)
        print("goes on", flush=True)
"""

# The recorder passes this on last: earlier signals have smaller numbers.
SENTINEL = signal.SIGWINCH

HANDED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)


def is_stopped(pid):
    return set(thread_states(pid)) == {"T"}


def is_pending(pid, number):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        pending = int(re.search(r"^ShdPnd:\t(\w+)$", file.read(), re.MULTILINE)[1], 16)
    return pending >> (number - 1) & 1 == 1


class SignalTestCase(TraceTestCase):
    def setUp(self):
        self.folder = self.path("run")
        self.listener = self.path("listener.py")
        with open(self.listener, "w", encoding="utf-8") as file:
            file.write(LISTENER)
        self.environment_of_listener = library_environment(OUR_LIBRARY)

    def words(self, *more):
        """The command that records a listener."""
        names = [each.name for each in (*HANDED_ON, SENTINEL, *more)]
        return [recorded.COMMAND, "record", "-q", "-o", self.folder, "--", "/usr/bin/python3", self.listener, *names]


class Once(SignalTestCase):
    """Without a terminal."""

    def start(self, *before):
        process = subprocess.Popen([*before, *self.words()], env=self.environment_of_listener, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(process.communicate)
        self.process = process
        _, program, recorder = process.stdout.readline().split()
        self.recorder = int(recorder)
        self.addCleanup(os.kill, int(program), signal.SIGKILL)
        self.addCleanup(os.killpg, process.pid, signal.SIGCONT)  # however the test ends

    def expect_once(self, sent, send):
        """No other signal may come before the sentinel, which only the recorder gets."""
        send(sent)
        self.assertEqual(self.process.stdout.readline(), sent.name + "\n")
        os.kill(self.recorder, SENTINEL)
        self.assertEqual(self.process.stdout.readline(), SENTINEL.name + "\n", sent.name)

    def test_what_is_sent_to_the_recorder_alone_or_to_their_group(self):
        self.start()
        for send in (os.kill, os.killpg):
            for sent in HANDED_ON:
                self.expect_once(sent, functools.partial(send, self.recorder))

    def test_what_timeout_sends_to_the_recorder_and_to_its_group(self):
        self.start("timeout", "1d")

        def end_by_timeout(sent):
            with stopped(self.recorder):  # until timeout has sent the signal and a SIGCONT to each
                os.kill(self.process.pid, sent)
        self.expect_once(signal.SIGTERM, end_by_timeout)

    def test_what_is_sent_to_a_stopped_group_of_which_only_the_recorder_goes_on(self):
        self.start()
        group = [self.recorder, *children_of(self.recorder)]

        def send(sent):
            os.killpg(self.recorder, signal.SIGSTOP)
            for process in group:
                wait_until(lambda: is_stopped(process), what="a stop")
            os.kill(self.recorder, sent)
            os.kill(self.recorder, signal.SIGCONT)
        self.expect_once(signal.SIGTERM, send)

    def test_both_of_two_that_are_sent_to_their_group_while_the_witness_is_late(self):
        self.start()
        program = recorded.program_of(self.process)
        witness, = set(children_of(self.recorder)) - {program}
        os.kill(witness, signal.SIGSTOP)  # until the recorder waits for its answer and wakes it
        wait_until(lambda: is_stopped(witness), what="the witness's stop")
        for _ in range(2):
            os.killpg(self.recorder, signal.SIGTERM)
            self.assertEqual(self.process.stdout.readline(), "SIGTERM\n")
            wait_until(lambda: not is_pending(self.recorder, signal.SIGTERM), what="the recorder to take the signal")
        os.kill(self.recorder, SENTINEL)
        self.assertEqual(self.process.stdout.readline(), SENTINEL.name + "\n")

    def test_the_witness_is_hidden_before_the_program_starts(self):
        siblings = 'for child in $(cat /proc/$PPID/task/$PPID/children); do cat /proc/$child/comm; done'
        done = recorded.record(self.folder, "sh", "-c", siblings,
                               environment=self.environment_of_listener | {
                                   "LD_PRELOAD": program("bad_machine.so"), "LATE_NAME": "1"})
        self.assertIn("signal-witness\n", done.stdout)

    def test_the_program_that_goes_on_wakes_the_recorder(self):
        self.start()
        program = recorded.program_of(self.process)
        os.kill(program, signal.SIGSTOP)
        wait_until(lambda: is_stopped(self.recorder), what="the recorder's stop")
        os.kill(program, signal.SIGCONT)
        wait_until(lambda: not is_stopped(self.recorder), what="the recorder to go on")
        self.expect_once(signal.SIGTERM, lambda sent: os.kill(self.recorder, sent))

    def test_a_signal_to_recorders_by_their_name_ends_the_program(self):
        self.start()
        for by in ("", "-f"):
            self.expect_once(signal.SIGTERM, lambda sent, by=by: subprocess.run(
                ["pkill", *by.split(), "-TERM", "-s", str(self.recorder), f"^{os.path.basename(recorded.COMMAND)}"
                 if not by else f"record -q -o {self.folder}"], check=True, timeout=PATIENCE_S))


class Shell:
    """An interactive shell, on its own terminal."""

    def __init__(self, environment):
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"],
                      environment | {"PS1": "shell> ", "TERM": "dumb", "HISTFILE": ""})
        self._shown = ""
        self.type("stty -echo; echo quiet, $((2 - 1))\n")
        self.expect("quiet, 1")

    def type(self, text):
        os.write(self._terminal, text.encode())

    def expect(self, pattern):
        """Waits for this output; gives the match, and drops the text before it."""
        deadline = time.monotonic() + PATIENCE_S
        while not (match := re.search(pattern, self._shown)):
            ready, _, _ = select.select([self._terminal], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"no {pattern!r} in {self._shown!r}"
            self._shown += os.read(self._terminal, 4096).decode().replace("\r", "")
        self._shown = self._shown[match.end():]
        return match

    def end(self):
        os.close(self._terminal)
        os.waitpid(self.pid, 0)


class OnATerminal(SignalTestCase):
    def start(self, *more):
        self.shell = Shell(self.environment_of_listener)
        self.addCleanup(self.shell.end)
        words = " ".join(self.words(*more))
        self.shell.type(f"{words}; echo status $?\n")
        self.program, self.recorder = map(int, self.shell.expect(r"ready (\d+) (\d+)\n").groups())
        self.addCleanup(self.kill_program)

    def kill_program(self):
        """Also waits for the end of its recording, which the end of the terminal would cut short."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.program, signal.SIGKILL)
        wait_until(lambda: not is_running(self.recorder), what="the recorder's end")

    def expect_sentinel(self):
        """Checks that no other signal comes first."""
        os.kill(self.recorder, SENTINEL)
        self.shell.expect(rf"\A{SENTINEL.name}\n")

    def expect_stop(self):
        self.shell.expect(r"Stopped")
        wait_until(lambda: is_stopped(self.recorder), what="the recorder's stop")
        wait_until(lambda: is_stopped(self.program), what="the program's stop")

    def go_on(self):
        """Continues in the foreground."""
        self.shell.expect("shell> ")
        self.shell.type("fg\n")
        self.shell.expect("record.*\n")

    def test_keys_come_once(self):
        self.start()
        for key, name in (("\x03", "SIGINT"), ("\x1c", "SIGQUIT")):
            self.shell.type(key)
            self.shell.expect(rf"\A{name}\n")
            self.expect_sentinel()
        os.kill(self.program, signal.SIGKILL)
        self.shell.expect("status 137\n")

    def test_a_key_stops_both_and_the_shell_continues_both(self):
        self.start()
        for _ in range(3):
            self.shell.type("\x1a")
            self.expect_stop()
            self.go_on()
            self.expect_sentinel()
        self.shell.type("\x03")
        self.shell.expect("\\ASIGINT\n")

    def test_a_program_that_does_not_stop_by_the_key_goes_on_with_its_recorder(self):
        self.start(signal.SIGTSTP, signal.SIGCONT)
        self.shell.type("\x1a")
        self.shell.expect("\\ASIGTSTP\n")
        self.expect_sentinel()

    def test_a_program_that_stops_itself_gives_the_terminal_to_the_shell(self):
        self.start(signal.SIGUSR2)
        os.kill(self.recorder, signal.SIGUSR2)
        self.shell.expect("SIGUSR2\n")
        self.expect_stop()
        self.go_on()
        self.shell.expect("goes on\n")
        self.expect_sentinel()

    def test_the_end_of_the_terminal_is_told(self):
        """The kernel tells only the session's leader, the recorder, which has to pass it on."""
        read_end, write_end = os.pipe()
        leader, terminal = pty.fork()
        if leader == 0:
            os.dup2(write_end, 1)
            os.execve(recorded.COMMAND, self.words(), self.environment_of_listener)
        os.close(write_end)
        self.addCleanup(os.waitpid, leader, 0)
        with os.fdopen(read_end) as lines:
            _, program, _ = lines.readline().split()
            self.addCleanup(os.kill, int(program), signal.SIGKILL)
            os.close(terminal)
            self.assertEqual(lines.readline(), "SIGHUP\n")
            os.kill(leader, SENTINEL)
            self.assertEqual(lines.readline(), SENTINEL.name + "\n")
