# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shared by the tests of the page of a report: a headless Chromium, and the pages of runs that page_maker.cpp makes up."""

import functools
import json
import os
import subprocess
import tempfile
import unittest

from browser import Browser

CONTROL = 2  # the modifier


directory = tempfile.TemporaryDirectory(prefix="views-")
unittest.addModuleCleanup(directory.cleanup)


@functools.cache
def browser():
    return unittest.enterModuleContext(Browser())


@functools.cache
def made(run):
    """Gives the path of a run's page, and its content. The run is one of page_maker's or an archive."""
    path = os.path.join(directory.name, os.path.basename(run) + ".html")
    done = subprocess.run([os.environ["PAGE_MAKER"], run, path], check=True, capture_output=True, text=True)
    return path, json.loads(done.stdout)


def recorded(name, *options):
    """Records a demo for two seconds. Gives the archive."""
    folder = os.path.join(directory.name, name + ".trace")
    subprocess.run([os.environ["PCP_TRACE"], "record", "-o", folder, "-t", "200ms", *options, os.environ["WORKER_POOL"], "2"],
                   check=True, stdout=subprocess.DEVNULL)
    return os.path.join(folder, "trace")


class PageTestCase(unittest.TestCase):
    """Each test opens one page; all share a browser."""

    maxDiff = None

    def setUp(self):
        self.browser = browser()
        self.look()

    def look(self, width=1280, theme="light"):
        self.browser.look(width, 900, theme)
        self.browser.settle()

    def page(self, run):
        """Makes a page and opens it. Gives the values that page_maker says it shows."""
        self.path, shown = made(run)
        self.browser.open(self.path)
        self.addCleanup(self.assert_calm)
        return shown

    def assert_calm(self):
        """The page has no complaints, and requested nothing but itself."""
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.browser.requests(), ["file://" + self.path])

    def evaluate(self, expression):
        return self.browser.evaluate(expression)

    def choose(self, *names):
        """Chooses tags, which the page then shows in detail."""
        self.evaluate(f"""pcpTrace.page.choose({json.dumps(names)}
            .map((name) => pcpTrace.page.tags.find((tag) => tag.name === name)))""")
        self.browser.settle()

    def each_page(self, widths, runs):
        """Opens pages of these runs in windows of these widths. Gives a text for each that says which it is."""
        for width in widths:
            self.look(width)
            for run in runs:
                self.page(run)
                yield f"{run} at {width}"

    def zoom(self, begin, end):
        """Shows a part of the run, in ms from its begin."""
        self.evaluate(f"pcpTrace.view.zoom([{begin}, {end}].map((ms) => pcpTrace.view.run.begin + ms))")

    def of_chart(self, title, expression):
        """Gives the value of an expression about `chart`, the one with this title."""
        chart = f"[...pcpTrace.view.charts].find(({{title}}) => title === {json.dumps(title)})"
        return self.evaluate(f"((chart) => {expression})({chart})")

    def texts(self, selector):
        """Gives the text of each element that is shown."""
        return self.evaluate(f"""[...document.querySelectorAll({json.dumps(selector)})]
            .filter((it) => it.getClientRects().length).map((it) => it.textContent)""")

    def click(self, selector, **how):
        x, y, _, _ = self.browser.place(selector)
        self.browser.click(x, y, **how)

    def point_at(self, x, y):
        self.browser.mouse("mouseMoved", x, y)
        self.browser.settle()

    def drag_over(self, selector, begin, end):
        """Drags the pointer from one part of a chart's width to another."""
        x, y, width, _ = self.browser.place(selector)
        left = x - width / 2
        self.browser.mouse("mousePressed", left + begin * width, y)
        for share in (0.3, 0.6, 1):
            self.browser.mouse("mouseMoved", left + (begin + share * (end - begin)) * width, y)
        self.browser.mouse("mouseReleased", left + end * width, y)
        self.browser.settle()

    def windows(self):
        """Gives the parts of the run that the charts show, in ms; one if all show the same."""
        return self.evaluate("""[...new Set([...pcpTrace.view.charts].map(({graph}) =>
            graph.xAxisRange().map((at) => Math.round(at - pcpTrace.clock.offset)).join(" ")))]""")
