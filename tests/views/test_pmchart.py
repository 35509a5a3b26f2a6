# SPDX-License-Identifier: LGPL-2.1-or-later
"""Single transactions in pmchart (of Debian's pcp-gui), as dots in time, and our views, as lines, from archives that a
pmlogger made. The tests read the drawings pixel by pixel. With TRACE_PICTURES=DIRECTORY the picture of views.md is left
there."""

import collections
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import events_wire
from events_wire import encode_span
from pmlogger import Pmlogger
from private_pmcd import PATIENCE_S, wait_until
from trace_test import TraceTestCase
from traced_shop import Shop
from views_page import VIEWS

PROGRAM = shutil.which("pmchart")
VIEW = """#pmchart
Version 2.0 host dynamic
Chart Title "Transactions" Style event
	Plot Color red Host * Metric tracing.events
"""
RED = b"\xff\0\0"
GROUND = b"\x6c\xa2\xc9"
REQUESTS = 5
SECOND = 10**9


def pmchart(directory, *arguments, view=None):
    """Runs it without a screen. It waits for ever if a view has a metric that is not there. It starts a pmtime, which
    would outlive it."""
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "HOME": directory, "XDG_RUNTIME_DIR": directory}
    process = subprocess.Popen((PROGRAM, *arguments), env=environment, text=True, start_new_session=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        said = process.communicate(view, timeout=PATIENCE_S)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, (arguments, process.returncode, said)


def columns(picture):
    """Gives {color: the columns of a picture that have pixels of this color}."""
    with open(picture, "rb") as file:
        assert file.readline() == b"P6\n"
        width, height = map(int, file.readline().split())
        file.readline()
        pixels = file.read()
    assert len(pixels) == 3 * width * height
    found = collections.defaultdict(set)
    for at in range(width * height):
        found[pixels[3 * at:3 * at + 3]].add(at % width)
    return found


def colored_columns(picture):
    """Gives the number of columns with a color, beside greys and the ground of the charts. A line may cover another one,
    and sloping ones are smoothed: no single color needs to go through the picture."""
    return len(set().union(*(where for color, where in columns(picture).items()
                             if len(set(color)) > 1 and color != GROUND)))


class Archive(TraceTestCase):
    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory(prefix="views-"))
        self.pmcd = self.start_pmcd()

    def path(self, name, text=None):
        path = os.path.join(self.directory, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return path

    def log(self, requests):
        """Makes an archive of so many requests with a query in each: one request for each of pmlogger's
        samples, one a second. Gives the times when they began."""
        self.assertEqual(self.pmcd.pmstore("tracing.control.filter", "tag=*")[0], 0)
        logger = Pmlogger(self.pmcd, self.path("archive"), "tracing.events", unix=True, every="1 sec")
        self.addCleanup(logger.end)
        program = self.enterContext(events_wire.Program(
            self.pmcd.path("run/trace.socket"), PATIENCE_S, tags=(b"request", b"query")))
        program.wait_for_filters("tag=*")
        begins = []
        for number in range(requests):
            begin = time.time_ns() - SECOND // 5
            begins.append(begin)
            program.send(encode_span(span=2 * number + 1, begin_ns=begin, duration_ns=SECOND // 10),
                         encode_span(tag=2, span=2 * number + 2, parent=2 * number + 1,
                                     begin_ns=begin + SECOND // 20, duration_ns=SECOND // 100))
            wait_until(lambda: self.pmcd.value("tracing.agent.delivered") == 2 * len(begins), what="pmlogger")
        logger.end()
        return begins

    def draw(self):
        """Draws the archive's last 12 seconds. Gives the columns of the picture that have red pixels."""
        picture = self.path("picture.ppm")
        pmchart(self.directory, "-a", self.path("archive"), "-c", self.path("view", VIEW), "-O", "-0", "-t", "0.5",
                "-s", "24", "-v", "24", "-g", "900x400", "-o", picture)
        return sorted(columns(picture)[RED])

    def test_shows_each_request_where_it_was(self):
        times = self.log(REQUESTS + 1)
        columns = self.draw()
        begins = [column for before, column in zip([-100] + columns, columns) if column - before > 20]
        # The last one is at the very end of the archive, perhaps beyond the end of the chart.
        self.assertIn(len(begins), (REQUESTS, REQUESTS + 1), columns)
        a_second = (begins[-1] - begins[0]) / (times[len(begins) - 1] - times[0])
        for begin, its_time in zip(begins, times):
            self.assertAlmostEqual(begin - begins[0], (its_time - times[0]) * a_second, delta=2)

    def test_shows_nothing_where_nothing_was(self):
        self.log(0)
        self.assertEqual(self.draw(), [])


class Views(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shop = cls.enterClassContext(Shop())
        cls.archive = cls.shop.log("archive")

    def draw(self, picture, view, text=None, size="900x600"):
        """Draws a view of the archive."""
        pmchart(self.shop.directory, "-a", self.archive, "-c", view, "-O", "-0", "-t", "0.5", "-s", "24", "-v", "24",
                "-g", size, "-o", picture, view=text)

    def has_lines(self, view, text=None):
        """Draws a view of the archive. True if its lines go through more than half of the picture."""
        picture = self.shop.path("picture.ppm")
        self.draw(picture, view, text)
        return colored_columns(picture) > 450

    def test_show_lines(self):
        for name in sorted(os.listdir(f"{VIEWS}/pmchart")):
            for source in (["-h", self.shop.pmcd.host()], ["-a", self.archive]):
                with self.subTest(name, source=source):
                    pmchart(self.shop.directory, "-C", "-C", *source, "-c", f"{VIEWS}/pmchart/{name}")
            self.assertTrue(self.has_lines(f"{VIEWS}/pmchart/{name}"), name)

    def test_show_the_tag_that_one_names(self):
        with open(f"{VIEWS}/pmchart/Trace.Percentiles", encoding="utf-8") as file:
            view = file.read()
        checkout = view.replace(".*\n", "^checkout$\n")
        self.assertTrue(self.has_lines("-", checkout))
        if "TRACE_PICTURES" in os.environ:
            self.draw(os.path.join(os.environ["TRACE_PICTURES"], "pmchart.png"), "-", checkout, "900x340")
        self.assertFalse(self.has_lines("-", view.replace(".*\n", "^import$\n")))
