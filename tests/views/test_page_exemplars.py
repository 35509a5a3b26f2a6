#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of a report: from charts and percentiles to captured transactions."""

import json

from page_case import PageTestCase, recorded

NONE = "This recording has no single transactions. The option --spans of record captures them."


class Exemplars(PageTestCase):
    def captured(self, tag):
        """Gives the captured transactions of a tag: trace, end in ms, and seconds."""
        return self.evaluate(f"""[...pcpTrace.data.spans.slowest, ...pcpTrace.data.exemplars].flatMap((trace) => trace.spans
            .filter((span) => span.tag === {json.dumps(tag)}).map((span) =>
                [trace.trace, timeOf(trace.begin) + (span.offset_ns + span.duration_ns) / 1e6, span.duration_ns / 1e9]))""")

    def cells(self, tag):
        """Gives the cells of a tag's heat map: begin, end, low, high."""
        self.choose(tag)
        return self.evaluate("""new HeatMap(pcpTrace.page.chosen[0].series.heat).columns
            .flatMap(({begin, end, bins}) => bins.map(({low, high}) => [begin, end, low, high]))""")

    def stand_still(self):
        """Waits for the end of a smooth movement to an element, which moves on with each frame."""
        self.evaluate("""new Promise((done) => { let last = -1, still = 0; (function look() {
            still = scrollY === last ? still + 1 : 0; last = scrollY;
            if (still === 10) done(); else requestAnimationFrame(look); })(); })""")

    def place_in_heat(self, begin, end, low, high):
        """Gives the middle of a cell of the heat map, scrolled into the window."""
        self.stand_still()
        self.browser.place(".chart:has(.ramp) .plot")
        return self.of_chart("Heat map", f"""{{ const box = chart.plot.getBoundingClientRect();
            return [box.left + chart.xOf({(begin + end) / 2}), box.top + chart.yOf({(low * high) ** 0.5})]; }}""")

    def click_heat(self, *cell):
        self.browser.click(*self.place_in_heat(*cell))
        self.evaluate("new Promise((done) => setTimeout(done))")
        self.browser.settle()

    def shown(self):
        return self.evaluate("pcpTrace.page.trace.trace")

    def marked(self):
        return self.texts(".waterfall [aria-selected=true] .name")

    def test_of_a_cell_are_the_slowest_captured_ones_of_its_moment(self):
        self.page("spans")
        for tag in ("checkout", "sql{table=orders}"):
            captured = self.captured(tag)
            cells = self.cells(tag)
            exact = 0

            def of_moment(begin, end):
                return [each for each in captured if begin - 1000 <= each[1] <= end]

            def of_size(all, low, high):
                return [each for each in all if low / 1.02 <= each[2] <= high * 1.02]

            occupied = [cell for cell in cells if of_size(of_moment(*cell[:2]), *cell[2:])]
            for begin, end, low, high in occupied[:3] + cells[::len(cells) // 8]:
                moment = of_moment(begin, end)
                sized = of_size(moment, low, high)
                if not moment:
                    continue
                exact += bool(sized)
                self.click_heat(begin, end, low, high)
                self.assertEqual(self.shown(), max(sized or moment, key=lambda it: it[2])[0])
                self.assertEqual(self.marked(), [tag])
                self.assertEqual(len(self.texts("#traces button")), len(sized or moment))
                about = self.texts("#spans-about")[0]
                self.assertTrue(about.startswith(tag + ", 16:"), about)
                self.assertEqual("(none of" in about, not sized, about)
            self.assertGreater(exact, 0, tag)

    def test_open_where_one_can_see_them(self):
        self.page("spans")
        [trace, end, seconds] = self.captured("checkout")[0]
        self.choose("checkout")
        self.click_heat(end, end, seconds, seconds)
        self.stand_still()
        top, bottom = self.evaluate("(() => { const box = document.querySelector('#spans').getBoundingClientRect(); return [box.top, box.bottom]; })()")
        self.assertTrue(0 <= top < 200, top)
        self.assertEqual(self.evaluate("document.activeElement.closest('#traces') !== null"), True)

    def test_where_none_was_captured_it_says_so(self):
        self.page("spans")
        before = self.shown()
        late = self.evaluate("pcpTrace.view.run.begin") + 170_000
        self.click_heat(*next(cell for cell in self.cells("checkout") if cell[0] > late))
        [said] = self.texts(".said")
        self.assertRegex(said, r"^None was captured: checkout, 16:16:1\d – 16:16:1\d, .* – .*\.$")
        self.assertEqual(self.shown(), before)
        self.click("#figures button")
        self.choose("login")
        self.assertEqual(self.texts(".said"), [])

    def test_of_a_percentile_are_captured_ones_of_that_size(self):
        run = self.page("spans")["tags"][0]
        captured = self.captured("checkout")
        names = ["p50", "p90", "p95", "p99", "p999", "max"]
        buttons = self.texts("#figures button")
        self.assertEqual(len(buttons), len(names))
        found = 0
        for i, name in enumerate(names):
            low, high = run[name], run[names[i + 1]] if i < 5 else float("inf")
            sized = [each for each in captured if low / 1.02 <= each[2] <= high * 1.02]
            before = self.shown()
            self.evaluate(f"document.querySelectorAll('#figures button')[{i}].focus()")
            self.browser.press("Enter", "\r")
            if not sized:
                self.assertRegex(self.texts("#known .said")[0], "^None was captured: checkout, from " + name.replace("p999", "p99.9"))
                self.assertEqual(self.shown(), before)
                continue
            found += 1
            self.assertEqual(self.shown(), min(sized, key=lambda it: abs(it[2] - low))[0])
            self.assertEqual(len(self.texts("#traces button")), min(len(sized), 50))
        self.assertGreater(found, 1)

    def test_of_the_shown_time_follow_the_key(self):
        self.page("spans")
        begin = self.evaluate("pcpTrace.view.run.begin")
        self.evaluate("pcpTrace.data.spans.slowest.reverse()")
        self.zoom(60_000, 80_000)
        self.of_chart("Heat map", "chart.plot.focus()")
        self.browser.press("Enter", "\r")
        moment = [each for each in self.captured("checkout") if begin + 59_000 <= each[1] <= begin + 80_000]
        self.assertGreater(len(moment), 3)
        self.assertEqual(len(self.texts("#traces button")), len(moment))
        self.assertEqual(self.shown(), max(moment, key=lambda it: it[2])[0])

    def test_give_way_to_the_slowest_of_all_again(self):
        self.page("spans")
        self.assertEqual(self.texts("#spans-about"), [])
        self.click("#figures button")
        self.assertEqual(len(self.texts("#spans-about")), 1)
        self.evaluate("document.querySelector('#spans-all').click()")
        self.assertEqual(self.texts("#spans-about"), [])
        self.assertEqual(len(self.texts("#traces button")), 50)
        self.assertEqual(self.shown(), self.evaluate("pcpTrace.data.spans.slowest[0].trace"))
        self.assertEqual(self.marked(), [])

    def test_are_not_asked_for_by_zooming(self):
        self.page("spans")
        self.browser.place(".chart:has(.ramp) .plot")
        self.drag_over(".chart:has(.ramp) .plot", 0.3, 0.6)
        self.evaluate("new Promise((done) => setTimeout(done, 350))")
        self.assertEqual(self.texts("#spans-about") + self.texts(".said"), [])
        x, y, _, _ = self.browser.place(".chart:has(.ramp) .plot")
        self.browser.click(x, y)
        self.browser.click(x, y, clicks=2)
        self.evaluate("new Promise((done) => setTimeout(done, 350))")
        self.assertEqual(self.texts("#spans-about") + self.texts(".said"), [])
        self.assertEqual(self.texts("#zoomed"), [])

    def test_without_recorded_spans_it_says_how_to_record_them(self):
        self.page("shop")
        self.click_heat(*self.cells("checkout")[5])
        self.assertEqual(self.texts(".said"), [NONE])
        self.assertEqual(self.texts("#figures button"), [])

    def test_the_pointer_says_what_a_cell_has(self):
        self.page("spans")
        self.choose("checkout")
        count, low, high, begin, end = self.evaluate("""(() => { const [column] = new HeatMap(pcpTrace.page.chosen[0].series.heat).columns;
            const bin = column.bins.reduce((a, b) => b.count > a.count ? b : a);
            return [bin.count, bin.low, bin.high, column.begin, column.end]; })()""")
        self.point_at(*self.place_in_heat(begin, end, low, high))
        size = self.evaluate(f"rangeText([{low}, {high}], formatSeconds)")
        self.assertEqual(self.texts(".tip .cell"), [f"{count} calls of {size}", "Click: captured ones"])

    def test_of_an_archive_are_other_traces_than_the_slowest(self):
        expected = self.page(recorded("exemplars", "--spans", "tag=*"))["spans"]
        self.assertGreater(expected["traces"], 50)
        self.assertEqual(self.evaluate("pcpTrace.data.spans"), expected)
        self.assertRegex(self.texts("#spans-note")[0], r"\Aof .* captured by tag=\*\Z")
        slowest, others = self.evaluate("[pcpTrace.data.spans.slowest, pcpTrace.data.exemplars].map((all) => all.map(({trace}) => trace))")
        self.assertEqual(len(slowest), 50)
        self.assertGreater(len(others), 20)
        self.assertEqual(set(slowest) & set(others), set())
        self.assertEqual(len(set(others)), len(others))
