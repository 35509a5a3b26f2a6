# SPDX-License-Identifier: LGPL-2.1-or-later
"""A page of metrics in Prometheus's text format, taken apart; and the examples of libtrace/docs/grafana.md."""

import collections
import os
import re

from page_blocks import blocks

LABEL = r'[A-Za-z_]\w*="(?:[^"\\\n]|\\.)*"'
SAMPLE = re.compile(rf'([A-Za-z_:][\w:]*)(?:\{{((?:{LABEL},?)*)\}})? (\S+)')

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../libtrace/docs/grafana.md")


def documented(language):
    """Gives the document's examples in a language."""
    with open(DOCUMENT, encoding="utf-8") as file:
        return [text for kind, text in blocks(file.read()) if kind == language]


class Page:
    """types: counter or gauge, by name; samples: labels and value of each series, by name."""

    def __init__(self, text):
        self.types = {}
        self.samples = collections.defaultdict(list)
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                _, _, name, self.types[name] = line.split()
            elif line and not line.startswith("#"):
                found = SAMPLE.fullmatch(line)
                assert found, line
                labels = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', found[2] or "")
                assert len(dict(labels)) == len(labels), line
                self.samples[found[1]].append(
                    ({name: re.sub(r"\\(.)", self._unescape, value) for name, value in labels}, float(found[3])))

    @staticmethod
    def _unescape(found):
        return {"n": "\n", '"': '"', "\\": "\\"}[found[1]]
