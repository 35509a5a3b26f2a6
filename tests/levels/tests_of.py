# SPDX-License-Identifier: LGPL-2.1-or-later
"""A step that runs the tests of a preset with CTest, and reports those that failed."""

import functools
import os
import re
import subprocess
import sys
from xml.etree import ElementTree

from steps import LOGS, Step

MOST_LINES = 60
# The last lines of a run, for the reader of a CI machine that shows no more, have so many of each failed test.
LAST_LINES = 8
# Tests that the machine does not allow say why: those of scripts (run_tests.py), and those of GoogleTest.
NOT_RUN = re.compile(r"^not run: (.*)$|: Skipped\n(.*)$", re.MULTILINE)


def address_space_kept_small(command):
    """The sanitizers of Debian 12 fail now and then if the kernel randomizes more address bits than theirs."""
    try:
        with open("/proc/sys/vm/mmap_rnd_bits", encoding="ascii") as file:
            scattered = int(file.read()) > 28
    except OSError:
        scattered = False
    return ["setarch", "-R", *command] if scattered and may_keep_addresses() else command


@functools.cache
def may_keep_addresses():
    """Containers of Docker may not."""
    may = subprocess.run(["setarch", "-R", "true"], check=False, capture_output=True).returncode == 0
    if not may:
        print("    setarch -R is refused here: sanitizers may fail; `sysctl vm.mmap_rnd_bits=28` on the host helps", flush=True)
    return may


def ctest_command(preset, *arguments):
    # Tests mostly wait and compute little: so more of them run at once than there are processors.
    # The end of a script's output says which of its tests were not run.
    return address_space_kept_small(["ctest", "--preset", preset, "--parallel", str(3 * os.cpu_count()),
                                     "--test-output-size-passed", "1000000", *arguments])


def own_words(output):
    """The output of a failed test: from its first failure on, if one is recognised."""
    lines = output.splitlines()
    first = next((i for i, line in enumerate(lines)
                  if re.match(r"=+$|.*: Failure$|Traceback|FAIL|==\d+==ERROR|WARNING: ThreadSanitizer", line)), 0)
    seeds = [line for line in lines[:first] if re.search(r"\bseeds?\b", line, re.IGNORECASE)]
    shown = lines[first:first + MOST_LINES]
    if first + MOST_LINES < len(lines):
        shown.append(f"... and {len(lines) - first - MOST_LINES} more lines")
    return seeds + shown


def has_skipped_itself(case):
    """As a test does that needs a counter of the processor, on kernels that do not trust it."""
    skipped = case.find("skipped")
    return skipped is not None and skipped.get("message", "").startswith("SKIP_")


def not_run_in(case):
    """Gives a line for each test of this case that the machine does not allow, with the reason."""
    return [f"{case.get('name')}: {of_script or of_program}"
            for of_script, of_program in NOT_RUN.findall(case.findtext("system-out") or "")]


class TestsStep(Step):
    """After its end `count` says how many tests passed and which were not run, and `report` has the output of the others."""

    def __init__(self, name, preset, minutes, after=(), arguments=()):
        self._preset = "check" if preset == "once" else preset  # their build
        self._results = os.path.join(LOGS, re.sub("[^a-z0-9]+", "-", name) + ".xml")
        self.passed = self.failed = 0
        self.not_run = []  # lines
        self.count = ""
        self.failures = []  # lines
        command = ctest_command(preset, "--output-junit", self._results, *arguments)
        super().__init__(name, command, minutes, "tests", after, TestsStep._read_results)

    def start(self):
        if os.path.exists(self._results):
            os.remove(self._results)
        super().start()

    def _read_results(self):
        try:
            cases = ElementTree.parse(self._results).getroot().findall("testcase")
        except (OSError, ElementTree.ParseError):
            return  # CTest itself failed; its log says why
        skipped = [case for case in cases if has_skipped_itself(case)]
        bad = [case for case in cases if case.get("status") != "run" and case not in skipped]
        self.failed, self.passed = len(bad), len(cases) - len(bad) - len(skipped)
        self.not_run = [line for case in cases for line in not_run_in(case)]
        self.count = "".join([f", {self.passed} of {len(cases)} tests", *(f"\n        not run: {line}" for line in self.not_run)])
        report = []
        for case in bad:
            name = case.get("name")
            words = own_words(case.findtext("system-out") or "")
            self.failures += [f"{self.name}: {name}", *words[-LAST_LINES:]]
            report += [f"--- {name}", *words,
                       f"    again: ctest --preset {self._preset} -R '^{re.escape(name)}$'",
                       f"    often: ./run test hunt '^{re.escape(name)}$' {self._preset}"]
        self.report = "\n".join(report)


def say_total(steps):
    """Prints the ends of the failed tests once more, and the line that CI machines look for."""
    tests = [step for step in steps if isinstance(step, TestsStep)]
    for step in tests:
        print("".join(line + "\n" for line in step.failures), end="")
    passed, failed, not_run = (sum(numbers) for numbers in zip(*((step.passed, step.failed, len(step.not_run)) for step in tests)))
    print(f"{passed} passed, {failed} failed" + (f", {not_run} not run" if not_run else ""))
    sys.stdout.flush()
