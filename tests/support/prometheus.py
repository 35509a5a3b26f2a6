# SPDX-License-Identifier: LGPL-2.1-or-later
"""A page of metrics in Prometheus's text format, taken apart; the examples of libtrace/docs, and questions to a server."""

import collections
import json
import os
import re
import urllib.parse
import urllib.request

from page_blocks import blocks
from private_pmcd import PATIENCE_S

LABEL = r'[A-Za-z_]\w*="(?:[^"\\\n]|\\.)*"'
SAMPLE = re.compile(rf'([A-Za-z_:][\w:]*)(?:\{{((?:{LABEL},?)*)\}})? (\S+)')

DOCUMENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../libtrace/docs")


def documented(language, page="grafana.md"):
    """Gives a page's examples in a language."""
    with open(os.path.join(DOCUMENTS, page), encoding="utf-8") as file:
        return [text for kind, text in blocks(file.read()) if kind == language]


def ask(address, query):
    """Gives value by labels; None as long as the server does not answer."""
    address = f"http://{address}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
    try:
        with urllib.request.urlopen(address, timeout=PATIENCE_S) as answer:
            found = json.load(answer)["data"]["result"]
    except OSError:
        return None
    return {tuple(sorted(each["metric"].items())): float(each["value"][1]) for each in found}


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
