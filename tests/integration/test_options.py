# SPDX-License-Identifier: LGPL-2.1-or-later
"""The options of pcp-trace, which its table has: --help, the manual and the shell's completion agree."""

import os
import re
import subprocess
import tempfile
import unittest

from recorded import COMMAND

COMMANDS = os.path.join(os.path.dirname(__file__), "../../pmda/command")
HELP = ("-?", "--help", False)


def listed(word):
    """Gives the options that --help lists: letter, name, and whether it has an argument."""
    shown = subprocess.run([COMMAND, word, "--help"], text=True, capture_output=True, check=True).stdout
    return {(letter, name, bool(argument))
            for letter, name, argument in re.findall(r"^ +(?:(-.), )?(--[\w-]+)( [A-Z]+)?(?:  .*)?$", shown, re.MULTILINE)}


def documented(word):
    """Gives the same from the headings of the word's page in the manual."""
    with open(f"{COMMANDS}/../man/pcp-trace-{word}.1", encoding="utf-8") as file:
        headings = re.findall(r"^\.T[PQ]\n\.BI? (.*)", file.read(), re.MULTILINE)
    for heading in headings:
        words = re.sub(r'\\f[BRI]|[",]', " ", heading).replace("\\-", "-").split()
        for name in (each for each in words if each.startswith("--")):
            yield next((each for each in words if re.fullmatch("-.", each)), ""), name.rstrip("="), name.endswith("=")


class Options(unittest.TestCase):
    def test_are_in_the_manual(self):
        for word in ("record", "report", "top", "spans", "export"):
            self.assertEqual(listed(word), {*documented(word), HELP})

    def complete(self, *words):
        """Gives what the shell proposes for the last word."""
        script = """. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pcp_trace; printf '%s\\n' "${COMPREPLY[@]}" """
        done = subprocess.run(["bash", "--norc", "-c", script, "bash", f"{COMMANDS}/completion.bash", COMMAND, *words], text=True,
                              stdout=subprocess.PIPE, check=True, cwd=self.enterContext(tempfile.TemporaryDirectory()))
        return set(done.stdout.split())

    def test_are_completed(self):
        self.assertEqual(self.complete("re"), {"record", "report"})
        for word in ("record", "report", "top", "spans", "export"):
            names = {name for letter, name, _ in listed(word)}
            self.assertEqual({each for each in self.complete(word, "-") if each.startswith("--")}, names)
        self.assertEqual(self.complete("record", "--arch"), {"--archive-version"})

    def test_have_arguments_that_are_completed(self):
        self.assertEqual(self.complete("spans", "s"), {"slower=", "share=", "service="})
        self.assertEqual(self.complete("spans", "-h", ""), set())
        self.assertIn("bash", self.complete("record", "--wait", "-t", "1s", "bas"))
        self.assertEqual(self.complete("record", "bash", "--h"), set())
        with open(os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "page"), "w", encoding="utf-8") as file:
            for word, option in (("report", "--html"), ("report", ""), ("export", "-a"), ("top", "-a"), ("record", "-o")):
                words = [each for each in (word, option) if each]
                self.assertEqual(self.complete(*words, file.name[:-2]), {file.name})
