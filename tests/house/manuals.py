# SPDX-License-Identifier: LGPL-2.1-or-later
"""The house's rule for manual pages: each line fits a terminal of 80 columns."""

import os
import re
import subprocess

from house import answer, files

COLUMNS = 80


def breaches(root):
    environment = dict(os.environ, MANPAGER="cat", MANWIDTH=str(COLUMNS))
    missing = {"pmtrace.1", "pmtrace.3", "pcp_trace_fortran.3"}
    for page in files(root):
        if not re.fullmatch(r"\.[1-8]", page.suffix):
            continue
        missing.discard(page.name)
        shown = subprocess.run(["man", "-l", page], env=environment, capture_output=True, text=True, check=True).stdout
        for line in shown.splitlines():
            if len(line) > COLUMNS:
                yield f"{page.relative_to(root)}: {len(line)} columns: {line.strip()}"
    yield from (f"{name}: not found" for name in sorted(missing))


answer(breaches)
