#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the README's three pictures from the output of the demos and of the README's example: the page of a recording
(with chromium), and two terminals as SVG.

Usage: pictures.py BUILD_DIRECTORY [page|spans|gate]..."""

import fcntl
import os
import pathlib
import pty
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import termios
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "libtrace/docs"
sys.path += [str(ROOT / "tests/support"), str(ROOT / "demos")]
from browser import Browser  # noqa: E402
from page_blocks import blocks  # noqa: E402
from show import WINDOW, PrivatePmcd  # noqa: E402

FILTER = "tag=order,reserve,pick,receipt"
COLUMNS = 100
CELL, LINE, EDGE = 8, 18, 16  # pixels
STYLES = {"1": "font-weight:bold", "2": "opacity:.6", "31": "fill:#e5534b", "32": "fill:#57ab5a", "33": "fill:#c69026",
          "34": "fill:#539bf5", "36": "fill:#39c5cf"}
ESCAPE = re.compile(r"\x1b\[([\d;]*)m")
PART = re.compile(r"[█-▏▼▲]|[^\s█-▏▼▲]+(?: [^\s█-▏▼▲]+)*|\s+")  # blanks and blocks are as wide as a font likes


def in_terminal(command, environment, folder):
    """Gives what a command prints on a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    program = subprocess.Popen(command, cwd=folder, env=environment | {"TERM": "xterm", "TZ": "UTC"},
                               stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    printed = b""
    try:
        while data := os.read(ours, 1 << 16):
            printed += data
    except OSError:  # the terminal's other end is closed
        pass
    os.close(ours)
    return program.wait(), printed.decode().replace("\r\n", "\n")


def runs(line):
    """Gives the column, the style and the text of each part of a line."""
    column, codes = 0, []
    parts = ESCAPE.split(line)
    for number, part in enumerate(parts):
        if number % 2:
            codes = [code for code in part.split(";") if code in STYLES]
            continue
        for text in PART.findall(part):
            yield column, ";".join(STYLES[code] for code in codes), text
            column += len(text)


def drawn(row, column, style, part):
    """Gives the element of a part of a line: a bar's block becomes a rectangle."""
    x, y = EDGE + column * CELL, EDGE + row * LINE
    if eighths := "▏▎▍▌▋▊▉█".find(part) + 1:
        return f'<rect x="{x}" y="{y + 3}" width="{eighths}" height="{LINE - 6}" fill="#539bf5"/>'
    style = f' style="{style}"' if style else ""
    return f'<text x="{x}" y="{y + LINE - 5}" textLength="{len(part) * CELL}"{style}>{escape(part)}</text>'


def write_terminal(name, text):
    lines = text.rstrip("\n").split("\n")
    width, height = COLUMNS * CELL + 2 * EDGE, len(lines) * LINE + 2 * EDGE
    elements = [drawn(row, column, style, part)
                for row, line in enumerate(lines) for column, style, part in runs(line) if part.strip()]
    (DOCS / name).write_text("\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        f'<rect width="{width}" height="{height}" rx="8" fill="#22272e"/>',
        '<g font-family="DejaVu Sans Mono,Menlo,Consolas,monospace" font-size="13.3" fill="#cdd9e5">',
        *elements, "</g>", "</svg>", ""]), encoding="utf-8")


class Pictures:
    def __init__(self, build, folder):
        self.build, self.folder = pathlib.Path(build).resolve(), folder
        self.library = self.build / "libtrace/src"
        self.command = str(self.build / "pmda/command/pcp-trace")
        self.environment = os.environ | {"LD_LIBRARY_PATH": str(self.library),
                                         "PATH": f"{self.build}/libtrace/tools:{os.environ['PATH']}"}

    def run(self, *command):
        subprocess.run(command, cwd=self.folder, env=self.environment, check=True)

    def shop(self, milliseconds):
        """Compiles the README's example, with so long a time for each slow order."""
        source = next(text for kind, text in blocks((ROOT / "README.md").read_text(encoding="utf-8")) if kind == "cpp")
        assert "? 40 :" in source
        (self.folder / "shop.cpp").write_text(source.replace("? 40 :", f"? {milliseconds} :"), encoding="utf-8")
        self.run("c++", "-std=c++17", "shop.cpp", f"-I{ROOT}/libtrace/include", f"-L{self.library}", "-lpcp_trace",
                 "-o", "shop")
        return "./shop"

    def gate(self):
        for name, milliseconds in (("old.trace", 40), ("new.trace", 60)):
            self.run(self.command, "record", "-q", "-t", "100ms", "-o", name, self.shop(milliseconds))
        words = ["report", "--compare", "old.trace", "new.trace", "--fail-if", "checkout p99 > 50ms"]
        status, printed = in_terminal([self.command, *words], self.environment, self.folder)
        assert status == 1, printed
        write_terminal("gate.svg", f"$ pcp-trace {shlex.join(words)}\n{printed}$ echo $?\n{status}")

    def orders(self, seconds):
        """Gives a program that serves orders with others."""
        program = self.folder / "orders"
        program.write_text(f"#!/usr/bin/env python3\nimport os, sys\nsys.path.insert(0, '{ROOT}/demos')\nimport spans\n"
                           f"with spans.shop('{self.build}', lambda _: os.environ, {seconds}) as programs:\n"
                           "    for program in reversed(programs.values()):\n        program.wait()\n", encoding="utf-8")
        program.chmod(0o755)
        return "./orders"

    def spans(self):
        with PrivatePmcd(str(self.build / "pmda/agent/pmdatrace"), WINDOW, str(ROOT / "pmda/root")) as pmcd:
            environment = self.environment | pmcd.environment(str(self.library / "libpcp_trace.so.2"),
                                                              PCP_TRACE_SOCKET=pmcd.path("run/trace.socket"))
            environment["PATH"] = self.environment["PATH"]
            orders = subprocess.Popen(self.orders(12), cwd=self.folder, env=environment)
            words = ["spans", FILTER, "kind=point", "-T", "10s"]
            _, printed = in_terminal([self.command, *words, "-h", pmcd.host(unix=True)], self.environment, self.folder)
            orders.wait()
        trees = re.split(r"\n\n(?=(?:\x1b\[\d+m)?\S)", printed)
        tree = next(tree for tree in reversed(trees) if all(tag in tree for tag in ("discount", "pick", "receipt")))
        write_terminal("spans.svg", f"$ pcp-trace {shlex.join(words[:3])}\n{tree.strip()}")

    def page(self):
        self.run(self.command, "record", "-q", "-t", "250ms", "-o", "orders.trace", "--spans", FILTER, self.orders(12))
        with Browser(height=1300) as browser:
            browser.open(self.folder / "orders.trace/trace.html")
            browser.screenshot(DOCS / "page.png", whole=False)


def main(build, *names):
    with tempfile.TemporaryDirectory() as folder:
        pictures = Pictures(build, pathlib.Path(folder))
        for name in names or ("page", "spans", "gate"):
            getattr(pictures, name)()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("Usage: pictures.py BUILD_DIRECTORY [page|spans|gate]...")
    main(*sys.argv[1:])
