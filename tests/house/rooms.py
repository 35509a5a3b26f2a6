#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that each source keeps to its room: design.md says which rooms there are.

Usage: rooms.py [DIRECTORY]

Prints each breach of a rule, and exits with 1 if there is one. A rule that finds nothing to look at
is broken, too: then the rooms have moved, and this file has to follow."""

import pathlib
import re

from house import answer, files

# From the top down. A file includes what is in its own room or in a lower one of its floor, and
# nothing else of ours. A single file may be a room. Rooms in parentheses lie side by side, and do not
# include each other.
BELOW_THE_AGENT = (
    "pmda/metrics", "pmda/collector/collector.cpp", "pmda/collector/collector.hpp",
    "pmda/collector/ingest", "pmda/collector/reader.cpp", "pmda/collector/reader.hpp",
    "pmda/collector/shared.hpp", "pmda/collector/ingest_counters.hpp", "pmda/collector/spans",
    "pmda/collector/engine", "pmda/base",
    "libtrace/wire", "libtrace/base", "libtrace/include")
FLOORS = (
    ("libtrace/src/api", "libtrace/src/process", "libtrace/src/mmv", "libtrace/src/thread",
     ("libtrace/src/counts", "libtrace/src/spans"), "libtrace/src/open", "libtrace/src/link", "libtrace/src/tags",
     "libtrace/src/platform", "libtrace/wire", "libtrace/base", "libtrace/include"),
    ("pmda/agent", *BELOW_THE_AGENT),
    ("pmda/command/main.cpp", "pmda/command/top", ("pmda/command/record", "pmda/command/report", "pmda/command/spans"),
     ("pmda/command/show", "pmda/command/otlp"), "pmda/command/run", "pmda/command/pcp", "pmda/command", *BELOW_THE_AGENT),
)
# These two go through the recorders of all threads, so they include the list, which knows all rooms below it.
MEETINGS = {("libtrace/src/open/open_report.hpp", "libtrace/src/thread/recorders.hpp"),
            ("libtrace/src/spans/span_sender.hpp", "libtrace/src/thread/recorders.hpp")}
INCLUDE_DIRECTORIES = ("libtrace/src", "libtrace", "libtrace/include", "pmda")
INSIDE_COLLECTOR = ("collector/shared.hpp", "collector/ingest/server.hpp")
WITHOUT_PCP = ("pmda/base", "pmda/collector", "libtrace/src", "libtrace/wire", "libtrace/base")
# All that knows what the versions of PCP's library call differently, and who needs that.
PCP_VERSIONS = "pmda/metrics/pmapi.hpp"
WITH_PCP = ("pmda", "tests/unit", "tests/fuzz")
PCP_HEADERS = ("pcp/pmapi.h", "pcp/pmda.h", "pcp/deprecated.h")
OF_ONE_VERSION = (r"\b(?:PMAPI_VERSION\w*|PM_VERSION\w*|PMDA_(?:PM|EXTRA)?UNITS|pmda(?:Free|Offset)?Result(?:Values)?|pm\w*HighRes\w*"
                  r"|(?:__)?pm\w+_v[234]|pmDebug|DBG_TRACE_\w+)\b")

CODE = {".c", ".cpp", ".h", ".hpp"}
SOURCES = CODE | {".cmake", ".f", ".f90", ".inc", ".java", ".proto", ".py", ".sh"}
SOURCE_NAMES = {"CMakeLists.txt", "Install", "Remove", "run"}
CLOCKS = "libtrace/base/clock.hpp"
LONGEST_WALKS = (28, 29, 19)  # files: a count, a span, a recording
LINES_WITH_LICENCE = 20  # what the file is may be said first


def is_in(path, room):
    return path == room or path.startswith(room + "/")


def rooms_of(floor):
    """Gives each room with its level, counted from the top."""
    return [(level, room) for level, entry in enumerate(floor)
            for room in (entry if isinstance(entry, tuple) else (entry,))]


def room_of(path, floor):
    """Gives the level and the room that this file is in, None if it is in none."""
    return next((found for found in rooms_of(floor) if is_in(path, found[1])), None)


class House:
    def __init__(self, root):
        self.root = root
        self.paths = [path.relative_to(root).as_posix() for path in files(root) if not path.name.startswith(".")]
        self.code = {path: (root / path).read_text(encoding="utf-8") for path in self.paths
                     if pathlib.PurePath(path).suffix in CODE}

    def includes(self, path):
        """Gives what a file includes between quotes, and between angle brackets."""
        text = self.code[path]
        return (re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE),
                re.findall(r"^\s*#\s*include\s*<([^>]+)>", text, re.MULTILINE))

    def find(self, name):
        """Gives the path of a header of ours as it is named in an #include."""
        return next((f"{directory}/{name}" for directory in INCLUDE_DIRECTORIES
                     if f"{directory}/{name}" in self.code), None)

    def upward_includes(self):
        for floor in FLOORS:
            for _, room in rooms_of(floor):
                if not any(is_in(path, room) for path in self.code):
                    yield f"{room}: no such room"
            for path in self.code:
                own = room_of(path, floor)
                if own is None:
                    continue
                for name in self.includes(path)[0]:
                    header = self.find(name)
                    room = room_of(header, floor) if header else None
                    if room is None:
                        yield f'{path}: "{name}" is in no room below {own[1]}'
                    elif room != own and room[0] <= own[0] and (path, header) not in MEETINGS:
                        yield f'{path}: "{name}" is above {own[1]}, or beside it'

    def files_in_no_room(self):
        rooms = [room for floor in FLOORS for _, room in rooms_of(floor)]
        for path in self.code:
            if is_in(path, "libtrace/src") or is_in(path, "pmda"):
                if not any(is_in(path, room) for room in rooms) and path != "pmda/domain.h":
                    yield f"{path}: in no room"

    def insides_of_the_collector(self):
        for path in self.code:
            if is_in(path, "pmda") and not is_in(path, "pmda/collector"):
                for name in self.includes(path)[0]:
                    if name in INSIDE_COLLECTOR:
                        yield f'{path}: "{name}" is for the collector only'

    def pcp_headers(self):
        for path in self.code:
            if any(is_in(path, room) for room in WITHOUT_PCP):
                for name in self.includes(path)[1]:
                    if name.startswith("pcp/"):
                        yield f"{path}: <{name}> is PCP's"

    def versions_of_pcp(self):
        if PCP_VERSIONS not in self.code:
            yield f"{PCP_VERSIONS}: not there"
        for path, text in self.code.items():
            if path == PCP_VERSIONS:
                continue
            for name in self.includes(path)[1]:
                if name in PCP_HEADERS and any(is_in(path, room) for room in WITH_PCP):
                    yield f"{path}: <{name}> is for {PCP_VERSIONS} only"
            for name in sorted(set(re.findall(OF_ONE_VERSION, text))):
                yield f"{path}: {name} is not the same in all versions of PCP; {PCP_VERSIONS} has one name for it"

    def missing_licences(self):
        for path in self.paths:
            pure = pathlib.PurePath(path)
            if pure.suffix in SOURCES or pure.name in SOURCE_NAMES:
                first = (self.root / path).read_text(encoding="utf-8").split("\n")
                if not any("SPDX-License-Identifier: " in line for line in first[:LINES_WITH_LICENCE]):
                    yield f"{path}: no SPDX line at its top"

    def clocks(self):
        def readers(calls, *rooms):
            return [path for path, text in self.code.items() if re.search(calls, text)
                    and any(is_in(path, room) for room in rooms)]

        found = readers(r"(?<!system_)[Cc]lock::now|CLOCK_MONOTONIC", "libtrace", "pmda")
        if found != [CLOCKS]:
            yield f"the steady clock is read in {found}, not in {CLOCKS} alone"
        found = readers("[Cc]lock::now|clock_gettime|gettimeofday", "pmda", "libtrace/base")
        if found != [CLOCKS]:
            yield f"the agent reads clocks in {found}, not in {CLOCKS} alone"

    def walks(self):
        """The files that design.md leads a newcomer through are there, and not too many."""
        page = (self.root / "libtrace/docs/design.md").read_text(encoding="utf-8")
        found = re.search(r"^## Three walks\n(.*?)^## ", page, re.MULTILINE | re.DOTALL)
        walks = re.split(r"^### ", found[1], flags=re.MULTILINE)[1:] if found else []
        if len(walks) != len(LONGEST_WALKS):
            yield f"design.md: {len(walks)} walks, not {len(LONGEST_WALKS)}"
        for walk, longest in zip(walks, LONGEST_WALKS):
            walked = re.findall(r"^\d+\. `([^`]+)`", walk, re.MULTILINE)
            if not 0 < len(walked) <= longest:
                yield f"design.md: a walk has {len(walked)} files, not 1 to {longest}"
            for path in walked:
                if path not in self.paths:
                    yield f"design.md: a walk comes to {path}, which is not there"

    def breaches(self):
        yield from self.upward_includes()
        yield from self.files_in_no_room()
        yield from self.insides_of_the_collector()
        yield from self.pcp_headers()
        yield from self.versions_of_pcp()
        yield from self.missing_licences()
        yield from self.clocks()
        yield from self.walks()


if __name__ == "__main__":
    answer(lambda root: House(root).breaches())
