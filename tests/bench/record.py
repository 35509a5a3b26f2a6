# SPDX-License-Identifier: LGPL-2.1-or-later
"""What it costs to record a program, and to look at what was recorded."""

import os
import subprocess
import tempfile

import recorded
from figures import Figure

PART = "pcp trace"


def measure(tools, brief):
    yield _recorder(tools, *((50, 1) if brief else (10_000, 20)))


def _recorder(tools, tags, seconds):
    tools.progress(f"a recording of {tags:,} tags, {seconds} s")
    with tempfile.TemporaryDirectory(prefix="trace-bench-") as directory:
        folder = os.path.join(directory, "run")
        subprocess.run([tools.command, "record", "-q", "-o", folder, tools.program("many_tags"),
                        str(tags), str(seconds)], check=True,
                       env=os.environ | {"LD_LIBRARY_PATH": tools.library_directory})
        samples = recorded.samples(folder)
        written = sum(entry.stat().st_size for entry in os.scandir(folder)
                      if entry.name != "trace.html")
    def busy(metric):
        return (samples[-1][metric][None] - samples[0][metric][None]) / 1e9 / seconds * 100
    return Figure(
        part=PART, name=f"recording {tags:,} tags that all change, a sample a second",
        unit="% of a core", ours=busy("trace.agent.cpu.main"), limit=5, bar="a twentieth of a core",
        notes=[f"Taking the calls in is another {busy('trace.agent.cpu.ingest'):.1f}%; the archive "
               f"grows by {written / seconds / 1e6:.1f} MB a second."])
