#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of a report: labels, names, and runs with little in them."""

import json

from page_case import PageTestCase

# Gives pairs of texts that overlap in one chart.
COLLISIONS = """[...document.querySelectorAll(".plot, .axis .track")].flatMap((plot) => {
    const boxes = [...plot.querySelectorAll("text, .labels > span, .dygraph-axis-label, :scope > span")]
        .filter((it) => it.getClientRects().length && it.textContent).map((it) => {
            const range = document.createRange();
            range.selectNodeContents(it);
            const whole = it.getBoundingClientRect(), text = range.getBoundingClientRect();
            return {label: it.textContent, left: Math.max(whole.left, text.left), right: Math.min(whole.right, text.right),
                    top: Math.max(whole.top, text.top), bottom: Math.min(whole.bottom, text.bottom)}; });
    return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) =>
        Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3)
        .map((b) => a.label + " | " + b.label)); })"""

# Gives texts that reach beyond their chart.
CUT = """[...document.querySelectorAll(".plot > svg")].flatMap((chart) => {
    const frame = chart.getBoundingClientRect();
    return [...chart.querySelectorAll("text")].filter((it) => {
        const box = it.getBoundingClientRect();
        return box.left < frame.left - 1 || box.right > frame.right + 1; }).map((it) => it.textContent); })"""


def rows_of(color):
    """Gives, for each column of the first chart's pixels, how many have this colour."""
    return f"""(() => {{ const canvas = document.querySelector("#charts canvas"), {{width, height}} = canvas;
        const probe = document.createElement("canvas").getContext("2d");
        probe.fillStyle = ink("{color}"); probe.fillRect(0, 0, 1, 1);
        const wanted = probe.getImageData(0, 0, 1, 1).data;
        const {{data}} = canvas.getContext("2d").getImageData(0, 0, width, height);
        const columns = new Array(width).fill(0);
        for (let i = 0; i < width * height; ++i)
            if ([0, 1, 2].every((part) => Math.abs(data[4 * i + part] - wanted[part]) < 12) && data[4 * i + 3] > 200)
                ++columns[i % width];
        return columns; }})()"""


class Labels(PageTestCase):
    def test_of_charts_do_not_collide(self):
        runs = ("shop", "bands", "values", "one_sample", "one_value", "families", "hostile", "spans", "hosted")
        for page in self.each_page((500, 1280), runs):
            tags = self.evaluate("pcpTrace.data.tags.map(({name}) => name)")
            for names in [[name] for name in tags[:10]] + [tags[:6]]:
                self.choose(*names)
                self.assertEqual(self.evaluate(COLLISIONS), [], f"{page}: {names}")
                self.assertEqual(self.evaluate(CUT), [], f"{page}: {names}")

    def test_of_time_do_not_collide_wherever_the_ticks_are(self):
        self.page("one_sample")
        self.evaluate("pcpTrace.view.shortest = 10")
        for shift in range(0, 150, 7):
            self.zoom(shift, 400 + 2 * shift)
            self.assertEqual(self.evaluate(COLLISIONS), [], shift)
            self.assertGreater(len(self.texts("#load .dygraph-axis-label-x")), 2)

    def test_of_a_traces_time_do_not_collide_in_little_room(self):
        self.page("spans")
        for width in (100, 170, 240, 330, 500):
            self.evaluate(f"document.querySelector('.waterfall').style.setProperty('width', '{width + 330}px')")
            self.browser.settle()
            self.assertEqual(self.evaluate(COLLISIONS), [], width)
            marks = self.texts(".axis .track span")
            self.assertIn(self.evaluate("formatNanoseconds(pcpTrace.page.trace.duration_ns)"), marks[-1])

    def test_at_the_ends_of_lines_are_in_the_order_of_the_lines(self):
        self.page("shop")
        for end in range(20, 181, 8):
            self.zoom(1000 * (end - 20), 1000 * end)
            ends = self.of_chart("Latency", """{ const to = pcpTrace.view.range()[1], {grid: {middles}} = chart.shown;
                const last = middles.findLastIndex((at) => at <= to);
                return chart.named().map(({label, values}) => [label, values[last]]); }""")
            expected = [name for name, _ in sorted(reversed(ends), key=lambda it: -it[1])]
            self.assertEqual(self.texts("#charts .chart:first-child .labels > span"), expected, end)

    def test_of_equal_lines_have_the_greatest_percentile_on_top(self):
        self.page("one_value")
        self.assertEqual(self.texts("#charts .chart:first-child .labels > span"), ["max", "p99", "p90", "p50"])

    def test_at_the_ends_of_lines_stay_in_the_chart_and_apart(self):
        self.page("only_points")
        for heights, expected in (([50, 50, 50], [43.5, 56.5, 69.5]), ([195, 198, 199], [161, 174, 187]),
                                  ([0, 1], [0, 13]), ([20, 100], [13.5, 93.5]), ([], [])):
            self.assertEqual(self.evaluate(f"stackedTops({heights}, 0, 200)"), expected)

    def test_of_percentiles_that_lie_together_are_joined(self):
        self.page("one_value")
        self.assertEqual(self.texts("#charts text.mark"), ["p50–p99.9"])
        self.page("shop")
        self.choose("render")
        marks = self.texts("#charts text.mark")
        self.assertEqual((marks[0][:3], marks[-1][-5:]), ("p50", "p99.9"))

    def test_of_layers_lie_in_their_layers(self):
        for run in ("shop", "families"):
            self.page(run)
            outside = self.evaluate("""(() => { const chart = pcpTrace.page.load;
                const lefts = Array.from({length: chart.canvasHost.clientWidth}, (_, i) => i);
                const layers = layersOf(chart, lefts);
                return [...document.querySelectorAll("#load .labels > span")].filter((label) => {
                    const k = chart.drawn.findIndex(({label: its}) => its === label.textContent);
                    const middle = parseFloat(label.style.top), left = parseFloat(label.style.left);
                    return [-label.offsetWidth / 2, 0, label.offsetWidth / 2].some((distance) => {
                        const i = Math.round(left + distance);
                        return layers[k].tops[i] > middle - 5 || layers[k].bottoms[i] < middle + 5; });
                }).map((label) => label.textContent); })()""")
            self.assertEqual(outside, [])
            self.assertGreater(len(self.texts("#load .labels > span")), 0, run)


class Names(PageTestCase):
    def test_are_cut_in_the_middle(self):
        self.page("families")
        cut = self.evaluate("""[...document.querySelectorAll("#tags .cut")].slice(0, 8).map((name) => {
            const [head, tail] = name.children;
            return {text: name.textContent, isCut: head.scrollWidth > head.clientWidth, begins: head.clientWidth,
                    ends: tail.textContent, isWhole: tail.scrollWidth <= tail.clientWidth, title: name.title}; })""")
        self.assertEqual(len(cut), 8)
        for name in cut:
            self.assertTrue(name["isCut"] and name["isWhole"], name)
            self.assertGreater(name["begins"], 40)
            self.assertRegex(name["ends"], r"status=\d+}$")
            self.assertEqual(name["title"], name["text"])
        self.assertEqual(len({name["text"] for name in cut}), 8)

    def test_keep_their_letters_whole(self):
        self.page("only_points")
        for text, halves in (("short", ["short"]), ("a" * 14, ["a" * 14]), ("a" * 20 + "b" * 14, ["a" * 20, "b" * 14]),
                             ("a" * 8 + "b" * 8, ["a" * 8, "b" * 8]),
                             ("a" * 20 + "e\u0301" + "b" * 13, ["a" * 20 + "e\u0301", "b" * 13]),
                             ("🐟" * 30, ["🐟" * 16, "🐟" * 14])):
            self.assertEqual(self.evaluate(f"halvesOf({json.dumps(text)}).map((it) => it.textContent)"), halves)

    def test_that_fit_are_whole(self):
        self.page("shop")
        self.assertEqual(self.evaluate("""[...document.querySelectorAll("#tags .cut .head")]
            .filter((it) => it.scrollWidth > it.clientWidth).map((it) => it.textContent)"""), [])


class Little(PageTestCase):
    def test_one_sample_is_a_line_over_its_time(self):
        self.page("one_sample")
        columns = self.evaluate(rows_of("p50"))
        painted = [i for i, count in enumerate(columns) if count]
        self.assertGreater(len(painted), 0.7 * len(columns))
        self.assertEqual(len(painted), painted[-1] - painted[0] + 1)
        self.assertGreater(len(self.texts("#load .labels > span")), 0)
        x, y, _, _ = self.browser.place("#charts .plot")
        self.point_at(x, y)
        end = self.evaluate("clock.time(pcpTrace.view.run.end)")
        self.assertTrue(self.texts("#charts .tip")[0].startswith(end))

    def test_one_sample_between_gaps_is_a_dot_that_can_be_seen(self):
        self.page("shop")
        self.evaluate("""(() => { const [tag] = pcpTrace.data.tags;
            for (const values of Object.values(tag.series))
                if (values instanceof Float32Array) values.forEach((_, i) => { if (i !== 90) values[i] = NaN; });
            pcpTrace.page.choose([tag]); })()""")
        self.assertGreater(sum(self.evaluate(rows_of("p50"))), 20)

    def test_one_value_is_a_narrow_bar_with_its_value(self):
        self.page("one_value")
        self.assertEqual(self.texts("#charts .chart:has(.bar) .key"), ["all 200 of 2\u202fms"])
        [[width, plot]] = self.evaluate("""[...document.querySelectorAll(".plot .bar")].map((bar) =>
            [bar.width.baseVal.value, bar.closest(".plot").clientWidth])""")
        self.assertLess(width, plot / 12)
        self.assertIn("1.5\u202fms", self.texts("#charts .chart:has(.bar) text.tick"))
        self.assertGreater(width, 4)


class Tiles(PageTestCase):
    def tiles(self):
        return dict(zip(self.texts(".card .label"), zip(self.texts(".card strong"), self.texts(".card .note"))))

    def test_have_no_percentiles_of_transactions_together_with_those_inside_them(self):
        expected = self.page("shop")["tags"]
        tiles = self.tiles()
        self.assertEqual(list(tiles), ["Calls", "Failed", "Slowest", "Elapsed"])
        transactions = [tag for tag in expected if tag["failed"] is not None]
        self.assertEqual(tiles["Calls"][0], f"{sum(tag['calls'] for tag in transactions):,.0f}")
        self.assertEqual(tiles["Failed"][0], f"{sum(tag['failed'] for tag in transactions):,.0f}")
        self.assertEqual(tiles["Failed"][1], "most in payment")
        slowest = max(tag["max"] for tag in transactions)
        self.assertEqual(tiles["Slowest"], (self.evaluate(f"formatSeconds({slowest})"), "in checkout"))

    def test_have_percentiles_of_the_outermost_transactions_if_spans_tell_which_these_are(self):
        checkout = self.page("spans")["tags"][0]
        tiles = self.tiles()
        self.assertEqual(list(tiles), ["Requests", "Failed", "p50", "p95", "p99", "Slowest", "Elapsed"])
        self.assertEqual(tiles["Requests"][0], f"{checkout['calls']:,.0f}")
        for name in ("p50", "p95", "p99"):
            self.assertEqual(tiles[name], (self.evaluate(f"formatSeconds({checkout[name]})"), "of checkout"))

    def test_of_one_tag_are_its_own(self):
        self.page("one_value")
        tiles = self.tiles()
        self.assertEqual(tiles["p99"], ("2\u202fms", "of steady"))
        self.assertEqual(tiles["Failed"][0], "0")
