#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of a report: single transactions."""

import json
import re

from page_case import PageTestCase


class Spans(PageTestCase):
    """Single transactions, as a list of traces and a waterfall."""

    def rows(self):
        """The rows that the waterfall shows: a dictionary for each one."""
        return self.evaluate("""(() => {
            const text = (row, cell) => row.querySelector(cell)?.textContent;
            const track = document.querySelector('.waterfall .row .track').getBoundingClientRect();
            return [...document.querySelectorAll('.waterfall .row:not(.axis)')].map((row) => {
                const box = row.querySelector('.track i').getBoundingClientRect();
                return {tag: text(row, '.what .name'), where: text(row, '.where'), took: text(row, '.took'),
                        level: Number(row.getAttribute('aria-level')), notes: text(row, '.notes') || '',
                        left: (box.left - track.left) / track.width, width: box.width / track.width,
                        kind: row.querySelector('.track i').className}; }); })()""")

    def open_trace(self, index):
        self.evaluate(f"document.querySelectorAll('#traces button')[{index}].click()")
        self.browser.settle()

    def open_first(self, spans, fits):
        """Opens the first of the slowest traces that fits, and gives it."""
        index = next(i for i, trace in enumerate(spans["slowest"]) if fits(trace))
        self.open_trace(index)
        return spans["slowest"][index]

    def assert_waterfall(self, trace):
        rows = self.rows()
        self.assertEqual([(row["tag"], row["level"]) for row in rows],
                         [(span["tag"], span["depth"] + 1) for span in trace["spans"]])
        for row, span in zip(rows, trace["spans"]):
            self.assertAlmostEqual(row["left"] + (row["width"] / 2 if row["kind"] == "event" else 0),
                                   span["offset_ns"] / trace["duration_ns"], delta=0.005)
            if row["kind"] != "event":
                self.assertAlmostEqual(row["width"], span["duration_ns"] / trace["duration_ns"], delta=0.01)
                self.assertEqual(row["took"], self.evaluate(f"formatSeconds({span['duration_ns']} / 1e9)"))
            self.assertEqual("aborted" in row["kind"], span.get("aborted", False))

    def test_are_those_of_the_run(self):
        expected = self.page("spans")["spans"]
        self.assertEqual(self.evaluate("pcpTrace.data.spans"), expected)
        self.assertEqual(len(expected["slowest"]), 50)
        self.assertEqual(len(self.texts("#traces button")), 50)
        self.assertEqual(self.texts("#spans-note"), ["of 1,234 traces with 13,579 spans; 17 spans missed"])
        for index in (0, 1, 2, 49):
            self.open_trace(index)
            self.assert_waterfall(expected["slowest"][index])

    def test_say_that_only_slow_requests_were_recorded(self):
        self.page("slow")
        which = "only slow requests were recorded: in each, a transaction took 200\u202fms or more"
        self.assertEqual(self.texts("#why-note"),
                         ["what these requests have in common, beside all others, which were chosen in the same way"])
        self.assertEqual(self.texts("#spans-note"), [f"of 1,234 traces with 13,579 spans; 17 spans missed; {which}"])

    def test_begin_with_what_was_open_when_its_process_died(self):
        [longest] = self.page("died")["spans"]["died"]["longest"]
        whole, last = (self.evaluate("formatSeconds(%r)" % each["open_s"]) for each in (longest, longest["last"]))
        self.assertEqual(self.texts("#notice li")[:2], [
            f"{longest['tag']} was open for {whole} in front (pid 4711), at last in query for {last}, "
            "when the process died.", "2 more requests were open."])
        self.open_trace(0)
        row = self.rows()[0]
        self.assertEqual(row["kind"], "span open")
        self.assertTrue(row["took"].startswith("≥ "), row["took"])
        self.assertTrue(row["notes"].startswith("open when its process died"), row["notes"])
        self.assertIn("its notes are missing: they were lost with the process", row["notes"])

    def test_say_where_they_change_and_what_is_known_of_them(self):
        spans = self.page("spans")["spans"]
        self.open_first(spans, lambda trace: trace["spans"][0]["tag"] == "checkout" and
                        any(span.get("reason", "").startswith("card") for span in trace["spans"]))
        rows = {row["tag"]: row for row in self.rows()}
        self.assertEqual({tag: row["where"] for tag, row in rows.items() if row["where"]},
                         {"checkout": "front 4711 @ build7", "reserve": "stock 815 @ build9", "authorise": "bank 99"})
        self.assertEqual(rows["checkout"]["notes"], "route /cartcustomer golditems 3")
        self.assertEqual(rows["sql{table=orders}"]["notes"], "rows 12statement update orders set state")
        self.assertEqual(rows["payment"]["notes"], "aborted: card declined: try again")
        self.assertIn("see also 0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", rows["authorise"]["notes"])
        self.assertIn("2 notes are missing", rows["authorise"]["notes"])
        self.assertEqual([text for text in self.texts(".waterfall .what") if "=" in text and "{" not in text], ["queue-length = 17"])
        self.assertIn("bytes-sent + 4,096", self.texts(".waterfall .what"))

    def test_say_what_is_not_there(self):
        spans = self.page("spans")["spans"]
        self.open_first(spans, lambda trace: trace["left_out"])
        self.assertIn("200 spans left out", self.texts("#trace-facts span"))
        torn = self.open_first(spans, lambda trace: not trace["has_root"])
        facts = self.texts("#trace-facts span")
        self.assertTrue(any(text.startswith("3 parents not recorded") for text in facts), facts)
        self.assertIn("some of its parts were not captured", facts)
        longest = max(span.get("duration_ns", 0) for span in torn["spans"] if span["depth"] == 0)
        self.assertNotEqual(longest, torn["duration_ns"])
        self.assertIn(self.evaluate(f"formatSeconds({longest} / 1e9)"), self.texts("#trace-title")[0])
        rows = {row["tag"]: row for row in self.rows()}
        self.assertIn("its part in front<b> was not captured", rows["payment"]["notes"])
        self.assertIn("no part in bank<b> has come, as in other traces", rows["payment"]["notes"])
        self.assertNotIn("captured", rows["session"]["notes"])

    def test_that_are_many_say_how_many_are_below(self):
        spans = self.page("spans")["spans"]
        heights = "['scrollHeight', 'clientHeight'].map((name) => document.querySelector('.waterfall')[name])"
        self.open_first(spans, lambda trace: trace["left_out"])
        scroll, client = self.evaluate(heights)
        self.assertGreater(client, 30 * 28)
        [text] = self.texts(".more")
        self.assertAlmostEqual(int(re.fullmatch(r"↓ (\d+) more below", text)[1]), (scroll - client) / 28, delta=1)
        self.evaluate("document.querySelector('.waterfall').scrollTo(0, 1e6)")
        self.browser.settle()
        self.assertEqual(self.texts(".more"), [""])
        self.open_first(spans, lambda trace: not trace["left_out"])
        scroll, client = self.evaluate(heights)
        self.assertEqual(scroll, client)
        self.assertEqual(self.texts(".more"), [""])

    def test_say_what_the_slow_and_failed_ones_have_in_common(self):
        checkouts, levels, *_ = self.page("spans")["spans"]["requests"]
        rows = lambda: self.evaluate("""[...document.querySelectorAll('#why tbody tr')]
            .map((row) => [...row.cells].map((cell) => cell.textContent))""")
        headings = self.texts("#why thead th")
        self.assertEqual([re.sub("[▼▲]", "", each) for each in headings],
                         ["360 captured requests", "slowest 4", "others", "failed 18", "others", "all"])
        shown = {name: cells for name, *cells in rows()}
        [robot] = [each for each in checkouts["common"] if each["value"] == "robot"]
        self.assertEqual(shown["with user=robot"][0], "100%")
        self.assertEqual(shown["with user=robot"][4], str(robot["requests"]["all"]))
        self.assertEqual(shown["with reason=timed out"][2:4], ["100%", "0%"])
        payment = next(each["self_s"] for each in checkouts["steps"] if each["step"] == "payment")
        self.assertEqual(shown["time in payment"][0],
                         self.evaluate(f"formatPercent({payment['slowest'] / checkouts['time_s']['slowest']})"))
        self.evaluate("document.querySelector('#why-tag').selectedIndex = 1; document.querySelector('#why-tag').onchange({target: document.querySelector('#why-tag')})")
        self.assertEqual(len(self.texts("#why thead th")), 2)  # a single one has no others
        self.assertEqual(levels["requests"]["all"], 1)

    def test_are_filtered_by_words(self):
        self.page("spans")
        traces = self.evaluate("[...pcpTrace.data.spans.slowest, ...pcpTrace.data.exemplars]")
        def expect(text, fits):
            self.evaluate(f"(() => {{ const it = document.querySelector('#spans-filter'); it.value = {json.dumps(text)}; it.dispatchEvent(new Event('input')); }})()")
            found = [trace for trace in traces if fits(trace["spans"])]
            about = f"{text}: {len(found)} of the {len(traces)} traces on this page; for all, type pcp-trace spans -a RECORDING {text}"
            self.assertEqual(self.texts("#spans-about"), [about])
            self.assertEqual(len(self.texts("#traces button")), min(50, len(found)))
            return found
        self.assertGreater(len(traces), 50)
        failed = expect("failed", lambda spans: any(span.get("aborted") for span in spans))
        self.assertLess(len(failed), len(traces))
        expect("tag=sql failed", lambda spans: any(span.get("aborted") for span in spans) and any(span["tag"].startswith("sql{") for span in spans))
        for text, fits in (("note.rows=1?", lambda span: span.get("attributes", {}).get("rows") == 12),
                           ("label.table=ord*", lambda span: span["tag"] == "sql{table=orders}"),
                           ("slower=40ms", lambda span: span.get("duration_ns", 0) >= 40e6),
                           ("reason=timed", lambda span: span.get("reason") == "timed out"),
                           ("TIMED", lambda span: span.get("reason") == "timed out")):
            expect(text, lambda spans, fits=fits: any(map(fits, spans)))
        self.assertEqual(expect("tag=no(such", lambda spans: False), [])
        self.evaluate("document.querySelector('#spans-all').click()")
        self.assertEqual(len(self.texts("#traces button")), 50)

    def test_are_reached_by_keys(self):
        spans = self.page("spans")["spans"]["slowest"]
        self.assertEqual(self.evaluate("document.querySelectorAll('#traces button[tabindex=\"0\"]').length"), 1)
        self.evaluate("document.querySelector('#traces button').focus()")
        for key, index in (("ArrowDown", 1), ("End", -1), ("Home", 0)):
            self.browser.press(key)
            self.assertEqual(self.evaluate("pcpTrace.page.trace.trace"), spans[index]["trace"], key)
        self.browser.press("Tab")
        self.assertEqual(self.evaluate("document.activeElement.getAttribute('role')"), "row")
        self.browser.press("ArrowDown")
        self.assertEqual(self.evaluate("document.activeElement.querySelector('.name').textContent"), spans[0]["spans"][1]["tag"])

    def test_of_hostile_programs_are_text(self):
        [trace] = self.page("hostile")["spans"]["slowest"]
        names = [self.evaluate(f"visibleName({json.dumps(span['tag'])})") for span in trace["spans"]]
        self.assertEqual([row["tag"] for row in self.rows()], names)
        self.assertIsNone(self.evaluate("window.broken"))
        self.assertEqual(self.evaluate("document.querySelectorAll('#spans img, #spans script, #spans b b, #spans bdi b').length"), 0)
        notes = self.rows()[0]["notes"]
        for text in ("<img src x onerror=\"window.broken=5\">", "__proto__ <b>b</b>", "number -1e+300"):
            self.assertIn(text, notes)

    def test_are_not_spoken_of_where_nobody_asked_for_them(self):
        self.page("shop")
        self.assertEqual(self.texts("#spans"), [])

    def test_that_have_not_come_are_said_to_be_missing(self):
        self.page("without_spans")
        self.assertEqual(self.texts("#spans-none"), ["No transaction that the filter tag=nosuch limit=1000/s asks for has ended, but 3 spans missed."])
        self.assertEqual(self.texts("#spans-split"), [])
