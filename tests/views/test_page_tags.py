#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of a report: the table of tags, and the chosen ones in detail."""

from page_case import CONTROL, PageTestCase


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

    def test_keep_the_column_of_their_order_in_little_room(self):
        self.look(500)
        self.page("shop")
        self.assertEqual(self.texts("#tags th"), ["Tag", "p99", "▼Busy"])

    def test_show_small_shares_of_failures_whole(self):
        self.page("shop")
        cut = self.evaluate("""(() => { pcpTrace.data.tags.slice(0, 3).forEach((tag, i) => { tag.failed = [1, 10, 1e9][i]; tag.calls = i < 2 ? 9e4 : 1e9 + 9e4; });
            pcpTrace.page.showKind("transact"); return [...document.querySelectorAll("#tags td")].filter((it) => it.querySelector(".failed"))
                .map((it) => [it.textContent, it.scrollWidth > it.clientWidth]); })()""")
        self.assertEqual(cut[:3], [["<0.01%", False], ["0.011%", False], ["99.99%", False]])

    def test_that_others_have_replaced_are_not_drawn_again(self):
        self.page("shop")
        self.evaluate("""(() => { window.drawn = new Set(); const {draw} = Table.prototype;
            Table.prototype.draw = function() { drawn.add(this); draw.call(this); };
            for (const kind of ["observe", "counter", "transact"]) pcpTrace.page.showKind(kind); })()""")
        self.browser.settle()
        self.evaluate("drawn.clear()")
        self.look(1000)
        self.assertEqual(self.evaluate("[drawn.size, drawn.has(pcpTrace.page.table)]"), [1, True])

    def test_are_chosen_by_keys(self):
        self.page("shop")
        self.evaluate("document.querySelector('.scroll').focus()")
        self.browser.press("ArrowDown")
        self.assertEqual(self.texts("#detail-title .name"), ["search{index=products}"])
        self.browser.press("ArrowUp")
        self.assertEqual(self.texts("#detail-title .name"), ["checkout"])

    def test_have_bars_in_proportion(self):
        self.page("shop")
        busy = [100, 83, 66, 48, 12, 1, 0]
        self.evaluate(f"""(() => {{ const tags = pcpTrace.data.tags.filter(({{type}}) => type === "transact");
            {busy}.forEach((each, i) => {{ tags[i].busy = each; }}); pcpTrace.page.showKind("transact"); }})()""")
        bars = self.evaluate("""[...document.querySelectorAll("#tags .track")].map((track) =>
            [track, track.firstChild].map((it) => it.getBoundingClientRect().width))""")
        self.assertEqual(len(bars), len(busy))
        self.assertEqual({track for track, _ in bars}, {bars[0][0]})
        self.assertGreater(bars[0][0], 50)
        for each, (track, bar) in zip(busy, bars):
            self.assertAlmostEqual(bar / track, max(each / 100, 0.01 if each else 1 / track), delta=0.01, msg=each)

    def test_say_what_they_stand_for(self):
        self.page("shop")
        self.assertEqual(self.texts("#detail-text"), [])
        self.click("#kinds button[data-kind=observe]")
        self.click("#tags tr.choice")
        self.assertEqual(self.texts("#detail-title small"), ["observation, in job"])
        self.assertEqual(self.texts("#detail-text"), ["Jobs that wait <b>for</b> a\\xe2\\x80\\xae worker"])
        self.assertRegex(self.texts("#figures dd")[-1], "\u202fjob$")
        self.choose("checkout", "payment")
        self.assertEqual(self.texts("#detail-text"), [])

    def test_stand_side_by_side(self):
        self.page("shop")
        self.click("#tags tr.choice:nth-child(3)", modifiers=CONTROL)
        self.assertEqual(self.texts("#detail-title .name"), ["checkout", "payment"])
        self.assertEqual(self.texts("#charts h3"), ["Median latency", "p99 latency", "Greatest latency", "Rate", "Latency by percentile"])
        self.click("#tags tr.choice:nth-child(3)", modifiers=CONTROL)
        self.assertEqual(self.texts("#detail-title .name"), ["checkout"])

    def test_of_each_kind_have_charts_that_fit(self):
        self.page("shop")
        for kind, charts in (("transact", ["Latency", "Heat map", "Rate", "In flight", "Distribution", "Latency by percentile", "Slowest moments"]),
                             ("observe", ["Values", "Heat map", "Rate", "Value", "Distribution", "Value by percentile"]),
                             ("counter", ["Rate", "Added per second", "Value"]), ("point", ["Rate"])):
            self.click(f"#kinds button[data-kind={kind}]")
            self.assertEqual(self.texts("#charts h3"), charts)

    def test_say_which_calls_percentiles_are_of(self):
        self.page("shop")
        for times_of, said in (("all", True), ("completed", False)):
            for count in (1, 2):
                self.evaluate(f"""(() => {{ pcpTrace.view.run.times_of = "{times_of}";
                    pcpTrace.page.choose(pcpTrace.data.tags.filter(({{failed}}) => failed > 0).slice(0, {count})); }})()""")
                self.assertEqual(self.evaluate("document.querySelector('#charts').textContent.includes('percentiles of completed calls')"), said)

    def test_with_few_histograms_have_bands_instead_of_a_heat_map(self):
        self.page("shop")
        self.evaluate("""(() => { const [tag] = pcpTrace.data.tags;
            tag.series.heat = tag.series.heat.slice(0, 7); pcpTrace.page.choose([tag]); })()""")
        self.assertEqual(self.texts("#charts h3"), ["Latency", "Rate", "In flight", "Distribution", "Latency by percentile", "Slowest moments"])
        self.assertTrue(self.of_chart("Latency", "Boolean(chart.paint)"))

    def test_of_zeros_negative_and_equal_values_have_charts(self):
        self.page("values")
        names = self.texts("#tags .name")
        self.assertEqual(len(names), 5)
        for name in names:
            self.choose(name)
            self.assertEqual(self.texts("#charts h3"), ["Values", "Heat map", "Rate", "Value", "Distribution", "Value by percentile"])
            bars = self.evaluate("[...document.querySelectorAll('.plot .bar')].map((it) => it.height.baseVal.value)")
            self.assertGreater(max(bars), 150, name)
            widths = self.evaluate("[...document.querySelectorAll('.plot .bar')].map((it) => it.width.baseVal.value)")
            self.assertLess(max(widths) - min(widths), 0.1, name)
            broken = self.evaluate("document.getElementById('charts').innerHTML.match(/NaN|Infinity/)")
            self.assertIsNone(broken, name)

    def test_have_distributions_whose_areas_are_the_calls(self):
        self.page("only_points")
        heights = self.evaluate("""(() => { const bins = Array.from({length: 64}, (_, i) => 1023 * 32 + i);
            const even = {coarseness: 0, bins, counts: bins.map((_, i) => i < 32 ? 100 : 200)};
            return drawDistribution(even, [], formatSeconds, 600, 230).children
                .filter(({tagName}) => tagName === "rect").map((bar) => bar.height.baseVal.value); })()""")
        self.assertGreater(len(heights), 20)
        self.assertLess(max(heights) - min(heights), 1)
