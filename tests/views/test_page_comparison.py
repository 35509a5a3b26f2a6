#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of a report: two runs side by side."""

import json

from page_case import PageTestCase

SIGNS = ("▲", "▼", "≈")


class Comparison(PageTestCase):
    def rows(self):
        """Gives, by tag, the three lines of each column: was, is, and the change."""
        return self.evaluate("""(() => { const titles = [...document.querySelectorAll("#compared thead th")].map((it) => it.textContent.replace("▼", ""));
            return Object.fromEntries([...document.querySelectorAll("#compared tr.choice")].map((row) => {
                const cells = [...row.cells].filter((it) => !it.querySelector(".words"));
                return [cells[0].textContent, Object.fromEntries(cells.slice(1).map((cell, i) =>
                    [titles[i + 1], [...cell.querySelectorAll(".lines > span")].map((it) => it.textContent)]))]; })); })()""")

    def compared(self):
        """Gives the tags of both runs by name, as page_maker has them."""
        run = self.page("compared")
        return [{tag["name"]: tag for tag in run[which]} for which in ("base", "tags")]

    def text(self, formatter, value):
        return self.evaluate(f"{formatter}({json.dumps(value)})")

    def test_comes_first_and_says_what_both_runs_are(self):
        self.page("compared")
        self.assertEqual(self.evaluate("""[...document.querySelectorAll("main > *")]
            .find((it) => it.getClientRects().length).id"""), "comparison")
        self.assertEqual(self.texts("#compared-runs .word"), ["was", "now"])
        self.assertEqual(self.texts("#compared-runs .command"), ["./shop --port 8080"] * 2)
        self.assertEqual(self.texts("#compared-runs .facts span"),
                         ["2026-09-20 16:13:20", "2:40\u202fmin", "build6", "shop-20260920.trace",
                          "2026-09-21 16:13:20", "3:00\u202fmin", "build7", "shop.trace"])
        self.assertEqual(self.texts("#compared-runs .hint"), ["Calls, total time and added are per run: 2 before, 2 now"])

    def test_is_not_there_without_an_older_run(self):
        self.page("shop")
        self.assertEqual(self.texts("#comparison"), [])

    def test_is_in_the_order_of_the_time_lost(self):
        was, is_ = self.compared()
        timed = {name for tags in (was, is_) for name, tag in tags.items() if tag["failed"] is not None}
        lost = {name: is_.get(name, {"sum": 0})["sum"] - was.get(name, {"sum": 0})["sum"] for name in timed}
        self.assertEqual(list(self.rows())[:len(lost)], sorted(lost, key=lost.get, reverse=True))
        self.assertEqual(next(iter(self.rows())), "payment")

    def test_has_what_was_and_what_is_and_the_change(self):
        was, is_ = self.compared()
        row = self.rows()["payment"]
        self.assertEqual(list(row), ["Calls", "Failed", "Total", "Mean", "p50", "p95", "p99", "Max"])
        for title, key, formatter, divisor in (("Calls", "calls", "formatNumber", 2), ("Total", "sum", "formatSeconds", 2),
                                               ("Mean", "mean", "formatSeconds", 1), ("p50", "p50", "formatSeconds", 1), ("p95", "p95", "formatSeconds", 1),
                                               ("p99", "p99", "formatSeconds", 1), ("Max", "max", "formatSeconds", 1)):
            before, now = (tags["payment"][key] / divisor for tags in (was, is_))
            change = ("+" if now > before else "−") + self.text("formatPercent", abs(now - before) / before)
            self.assertEqual(row[title], [self.text(formatter, before), self.text(formatter, now), change], title)
        shares = (tags["payment"]["failed"] / tags["payment"]["calls"] for tags in (was, is_))
        self.assertEqual(row["Failed"][:2], [self.text("formatPercent", share) for share in shares])
        row = self.rows()["bytes-sent"]
        before, now = (tags["bytes-sent"]["added"] / 2 for tags in (was, is_))
        self.assertEqual(row["Total"][:2], [self.evaluate(f"formatValue({{type: 'counter', unit: 'byte'}})({each})") for each in (before, now)])
        self.assertEqual(row["p99"], ["", "", ""])

    def test_says_which_tags_a_run_does_not_have(self):
        self.compared()
        rows = self.rows()
        self.assertEqual(rows["login"]["Total"][0], "absent")
        self.assertEqual(rows["sign-in"]["Total"][1:], ["absent", ""])

    def test_has_signs_only_beyond_noise(self):
        self.compared()
        signed = [text for row in self.rows().values() for cell in row.values() for text in cell if text[:1] in SIGNS]
        self.assertEqual(signed, [])
        self.evaluate("""(() => { const {changes} = pcpTrace.data.comparison.tags.find(({name}) => name === "payment");
            changes.p99.verdict = changes.calls.verdict = "real";
            changes.p50.verdict = "noise";
            pcpTrace.data.comparison.tags.find(({name}) => name === "render").changes.calls.verdict = "noise";  // exact
            showComparison(pcpTrace.data); })()""")
        rows = self.rows()
        signed = {(tag, title): text[:2].strip() for tag, row in rows.items() for title, (*_, text) in row.items() if text[:1] in SIGNS}
        self.assertEqual(signed, {("payment", "p99"): "▲", ("payment", "p50"): "≈",
                                  ("payment", "Calls"): signed.get(("payment", "Calls"))})
        self.assertIn(signed["payment", "Calls"], ("▲", "▼"))
        self.assertEqual(self.texts("#compared .worse"), [rows["payment"]["p99"][2]])
        colors = self.evaluate("[...document.querySelectorAll('#compared .worse, .card.bad strong')].map((it) => getComputedStyle(it).color)")
        self.assertEqual(len(set(colors)), 1, colors)

    def test_keeps_the_columns_with_signs_and_20_letters_of_a_name_in_little_room(self):
        self.look(500)
        self.page("compared")
        self.assertEqual(self.texts("#compared th"), ["Tag", "▼Total", "p99"])
        self.evaluate("""(() => { const [{changes}] = pcpTrace.data.comparison.tags;
            changes.p95.verdict = "real"; changes.p99.verdict = "noise"; showComparison(pcpTrace.data); })()""")
        self.assertEqual(self.texts("#compared th"), ["Tag", "▼Total", "p95"])
        self.assertGreater(self.evaluate("""(() => { const {clientWidth} = document.querySelector("#compared td.text");
            return (clientWidth - 28) / document.querySelector("#compared td .name").getBoundingClientRect().width * "payment".length; })()"""), 20)

    def test_has_both_distributions_on_one_axis(self):
        self.compared()
        self.assertEqual(self.texts("#compared-title"), ["payment"])
        self.assertEqual(self.texts("#compared-charts h3"), ["Distribution", "By percentile"])
        [first, outline, *words] = self.evaluate("""(() => { const plot = document.querySelector("#compared-charts .plot");
            const bars = [...plot.querySelectorAll(".bar")].map((it) => it.height.baseVal.value);
            return [bars.length, plot.querySelectorAll(".outline").length, ...document.querySelector("#compared-charts .key").textContent.split(/(?=now:)/)]; })()""")
        self.assertGreater(first, 20)
        self.assertEqual(outline, 1)
        counts = [f"{tags['payment']['calls']:,.0f}" for tags in self.compared()]
        self.assertEqual(words, [f"was: {counts[0]} calls", f"now: {counts[1]} calls"])

    def test_has_all_calls_in_both_distributions(self):
        self.compared()
        for name in ("payment", "checkout", "queue-length"):
            sums, isContiguous, widest = self.evaluate(f"""(() => {{
                const [was, is] = [pcpTrace.data.base.tags, pcpTrace.data.tags].map((tags) => tags.find((tag) => tag.name === "{name}").distribution);
                const {{bars}} = sharedBars([was, is], 600);
                return [[0, 1].map((side) => bars.reduce((sum, {{shares}}) => sum + shares[side], 0)),
                    bars.every(({{low}}, i) => i === 0 || Math.abs(low - bars[i - 1].high) < 1e-9 * low), bars.length]; }})()""")
            for each in sums:
                self.assertAlmostEqual(each, 1)
            self.assertTrue(isContiguous)
            self.assertLessEqual(widest, 90)

    def test_follows_the_choice_of_a_tag_and_is_chosen_from_by_keys(self):
        self.compared()
        self.choose("render")
        self.assertEqual(self.texts("#compared-title"), ["render"])
        self.assertEqual(self.texts("#compared tr[aria-selected=true] .name"), ["render"])
        self.evaluate("document.querySelector('#compared .scroll').focus()")
        self.browser.press("Home")
        self.assertEqual(self.texts("#compared-title"), ["payment"])
        self.assertEqual(self.texts("#detail-title .name"), ["payment"])

    def test_shows_a_tag_of_the_older_run_alone(self):
        self.compared()
        self.evaluate("[...document.querySelectorAll('#compared tr.choice')].find((it) => it.textContent.startsWith('sign-in')).click()")
        self.assertEqual(self.texts("#compared-title"), ["sign-in"])
        self.assertRegex(self.texts("#compared-charts .key")[0], r"^was: [\d,]+ calls$")
