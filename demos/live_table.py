# SPDX-License-Identifier: LGPL-2.1-or-later
"""The table of PCP's values that ./run demo shows, and its redrawing on a terminal."""

import math
import os
import sys
import time

# Seconds between tables where a table cannot be redrawn.
PLAIN_INTERVAL_S = 5

HEADER = ("", "tag", "count", "per s", "last", "average", "99%", "maximum", "aborts")
# The metric of each column of numbers, by kind of trace.
KINDS = {
    "transact": ("count", "rate", None, "ave_time", "p99", "max_time", "aborts"),
    "point": ("count", "rate"),
    "observe": ("count", "rate", "value", "ave", "p99", "max"),
    "counter": ("count", "rate", "value"),
}
WIDTH = 80
HEIGHT = 24
LEAST_TAG_WIDTH = 11
MOST_IN_FLIGHT = 3
# Without room for so many lines of the table the introduction is hidden.
LEAST_HEIGHT = 8
PICTURE_WIDTH = 24
LEGEND = "how long they took, on a logarithmic scale: ─ all  █ median  ▓ median to 99%"
COLOURS = {"transact": 36, "point": 33, "observe": 32, "counter": 35}

SECOND_SCREEN, FIRST_SCREEN = "\x1b[?1049h", "\x1b[?1049l"
WRAP, NO_WRAP = "\x1b[?7h", "\x1b[?7l"
CLEAR, CLEAR_LINE, CLEAR_REST = "\x1b[H\x1b[2J", "\x1b[K", "\x1b[J"


def number(value):
    """Formats in at most seven characters."""
    for unit, size in (("T", 1e12), ("G", 1e9), ("M", 1e6)):
        if 0.9995 * size <= abs(value) < 1e15:
            return f"{value / size:.2f} {unit}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def duration(seconds):
    """Formats with three significant digits, in a suitable unit."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= 0.9995 * size:
            return f"{seconds / size:#.3g}".rstrip(".") + f" {unit}"
    return f"{seconds * 1e9:.0f} ns"


def cell(kind, column, value):
    if value is None:
        return ""
    if column == 0:
        return f"{value:,}"
    if column == 6:
        return number(value) if value else ""
    if kind == "transact" and column >= 2:
        return duration(value)
    return number(value)


def rows(metrics):
    """Gives the table's lines as tuples of texts."""
    for kind, items in KINDS.items():
        tags = set(metrics.get(f"trace.{kind}.count", {}))
        for tag in sorted(tags | set(metrics.get(f"trace.{kind}.aborts", {}))):
            values = (metrics.get(f"trace.{kind}.{item}", {}).get(tag) for item in items)
            yield (kind, tag, *(cell(kind, column, value) for column, value in enumerate(values)))


def tag_width(tags, room):
    """The width of the longest tag, at most the room beside the numbers."""
    return max(LEAST_TAG_WIDTH, min(room, max(map(len, tags), default=0)))


def layout(row, tag_width, width):
    """Gives a line, without columns that do not fit: half a number would be wrong."""
    columns = max(0, min(6, (width - tag_width - 20) // 8))
    numbers = "".join(f" {text:>7}" for text in row[3:3 + columns])
    tag = row[1] if len(row[1]) <= tag_width else row[1][:tag_width - 1] + "…"
    return f"{row[0]:8} {tag:{tag_width}} {row[2]:>10}{numbers}"[:width].rstrip()


def strip(metrics, tag, least, most):
    """Draws the durations on a logarithmic scale: all, the median, and from it to 99%."""
    def place(item):
        value = metrics[f"trace.transact.{item}"][tag]
        return round(math.log(value / least) / math.log(most / least) * (PICTURE_WIDTH - 1))
    try:
        low, median, high, top = (place(item) for item in ("min_time", "p50", "p99", "max_time"))
    except (KeyError, ValueError, ZeroDivisionError):
        return ""
    marks = ("█" if at == median else "▓" if median < at <= high else "─" if low <= at <= top else " "
             for at in range(PICTURE_WIDTH))
    return "".join(marks)


def pictures(metrics):
    """Gives the scale for the table's head, and each line's durations on that scale."""
    times = [value for item in ("min_time", "max_time")
             for value in metrics.get(f"trace.transact.{item}", {}).values() if value > 0]
    if times:
        least, most = min(times), max(times)
        yield f"{duration(least)}{duration(most):>{PICTURE_WIDTH - len(duration(least))}}"
    else:
        yield ""
    for kind, tag, *_ in rows(metrics):
        yield strip(metrics, tag, least, most) if times and kind == "transact" else ""


def has_room_for_pictures(width):
    return width > WIDTH + PICTURE_WIDTH


def title_line(title, width):
    """Adds the pictures' legend if there are pictures and the title leaves room."""
    with_legend = f"{title:<20} {LEGEND}"
    fits = has_room_for_pictures(width) and len(with_legend) <= width
    return with_legend if fits else title[:width]


def in_flight(metrics):
    """Gives a line for each of the tags with the oldest open transactions."""
    oldest = metrics.get("trace.transact.oldest", {})
    where = metrics.get("trace.transact.oldest_where", {})
    open_now = {tag: n for tag, n in metrics.get("trace.transact.inflight", {}).items() if n}
    for tag in sorted(open_now, key=lambda tag: -oldest.get(tag, 0))[:MOST_IN_FLIGHT]:
        process, _, thread = where.get(tag, "").partition("/")
        place = f", process {process}" + (f", thread {thread}" if thread else "") if process else ""
        yield (f"open now: {open_now[tag]} {tag}, the oldest for "
               f"{duration(oldest.get(tag, 0))}{place}")


def table(metrics, colour=False, width=WIDTH):
    """Gives the table's lines; with pictures if the terminal is wide enough."""
    found = list(rows(metrics))
    beside = WIDTH - 1 - LEAST_TAG_WIDTH
    has_pictures = has_room_for_pictures(width)
    if has_pictures:
        beside += PICTURE_WIDTH + 2
    tags = tag_width((row[1] for row in found), width - beside)
    lines = [layout(row, tags, width) for row in (HEADER, *found)]
    if has_pictures:
        start = WIDTH - LEAST_TAG_WIDTH + tags
        lines = [f"{line:{start}} {picture}".rstrip()
                 for line, picture in zip(lines, pictures(metrics))]
    head, *lines = lines
    if colour:
        head = f"\x1b[1m{head}\x1b[0m"
        lines = [f"\x1b[{COLOURS[line.split(' ', 1)[0]]}m{line}\x1b[0m" for line in lines]
    return [head, *lines, *(line[:width] for line in in_flight(metrics))]


def cut(lines, height):
    """Gives at most `height` lines; the last one tells how many are left out."""
    return lines if len(lines) <= height else [*lines[:height - 1],
                                               f"… {len(lines) - height + 1} more"]


def height_of(text, columns):
    """The terminal rows of a wrapped text."""
    return sum(max(1, -(-len(line) // columns)) for line in text.splitlines())


def terminal_size():
    """The present size, ignoring COLUMNS and LINES. Some terminals report none."""
    columns, height = os.get_terminal_size(sys.stdout.fileno())
    return columns or WIDTH, height or HEIGHT


class Screen:
    """Shows tables. On a terminal each replaces the last one, on the second screen, which leaves no
    trace. Otherwise prints one every PLAIN_INTERVAL_S. The introduction stays above."""

    def __init__(self, introduction):
        self._introduction = introduction
        self._redraws = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._colour = self._redraws and not os.environ.get("NO_COLOR")
        self._size = None
        self._last = None

    def __enter__(self):
        print(self._introduction, flush=True)
        self._send(SECOND_SCREEN + CLEAR + self._introduction)
        return self

    def __exit__(self, *exception):
        self._send(FIRST_SCREEN)

    def show(self, title, metrics):
        if self._redraws:
            self._send(self.frame(title, metrics, terminal_size()))
        elif self._last is None or time.monotonic() - self._last >= PLAIN_INTERVAL_S:
            self._last = time.monotonic()
            self.show_last(title, metrics)

    def show_last(self, title, metrics):
        """Prints a complete table that stays."""
        width = terminal_size()[0] - 1 if self._redraws else WIDTH
        print("\n".join([title_line(title, width), *table(metrics, self._colour, width), ""]), flush=True)

    def frame(self, title, metrics, size):
        """Gives the output for a terminal of this size. Sends the introduction again only after a
        change of the size, which may damage it: otherwise the user can mark and copy it."""
        columns, height = size
        introduction = self._introduction + "\n"
        if height - height_of(introduction, columns) < LEAST_HEIGHT:
            introduction = ""
        top = height_of(introduction, columns)
        sent = "" if size == self._size else CLEAR + introduction
        self._size = size
        lines = [title_line(title, columns - 1), *table(metrics, self._colour, columns - 1)]
        shown = "\n".join(f"\r{CLEAR_LINE}{line}" for line in cut(lines, height - top))
        return f"{sent}\x1b[{top + 1}H{NO_WRAP}{shown}{CLEAR_REST}{WRAP}"

    def _send(self, text):
        if self._redraws:
            print(text, end="", flush=True)
