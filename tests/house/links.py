#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that each link of a page leads to a file and, behind `#`, to a heading of that page; that each path of ours
between backticks is there; that the index of libtrace/docs has each page; that the tests exist which trust.md names;
and that no line of a text is too long.

Usage: links.py [DIRECTORY]"""

import re

from house import answer, files

INDEX = "libtrace/docs/README.md"
ROOMS = "demos|fortran|java|libtrace|pmda|tests"
LINK = re.compile(r"\]\(([^)\s]+)\)")
LONGEST_LINE = 100
NO_TEXT = re.compile(r" {4}| *\||!\[")  # code, and what cannot be broken
TRUST = "libtrace/docs/trust.md"
CITED = re.compile(r"`([A-Z]\w*[a-z]\w*(?:\.\w+)?)(?:\.\*)?(\*|\.\.\.)?`|\b(\w+_test\.cpp|test_\w+\.py)\b")
CPP_TEST = re.compile(r"^(?:TYPED_)?TEST(?:_[FP])?\((\w+),\s*(\w+)\)", re.MULTILINE)
PYTHON_TEST = re.compile(r"^class (\w+)|^    def (test_\w+)", re.MULTILINE)
PATH = re.compile(rf"`((?:{ROOMS})/[\w./*-]+)`")


def prose(text):
    """The page without its blocks of code, in which `#` begins a comment; lines stay where they are."""
    return re.sub(r"^```.*?^```$", lambda block: "\n" * block[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)


def anchors(text):
    """Gives the names of headings as GitHub makes them: equal ones get a number."""
    found = {}
    for heading in re.findall(r"^#+ (.*)$", prose(text), re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number = found[name] = found.get(name, -1) + 1
        yield f"{name}-{number}" if number else name


def problem_of(page, target):
    """Says what is wrong with a link, or nothing."""
    path, _, anchor = target.partition("#")
    if re.match(r"https?:", path):
        return None
    there = (page.parent / path).resolve() if path else page
    if not there.exists():
        return "no such file"
    if anchor and (there.suffix != ".md" or anchor not in anchors(there.read_text(encoding="utf-8"))):
        return "no such heading"
    return None


def tests_of(path):
    """Gives the names of a file's tests, of their classes and of the file."""
    yield path.stem if path.suffix == ".java" else path.name
    if path.suffix == ".cpp":
        for suite, test in CPP_TEST.findall(path.read_text(encoding="utf-8")):
            yield from (suite, test, f"{suite}.{test}")
    elif path.suffix == ".py":
        suite = ""
        for found in PYTHON_TEST.finditer(path.read_text(encoding="utf-8")):
            suite = found[1] or suite
            yield found[1] or f"{suite}.{found[2]}"


def breaches_of_trust(root):
    tests = {name for path in files(root / "tests") for name in tests_of(path)}
    for number, line in enumerate((root / TRUST).read_text(encoding="utf-8").splitlines(), 1):
        for name, is_beginning, file in CITED.findall(line):
            if not (any(test.startswith(name) for test in tests) if is_beginning else (file or name) in tests):
                yield f"{TRUST}:{number}: {file or name}: no such test"


def breaches(root):
    yield from breaches_of_trust(root)
    for page in (path for path in files(root) if path.suffix == ".md"):
        name = page.relative_to(root)
        for number, line in enumerate(prose(page.read_text(encoding="utf-8")).splitlines(), 1):
            for target in LINK.findall(line):
                if problem := problem_of(page, target):
                    yield f"{name}:{number}: {target}: {problem}"
            if len(line) > LONGEST_LINE and not NO_TEXT.match(line):
                yield f"{name}:{number}: {len(line)} columns, more than {LONGEST_LINE}"
            for path in PATH.findall(line):
                if not any(root.glob(path.rstrip("/"))):
                    yield f"{name}:{number}: {path}: no such file"
    index = root / INDEX
    listed = set(LINK.findall(index.read_text(encoding="utf-8")))
    for page in sorted(index.parent.glob("*.md")):
        if page != index and page.name not in listed:
            yield f"{INDEX}: {page.name} is not listed"


if __name__ == "__main__":
    answer(breaches)
