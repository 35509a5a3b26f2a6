# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs `pcp trace record`, and reads its recordings with PCP's own tools."""

import os
import re
import subprocess

from private_pmcd import PATIENCE_S, children_of, completed, parse_value, wait_until

COMMAND = os.environ.get("TRACE_COMMAND")
END = "trace.recording.state"  # the record about the whole recording; it is no sample


def start(folder, *command, environment, options=(), **arguments):
    """Starts the recording of a command into a folder."""
    return subprocess.Popen([COMMAND, "record", "-q", "-o", folder, *options, "--", *command],
                            env=environment, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, **arguments)


def record(folder, *command, environment, options=(), **arguments):
    """Records a command to its end. Gives the recorder's completed process with its output."""
    return completed(COMMAND, "record", "-q", "-o", folder, *options, "--", *command, env=environment,
                     timeout=4 * PATIENCE_S, **arguments)


def program_of(recording):
    """Gives the pid of the program that is being recorded."""
    (program,) = children_of(recording.pid, but="signal-witness")
    return program


def samples(folder):
    """Gives the samples of an archive: {metric: {instance or None: value}} for each."""
    dump = completed("pmdumplog", os.path.join(folder, "trace"), timeout=4 * PATIENCE_S, check=True,
                     errors="surrogateescape").stdout
    all_samples = []
    values = None
    for line in dump.splitlines():
        if re.fullmatch(r"\d\d:\d\d:\d\d\.\d+\s+\d+ metrics?", line):
            all_samples.append({})
        elif match := re.fullmatch(r"    [\d.]+ \(([\w.]+)\): ?(.*)", line):
            values = all_samples[-1].setdefault(match[1], {})
            line = "    " + match[2]
        if match := re.fullmatch(r'\s+(?:inst \[\d+ or "(.*)"\] )?value (.*)', line):
            values[match[1]] = parse_value(match[2])
    return [sample for sample in all_samples if list(sample) != [END]]


def wait_for_samples(archive, more=2):
    """Waits for `more` samples that begin after now."""
    volume = archive + ".0"
    wait_until(lambda: os.path.exists(volume), what="the archive")
    for _ in range(more):
        before = os.path.getsize(volume)
        wait_until(lambda: os.path.getsize(volume) > before, what="another sample")


def last_values(folder, metric):
    return samples(folder)[-1].get(metric, {})


def statement(folder):
    """Gives the content of an archive's last record, about the archive itself."""
    dump = completed("pmdumplog", os.path.join(folder, "trace"), END, check=True, timeout=4 * PATIENCE_S).stdout
    last = dump.splitlines()[-1]
    return re.search(rf'\({re.escape(END)}\): value "(.*)"$', last)[1]


def doubt(folder, condition):
    """Gives the reason in a report's first line why an untrue condition cannot be decided."""
    done = completed(COMMAND, "report", "--fail-if", condition, folder, timeout=4 * PATIENCE_S)
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    first, which = done.stdout.split("\n")[0], f"incomplete: {folder}/trace: "
    assert first.startswith(which), done.stdout
    return first.removeprefix(which)


def complaints(folder):
    """Gives the complaints of PCP's checker about an archive."""
    done = completed("pmlogcheck", os.path.join(folder, "trace"))
    return done.stdout + done.stderr


def cut_half_a_sample(folder):
    """Removes half a record of a recorder that was killed: PCP's tools read up to there, and then fail."""
    half = re.fullmatch(r"(.*/trace\.0)\[record \d+\]: unexpected EOF in record .*\n"
                        r"\1: last valid record ends at offset (\d+)\n", complaints(folder))
    if half:
        os.truncate(half[1], int(half[2]))
