# SPDX-License-Identifier: LGPL-2.1-or-later
"""The log of a test's program: how often it did what."""

import collections
import json
import os

COUNTS = collections.defaultdict(collections.Counter)
COUNT, ABORTS, POINTS, ADDED = "transact.count", "transact.aborts", "point.count", "counter.total"


def note(metric, tag, value=1):
    COUNTS[metric][tag] += value


def write():
    """One write, since processes and threads write at the same time."""
    os.write(1, (json.dumps(COUNTS) + "\n").encode())
    COUNTS.clear()
