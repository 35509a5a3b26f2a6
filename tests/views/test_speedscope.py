# SPDX-License-Identifier: LGPL-2.1-or-later
"""The files of `pcp trace export`, as speedscope shows them in a headless Chromium. speedscope's own
export says what it has understood."""

import base64
import collections
import json
import os
import re
import subprocess
import tempfile

import events_wire
import recorded
from browser import Browser
from events_wire import encode_span
from exported import HOSTILE_TAGS, OVERLAPPING, Exported
from private_pmcd import PATIENCE_S
from trace_test import TraceTestCase

PAGE = os.path.join(os.environ["SPEEDSCOPE"], "package/dist/release/index.html")

# Runs before the page's scripts: a dialog would wait for a person, and saved files must stay here.
PREPARED = """
alert = (text) => console.error(text);
URL.createObjectURL = (blob) => { globalThis.saved = blob.text(); return "#"; };
"""
BEGIN = 1_800_000_000_000_000_000


def setUpModule():
    if not os.path.exists(PAGE):
        raise RuntimeError(f"no speedscope at {PAGE}: './run test views' gets it, from npm")


class Speedscope(Browser):
    """A browser in which speedscope shows a file."""

    def __init__(self, path):
        super().__init__()
        self.call("Page.addScriptToEvaluateOnNewDocument", source=PREPARED)
        # As speedscope's own command does, since a page from a file must not read other files.
        with open(path, "rb") as file, open(path + ".js", "w", encoding="utf-8") as script:
            contents = base64.b64encode(file.read()).decode()
            script.write(f'speedscope.loadFileFromBase64("spans", "{contents}")')
        self.go(f"file://{PAGE}#localProfilePath={path}.js", "document.title !== 'speedscope'")

    def complaints(self):
        """Leaves out messages of speedscope about its state, and of Chromium about its graphics."""
        return [event for event in super().complaints()
                if event["params"].get("type") not in ("log", "timeEnd") and
                event["params"].get("entry", {}).get("level") != "warning"]

    def understood(self):
        """Gives for each thread the nanoseconds by frame."""
        self.evaluate("window.dispatchEvent(new KeyboardEvent('keydown', {key: 's', ctrlKey: true}))")
        saved = json.loads(self.evaluate("saved"))
        return {tuple(map(int, re.search(r"\(pid (\d+)\), .*\(tid (\d+)\)$", profile["name"]).groups())):
                self._totals(profile, saved["shared"]["frames"]) for profile in saved["profiles"]}

    @staticmethod
    def _totals(profile, frames):
        assert profile["unit"] == "microseconds"
        totals, open_at = collections.Counter(), []
        for event in profile["events"]:
            if event["type"] == "O":
                open_at.append(event["at"])
            else:
                name = frames[event["frame"]]["name"]
                totals[name] += round((event["at"] - open_at.pop()) * 1000)
        return dict(totals)


class Spans(TraceTestCase):
    def setUp(self):
        self.pmcd = self.start_pmcd(host_name="saturn")
        self.directory = self.enterContext(tempfile.TemporaryDirectory(prefix="views-"))

    def shown(self, path):
        """Gives speedscope's own export of a file, once all of its views have drawn it."""
        browser = self.enterContext(Speedscope(path))
        for view in "123":
            browser.press(view)
        self.texts = browser.evaluate("document.body.innerText")
        self.elements = browser.evaluate("document.querySelectorAll('img, h1, b').length")
        understood = browser.understood()
        self.assertEqual(browser.complaints(), [])
        self.assertEqual({url.split(":")[0] for url in browser.requests()} - {"data", "blob"}, {"file"})
        return understood

    def test_have_their_names_and_times(self):
        exported = Exported(self, self.pmcd, self.directory)
        expected = collections.defaultdict(collections.Counter)
        noted = {"request": ' {"route":"/cart","rows":12,"\\"":"<b>"}', "pay": ' {"aborted":"declined"}'}
        for span in exported.spans():
            if span["tag"] != OVERLAPPING:  # speedscope shows no overlapping transactions
                name = span["tag"] + noted.get(span["tag"], "")
                expected[span["pid"], span["tid"]][name] += span["duration"]
        self.assertGreaterEqual(len(expected), 3)
        self.assertEqual(self.shown(exported.path), expected)
        for tag in HOSTILE_TAGS[:2]:
            self.assertIn(tag, self.texts)
        self.assertEqual(self.elements, 0)

    def test_may_meet(self):
        """Begin and end meet to the nanosecond; sums of a double's fractions would not."""
        path = os.path.join(self.directory, "spans.json")
        command = subprocess.Popen([recorded.COMMAND, "export", "--chrome", path, "-s", "1", "-h",
                                    self.pmcd.host(True)], stdin=subprocess.DEVNULL)
        self.addCleanup(command.wait)
        self.addCleanup(command.kill)
        spans = [(b"whole", 0, 10_000_300), (b"a", 100, 200), (b"b", 300, 400), (b"c", 1_100, 2_200),
                 (b"d", 3_300, 2_200), (b"e", 9_000_100, 1_000_200), (b"f", 9_999_900, 400), (b"none", 700, 0)]
        program = self.enterContext(events_wire.Program(
            self.pmcd.path("run/trace.socket"), PATIENCE_S, tags=[tag for tag, _, _ in spans]))
        program.wait_for_filters("tag=*")
        program.send(*(encode_span(tag=number, span=number, parent=int(number > 1), tid=7,
                                   begin_ns=BEGIN + begin, duration_ns=duration)
                       for number, (_, begin, duration) in enumerate(spans, 1)))
        self.assertEqual(command.wait(PATIENCE_S), 0)
        # It leaves out transactions that take no time.
        self.assertEqual(self.shown(path), {(os.getpid(), 7): {tag.decode(): duration
                                                               for tag, _, duration in spans if duration}})
