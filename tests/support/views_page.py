# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of views, which shows what each tool prints: tests compare the tools' output with it, up to numbers.

With TRACE_PAGE=write in the environment they put their output into the page instead."""

import os
import re

from page_blocks import blocks
from private_pmcd import pcp_configuration

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VIEWS = os.path.join(ROOT, "pmda/views")
PAGE = os.path.join(ROOT, "libtrace/docs/views.md")
NUMBER = re.compile(r"(?:~|\?|N/A|–|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b|≥?(?<![\w{=])-?\d[\d:.,e+/-]*)"
                    r"(?: (?:\w?s|[kMG])\b)?")
SOMETIMES = ("≥", "slowest", "p50..p99 miss")  # lines of a report that depend on its numbers


def tool(name, inside=False):
    """Gives the command of a tool; those in Python run with Debian's."""
    path = os.path.join(pcp_configuration()["PCP_BINADM_DIR"], name) if inside else f"/usr/bin/{name}"
    with open(path, "rb") as file:
        return ["/usr/bin/python3", path] if b"pmpython" in file.readline() else [path]


def shape(text):
    """Gives its lines, in which numbers are equal and blanks do not count, each one once and in any order: a tag's
    place depends on its values."""
    return sorted({re.sub(r"\s+", " ", NUMBER.sub("9", line)).strip() for line in text.splitlines()
                   if line and not line.startswith(SOMETIMES)})


def block(command):
    """Gives what the page says that this command prints."""
    first = f"$ {command}\n"
    with open(PAGE, encoding="utf-8") as file:
        found = [text for _, text in blocks(file.read()) if text.startswith(first)]
    assert found, f"the page has no {command}"
    return found[0].removeprefix(first)


def write(command, output):
    old = f"$ {command}\n{block(command)}"
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page.replace(old, f"$ {command}\n" + re.sub(r"[ \t]+$", "", output, flags=re.MULTILINE)))


def check(test, command, output):
    """Compares what a tool printed with the page."""
    if os.environ.get("TRACE_PAGE") == "write":
        write(command, output)
    test.assertEqual(shape(output), shape(block(command)), f"{command}:\n{output}")
