#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that each language offers each call of <pcp/trace.h>, under its own name, or that the lists below say why not.

Usage: bindings.py [DIRECTORY]"""

import re

from house import answer

HEADER = "libtrace/include/pcp/trace.h"
CALL = r"^extern .*?\b(pmtrace\w+)\("
BY_NAME = {"begin", "end", "abort", "point", "obs", "counter", "add", "state", "errstr"}


def snake(call):
    return call.removeprefix("pmtrace").removeprefix("_")


def camel(call):
    return re.sub(r"_(\w)", lambda letter: letter[1].upper(), snake(call))


def same(call):
    return call


# By language: its files, what it offers there, its usual name of a call, other names, and calls that it does not need.
LANGUAGES = {
    # The header includes C's, so it needs classes only for handles. `fail` calls fail_as.
    "C++": ("libtrace/include/pcp/trace.hpp", r"\b(pmtrace_\w+)\(", same, {}, {
        "fail", "flush", "mmv", "stats", "tag_text", *(f"by name: {call}" for call in BY_NAME)}),
    # Generic names take a tag or a name.
    "Fortran's module": ("fortran/pcp_trace.f90.in", r"^  public :: (.*)$", same, {
        "tag_with": "pmtrace_tag", "tag_add_labels": "pmtrace_tag", "note_number": "pmtrace_note",
        "by name: obs": "pmtrace_observe", "by name: counter": "pmtrace_count", "by name: errstr": "pmtrace_error_message",
        **{f"by name: {call}": f"pmtrace_{call}" for call in ("begin", "end", "abort", "point", "add", "state")}}, set()),
    "Fortran by name": ("fortran/pcp_trace.inc", r"(?:function|subroutine) (\w+)\(", same, {
        "describe": "pmtracedescribe", "mmv": "pmtracemmv", "by name: counter": "pmtracecount"}, "handles"),
    # C's state flags are an enum, and the calls by name have a class of their own.
    "Java": ("java/src/io/pcp/trace/*.java", r"^    public (?:static )?(?:<T> )?[\w<>\[\]]+ (\w+)\(", camel, {
        "tag": "of", "tag_with": "of", "tag_add_labels": "label", "tag_text": "tag", "point": "hit", "observe": "record",
        "count": "record", "begin_at": "begin", "begin_from_at": "beginFrom", "begin_under_at": "beginUnder",
        "context": "traceparent", "context_state": "tracestate", "note_number": "note", "by name: state": "setState"},
        {f"by name: {call}" for call in BY_NAME - {"state"}}),
    "Java by name": ("java/src/sgi/pcp/trace.java", r"public static \w+ (\w+)\(", same, {"by name: counter": "pmtracecount"},
                     "handles"),
    # A context variable has the innermost transaction, so nothing is attached, detached or begun under another. Notes
    # look by themselves whether they are wanted. Labels are keywords, and late ones `label`. The environment has the
    # rest: PCP_TRACE_MMV, PCP_TRACE_DEBUG.
    "Python": ("libtrace/python/pcp_trace/__init__.pyi", r"(?:def|class) (\w+)", snake, {
        "tag": "Tag", "tag_with": "Tag", "tag_add_labels": "label", "end_as": "label", "abort_as": "label", "begin_at": "begin",
        "context": "headers", "context_state": "headers", "note_number": "note", "by name: obs": "observe",
        "by name: counter": "count"},
        {"attach", "detach", "begin_under", "begin_under_at", "begin_from_at", "is_captured", "fail_as", "tag_text", "mmv",
         "by name: state", "by name: errstr"}),
}


def breaches(root):
    calls = re.findall(CALL, (root / HEADER).read_text(encoding="utf-8"), re.MULTILINE)
    if not calls:
        yield f"no calls in {HEADER}"
    for language, (path, pattern, usual, others, not_needed) in LANGUAGES.items():
        text = "\n".join(file.read_text(encoding="utf-8") for file in root.glob(path))
        offered = set(re.findall(r"\w+", " ".join(re.findall(pattern, text, re.MULTILINE))))
        for call in calls:
            known = snake(call) if "_" in call else f"by name: {snake(call)}"
            name = others.get(known, usual(call))
            is_needed = known in others or "_" not in call if not_needed == "handles" else known not in not_needed
            if is_needed and name not in offered:
                yield f"{language} has no {name} for {call}: {path}"


if __name__ == "__main__":
    answer(breaches)
