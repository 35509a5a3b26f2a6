# SPDX-License-Identifier: LGPL-2.1-or-later
"""Figures as a picture: a bar for ours and for each peer, on a logarithmic axis."""

import math
from xml.sax.saxutils import escape

from figures import number

# The figures in the chart, with the README's names for them.
ROWS = {
    "observe by handle, 1 thread": "observe, by handle",
    "observe by name, 1 thread": "observe, by name",
    "begin + end by name": "begin + end, by name",
    "observe by handle, 4 threads": "observe, by handle, 4 threads",
}
LABELS = {"LTTng": "LTTng-UST", "prometheus": "prometheus-cpp", "MMV": "PCP's MMV",
          "stock": "stock libpcp_trace", "stock async": "stock, asynchronous"}

WIDTH, LEFT, RIGHT = 760, 190, 90
LINE, GAP, TOP = 20, 18, 88
OURS, PEER = "#1f7a4d", "#9aa5b1"


def _length(value, largest):
    """In pixels, on a logarithmic scale that begins at one nanosecond."""
    return (WIDTH - LEFT - RIGHT) * math.log(max(value, 1)) / math.log(largest)


def of(figures, heading):
    """An SVG of the costs of calls. Empty if none of them was measured."""
    shown = [figure for figure in figures if figure.name in ROWS]
    if not shown:
        return ""
    largest = max(max([figure.ours, *figure.peers.values()]) for figure in shown)
    body = []
    y = TOP
    for figure in shown:
        body.append(f'<text x="12" y="{y + 14}" font-weight="bold">{escape(ROWS[figure.name])}'
                    '</text>')
        y += LINE + 2
        bars = [("this library", figure.ours, OURS)]
        bars += [(LABELS.get(name, name), value, PEER) for name, value in figure.peers.items()]
        for name, value, colour in bars:
            length = max(_length(value, largest), 1)
            body.append(f'<text x="{LEFT - 8}" y="{y + 14}" text-anchor="end">{escape(name)}</text>'
                        f'<rect x="{LEFT}" y="{y + 3}" width="{length:.1f}" height="{LINE - 6}" '
                        f'fill="{colour}"/>'
                        f'<text x="{LEFT + length + 6:.1f}" y="{y + 14}">{number(value)} ns</text>')
            y += LINE
        y += GAP
    title = "Cost of a call to its caller (nanoseconds, logarithmic, less is better)"
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 8}" '
             f'width="{WIDTH}" height="{y + 8}" font-family="sans-serif" font-size="13">',
             '<rect width="100%" height="100%" fill="white"/>',
             f'<text x="12" y="22" font-size="15" font-weight="bold">{escape(title)}</text>',
             *(f'<text x="12" y="{42 + 15 * place}" fill="#555" font-size="11">{escape(line)}</text>'
               for place, line in enumerate(heading)),
             *body, "</svg>"]
    return "\n".join(lines) + "\n"
