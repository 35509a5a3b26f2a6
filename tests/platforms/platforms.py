#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds, tests and installs this project on bare Debians, as `./run platforms` asks.

The roots of the suites are made by debootstrap below build/platforms and stay there. Each platform gets a copy of
its suite's root with the sources of the last commit, and that copy goes at the end."""

import argparse
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "levels"))

from steps import Step, Steps, clock, tail_of

WORK = os.path.join(ROOT, "build", "platforms")
RESULTS = os.path.join(WORK, "results.json")
TABLE = os.path.join(WORK, "table.md")
NEEDED_GIB = 25
ROOT_SH = ["setpriv", "--pdeathsig", "TERM", "tests/platforms/root.sh"]  # ends with this program, however that ends
SUITES = ("bookworm", "trixie", "sid")

AS_A_USER = """apt-get -q update && apt-get -q install -y --no-install-recommends sudo && useradd -m somebody &&
echo 'somebody ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/somebody && chown -R somebody /src &&
su somebody -c './run demo 10'"""

# The rights of root in a container of Docker: its capabilities and, since in a chroot the kernel refuses them, too, no
# user namespaces.
AS_IN_A_CONTAINER = """mount --rbind / /mnt && exec chroot /mnt setpriv --bounding-set=-all,+chown,+dac_override,+fowner,\
+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+net_raw,+sys_chroot,+mknod,+audit_write,+setfcap \
sh -c 'cd /src && ./run test'"""


class Job:
    """One command in a copy of a suite's root. Jobs of a platform that name the same copy share it."""

    def __init__(self, what, suite, copy, minutes, *command):
        self.what, self.suite, self.copy, self.minutes, self.command = what, suite, copy, minutes, command


def suite_jobs(suite):
    return [Job("`./run demo` as a user with sudo", suite, f"{suite}-user", 8, "sh", "-c", AS_A_USER),
            Job("`./run demo` as root", suite, suite, 8, "./run", "demo", "10"),
            Job("`./run test` as root", suite, suite, 30, "./run", "test")]


def package_jobs(suite):
    return [Job("`./run package all`, also from its archive of the sources", suite, f"packages-{suite}-built", 20,
                "tests/package/build_packages.sh", "/packages"),
            Job("the packages, beside PCP's", suite, f"packages-{suite}-installed", 8,
                "tests/package/use_packages.sh", "/packages")]


def cross_jobs(architecture):
    return [Job(f"built on bookworm, tests in qemu: `tests/platforms/cross.sh {architecture}`", "bookworm", architecture, 40,
                "tests/platforms/cross.sh", architecture)]


PLATFORMS = {**{suite: suite_jobs(suite) for suite in SUITES},
             "container": [Job("`./run test` as root in a container", "bookworm", "container", 30, "sh", "-c",
                               AS_IN_A_CONTAINER)],
             **{architecture: cross_jobs(architecture) for architecture in ("arm64", "s390x")},
             **{f"packages-{suite}": package_jobs(suite) for suite in ("bookworm", "trixie")}}


def fail(text):
    print(f"run: {text}", file=sys.stderr)
    sys.exit(2)


def said_by(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def mirror():
    """Gives the archive that this machine's apt has Debian from."""
    for path in ["/etc/apt/sources.list", *sorted(glob.glob("/etc/apt/sources.list.d/*"))]:
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except OSError:
            continue
        found = (re.search(r"^deb (?:\[[^]]*\] )?(\S+/debian/?) ", text, re.MULTILINE)
                 or re.search(r"^URIs: *(\S+/debian/?)\s", text, re.MULTILINE))
        if found:
            return found[1].rstrip("/")
    return "http://deb.debian.org/debian"


def free_gib():
    build = os.path.join(ROOT, "build")
    return shutil.disk_usage(build if os.path.exists(build) else ROOT).free / 2 ** 30


def say_that_disk_is_full(step):
    if step.state == "FAILED" and "No space left on device" in tail_of(step.log, 100_000):
        step.report = f"run: the disk is full: {NEEDED_GIB} GiB are needed in build/"


def check(names):
    """Ends with one sentence if something is wrong or missing."""
    for name in names:
        if name not in PLATFORMS:
            fail(f"'{name}' is no platform; there are: {', '.join(PLATFORMS)}")
    if os.geteuid() != 0:
        fail(f"only root can make a Debian: sudo ./run platforms {' '.join(names)}".rstrip())
    if not said_by("git", "rev-parse", "HEAD"):
        fail("the sources of the last commit are tested, and this is no clone of a git repository")
    if free_gib() < NEEDED_GIB:
        fail(f"{NEEDED_GIB} GiB are needed in build/, and {free_gib():.0f} GiB are free")
    suites = {job.suite for name in names or PLATFORMS for job in PLATFORMS[name]}
    for suite in sorted(suites):
        release = f"{mirror()}/dists/{suite}/Release"
        try:
            urllib.request.urlopen(release, timeout=60).close()
        except (urllib.error.URLError, OSError) as error:
            fail(f"the package archive does not answer: {release}: {getattr(error, 'reason', error)}")


def remove_copies():
    """Also those of an earlier run. Whole roots, and packages that can be used again, stay."""
    for path in glob.glob(os.path.join(WORK, "*/")):
        name = os.path.basename(path.rstrip("/"))
        whole = name.endswith(".root") and os.path.exists(path.rstrip("/") + ".complete")
        if not whole and not name.startswith("debs-") and name not in (f"packages-{suite}" for suite in SUITES):
            shutil.rmtree(path)


def has_passed(result):
    return result is not None and result["result"] != "FAILED"


def steps_of(name, jobs_wanted):
    """Gives the steps of a platform's jobs, the jobs' last."""
    made = {}
    for suite in {job.suite for job in jobs_wanted}:
        made[suite] = Step(f"root of {suite}", [*ROOT_SH, "make", suite, mirror()], 2, "platforms",
                           when_done=say_that_disk_is_full)
    jobs = []
    for job in jobs_wanted:
        # Packages are used after they were built.
        before = [made[job.suite], *(jobs if name.startswith("packages") else [])]
        plain = re.sub(r"[`']|tests/\w+/", "", job.what)
        jobs.append(Step(f"{name}: {plain}", [*ROOT_SH, "in", job.suite, job.copy, *job.command],
                         job.minutes, "platforms", before, say_that_disk_is_full))
    return [*made.values(), *jobs], jobs


def read_results():
    try:
        with open(RESULTS, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def keep_results(results, name, jobs, steps):
    commit, date = said_by("git", "rev-parse", "--short", "HEAD"), time.strftime("%Y-%m-%d")
    for job, step in zip(jobs, steps):
        if step.state not in ("passed", "FAILED"):
            continue
        counts = re.findall(r"^\d+ passed, \d+ failed.*", tail_of(step.log, 10000), re.MULTILINE)
        results[f"{name} {job.what}"] = {"result": counts[-1] if counts and step.state == "passed" else step.state,
                                         "took": clock(step.took), "date": date, "commit": commit}
    with open(RESULTS, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)


def table_of(results):
    lines = ["| platform | what ran there | result | minutes | on | commit |", "|---|---|---|---|---|---|"]
    for name, jobs in PLATFORMS.items():
        for job in jobs:
            result = results.get(f"{name} {job.what}", {"result": "not run", "took": "", "date": "", "commit": ""})
            lines.append(f"| {name} | {job.what} | {result['result']} | {result['took']} | {result['date']}"
                         f" | {result['commit']} |")
    return "\n".join(lines) + "\n"


def run(names, keep, again):
    print(f"needs root, the package archive {mirror()}, and {NEEDED_GIB} GiB in build/ ({free_gib():.0f} are free); tests"
          f" commit {said_by('git', 'rev-parse', '--short', 'HEAD')}, without what is not committed", flush=True)
    results, good = read_results(), True
    os.makedirs(WORK, exist_ok=True)
    try:
        for name in names:
            jobs = [job for job in PLATFORMS[name] if not again or not has_passed(results.get(f"{name} {job.what}"))]
            if not jobs:
                continue
            remove_copies()
            steps, job_steps = steps_of(name, jobs)
            try:
                good = Steps(steps).run() and good
            finally:
                keep_results(results, name, jobs, job_steps)
    finally:
        if not keep:
            remove_copies()
        with open(TABLE, "w", encoding="utf-8") as file:
            file.write(table_of(results))
        print(table_of(results), f"this table, for libtrace/docs/platforms.md: {os.path.relpath(TABLE, ROOT)}", sep="\n")
    return 0 if good else 1


def main():
    parser = argparse.ArgumentParser(prog="./run platforms", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PLATFORMS)}; none: all of them")
    parser.add_argument("--keep", action="store_true", help="keep the copy of the last platform, to look into it")
    parser.add_argument("--again", action="store_true", help="run only what has not passed yet, by build/platforms/results.json")
    parser.add_argument("--check", action="store_true", help="only look whether it can be done")
    options = parser.parse_args()
    check(options.names)
    if options.check:
        return 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    return run(options.names or list(PLATFORMS), options.keep, options.again)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
