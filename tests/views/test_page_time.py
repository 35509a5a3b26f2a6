#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of a report: charts over time."""

import re

from page_case import PageTestCase


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

    def test_has_pcps_metrics_of_the_host_on_the_axis_of_the_load(self):
        self.page("shop")
        self.assertEqual(self.texts("#host *"), [])
        self.page("hosted")
        self.assertEqual(self.texts("#host h3"), ["filesys.free", "kernel.all.cpu.user", "disk.dev.write", "mem.util.free",
                                                  "mem.util.used"])
        self.assertEqual(self.texts("#host .entry")[:8], [
            "/dev/vda1", "bytes", "user", "seconds per second", "sda", r"<b>&amp;\xe2\x80\xae", "“”", "per second"])
        self.assertEqual(self.texts("#host-more"), ["1 more value: pcp-trace report --json, and the archive."])
        edges = self.evaluate("""[...pcpTrace.view.charts].filter(({plot}) => plot.closest('#load, #host'))
            .map(({graph, plot}) => plot.getBoundingClientRect().left + graph.getArea().x + ' ' + graph.getArea().w)""")
        self.assertEqual((len(edges), len(set(edges))), (6, 1), edges)
        self.drag_over("#host .plot", 0.4, 0.6)
        self.assertEqual(len(self.windows()), 1)
        begin, end = map(int, self.windows()[0].split())
        self.assertTrue(25_000 < end - begin < 60_000, self.windows())
        self.click("#whole-run")
        for at, shown in ((110, "0\u202fB"), (50, "15\u202fGB")):
            self.evaluate(f"view.pointed = page.hostCharts[0], view.pointAt(view.run.begin + {at}500)")
            self.assertEqual(self.texts("#host .tip b"), [shown])
        self.evaluate("view.pointed = page.hostCharts[2], view.pointAt(view.run.begin + 42500)")
        self.assertEqual(self.texts("#host .tip b"), ["–"] * 3)
        self.click("#host-all")
        self.click("#theme")
        self.assertEqual(len(self.texts("#host h3")), 6)

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
        moment = self.evaluate("pcpTrace.data.tags[2].slowest.at")
        self.assertTrue(begin <= moment <= end)
        self.assertLess(end - begin, 30_000)

    def test_a_slowest_moment_is_the_begin_of_a_captured_call_or_the_time_before_a_sample(self):
        self.page("shop")
        at = "pcpTrace.data.tags.filter(({slowest}) => slowest).sort((a, b) => b.slowest.value - a.slowest.value)"
        times = self.evaluate(f"{at}.map(({{name, slowest}}) => clock.time(slowest.at, name === 'payment'))")
        names = self.evaluate(f"{at}.map(({{name}}) => name)")
        self.assertEqual(self.texts("#slowest time"), [
            f"began at {time}" if name == "payment" else f"in the second before {time}" for name, time in zip(names, times)])
        for moment, text in (("{at: 1500, is_begin: false, within_s: 0.1}", "in the 100\u202fms before 00:00:01.500"),
                             ("{at: 1500, is_begin: false, within_s: null}", "before 00:00:01"),
                             ("{at: null, is_begin: false, within_s: null}", "")):
            self.assertEqual(self.evaluate(f"(clock.offset = 0, momentText({moment}))"), text)

    def test_the_pointer_reads_what_is_there(self):
        expected = self.page("shop")
        x, y, _, _ = self.browser.place("#charts .plot")
        self.point_at(x, y)
        row = self.evaluate("[...pcpTrace.view.charts].find((it) => !it.tip.hidden).graph.getSelection()")
        median = self.evaluate(f"formatSeconds({expected['series'][0]['p50'][row]})")
        self.assertIn("p50" + median, self.texts("#charts .tip")[0])
        crosses = self.evaluate("[...document.querySelectorAll('#load .cross, #charts .cross')].filter((it) => !it.hidden).length")
        self.assertGreater(crosses, 3)

    def test_more_points_than_pixels_become_fewer_and_zooming_shows_each(self):
        self.page("large")
        self.assertGreater(self.evaluate("[...pcpTrace.view.charts][0].shown.step"), 1)
        self.zoom(0, 100_000)
        self.assertEqual(self.evaluate("[...pcpTrace.view.charts].map(({shown}) => shown.step)"), [1] * 5)

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


class InFlight(PageTestCase):
    """The number of open transactions."""

    def layers(self):
        return self.evaluate("pcpTrace.page.load.drawn.map(({label, values}) => [label, [...values]])")

    def test_is_shown_instead_of_the_average_on_demand(self):
        run = self.page("shop")
        self.assertEqual(self.texts("#load-title"), ["Busy"])
        names = [tag["name"] for tag in run["tags"][:7]]
        self.assertEqual(self.layers(), [[name, series["sum"]] for name, series in zip(names, run["series"])])
        self.click("#load-kinds [data-name=inFlight]")
        self.assertEqual(self.texts("#load-title"), ["In flight"])
        self.assertEqual(self.layers(), [[name, series["inflight"]] for name, series in zip(names, run["series"])])
        self.assertEqual(self.evaluate("document.activeElement.textContent"), "In flight")
        self.assertGreater(max(run["series"][0]["inflight"]), 2)

    def test_of_a_tag_is_beside_the_average(self):
        run = self.page("shop")
        shown = self.of_chart("In flight", "chart.drawn.map(({label, values}) => [label, [...values]])")
        self.assertEqual(shown, [["busy", run["series"][0]["sum"]], ["in flight", run["series"][0]["inflight"]]])

    def test_that_is_unknown_is_not_offered(self):
        self.page("bands")
        self.assertEqual(self.texts("#load-kinds"), [])
        self.assertIn("Busy", self.texts("#charts h3"))

    def test_of_the_rest_is_added_up(self):
        run = self.page("families")
        self.click("#load-kinds [data-name=inFlight]")
        [*_, [label, rest]] = self.layers()
        fine = [series["inflight"] for series in run["series"][7:50]]
        self.assertEqual((label, rest), ("43 others", [sum(each) for each in zip(*fine)]))


class Axes(PageTestCase):
    def test_of_large_numbers_that_hardly_differ_has_few_marks(self):
        self.page("only_points")
        for least, greatest in ((1e18, 1e18 + 1000), (-1e18 - 1000, -1e18), (1e300, 1e300 * (1 + 1e-15))):
            count = self.evaluate(f"linearTicks(formatPlain)({least!r}, {greatest!r}, 360).length")
            self.assertIn(count, range(12), least)
        self.assertEqual(self.evaluate("linearTicks(formatPlain)(0, 1, 180).map(({v}) => v)"), [0, 0.2, 0.4, 0.6000000000000001, 0.8, 1])


class TimeAxis(PageTestCase):
    def test_shows_milliseconds_in_full(self):
        self.page("only_points")
        labels = self.texts("#detail .dygraph-axis-label-x")
        self.assertGreater(len(labels), 3)
        self.assertEqual(len(set(labels)), len(labels), labels)
        self.assertTrue(all(re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3}", label) for label in labels), labels)
        self.assertEqual(self.evaluate("""[...document.querySelectorAll('#detail .dygraph-axis-label-x')]
            .filter((label) => label.scrollWidth > label.clientWidth).map((label) => label.textContent)"""), [])
