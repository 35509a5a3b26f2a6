# SPDX-License-Identifier: LGPL-2.1-or-later
"""The files of `pcp trace export`, as speedscope shows them in a headless Chromium. speedscope's own
export says what it has understood."""

import base64
import collections
import json
import os
import re
import tempfile

from browser import Browser
from exported import HOSTILE_TAGS, OVERLAPPING, Exported
from trace_test import TraceTestCase

PAGE = os.path.join(os.environ["SPEEDSCOPE"], "package/dist/release/index.html")

# Runs before the page's scripts: a dialog would wait for a person, and saved files must stay here.
PREPARED = """
alert = (text) => console.error(text);
URL.createObjectURL = (blob) => { globalThis.saved = blob.text(); return "#"; };
"""


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
    def shown(self, path):
        """Gives speedscope's own export of a file, once all of its views have drawn it."""
        browser = self.enterContext(Speedscope(path))
        for view in "123":
            browser.press(view)
        self.texts = browser.evaluate("document.body.innerText")
        self.assertEqual(browser.evaluate("document.querySelectorAll('img, h1, b').length"), 0)
        understood = browser.understood()
        self.assertEqual(browser.complaints(), [])
        self.assertEqual({url.split(":")[0] for url in browser.requests()} - {"data", "blob"}, {"file"})
        return understood

    def test_have_their_names_and_times(self):
        directory = self.enterContext(tempfile.TemporaryDirectory(prefix="views-"))
        exported = Exported(self, self.start_pmcd(host_name="saturn"), directory)
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
