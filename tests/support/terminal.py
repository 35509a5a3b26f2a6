# SPDX-License-Identifier: LGPL-2.1-or-later
"""A pseudo-terminal with a command: its screen, as a VT52 shows it, and its keys."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

from private_pmcd import PATIENCE_S

# All that ncurses knows of a VT52: go to a place, up, down, right, left, home; clear all behind here, or the line's rest.
SEQUENCES = re.compile(r"\x1bY(.)(.)|\x1b([ABCDHIJK])|([\r\n\b\t])|([^\x1b])|\x1b.", re.DOTALL)


class Terminal:
    def __init__(self, command, rows=24, columns=80, **environment):
        self.output = ""  # all
        self._rest = ""  # of a sequence
        self._lines = []
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.execvpe(command[0], command, os.environ | {"TERM": "vt52"} | environment)
        self.resize(rows, columns)
        self.modes = termios.tcgetattr(self._master)

    def resize(self, rows, columns):
        """Tells the command, too, if it wants to know."""
        self._lines = [[" "] * columns for _ in range(rows)]
        self._at = [0, 0]
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys):
        os.write(self._master, keys.encode())

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self._lines)

    def wait_for(self, pattern):
        """Waits until the screen has a text that matches. Gives the match."""
        deadline = time.monotonic() + PATIENCE_S
        while not (found := re.search(pattern, self.text())):
            if time.monotonic() > deadline or not self._read(1):
                raise AssertionError(f"no {pattern!r} on the screen:\n{self.text()}")
        return found

    def end(self):
        """Waits for the command's end. Gives its wait status, and whether it has left the terminal as it was."""
        while self._read(PATIENCE_S):
            pass
        status = os.waitpid(self.pid, 0)[1]
        self.pid = None
        return status, termios.tcgetattr(self._master) == self.modes

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._master)

    def _read(self, seconds):
        """False at the end."""
        if not select.select([self._master], [], [], seconds)[0]:
            return seconds < PATIENCE_S
        try:
            text = os.read(self._master, 1 << 16).decode(errors="replace")
        except OSError:  # nobody has the terminal open
            return False
        self.output += text
        text = self._rest + text
        self._rest = re.search(r"(\x1b(Y.?)?)?$", text, re.DOTALL)[0]
        text = text.removesuffix(self._rest)
        for row, column, letter, control, character in SEQUENCES.findall(text):
            self._show(row, column, letter or control, character)
        return True

    def _show(self, row, column, command, character):
        at = self._at
        if row:
            at[:] = ord(row) - 32, ord(column) - 32
        elif command in ("H", "\r"):
            at[:] = (0 if command == "H" else at[0]), 0
        elif command == "\n" and at[0] == len(self._lines) - 1:
            self._lines = self._lines[1:] + [[" "] * len(self._lines[0])]
        elif command in ("A", "I", "B", "\n"):
            at[0] = min(max(at[0] + (-1 if command in ("A", "I") else 1), 0), len(self._lines) - 1)
        elif command == "\t":
            at[1] = at[1] // 8 * 8 + 8
        elif command in ("D", "\b", "C"):
            at[1] += 1 if command == "C" else -1
        elif command in ("J", "K"):
            self._lines[at[0]][at[1]:] = " " * (len(self._lines[at[0]]) - at[1])
            if command == "J":
                for line in self._lines[at[0] + 1:]:
                    line[:] = " " * len(line)
        elif character and at[1] < len(self._lines[at[0]]):
            self._lines[at[0]][at[1]] = character
            at[1] += 1
