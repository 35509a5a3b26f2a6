# SPDX-License-Identifier: LGPL-2.1-or-later
"""A benchmark's result: one line of the table that `./run bench` prints."""

import dataclasses
import statistics


@dataclasses.dataclass
class Figure:
    part: str  # heading in the table: "caller", "flusher", "agent"
    name: str  # what was measured, in words
    unit: str
    ours: float
    limit: float = None  # in the same unit and from the same run; None: no bar
    bar: str = ""  # the reason of the limit, in words
    peers: dict = dataclasses.field(default_factory=dict)  # name -> the peer's figure
    at_least: bool = False  # the limit is a lower one
    notes: list = dataclasses.field(default_factory=list)  # lines to print below the table

    @property
    def is_met(self):
        if self.limit is None:
            return True
        return self.ours >= self.limit if self.at_least else self.ours <= self.limit


def median(values):
    return statistics.median(values)


def percentile(values, percent):
    """The smallest value that at least `percent` percent of all values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]
