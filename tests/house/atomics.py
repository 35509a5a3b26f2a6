#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that each atomic says what it pairs with, or that it orders nothing else: in a comment of the paragraph that
declares it, and in the table of libtrace/docs/memory-order.md, which has a row for each file with atomics.

Usage: atomics.py [DIRECTORY]

A forgotten order is seen by no test on x86-64."""

import re

from house import answer

PAGE = "libtrace/docs/memory-order.md"
ROOMS = ("libtrace/src", "libtrace/wire", "libtrace/base", "pmda")
ACCESS = re.compile(r"\bstd::(atomic\b|atomic_flag\b|atomic_thread_fence\b|memory_order_)")
# A variable or a member; what is static inside a function has one line that uses it.
DECLARED = re.compile(r"^(?!\s+static )[^/(]*\bstd::atomic(?:<[^;(]*>|_flag)>*[\s\w]*\b\w+(?:\{[^;]*|\s*=[^;]*)?;?", re.MULTILINE)
SAID = re.compile(r"releas|acquir|stands? for (itself|themselves)|orders? nothing else|pairs with|partner|relaxed|sequential", re.IGNORECASE)


def paragraphs(text):
    """Gives the line number and the text of each run of lines between empty ones."""
    number = 1
    for part in re.split(r"(\n\s*\n)", text):
        yield number, part
        number += part.count("\n")


def silent_declarations(text):
    for first, paragraph in paragraphs(text):
        comments = " ".join(re.findall(r"//(.*)", paragraph))
        if SAID.search(" ".join(comments.split())):
            continue
        for line, code in enumerate(paragraph.splitlines(), first):
            code = code.split("//")[0]
            if DECLARED.search(code) and not re.search(r">\s*[&*]", code):
                yield line, code.strip()


def breaches(root):
    rows = re.findall(r"^\| `(\S+)` \|", (root / PAGE).read_text(encoding="utf-8"), re.MULTILINE)
    found = []
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.[ch]pp")):
            text = path.read_text(encoding="utf-8")
            if ACCESS.search(re.sub(r"//.*", "", text)):
                name = path.relative_to(root).as_posix()
                found.append(name)
                for line, code in silent_declarations(text):
                    yield f"{name}:{line}: says neither what it pairs with nor that it orders nothing else: {code}"
    if not found:
        yield f"no atomics in {', '.join(ROOMS)}"
    for name in sorted(set(found) - set(rows)):
        yield f"{name}: has atomics, and no row in {PAGE}"
    for name in rows:
        if name not in found:
            yield f"{PAGE}: {name} has no atomics"


if __name__ == "__main__":
    answer(breaches)
