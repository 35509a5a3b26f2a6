"""Figures as text."""


def number(value):
    """A number in at most six characters or so, as precise as that allows."""
    if value >= 1e6:
        return f"{value / 1e6:.3g} M"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _verdict(figure):
    if figure.limit is None:
        return ""
    return "met" if figure.is_met else "MISSED"


def _ratio(ours, peer):
    return f"{ours / peer:.2g}" if peer else "-"


def of(figures):
    """One table: ours, the limit that the same run gives, met or missed, each peer and the ratio."""
    width = max(len(figure.name) for figure in figures)
    lines = []
    part = None
    for figure in figures:
        if figure.part != part:
            part = figure.part
            lines += ["", f"{part:{width}}  {'ours':>10}  {'limit':>10}  {'':6}  peers (ours : peer)"]
            lines.append("-" * (width + 60))
        limit = "" if figure.limit is None else number(figure.limit)
        peers = ", ".join(f"{name} {number(value)} ({_ratio(figure.ours, value)})"
                          for name, value in figure.peers.items())
        lines.append(f"{figure.name:{width}}  {number(figure.ours):>7} {figure.unit:3}"
                     f" {limit:>10}  {_verdict(figure):6}  {peers}".rstrip())
    lines.append("")
    lines += ["Limits:"] + sorted({f"  {figure.name}: {figure.bar}"
                                   for figure in figures if figure.bar})
    for figure in figures:
        if figure.notes:
            lines += ["", f"{figure.name}:"] + [f"  {note}" for note in figure.notes]
    bars = [figure for figure in figures if figure.limit is not None]
    missed = [figure for figure in bars if not figure.is_met]
    lines += ["", f"{len(bars) - len(missed)} of {len(bars)} bars met"
              + "".join(f"\n  missed: {figure.name}" for figure in missed)]
    return "\n".join(lines).lstrip("\n")
