# SPDX-License-Identifier: LGPL-2.1-or-later
"""Commands that wait for each other, each with a log of its own, and their progress."""

import os
import re
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LOGS = os.path.join(ROOT, "build", "log")
# Ninja says [30/345], CTest says 97/102 Test.
COUNTED = re.compile(r"^\[(\d+)/(\d+)\]|^ *(\d+)/(\d+) Test ", re.MULTILINE)


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def tail_of(path, size):
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.path.getsize(path) - size))
            return file.read().decode(errors="replace")
    except OSError:
        return ""


class Step:
    """One command. Steps of one lane run one after the other; a step starts when those in `after` have
    succeeded. `minutes` is its time on two idle cores, with cold caches."""

    def __init__(self, name, command, minutes, lane, after=(), when_done=None):
        self.name, self.command, self.minutes, self.lane = name, command, minutes, lane
        self.after, self._when_done = after, when_done
        self.log = os.path.join(LOGS, re.sub("[^a-z0-9]+", "-", name) + ".log")
        self.state = "waits"  # runs, passed, FAILED, not run
        self.took = 0.0
        self.report = ""
        self._process = None

    def start(self):
        with open(self.log, "w", encoding="utf-8") as log:
            self._process = subprocess.Popen(self.command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log,
                                             stderr=subprocess.STDOUT, start_new_session=True)
        self._started = time.monotonic()
        self.state = "runs"

    def look(self):
        """Notes whether the command has ended."""
        self.took = time.monotonic() - self._started
        if (status := self._process.poll()) is None:
            return
        self.state = "FAILED" if status else "passed"
        if self._when_done:
            self._when_done(self)

    def end(self):
        if self.state == "runs":
            os.killpg(self._process.pid, signal.SIGTERM)
            self._process.wait()
            self.state = "not run"

    def done_and_total(self):
        found = COUNTED.findall(tail_of(self.log, 4096)) if self.state == "runs" else []
        done, total = [number for number in found[-1] if number] if found else (0, 0)
        return int(done), int(total)

    def share_done(self):
        if self.state != "runs":
            return float(self.state != "waits")
        done, total = self.done_and_total()
        return done / total if total else min(self.took / 60 / self.minutes, 0.9)  # many print no count

    def where(self):
        done, total = self.done_and_total()
        return f"{self.name} {done}/{total}" if total else self.name


class Steps:
    """Runs steps until all have ended, and prints their progress."""

    def __init__(self, steps):
        self._steps = steps
        self._minutes = sum(step.minutes for step in steps)
        self._started = time.monotonic()

    def run(self):
        """Gives whether all succeeded."""
        os.makedirs(LOGS, exist_ok=True)
        said = 0.0
        try:
            while any(step.state in ("waits", "runs") for step in self._steps):
                self._start_what_can()
                running = [step for step in self._steps if step.state == "runs"]
                for step in running:
                    step.look()
                    if step.state != "runs":
                        self._conclude(step)
                if sys.stdout.isatty() or time.monotonic() - said > 30:
                    said = time.monotonic()
                    self._say_where([step for step in running if step.state == "runs"])
                time.sleep(0.2)  # poll: until a command ends
        finally:
            for step in self._steps:
                step.end()
            self._print_table()
        return all(step.state == "passed" for step in self._steps)

    def _start_what_can(self):
        for step in self._steps:
            if step.state != "waits":
                continue
            if any(other.state in ("FAILED", "not run") for other in step.after):
                step.state = "not run"
            elif all(other.state == "passed" for other in step.after) and not any(
                    other.lane == step.lane and other.state == "runs" for other in self._steps):
                step.start()

    def _conclude(self, step):
        clear = "\r\033[K" if sys.stdout.isatty() else ""
        print(f"{clear}{clock(self._elapsed()):>6}  {step.name}: {step.state} after {clock(step.took)}", flush=True)
        if step.state == "FAILED":
            print(step.report or tail_of(step.log, 3000), flush=True)
            print(f"        all of it: {os.path.relpath(step.log, ROOT)}", flush=True)

    def _elapsed(self):
        return time.monotonic() - self._started

    def _say_where(self, running):
        """Prints the time so far and the expected one: that of all steps on an idle machine, scaled by this one."""
        done = sum(step.minutes * step.share_done() for step in self._steps)
        text = clock(self._elapsed())
        if done > self._minutes / 20:
            text += f" of about {clock(self._elapsed() * self._minutes / done)}"
        text = f"{text}  {', '.join(step.where() for step in running)}"
        print(f"\r\033[K{text:.100}" if sys.stdout.isatty() else f"        {text}",
              end="" if sys.stdout.isatty() else "\n", flush=True)

    def _print_table(self):
        print("\r\033[K" if sys.stdout.isatty() else "")
        for step in self._steps:
            took = clock(step.took) if step.took else ""
            print(f"    {step.name:32} {took:>6}  {step.state}{getattr(step, 'count', '')}")
        print(flush=True)
