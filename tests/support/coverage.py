#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Says how many lines of the product's parts the tests have run.

Usage: coverage.py BUILD_DIRECTORY

The build has PCP_TRACE_COVERAGE, and its tests have been run. Lists files with lines that were not
run. Only programs that ended normally count. Exit status 1: less than 90% of the lines of a part were
run, or a source is in no program or library."""

import collections
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LEAST_PERCENT = 90
PARTS = {"client": "libtrace/src", "wire": "libtrace/wire", "base": "libtrace/base", "agent's base": "pmda/base", "collector": "pmda/collector",
         "metrics": "pmda/metrics", "agent": "pmda/agent", "command": "pmda/command"}
# A stub almost without code.
NOT_COUNTED = {"libtrace/src/api/stub.c"}


def files_below(directory, *endings):
    return [os.path.join(place, name) for place, _, names in os.walk(directory)
            for name in names if name.endswith(endings)]


def counts_of_lines(build, files):
    """Gives how often each line was run: path -> line number -> count. `files` are the compiler's
    notes of lines; files of counts are beside them, if anything was run."""
    report = subprocess.run(["llvm-cov", "gcov", "--stdout", *files], cwd=build, check=True, text=True,
                            errors="replace", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    counts = collections.defaultdict(collections.Counter)
    lines = None
    for line in report.splitlines():
        count, number, text = line.split(":", 2)
        count, number = count.strip(), int(number)
        if number == 0 and text.startswith("Source:"):
            path = os.path.join(build, text.removeprefix("Source:"))
            lines = counts[os.path.relpath(path, ROOT)]
        elif number > 0 and count != "-":  # "-" is no code; "#####" and "=====" were not run
            lines[number] += int(count) if count.isdigit() else 0
    return counts


def ranges(numbers):
    """Gives "3-5, 8" for 3, 4, 5 and 8."""
    found = []
    for number in sorted(numbers):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in found)


def part_report(folder, counts):
    """Prints which lines of a part were not run. Gives the share of lines that were run in percent, the
    number of all lines, and the sources without any data."""
    files = {path: lines for path, lines in counts.items()
             if path.startswith(folder + "/") and path not in NOT_COUNTED}
    missed = {path: [number for number, count in lines.items() if count == 0]
              for path, lines in files.items()}
    for path in sorted(path for path in files if missed[path]):
        print(f"  {path}: not run: {ranges(missed[path])}")
    all_lines = sum(map(len, files.values()))
    share = 100 * (1 - sum(map(len, missed.values())) / all_lines) if all_lines else 0
    sources = {os.path.relpath(path, ROOT)
               for path in files_below(os.path.join(ROOT, folder), ".cpp", ".c")}
    return share, all_lines, sorted(sources - NOT_COUNTED - set(files))


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    build = os.path.abspath(sys.argv[1])
    if not files_below(build, ".gcda"):
        print(f"coverage: no test has noted anything in {build}", file=sys.stderr)
        return 2
    counts = counts_of_lines(build, files_below(build, ".gcno"))
    reports = {part: part_report(folder, counts) for part, folder in PARTS.items()}
    good = True
    for part, (share, all_lines, unknown) in reports.items():
        good &= share >= LEAST_PERCENT and not unknown
        verdict = "" if share >= LEAST_PERCENT else f", less than {LEAST_PERCENT}%"
        print(f"{part:9} {share:5.1f}% of {all_lines:,} lines{verdict}",
              *(f"; in nothing that was built: {path}" for path in unknown), sep="")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
