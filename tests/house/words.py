#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that sentences in comments, messages and pages have the order subject, verb, object. Refuses those that begin
with a relative pronoun or with "Of", and inversions inside, wherever lines end.

Usage: words.py [DIRECTORY]"""

import re

from house import answer, files

# As a word of its own or in a font of a man page; not C++'s `enum class What {` and `What what;`.
BEGINNING = r"(?:(?<!class )\b|\\f[BIRP])(?:Who|What|Whoever|Whose|Of)(?:['’]s)?(?=\s|\\f)(?! \w+[;{])"
BREAK = r"\s(?:[\s/#*!\"'+\\]|\.[A-Z]+\s)*"  # a line may end here, with the marks of a comment, string or man page
REFUSED = re.compile(rf"{BEGINNING}|\bof{BREAK}which\b|\bso{BREAK}do\b")
NOT_OURS = ("LICENSE",)


def breaches(root):
    for path in files(root):
        if path.name in NOT_OURS:
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture
        for found in REFUSED.finditer(text):
            first = text.rfind("\n", 0, found.start()) + 1
            line = text[first:text.find("\n", found.end())]
            yield f"{path.relative_to(root)}:{text.count(chr(10), 0, first) + 1}: {' '.join(line.split())}"


if __name__ == "__main__":
    answer(breaches)
