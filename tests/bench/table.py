# SPDX-License-Identifier: LGPL-2.1-or-later
"""Figures as text."""


def number(value):
    """A number in about six characters, as precise as fits."""
    if value >= 1e6:
        return f"{value / 1e6:.3g} M"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _verdict(figure):
    if figure.limit is None:
        return ""
    return "met" if figure.is_met else "MISSED"


def _peers(figure):
    return ", ".join(f"{name} {number(value)}"
                     + (f" ({figure.ours / value:.2g})" if value else "")
                     for name, value in figure.peers.items())


def of(figures):
    """One table: ours, the limit, met or missed, each peer and the ratio."""
    bars = list(dict.fromkeys(figure.bar for figure in figures if figure.bar))
    width = max(len(figure.name) for figure in figures)
    lines = []
    part = None
    for figure in figures:
        if figure.part != part:
            part = figure.part
            lines += ["", f"{part:{width}}  {'ours':>12}  {'limit':>14}  {'':6}  "
                          "peers (ours : peer)", "-" * (width + 62)]
        limit = "" if figure.limit is None else number(figure.limit)
        mark = f"[{bars.index(figure.bar) + 1}]" if figure.bar else ""
        lines.append(f"{figure.name:{width}}  {number(figure.ours):>7} {figure.unit:5}"
                     f" {limit:>9} {mark:5} {_verdict(figure):6}  {_peers(figure)}".rstrip())
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
