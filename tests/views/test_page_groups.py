#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of a report: tags that are added up by their labels, and the shares of a label's values."""

from page_case import PageTestCase


class Groups(PageTestCase):
    def add_up_by(self, text):
        self.evaluate(f"""(() => {{ const select = document.getElementById('group-by');
            select.value = [...select.options].find((it) => it.text === '{text}').value;
            select.dispatchEvent(new Event('change')); }})()""")
        self.browser.settle()

    def names(self):
        return sorted(self.texts("#tags .name"))

    def test_have_the_sums_of_their_label_sets(self):
        tags = {tag["name"]: tag for tag in self.page("ranks")["tags"]}
        self.assertEqual(self.texts("#group-by option") or self.evaluate(
            "[...document.querySelectorAll('#group-by option')].map((it) => it.text)"),
                         ["nothing", "name", "name and rank", "name and step"])
        self.add_up_by("name and step")
        self.assertEqual(self.names(), ["compute{step=a}", "compute{step=b}", "init"])
        self.evaluate("document.querySelector('#search').value = ''; pcpTrace.page.search()")
        for step in "ab":
            of_step = [tag["calls"] for name, tag in tags.items() if f"step={step}" in name]
            found = self.evaluate(f"pcpTrace.page.tags.find(({{name}}) => name === 'compute{{step={step}}}')"
                                  ".calls")
            self.assertEqual(found, sum(of_step))
        self.add_up_by("name")
        self.assertEqual(self.names(), ["compute", "init"])
        self.add_up_by("nothing")
        self.assertEqual(len(self.evaluate("pcpTrace.page.tags")), len(tags))

    def test_have_the_course_of_their_label_sets(self):
        shown = self.page("ranks")
        self.add_up_by("name")
        calls = self.evaluate("[...pcpTrace.page.tags.find(({name}) => name === 'compute').series.calls]")
        expected = [0] * len(calls)
        for series in shown["series"]:
            if shown["tags"][series["tag"]]["name"] != "init":
                expected = [a + b for a, b in zip(expected, series["calls"])]
        self.assertEqual(calls, expected)
        self.click("#tags tr.choice")
        self.assertEqual(self.texts("#charts h3")[:2], ["Latency", "Rate"])

    def test_show_a_bar_for_each_value_of_a_label(self):
        self.page("ranks")
        self.assertRegex(self.texts("#uneven div")[0], r"^compute: rank=7 takes 1\.\d+ × .*; rank=0: ")
        self.add_up_by("name")
        self.assertEqual(self.texts("#shares h3"), ["By rank", "By step"])
        self.assertEqual(self.texts("#shares figure:first-child .name"), list("76543210"))
        widths = self.evaluate("[...document.querySelectorAll('#shares figure:first-child i')]"
                               ".map((it) => it.getBoundingClientRect().width)")
        self.assertEqual(widths, sorted(widths, reverse=True))
        self.assertLess(widths[-1] / widths[0], 0.25)  # rank 0 takes an eighth of the time
        self.choose("init")
        self.assertEqual(self.texts("#shares h3"), [])

    def test_have_the_captured_transactions_of_their_label_sets(self):
        self.page("spans")
        found = "capturedOf({name: '%s'}).length"
        alone = self.evaluate(found % "checkout")
        self.assertGreater(alone, 0)
        self.evaluate("pcpTrace.page.showTags(pcpTrace.data.tags, [['checkout', 'orders']])")
        self.assertEqual([self.evaluate(found % name) for name in ("orders", "checkout")], [alone, 0])

    def test_are_offered_only_if_a_name_has_several_label_sets(self):
        self.page("only_points")
        self.assertEqual(self.texts("#group-by"), [])

    def test_may_have_ten_thousand_label_sets(self):
        self.page("label_sets")
        self.add_up_by("name and b")
        self.assertEqual(self.evaluate("pcpTrace.page.tags.length"), 7)
