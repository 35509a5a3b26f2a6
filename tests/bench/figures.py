# SPDX-License-Identifier: LGPL-2.1-or-later
"""A benchmark's results, and the table of them that `./run bench` prints."""

import dataclasses
from statistics import median


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


def medians(rounds):
    """The medians of dictionaries with the same names; of their numbers, or of the numbers in their dictionaries."""
    def of(values):
        return medians(values) if isinstance(values[0], dict) else median(values)
    return {name: of([each[name] for each in rounds])
            for name, value in rounds[0].items() if not isinstance(value, str)}


def percentile(values, percent):
    """The smallest value that at least `percent` percent of all values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def number(value):
    """A number in about six characters, as precise as fits."""
    if value >= 1e6:
        return f"{value / 1e6:.3g} M"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _line(figure, bars, width):
    limit, mark, verdict = "", "", ""
    if figure.limit is not None:
        limit, verdict = number(figure.limit), "met" if figure.is_met else "MISSED"
    if figure.bar:
        mark = f"[{bars.index(figure.bar) + 1}]"
    peers = ", ".join(f"{name} {number(value)}" + (f" ({figure.ours / value:.2g})" if value else "")
                      for name, value in figure.peers.items())
    return (f"{figure.name:{width}}  {number(figure.ours):>7} {figure.unit:5}"
            f" {limit:>9} {mark:5} {verdict:6}  {peers}").rstrip()


def table(figures):
    """Ours, the limit, met or missed, each peer and the ratio."""
    bars = list(dict.fromkeys(figure.bar for figure in figures if figure.bar))
    width = max(len(figure.name) for figure in figures)
    lines = []
    part = None
    for figure in figures:
        if figure.part != part:
            part = figure.part
            lines += ["", f"{part:{width}}  {'ours':>12}  {'limit':>14}  {'':6}  peers (ours : peer)",
                      "-" * (width + 62)]
        lines.append(_line(figure, bars, width))
    lines += ["", "Where the limits come from:"]
    lines += [f"{f'[{place}]':>6} {bar}" for place, bar in enumerate(bars, 1)]
    for figure in figures:
        if figure.notes:
            lines += ["", f"{figure.name}:"] + [f"  {note}" for note in figure.notes]
    limited = [figure for figure in figures if figure.limit is not None]
    missed = [figure for figure in limited if not figure.is_met]
    lines += ["", f"{len(limited) - len(missed)} of {len(limited)} bars met"]
    lines += [f"  missed: {figure.name}" for figure in missed]
    return "\n".join(lines).lstrip("\n")
