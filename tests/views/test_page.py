#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of a report: its values, its texts and its looks."""

import base64
import json
import os
import re
import time

from page_case import PageTestCase, recorded

MOST_BYTES = 20_000_000  # the largest page


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

    def test_are_those_of_the_run_also_of_a_large_one_and_of_one_without_histograms(self):
        for run in ("shop", "bands", "large"):
            with self.subTest(run):
                self.assert_same(run)

    def test_are_those_of_an_archive(self):
        expected = self.assert_same(recorded("demo"))
        self.assertGreater(sum(tag["calls"] for tag in expected["tags"]), 1000)
        self.assertEqual(self.texts("#title"), [os.environ["WORKER_POOL"] + " 2"])
        self.assertIn("Latency by percentile", self.texts("#charts h3"))

    def test_of_large_runs_make_no_page_that_is_too_large(self):
        for run in ("large", "large_compared", "label_sets"):
            began = time.monotonic()
            self.page(run)
            size = os.path.getsize(self.path)
            print(f"{run}: {size / 1e6:.1f} MB, made and open in {time.monotonic() - began:.1f} s")
            self.assertLess(size, MOST_BYTES, run)

    def test_distributions_and_heat_maps_have_all_calls(self):
        for run in ("shop", "large"):
            calls = [tag["calls"] for tag in self.page(run)["tags"][:7]]
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
                                 ("formatRate(0.0213)", "0.0213/s"), ("formatRate(12345678)", "12.3 M/s"), ("formatPercent(0.00001)", "<0.01%"),
                                 ("formatPercent(1)", "100%"), ("formatPercent(0)", "0%")):
            self.assertEqual(self.evaluate(expression).replace("\u202f", " "), text, expression)

    def test_what_is_unknown_says_why(self):
        self.page("bands")
        self.assertIn("Unknown: the agent gives percentiles of one window",
                      self.evaluate("document.querySelector('tr.choice td[title]').title"))

    def test_hostile_names_are_text(self):
        self.page("hostile")
        names = self.texts("#tags .name")
        for name in ("</script><script>window.broken = 1</script>", '<img src=x onerror="window.broken = 2">',
                     "\"'`${window.broken = 3}\\", "\\xe2\\x80\\xaegnp.exe", "w" * 250, "\\x01\\x1b[31mred\\x7f\\x09\\x0a",
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

    def test_no_script_but_the_pages_own_is_run(self):
        self.page("shop")
        self.evaluate("document.body.append(element('script', {}, 'window.broken = 7'))")
        self.assertIsNone(self.evaluate("window.broken"))
        [complaint] = self.browser.complaints()
        self.assertIn("Content Security Policy", str(complaint))
        self.browser.events.remove(complaint)

    def test_an_empty_run_says_so(self):
        self.page("empty")
        self.assertIn("Nothing was traced in this run", self.texts("#notice")[0])
        self.assertEqual(self.texts("#tags-panel"), [])

    def test_a_run_with_folded_calls_says_so(self):
        self.page("shop")
        self.evaluate("""showRun({...pcpTrace.data, run: {...pcpTrace.data.run, no_room: "the agent had no room",
            folded: [1, 2, 3, 4].map((calls) => ({name: "a\u202e", type: "transact", calls: 1000 * calls}))}})""")
        self.assertEqual(self.texts("#notice li"), ["Folded: the agent had no room.", "Folded: up to 1,000 calls of a\\u202e, 2,000 calls of a\\u202e, "
                         "3,000 calls of a\\u202e, and of 1 more tag may be of tags or label sets that had no room."])

    def test_a_run_with_values_that_are_not_finite_says_so(self):
        self.page("shop")
        self.evaluate("""showRun({...pcpTrace.data, base: null, tags: pcpTrace.data.tags.map((tag, i) => ({...tag, nonfinite: i < 3 ? i : null}))})""")
        self.assertEqual(self.texts("#notice"), ["3 values are not finite (NaN, inf): counted as calls, in no other number."])

    def test_a_run_of_points_only_shows_no_latencies(self):
        self.page("only_points")
        self.assertEqual(self.texts(".card .label"), ["Points", "Elapsed"])
        self.assertEqual(self.texts("#charts h3"), ["Rate"])


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
        self.look(theme="dark")
        self.browser.open(self.path)
        self.assertEqual(self.theme(), dark)

    def test_fits_narrow_and_wide_windows(self):
        runs = ("shop", "spans", "hostile", "compared", "families", "ranks")
        for page in self.each_page((390, 700, 1280, 2000), runs):
            for widest in ("html", ".scroll"):
                width = self.evaluate(f"document.querySelector('{widest}').scrollWidth")
                self.assertLessEqual(width, self.evaluate("innerWidth"), f"{page}: {widest}")

    def test_cuts_no_number(self):
        for page in self.each_page((500, 900), ("values", "shop")):
            cut = self.evaluate("""(() => { const range = document.createRange();
                pcpTrace.data.whole.calls = 1819043;
                pcpTrace.data.tags.forEach((tag) => { tag.calls = 1819043; tag.busy &&= 0.00627; });
                showCards(pcpTrace.data);
                pcpTrace.page.showKind(pcpTrace.data.tags[0].type);
                return [...document.querySelectorAll("td:not(.text), .card strong, .card .note")].filter((it) => {
                    range.selectNodeContents(it);
                    const box = range.getBoundingClientRect(), {paddingLeft, paddingRight} = getComputedStyle(it);
                    const room = it.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
                    return box.width > room + 0.1 && !it.querySelector(".name");
                }).map((it) => it.textContent); })()""")
            self.assertEqual(cut, [], page)

    def test_of_another_width_is_not_left_beside_a_chart(self):
        self.page("families")
        self.evaluate("pcpTrace.page.choose(pcpTrace.data.tags.slice(0, 3))")
        for width in (390, 1280):
            self.look(width)
        self.assertEqual(self.evaluate("""[...pcpTrace.view.charts].map(({graph}) => {
            const {x, w} = graph.getArea(), left = (x + w + 4) * devicePixelRatio;
            return graph.hidden_ctx_.getImageData(left, 0, graph.hidden_.width - left, graph.hidden_.height).data.findLast((part) => part) || 0; })"""),
                         [0] * 5)

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
        self.look(theme="dark")
        self.page("shop")
        self.evaluate("dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(self.theme()[0], "light")
        self.evaluate("dispatchEvent(new Event('afterprint'))")
        self.assertEqual(self.theme()[0], "dark")
