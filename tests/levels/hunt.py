# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs one test again and again, several at once beside busy loops, until it fails once.

A test that failed once has found a fault of the product or of the test: this finds it again."""

import contextlib
import os
import subprocess
import sys
import time

from steps import LOGS, ROOT, clock
from tests_of import address_space_kept_small, own_words

AT_ONCE = 2 * os.cpu_count()
BUSY_LOOPS = 2 * os.cpu_count()


@contextlib.contextmanager
def busy_loops():
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY_LOOPS)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


class Runs:
    def __init__(self, pattern, preset):
        self._command = address_space_kept_small(
            ["ctest", "--preset", preset, "-R", pattern, "--output-on-failure"])
        self._running = {}  # process -> its log
        self.started = self.passed = 0

    def start(self):
        self.started += 1
        log = os.path.join(LOGS, f"hunt-{self.started % (2 * AT_ONCE)}.log")
        with open(log, "w", encoding="utf-8") as file:
            process = subprocess.Popen(self._command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=file,
                                       stderr=subprocess.STDOUT, start_new_session=True)
        self._running[process] = log

    def running(self):
        return len(self._running)

    def first_failed(self):
        """Gives the log of a run that failed, if one did; forgets those that passed."""
        for process, log in list(self._running.items()):
            if (status := process.poll()) is None:
                continue
            del self._running[process]
            if status:
                return log
            self.passed += 1
        return None

    def end(self):
        for process in self._running:
            process.terminate()
        for process in self._running:
            process.wait()


def hunt(pattern, preset, times):
    """Exit status: 1 as soon as one run failed, 0 after `times` that passed."""
    os.makedirs(LOGS, exist_ok=True)
    print(f"{AT_ONCE} at a time beside {BUSY_LOOPS} busy loops, {times} times or until one fails", flush=True)
    began = said = time.monotonic()
    runs = Runs(pattern, preset)
    try:
        with busy_loops():
            while runs.passed < times:
                while runs.running() < AT_ONCE and runs.started < times:
                    runs.start()
                if log := runs.first_failed():
                    with open(log, encoding="utf-8", errors="replace") as file:
                        print(*own_words(file.read()), sep="\n")
                    print(f"FAILED after {runs.passed} that passed; log: {os.path.relpath(log, ROOT)}")
                    return 1
                if time.monotonic() - said > 30:
                    said = time.monotonic()
                    print(f"{clock(said - began):>8}  {runs.passed} of {times} passed", flush=True)
                time.sleep(0.1)  # poll: until a run ends
    finally:
        runs.end()
    print(f"{runs.passed} of {times} passed, in {clock(time.monotonic() - began)}")
    return 0
