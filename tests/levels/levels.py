#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds and tests, as `./run` asks: levels.py test [all | views | hunt NAME | FILTER], levels.py nightly

Two lanes: while the tests of one build run, the next one is built."""

import argparse
import os
import re
import signal
import subprocess
import sys

import hunt
import nightly
from steps import Step, Steps
from tests_of import TestsStep, address_space_kept_small, say_total

# The folders that run as released: sanitizers cannot see into them, or they measure the release, or never differ; and
# integration, which takes three times as long with a sanitizer, and has one in `all`.
CHECK_FOLDERS = "chaos conformance c_api fortran java python cheap readme package integration house"
# The folders that run with the address sanitizer.
SANITIZED_FOLDERS = "unit/base unit/wire unit/collector unit/metrics unit/agent unit/command unit/client stress c_api cheap fuzz"
# The parts of the product that have threads.
THREADED_FOLDERS = "unit/collector/ingest unit/collector/spans unit/client stress chaos"
# And those that run in threads of others.
ALL_THREADED_FOLDERS = "unit/collector unit/agent unit/client stress chaos cheap"

FORMAT = (r"find . -path './build*' -prune -o \( -name '*.[ch]' -o -name '*.[ch]pp' -o -path './pmda/*.js' \) -print0"
          " | xargs -0 clang-format --dry-run --Werror")
# .shellcheckrc and comments in the scripts give a reason for each check that they turn off.
SHELL_SCRIPTS = ("shellcheck run .ci/run pmda/Install pmda/Remove pmda/*.sh pmda/package/* libtrace/cmake/package/*.sh"
                 " libtrace/tools/*.in"
                 " tests/support/*.sh tests/package/*.sh tests/platforms/*.sh tests/views/*.sh demos/*.sh")

# Each version of these tools has other complaints: the sources are held to those of Debian 12's versions.
LOOKS_OF = {"clang-format": "14.", "shellcheck": "0.9.", "clang-tidy": "14."}

LEFT_OUT = """\
Left out: the release built file by file, with unit and stress tests and installed packages; integration tests with
the address sanitizer; the thread sanitizer on the engine and the agent; clang-tidy; coverage; the fuzzers; 160 of
200 chaos schedules; the examples of the pages from-*.md.
They run with: ./run test all. Still longer: ./run nightly. In a browser: ./run test views."""


def built(preset, minutes, folders="", after=(), target=()):
    """The steps that configure and build a preset."""
    configure = Step(f"{preset} configure",
                     ["cmake", "--preset", preset, f"-DPCP_TRACE_TEST_FOLDERS={folders.replace(' ', ';')}"],
                     0.1, "builds", after)
    # The tests beside it come first. One step is enough for that, and costs little on a busy machine. Huge pages take a
    # tenth off the processor time of clang, which allocates by malloc.
    tools = ["env", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1", "cmake", "--build", "--preset", preset, *target]
    build = Step(f"{preset} build", ["nice", "-n", "1", *address_space_kept_small(tools)], minutes, "builds", [configure])
    return [configure, build]


def plain(name, command, minutes, after=(), lane="builds"):
    return Step(name, ["nice", "-n", "1", *command], minutes, lane, after)


def looks_of(tool, step):
    said = subprocess.run([tool, "--version"], capture_output=True, check=True, text=True).stdout
    version = re.search(r"version:? ([\d.]+)", said)[1]
    if version.startswith(LOOKS_OF[tool]):
        return [step]
    print(f"    {step.name}: left out, for this is {tool} {version}, not {LOOKS_OF[tool]}*")
    return []


def quick_looks():
    return [*looks_of("clang-format", plain("format", ["sh", "-c", FORMAT], 0.1)),
            *looks_of("shellcheck", plain("shell scripts", ["sh", "-c", SHELL_SCRIPTS], 0.1))]


def level_test():
    check = built("check", 3.5, CHECK_FOLDERS)
    asan = built("asan", 4, SANITIZED_FOLDERS)
    tsan = built("tsan", 2, THREADED_FOLDERS, target=["--target", "test_programs"])
    return [*quick_looks(), *check, TestsStep("check tests", "once", 4, check),
            *asan, TestsStep("asan tests", "asan", 1, asan),
            *tsan, TestsStep("tsan tests", "tsan", 1, tsan)]


def level_all():
    release = built("release", 8)
    coverage = built("coverage", 5)
    tsan = built("tsan", 3, ALL_THREADED_FOLDERS, target=["--target", "test_programs"])
    covered = TestsStep("coverage tests", "coverage", 4, coverage)
    lines = plain("coverage of lines", ["tests/support/coverage.py", "build/coverage"], 0.3, [covered], "tests")
    return [*quick_looks(), *release, TestsStep("release tests", "release", 7, release),
            *coverage, covered, lines,
            # Not before the lines are counted: CTest forgets them when it starts.
            TestsStep("fuzzers", "fuzz", 1.5, coverage + [lines]),
            *tsan, TestsStep("tsan tests", "tsan", 2, tsan),
            plain("headers stand alone",
                  ["cmake", "--build", "--preset", "release", "--target", "all_verify_interface_header_sets"], 1, release),
            *looks_of("clang-tidy", plain("clang-tidy", ["tests/support/tidy.sh"], 1.5))]


def level_views():
    release = built("release", 4, target=["--target", "views"])
    return [*release,
            # If one fails, the test that needs it fails, and the others run all the same.
            plain("speedscope", ["tests/views/speedscope.sh", "build/speedscope"], 0.1, lane="tests"),
            plain("types of Grafana", ["tests/views/grafana.sh", "build/grafana"], 0.1, lane="tests"),
            plain("Prometheus", ["tests/views/prometheus.sh", "build/prometheus"], 0.1, lane="tests"),
            plain("VictoriaMetrics", ["tests/views/victoria.sh", "build/victoria"], 0.2, lane="tests"),
            TestsStep("views tests", "views", 2, release)]


def level_matching(pattern):
    check = built("check", 6)
    return [*check, TestsStep("tests", "check", 1, check, ["-R", pattern])]


def run_level(steps, left_out=""):
    steps_run = Steps(steps)
    passed = steps_run.run()
    say_total(steps)
    if left_out:
        print(left_out)
    print("PASSED" if passed else "FAILED: " + ", ".join(step.name for step in steps if step.state == "FAILED"))
    return 0 if passed else 1


def built_quietly(*presets):
    return Steps([step for preset in presets for step in built(preset, 5)]).run()


def test(words):
    if not words:
        return run_level(level_test(), LEFT_OUT)
    if words == ["all"]:
        return run_level(level_all())
    if words == ["views"]:
        return run_level(level_views())
    if words[0] == "hunt":
        parser = argparse.ArgumentParser(prog="./run test hunt", description=hunt.__doc__)
        parser.add_argument("name", help="a regular expression, as for ctest -R")
        parser.add_argument("preset", nargs="?", default="check", choices=["check", "release", "asan", "tsan", "coverage"],
                            help="as released (check, the default), or with a sanitizer")
        parser.add_argument("--times", type=int, default=1000)
        options = parser.parse_args(words[1:])
        if not built_quietly(options.preset):
            return 1
        return hunt.hunt(options.name, options.preset, options.times)
    if len(words) != 1 or words[0].startswith("-"):
        sys.exit("run: one FILTER, please: put it in quotes")
    return run_level(level_matching(words[0]))


def run_nightly(words):
    parser = argparse.ArgumentParser(prog="./run nightly")
    parser.add_argument("--hours", type=float, default=24, help="begin no part after so many hours (24)")
    options = parser.parse_args(words)
    if not built_quietly("check", "coverage"):
        return 1
    return nightly.nightly(options.hours)


def main():
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    os.environ["CTEST_OUTPUT_ON_FAILURE"] = "1"
    return {"test": test, "nightly": run_nightly}[sys.argv[1]](sys.argv[2:])


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
