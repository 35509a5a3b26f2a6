#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""No test depends on how fast the machine is. Complains of each line of a test that

- sleeps, unless a comment says "poll: ..." (it repeats until something has happened), "load: ..." (the sleep is
  the work of the traced program) or "stepped: ..." (a clock of the test's own);
- compares a duration with an upper bound, unless a comment says "stepped: ..." (a clock of the test's own) or
  "minute: ..." (the bound is a minute or more, and only a test that hangs reaches it);
- gives up waiting after less than a minute.

Benchmarks may, and so may lines that say "nightly: ...". A comment counts on its line or on the line before."""

import re

from house import answer, files

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


def faults_in(text):
    """Gives the number and the text of each line at fault, and what it does."""
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        for rule, allowed in ALLOWED.items():
            if is_at_fault(rule, code_of(line)) and not re.search(allowed, line) and not re.search(allowed, before):
                yield number, line.strip(), SAID[rule]
        before = line if line.lstrip().startswith(("#", "//", "/*", "*", "!")) else ""


def breaches(root):
    for path in files(root / "tests"):
        name = path.relative_to(root)
        if path.suffix in SOURCES and name.parts[1] not in FREE and name.name != "times.py":
            for number, line, does in faults_in(path.read_text(encoding="utf-8")):
                yield f"{name}:{number}: {does}: {line}"


if __name__ == "__main__":
    answer(breaches)
