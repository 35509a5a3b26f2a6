# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of a report, as a headless Chromium shows it. The runs are made up by page_maker.cpp."""

import base64
import functools
import json
import os
import re
import subprocess
import tempfile
import time
import unittest

from browser import Browser

MAKER = os.environ["PAGE_MAKER"]
MOST_BYTES = 20_000_000  # the largest page
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
    done = subprocess.run([MAKER, run, path], check=True, capture_output=True, text=True)
    return path, json.loads(done.stdout)


class PageTestCase(unittest.TestCase):
    """Each test opens one page; all share a browser."""

    maxDiff = None

    def setUp(self):
        self.browser = browser()

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

    def texts(self, selector):
        """Gives the text of each element that is shown."""
        return self.evaluate(f"""[...document.querySelectorAll({json.dumps(selector)})]
            .filter((it) => it.getClientRects().length).map((it) => it.textContent)""")

    def click(self, selector, **how):
        x, y, _, _ = self.browser.place(selector)
        self.browser.click(x, y, **how)

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


class Values(PageTestCase):
    def assert_same(self, run):
        expected = self.page(run)
        found = self.evaluate(f"""pcpTrace.data.tags.map((tag) => Object.fromEntries(
            {json.dumps(list(expected["tags"][0]))}.map((name) => [name, tag[name]])))""")
        self.assertEqual(found, expected["tags"])
        self.assertEqual(self.evaluate("pcpTrace.data.tags.filter(({series}) => series).length"), len(expected["series"]))
        for series in expected["series"][:60]:
            found = self.evaluate(f"""(() => {{ const {{series}} = pcpTrace.data.tags[{series["tag"]}];
                return Object.fromEntries(Object.entries(series).filter(([, it]) => it instanceof Float32Array)
                    .map(([name, values]) => [name, [...values].map((it) => Number.isNaN(it) ? null : it)])); }})()""")
            self.assertEqual(found, {name: values for name, values in series.items() if name != "tag"})
        return expected

    def test_are_those_of_the_run(self):
        self.assert_same("shop")

    def test_are_those_of_a_run_without_histograms(self):
        self.assert_same("bands")

    def test_are_those_of_an_archive(self):
        folder = os.path.join(directory.name, "demo.trace")
        subprocess.run([os.environ["PCP_TRACE"], "record", "-o", folder, "-t", "200ms", os.environ["WORKER_POOL"], "2"],
                       check=True, stdout=subprocess.DEVNULL)
        expected = self.assert_same(os.path.join(folder, "trace"))
        self.assertGreater(sum(tag["count"] for tag in expected["tags"]), 1000)
        self.assertEqual(self.texts("#title"), [os.environ["WORKER_POOL"] + " 2"])
        self.assertIn("Latency by percentile", self.texts("#charts h3"))

    def test_are_those_of_a_large_run_and_the_page_is_not_too_large(self):
        self.assert_same("large")
        size = os.path.getsize(self.path)
        began = time.monotonic()
        self.browser.open(self.path)
        print(f"10,000 tags, 50 of them with 3,600 points: {size / 1e6:.1f} MB, open in {time.monotonic() - began:.1f} s")
        self.assertLess(size, MOST_BYTES)

    def test_distributions_and_heat_maps_have_all_calls(self):
        for run in ("shop", "large"):
            calls = [tag["count"] for tag in self.page(run)["tags"][:7]]
            for counts in ("distribution.counts", "series.heat.flatMap(({counts}) => counts)"):
                found = self.evaluate(f"pcpTrace.data.tags.slice(0, 7).map((tag) => tag.{counts}.reduce((a, b) => a + b))")
                self.assertEqual(found, calls, f"{counts} of {run}")

    def test_percentiles_lie_where_the_distributions_have_them(self):
        expected = self.page("shop")
        for name, share in (("p50", 0.5), ("p99", 0.99)):
            found = self.evaluate(f"""pcpTrace.data.tags.slice(0, 7).map(({{distribution}}) => {{
                const bins = binsOf(distribution);
                let left = Math.ceil({share} * bins.reduce((sum, {{count}}) => sum + count, 0));
                return bins.find(({{count}}) => (left -= count) <= 0); }}).map(({{low, high}}) => (low + high) / 2)""")
            self.assertEqual(found, [tag[name] for tag in expected["tags"][:7]])

    def test_bins_begin_and_end_where_the_library_has_them(self):
        self.page("shop")
        for bin_, coarseness, low, high in ((1023 * 32, 0, 1, 1 + 1 / 32), (1023 * 8, 2, 1, 1.125), (1024, 5, 2, 4),
                                            (0, 0, 0, 0), (~(1023 * 32), 0, -1 - 1 / 32, -1)):
            found = self.evaluate(f"[lowerEdge({bin_}, {coarseness}), upperEdge({bin_}, {coarseness})]")
            self.assertEqual(found, [low, high], bin_)

    def test_times_are_of_the_runs_zone(self):
        self.page("shop")
        self.assertIn("2026-09-21 16:13:20 – 16:16:20 CEST", self.texts("#facts")[0])


class Text(PageTestCase):
    def test_numbers_can_be_read(self):
        self.page("only_points")
        for expression, text in (("formatSeconds(0.0012345)", "1.23 ms"), ("formatSeconds(0.000000012)", "12 ns"),
                                 ("formatSeconds(0.00098)", "980 µs"), ("formatSeconds(59.94)", "59.9 s"),
                                 ("formatSeconds(3725)", "1:02:05 h"), ("formatSeconds(null)", "–"),
                                 ("formatSeconds(0)", "0 s"), ("formatSeconds(0.001)", "1 ms"),
                                 ("formatSeconds(0.99996)", "1 s"), ("formatSeconds(0.9989)", "999 ms"),
                                 ("formatCount(1234567)", "1,234,567"), ("formatShort(68900000)", "68.9 M"),
                                 ("formatPlain(318169088)", "318.2 M"), ("formatPlain(-1234.5)", "-1,235"),
                                 ("formatValue({type: 'counter', unit: 'byte'})(318169088)", "318.2 MB"),
                                 ("formatValue({type: 'counter', unit: 'row'})(12)", "12 row"),
                                 ("formatRate(0.0213)", "0.0213/s"), ("formatPercent(0.00001)", "<0.01%"),
                                 ("formatPercent(1)", "100%"), ("formatPercent(0)", "0%")):
            self.assertEqual(self.evaluate(expression).replace("\u202f", " "), text, expression)

    def test_what_is_unknown_says_why(self):
        self.page("bands")
        self.assertIn("Unknown: the agent gives percentiles of one window",
                      self.evaluate("document.querySelector('tr.choice td[title]').title"))
        self.assertIn("Unknown: percentiles of several tags cannot",
                      self.evaluate("[...document.querySelectorAll('.card')].find((it) => it.textContent.startsWith('p50')).title"))

    def test_hostile_names_are_text(self):
        self.page("hostile")
        names = self.texts("#tags .name")
        for name in ("</script><script>window.broken = 1</script>", '<img src=x onerror="window.broken = 2">',
                     "\"'`${window.broken = 3}\\", "\\u202egnp.exe", "w" * 250, "\\x01\\x1b[31mred\\x7f\\x09\\x0a",
                     "\\xff\\xfe not UTF-8", "\\x20leading blank", "@PAGE_DATA@ {{x}} %s", "מחיר سعر", "🐟"):
            self.assertIn(name, names)
        for tag in range(len(names)):
            self.evaluate(f"pcpTrace.page.choose([pcpTrace.data.tags[{tag}]])")
        self.evaluate("pcpTrace.page.choose(pcpTrace.data.tags.slice(0, 6))")
        self.browser.settle()
        self.assertIsNone(self.evaluate("window.broken"))
        self.assertEqual(self.evaluate("document.querySelectorAll('script').length"), 3)
        self.assertEqual(self.evaluate("document.querySelectorAll('main img, main b b, #title b').length"), 0)
        self.assertEqual(self.texts("#title"), ["./app '</title><script>window.broken = 4</script>'"])

    def test_an_empty_run_says_so(self):
        self.page("empty")
        self.assertIn("Nothing was traced in this run", self.texts("#notice")[0])
        self.assertEqual(self.texts("#tags-panel"), [])

    def test_a_run_of_points_only_shows_no_latencies(self):
        self.page("only_points")
        self.assertEqual(self.texts(".card .label"), ["Points", "Elapsed"])
        self.assertEqual(self.texts("#charts h3"), ["Rate"])


class Tags(PageTestCase):
    def first_names(self):
        return self.texts("#tags .name")[:3]

    def test_are_sorted_by_any_column(self):
        self.page("shop")
        self.assertEqual(self.first_names(), ["checkout", "search{index=products}", "payment"])
        self.evaluate("[...document.querySelectorAll('#tags th button')].find((it) => it.textContent === 'Calls').click()")
        self.assertEqual(self.first_names(), ["render", "search{index=products}", "sql{table=orders}"])
        self.evaluate("[...document.querySelectorAll('#tags th button')].find((it) => it.textContent.endsWith('Calls')).click()")
        self.assertEqual(self.first_names(), ["login", "cache-fill", "payment"])
        self.assertEqual(self.evaluate("document.querySelector('th[aria-sort=ascending]').textContent"), "▲Calls")
        self.evaluate("document.querySelector('#tags th button').click()")
        self.assertEqual(self.first_names(), ["cache-fill", "checkout", "login"])

    def test_are_searched(self):
        self.page("shop")
        self.evaluate("document.getElementById('search').focus()")
        for letter in "C H":
            self.browser.press(letter)
        self.assertEqual(sorted(self.texts("#tags .name")), ["cache-fill", "checkout", "search{index=products}"])
        self.assertIn("Points 1 of 1", self.texts("#kinds button"))
        self.browser.press("x", "x")
        self.assertEqual(self.texts("#tags td"), ["Nothing matches."])

    def test_of_ten_thousand_only_those_that_are_seen_are_in_the_document(self):
        self.page("large")
        self.assertLess(self.evaluate("document.querySelectorAll('#tags tr').length"), 40)
        self.evaluate("document.querySelector('.scroll').focus()")
        self.browser.press("End")
        self.assertEqual(self.texts("tr[aria-selected=true] .name"), ["total-0{route=/catalogue;zone=eu}"])
        self.assertEqual(self.texts("#detail-title .name"), ["total-0{route=/catalogue;zone=eu}"])
        self.assertLess(self.evaluate("document.querySelectorAll('#tags tr').length"), 40)

    def test_are_chosen_by_keys(self):
        self.page("shop")
        self.evaluate("document.querySelector('.scroll').focus()")
        self.browser.press("ArrowDown")
        self.assertEqual(self.texts("#detail-title .name"), ["search{index=products}"])
        self.browser.press("ArrowUp")
        self.assertEqual(self.texts("#detail-title .name"), ["checkout"])

    def test_say_what_they_stand_for(self):
        self.page("shop")
        self.assertEqual(self.texts("#detail-text"), [""])
        self.click("#kinds button[data-kind=observe]")
        self.click("#tags tr.choice")
        self.assertEqual(self.texts("#detail-title small"), ["observation, in job"])
        self.assertEqual(self.texts("#detail-text"), ["Jobs that wait <b>for</b> a\\u202e worker"])
        self.assertRegex(self.texts("#figures dd")[-1], "\u202fjob$")
        self.evaluate("pcpTrace.page.choose(pcpTrace.data.tags.slice(0, 2))")
        self.assertEqual(self.texts("#detail-text"), [""])

    def test_stand_side_by_side(self):
        self.page("shop")
        self.click("#tags tr.choice:nth-child(3)", modifiers=CONTROL)
        self.assertEqual(self.texts("#detail-title .name"), ["checkout", "payment"])
        self.assertEqual(self.texts("#charts h3"), ["Median latency", "p99 latency", "Greatest latency", "Rate", "Latency by percentile"])
        self.click("#tags tr.choice:nth-child(3)", modifiers=CONTROL)
        self.assertEqual(self.texts("#detail-title .name"), ["checkout"])

    def test_of_each_kind_have_charts_that_fit(self):
        self.page("shop")
        for kind, charts in (("transact", ["Latency", "Heat map", "Rate", "Distribution", "Latency by percentile", "Slowest moments"]),
                             ("observe", ["Values", "Heat map", "Rate", "Value", "Distribution", "Value by percentile"]),
                             ("counter", ["Rate", "Added per second", "Value"]), ("point", ["Rate"])):
            self.click(f"#kinds button[data-kind={kind}]")
            self.assertEqual(self.texts("#charts h3"), charts)

    def test_with_few_histograms_have_bands_instead_of_a_heat_map(self):
        self.page("shop")
        self.evaluate("""(() => { const [tag] = pcpTrace.data.tags;
            tag.series.heat = tag.series.heat.slice(0, 7); pcpTrace.page.choose([tag]); })()""")
        self.assertEqual(self.texts("#charts h3"), ["Latency", "Rate", "Distribution", "Latency by percentile", "Slowest moments"])
        self.assertTrue(self.evaluate("Boolean([...pcpTrace.view.charts].find(({title}) => title === 'Latency').paint)"))

    def test_of_zeros_negative_and_equal_values_have_charts(self):
        self.page("values")
        names = self.texts("#tags .name")
        self.assertEqual(len(names), 5)
        for name in names:
            self.evaluate(f"pcpTrace.page.choose([pcpTrace.data.tags.find(({{name}}) => name === {json.dumps(name)})])")
            self.browser.settle()
            self.assertEqual(self.texts("#charts h3"), ["Values", "Heat map", "Rate", "Value", "Distribution", "Value by percentile"])
            bars = self.evaluate("[...document.querySelectorAll('.plot .bar')].map((it) => it.height.baseVal.value)")
            self.assertGreater(max(bars), 150, name)
            widths = self.evaluate("[...document.querySelectorAll('.plot .bar')].map((it) => it.width.baseVal.value)")
            self.assertLess(max(widths) - min(widths), 0.1, name)
            broken = self.evaluate("document.getElementById('charts').innerHTML.match(/NaN|Infinity/)")
            self.assertIsNone(broken, name)

    def test_two_runs_are_compared(self):
        self.page("compared")
        rows = self.texts("#compared tbody tr")
        self.assertIn("payment", rows[0])
        self.assertIn("▲\u202f+67%", rows[0])
        self.assertTrue(any("sign-in" in row and "absent" in row for row in rows))


class Time(PageTestCase):
    def test_zooms_all_charts_together_and_back(self):
        self.page("shop")
        whole = self.windows()
        self.assertEqual(len(whole), 1)
        self.drag_over("#charts .plot", 0.4, 0.6)
        zoomed = self.windows()
        self.assertEqual(len(zoomed), 1)
        begin, end = map(int, zoomed[0].split())
        self.assertTrue(25_000 < end - begin < 60_000, zoomed)
        self.assertTrue(self.texts("#zoomed"))
        self.click("#whole-run")
        self.assertEqual(self.windows(), whole)
        self.assertEqual(self.texts("#zoomed"), [])
        self.drag_over("#load .plot", 0.4, 0.6)
        self.assertNotEqual(self.windows(), whole)
        x, y, _, _ = self.browser.place("#load .plot")
        self.browser.click(x, y)
        self.browser.click(x, y, clicks=2)
        self.assertEqual(self.windows(), whole)

    def test_moves_by_keys(self):
        self.page("shop")
        whole = self.windows()
        self.evaluate("document.querySelector('#charts .plot').focus()")
        self.browser.press("+")
        begin, end = map(int, self.windows()[0].split())
        self.assertEqual(end - begin, 90_000)
        self.browser.press("-")
        self.assertEqual(self.windows(), whole)
        self.browser.press("+")
        self.browser.press("Escape")
        self.assertEqual(self.windows(), whole)

    def test_a_slowest_moment_leads_there(self):
        self.page("shop")
        self.click("#slowest li:nth-child(2) button")
        self.assertEqual(self.texts("#detail-title .name"), ["payment"])
        begin, end = map(int, self.windows()[0].split())
        moment = self.evaluate("pcpTrace.data.tags[2].slowestAt")
        self.assertTrue(begin <= moment <= end)
        self.assertLess(end - begin, 30_000)

    def test_the_pointer_reads_what_is_there(self):
        expected = self.page("shop")
        x, y, _, _ = self.browser.place("#charts .plot")
        self.browser.mouse("mouseMoved", x, y)
        self.browser.settle()
        row = self.evaluate("[...pcpTrace.view.charts].find((it) => !it.tip.hidden).graph.getSelection()")
        median = self.evaluate(f"formatSeconds({expected['series'][0]['p50'][row]})")
        self.assertIn("p50" + median, self.texts("#charts .tip")[0])
        crosses = self.evaluate("[...document.querySelectorAll('#load .cross, #charts .cross')].filter((it) => !it.hidden).length")
        self.assertGreater(crosses, 3)

    def test_more_points_than_pixels_become_fewer_and_zooming_shows_each(self):
        self.page("large")
        self.assertGreater(self.evaluate("[...pcpTrace.view.charts][0].shown.step"), 1)
        self.evaluate("pcpTrace.view.zoom([pcpTrace.view.run.begin, pcpTrace.view.run.begin + 100000])")
        self.assertEqual(self.evaluate("[...pcpTrace.view.charts].map(({shown}) => shown.step)"), [1] * 4)

    def test_what_can_be_added_up_stays_exact_when_points_are_joined(self):
        self.page("only_points")
        joined = self.evaluate("""(() => {
            const grid = gridOf([0, 1000, 3000, 3500, 5500, 6500]);
            const line = {values: Float32Array.of(10, 1, 4, NaN, 6), merge: "rate"};
            return [2, 3].map((step) => [...thinned(grid, [line], step).lines[0].values]); })()""")
        self.assertEqual(joined, [[4, 4, 6], [4, 6]])  # 10 + 2 in 3 s; 2 in 0.5 s; 3 in 0.5 s; 14 in 3.5 s

    def test_the_rest_of_an_interval_at_the_end_is_no_fall(self):
        self.page("only_points")
        joined = self.evaluate("""(() => {
            const line = {values: Float32Array.of(10, 10, 0), merge: "rate"};
            const {grid, lines} = thinned(gridOf([0, 1000, 2000, 2100]), [line], 1);
            return [[...grid.edges], [...lines[0].values].map((value) => value.toFixed(1))]; })()""")
        self.assertEqual(joined, [[0, 1000, 2100], ["10.0", "9.1"]])

    def test_a_sparkline_does_not_fall_at_the_end_either(self):
        self.page("only_points")
        heights = self.evaluate("""[[0, 1000, 2000, 2100], [0, 1000, 1100], [0]].map((edges) => {
            const series = {grid: gridOf(edges), calls: Float32Array.of(100, 110, 0).subarray(0, edges.length - 1)};
            const line = sparkline(series).querySelector("polyline");
            return line && line.getAttribute("points").split(" ").map((point) => point.split(",")[1]); })""")
        self.assertEqual(heights, [["3.0", "3.0"], None, None])

    def test_a_heat_map_is_not_dulled_by_a_few_calls_in_an_instant(self):
        self.page("shop")
        self.assertEqual(self.evaluate("""new HeatMap([{begin: 0, end: 1000, coarseness: 2, bins: [8000], counts: [50]},
            {begin: 1000, end: 1001, coarseness: 2, bins: [8000], counts: [3]}]).most"""), 50)

    def test_of_joined_percentiles_the_middle_one_is_shown_and_the_greatest_maximum(self):
        self.page("only_points")
        joined = self.evaluate("""["middle", "greatest", "least", "last"].map((merge) =>
            thinned(gridOf([0, 1, 2, 3]), [{values: Float32Array.of(2, 9, 5), merge}], 3).lines[0].values[0])""")
        self.assertEqual(joined, [5, 9, 2, 5])

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

    def choose(self, index):
        self.evaluate(f"document.querySelectorAll('#traces button')[{index}].click()")
        self.browser.settle()

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
            self.choose(index)
            self.assert_waterfall(expected["slowest"][index])

    def test_are_those_of_an_archive(self):
        folder = os.path.join(directory.name, "spans.trace")
        subprocess.run([os.environ["PCP_TRACE"], "record", "-o", folder, "-t", "200ms", "--spans", "tag=*",
                        os.environ["WORKER_POOL"], "2"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        expected = self.page(os.path.join(folder, "trace"))["spans"]
        self.assertGreater(expected["traces"], 50)
        self.assertEqual(self.evaluate("pcpTrace.data.spans"), expected)
        self.assertRegex(self.texts("#spans-note")[0], r"\Aof .* captured by tag=\* limit=1000/s\Z")
        for index in (0, 49):
            self.choose(index)
            self.assert_waterfall(expected["slowest"][index])

    def test_say_where_they_change_and_what_is_known_of_them(self):
        spans = self.page("spans")["spans"]
        self.choose(next(i for i, trace in enumerate(spans["slowest"])
                         if trace["spans"][0]["tag"] == "checkout" and any(span.get("aborted") for span in trace["spans"])))
        rows = {row["tag"]: row for row in self.rows()}
        self.assertEqual({tag: row["where"] for tag, row in rows.items() if row["where"]},
                         {"checkout": "front 4711 @ build7", "reserve": "stock 815 @ build9", "authorise": "bank 99"})
        self.assertEqual(rows["checkout"]["notes"], "route /cartcustomer golditems 3")
        self.assertEqual(rows["sql{table=orders}"]["notes"], "rows 12statement update orders set state")
        self.assertEqual(rows["payment"]["notes"], "aborted: card declined: try again")
        self.assertIn("see also 0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", rows["authorise"]["notes"])
        self.assertIn("no room for 2 notes", rows["authorise"]["notes"])
        self.assertEqual([text for text in self.texts(".waterfall .what") if "=" in text and "{" not in text], ["queue-length = 17"])
        self.assertIn("bytes-sent + 4,096", self.texts(".waterfall .what"))

    def test_say_what_is_not_there(self):
        spans = self.page("spans")["spans"]["slowest"]
        self.choose(next(i for i, trace in enumerate(spans) if trace["left_out"]))
        self.assertIn("200 shorter spans left out", self.texts("#trace-facts span"))
        self.choose(next(i for i, trace in enumerate(spans) if not trace["has_root"]))
        self.assertTrue(any(text.startswith("3 parents not recorded") for text in self.texts("#trace-facts span")),
                        self.texts("#trace-facts span"))
        self.assertIn("some of its parts were not captured", self.texts("#trace-facts span"))
        rows = {row["tag"]: row for row in self.rows()}
        self.assertIn("its part in front<b> was not captured", rows["payment"]["notes"])
        self.assertNotIn("captured", rows["session"]["notes"])

    def test_that_are_many_say_how_many_are_below(self):
        spans = self.page("spans")["spans"]["slowest"]
        self.choose(next(i for i, trace in enumerate(spans) if trace["left_out"]))
        heights = "(() => { const {scrollHeight, clientHeight} = document.querySelector('.waterfall'); return [scrollHeight, clientHeight]; })()"
        scroll, client = self.evaluate(heights)
        self.assertGreater(client, 30 * 28)
        rows = (scroll - client) / 28
        [text] = self.texts(".more")
        self.assertAlmostEqual(int(re.fullmatch(r"↓ (\d+) more below", text)[1]), rows, delta=1)
        self.evaluate("document.querySelector('.waterfall').scrollTo(0, 1e6)")
        self.browser.settle()
        self.assertEqual(self.texts(".more"), [""])
        self.choose(next(i for i, trace in enumerate(spans) if not trace["left_out"]))
        scroll, client = self.evaluate(heights)
        self.assertEqual(scroll, client)
        self.assertEqual(self.texts(".more"), [""])

    def test_are_reached_by_keys(self):
        spans = self.page("spans")["spans"]["slowest"]
        self.assertEqual(self.evaluate("document.querySelectorAll('#traces button[tabindex=\"0\"]').length"), 1)
        self.evaluate("document.querySelector('#traces button').focus()")
        self.browser.press("ArrowDown")
        self.assertEqual(self.evaluate("pcpTrace.page.trace.trace"), spans[1]["trace"])
        self.browser.press("End")
        self.assertEqual(self.evaluate("pcpTrace.page.trace.trace"), spans[-1]["trace"])
        self.browser.press("Home")
        self.assertEqual(self.evaluate("pcpTrace.page.trace.trace"), spans[0]["trace"])
        self.browser.press("Tab")
        self.assertEqual(self.evaluate("document.activeElement.getAttribute('role')"), "row")
        self.browser.press("ArrowDown")
        self.assertEqual(self.evaluate("document.activeElement.querySelector('.name').textContent"), spans[0]["spans"][1]["tag"])

    def test_of_hostile_programs_are_text(self):
        trace = self.page("hostile")["spans"]["slowest"][0]
        self.assert_names_are_text(trace)
        self.assertIsNone(self.evaluate("window.broken"))
        self.assertEqual(self.evaluate("document.querySelectorAll('#spans img, #spans script, #spans b b, #spans bdi b').length"), 0)
        notes = self.rows()[0]["notes"]
        for text in ("<img src x onerror=\"window.broken=5\">", "__proto__ <b>b</b>", "number -1e+300"):
            self.assertIn(text, notes)

    def assert_names_are_text(self, trace):
        names = [self.evaluate(f"visibleName({json.dumps(span['tag'])})") for span in trace["spans"]]
        self.assertEqual([row["tag"] for row in self.rows()], names)

    def test_are_not_spoken_of_where_nobody_asked_for_them(self):
        self.page("shop")
        self.assertEqual(self.texts("#spans"), [])

    def test_that_have_not_come_are_said_to_be_missing(self):
        self.page("without_spans")
        self.assertEqual(self.texts("#spans-none"), ["No transaction that the filter tag=nosuch limit=1000/s asks for has ended, but 3 spans missed."])
        self.assertEqual(self.texts("#spans-split"), [])


class TimeAxis(PageTestCase):
    def test_shows_milliseconds_in_full(self):
        self.page("only_points")
        labels = self.texts("#detail .dygraph-axis-label-x")
        self.assertGreater(len(labels), 3)
        self.assertEqual(len(set(labels)), len(labels), labels)
        self.assertTrue(all(re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3}", label) for label in labels), labels)
        self.assertEqual(self.evaluate("""[...document.querySelectorAll('#detail .dygraph-axis-label-x')]
            .filter((label) => label.scrollWidth > label.clientWidth).map((label) => label.textContent)"""), [])


class Look(PageTestCase):
    def theme(self):
        return self.evaluate("[document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor]")

    def test_is_dark_or_light_as_the_reader_has_it_or_chooses(self):
        self.page("shop")
        light = self.theme()
        self.assertEqual(light[0], "light")
        self.click("#theme")
        dark = self.theme()
        self.assertEqual(dark[0], "dark")
        self.assertNotEqual(light[1], dark[1])
        self.browser.look(1280, 900, "dark")
        self.browser.open(self.path)
        self.assertEqual(self.theme(), dark)
        self.browser.look(1280, 900, "light")

    def test_fits_narrow_and_wide_windows(self):
        for width in (390, 700, 1280, 2000):
            self.browser.look(width, 900, "light")
            for run in ("shop", "spans", "hostile"):
                self.page(run)
                self.assertLessEqual(self.evaluate("document.documentElement.scrollWidth"), width, f"{run} at {width}")
                self.assertLessEqual(self.evaluate("document.querySelector('.scroll').scrollWidth"), width, f"{run} at {width}")
        self.browser.look(1280, 900, "light")

    def test_everything_that_is_chosen_has_a_name_and_is_reached_by_keys(self):
        self.page("shop")
        unnamed = self.evaluate("""[...document.querySelectorAll("button, input, [tabindex]")]
            .filter((it) => it.getClientRects().length && !(it.textContent.trim() || it.getAttribute("aria-label"))).map((it) => it.outerHTML)""")
        self.assertEqual(unnamed, [])
        self.assertEqual(self.evaluate("document.querySelectorAll('h1').length"), 1)
        self.assertEqual(self.evaluate("document.title"), "./shop --port 8080 · pcp trace")

    def test_lines_differ_without_colour(self):
        self.page("shop")
        styles = self.evaluate("""[...document.querySelectorAll("#charts .chart:first-child .sample line")]
            .map((it) => it.getAttribute("stroke-width") + " " + it.getAttribute("stroke-dasharray"))""")
        self.assertEqual(len(styles), 6)
        self.assertEqual(len(set(styles)), 6)

    def test_ten_thousand_tags_are_printed_on_a_few_pages(self):
        self.page("large")
        printed = base64.b64decode(self.browser.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.7)["data"])
        self.assertLess(max(map(int, re.findall(rb"/Count (\d+)", printed))), 10)

    def test_is_printed_light_and_comes_back(self):
        self.browser.look(1280, 900, "dark")
        self.page("shop")
        self.evaluate("dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(self.theme()[0], "light")
        self.evaluate("dispatchEvent(new Event('afterprint'))")
        self.assertEqual(self.theme()[0], "dark")
        self.browser.look(1280, 900, "light")
