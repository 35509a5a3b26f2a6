#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""No test depends on how fast the machine is. Complains of each line of a test that

- sleeps, unless a comment says "poll: ..." (it repeats until something has happened), "load: ..." (the sleep is
  the work of the traced program) or "stepped: ..." (a clock of the test's own);
- compares a duration with an upper bound, unless a comment says "stepped: ..." (a clock of the test's own) or
  "minute: ..." (the bound is a minute or more, and only a test that hangs reaches it);
- gives up waiting after less than a minute.

Benchmarks may, and so may lines that say "nightly: ...". A comment counts on its line or on the line before."""

import os
import re
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCES = (".py", ".sh", ".c", ".h", ".cpp", ".hpp", ".f90", ".java")
FREE = ("bench",)

SLEEP = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep|clock_nanosleep|sleep|msleep)\s*\(|^\s*sleep \d"
                   r"|[\"' ;]sleep +[0-9.]+")
UPPER_BOUND = re.compile(r"(assertLess|assertLessEqual|EXPECT_L[TE]|ASSERT_L[TE])\b.*"
                         r"(monotonic\(|perf_counter|\btook\b|elapsed|waited|longest|Clock::now|steady_clock|duration\b)")
SHORT_WAIT = re.compile(r"\btimeout ?= ?([0-9.]+)(?![0-9.]| ?\*)|\b(?:wait_for|wait_until)\(.*seconds[({](\d+)[)}]")
ALLOWED = {SLEEP: r"\b(poll|load|stepped|nightly): \w", UPPER_BOUND: r"\b(stepped|minute|nightly): \w",
           SHORT_WAIT: r"\b(poll|nightly): \w"}
SAID = {SLEEP: "sleeps", UPPER_BOUND: "bounds a duration", SHORT_WAIT: "waits for less than a minute"}


def code_of(line):
    """The line without its comment."""
    return re.sub(r"(//|\s#\s|^\s*#).*", "", line)


def is_at_fault(rule, code):
    found = rule.search(code)
    if found and rule is SHORT_WAIT:
        return float(found[1] or found[2]) < 60
    return bool(found)


def faults_of(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    before = ""
    for number, line in enumerate(lines, 1):
        for rule, allowed in ALLOWED.items():
            if is_at_fault(rule, code_of(line)) and not re.search(allowed, line) and not re.search(allowed, before):
                yield f"{os.path.relpath(path, os.path.dirname(TESTS))}:{number}: {SAID[rule]}: {line.strip()}"
        before = line if line.lstrip().startswith(("#", "//", "/*", "*", "!")) else ""


def main():
    faults = []
    for place, folders, names in os.walk(TESTS):
        if place == TESTS:
            folders[:] = [folder for folder in folders if folder not in FREE]
        for name in sorted(names):
            path = os.path.join(place, name)
            if name.endswith(SOURCES) and path != os.path.abspath(__file__):
                faults += faults_of(path)
    print(*sorted(faults), sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
