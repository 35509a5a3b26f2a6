# SPDX-License-Identifier: LGPL-2.1-or-later
"""Single transactions in pmchart (of Debian's pcp-gui), as dots in time, from an archive that a pmlogger
made. The test reads the drawing pixel by pixel."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest

import events_wire
from events_wire import encode_span
from pmlogger import Pmlogger
from private_pmcd import PATIENCE_S, wait_until
from trace_test import TraceTestCase

PROGRAM = shutil.which("pmchart")
VIEW = """#pmchart
Version 2.0 host dynamic
Chart Title "Transactions" Style event
	Plot Color red Host * Metric tracing.events
"""
RED = b"\xff\0\0"
REQUESTS = 5
SECOND = 10**9


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
        environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "HOME": self.directory,
                                    "XDG_RUNTIME_DIR": self.directory}
        subprocess.run([PROGRAM, "-a", self.path("archive"), "-c", self.path("view", VIEW), "-O", "-0",
                        "-t", "0.5", "-s", "24", "-v", "24", "-g", "900x400", "-o", picture],
                       env=environment, stdin=subprocess.DEVNULL, check=True, timeout=PATIENCE_S)
        with open(picture, "rb") as file:
            self.assertEqual(file.readline(), b"P6\n")
            width, height = map(int, file.readline().split())
            file.readline()
            pixels = file.read()
        self.assertEqual(len(pixels), 3 * width * height)
        return sorted({at % width for at in range(width * height) if pixels[3 * at:3 * at + 3] == RED})

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


if __name__ == "__main__":
    unittest.main()
