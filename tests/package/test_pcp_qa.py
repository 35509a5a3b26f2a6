# SPDX-License-Identifier: LGPL-2.1-or-later
"""PCP's own tests of its trace library, agent and pmtrace (package pcp-testsuite), with ours in their place."""

import difflib
import glob
import os
import re
import shutil

import installed
from installed import find
from system_test import SystemTestCase

PACKAGED = "/var/lib/pcp/testsuite"
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pcp_qa.sh")

# Messages that differ between PCP's Install and ours; and numbers, such as that of the window's buckets.
WORDS = (r"^Use the default installation.*\n|^Install with default settings.*\n|^Tags appear when .*\n"
         r"|^Note: some warnings are expected(?:.*\n)*?.*man pages for pmtrace.*\n")
NUMBERS = r"(?<=appeared \.\.\. )\d+ metrics and \d+ values|(?<=interval=)\d+"


def comparable(text):
    """Removes what PCP does not promise, such as an order of instances."""
    lines = re.sub(NUMBERS, "N", re.sub(WORDS, "", text, flags=re.MULTILINE)).splitlines()
    result, instances = [], []
    for line in [*lines, ""]:
        if re.match(r" +inst \[", line):
            instances.append(line)
        else:
            result += [*sorted(instances), line]
            instances = []
    return result


class PcpQa(SystemTestCase):
    def copied(self, number):
        """Gives a folder with what the test needs: the private machine has none of PCP's 139 MB of tests."""
        folder = os.path.join(installed.work, str(number))
        os.makedirs(os.path.join(folder, "src"))
        for pattern in (f"{number}", f"{number}.*", "common*", "getpmcdhosts", "src/*.[ch]"):
            for path in glob.glob(os.path.join(PACKAGED, pattern)):
                shutil.copy(path, os.path.join(folder, os.path.dirname(pattern)))
        return folder

    def check(self, number):
        folder = self.copied(number)
        said = self.machine.run(f"PCP_USER= PCP_GROUP= sh {SCRIPT} {number} {folder} {find('libpcp_trace.so.2')}"
                                f" {os.path.dirname(find('pmdatrace'))} {find('pmtrace')}").stdout
        with open(os.path.join(folder, f"{number}.out"), encoding="utf-8") as file:  # one of the tests writes it
            wanted = file.read()
        difference = "\n".join(difflib.unified_diff(comparable(wanted), comparable(said), "PCP", "here", lineterm=""))
        self.assertEqual(difference, "", self.machine.read("/run/qa/install"))


for each in (122, 258, 336, 355, 421, 426, 445, 601, 605, 642):
    setattr(PcpQa, f"test_{each}", lambda self, number=each: self.check(number))


setUpModule = installed.set_up
